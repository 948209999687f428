"""Tables of the page as HTML: kernels, memory levels, hottest components, what differs."""
from __future__ import annotations

from typing import Any, Iterable

from heddle.drawing.draw import count, escape, percent, rate
from heddle.report import figures
from heddle.report.runs import Run
from heddle.statistics import differences, profile
from heddle.statistics.kernels import Kernel
from heddle.statistics.measures import RUN, Group
from heddle.statistics.statistics_file import Identity, number

HOTTEST = 14
INSTRUCTIONS = 16


def cell(value: float | str, shown: str | None = None, title: str = "") -> str:
    """A number keeps its value beside what is shown, for sorting and for tests."""
    hover = f' title="{escape(title)}"' if title else ""
    if isinstance(value, str):
        return f"<td{hover}>{escape(shown or value)}</td>"
    return f'<td class="number" data-value="{value:.12g}"{hover}>{escape(shown or str(value))}</td>'


def table(name: str, heads: Iterable[str], rows: Iterable[list[str]]) -> str:
    rows = list(rows)
    numbers = [any(row[i].startswith('<td class="number') for row in rows)
               for i in range(len(rows[0]) if rows else 0)]
    # What stands for a number that there is not, in its column.
    rows = [[c.replace("<td>", '<td class="missing">', 1) if n else c for c, n in zip(row, numbers)]
            for row in rows]
    head = "".join(f'<th class="number">{escape(h)}</th>' if n else f"<th>{escape(h)}</th>"
                   for h, n in zip(heads, numbers))
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (f'<div class="wide"><table id="{name}" class="sortable"><thead><tr>{head}</tr>'
            f"</thead><tbody>\n{body}\n</tbody></table></div>")


def keepers(run: Run) -> list[str]:
    """Groups of caches and TLBs with a hit rate: those with most accesses, as the platform has
    them."""
    groups = run.groups_of(RUN, "hit_rate")
    chosen: list[Group] = []
    for most, wanted in ((4, lambda g: g.kind == "cache"),
                         (1, lambda g: g.path.endswith(".translation")),
                         (1, lambda g: g.kind == "translation")):
        chosen += sorted(filter(wanted, groups), key=lambda g: -g.whole)[:most]
    return [g.path for g in groups if g in chosen]


def keeper_name(path: str) -> str:
    """A short name of the component at a path: 'l1v TLB' for 'l1v[*].translation'."""
    name = path.replace("[*]", "").removesuffix(".translation").split(".")[-1]
    return f"{name} TLB" if path.endswith(".translation") else name


def _kernel_row(run: Run, kernel: Kernel, whole: int, caches: list[str]) -> list[str]:
    cycles = kernel.sum("cycles")
    instructions = kernel.sum("wavefront_instructions")
    units = kernel.sum("occupancy", "achieved", "unit_cycles")
    simds = number(kernel.launches[0], "occupancy", "simds") or 1
    waves = kernel.sum("occupancy", "achieved", "wavefront_cycles") / (units * simds or 1)
    parts = {name: value for name, _, value in figures.parted(kernel)}
    slots = sum(parts.values()) or 1
    issued = parts["issued"]
    hits = {g.path: g for g in run.groups_of(kernel.label, "hit_rate")}
    row = [cell(kernel.short, title=kernel.label), cell(len(kernel.launches)),
           cell(cycles, count(cycles)), cell(cycles / whole, percent(cycles / whole)),
           cell(kernel.sum("work_groups"), count(kernel.sum("work_groups"))),
           cell(instructions, count(instructions)),
           cell(instructions / (cycles or 1), f"{instructions / (cycles or 1):.3g}"),
           cell(waves, f"{waves:.2f}"), cell(issued / slots, percent(issued / slots))]
    for path in caches:
        group = hits.get(path)
        row.append(cell(group.share, percent(group.share),
                        f"{count(group.part)} of {count(group.whole)}") if group
                   else cell("", "–"))
    return row


def kernels(run: Run, name: str) -> str:
    timed = run.timed()
    whole = sum(k.sum("cycles") for k in timed) or 1
    caches = keepers(run)
    heads = ["kernel", "launches", "cycles", "of all", "work-groups", "instructions",
             "a cycle", "waves a SIMD", "issued",
             *(f"{keeper_name(path)} hits" for path in caches)]
    return table(name, heads, [_kernel_row(run, k, whole, caches) for k in timed])


