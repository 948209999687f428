"""What happened over time: the measures of a series (`heddle run --series`) as lines and as a heat
map, of all elements of an array together."""
from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Callable, Iterable

from heddle import draw
from heddle.draw import WIDTH, box, document, heat, line, percent, text
from heddle.intervals import Row
from heddle.mistakes import Mistake
from heddle.report.runs import MEASURES, Run

LINES = 6  # of a chart
COLOURS = (draw.BLUE, draw.ORANGE, draw.GREEN, draw.PINK, draw.YELLOW, draw.SKY)
INSTRUCTIONS, ACTIVE = "instructions", "active_cycles"  # counters of what executes
DEPTHS = re.compile(r"(occupancy|in_flight|depth)$")  # histograms of how full a queue was
LEFT, RIGHT = 58.0, WIDTH - 8.0


@dataclass
class Track:
    """One measure of one place: `part` of `whole` in each interval."""
    path: str
    kind: str
    name: str
    part: dict[int, float] = field(default_factory=dict)  # by the number of the interval
    whole: dict[int, float] = field(default_factory=dict)

    def share(self, i: int) -> float:
        return self.part.get(i, 0) / self.whole[i] if self.whole.get(i) else 0.0

    @property
    def total(self) -> float:
        return sum(self.part.values())

    @property
    def mean(self) -> float:
        return self.total / (sum(self.whole.values()) or 1)


class Series:
    """The intervals of a run, and its tracks by measure or counter."""

    def __init__(self, run: Run, path: str):
        self.intervals: list[tuple[int, int]] = []
        self.tracks: dict[str, list[Track]] = defaultdict(list)
        self.depths = sorted({name for told in run.root["components"].values()
                              for name, value in told.items()
                              if isinstance(value, dict) and DEPTHS.search(name)})
        names = [INSTRUCTIONS, ACTIVE, *self.depths]
        self._read(run.series(path, names))

    def _read(self, rows: Iterable[Row]) -> None:
        numbers: dict[tuple[int, int], int] = {}
        known: dict[tuple[str, str], Track] = {}
        for row in rows:
            interval = row.from_ps, row.to_ps
            if interval not in numbers:
                numbers[interval] = len(self.intervals)
                self.intervals.append(interval)
            key = row.path, row.measure
            if key not in known:
                known[key] = Track(row.path, row.kind, row.measure)
                self.tracks[row.measure].append(known[key])
            known[key].part[numbers[interval]] = row.part
            known[key].whole[numbers[interval]] = row.whole
        if not self.intervals:
            raise Mistake("the series has no intervals")

    def busiest(self, name: str, kinds: tuple[str, ...] = ()) -> list[Track]:
        """Tracks that are not 0 throughout, those with the most first."""
        found = [t for t in self.tracks.get(name, []) if t.total and (not kinds or t.kind in kinds)]
        return sorted(found, key=lambda t: (-t.total, t.path))

    def seconds(self, i: int) -> float:
        return (self.intervals[i][1] - self.intervals[i][0]) * 1e-12

    @property
    def end(self) -> int:
        return self.intervals[-1][1]

    def at(self, time_ps: int) -> float:
        """Its place in a figure."""
        return LEFT + (RIGHT - LEFT) * time_ps / self.end


