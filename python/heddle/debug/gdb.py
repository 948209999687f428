"""gdb's remote serial protocol ("Debugging with GDB", appendix E), for one client: its threads are
wavefronts, and it cannot change anything."""
from __future__ import annotations

import pathlib
import re
import socket
from typing import Callable

from heddle.base.mistakes import Mistake
from heddle.debug import process, registers, symbols
from heddle.debug.monitor import Commands
from heddle.debug.process import Rule, Stop
from heddle.debug.session import Session

PACKET, SIGTRAP, SIGINT = 0x8000, 5, 2
KINDS = {"0": process.BREAK, "1": process.BREAK, "2": process.WRITE, "3": process.READS,
         "4": process.ACCESS}
WATCHES = {process.WRITE: "watch", process.READS: "rwatch", process.ACCESS: "awatch"}

class Gone(Exception):
    """The client has left."""


class Wire:
    """Packets of one connection."""

    def __init__(self, connection: socket.socket):
        self.connection, self.left, self.acknowledges = connection, b"", True

    def _byte(self) -> bytes:
        if not self.left:
            self.left = self.connection.recv(PACKET)
            if not self.left:
                raise Gone
        byte, self.left = self.left[:1], self.left[1:]
        return byte

    def receive(self) -> str:
        """The next packet, "\\3" for an interruption; damaged ones are asked for again."""
        while True:
            byte = self._byte()
            if byte == b"\3":
                return "\3"
            if byte != b"$":
                continue
            text = bytearray()
            while (byte := self._byte()) != b"#":
                text += byte
            try:
                good = int(self._byte() + self._byte(), 16) == sum(text) & 255
            except ValueError:
                good = False
            if self.acknowledges:
                self.connection.sendall(b"+" if good else b"-")
            if good:
                return text.decode("latin-1")

    def send(self, text: str) -> None:
        data = text.encode("latin-1")
        self.connection.sendall(b"$%s#%02x" % (data, sum(data) & 255))

    def is_interrupted(self) -> bool:
        """What can be read is an interruption."""
        piece = self.connection.recv(1)
        if not piece:
            raise Gone
        return piece == b"\3"


def _numbers(text: str) -> list[int]:
    if not re.fullmatch("[0-9a-fA-F]{1,16}(,[0-9a-fA-F]{1,16})*", text):
        raise ValueError(text)
    return [int(word, 16) for word in text.split(",")]