def estimates(root: dict[str, Any], sample: dict[str, Any]) -> str:
    """Estimated cycles of all launches of each kernel, from its simulated launches."""
    names = {record["launch"]: str(record["name"]) for record in root["kernels"]}
    rows = [[cell(names[k["first_launch"]]), cell(k["launches"]), cell(k["simulated"]),
             cell(k["cycles"], count(round(k["cycles"]))),
             cell(k["interval"] / (k["cycles"] or 1), f"± {percent(k['interval'] / k['cycles'])}")]
            for k in sorted(sample["kernels"], key=lambda k: -float(k["cycles"])) if k["cycles"]]
    return table("estimates", ["kernel", "launches", "simulated", "cycles", "at 95 %"], rows)


def fullest(group: Group, mean: bool = False) -> str:
    """The share of the fullest element, or what is known of it: perhaps only the mean."""
    if group.least:
        path, share = group.least
        return cell(share, f"≥ {percent(share)}", f"{path}, at least: the run less other kernels")
    if group.summed:
        return cell(group.share, percent(group.share), "mean") if mean else cell("", "–")
    most = group.hottest
    return cell(most.share, percent(most.share),
                f"{most.path}: {count(most.part)} of {count(most.whole)}")


def levels(run: Run, scope: str, name: str) -> str:
    """What caches and memories moved."""
    hits = {g.path: g for g in run.groups_of(scope, "hit_rate")}
    rows = []
    for group in sorted(figures.memories(run, scope), key=lambda g: -g.whole):
        if group.part == 0:
            continue
        seconds = group.rows[0].time_ps / 1e12
        hit = hits.get(group.path)
        rows.append([cell(group.path, title=group.type), cell(group.part, f"{count(group.part)} B"),
                     cell(group.part / seconds, rate(group.part / seconds)),
                     cell(group.whole / seconds, rate(group.whole / seconds)),
                     cell(group.share, percent(group.share)),
                     fullest(group),
                     cell(hit.share, percent(hit.share), f"{count(hit.part)} of {count(hit.whole)}")
                     if hit else cell("", "–")])
    return table(name, ["level", "moved", "a second", "limit", "of the limit", "fullest",
                        "hits"], rows)


def _hottest_groups(run: Run, scope: str) -> list[Group]:
    return sorted(run.groups_of(scope, "utilisation"), key=lambda g: -g.most)[:HOTTEST]


def hottest(run: Run, scope: str, name: str) -> str:
    stalls = {g.path: g for g in run.groups_of(scope, "stall")}
    rows = []
    for group in _hottest_groups(run, scope):
        stall = stalls.get(group.path)
        path = group.least[0] if group.least else group.path if group.summed else group.hottest.path
        rows.append([cell(path, title=group.path), cell(group.kind), cell(len(group.rows)),
                     fullest(group), cell(group.share, percent(group.share)),
                     fullest(stall, True) if stall else cell("", "–")])
    known = "" if scope == RUN else (
        '<p class="soft">Of a kernel, statistics have arrays as sums: elements are known from '
        "below (≥), by what they did in the whole run, or not at all (–); connections and "
        "links are counted in the whole run only.</p>")
    return table(name, ["fullest", "kind", "elements", "utilisation", "mean of all",
                        "stalled"], rows) + known


def settings(a: Run, b: Run) -> list[list[str]]:
    """What was set differently, the platform and the program included."""
    return [[cell(name), *map(cell, values)]
            for name, values in differences.settings([a.root, b.root]).items()]


def _change(first: float, second: float) -> list[str]:
    ratio = second / first if first else 0
    shown = f"{(ratio - 1) * 100:+.1f} %" if first else "–"
    return [cell(first, count(first) if first >= 10 else f"{first:.3g}"),
            cell(second, count(second) if second >= 10 else f"{second:.3g}"),
            cell(ratio, shown)]


def results(a: Run, b: Run) -> list[list[str]]:
    """Time, and the cycles of each kernel."""
    rows = [[cell("simulated time, ns"), *_change(number(a.root, "time_ps") / 1e3,
                                                  number(b.root, "time_ps") / 1e3)]]
    others = {k.label: k for k in b.kernels}
    for kernel in a.timed():
        other = others.get(kernel.label)
        if other:
            rows.append([cell(f"{kernel.short}, cycles", title=kernel.label),
                         *_change(kernel.sum("cycles"), other.sum("cycles"))])
    return rows


