"""What profilers of cards counted of each launch, as an input of the correction of cold launches:
tables (CSV) of Nsight Compute (`ncu --csv`, one row a metric, or one a kernel with `--page raw`)
and of rocprof (one row a kernel, or one a counter). Launches are numbered from 1 in the order of
the table."""
from __future__ import annotations

import csv
import dataclasses
import pathlib

from heddle.base.mistakes import Mistake

# Names of columns, or of metrics, with the bytes or the factor that one counts.
READS = {"dram__sectors_read.sum": 32.0, "TCC_EA_RDREQ_sum": 64.0, "TCC_EA0_RDREQ_sum": 64.0}
SIZES = {"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
BYTES = ("dram__bytes_read.sum",)
CYCLES = ("gpc__cycles_elapsed.max", "sm__cycles_elapsed.max", "GRBM_GUI_ACTIVE")
TIMES = ("gpu__time_duration.sum", "DurationNs")
NAMES = ("Kernel Name", "KernelName", "Kernel_Name")
NUMBERS = ("ID", "Index", "Dispatch_ID", "Dispatch_Id")
METRICS = (("Metric Name", "Metric Value"), ("Counter_Name", "Counter_Value"))


@dataclasses.dataclass
class Profiled:
    """A launch. `texts`: cells that are no numbers."""
    name: str
    number: str
    values: dict[str, float]
    units: dict[str, str]
    texts: dict[str, str]

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


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def _first(row: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((row[name] for name in names if row.get(name)), None)


def _rows(path: str) -> list[tuple[int, dict[str, str]]]:
    """Rows with their numbers in the file."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Mistake(f"cannot read '{path}': it is not text in UTF-8 (byte {error.start})") \
            from None
    except OSError as error:
        raise Mistake(f"cannot read '{path}': {error.strerror}") from None
    # Nsight Compute prints lines of its own, which begin with ==, in front of the table.
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1)
             if line.strip() and not line.startswith(("==", "#"))]
    if not lines:
        raise Mistake(f"'{path}' is empty")
    cells = csv.reader((f"{line}\n" for _, line in lines), strict=True)
    found = []
    try:
        head = [name.strip() for name in next(cells)]
        if not any(name in head for name in NAMES):
            raise Mistake(f"'{path}' is not a profiler's table: no column is called "
                          + " or ".join(f"'{name}'" for name in NAMES))
        for (number, _), row in zip(lines[1:], cells):
            if len(row) != len(head):
                raise Mistake(f"'{path}', line {number}: {len(row)} cells, but the header has "
                              f"{len(head)}")
            found.append((number, dict(zip(head, row))))
    except csv.Error as error:
        raise Mistake(f"'{path}', line {lines[min(cells.line_num, len(lines)) - 1][0]}: {error}") \
            from None
    if not found:
        raise Mistake(f"'{path}' has no launches")
    return found


def _pairs(row: dict[str, str]) -> tuple[str | None, dict[str, str]]:
    """The metric whose row this is, and cells by metric or column."""
    for name, value in METRICS:
        if row.get(name):
            return row[name], {row[name]: row.get(value, "")}
    return None, row


def read(path: str) -> list[Profiled]:
    found: dict[str, Profiled] = {}
    for line, row in _rows(path):
        place = f"'{path}', line {line}"
        name, number = _first(row, NAMES), _first(row, NUMBERS)
        if name is None or number is None:
            continue  # the row of units
        metric, cells = _pairs(row)
        if number in found and (metric is None or metric in found[number].values):
            raise Mistake(f"{place}: launch {number} appears twice"
                          + (f" with {metric}" if metric else ""))
        launch = found.setdefault(number, Profiled(name, number, {}, {}, {}))
        if metric:
            launch.units[metric] = row.get("Metric Unit", "")
        for key, text in {**row, **cells}.items():
            value = _number(text)
            if value is None:
                launch.texts[key] = text
            else:
                launch.values[key] = value
        if metric and metric not in launch.values:
            raise Mistake(f"{place}: '{cells[metric]}' of {metric} is not a number")
    if not found:
        raise Mistake(f"'{path}' has no launches: no row has a kernel and a number "
                      f"({', '.join(NUMBERS)})")
    return list(found.values())


def short(name: str) -> str:
    """A kernel's name without its arguments, templates, namespaces and what profilers add."""
    plain = name.strip().removesuffix("[clone .kd]").strip().removesuffix(".kd")
    plain = plain.replace("(anonymous namespace)::", "").split("(")[0].split("<")[0]
    return plain.split("::")[-1].split(" ")[-1]


def launch_of(table: list[Profiled], path: str, number: int, name: str) -> Profiled:
    """The launch of that number, which has to be of the same kernel."""
    if number > len(table):
        raise Mistake(f"'{path}' has {len(table)} launches, but launch {number} was requested")
    found = table[number - 1]
    if short(name) not in found.name:
        raise Mistake(f"'{path}': launch {number} is '{found.name}', in the simulation '{name}': "
                      "profile the same program with the same arguments")
    return found
