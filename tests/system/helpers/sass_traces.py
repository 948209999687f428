"""Makes small SASS traces. A trace is a list of warps' lines, of which the caller knows how many
and which there are."""
import lzma
from pathlib import Path

FULL = "ffffffff"
CHAIN = f"{{pc:04x}} {FULL} 1 R4 FFMA 3 R4 R5 R6 0"
EXIT = f"fff0 {FULL} 0 EXIT 0 0"
END = f"{EXIT} 0 0 NoVal"  # of tracer version 6


def chain(length):
    return [CHAIN.format(pc=16 * i) for i in range(length)]


def load(pc, address, to=2, by=2, stride=4):
    """32 threads load into register `to`; the address is in register `by`."""
    return f"{pc:04x} {FULL} 1 R{to} LDG.E 1 R{by} 4 1 0x{address:x} {stride}"


def store(pc, address, stride=4):
    return f"{pc:04x} {FULL} 0 STG.E 2 R8 R4 4 1 0x{address:x} {stride}"


def copy(pc, shared, address, stride=4, width=4, step=None, name="LDGSTS.E"):
    """32 threads copy to shared memory (cp.async): the tracer writes a line for each address."""
    head = f"{pc:04x} {FULL} 0 {name} 2 R2 R4 {width}"
    return [f"{head} 1 0x{shared:x} {step or stride}", f"{head} 1 0x{address:x} {stride}"]


def commit(pc):
    return f"{pc:04x} {FULL} 0 LDGDEPBAR 0 0"


def wait(pc, most):
    return f"{pc:04x} {FULL} 0 DEPBAR.LE 0 0 {most}"


def bulk(pc, name, rows, width=128, barrier=0x400):
    """One thread copies rows at these addresses (Accel-Sim's tracer 2.0)."""
    head = f"{pc:04x} 00000001 0 {name} 2 UR8 UR14 {width} 0x{barrier:x} 0 {width * len(rows)} 0"
    steps = " ".join(str(b - a) for a, b in zip(rows, rows[1:]))
    return f"{head} 4 0x{rows[0]:x} {len(rows)} {steps}".rstrip() + " 0 0 NoVal"


def phase(pc, barrier=0x400):
    """Waits for a barrier in shared memory."""
    return f"{pc:04x} {FULL} 0 SYNCS.PHASECHK.TRANS64.TRYWAIT 2 R3 R7 8 1 0x{barrier:x} 0 0 0 NoVal"


def arrive(pc, barrier, kind="TRANS64.A1T0"):
    """Arrives at a barrier in shared memory; TRANS64 announces bytes."""
    return f"{pc:04x} 00000001 0 SYNCS.ARRIVE.{kind} 2 R3 R7 8 0 0x{barrier:x} 0 0 NoVal"


def product(pc, shape="64x256x16", closes=0):
    """A quarter of a product of four warps (wgmma); `closes`: the last of its group."""
    return f"{pc:04x} {FULL} 1 R24 HGMMA.{shape}.F32 3 R24 UR8 UR12 {int(closes)} 0 0 0 NoVal"


def hopper(pc, name, immediate=0):
    return f"{pc:04x} {FULL} 0 {name} 0 0 {immediate} 0 NoVal"


def header(name, blocks, threads, stream, shared, registers, symbol, version=86):
    return f"""-kernel name = {symbol or name.split('.')[0].replace('-', '_')}
-kernel id = 1
-grid dim = ({blocks},1,1)
-block dim = ({threads},1,1)
-shmem = {shared}
-nregs = {registers}
-binary version = {version}
-cuda stream id = {stream}
-shmem base_addr = 0x00007f0001000000
-local mem base_addr = 0x00007f0003000000
-nvbit version = 1.7
-accelsim tracer version = {6 if version >= 90 else 4}

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
              pack=False, symbol=None, version=86, cluster=1):
        """Writes a trace and returns its name. `lines`: of each warp, or a function of block and
        warp."""
        out = []
        for b in range(blocks):
            out += ["#BEGIN_TB", f"thread block = {b},0,0"]
            if cluster > 1:
                out += [f"cluster id = {b // cluster},0,0", f"cluster cta = {b % cluster},0,0",
                        f"cluster rank = {b % cluster}"]
            for w in range(warps):
                body = lines(b, w) if callable(lines) else lines
                out += [f"warp = {w}", f"insts = {len(body)}", *body]
            out.append("#END_TB")
        text = header(name, blocks, threads or 32 * warps, stream, shared, registers, symbol,
                      version)
        data = (text + "\n".join(out) + "\n").encode()
        (self.path / name).write_bytes(lzma.compress(data) if pack else data)
        return name

    def list(self, name, commands):
        """Writes a list of traces and returns its path."""
        (self.path / name).write_text("\n".join(commands) + "\n")
        return self.path / name
