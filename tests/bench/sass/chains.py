#!/usr/bin/env python3
"""Corrections of cold kernels of SASS traces that are made here, for docs/evidence/warmup.md.

chains.py HEDDLE SCRATCH prints the table. Each list has six kernels, in which each warp loads a few
lines of its own, then computes. Kernels 1, 3 and 5 read the same lines, 2 and 4 others, 6 half of
both. "chain": each load needs the one before it; else none does. Errors of IPC of kernels 2 to 6,
in per cent: mean, and the worst.
"""
import csv
import os
import subprocess
import sys

root = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
sys.path.insert(0, f"{root}/tests/system")
from sass_traces import EXIT, FULL, Folder, load  # noqa: E402 (of the tests)

HEAP, LOADS = 0x7F0100000000, 6
LISTS = [("chain", 20, 4), ("chain", 200, 8), ("independent", 20, 4), ("independent", 400, 8)]
MODES = ("none", "formula", "estimate")


def loads(kind, first, warps):
    def body(block, warp):
        own = HEAP + 128 * (first + (block * warps + warp) * LOADS)
        to = [2 if kind == "chain" else 10 + i for i in range(LOADS)]
        lines = [load(16 * i, own + 128 * i, to[i]) for i in range(LOADS)]
        lines += [f"{0x200 + 16 * i:04x} {FULL} 1 R4 FFMA 3 R4 R{to[i % LOADS]} R6 0"
                  for i in range(10)]
        return lines + [EXIT]
    return body


def errors(heddle, scratch, platform, kind, blocks, warps):
    lines = blocks * warps * LOADS
    firsts = (0, lines, 0, lines, 0, lines // 2)
    name, folder = f"{kind}{blocks}", scratch / "results"
    path = scratch.list(f"{name}.g", [
        scratch.trace(f"kernel-{name}-{i}.traceg", blocks, warps, loads(kind, first, warps),
                      registers=32) for i, first in enumerate(firsts, 1)])
    subprocess.run([heddle, "experiment", f"{root}/platforms/{platform}.heddle", "--kernels", "2-",
                    "--corrections", "--no-cache", "-o", folder, "--play", f"sass={path}"],
                   check=True)
    with open(folder / "results.csv") as file:
        rows = list(csv.DictReader(file))
    return {mode: [100 - float(r["accuracy_percent"]) for r in rows if r["mode"] == mode]
            for mode in MODES}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print("| platform | loads | blocks, warps | none | formula | estimate |\n"
          "| --- | --- | --- | ---: | ---: | ---: |")
    for platform in "rtx3070", "qv100":
        for kind, blocks, warps in LISTS:
            of = errors(sys.argv[1], Folder(sys.argv[2]), platform, kind, blocks, warps)
            numbers = " | ".join(f"{sum(of[mode]) / len(of[mode]):.1f} ({max(of[mode]):.1f})"
                                 for mode in MODES)
            print(f"| {platform} | {kind} | {blocks}, {warps} | {numbers} |", flush=True)


main()
