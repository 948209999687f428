"""Products of four warps (wgmma): all layouts of both operands in shared memory and registers, by
the manual's drawings and a product in plain C; their time, and recordings of them."""
import shutil

import pytest

from harness import HEDDLE, call, of_gpu
from programs import only_full
import wgmma_program

SMALL = "platforms/h100.heddle --generic --set sms=2 --set channels=2"
# columns, kind, bytes of the swizzles of A and B, A and B by columns, A in registers, sign
CASES = [(8, "f16", 0, 0, 0, 0, 0, 1), (64, "f16", 128, 64, 0, 0, 0, 1),
         (16, "bf16", 32, 0, 0, 0, 0, -1), (256, "f16", 32, 128, 0, 0, 1, 1),
         (24, "half", 128, 64, 0, 0, 0, 1), (16, "f16", 0, 0, 1, 1, 0, 1),
         (128, "bf16", 128, 64, 1, 1, 0, 1)]
LARGE = 3  # the case of m64n256k16
ALL = [(n, kind, a, b, across, across, held, 1)
       for n in range(8, 257, 8) for kind, a, b in (("f16", 128, 64), ("bf16", 32, 0))
       for across in (0, 1) for held in ((0, 1) if n % 64 == 0 and not across else (n // 8 % 2,))
       if not (across and held)]
ALL += [(32, "tf32", 128, 0, 0, 0, 0, 1), (40, "e4m3", 0, 128, 0, 0, 1, -1),
        (16, "s8", 128, 128, 0, 0, 0, 1), (96, "half", 64, 32, 1, 0, 0, -1),
        (64, "f16", 64, 32, 1, 1, 0, -1), (32, "f16", 128, 64, 0, 1, 1, 1)]
pytestmark = pytest.mark.skipif(not shutil.which("clang++-19"), reason="clang-19 is missing")


def compiled(folder, cases):
    (folder / "products.cu").write_text(wgmma_program.source(cases))
    call([HEDDLE, "cuda-cc", "-arch=sm_90a", folder / "products.cu", "-o", folder / "products"])
    return folder / "products"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("wgmma"), CASES)


def test_products_are_those_of_plain_c(run, program):
    run(f"{SMALL} --mode functional -- {program} 2", "^PASS")


@pytest.mark.parametrize("first", only_full(*range(0, len(ALL), 12)))
def test_products_of_all_shapes_are_those_of_plain_c(run, tmp_path, first):
    run(f"{SMALL} --mode functional -- {compiled(tmp_path, ALL[first:first + 12])}", "^PASS")


def test_products_take_the_time_of_their_columns(measure, program, tmp_path):
    """128 cycles each with 256 columns: 16 more, and as recorded."""
    cycles = []
    for times in (8, 24):
        traces = tmp_path / f"traces{times}"
        told = measure(f"{SMALL} --record instructions={traces} -- {program} {times} {LARGE}",
                       "^PASS")
        played = measure(f"{SMALL} --play sass={traces}/kernelslist.g")
        assert of_gpu(told.stats) == of_gpu(played.stats)
        cycles.append(told.stats["kernels"][0]["cycles"])
    assert 16 * 128 - 100 < cycles[1] - cycles[0] < 16 * 128 + 100
