"""A program that runs to where it is told, and answers about its wavefronts. The formats are those
of components/checks/debugger/debug_channel.h."""
from __future__ import annotations

import os
import pathlib
import select
import socket
import struct
import subprocess
import tempfile
from dataclasses import dataclass, field
from typing import IO, Sequence

from heddle.base.mistakes import Mistake

READ, WAVES, REGISTERS, DISASSEMBLE, RULES, GO, INTERRUPT, FINDING, NAMED, FORK = range(1, 11)
BREAK, WRITE, READS, ACCESS = range(4)
CONTINUE, STEP, CYCLE, TO, SCAN = range(5)
BEGAN, BROKE, WATCHED, STEPPED, CAME, INTERRUPTED, FOUND, LOADED, ENDED = range(9)
REFUSED = 2 ** 64 - 1
LANES, TAIL = 64, 2000
REQUEST, ANSWER, STOPPED = (struct.Struct(form) for form in ("<4Q", "<Q", "<7Q"))
WAVEFRONT, SCALARS = struct.Struct("<3Q6I96s"), struct.Struct("<128I3Q6I")
REGISTER, LANE_SHIFT = struct.Struct("<40s8s33Q"), 48


@dataclass(frozen=True)
class Rule:
    kind: int
    address: int
    bytes: int


@dataclass(frozen=True)
class Stop:
    reason: int
    event: int
    wavefront: int
    pc: int
    address: int = 0
    rule: int = 0
    cycle: int = 0


@dataclass(frozen=True)
class Wavefront:
    number: int
    pc: int
    launch: int
    gpu: int
    group: tuple[int, int, int]
    in_group: int
    lanes: int
    kernel: str

    def __str__(self) -> str:
        group = ",".join(map(str, self.group))
        return (f"{self.kernel}, launch {self.launch} on GPU {self.gpu}, work-group ({group}), "
                f"wavefront {self.in_group}")


@dataclass(frozen=True)
class Registers:
    sgpr: tuple[int, ...]
    pc: int
    shared_aperture: int
    private_aperture: int
    mode: int
    status: int
    scc: int
    vgprs: int
    accumulators: int
    vectors: bytes = field(repr=False)

    def vector(self, number: int) -> bytes:
        return self.vectors[4 * LANES * number:4 * LANES * (number + 1)]


@dataclass(frozen=True)
class Named:
    """A register of PTX, with its values in the lanes where it is live."""
    name: str
    type: str
    values: dict[int, int]


class Output:
    """What runs of the same program print, once: a run that is started anew prints what was seen
    already."""

    def __init__(self, to: IO[bytes]):
        self.to, self.seen, self.last = to, 0, b""

    def show(self, before: int, printed: bytes) -> None:
        """`printed` behind the first `before` bytes."""
        fresh = printed[max(0, self.seen - before):]
        if before <= self.seen and fresh:
            self.seen += len(fresh)
            self.last = (self.last + fresh)[-TAIL:]
            self.to.write(fresh)
            self.to.flush()


class Machine:
    """The process that `heddle run` starts, and its copies."""

    def __init__(self, words: Sequence[str], outputs: Sequence[Output], given: IO[bytes] | None):
        self.folder = tempfile.TemporaryDirectory(prefix="heddle-debug-")
        self.path = pathlib.Path(self.folder.name)
        self.outputs, self.copies, self.processes = outputs, 0, 0
        files = [self.path / f"{name}-0" for name in ("out", "err")]
        with self._listening("socket") as waiting, files[0].open("wb") as out, \
                files[1].open("wb") as errors:
            if given:
                given.seek(0)
            self.child = subprocess.Popen(
                words, stdin=given or subprocess.DEVNULL, stdout=out, stderr=errors,
                env={**os.environ, "HEDDLE_DEBUG": self.folder.name,
                     "HEDDLE_PARENT": str(os.getpid())})
            self.first = Process(self, self._accept(waiting), 0, (0, 0))

    def _listening(self, name: str) -> socket.socket:
        waiting = socket.socket(socket.AF_UNIX)
        waiting.bind(str(self.path / name))
        waiting.listen(1)
        waiting.settimeout(0.05)
        return waiting

    def _accept(self, waiting: socket.socket) -> socket.socket:
        while True:
            try:
                return waiting.accept()[0]
            except TimeoutError:
                if self.child.poll() is not None:
                    for output, name in zip(self.outputs, ("out", "err")):
                        output.show(0, (self.path / f"{name}-0").read_bytes())
                    self.folder.cleanup()
                    raise Mistake("the program ended before a kernel ran: status "
                                  f"{self.child.returncode}") from None

    def copy(self, process: Process) -> Process | None:
        """Another process that stands where this one stands; None: it cannot be copied."""
        self.copies += 1
        number = self.copies
        with self._listening(f"copy-{number}") as waiting:
            if process.ask(FORK, number) is None:
                return None
            before = tuple(process.before[i] + len(part)
                           for i, part in enumerate(process.printed()))
            return Process(self, self._accept(waiting), number, (before[0], before[1]))

    def left(self) -> None:
        """A process has gone."""
        self.processes -= 1
        if not self.processes:
            self.child.wait()
            self.folder.cleanup()


