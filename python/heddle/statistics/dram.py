"""Memory controllers of a run, one line each: reads and writes, how evenly they are spread (the
cold-start thesis counts a controller with half the use of another as half a controller), and the
busy time. A controller is a component that counts its reads and their bytes."""
from __future__ import annotations

from typing import Any

from heddle.base.mistakes import Mistake
from heddle.statistics.measures import of_run
from heddle.statistics.model import Model
from heddle.statistics.statistics_file import Statistics

COUNTED = ("reads", "writes", "bytes_read", "bytes_written")


def controllers(components: dict[str, dict[str, Any]]) -> dict[str, list[float]]:
    """COUNTED of each, by its path."""
    return {path: [part.get(name, 0) for name in COUNTED] for path, part in components.items()
            if {"reads", "bytes_read"} <= part.keys()}


def lines(model: Model, run: Statistics) -> list[str]:
    found = controllers(run["components"])
    if not found:
        raise Mistake("no component of this platform counts reads of memory")
    busy = {row.path: row.share for row in of_run(model, run).rows("utilisation")}
    moved = [read + written for _, _, read, written in found.values()]
    width = max(map(len, found))
    texts = [" ".join([" " * (width + 9), *(f"{name:>13}" for name in COUNTED),
                       "of busiest", "utilisation"])]
    for i, (path, counts) in enumerate(found.items()):
        share = moved[i] / max(moved) if any(moved) else 0
        texts.append(" ".join([f"{f'dram[{i}]:':<9}{path:<{width}}",
                               *(f"{value:>13.0f}" for value in counts), f"{100 * share:>8.1f} %",
                               f"{100 * busy[path]:>9.1f} %" if path in busy else ""]).rstrip())
    used = sum(moved) / max(moved) if any(moved) else 0
    return [*texts, f"{used:.2f} of {len(found)} controllers in use: bytes of all over those of "
            "the busiest"]
