"""What `heddle run` leaves to Python: what it prints of a file of one process (run cpi FILE, run
limits FILE SERIES, run trust FILE, run counters FILE [PROFILE], run dram FILE, run sample FILE, run
profile FILE [PROGRAM]), and the page of --view (run view ...)."""
from __future__ import annotations

from typing import TYPE_CHECKING

from heddle.base.command_line import Options
from heddle.statistics.statistics_file import Statistics, read

if TYPE_CHECKING:
    from heddle.statistics.model import Model


def _described(chosen: Options, statistics: Statistics) -> Model:
    from heddle.statistics import model
    return model.described(chosen, statistics, chosen.file, chosen.files[0], built=chosen.built)


def _limits(chosen: Options, statistics: Statistics) -> None:
    """What was full when stays in the file, for whatever reads it."""
    from heddle.statistics import kernels
    from heddle.verdict import fullness, limits
    found = fullness.read(_described(chosen, statistics), statistics, chosen.about)
    fullness.write(found, chosen.file)
    for label, kernel_limits in limits.report(kernels.read(statistics, chosen.file), statistics,
                                              chosen.file, found):
        print("\n".join([label, *(f"  {limit.words}" for limit in kernel_limits)]))


def main(chosen: Options) -> int:
    if chosen.what == "view":
        from heddle.view import server
        return server.main(chosen)
    description = chosen.files[0]
    if chosen.what == "profile":
        from heddle.statistics import profile
        print(profile.table(chosen.file, chosen.about), end="")
        return 0
    statistics = read(chosen.file, from_run=True)
    if chosen.what == "cpi":
        from heddle.statistics import kernels
        from heddle.verdict import limits
        found = limits.judged(kernels.read(statistics, chosen.file), statistics, chosen.file)
        print(kernels.table([found]), end="")
    elif chosen.what == "trust":
        from heddle.verdict import trust
        print("\n".join(trust.report(chosen, statistics, chosen.file, description, True)))
    elif chosen.what == "counters":
        from heddle.counters import report
        print("\n".join(report.lines(report.counted(statistics, chosen.file, chosen.about))))
    elif chosen.what == "limits":
        _limits(chosen, statistics)
    elif chosen.what == "dram":
        from heddle.statistics import dram
        print("\n".join(dram.lines(_described(chosen, statistics), statistics)))
    elif "sample" in statistics:
        from heddle.sampling import sample
        print("\n".join(sample.lines(statistics)))
    return 0
