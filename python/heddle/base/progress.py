"""The progress of many runs, in a line."""
from __future__ import annotations

import sys
import time
from typing import Any, Callable


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def progress_on(stream: Any = sys.stderr, every: float = 10.0) -> Callable[[str], None]:
    """Writes lines to a stream: a terminal has one line that is overwritten, a log gets a line
    every 10 seconds."""
    last = [time.monotonic()]

    def say(line: str) -> None:
        if stream.isatty():
            stream.write(f"\r\033[K{line}")
            stream.flush()
        elif time.monotonic() - last[0] >= every:
            last[0] = time.monotonic()
            stream.write(line + "\n")
            stream.flush()
    return say
