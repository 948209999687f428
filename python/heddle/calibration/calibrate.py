"""`heddle calibrate`: a measured table against a platform. (--counters: heddle.counters.card.)

Runs every row of the table, compares, says what is worst and why, plots, and fits parameters.
"""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Sequence

from heddle.base.command_line import Options
from heddle.base.files import csv_text, digest, digest_of, write
from heddle.base.mistakes import Mistake
from heddle.base.progress import progress_on
from heddle.calibration import plots, compare, description, fit, results, variants
from heddle.calibration.compare import Compared
from heddle.calibration.description import Description, Row
from heddle.calibration.point_runner import STATISTICS, Runner, Unreadable
from heddle.calibration.points import DONE, LEFT_OUT, WAITING, Outcome, Point, Store

WORST = 12          # points that are named
FIT_HEADROOM = 4.0  # of the limit: a fit changes what points cost, and wants all of them


def chosen(found: Description, labels: str | None, points: int | None) -> Description:
    """The description with the labels and as many points of each as the command line says."""
    names = list(found.labels)
    if labels:
        names = [name.strip() for name in labels.split(",")]
        for name in names:
            if name not in found.labels:
                raise Mistake(f"{found.path} has no label '{name}'; it has "
                              f"{', '.join(found.labels)}", usage=True)
    rows = [row for name in names
            for row in description.spread([r for r in found.rows if r.label == name], points)]
    return dataclasses.replace(found, rows=tuple(rows),
                               labels={name: found.labels[name] for name in names})


@dataclasses.dataclass
class Judged:
    """Rows by their outcome; rows without a value have the reason."""

    done: list[Compared]
    left: list[tuple[Row, str]]
    failed: list[tuple[Row, str]]


class Calibration:
    """A description, the folder of its points, and how they are run."""

    def __init__(self, options: Options, found: Description):
        self.options, self.description = options, found
        self.settings = (*found.set, *options.set)
        self.folder = pathlib.Path(options.output or f"{found.path.stem}.calibration")
        self.limit = float(options.limit or found.limit)
        self._platforms: dict[tuple[tuple[str, ...], bool], str] = {}
        self._models: dict[tuple[str, ...], str] = {}
        self.store = Store(self.folder)

    # ---- what a point is

    def points(self, rows: Sequence[Row], more: tuple[str, ...] = (),
               generic: bool = False) -> list[Point]:
        """The point of each row; rows that are read from the same run have the same."""
        generic = generic or self.options.generic
        return [self._point(row, (*self.settings, *more), generic) for row in rows]

    def _point(self, row: Row, settings: tuple[str, ...], generic: bool) -> Point:
        label = self.description.labels[row.label]
        place = f"{self.description.path}: [labels.{row.label}]"
        program = description.words(label, row.values, place)
        sets = [word for setting in settings for word in ("--set", setting)]
        words = [self.options.heddle, "run", self.description.platform, *sets,
                 *(["--generic"] if generic else []), "--stats", STATISTICS,
                 "--progress", "none", *label.options, "--", *program]
        hip = digest_of(self.options.hip, "cannot read") if self.options.hip else ""
        key = digest(self._platform(settings, generic),
                     digest_of(program[0], f"{place}: there is no program"), hip, *words[2:])
        return Point(key, row.label, row.name, settings, tuple(words),
                     digest(row.label, *settings, "", *row.family) if label.size else "", row.size)

    def _platform(self, settings: tuple[str, ...], generic: bool) -> str:
        """Builds it; returns a digest of all that it consists of."""
        if (settings, generic) not in self._platforms:
            words = [self.options.heddle, "build", self.description.platform,
                     *(["--generic"] if generic else []),
                     *(word for setting in settings for word in ("--set", setting))]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                message = done.stderr.strip() or f"status {done.returncode}"
                raise Mistake(f"'{self.description.platform}' cannot be built:\n{message}")
            built = done.stdout.splitlines()  # the platform and its tables
            self._platforms[settings, generic] = digest(
                *(digest_of(file, "cannot read") for file in built))
        return self._platforms[settings, generic]

    # ---- running

    def run(self, points: Sequence[Point], limit: float, retry: bool = False,
            quiet: bool = False) -> dict[str, Outcome]:
        runner = Runner(self.store, self._keep, self.options.jobs, limit,
                        None if quiet else progress_on(),
                        budget=None if quiet else self.options.budget)
        found = runner.run(list({point.key: point for point in points}.values()), retry)
        if not quiet and runner.finished:
            if sys.stderr.isatty():
                sys.stderr.write("\r\033[K")
            print(f"{runner.finished} points run in {runner.spent:.0f} CPU seconds",
                  file=sys.stderr)
        return found

    def _keep(self, point: Point, log: pathlib.Path) -> dict[str, Any]:
        """A user may change a description while it is run; a table is of one platform."""
        found = results.keep(log)
        if found["model"] != self._models.setdefault(point.settings, found["model"]):
            raise Unreadable("the platform has changed since the first point; run all of it again")
        return found

    def judge(self, rows: Sequence[Row], points: Sequence[Point],
              outcomes: dict[str, Outcome]) -> Judged:
        judged = Judged([], [], [])
        for row, point in zip(rows, points):
            found = outcomes[point.key]
            if found.state != DONE or found.result is None:
                waits = f"not run: beyond the budget of {self.options.budget} CPU seconds"
                left = found.state in (LEFT_OUT, WAITING)
                (judged.left if left else judged.failed).append((row, found.message or waits))
                continue
            try:
                value = results.value_of(self.description, row, found.result)
                judged.done.append(Compared(row, value, found.result["limited_by"],
                                            found.cpu_seconds or 0.0))
            except Unreadable as error:
                judged.failed.append((row, str(error)))
        return judged

    def simulate(self, settings: tuple[str, ...], rows: Sequence[Row]) -> list[Compared]:
        """What a fit asks for: all of them, or it would not compare the same points."""
        points = self.points(rows, settings, generic=True)
        judged = self.judge(rows, points, self.run(points, FIT_HEADROOM * self.limit, quiet=True))
        for row, message in judged.left + judged.failed:
            raise Mistake(f"{row.name} with {', '.join(settings)}: {message}; a fit needs all of "
                          "its points")
        return judged.done


