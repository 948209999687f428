#!/usr/bin/env python3
"""Traces of API calls with golden data that are computed here, for tests: make_trace.py KIND
FOLDER.

order   balar's grammar: a free in mid-trace and the number used again, arguments of 8 bytes, sizes
        that are no multiples of anything, copies to the middle of an allocation
streams the extension: two streams and events, asynchronous copies, fills, variables, copies on the
        device
busy    blocking calls on streams with active work: the deadlock of "Balar In Depth"
large   a copy there and back of SIZE bytes: make_trace.py large FOLDER SIZE
copies  N copies of SIZE bytes to the device, or from it: make_trace.py copies FOLDER SIZE N to|from
"""
import os
import struct
import sys

KIND, FOLDER = sys.argv[1], sys.argv[2]
os.makedirs(FOLDER, exist_ok=True)
LINES = []
HOST = 0x7F0000001000


def put(name, data):
    with open(os.path.join(FOLDER, name), "wb") as out:
        out.write(data)
    return name


def pattern(size, seed):
    return bytes((i * 131 + (i >> 8) * 29 + seed) % 256 for i in range(size))


def words(values):
    return struct.pack(f"<{len(values)}i", *[(v + 2**31) % 2**32 - 2**31 for v in values])


def malloc(number, size):
    LINES.append(f"CUDA memalloc: dptr: dptr-{number}, size: {size}")


def free(number):
    LINES.append(f"CUDA free detected: dptr: dptr-{number}")


def to_device(where, data, name):
    LINES.append(f"CUDA memcpyH2D detected: device_ptr: {where}, host_ptr: {HOST:#x}, size: "
                 f"{len(data)}, data_file: {put(name, data)}")


def from_device(where, data, name):
    LINES.append(f"CUDA memcpyD2H detected: host_ptr: {HOST:#x}, device_ptr: {where}, size: "
                 f"{len(data)}, data_file: {put(name, data)}")


def launch(name, mangled, blocks, items, arguments):
    LINES.append(
        f"CUDA cu kernel launch detected: name: {name}, ptx_name: {mangled}, funcptr: 0x1000, "
        f"gdx: {blocks}, gdy: 1, gdz: 1, bdx: {items}, bdy: 1, bdz: 1, sharedBytes: 0, "
        f"CUstream: (nil), args: {arguments}"
    )


def mixed(count, c, k, f, s, d, offsets):
    return struct.pack(f"<{count}q",
                       *[k * i + c + s + int(f * 4) + int(d * 8) + offsets[i % 4]
                         for i in range(count)])


def slow(values, rounds):
    for _ in range(rounds):
        values = [(v * 3 + 1) % 2**32 for v in values]
    return words(values)


def order():
    malloc(0, 1001)
    malloc(1, 512)
    to_device("dptr-0", pattern(1001, 1), "a.data")
    from_device("dptr-0", pattern(1001, 1), "a.out")
    to_device("dptr-0+333", pattern(7, 9), "b.data")
    changed = pattern(1001, 1)[:333] + pattern(7, 9) + pattern(1001, 1)[340:]
    from_device("dptr-0+330", changed[330:400], "b.out")
    free(0)  # a trace goes on behind a free
    malloc(0, 64 * 8)
    k = 0x0123456789ABCDEF // 64
    launch("mixed", "_Z5mixedPxcxfsd", 2, 32, f"dptr-0/8/-5/1/{k}/8/2.5/4/-300/2/1.125/8/")
    from_device("dptr-0", mixed(64, -5, k, 2.5, -300, 1.125, [0] * 4), "mixed.out")
    a, b = [i * 3 for i in range(100)], [7 - i for i in range(100)]
    malloc(7, 400)
    malloc(8, 400)
    to_device("dptr-1", words(a), "c.data")
    to_device("dptr-7", words(b), "d.data")
    launch("vecAdd", "_Z6vecAddPiS_S_i", 2, 64, "dptr-1/8/dptr-7/8/dptr-8/8/100/4/")
    from_device("dptr-8", words([x + y for x, y in zip(a, b)]), "sum.out")
    free(8)
    free(7)
    free(1)
    malloc(1, 1 << 16)
    to_device("dptr-1", pattern(65521, 3), "e.data")
    from_device("dptr-1", pattern(65521, 3), "e.out")
    free(1)
    free(0)


def hip(line):
    LINES.append("HIP " + line)


