"""Descriptions outlive a release: what users of the last one had still passes. Where a line has to
change, CHANGELOG.md has that line. Files that are the same today are left out."""
import re
from pathlib import Path

import pytest

from harness import ROOT

FOLDER = ROOT / "tests/releases"
CHANGES = re.sub(r"\s+", " ", (ROOT / "CHANGELOG.md").read_text())

SECTORS = [
    ('import "std/sector_crossbar";', 'import "std/crossbar";'),
    ("sector_crossbar { latency = 4cy; }",
     "crossbar { latency = 4cy; width = 40B/cy; header = 8B; carries = sectors; depth = 64;"
     " busy_sources = true; hash = polynomial; interleave = 256B; }")]
# Name: what check says, and the lines that change.
CHANGED = {
    "0.2.0/qv100": ("E0101", SECTORS), "0.2.0/rtx3070": ("E0101", SECTORS),
    "0.2.0/mi300x_x8": ("E0205", [("].away[", "].fabric[")]),
}
FILES = sorted(str(path.relative_to(FOLDER).with_suffix(""))
               for path in FOLDER.glob("*/*.heddle"))


def test_last_release_has_its_descriptions():
    """The newest that CHANGELOG.md dates has a folder."""
    released = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert {name.split("/")[0] for name in FILES} == {released[1]}
    assert set(CHANGED) <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_description_passes_or_says_which_line_to_change(heddle, tmp_path, name):
    says, lines = CHANGED.get(name, ("", []))
    if says:
        heddle(f"check {FOLDER / name}.heddle", says, status=1)
    for other in (FOLDER / name).parent.glob("*.heddle"):  # which it may import
        text = other.read_text()
        for old, new in CHANGED.get(str(Path(name).parent / other.stem), ("", []))[1]:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / other.name).write_text(text)
    for _, new in lines:
        told = re.sub(r"\s+", " ", new.split("///")[0]).strip()
        assert told in CHANGES
    heddle(f"check {tmp_path / Path(name).name}.heddle", "no errors|^$")
