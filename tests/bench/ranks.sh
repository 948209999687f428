#!/usr/bin/env bash
# What ranks cost in processor time: ranks.sh BUILD [ROUNDS] [OTHER_BUILD]. Each run is made alone
# and on 2, 4 and 8 ranks of Open MPI, in turn, so that what else the machine does meets all.
# Printed, as Markdown, is the least of ROUNDS: CPU seconds of all processes, mpirun's included, how
# many of them were in the system, how often the processor was switched, how often ranks met, and
# how many bytes went from one to another at a meeting. With OTHER_BUILD its runs take turns, too.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
python3 - "$build" "${2:-3}" ${3:+"$(realpath "$3")"} <<'PYTHON'
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

build, rounds, others = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
programs = f"{build}/tests/programs"
RUNS = [("pod64", [], ["collectives", "halving", "16384"]),
        ("pod64", ["--max-cycles", "100000"], ["collectives", "halving", "16384"]),
        ("ring4", [], ["each_gpu", "256", "64"]),
        ("r9nano_x4", [], ["peers", "4096"])]
RANKS = [1, 2, 4, 8]


def measure(heddle, ranks, case):
    platform, options, program = case
    with tempfile.NamedTemporaryFile(suffix=".json") as stats:
        mpi = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*(mpi if ranks > 1 else []), heddle, "run", f"platforms/{platform}.heddle",
                        "--kernel-stats", "none", "--stats", stats.name, *options, "--",
                        f"{programs}/{program[0]}", *program[1:]], capture_output=True,
                       check=not options)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        each = json.loads(Path(stats.name).read_text())["host"].get("ranks", [])
    system = used.ru_stime - before.ru_stime
    meetings = each[0]["meetings"] if each else 0
    sent = sum(r["bytes_sent"] for r in each)
    pairs = max(meetings * ranks * (ranks - 1), 1)
    return (used.ru_utime - before.ru_utime + system, system,
            used.ru_nvcsw + used.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw, meetings,
            sent // pairs)


print("| run | ranks | CPU s | in the system | switches | meetings | bytes |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
for case in RUNS:
    for heddle in [build, *others]:  # compiles the platform
        measure(f"{heddle}/codegen/heddle", 1, case)
    best = {}
    for _ in range(rounds):
        for ranks in RANKS:
            for folder in [build, *others]:
                row = measure(f"{folder}/codegen/heddle", ranks, case)
                best[ranks, folder] = min(row, best.get((ranks, folder), row))
    for folder in [build, *others]:
        name = " ".join([case[0], *case[1], *case[2]]) + (f" ({os.path.relpath(folder)})"
                                                          if others else "")
        for ranks in RANKS:
            cpu, system, switches, meetings, sent = best[ranks, folder]
            print(f"| {name} | {ranks} | {cpu:.2f} | {system:.2f} | {switches} | {meetings}"
                  f" | {sent} |", flush=True)
PYTHON
