"""`heddle whatif --uncertainty`: the interval of a result that follows from numbers of the machine
that are assumed or fitted.

Each number that the run depended on and that is assumed or fitted is set to both ends of its range.
A description may state that at the beginning of the source ("Assumed: 10cy .. 40cy; ...").
Otherwise the kind of source does: an assumed number goes from half to double, a fitted one from a
fifth less to a fourth more. Choices stay as they are.

The interval takes the errors as independent: what one number adds, or takes away, is squared, added
up, and the root taken. Two runs show how far the result goes when all numbers err the same way: one
with all ends that slow it down, and one with all ends that speed it up. Parameters of the fullest
components come first, so a budget of runs goes to what is likely to matter."""
from __future__ import annotations

import dataclasses
import json
import math
import re
from typing import Any, Sequence

from heddle.base.command_line import Options
from heddle.base.files import csv_text, write
from heddle.statistics.statistics_file import Statistics, title
from heddle.sweeps.values import QUANTITY, family_of, number_of, range_of, spelled
from heddle.verdict import noise_floor as noise
from heddle.whatif import sensitivity
from heddle.whatif.sensitivity import Parameter, Point

FACTORS = {"assumed": (0.5, 2.0), "fitted": (0.8, 1.25)}  # of the value, by the kind of source
STATED = re.compile(rf"({QUANTITY.pattern}) \.\. ({QUANTITY.pattern})")
ROWS_MIN = 5  # of the table, however little they change


def stated(source: str) -> tuple[float, float] | None:
    """The range at the beginning of a source, in the smallest unit of its quantity."""
    found = STATED.match(source)
    return range_of(found[0]) if found else None


def ends(value: str, row: dict[str, Any]) -> list[str]:
    """What a parameter may be instead, the lower end first; nothing of what is no number."""
    number, family = number_of(value), None
    if number:
        found = QUANTITY.fullmatch(value)
        family = family_of(found[2]) if found else None
    if not number or not family or row.get("basis") not in FACTORS:
        return []
    factors = FACTORS["assumed" if "pow2" in row.get("range", "") else row["basis"]]
    low, high = stated(row.get("said_by") or "") or (number * factors[0], number * factors[1])
    least, most = range_of(row.get("range", "")) or (0, math.inf)
    wanted = [round(max(low, least)), round(min(high, most))]
    return [spelled(end, family, None) for end in wanted if end > 0 and end != number]


def unknown(run: Statistics, rows: Sequence[dict[str, Any]]) -> list[Parameter]:
    """The unknown parameters that the run depended on."""
    known = {row["parameter"]: row for row in rows}
    found = []
    for one in sensitivity.parameters(run, rows):
        points = {end: Point((f"{one.name}={end}",))
                  for end in ends(one.value, known.get(one.name, {}))}
        if points:
            found.append(Parameter(one.name, one.value, points))
    return found


@dataclasses.dataclass
class Interval:
    """The interval of a result, in ps. `corners`: when all err the same way; None: that cannot be
    run."""
    base: int
    low: float
    high: float
    corners: tuple[int | None, int | None]
    tried: int
    of: int

    @property
    def words(self) -> str:
        text = (f"{self.base / 1e6:.4g} us, {self.low / 1e6:.4g} to {self.high / 1e6:.4g} us "
                f"({100 * (self.low / self.base - 1):+.1f} to "
                f"{100 * (self.high / self.base - 1):+.1f} %) by {self.tried} "
                f"number{'s that are' if self.tried != 1 else ' that is'} assumed or fitted")
        if self.tried < self.of:
            text += f", of {self.of}; the others were not tried"
        if all(self.corners):
            fast, slow = (f"{(corner or 0) / 1e6:.4g}" for corner in self.corners)
            text += f"; {fast} to {slow} us if all err the same way"
        return text


def effects(parameter: Parameter, base: int) -> tuple[float, float]:
    """What it takes away and adds at most, as shares."""
    changes = [point.change(base) for point in parameter.points.values()]
    return min([0.0, *changes]), max([0.0, *changes])


def interval(found: Sequence[Parameter], base: int, total: int,
             corners: Sequence[Point] = ()) -> Interval:
    pairs = [effects(one, base) for one in found]
    less, more = (math.sqrt(sum(pair[side] ** 2 for pair in pairs)) for side in (0, 1))
    results = [point.result for point in corners] or [None, None]
    return Interval(base, base * max(1 - less, 0), base * (1 + more), (results[0], results[1]),
                    len(found), total)


def corners_of(found: Sequence[Parameter], base: int, floor: float) -> list[Point]:
    """All ends together that speed the run up beyond chance, and all that slow it down."""
    def together(sign: int) -> Point:
        settings: list[str] = []
        for one in found:
            best = max(one.points.values(), key=lambda point: sign * point.change(base))
            if sign * best.change(base) > floor:
                settings += best.settings
        return Point(tuple(settings))
    return [together(-1), together(1)]


# ---- what is told


def lines(found: Sequence[Parameter], result: Interval, name: str, rows: Sequence[dict[str, Any]],
          top: int) -> list[str]:
    known = {row["parameter"]: row for row in rows}
    order = sorted(found, key=lambda one: (-one.effect(result.base), one.name))
    shown = [one for one in order[:top] if one.effect(result.base) > 0] or order[:ROWS_MIN]
    cells = [("parameter", "kind", "now", "at its ends")]
    for one in shown:
        words = ", ".join(
            f"{100 * point.change(result.base):+.1f} % at {end}" if point.result else
            f"refused at {end}" for end, point in one.points.items())
        cells.append((one.name, str(known[one.name]["basis"]), one.value, words))
    widths = [max(len(row[i]) for row in cells) for i in range(3)]
    still = len(found) - sum(one.effect(result.base) > 0 for one in found)
    return [f"{name}: {result.words}", "",
            *("  ".join(f"{cell:<{width}}" for cell, width in zip(row, (*widths, 0))).rstrip()
              for row in cells),
            *([f"{still} others changed nothing"] if still else [])]


def rows_csv(found: Sequence[Parameter], base: int, rows: Sequence[dict[str, Any]]) -> str:
    known = {row["parameter"]: row for row in rows}
    return csv_text(["parameter", "kind", "value", "setting", "time_ps", "change", "message"],
                    ([one.name, known[one.name]["basis"], one.value, point.settings[0],
                      point.result or "",
                      f"{point.change(base):.6f}" if point.result else "", point.message]
                     for one in found for point in one.points.values()))


def main(chosen: Options) -> int:
    from heddle.whatif import whatif
    study = whatif.Study(chosen)
    base, run, _ = study.base()
    result, shaken = base.result or 1, sensitivity.disturbances(run)
    rows, weight = study.described(run)
    unknowns = sorted(unknown(run, rows), key=lambda one: -weight(one))
    found = whatif.within(chosen, unknowns, study.seconds, 1 + len(shaken) + 2)
    study.run("unknown", [*shaken, *(point for one in found for point in one.points.values())])
    floor = max([whatif.LEAST, *(abs(point.change(result)) for point in shaken)])
    corners = corners_of(found, result, floor)
    if all(point.settings for point in corners):
        study.run("corners", corners)
    bounds = interval(found, result, len(unknowns), corners)
    noise.keep_interval(run, bounds.words)
    print("\n".join(lines(found, bounds, title(run), rows, chosen.top)))
    write(study.folder / "uncertainty.csv", rows_csv(found, result, rows))
    write(study.folder / "uncertainty.json",
          json.dumps(dataclasses.asdict(bounds), indent=1) + "\n")
    return 0
