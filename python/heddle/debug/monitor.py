"""What gdb's `monitor` says: what gdb does not know of GPUs."""
from __future__ import annotations

import pathlib
from typing import Callable, Sequence

from heddle.debug import registers, symbols
from heddle.debug.process import Registers
from heddle.debug.session import Session

HELP = """monitor waves           the wavefronts that live
monitor disas [ADDRESS] [N]  N instructions from here or 0xADDRESS on (default: 8)
monitor registers [NAME...]  registers of a warp by their names in PTX, in all lanes
monitor lane N          the registers of lane N, whose private memory is seen from here on
monitor event           the number of this event: an instruction that is about to be executed
monitor step N cycles   stepi goes on by so many cycles, of all wavefronts
monitor step instructions  stepi goes on by an instruction of the thread, as at first
monitor finding         what the checks of --check have found last
"""


class Commands:
    """`thread`: the number of the wavefront that is looked at."""

    def __init__(self, session: Session, thread: Callable[[], int]):
        self.session, self.thread = session, thread
        self.lane = 0    # whose private memory is read
        self.cycles = 0  # of a step; 0: it is an instruction of the thread
        self.by_name: dict[str, Callable[[Sequence[str]], str]] = {
            "waves": self._waves, "disas": self._instructions, "disassemble": self._instructions,
            "registers": self._registers, "lane": self._lane, "event": self._event,
            "step": self._step, "finding": lambda _: self.session.program.finding()}

    def run(self, words: Sequence[str]) -> str:
        made = self.by_name.get(words[0] if words else "")
        try:
            return made(words[1:]) if made else HELP
        except (ValueError, LookupError):
            return HELP

    def _event(self, _: Sequence[str]) -> str:
        at = self.session.at
        return f"{at.event}" + (f", in cycle {at.cycle}\n" if at.cycle else "\n")

    def _step(self, words: Sequence[str]) -> str:
        if words == ["instructions"]:
            self.cycles = 0
        elif words[1:] != ["cycles"] or int(words[0]) < 1:
            raise ValueError
        elif not self.session.at.cycle:
            return "without timing there are no cycles: heddle debug --mode timing\n"
        else:
            self.cycles = int(words[0])
        return f"stepi goes on by {' '.join(words)}\n"

    def _waves(self, _: Sequence[str]) -> str:
        return "".join(f"{w.number:6x}  {w.pc:#x}  {w}\n" for w in self.session.waves())

    def _instruction(self, address: int) -> tuple[int, str] | None:
        """The size of an instruction, and its text."""
        for module in symbols.modules(self.session.program.machine.path,
                                      pathlib.Path(self.session.kept.name)):
            if found := module.instruction(address):
                return found
        return self.session.program.disassemble(address, self.thread())

    def _instructions(self, words: Sequence[str]) -> str:
        wave, lines = self.session.wave(self.thread()), []
        here = wave.pc if wave else 0
        addresses = [int(word, 16) for word in words if word.startswith("0x")]
        counts = [int(word) for word in words if not word.startswith("0x")]
        address = addresses[0] if addresses else here
        for _ in range(counts[0] if counts else 8):
            if not (found := self._instruction(address)):
                break
            lines.append(f"{'=>' if address == here else '  '} {address:#x}  {found[1]}\n")
            address += found[0]
        return "".join(lines)

    def _registers(self, words: Sequence[str]) -> str:
        named = self.session.program.named(self.thread())
        if named is None:
            return "registers of AMD's wavefronts have numbers: info registers\n"
        wanted = {"%" + word.lstrip("%$") for word in words}
        lines = []
        for row in named:
            if (wanted and row.name not in wanted) or not (wanted or row.values):
                continue
            values = " ".join(f"{row.values[lane]:#x}" if lane in row.values else "-"
                              for lane in range(self._lanes()))
            same = set(row.values.values())
            if not same:
                values = "has no value here"
            elif len(same) == 1 and len(row.values) == self._lanes():
                values = f"{same.pop():#x} in all lanes"
            lines.append(f"{row.name:7} {row.type:5} {values}\n")
        return "".join(lines) or "no such register has a value here\n"

    def _lanes(self) -> int:
        wave = self.session.wave(self.thread())
        return wave.lanes if wave else 0

    def _lane(self, words: Sequence[str]) -> str:
        lane, held = int(words[0]), self.session.registers(self.thread())
        wave = self.session.wave(self.thread())
        if not held or not wave or not 0 <= lane < wave.lanes:
            return f"lanes are 0 to {self._lanes() - 1}\n"
        self.lane = lane
        active = held.sgpr[registers.EXEC] | held.sgpr[registers.EXEC + 1] << 32
        rows = self._named(lane) if wave.lanes < 64 else self._numbered(held, lane)
        return f"lane {lane} is {'active' if active >> lane & 1 else 'off'}\n" + "".join(
            f"{name:7} {word:#010x} {word}\n" for name, word in rows)

    def _named(self, lane: int) -> list[tuple[str, int]]:
        return [(row.name, row.values[lane])
                for row in self.session.program.named(self.thread()) or () if lane in row.values]

    @staticmethod
    def _numbered(held: Registers, lane: int) -> list[tuple[str, int]]:
        words = (int.from_bytes(held.vector(number)[4 * lane:4 * lane + 4], "little")
                 for number in range(held.vgprs + held.accumulators))
        return [(f"v{number}" if number < held.vgprs else f"a{number - held.vgprs}", word)
                for number, word in enumerate(words)]
