#!/usr/bin/env python3
"""How far is `heddle run --mode sampled` from full simulation, and how fast is it?

    tests/bench/warmup/sampled.py HEDDLE PROGRAMS LOG [--list LIST] [--ways WAY,...]
        measures what is not in LOG yet, a line of JSON a run; WAY: full, sampled, functional
    tests/bench/warmup/sampled.py HEDDLE PROGRAMS LOG [--list LIST] --write docs/evidence/sampled.md
        puts the tables of the list between its marks there

Which programs, and when they were chosen, is told in docs/evidence/sampled.md. Times are CPU
seconds (user and system) of the whole tree of processes of a single run, with the host program and
its checks; the platform has been built before. Cycles and intervals do not depend on the machine;
times do.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

from page import option, publish

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
CASES = {
    "developed": [
        ("r9nano", "saxpy 4000000"), ("r9nano", "transpose 2048 2048"),
        ("r9nano", "aes128 1000000"), ("r9nano", "stencil 2048 2048 2"),
        ("r9nano", "scan 4000000"), ("r9nano", "layers 2000"), ("r9nano", "histogram 8000000"),
        ("r9nano", "bitonic 18"), ("tiny", "saxpy 200000"),
        ("mi210", "cdna/matrixtranspose.gfx90a 4096")],
    "judged": [ # from cheap to dear
        ("tiny", "convolution 512 512"), ("r9nano", "fir 2000000"), ("r9nano", "sha256 100000"),
        ("r9nano", "floyd_warshall 192"), ("r9nano", "kmeans 50000 40"),
        ("r9nano", "ocean 128 30"), ("r9nano", "matmul_tiled 512"), ("r9nano", "philox 4000000"),
        ("r9nano", "vectoradd 8000000"), ("r9nano", "convolution 2048 2048"),
        ("r9nano", "fft 2000"), ("r9nano", "doubles 400"), ("r9nano", "network 32 32"),
        ("r9nano", "spmv 100000"), ("r9nano", "divergence 400000"), ("r9nano", "nbody 8192"),
        ("r9nano", "dct8x8 256 100"), ("r9nano", "matmul 768"),
        ("mi210", "cdna/vectoradd.gfx90a 16777216"), ("mi300x", "cdna/stencil2d.gfx942 4096")],
    "applications": [ # 10^8 instructions each, and 10^9
        ("r9nano", "conjugate_gradients 256 9"), ("r9nano", "transformer --type fp16 --tokens 60"),
        ("r9nano", "training 128 256 25"), ("r9nano", "scale_free 15 68"),
        ("r9nano", "conjugate_gradients 512 33"),
        ("r9nano", "transformer --shape 15m --type fp16 --tokens 64"),
        ("r9nano", "training 128 256 250"), ("r9nano", "scale_free 17 170")],
}
TRAFFIC = ("read", "written")
MODES = {"sampled": ["sampled"], "full": ["timing"], "functional": ["functional"]}


def run(heddle, programs, platform, program, way):
    """One run: CPU seconds, cycles, and the estimate."""
    name, *arguments = program.split()
    with tempfile.TemporaryDirectory() as folder:
        stats = f"{folder}/stats.json"
        command = [heddle, "run", f"{ROOT}/platforms/{platform}.heddle", "--stats", stats,
                   "--kernel-stats", "sum" if way == "full" else "none", "--mode", *MODES[way]]
        child = subprocess.Popen([*command, "--", os.path.join(programs, name), *arguments],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        if status:
            sys.exit(f"{platform} {program}: the {way} run failed")
        with open(stats) as file:
            result = json.load(file)
    kernels = result["kernels"]
    record = {"platform": platform, "program": program, "way": way,
              "seconds": usage.ru_utime + usage.ru_stime,
              "instructions": sum(k["wavefront_instructions"] for k in kernels)}
    if way == "functional":
        return record
    if way == "full":
        return record | {"cycles": sum(k["cycles"] for k in kernels), "launches": len(kernels),
                         **{which: moved(kernels, which) for which in TRAFFIC}}
    sample = result["sample"]
    detailed = sum(k["wavefront_instructions"] for k in kernels
                   if k["simulated"] in ("detailed", "part"))
    return record | {key: sample[key] for key in ("cycles", "interval", "count", "simulated")} | {
        "detailed": detailed, "cut": len(sample["in_parts"])} | {
            which: [sample["memory"][which][key] for key in ("bytes", "interval")]
            for which in TRAFFIC}


def moved(kernels, which):
    """Bytes that memories have read or written while kernels ran."""
    return sum(part[f"bytes_{which}"] for kernel in kernels
               for part in kernel.get("components", {}).values()
               if "reads" in part and f"bytes_{which}" in part)


def read(log):
    if not os.path.exists(log):
        return []
    with open(log) as file:
        return [json.loads(line) for line in file]


def measure(heddle, programs, log, which, ways):
    done = {(r["platform"], r["program"], r["way"]) for r in read(log)}
    for platform, program in CASES[which]:
        for way in ways:
            if (platform, program, way) in done:
                continue
            record = run(heddle, programs, platform, program, way)
            with open(log, "a") as file:
                file.write(json.dumps(record) + "\n")
            print(record, flush=True)


def rows(records, which):
    for platform, program in CASES[which]:
        found = {r["way"]: r for r in records
                 if (r["platform"], r["program"]) == (platform, program)}
        if {"full", "sampled"} <= found.keys():
            yield platform, program, found["full"], found["sampled"]


def floor_of(records, full):
    """How many times as fast the run is in which all launches are executed without timing."""
    for r in records:
        if (r["platform"], r["program"]) == (full["platform"], full["program"]) \
                and r["way"] == "functional":
            return f"{full['seconds'] / r['seconds']:.1f}"
    return ""


def mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else math.nan


def table(records, which):
    lines = ["| program | platform | launches | in parts | in detail | error | interval | inside | "
             "full | sampled | times as fast | functional, times as fast | million a second |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | "
             "---: |"]
    inside, speeds, rates, errors = 0, [], [], []
    for platform, program, full, sampled in rows(records, which):
        error = sampled["cycles"] / full["cycles"] - 1
        good = abs(sampled["cycles"] - full["cycles"]) <= sampled["interval"]
        inside += good
        errors.append(abs(error))
        speeds.append(full["seconds"] / sampled["seconds"])
        rates.append(sampled["instructions"] / sampled["seconds"] / 1e6)
        lines.append(
            f"| {program} | {platform} | {full['launches']} | {sampled['cut']} | "
            f"{100 * sampled['detailed'] / sampled['instructions']:.1f} % | {100 * error:+.2f} % | "
            f"{100 * sampled['interval'] / sampled['cycles']:.2f} % | {'yes' if good else '**no**'}"
            f" | {full['seconds']:.2f} | {sampled['seconds']:.2f} | {speeds[-1]:.1f} | "
            f"{floor_of(records, full)} | {rates[-1]:.1f} |")
    count = len(errors)
    return "\n".join(lines) + (
        f"\n\nThe truth is inside the interval in {inside} of {count}. Errors: mean "
        f"{100 * sum(errors) / count:.2f} %, worst {100 * max(errors):.2f} %. Geometric means:\n"
        f"{mean(speeds):.1f} times as fast, {mean(rates):.1f} million wavefront instructions a CPU "
        "second.")


def traffic_table(records, which):
    """Errors of the bytes that memory reads and writes while kernels run."""
    lines = ["| program | platform | MB read | error | interval | inside | MB written | error | "
             "interval | inside |",
             "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | --- |"]
    inside = count = 0
    errors = []
    for platform, program, full, sampled in rows(records, which):
        if "read" not in full:
            continue
        cells = []
        for one in TRAFFIC:
            (value, interval), truth = sampled[one], full[one]
            good = abs(value - truth) <= interval
            inside, count = inside + good, count + 1
            share = f"{100 * interval / value:.1f} %" if value else "0"
            if truth:
                errors.append(abs(value / truth - 1))
            error = f"{100 * (value / truth - 1):+.1f} %" if truth else f"{value / 1e6:.2f} MB"
            cells.append(f"{truth / 1e6:.2f} | {error} | {share} | {'yes' if good else '**no**'}")
        lines.append(f"| {program} | {platform} | {' | '.join(cells)} |")
    return "\n".join(lines) + (
        f"\n\nThe truth is inside in {inside} of {count}; the median error is "
        f"{100 * sorted(errors)[len(errors) // 2] if errors else math.nan:.1f} %.")


def main(arguments):
    which, target = option(arguments, "--list") or "developed", option(arguments, "--write")
    ways = (option(arguments, "--ways") or "full,sampled").split(",")
    heddle, programs, log = arguments
    if not target:
        measure(heddle, programs, log, which, ways)
    records = read(log)
    text = (f"{len(list(rows(records, which)))} of {len(CASES[which])}:\n\n"
            f"{table(records, which)}\n\nTheir memory:\n\n{traffic_table(records, which)}")
    publish(text, target, f"<!-- tests/bench/warmup/sampled.py --list {which} -->",
            f"<!-- end of {which} -->")


if __name__ == "__main__":
    main(sys.argv[1:])
