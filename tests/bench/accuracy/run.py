#!/usr/bin/python3
"""Writes docs/evidence/accuracy-cdna.md: the machines of CDNA beside what was measured on cards.

run.py HEDDLE [--only NAMES] [--of COMMIT] [--jobs N] [--limit SECONDS] [--budget SECONDS]
       [--micro-budget SECONDS] [--points N] [--frozen COMMIT] [--folder DIR] --write docs/evidence

It starts `heddle calibrate` for each description in docs/evidence/measured, or for those named, in
the root of the checkout. What is done stays in DIR (default build/accuracy), so it can be ended and
started again. The times are the simulation's own; how many points there are depends on the limit of
CPU time of a point, and on the budget of the labels and of the micro-benchmarks, within which sizes
are run from coarse to fine. docs/evidence/generated/accuracy-points.csv keeps all points with the
commit that simulated them: a point that is not run this time keeps its row, and tables and plots
are those of all points. --of COMMIT runs only the points that this commit simulated, and says which
have moved.

`run.py HEDDLE --freeze` writes down what the parameters are (docs/evidence/measured/frozen.txt).
With --frozen COMMIT they must still be these.
"""
import argparse
import collections
import csv
import hashlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/bench/micro")]
from heddle.base.files import csv_text  # noqa: E402
from heddle.calibration import calibrate, compare, description, plots  # noqa: E402
import prose  # noqa: E402

MEASURED = "docs/evidence/measured"
LEVELS = {"MI210": "mi210-levels", "MI300A": "mi300a-levels", "MI300X": "mi300x-levels"}
NAMES = (*LEVELS.values(), "mi300a", "mi300x", "r9nano")
LISTED = 8    # sizes that are not simulated, of a label
MOVED = 0.005  # of a point that is run again, from where on it is named
WITHIN = 0.1  # of the nearer end of an interval
FOLDS, SEED = 5, 1
MACHINES = ("mi210", "mi300a", "mi300x")
POINTS_OF = {"mi210": "MI210", "mi300a": "MI300A", "mi300x": "MI300X", "r9nano": "R9 Nano"}
BASES = ("measured", "published", "derived", "fitted", "assumed")


def narrowed(arguments, name, wanted):
    """The description: as it is, or in DIR of those points only that are wanted."""
    path = ROOT / MEASURED / f"{name}.toml"
    if wanted is None:
        return str(path.relative_to(ROOT))
    found = description.read(path)
    rows = [row for row in found.rows if point_of(name, row.label, row.name) in wanted]
    text = re.sub('^file = .*', f'file = "{name}.csv"', path.read_text(encoding="utf-8"),
                  flags=re.MULTILINE)
    for label in set(found.labels) - {row.label for row in rows}:
        text = re.sub(rf"^\[labels\.{label}\]\n(?:(?!\[).*\n)*", "", text, flags=re.MULTILINE)
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(column for row in rows for column in row.values))
    (folder / f"{name}.csv").write_text(csv_text(
        columns, ([row.values.get(c, "") for c in columns] for row in rows)), encoding="utf-8")
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return str(folder / f"{name}.toml") if rows else None


def simulate(arguments, name, wanted, *words):
    """Runs a description; returns its rows of points.csv, none if it has not been run."""
    folder = pathlib.Path(arguments.folder) / name
    path = narrowed(arguments, name, wanted) if name in arguments.only else None
    if path and not arguments.assemble:
        (folder / "points.csv").unlink(missing_ok=True)  # of a call that failed none is old
        command = [arguments.heddle, "calibrate", path, "-o", str(folder),
                   "--jobs", str(arguments.jobs), "--limit", str(arguments.limit), *words]
        print(" ".join(command), file=sys.stderr)
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
    if not path or not (folder / "points.csv").exists():
        return []
    with open(folder / "points.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ---- all points


def is_levels(name):
    return name not in ("mi300a", "mi300x")


def level_rows():
    with open(ROOT / MEASURED / "cdna-levels.csv", encoding="utf-8") as file:
        return {(cells["machine"].lower(), cells["quantity"]): cells
                for cells in csv.DictReader(line for line in file if not line.startswith("#"))}


def commit_now():
    return subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, check=True,
                          capture_output=True, text=True).stdout.strip()


