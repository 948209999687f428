#!/usr/bin/env python3
"""How far is `--kernels auto` from full simulation, and how much faster? Long programs, everything
simulated and sampled.

    tests/bench/warmup/sample.py HEDDLE PROGRAMS LOG [--rounds N] [NAME...]
        measures; NAME: only programs with it in their name
    tests/bench/warmup/sample.py HEDDLE PROGRAMS LOG [NAME...] --write docs/evidence/warmup.md
        puts the table between the marks there

Times are CPU seconds (user and system) of the whole tree of processes, from `heddle run` to its
end: the start of the platform and the host program with its checks are in it; the platform has been
built before. Full, sampled and functional runs go in turns, N rounds (2), and the least of each
counts. Each run is appended to LOG as a line of JSON at once; runs that are there already are not
repeated, so a measurement that was stopped goes on, and one of another build wants another LOG.
Cycles and intervals do not depend on the machine; times do.
"""
import json
import os
import subprocess
import sys
import tempfile

from page import option, publish

BEGIN, END = "<!-- tests/bench/warmup/sample.py -->", "<!-- end of sample.py -->"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
# From cheap to dear, of each platform.
CASES = [
    ("r9nano", "life 128 128 200"),
    ("r9nano", "dct8x8 64 200"),
    ("r9nano", "nbody 512 200"),
    ("r9nano", "network 64 64"),
    ("r9nano", "ocean 64 70"),
    ("r9nano", "kmeans 20000 100"),
    ("r9nano", "floyd_warshall 256"),
    ("r9nano", "radix_sort 20000 45"),
    ("r9nano", "stencil 512 512 200"),
    ("r9nano", "dct8x8 256 200"),
    ("tiny", "network 8 20"),
    ("tiny", "dct8x8 64 40"),
    ("tiny", "ocean 32 16"),
    ("tiny", "radix_sort 2500 10"),
    ("tiny", "pipeline 3000 60"),
    ("tiny", "kmeans 1500 40"),
    ("tiny", "stencil 64 64 100"),
    ("tiny", "life 64 64 100"),
    ("tiny", "floyd_warshall 64"),
    ("tiny", "nbody 128 60"),
    ("tiny", "bfs 20000"),
]
WAYS = {"sampled": ["--kernels", "auto"], "functional": ["--mode", "functional"], "full": []}


def run(heddle, programs, platform, program, way):
    """One run: CPU seconds, cycles, and what the sampler says."""
    name, *arguments = program.split()
    with tempfile.TemporaryDirectory() as folder:
        stats = f"{folder}/stats.json"
        command = [heddle, "run", f"{ROOT}/platforms/{platform}.heddle", "--stats", stats,
                   "--kernel-stats", "none", *WAYS[way]]
        child = subprocess.Popen([*command, "--", os.path.join(programs, name), *arguments],
                                 stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        if status:
            sys.exit(f"{platform} {program}: the {way} run failed")
        with open(stats) as file:
            result = json.load(file)
    record = {"platform": platform, "program": program, "way": way,
              "seconds": usage.ru_utime + usage.ru_stime}
    if way == "full":
        record["cycles"] = sum(k["cycles"] for k in result["kernels"])
    if way == "sampled":
        record |= {key: result["sample"][key]
                   for key in ("cycles", "interval", "count", "simulated", "touched")}
    return record


def measure(heddle, programs, log, rounds, names):
    done = [(r["platform"], r["program"], r["way"]) for r in read(log)]
    for number in range(rounds):
        for platform, program in CASES:
            if names and not any(name in program for name in names):
                continue
            for way in WAYS:
                if done.count((platform, program, way)) > number:
                    continue
                record = run(heddle, programs, platform, program, way)
                with open(log, "a") as file:
                    file.write(json.dumps(record) + "\n")


def read(log):
    if not os.path.exists(log):
        return []
    with open(log) as file:
        return [json.loads(line) for line in file]


def table(log, names):
    head = ("program | platform | launches | simulated | touched | error | interval | full | "
            "sampled | times as fast | functional mode alone")
    lines = [f"| {head} |", "| --- | --- " + "| ---: " * 9 + "|"]
    records, errors, inside = read(log), [], 0
    for platform, program in CASES:
        mine = {way: [r for r in records
                      if (r["platform"], r["program"], r["way"]) == (platform, program, way)]
                for way in WAYS}
        if not all(mine.values()) or (names and not any(name in program for name in names)):
            continue
        seconds = {way: min(r["seconds"] for r in mine[way]) for way in WAYS}
        sampled, cycles = mine["sampled"][-1], mine["full"][-1]["cycles"]
        error = (sampled["cycles"] - cycles) / cycles
        interval = sampled["interval"] / sampled["cycles"]
        errors.append(abs(error))
        inside += abs(sampled["cycles"] - cycles) <= sampled["interval"]
        numbers = [sampled["count"], sampled["simulated"], sampled["touched"],
                   f"{100 * error:+.2f} %", f"{100 * interval:.2f} %"]
        numbers += [f"{seconds['full']:.2f}", f"{seconds['sampled']:.2f}",
                    f"{seconds['full'] / seconds['sampled']:.1f}"]
        numbers.append(f"{seconds['full'] / seconds['functional']:.1f}")
        lines.append(f"| {' | '.join([program, platform, *map(str, numbers)])} |")
    lines += ["", f"The truth is inside the interval in {inside} of these {len(errors)}, the error "
                  f"at most {100 * max(errors):.2f} %."]
    return "\n".join(lines)


def main():
    arguments = sys.argv[1:]
    target, rounds = option(arguments, "--write"), int(option(arguments, "--rounds") or 2)
    if len(arguments) < 3:
        sys.exit(__doc__)
    heddle, programs, log, *names = arguments
    measure(heddle, programs, log, rounds, names)
    text = table(log, names)
    publish(text, target, BEGIN, END)


main()
