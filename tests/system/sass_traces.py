"""Makes small SASS traces. A trace is a list of warps' lines, of which the caller knows how many
and which there are."""
import lzma
from pathlib import Path

FULL = "ffffffff"
CHAIN = f"{{pc:04x}} {FULL} 1 R4 FFMA 3 R4 R5 R6 0"
EXIT = f"fff0 {FULL} 0 EXIT 0 0"


def chain(length):
    return [CHAIN.format(pc=16 * i) for i in range(length)]


def load(pc, address, to=2, by=2, stride=4):
    """32 threads load into register `to`; the address is in register `by`."""
    return f"{pc:04x} {FULL} 1 R{to} LDG.E 1 R{by} 4 1 0x{address:x} {stride}"


def store(pc, address, stride=4):
    return f"{pc:04x} {FULL} 0 STG.E 2 R8 R4 4 1 0x{address:x} {stride}"


def header(name, blocks, threads, stream, shared, registers, symbol):
    return f"""-kernel name = {symbol or name.split('.')[0].replace('-', '_')}
-kernel id = 1
-grid dim = ({blocks},1,1)
-block dim = ({threads},1,1)
-shmem = {shared}
-nregs = {registers}
-binary version = 86
-cuda stream id = {stream}
-shmem base_addr = 0x00007f0001000000
-local mem base_addr = 0x00007f0003000000
-nvbit version = 1.7
-accelsim tracer version = 4

#traces format = x

"""


class Folder:
    """Where traces and lists of them lie."""

    def __init__(self, path):
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)

    def __truediv__(self, name):
        return self.path / name

    def trace(self, name, blocks, warps, lines, stream=0, shared=0, registers=16, threads=None,
              pack=False, symbol=None):
        """Writes a trace and returns its name. `lines`: of each warp, or a function of block and
        warp."""
        out = []
        for b in range(blocks):
            out += ["#BEGIN_TB", f"thread block = {b},0,0"]
            for w in range(warps):
                body = lines(b, w) if callable(lines) else lines
                out += [f"warp = {w}", f"insts = {len(body)}", *body]
            out.append("#END_TB")
        text = header(name, blocks, threads or 32 * warps, stream, shared, registers, symbol)
        data = (text + "\n".join(out) + "\n").encode()
        (self.path / name).write_bytes(lzma.compress(data) if pack else data)
        return name

    def list(self, name, commands):
        """Writes a list of traces and returns its path."""
        (self.path / name).write_text("\n".join(commands) + "\n")
        return self.path / name
