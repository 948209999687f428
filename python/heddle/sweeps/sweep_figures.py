"""Figures of a sweep: a result over a setting, grouped by another; and a Pareto front.

A figure comes with the numbers behind it, as rows for a CSV file."""
from __future__ import annotations

import dataclasses
import statistics
from typing import Any, Callable, Sequence

from heddle.drawing import draw
from heddle.drawing.draw import COLOURS, WIDTH, Linear, Log, document, line, mark, text, tick_text
from heddle.sweeps.results import PS, Results, is_better_more
from heddle.sweeps.values import number_of

DOTS = 400            # points that are drawn beside the line that goes through their medians
LEFT, RIGHT, TOP, BOTTOM = 70.0, WIDTH - 14.0, 68.0, 330.0
TIMES = (("s", 1e12), ("ms", 1e9), ("µs", 1e6), ("ns", 1e3))


@dataclasses.dataclass
class Figure:
    name: str
    title: str
    svg: str
    columns: list[str]
    rows: list[list[Any]]


def unit_of(name: str, values: Sequence[float]) -> tuple[str, float]:
    """What an axis says, and what its numbers are divided by."""
    if name in PS:
        least = min((value for value in values if value > 0), default=1.0)
        unit, factor = next(((u, f) for u, f in TIMES if least >= f), ("ps", 1.0))
        words = {"time": "simulated time", "kernels": "time in kernels"}[name]
        return f"{words}, {unit}", factor
    if name.endswith(".hit_rate"):
        return f"{name.removesuffix('.hit_rate')} hit rate, %", 0.01
    return {"ipc": "instructions a cycle"}.get(name, name), 1.0


def axis(values: Sequence[float], start: float, end: float) -> Log | Linear:
    """Logarithmic when the largest is 30 times the smallest; without 0 when they are close."""
    if min(values) > 0 and max(values) >= 30 * min(values):
        return Log(values, start, end)
    return Linear(values, start, end, from_zero=not min(values) > 0.6 * max(values) > 0)


class Ordinal:
    """Where the values of a setting stand: numbers by their size, logarithmically when the largest
    is 8 times the smallest; words one beside the other."""

    def __init__(self, values: Sequence[str]):
        numbers = [number_of(value) for value in values]
        self.places: dict[str, float] = {}
        if None in numbers or len(values) < 2:
            self.values = list(values)
            for i, value in enumerate(self.values):
                self.places[value] = (i + 0.5) / len(values)
            return
        known = {value: float(number or 0) for value, number in zip(values, numbers)}
        self.values = sorted(values, key=lambda value: known[value])
        low, high = known[self.values[0]], known[self.values[-1]]
        scale: Callable[[float], float] = (lambda number: number)
        if low > 0 and high >= 8 * low:
            scale = Log([low, high * 1.0001], 0, 1).at
        for value in self.values:
            part = (scale(known[value]) - scale(low)) / (scale(high) - scale(low))
            self.places[value] = 0.04 + 0.92 * part

    def at(self, value: str) -> float:
        return LEFT + (RIGHT - LEFT) * self.places[value]

    def labels(self) -> list[str]:
        """The labels that have room."""
        shown: list[str] = []
        until = LEFT - 30
        for value in self.values:
            half = 3.2 * min(len(value), 18) + 4
            if self.at(value) - half >= until:
                shown.append(value)
                until = self.at(value) + half
        return shown


def cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[:most - 1] + "…"


def _note(y: Log | Linear) -> str:
    return "; the axis does not begin at 0" if isinstance(y, Linear) and y.low > 0 else ""


def _y_grid(y: Log | Linear, factor: float, words: str) -> list[str]:
    shapes = []
    for value in y.ticks():
        shapes.append(line(LEFT, y.at(value), RIGHT, y.at(value), "#e8e8e8"))
        shapes.append(text(LEFT - 5, y.at(value) + 4, tick_text(value), "end", 11))
    middle = (TOP + BOTTOM) / 2
    shapes.append(text(16, middle, words, "middle", 13,
                       f' transform="rotate(-90 16 {middle:.0f})"'))
    shapes.append(line(LEFT, BOTTOM, RIGHT, BOTTOM, "#666"))
    return shapes


def _legend(groups: Sequence[str], name: str, top: float) -> tuple[list[str], float]:
    if groups == [""]:
        return [], top
    shapes = [text(LEFT, top, f"{name}:", "start", 12)]
    x, y = LEFT + 7.2 * len(name) + 10, top
    for i, group in enumerate(groups):
        width = 22 + 7.0 * len(cut(group, 40))
        if x + width > WIDTH:
            x, y = LEFT, y + 18
        shapes += [mark(x + 4, y - 4, i), text(x + 12, y, cut(group, 40), "start", 12)]
        x += width
    return shapes, y + 18


