"""The description of a calibration: what was measured, and how it is simulated.

A TOML file:

    title    = "MI300A"                        # for plots
    platform = "platforms/mi300a.heddle"       # as in `heddle run`
    set      = ["gpu.l2=8MiB"]                 # settings of all points; may be left out
    limit    = 300                             # CPU seconds a point; 300 if left out

    [table]
    file  = "mi300a.csv"     # beside this file; lines that begin with # are comments
    label = "kernel_name"    # the column with the label; of a table without one, all rows have
                             # the one label that is described
    value = "min_ms"         # the column with what was measured
    unit  = "ms"
    low   = "low_ms"         # columns with the interval of the measurement; may be left out
    high  = "high_ms"
    pairs = "fixed"          # a column of name=value;name=value, each a placeholder; optional
    where = { class = "a" }  # only rows with these values; may be left out

    [defaults]               # for all labels; the same keys as of one
    read = '^{label} {size} ([0-9.]+)$'
    unit = "ms"

    [labels.vectoradd]
    arguments = { problem_size = '(?P<size>\\d+)' }
    command   = ["build/vectoradd", "{size}"]
    size      = "size"

Keys of a label:

    name       what a row is called in tables, such as "{quantity}"; if left out, the values of the
               placeholders of the command
    command    the program and its arguments; {NAME} is a column of the table, a name of `pairs`, a
               named group of `arguments`, or {label}; {NAME...} alone is split into words
    arguments  column = regular expression that the whole value matches, with named groups
    read       where the result comes from: "kernels" (all launches' durations), "last kernel",
               "simulated time", or a regular expression with one group, searched line by line in
               what the program prints; of several lines the last counts
    unit       of what the expression finds; if left out, that of the table
    factor     what is found, times this, is compared; a number or a placeholder
    over       this over what is found, times the factor: for rates; likewise
    size       the placeholder with which the cost of a point grows
    small      { below = SIZE, arguments = [...] }: arguments that points of less than SIZE have
               besides, such as more calls to warm up, which are cheap there
    points     so many points of the label, evenly spread over its sizes, instead of all
    where      only rows with these values
    options    options of `heddle run`, such as ["--kernels", "auto"]
    note       printed beside the label, such as what is known to be wrong
"""
from __future__ import annotations

import csv
import dataclasses
import pathlib
import re
from typing import Any, Mapping

