"""The page of `heddle report` about a sweep, and its figures alone."""
from __future__ import annotations

import base64
import math
import pathlib
from typing import Any, Sequence

from heddle.base import provenance
from heddle.base.files import csv_text, write
from heddle.base.mistakes import Mistake
from heddle.drawing.draw import count, escape
from heddle.report import page as pages
from heddle.report.tables import cell, table
from heddle.sweeps import sweep_figures
from heddle.sweeps.database import DONE, FAILED
from heddle.sweeps.results import Results, is_better_more
from heddle.sweeps.sweep_figures import Figure

ROWS = 2000  # of the table of points
SCRIPT = pathlib.Path(__file__).with_name("sweep.js")


def shown(figure: Figure | None) -> str:
    """A figure with its numbers as a file to save: they are means, which no table of the page
    has."""
    if figure is None:
        return "<p>No point has that.</p>"
    name = escape(figure.name.replace("/", "_"))
    numbers = base64.b64encode(csv_text(figure.columns, figure.rows).encode()).decode()
    return (f'<figure class="figure" id="{name}"><div>{figure.svg}</div><figcaption><a download='
            f'"{name}.csv" href="data:text/csv;base64,{numbers}">the numbers as CSV</a>'
            "</figcaption></figure>")


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]


def _over(results: Results) -> str:
    """Any result over any setting, which sweep.js draws."""
    settings = [name for name, _ in by_effect(results)]
    if not settings or not results.done:
        return pages.section("results", "Results over settings", "<p>No point is done.</p>" if
                             settings else "<p>All points have the same settings, so there is "
                             "nothing to compare.</p>")
    groups = [("", "each input"), ("nothing", "nothing"), *_pairs(settings)]
    of_map = "".join((
        "<h3>Two settings</h3>", pages.choose("map-x", "along", _pairs(settings)),
        pages.choose("map-y", "down", _pairs([*settings[1:], settings[0]])),
        '<div id="sweep-map" class="drawn"></div>')) if len(settings) > 1 else ""
    return pages.section(
        "results", "Results over settings", pages.choose("result", "result",
                                                         _pairs(results.results())),
        "<h3>One setting</h3>", pages.choose("x", "over", _pairs(settings)),
        pages.choose("group", "a line for", groups),
        pages.choose("scale", "scale", [("absolute", "as measured"),
                                        ("relative", "relative to the first value")]),
        '<div id="sweep-lines" class="drawn"></div><p class="soft">A line goes through medians, a '
        "band has all points. Rest the pointer on a mark for its numbers. <code>heddle report "
        "DIR --plot RESULT:SETTING[:GROUP]</code> writes a figure and its numbers as files, of any "
        'statistic of a component. <a href="#" id="sweep-csv" class="csv" download="points.csv" '
        'data-columns="point">The numbers as CSV</a></p>', of_map, "<h3>All settings</h3>",
        '<div id="sweep-parallel" class="drawn"></div><p id="sweep-kept" aria-live="polite"></p>'
        '<p class="soft">A line for each point, the stronger the better its result. Click a value '
        "to leave its points out, or to take them in again.</p>")


def _pareto(results: Results) -> str:
    costs = [name for name in results.machine() if results.is_number(name)]
    goals = results.results()
    printed = list(results.plan["results"])
    costs += [name for name in ("time", "cycles", "instructions") if name in goals]
    aims = [(name, is_better_more(name)) for name in ("time", "cycles", "ipc") if name in goals]
    aims += [(name, more) for name in printed if name in goals for more in (True, False)]
    aims += [(name, True) for name in goals if name.endswith(".hit_rate")][:4]
    parts = []
    for goal, more in aims:
        for cost in costs:
            drawn = "<p>A result costs itself.</p>" if cost == goal else \
                shown(sweep_figures.pareto(results, goal, cost, more))
            parts.append(f'<div data-goal="{escape(goal)} {int(more)}">'
                         f'<div data-cost="{escape(cost)}">{drawn}</div></div>')
    if not results.machine():
        return ""
    listed = [(f"{goal} {int(more)}", f"{'more' if more else 'less'} {goal}")
              for goal, more in aims]
    return pages.section(
        "pareto", "What it costs", pages.choose("goal", "better is", listed),
        pages.choose("cost", "cost is", _pairs(costs)), *parts,
        '<p class="soft">Numbers beside marks are those of points below.</p>')


