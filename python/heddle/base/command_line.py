"""The options of a command, and what a command prints. The command in C has parsed the command line
(see `heddle help COMMAND`) and hands on all options of the command, given or not, as words
KEY:KIND=VALUE; keys are fields of struct options (command/options/options.def)."""
from __future__ import annotations

import types
from typing import Any, Sequence

from heddle.base.mistakes import Mistake


class Options(types.SimpleNamespace):
    """A text or a number is None if it was not given, a flag False, a list empty. Beside the
    options there are `files`, the `program` behind `--`, all `words` as they were given, and the
    paths of the toolkit: `heddle`, `hip`, `library`."""

    def again(self, *names: str) -> list[str]:
        """These options as words, for another command."""
        words: list[str] = []
        for name in names:
            value = getattr(self, KEYS.get(name) or name.strip("-").replace("-", "_"))
            if value is True:
                words.append(name)
            for one in value if isinstance(value, list) else [value] if value else []:
                words += [] if value is True else [name, PREFIXES.get(name, "") + str(one)]
        return words


KEYS = {"-I": "include", "--play": "play_sass"}  # where the name says something else
PREFIXES = {"--play": "sass="}


def read(words: Sequence[str]) -> Options:
    found: dict[str, Any] = {}
    for word in words:
        head, _, value = word.partition("=")
        key, _, kind = head.partition(":")
        if kind == ",":
            found[key].append(value)
        else:
            found[key] = {"t": value, "-": None, "[": [], "?": bool(value),
                          "#": int(value) if kind == "#" and value else None}[kind]
    return Options(**found)


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
        raise Mistake(f"'{option} {text}' is not a percentage from 0 to 100", usage=True)
    return value / 100