@dataclasses.dataclass
class Cell:
    """Points with the same x and group."""

    x: str
    group: str
    points: list[tuple[int, float]]

    @property
    def values(self) -> list[float]:
        return [value for _, value in self.points]

    @property
    def median(self) -> float:
        return statistics.median(self.values)


def cells(results: Results, result: str, x: str, group: str) -> list[Cell]:
    found: dict[tuple[str, str], Cell] = {}
    values = results.result(result)
    for row in results.done:
        if row.point in values and x in row.settings and (not group or group in row.settings):
            key = row.settings[x], row.settings[group] if group else ""
            found.setdefault(key, Cell(*key, [])).points.append((row.point, values[row.point]))
    return list(found.values())


def _series(all_cells: Sequence[Cell], which: int, group: str, x: Ordinal, y: Log | Linear,
            factor: float, dots: bool) -> list[str]:
    own = {cell.x: cell for cell in all_cells if cell.group == group}
    listed = [own[value] for value in x.values if value in own]
    colour = COLOURS[which % len(COLOURS)]

    def at(cell: Cell, value: float) -> str:
        return f"{x.at(cell.x):.1f},{y.at(value / factor):.1f}"
    shapes = []
    if any(len(cell.points) > 1 for cell in listed):
        band = [at(cell, max(cell.values)) for cell in listed] \
            + [at(cell, min(cell.values)) for cell in reversed(listed)]
        shapes.append(f'<polygon points="{" ".join(band)}" fill="{colour}" fill-opacity="0.10"/>')
    medians = " ".join(at(cell, cell.median) for cell in listed)
    shapes.append(f'<polyline points="{medians}" fill="none" stroke="{colour}" '
                  'stroke-width="1.8"/>')
    for cell in listed:
        if dots and len(cell.points) > 1:
            shapes += [mark(x.at(cell.x), y.at(value / factor), which, 0.55)
                       for _, value in cell.points]
        title = f"{cell.x}{', ' + group if group else ''}: {cell.median / factor:.6g}"
        if len(cell.points) > 1:
            title += (f", {min(cell.values) / factor:.6g} to {max(cell.values) / factor:.6g} of "
                      f"{len(cell.points)} points")
        shapes.append(mark(x.at(cell.x), y.at(cell.median / factor), which, 1.1, title))
    return shapes


def over(results: Results, result: str, x: str, group: str = "") -> Figure | None:
    """`result` over setting `x`, a line for each value of `group`. None: no point has it."""
    found = cells(results, result, x, group)
    if not found:
        return None
    everything = [value for cell in found for value in cell.values]
    words, factor = unit_of(result, everything)
    ordinal = Ordinal([v for v in results.values(x) if any(cell.x == v for cell in found)])
    groups = [g for g in results.values(group) if any(cell.group == g for cell in found)] \
        if group else [""]
    y = axis([value / factor for value in everything], BOTTOM, TOP)
    many = max(len(cell.points) for cell in found)
    title = f"{words.split(',')[0]} over {x}" + (f", by {group}" if group else "")
    note = f"lines: medians; bands: all of up to {many} points" if many > 1 else \
        f"{len(everything)} points"
    note += _note(y)
    shapes = [text(WIDTH / 2, 20, cut(title, 60), "middle", 15),
              text(WIDTH / 2, 38, note, "middle", 12, ' fill="#444"'),
              *_y_grid(y, factor, words)]
    for value in ordinal.labels():
        shapes.append(text(ordinal.at(value), BOTTOM + 16, cut(value, 18), "middle", 11))
    for value in ordinal.values:
        shapes.append(line(ordinal.at(value), BOTTOM, ordinal.at(value), BOTTOM + 4, "#666"))
    shapes.append(text((LEFT + RIGHT) / 2, BOTTOM + 36, x, "middle", 13))
    for i, value in enumerate(groups):
        shapes += _series(found, i, value, ordinal, y, factor, len(everything) <= DOTS)
    legend, bottom = _legend(groups, group, BOTTOM + 60)
    rows = [[cell.x, *([cell.group] if group else []), point, value]
            for cell in found for point, value in cell.points]
    return Figure(f"{result}-{x}" + (f"-{group}" if group else ""), title,
                  document(bottom - 6, shapes + legend, title), [x, *([group] if group else []),
                                                                 "point", result], rows)


# ---- Pareto


@dataclasses.dataclass
class Machine:
    """The points that differ only in what runs on the machine; their means."""

    settings: dict[str, str]
    points: list[int]
    cost: float
    good: float


