"""What `heddle run` leaves to Python: what it prints of a file of one process (run cpi FILE, run
limits FILE SERIES, run trust FILE, run counters FILE [PROFILE], run dram FILE, run sample FILE, run
profile FILE [PROGRAM]), and the page of --view (run view ...)."""
from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Sequence

from heddle import words as command_line
from heddle.statistics_file import Statistics, read

if TYPE_CHECKING:
    from heddle.model import Model


def _described(chosen: argparse.Namespace, statistics: Statistics) -> Model:
    from heddle import model
    return model.described(chosen, statistics, chosen.file, chosen.description, built=chosen.built)


def _limits(chosen: argparse.Namespace, statistics: Statistics) -> None:
    """What was full when stays in the file, for whatever reads it."""
    from heddle import fullness, kernels, limits
    found = fullness.read(_described(chosen, statistics), statistics, chosen.simulated)
    fullness.write(found, chosen.file)
    for label, told in limits.report(kernels.read(statistics, chosen.file), statistics,
                                     chosen.file, found):
        print("\n".join([label, *(f"  {limit.words}" for limit in told)]))


def main(words: Sequence[str]) -> int:
    if next(word for word in words if not word.startswith("--")) == "view":
        from heddle.view import server
        return server.main(words)
    parser = command_line.parser("run")
    parser.add_argument("what")
    parser.add_argument("file")
    parser.add_argument("simulated", nargs="?")
    parser.add_argument("--description")
    parser.add_argument("--built")
    chosen = command_line.parse(parser, words)
    if chosen.what == "profile":
        from heddle import profile
        print(profile.table(chosen.file, chosen.simulated), end="")
        return 0
    statistics = read(chosen.file, from_run=True)
    if chosen.what == "cpi":
        from heddle import kernels, limits
        found = limits.told(kernels.read(statistics, chosen.file), statistics, chosen.file)
        print(kernels.table([found]), end="")
    elif chosen.what == "trust":
        from heddle import trust
        print("\n".join(trust.told(chosen, statistics, chosen.file, chosen.description, True)))
    elif chosen.what == "counters":
        from heddle.counters import told
        print("\n".join(told.lines(told.counted(statistics, chosen.file, chosen.simulated))))
    elif chosen.what == "limits":
        _limits(chosen, statistics)
    elif chosen.what == "dram":
        from heddle import dram
        print("\n".join(dram.lines(_described(chosen, statistics), statistics)))
    elif "sample" in statistics:
        from heddle import sample
        print("\n".join(sample.lines(statistics)))
    return 0
