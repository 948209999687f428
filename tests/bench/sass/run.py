#!/usr/bin/env python3
"""Kernels of real traces on rtx3070 and qv100 beside reference.csv: run.py HEDDLE TRACES
[--markdown] [--check] [--page FILE].

TRACES holds bfs-rodinia/ and vectoradd/, each with its kernelslist.g. Prints a table for each
platform and each treatment of copies: cycles without the launch, L1 and L2 misses in sectors, then
the mean of the absolute differences of cycles and the rank correlation, and last each set of traces
judged by what the others alone have chosen. --check: exit status 1 when
a mean is 20 % or more, a count of misses is 10 % off, or a warp instruction is missing. --page: the
tables in this page must be those printed now; with --write, they are put there.
"""
import contextlib
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.abspath(os.path.join(here, "../../.."))
LAUNCH = 5000
INSTRUCTIONS = {"bfs-rodinia": 159509, "vectoradd": 26601}


def reference():
    with open(os.path.join(here, "reference.csv")) as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def simulate(heddle, traces, platform, copies):
    with tempfile.TemporaryDirectory() as folder:
        stats = os.path.join(folder, "stats.json")
        choice = [] if copies == "none" else ["--set", f"player.copies={copies}"]
        subprocess.run([heddle, "run", f"{root}/platforms/{platform}.heddle", *choice,
                        "--play", f"sass={traces}/kernelslist.g", "--no-cache", "--stats", stats],
                       check=True)
        with open(stats) as f:
            return json.load(f)


def counts(kernel):
    """Misses of sectors and of the lines that bring them."""
    parts = kernel["components"].items()

    def total(level, *names):
        return sum(values.get(n, 0) for path, values in parts
                   if path.rsplit(".", 1)[-1].startswith(level) for n in names)
    return {"l1_misses": total("l1", "misses", "sector_misses"),
            "l2_misses": total("l2", "misses", "sector_misses")}


def percent(ours, theirs):
    return 100 * (ours - theirs) / theirs if theirs else 0.0 if ours == theirs else float("inf")


def ranks(values):
    """Equal values share the mean of their ranks."""
    order = sorted(values)
    return [order.index(v) + (order.count(v) - 1) / 2 for v in values]


def correlation(a, b):
    a, b = ranks(a), ranks(b)
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    above = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    below = (sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)) ** 0.5
    return above / below


def table(platform, copies, rows, markdown):
    heads = ["traces", "kernel", "cycles", "reference", "%", "L1 misses", "reference", "L2 misses",
             "reference"]
    print(f"\n**{platform}**, copies = {copies}\n")
    if markdown:
        print("| " + " | ".join(heads) + " |\n| --- |" + " ---: |" * (len(heads) - 1))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(len(row[i]) for row in [heads] + rows) for i in range(len(heads))]
    for row in [heads] + rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))


def compare(heddle, traces, platform, copies, markdown, bad):
    wanted = [r for r in reference() if r["platform"] == platform and r["copies"] == copies]
    rows, ours, theirs, off, kernel_names = [], [], [], [], []
    for name, instructions in INSTRUCTIONS.items():
        stats = simulate(heddle, os.path.join(traces, name), platform, copies)
        of_set = [r for r in wanted if r["traces"] == name]
        executed = sum(k["wavefront_instructions"] for k in stats["kernels"])
        if executed != instructions or len(stats["kernels"]) != len(of_set):
            bad.append(f"{platform}: {executed} instructions of {instructions}")
        for kernel, r in zip(stats["kernels"], of_set):
            misses = counts(kernel)
            cycles, expected = kernel["cycles"] - LAUNCH, int(r["cycles"]) - LAUNCH
            ours.append(cycles)
            theirs.append(expected)
            off.append(abs(percent(cycles, expected)))
            kernel_names.append(kernel["name"].split("(")[0])
            row = [name, r["kernel"], str(cycles), str(expected),
                   f"{percent(cycles, expected):+.1f}"]
            for level in ("l1_misses", "l2_misses"):
                row += [str(misses[level]), r[level]]
                if abs(percent(misses[level], int(r[level]))) > 10:
                    bad.append(f"{platform}: {name} kernel {r['kernel']}: {level} {misses[level]}, "
                               f"not {r[level]}")
            rows.append(row)
    table(platform, copies, rows, markdown)
    names = [row[0] for row in rows]
    pairs = {name: [(a, b) for n, a, b in zip(names, ours, theirs) if n == name]
             for name in INSTRUCTIONS}
    mean = sum(off) / len(off)
    distinct = {}
    for kernel, difference in zip(kernel_names, off):
        distinct.setdefault(kernel, []).append(difference)
    means = {kernel: sum(of) / len(of) for kernel, of in distinct.items()}
    print(f"\nmean of the absolute differences of cycles {mean:.1f} %, largest {max(off):.1f} %, "
          f"rank correlation {correlation(ours, theirs):.3f}\nby distinct kernels "
          f"{sum(means.values()) / len(means):.1f} %: "
          + ", ".join(f"{kernel} {of:.1f} %" for kernel, of in means.items()))
    if mean >= 20:
        bad.append(f"{platform}: mean difference {mean:.1f} %")
    return pairs


def errors(pairs, more):
    """Of cycles, in per cent, if each launch took so many cycles more."""
    return [abs(percent(a + more, b)) for a, b in pairs]


def left_out(results):
    """Each set of traces judged by a launch latency that the other sets alone have chosen."""
    print("\n| left out | platform | copies | kernels | launch by the others | mean | largest | "
          "mean as it is |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    every, fitted = [], []
    for (platform, copies), pairs in results.items():
        for name in INSTRUCTIONS:
            others = [p for n, of in pairs.items() for p in of if n != name]
            more = min(range(-200, 201), key=lambda m: (sum(errors(others, m)), abs(m)))
            held, plain = errors(pairs[name], more), errors(pairs[name], 0)
            every += plain
            fitted += held
            print(f"| {name} | {platform} | {copies} | {len(held)} | {LAUNCH + more} | "
                  f"{sum(held) / len(held):.1f} % | {max(held):.1f} % | "
                  f"{sum(plain) / len(plain):.1f} % |")
    print(f"\nof all kernels: {sum(fitted) / len(fitted):.1f} % with what the others chose, "
          f"{sum(every) / len(every):.1f} % as it is")


def keep_page(path, text, bad):
    """Compares what stands between the page's marks, or puts it there."""
    with open(path) as f:
        before, rest = f.read().split("<!-- run.py -->\n")
    old, after = rest.split("<!-- end -->\n")
    if "--write" in sys.argv:
        with open(path, "w") as f:
            f.write(f"{before}<!-- run.py -->\n{text}<!-- end -->\n{after}")
    elif old != text:
        bad.append(f"{path} has other tables; put these there with --page {path} --write")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    bad, page = [], sys.argv[sys.argv.index("--page") + 1] if "--page" in sys.argv else None
    text = io.StringIO()
    with contextlib.redirect_stdout(text if page else sys.stdout):
        results = {(platform, copies): compare(sys.argv[1], sys.argv[2], platform, copies,
                                               bool(page) or "--markdown" in sys.argv, bad)
                   for platform in ("rtx3070", "qv100") for copies in ("none", "fill")}
        left_out(results)
    if page:
        print(text.getvalue())
        keep_page(page, text.getvalue() + "\n", bad)
    if "--check" in sys.argv and bad:
        sys.exit("\n".join(bad))


main()
