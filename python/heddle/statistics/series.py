"""Measures over time: those of each interval of a series (`heddle run --series`). An interval
becomes statistics of its own, so there is one set of rules."""
from __future__ import annotations

import csv
import dataclasses
from typing import Any, Iterable, Iterator, Sequence, TextIO

from heddle.base.mistakes import Mistake
from heddle.statistics.measures import NAMES, Measured, of_run
from heddle.statistics.model import Model
from heddle.statistics.statistics_file import Statistics, collapse

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
    """A counter of one component that was asked for by name: its growth in each interval, and the
    cycles; for a histogram, its sum and its count. A counter of cycles, by its name, may count a
    span when the span ends, so its growth is spread back over the span."""
    path: str
    type: str
    kind: str
    name: str
    clock: str
    columns: list[Column] = dataclasses.field(default_factory=list)
    part: list[int] = dataclasses.field(default_factory=list)
    whole: list[int] = dataclasses.field(default_factory=list)


class Column:
    """A counter: its name in the head of a series, and where it stands in statistics."""

    def __init__(self, keys: Sequence[str]):
        self.name, self.keys, self.value = ".".join(keys[1:]), keys, 0

    def put(self, into: dict[str, Any], value: int) -> None:
        for key in self.keys[:-1]:
            into = into.setdefault(key, {})
        into[self.keys[-1]] = value


def _columns(statistics: Statistics) -> list[Column]:
    found = []
    for section in ("components", "connections", "links"):
        for path, values in statistics.get(section, {}).items():
            for name, value in values.items():
                if isinstance(value, dict):
                    found += [Column((section, path, name, inner))
                              for inner, number in value.items() if type(number) is int]
                elif type(value) is int:
                    found.append(Column((section, path, name)))
    return found


