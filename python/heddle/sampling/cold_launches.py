"""Launches simulated cold and warm, for `heddle experiment`: the factors from which the cold-start
thesis corrects a cold run, one row a launch, and its figure of all launches."""
from __future__ import annotations

from typing import Any, Protocol, Sequence

from heddle.base.files import csv_text
from heddle.drawing import draw
from heddle.sampling.child_runs import Statistics, launches, short
from heddle.sampling.correction import Correction, dram_reads


class Launch(Protocol):
    """A launch of experiment.Kernel."""
    launch: int
    name: str
    instructions: float
    thread_instructions: float | None
    cycles: dict[str, float]
    correction: Correction | None

    def ipc(self, mode: str) -> float: ...


def l2_misses(components: dict[str, dict[str, Any]]) -> tuple[float, float]:
    """Accesses of all banks of a launch's L2, and those that missed. Sectors, where it counts
    sectors."""
    accesses = misses = 0.0
    for path, counts in components.items():
        if not path.rsplit(".", 1)[-1].startswith("l2") or "misses" not in counts \
                or "lookups" in counts:
            continue
        missed = counts["misses"] + counts.get("sector_misses", 0)
        accesses += counts.get("accesses", counts.get("hits", 0) + counts["misses"])
        misses += missed
    return accesses, misses


AMD_UNITS = 7  # in a profile (enum isa_unit); of traces there are more (opcode_classes.def)


def memory_instructions(units: str) -> int:
    """Counts of a profile's instructions by unit: scalar and vector memory; loads, stores and
    atomics."""
    counts = list(map(int, units.split()))
    return sum(counts[2:4] if len(counts) == AMD_UNITS else counts[9:12])


COLUMNS = ["launch", "kernel", "chosen", "wavefront_instructions", "thread_instructions",
           "memory_instructions", "cold_cycles", "perfect_cycles", "cold_wavefront_ipc",
           "perfect_wavefront_ipc", "l2_accesses", "l2_misses", "l2_miss_rate", "references",
           "unique", "references_per_unique", "reuse_forward", "reuse_backward",
           "unique_dram_accesses", "controllers", "controllers_used", "dram_reads", "dram_cycles",
           "l2_cycles"]


def _row(kernel: Launch, chosen: bool, cold: Statistics, profile: Statistics) -> list[Any]:
    record, profiled = launches(cold)[kernel.launch], launches(profile)
    own = profiled[kernel.launch]["profile"]
    after = profiled.get(kernel.launch + 1, {}).get("profile", {})
    accesses, misses = l2_misses(record["components"])
    reads, made = dram_reads(record["components"]), kernel.correction
    lines = own["lines"]
    assert made is not None

    def share(part: float, whole: float) -> str:
        return f"{part / whole:.4f}" if whole else ""
    return [kernel.launch, kernel.name, int(chosen), f"{kernel.instructions:.0f}",
            "" if kernel.thread_instructions is None else f"{kernel.thread_instructions:.0f}",
            memory_instructions(own["units"]),
            f"{kernel.cycles['none']:.0f}", f"{kernel.cycles['perfect']:.0f}",
            f"{kernel.ipc('none'):.4f}", f"{kernel.ipc('perfect'):.4f}", f"{accesses:.0f}",
            f"{misses:.0f}", share(misses, accesses), own["accesses"], lines,
            share(own["accesses"], lines), share(after.get("reused", 0), lines),
            share(own["reused"], lines), f"{made.accesses:.0f}", len(reads),
            f"{made.controllers:.4f}", " ".join(f"{n:.0f}" for n in reads), f"{made.dram:g}",
            f"{made.l2:g}"]


def factors(kernels: Sequence[Launch], chosen: set[int], cold: Statistics,
            profile: Statistics) -> str:
    """A table of all launches. `reuse_forward` is the share of a launch's lines that the next
    launch accesses, too; `reuse_backward` the share that the launch before has accessed."""
    return csv_text(COLUMNS, (_row(k, k.launch in chosen, cold, profile)
                              for k in sorted(kernels, key=lambda k: k.launch)))


TOP, LOW, LEFT = 34, 190, 52


def plot(kernels: Sequence[Launch], chosen: set[int], unit: str) -> str:
    """IPC of every launch, cold and warm, in two bars; names of the chosen ones below."""
    ordered = sorted(kernels, key=lambda k: k.launch)
    width = max(draw.WIDTH, LEFT + 20 + 9 * len(ordered))
    step = (width - LEFT - 20) / len(ordered)
    y = draw.Linear([k.ipc(mode) for k in ordered for mode in ("none", "perfect")], LOW, TOP)
    parts = [draw.box(LEFT, 8, 10, 10, draw.SKY, "cold"), draw.text(LEFT + 14, 17, "cold", size=11),
             draw.box(LEFT + 60, 8, 10, 10, draw.BLUE, "warm"),
             draw.text(LEFT + 74, 17, f"warm (perfect); instructions of {unit} a cycle", size=11)]
    for at in y.ticks():
        parts += [draw.line(LEFT, y.at(at), width - 20, y.at(at), "#e8e8e8"),
                  draw.text(LEFT - 5, y.at(at) + 4, draw.tick_text(at), "end", 11)]
    for i, kernel in enumerate(ordered):
        left = LEFT + i * step
        if kernel.launch in chosen:
            parts.append(draw.box(left, TOP, step, LOW - TOP, "#fbe3d6", "chosen"))
        for j, (mode, colour) in enumerate((("none", draw.SKY), ("perfect", draw.BLUE))):
            top = y.at(kernel.ipc(mode))
            parts.append(draw.box(left + step * (0.1 + 0.4 * j), top, step * 0.4, LOW - top, colour,
                                  f"launch {kernel.launch}, {short(kernel.name)}: "
                                  f"{kernel.ipc(mode):.4g}"))
    for i, kernel in enumerate(ordered):
        if kernel.launch in chosen or len(ordered) <= 12:
            parts.append(draw.text(LEFT + (i + 0.5) * step, LOW + 14, str(kernel.launch), "middle",
                                   11))
    parts.append(draw.text((LEFT + width - 20) / 2, LOW + 32, "launch; chosen ones are shaded",
                           "middle", 11))
    return draw.document(LOW + 42, parts, "IPC of all launches, cold and warm", width)
