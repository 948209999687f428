"""Any setting and any result of the points of a sweep, by name.

Settings: `platform`, `program`, and what is varied. Results:

time           simulated time of the run, in ps
kernels        sum of the kernels' durations, in ps
cycles, instructions, ipc
               of all kernels
NAME           a number that the program printed
PATH.hit_rate  of a cache or TLB, such as gpu.l2[*].hit_rate
PATH.NAME      any statistic of a component or link, summed over arrays, such as
               gpu.dram[*].bytes_read
"""
from __future__ import annotations

import dataclasses
import difflib
import functools
import pathlib

from heddle.base.mistakes import Mistake
from heddle.sweeps.database import DONE, Reading
from heddle.sweeps.values import number_of

COLUMNS = {"time": "time_ps", "kernels": "kernels_ps", "cycles": "cycles",
           "instructions": "instructions"}
PS = ("time", "kernels")       # results in picoseconds
MORE_IS_BETTER = ("ipc",)      # and hit rates; of the others less is
STATISTICS_LISTED = 12         # hit rates and other statistics that a page offers


@dataclasses.dataclass(frozen=True)
class Row:
    """A point: its settings by name."""

    point: int
    state: str
    message: str | None
    settings: dict[str, str]


class Results:
    """A sweep as it is now; points that are not done have no results."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.reading = Reading(folder)
        self.plan = self.reading.plan()
        self.sessions = self.reading.sessions()
        settings: dict[int, dict[str, str]] = {}
        for point, name, value in self.reading.rows("SELECT point, name, value FROM settings"):
            settings.setdefault(point, {})[name.strip("{}")] = value
        self.rows = [
            Row(point, state, message,
                {"platform": platform, "program": program, **settings.get(point, {})})
            for point, platform, program, state, message in self.reading.rows(
                "SELECT point, platform, program, state, message FROM points ORDER BY point")]
        self.done = [row for row in self.rows if row.state == DONE]
        self._results: dict[str, dict[int, float]] = {}

    # ---- settings

    @functools.cache
    def settings(self) -> list[str]:
        """The settings that differ between points: of the machine, then of what runs on it."""
        inputs = dict.fromkeys(n for p in self.plan["programs"] for n in p["inputs"])
        names = [*self.plan["vary"], "platform", "program", *inputs]
        return [name for name in names if len(self.values(name)) > 1]

    def machine(self) -> list[str]:
        """Settings of the machine."""
        return [name for name in self.settings()
                if name == "platform" or name in self.plan["vary"]]

    @functools.cache
    def values(self, name: str) -> list[str]:
        """The values of a setting, as the plan lists them; a point whose program lacks the input
        has none."""
        listed = list(self.plan["vary"].get(name, ()))
        for program in self.plan["programs"]:
            listed += program["inputs"].get(name, ())
        used = dict.fromkeys(row.settings[name] for row in self.rows if name in row.settings)
        ordered = dict.fromkeys([*listed, *used])
        return [value for value in ordered if value in used]

    # ---- results

    @functools.cache
    def results(self) -> list[str]:
        """What a page offers: main results, then hit rates that differ between points."""
        printed = [name for name, in self.reading.rows("SELECT DISTINCT name FROM printed")]
        main = [*COLUMNS, "ipc", *(name for name in self.plan["results"] if name in printed)]
        return [*main, *self._hit_rates()[:STATISTICS_LISTED]]

    def statistics(self) -> list[str]:
        return [f"{path}.{name}" for path, name in self.reading.rows(
            "SELECT DISTINCT path, name FROM components ORDER BY path, name")]

    def _hit_rates(self) -> list[str]:
        """Hit rates, those that differ most first."""
        paths = [path for path, in self.reading.rows(
            "SELECT DISTINCT path FROM components WHERE name = 'misses' ORDER BY path")]
        spread = {}
        for path in paths:
            rates = self.result(f"{path}.hit_rate").values()
            if rates and max(rates) - min(rates) > 1e-3:
                spread[path] = max(rates) - min(rates)
        return [f"{path}.hit_rate" for path in sorted(spread, key=lambda p: -spread[p])]

    def result(self, name: str) -> dict[int, float]:
        """The result of each point that has it."""
        if name not in self._results:
            self._results[name] = self._read(name)
        return self._results[name]

    def _read(self, name: str) -> dict[int, float]:
        if name in self.plan["results"]:
            return {point: value for point, value in self.reading.rows(
                "SELECT point, value FROM printed WHERE name = ?", name)}
        if name in COLUMNS:
            return {point: float(value) for point, value in self.reading.rows(
                f"SELECT point, {COLUMNS[name]} FROM points WHERE state = ?", DONE)}
        if name == "ipc":
            return {point: instructions / cycles for point, instructions, cycles in
                    self.reading.rows("SELECT point, instructions, cycles FROM points "
                                      "WHERE state = ? AND cycles > 0", DONE)}
        return self._statistic(name)

    def _statistic(self, name: str) -> dict[int, float]:
        """PATH.NAME; a histogram has NAMEs with a dot. What is 0 is not stored."""
        parts = name.split(".")
        for at in range(len(parts) - 1, 0, -1):
            path, last = ".".join(parts[:at]), ".".join(parts[at:])
            if last == "hit_rate":
                hits, misses = self._stored(path, "hits"), self._stored(path, "misses")
                if hits or misses:
                    sums = {p: hits.get(p, 0) + misses.get(p, 0) for p in {**hits, **misses}}
                    return {p: hits.get(p, 0) / sums[p] for p in sorted(sums)}
            elif found := self._stored(path, last):
                return {row.point: float(found.get(row.point, 0)) for row in self.done}
        names = [*COLUMNS, "ipc", *self.plan["results"], *self.statistics()]
        near = difflib.get_close_matches(name, names, 1)
        raise Mistake(f"'{self.folder}' has no result '{name}'"
                      + (f"; did you mean '{near[0]}'?" if near else
                         f"; there are {', '.join(self.results())}, and PATH.NAME of components"))

    def _stored(self, path: str, name: str) -> dict[int, int]:
        return {point: value for point, value in self.reading.rows(
            "SELECT point, value FROM components WHERE path = ? AND name = ?", path, name)}

    # ---- either

    def numbers(self, name: str) -> dict[int, float]:
        """A result, or a setting whose values are numbers."""
        if name not in self.settings():
            return self.result(name)
        found = {row.point: number_of(row.settings[name]) for row in self.done
                 if name in row.settings}
        if None in found.values():
            raise Mistake(f"'{name}' has values that are not numbers")
        return {point: value for point, value in found.items() if value is not None}

    def is_number(self, setting: str) -> bool:
        return all(number_of(value) is not None for value in self.values(setting))

    def check_setting(self, name: str) -> None:
        if name not in self.settings():
            raise Mistake(f"'{name}' is not varied in '{self.folder}'; that is "
                          f"{', '.join(self.settings()) or 'nothing'}")


def is_better_more(name: str) -> bool:
    return name in MORE_IS_BETTER or name.endswith(".hit_rate")
