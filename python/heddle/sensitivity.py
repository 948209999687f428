"""What a run may depend on: the parameters of what it used, with other values for each; and how the
run is disturbed without being changed, so that chance shows.

Parameters come from the run's own statistics, as the description named them. Left out are those of
components and parts that counted nothing, of links that carried nothing, those that are computed
(`let`), and those that an outer component hands on, which it has as its own."""
from __future__ import annotations

import dataclasses
import re
from typing import Any, Callable, Iterable, Iterator, Sequence

from heddle.measures import RUN
from heddle.statistics_file import Statistics, collapse
from heddle.sweeps.values import QUANTITY, family_of, spelled

# Parameters that choose among runs which are equally right, with the values that are tried.
CHANCE = {"first_page": (1, 2, 5), "first_unit": (1, 3), "seed": (2, 3)}
STARTS = 3         # runs that begin a little later, by the latency of a link
SMALLEST = 50      # units that such a latency has at least, so that it says little by itself
FLIPPED = {"false": "true", "true": "false"}


@dataclasses.dataclass
class Point:
    """A run with these settings, and its result; None: there is none, and `message` says why."""
    settings: tuple[str, ...]
    result: int | None = None
    message: str = ""
    status: int = 0

    def change(self, base: int) -> float:
        return self.result / base - 1 if self.result else 0.0


@dataclasses.dataclass
class Parameter:
    """`points`: with half its value ("half") and the double ("double"), or with the other of two
    ("other"), where there is such a value."""
    name: str
    value: str
    points: dict[str, Point]

    @property
    def plain(self) -> str:
        """As --set may have it, without indices that stand for all."""
        return self.name.replace("[*]", "")

    def effect(self, base: int) -> float:
        """The largest change, as a share."""
        return max((abs(p.change(base)) for p in self.points.values()), default=0)

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


def _carried(run: Statistics, link: str) -> bool:
    return any(key.endswith(f"via {link}") or key.startswith(f"{link} ") or key == link
               for key, values in run.get("links", {}).items()
               if _counts({k: v for k, v in values.items() if k != "latency_ps"}))


def is_used(name: str, run: Statistics, used: set[str], idle: set[str]) -> bool:
    """A composite's parameter counts when something in it does, and that of a part which counts
    nothing at all when what it is a part of does."""
    kind, _, rest = name.rpartition(" ")
    if kind == "link":
        return _carried(run, rest.rpartition(".")[0])
    owner = name.rpartition(".")[0]
    if owner in idle:
        return False
    while "." in owner and not any(path == owner or path.startswith(f"{owner}.")
                                   for path in (*used, *idle)):
        owner = owner.rpartition(".")[0]
    return kind == "clock" or not owner or owner in used or any(
        path.startswith(f"{owner}.") for path in used)


# ---- other values


def _others(path: str, value: str) -> dict[str, Point]:
    if value in FLIPPED:
        return {"other": Point((f"{path}={FLIPPED[value]}",))}
    found = QUANTITY.fullmatch(value)
    family = family_of(found[2]) if found else None
    number = round(float(found[1]) * family[found[2]]) if found and family else 0
    return {which: Point((f"{path}={spelled(other, family or {}, None)}",))
            for which, other in (("half", number // 2), ("double", number * 2)) if other > 0}


def _is_handed_on(name: str, value: str, settings: dict[str, str]) -> bool:
    """An outer component has a parameter of that name and value."""
    owner, _, leaf = name.rpartition(".")
    while "." in owner:
        owner = owner.rpartition(".")[0]
        if settings.get(f"{owner}.{leaf}") == value:
            return True
    return False


def parameters(run: Statistics, computed: Iterable[str] = ()) -> list[Parameter]:
    used, idle = used_paths(run)
    settings, found = run.get("stamp", {}).get("settings", {}), []
    for name, value in settings.items():
        path = name.rpartition(" ")[2]
        if (name.rpartition(".")[2] not in CHANCE and name not in set(computed)
                and is_used(name, run, used, idle) and not _is_handed_on(name, value, settings)):
            points = _others(path, value)
            if points:
                found.append(Parameter(path, value, points))
    return found


# ---- chance


def _later(run: Statistics, settings: dict[str, str]) -> Iterator[str]:
    """The link with the longest latency of those that carried something, longer by a few units:
    all that comes over it is a little later."""
    found = []
    for name, value in settings.items():
        split = QUANTITY.fullmatch(value)
        if (name.startswith("link ") and name.endswith(".latency") and split
                and _carried(run, name[len("link "):].rpartition(".")[0])):
            family = family_of(split[2]) or {}
            found.append((float(split[1]) * family[split[2]], name, float(split[1]), split[2]))
    _, name, number, unit = max(found, default=(0, "", 0.0, ""))
    if number >= SMALLEST and number == int(number):
        for more in range(1, STARTS + 1):
            yield f"{name[len('link '):]}={int(number) + more}{unit}"


def disturbances(run: Statistics) -> list[Point]:
    """Runs that are as right as the one without changes: with other places of pages, with another
    compute unit first, and begun a little later."""
    settings = run.get("stamp", {}).get("settings", {})
    used, idle = used_paths(run)
    chosen = [f"{name}={value}" for name, now in settings.items()
              if is_used(name, run, used, idle)
              for value in CHANCE.get(name.rpartition(".")[2], ()) if str(value) != now]
    return [Point((setting,)) for setting in (*chosen, *_later(run, settings))]


# ---- order and budget


def weight(measures: Iterable[dict[str, str]]) -> Callable[[Parameter], float]:
    """How busy the fullest is of what a parameter belongs to, by rows of `--report measures`;
    those of the whole platform come first."""
    busy: dict[str, float] = {}
    for row in measures:
        if row["measure"] == "utilisation" and row["scope"] == RUN:
            path = collapse(row["path"])
            path = path.rpartition(" via ")[2] or path
            whole = float(row["whole"])
            busy[path] = max(busy.get(path, 0.0), float(row["part"]) / whole if whole else 0.0)

    def of(parameter: Parameter) -> float:
        owner = parameter.name.rpartition(".")[0]
        return max((share for path, share in busy.items()
                    if path == owner or path.startswith(f"{owner}.")), default=0.0) if owner else 1
    return of


def within(room: float, found: Sequence[Parameter]) -> list[Parameter]:
    """The first ones for which there is room, in runs."""
    kept = []
    for one in found:
        room -= len(one.points)
        if room < 0 and kept:
            break
        kept.append(one)
    return kept


def proposed(words: str) -> list[str]:
    """The settings that a diagnosis proposes."""
    named = re.search(r"settings? to try: ([^;]*)", words)
    return [name.strip().replace("[*]", "") for name in named[1].split(",")] if named else []
