"""Runs as the page needs them: the statistics file, and what `heddle stats` makes of it."""
from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator

from heddle.mistakes import Mistake

MEASURES = ("utilisation", "hit_rate", "bandwidth", "stall")
RUN = "run"


@dataclass
class Row:
    """A measure of one component, part, connection or link: `part` of `whole`."""
    scope: str
    path: str
    type: str
    kind: str
    measure: str
    part: float
    whole: float
    cycles: int
    time_ps: int

    @property
    def share(self) -> float:
        return self.part / self.whole


@dataclass
class Group:
    """The elements of an array, in all elements of the arrays around it."""
    path: str
    type: str
    kind: str
    rows: list[Row] = field(default_factory=list)
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


@dataclass
class Kernel:
    """All launches of one kernel."""
    name: str
    launches: list[dict[str, Any]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    @property
    def short(self) -> str:
        return self.name.split("(")[0] or self.name

    def total(self, *keys: str) -> int:
        return sum(number(launch, *keys) for launch in self.launches)

    def slot_cycles(self) -> dict[tuple[str, str], int]:
        sums: dict[tuple[str, str], int] = {}
        for launch in self.launches:
            for group, kinds in launch.get("slot_cycles", {}).items():
                for kind, value in kinds.items():
                    sums[group, kind] = sums.get((group, kind), 0) + value
        return sums


def number(of: Any, *keys: str) -> int:
    for key in keys:
        of = of.get(key, {}) if isinstance(of, dict) else {}
    return of if isinstance(of, (int, float)) else 0


def is_statistics(root: Any) -> bool:
    if not isinstance(root, dict) or not isinstance(root.get("components"), dict):
        return False
    kernels = root.get("kernels", [])
    return isinstance(kernels, list) and all(
        isinstance(kernel, dict) and isinstance(kernel.get("name"), str)
        and isinstance(kernel.get("slot_cycles", {}), dict) for kernel in kernels)


def collapse(path: str) -> str:
    return re.sub(r"\[\d+\]", "[*]", path)


class Run:
    """One statistics file. Without its description there are no measures and no pictures, and
    `missing` says why."""

    def __init__(self, heddle: str, path: str, description: str | None):
        self.path, self.heddle, self.description = path, heddle, description
        try:
            self.root = json.loads(Path(path).read_text())
        except OSError as error:
            raise Mistake(f"cannot read '{path}': {error.strerror}") from error
        except ValueError as error:
            raise Mistake(f"'{path}' is no JSON: {error}") from error
        if not is_statistics(self.root):
            raise Mistake(f"'{path}' is not what `heddle run --stats` writes: it lacks "
                          "components, or kernels with names")
        self.kernels: list[Kernel] = []
        self._read_kernels()
        self.missing = ""
        self.rows: list[Row] = []
        self.groups: dict[tuple[str, str], list[Group]] = {}
        self._read_measures()

    @property
    def name(self) -> str:
        return Path(self.path).name

    def timed(self) -> list[Kernel]:
        """Kernels that ran with timing, the longest first."""
        return sorted((k for k in self.kernels if k.slot_cycles()),
                      key=lambda k: -k.total("cycles"))

    def _call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.heddle, *words], text=True, capture_output=True, check=False)

    def _where(self) -> list[str]:
        return ["--description", self.description] if self.description else []

    def _read_kernels(self) -> None:
        by_name: dict[str, Kernel] = {}
        for launch in self.root.get("kernels", []):
            kernel = by_name.setdefault(launch["name"], Kernel(launch["name"]))
            kernel.launches.append(launch)
        self.kernels = list(by_name.values())

    def _read_measures(self) -> None:
        made = self._call("stats", "--report", "measures", "--csv", *self._where(), self.path)
        if made.returncode != 0:
            self.missing = made.stderr.strip().removeprefix("heddle stats: ")
            self._read_words("cpi")
            return
        for row in csv.DictReader(io.StringIO(made.stdout)):
            self.rows.append(Row(row["scope"], row["path"], row["type"], row["kind"],
                                 row["measure"], float(row["part"]), float(row["whole"]),
                                 int(row["cycles"]), int(row["time_ps"])))
        for row in self.rows:
            groups = self.groups.setdefault((row.scope, row.measure), [])
            path = collapse(row.path)
            group = next((g for g in groups if g.path == path), None)
            if group is None:
                group = Group(path, row.type, row.kind)
                groups.append(group)
            group.rows.append(row)
        self._find_sums()
        self._read_words("limits")

    def _find_sums(self) -> None:
        """Statistics of a kernel are usually sums over arrays, those of the run are not. What one
        element did in the kernel is known from below: what it did in the run less all that other
        kernels did to its array (as codegen/report/limits.c has it)."""
        for (scope, measure), groups in self.groups.items():
            whole = {g.path: g for g in self.of(RUN, measure)}
            for group in groups:
                run = whole.get(group.path)
                if scope == RUN or len(group.rows) < 2 or not run:
                    continue
                group.summed = len({row.part for row in group.rows}) == 1
                hot = max(run.rows, key=lambda row: row.part)
                part = hot.part - max(run.part - group.part, 0)
                share = part / (group.whole / len(group.rows))
                if group.summed and measure != "hit_rate" and share > group.share * 1.01:
                    group.least = hot.path, share

    def _read_words(self, report: str) -> None:
        """What limits each kernel. Without a description, what --report cpi says of it."""
        if not self.timed():
            return
        if report == "limits":
            made = self._call("stats", "--report", "limits", "--csv", *self._where(), self.path)
            for row in csv.DictReader(io.StringIO(made.stdout)):
                for kernel in self.kernels:
                    if kernel.name == row["kernel"]:
                        kernel.words.append(row["words"])
            return
        made = self._call("stats", "--report", "cpi", self.path)
        kernel = None
        for line in made.stdout.splitlines():
            kernel = next((k for k in self.kernels if k.name == line), kernel)
            if kernel and re.match(r"  (limited|short|bank|unbalanced|no single)", line):
                kernel.words.append(line.strip())

    def series(self, path: str, counters: list[str]) -> str:
        """The measures in each interval of a series, and these counters, as CSV."""
        if self.missing:
            raise Mistake(f"no series without a description: {self.missing}")
        made = self._call("stats", "--report", "series", "--series", path, *self._where(),
                          *(word for name in counters for word in ("--series-counter", name)),
                          self.path)
        if made.returncode != 0:
            raise Mistake(made.stderr.strip().removeprefix("heddle stats: "))
        return made.stdout

    def picture(self, measure: str, kernel: str | None, scale: int | None) -> str | None:
        """The topology; None: there is no description or nothing of that measure."""
        if self.missing:
            return None
        made = self._call("dot", *([self.description] if self.description else []), "--svg",
                          "--stats", self.path, "--measure", measure,
                          *(["--kernel", kernel] if kernel else []),
                          *(["--scale", str(scale)] if scale else []))
        if made.returncode != 0:
            raise Mistake(made.stderr.strip().removeprefix("heddle: "))
        return made.stdout[made.stdout.index("<svg"):]

    def of(self, scope: str, measure: str) -> list[Group]:
        return self.groups.get((scope, measure), [])

    def scopes(self) -> Iterator[str]:
        yield RUN
        for kernel in self.timed():
            yield kernel.name
