#!/usr/bin/env python3
"""What ranks cost, on paper: ranks_model.py HEDDLE FOLDER [PROGRAM_FOLDER].

Measures pod64 of 8 to 64 GPUs in one process, and of 64 on 1 to 8 ranks (what FOLDER has is kept),
fits what a rank's processor does by messages, meetings and bytes, and predicts 16 to 512 ranks on
a network. CPU seconds without what a rank spent waiting are fitted, since wall time of more ranks
than processors says nothing. Prints Markdown; writes FOLDER/ranks-flat.svg.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy
from scipy.optimize import nnls

POD = ["platforms/pod64.heddle"]
WORK = {"halving": ["collectives", "halving", "16384"],
        "exchange": ["collectives", "exchange", "16384"]}
RANKS = {"halving": [1, 2, 4, 8], "exchange": [1, 2]}
NODES = [1, 2, 4, 8]
NETWORK_BYTES_PER_S = 10e9
SLACK = 1.1  # work of the fullest rank, of its share, where no placement is computed


def run(heddle, programs, settings, ranks, work, file):
    if file.exists():
        return json.loads(file.read_text())
    mpi = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    subprocess.run([*(mpi if ranks > 1 else []), heddle, "run", *POD, *settings, "--kernel-stats",
                    "none", "--stats", file, "--", programs / work[0], *work[1:]], check=True,
                   env=env, stdout=subprocess.DEVNULL)
    return json.loads(file.read_text())


def messages(stats):
    return sum(c["requests"] + c["replies"] for c in stats["connections"].values())


def fullest(heddle, ranks, file):
    """Messages of the rank with most of them, as `heddle run` places it."""
    place = file.with_suffix(".place")
    check = [heddle, "check", *POD, "--ranks", str(ranks)]
    subprocess.run([*check, "-o", place], check=True, stdout=subprocess.DEVNULL)
    told = subprocess.run([*check, "--place", place, "--stats", file], check=True,
                          capture_output=True, text=True).stdout
    return max(int(line.split()[2]) for line in told.splitlines() if line.startswith("  rank "))


def flat(heddle, programs, folder):
    rows = []
    for nodes in NODES:
        file = folder / f"flat.{nodes}.json"
        stats = run(heddle, programs, ["--set", f"nodes={nodes}"], 1, WORK["halving"], file)
        gpus = 8 * nodes
        rows.append((gpus, messages(stats) / gpus, 1e3 * stats["host"]["cpu_seconds"] / gpus,
                     stats["host"]["peak_rss_bytes"] / 2**20 / gpus))
    return rows


def measure(heddle, programs, folder):
    rows = []
    for name, work in WORK.items():
        alone = folder / f"{name}.1.json"
        run(heddle, programs, [], 1, work, alone)
        for ranks in RANKS[name]:
            host = run(heddle, programs, [], ranks, work, folder / f"{name}.{ranks}.json")["host"]
            each = host.get("ranks", [dict(host, waited_cpu_seconds=0, meetings=0, bytes_sent=0)])
            most = (fullest(heddle, ranks, alone) if ranks > 1
                    else messages(json.loads(alone.read_text())))
            rows.append((name, ranks, most, each[0]["meetings"],
                         max(r["bytes_sent"] for r in each), commands(alone),
                         max(r["cpu_seconds"] - r["waited_cpu_seconds"] for r in each)))
    return rows


def commands(file):
    """What the program has had done, which is rank 0's alone."""
    driver = json.loads(file.read_text())["components"]["driver"]
    return driver["commands"] + driver["flushes"]


def features(ranks, most, meetings, sent, calls, others=1000):
    return [most, meetings * min(ranks - 1, others), sent, calls]


