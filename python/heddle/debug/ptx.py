"""PTX as gdb reads it: an ELF file for each module, with the functions and lines that the process
has written (components/nvidia/program/ptx_debug.c), in DWARF 5. The lines are those of the source
where it is known, else those of the PTX."""
from __future__ import annotations

import functools
import pathlib
import re
import struct
from dataclasses import dataclass, field

INSTRUCTION = 16  # bytes
# DWARF 5, 7.5 and 7.12
NAME, LINES, LOW, HIGH, LANGUAGE, EXTERNAL, LINKAGE = 0x03, 0x10, 0x11, 0x12, 0x13, 0x3f, 0x6e
ADDRESS, DATA8, STRING, DATA1, OFFSET, PRESENT = 0x01, 0x07, 0x08, 0x0b, 0x17, 0x19
SUBPROGRAM, UNIT, CPLUSPLUS = 0x2e, 0x11, 0x1a
PROGBITS, SYMTAB, STRTAB, NOBITS = 1, 2, 3, 8
OBJECT, FUNCTION = 1, 2


@dataclass(frozen=True)
class Line:
    ptx: int
    source: int  # 0: not known
    file: int


@dataclass
class Function:
    name: str
    offset: int
    lines: list[Line] = field(default_factory=list)


@dataclass
class Module:
    address: int
    path: pathlib.Path  # where the text of the PTX is kept
    files: dict[int, str] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)
    variables: list[tuple[str, int, int]] = field(default_factory=list)  # name, offset, bytes
    text: list[str] = field(default_factory=list)

    def instruction(self, address: int) -> tuple[int, str] | None:
        """The size of an instruction, and its text in the PTX."""
        for function in self.functions:
            number = (address - self.address - function.offset) // INSTRUCTION
            if 0 <= number < len(function.lines):
                line = function.lines[number]
                source = f"  ({pathlib.Path(self.files[line.file]).name}:{line.source})" \
                    if line.source and line.file in self.files else ""
                text = " ".join(self.text[line.ptx - 1].split())
                return INSTRUCTION, f"{line.ptx}: {text}{source}"
        return None


@functools.lru_cache(maxsize=None)
def _module(file: pathlib.Path, kept: pathlib.Path, _written: int) -> Module:
    made = Module(int(file.name.removeprefix("ptx-"), 16), kept / f"{file.name}.ptx")
    head, _, text = file.read_text(errors="replace").partition("\ntext\n")
    for row in head.splitlines():
        word, _, rest = row.partition(" ")
        if word == "file":
            number, name = rest.split(" ", 1)
            made.files[int(number)] = name
        elif word == "function":
            offset, name = rest.split(" ")
            made.functions.append(Function(name, int(offset)))
        elif word == "variable":
            offset, size, name = rest.split(" ")
            made.variables.append((name, int(offset), int(size)))
        elif word == "line":
            made.functions[-1].lines.append(Line(*map(int, rest.split())))
    made.text = text.split("\n")
    made.path.write_text(text)
    return made


def module(file: pathlib.Path, kept: pathlib.Path) -> Module:
    return _module(file, kept, file.stat().st_mtime_ns)


def _leb(number: int, signed: bool = False) -> bytes:
    made = bytearray()
    while True:
        made.append(number & 127 | 128)
        number >>= 7
        if number in ((0, -1) if signed else (0,)) and \
                (not signed or bool(made[-1] & 64) == (number < 0)):
            made[-1] &= 127
            return bytes(made)


def _string(text: str) -> bytes:
    return text.encode() + b"\0"


