"""The compute unit of CDNA beside micro-benchmarks of MI300X: cycles of 2100 MHz from a number of
iterations to a larger one, so that what a launch costs does not count. The machine is a small
mi300x; docs/evidence/measured has the rows."""
import re

import pytest

from harness import PROGRAMS
from programs import built, only_full

SMALL = ("platforms/mi300x.heddle --generic --max-cycles 20000000 --set gpu.xcds=2"
         " --set gpu.arrays=1 --set gpu.io_dies=2 --set gpu.memory_channels=2 --set gpu.channels=4"
         " --set gpu.l2=64KiB --set gpu.infinity_cache=1MiB --set gpu.vram=256MiB")
ALONE, FOUR = "threads_per_block=64", "threads_per_block=1024"  # wavefronts a SIMD
CONFLICT, FREE = "access_pattern=conflict;num_blocks=", "access_pattern=no_conflict;num_blocks="

# Program, its fixed parameters, iterations, measured cycles an iteration, how far off (of 1).
ROWS = [
    ("fp32_throughput", ALONE, 1024, 36 / 4, 0.02),
    ("fp32_throughput", FOUR, 512, 48.1 / 4, 0.02),
    ("shared_mem_latency", CONFLICT + "1;block_size=256", 1, 24580, 0.02),
    ("shared_mem_bandwidth", FREE + "4;block_size=1024", 16, 395, 0.03),
    ("shared_mem_latency", FREE + "1;block_size=64", 1, 19508, 0.04),
    *only_full(
        ("fp64_throughput", ALONE, 512, 56 / 4, 0.08),
        ("fp64_throughput", FOUR, 512, 86.4 / 4, 0.04),
        ("int32_throughput", ALONE, 512, 68 / 4, 0.07),
        ("int32_throughput", FOUR, 512, 102.1 / 4, 0.07),
        ("shared_mem_latency", CONFLICT + "1;block_size=32", 1, 51573, 0.10),
        ("shared_mem_latency", CONFLICT + "1;block_size=64", 1, 36968, 0.10),
        ("shared_mem_bandwidth", FREE + "4;block_size=64", 16, 141.4, 0.10),
        ("warp_shuffle", "threads_per_block=256", 256, 240, 0.05))
]


@pytest.mark.parametrize("program, fixed, iterations, measured, tolerance", ROWS)
def test_micro_benchmark_takes_the_cycles_that_were_measured(run, program, fixed, iterations,
                                                             measured, tolerance):
    def cycles(count):
        file = built(PROGRAMS / f"cdna/micro/{program}.gfx942")
        out = run(f"{SMALL} -- {file} {count} '{fixed}' --check").output
        return float(re.search(rf"^{program} {count} ([0-9.]+)$", out, re.M)[1]) * 2.1e6

    found = (cycles(3 * iterations) - cycles(iterations)) / (2 * iterations)
    assert abs(found / measured - 1) <= tolerance, f"{found:.1f} cycles, not {measured:.1f}"


@pytest.mark.parametrize("target, values", [
    ("gfx803", "4 16 16 16 32 64 64"), ("gfx900", "4 16 16 16 32 64 64"),
    ("gfx906", "4 16 16 16 8 8 16"), ("gfx908", "4 16 16 16 8 8 16"),
    ("gfx90a", "16 4 16 16 4 4 16"), ("gfx942", "16 4 16 16 4 4 16")])
def test_rates_follow_the_target(heddle, target, values):
    names = ("conversion", "integer_multiply", "quarter_rate", "transcendental", "f64_add",
             "f64_multiply", "f64_transcendental")
    out = heddle(f"params platforms/tiny.heddle --set gpu.isa={target}").output
    for name, value in zip(names, values.split()):
        assert re.search(rf"\.{name} .*\b{value}cy", out), name
