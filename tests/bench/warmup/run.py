#!/usr/bin/env python3
"""How wrong is a cold start, and how wrong when corrected? All launches but the first of many
programs.

    tests/bench/warmup/run.py HEDDLE PROGRAMS [NAME...]
        prints a table; NAME: only programs with it in their name
    tests/bench/warmup/run.py HEDDLE PROGRAMS --write docs/evidence/warmup.md
        puts it between the marks there
    tests/bench/warmup/run.py HEDDLE PROGRAMS --inputs [--write docs/evidence/warmup.md]
        the table of inputs of the corrections

Errors are those of IPC, in per cent of what a simulation of everything gives, as in `heddle
experiment`, which this calls once for each program. Simulated cycles do not depend on the machine,
so everybody gets this table.
"""
import csv
import os
import subprocess
import sys
import tempfile

from page import option, publish

BEGIN, END = "<!-- tests/bench/warmup/run.py -->", "<!-- end -->"
BEGIN_INPUTS, END_INPUTS = "<!-- tests/bench/warmup/run.py --inputs -->", "<!-- end of inputs -->"
SETTLED, KNOWN, NEW, HELD = "settled with", "known before", "all the time", "held out"
# Role, platform, program and its arguments. The form of the estimate was settled with dct8x8, one
# rule of it later with matmul_chain; the other programs of the page's first table were known while
# it was. The third group was new then, and has been looked at with every change since; the last was
# chosen before the last changes and measured once, after them.
CASES = [
    (SETTLED, "tiny", "dct8x8"),
    (SETTLED, "r9nano", "dct8x8 256 4"),
    (SETTLED, "tiny", "matmul_chain"),
    (KNOWN, "r9nano", "ocean 128 2"),
    (KNOWN, "r9nano", "kmeans 20000 4"),
    (KNOWN, "r9nano", "radix_sort"),
    (KNOWN, "r9nano", "floyd_warshall 64"),
    (KNOWN, "tiny", "ocean"),
    (KNOWN, "tiny", "kmeans"),
    (KNOWN, "tiny", "radix_sort"),
    (KNOWN, "tiny", "floyd_warshall"),
    (NEW, "tiny", "dct8x8 128 3"),
    (NEW, "tiny", "ocean 64 2"),
    (NEW, "tiny", "kmeans 6000 6"),
    (NEW, "tiny", "stencil 200 100 8"),
    (NEW, "tiny", "bfs"),
    (NEW, "tiny", "life 128 64 6"),
    (NEW, "tiny", "bitonic 12"),
    (NEW, "tiny", "nbody 300 4"),
    (NEW, "tiny", "layers"),
    (NEW, "tiny", "spmv"),
    (NEW, "tiny", "scan"),
    (NEW, "tiny", "atax"),
    (NEW, "r9nano", "dct8x8 512 2"),
    (NEW, "r9nano", "ocean 64 4"),
    (NEW, "r9nano", "kmeans 5000 6"),
    (NEW, "r9nano", "stencil 512 256 6"),
    (NEW, "r9nano", "bfs 20000"),
    (NEW, "r9nano", "life 256 128 6"),
    (NEW, "r9nano", "bitonic 15"),
    (NEW, "r9nano", "nbody 2048 3"),
    (NEW, "r9nano", "layers 200"),
    (NEW, "r9nano", "spmv 4000"),
    (NEW, "r9nano", "scan"),
    (NEW, "r9nano", "atax"),
    (HELD, "tiny", "pipeline"),
    (HELD, "r9nano", "pipeline 8000 3"),
    (HELD, "tiny", "network 8 1"),
    (HELD, "r9nano", "network 16 1"),
    (HELD, "tiny", "spread all 4096"),
    (HELD, "r9nano", "spread all 8192"),
    (HELD, "tiny", "reduction"),
    (HELD, "r9nano", "reduction 50000"),
    (HELD, "tiny", "stencil 64 64 10"),
    (HELD, "r9nano", "dct8x8 64 6"),
    (HELD, "r9nano", "floyd_warshall 96"),
    (HELD, "tiny", "bfs 3000"),
]
MODES = ("none", "formula", "estimate")


