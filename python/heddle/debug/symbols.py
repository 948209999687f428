"""Code objects as gdb reads them. It knows no AMD GPU: the copies say x86-64, whose remote
registers hold the wavefront's; names and lines of source are the same for all machines. Call frames
are not, and are left out."""
from __future__ import annotations

import pathlib
import struct
from typing import Iterator
from xml.sax.saxutils import quoteattr

from heddle.debug import ptx

X86_64, NOTHING = 62, 0


def as_x86(elf: bytes) -> bytes:
    copy = bytearray(elf)
    copy[7] = 0  # no operating system
    struct.pack_into("<H", copy, 18, X86_64)
    sections, = struct.unpack_from("<Q", copy, 40)
    section_size, section_count, names = struct.unpack_from("<3H", copy, 58)
    names_at, = struct.unpack_from("<Q", copy, sections + names * section_size + 24)
    for at in range(sections, sections + section_count * section_size, section_size):
        name, = struct.unpack_from("<I", copy, at)
        if copy[names_at + name:].startswith((b".debug_frame\0", b".eh_frame\0")):
            struct.pack_into("<I", copy, at + 4, NOTHING)
    return bytes(copy)


def _copies(folder: pathlib.Path, kept: pathlib.Path) -> Iterator[tuple[str, int, bytes]]:
    for file in sorted(folder.glob("code-*")):
        yield file.name, int(file.name.removeprefix("code-"), 16), as_x86(file.read_bytes())
    for module in modules(folder, kept):
        yield module.path.stem, module.address, ptx.elf(module)


def modules(folder: pathlib.Path, kept: pathlib.Path) -> list[ptx.Module]:
    return [ptx.module(file, kept) for file in sorted(folder.glob("ptx-*"))]


def loaded(folder: pathlib.Path, kept: pathlib.Path) -> Iterator[tuple[pathlib.Path, int]]:
    """A copy of each code object in `kept`, and the address of that."""
    for name, address, copy in _copies(folder, kept):
        path = kept / f"{name}.elf"
        if not path.is_file() or path.read_bytes() != copy:
            path.write_bytes(copy)
        yield path, address


def libraries(folder: pathlib.Path, kept: pathlib.Path) -> str:
    """The list of what is loaded, for gdb."""
    rows = "".join(f'<library name={quoteattr(str(path))}><segment address="{address:#x}"/>'
                   "</library>" for path, address in loaded(folder, kept))
    return f"<library-list>{rows}</library-list>"
