"""What every program, trace and tester counts, as hashes: results.py HEDDLE PROGRAMS WORK [--write] [PATTERN].

A row of results.txt is a hash and what follows `heddle run`. The hash is of the statistics as text without `stamp` (versions,
parameters, the hash of the program) and without what depends on the host. A change of a model changes rows on purpose, and
--write makes them anew; anything else must leave every byte as it was.
"""
import concurrent.futures
import hashlib
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "results.txt")


def statistics_hash(path):
    """The stamp is the block of lines from `"stamp": {` to the brace that closes it."""
    lines, inside, kept = open(path).read().split("\n"), False, []
    for line in lines:
        if line.startswith('  "stamp": {'):
            inside = True
        if not inside:
            kept.append(line)
        if inside and line.startswith("  }"):
            inside = False
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()[:16]


class Cases:
    """The rows of results.txt, and the traces that they play, each made when the first row asks for it."""

    def __init__(self, heddle, programs, work, data):
        self.names = {"heddle": heddle, "programs": programs, "traces": work, "data": data}
        self.work = work
        self.made = {}

    def arguments(self, text):
        return [re.sub(r"\{(\w+)\}", lambda m: self.names[m[1]], word) for word in shlex.split(text)]

    def run(self, text, stats):
        """The arguments of `heddle run`, of which one may come after `--`. Returns what went wrong, or None."""
        command = [self.names["heddle"], "run"] + self.arguments(text)
        end = command.index("--") if "--" in command else len(command)
        command[end:end] = ["--stats", stats, "--stats-no-host"]
        got = subprocess.run(command, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
        return None if got.returncode == 0 else f"exit status {got.returncode}: {shlex.join(command)}\n{(got.stdout + got.stderr)[-2000:]}"


def rows():
    out = []
    with open(LIST) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                number, text = line.rstrip("\n").split("  ", 1)
                out.append((number, text))
    return out


def main():
    write = "--write" in sys.argv
    names = [a for a in sys.argv[1:] if a != "--write"]
    heddle, programs, work = (os.path.abspath(n) for n in names[:3])
    pattern = names[3] if len(names) > 3 else ""
    data = os.environ.get("SASS_DATA", "../shared/data/sass")
    cases = Cases(heddle, programs, work, data)
    os.makedirs(work, exist_ok=True)
    make_traces(cases)
    todo = [(n, r) for n, r in enumerate(rows()) if pattern in r[1] and ("{data}" not in r[1] or os.path.isdir(data))]

    def one(job):
        n, (expected, text) = job
        stats = os.path.join(work, f"stats-{n}.json")
        wrong = cases.run(text, stats)
        got = wrong and "failed" or statistics_hash(stats)
        if os.path.exists(stats):
            os.remove(stats)
        return n, expected, got, text, wrong

    found, bad = {}, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for n, expected, got, text, wrong in pool.map(one, todo):
            found[n] = got
            if wrong or got != expected and not write:
                bad += 1
                print(f"{expected} -> {got}  {text}\n{wrong or ''}", flush=True)
    if write:
        hashes = iter(found.get(n, number) for n, (number, _) in enumerate(rows()))
        with open(LIST) as f:
            lines = [line if line.startswith("#") or not line.strip() else next(hashes) + line[16:] for line in f]
        with open(LIST, "w") as f:
            f.writelines(lines)
    print(f"{len(todo)} results, {bad} differ or failed")
    return bad != 0


def make_traces(cases):
    heddle, programs, work = (cases.names[n] for n in ("heddle", "programs", "traces"))
    jobs = []
    for p in API:
        jobs.append([heddle, "run", "platforms/tiny.heddle", "--record", f"api={work}/api-{p}", "--", f"{programs}/{p}"])
    for p in STEPS:
        jobs.append([heddle, "run", "platforms/tiny.heddle", "--record", f"instructions={work}/steps-{p}", "--", f"{programs}/{p}"])
    for kind in ("order", "streams", "busy"):
        jobs.append([sys.executable, "tests/system/packets/make_trace.py", kind, f"{work}/packets-{kind}"])
    jobs.append([sys.executable, os.path.join(HERE, "results_sass.py"), heddle, "platforms", f"{work}/sass"])
    for job in jobs:
        target = job[job.index("--") - 1].split("=", 1)[1] if "--" in job else job[-1]
        if not os.path.exists(target):
            subprocess.run(job, check=True, capture_output=True, cwd=".")


API = ("vectoradd", "streams", "copies", "kmeans", "host_threads")
STEPS = ("bfs", "matmul_tiled", "scratch", "dct8x8", "streams")


if __name__ == "__main__":
    sys.exit(main())
