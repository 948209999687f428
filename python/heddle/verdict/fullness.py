"""The elements of a machine that were full, and when: banks, channels, TLBs, links one by one,
since a mean over an array hides an element that all others wait for.

Counters of a series become busy time by the measures that descriptions declare
(`heddle.statistics.measures` has the rules for means); an element is busy by the fullest of its
measures. In each interval an array is as full as its elements look to a request that comes to it:
the mean of their shares, weighted by how much each has to do. A tail of one compute unit does not
fill the first-level caches then, and one hot bank does fill the L2. The fullest array of an
interval is where its requests queue, if they queue.

What was found is data of the statistics file, its member `fullness`: written by `heddle run
--report limits`, read by everything that says what limits a kernel (`heddle.verdict.limits`)."""
from __future__ import annotations

import csv
import dataclasses
import json
import pathlib
import re
from collections import Counter
from typing import Any, Iterator, NamedTuple

from heddle.base.mistakes import Mistake
from heddle.statistics.model import Model
from heddle.statistics.statistics_file import Identity, Statistics, collapse, identity, number

# An element is full that is busy for so much of an interval: with random arrivals and a fixed time
# of service (M/D/1) a request then waits for two others on average, and every per cent more doubles
# that sooner, so such a server passes on no more than it does.
FULL = 0.8
IDLE = 0.02  # less than that of every array: the interval belongs to the launch, not to the work
# Intervals of a kernel that are looked at. A share of them is within 7 % then, twice the deviation
# of a sample of as many.
MOST = 200
KINDS = ("cache", "memory", "translation", "link", "interconnect")


Levels = list[tuple[str, float]]  # paths on a way, and the cycles to there


@dataclasses.dataclass
class Array:
    """The elements of an array, in the intervals in which it was the fullest of all."""
    path: str
    kind: str
    elements: int
    first: int = 0          # these intervals
    full: int = 0           # such intervals in which an element was full
    full_elements: int = 0  # summed over these
    top: float = 0.0        # the share of the fullest element, summed
    mean: float = 0.0       # that of all of them, summed
    fullest: dict[str, int] = dataclasses.field(default_factory=dict)  # which one it was, how often

    def add(self, shares: dict[str, float]) -> None:
        path, top = max(shares.items(), key=lambda item: item[1])
        self.first += 1
        self.full += top >= FULL
        self.full_elements += sum(share >= FULL for share in shares.values())
        self.top += top
        self.mean += sum(shares.values()) / max(self.elements, len(shares))
        self.fullest[path] = self.fullest.get(path, 0) + 1


@dataclasses.dataclass
class Fullness:
    """The fullness of elements over all launches of a kernel."""
    intervals: int = 0  # in which it worked
    cycles: int = 0     # of an interval
    arrays: list[Array] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Found:
    """The fullness of a run by kernel and GPU, with the unloaded latency of memory (`levels`), the
    time that is no kernel's (`copied_ps` and `nothing_ps`, the links' busy ps in the former), and
    the ranges of the settings that are proposed (`Model.ranges`)."""
    kernels: dict[Identity, Fullness] = dataclasses.field(default_factory=dict)
    levels: Levels = dataclasses.field(default_factory=list)
    translation: Levels = dataclasses.field(default_factory=list)
    copied_ps: int = 0
    nothing_ps: int = 0
    links: dict[str, int] = dataclasses.field(default_factory=dict)
    ranges: dict[str, str] = dataclasses.field(default_factory=dict)


class _Use(NamedTuple):
    """What one count of a column is of the time of an element."""
    element: tuple[str, str]  # path, measure
    time_ps: float


def _own_uses(model: Model, index: int) -> Iterator[tuple[str, _Use]]:
    place = model.places[index]
    speaker = place.path
    while model.index.get(speaker, len(model.places)) >= model.instances:
        speaker = speaker.rpartition(".")[0]
    if model.places[model.index[speaker]].kind not in KINDS:
        return
    for name, part, whole in place.measures:
        if name not in ("utilisation", "bandwidth") or len(whole) != 1 or whole[0][1] is not None:
            continue
        could, carried = whole[0][0], name == "bandwidth" and 0 < place.carried_bytes < whole[0][0]
        if carried:  # a queue is where more comes than is served, not where little is asked for
            could = place.carried_bytes
        for factor, stat in part if could > 0 else ():
            if stat is not None:
                if carried:  # what comes is no longer than its payload; an atomic has two operands
                    factor = min(factor, place.payload_bytes) * (1 + (stat == "atomics"))
                yield f"{place.path}.{stat}", _Use((speaker, f"{place.path} {name}"),
                                                   factor / could * 1e12 / model.hz[place.clock])


