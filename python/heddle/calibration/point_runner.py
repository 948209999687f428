"""Runs points of a calibration on several processes.

Why not the pool of sweeps: it can neither leave a point out because a smaller one was too
dear, nor add the points that an optimiser asks for next.

A point's process dies with the runner (PR_SET_PDEATHSIG), so a runner that is killed leaves no
process behind and the database says what is to be done. Its CPU time is limited by the kernel
(RLIMIT_CPU) and counted with that of its processes (wait4). One process writes the database.
"""
from __future__ import annotations

import dataclasses
import math
import os
import pathlib
import selectors
import signal
import time
from typing import Any, Callable, Sequence

from heddle.base.mistakes import Mistake
from heddle.base.progress import duration
from heddle.calibration.points import DONE, FAILED, LEFT_OUT, WAITING, Outcome, Point, Store
from heddle.sweeps.worker import complaint, logged, longest, was_limited

# What a reader is given: the point and the path of its log without an ending (.out, .err, .json).
Reader = Callable[[Point, pathlib.Path], dict[str, Any]]

HEADROOM = 1.5       # a point is tried if at most so many limits are expected
STATISTICS = "{statistics}"  # in a command: the file for statistics


class Unreadable(Exception):
    """A run ended well, but its result cannot be read; the message says what is missing."""


@dataclasses.dataclass
class Child:
    point: Point
    pid: int
    began: float
    log: pathlib.Path


@dataclasses.dataclass
class Chain:
    """Points that wait, the next first, and what others cost: (size, CPU seconds)."""

    points: list[Point]
    costs: list[tuple[float, float]]
    busy: bool = False

    def cost(self, point: Point) -> float | None:
        """What it is expected to cost: no more than a larger one did."""
        cost = expected_cost(sorted(c for c in self.costs if c[0] < point.size), point.size)
        larger = [c for s, c in self.costs if s >= point.size]
        return cost if not larger else min([*larger, *([] if cost is None else [cost])])


STRIDES = (4, 2, 1)


def coarse_first(points: Sequence[Point]) -> list[tuple[int, Point]]:
    """Points by size, with the pass in which each is run: first every fourth, then every second of
    the others, then the rest."""
    order = sorted(points, key=lambda p: p.size)
    passes = [next(n for n, stride in enumerate(STRIDES) if i % stride == 0)
              for i in range(len(order))]
    return sorted(zip(passes, order), key=lambda found: found[0])


def expected_cost(costs: Sequence[tuple[float, float]], size: float) -> float | None:
    """CPU seconds of a point of `size`, by a power law through the last two of the chain; of one,
    in proportion. What takes less than a tenth of a second is mostly the start of the program."""
    known = [(s, c) for s, c in costs if s > 0 and c > 0]
    if not known or size <= 0:
        return None
    last_size, last = known[-1]
    power = 1.0
    if len(known) > 1 and known[-2][1] > 0.1 and last_size > known[-2][0]:
        power = math.log(last / known[-2][1]) / math.log(last_size / known[-2][0])
        power = min(max(power, 0.0), 4.0)
    return last * (size / last_size) ** power


