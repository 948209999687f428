"""Shapes and texts of figures. A figure is as wide as a column of a paper; its smallest text is 11
points of 480, which is 7 points in a column of 84 mm."""
from __future__ import annotations

import html
import math

WIDTH = 480
FONT = 'font-family="Helvetica, Arial, DejaVu Sans, sans-serif"'
# Okabe and Ito (2008): also for colour-blind readers.
BLUE, ORANGE, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
YELLOW, SKY, GREY, BLACK = "#e69f00", "#56b4e9", "#999999", "#222222"
# YlGnBu of ColorBrewer (Brewer, 2003), as in the topology.
HEAT = ("ffffd9", "edf8b1", "c7e9b4", "7fcdbb", "41b6c4", "1d91c0", "225ea8", "253494", "081d58")


def escape(words: str) -> str:
    return html.escape(words, quote=True)


def text(x: float, y: float, words: str, anchor: str = "start", size: int = 12,
         more: str = "") -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{more}>'
            f'{escape(words)}</text>')


def box(x: float, y: float, width: float, height: float, fill: str, title: str,
        more: str = "") -> str:
    return (f'<rect x="{x:.2f}" y="{y:.1f}" width="{max(width, 0):.2f}" height="{height:.1f}" '
            f'fill="{fill}"{more}><title>{escape(title)}</title></rect>')


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1,
         more: str = "") -> str:
    return (f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" fill="none" '
            f'stroke-width="{width}"{more}/>')


def document(height: float, parts: list[str], title: str, width: float = WIDTH) -> str:
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} '
                      f'{height:.0f}" width="{width:.0f}" height="{height:.0f}" {FONT} '
                      f'role="img" aria-label="{escape(title)}">',
                      f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
                      *parts, "</svg>", ""])


def heat(share: float, top: float) -> str:
    at = min(max(share / top, 0), 1) * (len(HEAT) - 1)
    low = min(int(at), len(HEAT) - 2)
    a, b = bytes.fromhex(HEAT[low]), bytes.fromhex(HEAT[low + 1])
    return "#" + "".join(f"{round(p + (at - low) * (q - p)):02x}" for p, q in zip(a, b))


def heat_top(share: float) -> int:
    """The end of a scale, in per cent, as `heddle dot` chooses it."""
    return next((top for top in (1, 2, 5, 10, 20, 50) if share * 100 <= top), 100)


def percent(share: float) -> str:
    value = share * 100
    digits = 1 if value >= 1 or value == 0 else 2 if value >= 0.1 else 3
    return f"{value:.{digits}f}\u00a0%"


def count(value: float) -> str:
    """1 234 567 with thin spaces, which do not break."""
    return f"{value:,.0f}".replace(",", "\u202f")


def rate(per_second: float, unit: str = "B/s") -> str:
    for name, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("K", 1e3)):
        if per_second >= factor:
            return f"{per_second / factor:.3g} {name}{unit}"
    return f"{per_second:.3g} {unit}"


class Log:
    """A logarithmic axis from whole powers of ten to whole powers of ten."""

    def __init__(self, low: float, high: float, start: float, end: float):
        self.low = math.floor(math.log10(low) + 1e-9)
        self.high = max(math.ceil(math.log10(high) - 1e-9), self.low + 1)
        self.start, self.end = start, end

    def at(self, value: float) -> float:
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * part

    def ticks(self) -> list[float]:
        step = max(1, math.ceil((self.high - self.low) / 6))
        return [10.0 ** n for n in range(self.low, self.high + 1, step)]


def power(value: float) -> str:
    if 1e-2 <= value < 1e4:
        return f"{value:g}"
    digits = str(round(math.log10(value)))
    return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹⁻"["0123456789-".index(c)] for c in digits)