def mean(values: Sequence[float]) -> float:
    """Geometric, so that each program counts the same; arithmetic if one is 0."""
    if min(values) == max(values):
        return values[0]
    if min(values) > 0:
        return statistics.geometric_mean(values)
    return statistics.fmean(values)


def machines(results: Results, result: str, cost: str) -> list[Machine]:
    """The machines on which everything ran."""
    goods, costs = results.result(result), results.numbers(cost)
    names = results.machine()
    found: dict[tuple[str, ...], list[int]] = {}
    for row in results.done:
        if row.point in goods and row.point in costs:
            found.setdefault(tuple(row.settings[name] for name in names), []).append(row.point)
    most = max(map(len, found.values()), default=0)
    return [Machine(dict(zip(names, values)), points, mean([costs[p] for p in points]),
                    mean([goods[p] for p in points]))
            for values, points in found.items() if len(points) == most]


def front(costs: Sequence[float], goods: Sequence[float], more: bool) -> list[int]:
    """The points that no other beats: none costs no more and is no worse, and is better in one of
    the two. In the order of their costs."""
    order = sorted(range(len(costs)), key=lambda i: (costs[i], -goods[i] if more else goods[i], i))
    best: list[int] = []
    for i in order:
        if not best or (goods[i] > goods[best[-1]] if more else goods[i] < goods[best[-1]]):
            best.append(i)
    return best


def _marks(found: Sequence[Machine], best: Sequence[int],
           at: Callable[[Machine], tuple[float, float]]) -> list[str]:
    places = {(round(a), round(b)) for a, b in map(at, found)}
    shapes = [mark(a, b, 7, 0.7) for a, b in sorted(places)]
    line_of = " ".join(f"{a:.1f},{b:.1f}" for a, b in (at(found[i]) for i in best))
    shapes.append(f'<polyline points="{line_of}" fill="none" stroke="{draw.ORANGE}" '
                  'stroke-width="1.8"/>')
    for i in best:
        a, b = at(found[i])
        words = ", ".join(f"{name} {value}" for name, value in found[i].settings.items())
        shapes.append(mark(a, b, 1, 1.2, f"{words}: {found[i].good:.6g} at {found[i].cost:.6g}"))
        left = a > RIGHT - 30
        shapes.append(text(a - 6 if left else a + 6, b - 6, str(found[i].points[0]),
                           "end" if left else "start", 11))
    return shapes


def pareto(results: Results, result: str, cost: str, more: bool | None = None) -> Figure | None:
    """`result` over what it costs; the machines that no other beats are named by their first
    points. `more`: more of the result is better."""
    more = is_better_more(result) if more is None else more
    found = machines(results, result, cost)
    if not found:
        return None
    xs, ys = [m.cost for m in found], [m.good for m in found]
    best = front(xs, ys, more)
    words, factor = unit_of(result, ys)
    x_words, x_factor = _cost_unit(cost, xs)
    x = axis([value / x_factor for value in xs], LEFT, RIGHT)
    y = axis([value / factor for value in ys], BOTTOM, TOP)
    title = f"{words.split(',')[0]} against {x_words.split(',')[0]}"
    count = len(found[0].points)
    note = f"{len(found)} machines" + (f", means of {count} points each" if count > 1 else "")
    shapes = [text(WIDTH / 2, 20, cut(title, 60), "middle", 15),
              text(WIDTH / 2, 36, note, "middle", 12, ' fill="#444"'),
              text(WIDTH / 2, 51, f"on the line those that no other beats{_note(y)}", "middle", 12,
                   ' fill="#444"'), *_y_grid(y, factor, words)]
    for value in x.ticks():
        shapes.append(text(x.at(value), BOTTOM + 16, tick_text(value), "middle", 11))
    shapes.append(text((LEFT + RIGHT) / 2, BOTTOM + 36, x_words, "middle", 13))
    shapes += _marks(found, best, lambda m: (x.at(m.cost / x_factor), y.at(m.good / factor)))
    names = [name for name in results.machine() if name != cost]
    columns = ["point", *names, cost, result, "on_front"]
    rows = [[m.points[0], *(m.settings[name] for name in names), m.cost, m.good, int(i in best)]
            for i, m in enumerate(found)]
    return Figure(f"pareto-{result}-{cost}", title, document(BOTTOM + 48, shapes, title), columns,
                  rows)


def named(results: Results, row: Any) -> str:
    return ", ".join(f"{name} {row.settings[name]}" for name in results.settings()
                     if name in row.settings)


def _cost_unit(name: str, values: Sequence[float]) -> tuple[str, float]:
    words, factor = unit_of(name, values)
    if factor == 1.0 and name not in PS and min(values) >= 1024 and \
            all(value % 1024 == 0 for value in values):
        return f"{name}, KiB", 1024.0
    return words, factor
