"""`heddle whatif`: what would the result be if a parameter of the platform were half or double?

The run alone comes first, with the limits that its report names. Then each parameter that the run
depends on (heddle.whatif.sensitivity) gets other values, and the three that help most are combined.
All runs are points of sweeps (heddle.sweeps) in folders of DIR, so an interrupted command goes on:
`base` is the run alone, `runs` has a point for each value, `pairs` combines.

The noise floor is the largest change that disturbed runs show, which are as right as the one
without changes. A value that moves the result by no more than that cannot be told from chance.
Results are times of kernels, so that clocks can be compared; of a run in which kernels are little,
of all."""
from __future__ import annotations

import csv
import dataclasses
import itertools
import json
import os
import pathlib
import sys
import time
from typing import Any, Callable, Sequence

from heddle.base import provenance
from heddle.base.command_line import Options
from heddle.base.files import csv_text, write
from heddle.base.mistakes import Mistake
from heddle.base.progress import progress_on
from heddle.drawing import draw
from heddle.statistics import differences, kernels
from heddle.statistics.statistics_file import Statistics, number, read, title
from heddle.sweeps import plan as plans
from heddle.sweeps.database import DONE, Reading
from heddle.sweeps.sweep import BUILD_SECONDS, SAVED, Sweep, Toolkit
from heddle.verdict import noise_floor as noise, limits
from heddle.verdict.kernel_facts import Limit, Setting
from heddle.whatif import sensitivity
from heddle.whatif.sensitivity import Parameter, Point

PAIRED = 3         # parameters that are combined
TOP = 20           # rows of the table and of the plot
LEAST = 0.001      # of the noise floor: a few runs may all come out alike
UNABLE = 7         # status of a run whose platform its checks refuse
WAYS = {"half": (draw.BLUE, "halved"), "double": (draw.ORANGE, "doubled"),
        "other": (draw.GREEN, "another choice")}


@dataclasses.dataclass
class Diagnosis:
    """What the report says of the longest kernel, and what became of the settings it proposes."""
    kernel: str
    limit: Limit
    tried: list[tuple[Setting, Point]] = dataclasses.field(default_factory=list)
    worse: list[Point] = dataclasses.field(default_factory=list)  # the other way

    def take(self, parameters: Sequence[Parameter]) -> None:
        points = [point for one in parameters for point in one.points.values() if point.result]
        for setting in self.limit.tries:
            self.tried += [(setting, point) for point in points
                           if sensitivity.same(point.settings, setting.sets)]
            self.worse += [point for point in points
                           if sensitivity.same(point.settings, setting.against)]

    def verdict(self, base: int, floor: float) -> str:
        """Says whether a setting that it proposes makes the run shorter by more than chance does;
        where none does, whether the other way makes it longer."""
        if not self.limit.tries:
            return "no setting of the machine takes this away: it is in the program"
        best = min(self.tried, key=lambda one: one[1].change(base), default=None)
        worst = max(self.worse, key=lambda point: point.change(base), default=None)
        helps = best[1].change(base) if best else 0.0
        if worst and helps >= -floor and worst.change(base) > floor:
            return (f"confirmed the other way: {' with '.join(worst.settings)} changes the time by "
                    f"{percent(worst.change(base))}")
        if not best:
            return "not confirmed: it names no setting that could be tried"
        return (f"{'confirmed' if helps < -floor else 'not confirmed'}: {best[0].words} "
                f"({best[0].reason}) changes the time by {percent(helps)}"
                + (", which is within the noise floor" if abs(helps) <= floor else ""))


@dataclasses.dataclass
class Found:
    """All that is told; `base` in picoseconds."""
    name: str
    base: int
    cycles: int  # 0: it is not the time of kernels
    floor: float
    disturbed: list[Point]
    parameters: list[Parameter]
    pairs: list[Point]
    diagnosis: Diagnosis | None

    @property
    def took(self) -> str:
        of_kernels = f"{self.cycles} cycles of kernels, " if self.cycles else "simulated time, "
        return f"{of_kernels}{self.base / 1e3:.1f} ns"

    def moving(self) -> list[Parameter]:
        return [one for one in self.parameters if one.effect(self.base) > 0]


# ---- runs


