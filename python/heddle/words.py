"""Words of a command line. The command in C has checked their forms (see `heddle help COMMAND`) and
hands them on as they are, behind the paths of its toolkit."""
from __future__ import annotations

import argparse
from typing import Sequence


def parser(command: str) -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog=f"heddle {command}", allow_abbrev=False)
    found.add_argument("--heddle", required=True)
    for name in ("--hip", "--library"):
        found.add_argument(name, default="")
    found.add_argument("-o", dest="output")
    return found


def parse(of: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """What stands behind `--` is the program, whose words may look like options."""
    cut = words.index("--") if "--" in words else len(words)
    chosen = of.parse_intermixed_args(words[:cut])
    chosen.program = list(words[cut + 1:])
    return chosen