def streams():
    LINES.append("heddle api-trace 1")
    hip("set device: device: 0")
    for number, size in ((0, 1024), (1, 1024), (2, 1024)):
        malloc(number, size)
    hip("stream create: stream: stream-1, flags: 0")
    hip("stream create: stream: stream-2, flags: 1")
    hip("event create: event: event-3, flags: 0")
    a = list(range(1, 257))
    offsets = [1000, 2000, 3000, 4000]
    hip("symbol H2D: symbol: offsets, offset: 0, size: 16, data_file: "
        f"{put('offsets.data', words(offsets))}")
    hip("symbol D2H: symbol: offsets, offset: 4, size: 8, data_file: "
        f"{put('offsets.out', words(offsets[1:3]))}")
    hip(f"memcpy async H2D: device_ptr: dptr-0, size: 1024, data_file: {put('a.data', words(a))}, "
        "stream: stream-1")
    hip("memset async: device_ptr: dptr-1, value: 5, width: 4, count: 256, stream: stream-1")
    hip("event record: event: event-3, stream: stream-1")
    hip("stream wait event: stream: stream-2, event: event-3")
    hip("launch: kernel: _Z6vecAddPiS_S_i, gdx: 4, gdy: 1, gdz: 1, bdx: 64, bdy: 1, bdz: 1, "
        "sharedBytes: 0, stream: stream-2, args: 0=dptr-0/8=dptr-1/16=dptr-2/24=00010000/")
    total = words([v + 5 for v in a])
    hip(f"memcpy async D2H: device_ptr: dptr-2, size: 1024, data_file: {put('sum.out', total)}, "
        "stream: stream-2")
    hip("event synchronize: event: event-3")
    hip("stream synchronize: stream: stream-2")
    hip("memcpy async D2D: to: dptr-0+512, from: dptr-1, size: 300, stream: stream-1")
    hip("stream synchronize: stream: stream-1")
    moved = words(a)[:512] + words([5] * 256)[:300] + words(a)[812:]
    from_device("dptr-0", moved, "moved.out")
    hip("memcpy D2D: to: dptr-1, from: dptr-2, size: 1024")
    hip("memset: device_ptr: dptr-1+100, value: 171, width: 1, count: 33")
    hip("memset: device_ptr: dptr-1+200, value: 43981, width: 2, count: 5")
    filled = bytearray(total)
    filled[100:133] = bytes([171]) * 33
    filled[200:210] = struct.pack("<H", 43981) * 5
    from_device("dptr-1", bytes(filled), "filled.out")
    launch("mixed", "_Z5mixedPxcxfsd", 1, 64, "dptr-2/8/1/1/10/8/0.5/4/2/2/0.25/8/")
    from_device("dptr-2", mixed(64, 1, 10, 0.5, 2, 0.25, offsets), "mixed.out")
    hip("device synchronize")
    hip("event destroy: event: event-3")
    hip("stream destroy: stream: stream-2")
    hip("stream destroy: stream: stream-1")
    for number in (0, 1, 2):
        free(number)


def busy():
    LINES.append("heddle api-trace 1")
    data = [[i + 1000 * s for i in range(64)] for s in range(3)]
    for s in range(3):
        malloc(s, 256)
        to_device(f"dptr-{s}", words(data[s]), f"in{s}.data")
    hip("stream create: stream: stream-1, flags: 0")
    hip("stream create: stream: stream-2, flags: 0")
    for s, rounds in ((1, 2000), (2, 20)):
        hip("launch: kernel: _Z4slowPii, gdx: 1, gdy: 1, gdz: 1, bdx: 64, bdy: 1, bdz: 1, "
            f"sharedBytes: 0, stream: stream-{s}, args: "
            f"0=dptr-{s}/8={struct.pack('<i', rounds).hex()}/")
    # On its own stream, which is empty long before the other one; then on the default stream, with
    # work pending.
    hip("stream synchronize: stream: stream-2")
    hip("memcpy async D2H: device_ptr: dptr-2, size: 256, data_file: "
        f"{put('short.out', slow(data[2], 20))}, stream: stream-2")
    from_device("dptr-1", slow(data[1], 2000), "long.out")
    hip("stream synchronize: stream: stream-1")
    hip("device synchronize")


def large():
    size = int(sys.argv[3])
    malloc(0, size)
    to_device("dptr-0", pattern(size, 5), "large.data")
    from_device("dptr-0", pattern(size, 5), "large.out")
    free(0)


def copies():
    size, count, way = int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    malloc(0, size)
    if way == "from":
        to_device("dptr-0", pattern(size, 5), "copy.data")
    for _ in range(count):
        if way == "to":
            to_device("dptr-0", pattern(size, 5), "copy.data")
        else:
            from_device("dptr-0", pattern(size, 5), "copy.data")


{"copies": copies, "order": order, "streams": streams, "busy": busy, "large": large}[KIND]()
with open(os.path.join(FOLDER, "cuda_calls.trace"), "w", encoding="ascii") as out:
    out.write("\n".join(LINES) + "\n")