class Study:
    """The folder, and what is run in it."""

    def __init__(self, chosen: Options):
        self.chosen, self.folder = chosen, pathlib.Path(chosen.output)
        self.toolkit = Toolkit(chosen.heddle, chosen.hip)
        self.generic: bool | None = True
        self.seconds = 0.0  # CPU time of a run
        self.of_kernels = True  # the result
        self.finished = self.points = 0

    def run(self, name: str, points: list[Point], *options: str) -> None:
        plan = plans.of_command_line(
            self.chosen.files, [], self.chosen.program, set=tuple(self.chosen.set),
            listed=tuple(point.settings for point in points), generic=self.generic,
            options=options)
        self.folder.mkdir(parents=True, exist_ok=True)
        sweep = Sweep(plan, self.folder / name, self.toolkit, self.chosen.jobs,
                      keep=name == "base")
        database = sweep.run(self.chosen.retry, progress_on())
        self.finished += len(database.finished)
        self.points += len(points)
        rows = database.connection.execute("SELECT state, kernels_ps, time_ps, message, status "
                                           "FROM points ORDER BY point").fetchall()
        database.close()
        for point, (state, kernels_ps, time_ps, message, status) in zip(points, rows):
            taken = kernels_ps if self.of_kernels and kernels_ps else time_ps
            point.result = taken if state == DONE else None
            point.message, point.status = message or "", status or 0

    def counters(self, disturbed: int) -> dict[str, float]:
        """The difference of each counter, at most, between the run without changes and those that
        are disturbed, the first of `runs`; a share."""
        values: dict[tuple[str, str], list[float]] = {}
        for name, runs in (("base", 1), ("runs", disturbed)):
            reading = Reading(self.folder / name)
            for path, counter, value in reading.rows(
                    "SELECT path, name, value FROM components WHERE point <= ?", runs):
                values.setdefault((path, counter), []).append(value)
            reading.close()
        shares = {}
        for (path, counter), seen in values.items():
            least = min(seen) if len(seen) > disturbed else 0  # one that is 0 is not there
            shares[f"{path} {counter}"] = 1 - least / max(seen) if max(seen) > 0 else 0.0
        return shares

    @property
    def base_file(self) -> str:
        """The statistics of the run without changes."""
        return str(self.folder / "base/statistics/000001.json")

    def base(self) -> tuple[Point, Statistics, Diagnosis | None]:
        point = Point(())
        self.run("base", [point], "--report", "limits")
        if not point.result:
            raise Mistake(f"the run without changes failed: {point.message}; what it printed is in "
                          f"{self.folder}/base/logs")
        run = read(self.base_file)
        diagnosis = self._diagnosis(run)
        if diagnosis and diagnosis.kernel == limits.THE_RUN:
            self.of_kernels, point.result = False, number(run, "time_ps")
        self.seconds = float(run["host"]["cpu_seconds"])  # without what reports on it
        self.generic = SAVED * self.seconds <= BUILD_SECONDS
        return point, run, diagnosis

    def _diagnosis(self, run: Statistics) -> Diagnosis | None:
        """The first sentence: about the run where it stands first, or the longest kernel."""
        reported: dict[str, list[Limit]] = dict(
            limits.report(kernels.read(run, self.base_file), run, self.base_file))
        cycles = {label: own[0] or 0 for label, own in differences.cycles([run]).items()}
        about = next(iter(reported), "")
        if about != limits.THE_RUN:
            about = max(cycles, key=lambda label: cycles[label], default="")
        found = reported.get(about)
        return Diagnosis(about, found[0]) if found else None

    def asked(self, *words: str) -> str:
        """What a command says of the platform; "" where it cannot."""
        return self.toolkit.call(*words).stdout

    def described(self, run: Statistics) -> tuple[list[dict[str, Any]],
                                                  Callable[[Parameter], float]]:
        """The rows of `heddle params`, and how full that is which a parameter belongs to."""
        sets = [word for setting in self.chosen.set for word in ("--set", setting)]
        text = self.asked("params", "--json", *self.chosen.files, *sets)
        measured = self.asked("stats", "--report", "measures", "--csv", "--description",
                              *self.chosen.files, self.base_file)
        return json.loads(text or "[]"), sensitivity.weight(csv.DictReader(measured.splitlines()))

    def parameters(self, run: Statistics) -> list[Parameter]:
        """The fullest components' first."""
        rows, weight = self.described(run)
        return sorted(sensitivity.parameters(run, rows), key=lambda one: -weight(one))


