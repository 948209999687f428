"""Words of a command line, and what a command prints. The command in C has checked the words' forms
(see `heddle help COMMAND`) and hands them on as they are, behind the paths of its toolkit."""
from __future__ import annotations

import argparse
from typing import Sequence

from heddle.mistakes import Mistake


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


def asked(*words: str) -> str | None:
    """What a command prints; None: it has said on standard error why there is nothing."""
    import subprocess  # most commands ask nothing
    done = subprocess.run(words, stdout=subprocess.PIPE, check=False)
    return done.stdout.decode() if done.returncode == 0 else None


def share(text: str | None, option: str) -> float | None:
    """What "2.5" per cent are."""
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1
    if not 0 <= value <= 100:
        raise Mistake(f"'{option} {text}' is no number of per cent from 0 to 100", usage=True)
    return value / 100
