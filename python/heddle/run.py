"""What `heddle run` leaves to Python: what it prints at the end of the statistics of one process
(run cpi FILE, run sample FILE), and the page of --view (run view ...)."""
from __future__ import annotations

from typing import Sequence

from heddle import words as command_line
from heddle.statistics import read


def main(words: Sequence[str]) -> int:
    if next(word for word in words if not word.startswith("--")) == "view":
        from heddle.view import server
        return server.main(words)
    parser = command_line.parser("run")
    parser.add_argument("what")
    parser.add_argument("file")
    chosen = command_line.parse(parser, words)
    statistics = read(chosen.file)
    if chosen.what == "cpi":
        from heddle import kernels, limits
        found = limits.told(kernels.read(statistics, chosen.file))
        print(kernels.table([found]), end="")
    elif "sample" in statistics:
        from heddle import sample
        print("\n".join(sample.lines(statistics)))
    return 0