# ---- what is told


def worst_table(points: Sequence[Compared], unit: str) -> list[str]:
    lines = [f"| point | measured, {unit} | simulated, {unit} | ratio | in the simulation |",
             "| --- | ---: | ---: | ---: | --- |"]
    for p in sorted(points, key=lambda p: (-p.error, p.row.name))[:WORST]:
        lines.append(f"| {p.row.name} | {p.row.measured:.5g} | {p.simulated:.5g} | {p.ratio:.2f} | "
                     f"{p.limited_by} |")
    return lines


def fold_table(points: Sequence[Compared], dealt: dict[str, int]) -> list[str]:
    """Errors of each fold as they are, without a fit."""
    lines = ["| fold | labels | points | mean | time-weighted |",
             "| --- | --- | ---: | ---: | ---: |"]
    groups = compare.grouped(points, lambda p: str(dealt[p.row.label]))
    for fold in sorted(groups, key=int):
        e = compare.errors_of(groups[fold])
        names = ", ".join(compare.by_label(groups[fold]))
        lines.append(f"| {int(fold) + 1} | {names} | {e.points} | {compare.percent(e.mean)} | "
                     f"{compare.percent(e.weighted)} |")
    return lines


def missing(rows: Sequence[tuple[Row, str]]) -> list[str]:
    """A line for those of a label that have the same message."""
    by_message: dict[tuple[str, str], list[str]] = {}
    for row, message in rows:
        names = by_message.setdefault((row.label, message), [])
        names.append(row.name.removeprefix(row.label).strip() or row.name)
    return [f"- {label} {', '.join(names)}: {message}"
            for (label, message), names in by_message.items()]


def report(c: Calibration, judged: Judged) -> str:
    """The page in Markdown."""
    found, options, done = c.description, c.options, judged.done
    total = len(done) + len(judged.left) + len(judged.failed)
    lines = [f"# {found.title}: measured and simulated", "",
             f"{len(done)} of {total} points of {found.path.name} on {found.platform}"
             + (f" with {', '.join(c.settings)}" if c.settings else "") + ".", ""]
    if done:
        lines += [*compare.error_table(done, {n: label.note for n, label in found.labels.items()}),
                  "", *definitions(), ""]
        if options.variants:
            lines += ["## Variants", "", *variants.table(done, found.labels), ""]
        inside = [p.inside for p in done if p.inside is not None]
        if inside:
            lines += [f"{sum(inside)} of {len(inside)} are inside their measured interval.", ""]
        if options.folds and not options.fit:
            dealt = compare.fold_of_labels(list(found.labels), options.folds, options.seed)
            lines += ["## Folds", "", *fold_table(done, dealt), ""]
        lines += ["## The worst", "", *worst_table(done, found.unit), ""]
    if judged.left:
        lines += ["## Left out", "", *missing(judged.left), ""]
    if judged.failed:
        lines += ["## Failed", "", *missing(judged.failed), "", f"Their output is in {c.folder}"
                  "/logs; --retry runs them again.", ""]
    return "\n".join(lines)


def definitions() -> list[str]:
    return ["Error of a point: |simulated - measured| / measured. Time-weighted: sum of |simulated "
            "-",
            "measured| over sum of measured. Ratio: geometric mean of simulated / measured. Rank:",
            "Spearman's correlation."]


