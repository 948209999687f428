"""The distance of simulated values from measured ones.

The error of a point is |simulated - measured| / measured. Of several points:

mean           the mean of their errors; every point counts the same
median         half of them are below
time-weighted  sum |simulated - measured| / sum measured: long points count more
ratio          the geometric mean of simulated / measured: which way they are wrong
rank           Spearman's rank correlation of simulated and measured: are larger ones larger?
"""
from __future__ import annotations

import dataclasses
import math
import statistics
from typing import Callable, Iterable, Sequence

from heddle.calibration.description import Row


@dataclasses.dataclass(frozen=True)
class Compared:
    """A point with both values, and what limited it in the simulation."""

    row: Row
    simulated: float
    limited_by: str = ""
    cpu_seconds: float = 0.0

    @property
    def error(self) -> float:
        return abs(self.simulated - self.row.measured) / self.row.measured

    @property
    def ratio(self) -> float:
        return self.simulated / self.row.measured

    @property
    def inside(self) -> bool | None:
        """Within the interval of the measurement; None: it has none."""
        if self.row.low is None or self.row.high is None:
            return None
        return self.row.low <= self.simulated <= self.row.high


@dataclasses.dataclass(frozen=True)
class Errors:
    points: int
    mean: float
    median: float
    weighted: float
    ratio: float
    worst: float
    rank: float | None    # None: fewer than three points, or all the same


def errors_of(points: Sequence[Compared]) -> Errors:
    errors = [point.error for point in points]
    measured = sum(point.row.measured for point in points)
    apart = sum(abs(point.simulated - point.row.measured) for point in points)
    ratio = math.exp(statistics.fmean(math.log(max(point.ratio, 1e-9)) for point in points))
    return Errors(len(points), statistics.fmean(errors), statistics.median(errors),
                  apart / measured, ratio, max(errors), rank_correlation(points))


def rank_correlation(points: Sequence[Compared]) -> float | None:
    measured = [point.row.measured for point in points]
    simulated = [point.simulated for point in points]
    if len(points) < 3 or len(set(measured)) == 1 or len(set(simulated)) == 1:
        return None
    from scipy import stats  # takes most of a second to load
    return float(stats.spearmanr(measured, simulated)[0])


def grouped(points: Iterable[Compared], by: Callable[[Compared], str]) -> dict[str, list[Compared]]:
    """Groups in the order in which they first appear."""
    groups: dict[str, list[Compared]] = {}
    for point in points:
        groups.setdefault(by(point), []).append(point)
    return groups


def by_label(points: Iterable[Compared]) -> dict[str, list[Compared]]:
    return grouped(points, lambda point: point.row.label)


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def error_table(points: Sequence[Compared], notes: dict[str, str] | None = None) -> list[str]:
    """A table in Markdown: a line a label, and one of all."""
    with_notes = any((notes or {}).values())
    lines = ["| label | points | mean | median | time-weighted | ratio | worst | rank |"
             + (" |" if with_notes else ""),
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
             + (" --- |" if with_notes else "")]
    groups = by_label(points)
    for label, members in groups.items():
        note = f" {(notes or {}).get(label, '')} |" if with_notes else ""
        lines.append(_error_line(label, errors_of(members)) + note)
    if len(groups) > 1:
        lines.append(_error_line("**all**", errors_of(points)) + (" |" if with_notes else ""))
        if len(groups) > 2:
            means = [errors_of(members).mean for members in groups.values()]
            lines.append(f"| mean of the labels | | {percent(statistics.fmean(means))} | | | | | |"
                         + (" |" if with_notes else ""))
    return lines


def _error_line(name: str, e: Errors) -> str:
    rank = "" if e.rank is None else f"{e.rank:.3f}"
    return (f"| {name} | {e.points} | {percent(e.mean)} | {percent(e.median)} | "
            f"{percent(e.weighted)} | {e.ratio:.2f} | {percent(e.worst)} | {rank} |")


def fold_of_labels(labels: Sequence[str], folds: int, seed: int) -> dict[str, int]:
    """Deals the labels to folds, shuffled by the seed: {label: fold from 0}."""
    import random
    shuffled = sorted(labels)
    random.Random(seed).shuffle(shuffled)
    return {label: at % folds for at, label in enumerate(shuffled)}
