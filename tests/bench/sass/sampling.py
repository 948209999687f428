#!/usr/bin/env python3
"""Samples of lists of SASS traces against simulations of everything: is the truth inside of the
interval, and what does a sample take?

    tests/bench/sass/sampling.py HEDDLE FOLDER [SEEDS] [LIST...]

makes lists in FOLDER, SEEDS of each kind (default 4), and plays each, and LISTs, on both
platforms: first `heddle run --kernels auto`, then a simulation of all; before both, the binary
copies of the traces are removed."""
import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "system/helpers"))
from sass_traces import EXIT, FULL, Folder, load, store  # noqa: E402

HEAP = 0x7F0100000000


def work(loads, mathematics, first, span, stride=1):
    """Each warp loads `loads` lines, `stride` lines apart, of the `span` lines behind `first`,
    computes behind each load, and stores one line."""
    def body(block, warp):
        at, lines = (block * 4 + warp) * loads, []
        for i in range(loads):
            line = first + (at + i) * stride % span
            lines.append(load(32 * i, HEAP + 128 * line))
            lines += [f"{32 * i + 16:04x} {FULL} 1 R4 FFMA 3 R4 R2 R6 0"] * mathematics
        return lines + [store(0x2000, HEAP + 128 * (first + at % span)), EXIT]
    return body


# Each kind gives (name, blocks, body) of each launch.

def repeated(source):
    """Two kernels in turn on the same data: the first launches are cold, the others warm."""
    blocks, loads = source.choice([40, 80, 160]), source.choice([4, 8])
    a, b = work(loads, 4, 0, 4096), work(loads // 2, 12, 4096, 2048)
    for i in range(source.randrange(30, 90)):
        yield ("_Z4lowsPf", blocks, a) if i % 2 == 0 else ("_Z4highPf", blocks, b)


def cold(source):
    """Every launch reads what no launch has read."""
    blocks = source.choice([40, 120])
    for i in range(source.randrange(30, 60)):
        yield "_Z4coldPf", blocks, work(6, 4, 8192 * i, 8192)


def sometimes_cold(source):
    """Launches read old data, and now and then new ones."""
    blocks, place = 80, 0
    for i in range(source.randrange(40, 90)):
        place += source.random() < 0.2
        yield "_Z5mixedPf", blocks, work(6, 4, 4096 * place, 2048)


def grids(source):
    """Grids that grow and shrink."""
    blocks = 60
    for i in range(source.randrange(40, 90)):
        blocks = max(8, min(300, blocks + source.randrange(-10, 11)))
        yield "_Z5gridsPf", blocks, work(4, 8, 0, 4096)


def drifting(source):
    """A little more to do each time."""
    step = source.choice([0.5, 1, 2])
    for i in range(source.randrange(40, 90)):
        yield "_Z5driftPf", 80, work(4, 8 + int(step * i / 4), 0, 4096)


def strides(source):
    """As many instructions each time, on data that lie further and further apart."""
    for i in range(source.randrange(40, 80)):
        yield "_Z7stridesPf", 80, work(6, 6, 0, 1 << 16, 1 + i // 6)


def phases(source):
    """Some launches of one kind, then some of another, and back."""
    kinds = [work(source.choice([2, 4, 8]), source.choice([2, 10]), 8192 * k, 4096)
             for k in range(3)]
    for i in range(source.randrange(5, 9)):
        kind = source.randrange(3)
        for _ in range(source.randrange(4, 15)):
            yield f"_Z6phase{kind}Pf", 80, kinds[kind]


def noisy(source):
    """Launches that differ by some instructions at random."""
    for i in range(source.randrange(40, 80)):
        yield "_Z5noisyPf", 80, work(4, 8 + source.randrange(5), 0, 4096)


KINDS = [repeated, cold, sometimes_cold, grids, drifting, strides, phases, noisy]


def make(folder, kind, seed):
    source = random.Random(f"{kind.__name__} {seed}")
    traces = Folder(folder / f"{kind.__name__}-{seed}")
    names, known = [], {}
    for i, (symbol, blocks, body) in enumerate(kind(source), 1):
        key = symbol, blocks, id(body)
        name = f"kernel-{i}.traceg"
        if key in known:  # the same launch again
            shutil.copy(traces / known[key], traces / name)
        else:
            traces.trace(name, blocks, 4, body, symbol=symbol)
            known[key] = name
        names.append(name)
        keep.append(body)
    return traces.list("kernelslist.g", names)


keep = []  # bodies, so that no two have the same id


def measure(heddle, platform, path):
    """Launches, simulated, error and interval in per cent, inside, CPU and wall seconds of both."""
    stats = path.parent / "stats.json"
    base = [heddle, "run", f"platforms/{platform}.heddle", "--play", f"sass={path}",
            "--kernel-stats", "none", "--stats", stats]
    subprocess.run([heddle, "build", f"platforms/{platform}.heddle"], check=True,
                   capture_output=True)
    results = []
    for options in ["--kernels", "auto"], []:
        for copy in path.parent.glob("*.heddle-cache"):
            copy.unlink()
        begin = time.time()
        subprocess.run(base + options, check=True, capture_output=True)
        results.append((json.loads(stats.read_text()), time.time() - begin))
    (sampled, wall), (full, full_wall) = results
    sample, truth = sampled["sample"], sum(k["cycles"] for k in full["kernels"])
    error = sample["cycles"] - truth
    return (sample["count"], sample["simulated"], 100 * error / truth,
            100 * sample["interval"] / sample["cycles"], abs(error) <= sample["interval"],
            sampled["host"]["cpu_seconds"], full["host"]["cpu_seconds"], wall, full_wall)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("heddle")
    parser.add_argument("folder", type=Path)
    parser.add_argument("seeds", type=int, nargs="?", default=4)
    parser.add_argument("lists", nargs="*", type=Path)
    arguments = parser.parse_args()
    lists = [(f"{kind.__name__} {seed}", make(arguments.folder, kind, seed))
             for kind in KINDS for seed in range(arguments.seeds)]
    lists += [(path.parent.name, path) for path in arguments.lists]
    inside, number, sums = 0, 0, [0.0] * 4
    print("| list | platform | launches | simulated | error | interval | inside | CPU s, sampled | "
          "full | wall s, sampled | full |\n| --- | --- | " + "---: | " * 9)
    for name, path in lists:
        for platform in "rtx3070", "qv100":
            n, simulated, error, interval, good, *seconds = measure(arguments.heddle, platform,
                                                                    path)
            inside += good
            number += 1
            sums = [a + b for a, b in zip(sums, seconds)]
            print(f"| {name} | {platform} | {n} | {simulated} | {error:+.2f} % | {interval:.2f} % |"
                  f" {'yes' if good else '**no**'} | " + " | ".join(f"{s:.2f}" for s in seconds)
                  + " |", flush=True)
    print(f"\nThe truth is inside of the interval in {inside} of {number}. CPU seconds of all: "
          f"{sums[0]:.1f} sampled, {sums[1]:.1f} of everything; wall: {sums[2]:.1f} and "
          f"{sums[3]:.1f}.")


if __name__ == "__main__":
    main()
