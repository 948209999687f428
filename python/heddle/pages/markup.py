"""What the pages share. The text of a documentation comment is plain, with `code` in backquotes and
an empty line between paragraphs. No style or script comes from elsewhere: pages are read from a
disk, years later."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Iterable, Mapping, Sequence

from heddle.base.files import write
from heddle.base.mistakes import Mistake
from heddle.drawing.draw import escape

FOOT = "</body>\n</html>\n"


def file(name: str) -> str:
    """A style or a script of this folder."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def head(title: str) -> str:
    return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(title)}</title>\n<style>\n{file('page.css')}</style>\n"
            "</head>\n<body>\n")


def inline(text: str) -> str:
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def paragraphs(text: str) -> str:
    return "".join(f"<p>{inline(part)}</p>\n" for part in re.split("\n\n+", text) if part)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are in HTML."""
    names = "".join(f"<th>{name}</th>" for name in columns)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>\n{lines}</tbody></table>\n"


def save(folder: Path, files: Mapping[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Mistake(f"cannot create directory '{folder}': {error.strerror}") from error
    for name, text in files.items():
        write(folder / name, text)
