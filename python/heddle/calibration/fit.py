"""Fits parameters within stated intervals, by Powell's method (scipy).

What is made small is the mean over the labels of the mean of |ln(simulated / measured)| of their
points: each label counts the same, and twice too slow is as bad as twice too fast.

Every vector of parameters that was tried stays in the folder with its points, so folds share
points, and an interrupted fit goes on. The same points and intervals give the same result."""
from __future__ import annotations

import dataclasses
import math
import re
import statistics
from typing import Callable, Mapping, Sequence

from heddle.base.mistakes import Mistake
from heddle.calibration.compare import Compared, by_label


@dataclasses.dataclass(frozen=True)
class Interval:
    """PARAM=LO..HI as on the command line: whole numbers if both ends are."""

    path: str
    low: float
    high: float
    unit: str
    whole: bool

    def text(self, part: float) -> str:
        """The setting at `part` of the way from the low to the high end."""
        value = self.low + (self.high - self.low) * min(max(part, 0.0), 1.0)
        number = str(round(value)) if self.whole else f"{value:.4g}"
        return f"{self.path}={number}{self.unit}"


def parse_interval(given: str) -> Interval:
    found = re.fullmatch(r"(?P<path>[^=]+)=(?P<low>[0-9.]+?)(?P<unit>[A-Za-z/]*)\.\."
                         r"(?P<high>[0-9]+(?:\.[0-9]+)?)(?P<unit2>[A-Za-z/]*)", given)
    if not found:
        raise Mistake(f"'--fit {given}' is not PARAM=LO..HI, as in gpu.l2.latency=90cy..140cy",
                      usage=True)
    if found["unit"] not in ("", found["unit2"]):
        raise Mistake(f"'--fit {given}': both ends must have the same unit", usage=True)
    try:
        low, high = float(found["low"]), float(found["high"])
    except ValueError:
        raise Mistake(f"'--fit {given}': '{found['low']}' is not a number", usage=True) from None
    if not low < high:
        raise Mistake(f"'--fit {given}': the low end comes first", usage=True)
    whole = "." not in found["low"] + found["high"]
    return Interval(found["path"], low, high, found["unit2"], whole)


def loss(points: Sequence[Compared]) -> float:
    """See the top of this file."""
    return statistics.fmean(
        statistics.fmean(abs(math.log(max(p.ratio, 1e-9))) for p in members)
        for members in by_label(points).values())


# Settings to points with their results, of given labels: what the simulator says.
Simulate = Callable[[tuple[str, ...], Sequence[str]], list[Compared]]


@dataclasses.dataclass
class Fit:
    settings: tuple[str, ...]
    loss: float
    tried: int


class _Enough(Exception):
    """All evaluations are used up."""


class Fitter:
    """Fits `intervals` on points of some labels. `most`: so many vectors at most."""

    def __init__(self, intervals: Sequence[Interval], simulate: Simulate, most: int):
        self.intervals, self.simulate, self.most = intervals, simulate, most

    def settings(self, parts: Sequence[float]) -> tuple[str, ...]:
        return tuple(one.text(part) for one, part in zip(self.intervals, parts))

    def fit(self, labels: Sequence[str], start: Sequence[float]) -> Fit:
        """`start`: where in its interval each parameter begins, from 0 to 1."""
        tried: dict[tuple[str, ...], float] = {}

        def value(parts: Sequence[float]) -> float:
            settings = self.settings(parts)
            if settings not in tried:
                if len(tried) >= self.most:
                    raise _Enough
                tried[settings] = loss(self.simulate(settings, labels))
            return tried[settings]

        try:
            self._minimise(value, start)
        except _Enough:
            pass
        best = min(tried, key=lambda settings: (tried[settings], settings))
        return Fit(best, tried[best], len(tried))

    def _minimise(self, value: Callable[[Sequence[float]], float], start: Sequence[float]) -> None:
        from scipy import optimize
        bounds = [(0.0, 1.0)] * len(self.intervals)
        optimize.minimize(value, list(start), method="Powell", bounds=bounds,
                          options={"xtol": 0.01, "ftol": 1e-3})


def folds_of(dealt: Mapping[str, int]) -> list[list[str]]:
    """Labels by fold."""
    return [[label for label, fold in dealt.items() if fold == n]
            for n in sorted(set(dealt.values()))]
