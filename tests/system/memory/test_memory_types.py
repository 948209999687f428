"""What an L2 keeps of each type of memory: hipMalloc, hipExtMallocWithFlags, hipMallocManaged.

An array of 512 lines of 128 bytes is read, written or added to by one launch after the other. What
launches more ask of memory has a closed form: nothing, or all lines again. A vector L1 of gfx90a
writes halves of a line; some halves of reads do not meet on their way."""
import pytest

from harness import PROGRAMS
from programs import built

LINES = 512
SMALL = {"mi210": ("gfx90a", "--set gpu.arrays=2"),
         "mi300a": ("gfx942", "--set gpu.xcds=2 --set gpu.arrays=2")}


def asked(measure, machine, memory, access, launches):
    """Reads, writes and atomics of the GPU's memory."""
    target, small = SMALL[machine]
    program = built(PROGRAMS / "cdna/micro" / f"memory_types.{target}")
    stats = measure(f"platforms/{machine}.heddle --generic {small} -- {program} {LINES // 8}"
                    f" memory={memory} access={access} launches={launches} --iterations 1"
                    " --check").stats
    memories = [values for path, values in stats["components"].items() if ".hbm[" in path]
    return [sum(values.get(name, 0) for values in memories)
            for name in ("reads", "writes", "atomics")]


@pytest.mark.parametrize("machine, memory, access, lines", [
    ("mi210", "coarse", "read", [0, 0, 0]),
    ("mi210", "coarse", "write", [0, 0, 0]),
    ("mi210", "fine", "read", [0, 0, 0]),
    ("mi210", "fine", "write", [0, 2 * LINES, 0]),
    ("mi210", "managed", "write", [0, 2 * LINES, 0]),
    ("mi210", "fine", "add", [0, 0, 2 * LINES]),
    ("mi210", "uncached", "read", [LINES, 0, 0]),
    ("mi210", "uncached", "write", [0, 2 * LINES, 0]),
    ("mi300a", "fine", "read", [0, 0, 0]),
    ("mi300a", "uncached", "read", [LINES, 0, 0]),
])
def test_launches_ask_memory_for_what_the_l2_does_not_keep(measure, machine, memory, access,
                                                           lines):
    """The program runs them once before, to warm up."""
    one, three = (asked(measure, machine, memory, access, launches) for launches in (1, 3))
    assert [(b - a) / 4 for a, b in zip(one, three)] == pytest.approx(lines, rel=0.03)
