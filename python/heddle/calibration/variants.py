"""`heddle calibrate --variants`: can a simulator choose the fastest form of a kernel?

The rows of a label are variants of one piece of work: block sizes, tiles, unrolling. The *regret*
of choosing is what the variant that the simulation calls the fastest takes on the card, over what
the fastest takes there, less one. The regret of N is that of a user who measures the first N of the
simulation and keeps the best. If several are simulated as equally fast, the slowest counts.
"""
from __future__ import annotations

import dataclasses
from typing import Mapping, Sequence

from heddle.calibration.compare import Compared, by_label, errors_of, percent
from heddle.calibration.description import Label, form

FIRST = (1, 5, 10)


@dataclasses.dataclass(frozen=True)
class Choice:
    chosen: Compared
    best: Compared
    spread: float                    # the slowest over the fastest on the card
    regret: tuple[float, ...]        # by FIRST
    by_chance: float                 # the mean regret of choosing blindly


def choice_of(points: Sequence[Compared]) -> Choice:
    order = sorted(points, key=lambda p: (p.simulated, -p.row.measured, p.row.name))
    best = min(points, key=lambda p: (p.row.measured, p.row.name))
    least = best.row.measured
    kept = [min(order[:first], key=lambda p: p.row.measured) for first in FIRST]
    return Choice(order[0], best, max(p.row.measured for p in points) / least,
                  tuple(p.row.measured / least - 1 for p in kept),
                  sum(p.row.measured for p in points) / len(points) / least - 1)


def table(points: Sequence[Compared], labels: Mapping[str, Label]) -> list[str]:
    """A section of the report, in Markdown."""
    lines = ["| label | variants | slowest / fastest | mean error | rank | regret | "
             + " | ".join(f"of {first}" for first in FIRST[1:])
             + " | by chance | chosen | fastest |",
             "| --- | ---: | ---: | ---: | ---: | ---: | " + "---: | " * len(FIRST)
             + "--- | --- |"]
    for label, members in by_label(points).items():
        found, errors = choice_of(members), errors_of(members)
        rank = "" if errors.rank is None else f"{errors.rank:.3f}"
        lines.append(f"| {label} | {len(members)} | {found.spread:.2f} | {percent(errors.mean)} | "
                     f"{rank} | {' | '.join(map(percent, found.regret))} | "
                     f"{percent(found.by_chance)} | {form(labels[label], found.chosen.row)} | "
                     f"{form(labels[label], found.best.row)} |")
    return [*lines, "",
            "Regret: what the variant that is simulated as the fastest takes on the card, over the "
            "fastest",
            "there, less one; of N: of the best of the first N; by chance: of any variant."]
