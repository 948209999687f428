"""The command `heddle report`."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Callable

from heddle.base import command_line
from heddle.base.command_line import Options
from heddle.base.files import write
from heddle.base.mistakes import Mistake
from heddle.report import figures, page, roofline
from heddle.report.runs import MEASURES, RUN, Run, read_runs
from heddle.report.timeline import Timeline
from heddle.statistics import differences

# What --plot draws of the first run.
PLOTS: dict[str, Callable[[Run], str | None]] = {
    "cycles": figures.cycles,
    "roofline": lambda run: roofline.roofline(run, roofline.instructions(run)),
    **{f"heat-{m}": (lambda run, m=m: figures.heat_map(run, m)) for m in MEASURES},
    **{f"topology-{m}": (lambda run, m=m: run.picture(m, RUN, None)) for m in MEASURES},
}


def over_time(series: Timeline | None) -> dict[str, Callable[[Run], str | None]]:
    """What --plot draws of a series."""
    def draws(measure: str) -> Callable[[Run], str | None]:
        def drawn(_: Run) -> str | None:
            if series is None:
                raise Mistake(f"the plot 'time-{measure}' needs '--series FILE'")
            return series.picture(measure)
        return drawn
    return {f"time-{measure}": draws(measure) for measure in MEASURES}


def plots(run: Run, series: Timeline | None, names: list[str], output: str | None) -> None:
    known = {**PLOTS, **over_time(series)}
    for name in names:
        if name not in known:
            raise Mistake(f"there is no plot '{name}'; there are: {', '.join(known)}")
        drawn = known[name](run)
        if drawn is None:
            raise Mistake(f"'{run.path}' has nothing for the plot '{name}'"
                          + (f": {run.missing}" if run.missing else ""))
        folder = Path(output or ".") if len(names) > 1 or not output else None
        path = folder / f"{Path(run.path).stem}-{name}.svg" if folder else Path(str(output))
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, drawn)
        print(path)


def report_sweep(chosen: Options) -> int:
    """The first file is a folder."""
    from heddle.sweeps import sweep_page as sweeps  # needs SQLite, which runs do not
    from heddle.sweeps.database import is_sweep
    folder = Path(chosen.files[0])
    if not is_sweep(folder):
        raise Mistake(f"'{folder}' is a folder without a sweep; one has sweep.sqlite")
    for name, given in (("a second file", chosen.files[1:]), ("--profile", chosen.profile),
                        ("--trace", chosen.trace), ("--description", chosen.description)):
        if given:
            raise Mistake(f"{name} does not go with a sweep", usage=True)
    if chosen.plot:
        sweeps.plots(folder, chosen.plot, chosen.output)
        return 0
    path = Path(chosen.output or f"{folder.resolve().name}.html")
    write(path, sweeps.page(folder))
    print(path)
    return 0


def main(chosen: Options) -> int:
    if Path(chosen.files[0]).is_dir():
        return report_sweep(chosen)
    chosen.threshold = command_line.share(chosen.threshold, "--threshold")
    runs = read_runs(chosen, chosen.files, chosen.description)
    differences.check([run.root for run in runs], chosen.files)
    for run in runs:
        if run.missing:
            print(f"heddle report: {run.missing}", file=sys.stderr)
    if chosen.series and len(runs) > 1:
        raise Mistake("'--series' is of one run; give one statistics file")
    if chosen.trace and not chosen.series:
        raise Mistake("'--trace' tells of intervals; give '--series FILE', too", usage=True)
    series = Timeline(runs[0], chosen.series) if chosen.series else None
    if chosen.plot:
        plots(runs[0], series, chosen.plot, chosen.output)
        return 0
    path = Path(chosen.output or Path(chosen.files[0]).stem + ".html")
    write(path, page.page(runs, chosen, series))
    print(path)
    return 0
