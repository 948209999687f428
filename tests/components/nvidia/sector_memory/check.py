"""What components of memory.heddle say of themselves and of each other must add up: check.py
STATS."""
import json
import re
import sys

components = json.load(open(sys.argv[1]))["components"]


def kind(pattern):
    found = [c for path, c in components.items() if re.fullmatch(pattern, path)]
    assert found, f"no component is called {pattern}"
    return found


def total(group, *names):
    return sum(c[name] for c in group for name in names)


def same(what, a, b):
    assert a == b, f"{what}: {a} and {b}"


loaders = kind(r"first|other(\[\d+\])?")
l1 = kind(r"l1\[\d+\]")
l2 = kind(r"part(\[\d+\])?\.l2\[\d+\]")
dram = kind(r"part(\[\d+\])?\.dram")
timing = [c for path, c in components.items() if path.endswith(".dram.timing")]
crossbar, = kind("xbar")

same("requests of loaders, and of first caches",
     total(loaders, "loads", "stores_sent", "atomics_sent"),
     total(l1, "loads", "stores", "atomic_requests"))
same("sectors of loaders, and of first caches", total(loaders, "sectors"),
     total(l1, "accesses", "passed"))
for name, group in ("first", l1), ("last", l2):
    for c in group:
        same(f"lookups of a {name} cache", c["accesses"],
             c["hits"] + c["pending_hits"] + c["sector_misses"] + c["misses"])
        same(f"MSHRs of a {name} cache", c["mshr_occupancy"]["count"] <= c["fetches"], True)
    assert total(group, "hits") < total(group, "accesses") or total(group, "accesses") == 0
same("sectors that left the first caches, and of last ones",
     total(l1, "fetches", "store_accesses", "passed"), total(l2, "accesses"))
same("loads of last caches", total(l2, "passed"), 0)
same("requests and answers of the crossbar", crossbar["requests"], crossbar["replies"])
same("requests of the crossbar, and of last caches", crossbar["requests"],
     total(l2, "loads", "stores", "atomic_requests"))
same("sectors fetched, and read", total(l2, "fetches"), total(dram, "reads"))
same("sectors written back, and written", total(l2, "writebacks"), total(dram, "writes"))
same("bytes", total(dram, "bytes_read", "bytes_written"), 32 * total(dram, "reads", "writes"))
if timing:
    same("sectors of memories, and bursts of their channels", total(dram, "reads", "writes"),
         total(timing, "row_hits", "row_misses", "row_conflicts", "forwarded", "joined"))
