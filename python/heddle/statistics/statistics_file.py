"""Statistics files, as `heddle run --stats` writes them."""
from __future__ import annotations

import json
import math
import pathlib
import re
import shlex
from typing import Any, Iterable

from heddle.base.mistakes import Mistake

Statistics = dict[str, Any]
Identity = tuple[str, int]  # of a kernel: its name, and the GPU that ran it
BYTES_MAX = 1 << 30


def _mistake(file: pathlib.Path) -> str:
    """The reason why a file cannot be read whole: a pipe would wait for its writer, a device has no
    end."""
    if file.is_dir():
        return "it is a directory"
    if not file.is_file() and file.exists():
        return "it is not a regular file"
    return "it is larger than 1 GiB" if file.exists() and file.stat().st_size > BYTES_MAX else ""


# What is no number.
WORDS = {"name", "symbol", "limited_by", "simulated", "to", "command", "date", "folder",
         "path", "kind", "range"}
FLAGS = {"overlaps", "partial"}
VECTORS = {"units", "blocks"}  # of `--profile blocks`: numbers in a text; SMs count blocks


def _wrong(name: str, value: Any, place: str) -> str:
    """What is wrong with a member, or with a member inside it: counts, sums and times are numbers
    of at least 0."""
    if isinstance(value, (dict, list)):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        found = (_wrong(name if isinstance(value, list) else key, one,
                        f"{place}[{key}]" if isinstance(value, list) else f"{place}.{key}")
                 for key, one in inside)
        return next((one for one in found if one), "")
    if name in VECTORS and isinstance(value, str):
        return "" if re.fullmatch(r"\d+( \d+)*", value) else \
            f"{place} is {value!r:.60}, which are not numbers"
    if name in WORDS or name in FLAGS:
        return "" if isinstance(value, str if name in WORDS else bool) else \
            f"{place} is {value!r:.60}"
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return f"{place} is {value!r:.60}, which is not a number"
    return "" if 0 <= value < math.inf else f"{place} is {value}, which nothing counts"


def damage(root: Statistics) -> str:
    """The first number that no run has written; "": all could be a run's."""
    return next((wrong for name in ("time_ps", "clocks", "kernels", "components", "connections",
                                    "links", "fullness", "host") if name in root
                 and (wrong := _wrong(name, root[name], name))), "")


def is_statistics(root: Any) -> bool:
    if not isinstance(root, dict) or not isinstance(root.get("components"), dict):
        return False
    kernels = root.get("kernels", [])
    return isinstance(kernels, list) and all(
        isinstance(kernel, dict) and isinstance(kernel.get("name"), str)
        and isinstance(kernel.get("slot_cycles", {}), dict) for kernel in kernels)


def read(path: str, from_run: bool = False) -> Statistics:
    """`from_run`: a run of this command has just written it, so its numbers are those of a run."""
    try:
        mistake = _mistake(pathlib.Path(path))
        if mistake:
            raise Mistake(f"cannot read '{path}': {mistake}")
        root = json.loads(pathlib.Path(path).read_bytes())
    except OSError as error:
        raise Mistake(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise Mistake(f"'{path}' is not JSON: {error}") from error
    except RecursionError:
        raise Mistake(f"'{path}' is not JSON that heddle wrote: it nests too deeply") from None
    if not is_statistics(root):
        raise Mistake(f"'{path}' is not what `heddle run --stats` writes: it lacks components, or "
                      "kernels with names")
    wrong = "" if from_run else damage(root)
    if wrong:
        raise Mistake(f"'{path}' is damaged: {wrong}")
    return dict(root)


def is_whole(sample: dict[str, Any]) -> bool:
    """Every launch of a sample was simulated from beginning to end, so nothing is estimated."""
    return sample.get("simulated") == sample.get("count") and all(
        part["detailed_work_groups"] == part["work_groups"] for part in sample.get("in_parts", []))


def program(root: Statistics) -> list[str]:
    """The program that ran, and its arguments; nothing where the statistics do not say so."""
    try:
        words = shlex.split(root.get("host", {}).get("command", ""))
    except ValueError:
        return []
    return words[words.index("--") + 1:] if "--" in words else []


def title(root: Statistics) -> str:
    """What ran on which platform: "matmul_tiled 256 on r9nano, gpu.l2=1MiB"."""
    stamp = root.get("stamp", {})
    words = program(root) or ["a run"]
    command = " ".join([words[0].rpartition("/")[2], *words[1:]])
    return ", ".join([f"{command} on {root.get('platform', 'a platform')}", *stamp.get("set", [])])


def number(values: Any, *keys: str) -> int:
    """The whole number at these keys, one below the other; 0 where there is none."""
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values if type(values) is int else 0  # not a bool


def collapse(path: str) -> str:
    """The path with [*] in place of each index."""
    return re.sub(r"\[[^]]*\]", "[*]", path)


def identity(launch: dict[str, Any]) -> Identity:
    return str(launch["name"]), number(launch, "gpu")


def labels(runs: Iterable[Iterable[Identity]]) -> dict[Identity, str]:
    """What reports call the kernels of runs: by their names, and by the GPU as well where one run
    had a name on several."""
    kernels: dict[Identity, None] = {}
    several: set[str] = set()
    for run in runs:
        gpus: dict[str, set[int]] = {}
        for name, gpu in run:
            kernels[name, gpu] = None
            gpus.setdefault(name, set()).add(gpu)
        several |= {name for name, on in gpus.items() if len(on) > 1}
    return {(name, gpu): f"{name} on GPU {gpu}" if name in several else name
            for name, gpu in kernels}


def kernel_labels(statistics: Statistics) -> dict[Identity, str]:
    return labels([map(identity, statistics.get("kernels", []))])
