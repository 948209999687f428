"""What a run, or one kernel of it, measured of every component and connection: the measures that
descriptions declare, with the counters of a statistics file put in.

Rules beyond the declarations: what a component has in its parts counts, too. Of utilisation,
bandwidth and stall the fullest of the component and its parts speaks for it; of the hit rate its
own, else that of the first part with one. A component is at least as utilised as its bandwidth.
Its bandwidth is at most the bandwidth of its requesters: messages a cycle of their connections
times the largest payload of their protocol. The utilisation of a connection is the share of
requests it carried among the requests that it could have carried: its width a cycle, and one a
cycle from an interconnect. The utilisation of a connection over a link is the time in which the
busier direction of the link was taken, and its bandwidth is that of the link."""
from __future__ import annotations

import copy
import dataclasses
import re
from typing import Any, Iterable, Iterator

from heddle.statistics.model import Connection, Model, Place, Terms
from heddle.statistics.statistics_file import Identity, Statistics, collapse, identity, number

NAMES = ("utilisation", "hit_rate", "bandwidth", "stall", "issue")
RUN = "run"
Share = tuple[float, float]  # part and whole; with whole 0 nothing was measured
NONE: Share = (0.0, 0.0)


def ratio(share: Share) -> float:
    return share[0] / share[1] if share[1] > 0 else -1.0


def _side(terms: Terms, stats: dict[str, Any], cycles: float) -> float:
    total = 0.0
    for factor, name in terms:
        total += factor * (cycles if name is None else number(stats, name))
    return total


@dataclasses.dataclass(slots=True)
class Row:
    """A measure of one component, part, connection or link: `part` of `whole`."""
    path: str
    type: str
    kind: str
    part: float
    whole: float
    cycles: int
    time_ps: int

    @property
    def share(self) -> float:
        return self.part / self.whole


class Measured:
    """`shares` has a list by place, and `connections` one by connection, for each measure."""

    def __init__(self, model: Model, scope: str, time_ps: int, cycles: dict[str, int],
                 components: dict[str, Any]):
        self.model, self.scope, self.time_ps, self.cycles = model, scope, time_ps, cycles
        count = len(model.places)
        self.shares: dict[str, list[Share]] = {name: [NONE] * count for name in NAMES}
        self.connections = {name: [NONE] * len(model.connections) for name in NAMES}
        self._add_components(components)
        self._judge(range(model.instances))

    def _add(self, index: int, stats: dict[str, Any], count: int = 1) -> None:
        """`stats` are the sums over so many places; each gets its share of them."""
        place = self.model.places[index]
        cycles = float(self.cycles.get(place.clock, 0)) * count
        for name, part, whole in place.measures:
            own = self.shares[name]
            own[index] = (own[index][0] + _side(part, stats, cycles) / count,
                          own[index][1] + _side(whole, stats, cycles) / count)

    def _add_components(self, components: dict[str, Any]) -> None:
        arrays: dict[str, list[int]] = {}
        if any("[*]" in path for path in components):
            for i, place in enumerate(self.model.places):
                arrays.setdefault(collapse(place.path), []).append(i)
        for path, stats in components.items():
            if "[*]" not in path:
                if path in self.model.index:
                    self._add(self.model.index[path], stats)
                continue
            places = arrays.get(collapse(path), [])
            if path != collapse(path):  # some indices are given
                like = re.compile(re.escape(path).replace(r"\[\*\]", r"\[[^]]*\]"))
                places = [i for i in places if like.fullmatch(self.model.places[i].path)]
            for index in places:
                self._add(index, stats, len(places))

    def _judge(self, instances: Iterable[int]) -> None:
        """Bounds bandwidths, and lets instances speak for their parts."""
        for i in instances:
            place, own = self.model.places[i], self.shares["bandwidth"]
            most = place.asked_bytes * float(self.cycles.get(place.clock, 0))
            if 0 < most < own[i][1]:
                own[i] = own[i][0], most
            self._speak_for_parts(i, place)

    def _parts(self, place: Place) -> Iterator[int]:
        for index in place.parts:
            yield index
            yield from self._parts(self.model.places[index])

    def _speak_for_parts(self, i: int, place: Place) -> None:
        inner = list(self._parts(place)) if place.speaks else []
        for name, own in self.shares.items() if inner else ():
            for part in inner:
                if own[i][1] <= 0 if name == "hit_rate" else ratio(own[part]) > ratio(own[i]):
                    own[i] = own[part]
        if ratio(self.shares["bandwidth"][i]) > ratio(self.shares["utilisation"][i]):
            self.shares["utilisation"][i] = self.shares["bandwidth"][i]

    def again(self, instances: Iterable[int], components: dict[str, Any]) -> Measured:
        """A copy in which these instances and their parts have the counters `components`
        instead."""
        found = copy.copy(self)
        found.shares = {name: list(shares) for name, shares in self.shares.items()}
        found.connections = {name: list(shares) for name, shares in self.connections.items()}
        instances = list(instances)
        for i in instances:
            place = self.model.places[i]
            for index in (i, *self._parts(place)):
                for shares in found.shares.values():
                    shares[index] = NONE
                found._add(index, components.get(self.model.places[index].path, {}))
        found._judge(instances)
        return found

    def add_connections(self, wires: dict[str, Any], links: dict[str, Any],
                        only: Iterable[int] | None = None) -> None:
        for i in range(len(self.model.connections)) if only is None else only:
            one = self.model.connections[i]
            if one.link:
                self._add_link(i, one, links.get(one.statistics, {}))
            elif one.statistics in wires:
                self.connections["utilisation"][i] = (
                    float(number(wires[one.statistics], "requests")),
                    self.cycles.get(one.clock, 0) * one.rate)

    def _add_link(self, index: int, link: Connection, directions: dict[str, Any]) -> None:
        could = float(link.bandwidth) * float(self.time_ps) / 1e12
        for use in directions.values():
            if not isinstance(use, dict) or "busy_ps" not in use:
                continue
            for name, share in (("utilisation", (float(number(use, "busy_ps")),
                                                 float(self.time_ps))),
                                ("bandwidth", (float(number(use, "bytes")), could))):
                if ratio(share) > ratio(self.connections[name][index]):
                    self.connections[name][index] = share

    def rows(self, name: str) -> Iterator[Row]:
        """Rows of all that has this measure."""
        for place, share in zip(self.model.places, self.shares[name]):
            if share[1] > 0:
                yield Row(place.path, place.type, place.kind, *share,
                          self.cycles.get(place.clock, 0), self.time_ps)
        for one, share in zip(self.model.connections, self.connections[name]):
            if share[1] > 0:
                yield Row(one.path, one.type, one.type, *share, self.cycles.get(one.clock, 0),
                          self.time_ps)


