"""Processes of a sweep: builds, then workers, so many at a time.

A worker has a batch of points because starting one costs as much as a small point. Batches become
smaller towards the end, so that all processors end together; where points are few they have one
each."""
from __future__ import annotations

import collections
import os
import pathlib
import select
import signal
import subprocess
from typing import Any, Callable, Iterable, Sequence

from heddle.base.mistakes import Mistake

SMALLEST = 8  # a batch has at least this part of what each processor has to do


def cut(count: int, jobs: int) -> list[int]:
    """The number of points of each batch: half of what is left for each processor, at least a small
    part of all."""
    least = max(1, count // (jobs * SMALLEST))
    sizes = []
    while count:
        sizes.append(min(count, max(least, count // (2 * jobs))))
        count -= sizes[-1]
    return sizes


class Pool:
    """Processes that work side by side, with their output in `log`. Leaving the pool ends the
    running processes and all that they have started."""

    def __init__(self, jobs: int, log: pathlib.Path):
        self.jobs, self.path, self.log = jobs, log, open(log, "wb")
        self.running: dict[int, subprocess.Popen[bytes]] = {}  # by the descriptor of the process

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: Any) -> None:
        for process in self.running.values():
            _end(process)
        for descriptor in self.running:
            os.close(descriptor)
        self.log.close()

    def run(self, commands: Iterable[Sequence[str]], look: Callable[[], None],
            every: float) -> None:
        """All of `commands`, in this order; `look` is called after so many seconds, again and
        again. How a process ends says nothing: its results do."""
        waiting = collections.deque(commands)
        while waiting or self.running:
            while waiting and len(self.running) < self.jobs:
                self._start(waiting.popleft())
            ended = select.select(list(self.running), [], [], every)[0]
            for descriptor in ended:
                self.running.pop(descriptor).wait()
                os.close(descriptor)
            look()

    def _start(self, words: Sequence[str]) -> None:
        try:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.log,
                                       stderr=self.log, start_new_session=True)
        except OSError as error:
            raise Mistake(f"cannot start '{words[0]}': {error.strerror}") from None
        self.running[os.pidfd_open(process.pid)] = process

    def complaint(self) -> str:
        """What was said at last."""
        lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "they said nothing")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process with all that it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=2)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