def point_of(name, label, point):
    """The key of a point of a description in accuracy-points.csv."""
    machine = name.split("-")[0]
    return (machine, "levels", point.removeprefix(label).strip()) if is_levels(name) \
        else (machine, label, point)


def told(row, name, known, commit):
    """The line of accuracy-points.csv of a point that has been run."""
    machine, label, point = point_of(name, row["label"], row["point"])
    return {"machine": machine, "label": label,
            "point": point, "measured": row["measured"], "low": row["low"], "high": row["high"],
            "simulated": row["simulated"], "unit": known.get((machine, point), row)["unit"],
            "limited_by": row["limited_by"], "commit": commit}


def key_of(row):
    return row["machine"], row["label"], row["point"]


def say_moved(before, row):
    """Names a point that another commit has simulated otherwise."""
    now, then = float(row["simulated"]), float(before["simulated"])
    if abs(now / then - 1) > MOVED:
        print(f"{row['machine']}, {row['point']}: {then:g} by {before['commit']}, now {now:g} "
              f"{row['unit']} ({100 * (now / then - 1):+.1f} %); measured {row['measured']}",
              file=sys.stderr)


def all_points(arguments):
    """Those of this time, and the earlier ones of what was not run, all by label and size."""
    table = pathlib.Path(arguments.write) / "generated/accuracy-points.csv"
    with open(table, encoding="utf-8") as file:
        points = {key_of(row): row for row in csv.DictReader(file)}
    wanted = {key for key, row in points.items() if row["commit"] == arguments.of} \
        if arguments.of else None
    micro = [*budget(arguments.micro_budget),
             *(["--points", str(arguments.points)] if arguments.points else [])]
    words = {"mi300a": budget(arguments.budget), "mi300x": micro}
    commit, known = commit_now(), level_rows()
    for name in NAMES:
        for found in simulate(arguments, name, wanted, *words.get(name, [])):
            row = told(found, name, known, commit)
            if key_of(row) in points:
                say_moved(points[key_of(row)], row)
            points[key_of(row)] = row
    groups = list(dict.fromkeys(key[:2] for key in points))
    return sorted(points.values(), key=lambda row: groups.index(key_of(row)[:2]))


def compared(row, size):
    values = description.Row(row["label"], row["point"], {}, size, (), float(row["measured"]),
                             number(row["low"]), number(row["high"]))
    return compare.Compared(values, float(row["simulated"]), row["limited_by"])


def unknown(found):
    """Programs whose work is not known, which have a note, are no comparison."""
    return [name for name, label in found.labels.items() if label.note]


def times(points, machine):
    """The description of a machine's programs, and their points."""
    found = description.read(ROOT / MEASURED / f"{machine}.toml")
    sizes = {row.name: row.size for row in found.rows}
    return found, [compared(row, sizes[row["point"]]) for row in of(points, machine)
                   if row["label"] not in unknown(found)]


def number(text):
    return float(text) if text else None


def budget(seconds):
    return ["--budget", str(seconds)] if seconds else []


# ---- levels


def level_line(row, source):
    low, high, value = float(row["low"]), float(row["high"]), float(row["simulated"])
    measured = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    apart = value / low - 1 if value < low else value / high - 1 if value > high else 0.0
    verdict = "inside" if apart == 0 else f"{100 * apart:+.1f} %"
    mark = "" if abs(apart) <= WITHIN else " **beyond 10 %**"
    return (f"| {row['point']} | {measured} | {value:.4g} | {row['unit']} | {verdict}{mark} "
            f"| {source} |"), abs(apart) <= WITHIN


