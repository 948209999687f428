#!/usr/bin/env python3
"""How often is the truth inside the interval of `heddle run --kernels auto`?

    tests/bench/warmup/seeds.py HEDDLE PROGRAMS [SEEDS] [--write docs/evidence/sampled.md]

runs small applications on tiny with data of SEEDS seeds (100), each sampled and in full, and puts
the table between the marks of the page. Cycles do not depend on the machine."""
import json
import os
import subprocess
import sys
import tempfile

from page import option, publish

BEGIN, END = "<!-- tests/bench/warmup/seeds.py -->", "<!-- end of seeds.py -->"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
CASES = ["conjugate_gradients 16 4", "training 16 16 40", "scale_free 8 20", "decode 1 1 3"]


def run(heddle, programs, program, seed, *options):
    name, *arguments = program.split()
    with tempfile.TemporaryDirectory() as folder:
        stats = f"{folder}/stats.json"
        subprocess.run([heddle, "run", f"{ROOT}/platforms/tiny.heddle", "--generic", "--stats",
                        stats, "--kernel-stats", "none", *options, "--",
                        os.path.join(programs, name), *arguments, str(seed)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(stats) as file:
            return json.load(file)


def row(heddle, programs, program, seeds):
    inside, launches, simulated, errors, widths = 0, 0, 0, [], []
    for seed in range(1, seeds + 1):
        truth = sum(k["cycles"] for k in run(heddle, programs, program, seed)["kernels"])
        sample = run(heddle, programs, program, seed, "--kernels", "auto")["sample"]
        inside += abs(sample["cycles"] - truth) <= sample["interval"]
        launches, simulated = launches + sample["count"], simulated + sample["simulated"]
        errors.append(abs(sample["cycles"] / truth - 1))
        widths.append(sample["interval"] / sample["cycles"])
    return (f"| {program} | {launches / seeds:.0f} | {simulated / seeds:.0f} | "
            f"{100 * sum(errors) / seeds:.2f} % | {100 * max(errors):.2f} % | "
            f"{100 * sum(widths) / seeds:.2f} % | {inside} of {seeds} |")


def main(arguments):
    target = option(arguments, "--write")
    heddle, programs, *rest = arguments
    seeds = int(rest[0]) if rest else 100
    rows = []
    for program in CASES:
        rows.append(row(heddle, programs, program, seeds))
        print(rows[-1], flush=True)
    heads = ("| program | launches | simulated | mean error | worst | mean interval | inside |\n"
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    publish("\n".join([heads, *rows]), target, BEGIN, END)


if __name__ == "__main__":
    main(sys.argv[1:])
