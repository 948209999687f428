#!/usr/bin/env python3
"""The seven steps of the sequence diagram of "Balar In Depth" in a trace of one call: steps.py TRACE.json NUMBER [read].

They must begin in the order of the diagram; with `read`, the answer is written (6) only after the host has been told (7).
NUMBER: which of the host's calls, from 0."""
import json
import sys

ROOT, NUMBER = sys.argv[1], int(sys.argv[2])
ORDER = "1234576" if sys.argv[3:] == ["read"] else "1234567"
events = [e for e in json.load(open(ROOT, encoding="utf-8"))["traceEvents"] if e["ph"] in "be" and e["name"][1:2] == " "]
calls = [e for e in events if e["ph"] == "b" and e["name"][0] == "1"]
begin = calls[NUMBER]["ts"]
end = calls[NUMBER + 1]["ts"]
steps = [e for e in events if begin <= e["ts"] < end and e["ph"] == "b"]
found = {}
for e in steps:
    found.setdefault(e["name"][0], (e["ts"], e["cat"], e["name"]))
missing = [s for s in ORDER if s not in found]
assert not missing, f"steps {missing} are missing"
times = [found[s] for s in ORDER]
assert all(a[0] <= b[0] for a, b in zip(times, times[1:])), times
# Only the last two may be at once: the others are apart by a message at least.
assert all(a[0] < b[0] for a, b in zip(times[:5], times[1:5]) if a[2][0] + b[2][0] != "45"), times
who = [t[1] for t in sorted(times, key=lambda t: t[2])]
assert who[:2] in (["trace_cpu"] * 2, ["host_core"] * 2) and who[2:] == ["mmio", "packet_dma", "mmio", "mmio", "mmio"], who
told = [e for e in events if e["name"][0] == "2" and e["ph"] == "e" and begin <= e["ts"] < end]
assert told and told[0]["ts"] > found["7"][0], "the host's write was answered before the device said so"
for s in ORDER:
    print(f"{found[s][0]:10.3f} us  {found[s][1]:10} {found[s][2]}")
