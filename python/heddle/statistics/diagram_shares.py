"""What colours the diagram of a run, for `heddle dot --stats`: the shares of all measures of its
components and connections, as command/command_dot.c reads them."""
from __future__ import annotations

import json
from typing import Any

from heddle.base.command_line import Options
from heddle.base.mistakes import Mistake
from heddle.statistics.measures import Measured, of_kernel, of_run
from heddle.statistics.model import described
from heddle.statistics.statistics_file import Identity, Statistics, kernel_labels, read


def shares(found: Measured, title: str) -> dict[str, Any]:
    model = found.model

    def measured(by_name: dict[str, list[tuple[float, float]]], index: int) -> dict[str, Any]:
        return {name: values[index] for name, values in by_name.items() if values[index][1] > 0}

    return {"title": title, "description": model.description, "platform": model.platform,
            "set": model.sets,
            "shares": {place.path: measured(found.shares, i)
                       for i, place in enumerate(model.places[:model.instances])},
            "connections": [measured(found.connections, i)
                            for i in range(len(model.connections))]}


def _kernel(statistics: Statistics, path: str, text: str) -> tuple[Identity, str]:
    """The kernel by its whole name, or by what stands before its parameters; where several GPUs ran
    it, with " on GPU N" behind that."""
    name, _, gpu = text.partition(" on GPU ")
    known = kernel_labels(statistics)
    found = next((kernel for kernel, _ in known
                  if kernel == name or kernel.startswith(f"{name}(")), "")
    gpus = [on for kernel, on in known if kernel == found]
    chosen = [on for on in gpus if gpu in ("", str(on))]
    if not chosen:
        raise Mistake(f"'--kernel {text}': '{path}' has no kernel of that name"
                      + (f" on that GPU, but on {_listed(gpus)}" if gpus else ""))
    if len(chosen) > 1:
        raise Mistake(f"'--kernel {text}': it ran on GPUs {_listed(gpus)}; say on which, as in "
                      f"'--kernel \"{name} on GPU {gpus[0]}\"'")
    return (found, chosen[0]), known[found, chosen[0]]


def _listed(gpus: list[int]) -> str:
    return ", ".join(map(str, gpus))


def main(chosen: Options) -> int:
    statistics = read(chosen.stats)
    kernel = _kernel(statistics, chosen.stats, chosen.kernel) if chosen.kernel else None
    model = described(chosen, statistics, chosen.stats, next(iter(chosen.files), None), chosen.set,
                      chosen.include)
    found = of_kernel(model, statistics, *kernel) if kernel else of_run(model, statistics)
    print(json.dumps(shares(found, f"of {kernel[1]}" if kernel else "of the whole run")))
    return 0
