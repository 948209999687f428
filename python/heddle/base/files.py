"""Files that are written whole or not at all, and folders that one process at a time works on."""
from __future__ import annotations

import csv
import fcntl
import functools
import io
import json
import os
import pathlib
import stat
import time
from typing import Any, Iterable, Sequence, TextIO

from heddle.base.mistakes import Mistake


def write(path: pathlib.Path, text: str) -> None:
    """Whole or not at all, with the permissions of any new file. A pipe or a device cannot be
    replaced, and a link stays one."""
    import tempfile  # takes as long to import as to write a small file
    part = None
    try:
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            with open(path, "w", encoding="utf-8", newline="") as through:
                through.write(text)
            return
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False,
                                         encoding="utf-8", newline="") as file:
            part = pathlib.Path(file.name)
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, 0o666 & ~mask)
        os.replace(part, path)
    except OSError as error:
        if part:
            part.unlink(missing_ok=True)
        raise Mistake(f"cannot write '{path}': {error.strerror}") from error


def write_or_print(path: str | None, text: str) -> None:
    """Writes the file of `-o`; `-` and none are standard output."""
    if path and path != "-":
        write(pathlib.Path(path), text)
    else:
        print(text, end="")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


def hold(folder: pathlib.Path, lock: TextIO) -> None:
    """Locks the folder for as long as its file `lock` is open. Processes of a run that was killed
    hold nothing, so the lock is free soon after."""
    for _ in range(20):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            time.sleep(0.1)
    raise Mistake(f"another process works on the folder '{folder}'")


def digest(*parts: str) -> str:
    """A key from texts; which text is which part matters."""
    import hashlib  # most commands make none
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


@functools.cache
def digest_of(file: str, missing: str) -> str:
    """The digest of a program, or of all libraries in a folder; `missing`: what to say if it is not
    there."""
    import hashlib
    path, found = pathlib.Path(file), hashlib.sha256()
    try:
        for one in sorted(path.glob("*.so*")) if path.is_dir() else [path]:
            if one.is_file() or not path.is_dir():
                found.update(one.read_bytes())
    except OSError as error:
        raise Mistake(f"{missing} '{file}': {error.strerror}") from None
    return found.hexdigest()[:24]
