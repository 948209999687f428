#!/usr/bin/env python3
"""What a call of HIP costs the host: CPU microseconds of the simulating process (least of the
runs), with protection keys for the simulator's state, without, and on two ranks. Prints the table
of docs/evidence/speed.md, and what keys change at most. The aim is at most 2 us a call. A call that
costs more than its bound, with or without keys, is a failure.

    tests/bench/calls.py [RUNS [ROUNDS]]

HEDDLE_BUILD names the build. Without openmpi, or without keys, those columns stay empty."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("HEDDLE_BUILD", "build")
PROGRAM = BUILD / "tests/programs/call_costs"
AIM_US = 2
# Of one process: four times what a quiet machine takes.
BOUNDS_US = {"hipGetDevice": 1, "hipMalloc and hipFree": 6, "launch": 10,
             "launch and synchronise": 45, "hipMemcpy of 4 bytes": 25}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MPIRUN = "mpirun.openmpi --oversubscribe --bind-to none -n 2"
ONE = "run platforms/r9nano.heddle --mode functional"
RANKS = "run platforms/ring4.heddle --set gpus=2 --set gpu.arrays=1 --set gpu.vram=64MiB"


def costs(words, rounds, keys):
    """The microseconds of each call of one run."""
    command = [*words, "--", PROGRAM, rounds, *([] if keys else ["keyless"])]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, env=os.environ | AS_ROOT, text=True,
                          stdout=subprocess.PIPE, check=True)
    return {name: float(time) for name, time in re.findall(r"^(.+): ([\d.]+) us$", done.stdout,
                                                           re.MULTILINE)}


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    one = [BUILD / "codegen/heddle", *ONE.split()]
    ranks = [*MPIRUN.split(), BUILD / "codegen/heddle", *RANKS.split()]
    has_keys = "ospke" in Path("/proc/cpuinfo").read_text()
    ways = {"without": (one, rounds, False)}
    if has_keys:
        ways["with keys"] = (one, rounds, True)
    if shutil.which("mpirun.openmpi"):
        ways["2 ranks"] = (ranks, rounds // 10 or 1, True)
    told = [{way: costs(*how) for way, how in ways.items()} for _ in range(runs)]  # in turns
    best = {way: {name: min(run[way][name] for run in told) for name in told[0][way]}
            for way in ways}
    columns = ["with keys", "without", "2 ranks"]
    print(f"| call | {' | '.join(columns)} | bound |\n| --- | ---: | ---: | ---: | ---: |")
    for name, bound in BOUNDS_US.items():
        cells = (f"{best[way][name]:.1f}" if way in best else "" for way in columns)
        print(f"| {name} | {' | '.join(cells)} | {bound} |")
    if has_keys:
        most = max(best["without"][name] - best["with keys"][name] for name in best["without"])
        print(f"\nWithout keys a call costs at most {most:.1f} us more; the aim is {AIM_US}.")
    over = [f"{name} ({way}): {best[way][name]:.1f} us, and its bound is {bound} us"
            for name, bound in BOUNDS_US.items() for way in best
            if way != "2 ranks" and best[way][name] > bound]
    sys.exit("\n".join(over) or 0)


main()
