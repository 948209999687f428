"""The status pages of a run: each process shows its state there while it goes on, and gets its
commands. runtime/engine/status_page.h has the layout. They belong to processes that may be
anything, so their values are bounded before use."""
from __future__ import annotations

import array
import ctypes
import mmap
import time
from typing import Any, Mapping

PLACES, BYTES, MAGIC, KERNELS, NAME = 32, 256 << 20, 0x64726F62, 32, 160
STATES = ("running", "paused", "host", "ended")
TRIES = 1000  # to copy one that is being written
NUMBERS = ("time_ps", "cycles", "instructions", "messages", "kernels_begun", "kernels_ended",
           "kernels_asked", "groups", "groups_done")


class _Kernel(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * NAME),
                *((name, ctypes.c_uint64) for name in ("number", "start_ps", "end_ps", "cycles"))]


class _Page(ctypes.Structure):
    """`pause`, `step` and `waits_wished` are the wishes of the live page."""
    _fields_ = [*((name, ctypes.c_uint32) for name in (
                    "magic", "sequence", "pause", "step", "waits_wished", "state", "pid",
                    "waits_told")),
                *((name, ctypes.c_uint64) for name in NUMBERS), ("launches", _Kernel * KERNELS),
                ("program", ctypes.c_char * NAME), ("platform", ctypes.c_char * NAME),
                ("model", ctypes.c_char * 72),
                ("waits", ctypes.c_char * 32768),
                *((name, ctypes.c_uint64) for name in ("name_bytes", "names", "value_count",
                                                       "values"))]


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "?"


class State:
    """A status page and its values as they were at one time."""

    def __init__(self, page: _Page, names: bytes, values: array.array[int]):
        self.page, self.names, self.values = page, names, values

    def shown(self) -> dict[str, Any]:
        page = self.page
        return {"state": STATES[page.state] if page.state < len(STATES) else "?",
                "platform": _text(page.platform),
                **{name: getattr(page, name) for name in NUMBERS}, "kernels": self._kernels()}

    def _kernels(self) -> list[dict[str, Any]]:
        """The latest."""
        found = []
        for number in range(max(self.page.kernels_begun - KERNELS, 0), self.page.kernels_begun):
            kernel = self.page.launches[number % KERNELS]
            if kernel.number == number + 1:
                found.append({"number": kernel.number, "name": _text(kernel.name),
                              "start_ps": kernel.start_ps, "end_ps": kernel.end_ps,
                              "cycles": kernel.cycles})
        return found

    def statistics(self, hz: Mapping[str, int], since: State | None = None) -> dict[str, Any]:
        """Counters so far, or since an earlier state, in the form of a statistics file."""
        time_ps = self.page.time_ps - (since.page.time_ps if since else 0)
        values = [now - then for now, then in zip(self.values, since.values)] if since \
            else self.values
        root: dict[str, Any] = {
            "stamp": {"model": _text(self.page.model)}, "platform": _text(self.page.platform),
            "mode": "timing", "partial": "view", "time_ps": time_ps, "kernels": [],
            "components": {},
            "clocks": {name: {"cycles": time_ps * rate // 10**12} for name, rate in hz.items()}}
        for line, value in zip(_text(self.names).splitlines(), values):
            *keys, counter = line.split("\t")
            into = root
            for key in (*keys, *counter.split(".")[:-1]):
                into = into.setdefault(key, {})
            into[counter.split(".")[-1]] = value
        return root


class StatusPages:
    """A place for each process that opens the platform. Places take no memory until they are
    used."""

    def __init__(self, path: str):
        self._file = open(path, "r+b")
        self._mapped: dict[int, tuple[mmap.mmap, _Page]] = {}

    def _place(self, place: int) -> tuple[mmap.mmap, _Page]:
        if place not in self._mapped:
            memory = mmap.mmap(self._file.fileno(), BYTES, offset=place * BYTES)
            self._mapped[place] = memory, _Page.from_buffer(memory)
        return self._mapped[place]

    def pause_all(self) -> None:
        for place in range(PLACES):
            self._place(place)[1].pause = 1

    def find(self, place: int) -> _Page | None:
        """None: no process has opened the platform there."""
        if not 0 <= place < PLACES:
            return None
        page = self._place(place)[1]
        return page if page.magic == MAGIC else None

    def copy(self, place: int) -> State | None:
        """Written between windows, with an odd sequence meanwhile."""
        page = self.find(place)
        for _ in range(TRIES if page else 0):
            before, memory = page.sequence, self._place(place)[0]
            copy = _Page.from_buffer_copy(memory)
            if (copy.names + copy.name_bytes > BYTES or copy.values % 8
                    or copy.values + copy.value_count * 8 > BYTES):
                return None
            names = memory[copy.names:copy.names + copy.name_bytes]
            values = array.array("Q", memory[copy.values:copy.values + copy.value_count * 8])
            if before % 2 == 0 and page.sequence == before:
                return State(copy, names, values)
            time.sleep(0.0001)
        return None

    def processes(self) -> list[dict[str, Any]]:
        opened = ((place, self.find(place)) for place in range(PLACES))
        return [{"number": place + 1, "pid": page.pid, "program": _text(page.program)}
                for place, page in opened if page]
