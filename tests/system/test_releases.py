"""Descriptions outlive a release: what users of 0.1.0 and 0.2.0 had still passes. Where a line has
to change, CHANGELOG.md has that line. Files that are the same today, or in the next release, stand
there only."""
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
    "0.1.0/qv100": ("E0101", SECTORS), "0.2.0/qv100": ("E0101", SECTORS),
    "0.1.0/rtx3070": ("E0101", SECTORS), "0.2.0/rtx3070": ("E0101", SECTORS),
    "0.1.0/packet_direct": ("E0401", [
        ("cpu.mem -> core_tlb.top;",
         "cpu.os -> os.core; os.mmu -> os_mmu.control;"
         " os_mmu.tlbs[*] -> core_tlb.control, device_tlb.control; cpu.mem -> core_tlb.top;")]),
    "0.1.0/prefetcher": ("", [
        ("    /// Requests from above, and",
         "    coherence { keeps top -> bottom; on top.fence.acquire : drop;"
         " on control.flush, control.invalidate, control.pause : drop; }\n"
         "    /// Requests from above, and")]),
    "0.1.0/streaming": ("E0509", []),
    "0.2.0/mi300x_x8": ("E0205", [("].away[", "].fabric[")]),
}
FILES = sorted(str(path.relative_to(FOLDER).with_suffix(""))
               for path in FOLDER.glob("*/*.heddle"))


def test_releases_have_their_descriptions():
    """Each that CHANGELOG.md dates has a folder."""
    released = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert sorted({name.split("/")[0] for name in FILES}) == sorted(released)
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
