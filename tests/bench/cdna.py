#!/usr/bin/env python3
"""Speed of the CDNA machines on the label programs: cdna.py BUILD [RUNS] [PLATFORM].

Prints a Markdown table: wavefront instructions, CPU seconds of the simulating process (median of
RUNS, default 3), million wavefront instructions a CPU second, peak memory. Whole processes, with
start-up, copies and the warm-up launch. Copies between host and device have no instructions, so
their three labels have a time only. docs/evidence/speed.md keeps the table."""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

POINTS = [
    "atax 2048", "fastwalshtransform 1048576", "matrixmultiplication 512",
    "matrixtranspose 2048", "nbody 8192", "pagerank 1024", "stencil2d 1024",
    "vectoradd 1048576", "memcopy_d2d 16", "memcopy_d2h 16", "memcopy_h2d 16",
]


def measure(build, platform, point):
    """Instructions, CPU seconds and peak bytes of one run."""
    target = "gfx90a" if platform == "mi210" else "gfx942"
    label, size = point.split()
    with tempfile.TemporaryDirectory() as folder:
        stats = os.path.join(folder, "stats.json")
        subprocess.run(
            [f"{build}/codegen/heddle", "run", f"platforms/{platform}.heddle", "--stats", stats,
             "--", f"{build}/tests/programs/cdna/{label}.{target}", size],
            check=True, stdout=subprocess.DEVNULL)
        with open(stats, encoding="utf-8") as file:
            tree = json.load(file)
    kernels = tree["kernels"]
    return (sum(k["wavefront_instructions"] for k in kernels), tree["host"]["cpu_seconds"],
            tree["host"]["peak_rss_bytes"])


def main():
    build = sys.argv[1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    platform = sys.argv[3] if len(sys.argv) > 3 else "mi300x"
    only = sys.argv[4:]
    print(f"| {platform} | wavefront instructions | CPU s | million a CPU second | peak MB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    rates = []
    for point in POINTS:
        if only and point.split()[0] not in only:
            continue
        results = [measure(build, platform, point) for _ in range(runs)]
        count = results[0][0]
        seconds = statistics.median(r[1] for r in results)
        peak = statistics.median(r[2] for r in results)
        rate = count / seconds / 1e6
        if count:
            rates.append(rate)
        print(f"| {point} | {count:,} | {seconds:.3f} | {rate:.2f} | {peak / 1e6:.0f} |",
              flush=True)
    mean = math.exp(statistics.fmean(math.log(r) for r in rates))
    print(f"\ngeometric mean: {mean:.2f} million wavefront instructions a CPU second")


if __name__ == "__main__":
    main()
