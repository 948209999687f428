"""Rooflines: of vector instructions, as in the instruction roofline of Ding and Williams (PMBS
2019), and of floating-point operations (Williams, Waterman and Patterson, CACM 2009). Their roofs
are what the description gives: what compute units issue, and what levels of memory can move."""
from __future__ import annotations

from dataclasses import dataclass

from heddle.drawing import draw
from heddle.drawing.draw import WIDTH, Log, document, line, percent, text
from heddle.report import flops, roofs
from heddle.report.figures import KERNELS_SHOWN, Level, cut, issue, levels
from heddle.report.roofs import Roof
from heddle.report.runs import Run
from heddle.statistics.kernels import Kernel

BOTTOM, TOP, LEFT, RIGHT = 330.0, 16.0, 62.0, WIDTH - 12.0
LABEL = 11.0  # height of a kernel's number


@dataclass
class Work:
    """What is counted: its names, how much of it each kernel did, its roofs, the highest first."""
    name: str
    unit: str
    done: dict[str, float]  # by the kernel's label
    roofs: list[Roof]

    @property
    def peak(self) -> float:
        return self.roofs[0].peak


@dataclass
class Point:
    kernel: Kernel
    number: int
    level: Level
    intensity: float  # work a byte
    speed: float      # work a second


def instructions(run: Run) -> Work | None:
    roof = roofs.vector_issue(run)
    if not roof:
        return None
    done = {kernel.label: own.part for kernel in run.timed()
            if (own := issue(run, kernel.label)) and own.part}
    return Work("vector instructions", "instructions/s", done, [roof])


def operations(run: Run, profile: str) -> Work | None:
    """Operations by the instructions of a profile."""
    by_kernel = flops.by_kernel(profile)
    found = roofs.multiply_adds(run, {kind for kinds in by_kernel.values() for kind in kinds})
    done = {kernel.label: float(sum(by_kernel.get((kernel.name, kernel.gpu), {}).values()))
            for kernel in run.timed()}
    done = {label: value for label, value in done.items() if value}
    return Work("floating-point operations", "FLOP/s", done, found) if done and found else None


def _points(run: Run, found: list[Level], work: Work) -> list[Point]:
    points = []
    for number, kernel in enumerate(run.timed()[:KERNELS_SHOWN], 1):
        moved = {g.path: g for g in run.groups_of(kernel.label, "bandwidth")}
        done = work.done.get(kernel.label, 0.0)
        for level in found:
            group = moved.get(level.path)
            if done and group and group.part > 0:
                seconds = group.rows[0].time_ps / 1e12
                points.append(Point(kernel, number, level, done / group.part, done / seconds))
    return points


def roofline(run: Run, work: Work | None) -> str | None:
    """None: nothing to draw."""
    found = levels(run)
    points = _points(run, found, work) if work else []
    if not points or work is None:
        return None
    ridges = [work.peak / level.peak for level in found]
    xs = [p.intensity for p in points] + ridges
    ys = [p.speed for p in points] + [roof.peak for roof in work.roofs]
    x = Log([min(xs) / 2, max(xs) * 4], LEFT, RIGHT)
    y = Log([min(ys) / 1.5, max(ys) * 1.2], BOTTOM, TOP)
    shapes = [*_grid(x, y, work), *_roofs(found, work, x, y), *_dots(points, work, x, y)]
    return _document(run, found, work, shapes)


def _grid(x: Log, y: Log, work: Work) -> list[str]:
    shapes = []
    for value in x.ticks():
        shapes.append(line(x.at(value), y.start, x.at(value), y.end, "#e8e8e8"))
        shapes.append(text(x.at(value), y.start + 15, draw.tick_text(value), "middle", 11))
    for value in y.ticks():
        shapes.append(line(x.start, y.at(value), x.end, y.at(value), "#e8e8e8"))
        shapes.append(text(x.start - 5, y.at(value) + 4, draw.tick_text(value), "end", 11))
    shapes.append(text((x.start + x.end) / 2, y.start + 32, f"{work.name} a byte", "middle"))
    shapes.append(text(14, (y.start + y.end) / 2, f"{work.name} a second", "middle", 12,
                       f' transform="rotate(-90 14 {(y.start + y.end) / 2:.0f})"'))
    return shapes