def _uses(model: Model, statistics: Statistics) -> dict[str, list[_Use]]:
    found: dict[str, list[_Use]] = {}
    for index in range(len(model.places)):
        for column, use in _own_uses(model, index):
            found.setdefault(column, []).append(use)
    for name in statistics.get("links", {}):
        for way in ("forward", "backward"):
            found.setdefault(f"{name}.{way}.busy_ps", []).append(
                _Use((name, way), 1.0))
    return found


class _Series:
    """The rows of a series. All are asked for their intervals, and the chosen ones for the rest,
    which is what costs."""

    def __init__(self, path: str):
        self.path = path
        self.spans: list[tuple[int, int]] = []
        self.offsets: list[int] = []
        try:
            self.file = open(path, "rb")  # closed with the series
            first = self.file.readline()
            self.head = next(csv.reader([first.decode()]), [])
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise Mistake(f"cannot read '{path}': {getattr(error, 'strerror', error)}") from error
        if self.head[:2] != ["from_ps", "to_ps"]:
            raise Mistake(f"'{path}' is not what `heddle run --series` writes")
        offset = len(first)
        for line in self.file:
            cells = line.split(b",", 2)
            try:
                start, end = int(cells[0]), int(cells[1])
            except (ValueError, IndexError):
                start = end = 0
            if start >= end:
                raise Mistake(f"'{path}' has a row that is not all numbers")
            self.spans.append((start, end))
            self.offsets.append(offset)
            offset += len(line)

    def row(self, index: int) -> list[bytes]:
        self.file.seek(self.offsets[index])
        row = self.file.readline().rstrip().split(b",")
        if len(row) != len(self.head):
            raise Mistake(f"'{self.path}' has a row that does not fit its head")
        return row


def _shares(uses: list[tuple[int, _Use]], row: list[bytes], time_ps: int) -> dict[str, float]:
    """The busy share of each element that did something."""
    parts: dict[tuple[str, str], float] = {}
    for column, (element, count_ps) in uses:
        cell = row[column]
        if cell != b"0":
            parts[element] = parts.get(element, 0.0) + int(cell) * count_ps / time_ps
    shares: dict[str, float] = {}
    for (path, _), share in parts.items():
        if share > shares.get(path, -1.0):
            shares[path] = share
    return shares


def _met(shares: dict[str, float]) -> float:
    return sum(share * share for share in shares.values()) / sum(shares.values())


class _Launches:
    """The kernels that ran for most of an interval. Intervals are asked for in order."""

    def __init__(self, statistics: Statistics):
        self.waiting = sorted(((number(one, "start_ps"), number(one, "end_ps"), identity(one))
                               for one in statistics.get("kernels", [])), reverse=True)
        self.running: list[tuple[int, int, Identity]] = []

    def during(self, start: int, end: int) -> set[Identity]:
        while self.waiting and self.waiting[-1][0] < end:
            self.running.append(self.waiting.pop())
        self.running = [one for one in self.running if one[1] > start]
        return {kernel for since, until, kernel in self.running
                if 2 * (min(until, end) - max(since, start)) > end - start}


class _Reach:
    """The elements that a kernel of a GPU can wait for: elements of its own GPU and of no GPU, and
    elements of other GPUs if it has sent requests there. The driver's port `gpu[i]` leads into GPU
    i."""

    def __init__(self, model: Model, statistics: Statistics):
        self.arrays: dict[str, str] = {}
        ways = ((re.fullmatch(r"[^.]+\.gpu\[(\d+)\]", one.source), one.target)
                for one in model.connections)
        self.gpus = {int(found[1]): target.split(".")[0] for found, target in ways if found}
        self.remote = {identity(launch) for launch in statistics.get("kernels", [])
                       if any(number(stats, "sent")
                              for path, stats in launch.get("components", {}).items()
                              if path.startswith(self._own(identity(launch))))}

    def array(self, path: str) -> str:
        """The array of an element, one of each GPU."""
        known = self.arrays.get(path)
        if known is None:
            first, dot, rest = path.partition(".")
            known = self.arrays[path] = (first + dot + collapse(rest) if first in
                                         self.gpus.values() else collapse(path))
        return known

    def _own(self, kernel: Identity) -> str:
        return f"{self.gpus.get(kernel[1], '')}."

    def reached(self, kernel: Identity, shares: dict[str, float]) -> dict[str, float]:
        if len(self.gpus) < 2 or kernel in self.remote:
            return shares
        others = set(self.gpus.values()) - {self.gpus.get(kernel[1], "")}
        return {path: share for path, share in shares.items() if path.split(".")[0] not in others}