class _Reader:
    """Rows of a series, neighbours put together: sums stand in the columns that have grown."""

    def __init__(self, path: str, columns: list[Column], most: int):
        self.path, self.most = path, most
        self.known = {column.name: column for column in columns}
        self.grown: dict[Column, None] = {}  # in the interval

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
            start, end = int(row[0]), int(row[1])
            for column, text in zip(columns, row[2:], strict=True):
                if text != "0":
                    column.value += int(text)
                    self.grown[column] = None
        except (IndexError, ValueError) as error:
            raise self.mistake("has a row that does not fit its head" if "zip()" in str(error)
                               else "has a row that is not all numbers") from None
        if start >= end:
            raise self.mistake("has a row that does not fit its head")
        return start, end

    def intervals(self, file: TextIO) -> Iterator[tuple[int, int]]:
        """The intervals, each when its sums are complete."""
        together = -(-max(sum(1 for _ in file) - 1, 0) // self.most)
        file.seek(0)
        rows = csv.reader(file)
        columns, held, first = self._head(next(rows, [])), 0, 0
        for row in rows:
            start, end = self._add(row, columns)
            first, held = first if held else start, held + 1
            if held == together:
                yield first, end
                held = 0
                for column in self.grown:
                    column.value = 0
                self.grown.clear()
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


def sums(found: Measured, array_groups: Arrays, interval: tuple[int, int]) -> Iterator[Row]:
    """What was measured, of all elements of an array together."""
    groups, heads = array_groups
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


def _counted(model: Model, columns: list[Column], name: str) -> list[Counted]:
    found: dict[str, Counted] = {}
    for column in columns:
        section, path, counter, *inner = column.keys
        index = model.index.get(path)
        if (section != "components" or counter != name or index is None
                or inner and inner[0] not in ("count", "sum")):
            continue
        place = model.places[index]
        clock = place.clock if index < model.instances else next(iter(model.hz))
        found.setdefault(path, Counted(path, place.type, place.kind, name,
                                       clock)).columns.append(column)
    return list(found.values())


def _spread_back(grown: list[int], cycles: list[int]) -> None:
    """What does not fit into an interval was before it."""
    for i in range(len(grown) - 1, 0, -1):
        if grown[i] > cycles[i]:
            grown[i - 1] += grown[i] - cycles[i]
            grown[i] = cycles[i]


@dataclasses.dataclass(slots=True)
class Interval:
    """What was measured in it, and which instances and connections have done anything: of the
    others all intervals say the same."""
    span: tuple[int, int]
    found: Measured
    instances: set[int]
    connections: set[int]


class Intervals:
    """The intervals of a series, at most so many. Behind the last, `counted` has the counters of
    components with the names asked for."""

    def __init__(self, model: Model, statistics: Statistics, path: str,
                 counters: Iterable[str] = (), most: int = MOST):
        self.model, self.path, self.most = model, path, most
        self.columns = _columns(statistics)
        self.counted = [one for name in counters for one in _counted(model, self.columns, name)]
        self.spans: list[tuple[int, int]] = []
        self.still: dict[int, Measured] = {}  # when nothing counts, by the length of an interval
        self.owners = {place.path: self._owner(place.path) for place in model.places}
        self.wires: dict[str, list[int]] = {}
        for index, one in enumerate(model.connections):
            self.wires.setdefault(one.statistics, []).append(index)

    def _owner(self, path: str) -> int:
        while self.model.index[path] >= self.model.instances:
            path = path.rpartition(".")[0]
        return self.model.index[path]

    def __iter__(self) -> Iterator[Interval]:
        followed = [column for one in self.counted for column in one.columns]
        grown: dict[Column, list[int]] = {column: [] for column in followed}
        try:
            with open(self.path, encoding="utf-8", newline="") as file:
                reader = _Reader(self.path, self.columns, self.most)
                for span in reader.intervals(file):
                    self.spans.append(span)
                    for column, values in grown.items():
                        values.append(column.value)
                    yield self._measured(span, reader.grown)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise Mistake(f"cannot read '{self.path}': "
                          f"{getattr(error, 'strerror', error)}") from error
        for one in self.counted:
            self._add_counted(one, grown)

    def idle(self, time_ps: int) -> Measured:
        """The values of an interval that long, if nothing counts."""
        if time_ps not in self.still:
            root: dict[str, Any] = {"time_ps": time_ps, "components": {}, "clocks": {
                name: {"cycles": time_ps * hz // 10**12} for name, hz in self.model.hz.items()}}
            for column in self.columns:
                column.put(root, 0)
            self.still[time_ps] = of_run(self.model, root)
        return self.still[time_ps]

    def _measured(self, span: tuple[int, int], grown: Iterable[Column]) -> Interval:
        root: dict[str, Any] = {"components": {}, "connections": {}, "links": {}}
        for column in grown:
            column.put(root, column.value)
        instances = {self.owners[path] for path in root["components"] if path in self.owners}
        connections = {index for section in ("connections", "links") for key in root[section]
                       for index in self.wires.get(key, ())}
        found = self.idle(span[1] - span[0]).again(instances, root["components"])
        found.add_connections(root["connections"], root["links"], connections)
        return Interval(span, found, instances, connections)

    def _add_counted(self, counted: Counted, grown: dict[Column, list[int]]) -> None:
        hz = self.model.hz[counted.clock]
        cycles = [(end - start) * hz // 10**12 for start, end in self.spans]
        counted.part, counted.whole = [0] * len(cycles), cycles
        for column in counted.columns:
            if len(column.keys) == 3 and counted.name.endswith("cycles"):
                _spread_back(grown[column], cycles)
            if len(column.keys) == 4 and column.keys[-1] == "count":
                counted.whole = grown[column]
            else:
                counted.part = grown[column]


def read(model: Model, statistics: Statistics, path: str,
         counters: Iterable[str] = ()) -> Iterator[Row]:
    """Reads of each interval all measures, of all elements of an array together; then the counters
    of components with these names."""
    intervals, of_arrays = Intervals(model, statistics, path, counters), arrays(model)
    for interval in intervals:
        yield from sums(interval.found, of_arrays, interval.span)
    together: dict[tuple[str, str], list[Counted]] = {}
    for one in intervals.counted:
        together.setdefault((one.name, collapse(one.path)), []).append(one)
    for (name, array), members in together.items():
        parts = map(sum, zip(*(one.part for one in members)))
        wholes = map(sum, zip(*(one.whole for one in members)))
        for span, part, whole in zip(intervals.spans, parts, wholes):
            yield Row(*span, array, members[0].type, members[0].kind, name, part, whole, 0)