def changed(runs: list[Run], chosen: Any) -> tuple[list[list[str]], str]:
    """The largest changes of counters, and what is not listed."""
    roots = [run.root for run in runs]
    floor = differences.chosen_floor(roots, chosen.threshold, chosen.all)
    found, below = differences.changes(roots, chosen.below, floor)
    shown = found if chosen.all else found[:differences.SHOWN]
    rows = [[cell(one.path), cell(one.name), *_change(*(side.sum for side in one.sides)),
             cell(", then ".join(side.spread() or "none" for side in one.sides)
                  if any(side.elements > 1 for side in one.sides) else "")] for one in shown]
    words = (f"The {len(shown)} largest of {len(found)} changes of counters" if found else
             "No counter differs")
    words += differences.left_out(below) + (
        "; --all shows all" if len(shown) < len(found) + below else "")
    noise = f" Noise floor: {floor.time * 100:.3g} %, {floor.words}." if floor.time else ""
    return rows, f"{words}.{noise}"


def _hits(row: profile.Row, level: str) -> dict[str, object]:
    """The share of an instruction's requests to the caches of a level that hit."""
    hits, merged, misses = profile.requests(row, level)
    asked = hits + merged + misses
    if not asked:
        return cell("", "–")
    return cell(hits / asked, percent(hits / asked),
                title=f"{count(asked)} requests: {count(hits)} hit, {count(merged)} joined a "
                      f"pending miss, {count(misses)} missed")


def _label(row: profile.Row, labels: dict[Identity, str]) -> str:
    return row["kernel"].split("(")[0] + labels[profile.kernel(row)][len(row["kernel"]):]


def hot(run: Run, path: str) -> dict[str, Any]:
    """The instructions of each kernel with most slot-cycles, for intervals of the timeline."""
    read = profile.read(path)
    names = {(kernel.name, kernel.gpu): kernel.short for kernel in run.kernels}
    profile.check_is_of(read, path, run.root, run.path)
    by_kernel: dict[Identity, list[profile.Row]] = {}
    for row in sorted(read, key=lambda row: -profile.cycles(row)):
        by_kernel.setdefault(profile.kernel(row), []).append(row)
    return {"rows": [{"kernel": names.get(kernel, kernel[0]),
                      "offset": f"{int(row['offset']):+#06x}", "text": row["instruction"],
                      "cycles": profile.cycles(row), "causes": _causes(row)}
                     for kernel, rows in by_kernel.items() for row in rows[:4 * INSTRUCTIONS]]}


def _causes(row: profile.Row) -> str:
    return ", ".join(f"{kind} {percent(share)}" for kind, share in profile.causes(row))


def instructions(run: Run, path: str, name: str) -> str:
    """The instructions that most slot-cycles of wavefronts went to."""
    read = profile.read(path)
    labels = profile.labels(read)
    profile.check_is_of(read, path, run.root, run.path)
    found = [(profile.cycles(row), row) for row in read]
    whole = sum(cycles for cycles, _ in found) or 1
    rows = []
    for cycles, row in sorted(found, key=lambda f: -f[0])[:INSTRUCTIONS]:
        executions, lines = int(row["executions"]), int(row["lines"])
        latency = int(row["memory_cycles"]) / executions if executions else 0
        kernel = labels[profile.kernel(row)]
        rows.append([cell(_label(row, labels), title=kernel),
                     cell(int(row["offset"]), f"{int(row['offset']):+#06x}"),
                     cell(row["instruction"]), cell(executions, count(executions)),
                     cell(cycles, count(cycles)), cell(cycles / whole, percent(cycles / whole)),
                     cell(lines / executions, f"{lines / executions:.1f}")
                     if lines and executions else cell("", "–"),
                     cell(latency, f"{latency:.0f}") if lines else cell("", "–"),
                     _hits(row, "l1"), _hits(row, "l2"),
                     cell(_causes(row))])
    return table(name, ["kernel", "offset", "instruction", "executions", "slot-cycles", "of all",
                        "lines", "latency", "L1 hits", "L2 hits", "most of them"], rows)
