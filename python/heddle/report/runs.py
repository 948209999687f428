"""Runs as the page needs them: the statistics file, with the facts that its description adds."""
from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Iterator

from heddle.base.mistakes import Mistake
from heddle.statistics import kernels
from heddle.statistics.diagram_shares import shares
from heddle.statistics.kernels import Kernel
from heddle.statistics.measures import (NAMES, RUN, Group, Measured, grouped, least_of_hottest,
                                        of_kernel, of_run)
from heddle.statistics.model import Model, described
from heddle.statistics.statistics_file import read
from heddle.verdict import limits

MEASURES = ("utilisation", "hit_rate", "bandwidth", "stall")


class Run:
    """One statistics file. Without its description there are no measures and no pictures, and
    `missing` says why. `tools` has the paths of the toolkit."""

    def __init__(self, tools: Any, path: str, description: str | None):
        self.path, self.tools, self.root = path, tools, read(path)
        self.kernels = kernels.timed(self.root, path)
        self.missing, self.description = "", description
        self.measured: dict[str, Measured] = {}
        self.groups: dict[tuple[str, str], list[Group]] = {}

    def measure(self) -> None:
        """Once the kernels have their labels."""
        limits.judged(self.kernels, self.root, self.path)
        try:
            self.model: Model = described(self.tools, self.root, self.path, self.description)
        except Mistake as mistake:
            self.missing = str(mistake)
            return
        self._measure()

    @property
    def name(self) -> str:
        return Path(self.path).name

    def timed(self) -> list[Kernel]:
        """Kernels that ran with timing, the longest first."""
        return sorted(self.kernels, key=lambda k: -k.sum("cycles"))

    def _measure(self) -> None:
        self.measured[RUN] = of_run(self.model, self.root)
        for kernel in self.kernels:
            self.measured[kernel.label] = of_kernel(
                self.model, self.root, (kernel.name, kernel.gpu), kernel.label)
        for scope, measured in self.measured.items():
            for name in NAMES:
                self.groups[scope, name] = grouped(measured.rows(name))
        self._find_sums()

    def _find_sums(self) -> None:
        """Arrays of which a kernel's statistics have the sum alone."""
        for (scope, measure), groups in self.groups.items():
            whole = {g.path: g for g in self.groups_of(RUN, measure)}
            for group in groups:
                run = whole.get(group.path)
                if scope == RUN or len(group.rows) < 2 or not run:
                    continue
                group.summed = len({row.part for row in group.rows}) == 1
                path, part = least_of_hottest(group, run)
                share = part / (group.whole / len(group.rows))
                if group.summed and measure != "hit_rate" and share > group.share * 1.01:
                    group.least = path, share

    def described(self) -> Model:
        if self.missing:
            raise Mistake(f"no series without a description: {self.missing}")
        return self.model

    def picture(self, measure: str, scope: str, scale: int | None) -> str | None:
        """The topology; None: there is no description."""
        if self.missing:
            return None
        title = f"of {scope}" if scope != RUN else "of the whole run"
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(shares(self.measured[scope], title), file)
            file.flush()
            made = subprocess.run(
                [self.tools.heddle, "dot", "--svg", "--stats", file.name, "--measure", measure,
                 *(["--scale", str(scale)] if scale else [])],
                text=True, capture_output=True, check=False)
        if made.returncode != 0:
            raise Mistake(made.stderr.strip().removeprefix("heddle: "))
        return made.stdout[made.stdout.index("<svg"):]

    def groups_of(self, scope: str, measure: str) -> list[Group]:
        return self.groups.get((scope, measure), [])

    def scopes(self) -> Iterator[str]:
        yield RUN
        for kernel in self.timed():
            yield kernel.label


def read_runs(tools: Any, paths: list[str], description: str | None) -> list[Run]:
    """The runs of one page."""
    runs = [Run(tools, path, description) for path in paths]
    kernels.tell_apart([run.kernels for run in runs])
    for run in runs:
        run.measure()
    return runs
