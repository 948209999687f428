"""The correction factor of the cold-start thesis (docs/evidence/warmup.md), section "A Possible
Formula", as printed, of a launch that was simulated with cold caches:

    IPC = instructions / (cycles - delta)
    delta = accesses / (controllers * line) * reuse * (dram - l2)

Its inputs are statistics of the cold run with `--kernel-stats all`, and of a functional profile of
all launches (`--mode functional --profile memory`). Components are told apart by their statistics
and parameters, not by their names; an L2 alone is one that a platform calls so."""
from __future__ import annotations

import dataclasses
from typing import Any

from heddle.sampling.child_runs import Statistics, launches

# Platforms that play SASS traces count sectors, which are parts of a line.
LINE, SECTOR = 128, 32


@dataclasses.dataclass(frozen=True)
class Correction:
    cycles: float = dataclasses.field(metadata={"meaning": "cycles, simulated cold"})
    accesses: float = dataclasses.field(metadata={
        "meaning": "unique accesses to DRAM: lines, of traces sectors"})
    controllers: float = dataclasses.field(metadata={
        "meaning": "memory controllers in use: reads of all / reads of the busiest"})
    line: float = dataclasses.field(metadata={"meaning": "bytes of a cache line"})
    reuse: float = dataclasses.field(metadata={
        "meaning": "share of the lines of the launch before that this launch accesses, too"})
    dram: float = dataclasses.field(metadata={"meaning": "cycles of a read that misses in the L2"})
    l2: float = dataclasses.field(metadata={"meaning": "cycles of a read that hits in the L2"})

    size: float = dataclasses.field(default=0, metadata={"meaning": "bytes of an access"})

    FORMULA = "cycles - accesses / (controllers * line) * reuse * (dram - l2)"
    BYTES = "cycles - accesses * size / (controllers * line) * reuse * (dram - l2)"

    @property
    def corrected(self) -> float:
        """Cycles with warm caches; may be below 0."""
        delta = self.accesses / (self.controllers * self.line) * self.reuse * (self.dram - self.l2)
        return self.cycles - delta

    @property
    def corrected_by_bytes(self) -> float:
        """The correction where the formula's accesses are read as their bytes."""
        return self.cycles - (self.cycles - self.corrected) * self.size

    def inputs(self) -> dict[str, float]:
        return dataclasses.asdict(self)

    @classmethod
    def meanings(cls) -> dict[str, str]:
        return {field.name: field.metadata["meaning"] for field in dataclasses.fields(cls)}


def parameters(run: Statistics) -> dict[str, dict[str, Any]]:
    return dict(run.get("stamp", {}).get("parameters", {}))


def memory_latency(run: Statistics) -> float:
    """Cycles of an unloaded access to a row that is not open: the controller, activation, column,
    burst. A memory without timing has a latency."""
    found = parameters(run).values()
    for values in found:
        if "trcd_read" in values:
            ps = sum(values.get(k, 0) for k in ("controller", "trcd_read", "tcl", "tburst"))
            return ps * max(clock["hz"] for clock in run["clocks"].values()) / 1e12
    return next((float(values["latency"]) for values in found
                 if {"latency", "width"} <= values.keys() and {"line", "slices"} & values.keys()
                 and "mshrs" not in values), 0.0)


def l2_latency(run: Statistics) -> float:
    return next((float(values["latency"]) for path, values in parameters(run).items()
                 if path.rsplit(".", 1)[-1].startswith("l2") and {"mshrs", "write"} <= values.keys()
                 ), 0.0)


def dram_reads(components: dict[str, dict[str, Any]]) -> list[float]:
    """The reads of each memory controller, in the order of their paths."""
    return [part["reads"] for part in components.values() if "bytes_read" in part]


def correction(cold: Statistics, profile: Statistics, number: int,
               counted: float | None = None) -> Correction:
    """`counted`: bytes that a profiler saw read from DRAM, in place of the simulated ones."""
    kernel, profiled = launches(cold)[number], launches(profile)
    own, before = profiled[number]["profile"], profiled.get(number - 1, {}).get("profile", {})
    reads = dram_reads(kernel["components"])
    line = next((values["line"] for values in parameters(cold).values()
                 if {"latency", "line", "width"} <= values.keys()), 0)
    unique = own["lines_read"] if line else own["lines"] * LINE / SECTOR
    l2, size = l2_latency(cold), line or SECTOR
    accesses = min(sum(reads), unique) if counted is None else counted / size
    return Correction(cycles=kernel["cycles"], accesses=accesses,
                      controllers=sum(reads) / max(reads) if any(reads) else 1, line=line or LINE,
                      reuse=own["reused"] / before["lines"] if before.get("lines") else 0,
                      dram=l2 + memory_latency(cold), l2=l2, size=size)
