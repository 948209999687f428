"""The table of counters (counters.tab), and its one evaluator.

A counter has a value where everything that its expression names was counted: a place that the
platform has, a statistic that its components have, a profile of instructions where one is needed.
Otherwise it has none, with the reason; it is never zero instead."""
from __future__ import annotations

import ast
import dataclasses
import operator
import pathlib
import re
from typing import Any, Callable, Iterator, Mapping, Sequence

from heddle.statistics.statistics_file import Statistics, collapse, number

EQUAL, NEAR, DIFFERS = "equal", "near", "differs"
KINDS = (EQUAL, NEAR, DIFFERS)
SUMMED = ("TA_", "TD_", "TCP_", "TCC_")  # blocks that profilers add up, as NAME_sum
LATER = "gfx942"  # the target whose names stand behind a /
Value = float | str  # a str: why there is none


@dataclasses.dataclass(frozen=True)
class Counter:
    names: tuple[str, ...]
    unit: str
    kind: str
    part: str
    expression: ast.expr
    note: str

    def name(self, target: str) -> str:
        return self.names[-1 if target == LATER else 0]

    @property
    def is_executed(self) -> bool:
        """True if the counter needs a profile of instructions."""
        return any(isinstance(node, ast.Call) for node in ast.walk(self.expression))


@dataclasses.dataclass(frozen=True)
class Table:
    places: Mapping[str, tuple[str, ...]]
    parts: Mapping[str, str]
    counters: tuple[Counter, ...]
    absent: Mapping[str, str]  # the reason by name


def _entries(text: str) -> Iterator[str]:
    """An entry with the lines that go on from it, a note with a mark in front."""
    entry: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" ") and entry:
            yield "\n".join(entry)
            entry = []
        entry.append(line)
    yield "\n".join(entry)


def _counter(entry: str) -> Counter:
    head, _, rest = entry.partition(" = ")
    names, unit, kind, part = head.split()
    lines = rest.splitlines()
    size = 1  # an expression goes on as long as a line begins with an operator
    while size < len(lines) and re.match(r"\s+[-+*/] ", lines[size]):
        size += 1
    return Counter(tuple(names.split("/")), unit.replace("_", " "), kind, part.replace("_", " "),
                   ast.parse(" ".join(lines[:size]).strip(), mode="eval").body,
                   " ".join(line.strip() for line in lines[size:]))


def read() -> Table:
    places: dict[str, tuple[str, ...]] = {}
    counters, parts, absent = [], {}, {}
    file = pathlib.Path(__file__).with_name("counters.tab")
    for entry in _entries(file.read_text(encoding="utf-8")):
        kind = entry.split(maxsplit=1)[0]
        if kind == "place":
            name, _, leaves = entry.removeprefix("place").partition("=")
            places[name.strip()] = tuple(leaves.split())
        elif kind == "part":
            name, _, words = entry.removeprefix("part").partition("=")
            parts[name.strip().replace("_", " ")] = words.strip()
        elif kind == "absent":
            names, _, reason = entry.removeprefix("absent").partition(":")
            absent.update(dict.fromkeys(names.split(), " ".join(reason.split())))
        else:
            counters.append(_counter(entry))
    return Table(places, parts, tuple(counters), absent)


def page(table: Table) -> str:
    """The reference page, in Markdown."""
    lines = ["# Counters of AMD's cards", "",
             "What `--report counters` gives, and what it cannot. Names and definitions are those",
             "of AMD's lists for MI200 and MI300; names of MI300 stand behind a /. *Equal*: of the",
             "same code the card counts the same. *Near*: the same thing, by a model. *Differs*:",
             "another definition. `executed` needs `--profile instructions`.", "",
             "| counter | unit | | from heddle's statistics | what differs |",
             "| --- | --- | --- | --- | --- |"]
    for one in table.counters:
        shown = ast.unparse(one.expression).replace("|", "\\|")
        lines.append(f"| {' / '.join(one.names)} | {one.unit} | {one.kind} | `{shown}` | "
                     f"{one.note} |")
    reasons: dict[str, list[str]] = {}
    for name, reason in table.absent.items():
        reasons.setdefault(reason, []).append(name)
    lines += ["", "## What heddle does not have", ""]
    lines += [f"- {reason}: {', '.join(names)}" for reason, names in reasons.items()]
    return "\n".join(lines) + "\n"


