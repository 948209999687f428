#!/usr/bin/env python3
"""Corrections of cold kernels of SASS traces that are made here: chains.py HEDDLE SCRATCH prints the table of docs/evidence/warmup.md.

Each list has six kernels, in which each warp loads a few lines of its own, then computes. Kernels 1, 3 and 5 read the same lines, 2 and 4 others, 6 half of both. "chain": each load
needs the one before it; else none does. Errors of IPC of kernels 2 to 6, in per cent: mean, and the worst.
"""
import csv
import os
import subprocess
import sys

if len(sys.argv) < 3:
    sys.exit(__doc__)
root = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
sys.path.insert(0, f"{root}/tests/system")
sys.argv = [sys.argv[0], sys.argv[1], f"{root}/platforms", sys.argv[2]]
from sass_traces import EXIT, FULL, heddle, make_list, platforms, scratch, trace  # noqa: E402 (it reads the arguments)

HEAP, LOADS = 0x7F0100000000, 6
LISTS = [("chain", 20, 4), ("chain", 200, 8), ("independent", 20, 4), ("independent", 400, 8)]
MODES = ("none", "formula", "estimate")


def loads(kind, first, warps):
    def body(block, warp):
        own = HEAP + 128 * (first + (block * warps + warp) * LOADS)
        to = [2 if kind == "chain" else 10 + i for i in range(LOADS)]
        lines = [f"{16 * i:04x} {FULL} 1 R{to[i]} LDG.E 1 R2 4 1 0x{own + 128 * i:x} 4" for i in range(LOADS)]
        return lines + [f"{0x200 + 16 * i:04x} {FULL} 1 R4 FFMA 3 R4 R{to[i % LOADS]} R6 0" for i in range(10)] + [EXIT]
    return body


def errors(platform, kind, blocks, warps):
    lines = blocks * warps * LOADS
    firsts = (0, lines, 0, lines, 0, lines // 2)
    name, folder = f"{kind}{blocks}", os.path.join(scratch, "results")
    path = make_list(f"{name}.g", [trace(f"kernel-{name}-{i + 1}.traceg", blocks, warps, loads(kind, first, warps), registers=32)
                                   for i, first in enumerate(firsts)])
    subprocess.run([heddle, "experiment", f"{platforms}/{platform}.heddle", "--kernels", "2-", "--corrections", "--no-cache",
                    "-o", folder, "--play", "sass=" + path], check=True)
    with open(os.path.join(folder, "results.csv")) as file:
        rows = list(csv.DictReader(file))
    return {mode: [100 - float(r["accuracy_percent"]) for r in rows if r["mode"] == mode] for mode in MODES}


print("| platform | loads | blocks, warps | none | formula | estimate |\n| --- | --- | --- | ---: | ---: | ---: |")
for platform in ("rtx3070", "qv100"):
    for kind, blocks, warps in LISTS:
        of = errors(platform, kind, blocks, warps)
        numbers = [f"{sum(of[mode]) / len(of[mode]):.1f} ({max(of[mode]):.1f})" for mode in MODES]
        print(f"| {platform} | {kind} | {blocks}, {warps} | {' | '.join(numbers)} |", flush=True)