def _unit(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def _sequence(function: Function, numbers: dict[int, int]) -> bytes:
    """The rows of a function: advance_pc, set_file, advance_line and copy, by standard opcodes."""
    made, before, line = b"\0\x09\2" + struct.pack("<Q", function.offset), None, 1
    for row in function.lines:
        known = row.source and row.file in numbers
        place = (numbers[row.file], row.source) if known else (0, row.ptx)
        if place != before:
            made += b"\4" + _leb(place[0]) + b"\3" + _leb(place[1] - line, True) + b"\1"
            before, line = place, place[1]
        made += b"\2" + _leb(INSTRUCTION)
    return made + b"\0\1\1"


def _lines(m: Module, sources: list[int]) -> bytes:
    """A part of .debug_line (6.2). File 0 is the PTX."""
    numbers = {number: 1 + i for i, number in enumerate(sources)}
    names = [str(m.path), *(m.files[number] for number in numbers)]
    folders = b"\1" + _leb(1) + _leb(STRING) + b"\1" + _string(str(m.path.parent))
    files = (b"\2" + _leb(1) + _leb(STRING) + _leb(2) + _leb(DATA1) + _leb(len(names))
             + b"".join(_string(name) + b"\0" for name in names))
    header = struct.pack("<BBBbBB", 1, 1, 1, 0, 1, 10) + bytes((0, 1, 1, 1, 1, 0, 0, 0, 1)) \
        + folders + files
    return _unit(struct.pack("<HBBI", 5, 8, 0, len(header)) + header
                 + b"".join(_sequence(function, numbers) for function in m.functions))


def _abbreviations() -> bytes:
    rows = ((UNIT, 1, ((NAME, STRING), (LANGUAGE, DATA1), (LOW, ADDRESS), (HIGH, DATA8),
                       (LINES, OFFSET))),
            (SUBPROGRAM, 0, ((NAME, STRING), (LINKAGE, STRING), (LOW, ADDRESS), (HIGH, DATA8),
                             (EXTERNAL, PRESENT))),
            (UNIT, 0, ((NAME, STRING), (LANGUAGE, DATA1), (LINES, OFFSET))))
    return b"".join(_leb(1 + i) + _leb(tag) + bytes([children])
                    + b"".join(_leb(name) + _leb(form) for name, form in attributes) + b"\0\0"
                    for i, (tag, children, attributes) in enumerate(rows)) + b"\0"


def _entries(m: Module, end: int, ptx_lines: int) -> bytes:
    """A unit with the functions, and one by which gdb finds lines of the PTX, too."""
    made = _leb(1) + _string(m.path.stem) + bytes([CPLUSPLUS]) + struct.pack("<QQI", 0, end, 0)
    for function in m.functions:
        found = re.match(r"_ZN?(\d+)", function.name)
        base = function.name[found.end():][:int(found[1])] if found else function.name
        made += (_leb(2) + _string(base) + _string(function.name)
                 + struct.pack("<QQ", function.offset, INSTRUCTION * len(function.lines)))
    text = _leb(3) + _string(str(m.path)) + bytes([CPLUSPLUS]) + struct.pack("<I", ptx_lines)
    head = struct.pack("<HBBI", 5, 1, 8, 0)
    return _unit(head + made + b"\0") + _unit(head + text)


def elf(m: Module) -> bytes:
    """The module as an ELF file for x86-64, like the copies of AMD's code (symbols.py)."""
    ends = {OBJECT: 0, FUNCTION: 0}  # their kinds are the numbers of .data and .text, too
    strings, symbols = b"\0", bytes(24)
    for name, kind, offset, size in (
            *((name, OBJECT, offset, size) for name, offset, size in m.variables),
            *((f.name, FUNCTION, f.offset, INSTRUCTION * len(f.lines)) for f in m.functions)):
        symbols += struct.pack("<IBBHQQ", len(strings), 16 | kind, 0, kind, offset, size)
        strings += _string(name)
        ends[kind] = max(ends[kind], offset + size)
    start, end = min((f.offset for f in m.functions), default=0), max(ends.values())
    lines = _lines(m, sorted(m.files))
    sections = [(".data", NOBITS, 3, b"", ends[OBJECT]), (".text", NOBITS, 6, b"", end - start),
                (".symtab", SYMTAB, 0, symbols, 0), (".strtab", STRTAB, 0, strings, 0),
                (".debug_info", PROGBITS, 0, _entries(m, end, len(lines)), 0),
                (".debug_abbrev", PROGBITS, 0, _abbreviations(), 0),
                (".debug_line", PROGBITS, 0, lines + _lines(m, []), 0)]
    names = b"\0" + b"".join(_string(row[0]) for row in sections) + b".shstrtab\0"
    sections.append((".shstrtab", STRTAB, 0, names, 0))
    data, table = b"", bytes(64)
    for name, kind, flags, body, room in sections:
        table += struct.pack("<IIQQQQIIQQ", names.index(_string(name)), kind, flags,
                             start if name == ".text" else 0,
                             64 + 56 + len(data), room or len(body),
                             *((4, 1) if kind == SYMTAB else (0, 0)), 1,
                             24 if kind == SYMTAB else 0)
        data += body
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64,
                       64 + 56 + len(data), 0, 64, 56, 1, 64, 1 + len(sections), len(sections))
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0, end, 1)
    return head + segment + data + table
