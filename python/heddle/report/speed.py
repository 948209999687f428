"""The speed of light: how near each kernel comes to what each resource could do. Also what each
element of an array did in the run."""
from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

from heddle.drawing.draw import count, percent
from heddle.report import figures
from heddle.report.runs import Run
from heddle.report.tables import cell, table
from heddle.statistics.kernels import Kernel
from heddle.statistics.measures import RUN, Group
from heddle.statistics.statistics_file import number

# Counters that are requests, those of the first line that a component has.
REQUESTS = (("reads", "writes", "atomics"), ("accesses",), ("lookups",), ("requests",),
            ("vmem_lines",))
KINDS = ("cache", "memory", "translation", "interconnect", "link", "compute")


@dataclass
class Resource:
    """What a column of the table is about: `share` of a kernel; None: not known."""
    name: str
    words: str
    measure: str = ""  # and the array that has it; "": the kernel's own account knows
    path: str = ""

    def share(self, run: Run, kernel: Kernel) -> tuple[float, str] | None:
        if not self.measure:
            could = sum(number(launch, "occupancy", "compute_units") * number(launch, "cycles")
                        for launch in kernel.launches)
            busy = kernel["lds_busy"]
            return (busy / could, f"{count(busy)} of {count(could)} cycles") if could else None
        group = next((g for g in run.groups_of(kernel.label, self.measure)
                      if g.path == self.path), None)
        if not group:
            return None
        most = f"; one element at least {percent(group.least[1])}" if group.least else ""
        return group.share, f"{count(group.part)} of {count(group.whole)}{most}"


def resources(run: Run) -> list[Resource]:
    """The vector ALUs, the LDS, levels from the fastest to the last memory, and what joins them."""
    found = []
    work = figures.issue(run, RUN)
    if work:
        found.append(Resource("compute", f"issue of vector instructions by {work.path}", "issue",
                              work.path))
    if any(number(launch, "units", "lds_busy") for k in run.timed() for launch in k.launches):
        found.append(Resource("LDS", "cycles in which it serves an instruction"))
    for level in figures.levels(run):
        found.append(Resource(level.name, f"bandwidth of {level.path}", "bandwidth", level.path))
    joins = [g for g in run.groups_of(RUN, "utilisation") if g.kind == "interconnect" and g.part]
    for group in sorted(joins, key=lambda g: -g.part)[:2]:
        found.append(Resource(group.path.split(".")[-1].replace("[*]", ""),
                              f"requests of {group.path}", "utilisation", group.path))
    return found


def _bar(share: float, shown: str, words: str) -> str:
    """A number over a bar as long as it."""
    return cell(share, shown, words).replace(
        '<td class="number"', f'<td class="number light" style="--part:{min(share, 1):.1%}"')


def light(run: Run, name: str) -> str:
    """A row for each kernel."""
    columns, rows = resources(run), []
    for kernel in run.timed():
        row = [cell(kernel.short, title=kernel.label),
               cell(kernel.sum("cycles"), count(kernel.sum("cycles")))]
        for resource in columns:
            found = resource.share(run, kernel)
            row.append(_bar(found[0], percent(found[0]), f"{resource.words}: {found[1]}")
                       if found else cell("", "–"))
        rows.append(row)
    return table(name, ["kernel", "cycles", *(r.name for r in columns)], rows)


# ---- elements of arrays


def _requests(run: Run, path: str) -> int:
    if path in run.root["components"]:
        own = run.root["components"][path]
        return next((sum(number(own, name) for name in names) for names in REQUESTS
                     if any(name in own for name in names)), 0)
    return 0


def elements(run: Run) -> list[dict[str, Any]]:
    """Rows of each array that did anything, one an element: requests, hit rate, bytes, the share of
    the possible bytes, stalled share, utilisation. Unknown values are null."""
    arrays: dict[str, Group] = {}
    by_path: dict[str, dict[str, tuple[float, float]]] = {}
    for measure in ("hit_rate", "bandwidth", "stall", "utilisation"):
        for group in run.groups_of(RUN, measure):
            if group.kind in KINDS and len(group.rows) > 1:
                arrays.setdefault(group.path, group)
                for row in group.rows:
                    by_path.setdefault(row.path, {})[measure] = row.part, row.share
    found = []
    for path, group in arrays.items():
        rows = []
        for row in group.rows:
            own = by_path[row.path]
            shares = [own[m][1] if m in own else None for m in ("hit_rate", "stall", "utilisation")]
            moved = own.get("bandwidth")
            rows.append([row.path, _requests(run, row.path), shares[0],
                         moved and moved[0], moved and moved[1], *shares[1:]])
        if any(row[1] or row[3] or row[6] for row in rows):
            found.append({"path": path, "rows": rows})
    return found


def _spread(values: list[float]) -> tuple[float, str]:
    """The most over the mean, and what is told of it."""
    mean = statistics.fmean(values)
    most = max(values) / mean if mean else 0.0
    deviation = statistics.pstdev(values) / mean if mean else 0.0
    return most, f"standard deviation {percent(deviation)} of the mean"


def _range(values: list[float], words: Any) -> str:
    low, high = min(values), max(values)
    shown = words(low) if words(low) == words(high) else f"{words(low)} to {words(high)}"
    return cell(high, shown)


def channels(found: list[dict[str, Any]], name: str) -> str:
    """A row for each array: all of its requests and bytes, and how unequal its elements are."""
    rows = []
    for array in found:
        columns = list(zip(*array["rows"]))
        requests, moved = columns[1], [value or 0 for value in columns[3]]
        by = requests if any(requests) else moved if any(moved) else columns[6]
        most, spread = _spread([value or 0 for value in by])
        row = [cell(array["path"]), cell(len(array["rows"])),
               cell(sum(requests), count(sum(requests))),
               cell(sum(moved), count(sum(moved))) if any(moved) else cell("", "–")]
        for column in (2, 4, 5):
            known = [value for value in columns[column] if value is not None]
            row.append(_range(known, percent) if known else cell("", "–"))
        rows.append([*row, cell(most, f"{most:.2f}", spread)])
    return table(name, ["array", "elements", "requests", "bytes", "hits", "of the bandwidth",
                        "stalled", "most / mean"], rows)
