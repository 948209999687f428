"""Writes the list of PTX instructions in docs/evidence/cuda.md:
python3 tests/bench/ptx_instructions.py BUILD.

An instruction is a stem of components/nvidia/ptx/ptx_opcodes.def. It is compared alone if a row of
`warp rows` or `warp groups` has it, and executed if warp_lower_table.c names it."""
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NVIDIA = ROOT / "components/nvidia"
VECTORS = 4096


def vectors_of_rows(build):
    """How many vectors each row has, by its text; the tests compare them."""
    output = ""
    for name in ("rows", "groups"):
        done = subprocess.run([build / f"tests/components/nvidia/warp/test_warp_{name}"], text=True,
                              env={**os.environ, "HEDDLE_WARP_VECTORS": str(VECTORS)},
                              stderr=subprocess.PIPE, check=True)
        output += done.stderr
    return [(int(n), text) for n, text in re.findall(r"^(\d+) vectors: (.*)", output, re.M)]


def stems():
    """Texts of instructions by their names in C."""
    text = (NVIDIA / "ptx/ptx_opcodes.def").read_text()
    return dict(re.findall(r'(?:OPCODE|_VIDEO)\((\w+), "([^"]+)"\)', text))


def stem_of(instruction, known):
    """The longest stem that the dotted name has, or begins with and ends in."""
    parts = instruction.split(".")
    whole = [".".join(parts[:i]) for i in range(len(parts), 0, -1)]
    return next((stem for stem in whole if stem in known), None)


def choices(form, classes):
    """The parts of a form's modifiers: their choices, and whether they may be absent."""
    for part in re.findall(r"\{(?:[^{}])*\}|\([^()]*\)|<\w+>|\.[\w:.]+", form):
        text = re.sub(r"<(\w+)>", lambda m: classes[m.group(1)], part)
        yield [c for c in re.sub(r"[{}()]", "", text).split("|") if c], part[0] == "{"


def forms():
    """Each form's stem and modifiers, and the classes that they name."""
    text = (NVIDIA / "ptx/ptx_opcodes.def").read_text()
    joined = re.sub(r'"\s*\n\s*"', "", re.sub(r"#define(.*\\\n)*.*", "", text))
    classes = dict(re.findall(r'CLASS\("(\w+)",\s*"(.*)"\)', re.sub(
        r'"\s*\n\s*"', "", (NVIDIA / "ptx/ptx_classes.def").read_text())))
    stem = None
    for line in re.findall(r'OPCODE\(\w+, "[^"]+"\)|FORM\("[^"]*"', joined):
        if line.startswith("OPCODE"):
            stem = line.split('"')[1]
        else:
            yield stem, line.split('"')[1], classes


def gaps(words, executed):
    """Forms of executed instructions that no row has."""
    for stem, form, classes in forms():
        pattern = re.escape(stem) + "".join(
            "(" + "|".join(map(re.escape, c)) + ")" + ("?" if absent else "")
            for c, absent in choices(form, classes))
        if stem in executed and not any(re.fullmatch(pattern, word) for word in words):
            yield stem + form


def listed(names):
    return textwrap.fill(", ".join(f"`{name}`" for name in sorted(names)), 98,
                         break_on_hyphens=False, break_long_words=False)


def section(build):
    rows, known = vectors_of_rows(build), stems()
    words = {word for _, text in rows for word in re.findall(r"[a-z][\w.:]*(?=[ ;])", text)}
    compared = {stem_of(word, known.values()) for word in words} - {None}
    executed = {known[name] for name in re.findall(
        r"\[PTX_OP_(\w+)\]", (NVIDIA / "warp/warp_lower_table.c").read_text())}
    uncompared = executed - compared
    rest = (f"{len(uncompared)} are executed, and compared in kernels and programs only:\n\n"
            f"{listed(uncompared)}\n\n") if uncompared else ""
    head = (f"{sum(n for n, _ in rows):,} vectors of {len(rows)} rows agree. Of {len(known)} "
            f"instructions {len(compared)} are compared alone"
            f"{'' if uncompared else ', all that are executed'}:")
    return (f"{textwrap.fill(head, 98)}\n\n"
            f"{listed(compared)}\n\n{rest}"
            f"{len(set(known.values()) - executed)} are not executed:\n\n"
            f"{listed(set(known.values()) - executed)}\n\n"
            f"Forms of executed instructions that no row has:\n\n{listed(gaps(words, executed))}\n")


def main():
    page = ROOT / "docs/evidence/cuda.md"
    text = page.read_text()
    at = text.index("    python3 tests/bench/ptx_instructions.py build\n\n")
    head = text[:at] + "    python3 tests/bench/ptx_instructions.py build\n\n"
    page.write_text(head + section(Path(sys.argv[1]).resolve()))


if __name__ == "__main__":
    main()
