"""How full each element of a machine was in each interval of a series: banks, channels, TLBs,
links one by one, since a mean over an array hides one that all others wait for.

An element is *full* in an interval in which it was busy for at least FULL of the time. With random
arrivals and a fixed time of service (M/D/1) a request then waits for two others on average, and
every per cent more doubles that sooner: such a server passes on no more than it does.

Counters of a series become busy time by the measures that descriptions declare (`heddle.measures`
has the rules for means); an element is busy by the fullest of its measures."""
from __future__ import annotations

import csv
import dataclasses
from collections import Counter
from typing import Any, Iterator

from heddle.mistakes import Mistake
from heddle.model import Model
from heddle.statistics_file import Identity, Statistics, collapse, identity, number

FULL = 0.8


@dataclasses.dataclass
class Array:
    """The elements of an array, while a kernel ran."""
    path: str
    kind: str
    elements: int
    full: int = 0           # intervals in which an element was full
    first: int = 0          # of them, those in which none of another array was fuller
    full_elements: int = 0  # summed over these intervals
    busy: float = 0.0       # of all elements, so summed; in shares
    total: float = 0.0      # the same over all intervals
    fullest: Counter[str] = dataclasses.field(default_factory=Counter)

    @property
    def mean(self) -> float:
        """The share of all elements in intervals in which one is full."""
        return self.busy / self.full / self.elements if self.full else 0.0

    def add(self, shares: dict[str, float], most: float) -> None:
        whole = sum(shares.values())
        self.total += whole
        path, top = max(shares.items(), key=lambda item: item[1])
        if top < FULL:
            return
        self.full += 1
        self.first += top >= most
        self.full_elements += sum(share >= FULL for share in shares.values())
        self.busy += whole
        self.fullest[path] += 1


@dataclasses.dataclass
class Fullness:
    """Of all launches of a kernel."""
    intervals: int = 0
    cycles: int = 0  # of an interval
    arrays: dict[str, Array] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(slots=True)
class _Use:
    """What one count of a column is of the time of an element."""
    element: tuple[str, str]  # path, measure
    weight: float             # cycles; of links picoseconds
    hz: int


def _own_uses(model: Model, index: int) -> Iterator[tuple[str, _Use]]:
    place = model.places[index]
    speaker = place.path
    while model.index.get(speaker, len(model.places)) >= model.instances:
        speaker = speaker.rpartition(".")[0]
    for name, part, whole in place.measures:
        if name not in ("utilisation", "bandwidth") or len(whole) != 1 or whole[0][1] is not None:
            continue
        could = whole[0][0]
        if name == "bandwidth" and 0 < place.asked_bytes < could:
            could = place.asked_bytes
        for factor, stat in part if could > 0 else ():
            if stat is not None:
                yield f"{place.path}.{stat}", _Use((speaker, f"{place.path} {name}"),
                                                   factor / could, model.hz[place.clock])


def _uses(model: Model, statistics: Statistics) -> dict[str, list[_Use]]:
    found: dict[str, list[_Use]] = {}
    for index in range(len(model.places)):
        for column, use in _own_uses(model, index):
            found.setdefault(column, []).append(use)
    for name in statistics.get("links", {}):
        for way in ("forward", "backward"):
            found.setdefault(f"{name}.{way}.busy_ps", []).append(_Use((name, way), 1.0, 10**12))
    return found


def _rows(path: str) -> Iterator[tuple[list[str], list[int]]]:
    """The head of the series with each row."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            head = next(rows, [])
            if head[:2] != ["from_ps", "to_ps"]:
                raise Mistake(f"'{path}' is not what `heddle run --series` writes")
            for row in rows:
                if len(row) != len(head):
                    raise ValueError
                yield head, [int(value) for value in row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Mistake(f"cannot read '{path}': {getattr(error, 'strerror', error)}") from error
    except ValueError:
        raise Mistake(f"'{path}' has a row that does not fit its head") from None


def _shares(uses: list[tuple[int, _Use]], row: list[int]) -> dict[str, float]:
    """Of each element that did something, its busy share."""
    time_ps, parts = row[1] - row[0], dict[tuple[str, str], float]()
    for column, use in uses:
        if row[column]:
            parts[use.element] = (parts.get(use.element, 0.0)
                                  + row[column] * use.weight * 1e12 / use.hz / time_ps)
    shares: dict[str, float] = {}
    for (path, _), share in parts.items():
        shares[path] = max(shares.get(path, 0.0), share)
    return shares


def _launches(statistics: Statistics, start: int, end: int) -> Iterator[Identity]:
    """The kernels that ran for most of the interval."""
    for launch in statistics.get("kernels", []):
        ran = min(number(launch, "end_ps"), end) - max(number(launch, "start_ps"), start)
        if 2 * ran > end - start:
            yield identity(launch)


def read(model: Model, statistics: Statistics, path: str) -> dict[Identity, Fullness]:
    """By kernel and GPU. Elements of all GPUs count: kernels reach other GPUs' memory."""
    uses, found, by_column = _uses(model, statistics), dict[Identity, Fullness](), None
    kinds = {collapse(place.path): place.kind for place in model.places[:model.instances]}
    counts = Counter(collapse(place.path) for place in model.places[:model.instances])
    for head, row in _rows(path):
        if by_column is None:
            by_column = [(i, use) for i, name in enumerate(head) for use in uses.get(name, ())]
        kernels = set(_launches(statistics, row[0], row[1]))
        if not kernels:
            continue
        arrays: dict[str, dict[str, float]] = {}
        for element, share in _shares(by_column, row).items():
            arrays.setdefault(collapse(element), {})[element] = share
        most = max((max(shares.values()) for shares in arrays.values()), default=0.0)
        for kernel in kernels:
            one = found.setdefault(kernel, Fullness())
            one.intervals += 1
            one.cycles = (row[1] - row[0]) * max(model.hz.values()) // 10**12
            for array, shares in arrays.items():
                one.arrays.setdefault(array, Array(
                    array, kinds.get(array, "link"), counts.get(array, 1))).add(shares, most)
    return found


# ---- the way to memory, with nobody in front


Parameters = dict[str, Any]


def _own_latency(parameters: Parameters, path: str, hz: int) -> float:
    """Of a component on the way, in cycles of its clock, by the names that the library gives."""
    own = parameters.get(path, {})
    total = float(own.get("latency", 0) + own.get("vmem_latency", 0))
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


def unloaded(model: Model, statistics: Statistics) -> list[tuple[str, float]]:
    """From a compute unit to the last memory: each level and the cycles of a load that ends there,
    by the latencies of the description. Empty where the way is not known."""
    parameters = statistics.get("stamp", {}).get("parameters", {})
    here = next((p for p in model.places[:model.instances] if p.kind == "compute"
                 and "vmem_latency" in parameters.get(p.path, {})), None)
    levels: list[tuple[str, float]] = []
    if here is None:
        return levels
    total, path, ports = _own_latency(parameters, here.path, model.hz[here.clock]), here.path, \
        ("vmem",)
    seen = {path}
    while True:
        way = next((c for c in model.connections if not c.link and c.target not in seen
                    and c.source.rpartition(".")[0] == path
                    and c.source.rpartition(".")[2].split("[")[0] in ports), None)
        if way is None:
            return levels
        place = model.places[model.index[way.target]]
        path, ports = place.path, ("bottom", "to")
        seen.add(path)
        total += way.latency + _own_latency(parameters, path, model.hz[place.clock])
        if place.kind in ("cache", "memory"):
            total += 1  # the answer goes up by a wire, too
            levels.append((collapse(path), total))
