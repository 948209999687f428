"""What `heddle run` prints at the end, of the statistics of one process: run WHAT FILE."""
from __future__ import annotations

import json
import pathlib
from typing import Sequence

from heddle import words as command_line


def main(words: Sequence[str]) -> int:
    parser = command_line.parser("run")
    parser.add_argument("what")
    parser.add_argument("file")
    chosen = command_line.parse(parser, words)
    statistics = json.loads(pathlib.Path(chosen.file).read_text(encoding="utf-8"))
    if chosen.what == "sample" and "sample" in statistics:
        from heddle import sample
        print("\n".join(sample.lines(statistics)))
    return 0
