#!/usr/bin/python3
"""Writes docs/evidence/accuracy-cdna.md: the machines of CDNA beside what was measured on cards.

run.py HEDDLE [--jobs N] [--limit SECONDS] [--budget SECONDS] [--micro-budget SECONDS]
       [--points N] [--frozen COMMIT] [--folder DIR] --write docs/evidence

It starts `heddle calibrate` for each description in docs/evidence/measured, in the root of the
checkout, and puts its tables together. What is done stays in DIR (default build/accuracy), so it
can be ended and started again. The times are the simulation's own; how many points there are
depends on the limit of CPU time of a point, and on the budget of the labels and of the
micro-benchmarks, within which sizes are run from coarse to fine.

`run.py HEDDLE --freeze` writes down what the parameters are (docs/evidence/measured/frozen.txt).
With --frozen COMMIT they must still be these.
"""
import argparse
import collections
import csv
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/bench/micro")]
from heddle.calibration import compare, description  # noqa: E402
from heddle.files import csv_text  # noqa: E402
import prose  # noqa: E402

MEASURED = "docs/evidence/measured"
LEVELS = {"MI210": "mi210-levels", "MI300A": "mi300a-levels", "MI300X": "mi300x-levels"}
WITHIN = 0.1  # of the nearer end of an interval
FOLDS, SEED = 5, 1
MACHINES = ("mi210", "mi300a", "mi300x")
BASES = ("measured", "published", "derived", "fitted", "assumed")
TABLE = re.compile(r"^\|.*\n(?:\|.*\n)+", re.MULTILINE)


