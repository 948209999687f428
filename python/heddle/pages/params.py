"""The command `heddle params`: the tables of what `heddle params --json` prints."""
from __future__ import annotations

import itertools
import json
import os
from typing import Any, Iterator

from heddle.base import command_line
from heddle.base.command_line import Options
from heddle.base.files import csv_text, write_or_print

Row = dict[str, Any]
COLUMNS = ("parameter", "members", "value", "number", "unit", "source", "basis", "said_by", "file",
           "line", "doc")


def place(row: Row) -> tuple[str, int]:
    """File and line."""
    file, line, _ = row.get("place", ":0:0").rsplit(":", 2)
    return file, int(line)


def source(row: Row) -> str:
    """A default stands with the documentation of its type, so only a body has a place."""
    file, line = place(row)
    if row["source"] != "body" or not file:
        return str(row["source"])
    return f"body {os.path.basename(file) if file.startswith('/') else file}:{line}"


def first_line(text: str) -> str:
    return text.partition("\n")[0]


def declared(param: Row) -> str:
    """A parameter's declaration: "bits : int = 2 in 1 .. 8"."""
    unit = f"enum {{ {', '.join(param['choices'])} }}" if param["unit"] == "enum" else param["unit"]
    default = f" = {param['default']}" if param["default"] else ""
    return f"{param['parameter']} : {unit}{default}" + (
        f" in {param['range']}" if param["range"] else "")


def lines(rows: list[Row], sources: bool) -> Iterator[str]:
    """The last column says what a number means, or what says so."""
    cells = [("parameter", "value", "source", "basis", "said by" if sources else "meaning")]
    cells += [(row["parameter"], row["value"], source(row), row["basis"],
               first_line(row["said_by" if sources else "doc"])) for row in rows]
    widths = [max(len(one[column]) for one in cells) for column in range(3)] + [9]
    for one in cells:
        yield "".join(f"{text:<{width}}  " for text, width in zip(one, widths)) + one[-1]


def slot_lines(slots: list[Row]) -> Iterator[str]:
    """What slots of one declaration take is said of the first."""
    if slots:
        yield "\nslots, which --set PATH=PART fills"
    known = set()
    for slot in slots:
        group = sum(one["members"] for one in slots if one["parameter"] == slot["parameter"])
        some = f" ({slot['members']} of {group})" if slot["members"] < group else ""
        yield f"{slot['parameter']} = {slot['value']}{some}  {first_line(slot['doc'])}"
        if slot["place"] in known:
            continue
        known.add(slot["place"])
        if slot["optional"]:
            yield "    none"
        for part in slot["takes"]:
            yield f"    {part['part']}  {first_line(part['doc'])}"
            for param in part["parameters"]:
                yield f"        {declared(param)}  {first_line(param['doc'])}"


def takes(slot: Row) -> str:
    """The parts that a slot takes: "none, lru, rrip { bits : int = 2 }"."""
    def declaration(part: Row) -> str:
        params = "; ".join(map(declared, part["parameters"]))
        return f"{part['part']} {{ {params} }}" if params else str(part["part"])
    return ", ".join(["none"] * slot["optional"] + [declaration(part) for part in slot["takes"]])


def table(rows: list[Row]) -> str:
    """Parameters as CSV."""
    return csv_text(COLUMNS, [
        (row["parameter"], row["members"], row["value"], row.get("number", 0), row["unit"],
         row["source"], row.get("basis", ""), row.get("said_by", ""), *place(row),
         takes(row) if row["source"] == "slot" else row["doc"]) for row in rows])


def main(chosen: Options) -> int:
    text = command_line.asked(
        chosen.heddle, "params", "--json", *chosen.files,
        *chosen.again("--set", "--platform", "-I", "--allow-incoherent"))
    if text is None:
        return 1
    rows = json.loads(text)
    slots = [row for row in rows if row["source"] == "slot"]
    text = table(rows) if chosen.csv else "".join(line + "\n" for line in itertools.chain(
        lines(rows[:len(rows) - len(slots)], chosen.sources), slot_lines(slots)))
    write_or_print(chosen.output, text)
    return 0