# ---- values


class _Missing(Exception):
    """The reason why an expression has no value."""


def target_of(run: Statistics) -> str:
    settings = run.get("stamp", {}).get("settings", {})
    return next((value for name, value in settings.items() if name.rpartition(".")[2] == "isa"), "")


def _leaf(path: str, leaves: Sequence[str]) -> bool:
    plain = collapse(path).replace("[*]", "")
    return any(plain == leaf or plain.endswith(f".{leaf}") for leaf in leaves)


def _sum(value: Any) -> float:
    return sum(map(_sum, value.values())) if isinstance(value, dict) else float(value)


@dataclasses.dataclass
class Profile:
    """Instructions that a kernel executed in all its launches, by mnemonic, and these launches."""
    executed: Mapping[str, float]
    launches: Sequence[dict[str, Any]]


class Evaluator:
    """The counters of the launches of one run."""

    def __init__(self, table: Table, run: Statistics):
        self.table = table
        self.places: dict[str, dict[str, Any]] = {}  # of all components of a place: what they count
        for name, leaves in table.places.items():
            self.places[name] = {stat: value for path, stats in run.get("components", {}).items()
                                 if _leaf(path, leaves) for stat, value in stats.items()}

    def values(self, launch: dict[str, Any], profile: Profile | None = None) -> dict[str, Value]:
        """Values by the first name of each counter."""
        return {one.names[0]: self._value(one.expression, launch, profile)
                for one in self.table.counters}

    def _value(self, expression: ast.expr, launch: dict[str, Any],
               profile: Profile | None) -> Value:
        try:
            return _Evaluation(self, launch, profile).value(expression)
        except _Missing as why:
            return str(why)


OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


@dataclasses.dataclass
class _Evaluation:
    evaluator: Evaluator
    launch: dict[str, Any]
    profile: Profile | None

    def value(self, node: ast.expr) -> float:
        if isinstance(node, ast.Constant):
            return float(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.BinOp):
            left, right = self.value(node.left), self.value(node.right)
            if isinstance(node.op, ast.Div) and right == 0:
                raise _Missing("nothing was counted that it is a share of")
            return OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.Call):
            return self.executed(str(ast.literal_eval(node.args[0])))
        first, *keys = ast.unparse(node).split(".")
        return self.member(keys) if first == "launch" else self.statistic(first, keys)

    def member(self, keys: list[str]) -> float:
        found: Any = self.launch
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if found is None:
            raise _Missing(f"the launch has no {'.'.join(keys)}")
        return _sum(found)

    def statistic(self, place: str, keys: list[str]) -> float:
        """A launch names only what it has changed."""
        if not self.evaluator.places[place]:
            raise _Missing(f"the platform has no {place}")
        if keys[0] not in self.evaluator.places[place]:
            raise _Missing(f"the platform's {place} do not count {keys[0]}")
        if "components" not in self.launch:
            raise _Missing("the run was with --kernel-stats none")
        return float(sum(number(stats, *keys)
                         for path, stats in self.launch["components"].items()
                         if _leaf(path, self.evaluator.table.places[place])))

    def executed(self, pattern: str) -> float:
        """Launches of a kernel that executed as many instructions executed the same ones."""
        if not self.profile:
            raise _Missing("needs --profile instructions")
        sizes = {number(launch, "wavefront_instructions") for launch in self.profile.launches}
        if len(sizes) > 1:
            raise _Missing("the profile is of launches that differ")
        return sum(count for name, count in self.profile.executed.items()
                   if re.match(pattern, name)) / len(self.profile.launches)


if __name__ == "__main__":  # docs/generate.sh
    print(page(read()), end="")
