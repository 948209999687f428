"""Measures over time: those of each interval of a series (`heddle run --series`), of all elements
of an array together. An interval becomes statistics of its own, so there is one set of rules."""
from __future__ import annotations

import csv
import dataclasses
from typing import Any, Iterable, Iterator, Sequence, TextIO

from heddle.measures import NAMES, Measured, of_run
from heddle.mistakes import Mistake
from heddle.model import Model
from heddle.statistics_file import Statistics, collapse

MOST = 200  # intervals; of more, neighbours are put together


@dataclasses.dataclass(slots=True)
class Row:
    from_ps: int
    to_ps: int
    path: str
    type: str
    kind: str
    measure: str
    part: float
    whole: float
    most: float  # the share of the fullest element


@dataclasses.dataclass(slots=True)
class Counted:
    """A counter that was asked for by name: what it grew by, and the cycles of all elements; of an
    average or a histogram its sum, and its count. One that counts cycles, by its name, may count a
    span when that ends, so it is spread back to where it was."""
    path: str
    type: str
    kind: str
    name: str
    clock: str
    elements: int = 0
    part: list[int] = dataclasses.field(default_factory=list)
    whole: list[int] = dataclasses.field(default_factory=list)


class Column:
    """A counter: its name in the head of a series, and where it stands in statistics."""

    def __init__(self, into: dict[str, Any], keys: Sequence[str]):
        self.name, self.keys, self.value = ".".join(keys[1:]), keys, 0
        for key in keys[:-1]:
            into = into.setdefault(key, {})
        self.into = into

    def put(self) -> None:
        self.into[self.keys[-1]], self.value = self.value, 0


def _columns(statistics: Statistics, into: dict[str, Any]) -> list[Column]:
    found = []
    for section in ("components", "connections", "links"):
        into.setdefault(section, {})
        for path, values in statistics.get(section, {}).items():
            for name, value in values.items():
                if isinstance(value, dict):
                    found += [Column(into, (section, path, name, inner))
                              for inner, number in value.items() if type(number) is int]
                elif type(value) is int:
                    found.append(Column(into, (section, path, name)))
    return found


class _Reader:
    """Rows of a series, neighbours put together: sums stay in the columns."""

    def __init__(self, path: str, columns: list[Column]):
        self.path = path
        self.known = {column.name: column for column in columns}

    def mistake(self, words: str) -> Mistake:
        return Mistake(f"'{self.path}' {words}")

    def _head(self, row: list[str]) -> list[Column]:
        if row[:2] != ["from_ps", "to_ps"]:
            raise self.mistake("is not what `heddle run --series` writes")
        for name in row[2:]:
            if name not in self.known:
                raise self.mistake(f"is not of this run: its statistics have no '{name}'")
        return [self.known[name] for name in row[2:]]

    def _add(self, row: list[str], columns: list[Column]) -> tuple[int, int]:
        try:
            start, end, *values = map(int, row)
        except ValueError:
            raise self.mistake("has a row that is no row of numbers") from None
        if len(values) != len(columns) or start >= end:
            raise self.mistake("has a row that does not fit its head")
        for column, value in zip(columns, values):
            column.value += value
        return start, end

    def intervals(self, file: TextIO) -> Iterator[tuple[int, int]]:
        """Behind each, sums are of that interval."""
        together = -(-max(sum(1 for _ in file) - 1, 0) // MOST)
        file.seek(0)
        rows = csv.reader(file)
        columns, held, first = self._head(next(rows, [])), 0, 0
        for row in rows:
            start, end = self._add(row, columns)
            first, held = first if held else start, held + 1
            if held == together:
                yield first, end
                held = 0
        if held:
            yield first, end


Arrays = tuple[list[int], list[tuple[str, str, str]]]


def arrays(model: Model) -> Arrays:
    """The array of each place and connection, by number; path, type and kind of each array."""
    numbers: dict[str, int] = {}
    groups, heads = [], []
    for one in [*model.places, *model.connections]:
        path, kind = collapse(one.path), getattr(one, "kind", one.type)
        if path not in numbers:
            numbers[path] = len(heads)
            heads.append((path, one.type, kind))
        groups.append(numbers[path])
    return groups, heads


def sums(found: Measured, of: Arrays, interval: tuple[int, int]) -> Iterator[Row]:
    """What was measured, of all elements of an array together."""
    groups, heads = of
    totals: list[dict[str, list[float]]] = [{} for _ in heads]
    for name in NAMES:
        for group, (part, whole) in zip(groups, [*found.shares[name], *found.connections[name]]):
            if whole > 0:
                total = totals[group].setdefault(name, [0.0, 0.0, 0.0])
                total[0] += part
                total[1] += whole
                total[2] = max(total[2], part / whole)
    for head, by_name in zip(heads, totals):
        for name, total in by_name.items():
            yield Row(*interval, *head, name, *total)


def _counted(model: Model, columns: list[Column], name: str) -> list[tuple[Counted, list[Column]]]:
    found: dict[str, tuple[Counted, list[Column]]] = {}
    for column in columns:
        section, path, counter, *inner = column.keys
        index = model.index.get(path)
        if (section != "components" or counter != name or index is None
                or inner and inner[0] not in ("count", "sum")):
            continue
        place = model.places[index]
        one, of = found.setdefault(collapse(path), (Counted(
            collapse(path), place.type, place.kind, name,
            place.clock if index < model.instances else next(iter(model.hz))), []))
        one.elements += not inner
        of.append(column)
    return list(found.values())


def _spread_back(grown: list[int], cycles: list[int]) -> None:
    """What does not fit into an interval was before it."""
    for i in range(len(grown) - 1, 0, -1):
        if grown[i] > cycles[i]:
            grown[i - 1] += grown[i] - cycles[i]
            grown[i] = cycles[i]


def _add_counted(one: Counted, column: Column, grown: list[int], cycles: list[int]) -> None:
    if len(column.keys) == 3 and one.name.endswith("cycles"):
        _spread_back(grown, cycles)
    into = one.whole if column.keys[-1] == "count" and len(column.keys) == 4 else one.part
    into[:] = [a + b for a, b in zip(into or [0] * len(grown), grown)]


def read(model: Model, statistics: Statistics, path: str,
         counters: Iterable[str] = ()) -> Iterator[Row]:
    """Of each interval all measures; then the counters of components with these names."""
    root: dict[str, Any] = {"clocks": {name: {} for name in model.hz}}
    columns = _columns(statistics, root)
    asked = [pair for name in counters for pair in _counted(model, columns, name)]
    grown: dict[Column, list[int]] = {column: [] for _, of in asked for column in of}
    intervals, of_arrays = [], arrays(model)
    try:
        with open(path, encoding="utf-8", newline="") as file:
            for interval in _Reader(path, columns).intervals(file):
                intervals.append(interval)
                for column in grown:
                    grown[column].append(column.value)
                for column in columns:
                    column.put()
                root["time_ps"] = interval[1] - interval[0]
                for name, hz in model.hz.items():
                    root["clocks"][name]["cycles"] = root["time_ps"] * hz // 10**12
                yield from sums(of_run(model, root), of_arrays, interval)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Mistake(f"cannot read '{path}': {getattr(error, 'strerror', error)}") from error
    for one, of in asked:
        cycles = [(end - start) * model.hz[one.clock] // 10**12 for start, end in intervals]
        for column in of:
            _add_counted(one, column, grown[column], cycles)
        wholes = [c * one.elements for c in cycles] if one.elements else one.whole
        for interval, part, whole in zip(intervals, one.part, wholes):
            yield Row(*interval, one.path, one.type, one.kind, one.name, part, whole, 0)
