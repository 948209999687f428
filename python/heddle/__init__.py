"""heddle from Python: `import heddle`. See heddle.api for what there is, docs/guide/python.md for
how to use it. The command `heddle` starts some of its commands here, too; see heddle.__main__.

Modules, from the bottom up:

mistakes     errors that are a user's
files        files that are written whole or not at all; folders of one process
words        words of a command line
draw         shapes, texts and axes of figures
toml         TOML files, with messages that name the place
points       runs with their settings, states and results, in a folder with a database
runner       runs points on several processes
description  the file that says what has been measured and how it is simulated
compare      errors and rank correlation
chart        plots of a calibration
fit          parameters within intervals
calibrate    heddle calibrate
trial        one run after the other
correction   the formula for launches that were simulated with cold caches
report       heddle report: a page about a run, with modules of its own
experiment   heddle experiment: ways to warm up beside the truth
sample       heddle sample, and its table
run          what heddle run prints at the end
sweeps       heddle sweep: all combinations of parameters, with modules of its own
api          platforms, runs and sweeps for programs and notebooks
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heddle.api import (Diagnostic, Figure, Platform, Run, Sweep, command, load, open_run,
                            open_sweep, sweep, use)
    from heddle.mistakes import Mistake

__version__ = "0.2.0"
__all__ = ["Diagnostic", "Figure", "Mistake", "Platform", "Run", "Sweep", "command", "load",
           "open_run", "open_sweep", "sweep", "use"]


def __getattr__(name: str) -> Any:
    """Imported when asked for: commands start faster without."""
    if name not in __all__:
        raise AttributeError(f"module 'heddle' has no attribute '{name}'")
    from heddle import api
    return getattr(api, name)
