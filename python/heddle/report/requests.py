"""Requests of a trace (`heddle run --record perfetto=FILE`), for the way from a slow moment to what
was slow in it: of each piece of the traced time the slowest, with all their hops."""
from __future__ import annotations

import heapq
import json
from typing import Any, Iterator

from heddle.base.mistakes import Mistake

PIECES, SLOWEST = 200, 8
CONNECTIONS = 2  # the process of the trace that has connections as threads
Event = dict[str, Any]


def _events(path: str) -> Iterator[Event]:
    """A line has an event or more, behind a comma."""
    try:
        with open(path, encoding="utf-8") as file:
            if not next(file, "").startswith('{"displayTimeUnit": "ns", "traceEvents": ['):
                raise Mistake(f"'{path}' is not what `heddle run --record perfetto=FILE` writes")
            for line in file:
                if line.startswith(", {"):
                    yield from json.loads(f"[{line[1:]}]")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise Mistake(f"cannot read the trace '{path}': "
                      f"{getattr(error, 'strerror', None) or error}") from error


class _Request:
    """A flow: its messages in the order of their sending."""

    def __init__(self, first: Event):
        self.name, self.address = first["name"], first["args"].get("address", "")
        self.merged = ""
        self.hops: list[list[Any]] = []  # wire, message, sent, arrived
        self.ids: list[str] = []

    def add(self, event: Event) -> None:
        sent = round(event["ts"] * 1e6)
        self.merged = event["args"].get("merged", self.merged)
        self.hops.append([event["tid"], event["name"], sent, sent])

    @property
    def start(self) -> int:
        return int(self.hops[0][2])

    @property
    def end(self) -> int:
        return max(int(hop[3]) for hop in self.hops)


def _read(path: str) -> tuple[dict[int, str], list[_Request]]:
    wires: dict[int, str] = {}
    flows: dict[str, _Request] = {}
    open_hops: dict[tuple[int, str], list[Any]] = {}
    for event in _events(path):
        if event.get("pid") != CONNECTIONS:
            continue
        if event["ph"] == "M" and event["name"] == "thread_name":
            wires[event["tid"]] = event["args"]["name"]
        elif event["ph"] == "b" and "flow" in event.get("args", {}):
            flow = event["args"]["flow"]
            request = flows.get(flow) or flows.setdefault(flow, _Request(event))
            request.add(event)
            open_hops[event["tid"], event["id"]] = request.hops[-1]
        elif event["ph"] == "e" and (hop := open_hops.pop((event["tid"], event["id"]), None)):
            hop[3] = round(event["ts"] * 1e6)
    return wires, list(flows.values())


def data(path: str) -> dict[str, Any]:
    """What interval.js shows: `slowest` has begin, end, name, address, the flow that it was merged
    with, and hops of wire, message, sent and arrived; `began` how many begin in each piece."""
    wires, requests = _read(path)
    if not requests:
        raise Mistake(f"the trace '{path}' has no requests; one with messages has")
    first = min(one.start for one in requests)
    step = max(1, -(-(max(one.end for one in requests) - first) // PIECES))
    pieces: list[list[_Request]] = [[] for _ in range(PIECES + 1)]
    for one in requests:
        pieces[(one.start - first) // step].append(one)
    kept = [one for piece in pieces
            for one in heapq.nlargest(SLOWEST, piece, key=lambda r: r.end - r.start)]
    used = sorted({hop[0] for one in kept for hop in one.hops})
    number = {wire: i for i, wire in enumerate(used)}
    return {"wires": [wires.get(wire, str(wire)) for wire in used], "from": first, "step": step,
            "began": [len(piece) for piece in pieces],
            "slowest": [[one.start, one.end, one.name, one.address, one.merged,
                         [[number[wire], *rest] for wire, *rest in one.hops]] for one in kept]}