def points_csv(c: Calibration, done: Sequence[Compared]) -> str:
    return csv_text(["label", "point", "measured", "low", "high", "simulated", "error", "unit",
                     "limited_by"],
                    ([p.row.label, p.row.name, f"{p.row.measured:.9g}",
                      "" if p.row.low is None else f"{p.row.low:.9g}",
                      "" if p.row.high is None else f"{p.row.high:.9g}", f"{p.simulated:.9g}",
                      f"{p.error:.6f}", c.description.unit, p.limited_by] for p in done))


def write_files(c: Calibration, done: Sequence[Compared], page: str) -> None:
    write(c.folder / "report.md", page)
    write(c.folder / "points.csv", points_csv(c, done))
    if done:
        title = f"{c.description.title}: simulated against measured"
        unit = c.description.unit
        write(c.folder / "points.svg", plots.scatter(done, title, unit))
        write(c.folder / "labels.svg", plots.panels(done, c.description.title, unit))


# ---- commands


def fit_all(c: Calibration, rows: Sequence[Row]) -> None:
    """Folds first: each is judged by parameters that were fitted without it. Then all."""
    options = c.options
    intervals = [fit.parse_interval(given) for given in options.fit]
    labels = list(dict.fromkeys(row.label for row in rows))
    start = [0.5] * len(intervals)

    def simulate(settings: tuple[str, ...], wanted: Sequence[str]) -> list[Compared]:
        found = c.simulate(settings, [row for row in rows if row.label in wanted])
        print(f"{fit.loss(found):.4f}  {' '.join(settings)}", file=sys.stderr)
        return found

    fitter = fit.Fitter(intervals, simulate, options.evaluations)
    lines = [f"# {c.description.title}: fitted", "",
             f"By Powell's method, seed {options.seed}, at most {options.evaluations} tries, on "
             f"{len(rows)} points of {len(labels)} labels:", ""]
    lines += [f"- {given}" for given in options.fit] + [""]
    kept: list[Compared] = []
    if options.folds:
        dealt = compare.fold_of_labels(labels, options.folds, options.seed)
        lines += ["| fold | kept out | fitted on the others | mean | time-weighted |",
                  "| --- | --- | --- | ---: | ---: |"]
        for number, out in enumerate(fit.folds_of(dealt), 1):
            best = fitter.fit([label for label in labels if label not in out], start)
            found = simulate(best.settings, out)
            e = compare.errors_of(found)
            kept += found
            lines.append(f"| {number} | {', '.join(out)} | {', '.join(best.settings)} | "
                         f"{compare.percent(e.mean)} | {compare.percent(e.weighted)} |")
        e = compare.errors_of(kept)
        lines += ["", f"Over all folds, each kept out once: mean {compare.percent(e.mean)}, "
                  f"time-weighted {compare.percent(e.weighted)}.", ""]
    best = fitter.fit(labels, start)
    after = simulate(best.settings, labels)
    lines += [f"Fitted on all of them, after {best.tried} tries: "
              + " ".join(f"--set {setting}" for setting in best.settings), "",
              *compare.error_table(after), ""]
    page = "\n".join(lines)
    print(page, end="")
    write(c.folder / "fit.md", page)
    write(c.folder / "fit.json", json.dumps(
        {"settings": best.settings, "loss": best.loss, "seed": options.seed,
         "intervals": options.fit,
         "points": [row.name for row in rows]}, indent=1) + "\n")


def check(options: Options, found: Description) -> None:
    """What can be known to be wrong before the first point runs."""
    labels = {row.label for row in found.rows}
    if options.folds is not None and not 2 <= options.folds <= len(labels):
        raise Mistake(f"'--folds {options.folds}': there are {len(labels)} labels to deal; from 2 "
                      "to as many folds", usage=True)
    for given in options.fit:
        fit.parse_interval(given)


def main(options: Options) -> int:
    options.jobs, options.seed = options.jobs or os.cpu_count() or 1, options.seed or 1
    options.evaluations = options.evaluations or 60
    if options.counters:
        from heddle.counters import card
        return card.main(options)
    if options.files[0].endswith(".json"):
        raise Mistake(f"'{options.files[0]}' is not a description of a calibration (TOML); to "
                      "compare the statistics of a run with a card's counters, add --counters FILE",
                      usage=True)
    found = chosen(description.read(pathlib.Path(options.files[0])), options.labels, options.points)
    check(options, found)
    c = Calibration(options, found)
    points = c.points(found.rows)
    judged = c.judge(found.rows, points, c.run(points, c.limit, options.retry))
    page = report(c, judged)
    write_files(c, judged.done, page)
    print(page)
    if options.fit and judged.done:
        fit_all(c, [point.row for point in judged.done])
    print(f"points, plots and logs are in {c.folder}", file=sys.stderr)
    c.store.close()
    return 1 if judged.failed or not judged.done else 0
