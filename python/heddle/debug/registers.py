"""A wavefront's registers as gdb sees them: the registers of an x86-64, of which only rip has a
meaning, then the wavefront's own."""
from __future__ import annotations

import struct
from typing import Callable

from heddle.debug.process import LANES, Registers, Wavefront

SCALARS, VECTORS = 106, 256
VCC, M0, EXEC = 106, 124, 126

Read = Callable[[Registers, Wavefront], bytes | None]  # None: the wavefront has no such register


def _zero(size: int) -> Read:
    return lambda _registers, _wave: bytes(size)


def _scalar(number: int, form: str = "<I") -> Read:
    def read(registers: Registers, wave: Wavefront) -> bytes | None:
        if wave.lanes < LANES and number != EXEC:
            return None  # a warp's registers have names
        low, high = registers.sgpr[number:number + 2]
        return struct.pack(form, low | high << 32 if form == "<Q" else low)
    return read


def _vector(number: int) -> Read:
    return lambda registers, _wave: (registers.vector(number) if number < registers.vgprs else None)


def _accumulator(number: int) -> Read:
    return lambda registers, _wave: (registers.vector(registers.vgprs + number)
                                     if number < registers.accumulators else None)


def _word(value: Callable[[Registers, Wavefront], int]) -> Read:
    return lambda registers, wave: struct.pack("<I", value(registers, wave))


def _amd(value: Callable[[Registers], int]) -> Read:
    return lambda registers, wave: (struct.pack("<I", value(registers)) if wave.lanes == LANES
                                    else None)


CORE: list[tuple[str, int, str, Read]] = [
    *((name, 64, "int64", _zero(8)) for name in
      ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", *(f"r{i}" for i in range(8, 16)))),
    ("rip", 64, "code_ptr", lambda registers, _: struct.pack("<Q", registers.pc)),
    *((name, 32, "int32", _zero(4)) for name in ("eflags", "cs", "ss", "ds", "es", "fs", "gs")),
    *((f"st{i}", 80, "i387_ext", _zero(10)) for i in range(8)),
    *((name, 32, "int", _zero(4)) for name in
      ("fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"))]

WAVEFRONT: list[tuple[str, int, str, Read]] = [
    *((f"s{i}", 32, "uint32", _scalar(i)) for i in range(SCALARS)),
    ("vcc", 64, "uint64", _scalar(VCC, "<Q")), ("exec", 64, "uint64", _scalar(EXEC, "<Q")),
    ("m0", 32, "uint32", _scalar(M0)), ("scc", 32, "uint32", _amd(lambda r: r.scc)),
    ("mode", 32, "uint32", _amd(lambda r: r.mode)),
    ("status", 32, "uint32", _amd(lambda r: r.status)),
    ("lds", 64, "data_ptr", lambda registers, _: struct.pack("<Q", registers.shared_aperture)),
    ("private", 64, "data_ptr", lambda r, _: struct.pack("<Q", r.private_aperture)),
    ("launch", 32, "uint32", _word(lambda _, w: w.launch)),
    ("gpu", 32, "uint32", _word(lambda _, w: w.gpu)),
    *((f"group_{axis}", 32, "uint32", _word(lambda _, w, i=i: w.group[i]))  # type: ignore[misc]
      for i, axis in enumerate("xyz")),
    ("wave", 32, "uint32", _word(lambda _, w: w.in_group))]

LANE_REGISTERS: list[tuple[str, int, str, Read]] = [
    *((f"v{i}", 32 * LANES, "lanes", _vector(i)) for i in range(VECTORS)),
    *((f"a{i}", 32 * LANES, "lanes", _accumulator(i)) for i in range(VECTORS))]

ALL = [*CORE, *WAVEFRONT, *LANE_REGISTERS]
SENT = len(CORE) + len(WAVEFRONT)  # at once; gdb asks for each of the others
PC = 16
LLDB = {"lanes": ' encoding="vector" format="vector-uint32"',  # which does not read types
        "code_ptr": ' generic="pc"'}


def description() -> str:
    def feature(name: str, rows: list[tuple[str, int, str, Read]], first: int, types: str) -> str:
        return f'<feature name="{name}">{types}' + "".join(
            f'<reg name="{row[0]}" bitsize="{row[1]}" type="{row[2]}" regnum="{number}"'
            f'{LLDB.get(row[2], "")}/>'
            for number, row in enumerate(rows, first)) + "</feature>"

    lanes = f'<vector id="lanes" type="uint32" count="{LANES}"/>'
    return ('<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target version="1.0">'
            "<architecture>i386:x86-64</architecture>"
            + feature("org.gnu.gdb.i386.core", CORE, 0, "")
            + feature("org.heddle.wavefront", [*WAVEFRONT, *LANE_REGISTERS], len(CORE), lanes)
            + "</target>")


def value(number: int, registers: Registers, wave: Wavefront) -> str:
    """Hexadecimal; x for what the wavefront does not have."""
    _, bits, _, read = ALL[number]
    answer = read(registers, wave)
    return "x" * (bits // 4) if answer is None else answer.hex()
