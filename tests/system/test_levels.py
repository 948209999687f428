"""Latencies of the memory levels of CDNA lie in the intervals that were measured, or within 10 % of
them (docs/evidence/measured has the tables; the numbers here are cycles at 1700 and 2100 MHz)."""
import pytest

from harness import PROGRAMS
from programs import only_full

MACHINES = {"mi210": ("gfx90a", "gpu.arrays=2"), "mi300a": ("gfx942", "gpu.xcds=2 gpu.arrays=2"),
            "mi300x": ("gfx942", "gpu.xcds=2 gpu.arrays=2")}
SMALL_L2 = "gpu.l2=256KiB"  # Infinity Cache without a long walk through the L2
# Bytes, lines that are visited before, and what was measured, at least and at most.
VECTOR_L1 = "path=vector 8192 warm=64"
VECTOR_L2 = "path=vector 131072 warm=1024"
SCALAR_L2 = "path=scalar 131072 warm=1024"
VECTOR_MALL = "path=vector 1048576 warm=8192"
SCALAR_MALL = "path=scalar 1048576 warm=8192"
VECTOR_HBM = "path=vector 33554432"
VECTOR_FAR = "path=vector 1073741824"
SCALAR_FAR = "path=scalar 1073741824"
LEVELS = [
    ("mi210", VECTOR_L1, "", 124, 125), ("mi210", VECTOR_L2, "", 233, 302),
    ("mi210", VECTOR_HBM, "", 570, 580), ("mi210", VECTOR_FAR, "", 655, 670),
    ("mi300a", VECTOR_L1, "", 112, 112), ("mi300a", VECTOR_L2, "", 266, 266),
    ("mi300a", VECTOR_MALL, SMALL_L2, 492, 494), ("mi300a", VECTOR_FAR, "", 844, 866),
    *only_full(("mi210", SCALAR_L2, "", 175, 175), ("mi300a", SCALAR_L2, "", 175, 175),
               ("mi300x", VECTOR_L1, "", 116, 116), ("mi300x", VECTOR_L2, "", 288, 288),
               ("mi300x", SCALAR_L2, "", 172, 185), ("mi300x", SCALAR_MALL, SMALL_L2, 412, 418),
               ("mi300x", VECTOR_FAR, "", 876, 900), ("mi300x", SCALAR_FAR, "", 683, 710)),
]


@pytest.mark.parametrize("machine, arguments, sets, least, most", LEVELS)
def test_latency_is_as_measured(run, machine, arguments, sets, least, most):
    target, small = MACHINES[machine]
    path, size, *warm = arguments.split()
    options = " ".join(f"--set {s}" for s in (small + " " + sets).split())
    done = run(f"platforms/{machine}.heddle --generic {options} --"
               f" {PROGRAMS}/cdna/micro/levels.{target} {size} {path} hops=400 {' '.join(warm)}")
    cycles = float(done.stdout.split("levels")[1].split()[1])
    assert 0.9 * least <= cycles <= 1.1 * most
