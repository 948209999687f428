"""The page: sections one below another, each about one question."""
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Iterable

from heddle.base import provenance
from heddle.drawing import draw
from heddle.drawing.draw import count, escape, percent
from heddle.report import figures, requests, roofline, speed, tables
from heddle.report.runs import MEASURES, Run
from heddle.report.tables import cell, table
from heddle.report.timeline import Timeline
from heddle.statistics import differences
from heddle.statistics.kernels import Kernel
from heddle.statistics.measures import RUN
from heddle.statistics.statistics_file import is_whole, kernel_labels, number, title

HERE = Path(__file__).parent
FINDINGS = 12  # kernels about which something is said


def section(name: str, title: str, *parts: str) -> str:
    return f'<section id="{name}"><h2>{escape(title)}</h2>\n' + "\n".join(parts) + "</section>\n"


def choose(name: str, label: str, options: list[tuple[str, str]]) -> str:
    listed = "".join(f'<option value="{escape(value)}">{escape(words)}</option>'
                     for value, words in options)
    return (f'<p class="choose"><label>{escape(label)} <select name="{name}">{listed}</select>'
            "</label></p>")


def figure(svg: str | None, words: str, kind: str = "figure") -> str:
    if svg is None:
        return ""
    caption = f"<figcaption>{escape(words)}</figcaption>" if words else ""
    return f'<figure class="{kind}"><div>{svg}</div>{caption}</figure>'


def sides(runs: list[Run], make) -> str:
    """What `make` says of each run, side by side."""
    if len(runs) == 1:
        return make(runs[0], 0)
    return '<div class="two">' + "".join(
        f"<div><h3>{escape(run.name)}</h3>{make(run, i)}</div>"
        for i, run in enumerate(runs)) + "</div>"


def in_kernels(run: Run) -> float:
    """The share of simulated time in which some kernel ran."""
    spans = sorted((launch["start_ps"], launch["end_ps"]) for k in run.timed()
                   for launch in k.launches if "start_ps" in launch)
    total, until = 0, 0
    for start, end in spans:
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total / (number(run.root, "time_ps") or 1)


def counted(number_of: int, singular: str, plural: str) -> str:
    return f"{count(number_of)} {singular if number_of == 1 else plural}"


def head(run: Run) -> str:
    stamp, launches = run.root.get("stamp", {}), run.root.get("kernels", [])
    facts = [f"{run.root.get('platform', '')}, {run.root.get('mode', '')} mode",
             f"{number(run.root, 'time_ps') / 1e6:.3f} µs simulated, {percent(in_kernels(run))} "
             "of it in kernels",
             f"{counted(len(launches), 'launch', 'launches')} of "
             f"{counted(len(kernel_labels(run.root)), 'kernel', 'kernels')}"]
    facts += provenance.lines(run.root.get("host", {}))
    facts.append(f"heddle {stamp.get('version', '')}, model {str(stamp.get('model', ''))[:12]}, "
                 f"program {str(stamp.get('program', ''))[:12]}")
    lines = "".join(f'<p class="soft">{escape(line)}</p>' for line in facts)
    if run.root.get("partial"):
        lines += (f'<p class="notice">The run did not come to its end: '
                  f'{escape(run.root["partial"])}.</p>')
    if sample := run.root.get("sample"):
        lines += ('<p class="notice">A sample'
                  + (", but all launches were simulated whole.</p>" if is_whole(sample) else
                     f': cycles and counters are of what was simulated in detail. All launches '
                     f'would take {count(round(sample["cycles"]))} cycles, '
                     f'± {percent(sample["interval"] / (sample["cycles"] or 1))} at 95 %.</p>'
                     + tables.estimates(run.root, sample)))
    if run.missing:
        lines += (f'<p class="notice">No topology and no measures of components: '
                  f'{escape(run.missing)}</p>')
    return f"<div><h1>{escape(title(run.root))}</h1><p>{escape(run.name)}</p>{lines}</div>"


def _finding(kernel: Kernel, whole: int) -> str:
    share = kernel.sum("cycles") / whole
    listed = "".join(f"<li>{escape(line)}</li>" for line in kernel.words)
    words = re.sub("`(.*?)`", r"<code>\1</code>", listed)
    return (f"<li><b>{escape(kernel.label)}</b>, {count(kernel.sum('cycles'))} cycles, "
            f"{percent(share)} of all kernels<ul>{words}</ul></li>")


