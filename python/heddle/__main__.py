"""Started by the command `heddle`: python3 -m heddle COMMAND WORDS."""
from __future__ import annotations

import importlib
import sys

# The module of each command, and Debian's packages of what it needs beside Python's own modules.
MODULES = {"calibrate": "heddle.calibration.calibrate", "debug": "heddle.debug.debug",
           "doc": "heddle.pages.reference",
           "dot": "heddle.pages.walk", "experiment": "heddle.sampling.experiment",
           "params": "heddle.pages.params", "report": "heddle.report.report", "run": "heddle.run",
           "stats": "heddle.statistics.stats", "sweep": "heddle.sweeps.sweep",
           "whatif": "heddle.whatif.whatif"}
NEEDED = {"calibrate": {"numpy": "python3-numpy", "scipy": "python3-scipy"}}


def missing_packages(name: str) -> list[str]:
    """The missing packages of a command. None is imported, which would take most of a second."""
    from importlib.util import find_spec
    return [package for module, package in NEEDED.get(name, {}).items()
            if find_spec(module) is None]


def main() -> int:
    name = sys.argv[1]
    if sys.version_info < (3, 11):
        print(f"heddle {name}: Python 3.11 or later is needed; '{sys.executable}' is "
              f"{sys.version.split()[0]}. Name another one with HEDDLE_PYTHON", file=sys.stderr)
        return 1
    packages = missing_packages(name)
    if packages:
        print(f"heddle {name}: '{sys.executable}' lacks modules; install the Debian package"
              f"{'s' if len(packages) > 1 else ''} {' and '.join(packages)}", file=sys.stderr)
        return 1
    from heddle.base import command_line
    from heddle.base.mistakes import Mistake
    chosen = command_line.read(sys.argv[2:])
    sys.argv = ["heddle", name, *chosen.words]  # as it was typed
    try:
        return int(importlib.import_module(MODULES[name]).main(chosen))
    except Mistake as mistake:
        print(f"heddle {name}: {mistake}", file=sys.stderr)
        return 2 if mistake.usage else 1
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
