"""What differs between runs, results first: the cycles of each kernel, the components that changed
most, and the settings. `heddle stats A B` prints it, and the page of two runs has it as tables.

An array stands as one, with its sum and the range of its elements. A change counts by its size
beside the largest counter of the same name, so a cache with few requests does not come before a
busy one."""
from __future__ import annotations

import dataclasses
import fnmatch
import shlex
from typing import Any, Iterator, Sequence

from heddle.base.mistakes import Mistake
from heddle.statistics.statistics_file import (Statistics, collapse, identity, labels, number,
                                               program, title)
from heddle.verdict import noise_floor as floors
from heddle.verdict.noise_floor import Floor

SHOWN = 10  # changes, unless all are asked for


@dataclasses.dataclass
class Side:
    """A counter in one run; of an array that of all elements."""
    sum: float = 0
    least: float = 0
    most: float = 0
    elements: int = 0

    def add(self, value: float) -> None:
        self.least = min(self.least, value) if self.elements else value
        self.most = max(self.most, value)
        self.sum += value
        self.elements += 1

    def spread(self) -> str:
        return f"{self.least:g} to {self.most:g}" if self.elements > 1 else ""


@dataclasses.dataclass
class Change:
    """The change of a counter of a component, a connection or a link."""
    path: str
    name: str
    sides: list[Side]
    weight: float = 0

    def size(self) -> float:
        sums = [side.sum for side in self.sides]
        return max(sums) - min(sums)

    def share(self) -> float:
        return self.size() / (max(side.sum for side in self.sides) or 1)


def check(runs: Sequence[Statistics], files: Sequence[str]) -> None:
    """Two runs cannot be compared if they have no kernel in common, or if one of them has no
    cycles, or only the cycles of a part."""
    for file, run in zip(files[1:], runs[1:]):
        modes = [one.get("mode", "timing") for one in (runs[0], run)]
        if modes[0] != modes[1]:
            raise Mistake(f"'{files[0]}' ran in {modes[0]} mode and '{file}' in {modes[1]} mode, "
                          "so their cycles and counters do not mean the same; run both in one mode")
    names = [{kernel["name"] for kernel in run.get("kernels", [])} for run in runs]
    for file, run, found in zip(files[1:], runs[1:], names[1:]):
        if names[0] and found and not names[0] & found:
            raise Mistake(f"'{files[0]}' ({title(runs[0])}) and '{file}' ({title(run)}) have no "
                          "kernel in common, so there is nothing to compare; show each alone")


def _by_kernel(runs: Sequence[Statistics], counter: str) -> dict[str, list[int | None]]:
    """The sums over all launches, by kernel and GPU; None: a run has no launch of it."""
    names = labels([map(identity, run.get("kernels", [])) for run in runs])
    rows: dict[str, list[int | None]] = {name: [None] * len(runs) for name in names.values()}
    for i, run in enumerate(runs):
        for launch in run.get("kernels", []):
            row = rows[names[identity(launch)]]
            row[i] = (row[i] or 0) + number(launch, counter)
    return rows


def cycles(runs: Sequence[Statistics]) -> dict[str, list[int | None]]:
    return _by_kernel(runs, "cycles")


def other_work(runs: Sequence[Statistics]) -> list[str]:
    """Kernels that did not execute the same, so that the runs are not of one input."""
    return [f"{name} did not do the same work: it executed "
            f"{', then '.join(map(str, executed))} instructions"
            for name, executed in _by_kernel(runs, "wavefront_instructions").items()
            if all(executed) and len(set(executed)) > 1]