def findings(run: Run, _: int = 0) -> str:
    timed = run.timed()
    if not timed:
        return ("<p>No kernel has an account of its wavefronts' cycles, so there is nothing to "
                "say.</p>")
    whole = sum(k.sum("cycles") for k in timed) or 1
    html = ""
    if in_kernels(run) < 0.5:
        links = [g.hottest for g in run.groups_of(RUN, "utilisation") if g.kind == "link"]
        busiest = max(links, key=lambda row: row.share, default=None)
        html = (f"<p>Most of the time no kernel ran: {percent(in_kernels(run))} of it was in "
                "kernels, the rest in copies, launches and the host's calls"
                + (f"; the busiest link, {escape(busiest.path)}, was taken for "
                   f"{percent(busiest.share)}" if busiest else "") + ".</p>")
    rest = len(timed) - FINDINGS
    more = f'<p class="soft">{rest} shorter kernels are not listed.</p>' if rest > 0 else ""
    return (html + '<ol class="findings">'
            + "".join(_finding(k, whole) for k in timed[:FINDINGS]) + "</ol>" + more)


def scope_options(runs: list[Run]) -> list[tuple[str, str]]:
    """Kernels of the first run; their places are the values."""
    return [("0", "the whole run, copies and launches included")] + [
        (str(i), k.short) for i, k in enumerate(shown(runs[0]), 1)]


def shown(run: Run) -> list[Kernel]:
    return run.timed()[:FINDINGS]


def scopes(runs: list[Run]) -> list[tuple[str, str]]:
    return [("0", RUN)] + [(str(i), k.label) for i, k in enumerate(shown(runs[0]), 1)]


def by_scope(runs: list[Run], make, name: str) -> str:
    """`make(run, scope, id)` for each scope; only the chosen one is shown."""
    return "".join(f'<div data-scope="{value}">'
                   + sides(runs, lambda run, i, s=scope, v=value:  # type: ignore[misc]
                           make(run, s, f"{name}-{i}-{v}")) + "</div>"
                   for value, scope in scopes(runs))


def scale_of(runs: list[Run], measure: str, scope: str = RUN) -> int:
    """The end of the colour scale, one for the pictures of both runs."""
    shares = [g.hottest.share for run in runs for g in run.groups_of(scope, measure)]
    return draw.heat_top(max(shares, default=0))


def measure_chooser() -> str:
    return choose("measure", "coloured by", [(m, m.replace("_", " ")) for m in MEASURES])


def by_measure(runs: list[Run], make) -> str:
    """`make(run, measure, scale)` for each measure; only the chosen one is shown."""
    return measure_chooser() + "".join(
        f'<div data-measure="{measure}">'
        + "".join(make(run, measure, scale_of(runs, measure)) for run in runs) + "</div>"
        for measure in MEASURES)


def caption(runs: list[Run], run: Run) -> str:
    return run.name if len(runs) > 1 else ""


def pictured(runs: list[Run]) -> list[tuple[str, str]]:
    """What topologies are drawn of: the run, and its longest kernel, which copies do not dilute."""
    return scopes(runs)[:2]


def pictures(runs: list[Run], measure: str) -> str:
    parts = []
    for value, scope in pictured(runs):
        scale = scale_of(runs, measure, scope)
        drawn = [figure(run.picture(measure, scope, scale), caption(runs, run), "topology")
                 for run in runs if scope in run.scopes()]
        parts.append(f'<div data-picture="{value}">{"".join(drawn)}</div>')
    return "".join(parts)


def topology(runs: list[Run]) -> str:
    drawn = [run for run in runs if not run.missing]
    names = dict(scope_options(drawn))
    chooser = choose("picture", "of", [(value, names[value]) for value, _ in pictured(drawn)])
    return section("topology", "Topology", chooser, measure_chooser(), *(
        f'<div data-measure="{measure}">{pictures(drawn, measure)}</div>' for measure in MEASURES),
        '<p class="soft">Rest the pointer on a component or a line for its numbers; click to '
        "change between the whole and its full size.</p>")