def of(points, machine, levels=False):
    return [row for row in points
            if row["machine"] == machine and (row["label"] == "levels") == levels]


def levels(points):
    known = level_rows()
    out, good, total = [], 0, 0
    for machine in LEVELS:
        out += [f"### {machine}", "", "| level | measured | simulated | unit | | source |",
                "| --- | ---: | ---: | --- | --- | --- |"]
        for row in of(points, machine.lower(), levels=True):
            line, near = level_line(row, known[row["machine"], row["point"]]["source"])
            out.append(line)
            good, total = good + near, total + 1
        out += [""]
    return [f"{good} of {total} are inside their interval or within 10 % of its nearer end.", "",
            *out]


def missing(found, done):
    """The sizes of each label that no run has simulated, or how many there are."""
    have = [*unknown(found), *(point.row.name for point in done)]
    left = [row for row in found.rows if row.name not in have and row.label not in have]
    lines = [f"- {label}: " + (", ".join(row.name.removeprefix(label).strip() for row in sizes)
                               if len(sizes) <= LISTED else f"{len(sizes)} sizes")
             for label, sizes in compare.grouped(left, lambda row: row.label).items()]
    return ["Not simulated, as they take too long or no run has chosen them:", "", *lines, ""]


# ---- labels and micro-benchmarks


def micro(points):
    found, done = times(points, "mi300x")
    near = sum(p.error <= WITHIN for p in done)
    return [f"{near} of {len(done)} points are within 10 %. {', '.join(unknown(found))} were "
            "measured with programs without a description, and are not among them.", "",
            *compare.error_table(done), "", "![MI300X](generated/accuracy-mi300x.svg)", "",
            "The worst:", "",
            *calibrate.worst_table(done, "ms"), "", *missing(found, done)]


def labels(points):
    found, done = times(points, "mi300a")
    dealt = compare.fold_of_labels(sorted({p.row.label for p in done}), FOLDS, SEED)
    e = compare.errors_of(done)
    return [f"{e.points} points: **mean error {compare.percent(e.mean)}, time-weighted "
            f"{compare.percent(e.weighted)}**. Error of a point: |simulated - measured| / "
            "measured. Time-weighted: sum of |simulated - measured| over sum of measured. Ratio: "
            "geometric mean of simulated / measured. Rank: Spearman's correlation.", "",
            *compare.error_table(done), "", "![all points](generated/accuracy-mi300a.svg)", "",
            "![by label](generated/accuracy-mi300a-labels.svg)", "", "### Five folds", "",
            "The labels are dealt to five folds. No parameter was fitted to a fold by an "
            "optimiser; the platform's *Fitted* numbers name their rows (`heddle params "
            "--sources`), and those rows are of small sizes.", "",
            *calibrate.fold_table(done, dealt), "", "### The worst", "",
            *calibrate.worst_table(done, "ms"), "", *missing(found, done)]


def r9nano(points):
    lines = ["| quantity | measured | simulated | ratio |", "| --- | ---: | ---: | ---: |"]
    for row in of(points, "r9nano", levels=True):
        low, high = float(row["low"]), float(row["high"])
        measured = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        value = float(row["simulated"])
        lines.append(f"| {row['point']} | {measured} | {value:.4g} | "
                     f"{value / float(row['measured']):.2f} |")
    return [*lines, ""]


def plotted(points):
    """The plots of the page, by name."""
    a, x = (times(points, name)[1] for name in ("mi300a", "mi300x"))
    title = "{}: simulated against measured"
    return {"accuracy-mi300a": plots.scatter(a, title.format("MI300A"), "ms"),
            "accuracy-mi300a-labels": plots.panels(a, "MI300A", "ms"),
            "accuracy-mi300x": plots.scatter(x, title.format("MI300X"), "ms")}


