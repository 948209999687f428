"""The command `heddle whatif`: which parameters a run depends on, by halving and doubling each.

The run says what it used: parameters of components that counted nothing, and of links that carried
nothing, are left out. All runs are points of sweeps (heddle.sweeps) in folders of DIR, so an
interrupted command goes on. `base` is the run alone; `runs` has a point for each value; `pairs`
combines the parameters that help most.

The noise floor is the largest change that a hardly changed run shows: some of the same points have
one latency longer by its smallest unit, at most a hundredth. What moves the result by no more than
that cannot be told from chance."""
from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import pathlib
import sys
import time
from typing import Any, Sequence

from heddle import draw, words as command_line
from heddle.files import csv_text, write
from heddle.mistakes import Mistake
from heddle.point_runner import progress_on
from heddle.statistics_file import Statistics, collapse, read, title
from heddle.sweeps import plan as plans
from heddle.sweeps.database import DONE
from heddle.sweeps.sweep import BUILD_SECONDS, SAVED, Sweep, Toolkit
from heddle.sweeps.values import QUANTITY, family_of, spelled

DISTURBED = 12     # runs of the noise floor
SMALLEST = 100     # units that a disturbed latency has at least
PAIRED = 3         # parameters that are combined
TOP = 20           # rows of the table and of the plot
NOT_STARTED = 7    # status of a run whose platform its checks refuse


@dataclasses.dataclass
class Point:
    """A run with these settings, and its result; None: there is none, and `message` says why."""
    settings: tuple[str, ...]
    result: int | None = None
    message: str = ""
    status: int = 0
    cpu: float = 0


@dataclasses.dataclass
class Parameter:
    """`points`: with its half and its double, where there are such values."""
    name: str
    value: str
    points: dict[str, Point]

    def effect(self, base: int) -> float:
        """The largest change, as a share."""
        return max((abs(p.result / base - 1) for p in self.points.values() if p.result), default=0)

    def best(self, base: int) -> Point | None:
        found = [p for p in self.points.values() if p.result and p.result < base]
        return min(found, key=lambda p: p.result or 0, default=None)


# ---- what the run used


def _counts(values: Any) -> bool:
    if isinstance(values, dict):
        return any(_counts(value) for value in values.values())
    return isinstance(values, (int, float)) and values > 0


def used_paths(run: Statistics) -> tuple[set[str], set[str]]:
    """Components and parts, by array, that counted something, and those that counted nothing."""
    used, known = set(), set()
    for path, values in run.get("components", {}).items():
        known.add(collapse(path))
        if _counts(values):
            used.add(collapse(path))
    return used, known - used


def is_used(name: str, run: Statistics, used: set[str], idle: set[str]) -> bool:
    """A composite's parameter counts when something in it does."""
    kind, _, rest = name.rpartition(" ")
    if kind == "link":
        link = rest.rpartition(".")[0]
        return any(key.endswith(f"via {link}") or key.startswith(f"{link} ") or key == link
                   for key, values in run.get("links", {}).items()
                   if _counts({k: v for k, v in values.items() if k != "latency_ps"}))
    owner = name.rpartition(".")[0]
    if owner in idle:
        return False
    return kind == "clock" or not owner or owner in used or any(
        path.startswith(f"{owner}.") for path in used)


def _number(value: str) -> tuple[int, dict[str, int]] | None:
    """In the smallest unit, and its family; None: a word, or 0."""
    found = QUANTITY.fullmatch(value)
    family = family_of(found[2]) if found else None
    if not found or not family:
        return None
    number = round(float(found[1]) * family[found[2]])
    return (number, family) if number > 0 else None