class Runner:
    """`limit`: CPU seconds of a point. `budget`: CPU seconds of all points. A point that is
    expected to cost more than the rest of the budget goes on waiting, and the sizes of a chain are
    run from coarse to fine. `say`: gets lines of progress, or None."""

    def __init__(self, store: Store, read: Reader, jobs: int = 1, limit: float = 300.0,
                 say: Callable[[str], None] | None = None, keep_statistics: bool = False,
                 budget: float | None = None):
        self.store, self.read, self.jobs, self.limit = store, read, max(jobs, 1), limit
        self.say, self.keep, self.budget = say, keep_statistics, budget
        self.passes: dict[str, int] = {}       # by key
        self.promised: dict[str, float] = {}   # the expected cost of each running point
        self.children: dict[int, Child] = {}  # by the descriptor of their process
        self.selector = selectors.DefaultSelector()
        self.spent, self.finished, self.total = 0.0, 0, 0
        self._told = 0.0

    # ---- what is to be done

    def run(self, points: Sequence[Point], retry: bool = False) -> dict[str, Outcome]:
        """Runs what is not done, and returns the outcomes of all by key. Ctrl-C and SIGTERM end it
        and keep what is done."""
        self.store.add(points)
        self.store.wait_again(points, [FAILED] if retry else [])
        chains = self._chains(points)
        self.total = sum(len(chain.points) for chain in chains)
        self.finished, self.spent = 0, 0.0
        before = signal.signal(signal.SIGTERM, _interrupt)
        try:
            self._run(chains)
        except KeyboardInterrupt:
            raise Mistake("interrupted; the same command goes on") from None
        finally:
            self._end_children()
            signal.signal(signal.SIGTERM, before)
        return {point.key: self.store.outcome(point) for point in points}

    def _chains(self, points: Sequence[Point]) -> list[Chain]:
        by_name: dict[str, Chain] = {}
        for point in sorted(points, key=lambda p: p.size):
            chain = by_name.setdefault(point.chain or point.key, Chain([], []))
            found = self.store.outcome(point)
            if found.state == DONE and found.cpu_seconds is not None:
                chain.costs.append((point.size, found.cpu_seconds))
            elif found.state == WAITING or self._try_again(found):
                self.store.wait_again([point], [LEFT_OUT])  # why it was says nothing today
                chain.points.append(point)
        chains = [chain for chain in by_name.values() if chain.points]
        if self.budget is not None:
            for chain in chains:
                order = coarse_first(chain.points)
                chain.points = [point for _, point in order]
                self.passes.update((point.key, number) for number, point in order)
        return chains

    def _try_again(self, found: Outcome) -> bool:
        """What was left out before, under another limit."""
        return found.state == LEFT_OUT and (found.cpu_seconds is None
                                            or found.cpu_seconds * 1.1 < self.limit)

    def _run(self, chains: list[Chain]) -> None:
        of_point = {point.key: chain for chain in chains for point in chain.points}
        while self.children or any(chain.points for chain in chains):
            self._start_some(chains)
            if not self.children:
                return  # what waits is beyond the budget
            self._progress(chains)
            for child, status, cpu in self._wait():
                self._finish(child, status, cpu, of_point[child.point.key])

    def _start_some(self, chains: list[Chain]) -> None:
        """The cheapest first, so that much is known soon."""
        while len(self.children) < self.jobs:
            found = [self._next(chain) for chain in chains if chain.points and not chain.busy]
            ready = [best for best in found if best]
            if not ready:
                return
            _, cost, _, chain, point = min(ready, key=lambda best: best[:3])
            if cost > HEADROOM * self.limit:
                self._leave_out(chain, point.size, f"would take about {cost:.0f} CPU seconds")
                continue
            chain.points.remove(point)
            chain.busy = True
            self.promised[point.key] = cost
            self._start(point)

    def _next(self, chain: Chain) -> tuple[int, float, str, Chain, Point] | None:
        """The first point of a chain for which there is budget: pass, cost, name."""
        left = math.inf
        if self.budget is not None:
            left = self.budget - self.spent - sum(self.promised.values())
        for point in chain.points:
            cost = chain.cost(point) or 0.0
            if cost <= left and left > 0:
                return self.passes.get(point.key, 0), cost, point.name, chain, point
        return None

    def _leave_out(self, chain: Chain, size: float, why: str) -> None:
        for point in [p for p in chain.points if p.size >= size]:
            self.store.leave_out(point, f"{why}; the limit is {self.limit:g}")
            self.finished += 1
            chain.points.remove(point)

    # ---- processes

    def _start(self, point: Point) -> None:
        log = self.store.logs / point.key
        words = [word.replace(STATISTICS, f"{log}.json") for word in point.command]
        limit = max(int(self.limit + 0.999), 1)
        words = ["setpriv", "--pdeathsig", "KILL", "prlimit", f"--cpu={limit}:{limit + 5}",
                 "--core=0", *words]
        self.store.start(point)
        try:
            pid = os.posix_spawnp(words[0], words, os.environ, file_actions=logged(str(log)),
                                  setpgroup=0)
        except OSError as error:
            raise Mistake(f"cannot start '{words[0]}' (Debian package util-linux): {error}") \
                from None
        descriptor = os.pidfd_open(pid)
        self.children[descriptor] = Child(point, pid, time.monotonic(), log)
        self.selector.register(descriptor, selectors.EVENT_READ)

    def _wait(self) -> list[tuple[Child, int, float]]:
        """The children that have ended, with their wait status and CPU seconds."""
        ended = []
        for key, _ in self.selector.select(timeout=1.0):
            ended.append(self._reap(key.fd))
        for child in self.children.values():
            if time.monotonic() - child.began > longest(self.limit):
                os.killpg(child.pid, signal.SIGKILL)
        return ended

    def _reap(self, descriptor: int) -> tuple[Child, int, float]:
        child = self.children.pop(descriptor)
        self.selector.unregister(descriptor)
        os.close(descriptor)
        _, status, usage = os.wait4(child.pid, 0)
        return child, os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime

    def _end_children(self) -> None:
        for child in self.children.values():
            os.killpg(child.pid, signal.SIGKILL)
        for descriptor in list(self.children):
            child = self._reap(descriptor)[0]
            self.store.wait_again([child.point], ["running"])

    # ---- results

    def _finish(self, child: Child, status: int, cpu: float, chain: Chain) -> None:
        point, wall = child.point, time.monotonic() - child.began
        chain.busy = False
        self.promised.pop(point.key, None)
        self.finished += 1
        self.spent += cpu
        if status == 0:
            try:
                self.store.done(point, self.read(point, child.log), cpu, wall)
                chain.costs.append((point.size, cpu))
            except Unreadable as error:
                self.store.failed(point, str(error), status, cpu, wall)
        elif limited := was_limited(status, cpu, wall, self.limit):
            self.store.leave_out(point, limited, cpu)
            self._leave_out(chain, point.size,
                            f"a smaller one took more than {self.limit:g} CPU seconds")
        else:
            self.store.failed(point, complaint(_printed(child.log), status), status, cpu, wall)
        if not self.keep:
            pathlib.Path(f"{child.log}.json").unlink(missing_ok=True)

    def _progress(self, chains: list[Chain]) -> None:
        if not self.say or time.monotonic() - self._told < 1.0:
            return
        self._told = time.monotonic()
        left = known = 0.0
        for chain in chains:
            for point in chain.points:
                cost = chain.cost(point)
                if cost is not None and cost <= HEADROOM * self.limit:
                    left += min(cost, self.limit)
                    known += 1
        waiting = sum(len(chain.points) for chain in chains)
        if waiting > known and self.finished:
            left += (waiting - known) * self.spent / self.finished
        self.say(f"{self.finished} of {self.total} points, {len(self.children)} running, "
                 f"{self.spent:.0f} CPU s, about {duration(left / self.jobs)} left")


def _interrupt(_signal: int, _frame: Any) -> None:
    raise KeyboardInterrupt


def _printed(log: pathlib.Path) -> list[str]:
    return [pathlib.Path(f"{log}.{ending}").read_text(encoding="utf-8", errors="replace")
            for ending in ("out", "err")]
