"""What a run may depend on: the parameters of what it used, with other values for each; and how the
run is disturbed without being changed, so that chance shows.

Numbers are halved and doubled as far as their ranges go; of choices, and of parts that a slot can
have, each other one is tried. Parameters come from the run's own statistics, as the description
named them, their choices and ranges from `heddle params --json`. Four kinds of parameters are left
out: of components and parts that counted nothing, of links that carried nothing, computed ones
(`let`), and parameters that an outer component hands on, since the outer component's own are
tried."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterable, Iterator, Sequence

from heddle.statistics.measures import RUN
from heddle.statistics.statistics_file import Statistics, collapse
from heddle.sweeps.values import QUANTITY, family_of, halved_and_doubled

# Parameters that choose among runs which are equally right, with the values that are tried.
CHANCE = {"first_page": (1, 2, 5), "first_unit": (1, 3), "seed": (2, 3)}
STARTS = 3         # runs that begin a little later, by the latency of a link
SMALLEST = 50      # the least units of such a latency, so that the latency itself matters little
# The code of a program is for one instruction set, so there is no other one to try.
FIXED = {"isa"}

Row = dict[str, Any]  # of `heddle params --json`


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
    """`points`: with half its value ("half") and the double ("double"), or with other choices, by
    their names."""
    name: str
    value: str
    points: dict[str, Point]

    @property
    def plain(self) -> str:
        """The name as --set may have it, without indices that stand for all."""
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
    """Two sets of components and parts, by array: the ones that counted something, and the
    others."""
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
    """A composite's parameter counts if an instance in it counts. The parameter of a part without
    counters counts if the part's owner does."""
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


def _parts(row: Row) -> list[str]:
    """What a slot can have that needs nothing said."""
    return [*(["none"] if row["optional"] else []),
            *(part["part"] for part in row["takes"]
              if all(one["default"] for one in part["parameters"]))]


def _others(path: str, value: str, row: Row) -> dict[str, Point]:
    choices = _parts(row) if row.get("source") == "slot" else row.get("choices", [])
    others = {choice: choice for choice in choices if choice != value} or {
        which: other for which, other in halved_and_doubled(value, row.get("range", "")).items()}
    return {which: Point((f"{path}={other}",)) for which, other in others.items()}


def _is_handed_on(name: str, value: str, settings: dict[str, str]) -> bool:
    """An outer component has a parameter of that name and value."""
    owner, _, leaf = name.rpartition(".")
    while "." in owner:
        owner = owner.rpartition(".")[0]
        if settings.get(f"{owner}.{leaf}") == value:
            return True
    return False


def parameters(run: Statistics, rows: Iterable[Row] = ()) -> list[Parameter]:
    used, idle = used_paths(run)
    known = {row["parameter"]: row for row in rows}
    settings = {**run.get("stamp", {}).get("settings", {}),
                **{name: row["value"] for name, row in known.items() if row["source"] == "slot"}}
    found = []
    for name, value in settings.items():
        path = name.rpartition(" ")[2]
        row = known.get(path, {})
        if (name.rpartition(".")[2] not in {*CHANCE, *FIXED} and row.get("source") != "let"
                and is_used(name, run, used, idle) and not _is_handed_on(name, value, settings)):
            points = _others(path, value, row)
            if points:
                found.append(Parameter(path, value, points))
    return found


def with_proposed(found: list[Parameter], proposed: Iterable[tuple[str, ...]],
                  settings: dict[str, str]) -> list[Parameter]:
    """Parameters whose values are proposed come first, in that order; values that no parameter has
    get one."""
    first: list[Parameter] = []
    for sets in proposed:
        one = next((one for one in found if any(same(point.settings, sets)
                                                for point in one.points.values())), None)
        if not one:
            names = [word.partition("=")[0] for word in sets]
            now = {name.rpartition(" ")[2].replace("[*]", ""): value
                   for name, value in settings.items()}
            one = Parameter(" with ".join(names), ", ".join(now.get(name, "") for name in names),
                            {"proposed": Point(sets)})
        if one not in first:
            first.append(one)
    return first + [one for one in found if one not in first]


def same(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """True if both are equal settings of a platform; indices that stand for all may be left out."""
    return [word.replace("[*]", "") for word in some] == [
        word.replace("[*]", "") for word in others]


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
    """The load of the fullest of what a parameter belongs to, by rows of `--report measures`;
    those of the whole platform come first."""
    busy: dict[str, float] = {}
    for row in measures:
        if row["measure"] == "utilisation" and row["scope"] == RUN:
            path = collapse(row["path"])
            path = path.rpartition(" via ")[2] or path
            whole = float(row["whole"])
            busy[path] = max(busy.get(path, 0.0), float(row["part"]) / whole if whole else 0.0)

    def busy_share(parameter: Parameter) -> float:
        owner = parameter.name.rpartition(".")[0]
        return max((share for path, share in busy.items()
                    if path == owner or path.startswith(f"{owner}.")), default=0.0) if owner else 1
    return busy_share


def within(room: float, found: Sequence[Parameter]) -> list[Parameter]:
    """The first ones for which there is room, in runs."""
    kept = []
    for one in found:
        room -= len(one.points)
        if room < 0 and kept:
            break
        kept.append(one)
    return kept
