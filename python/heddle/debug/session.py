"""A program that can be moved forwards and backwards. To go backwards, the program is started anew:
it comes to the same events again, and stops at the wanted one."""
from __future__ import annotations

import socket
import tempfile
from typing import IO, Callable, Sequence

from heddle.base.mistakes import Mistake
from heddle.debug import process
from heddle.debug.process import Machine, Output, Process, Registers, Rule, Stop, Wavefront


KEPT = 16  # copies of the process, beside the one that runs


class Session:
    """`repeats`: another run does the same. One that does not goes forwards only."""

    def __init__(self, words: Sequence[str], outputs: Sequence[Output], given: IO[bytes] | None,
                 repeats: bool):
        self.words, self.outputs, self.given, self.repeats = words, outputs, given, repeats
        self.rules: list[Rule] = []
        self.status, self.end_words = 0, b""
        self.program = self._start()
        self.at = self.program.stop
        self.past: list[Process] = []  # that stand at earlier events, in their order
        self.kept = tempfile.TemporaryDirectory(prefix="heddle-symbols-")

    def _start(self) -> Process:
        return Machine(self.words, self.outputs, self.given).first

    # ---- looking ----

    def waves(self) -> list[Wavefront]:
        return list(self.program.waves().values())

    def wave(self, number: int) -> Wavefront | None:
        return self.program.waves().get(number)

    def registers(self, wavefront: int) -> Registers | None:
        return self.program.registers(wavefront)

    def last_words(self) -> str:
        """What stood on standard error between the last stop and the program's end."""
        return self.end_words.decode(errors="replace")

    # ---- moving ----

    def _leave(self) -> None:
        """Leaves a copy of the program in its place before the program moves on."""
        if not self.repeats or (self.past and self.past[-1].stop.event == self.at.event):
            return
        if copy := self.program.machine.copy(self.program):
            self.past.append(self.program)
            self.program = copy
        if len(self.past) > KEPT:  # drops the copy that is nearest to its neighbours
            events = [process.stop.event for process in self.past]
            least = min(range(1, KEPT), key=lambda i: events[i + 1] - events[i - 1])
            self.past.pop(least).close()

    def _begin_at(self, event: int) -> None:
        """Makes `program` a copy that stands at this event or before."""
        self.program.close()
        for old in reversed(self.past):
            if old.stop.event <= event and (copy := old.machine.copy(old)):
                self.program = copy
                return
        self.program = self._start()

    def _come_to(self, event: int) -> Stop:
        self._begin_at(event)
        stop = self.program.stop
        if stop.event < event:
            stop = self.program.run(process.TO, event)
        if stop.event != event:
            raise Mistake(f"the program did not reach event {event} again: it does not do the "
                          "same in each run (what does it read, that changes?)")
        return stop

    def _over(self, stop: Stop) -> Stop:
        """The program has ended: it is brought back to its last event, unless it went on from
        there."""
        self.status = stop.address if self.repeats else self.program.machine.child.wait()
        self.program.show()
        if not stop.event or self.at.event == stop.event or not self.repeats:
            return stop
        at = self._come_to(stop.event)
        self.at = Stop(process.ENDED, at.event, at.wavefront, at.pc, cycle=at.cycle)
        return self.at

    def forward(self, action: int, wavefront: int, client: socket.socket,
                asked: Callable[[], bool], cycles: int = 0) -> Stop:
        """`asked`: has the client, which can be read, asked for an interruption? ENDED with a
        wavefront: this is the last event; without: the program is over."""
        self._leave()
        before = self.outputs[1].seen
        if not self.program.set_rules(self.rules):
            raise Mistake("too many breakpoints and watchpoints")
        self.program.go(action, cycles, wavefront)
        while not (found := self.program.has_stopped(client))[0]:
            if found[1] and asked():
                self.program.interrupt()
        stop = self.program.wait()
        if stop.reason == process.ENDED:
            fresh = self.outputs[1].seen - before
            self.end_words = self.outputs[1].last[-fresh:] if fresh else self.end_words
            return self._over(stop)
        self.at = stop
        return stop

    def _find(self, wavefront: int) -> Stop | None:
        """The last event before this one at which a rule holds, or which is the wavefront's own."""
        begin, end = self.at.event - 1, self.at.event  # the first one is looked at by the next scan
        while begin >= 1:
            self._begin_at(begin)
            start = self.program.stop
            self.program.set_rules(self.rules)
            found = self.program.run(process.SCAN, end, wavefront)
            if found.event:
                return found
            if start.event == 1 and wavefront == start.wavefront:
                return Stop(process.STEPPED, 1, wavefront, start.pc, cycle=start.cycle)
            begin, end = start.event - 1, start.event + 1
        return None

    def backward(self, wavefront: int) -> Stop:
        """CAME: nothing is found, and this is the first event."""
        found = self._find(wavefront)
        at = self._come_to(found.event if found else 1)
        self.at = found or Stop(process.CAME, at.event, at.wavefront, at.pc,
                                cycle=at.cycle)
        return self.at

    def close(self) -> None:
        for old in (*self.past, self.program):
            old.close()
        self.kept.cleanup()
