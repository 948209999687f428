#!/usr/bin/env python3
"""piglit's OpenCL tests, one by one.

piglit_opencl.py OUTPUT [--only TEXT] [-- PREFIX...] runs each test's command behind PREFIX
("heddle run PLATFORM --"), or as it is, and writes a line `RESULT<tab>NAME` for each; tests that
OUTPUT has already are left out. RESULT is piglit's, `crash`, `timeout`, or `none`.

piglit_opencl.py --table FIRST SECOND prints how many tests of each group have which result."""
import collections
import json
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path("/usr/lib/x86_64-linux-gnu/piglit")  # tests name header files from here
TIMEOUT_S = 300


def result_of(done):
    found = "none"
    for line in done.stdout.decode(errors="replace").splitlines():
        if line.startswith("PIGLIT: "):
            found = json.loads(line[8:]).get("result", found)
    return "crash" if done.returncode < 0 else found


def run(command, prefix):
    words = [str(ROOT / word.partition("/piglit/")[2]) if word.startswith("../lib") else word
             for word in shlex.split(command)]
    try:
        return result_of(subprocess.run(prefix + words, stdout=subprocess.PIPE, cwd=ROOT,
                                        stderr=subprocess.DEVNULL, timeout=TIMEOUT_S))
    except subprocess.TimeoutExpired:
        return "timeout"


def read_results(path):
    lines = Path(path).read_text().splitlines() if Path(path).exists() else []
    return {name: result for result, _, name in (line.partition("\t") for line in lines)}


def list_tests():
    listed = subprocess.run(["piglit", "print-cmd", "cl"], capture_output=True, text=True,
                            check=True)
    for line in listed.stdout.splitlines():
        name, _, command = line.partition(" ::: ")
        if "interop" not in command:  # needs a window system
            yield name, command


def run_all(path, only, prefix):
    done = read_results(path)
    with open(path, "a") as out:
        for name, command in list_tests():
            if only in name and name not in done:
                print(run(command, prefix), name, sep="\t", file=out, flush=True)


def group_of(name):
    parts = name.split("@")
    return "@".join(parts[:2]) if parts[0] == "program" else parts[0]


def print_table(paths):
    results = [read_results(path) for path in paths]
    groups = collections.defaultdict(lambda: [collections.Counter() for _ in results])
    for column, those in enumerate(results):
        for name, result in those.items():
            groups[group_of(name)][column][result] += 1
            groups["all"][column][result] += 1
    print("| tests |" + "".join(f" {Path(path).name}: pass | fail | skip |" for path in paths))
    print("| --- |" + " --- |" * 3 * len(paths))
    for group in sorted(groups, key=lambda each: (each == "all", each)):
        cells = [f" {c['pass']} | {sum(c.values()) - c['pass'] - c['skip']} | {c['skip']} |"
                 for c in groups[group]]
        print(f"| {group} |" + "".join(cells))
    for name in sorted(set().union(*results)):
        said = [those.get(name, "not run") for those in results]
        if said[0] != "pass" or said[-1] not in ("pass", "skip"):
            print(f"{name}: {', '.join(said)}")


def main(words):
    if words[:1] == ["--table"]:
        return print_table(words[1:])
    prefix = words[words.index("--") + 1:] if "--" in words else []
    only = words[words.index("--only") + 1] if "--only" in words else ""
    return run_all(words[0], only, prefix)


if __name__ == "__main__":
    main(sys.argv[1:])