def experiment(heddle, programs, platform, program, *options):
    """The rows of results.csv and of corrections.csv."""
    name, *arguments = program.split()
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
    with tempfile.TemporaryDirectory() as folder:
        command = [heddle, "experiment", f"{root}/platforms/{platform}.heddle", "--corrections",
                   *options, "-o", folder, "--", os.path.join(programs, name), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        tables = []
        for file in "results", "corrections":
            with open(f"{folder}/{file}.csv") as text:
                tables.append(list(csv.DictReader(text)))
    return tables


def measure(heddle, programs, platform, program):
    """Errors of each mode: a list, one a launch."""
    rows, _ = experiment(heddle, programs, platform, program, "--kernels", "2-")
    return {mode: [100 - float(r["accuracy_percent"]) for r in rows if r["mode"] == mode]
            for mode in MODES}


INPUTS = ("cycles", "accesses", "controllers", "line", "reuse", "dram", "l2", "both")


def input_table(heddle, programs):
    """Of the launches of kmeans that the cold start costs most: what their corrections are made
    of."""
    columns = ["launch", "kernel", *INPUTS[:7], "formula", "both", "estimate", "perfect"]
    lines = [f"| {' | '.join(columns)} |", "| ---: | --- |" + " ---: |" * (len(columns) - 2)]
    rows, corrections = experiment(heddle, programs, "tiny", "kmeans")
    perfect = {row["launch"]: row["cycles"] for row in rows if row["mode"] == "perfect"}
    for formula, estimate in zip(corrections[::2], corrections[1::2]):
        inputs = dict(term.split("=") for row in (estimate, formula)
                      for term in row["inputs"].split())
        values = [f"{float(inputs[name]):.6g}" for name in INPUTS]
        results = [f"{float(row['corrected_cycles']):.0f}" for row in (formula, estimate)]
        launch = formula["launch"]
        cells = [launch, formula["kernel"].split("(")[0], *values[:7], results[0], values[7],
                 results[1], perfect[launch]]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def mean(values):
    return sum(values) / len(values)


def line(first, errors):
    numbers = [f"{mean(errors[mode]):.1f} ({max(errors[mode]):.1f})" for mode in MODES]
    return f"| {' | '.join([*first, str(len(errors['none'])), *numbers])} |"


def table(heddle, programs, names):
    lines = ["| | platform | program | launches | none | formula | estimate |",
             "| --- | --- | --- | ---: | ---: | ---: | ---: |"]
    all_of = {role: [] for role in (SETTLED, KNOWN, NEW, HELD)}
    losses = []
    for role, platform, program in CASES:
        if names and not any(name in program for name in names):
            continue
        errors = measure(heddle, programs, platform, program)
        all_of[role].append(errors)
        lines.append(line((role, platform, program), errors))
        if mean(errors["estimate"]) > mean(errors["none"]):
            losses.append(f"{program} on {platform}")
        if sys.stderr.isatty():
            print(lines[-1], file=sys.stderr)
    for role, cases in all_of.items():
        if cases:
            together = {mode: [e for case in cases for e in case[mode]] for mode in MODES}
            lines.append(line(("**launches**", "", role), together))
            # A program counts once, however many launches it has.
            each = {mode: [mean(case[mode]) for case in cases] for mode in MODES}
            lines.append(line(("**programs**", "", role), each))
    lines.append("")
    lines.append("Worse than no correction: " + (", ".join(losses) if losses else "none") + ".")
    return "\n".join(lines)


def main():
    arguments = sys.argv[1:]
    target = option(arguments, "--write")
    inputs = "--inputs" in arguments
    if inputs:
        arguments.remove("--inputs")
    if len(arguments) < 2:
        sys.exit(__doc__)
    if inputs:
        publish(input_table(*arguments), target, BEGIN_INPUTS, END_INPUTS)
        return
    text = table(*arguments[:2], arguments[2:])
    publish(text, target, BEGIN, END)


main()