def within(budget: Options, found: list[Parameter], seconds_each: float,
           spent: int) -> list[Parameter]:
    """The parameters for which --runs and --minutes have room."""
    room = float(budget.runs or sys.maxsize) - spent
    if budget.minutes:
        room = min(room, budget.minutes * 60 * budget.jobs / max(seconds_each, 1e-3) - spent)
    kept = sensitivity.within(room, found)
    runs = spent + sum(len(one.points) for one in kept)
    left = "" if len(kept) == len(found) else (
        f", of {len(found)}; those of the fullest components come first, the others are not tried")
    print(f"heddle whatif: {runs} runs of about {seconds_each:.2g} s for "
          f"{counted(len(kept), 'parameter')}{left}", file=sys.stderr)
    return kept


def pairs(found: Sequence[Parameter], base: int, floor: float) -> list[Point]:
    """The better values of those that help most, two at a time."""
    best = [point for one in found if (point := one.best(base))
            and -point.change(base) > floor][:PAIRED]
    return [Point((*a.settings, *b.settings)) for a, b in itertools.combinations(best, 2)]


def examine(chosen: Options, study: Study) -> Found:
    base, run, diagnosis = study.base()
    result, shaken = base.result or 1, sensitivity.disturbances(run)
    tries = diagnosis.limit.tries if diagnosis else ()
    found = within(chosen, sensitivity.with_proposed(
        study.parameters(run),
        [sets for setting in tries for sets in (setting.sets, setting.against) if sets],
        run.get("stamp", {}).get("settings", {})), study.seconds, 1 + len(shaken) + PAIRED)
    study.run("runs", [*shaken, *(point for one in found for point in one.points.values())])
    floor = max([LEAST, *(abs(point.change(result)) for point in shaken)])
    noise.keep(run, floor, study.counters(len(shaken)), 1 + len(shaken))
    if diagnosis:
        diagnosis.take(found)
    found.sort(key=lambda one: (-one.effect(result), one.name))
    combined = pairs(found, result, floor)
    if combined:
        study.run("pairs", combined)
    cycles = sum(number(launch, "cycles") for launch in run.get("kernels", []) if study.of_kernels)
    return Found(title(run), result, cycles, floor, shaken, found, combined, diagnosis)


# ---- what is told


def counted(number_of: int, noun: str) -> str:
    return f"{number_of} {noun}{'' if number_of == 1 else 's'}"


def percent(change: float) -> str:
    return f"{change * 100:+.1f} %"


def _cell(point: Point | None, base: int) -> str:
    if not point:
        return "-"
    value = ", ".join(setting.partition("=")[2] for setting in point.settings)
    if point.result:
        return f"{percent(point.change(base))} at {value}"
    return f"refused at {value}" if point.status in (1, 2, UNABLE) else f"failed at {value}"


def _furthest(parameter: Parameter, base: int) -> Point | None:
    """The point with the double value, or the choice that changes most."""
    return max((point for way, point in parameter.points.items() if way != "half"),
               key=lambda point: abs(point.change(base)), default=None)


def table(found: Sequence[Parameter], base: int, floor: float) -> list[str]:
    rows = [("parameter", "now", "halved", "doubled or other", "")]
    rows += [(one.name, one.value, _cell(one.points.get("half"), base),
              _cell(_furthest(one, base), base),
              "" if one.effect(base) > floor else "no effect") for one in found]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, (*widths, 0))).rstrip()
            for row in rows]


def told_of(point: Point, base: int) -> str:
    return (f"{' and '.join(point.settings)}: "
            + (percent(point.change(base)) if point.result else point.message))


def lines(found: Found, top: int) -> list[str]:
    base, floor = found.base, found.floor
    results = [base, *(point.result for point in found.disturbed if point.result)]
    texts = [f"{found.name}: {found.took}",
             f"noise floor: ±{floor * 100:.2f} %, from {len(results)} runs that are equally right,"
             f" {min(results) / 1e3:.1f} to {max(results) / 1e3:.1f} ns",
             *(f"  {told_of(point, base)}" for point in found.disturbed)]
    if found.diagnosis:
        texts += ["", f"{found.diagnosis.kernel}: {found.diagnosis.limit.words}",
                  f"  {found.diagnosis.verdict(base, floor)}"]
    moving = found.moving()
    texts += ["", *table(moving[:top], base, floor)]
    if len(moving) > top:
        texts.append(f"{len(moving) - top} others change less; --top {len(moving)} shows them")
    still = len(found.parameters) - len(moving)
    if still:
        texts.append(f"{counted(still, 'other')} changed nothing, or had no other value that is "
                     "allowed")
    return [*texts, *(f"both {told_of(point, base)}" for point in found.pairs)]


