"""The report of a run's counters: as text, by kernel, and in the columns of rocprof's CSV, by
dispatch."""
from __future__ import annotations

import dataclasses
from collections import Counter as Counts
from typing import Any, Iterator

from heddle.base.files import csv_text
from heddle.base.mistakes import Mistake
from heddle.counters import table as tables
from heddle.counters.table import Evaluator, Profile, Table, Value
from heddle.statistics import profile as profiles
from heddle.statistics.statistics_file import Identity, Statistics, identity, kernel_labels, number

# Of rocprof's CSV in front of the counters; what a run does not know is left empty.
COLUMNS = ("Dispatch_ID", "GPU_ID", "Grid_Size", "Workgroup_Size", "LDS_Per_Workgroup",
           "Scratch_Per_Workitem", "Arch_VGPR", "SGPR", "Wave_Size", "Kernel_Name",
           "Start_Timestamp", "End_Timestamp")


@dataclasses.dataclass
class Dispatch:
    kernel: Identity
    launch: dict[str, Any]
    values: dict[str, Value]


@dataclasses.dataclass
class Counted:
    """Counts of all launches of a run that were timed."""
    table: Table
    target: str
    labels: dict[Identity, str]
    dispatches: list[Dispatch]

    def dispatches_of(self, kernel: Identity) -> list[Dispatch]:
        return [one for one in self.dispatches if one.kernel == kernel]


def _profiles(run: Statistics, file: str | None) -> dict[Identity, Profile]:
    if not file:
        return {}
    executed: dict[Identity, Counts[str]] = {}
    for row in profiles.read(file):
        executed.setdefault((row["kernel"], int(row["device"])), Counts())[
            row["instruction"].split(maxsplit=1)[0]] += int(row["executions"])
    launches: dict[Identity, list[dict[str, Any]]] = {}
    for launch in run.get("kernels", []):
        launches.setdefault(identity(launch), []).append(launch)
    for kernel, found in executed.items():
        if sum(number(one, "wavefront_instructions") for one in launches.get(kernel, [])) \
                != sum(found.values()):
            raise Mistake(f"'{file}' is not the profile of this run: it has another number of "
                          f"instructions of {kernel[0]}")
    return {kernel: Profile(found, launches[kernel]) for kernel, found in executed.items()}


def counted(run: Statistics, path: str, profile: str | None = None) -> Counted:
    table = tables.read()
    of_kernel = _profiles(run, profile)
    evaluator = Evaluator(table, run)
    launches = [launch for launch in run.get("kernels", []) if "slot_cycles" in launch]
    if not launches:
        raise Mistake(f"'{path}' has no launch with timing, so it has no counters")
    if not evaluator.places["cu"]:
        raise Mistake(f"'{path}' is of a machine without AMD's compute units, whose counters these "
                      "are")
    return Counted(table, tables.target_of(run), kernel_labels(run),
                   [Dispatch(identity(launch), launch,
                             evaluator.values(launch, of_kernel.get(identity(launch))))
                    for launch in launches])


# ---- text


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.2f}"


def _of_kernel(found: Counted, kernel: Identity, zeros: bool) -> Iterator[str]:
    """Sums over its launches; of a share the mean. Without `zeros` these are only named."""
    own = found.dispatches_of(kernel)
    overlaps = any(one.launch.get("overlaps") for one in own)
    yield f"{found.labels[kernel]}"
    yield f"  {len(own)} launch{'es' if len(own) > 1 else ''}" + (
        ", whose caches served other kernels at the same time" if overlaps else "")
    missing: dict[str, list[str]] = {}
    none: list[str] = []
    for one in found.table.counters:
        values = [dispatch.values[one.names[0]] for dispatch in own]
        given = [value for value in values if isinstance(value, float)]
        name = one.name(found.target)
        if len(given) < len(values):
            why = next(value for value in values if isinstance(value, str))
            missing.setdefault(why, []).append(name)
            continue
        total = sum(given) / (len(given) if one.unit == "per cent" else 1)
        if total or zeros:
            yield f"  {name:<32} {_number(total):>16} {one.unit}"
        else:
            none.append(name)
    if none:
        yield f"  zero: {', '.join(none)}"
    for why, names in missing.items():
        yield f"  not given, {why}: {', '.join(names)}"


def lines(found: Counted, zeros: bool = False) -> Iterator[str]:
    for kernel in dict.fromkeys(one.kernel for one in found.dispatches):
        yield from _of_kernel(found, kernel, zeros)
        yield ""
    yield (f"{len(found.table.absent)} counters of AMD's lists are not given, since heddle has "
           "nothing that they count; build/docs/reference/counters.md (./dev docs) names "
           "them and the reasons")


# ---- rocprof's columns


def _column(name: str) -> str:
    return f"{name}_sum" if name.startswith(tables.SUMMED) else name


def rocprof_csv(found: Counted) -> str:
    """A row for each dispatch. Counters without a value in any have no column."""
    shown = [one for one in found.table.counters
             if any(isinstance(d.values[one.names[0]], float) for d in found.dispatches)]
    rows = []
    for number_of, dispatch in enumerate(found.dispatches):
        launch = dispatch.launch
        shape = launch.get("occupancy", {})
        values = (dispatch.values[one.names[0]] for one in shown)
        rows.append([number_of, dispatch.kernel[1], "", "", shape.get("lds_bytes", ""), "",
                     shape.get("vgprs", ""), shape.get("sgprs", ""), 64, dispatch.kernel[0],
                     number(launch, "start_ps") // 1000, number(launch, "end_ps") // 1000,
                     *("" if isinstance(value, str) else f"{value:.10g}" for value in values)])
    return csv_text([*COLUMNS, *(_column(one.name(found.target)) for one in shown)], rows)