def calibrate(arguments, name, *words):
    """Runs one description; returns (done rows of points.csv, the report)."""
    folder = pathlib.Path(arguments.folder) / name
    command = [arguments.heddle, "calibrate", f"{MEASURED}/{name}.toml", "-o", str(folder),
               "--jobs", str(arguments.jobs), "--limit", str(arguments.limit), *words]
    status = 0
    if not arguments.assemble:
        print(" ".join(command), file=sys.stderr)
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        status = done.returncode
    if status not in (0, 1) or not (folder / "points.csv").exists():
        sys.exit(f"{' '.join(command)}: exit status {status}")
    with open(folder / "points.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return rows, (folder / "report.md").read_text(encoding="utf-8")


def number(text):
    return float(text) if text else None


def compared(row):
    values = description.Row(row["label"], row["point"], {}, 0.0, (), float(row["measured"]),
                             number(row["low"]), number(row["high"]))
    return compare.Compared(values, float(row["simulated"]), row["limited_by"])


def part_of(report, title):
    """The lines of a section, or nothing."""
    found = re.search(rf"^## {title}\n\n(.*?)(?=^## |\Z)", report, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


# ---- levels


def level_line(row, cells):
    low, high, value = float(row["low"]), float(row["high"]), float(row["simulated"])
    measured = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    apart = value / low - 1 if value < low else value / high - 1 if value > high else 0.0
    verdict = "inside" if apart == 0 else f"{100 * apart:+.1f} %"
    mark = "" if abs(apart) <= WITHIN else " **beyond 10 %**"
    return (f"| {cells['quantity']} | {measured} | {value:.4g} | {cells['unit']} | {verdict}{mark} "
            f"| {cells['source']} |"), abs(apart) <= WITHIN


def level_rows():
    with open(ROOT / MEASURED / "cdna-levels.csv", encoding="utf-8") as file:
        return {(cells["machine"], f"{cells['kind']} {cells['quantity']}"): cells
                for cells in csv.DictReader(line for line in file if not line.startswith("#"))}


def levels(arguments):
    known = level_rows()
    out, good, total = [], 0, 0
    for machine, name in LEVELS.items():
        rows, report = calibrate(arguments, name)
        out += [f"### {machine}", "", "| level | measured | simulated | unit | | source |",
                "| --- | ---: | ---: | --- | --- | --- |"]
        for row in rows:
            line, near = level_line(row, known[machine, row["point"]])
            out.append(line)
            good, total = good + near, total + 1
        out += ["", *missing(report)]
    return [f"{good} of {total} are inside their interval or within 10 % of its nearer end.", "",
            *out]


def missing(report):
    out = []
    for title in ("Left out", "Failed"):
        text = part_of(report, title)
        if text:
            out += [f"{title}:", "", text.split("\n\n")[0], ""]
    return out


# ---- labels and micro-benchmarks


def budget(seconds):
    return ["--budget", str(seconds)] if seconds else []


def micro(arguments):
    rows, report = calibrate(arguments, "mi300x", *budget(arguments.micro_budget),
                             *(["--points", str(arguments.points)] if arguments.points else []))
    near = sum(abs(float(r["simulated"]) / float(r["measured"]) - 1) <= WITHIN for r in rows)
    return [f"{near} of {len(rows)} points are within 10 %.", "", TABLE.search(report)[0].strip(),
            "", "![MI300X](accuracy-mi300x.svg)", "", "The worst:", "",
            part_of(report, "The worst"), "", *missing(report)]


def labels(arguments):
    rows, report = calibrate(arguments, "mi300a", *budget(arguments.budget))
    points = [compared(row) for row in rows]
    dealt = compare.fold_of_labels(sorted({p.row.label for p in points}), FOLDS, SEED)
    e = compare.errors_of(points)
    out = [f"{e.points} points: **mean error {compare.percent(e.mean)}, time-weighted "
           f"{compare.percent(e.weighted)}**. Error of a point: |simulated - measured| / measured. "
           "Time-weighted: sum of |simulated - measured| over sum of measured. Ratio: geometric "
           "mean of simulated / measured. Rank: Spearman's correlation.", "",
           TABLE.search(report)[0].strip(), "", "![all points](accuracy-mi300a.svg)", "",
           "![by label](accuracy-mi300a-labels.svg)", "", "### Five folds", "",
           "The labels are dealt to five folds. No parameter was fitted to a fold by an optimiser; "
           "the platform's *Fitted* numbers name their rows (`heddle params --sources`), and those "
           "rows are of small sizes.", "",
           "| fold | labels | points | mean | time-weighted |",
           "| --- | --- | ---: | ---: | ---: |"]
    for fold in range(FOLDS):
        members = [p for p in points if dealt[p.row.label] == fold]
        if members:
            e = compare.errors_of(members)
            names = ", ".join(compare.by_label(members))
            out.append(f"| {fold + 1} | {names} | {e.points} | {compare.percent(e.mean)} | "
                       f"{compare.percent(e.weighted)} |")
    return [*out, "", "### The worst", "", part_of(report, "The worst"), "", *missing(report)]


def r9nano(arguments):
    rows, report = calibrate(arguments, "r9nano")
    lines = ["| quantity | measured | simulated | ratio |", "| --- | ---: | ---: | ---: |"]
    for row in rows:
        low, high = float(row["low"]), float(row["high"])
        measured = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        value = float(row["simulated"])
        lines.append(f"| {row['point'].removeprefix(row['label']).strip()} | {measured} | "
                     f"{value:.4g} | {value / float(row['measured']):.2f} |")
    return [*lines, "", *missing(report)]


def parameters(arguments, machine):
    done = subprocess.run([arguments.heddle, "params", f"platforms/{machine}.heddle", "--csv"],
                          cwd=ROOT, capture_output=True, text=True, check=True)
    return list(csv.DictReader(done.stdout.splitlines(keepends=True)))


def digests(arguments):
    """A line for each platform: its name and a digest of the values of all of its parameters."""
    lines = []
    for machine in MACHINES:
        values = sorted(f"{row['parameter']}={row['value']}"
                        for row in parameters(arguments, machine))
        lines.append(f"{machine} {hashlib.sha256(chr(10).join(values).encode()).hexdigest()}\n")
    return "".join(lines)


def numbers(arguments):
    """How many parameters of each platform rest on what."""
    out = ["| platform | numbers | " + " | ".join(BASES) + " |",
           "| --- | ---: |" + " ---: |" * len(BASES)]
    for machine in MACHINES:
        count = collections.Counter(row["basis"] for row in parameters(arguments, machine))
        out.append(f"| {machine} | {sum(count[basis] for basis in BASES)} | "
                   + " | ".join(str(count[basis]) for basis in BASES) + " |")
    return out


def page(arguments):
    commit = arguments.frozen
    frozen = (f"The parameters are those of commit `{commit}`, before these measurements "
              "([frozen.txt](measured/frozen.txt) has digests of them). Points of up to about "
              "12 CPU seconds had been looked at while they were chosen, and of larger ones "
              "transposes and stencils of 3072 and 4096, vectoradd of 8 and 16 Mi, pagerank of "
              "4096 and the last points of the first measurements, which had asked for the rules: "
              "only what is between them is a test."
              if commit else
              "**The parameters are not frozen yet**: they changed while these numbers were looked "
              "at. `--frozen COMMIT` names the commit once they are.")
    return "\n".join([
        "# Accuracy: the machines of CDNA beside cards", "",
        "How far are `mi210`, `mi300a` and `mi300x` from what others measured on cards? The "
        "measured tables are in [measured](measured/README.md), each with its source; the programs "
        "in [tests/programs/cdna](../../tests/programs/cdna) were written anew from descriptions. "
        "Agreement of a label is evidence for that label. More labels were measured and were not "
        "looked at.", "", frozen, "", "```sh",
        f"tests/bench/accuracy/run.py HEDDLE --limit {arguments.limit}"
        + (f" --budget {arguments.budget}" if arguments.budget else "")
        + (f" --micro-budget {arguments.micro_budget}" if arguments.micro_budget else "")
        + (f" --points {arguments.points}" if arguments.points else "")
        + (f" --frozen {arguments.frozen}" if arguments.frozen else "")
        + " --write docs/evidence", "```", "",
        f"makes this page. A point that would take more than {arguments.limit} CPU seconds is left "
        "out, and listed.", "",
        "## What the numbers rest on", "",
        "Parameters of each platform by what their descriptions say of them; `heddle params "
        "--sources` names the source of each.", "", *numbers(arguments), "",
        "## Level by level", "", *levels(arguments),
        "## Eleven labels on MI300A", "", *labels(arguments),
        "## Micro-benchmarks of MI300X", "",
        "MI300X is MI300A with what is published to differ: dies, memory, link.", "",
        *micro(arguments),
        "## R9 Nano", "",
        "The R9 Nano itself was not measured. Beside its numbers are those of GCN cards and, for "
        "latencies, of an MI100 ([gpus.csv](measured/gpus.csv)); its closed forms are in "
        "[accuracy.md](accuracy.md).", "", *r9nano(arguments), ""])


def all_points(arguments):
    """Of all descriptions, for trust.py, with the commit. A point that was not run this time keeps
    its row."""
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.strip()
    rows = []
    known = level_rows()
    names = {name: machine for machine, name in LEVELS.items()}
    for name in (*LEVELS.values(), "mi300a", "mi300x", "r9nano"):
        with open(pathlib.Path(arguments.folder) / name / "points.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                levels = name not in ("mi300a", "mi300x")
                point = row["point"].removeprefix(row["label"]).strip() if levels else row["point"]
                rows.append([name.split("-")[0], "levels" if levels else row["label"], point,
                             row["measured"], row["low"], row["high"], row["simulated"],
                             known.get((names.get(name), row["point"]), row)["unit"],
                             row["limited_by"], commit])
    with open(pathlib.Path(arguments.write) / "accuracy-points.csv", encoding="utf-8") as file:
        head, *earlier = csv.reader(file)
    done = {tuple(row[:3]) for row in rows}
    return csv_text(head, rows + [row for row in earlier if tuple(row[:3]) not in done])


def main():
    parser = argparse.ArgumentParser(description="CDNA beside measured cards")
    parser.add_argument("heddle")
    parser.add_argument("--write", metavar="FOLDER")
    parser.add_argument("--freeze", action="store_true", help="write the digests of parameters")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--budget", type=int, help="CPU seconds of the labels of MI300A")
    parser.add_argument("--micro-budget", type=int, help="and of the micro-benchmarks of MI300X")
    parser.add_argument("--points", type=int, help="of each micro-benchmark of MI300X")
    parser.add_argument("--frozen", metavar="COMMIT", default="")
    parser.add_argument("--assemble", action="store_true", help="run nothing, read --folder")
    parser.add_argument("--folder", default="build/accuracy")
    arguments = parser.parse_args()
    arguments.heddle = str(pathlib.Path(arguments.heddle).resolve())
    frozen = ROOT / MEASURED / "frozen.txt"
    if arguments.freeze:
        frozen.write_text(digests(arguments), encoding="utf-8")
        return
    if not arguments.write:
        sys.exit("--write FOLDER is missing: where the page goes")
    if arguments.frozen and frozen.read_text(encoding="utf-8") != digests(arguments):
        sys.exit(f"{frozen.relative_to(ROOT)}: parameters have changed since; --freeze again, in a "
                 "commit of its own, and leave out what was measured before")
    written = [(ROOT / f"tests/bench/accuracy/{name}.md").read_text(encoding="utf-8")
               for name in ("by_cause", "not_modelled")]
    text = "\n".join([prose.wrap(page(arguments)), *written])
    folder = pathlib.Path(arguments.write)
    for name, file in (("mi300a/points", "accuracy-mi300a"), ("mi300x/points", "accuracy-mi300x"),
                       ("mi300a/labels", "accuracy-mi300a-labels")):
        shutil.copy(pathlib.Path(arguments.folder) / f"{name}.svg", folder / f"{file}.svg")
    (folder / "accuracy-cdna.md").write_text(text, encoding="utf-8")
    (folder / "accuracy-points.csv").write_text(all_points(arguments), encoding="utf-8")


main()
