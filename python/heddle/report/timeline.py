"""What happened over time, as data: every element of every array in each interval of a series
(`heddle run --series`), and the launches. page.py puts it into a page, whose timeline.js draws it.

A cell is a byte: its value in parts of the array's largest, NONE where there is none. Cells of an
array stand element by element, and arrays one after the other; all of them are compressed
together."""
from __future__ import annotations

import base64
import re
import zlib
from array import array
from dataclasses import dataclass, field
from typing import Any, Iterator

from heddle.base.mistakes import Mistake
from heddle.drawing.draw import (WIDTH, axis_of_time, document, heat, heat_image, heat_top, percent,
                                 text)
from heddle.report.runs import MEASURES, Run
from heddle.statistics.measures import ratio
from heddle.statistics.series import Intervals
from heddle.statistics.statistics_file import collapse, identity

NONE, FULL = 255, 254
CELLS = 1_500_000  # of one measure
FEWEST, MOST = 100, 2000  # intervals
LAUNCHES = 4000  # the longest
INSTRUCTIONS, ACTIVE = "instructions", "active_cycles"  # counters of what executes
DEPTHS = re.compile(r"(occupancy|in_flight|depth)$")  # histograms of how full a queue was
COUNTERS = {INSTRUCTIONS: "instructions a cycle", ACTIVE: "occupied"}  # what they are called
PER_CENT = (*MEASURES, ACTIVE)


@dataclass
class Lane:
    """An array with one measure or counter: values by interval of each element; below 0: none."""
    path: str
    kind: str
    measure: str
    elements: list[str] = field(default_factory=list)
    values: list[array[float]] = field(default_factory=list)

    @property
    def top(self) -> float:
        return max(max(values) for values in self.values)

    def means(self) -> list[float]:
        """The mean of each element, over its intervals that have a value."""
        return [sum(known) / len(known) if known else 0.0 for known in
                ([value for value in values if value >= 0] for values in self.values)]

    def cells(self, top: float) -> bytes:
        return b"".join(bytes(NONE if value < 0 else round(min(value / top, 1.0) * FULL)
                              for value in values) for values in self.values)