def ticks(end: int, most: int = 6) -> list[int]:
    """Round times from 0 to `end`, at most so many."""
    step = next(factor * 10**power for power in range(20) for factor in (1, 2, 5)
                if end // (factor * 10**power) < most)
    return list(range(0, end + 1, step))


def axis(series: Series, y: float) -> list[str]:
    """Times below a figure."""
    shapes = []
    for time in ticks(series.end):
        place = ("start" if time == 0 else "end" if time > series.end * 0.97 else "middle")
        shapes.append(text(series.at(time), y, f"{time / 1e6:.6g}", place, 11))
    shapes.append(text((LEFT + RIGHT) / 2, y + 14, "µs", "middle", 11))
    return shapes


def _steps(series: Series, values: list[float | None], top: float, y: float,
           height: float) -> str:
    """A line with a gap where there is no value."""
    path, begins = "", True
    for (start, end), value in zip(series.intervals, values):
        if value is not None:
            at = y + height - height * value / top
            path += "M" if begins else "L"
            path += f"{series.at(start):.1f} {at:.1f}L{series.at(end):.1f} {at:.1f}"
        begins = value is None
    return path


def chart(series: Series, title: str, tracks: list[Track],
          value: Callable[[Track, int], float | None],
          words: Callable[[float], str]) -> str | None:
    """A line for each track, and its numbers where the pointer rests. None: there is no track."""
    shown = tracks[:LINES]
    if not shown:
        return None
    lines = [[value(track, i) for i in range(len(series.intervals))] for track in shown]
    y, height = 26.0, 120.0
    scale = draw.Linear([0.0, *(v for values in lines for v in values if v)], y + height, y)
    top = scale.high
    shapes = [text(8, 16, title, size=13)]
    for tick in scale.ticks():
        at = scale.at(tick)
        shapes.append(line(LEFT, at, RIGHT, at, "#e8e8e8"))
        shapes.append(text(LEFT - 5, at + 4, words(tick), "end", 11))
    for track, values, colour in zip(shown, lines, COLOURS):
        shapes.append(f'<path d="{_steps(series, values, top, y, height)}" fill="none" '
                      f'stroke="{colour}" stroke-width="1.5" data-line="{draw.escape(track.path)}" '
                      f'data-name="{draw.escape(track.name)}" data-total="{track.total:.17g}"/>')
    for i, (start, end) in enumerate(series.intervals):
        told = "\n".join([f"{start / 1e6:.6g} to {end / 1e6:.6g} µs"] + [
            f"{track.path} {'–' if (told_of := values[i]) is None else words(told_of)}"
            for track, values in zip(shown, lines)])
        shapes.append(box(series.at(start), y, series.at(end) - series.at(start), height, "white",
                          told, ' fill-opacity="0"'))
    shapes += axis(series, y + height + 14)
    below = y + height + 46
    for i, (track, colour) in enumerate(zip(shown, COLOURS)):
        at_x, at_y = 32 + i % 2 * 232, below + i // 2 * 16
        shapes.append(line(at_x - 22, at_y - 4, at_x - 5, at_y - 4, colour, 2))
        shapes.append(text(at_x, at_y, cut(track.path), size=11))
    more = len(tracks) - len(shown)
    end = below + (len(shown) + 1) // 2 * 16
    if more:
        shapes.append(text(32, end, f"and {more} with less", size=11))
        end += 16
    return document(end - 6, shapes, title)


def cut(path: str, most: int = 34) -> str:
    return path if len(path) <= most else path[:most // 2 - 1] + "…" + path[-(most // 2):]


def charts(series: Series) -> list[str]:
    """Work, occupancy, bandwidth and queues."""
    drawn = [
        chart(series, "instructions a cycle of each unit", series.busiest(INSTRUCTIONS),
              Track.share, lambda v: f"{v:.3g}"),
        chart(series, "occupancy: units that hold wavefronts", series.busiest(ACTIVE),
              Track.share, percent),
        chart(series, "bandwidth of each level",
              [t for t in series.busiest("bandwidth") if t.kind not in ("link", "part")],
              lambda t, i: t.part.get(i, 0) / series.seconds(i), draw.rate),
        chart(series, "bandwidth of links", series.busiest("bandwidth", ("link",)),
              lambda t, i: t.part.get(i, 0) / series.seconds(i), draw.rate),
        chart(series, "hit rates", [t for t in series.busiest("hit_rate") if t.kind != "part"],
              lambda t, i: t.share(i) if t.whole.get(i) else None, percent),
        *(chart(series, name.replace("_", " "), series.busiest(name), Track.share,
                lambda v: f"{v:.3g}") for name in series.depths),
    ]
    return [figure for figure in drawn if figure]


def heat_map(series: Series, measure: str) -> str | None:
    """A row for each place, a cell for each interval. None: nothing has that measure."""
    tracks = sorted((t for t in series.tracks.get(measure, []) if t.total
                     and t.kind not in ("connection", "part")), key=lambda t: t.path)
    if not tracks:
        return None
    count = range(len(series.intervals))
    top = draw.heat_top(max(t.share(i) for t in tracks for i in count))
    title = f"{measure.replace('_', ' ')} over time"
    shapes = [text(8, 16, title, size=13)]
    for i in range(50):
        shapes.append(box(250 + i * 3, 6, 3.4, 12, heat(i / 49, 1), f"{i / 49 * top:.1f} %"))
    shapes += [text(244, 16, "0 %", "end", 11), text(404, 16, f"{top} %", size=11)]
    y = 30.0
    for track in tracks:
        shapes.append(text(8, y + 10, cut(track.path, 48), size=11))
        shapes.append(text(WIDTH - 8, y + 10, f"{percent(track.mean)} in all", "end", 11,
                           ' fill="#444"'))
        for i, (start, end) in enumerate(series.intervals):
            if track.whole.get(i):
                told = (f"{track.path}, {start / 1e6:.6g} to {end / 1e6:.6g} µs: "
                        f"{percent(track.share(i))}")
                shapes.append(box(series.at(start), y + 14, series.at(end) - series.at(start) + 0.3,
                                  11, heat(track.share(i), top / 100), told))
        y += 29
    shapes += axis(series, y + 10)
    return document(y + 28, shapes, title)


def heat_maps(series: Series) -> dict[str, str]:
    drawn = {measure: heat_map(series, measure) for measure in MEASURES}
    return {measure: figure for measure, figure in drawn.items() if figure}
