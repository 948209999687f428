"""Reads what a run of `heddle run` left in its log. What is kept of a run is enough to read other
numbers from it later: a changed description runs nothing again."""
from __future__ import annotations

import json
import pathlib
import re
from typing import Any, Mapping

from heddle.calibration.description import SECONDS, Description, Row, conversion, fill
from heddle.calibration.point_runner import Unreadable
from heddle.statistics.kernels import timed
from heddle.statistics.statistics_file import Statistics
from heddle.verdict.fullness import of_file
from heddle.verdict.kernel_facts import Machine
from heddle.verdict.limits import of_kernel

OUTPUT_MAX = 64 * 1024  # characters that are kept, the last


def keep(log: pathlib.Path) -> dict[str, Any]:
    """What is kept of a run."""
    try:
        statistics = json.loads(pathlib.Path(f"{log}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise Unreadable("it wrote no statistics; does it use the GPU?") from None
    times = [kernel["end_ps"] - kernel["start_ps"] for kernel in statistics.get("kernels", [])]
    output = pathlib.Path(f"{log}.out").read_text(encoding="utf-8", errors="replace")
    return {"output": output[-OUTPUT_MAX:], "limited_by": limit_of(statistics, str(log)),
            "kernels_ps": sum(times), "last_kernel_ps": times[-1] if times else 0,
            "time_ps": statistics.get("time_ps", 0),
            "model": statistics.get("stamp", {}).get("model", "")}


def limit_of(statistics: Statistics, file: str) -> str:
    """What limits the kernel that took most cycles; empty if there is none."""
    longest = max(timed(statistics, file), key=lambda kernel: kernel.sum("cycles"), default=None)
    found = of_file(statistics, file)
    limits = of_kernel(longest, found, Machine(statistics, found)) if longest else []
    return limits[0].words if limits else ""


def value_of(description: Description, row: Row, result: Mapping[str, Any]) -> float:
    """What is compared, in the unit of the table."""
    label = description.labels[row.label]
    fields = {"kernels": "kernels_ps", "last kernel": "last_kernel_ps", "simulated time": "time_ps"}
    if label.read in fields:
        value = result[fields[label.read]] * 1e-12 / SECONDS[description.unit]
        if not value > 0:
            raise Unreadable("it launched no kernel")
        return float(value)
    pattern = re.compile(fill(label.read, row.values, str(description.path), escape=True))
    found = [match for line in result["output"].splitlines() if (match := pattern.search(line))]
    if not found:
        raise Unreadable(f"no line of what it printed matches '{pattern.pattern}'")
    try:
        value = float(found[-1][1])
    except (TypeError, ValueError):
        raise Unreadable(f"'{found[-1][1]}', which '{pattern.pattern}' found, is not a number") \
            from None
    if not value > 0:
        raise Unreadable(f"it printed '{found[-1][0]}', and {value:g} is not positive")
    factor, over = (fill(text, row.values, str(description.path))
                    for text in (label.factor, label.over))
    value = float(over) / value if over else value * conversion(label, description.unit)
    return value * float(factor) if factor else value
