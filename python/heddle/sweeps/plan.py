"""What a sweep consists of: platforms, programs, what is varied; and its points.

From the command line, or from a TOML file:

    platforms   = ["tiny.heddle", "r9nano.heddle"]   # or platform = "tiny.heddle"
    set         = ["pcie.bandwidth=16GB/s"]          # of all points
    options     = ["--kernels", "auto"]              # of `heddle run`
    constraints = ["gpu.l2 >= gpu.cus * 64KiB"]      # which combinations there are
    sample      = { points = 100, seed = 1 }         # so many of them, at random
    limit       = 300                                # CPU seconds of a point
    generic     = true                               # as --generic

    [vary]                                           # parameters of the platforms
    "gpu.l2"  = ["256KiB", "1MiB", "4MiB"]
    "gpu.cus" = "1..4"

    [programs]
    vectoradd = ["./vectoradd", "4096"]
    matmul    = { command = ["./matmul_tiled", "{n}"], inputs = { n = "64..512*2" } }

    [results]                                        # numbers that the program prints
    gflops = '^GFLOPS ([0-9.]+)$'

Relative paths are as seen from where the command is started, as in `heddle run`. Points have
numbers from 1, in the order of the file: platforms, programs, inputs, parameters, the last of which
changes fastest.
"""
from __future__ import annotations

import dataclasses
import itertools
import math
import pathlib
import random
import re
from typing import Any, Iterator, Mapping, Sequence

from heddle.base.mistakes import Mistake
from heddle.base.toml import Reader, load
from heddle.sweeps.constraint import Constraint
from heddle.sweeps.values import parse_values

POINTS_MAX = 1_000_000
TOP_KEYS = {"platform", "platforms", "set", "options", "constraints", "sample", "limit", "generic",
            "vary", "programs", "results"}
# Options of `heddle run` that a sweep gives itself, or that would write one file for all points.
OWN_OPTIONS = ("--stats", "--set", "--generic", "--progress", "--platform", "--record",
               "--checkpoint", "--addresses", "--series", "--")


@dataclasses.dataclass(frozen=True)
class Program:
    """`inputs`: what stands for {NAME} in the command; each value makes points of its own."""

    name: str
    command: tuple[str, ...]
    inputs: Mapping[str, tuple[str, ...]]


@dataclasses.dataclass(frozen=True)
class Point:
    """`values`: of all that is varied, by name; an input of the program is called {NAME}."""

    number: int
    platform: str
    program: str
    values: Mapping[str, str]
    settings: tuple[str, ...]
    command: tuple[str, ...]

    @property
    def name(self) -> str:
        parts = [f"{name.strip('{}')}={value}" for name, value in self.values.items()]
        return " ".join([*([self.program] if self.program else []), *parts]) or self.platform