from heddle.base.mistakes import Mistake
from heddle.base.toml import Reader, load

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
FROM_STATISTICS = ("kernels", "last kernel", "simulated time")
TOP_KEYS = {"title", "platform", "set", "limit", "table", "defaults", "labels"}
TABLE_KEYS = {"file", "label", "value", "unit", "low", "high", "pairs", "where"}
PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)(?:\.\.\.)?\}")  # not the braces of [0-9]{3}
LABEL_KEYS = {"command", "arguments", "read", "unit", "size", "points", "where", "options", "note",
              "factor", "over", "name",
              "small"}


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of the measured table."""

    label: str
    name: str                    # label and arguments
    values: Mapping[str, str]    # placeholders
    size: float                  # with which its cost grows; 0: unknown
    family: tuple[str, ...]      # its other arguments; those of a family grow with the size
    measured: float              # in the unit of the table
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True)
class Label:
    name: str
    command: tuple[str, ...]
    arguments: Mapping[str, str]
    read: str
    unit: str
    size: str | None
    points: int | None
    where: Mapping[str, str]
    options: tuple[str, ...]
    note: str
    factor: str
    over: str
    naming: str
    small_below: float
    small_arguments: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Description:
    path: pathlib.Path
    title: str
    platform: str
    set: tuple[str, ...]
    limit: float
    unit: str                    # of the table
    labels: Mapping[str, Label]
    rows: tuple[Row, ...]


def read(path: pathlib.Path) -> Description:
    reader = Reader(path)
    top = load(path)
    reader.known(top, TOP_KEYS, "at the top")
    table = reader.section(top, "table", TABLE_KEYS, "of [table]")
    unit = reader.get(table, "unit", str, "of [table]", "ms")
    labels = _labels(reader, top, unit)
    return Description(
        path=path, title=reader.get(top, "title", str, "at the top", path.stem),
        platform=reader.get(top, "platform", str, "at the top", ...),
        set=reader.texts(top, "set", "at the top"),
        limit=reader.get(top, "limit", float, "at the top", 300.0),
        unit=unit, labels=labels, rows=tuple(_rows(reader, table, labels)))


def _labels(reader: Reader, top: Mapping[str, Any], unit: str) -> dict[str, Label]:
    defaults = reader.section(top, "defaults", LABEL_KEYS, "of [defaults]")
    given = top.get("labels")
    if not isinstance(given, dict) or not given:
        raise reader.wrong("no label is described: [labels.NAME]")
    return {name: _label(reader, name, defaults, found, unit) for name, found in given.items()}


def _label(reader: Reader, name: str, defaults: Mapping[str, Any], found: Any, unit: str) -> Label:
    where = f"of [labels.{name}]"
    if not isinstance(found, dict):
        raise reader.wrong(f"'{name}' is a section: [labels.{name}]")
    reader.known(found, LABEL_KEYS, where)
    both = {**defaults, **found}
    small = reader.section(both, "small", {"below", "arguments"}, f"of 'small' {where}")
    label = Label(
        name=name, command=reader.texts(both, "command", where, ...),
        arguments=reader.pairs(both, "arguments", where),
        read=reader.get(both, "read", str, where, "kernels"),
        unit=reader.get(both, "unit", str, where, unit),
        size=reader.get(both, "size", str, where, None),
        points=reader.get(both, "points", int, where, None),
        where=reader.pairs(both, "where", where),
        options=reader.texts(both, "options", where), note=reader.get(both, "note", str, where, ""),
        factor=reader.get(both, "factor", str, where, ""),
        over=reader.get(both, "over", str, where, ""),
        naming=reader.get(both, "name", str, where, ""),
        small_below=reader.get(small, "below", float, f"of 'small' {where}", 0.0),
        small_arguments=reader.texts(small, "arguments", f"of 'small' {where}"))
    if label.small_arguments and not label.size:
        raise reader.wrong(f"'small' {where} needs a 'size'")
    if not label.command:
        raise reader.wrong(f"'command' {where} is empty")
    if label.points is not None and label.points < 1:
        raise reader.wrong(f"'points' {where} must be at least 1")
    _check_units(reader, label, unit, where)
    return label


def _check_units(reader: Reader, label: Label, unit: str, where: str) -> None:
    if label.read in FROM_STATISTICS:
        if unit not in SECONDS:
            raise reader.wrong(f"'{label.read}' {where} is a time, but the unit of the table is "
                               f"'{unit}'")
        return
    if label.unit != unit and not (label.unit in SECONDS and unit in SECONDS):
        raise reader.wrong(f"'{label.unit}' {where} cannot be converted to '{unit}', the unit of "
                           "the table")
    try:
        groups = re.compile(PLACEHOLDER.sub("x", label.read)).groups
    except re.error as error:
        raise reader.wrong(f"'read' {where} is not a regular expression: {error}") from None
    if groups != 1:
        raise reader.wrong(f"'read' {where} must have one group, the number, not {groups}; or be "
                           f"one of {', '.join(FROM_STATISTICS)}")


def conversion(label: Label, unit: str) -> float:
    """What the program says, times this, is in the unit of the table."""
    return SECONDS[label.unit] / SECONDS[unit] if label.unit != unit else 1.0


# ---- the table


def _rows(reader: Reader, table: Mapping[str, Any], labels: Mapping[str, Label]) -> list[Row]:
    file = reader.path.parent / reader.get(table, "file", str, "of [table]", ...)
    try:
        with open(file, encoding="utf-8", newline="") as stream:
            numbered = [(n, line) for n, line in enumerate(stream, 1)
                        if line.strip() and not line.startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise Mistake(f"cannot read the table '{file}': {error}") from None
    lines = csv.DictReader([line for _, line in numbered], strict=True)
    names = lines.fieldnames or []
    only = next(iter(labels)) if len(labels) == 1 and "label" not in (*table, *names) else None
    columns = {key: reader.get(table, key, str, "of [table]", default) for key, default in (
        ("label", None if only else "label"), ("value", "value"), ("low", None), ("high", None),
        ("pairs", None))}
    for name in columns.values():
        if name is not None and name not in names:
            raise Mistake(f"{file}: there is no column '{name}'; there are "
                          f"{', '.join(names or ['none'])}")
    chosen = reader.pairs(table, "where", "of [table]")
    rows: dict[str, list[Row]] = {name: [] for name in labels}
    for (number, _), cells in zip(numbered[1:], lines):
        if None in cells or None in cells.values():
            raise Mistake(f"{file}:{number}: {len(names)} cells are expected")
        label = labels.get(only or cells[columns["label"]])
        if label and _matches(cells, {**chosen, **label.where}, f"{file}:{number}"):
            rows[label.name].append(_row(f"{file}:{number}", label, cells, columns))
    for name, found in rows.items():
        if not found:
            raise Mistake(f"{file}: no row has the label '{name}' of {reader.path}")
        rows[name] = spread(sorted(found, key=lambda row: row.size), labels[name].points)
    return [row for found in rows.values() for row in found]


def _matches(cells: Mapping[str, str], where: Mapping[str, str], place: str) -> bool:
    for column in where:
        if column not in cells:
            raise Mistake(f"{place}: there is no column '{column}', of which 'where' speaks")
    return all(cells[column] == value for column, value in where.items())


def _number(text: str, name: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise Mistake(f"{place}: {name} must be a positive number, not '{text}'")
    return value


def _row(place: str, label: Label, cells: Mapping[str, str],
         columns: Mapping[str, str | None]) -> Row:
    values = {**cells, "label": label.name}
    if columns["pairs"]:
        for pair in filter(None, cells[columns["pairs"]].split(";")):
            key, equals, value = pair.partition("=")
            if not equals:
                raise Mistake(f"{place}: '{pair}' is not NAME=VALUE")
            values[key.strip()] = value.strip()
    for column, expression in label.arguments.items():
        found = re.fullmatch(expression, cells.get(column, ""))
        if not found:
            raise Mistake(f"{place}: '{cells.get(column)}' of column '{column}' does not match "
                          f"'{expression}' of [labels.{label.name}]")
        values.update(found.groupdict(default=""))
    for text in (label.factor, label.over):
        if fill(text, values, place):
            _number(fill(text, values, place), f"'{text}'", place)
    size = _number(values[label.size], f"'{label.size}'", place) \
        if label.size and label.size in values else 0.0
    if label.size and label.size not in values:
        raise Mistake(f"{place}: there is no '{label.size}', which [labels.{label.name}] calls "
                      "the size")
    words(label, values, place)  # says now what would be missing later
    limits = [_number(cells[columns[key] or ""], key, place) if columns[key] else None
              for key in ("low", "high")]
    used = [name for text in label.command for name in PLACEHOLDER.findall(text) if name != "label"]
    suffix = [fill(label.naming, values, place)] if label.naming else [values[n] for n in used]
    name = " ".join([label.name, *suffix])
    family = tuple(values[name] for name in used if name != label.size)
    return Row(label.name, name, values, size, family,
               _number(cells[columns["value"] or ""], "what was measured", place), *limits)


def spread(rows: list[Row], count: int | None) -> list[Row]:
    if count is None or count >= len(rows):
        return rows
    if count == 1:
        return rows[:1]
    return [rows[round(i * (len(rows) - 1) / (count - 1))] for i in range(count)]


def words(label: Label, values: Mapping[str, str], place: str) -> list[str]:
    """The command of a row. An empty cell is no argument."""
    out: list[str] = []
    for text in label.command:
        filled = fill(text, values, place)
        out += filled.split() if re.fullmatch(r"\{\w+\.\.\.\}", text) else [filled]
    out = [word for word in out if word]
    if label.size and label.small_arguments and float(values[label.size]) < label.small_below:
        out += label.small_arguments
    return out


def form(label: Label, row: Row) -> str:
    """What makes the row one of its label: NAME=VALUE of each placeholder of the command."""
    names = (name for text in label.command for name in PLACEHOLDER.findall(text))
    setting = " ".join(f"{name}={row.values[name]}" for name in names if name != "label")
    return row.name.removeprefix(label.name).strip() if label.naming else setting


def fill(text: str, values: Mapping[str, str], place: str, escape: bool = False) -> str:
    """`text` with its placeholders; `escape`: it is a regular expression, the values are not."""
    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in values:
            raise Mistake(f"{place}: nothing is called '{name}' here; there are "
                          f"{', '.join(sorted(values))}")
        return re.escape(values[name]) if escape else values[name]
    return PLACEHOLDER.sub(value, text)
