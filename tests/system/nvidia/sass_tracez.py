"""Writes Accel-Sim 2.0's container of traces out of the text of a .traceg, by its published layout
(util/tracer_nvbit/tracer_tool/tracez_format.h) and the distribution's zstd."""
import ctypes
import re
import struct

ZSTD = ctypes.CDLL("libzstd.so.1")
for function in "ZSTD_compressBound", "ZSTD_compress_usingDict", "ZSTD_isError":
    getattr(ZSTD, function).restype = ctypes.c_size_t
ZSTD.ZSTD_createCCtx.restype = ctypes.c_void_p
ZSTD.ZSTD_freeCCtx.argtypes = [ctypes.c_void_p]


def compress(data, dictionary):
    size = ctypes.c_size_t
    room = ZSTD.ZSTD_compressBound(size(len(data)))
    out, context = ctypes.create_string_buffer(room), ctypes.c_void_p(ZSTD.ZSTD_createCCtx())
    got = ZSTD.ZSTD_compress_usingDict(context, out, size(room), data, size(len(data)), dictionary,
                                       size(len(dictionary)), 3)
    assert not ZSTD.ZSTD_isError(size(got))
    ZSTD.ZSTD_freeCCtx(context)
    return out.raw[:got]


def blocks_of(body):
    """[((x, y, z), [lines of each warp])]"""
    for block in body.split("#BEGIN_TB\n")[1:]:
        place = tuple(map(int, re.search(r"thread block = (\d+),(\d+),(\d+)", block).groups()))
        warps = re.split(r"warp = \d+\ninsts = \d+\n", block.split("#END_TB")[0])[1:]
        yield place, [[line for line in warp.split("\n") if line] for warp in warps]


def pack(text, part=2048, dictionary=b"", alter=None):
    """The container of a trace's text. alter(index): a chance to write another index."""
    head, body = text.split("#BEGIN_TB", 1)
    out = bytearray(head.encode() + b"\0" + struct.pack("<II", len(dictionary), part) + dictionary)
    index = []
    for place, warps in blocks_of("#BEGIN_TB" + body):
        entry = []
        for lines in warps:
            parts = [lines[i:i + part] for i in range(0, len(lines), part)]
            entry.append((len(lines), len(out), [len(p) for p in parts]))
            out += struct.pack("<II", len(lines), len(parts))
            for piece in parts:
                frame = compress("\n".join(piece).encode(), dictionary)
                out += struct.pack("<I", len(frame)) + frame
        index.append((place, entry))
    end, index = len(out), (alter or list)(index)
    out += struct.pack("<I", len(index))
    for place, entry in index:
        out += struct.pack("<11I", *place, 0, 0, 0, 0, 0, 0, 0, len(entry))
        for count, at, parts in entry:
            out += struct.pack(f"<IIQ{len(parts)}I", count, len(parts), at, *parts)
    return bytes(out + struct.pack("<Q", end))