class Timeline:
    """A series: its intervals and lanes."""

    def __init__(self, run: Run, path: str):
        self.run = run
        model = run.described()
        most = min(MOST, max(FEWEST, CELLS // model.instances))
        depths = sorted({name for counters in run.root["components"].values()
                         for name, value in counters.items()
                         if isinstance(value, dict) and DEPTHS.search(name)})
        intervals = Intervals(model, run.root, path, [*COUNTERS, *depths], most)
        self.lanes: list[Lane] = self._measured(intervals)
        self.spans = intervals.spans
        self._add_counted(intervals)

    def _measured(self, intervals: Intervals) -> list[Lane]:
        """Parts speak through what they are in; connections carry what their ends count."""
        model = intervals.model
        known: dict[tuple[str, bool, int], dict[int, float]] = {}
        for number, one in enumerate(intervals):
            for measure in MEASURES:
                for is_wire, shares, indices in (
                        (False, one.found.shares[measure], one.instances),
                        (True, one.found.connections[measure], one.connections)):
                    for index in indices:
                        known.setdefault((measure, is_wire, index), {})[number] = ratio(
                            shares[index])
        if not intervals.spans:
            raise Mistake("the series has no intervals")
        lanes: dict[tuple[str, str], Lane] = {}
        still = intervals.idle(intervals.spans[0][1] - intervals.spans[0][0])
        for measure in MEASURES:
            for is_wire, shares, places in (
                    (False, still.shares[measure], model.places[:model.instances]),
                    (True, still.connections[measure], model.connections)):
                for index, place in enumerate(places):
                    if is_wire and not place.link:
                        continue
                    values = array("f", [ratio(shares[index])]) * len(intervals.spans)
                    for number, value in known.get((measure, is_wire, index), {}).items():
                        values[number] = value
                    if is_wire:
                        _carry(values)
                    path = collapse(place.path)
                    lane = lanes.setdefault((measure, path), Lane(
                        path, "link" if is_wire else place.kind, measure))
                    lane.elements.append(place.path)
                    lane.values.append(values)
        return [lane for lane in lanes.values() if lane.top > 0]

    def _add_counted(self, intervals: Intervals) -> None:
        lanes: dict[tuple[str, str], Lane] = {}
        for one in intervals.counted:
            path = collapse(one.path)
            lane = lanes.setdefault((one.name, path), Lane(path, one.kind, one.name))
            lane.elements.append(one.path)
            lane.values.append(array("f", (part / whole if whole else -1.0
                                           for part, whole in zip(one.part, one.whole))))
        self.lanes += [lane for lane in lanes.values() if lane.top > 0]

    def measures(self) -> list[str]:
        return list(dict.fromkeys(lane.measure for lane in self.lanes))

    def lanes_of(self, measure: str) -> list[Lane]:
        """The lanes of a measure, in the order of their paths."""
        return sorted((lane for lane in self.lanes if lane.measure == measure),
                      key=lambda lane: lane.path)

    def data(self) -> dict[str, Any]:
        """What timeline.js draws."""
        cells, lanes, at = [], [], 0
        for measure in self.measures():
            for lane in self.lanes_of(measure):
                top, means = lane.top, lane.means()
                cells.append(lane.cells(top))
                lanes.append({"measure": measure, "path": lane.path, "kind": lane.kind, "at": at,
                              "elements": _indices(lane), "top": _short(top),
                              "mean": _short(sum(means) / len(means))})
                at += len(cells[-1])
        packed = base64.b64encode(zlib.compress(b"".join(cells), 9)).decode()
        return {"times": [start for start, _ in self.spans] + [self.spans[-1][1]],
                "measures": [{"name": m, "words": COUNTERS.get(m, m.replace("_", " ")),
                              "percent": m in PER_CENT, "scale": _scale(m, self.lanes_of(m))}
                             for m in self.measures()],
                "lanes": lanes, "kernels": _launches(self.run), "cells": packed}

    def picture(self, measure: str) -> str | None:
        """A figure of one measure: a row for each element. None: nothing has it."""
        lanes = self.lanes_of(measure)
        if not lanes:
            return None
        top = _scale(measure, lanes)
        title = f"{measure.replace('_', ' ')} over time"
        shapes = [text(8, 16, title, size=13), *_legend(top)]
        y, height = 30.0, 0.0
        for lane in lanes:
            height = min(max(6.0 * len(lane.elements), 10.0), 120.0)
            means = lane.means()
            shapes.append(text(8, y + 10, _cut(lane.path, 48), size=11))
            shapes.append(text(WIDTH - 8, y + 10, f"{percent(sum(means) / len(means))}, most "
                               f"{percent(max(means))}", "end", 11, ' fill="#444"'))
            shapes.append(heat_image(8, y + 14, WIDTH - 16, height, [
                [None if value < 0 else heat(value, top) for value in values]
                for values in lane.values],
                f"{lane.path}: a row for each of {len(lane.elements)} elements"))
            y += 18 + height
        shapes += axis_of_time(self.spans[-1][1], 8, WIDTH - 8, y + 10)
        return document(y + 28, shapes, title)


def _carry(values: array[float]) -> None:
    """A link counts the time of a transfer when that begins: what has no room in an interval is
    behind it."""
    over = 0.0
    for i, value in enumerate(values):
        values[i] = min(value + over, 1.0)
        over = max(value + over - 1.0, 0.0)


def _legend(top: float) -> Iterator[str]:
    yield heat_image(250, 6, 150, 12, [[heat(i / 49, 1) for i in range(50)]], "the scale")
    yield text(244, 16, "0 %", "end", 11)
    yield text(404, 16, f"{top * 100:g} %", size=11)


def _scale(measure: str, lanes: list[Lane]) -> float:
    """The end of the scale of all arrays."""
    top = max(lane.top for lane in lanes)
    return heat_top(top) / 100 if measure in PER_CENT else _short(top)


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _indices(lane: Lane) -> list[str]:
    """What tells elements apart: of "gpu.l2[3]" "3", of "gpu.sa[1].cu[2]" "1,2"."""
    return [",".join(re.findall(r"\[(\d+)\]", path)) for path in lane.elements]


def _launches(run: Run) -> list[list[Any]]:
    """Name, begin and end of each; of many the longest."""
    names = {(kernel.name, kernel.gpu): kernel.short for kernel in run.kernels}
    found = [[names.get(identity(one), one["name"]), one["start_ps"], one["end_ps"]]
             for one in run.root.get("kernels", []) if "start_ps" in one]
    longest = sorted(found, key=lambda one: one[1] - one[2])[:LAUNCHES]
    return sorted(longest, key=lambda one: one[1])


def _cut(path: str, most: int) -> str:
    return path if len(path) <= most else path[:most // 2 - 1] + "…" + path[-(most // 2):]