class Server:
    def __init__(self, session: Session, connection: socket.socket):
        self.session, self.wire = session, Wire(connection)
        self.thread = session.at.wavefront
        self.commands = Commands(session, lambda: self.thread)
        self.known = self._libraries()  # code that the client has been told of
        self.by_word: list[tuple[str, Callable[[str], str]]] = [
            ("qSupported", self._supported), ("QStartNoAckMode", self._no_acknowledgements),
            ("qXfer:features:read:target.xml:", self._part(registers.description)),
            ("qXfer:libraries:read:", self._part(self._told_libraries)),
            ("qXfer:threads:read:", self._part(self._threads)),
            ("qfThreadInfo", lambda _: "m" + ",".join(f"{w.number:x}" for w in session.waves())),
            ("qsThreadInfo", lambda _: "l"), ("qThreadExtraInfo,", self._thread_text),
            ("qC", lambda _: f"QC{self.thread:x}"), ("qAttached", lambda _: "1"),
            ("qRcmd,", self._command), ("vCont?", lambda _: "vCont;c;C;s;S"),
            ("vCont;", self._continue), ("?", lambda _: self._where(self.session.at)),
            ("H", self._choose), ("T", lambda text: "OK" if self._wave(text) else "E01"),
            ("g", lambda _: self._registers()), ("p", self._register), ("m", self._read),
            ("Z", self._add_rule), ("z", self._remove_rule), ("bs", lambda _: self._back(True)),
            ("bc", lambda _: self._back(False)), ("s", lambda _: self._step()),
            ("c", lambda _: self._forward(process.CONTINUE)),
            ("G", self._cannot), ("P", self._cannot), ("M", self._cannot), ("X", self._cannot)]

    # ---- what there is ----

    def _supported(self, _: str) -> str:
        back = "ReverseStep+;ReverseContinue+;" if self.session.repeats else ""
        return (f"PacketSize={PACKET:x};QStartNoAckMode+;qXfer:features:read+;"
                f"qXfer:libraries:read+;qXfer:threads:read+;{back}vContSupported+")

    def _no_acknowledgements(self, _: str) -> str:
        self.wire.acknowledges = False
        return "OK"

    @staticmethod
    def _cannot(_: str) -> str:
        return "E.nothing can be changed: the run could not be repeated"

    def _part(self, make: Callable[[], str]) -> Callable[[str], str]:
        """A part of a long text, as the client asks for it."""
        def part(text: str) -> str:
            start, size = _numbers(text.rsplit(":", maxsplit=1)[-1])
            whole = make()
            return ("m" if start + size < len(whole) else "l") + whole[start:start + size]
        return part

    def _libraries(self) -> str:
        return symbols.libraries(self.session.program.machine.path,
                                 pathlib.Path(self.session.kept.name))

    def _told_libraries(self) -> str:
        self.known = self._libraries()
        return self.known

    def _threads(self) -> str:
        rows = "".join(f'<thread id="{w.number:x}" name="{w.in_group}"/>'
                       for w in self.session.waves())
        return f'<?xml version="1.0"?><threads>{rows}</threads>'

    def _wave(self, text: str) -> process.Wavefront | None:
        return self.session.wave(_numbers(text)[0])

    def _thread_text(self, text: str) -> str:
        return str(self._wave(text) or "has ended").encode().hex()

    def _choose(self, text: str) -> str:
        number = _numbers(text[1:])[0] if text[1:] != "-1" else 0
        if text[0] == "g" and number > 0:
            self.thread = number
        return "OK"

    # ---- registers and memory ----

    def _registers(self) -> str:
        wave, held = self.session.wave(self.thread), self.session.registers(self.thread)
        if not wave or not held:
            return "E01"
        return "".join(registers.value(number, held, wave) for number in range(registers.SENT))

    def _register(self, text: str) -> str:
        number, = _numbers(text)
        wave, held = self.session.wave(self.thread), self.session.registers(self.thread)
        if not wave or not held or number >= len(registers.ALL):
            return "E01"
        return registers.value(number, held, wave)

    def _read(self, text: str) -> str:
        address, size = _numbers(text)
        got = self.session.program.read(address, min(size, PACKET // 4), self.thread,
                                        self.commands.lane)
        return got.hex() if got is not None else "E01"

    # ---- rules ----

    def _rule(self, text: str) -> Rule:
        address, size = _numbers(text[2:].split(";")[0])
        return Rule(KINDS[text[0]], address, size)

    def _add_rule(self, text: str) -> str:
        rule = self._rule(text)
        if rule not in self.session.rules:
            self.session.rules.append(rule)
        return "OK"

    def _remove_rule(self, text: str) -> str:
        rule = self._rule(text)
        if rule in self.session.rules:
            self.session.rules.remove(rule)
        return "OK"

    # ---- moving ----

    def _stopped(self, stop: Stop) -> str:
        if stop.reason == process.ENDED:
            self._say(f"The program ends with status {self.session.status & 255}.\n"
                      + self.session.last_words())
        elif stop.reason == process.FOUND:
            self._say(self.session.program.finding())
        return self._where(stop)

    def _where(self, stop: Stop) -> str:
        if stop.reason == process.ENDED and not stop.wavefront:
            return f"W{self.session.status & 255:02x}"
        self.thread = stop.wavefront
        why = {process.WATCHED: f"{WATCHES.get(stop.rule, 'watch')}:{stop.address:x};",
               process.CAME: "replaylog:begin;", process.ENDED: "replaylog:end;"}
        signal = SIGINT if stop.reason == process.INTERRUPTED else SIGTRAP
        program_counter = stop.pc.to_bytes(8, "little").hex()
        return (f"T{signal:02x}thread:{stop.wavefront:x};{registers.PC:x}:{program_counter};"
                f"{why.get(stop.reason, '')}")

    def _forward(self, action: int, wavefront: int = 0) -> str:
        stop = self.session.forward(action, wavefront or self.thread, self.wire.connection,
                                    self.wire.is_interrupted, self.commands.cycles)
        if stop.wavefront and self._libraries() != self.known:
            return self._stopped(stop) + "library:;"
        if stop.reason == process.LOADED:
            return self._forward(action)
        return self._stopped(stop)

    def _step(self, wavefront: int = 0) -> str:
        return self._forward(process.CYCLE if self.commands.cycles else process.STEP, wavefront)

    def _continue(self, text: str) -> str:
        """`text`: s:THREAD;c and the like, of which the first counts."""
        action, _, thread = text.split(";")[0].partition(":")
        if action[:1] in "cC":
            return self._forward(process.CONTINUE)
        return self._step(_numbers(thread or "0")[0])

    def _back(self, step: bool) -> str:
        return self._stopped(self.session.backward(self.thread if step else 0))

    # ---- commands ----

    def _command(self, text: str) -> str:
        self._say(self.commands.run(bytes.fromhex(text).decode().split()))
        return "OK"

    def _say(self, text: str) -> None:
        for start in range(0, len(text), PACKET // 4):
            self.wire.send("O" + text[start:start + PACKET // 4].encode().hex())

    # ---- the connection ----

    def _answer(self, packet: str) -> str:
        for word, make in self.by_word:
            if packet.startswith(word):
                try:
                    return make(packet[len(word):])
                except (ValueError, KeyError, IndexError):
                    return "E00"
        return ""

    def serve(self) -> int:
        """Answers packets until the client leaves or kills the program (0), or the program is over
        (its status)."""
        while True:
            packet = self.wire.receive()
            if packet == "\3":
                continue
            if packet.startswith(("k", "vKill")):
                return 0
            if packet.startswith("D"):
                self.wire.send("OK")
                self.session.rules.clear()
                raise Gone
            try:
                answer = self._answer(packet)
            except Mistake as mistake:
                answer = f"E.{mistake}"
            self.wire.send(answer)
            if answer.startswith("W"):
                return self.session.status