def _roofs(found: list[Level], work: Work, x: Log, y: Log) -> list[str]:
    shapes = []
    right, floor = 10.0 ** x.high, 10.0 ** y.low
    for i, level in enumerate(found):
        ridge = work.peak / level.peak
        # Of roofs in one place each is seen beside those drawn over it.
        over = sum(abs(other.peak / level.peak - 1) < 0.02 for other in found[i + 1:])
        low = max(10.0 ** x.low, floor / level.peak)
        if ridge > low:
            shapes.append(line(x.at(low), y.at(low * level.peak), x.at(ridge), y.at(work.peak),
                               level.colour, 1.8 + 3.2 * over))
    for i, roof in enumerate(work.roofs):
        start = min(roof.peak / level.peak for level in found)
        shapes.append(line(x.at(max(start, 10.0 ** x.low)), y.at(roof.peak), x.at(right),
                           y.at(roof.peak), draw.BLACK, 1.8, _dashes(i)))
    return shapes


def _dashes(i: int) -> str:
    return ' stroke-dasharray="5 3"' if i else ""


def _dots(points: list[Point], work: Work, x: Log, y: Log) -> list[str]:
    """A dot for each kernel and level. The levels of a kernel are in a line, as it did its work in
    one time: its number stands once, beside the rightmost, and moves down until it is free."""
    shapes, last = [], dict[int, Point]()
    for p in points:
        roof = min(work.peak, p.intensity * p.level.peak)
        title = (f"{p.number} {p.kernel.short}, {p.level.name}: {p.intensity:.3g} {work.name} a "
                 f"byte, {draw.rate(p.speed, work.unit)}, {percent(p.speed / roof)} of the roof "
                 "above it")
        shapes.append(f'<circle cx="{x.at(p.intensity):.1f}" cy="{y.at(p.speed):.1f}" r="4.5" '
                      f'fill="{p.level.colour}" stroke="white"><title>{draw.escape(title)}</title>'
                      '</circle>')
        if p.number not in last or p.intensity > last[p.number].intensity:
            last[p.number] = p
    taken = [(x.at(p.intensity) - 5, y.at(p.speed) - 5, 10.0, 10.0) for p in points]
    for number, p in sorted(last.items(), key=lambda item: -item[1].speed):
        dot_x, dot_y = x.at(p.intensity), y.at(p.speed)
        width = 6.5 * len(str(number))
        place = (dot_x + 8, dot_y - LABEL / 2, width, LABEL)
        while any(_overlap(place, other) for other in taken) and place[1] < BOTTOM:
            place = (place[0], place[1] + 2, width, LABEL)
        taken.append(place)
        if place[1] > dot_y:
            shapes.append(line(dot_x + 3, dot_y + 3, place[0] - 1, place[1] + 4, "#999999", 0.8))
        shapes.append(text(place[0], place[1] + LABEL - 2, str(number), size=11,
                           more=f' data-kernel="{number}"'))
    return shapes


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return (a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3]
            and b[1] < a[1] + a[3])


def _document(run: Run, found: list[Level], work: Work, shapes: list[str]) -> str:
    """The legend: what lines mean, and which kernel has which number."""
    entries = [(draw.BLACK, _dashes(i), f"{roof.words} {draw.rate(roof.peak, work.unit)}")
               for i, roof in enumerate(work.roofs)]
    entries += [(level.colour, "", f"{level.name} {draw.rate(level.peak)}") for level in found]
    top = BOTTOM + 50
    for i, (colour, dashes, words) in enumerate(entries):
        at_x, at_y = 36 + i % 2 * 246, top + i // 2 * 18
        shapes.append(line(at_x - 24, at_y - 4, at_x - 6, at_y - 4, colour, 2, dashes))
        shapes.append(text(at_x, at_y, cut(words, 32)))
    bottom = top + (len(entries) + 1) // 2 * 18 + 4
    kernels = run.timed()[:KERNELS_SHOWN]
    for i, kernel in enumerate(kernels):
        shapes.append(text(38 + i % 2 * 220, bottom + i // 2 * 16,
                           f"{i + 1} {cut(kernel.short, 28)}", size=11))
    return document(bottom + (len(kernels) + 1) // 2 * 16 + 2, shapes,
                    f"roofline of {work.name}")