def _bars(parameter: Parameter, y: float, found: Found, middle: float, scale: float) -> list[str]:
    """The bars of one parameter; grey: within the floor."""
    parts = [draw.text(240, y + 14, parameter.name, "end", 11)]
    best = _furthest(parameter, found.base)
    for row, (way, point) in enumerate((way, point) for way, point in parameter.points.items()
                                       if way == "half" or point is best):
        change = point.change(found.base)
        if not point.result:
            continue
        quiet = abs(change) <= found.floor
        end, label = middle + change * scale, percent(change)
        parts.append(draw.box(min(middle, end), y + 2 + 9 * row, abs(change) * scale, 8,
                              "#bbbbbb" if quiet else WAYS.get(way, WAYS["other"])[0],
                              f"{point.settings[0]}: {label}"))
        if not quiet:
            parts.append(draw.text(end + (3 if change > 0 else -3), y + 9 + 9 * row, label,
                                   "start" if change > 0 else "end", 9))
    return parts


def tornado(found: Found, top: int) -> str:
    """A bar from the result without changes to that of each value."""
    width, left, right, step, head = 640, 290, 590, 22, 62
    shown, floor = found.moving()[:top], found.floor
    scale = (right - left) / 2 / (max([*(one.effect(found.base) for one in shown), floor, 0.01])
                                  * 1.05)
    middle, bottom = (left + right) / 2, head + step * len(shown)
    parts = [draw.text(8, 18, found.name, size=13),
             draw.text(8, 36, f"change of {found.took}; grey: within the noise "
                       f"floor of ±{floor * 100:.2f} %", size=11)]
    for i, (colour, words) in enumerate(WAYS.values()):
        parts += [draw.box(8 + 70 * i, 44, 10, 10, colour, words),
                  draw.text(22 + 70 * i, 53, words, size=11)]
    parts.append(draw.box(middle - floor * scale, head, 2 * floor * scale, bottom - head, "#eeeeee",
                          "noise floor"))
    for i, one in enumerate(shown):
        parts += _bars(one, head + step * i, found, middle, scale)
    parts.append(draw.line(middle, head, middle, bottom, "#444444"))
    return draw.document(bottom + 12, parts, found.name, width)


def rows_csv(found: Found) -> str:
    return csv_text(["parameter", "value", "setting", "time_ps", "change", "outside_floor",
                     "message"],
                    ([one.name, one.value, point.settings[0], point.result or "",
                      f"{point.change(found.base):.6f}" if point.result else "",
                      int(abs(point.change(found.base)) > found.floor) if point.result else "",
                      point.message] for one in found.parameters for point in one.points.values()))


def as_json(found: Found, made_by: dict[str, str]) -> str:
    def point(one: Point) -> dict[str, Any]:
        return {"set": list(one.settings), "time_ps": one.result, "message": one.message,
                "change": one.change(found.base) if one.result else None}
    diagnosis = found.diagnosis and {
        "kernel": found.diagnosis.kernel, "cause": found.diagnosis.limit.what,
        "words": found.diagnosis.limit.words,
        "tried": [{**point(one), "reason": setting.reason}
                  for setting, one in found.diagnosis.tried],
        "verdict": found.diagnosis.verdict(found.base, found.floor)}
    return json.dumps({
        "run": found.name, "made": made_by, "time_ps": found.base, "cycles": found.cycles,
        "noise_floor": found.floor,
        "disturbed": [point(one) for one in found.disturbed], "diagnosis": diagnosis,
        "parameters": [{"parameter": one.name, "value": one.value,
                        "points": {way: point(p) for way, p in one.points.items()}}
                       for one in found.parameters],
        "pairs": [point(one) for one in found.pairs]}, indent=1) + "\n"


def main(chosen: Options) -> int:
    began = time.monotonic()
    chosen.jobs, chosen.top = chosen.jobs or os.cpu_count() or 1, chosen.top or TOP
    if not chosen.output:
        raise Mistake("'-o DIR' is missing: the folder that keeps the results", usage=True)
    if chosen.uncertainty:
        from heddle.whatif import uncertainty
        return uncertainty.main(chosen)
    study = Study(chosen)
    found = examine(chosen, study)
    print("\n".join(lines(found, chosen.top)))
    for name, text in (("csv", rows_csv(found)), ("svg", tornado(found, chosen.top)),
                       ("json", as_json(found, provenance.collect(chosen.heddle)))):
        write(study.folder / f"whatif.{name}", text)
    print(f"{study.points} runs, {study.finished} of them now, in "
          f"{time.monotonic() - began:.0f} s; {study.folder}/whatif.svg is the plot",
          file=sys.stderr)
    return 0