@dataclasses.dataclass(frozen=True)
class Plan:
    platforms: tuple[str, ...]
    programs: tuple[Program, ...]
    vary: Mapping[str, tuple[str, ...]]
    set: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 1
    limit: float | None = None
    generic: bool | None = None
    results: Mapping[str, str] = dataclasses.field(default_factory=dict)
    place: str = "the command line"
    listed: tuple[tuple[str, ...], ...] = ()  # settings of each point, in place of combinations

    def identity(self) -> dict[str, Any]:
        """The settings that tell this sweep from others. Limits and ways to run it do not, and a
        list may grow."""
        found = dataclasses.asdict(self)
        for name in ("limit", "generic", "place", "listed"):
            del found[name]
        return found

    def axes(self) -> list[str]:
        """All that is varied, in the order of tables."""
        inputs = dict.fromkeys(f"{{{name}}}" for p in self.programs for name in p.inputs)
        return [*inputs, *self.vary]

    def total(self) -> int:
        return sum(self._size(program) for program in self.programs) * len(self.platforms)

    def _size(self, program: Program) -> int:
        return math.prod(map(len, [*program.inputs.values(), *self.vary.values()]))

    # ---- points

    def points(self) -> list[Point]:
        if self.listed:
            program = self.programs[0]
            return [Point(i, self.platforms[0], program.name, {"settings": " ".join(settings)},
                          (*self.set, *settings), program.command)
                    for i, settings in enumerate(self.listed, 1)]
        constraints = [Constraint(text, self.axes(), self.place) for text in self.constraints]
        total = self.total()
        if self.sample is None and total > POINTS_MAX:
            raise Mistake(f"{self.place}: that would be {total} points; at most {POINTS_MAX} are "
                          "run. --sample takes some of them at random", usage=True)
        numbers = range(total) if self.sample is None else self._drawn(total)
        chosen = ((n, at) for n in numbers if self._holds(constraints, at := self._at(n)))
        found = list(itertools.islice(chosen, self.sample))
        if not found:
            raise Mistake(f"{self.place}: no combination satisfies "
                          f"{' and '.join(repr(text) for text in self.constraints)}", usage=True)
        return [self._point(i, *at) for i, (_, at) in
                enumerate(sorted(found, key=lambda f: f[0]), 1)]

    def _drawn(self, total: int) -> Iterator[int]:
        """Points drawn at random, each once; if there are very many, not all of them."""
        source, seen = random.Random(self.seed), set()
        if total <= POINTS_MAX:
            yield from source.sample(range(total), total)
            return
        for _ in range(POINTS_MAX):
            number = source.randrange(total)
            if number not in seen:
                seen.add(number)
                yield number

    def _holds(self, constraints: Sequence[Constraint],
               at: tuple[str, Program, dict[str, str]]) -> bool:
        """A constraint on an input that a program does not have says nothing of that program."""
        return all(constraint.holds(at[2]) for constraint in constraints
                   if all(name in at[2] for name in constraint.names.values()))

    def _at(self, number: int) -> tuple[str, Program, dict[str, str]]:
        """The combination of that number; the last axis changes fastest."""
        of_platform = self.total() // len(self.platforms)
        platform, number = divmod(number, of_platform)
        for program in self.programs:
            if number < self._size(program):
                break
            number -= self._size(program)
        axes = {**{f"{{{name}}}": values for name, values in program.inputs.items()}, **self.vary}
        chosen: dict[str, str] = {}
        for name, values in reversed(axes.items()):
            number, at = divmod(number, len(values))
            chosen[name] = values[at]
        return self.platforms[platform], program, {name: chosen[name] for name in axes}

    def _point(self, number: int, platform: str, program: Program,
               values: dict[str, str]) -> Point:
        settings = tuple(f"{name}={value}" for name, value in values.items()
                         if not name.startswith("{"))
        command = []
        for word in program.command:
            for name in program.inputs:
                word = word.replace(f"{{{name}}}", values[f"{{{name}}}"])
            command.append(word)
        return Point(number, platform, program.name, values, (*self.set, *settings),
                     tuple(command))


# ---- from the command line


