"""The roofs of rooflines: what vector ALUs can do in a second, by the description. What levels of
memory can move is in figures.py."""
from __future__ import annotations

from dataclasses import dataclass

from heddle.report.figures import issue
from heddle.report.runs import Run
from heddle.statistics.measures import RUN
from heddle.statistics.statistics_file import Statistics


@dataclass
class Roof:
    words: str
    peak: float  # instructions or operations a second


def vector_issue(run: Run) -> Roof | None:
    """The vector instructions that all compute units can issue."""
    units = issue(run, RUN)
    return units and Roof("vector issue", units.whole / units.rows[0].time_ps * 1e12)


def _cycles(statistics: Statistics, kind: str) -> float | None:
    """That a SIMD takes for a vector instruction with operands of a kind, by the description."""
    own = next((values for values in statistics.get("stamp", {}).get("parameters", {}).values()
                if "full_rate" in values and "f64_multiply" in values), None)
    return own and float(own["f64_multiply"] if kind == "f64" else own["full_rate"])


def multiply_adds(run: Run, kinds: set[str]) -> list[Roof]:
    """The most that multiply-adds can do where all instructions are such. Packed ones, and those of
    matrices, have no roof that is known here."""
    issued, full, found = vector_issue(run), _cycles(run.root, "f32"), []
    for kind in ("f32", "f64"):
        own = _cycles(run.root, kind)
        if kind in kinds and own and full and issued:
            found.append(Roof(f"{kind} multiply-add", issued.peak * 64 * 2 * full / own))
    return found
