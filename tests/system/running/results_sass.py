"""SASS traces whose counts are in results.txt."""
from sass_traces import EXIT, FULL, Folder, load, store


def every_kind(block, warp):
    """Every kind of instruction once: loads, stores, a barrier, shared and local memory, an atomic,
    a fence."""
    base = 0x7F0100000000 + 4096 * (block * 8 + warp)
    return [load(0, base, 2, 8), load(0x10, base + 512, 3, 8),
            f"0020 {FULL} 1 R4 FFMA 3 R2 R3 R4 0", store(0x30, base),
            f"0040 {FULL} 0 BAR.SYNC.DEFER_BLOCKING 0 0",
            f"0050 {FULL} 1 R5 LDS 1 R2 4 1 0x{4 * warp:x} 128",
            f"0060 {FULL} 0 RED.E.ADD.STRONG.GPU 2 R8 R5 4 1 0x7f0200000000 0",
            f"0070 {FULL} 0 MEMBAR.SC.GPU 0 0", f"0080 {FULL} 0 STL 2 R1 R4 4 1 0x7f0003fffd00 0",
            f"0090 {FULL} 1 R6 LDL 1 R1 4 1 0x7f0003fffd00 0", EXIT]


def walk(first, stored):
    """Each warp loads six lines of its own, one after another, and stores one behind them."""
    def body(block, warp):
        own = 0x7F0100000000 + 128 * (first + (block * 4 + warp) * 6)
        lines = [load(16 * i, own + 128 * i) for i in range(6)]
        lines += [f"{0x200 + 16 * i:04x} {FULL} 1 R4 FFMA 3 R4 R2 R6 0" for i in range(10)]
        return lines + [store(0x320, 0x7F0100000000 + 128 * (stored + block * 4 + warp)), EXIT]
    return body


def make(path):
    """Writes the lists loads.g and walks.g, and their traces."""
    folder = Folder(path)
    folder.list("loads.g", [
        "MemcpyHtoD,0x00007f0100000000,8192", folder.trace("kernel-1.traceg", 40, 8, every_kind),
        folder.trace("kernel-2.traceg", 40, 8, every_kind, stream=3),
        folder.trace("kernel-3.traceg.xz", 40, 8, every_kind, stream=3, pack=True)])
    folder.list("walks.g", [
        folder.trace(f"kernel-w{i}.traceg", 20, 4, walk(480 * (i % 2), 2000 + 1000 * i),
                     symbol=("odd", "even")[i % 2]) for i in range(6)])
