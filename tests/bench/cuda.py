#!/usr/bin/env python3
"""Speed of CUDA programs on NVIDIA's machines: cuda.py BUILD [RUNS] [MACHINE].

HIP programs of tests/programs as CUDA programs (as_cuda.sh). Prints a Markdown table: warp
instructions, and millions of them a CPU second of simulation in time and in functional mode, the
best of RUNS (default 3). docs/evidence/speed.md keeps it."""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POINTS = ["matmul 256", "nbody 2048", "sha256 4096", "convolution 512", "spmv 4096",
          "vectoradd 1000000", "histogram 1000000"]


def rate(run, point, runs):
    """Warp instructions, and millions a CPU second of simulation."""
    with tempfile.TemporaryDirectory() as folder:
        stats, rates = Path(folder) / "stats.json", []
        for _ in range(runs):
            subprocess.run([*run, "--stats", stats, "--", *point], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            tree = json.loads(stats.read_text())
            count = sum(kernel["wavefront_instructions"] for kernel in tree["kernels"])
            rates.append(count / tree["host"]["simulation_cpu_seconds"] / 1e6)
    return count, max(rates)


def main():
    heddle = Path(sys.argv[1]).resolve() / "codegen/heddle"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    machine = sys.argv[3] if len(sys.argv) > 3 else "rtx3070"
    run = [heddle, "run", ROOT / f"platforms/{machine}.heddle"]
    print(f"| {machine} | warp instructions | timing | functional |\n| --- | ---: | ---: | ---: |")
    logs = [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        for name, *arguments in map(str.split, POINTS):
            subprocess.run([ROOT / "tests/programs/as_cuda.sh", name, folder], check=True)
            program = f"{folder}/{name}"
            subprocess.run([heddle, "cuda-cc", f"{program}.cu", "-o", program], check=True)
            count, timed = rate(run, [program, *arguments], runs)
            functional = rate([*run, "--mode", "functional"], [program, *arguments], runs)[1]
            logs = [logs[0] + math.log(timed), logs[1] + math.log(functional)]
            print(f"| {' '.join([name, *arguments])} | {count:,} | {timed:.2f} | "
                  f"{functional:.1f} |", flush=True)
    timed, functional = (math.exp(log / len(POINTS)) for log in logs)
    print(f"| geometric mean | | {timed:.2f} | {functional:.1f} |")


main()