def parameters(run: Statistics) -> list[Parameter]:
    used, idle = used_paths(run)
    found = []
    for name, value in run.get("stamp", {}).get("settings", {}).items():
        number = _number(value)
        if not number or not is_used(name, run, used, idle):
            continue
        path, points = name.rpartition(" ")[2], {}
        for which, other in (("half", number[0] // 2), ("double", number[0] * 2)):
            if other:
                points[which] = Point((f"{path}={spelled(other, number[1], None)}",))
        found.append(Parameter(path, value, points))
    return found


def disturbances(found: Sequence[Parameter]) -> list[Point]:
    """Latencies with one unit more, those first that it changes least."""
    chosen = []
    for parameter in found:
        split = QUANTITY.fullmatch(parameter.value)
        number, unit = (float(split[1]), split[2]) if split else (0, "")
        if unit in ("cy", "ns", "ps", "us") and number >= SMALLEST and number == int(number):
            chosen.append((number, f"{parameter.name}={int(number) + 1}{unit}"))
    chosen.sort(key=lambda one: (-one[0], one[1]))
    return [Point((setting,)) for _, setting in chosen[:DISTURBED]]


# ---- runs


class Study:
    """The folder, and what is run in it."""

    def __init__(self, chosen: argparse.Namespace):
        self.chosen, self.folder = chosen, pathlib.Path(chosen.output)
        self.toolkit = Toolkit(chosen.heddle, chosen.hip)
        self.generic: bool | None = True
        self.finished = 0

    def run(self, name: str, points: list[Point]) -> None:
        plan = plans.of_command_line(
            self.chosen.files, [], self.chosen.program, set=tuple(self.chosen.set),
            listed=tuple(point.settings for point in points), generic=self.generic)
        self.folder.mkdir(parents=True, exist_ok=True)
        sweep = Sweep(plan, self.folder / name, self.toolkit, self.chosen.jobs,
                      keep=name == "base")
        database = sweep.run(self.chosen.retry, progress_on())
        self.finished += len(database.finished)
        rows = database.connection.execute(
            "SELECT state, cycles, time_ps, message, status, cpu_seconds FROM points "
            "LEFT JOIN host USING (point) ORDER BY point").fetchall()
        database.close()
        for point, (state, cycles, time_ps, message, status, cpu) in zip(points, rows):
            point.result = (cycles or time_ps) if state == DONE else None
            point.message, point.status, point.cpu = message or "", status or 0, cpu or 0.0

    def base(self) -> tuple[Point, Statistics]:
        point = Point(())
        self.run("base", [point])
        if not point.result:
            raise Mistake(f"the run without changes failed: {point.message}; what it printed is in "
                          f"{self.folder}/base/logs")
        self.generic = SAVED * point.cpu <= BUILD_SECONDS
        return point, read(str(self.folder / "base/statistics/000001.json"))


def within(budget: argparse.Namespace, found: list[Parameter], each: float,
           spent: int) -> list[Parameter]:
    """As many parameters as --runs and --minutes have room for, from all over the platform."""
    room = float("inf")
    if budget.runs:
        room = budget.runs - spent
    if budget.minutes:
        room = min(room, budget.minutes * 60 * budget.jobs / max(each, 1e-3) - spent)
    kept = found
    total = sum(len(one.points) for one in found)
    if total > room:
        count = max(1, int(len(found) * max(room, 0) / total))
        kept = [found[i * len(found) // count] for i in range(count)]
        print(f"heddle whatif: {len(kept)} of {len(found)} parameters fit into the budget; the "
              "others are not tried", file=sys.stderr)
    return kept


def distinct(found: Sequence[Parameter]) -> list[Parameter]:
    """A composite hands its parameters on, so the same one may stand in several places: of those
    with one name and the same results the first in the list."""
    known: dict[Any, Parameter] = {}
    for one in found:
        results = tuple(sorted((which, p.result) for which, p in one.points.items()))
        known.setdefault((one.name.rpartition(".")[2], results), one)
    return list(known.values())


def pairs(found: Sequence[Parameter], base: int, floor: float) -> list[Point]:
    """The better values of those that help most, two at a time."""
    best = [point for one in found if (point := one.best(base))
            and 1 - (point.result or 0) / base > floor][:PAIRED]
    return [Point((*a.settings, *b.settings)) for a, b in itertools.combinations(best, 2)]


# ---- what is told


def percent(result: int, base: int) -> str:
    return f"{(result / base - 1) * 100:+.1f} %"


def _cell(point: Point | None, base: int) -> str:
    if not point:
        return "-"
    value = point.settings[0].partition("=")[2]
    if point.result:
        return f"{percent(point.result, base)} at {value}"
    return f"refused at {value}" if point.status in (1, 2, NOT_STARTED) else f"failed at {value}"


def table(found: Sequence[Parameter], base: int, floor: float) -> list[str]:
    rows = [("parameter", "now", "halved", "doubled", "")]
    rows += [(one.name, one.value, *(_cell(one.points.get(which), base)
                                     for which in ("half", "double")),
              "" if one.effect(base) > floor else "no effect") for one in found]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, (*widths, 0))).rstrip()
            for row in rows]


def tornado(found: Sequence[Parameter], base: int, floor: float, name: str) -> str:
    """A bar from the result without changes to that of each value; grey: within the floor."""
    width, left, right, step, top = 640, 250, 560, 22, 62
    most = max([*(one.effect(base) for one in found), floor, 0.01]) * 1.05
    middle, scale = (left + right) / 2, (right - left) / 2 / most
    bottom = top + step * len(found)
    parts = [draw.text(8, 18, name, size=13),
             draw.text(8, 36, f"change of {base} cycles, per cent; grey: within the noise floor of "
                       f"±{floor * 100:.2f} %", size=11),
             draw.box(8, 44, 10, 10, draw.BLUE, "halved"), draw.text(22, 53, "halved", size=11),
             draw.box(70, 44, 10, 10, draw.ORANGE, "doubled"),
             draw.text(84, 53, "doubled", size=11),
             draw.box(middle - floor * scale, top, 2 * floor * scale, bottom - top, "#eeeeee",
                      "noise floor")]
    for i, one in enumerate(found):
        y = top + step * i
        parts.append(draw.text(left - 60, y + 14, one.name, "end", 11))
        for row, which, colour in ((0, "half", draw.BLUE), (1, "double", draw.ORANGE)):
            point = one.points.get(which)
            if not point or not point.result:
                continue
            change = point.result / base - 1
            quiet = abs(change) <= floor
            at = middle + min(change, 0) * scale
            parts.append(draw.box(at, y + 2 + 9 * row, abs(change) * scale, 8,
                                  "#bbbbbb" if quiet else colour,
                                  f"{point.settings[0]}: {percent(point.result, base)}"))
            if not quiet:
                end = middle + change * scale
                parts.append(draw.text(end + (3 if change > 0 else -3), y + 9 + 9 * row,
                                       percent(point.result, base),
                                       "start" if change > 0 else "end", 9))
    parts.append(draw.line(middle, top, middle, bottom, "#444444"))
    return draw.document(bottom + 12, parts, name, width)


def rows_csv(found: Sequence[Parameter], base: int, floor: float) -> str:
    return csv_text(["parameter", "value", "setting", "result", "change", "outside_floor",
                     "message"],
                    ([one.name, one.value, point.settings[0], point.result or "",
                      f"{point.result / base - 1:.6f}" if point.result else "",
                      int(abs(point.result / base - 1) > floor) if point.result else "",
                      point.message] for one in found for point in one.points.values()))


def options(words: Sequence[str]) -> argparse.Namespace:
    parser = command_line.parser("whatif")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--top", type=int, default=TOP)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--minutes", type=int)
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("files", nargs=1)
    chosen = command_line.parse(parser, words)
    if not chosen.output:
        raise Mistake("'-o DIR' is missing: the folder that keeps the results", usage=True)
    return chosen