def rooflines(run: Run, profile: str | None) -> str:
    words = ("A dot for each kernel and memory level; the dots of a kernel are in a line, with its "
             "number. The lines are what the platform's description allows.")
    flop = figure(roofline.roofline(run, roofline.operations(run, profile)), "Operations of lanes "
                  "that were active, by the profile. The roof is that of multiply-adds, which "
                  "packed and matrix instructions may pass.") if profile else ""
    return (f'<div class="two">{figure(roofline.roofline(run, roofline.instructions(run)), words)}'
            f"{flop}</div>")


def _elements(run: Run, i: int, arrays: list[dict[str, Any]]) -> str:
    options = "".join(f'<option>{escape(array["path"])}</option>' for array in arrays)
    return (speed.channels(arrays, f"channels-{i}")
            + f'<details><summary>Each element</summary><div data-elements="elements-{i}">'
            f'<label>array <select name="elements-{i}">{options}</select></label><div></div></div>'
            "</details>") if arrays else "<p>No array did anything.</p>"


def elements(runs: list[Run], arrays: list[list[dict[str, Any]]]) -> str:
    return section("heat", "Elements of arrays", sides(
        runs, lambda run, i: _elements(run, i, arrays[i])), by_measure(
        [run for run in runs if not run.missing],
        lambda run, measure, scale: figure(figures.heat_map(run, measure, scale),
                                           caption(runs, run))
        or "<p>No array has that measure.</p>"))


def comparison(runs: list[Run], chosen: Any) -> str:
    changed = tables.settings(*runs)
    names = [run.name for run in runs]
    rows, more = tables.changed(runs, chosen)
    return section(
        "differences", "What differs",
        *(f'<p class="notice">{escape(difference)}.</p>'
          for difference in differences.other_work([run.root for run in runs])),
        tables.table("results", ["result", *names, "change"], tables.results(*runs)),
        tables.table("changes", ["component", "counter", *names, "change", "elements"], rows)
        if rows else "", f'<p class="soft">{escape(more)}</p>',
        tables.table("settings", ["setting", *names], changed) if changed
        else "<p>No setting differs.</p>")


def data(runs: list[Run]) -> list[dict[str, Any]]:
    """The numbers of the page for other programs."""
    return [{"file": run.name, "time_ps": number(run.root, "time_ps"),
             "kernels": [{"name": k.name, "gpu": k.gpu, "cycles": k.sum("cycles"),
                          "launches": len(k.launches), "words": k.words,
                          "slot_cycles": {f"{g}.{n}": v for (g, n), v in k.rows.items()}}
                         for k in run.kernels]} for run in runs]


KEYS = ("With the keys, once the picture has the focus: W and S, or + and -, zoom; A and D move; "
        "0 shows the whole run, F what is selected; arrows move a cursor over elements and "
        "intervals, Enter selects its interval, E opens its array, Escape ends the selection. With "
        "the pointer: dragging selects, with Shift it moves; Ctrl and the wheel zoom; a click on a "
        "name opens the array.")


def _buttons() -> str:
    listed = (("+", "zoom in"), ("-", "zoom out"), ("a", "earlier"), ("d", "later"),
              ("0", "whole run"), ("f", "what is selected"))
    return "".join(f'<button type="button" data-timeline="{key}">{words}</button> '
                   for key, words in listed)


def over(series: Timeline, data: dict[str, Any]) -> str:
    measures = data["measures"]
    lists = "".join(
        f'<p class="choose"><label>{label} <select id="timeline-{name}" name="timeline-{name}">'
        + "".join(f'<option value="{escape(value)}">{escape(words)}</option>'
                  for value, words in options) + "</select></label></p>"
        for name, label, options in (
            ("measure", "measure", [(m["name"], m["words"]) for m in measures]),
            ("order", "elements", (("index", "by number"), ("fullest", "the fullest first"))),
            ("scale", "scale", (("all", "one for all arrays"), ("own", "each array its own")))))
    rows = [[cell(lane.path), cell(lane.measure.replace("_", " ")), cell(len(lane.elements)),
             cell(sum(means) / len(means), f"{sum(means) / len(means):.3g}"),
             cell(lane.elements[means.index(max(means))]),
             cell(max(means), f"{max(means):.3g}")]
            for m in series.measures() for lane in series.lanes_of(m) for means in (lane.means(),)]
    return section(
        "series", "Over time", lists, f'<p class="choose">{_buttons()}</p>',
        '<p class="scale">0 <span id="timeline-ramp"></span> <span id="timeline-top"></span></p>',
        f'<p id="timeline-keys" class="soft">{len(series.spans)} intervals. Of each array the area '
        "is the mean of its elements, the line its fullest one, and below them is a row for each; "
        "where a row has no room, it shows the fullest of its elements. A click on a name opens "
        f"the array.</p><details><summary>Keys and pointer</summary><p>{KEYS}</p></details>",
        '<p id="timeline-told" aria-live="polite">&nbsp;</p>',
        '<div id="timeline"><canvas id="timeline-canvas" tabindex="0" role="img" '
        'aria-label="elements over time" aria-describedby="timeline-keys"></canvas>'
        '<div id="timeline-room"></div></div>', '<div id="interval"></div>',
        "<details><summary>Means over the whole run as a table</summary>",
        table("timeline-means", ["array", "measure", "elements", "mean", "fullest element",
                                 "its mean"], rows), "</details>")


