"""Files that are written whole or not at all."""
from __future__ import annotations

import os
import pathlib
import tempfile

from heddle.mistakes import Mistake


def write(path: pathlib.Path, text: str) -> None:
    """Whole or not at all, with the permissions of any new file."""
    part = None
    try:
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