def parse_vary(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals or not name or not values:
            raise Mistake(f"'--vary {text}' is not PATH=VALUES, as in gpu.l2=256KiB,1MiB or "
                          "gpu.cus=1..4", usage=True)
        if name in found:
            raise Mistake(f"'--vary {text}': '{name}' is varied twice", usage=True)
        found[name] = tuple(parse_values(values, f"'--vary {text}'"))
    return found


def of_command_line(platforms: Sequence[str], vary: Sequence[str], program: Sequence[str],
                    **more: Any) -> Plan:
    varied = parse_vary(vary)
    inputs = {name[1:-1]: values for name, values in varied.items()
              if re.fullmatch(r"\{\w+\}", name)}
    parameters = {name: values for name, values in varied.items() if not name.startswith("{")}
    name = pathlib.Path(program[0]).name if program else ""
    plan = Plan(platforms=tuple(platforms), programs=(Program(name, tuple(program), inputs),),
                vary=parameters, **more)
    check(plan)
    return plan


def check(plan: Plan) -> None:
    """What can be seen without the platform."""
    for program in plan.programs:
        words = " ".join(program.command)
        for name in program.inputs:
            if f"{{{name}}}" not in words:
                raise Mistake(f"{plan.place}: '{{{name}}}' is varied, but the command of "
                              f"'{program.name}' does not have it", usage=True)
    for setting in plan.set:
        if setting.partition("=")[0] in plan.vary:
            raise Mistake(f"{plan.place}: '{setting}' sets a varied parameter", usage=True)
    for word in plan.options:
        if word.partition("=")[0] in OWN_OPTIONS:
            raise Mistake(f"{plan.place}: '{word}' is not for all points of a sweep", usage=True)
    for name, pattern in plan.results.items():
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise Mistake(f"{plan.place}: the result '{name}' is not a regular expression: {error}",
                          usage=True) from None
        if groups != 1:
            raise Mistake(f"{plan.place}: the result '{name}' must have one group, the number, not "
                          f"{groups}", usage=True)


# ---- from a file


def _flat(found: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """`gpu.l2 = ...` is a table in a table for TOML, and a path for us."""
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _values(value: Any, place: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(parse_values(value, place))
    if not isinstance(value, list) or not value:
        raise Mistake(f"{place} must be a text, as in \"1..4\", or a list of values")
    for item in value:
        if not isinstance(item, (str, int, float)):
            raise Mistake(f"{place} has '{item}', which is neither text nor number")
    texts = [str(item).lower() if isinstance(item, bool) else str(item) for item in value]
    return tuple(parse_values(",".join(texts), place))


def _programs(reader: Reader, top: Mapping[str, Any]) -> tuple[Program, ...]:
    found = top.get("programs", {"": []})
    if not isinstance(found, dict) or not found:
        raise reader.wrong("'programs' is a section: [programs]")
    programs = []
    for name, value in found.items():
        where = f"of [programs] {name}"
        if isinstance(value, list):
            value = {"command": value}
        if not isinstance(value, dict):
            raise reader.wrong(f"'{name}' of [programs] must be a list of words, or a table")
        reader.known(value, {"command", "inputs"}, where)
        inputs = reader.get(value, "inputs", dict, where, {})
        command = reader.texts(value, "command", where, ...)
        if name and not command:
            raise reader.wrong(f"'command' {where} is empty")
        programs.append(Program(name, command, {
            key: _values(given, f"{reader.path}: '{key}' {where}")
            for key, given in inputs.items()}))
    return tuple(programs)


def read(path: pathlib.Path) -> Plan:
    reader = Reader(path)
    top = load(path)
    reader.known(top, TOP_KEYS, "at the top")
    platforms = reader.texts(top, "platforms", "at the top")
    if "platform" in top:
        platforms = (reader.get(top, "platform", str, "at the top", ...), *platforms)
    if not platforms:
        raise reader.wrong("'platform' or 'platforms' is missing at the top")
    vary = top.get("vary", {})
    if not isinstance(vary, dict):
        raise reader.wrong("'vary' is a section: [vary]")
    sample = reader.section(top, "sample", {"points", "seed"}, "of 'sample'")
    count = reader.get(sample, "points", int, "of 'sample'", None)
    if count is not None and count < 1:
        raise reader.wrong("'points' of 'sample' must be at least 1")
    plan = Plan(
        platforms=platforms, programs=_programs(reader, top),
        vary={name: _values(value, f"{path}: '{name}' of [vary]") for name, value in _flat(vary)},
        set=reader.texts(top, "set", "at the top"),
        options=reader.texts(top, "options", "at the top"),
        constraints=reader.texts(top, "constraints", "at the top"), sample=count,
        seed=reader.get(sample, "seed", int, "of 'sample'", 1),
        limit=reader.get(top, "limit", float, "at the top", None),
        generic=reader.get(top, "generic", bool, "at the top", None),
        results=reader.pairs(top, "results", "at the top"), place=str(path))
    check(plan)
    return plan
