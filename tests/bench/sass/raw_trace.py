#!/usr/bin/env python3
"""A raw SASS trace of any size, on standard output: raw_trace.py BYTES [BLOCKS_AT_ONCE].

At least BYTES of a kernel with as many thread blocks of 256 threads as that takes. Each warp loads
two lines of its own and gathers from a table of 2 MiB, computes and stores. The warps of
BLOCKS_AT_ONCE blocks (default 276, six on each of 46 SMs) are interleaved in another order at every
instruction, as a tracer sees them. The same arguments give the same bytes.
"""
import sys

WARPS = 8
FULL = "ffffffff"
TABLE, ARRAY, RESULT = 0x7F2000000000, 0x7F4000000000, 0x7F8000000000
GATHERS = 1024


def gather(number):
    """32 addresses in eight lines of the table."""
    return "".join(f" 0x{TABLE + (number * 977 + lane % 8 * 131) % 16384 * 128 + lane // 8 * 4:x}"
                   for lane in range(32))


def program(gathers):
    """Each instruction as a function of the number of the warp in the grid."""
    def plain(text):
        return lambda n: text
    steps = [plain(f"0000 {FULL} 1 R1 IMAD.MOV.U32 2 R255 R255 0 \n"),
             plain(f"0010 {FULL} 1 R6 S2R 0 0 \n"),
             plain(f"0020 {FULL} 1 R3 S2R 0 0 \n"), plain(f"0030 {FULL} 1 R6 IMAD 2 R6 R3 0 \n"),
             plain(f"0040 {FULL} 0 ISETP.GE.AND 1 R6 0 \n"),
             lambda n: f"0050 {FULL} 1 R8 LDG.E.SYS 1 R4 4 1 0x{ARRAY + 256 * n:x} 4 \n",
             lambda n: f"0060 {FULL} 1 R9 LDG.E.SYS 1 R4 4 1 0x{ARRAY + 256 * n + 128:x} 4 \n",
             lambda n: f"0070 {FULL} 1 R10 LDG.E.SYS 1 R8 4 0{gathers[n % GATHERS]} \n"]
    for i in range(12):
        steps.append(plain(f"{0x80 + 16 * i:04x} {FULL} 1 R{11 + i % 4} FFMA 3 R8 R9 "
                           f"R{10 + i % 4} 0 \n"))
    steps += [lambda n: f"0140 {FULL} 0 STG.E.SYS 2 R4 R11 4 1 0x{RESULT + 128 * n:x} 4 \n",
              plain(f"0150 {FULL} 0 EXIT 0 0 \n")]
    return steps


def wave(first, count, steps, write):
    """The blocks `first` .. first + count - 1, side by side."""
    warps = [(f"{block} 0 0 {warp} ", block * WARPS + warp)
             for block in range(first, first + count) for warp in range(WARPS)]
    for number, step in enumerate(steps):
        turn = (first * 31 + number * 7919) % len(warps)
        write("".join([front + step(n) for front, n in warps[turn:] + warps[:turn]]))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    size, at_once = int(float(sys.argv[1])), int(sys.argv[2]) if len(sys.argv) > 2 else 276
    steps, parts = program([gather(i) for i in range(GATHERS)]), []
    wave(0, 1, steps, parts.append)
    blocks = -(-size // len("".join(parts)))  # the first block has the shortest numbers
    out = sys.stdout
    out.write(f"-kernel name = _Z6gatherPfS_i\n-kernel id = 1\n-grid dim = ({blocks},1,1)\n"
              f"-block dim = ({32 * WARPS},1,1)\n"
              "-shmem = 0\n-nregs = 24\n-binary version = 86\n-cuda stream id = 0\n"
              "-shmem base_addr = 0x00007fc867000000\n"
              "-local mem base_addr = 0x00007fc865000000\n-nvbit version = 1.5.3\n"
              "-accelsim tracer version = 3\n\n"
              "#traces format = threadblock_x threadblock_y threadblock_z warpid_tb PC mask "
              "dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
              "[mem_addresses]\n\n")
    for first in range(0, blocks, at_once):
        wave(first, min(at_once, blocks - first), steps, out.write)


main()