def worth(results: Results, setting: str, result: str) -> list[tuple[str, float, int]]:
    """Each value, by how much the result changes against the first value where all other settings
    are the same (geometric mean), and of how many such pairs."""
    numbers = results.result(result)
    same: dict[tuple[tuple[str, str], ...], dict[str, float]] = {}
    for row in results.done:
        if setting in row.settings and numbers.get(row.point, 0) > 0:
            others = tuple(item for item in row.settings.items() if item[0] != setting)
            same.setdefault(others, {})[row.settings[setting]] = numbers[row.point]
    values = results.values(setting)
    found = []
    for value in values[1:]:
        ratios = [math.log(by[value] / by[values[0]]) for by in same.values()
                  if value in by and values[0] in by]
        if ratios:
            found.append((value, math.exp(sum(ratios) / len(ratios)), len(ratios)))
    return found


def _told_of(results: Results) -> str:
    return "kernels" if sum(results.result("kernels").values()) > 0 else "time"


def by_effect(results: Results) -> list[tuple[str, list[tuple[str, float, int]]]]:
    """What settings are worth: those of the machine first, the largest change before others."""
    machine, result = results.machine(), _told_of(results)
    found = [(name, worth(results, name, result)) for name in results.settings()]
    return sorted(found, key=lambda one: (one[0] not in machine, -max(
        (abs(math.log(ratio)) for _, ratio, _ in one[1]), default=0)))


def _worth(results: Results) -> str:
    rows = []
    for setting, found in by_effect(results):
        if setting not in results.machine():
            continue
        first = results.values(setting)[0]
        for value, ratio, pairs in found:
            change = (ratio - 1) * 100
            rows.append([cell(setting), cell(first), cell(value),
                         cell(change, f"{change:+.2f}\u00a0%"), cell(pairs)])
    if not rows:
        return ""
    measure = "time in kernels" if _told_of(results) == "kernels" else "simulated time"
    return pages.section(
        "worth", "What each setting is worth", table(
            "worth-0", ["setting", "from", "to", measure, "pairs"], rows),
        f'<p class="soft">Geometric mean of the change of {measure} between points that differ in '
        "nothing else.</p>")


def _points(results: Results) -> str:
    names, listed = results.settings(), results.results()
    numbers = {name: results.result(name) for name in listed}
    rows = []
    for row in results.done[:ROWS]:
        cells = [cell(row.point), *(cell(row.settings.get(name, "")) for name in names)]
        for name in listed:
            value = numbers[name].get(row.point)
            cells.append(cell("") if value is None else cell(value, _short(name, value)))
        rows.append(cells)
    note = "" if len(results.done) <= ROWS else \
        f'<p class="soft">The first {ROWS} of {len(results.done)}; points.csv has all.</p>'
    return pages.section("points", "Points", table(
        "points-0", ["point", *names, *(f"{n}, ps" if n in ("time", "kernels") else n
                                        for n in listed)], rows) if rows else
        "<p>No point is done.</p>", note)


def _short(name: str, value: float) -> str:
    if name.endswith(".hit_rate"):
        return f"{value * 100:.1f}\u00a0%"
    return count(value) if value == int(value) else f"{value:.4g}"


def _failures(results: Results) -> str:
    failed = [row for row in results.rows if row.state == FAILED]
    if not failed:
        return ""
    rows = [[cell(row.point), cell(sweep_figures.named(results, row)), cell(row.message or "")]
            for row in failed[:ROWS]]
    return pages.section("failed", "Failed", table("failed-0", ["point", "settings", "message"],
                                                   rows))


