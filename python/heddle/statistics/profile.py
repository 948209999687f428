"""The profile of instructions, as `heddle run --profile instructions` writes it, and its table.
Columns called GROUP.KIND are slot-cycles of wavefronts."""
from __future__ import annotations

import csv
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator

from heddle.base import vocabulary
from heddle.base.mistakes import Mistake
from heddle.statistics import statistics_file
from heddle.statistics.statistics_file import Identity, Statistics, identity, kernel_labels, number

SYMBOLIZER = "llvm-symbolizer-19"
CAUSES = 3  # named beside an instruction
TEXTS = {"kernel", "symbol", "instruction"}
AMDGPU = (224).to_bytes(2, "little")  # e_machine of an ELF file

Row = dict[str, str]
Place = tuple[str, int]  # a symbol of the code, and an offset from it


def _damage(rows: list[Row]) -> str:
    """What is wrong with the first row that no run has written; "": nothing is."""
    for i, row in enumerate(rows, 1):
        if None in row or None in row.values():
            return f"row {i} does not fit the head"
        for name, value in row.items():
            number = value.removeprefix("-") if name == "offset" else value
            if name not in TEXTS and not number.isdecimal():
                return f"{name} of row {i} is {value!r:.60}, which is not a number"
    return ""


def read(path: str) -> list[Row]:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            found = list(rows)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Mistake(f"cannot read the profile '{path}': {error}") from error
    needed = {"symbol", "offset", "instruction",
              *(("kernel", "device", "executions") if found else ())}
    if not needed <= set(rows.fieldnames or []):
        raise Mistake(f"'{path}' is not what `heddle run --profile instructions=FILE` writes")
    if damage := _damage(found):
        raise Mistake(f"the profile '{path}' is damaged: {damage}")
    return found


def kernel(row: Row) -> Identity:
    return row["kernel"], int(row["device"])


def labels(rows: list[Row]) -> dict[Identity, str]:
    return statistics_file.labels([map(kernel, rows)])


def check_is_of(rows: list[Row], path: str, statistics: Statistics, other: str) -> None:
    """Each kernel has executed as many instructions, in as many slot-cycles, as the statistics of
    the same run say."""
    ran: dict[Identity, list[int]] = {}
    for launch in statistics.get("kernels", []):
        counts = ran.setdefault(identity(launch), [0, 0])
        counts[0] += number(launch, "wavefront_instructions")
        counts[1] += number(launch, "occupancy", "achieved", "wavefront_cycles")
    profiled: dict[Identity, list[int]] = {}
    for row in rows:
        counts = profiled.setdefault(kernel(row), [0, 0])
        counts[0] += int(row["executions"])
        counts[1] += cycles(row)
    names = labels(rows) | kernel_labels(statistics)
    for key, counts in profiled.items():
        if ran.get(key) != counts:
            had = "has {} instructions in {} slot-cycles".format(*ran[key]) if key in ran else \
                "has no such kernel"
            raise Mistake(f"the profile '{path}' is of another run than '{other}': it has "
                          f"{names[key]} with {counts[0]} instructions in {counts[1]} slot-cycles, "
                          f"and the other {had}; make both with one `heddle run --stats FILE "
                          "--profile instructions=FILE`")


def cycles(row: Row) -> int:
    return sum(int(value) for name, value in row.items() if "." in name)


def causes(row: Row) -> list[tuple[str, float]]:
    """What most of an instruction's cycles went to, with the shares."""
    whole = cycles(row) or 1
    kinds = sorted(((name, int(value) / whole) for name, value in row.items() if "." in name),
                   key=lambda kind: -kind[1])
    return [kind for kind in kinds[:CAUSES] if kind[1] >= 0.05]


def requests(row: Row, level: str) -> tuple[int, int, int]:
    """Requests to the caches of a level: hits, requests that joined a pending miss, and misses."""
    hits, merged, misses = (int(row.get(f"{level}_{kind}", 0))
                            for kind in ("hits", "merged", "misses"))
    return hits, merged, misses


