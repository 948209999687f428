"""Cycles that an instruction keeps its SIMD on CDNA2 and CDNA3: LLVM 19 (SISchedule, models of
gfx90a and gfx940) has passes of four cycles, one for full rate, four for a quarter."""
import pytest

from harness import PROGRAMS
from programs import built

FULL = """f32_add f32_multiply f32_fma f32_pairs f16_pairs i32_add i32_multiply f64_add f64_multiply
    f64_fma f64_convert""".split()
QUARTER = """f32_convert f32_reciprocal f32_reciprocal_root f32_square_root f32_sine f32_cosine
    f32_exponential f32_logarithm f16_exponential f16_logarithm f16_reciprocal f16_sine
    f64_reciprocal f64_reciprocal_root f64_square_root""".split()


@pytest.mark.parametrize("machine, target", [("mi210", "gfx90a"), ("mi300x", "gfx942")])
def test_instructions_have_the_rates_of_their_target(run, machine, target):
    """Four wavefronts a SIMD run 256 of each; fetching those of eight bytes takes a tenth more."""
    done = run(f"platforms/{machine}.heddle --generic --set gpu.arrays=1 --"
               f" {built(PROGRAMS / f'cdna/micro/alu.{target}')}")
    found = dict(line.split() for line in done.stdout.splitlines() if "/4 " in line)
    wrong = {name: found[f"{name}/4"] for names, passes in ((FULL, 1), (QUARTER, 4))
             for name in names if not 1 <= float(found[f"{name}/4"]) / (4 * passes) < 1.12}
    assert not wrong
