"""The noise floor of comparisons: by how much runs differ that are equally right.

`heddle whatif` measures it, for the time of a program and for each counter, and leaves it in the
folder of built platforms. A comparison finds it by what ran: the platform, the program, and the
work that its kernels did. Measured with the settings of one of the runs it is taken first,
otherwise with any others. Where there is none, it is assumed, and that is said."""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from typing import Sequence

from heddle.base.files import digest, write
from heddle.base.mistakes import Mistake
from heddle.statistics.statistics_file import Statistics, number

# The largest of the ten floors of docs/evidence/bottlenecks.md, rounded up.
ASSUMED = 0.04


@dataclasses.dataclass(frozen=True)
class Floor:
    """Noise as shares of a value. `counters` has the counters whose share is larger than that of
    times, by path and name."""
    time: float
    words: str
    counters: dict[str, float] = dataclasses.field(default_factory=dict)

    def share(self, path: str, name: str) -> float:
        return max(self.time, self.counters.get(f"{path} {name}", 0))


def _folder() -> pathlib.Path:
    """Where the command keeps what it has built (codegen/build/cache.c)."""
    given = os.environ.get("HEDDLE_CACHE")
    above = os.environ.get("XDG_CACHE_HOME") or f"{os.environ.get('HOME', '')}/.cache"
    return pathlib.Path(given or f"{above}/heddle") / "floors"


def _file(run: Statistics) -> pathlib.Path:
    work: dict[str, list[int]] = {}
    for launch in run.get("kernels", []):
        sums = work.setdefault(launch["name"], [0, 0])
        sums[0] += 1
        sums[1] += number(launch, "wavefront_instructions")
    return _folder() / (digest(str(run.get("platform")), str(run.get("mode")),
                               str(run.get("stamp", {}).get("program")), json.dumps(work))
                        + ".json")


def _kept(run: Statistics) -> dict[str, Floor]:
    """The floors that are kept, by the hash of the model."""
    try:
        kept = json.loads(_file(run).read_text(encoding="utf-8"))
        return {model: Floor(float(one["time"]), str(one["words"]), dict(one["counters"]))
                for model, one in kept.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}  # it is not there, or not whole


def keep(run: Statistics, time: float, counters: dict[str, float], runs: int) -> None:
    found = _kept(run)
    found[str(run.get("stamp", {}).get("model"))] = Floor(
        time, f"measured by `heddle whatif` in {runs} runs that are equally right",
        {name: share for name, share in counters.items() if share > time})
    try:
        _folder().mkdir(parents=True, exist_ok=True)
        write(_file(run), json.dumps({model: dataclasses.asdict(one)
                                      for model, one in found.items()}, indent=1))
    except (OSError, Mistake):
        pass  # a folder that cannot be written: comparisons assume it


# ---- the interval by what is not known (heddle.whatif.uncertainty)


def _interval_file(run: Statistics) -> pathlib.Path:
    return _file(run).with_suffix(f".{run.get('stamp', {}).get('model')}.interval")


def keep_interval(run: Statistics, words: str) -> None:
    """Keeps the interval of this model and no other."""
    try:
        _folder().mkdir(parents=True, exist_ok=True)
        write(_interval_file(run), f"{words}\n")
    except (OSError, Mistake):
        pass  # as above


def interval_of(run: Statistics) -> str | None:
    try:
        return _interval_file(run).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _together(floors: Sequence[Floor], more: str = "") -> Floor:
    counters: dict[str, float] = {}
    for one in floors:
        for name, share in one.counters.items():
            counters[name] = max(share, counters.get(name, 0))
    widest = max(floors, key=lambda one: one.time)
    return Floor(widest.time, widest.words + more, counters)


def find(runs: Sequence[Statistics]) -> Floor:
    """The floor of these runs together."""
    own, others = [], []
    for run in runs:
        for model, one in _kept(run).items():
            (own if model == run.get("stamp", {}).get("model") else others).append(one)
    if own:
        return _together(own)
    if others:
        return _together(others, ", with other settings")
    return Floor(ASSUMED, "assumed; `heddle whatif` of the same program measures it")