class _Reader:
    def __init__(self, model: Model, statistics: Statistics, path: str):
        self.found, self.model = Found(), model
        self.fastest, self.reach = max(model.hz.values()), _Reach(model, statistics)
        places = model.places[:model.instances]
        self.kinds = {self.reach.array(place.path): place.kind for place in places}
        self.counts = Counter(self.reach.array(place.path) for place in places)
        self.series, uses = _Series(path), _uses(model, statistics)
        self.by_column = [(i, use) for i, name in enumerate(self.series.head)
                          for use in uses.get(name, ())]
        self._choose(_Launches(statistics))

    def _choose(self, launches: _Launches) -> None:
        """Adds intervals of each kernel, and of none, MOST at even distances."""
        rows_of: dict[Identity | None, list[int]] = {}
        for index, (start, end) in enumerate(self.series.spans):
            for kernel in launches.during(start, end) or (None,):
                rows_of.setdefault(kernel, []).append(index)
        for kernel, rows in rows_of.items():
            apart = -(-len(rows) // MOST)
            for first in range(0, len(rows), apart):
                start, end = self.series.spans[rows[first]]
                shares = self._shares(rows[first], end - start)
                if kernel:
                    self._add(kernel, self.reach.reached(kernel, shares), end - start)
                else:
                    self._between(shares, end - start, min(apart, len(rows) - first))

    def _shares(self, row: int, time_ps: int) -> dict[str, float]:
        try:
            return _shares(self.by_column, self.series.row(row), time_ps)
        except ValueError:
            raise Mistake(f"'{self.series.path}' has a row that is not all numbers") from None

    def _add(self, kernel: Identity, shares: dict[str, float], time_ps: int) -> None:
        arrays: dict[str, dict[str, float]] = {}
        for element, share in shares.items():
            arrays.setdefault(self.reach.array(element), {})[element] = share
        fullest, met = max(((path, _met(elements)) for path, elements in arrays.items()),
                           key=lambda item: item[1], default=("", 0.0))
        if met < IDLE:
            return
        one = self.found.kernels.setdefault(kernel, Fullness())
        one.intervals += 1
        one.cycles = round(time_ps * self.fastest / 10**12)
        array = next((a for a in one.arrays if a.path == fullest), None)
        if not array:
            array = Array(fullest, self.kinds.get(fullest, "link"), self.counts.get(fullest, 1))
            one.arrays.append(array)
        array.add(arrays[fullest])

    def _between(self, shares: dict[str, float], time_ps: int, count: int) -> None:
        """An interval that stands for so many."""
        moved = max(shares.values(), default=0.0) >= IDLE
        self.found.copied_ps += count * time_ps if moved else 0
        self.found.nothing_ps += 0 if moved else count * time_ps
        for path, share in shares.items() if moved else ():
            if path not in self.model.index:
                self.found.links[path] = (self.found.links.get(path, 0)
                                          + round(share * count * time_ps))


def read(model: Model, statistics: Statistics, path: str) -> Found:
    found = _Reader(model, statistics, path).found
    found.levels, found.translation = unloaded(model, statistics)
    found.ranges = model.ranges
    return found


# ---- in a statistics file


def encode(found: Found) -> dict[str, Any]:
    def ways(levels: Levels) -> list[dict[str, Any]]:
        return [{"path": path, "cycles": cycles} for path, cycles in levels]

    return {"levels": ways(found.levels), "translation": ways(found.translation),
            "copied_ps": found.copied_ps, "nothing_ps": found.nothing_ps, "links": found.links,
            "ranges": [{"path": path, "range": text} for path, text in found.ranges.items()],
            "kernels": [{"name": name, "gpu": gpu, **dataclasses.asdict(one)}
                        for (name, gpu), one in found.kernels.items()]}


def of_file(statistics: Statistics, file: str) -> Found | None:
    """What a run with `--report limits` has left in its statistics; None: there was none."""
    data = statistics.get("fullness")
    if data is None:
        return None
    try:
        return Found(
            {(one["name"], one["gpu"]): Fullness(
                one["intervals"], one["cycles"],
                [Array(**array) for array in one["arrays"] if array["first"] and array["fullest"]])
             for one in data["kernels"]},
            [(one["path"], float(one["cycles"])) for one in data["levels"]],
            [(one["path"], float(one["cycles"])) for one in data["translation"]],
            data["copied_ps"], data["nothing_ps"], dict(data["links"]),
            {one["path"]: one["range"] for one in data["ranges"]})
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Mistake(f"'{file}' is damaged: fullness is not what `heddle run --report limits` "
                      "writes") from None


def write(found: Found, file: str) -> None:
    """Adds `fullness` as the last member of the statistics file; every other byte stays."""
    path = pathlib.Path(file)
    text = path.read_text(encoding="utf-8").rstrip()
    member = json.dumps({"fullness": encode(found)}, separators=(",", ":"))[1:]
    path.write_text(f"{text[:-1].rstrip()},\n{member}\n", encoding="utf-8")


# ---- the unloaded latency of memory


Parameters = dict[str, Any]
LOADS = ("vmem", "mem")  # ports for loads, of a compute unit and of an SM


def _own_latency(parameters: Parameters, path: str, hz: int) -> float:
    """The latency of a component on the way, in cycles of its clock, by the names that the library
    gives."""
    own = parameters.get(path, {})
    total = float(own.get("latency", 0) + own.get("vmem_latency", 0) + own.get("walk_latency", 0))
    for part in ("translation", "front"):
        total += parameters.get(f"{path}.{part}", {}).get("latency", 0)
    timing = parameters.get(f"{path}.timing", {})
    if "latency" in timing:
        total += timing["latency"]
    elif "controller" in timing:  # a read of a closed row
        total -= own.get("latency", 0)  # of memory without timing
        total += sum(timing.get(name, 0) for name in ("controller", "trcd_read", "tcl", "tburst")
                     ) * hz / 1e12
    return total


def _way(model: Model, parameters: Parameters, path: str, ports: tuple[str, ...], onward:
         tuple[str, ...]) -> Iterator[tuple[str, str, float]]:
    """The chain of components that these ports lead to: path, kind, and the cycles of its clock
    that the component and the wire to it take; a link counts nothing."""
    seen = {path}
    while True:
        way = next((c for c in model.connections if c.target not in seen
                    and c.source.rpartition(".")[0] == path
                    and c.source.rpartition(".")[2].split("[")[0] in ports), None)
        if way is None:
            return
        place = model.places[model.index[way.target]]
        path, ports = place.path, onward
        seen.add(path)
        yield path, place.kind, way.latency + _own_latency(parameters, path, model.hz[place.clock])


def unloaded(model: Model, statistics: Statistics) -> tuple[Levels, Levels]:
    """The way from a compute unit, or an SM, to the last memory: each level and the cycles of a
    load that ends there, by the latencies of the description; and how much longer a load takes that
    has to ask each level of translation behind its first cache. Both are empty where the way is not
    known."""
    parameters = statistics.get("stamp", {}).get("parameters", {})
    first_ports = {f"{p.path}.{port}" for p in model.places[:model.instances]
                   if p.kind == "compute" for port in LOADS}
    start = next((c.source for c in model.connections if c.source in first_ports), None)
    here = model.places[model.index[start.rpartition(".")[0]]] if start else None
    levels: Levels = []
    translation: Levels = []
    if here is None:
        return levels, translation
    total, first = _own_latency(parameters, here.path, model.hz[here.clock]), ""
    for path, kind, cycles in _way(model, parameters, here.path, LOADS, ("bottom", "to")):
        total, first = total + cycles, first or path
        if kind in ("cache", "memory"):
            total += 1  # the answer goes up by a wire, too
            levels.append((collapse(path), total))
    total = 0.0
    for path, kind, cycles in _way(model, parameters, first, ("translate",), ("bottom", "to")):
        total += cycles
        translation.append((collapse(path), total))
    return levels, translation