def _made(results: Results) -> list[str]:
    """The points that the last session made; how many there were."""
    sessions = results.sessions
    return [*(provenance.lines(sessions[-1]) if sessions else []),
            *([f"the last of {len(sessions)} sessions, since {sessions[0]['date']}"]
              if len(sessions) > 1 else [])]


def page(folder: pathlib.Path) -> str:
    results = Results(folder)
    plan = results.plan
    failed = sum(row.state == FAILED for row in results.rows)
    waiting = sum(row.state not in (DONE, FAILED) for row in results.rows)
    facts = [f"{len(results.done)} of {len(results.rows)} points"
             + (f", {failed} failed" if failed else "")
             + (f", {waiting} have not been run" if waiting else ""),
             "on " + ", ".join(plan["platforms"])
             + (", set: " + ", ".join(plan["set"]) if plan["set"] else ""),
             *(" ".join(program["command"]) for program in plan["programs"] if program["command"]),
             *(f"{name}: {', '.join(results.values(name))}" for name in results.settings()
               if name not in ("platform", "program")), *_made(results)]
    title = folder.resolve().name
    head = f"<div><h1>{escape(title)}</h1>" + "".join(
        f'<p class="soft">{escape(line)}</p>' for line in facts) + "</div>"
    sections = [f'<div class="columns"><div>{_over(results)}</div><div>{_pareto(results)}'
                f"{_worth(results)}</div></div>", _failures(results), _points(results)]
    return pages.whole(title, head, sections, [pages.json_script("points-data", _data(results))],
                       [*pages.SCRIPTS, SCRIPT])


def _data(results: Results) -> dict[str, Any]:
    """The numbers behind all drawings, once: points that are done, settings and results; where
    values stand on an axis, and what results are called."""
    settings, names = results.settings(), results.results()
    numbers = {name: results.result(name) for name in names}
    rows = [[row.point, *(row.settings.get(name) for name in settings),
             *(by.get(row.point) for by in numbers.values())] for row in results.done]
    listed = []
    for name in settings:
        order = sweep_figures.Ordinal(results.values(name))
        listed.append({"name": name, "values": order.values,
                       "places": [round(order.places[value], 4) for value in order.values]})
    units = {name: sweep_figures.unit_of(name, list(by.values())) for name, by in numbers.items()}
    return {"columns": ["point", *settings, *names], "rows": rows, "settings": listed,
            "inputs": [name for name in settings if name not in results.machine()],
            "results": [{"name": name, "words": words, "factor": factor,
                         "more": is_better_more(name)} for name, (words, factor) in units.items()]}


def plots(folder: pathlib.Path, names: Sequence[str], output: str | None) -> None:
    """--plot RESULT:SETTING[:GROUP] or pareto:RESULT:COST, each as SVG and CSV."""
    results = Results(folder)
    for name in names:
        figure = _figure(results, name)
        stem = figure.name.replace("/", "_").replace("[*]", "")
        if output and len(names) == 1 and output.endswith(".svg"):
            path = pathlib.Path(output)
        else:
            path = pathlib.Path(output or ".") / f"{folder.resolve().name}-{stem}.svg"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Mistake(f"cannot make '{path.parent}': {error.strerror}") from error
        write(path, figure.svg)
        write(path.with_suffix(".csv"), csv_text(figure.columns, figure.rows))
        print(path)


def _figure(results: Results, name: str) -> Figure:
    parts = name.split(":")
    if parts[0] == "pareto" and len(parts) == 3:
        goal, more = parts[1].lstrip("+-"), {"+": True, "-": False}.get(parts[1][:1])
        figure = sweep_figures.pareto(results, goal, parts[2], more)
    elif len(parts) in (2, 3) and all(parts):
        for setting in parts[1:]:
            results.check_setting(setting)
        figure = sweep_figures.over(results, *parts)
    else:
        raise Mistake(f"'--plot {name}' of a sweep is RESULT:SETTING, RESULT:SETTING:GROUP or "
                      "pareto:RESULT:COST (+RESULT: more is better, -RESULT: less)", usage=True)
    if figure is None:
        raise Mistake(f"no point of '{results.folder}' has what '--plot {name}' asks for")
    return figure
