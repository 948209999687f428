"""What profilers of cards counted of each launch, as an input of the correction of cold launches:
tables (CSV) of Nsight Compute (`ncu --csv`, one row a metric, or one a kernel with `--page raw`)
and of rocprof (one row a kernel, or one a counter). Launches are numbered from 1 in the order of
the table."""
from __future__ import annotations

import csv
import dataclasses
import pathlib
from typing import Any

from heddle.mistakes import Mistake

# Names of columns, or of metrics, with the bytes or the factor that one counts.
READS = {"dram__sectors_read.sum": 32.0, "TCC_EA_RDREQ_sum": 64.0, "TCC_EA0_RDREQ_sum": 64.0}
SIZES = {"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
BYTES = ("dram__bytes_read.sum",)
CYCLES = ("gpc__cycles_elapsed.max", "sm__cycles_elapsed.max", "GRBM_GUI_ACTIVE")
TIMES = ("gpu__time_duration.sum", "DurationNs")
NAMES = ("Kernel Name", "KernelName", "Kernel_Name")
NUMBERS = ("ID", "Index", "Dispatch_ID")


@dataclasses.dataclass
class Profiled:
    name: str
    values: dict[str, float]
    units: dict[str, str]

    @property
    def dram_bytes(self) -> float | None:
        """Read from memory."""
        for name in BYTES:
            if name in self.values:
                return self.values[name] * SIZES.get(self.units.get(name, "byte"), 1.0)
        return next((self.values[name] * size for name, size in READS.items()
                     if name in self.values), None)

    @property
    def time(self) -> float | None:
        """Cycles, or else nanoseconds: for quotients of two tables."""
        return next((self.values[name] for name in (*CYCLES, *TIMES) if name in self.values), None)


def _number(text: str | None) -> float | None:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def _first(row: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((str(row[name]) for name in names if row.get(name)), None)


def read(path: str) -> list[Profiled]:
    try:
        # Nsight Compute prints lines of its own, which begin with ==, in front of the table.
        lines = [line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()
                 if line and not line.startswith("==")]
    except (OSError, UnicodeDecodeError) as error:
        raise Mistake(f"cannot read '{path}': {error}") from error
    rows = list(csv.DictReader(lines))
    if not rows or not _first(rows[-1], NAMES):
        raise Mistake(f"'{path}' is no table of a profiler: no column is called "
                      + " or ".join(f"'{name}'" for name in NAMES))
    found: dict[str, Profiled] = {}
    for line, row in enumerate(rows, 2):
        name, number = _first(row, NAMES), _first(row, NUMBERS)
        if name is None or number is None:
            continue  # the row of units
        launch = found.setdefault(number, Profiled(name, {}, {}))
        pairs = row.items()
        metric = row.get("Metric Name") or row.get("Counter_Name")
        if metric:
            value = row.get("Metric Value") or row.get("Counter_Value")
            launch.units[metric] = row.get("Metric Unit") or ""
            pairs = {metric: value}.items()
        for key, text in pairs:
            value = _number(text if isinstance(text, str) else None)
            if key and value is not None:
                launch.values[key] = value
        if metric and metric not in launch.values:
            raise Mistake(f"'{path}', row {line}: '{value}' of {metric} is no number")
    return list(found.values())


def launch_of(table: list[Profiled], path: str, number: int, name: str) -> Profiled:
    """The launch of that number, which has to be of the same kernel."""
    if number > len(table):
        raise Mistake(f"'{path}' has {len(table)} launches, and launch {number} is asked for")
    short = name.split("(")[0].split("<")[0].split("::")[-1].split(" ")[-1]
    found = table[number - 1]
    if short not in found.name:
        raise Mistake(f"'{path}': launch {number} is '{found.name}', in the simulation '{name}': "
                      "profile the same program with the same arguments")
    return found
