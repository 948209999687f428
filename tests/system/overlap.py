#!/usr/bin/env python3
"""overlap.py STATS [NAME]: do eight kernels (whose name begins with NAME) run at the same time, and hold each other's slots?"""
import json
import sys

name = sys.argv[2] if len(sys.argv) > 2 else ""
kernels = [k for k in json.load(open(sys.argv[1]))["kernels"] if k["name"].startswith(name)]
last_start, first_end = max(k["start_ps"] for k in kernels), min(k["end_ps"] for k in kernels)
alone = max(k["end_ps"] - k["start_ps"] for k in kernels)
span = max(k["end_ps"] for k in kernels) - min(k["start_ps"] for k in kernels)
wrong = []
if len(kernels) != 8:
    wrong.append(f"{len(kernels)} kernels")
if last_start >= first_end:
    wrong.append(f"the last begins at {last_start} ps, the first ends at {first_end} ps")
if span > 1.5 * alone:
    wrong.append(f"all together take {span} ps, one of them {alone} ps")
for k in kernels:
    if not k["overlaps"] or not k["slot_cycles"]["others"]["kernels"]:
        wrong.append(f"{k['name']} sees no other kernel")
print(*wrong, sep="\n")
sys.exit(bool(wrong))