def svg(rows, file):
    """Per GPU, of that at the fewest: processor time of a message, messages, memory."""
    lines = {"CPU time of a message": [r[2] / r[1] for r in rows],
             "messages of a GPU": [r[1] for r in rows], "memory of a GPU": [r[3] for r in rows]}
    colours = ["#0072B2", "#D55E00", "#009E73"]
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="560" height="300" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="560" height="300" fill="white"/>']

    def at(k, value):
        return 60 + k * 320 / (len(rows) - 1), 260 - value * 100
    for step in (0, 0.5, 1, 1.5, 2):
        y = at(0, step)[1]
        out.append(f'<path d="M60 {y}H380" stroke="#ddd"/><text x="52" y="{y + 4}" '
                   f'text-anchor="end">{step:g}</text>')
    for k, row in enumerate(rows):
        out.append(f'<text x="{at(k, 0)[0]}" y="278" text-anchor="middle">{row[0]}</text>')
    out.append('<text x="220" y="295" text-anchor="middle">GPUs</text><text x="60" y="24">'
               'of that with 8 GPUs</text>')
    ends = []
    for (name, values), colour in zip(lines.items(), colours):
        points = [at(k, value / values[0]) for k, value in enumerate(values)]
        path = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        ends.append((points[-1][1], name, colour))
    low = -99
    for y, name, colour in sorted(ends):  # names do not cover each other
        low = max(y + 4, low + 16)
        out.append(f'<text x="388" y="{low:.0f}" fill="{colour}">{name}</text>')
    file.write_text("\n".join(out + ["</svg>"]) + "\n")


def predict(cost, work, meetings, sent, calls, ranks, latency_s, others=1000):
    """Of a run with `work` messages in all; a meeting is with all other ranks, or so many."""
    most = work * SLACK / ranks if ranks > 1 else work
    cpu = float(numpy.dot(cost, features(ranks, most, meetings, sent / ranks, calls,
                                         others)))
    wire = meetings * latency_s + sent / ranks / NETWORK_BYTES_PER_S if ranks > 1 else 0
    return cpu + wire


def main():
    heddle, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    programs = Path(sys.argv[3] if len(sys.argv) > 3 else "build/tests/programs").resolve()
    os.chdir(Path(__file__).resolve().parents[2])
    folder.mkdir(parents=True, exist_ok=True)
    rows = flat(heddle, programs, folder)
    print("| GPUs | messages a GPU | CPU ms a GPU | CPU us a message | MiB a GPU |\n"
          "| ---: | ---: | ---: | ---: | ---: |")
    for gpus, count, cpu, memory in rows:
        print(f"| {gpus} | {count:.0f} | {cpu:.1f} | {1e3 * cpu / count:.2f} | {memory:.2f} |")
    svg(rows, folder / "ranks-flat.svg")
    measured = measure(heddle, programs, folder)
    x = numpy.array([features(*row[1:6]) for row in measured], float)
    y = numpy.array([row[6] for row in measured])
    cost, _ = nnls(x / y[:, None], numpy.ones(len(y)))  # relative errors
    print("\n| cost of | us |\n| --- | ---: |")
    what = ["a message", "a meeting, each other rank", "a byte", "a command of the program"]
    for name, value in zip(what, cost):
        print(f"| {name} | {1e6 * value:.4f} |")
    print("\n| program | ranks | messages of the fullest | meetings | bytes of one | commands"
          " | CPU s | fitted |"
          "\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row, fitted in zip(measured, x @ cost):
        print(f"| {row[0]} | {row[1]} | {row[2]} | {row[3]} | {row[4]} | {row[5]} |"
              f" {row[6]:.2f} | {fitted:.2f} |")
    print("\n| GPUs, messages a meeting and GPU | ranks | all, 1 us | all, 10 us | six, 1 us"
          " | six, 10 us |"
          "\n| --- | ---: | ---: | ---: | ---: | ---: |")
    last = next(row for row in measured if row[:2] == ("halving", RANKS["halving"][-1]))
    meetings, sent = last[3], last[4] * RANKS["halving"][-1]
    count = messages(json.loads((folder / "halving.1.json").read_text()))
    for scale, gpus in [(1, 64), (1, 512), (100, 512)]:
        work = count * gpus / 64 * scale
        calls = last[5] * gpus / 64
        alone = predict(cost, work, 0, 0, calls, 1, 0)
        for ranks in (16, 32, 64, 128, 256, 512):
            if ranks > gpus:
                continue
            told = [alone / predict(cost, work, meetings, sent * gpus / 64, calls, ranks, latency,
                                    others)
                    for others in (1000, 6) for latency in (1e-6, 1e-5)]
            print(f"| {gpus}, {work / gpus / meetings:.0f} | {ranks} | "
                  + " | ".join(f"{gain:.1f}" for gain in told) + " |")


if __name__ == "__main__":
    main()
