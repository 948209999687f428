"""Prints what hipGetDeviceProperties() of AMD's HIP 5.2 says of each GPU, a line of JSON each; run
by test_topology.py."""
import ctypes
import json
import struct

hip = ctypes.CDLL("libamdhip64.so.5")
count = ctypes.c_int()
assert hip.hipGetDeviceCount(ctypes.byref(count)) == 0
for device in range(count.value):
    raw = ctypes.create_string_buffer(4096)
    assert hip.hipGetDeviceProperties(raw, device) == 0
    memory, lds = struct.unpack_from("=QQ", raw, 256)
    clock_khz, memory_khz, bits = struct.unpack_from("=iii", raw, 308)
    units, l2 = struct.unpack_from("=ii", raw, 336)
    print(json.dumps({
        "name": raw.raw[:256].split(b"\0")[0].decode(), "memory": memory, "lds": lds,
        "clock": clock_khz, "bandwidth": 2 * memory_khz * bits // 8, "units": units, "l2": l2}))