def main(words: Sequence[str]) -> int:
    chosen, began = options(words), time.monotonic()
    study = Study(chosen)
    base, run = study.base()
    each = time.monotonic() - began
    result = base.result or 1
    found = parameters(run)
    shaken = disturbances(found)
    found = within(chosen, found, min(each, base.cpu + 0.05), 1 + len(shaken))
    points = [*shaken, *(point for one in found for point in one.points.values())]
    if points:
        study.run("runs", points)
    changes = [abs(point.result / result - 1) for point in shaken if point.result]
    floor = max(changes, default=0.0)
    found.sort(key=lambda one: (-one.effect(result), one.name))
    moving = distinct([one for one in found if one.effect(result) > 0])
    shown = moving[:chosen.top]
    combined = pairs(moving, result, floor)
    if combined:
        study.run("pairs", combined)
    name = title(run)
    print(f"{name}: {result} {'cycles of kernels' if run.get('kernels') else 'ps'}\n"
          f"noise floor: ±{floor * 100:.2f} %, from {len(changes)} runs with a latency that is one "
          "unit longer")
    for point in shaken:
        print(f"  {point.settings[0]}: "
              + (percent(point.result, result) if point.result else point.message))
    print("\n" + "\n".join(table(shown, result, floor)))
    rest = sum(one.effect(result) == 0 for one in found)
    print(f"{rest} of {len(found)} parameters change nothing, or have no other value that is "
          "allowed")
    for point in combined:
        print(f"both {' and '.join(point.settings)}: "
              + (percent(point.result, result) if point.result else point.message))
    write(study.folder / "whatif.csv", rows_csv(found, result, floor))
    write(study.folder / "whatif.svg", tornado(shown, result, floor, name))
    write(study.folder / "floor.json", json.dumps({"floor_percent": floor * 100}) + "\n")
    print(f"{1 + len(points) + len(combined)} runs, {study.finished} of them now, in "
          f"{time.monotonic() - began:.0f} s; {study.folder}/whatif.svg is the plot",
          file=sys.stderr)
    return 0
