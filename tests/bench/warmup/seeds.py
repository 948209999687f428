#!/usr/bin/env python3
"""How often is the truth inside the interval of `heddle run --kernels auto`?

    tests/bench/warmup/seeds.py HEDDLE PROGRAMS LOG [SEEDS] [--write docs/evidence/sampled.md]

runs small programs on tiny, SEEDS of each (100), sampled and in full, those that are not in LOG
yet, and puts the table between the marks of the page. Cycles do not depend on the
machine."""
import json
import os
import subprocess
import sys
import tempfile

from page import option, publish
from sampled import read

BEGIN, END = "<!-- tests/bench/warmup/seeds.py -->", "<!-- end of seeds.py -->"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
# Arguments by seed: where cycles do not depend on data, another size is another application.
CASES = {"conjugate_gradients": lambda seed: (12 + seed // 4, 2 + seed % 4),
         "training": lambda seed: (8 + seed // 2, 16, 40 + seed % 2),
         "scale_free": lambda seed: (8, 20, seed),
         "transformer": lambda seed: ("--tokens", 10 + seed),
         "kmeans": lambda seed: (1000 + 50 * seed, 20 + seed % 5),
         "dct8x8": lambda seed: (64, 10 + 2 * seed),
         "floyd_warshall": lambda seed: (32 + 2 * seed,),
         "ocean": lambda seed: (32, 8 + seed),
         "network": lambda seed: (8, 10 + seed),
         "pipeline": lambda seed: (2000 + 100 * seed, 40),
         "radix_sort": lambda seed: (2000 + 500 * (seed % 5), 6 + seed)}


def run(heddle, programs, program, seed, *options):
    arguments = [str(argument) for argument in CASES[program](seed)]
    with tempfile.TemporaryDirectory() as folder:
        stats = f"{folder}/stats.json"
        subprocess.run([heddle, "run", f"{ROOT}/platforms/tiny.heddle", "--generic", "--stats",
                        stats, "--kernel-stats", "none", *options, "--",
                        os.path.join(programs, program), *arguments],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(stats) as file:
            return json.load(file)


def measure(heddle, programs, program, seed):
    truth = sum(k["cycles"] for k in run(heddle, programs, program, seed)["kernels"])
    sample = run(heddle, programs, program, seed, "--kernels", "auto")["sample"]
    return {"program": program, "seed": seed, "truth": truth} | {
        key: sample[key] for key in ("cycles", "interval", "count", "simulated")}


def row(program, found):
    count = len(found)
    inside = sum(abs(r["cycles"] - r["truth"]) <= r["interval"] for r in found)
    errors = [abs(r["cycles"] / r["truth"] - 1) for r in found]
    width = sum(r["interval"] / r["cycles"] for r in found) / count
    return (f"| {program} | {sum(r['count'] for r in found) / count:.0f} | "
            f"{sum(r['simulated'] for r in found) / count:.0f} | "
            f"{100 * sum(errors) / count:.2f} % | {100 * max(errors):.2f} % | "
            f"{100 * width:.2f} % | {inside} of {count} |")


def main(arguments):
    target = option(arguments, "--write")
    heddle, programs, log, *rest = arguments
    found = read(log)
    done = {(r["program"], r["seed"]) for r in found}
    for seed, program in ((s, p) for s in range(1, int(rest[0] if rest else 100) + 1)
                          for p in CASES if (p, s) not in done):
        found.append(measure(heddle, programs, program, seed))
        with open(log, "a") as file:
            file.write(json.dumps(found[-1]) + "\n")
    rows = [row(p, of) for p in CASES if (of := [r for r in found if r["program"] == p])]
    heads = ("| program | launches | simulated | mean error | worst | mean interval | inside |\n"
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    publish("\n".join([heads, *rows]), target, BEGIN, END)


if __name__ == "__main__":
    main(sys.argv[1:])