def _code_objects(program: bytes) -> Iterator[bytes]:
    """GPU code wherever it stands in the program, each with all that is behind it."""
    at = program.find(b"\x7fELF")
    while at >= 0:
        if program[at + 18:at + 20] == AMDGPU:
            yield program[at:]
        at = program.find(b"\x7fELF", at + 1)


def _asked(code: bytes, places: list[Place]) -> dict[Place, str]:
    """What the symbolizer knows of the places: "FILE:LINE"."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        done = subprocess.run(
            [SYMBOLIZER, f"--obj={file.name}", "--no-inlines", "--functions=none", "--basenames"],
            input="".join(f"{symbol}+{offset:#x}\n" for symbol, offset in places),
            capture_output=True, text=True, check=True, errors="replace")
    return {place: answer.strip().partition("\n")[0].rpartition(":")[0]
            for place, answer in zip(places, done.stdout.split("\n\n"))
            if not answer.strip().startswith("?")}


def source_lines(program: str | None, rows: list[Row]) -> dict[Place, str]:
    """Lines of the source, out of the debug information that `-g` leaves in a program."""
    try:
        code = Path(program).read_bytes() if program else b""
    except OSError:
        code = b""
    known: dict[Place, str] = {}
    if b".debug_line" not in code:
        return known
    places = [(row["symbol"], int(row["offset"])) for row in rows if int(row["offset"]) >= 0]
    try:
        for one in _code_objects(code):
            known = _asked(one, [place for place in places if place not in known]) | known
    except (OSError, subprocess.CalledProcessError):
        print(f"heddle run: no lines of the source: '{SYMBOLIZER}', of Debian's package llvm-19, "
              "says nothing", file=sys.stderr)
    return known


def _hits(row: Row, level: str) -> str:
    """"38+3 %": hits, and requests that joined a pending miss."""
    hits, merged, misses = requests(row, level)
    asked = hits + merged + misses
    return f"{hits / asked * 100:.0f}+{merged / asked * 100:.0f} %" if asked else ""


def _line(row: Row, whole: int, place: str) -> str:
    executions, lines, own = int(row["executions"]), int(row["lines"]), cycles(row)
    offset, memory = int(row["offset"]), ""
    if lines and executions:
        memory = f"{lines / executions:.1f} / {int(row['memory_cycles']) / executions:.0f}"
    at = f"{'-' if offset < 0 else '+'}0x{abs(offset):04x}"
    why = ", ".join(f"{name} {share * 100:.0f} %" for name, share in causes(row))
    return (f"  {at:>12} {executions:>10} {own:>12} {own / (whole or 1) * 100:5.1f} % "
            f"{memory:>12} {_hits(row, 'l1'):>7} {_hits(row, 'l2'):>7}  {row['instruction']:<44}"
            + "".join(f"  ; {words}" for words in (why, place) if words))


def table(path: str, program: str | None) -> str:
    """The instructions of each kernel in order, with what their cycles went to, and the line of the
    source where the program knows it."""
    rows = read(path)
    if not rows:
        return "no kernel ran with timing, so there is no profile of instructions\n"
    places, text, names = source_lines(program, rows), "", labels(rows)
    for one, group in itertools.groupby(rows, key=kernel):
        members = list(group)
        whole = sum(map(cycles, members))
        executed = sum(int(row["executions"]) for row in members)
        slots = f"{whole} slot-cycles of wavefronts"
        if "waiting.memory" in members[0]:
            slots = vocabulary.nvidia(slots)
        text += (f"{names[one]}\n  {executed} instructions executed, {slots}\n\n"
                 f"  {'offset':>12} {'executions':>10} {'slot-cycles':>12} {'of all':>7} "
                 f"{'lines / cy':>12} {'L1':>7} {'L2':>7}  instruction  ; most of its cycles\n")
        text += "".join(
            _line(row, whole, places.get((row["symbol"], int(row["offset"])), "")) + "\n"
            for row in members) + "\n"
    return text
