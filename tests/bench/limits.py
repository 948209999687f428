#!/usr/bin/env python3
"""What `heddle run --report limits` says of the programs of ./dev bench, and what it costs.

    tests/bench/limits.py BUILD [--platform NAME] [PROGRAM...]    # said, and proven
    tests/bench/limits.py BUILD --cost [--runs N] [PROGRAM...]    # CPU seconds, in pairs

The former runs each program, then once more for each setting that the first sentence proposes, with
twice its value, half of it (latencies and costs), or `true`, and prints how much longer the kernel
took; when none saves a tenth, also with the first settings of all sentences together. The latter
runs each program with and without the report in turns."""
import argparse
import json
import re
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = (ROOT / "tests/bench/programs.txt").read_text().splitlines()
MOST = 3  # settings that are tried


def cpu_seconds(command):
    """And what it wrote to standard error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), cwd=ROOT, text=True, check=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr)


class Bench:
    def __init__(self, chosen):
        self.build = chosen.build.resolve()
        self.platform = f"platforms/{chosen.platform}.heddle"
        self.stats = Path(tempfile.mkdtemp()) / "stats.json"

    def run(self, program, *options):
        name, *arguments = program.split()
        return cpu_seconds([self.build / "codegen/heddle", "run", self.platform, *options,
                            "--stats", self.stats, "--", self.build / "tests/programs" / name,
                            *arguments])

    def kernels(self):
        """Cycles by kernel."""
        found = {}
        root = json.loads(self.stats.read_text())
        for kernel in root["kernels"]:
            found[kernel["name"]] = found.get(kernel["name"], 0) + kernel["cycles"]
        return found, root["stamp"]["settings"]


def other(setting, value, said):
    """A value of the setting that is to relieve what it is proposed for; where the grid is too
    small, a machine that is smaller and should be as fast."""
    if value in ("true", "false"):
        return "true"
    number, unit = re.fullmatch(r"([0-9.]+)(.*)", value).groups()
    dear = re.search("latency|overhead|cost|setup|interval", setting) or "by the grid" in said
    return f"{max(int(float(number) * (0.5 if dear else 2)), 1)}{unit}"


def proven(bench, program):
    """A row for the kernel with most cycles: the sentence, and each setting with its change."""
    _, told = bench.run(program, "--generic", "--report", "limits")
    kernels, settings = bench.kernels()
    name = max(kernels, key=kernels.get)
    plain = {setting.replace("[*]", "").removeprefix("link "): value
             for setting, value in settings.items()}
    sentences = []
    for line in told.split(f"{name}\n")[1].splitlines():
        if not line.startswith("  "):
            break
        said, _, proposed = line.strip().partition("; settings to try: ")
        sentences.append((said, [f"{one}={other(one, plain[one], said)}"
                                 for one in proposed.split(", ") if one in plain][:MOST]))
    changes = []

    def try_out(*sets):
        try:
            bench.run(program, "--generic", *(word for one in sets for word in ("--set", one)))
        except subprocess.CalledProcessError:
            return 0.0  # it is not in the range of the parameter
        change = bench.kernels()[0][name] / kernels[name] - 1
        changes.append(f"`{' '.join(sets)}` {100 * change:+.0f} %")
        return change

    said = sentences[0][0]
    least = min([try_out(one) for one in sentences[0][1]], default=0.0)
    others = [sets[0] for _, sets in sentences if sets]
    if least > -0.1 and len(others) > 1 and "by the grid" not in said:  # several limits at once
        try_out(*others)
    said = said.replace("[*]", r"[\*]")
    print(f"| {program} | {kernels[name]} | {said} | {', '.join(changes) or '-'} |", flush=True)


def cost(bench, program, runs):
    pairs = [[bench.run(program, "--generic", *options)[0]
              for options in ((), ("--report", "limits"))]
             for _ in range(runs)]
    plain, reported = (statistics.median(side) for side in zip(*pairs))
    print(f"| {program} | {plain:.2f} | {reported:.2f} | {reported - plain:+.2f} | "
          f"{100 * (reported / plain - 1):+.1f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--platform", default="r9nano")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("programs", nargs="*", default=PROGRAMS, metavar="PROGRAM")
    chosen = parser.parse_intermixed_args()
    bench = Bench(chosen)
    if chosen.cost:
        print("| program | without, s | with, s | difference | |\n| --- | --- | --- | --- | --- |")
    else:
        print("| program | cycles | the first sentence | what its settings do |\n"
              "| --- | --- | --- | --- |")
    for program in chosen.programs:
        if chosen.cost:
            cost(bench, program, chosen.runs)
        else:
            proven(bench, program)


if __name__ == "__main__":
    main()
