"""Figures, each a whole SVG: cycles by kernel, heat map. Rooflines are in roofline.py."""
from __future__ import annotations

from dataclasses import dataclass

from heddle.drawing import draw
from heddle.drawing.draw import WIDTH, box, count, document, heat, percent, text
from heddle.report.runs import Run
from heddle.statistics.kernels import Kernel
from heddle.statistics.measures import RUN, Group

KERNELS_SHOWN = 12

# What rows of the cycle ledger are drawn together: name, colour, groups or kinds.
PARTS = (
    ("issued", draw.GREEN, lambda g, k: g == "issued"),
    ("executing", "#66c2a5", lambda g, k: g == "executing"),
    ("vector memory", draw.BLUE, lambda g, k: k in ("vmcnt", "vector_memory_full",
                                                    "counter_full")),
    ("stores", draw.SKY, lambda g, k: k == "stores"),
    ("scalar memory", draw.PINK, lambda g, k: k in ("lgkmcnt_scalar_memory",
                                                    "scalar_memory_full")),
    ("LDS", draw.YELLOW, lambda g, k: k in ("lgkmcnt_lds", "lds_busy")),
    ("bank conflicts", draw.ORANGE, lambda g, k: k == "lds_conflict"),
    ("barrier", draw.BLACK, lambda g, k: k == "barrier"),
    ("fetch", "#8c6d31", lambda g, k: k == "fetch"),
    ("busy units", draw.GREY, lambda g, k: g == "waiting"),
)


def parted(kernel: Kernel) -> list[tuple[str, str, int]]:
    """Wavefronts' slot-cycles by what is drawn: name, colour, sum."""
    sums = [0] * len(PARTS)
    for (group, kind), value in kernel.rows.items():
        if group in ("issued", "executing", "waiting"):
            sums[next(i for i, part in enumerate(PARTS) if part[2](group, kind))] += value
    return [(name, colour, value) for (name, colour, _), value in zip(PARTS, sums)]


def _bar(kernel: Kernel, y: float, left: float, length: float) -> list[str]:
    parts = parted(kernel)
    whole = sum(value for _, _, value in parts) or 1
    shapes, x = [], left
    for name, colour, value in parts:
        width = value / whole * length
        title = f"{kernel.short}: {name} {percent(value / whole)}, {count(value)} slot-cycles"
        if value:
            shapes.append(box(x, y, width, 18, colour, title,
                              f' data-part="{name}" data-value="{value}"'))
        if width > 44:
            ink = "white" if colour in (draw.BLUE, draw.BLACK, draw.ORANGE, draw.GREEN,
                                        "#8c6d31") else "black"
            shapes.append(text(x + width / 2, y + 13, percent(value / whole), "middle", 11,
                               f' fill="{ink}" pointer-events="none"'))
        x += width
    return shapes


def _legend(kernels: list[Kernel], top: float) -> tuple[list[str], float]:
    used = {name for k in kernels for name, _, value in parted(k) if value}
    shapes, x, y = [], 8.0, top
    for name, colour, _ in PARTS:
        if name not in used:
            continue
        width = 24 + 7.4 * len(name)
        if x + width > WIDTH:
            x, y = 8.0, y + 18
        shapes += [box(x, y, 12, 12, colour, name), text(x + 16, y + 10.5, name)]
        x += width
    return shapes, y + 22


def cycles(run: Run) -> str:
    """Where the cycles of each kernel's wavefronts went; a thin bar below says how much of all
    kernels' time the kernel took."""
    kernels = run.timed()[:KERNELS_SHOWN]
    whole = sum(k.sum("cycles") for k in run.timed()) or 1
    shapes, y = _legend(kernels, 6)
    for kernel in kernels:
        share = kernel.sum("cycles") / whole
        shapes.append(text(8, y + 12, cut(kernel.short, 38)))
        shapes.append(text(WIDTH - 8, y + 12, f"{count(kernel.sum('cycles'))} cycles, "
                           f"{percent(share)}", "end", 11, ' fill="#444"'))
        shapes += _bar(kernel, y + 17, 8, WIDTH - 16)
        shapes.append(box(8, y + 37, (WIDTH - 16) * share, 3, "#555",
                          f"{kernel.short}: {percent(share)} of all kernels' cycles"))
        y += 50
    return document(y, shapes, "where cycles went, by kernel")


def cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[:most - 1] + "…"


@dataclass
class Level:
    """Caches or memory of one kind: the bytes that they can move in a second, and the bytes that
    they moved."""
    path: str
    colour: str
    peak: float

    @property
    def name(self) -> str:
        return self.path.removesuffix(".timing").split(".")[-1].replace("[*]", "")


def memories(run: Run, scope: str) -> list[Group]:
    """Groups with a bandwidth that answer requests for memory. A memory and its timing part count
    as one: the one that can move less."""
    groups = {g.path: g for g in run.groups_of(scope, "bandwidth")
              if g.kind in ("cache", "memory", "part")}
    for path in list(groups):
        owner = path.rsplit(".", 1)[0]
        if owner in groups:
            worse = path if groups[path].whole >= groups[owner].whole else owner
            del groups[worse]
    return list(groups.values())


def levels(run: Run) -> list[Level]:
    """Levels that moved at least a twentieth of the bytes of the busiest one, in order of their
    peaks."""
    groups = memories(run, RUN)
    most = max((g.part for g in groups), default=0)
    colours = (draw.ORANGE, draw.BLUE, draw.GREEN, draw.PINK, draw.YELLOW, draw.SKY, draw.BLACK)
    found = [Level(g.path, "", g.whole / g.rows[0].time_ps * 1e12) for g in groups
             if most and g.part >= most / 20]
    found.sort(key=lambda level: -level.peak)
    for level, colour in zip(found, colours):
        level.colour = colour
    return found[:len(colours)]


def issue(run: Run, scope: str) -> Group | None:
    return max(run.groups_of(scope, "issue"), key=lambda g: g.whole, default=None)


CELLS = 32  # in a row of the heat map


def heat_map(run: Run, measure: str, scale: int | None = None) -> str | None:
    """A cell for every element of every array. None: no array has that measure."""
    groups = [g for g in run.groups_of(RUN, measure) if len(g.rows) > 1 and g.kind != "connection"]
    if not groups:
        return None
    top = scale or draw.heat_top(max(g.hottest.share for g in groups))
    shapes = [text(8, 16, f"{measure.replace('_', ' ')} of the whole run", size=13)]
    for i in range(50):
        shapes.append(box(250 + i * 3, 6, 3.4, 12, heat(i / 49, 1), f"{i / 49 * top:.1f} %"))
    shapes += [text(244, 16, "0 %", "end", 11), text(404, 16, f"{top} %", size=11)]
    y = 34.0
    for group in groups:
        shapes.append(text(8, y + 10, group.path, size=12))
        shapes.append(text(WIDTH - 8, y + 10, f"{percent(group.share)}, most "
                           f"{percent(group.hottest.share)}", "end", 11, ' fill="#444"'))
        size = (WIDTH - 16) / CELLS
        for i, row in enumerate(group.rows):
            title = (f"{row.path}: {measure.replace('_', ' ')} {percent(row.share)}, "
                     f"{count(row.part)} of {count(row.whole)}")
            shapes.append(box(8 + i % CELLS * size, y + 15 + i // CELLS * 13, size - 1, 12,
                              heat(row.share, top / 100), title,
                              f' stroke="#ccc" stroke-width="0.4" data-path="{row.path}" '
                              f'data-share="{row.share:.6g}"'))
        y += 15 + (len(group.rows) + CELLS - 1) // CELLS * 13 + 9
    return document(y, shapes, f"heat map of {measure}")

