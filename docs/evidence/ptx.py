"""Writes the list of PTX instructions in cuda.md: python3 docs/evidence/ptx.py BUILD.

An instruction is a stem of components/nvidia/ptx/ptx_opcodes.def. It is compared alone if a row of
`warp rows` has it, and executed if warp_lower_table.c names it."""
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NVIDIA = ROOT / "components/nvidia"
VECTORS = 32768


def vectors_of_rows(build):
    """How many vectors each row has, by its text; the test compares them."""
    done = subprocess.run([build / "tests/components/nvidia/warp/test_warp_rows"], text=True,
                          env={**os.environ, "HEDDLE_WARP_VECTORS": str(VECTORS)},
                          stderr=subprocess.PIPE, check=True)
    return [(int(n), text) for n, text in re.findall(r"^(\d+) vectors: (.*)", done.stderr, re.M)]


def stems():
    """Texts of instructions by their names in C."""
    text = (NVIDIA / "ptx/ptx_opcodes.def").read_text()
    return dict(re.findall(r'(?:OPCODE|_VIDEO)\((\w+), "([^"]+)"\)', text))


def stem_of(instruction, known):
    """The longest stem that the dotted name has, or begins with and ends in."""
    parts = instruction.split(".")
    whole = [".".join(parts[:i]) for i in range(len(parts), 0, -1)]
    return next((stem for stem in whole if stem in known), None)


def listed(names):
    return textwrap.fill(", ".join(f"`{name}`" for name in sorted(names)), 98,
                         break_on_hyphens=False, break_long_words=False)


def section(build):
    rows, known = vectors_of_rows(build), stems()
    words = {word for _, text in rows for word in re.findall(r"[a-z][\w.:]*(?= )", text)}
    compared = {stem_of(word, known.values()) for word in words} - {None}
    executed = {known[name] for name in re.findall(
        r"\[PTX_OP_(\w+)\]", (NVIDIA / "warp/warp_lower_table.c").read_text())}
    return (f"{sum(n for n, _ in rows):,} vectors of {len(rows)} rows agree. Of "
            f"{len(known)} instructions {len(compared)} are compared alone:\n\n"
            f"{listed(compared)}\n\n"
            f"{len(executed - compared)} are executed, and compared in kernels and programs "
            f"only:\n\n{listed(executed - compared)}\n\n"
            f"{len(set(known.values()) - executed)} are not executed:\n\n"
            f"{listed(set(known.values()) - executed)}\n")


def main():
    page = Path(__file__).with_name("cuda.md")
    text = page.read_text()
    at = text.index("    python3 docs/evidence/ptx.py build\n\n")
    head = text[:at] + "    python3 docs/evidence/ptx.py build\n\n"
    page.write_text(head + section(Path(sys.argv[1]).resolve()))


if __name__ == "__main__":
    main()