def json_script(name: str, value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _sections(runs: list[Run], arrays: list[list[dict[str, Any]]], timeline: str,
              chosen: Any) -> list[str]:
    parts = [section("findings", "What limits it", sides(runs, findings))]
    if len(runs) == 2:
        parts.append(comparison(runs, chosen))
    timed, measured = any(run.timed() for run in runs), any(not run.missing for run in runs)
    if timed:
        parts.append(section("kernels", "Kernels", *(
            (f"<h3>{escape(run.name)}</h3>" if len(runs) > 1 else "")
            + tables.kernels(run, f"kernels-{i}") for i, run in enumerate(runs))))
    if timed and measured:
        parts.append(section(
            "light", "Speed of light", sides(runs, lambda run, i: speed.light(run, f"light-{i}")),
            '<p class="soft">Shares of what each resource could do while the kernel ran, its mean '
            "over all elements; rest the pointer on one for its numbers.</p>"))
    if measured:
        parts.append(topology(runs))
    parts.append(timeline)
    if chosen.profile:
        parts.append(section("instructions", "Hottest instructions", tables.instructions(
            runs[0], chosen.profile, "instructions-0")))
    if timed:
        parts.append(section("cycles", "Where the wavefronts' cycles went", sides(
            runs, lambda run, _: figure(figures.cycles(run), ""))))
    if measured:
        parts.append(levels(runs))
        roof = sides(runs, lambda run, _: rooflines(run, chosen.profile))
        if "<svg" in roof:
            parts.append(section("roofline", "Roofline", roof))
    return [*parts, elements(runs, arrays)] if measured else parts


def levels(runs: list[Run]) -> str:
    return section(
        "levels", "Memory and the fullest components", choose("scope", "in", scope_options(runs)),
        "<h3>Memory levels</h3>", by_scope(runs, tables.levels, "levels"),
        "<h3>Fullest components, connections and links</h3>",
        by_scope(runs, tables.hottest, "hottest"))


SCRIPTS = ("page.js",)
TIMELINE_SCRIPTS = (*SCRIPTS, "timeline_draw.js", "interval.js", "timeline.js")


def whole(title: str, heads: str, sections: list[str],
          data_scripts: Iterable[str] = (), scripts: Iterable[str] = SCRIPTS) -> str:
    """A page from its parts, with style and scripts."""
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>{escape(title)}</title>\n<style>\n{(HERE / 'page.css').read_text()}</style>"
            f'</head><body><header class="two">{heads}</header><main>\n'
            + "".join(sections) + "</main>" + "".join(data_scripts) + "\n<script>\n"
            + "".join((HERE / name).read_text() for name in scripts) + "</script></body></html>\n")


def page(runs: list[Run], chosen: Any, series: Timeline | None = None) -> str:
    scripts, timeline, names = [json_script("data", data(runs))], "", SCRIPTS
    if series:
        drawn = series.data()
        if chosen.profile:
            drawn["instructions"] = tables.hot(runs[0], chosen.profile)
        if chosen.trace:
            drawn["requests"] = requests.data(chosen.trace)
        timeline, names = over(series, drawn), TIMELINE_SCRIPTS
        scripts.append(json_script("timeline-data", drawn))
    arrays = [speed.elements(run) for run in runs]
    scripts += [json_script(f"elements-{i}", found) for i, found in enumerate(arrays)]
    return whole(" and ".join(title(run.root) for run in runs), "".join(head(run) for run in runs),
                 _sections(runs, arrays, timeline, chosen), scripts, names)
