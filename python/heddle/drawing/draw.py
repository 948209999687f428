"""Shapes, texts and axes of figures, for all commands. A figure is as wide as a column of a paper;
its smallest text is 11 points of 480, which is 7 points in a column of 84 mm."""
from __future__ import annotations

import base64
import html
import math
import struct
import zlib
from typing import Sequence

WIDTH = 480
FONT = 'font-family="Helvetica, Arial, DejaVu Sans, sans-serif"'
# Okabe and Ito (2008): also for colour-blind readers.
BLUE, ORANGE, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
YELLOW, SKY, GREY, BLACK = "#e69f00", "#56b4e9", "#999999", "#222222"
# In an order in which neighbours differ most; with the shapes there are 24 different marks.
COLOURS = (BLUE, ORANGE, GREEN, PINK, YELLOW, SKY, "#000000", "#888888")
SHAPES = ("circle", "square", "triangle")
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


def heat_image(x: float, y: float, width: float, height: float,
               rows: Sequence[Sequence[str | None]], title: str) -> str:
    """Cells of a heat map as one picture (PNG), each of a colour; None: no value."""
    def chunk(name: bytes, data: bytes) -> bytes:
        return (struct.pack(">I", len(data)) + name + data
                + struct.pack(">I", zlib.crc32(name + data)))

    lines = b"".join(b"\0" + bytes.fromhex("".join((cell or "#e0e0e0")[1:] for cell in row))
                     for row in rows)
    png = (b"\x89PNG\r\n\x1a\n"
           + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0))
           + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))
    return (f'<image x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;'
            f'base64,{base64.b64encode(png).decode()}"><title>{escape(title)}</title></image>')


def axis_of_time(end_ps: int, left: float, right: float, y: float) -> list[str]:
    """Times from 0 on below a figure, at most six."""
    step = next(factor * 10**power for power in range(20) for factor in (1, 2, 5)
                if end_ps // (factor * 10**power) < 6)
    shapes = []
    for time in range(0, end_ps + 1, step):
        place = "start" if time == 0 else "end" if time > end_ps * 0.97 else "middle"
        shapes.append(text(left + (right - left) * time / end_ps, y, f"{time / 1e6:.6g}", place,
                           11))
    return [*shapes, text((left + right) / 2, y + 14, "µs", "middle", 11)]


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

    def __init__(self, values: Sequence[float], start: float, end: float):
        self.low = math.floor(math.log10(min(values)) + 1e-9)
        self.high = max(math.ceil(math.log10(max(values)) - 1e-9), self.low + 1)
        self.start, self.end = start, end

    def at(self, value: float) -> float:
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * part

    def ticks(self, most: int = 6) -> list[float]:
        if self.high - self.low == 1:
            return [10.0 ** self.low * part for part in (1, 2, 5, 10)]
        step = max(1, math.ceil((self.high - self.low) / most))
        return [10.0 ** n for n in range(self.low, self.high + 1, step)]


class Linear:
    """An axis whose ticks are 1, 2 or 5 times a power of ten apart."""

    def __init__(self, values: Sequence[float], start: float, end: float, from_zero: bool = True):
        least, most = min(values), max(values)
        if from_zero or least == most:
            least, most = min(least, 0.0), max(most, 0.0)
        rough = ((most - least) or 1.0) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        self.step = next(power * part for part in (1, 2, 5, 10) if power * part >= rough * 0.999)
        self.low = math.floor(least / self.step + 1e-9) * self.step
        self.high = max(math.ceil(most / self.step - 1e-9) * self.step, self.low + self.step)
        self.start, self.end = start, end

    def at(self, value: float) -> float:
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)

    def ticks(self, _most: int = 6) -> list[float]:
        count = round((self.high - self.low) / self.step)
        return [round(self.low + self.step * n, 12) for n in range(count + 1)]


def tick_text(value: float) -> str:
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:g}"
    power = math.floor(math.log10(abs(value)) + 1e-9)
    digits = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹⁻"["0123456789-".index(c)] for c in str(power))
    part = value / 10.0 ** power
    return f"10{digits}" if abs(part - 1) < 1e-9 else f"{part:.3g}·10{digits}"


def mark(x: float, y: float, which: int, size: float = 1.0, title: str = "") -> str:
    """24 different ones: colours and shapes."""
    colour = COLOURS[which % len(COLOURS)]
    shape = SHAPES[which // len(COLOURS) % len(SHAPES)]
    style = f'fill="{colour}" fill-opacity="0.75"'
    tooltip = f"><title>{escape(title)}</title></" if title else ""
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{3.5 * size:.3g}" {style}' \
            + (f"{tooltip}circle>" if tooltip else "/>")
    if shape == "square":
        side = 6.4 * size
        return (f'<rect x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:.3g}" '
                f'height="{side:.3g}" {style}' + (f"{tooltip}rect>" if tooltip else "/>"))
    return (f'<path d="M{x:.1f} {y - 4.2 * size:.1f}l{4 * size:.3g} {7 * size:.3g}'
            f'h{-8 * size:.3g}z" {style}' + (f"{tooltip}path>" if tooltip else "/>"))
