"""Traces of asynchronous copies and products, with bounds of their cycles that follow from the
platform's parameters. Run with the path of heddle, it prints the table of docs/evidence/nvidia.md.

    python3 tests/system/helpers/sass_bounds.py build/codegen/heddle
"""
import json
import subprocess
import sys
import tempfile

import sass_traces as t

G = 0x7F0100000000
# Way to GDDR6 and back of rtx3070: 2 * (3 + 4) wires, 187 the L2, 254 the controller, tRCD and tCL;
# at most a refresh, the L1, and what the SM adds come on top.
NEAREST, FURTHEST = 2 * (3 + 4) + 187 + 254 + 15, 200
# Cycles of the SM's port for a line: 4 sectors of 32 bytes, each with a header of 8, 40 a cycle.
LINE = 4


def copies(rounds, most):
    lines = []
    for i in range(rounds):
        lines += t.copy(0x100 * i, 0x1000 + 512 * i, G + 4096 * i)
        lines += [t.commit(0x100 * i + 0x20), t.wait(0x100 * i + 0x30, most)]
    return lines + [t.EXIT]


def conflicts(count, step):
    lines = []
    for i in range(count):
        lines += t.copy(0x20 * i, 0x1000, G + 128 * i, step=step)
    return lines + [t.commit(0x4000), t.wait(0x4010, 0), t.EXIT]


def rows(tile, count=64):
    return [G + 0x200000 * tile + 4096 * i for i in range(count)]


def loads(tiles):
    return [t.bulk(0x10 * i, "UTMALDG.2D", rows(i)) for i in range(tiles)] + \
        [t.phase(0x5000), t.END]


def stores(tiles):
    return [t.bulk(0x10 * i, "UTMASTG.2D", rows(i)) for i in range(tiles)] + \
        [t.hopper(0x5000, "UTMACMDFLUSH"), t.hopper(0x5010, "DEPBAR.LE"), t.END]


def products(count, shape="64x256x16", beside=0):
    return [t.hopper(0, "WARPGROUP.ARRIVE")] + \
        [t.product(0x10 + 0x10 * i, shape, closes=i == count - 1) for i in range(count)] + \
        [line + " 0 0 NoVal" for line in t.chain(beside)] + \
        [t.hopper(0x800, "WARPGROUP.DEPBAR.LE"), t.END]


def pipeline(tiles, stages, again=1):
    """Warps 0 to 3 multiply what warp 4 copies, in `stages` places of shared memory, each with a
    barrier for data and one for room. `again`: how often each wait is tried."""
    def body(block, warp):
        lines = []
        for i in range(tiles):
            data, room = 0x400 + 16 * (i % stages), 0x408 + 16 * (i % stages)
            if warp == 4:
                lines += [t.phase(0, room)] * again + [
                    t.arrive(0x10, data, "TRANS64"),
                    t.bulk(0x20, "UTMALDG.2D", rows(i), barrier=data)]
            else:
                lines += [t.phase(0x100, data)] * again + [
                    t.hopper(0x110, "WARPGROUP.ARRIVE"), t.product(0x120, closes=1),
                    t.hopper(0x130, "WARPGROUP.DEPBAR.LE"), t.arrive(0x140, room)]
        return lines + [t.END]
    return body


AMPERE, HOPPER = {"version": 86, "shared": 16384}, {"version": 90, "shared": 16384}
# What it is, lines, warps, least and most cycles, header.
CASES = [
    ("cp.async: 8 rounds of a copy and a wait for it", copies(8, 0), 1,
     8 * NEAREST, 8 * (NEAREST + FURTHEST), AMPERE),
    ("cp.async: 8 rounds, a wait for all but the last", copies(8, 1), 1,
     4 * NEAREST, 4 * (NEAREST + FURTHEST), AMPERE),
    ("cp.async: 32 copies, each in one bank", conflicts(32, 128), 1,
     32 * 32 + NEAREST, 32 * 32 + NEAREST + FURTHEST, AMPERE),
    ("cp.async: 32 copies, each in 32 banks", conflicts(32, 4), 1,
     32 + NEAREST, 32 * LINE + NEAREST + FURTHEST, AMPERE),
    ("TMA: a load of 64 rows of 128 B", loads(1), 1,
     64 * LINE + NEAREST, 64 * LINE + NEAREST + FURTHEST, HOPPER),
    ("TMA: 16 loads of 64 rows", loads(16), 1,
     16 * 64 * LINE, 16 * 64 * LINE + NEAREST + FURTHEST, HOPPER),
    ("TMA: 4 stores of 64 rows", stores(4), 1,
     4 * 64 * LINE + 187, 4 * 64 * LINE + NEAREST + FURTHEST, HOPPER),
    ("HGMMA: 16 of 64x256x16", products(16), 4, 16 * 128, 16 * 128 + 40, HOPPER),
    ("HGMMA: 16 of 64x64x16", products(16, "64x64x16"), 4, 16 * 32, 16 * 32 + 40, HOPPER),
    ("HGMMA: 16 of 64x8x16, A and B in shared memory", products(16, "64x8x16"), 4, 16 * (16 + 4),
     16 * (16 + 4) + 40, HOPPER),
    ("HGMMA: 2 of 64x256x16 beside 50 FFMA", products(2, beside=50), 4, 50 * 8, 50 * 8 + 40,
     HOPPER),
    ("TMA and HGMMA: 8 tiles, one place", pipeline(8, 1), 5, 8 * (64 * LINE + NEAREST + 128),
     8 * (64 * LINE + NEAREST + FURTHEST + 128), HOPPER),
    ("TMA and HGMMA: 32 tiles, 4 places", pipeline(32, 4), 5, 32 * 64 * LINE + NEAREST + 128,
     32 * 64 * LINE + 8 * (NEAREST + FURTHEST + 128), HOPPER),
]


def play(heddle, folder, case, extra=""):
    """The kernel's record in the statistics, and what the run said."""
    _, lines, warps, _, _, head = case
    path = folder.list("list.g", [folder.trace("kernel-1.traceg", 1, warps, lines, registers=128,
                                               **head)])
    command = f"{heddle} run platforms/rtx3070.heddle --generic --no-cache --set sms=1 " \
              f"--set player.launch_latency=0cy --play sass={path} --stats {folder / 's.json'}"
    done = subprocess.run(f"{command} {extra}".split(), check=True, capture_output=True, text=True)
    return json.loads((folder / "s.json").read_text())["kernels"][0], done.stderr


def main():
    print("| trace | at least | cycles | at most |\n| --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            cycles = play(sys.argv[1], t.Folder(folder), case)[0]["cycles"]
            print(f"| {case[0]} | {case[3]} | {cycles} | {case[4]} |")


if __name__ == "__main__":
    main()
