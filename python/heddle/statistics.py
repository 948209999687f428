"""Statistics files, as `heddle run --stats` writes them."""
from __future__ import annotations

import json
import pathlib
import re
from typing import Any

from heddle.mistakes import Mistake

Statistics = dict[str, Any]
MOST_BYTES = 1 << 30


def _mistake(file: pathlib.Path) -> str:
    """Why a file cannot be read whole: a pipe would wait for its writer, a device has no end."""
    if file.is_dir():
        return "it is a directory"
    if not file.is_file() and file.exists():
        return "it is not a regular file"
    return "it is larger than 1 GiB" if file.exists() and file.stat().st_size > MOST_BYTES else ""


def is_statistics(root: Any) -> bool:
    if not isinstance(root, dict) or not isinstance(root.get("components"), dict):
        return False
    kernels = root.get("kernels", [])
    return isinstance(kernels, list) and all(
        isinstance(kernel, dict) and isinstance(kernel.get("name"), str)
        and isinstance(kernel.get("slot_cycles", {}), dict) for kernel in kernels)


def read(path: str) -> Statistics:
    try:
        mistake = _mistake(pathlib.Path(path))
        if mistake:
            raise Mistake(f"cannot read '{path}': {mistake}")
        root = json.loads(pathlib.Path(path).read_bytes())
    except OSError as error:
        raise Mistake(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise Mistake(f"'{path}' is no JSON: {error}") from error
    if not is_statistics(root):
        raise Mistake(f"'{path}' is not what `heddle run --stats` writes: it lacks components, or "
                      "kernels with names")
    return dict(root)


def number(of: Any, *keys: str) -> int:
    """The whole number at these keys, one below the other; 0 where there is none."""
    for key in keys:
        of = of.get(key) if isinstance(of, dict) else None
    return of if type(of) is int else 0  # not a bool


def collapse(path: str) -> str:
    """With [*] in place of each index."""
    return re.sub(r"\[[^]]*\]", "[*]", path)
