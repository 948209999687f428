"""Plots as SVG, for a column of a paper: a square of all points, and a panel for each label."""
from __future__ import annotations

import math
from typing import Sequence

from heddle.calibration.compare import Compared, by_label, errors_of, percent
from heddle.drawing.draw import WIDTH, Log, document, mark, text, tick_text


def _axes(x: Log, y: Log, ticks: int, size: int) -> list[str]:
    parts = []
    for value in x.ticks(ticks):
        at = x.at(value)
        parts.append(f'<path d="M{at:.1f} {y.start:.1f}V{y.end:.1f}" stroke="#e4e4e4"/>')
        parts.append(text(at, y.start + size + 4, tick_text(value), "middle", size))
    for value in y.ticks(ticks):
        at = y.at(value)
        parts.append(f'<path d="M{x.start:.1f} {at:.1f}H{x.end:.1f}" stroke="#e4e4e4"/>')
        parts.append(text(x.start - 5, at + size / 3, tick_text(value), "end", size))
    parts.append(f'<rect x="{x.start:.1f}" y="{y.end:.1f}" width="{x.end - x.start:.1f}" '
                 f'height="{y.start - y.end:.1f}" fill="none" stroke="#666"/>')
    return parts


def _columns(labels: Sequence[str]) -> int:
    """A third of the square has room for 19 letters."""
    return 3 if all(len(label) <= 19 for label in labels) else 2


def _legend(labels: Sequence[str], top: float) -> list[str]:
    """The legend, in columns below the square."""
    parts, columns = [], _columns(labels)
    for i, label in enumerate(labels):
        x, y = 24 + (i % columns) * (WIDTH - 30) / columns, top + (i // columns) * 19
        parts += [mark(x, y - 4, i), text(x + 9, y, label, "start", 12)]
    return parts


def scatter(points: Sequence[Compared], title: str, unit: str, note: str = "") -> str:
    """All points: measured to the right, simulated upwards; on the line they are the same, in the
    band within 20 %. `told` stands below the title in place of their errors."""
    labels = list(by_label(points))
    values = [v for p in points for v in (p.row.measured, max(p.simulated, 1e-12))]
    x, y = Log(values, 66, WIDTH - 16), Log(values, 446, 52)
    low, high = 10.0 ** x.low, 10.0 ** x.high
    errors = errors_of(points)
    note = note or (f"{errors.points} points: mean error {percent(errors.mean)}, time-weighted "
                    f"{percent(errors.weighted)}")
    band = (f"M{x.at(low):.1f} {y.at(low * 1.2):.1f}L{x.at(high / 1.2):.1f} {y.at(high):.1f}"
            f"L{x.at(high):.1f} {y.at(high):.1f}L{x.at(high):.1f} {y.at(high / 1.2):.1f}"
            f"L{x.at(low * 1.2):.1f} {y.at(low):.1f}L{x.at(low):.1f} {y.at(low):.1f}z")
    parts = [text(WIDTH / 2, 20, title, "middle", 16), text(WIDTH / 2, 40, note, "middle", 13),
             *_axes(x, y, 8, 13), f'<path d="{band}" fill="#0072b2" fill-opacity="0.12"/>',
             f'<path d="M{x.at(low):.1f} {y.at(low):.1f}L{x.at(high):.1f} {y.at(high):.1f}" '
             'stroke="#666" stroke-width="1"/>']
    parts += [mark(x.at(p.row.measured), y.at(max(p.simulated, 1e-12)), labels.index(p.row.label))
              for p in points]
    parts += [text((x.start + x.end) / 2, 484, f"measured, {unit}", "middle", 14),
              text(18, 250, f"simulated, {unit}", "middle", 14,
                   ' transform="rotate(-90 18 250)"')]
    parts += _legend(labels, 512)
    return document(512 + 19 * math.ceil(len(labels) / _columns(labels)), parts, title)


PANEL_WIDTH, PANEL_HEIGHT = WIDTH / 2, 190


def _panel(label: str, points: Sequence[Compared], left: float, top: float) -> list[str]:
    """A label by size: the line is measured, the marks are simulated."""
    ordered = sorted(points, key=lambda p: p.row.size)
    sizes = [p.row.size for p in ordered]
    if not all(sizes) or len(set(sizes)) < len(sizes):
        sizes = [float(n) for n in range(1, len(ordered) + 1)]  # by its number
    values = [v for p in ordered for v in (p.row.measured, max(p.simulated, 1e-12))]
    x = Log(sizes, left + 52, left + PANEL_WIDTH - 18)
    y = Log(values, top + PANEL_HEIGHT - 28, top + 28)
    line = " ".join(f"{x.at(s):.1f},{y.at(p.row.measured):.1f}" for s, p in zip(sizes, ordered))
    error = percent(errors_of(ordered).mean)
    parts = [text(left + 52, top + 20, f"{label}, {error}", "start", 13), *_axes(x, y, 4, 11),
             f'<polyline points="{line}" fill="none" stroke="#444" stroke-width="1.6"/>']
    for size, p in zip(sizes, ordered):
        if p.row.low is not None and p.row.high is not None:
            parts.append(f'<path d="M{x.at(size):.1f} {y.at(p.row.low):.1f}'
                         f'V{y.at(p.row.high):.1f}" stroke="#444" stroke-width="1"/>')
        parts.append(mark(x.at(size), y.at(max(p.simulated, 1e-12)), 1))
    return parts


def panels(points: Sequence[Compared], title: str, unit: str) -> str:
    """A panel for each label, two in a row."""
    parts = [text(WIDTH / 2, 20, title, "middle", 16)]
    note = f"{unit} by size: the line is measured, the dots are simulated"
    parts.append(text(WIDTH / 2, 40, note, "middle", 13))
    groups = by_label(points)
    for i, (label, members) in enumerate(groups.items()):
        parts += _panel(label, members, i % 2 * PANEL_WIDTH, 48 + i // 2 * PANEL_HEIGHT)
    return document(56 + PANEL_HEIGHT * math.ceil(len(groups) / 2), parts, title)
