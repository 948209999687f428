#!/usr/bin/env python3
"""What `heddle run --report limits` says of the programs of ./dev bench, and what it costs.

    tests/bench/limits.py BUILD [--platform NAME] [PROGRAM...]    # said, and proven
    tests/bench/limits.py BUILD --cost [--runs N] [PROGRAM...]    # CPU seconds, in pairs

The former has `heddle whatif` run each program, disturbed, and with each setting that the first
sentence proposes, and prints how much longer kernels took, and the noise floor; when no setting
saves a tenth, also with the first settings of all sentences together. The latter runs each program
with and without the report in turns."""
import argparse
import csv
import io
import json
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = (ROOT / "tests/bench/programs.txt").read_text().splitlines()
MOST = 3  # settings that are tried


def cpu_seconds(command):
    """And what it wrote to standard error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), cwd=ROOT, text=True, check=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr)


class Bench:
    def __init__(self, chosen):
        self.build = chosen.build.resolve()
        self.platform = f"platforms/{chosen.platform}.heddle"
        self.folder = Path(tempfile.mkdtemp())
        self.stats = self.folder / "stats.json"

    def call(self, command, program, *options):
        name, *arguments = program.split()
        return cpu_seconds([self.build / "codegen/heddle", command, self.platform, *options, "--",
                            self.build / "tests/programs" / name, *arguments])

    def run(self, program, *options):
        return self.call("run", program, *options, "--stats", self.stats)

    def whatif(self, program):
        """What it has found; the statistics are those of the run without changes."""
        out = self.folder / program.replace(" ", "-")
        self.call("whatif", program, "-o", out, "--runs", 1)
        self.stats = out / "base/statistics/000001.json"
        return json.loads((out / "whatif.json").read_text())

    def kernels(self):
        """Cycles by kernel."""
        found = {}
        root = json.loads(self.stats.read_text())
        for kernel in root["kernels"]:
            found[kernel["name"]] = found.get(kernel["name"], 0) + kernel["cycles"]
        return found

    def limits(self):
        """Of each kernel what is said, and the settings that are proposed, each some words."""
        told = subprocess.run([self.build / "codegen/heddle", "stats", self.stats, "--report",
                               "limits", "--csv"], check=True, text=True, capture_output=True)
        for row in csv.DictReader(io.StringIO(told.stdout)):
            yield row["kernel"], row["words"], [
                one.split(" with ") for one in row["settings"].split("; ") if one][:MOST]


def proven(bench, program):
    """A row for the kernel with most cycles: the sentence, and each setting with its change."""
    whatif = bench.whatif(program)
    tried = {tuple(one["set"]): one["change"] for one in whatif["diagnosis"]["tried"]}
    kernels = bench.kernels()
    name = max(kernels, key=kernels.get)
    sentences = [told[1:] for told in bench.limits() if told[0] == name]
    changes, bench.stats = [], bench.folder / "stats.json"

    def try_out(sets):
        change = tried.get(tuple(sets))
        if change is None:
            bench.run(program, "--generic", *(word for one in sets for word in ("--set", one)))
            change = bench.kernels()[name] / kernels[name] - 1
        changes.append(f"`{' '.join(sets)}` {100 * change:+.0f} %")
        return change

    said = sentences[0][0]
    least = min([try_out(sets) for sets in sentences[0][1]], default=0.0)
    others = [settings[0] for _, settings in sentences if settings]
    if least > -0.1 and len(others) > 1 and "by the grid" not in said:  # several limits at once
        try_out([one for sets in others for one in sets])
    said = said.replace("[*]", r"[\*]")
    print(f"| {program} | {kernels[name]} | {said} | {', '.join(changes) or '-'} | "
          f"{100 * whatif['noise_floor']:.2g} % |", flush=True)


def cost(bench, program, runs):
    pairs = [[bench.run(program, "--generic", *options)[0]
              for options in ((), ("--report", "limits"))]
             for _ in range(runs)]
    plain, reported = (statistics.median(side) for side in zip(*pairs))
    print(f"| {program} | {plain:.2f} | {reported:.2f} | {reported - plain:+.2f} | "
          f"{100 * (reported / plain - 1):+.1f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--platform", default="r9nano")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("programs", nargs="*", default=PROGRAMS, metavar="PROGRAM")
    chosen = parser.parse_intermixed_args()
    bench = Bench(chosen)
    if chosen.cost:
        print("| program | without, s | with, s | difference | |\n| --- | --- | --- | --- | --- |")
    else:
        print("| program | cycles | the first sentence | change by its settings | noise floor |\n"
              "| --- | --- | --- | --- | --- |")
    for program in chosen.programs:
        if chosen.cost:
            cost(bench, program, chosen.runs)
        else:
            proven(bench, program)


if __name__ == "__main__":
    main()
