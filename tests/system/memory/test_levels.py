"""Latencies of the memory levels of CDNA lie in the intervals that were measured, or within 10 % of
them (docs/evidence/measured has the tables; the numbers here are cycles at 1700 and 2100 MHz).
Those of MGPUSim's machine are that simulator's, and those of memories differ by what they are."""
import json
import re

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


def latencies(run, options):
    told = run(f"{options} --generic -- micro/latency").stdout
    return {name: float(cycles) for name, cycles in re.findall(r"^(\w+) ([\d.]+)$", told, re.M)}


def test_mgpusims_machine_has_the_latencies_of_that_simulator(run):
    """As its settings make them: the caches' own cycles, the memory's, and the ways there."""
    told = latencies(run, "platforms/r9nano_mgpusim.heddle")
    assert told == {"vector_l1": 32, "vector_l2": 60, "vector_dram": 160, "vector_tlb": 76,
                    "scalar_l1": 12, "scalar_l2": 40, "lds": 16.0312}


def test_mgpusims_machine_dispatches_as_it_was_calibrated_to(measure):
    """An empty kernel: 2,870 to 2,920 cycles, and 4 for each further work-group of a wavefront,
    1.03 N + 0.02 for one of N = 8 (docs/evidence/dispatching.md)."""
    done = measure("platforms/r9nano_mgpusim.heddle --generic --kernel-stats none --"
                   " micro/dispatch 1:1 1:512 1:1024 8:1 8:512 8:1024")
    cycles = [kernel["cycles"] for kernel in done.stats["kernels"][1:]]
    for (one, half, whole), slope in (cycles[:3], 4), (cycles[3:], 8.26):
        assert 2870 <= one <= 2920
        assert abs((whole - half) / 512 - slope) < 0.02 * slope


def test_ddr4_and_hbm_differ_by_their_published_times_alone(run, heddle):
    """They have one controller time, of one source. A closed row takes tRCD, tCL and the burst,
    which are within a nanosecond of each other; so is what a program sees."""
    controllers, times, cycles = [], [], []
    for memory in "gpu.memory=hbm", "gpu.ddr4=true":
        file = f"platforms/tiny.heddle --set {memory}"
        rows = {row["parameter"].rpartition(".")[2]: row
                for row in json.loads(heddle(f"params {file} --json").stdout)
                if ".timing." in row["parameter"]}
        controllers.append([rows["controller"][key] for key in ("value", "basis", "said_by")])
        times.append(sum(nanoseconds(rows[t]["value"]) for t in ("trcd_read", "tcl", "tburst")))
        cycles.append(latencies(run, file)["vector_dram"])
    assert controllers[0] == controllers[1]
    assert abs((cycles[1] - cycles[0]) - (times[1] - times[0])) < 2
    assert abs(cycles[1] - cycles[0]) < 2


def nanoseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(ps|ns)", text).groups()
    return float(number) / (1000 if unit == "ps" else 1)
