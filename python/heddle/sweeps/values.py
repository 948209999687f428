"""Values of what is varied: lists, ranges, and the numbers that they are."""
from __future__ import annotations

import math
import re

from heddle.base.mistakes import Mistake

MOST = 100_000  # values of one parameter; beyond it somebody has mistyped a range

# Units of one quantity, the smallest first.
FAMILIES: tuple[dict[str, int], ...] = (
    {"": 1}, {"cy": 1},
    {"B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "TiB": 2 ** 40},
    {"Hz": 1, "kHz": 10 ** 3, "MHz": 10 ** 6, "GHz": 10 ** 9},
    {"ps": 1, "ns": 10 ** 3, "us": 10 ** 6, "ms": 10 ** 9, "s": 10 ** 12},
    {"B/s": 1, "KB/s": 10 ** 3, "MB/s": 10 ** 6, "GB/s": 10 ** 9, "TB/s": 10 ** 12,
     "KiB/s": 2 ** 10, "MiB/s": 2 ** 20, "GiB/s": 2 ** 30, "TiB/s": 2 ** 40},
    {"B/cy": 1},
)
QUANTITY = re.compile(r"(-?\d+(?:\.\d+)?)([A-Za-z]*(?:/[a-z]+)?)")
WHOLE = r"(\d+)([A-Za-z]*(?:/[a-z]+)?)"
RANGE = re.compile(rf"{WHOLE}\.\.{WHOLE}(?:([*+]){WHOLE})?")


def family_of(unit: str) -> dict[str, int] | None:
    return next((family for family in FAMILIES if unit in family), None)


def number_of(text: str) -> float | None:
    """The number in the smallest unit of its quantity; None: it is a word."""
    found = QUANTITY.fullmatch(text)
    family = family_of(found[2]) if found else None
    return float(found[1]) * family[found[2]] if found and family else None


def _range(text: str, found: re.Match[str], place: str) -> list[str]:
    """LO..HI by ones, LO..HI+STEP, LO..HI*FACTOR."""
    low, low_unit, high, high_unit, operator, step, step_unit = found.groups()
    units = {low_unit, high_unit} | ({step_unit} if operator == "+" else set())
    family = family_of(high_unit)
    if family is None or any(unit not in family for unit in units) or (
            operator == "*" and step_unit):
        raise Mistake(f"{place}: the units of '{text}' do not fit together", usage=True)
    if operator is None and len(units) > 1:
        raise Mistake(f"{place}: '{text}' needs a step, as in {text}*2", usage=True)
    factor = family[high_unit] if operator is None else 1
    at, end = int(low) * family[low_unit] // factor, int(high) * family[high_unit] // factor
    by = int(step) * (family[step_unit] if operator == "+" else 1) if operator else 1
    if at > end or (operator == "*" and (by < 2 or at < 1)) or by < 1:
        raise Mistake(f"{place}: '{text}' is not a range: the smaller end comes first, steps are "
                      "positive, factors at least 2", usage=True)
    values: list[str] = []
    while at <= end:
        if len(values) == MOST:
            raise Mistake(f"{place}: '{text}' has more than {MOST} values", usage=True)
        values.append(spelled(at * factor, family, high_unit if len(units) == 1 else None))
        at = at * by if operator == "*" else at + by
    return values


def spelled(number: int, family: dict[str, int], unit: str | None) -> str:
    """The number in `unit`, if there is one; otherwise in the largest that leaves no fraction."""
    if unit is None or number % family[unit]:
        unit = max((u for u in family if number % family[u] == 0), key=lambda u: family[u])
    return f"{number // family[unit]}{unit}"


FLIPPED = {"false": "true", "true": "false"}


def range_of(text: str) -> tuple[float, float] | None:
    """The ends of a range as descriptions have it, "1KiB .. 64MiB pow2"; None: there is none, or
    they are no numbers."""
    ends = [number_of(end.split()[0]) for end in text.split("..") if end.strip()]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        return None
    return ends[0], ends[1]


def halved_and_doubled(value: str, range_text: str = "") -> dict[str, str]:
    """"half" and "double" of a number, as far as the range goes, "other" of a bool; nothing of a
    word, or of what would be none."""
    if value in FLIPPED:
        return {"other": FLIPPED[value]}
    found = QUANTITY.fullmatch(value)
    family = family_of(found[2]) if found else None
    number = round(float(found[1]) * family[found[2]]) if found and family else 0
    least, most = range_of(range_text) or (1, math.inf)
    return {which: spelled(other, family or {}, None)
            for which, other in (("half", number // 2), ("double", number * 2))
            if other > 0 and least <= other <= most}


def parse_values(text: str, place: str) -> list[str]:
    """`256KiB,1MiB` or `1..4` or both; each value once."""
    values: list[str] = []
    for part in text.split(","):
        part = part.strip()
        if not part:
            raise Mistake(f"{place}: a value of '{text}' is empty", usage=True)
        found = RANGE.fullmatch(part)
        if ".." in part and not found:
            raise Mistake(f"{place}: '{part}' is not a range; one is LO..HI, LO..HI+STEP or "
                          "LO..HI*FACTOR, of whole numbers", usage=True)
        values += _range(part, found, place) if found else [part]
    once: set[str] = set()
    for value in values:
        if value in once:
            raise Mistake(f"{place}: the value '{value}' appears twice", usage=True)
        once.add(value)
    return values
