"""Closed forms of memory.heddle: bounds.py CASE STATS. Latencies are those of one request at a
time, in cycles of 1132 MHz, rates those of as many as possible."""
import json
import sys

case, name = sys.argv[1:]
stats = json.load(open(name))
components = stats["components"]
loaders = [c for path, c in components.items() if path == "first" or path.startswith("other")]
fastest = components["first"]["latency"]["min"]
cycles = stats["time_ps"] * 1132 / 1e6
sectors = sum(c["sectors"] for c in loaders)

L1 = 20 + 1                # latency of the cache, and a wire
L2 = L1 + 2 * 4 + 160 - 1  # the crossbar both ways
MEMORY = L2 + 1            # a wire
SERVED = 3                 # the four sectors of a load are answered one a cycle


def near(what, value, least, most):
    assert least <= value <= most, f"{what}: {value}, expected {least} to {most}"


def cycles_of(picoseconds):
    return picoseconds * 1132 / 1e6


if case == "l1":
    near("latency of a hit in the L1", fastest, L1, L1)
elif case == "l2":
    near("latency of a hit in the L2", fastest, L2, L2)
elif case == "ideal":
    near("latency of ideal memory", fastest, MEMORY + 100 + SERVED,
         MEMORY + 100 + SERVED)
elif case == "hbm2":
    # the last sector of a line, three behind the first in one group; two clocks to be met on the
    # way
    closed = 14112 + 14112 + 1176 + 3 * 2352 + 88340
    near("latency of HBM2", fastest, MEMORY + SERVED + cycles_of(closed),
         MEMORY + SERVED + cycles_of(closed + 1176) + 3)
elif case == "gddr6":
    closed = 6864 + 6864 + 1144 + 3 * 1716 + 224382
    near("latency of GDDR6", fastest, MEMORY + 27 + SERVED + cycles_of(closed),
         MEMORY + 27 + SERVED + cycles_of(closed + 286) + 3)
elif case == "l2-rate":  # four slices, a sector a cycle each
    near("cycles for hits in the L2", cycles, sectors / 4, sectors / 4 * 1.1 + 1000)
elif case == "hbm2-rate":
    # two channels, a sector a clock each, but for refreshes and the rows around them
    bound = cycles_of(sectors / 2 * 1176)
    near("cycles for a stream from HBM2", cycles, bound,
         bound * (1 + (350 + 60) / 3900) * 1.06 + 1000)
elif case == "gddr6-rate":  # four clocks each
    bound = cycles_of(sectors / 2 * 1144)
    near("cycles for a stream from GDDR6", cycles, bound,
         bound * (1 + (120 + 40) / 1900) * 1.06 + 1000)
else:
    sys.exit(f"no case {case}")
