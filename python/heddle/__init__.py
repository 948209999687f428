"""heddle from Python: `import heddle`. See heddle.api for what there is, docs/guide/python.md for
how to use it. The command `heddle` starts some of its commands here, too; see heddle.__main__. The
README.md above this folder lists the modules, from the bottom up."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heddle.api import (Diagnostic, Figure, Platform, Run, Sweep, command, load, open_run,
                            open_sweep, sweep, use)
    from heddle.base.mistakes import Mistake

__version__ = "0.2.0"
__all__ = ["Diagnostic", "Figure", "Mistake", "Platform", "Run", "Sweep", "command", "load",
           "open_run", "open_sweep", "sweep", "use"]


def __getattr__(name: str) -> Any:
    """Imported when asked for: commands start faster without."""
    if name not in __all__:
        raise AttributeError(f"module 'heddle' has no attribute '{name}'")
    from heddle import api
    return getattr(api, name)