def of_run(model: Model, statistics: Statistics) -> Measured:
    clocks = statistics.get("clocks", {})
    found = Measured(model, RUN, number(statistics, "time_ps"),
                     {name: number(clocks, name, "cycles") for name in model.hz},
                     statistics["components"])
    found.add_connections(statistics.get("connections", {}), statistics.get("links", {}))
    return found


def of_kernel(model: Model, statistics: Statistics, kernel: Identity, label: str) -> Measured:
    """The measures of all launches of the kernel on its GPU. Where the statistics are sums over an
    array (--kernel-stats sum), every element has the mean. Connections are not measured."""
    time_ps, cycles, sums = 0, dict.fromkeys(model.hz, 0), dict[str, dict[str, int]]()
    for launch in statistics.get("kernels", []):
        if identity(launch) != kernel:
            continue
        span = number(launch, "end_ps") - number(launch, "start_ps")
        time_ps += span
        for clock, hz in model.hz.items():
            cycles[clock] += span * hz // 10**12
        for path, stats in launch.get("components", {}).items():
            into = sums.setdefault(path, {})
            for stat, value in stats.items():
                into[stat] = into.get(stat, 0) + number(stats, stat)
    return Measured(model, label, time_ps, cycles, sums)


@dataclasses.dataclass
class Group:
    """The elements of an array, in all elements of the arrays around it."""
    path: str
    type: str
    kind: str
    rows: list[Row] = dataclasses.field(default_factory=list)
    summed = False  # an array of which only the sum is known: elements are means
    least: tuple[str, float] | None = None  # then: what one element had at least

    @property
    def part(self) -> float:
        return sum(row.part for row in self.rows)

    @property
    def whole(self) -> float:
        return sum(row.whole for row in self.rows)

    @property
    def share(self) -> float:
        return self.part / self.whole

    @property
    def most(self) -> float:
        return self.least[1] if self.least else self.hottest.share

    @property
    def hottest(self) -> Row:
        return max(self.rows, key=lambda row: row.share)


def grouped(rows: Iterable[Row]) -> list[Group]:
    groups: dict[str, Group] = {}
    for row in rows:
        path = collapse(row.path)
        groups.setdefault(path, Group(path, row.type, row.kind)).rows.append(row)
    return list(groups.values())


def least_of_hottest(kernel: Group, run: Group) -> tuple[str, float]:
    """Statistics of a kernel are usually sums over arrays, those of the run are not. A lower bound
    of one element's count in the kernel is then the busiest element's count in the run, less the
    counts of all other kernels in its array. Returns the element's path and the bound."""
    hot = max(run.rows, key=lambda row: row.part)
    return hot.path, max(hot.part - max(run.part - kernel.part, 0), 0)