class Process:
    """One run, stopped before an event; its output stands in files that begin behind the first
    `before` bytes."""

    def __init__(self, machine: Machine, channel: socket.socket, number: int,
                 before: tuple[int, int]):
        self.machine, self.channel, self.number, self.before = machine, channel, number, before
        machine.processes += 1
        self.known: dict[int, Wavefront] = {}  # as long as it stands
        self.held: dict[int, Registers] = {}
        channel.settimeout(None)
        self.stop = self.wait()

    def printed(self) -> list[bytes]:
        paths = (self.machine.path / f"{name}-{self.number}" for name in ("out", "err"))
        return [path.read_bytes() if path.exists() else b"" for path in paths]

    def show(self) -> None:
        for output, before, text in zip(self.machine.outputs, self.before, self.printed()):
            output.show(before, text)

    def _receive(self, size: int) -> bytes:
        got = bytearray()
        while len(got) < size:
            piece = self.channel.recv(size - len(got))
            if not piece:
                raise EOFError
            got += piece
        return bytes(got)

    def ask(self, request: int, a: int = 0, b: int = 0, c: int = 0,
            more: bytes = b"") -> bytes | None:
        self.channel.sendall(REQUEST.pack(request, a, b, c) + more)
        size, = ANSWER.unpack(self._receive(ANSWER.size))
        return None if size == REFUSED else self._receive(size)

    def wait(self) -> Stop:
        """The next stop; one with ENDED and the last event known when the process is gone."""
        try:
            self.stop = Stop(*STOPPED.unpack(self._receive(STOPPED.size)))
        except (EOFError, ConnectionError):
            self.stop = Stop(ENDED, 0, 0, 0)
        self.show()
        return self.stop

    def go(self, action: int, event: int = 0, wavefront: int = 0) -> None:
        self.known.clear()
        self.held.clear()
        self.channel.sendall(REQUEST.pack(GO, action, event, wavefront))

    def run(self, action: int, event: int = 0, wavefront: int = 0) -> Stop:
        self.go(action, event, wavefront)
        return self.wait()

    def has_stopped(self, client: socket.socket) -> tuple[bool, bool]:
        """Has it; has the client said something?"""
        ready = select.select([self.channel, client], [], [], 0.2)[0]
        self.show()
        return self.channel in ready, client in ready

    def interrupt(self) -> None:
        self.channel.sendall(REQUEST.pack(INTERRUPT, 0, 0, 0))

    def set_rules(self, rules: Sequence[Rule]) -> bool:
        more = b"".join(struct.pack("<3Q", r.kind, r.address, r.bytes) for r in rules)
        return self.ask(RULES, len(rules), more=more) is not None

    def read(self, address: int, size: int, wavefront: int, lane: int = 0) -> bytes | None:
        return self.ask(READ, address, size, wavefront | lane << LANE_SHIFT)

    def waves(self) -> dict[int, Wavefront]:
        answer = b"" if self.known else self.ask(WAVES) or b""
        for number, pc, launch, gpu, *group, in_group, lanes, kernel in \
                WAVEFRONT.iter_unpack(answer):
            self.known[number] = Wavefront(number, pc, launch, gpu, (group[0], group[1], group[2]),
                                           in_group, lanes,
                                           kernel.split(b"\0")[0].decode(errors="replace"))
        return self.known

    def finding(self) -> str:
        return (self.ask(FINDING) or b"").decode(errors="replace")

    def registers(self, wavefront: int) -> Registers | None:
        if wavefront in self.held:
            return self.held[wavefront]
        answer = self.ask(REGISTERS, wavefront)
        if answer is None:
            return None
        numbers = SCALARS.unpack_from(answer)
        pc, shared, private, mode, status, scc, vgprs, accumulators, _ = numbers[128:]
        self.held[wavefront] = Registers(numbers[:128], pc, shared, private, mode, status, scc,
                                         vgprs, accumulators, answer[SCALARS.size:])
        return self.held[wavefront]

    def named(self, wavefront: int) -> list[Named] | None:
        """None: it has numbered ones."""
        answer = self.ask(NAMED, wavefront)
        return None if answer is None else [
            Named(name.split(b"\0")[0].decode(), kind.split(b"\0")[0].decode(),
                  {lane: values[lane] for lane in range(len(values)) if lanes >> lane & 1})
            for name, kind, lanes, *values in REGISTER.iter_unpack(answer)]

    def disassemble(self, address: int, wavefront: int) -> tuple[int, str] | None:
        answer = self.ask(DISASSEMBLE, address, wavefront)
        return (ANSWER.unpack_from(answer)[0], answer[8:].decode()) if answer else None

    def close(self) -> None:
        self.channel.close()
        self.machine.left()