def by_commit(points):
    """Which commit has simulated how many points of each machine."""
    counts = collections.Counter((row["commit"], row["machine"]) for row in points)
    commits = sorted({commit for commit, _ in counts})
    return ["| simulated with | " + " | ".join(POINTS_OF.values()) + " |",
            "| --- |" + " ---: |" * len(POINTS_OF),
            *(f"| `{commit}` | " + " | ".join(str(counts[commit, m] or "") for m in POINTS_OF)
              + " |" for commit in commits)]


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


def page(arguments, points):
    commit = arguments.frozen
    frozen = (f"The parameters are those of commit `{commit}`, before these measurements "
              "([frozen.txt](measured/frozen.txt) has digests of them). Points of up to about "
              "12 CPU seconds had been looked at while they were chosen, and of larger ones "
              "transposes and stencils of 3072 and 4096, vectoradd of 8 and 16 Mi, pagerank of "
              "4096 and the last points of the first measurements, which had led to the rules: "
              "only the points between them are a test."
              if commit else
              "**The parameters are not frozen yet**: they changed while these numbers were known. "
              "`--frozen COMMIT` names the commit as soon as they are frozen.")
    return "\n".join([
        "# Accuracy: the machines of CDNA beside cards", "",
        "How far are `mi210`, `mi300a` and `mi300x` from times that others measured on cards? The "
        "measured tables are in [measured](measured/README.md), each with its source; the programs "
        "in [tests/programs/cdna](../../tests/programs/cdna) were written anew from descriptions. "
        "Agreement of a label is evidence for that label. Further measured labels were not "
        "compared.", "", frozen, "", "```sh",
        f"tests/bench/accuracy/run.py HEDDLE --limit {arguments.limit}"
        + (f" --budget {arguments.budget}" if arguments.budget else "")
        + (f" --micro-budget {arguments.micro_budget}" if arguments.micro_budget else "")
        + (f" --points {arguments.points}" if arguments.points else "")
        + (f" --frozen {arguments.frozen}" if arguments.frozen else "")
        + " --write docs/evidence", "```", "",
        f"runs points that take at most {arguments.limit} CPU seconds, and makes this page of "
        "all points that it or an earlier run has simulated. "
        "[accuracy-points.csv](generated/accuracy-points.csv) "
        "names the commit of each:", "", *by_commit(points), "",
        "## Sources of the numbers", "",
        "The table counts the parameters of each platform by their kind of source; `heddle params "
        "--sources` prints each source.", "", *numbers(arguments), "",
        "## Level by level", "", *levels(points),
        "## Eleven labels on MI300A", "", *labels(points),
        "## Micro-benchmarks of MI300X", "",
        "MI300X is MI300A with the published differences: dies, memory, link.", "",
        *micro(points),
        "## R9 Nano", "",
        "The R9 Nano itself was not measured. Beside its numbers are those of GCN cards and, for "
        "latencies, of an MI100 ([gpus.csv](measured/gpus.csv)); its closed forms are in "
        "[accuracy.md](accuracy.md).", "", *r9nano(points), ""])


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
    parser.add_argument("--only", metavar="NAMES", type=lambda text: text.split(","), default=NAMES,
                        help="of these descriptions, as in mi300a,mi210-levels")
    parser.add_argument("--of", metavar="COMMIT", help="only points that this commit simulated")
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
    points = all_points(arguments)
    text = "\n".join([prose.wrap(page(arguments, points)), *written])
    folder = pathlib.Path(arguments.write)
    for name, plot in plotted(points).items():
        (folder / f"generated/{name}.svg").write_text(plot, encoding="utf-8")
    (folder / "accuracy-cdna.md").write_text(text, encoding="utf-8")
    (folder / "generated/accuracy-points.csv").write_text(
        csv_text(list(points[0]), (list(row.values()) for row in points)), encoding="utf-8")


if __name__ == "__main__":
    main()
