"""The trust in a run (`--report trust`): how many of its instructions may have other bits in
their results than on a card, and the sources of its components' numbers.

Instructions are counted by the classes of the slot-cycles in which they are issued
(components/protocols/work/work_cycles.h, components/protocols/thread_block/warp_cycles.h), so
instructions of launches without timing are not divided. Parameters are those of components that
have counted something, and of the platform as a whole; each array counts once."""
from __future__ import annotations

import json
import pathlib
from collections import Counter
from typing import Any, Iterator

from heddle.base import command_line
from heddle.base.command_line import Options
from heddle.base.mistakes import Mistake
from heddle.statistics.model import question
from heddle.statistics.statistics_file import Statistics, collapse, number
from heddle.verdict.noise_floor import interval_of

# What the classes hold that a card may round otherwise: docs/design/amd.md, "Floating point", and
# components/nvidia/warp/README.md.
APPROXIMATE = {
    "valu_transcendental": "reciprocals, roots, exponentials, logarithms, sines and cosines",
    "valu_f64_transcendental": "reciprocals and roots of doubles",
    "sfu": "approximate functions",
    "tensor": "matrix products",
}
BASES = ("measured", "published", "derived", "fitted", "assumed", "unstated")


def _counts(values: Any) -> bool:
    """Has a component counted anything?"""
    if isinstance(values, dict):
        return any(map(_counts, values.values()))
    return isinstance(values, (int, float)) and values != 0


def instructions(run: Statistics) -> tuple[int, Counter[str], int]:
    """Slot-cycles of all instructions, those of each approximate class, and the instructions of
    launches that have none."""
    issued, classes, untimed = 0, Counter[str](), 0
    for kernel in run.get("kernels", []):
        found = kernel.get("slot_cycles", {}).get("issued")
        if not found:
            untimed += number(kernel, "wavefront_instructions")
            continue
        issued += sum(found.values())
        classes.update({name: found[name] for name in APPROXIMATE if found.get(name)})
    return issued, classes, untimed


def parameters(run: Statistics, rows: list[dict[str, Any]]) -> tuple[Counter[str], int]:
    """Counts the parameters that the run depended on, by their basis, and the others."""
    used = {collapse(path) for path, values in run.get("components", {}).items()
            if _counts(values)}
    all_owners = {collapse(path) for path in run.get("components", {})}
    found, idle = Counter[str](), 0
    for row in rows:
        owner = str(row["parameter"]).rpartition(".")[0]
        if row["source"] == "slot":
            continue
        if owner in all_owners - used:
            idle += 1
        else:
            found[row["basis"]] += 1
    return found, idle


def _of_instructions(run: Statistics) -> Iterator[str]:
    issued, classes, untimed = instructions(run)
    if issued:
        share = 100 * sum(classes.values()) / issued
        yield f"  instructions  {100 - share:.1f} % exact, {share:.1f} % approximate"
        for name, value in classes.most_common():
            yield f"    {100 * value / issued:.1f} % {APPROXIMATE[name]}"
    if untimed:
        yield (f"  instructions  {untimed} of launches without timing, which are not divided by "
               "class")


def lines(run: Statistics, rows: list[dict[str, Any]]) -> Iterator[str]:
    found, idle = parameters(run, rows)
    whole = sum(found.values())
    yield "How far to trust this run"
    yield from _of_instructions(run)
    yield f"  parameters    {whole} that it depended on, {idle} of components that had no part"
    for basis in BASES:
        if found[basis]:
            yield f"    {found[basis]:>5} {basis} ({100 * found[basis] / whole:.0f} %)"
    yield "  heddle params PLATFORM --sources names the source of each"
    known = interval_of(run)
    yield f"  result        {known}" if known else (
        "  `heddle whatif --uncertainty` says how far the result depends on those that are assumed "
        "or fitted")


def section(run: Statistics, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The statement, as the section `trust` of the statistics."""
    issued, classes, untimed = instructions(run)
    found, idle = parameters(run, rows)
    return {"instructions": {"counted": issued, "approximate": dict(classes), "untimed": untimed},
            "parameters": {basis: found[basis] for basis in BASES} | {"idle": idle}}


def keep(path: str, facts: dict[str, Any]) -> None:
    """Adds the section behind all others, which stay as they were written."""
    file = pathlib.Path(path)
    text = file.read_text(encoding="utf-8").rstrip()
    added = json.dumps(facts, indent=1).replace("\n", "\n ")
    file.write_text(f'{text.removesuffix("}").rstrip()},\n "trust": {added}\n}}\n',
                    encoding="utf-8")


def report(chosen: Options, run: Statistics, path: str,
           description: str | None, kept: bool = False) -> list[str]:
    """`kept`: also in the file."""
    _, words = question(chosen, run, path, description)
    text = command_line.asked(chosen.heddle, "params", "--json", *words)
    if text is None:
        raise Mistake(f"the parameters of '{path}' are not known")
    rows = json.loads(text)
    if kept:
        keep(path, section(run, rows))
    return list(lines(run, rows))