def _counters(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _counters(value, f"{prefix}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool) \
                and name not in ("min", "max", "latency_ps"):
            yield f"{prefix}{name}", value


def changes(runs: Sequence[Statistics], only: str | None,
            floor: Floor) -> tuple[list[Change], int]:
    """The largest first, and how many there are within `floor`."""
    found: dict[tuple[str, str], Change] = {}
    for i, run in enumerate(runs):
        for section in ("components", "connections", "links"):
            for path, values in run.get(section, {}).items():
                for name, value in _counters(values):
                    key = (collapse(path), name)
                    change = found.setdefault(key, Change(*key, [Side() for _ in runs]))
                    change.sides[i].add(value)
    largest: dict[str, float] = {}
    for change in found.values():
        most = max(side.sum for side in change.sides)
        largest[change.name] = max(largest.get(change.name, 0), most)
    moved = [change for change in found.values() if change.size() and matches(change, only)]
    for change in moved:
        change.weight = change.size() / largest[change.name]
    kept = [change for change in moved if change.share() > floor.share(change.path, change.name)]
    kept.sort(key=lambda change: (-change.weight, -change.share(), change.path, change.name))
    return kept, len(moved) - len(kept)


def matches(change: Change, only: str | None) -> bool:
    """A path and what is below it; * stands for anything, an index that is left out for all."""
    if not only:
        return True
    pattern = collapse(only).replace("[*]", "")
    name = f"{change.path}.{change.name}".replace("[*]", "")
    return any(fnmatch.fnmatchcase(name, pattern + more) for more in ("", ".*", " -> *"))


def chosen_floor(runs: Sequence[Statistics], threshold: float | None, everything: bool) -> Floor:
    """The floor that the user names, or that was measured; 0 with --all."""
    if threshold is not None:
        return Floor(threshold, "as --threshold says")
    return Floor(0, "") if everything else floors.find(runs)


def left_out(below: int) -> str:
    return f"; {below} within the noise floor are left out" if below else ""


def settings(runs: Sequence[Statistics]) -> dict[str, list[str]]:
    """The settings that differ, the platform and the program among them."""
    rows: dict[str, list[str]] = {}
    for i, run in enumerate(runs):
        stamp = run.get("stamp", {})
        facts = {"platform": run.get("platform"), "mode": run.get("mode"),
                 "program": str(stamp.get("program") or "")[:12],
                 "arguments": shlex.join(program(run)),
                 "partial": run.get("partial"), **stamp.get("settings", {})}
        for name, value in facts.items():
            if value:
                rows.setdefault(name, ["-"] * len(runs))[i] = str(value)
    return {name: values for name, values in rows.items() if len(set(values)) > 1}


# ---- as text


def _value(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def percent(a: float | None, b: float | None) -> str:
    return f"{(b - a) / a * 100:+.2f} %" if a and b is not None else ""


def _aligned(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """The first column to the left, the others to the right."""
    lines = [head, *([f"  {row[0]}", *row[1:]] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        yield (f"{line[0]:<{widths[0]}}" + "".join(
            f"  {cell:>{width}}" for cell, width in zip(line[1:], widths[1:]))).rstrip()


def _row(name: str, values: Sequence[float | None]) -> list[str]:
    change = [percent(values[0], values[1])] if len(values) == 2 else []
    return [name, *map(_value, values), *change]


def _times(runs: Sequence[Statistics], floor: Floor) -> Iterator[list[str]]:
    """The times of kernels, and of all; the last column says what chance may have done."""
    for name, values in [*cycles(runs).items(),
                         ("simulated time, ps", [number(run, "time_ps") for run in runs])]:
        known = [value for value in values if value]
        quiet = len(known) == len(runs) and 0 < max(known) / min(known) - 1 <= floor.time
        yield [*_row(name, values), "within the noise floor" if quiet else ""]


def lines(runs: Sequence[Statistics], files: Sequence[str], only: str | None = None,
          everything: bool = False, threshold: float | None = None) -> Iterator[str]:
    letters = [chr(ord("a") + i) if i < 26 else str(i + 1) for i in range(len(runs))]
    two, floor = ["change"] if len(runs) == 2 else [], chosen_floor(runs, threshold, everything)
    for letter, run, file in zip(letters, runs, files):
        yield f"{letter}  {file}: {title(run)}"
    yield from other_work(runs)
    if floor.time:
        yield f"noise floor: {floor.time * 100:.3g} %, {floor.words}"
    yield ""
    if not only:
        yield from _aligned(["cycles by kernel", *letters, *two, ""], list(_times(runs, floor)))
        yield ""
    found, below = changes(runs, only, floor)
    shown = found if everything else found[:SHOWN]
    hidden = "; --all shows all" if len(shown) < len(found) + below else ""
    small = left_out(below)
    rows = []
    for change in shown:
        spreads = [side.spread() for side in change.sides]
        rows.append([*_row(f"{change.path} {change.name}", [side.sum for side in change.sides]),
                     "elements " + ", then ".join(s or "none" for s in spreads)
                     if any(spreads) else ""])
    if rows:
        yield f"the {len(shown)} largest of {len(found)} changes{hidden}{small}"
        yield from _aligned(["", *letters, *two, ""], rows)
    else:
        yield f"no counter differs{small}"
    yield ""
    differing = settings(runs)
    yield "settings" if differing else "no setting differs"
    if differing:
        yield from list(_aligned(["", *letters], [[k, *v] for k, v in differing.items()]))[1:]
