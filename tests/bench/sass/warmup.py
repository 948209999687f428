#!/usr/bin/env python3
"""The table of docs/evidence/warmup.md for kernels of SASS traces: warmup.py HEDDLE TRACES [--page
FILE [--write]].

TRACES holds bfs-rodinia/ with its kernelslist.g. Runs `heddle experiment` on all of its kernels on
rtx3070 and qv100, with and without refresh of the DRAM, and prints accuracies: mean of the kernels,
and the worst. --page: these must stand between the page's marks; with --write, they are put there.
"""
import csv
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.abspath(os.path.join(here, "../../.."))
MODES = ["none", "memory:1", "memory:2", "memory:4", "memory:10", "full-memory", "functional",
         "formula"]
MARKS = ("<!-- warmup.py -->\n", "<!-- end -->\n")
WORST = 4
NO_REFRESH = ["--set", "memory.dram.timing.trefi=1ms"]


def experiment(heddle, traces, platform, options):
    """Accuracy of each mode, of each kernel."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([heddle, "experiment", f"{root}/platforms/{platform}.heddle",
                        "--kernels", "1-", "--no-cache", "-o", folder,
                        "--play", f"sass={traces}/bfs-rodinia/kernelslist.g", *options], check=True)
        accuracy = {}
        with open(os.path.join(folder, "results.csv")) as f:
            for row in csv.DictReader(f):
                accuracy.setdefault(
                    int(row["launch"]), {})[row["mode"]] = float(row["accuracy_percent"])
        return accuracy


def row(name, accuracy):
    cells = [[kernel[mode] for kernel in accuracy.values()] for mode in MODES]
    return (f"| {name} | "
            + " | ".join(f"{sum(c) / len(c):.1f} ({min(c):.1f})" for c in cells) + " |\n")


def table(heddle, traces):
    text = ("| platform, kernels | " + " | ".join(MODES)
            + " |\n| --- |" + " ---: |" * len(MODES) + "\n")
    for platform in ("rtx3070", "qv100"):
        accuracy = experiment(heddle, traces, platform, [])
        worst = sorted(sorted(accuracy, key=lambda launch: accuracy[launch]["none"])[:WORST])
        text += row(f"{platform}, all {len(accuracy)}", accuracy)
        text += row(f"{platform}, {', '.join(map(str, worst))}",
                    {launch: accuracy[launch] for launch in worst})
        text += row(f"{platform}, all, no refresh",
                    experiment(heddle, traces, platform, NO_REFRESH))
    return text


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    text = table(sys.argv[1], sys.argv[2])
    print(text)
    if "--page" not in sys.argv:
        return
    page = sys.argv[sys.argv.index("--page") + 1]
    with open(page) as f:
        before, rest = f.read().split(MARKS[0])
    old, after = rest.split(MARKS[1])
    if "--write" in sys.argv:
        with open(page, "w") as f:
            f.write(before + MARKS[0] + text + MARKS[1] + after)
    elif old != text:
        sys.exit(f"{page} has another table; put this one there with --page {page} --write")


main()
