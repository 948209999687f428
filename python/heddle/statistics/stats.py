"""The command `heddle stats`: what a run's JSON says as a table, what differs between runs; all of
it as tidy CSV, with a row for each kernel and component of each run; and the reports of --report.

Every number has a path: components.PATH.STAT, kernels[0].cycles, ... A structured statistic gives
its members; buckets are left to the JSON. Rows are in the order of the first file; rows that only
later files have follow."""
from __future__ import annotations

import dataclasses
import sys
from typing import Any, Callable, Iterable, Iterator

from heddle.base import command_line
from heddle.base.command_line import Options
from heddle.base.files import csv_text, write_or_print
from heddle.base.mistakes import Mistake
from heddle.statistics import differences
from heddle.statistics.statistics_file import Statistics, is_whole, kernel_labels, read

Number = int | float
Key = tuple[str, str, str]  # section ("kernel", "component", ...), where, what


@dataclasses.dataclass
class Table:
    names: list[str]  # of the files, by run
    settings: dict[str, list[str | None]]
    rows: dict[Key, list[Number | None]]


# ---- reading


def _numbers(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Number]]:
    """Members of members as "a.b"."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield f"{prefix}{name}", value


def _values(run: Statistics, whole: bool) -> Iterator[tuple[Key, Number]]:
    """The values of a kernel, all but its components; for the table of one run its own numbers
    alone, which --report explains better."""
    if "time_ps" in run:
        yield ("run", "", "time_ps"), run["time_ps"]
    kernels = {f"{i} {kernel['name']}": {
        name: value for name, value in kernel.items()
        if name != "components" and (whole or not isinstance(value, dict))}
        for i, kernel in enumerate(run.get("kernels", []))}
    for section, places in (("clock", run.get("clocks", {})), ("kernel", kernels),
                            *((name, run.get(f"{name}s", {}))
                              for name in ("component", "connection", "link")),
                            ("host", {"": run.get("host", {})})):
        for where, values in places.items():
            if isinstance(values, dict):
                yield from (((section, where, what), value) for what, value in _numbers(values))


def _settings(run: Statistics) -> dict[str, str | None]:
    stamp = run.get("stamp", {})
    program = stamp.get("program")
    return {"platform": run.get("platform"), "mode": run.get("mode"),
            "program": program and program[:12], "partial": run.get("partial"),
            **stamp.get("settings", {})}


def _merged(runs: Iterable[Iterable[tuple[Any, Any]]], count: int) -> dict[Any, list[Any]]:
    rows: dict[Any, list[Any]] = {}
    for i, run in enumerate(runs):
        for key, value in run:
            rows.setdefault(key, [None] * count)[i] = value
    return rows


def _table(names: list[str], runs: list[Statistics], whole: bool) -> Table:
    settings = _merged((_settings(run).items() for run in runs), len(runs))
    return Table(names, {name: values for name, values in settings.items() if len(set(values)) > 1},
                 _merged((_values(run, whole) for run in runs), len(runs)))


# ---- printing


def _text(value: Number | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"


def _lines(table: Table, zeros: bool) -> Iterator[str]:
    """The lines of one run; zeros say little, so it is only said how many there are."""
    before, left_out = "", 0
    where = max([5, *(len(key[1]) for key in table.rows)])
    what = max([9, *(len(key[2]) for key in table.rows)])
    width = max([5, *(len(_text(values[0])) for values in table.rows.values())])
    for key, values in table.rows.items():
        if not values[0] and not zeros:
            left_out += 1
            continue
        if key[0] != before:
            yield f"\n{key[0]}" if before else key[0]
        before = key[0]
        yield f"  {key[1]:<{where}}  {key[2]:<{what}}  {_text(values[0]):>{width}}"
    if left_out:
        yield f"\n{left_out} more are zero; --all shows them"


def _tidy(table: Table) -> str:
    columns = list(dict.fromkeys(key[2] for key in table.rows))
    places: dict[tuple[str, str], dict[str, list[Number | None]]] = {}
    for (section, where, what), values in table.rows.items():
        places.setdefault((section, where), {})[what] = values
    rows = []
    for run, name in enumerate(table.names):
        settings = [values[run] or "" for values in table.settings.values()]
        for place, found in places.items():
            if any(values[run] is not None for values in found.values()):
                cells = (found[what][run] if what in found else None for what in columns)
                rows.append([name, *settings, *place,
                             *("" if cell is None else _text(cell) for cell in cells)])
    return csv_text(["file", *(f"param:{name}" for name in table.settings), "section", "where",
                     *columns], rows)


def statistics(chosen: Options, runs: list[Statistics]) -> str:
    if chosen.csv:
        return _tidy(_table(chosen.files, runs, True))
    if len(runs) > 1:
        differences.check(runs, chosen.files)
        lines = differences.lines(runs, chosen.files, chosen.below, chosen.all, chosen.threshold)
    else:
        table = _table(chosen.files, runs, False)
        lines = _lines(table, chosen.all)
    return "\n".join(lines) + "\n"


# ---- reports


def cpi(chosen: Options, runs: list[Statistics]) -> str:
    from heddle.statistics import kernels
    from heddle.verdict import limits
    if len(runs) > 2:
        raise Mistake("'--report' compares two runs at most", usage=True)
    differences.check(runs, chosen.files)
    found = [limits.judged(kernels.read(run, name), run, name)
             for run, name in zip(runs, chosen.files)]
    return kernels.rows_csv(found) if chosen.csv else kernels.table(found)


def _model(chosen: Options, runs: list[Statistics]) -> Any:
    from heddle.statistics import model
    return model.described(chosen, runs[0], chosen.files[0], chosen.description)


def measures(chosen: Options, runs: list[Statistics]) -> str:
    from heddle.statistics import measures as found
    model = _model(chosen, runs)
    scopes = [found.of_run(model, runs[0]), *(found.of_kernel(model, runs[0], kernel, label)
                                              for kernel, label in kernel_labels(runs[0]).items())]
    if chosen.csv:
        return csv_text(["scope", "path", "type", "kind", "measure", "part", "whole", "cycles",
                         "time_ps"],
                        ([scope.scope, row.path, row.type, row.kind, name, f"{row.part:.17g}",
                          f"{row.whole:.17g}", row.cycles, scope.time_ps]
                         for scope in scopes for name in found.NAMES for row in scope.rows(name)))
    lines = []
    for scope in scopes:
        lines.append(scope.scope)
        for name in found.NAMES:
            for group in found.grouped(r for r in scope.rows(name)
                                       if r.kind not in ("connection", "link")):
                shares = [row.share * 100 for row in group.rows]
                lines.append(f"  {group.path:<40} {name:<12} {group.share * 100:6.1f} %" + (
                    f"  {min(shares):.1f} to {max(shares):.1f} %"
                    if max(shares) > min(shares) else ""))
    return "\n".join(lines) + "\n"


def limits(chosen: Options, runs: list[Statistics]) -> str:
    from heddle.statistics import kernels
    from heddle.verdict import limits as rules
    found = kernels.read(runs[0], chosen.files[0])
    reported = list(rules.report(found, runs[0], chosen.files[0]))
    if chosen.csv:
        return csv_text(["kernel", "cause", "share", "words", "settings"],
                        ([label, limit.what, f"{limit.share:.1f}", limit.sentence,
                          "; ".join(setting.words for setting in limit.tries)]
                         for label, kernel_limits in reported for limit in kernel_limits))
    return "".join(f"{line}\n" for label, kernel_limits in reported
                   for line in (label, *(f"  {limit.words}" for limit in kernel_limits)))


def series(chosen: Options, runs: list[Statistics]) -> str:
    from heddle.statistics import series
    if not chosen.series:
        raise Mistake("'--report series' shows what `heddle run --series` wrote; name it with "
                      "'--series FILE'")
    rows = series.read(_model(chosen, runs), runs[0], chosen.series, chosen.series_counter)
    return csv_text(["from_ps", "to_ps", "path", "type", "kind", "measure", "part", "whole",
                     "most"],
                    ([row.from_ps, row.to_ps, row.path, row.type, row.kind, row.measure,
                      f"{row.part:.17g}" if isinstance(row.part, float) else row.part,
                      f"{row.whole:.17g}" if isinstance(row.whole, float) else row.whole,
                      f"{row.most:.6g}"] for row in rows))


def trust(chosen: Options, runs: list[Statistics]) -> str:
    from heddle.verdict import trust as found
    return "\n".join(found.report(chosen, runs[0], chosen.files[0], chosen.description)) + "\n"


def counters(chosen: Options, runs: list[Statistics]) -> str:
    from heddle.counters import report
    found = report.counted(runs[0], chosen.files[0], chosen.profile)
    return report.rocprof_csv(found) if chosen.csv else \
        "".join(f"{line}\n" for line in report.lines(found, chosen.all))


def dram(chosen: Options, runs: list[Statistics]) -> str:
    from heddle.statistics import dram as found
    return "".join(f"{line}\n" for line in found.lines(_model(chosen, runs), runs[0]))


REPORTS: dict[str | None, Callable[[Options, list[Statistics]], str]] = {
    None: statistics, "cpi": cpi, "measures": measures, "limits": limits, "series": series,
    "trust": trust, "counters": counters, "dram": dram}


# ---- the command


def _warn(name: str, run: Statistics) -> None:
    """Statistics of a run that did not come to its end, or of a part, look like others."""
    if isinstance(run.get("partial"), str):
        print(f"heddle stats: '{name}' is of a run that did not come to its end: {run['partial']}",
              file=sys.stderr)
    sample = run.get("sample")
    if sample:
        cycles, interval = (float(sample.get(key, 0)) for key in ("cycles", "interval"))
        words = (", and all launches were simulated whole" if is_whole(sample) else
                 ": cycles and counters are of what was simulated in detail; all launches would "
                 f"take {cycles:.0f} cycles, "
                 f"+- {100 * interval / cycles if cycles > 0 else 0:.2f} % at 95 %")
        print(f"heddle stats: '{name}' is a sample{words}", file=sys.stderr)


def main(chosen: Options) -> int:
    if chosen.profile and chosen.report != "counters":
        raise Mistake("'--profile FILE' is for '--report counters'", usage=True)
    if chosen.report not in (None, "cpi") and len(chosen.files) > 1:
        raise Mistake(f"'--report {chosen.report}' is of one run", usage=True)
    chosen.threshold = command_line.share(chosen.threshold, "--threshold")
    if len(chosen.files) < 2 and (chosen.below or chosen.threshold is not None):
        raise Mistake("'--below' and '--threshold' compare runs; name a second file", usage=True)
    runs = []
    for name in chosen.files:
        runs.append(read(name))
        _warn(name, runs[-1])
    write_or_print(chosen.output, REPORTS[chosen.report](chosen, runs))
    return 0
