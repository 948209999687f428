"""Asynchronous copies of CUDA programs take time, and what waits for them waits: bounds that follow
from the platform's parameters, played as executed, in any order of ticks."""
import shutil

import pytest

from harness import HEDDLE, ORDERS, ROOT, call, of_gpu, same, same_bytes
from programs import only_full

SMALL = "platforms/h100.heddle --generic --set sms=1 --set channels=2"
WAYS = ["bulk", "mbarrier", "groups", "all"]
# Way to HBM3 of h100 and back: 2 * 3 cycles of wires, 237 the L2, 98 ns at 1980 MHz the controller.
NEAREST = 2 * 3 + 237 + 194
# The DRAM's rows, copies by lanes, barriers, and 64 FFMA of 4 cycles on what has come.
FURTHEST = 500 + 64 * 4
pytestmark = pytest.mark.skipif(not shutil.which("clang++-19"), reason="clang-19 is missing")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("stages") / "copy_stages"
    call([HEDDLE, "cuda-cc", "-arch=sm_90", ROOT / "tests/programs/cuda/copy_stages.cu",
          "-o", made])
    return made


def cycles(measure, program, *words):
    done = measure(f"{SMALL} -- {program} {' '.join(map(str, words))}", "^PASS")
    return done.stats["kernels"][0]["cycles"]


@pytest.mark.parametrize("way", range(len(WAYS)), ids=WAYS)
def test_wait_lasts_until_the_data_has_come(measure, program, way):
    """One stage: each piece takes the way to memory and back. More stages hide it, but for waits
    for all copies."""
    alone = cycles(measure, program, way, 1, 12)
    assert 8 * NEAREST < alone - cycles(measure, program, way, 1, 4) < 8 * (NEAREST + FURTHEST)
    staged = cycles(measure, program, way, 3, 12)
    assert staged > 12 * 64 * 4
    assert (staged < 0.8 * alone) == (WAYS[way] != "all")


@pytest.mark.parametrize("way", range(len(WAYS)), ids=WAYS)
def test_recording_is_played_as_the_program_ran(measure, program, tmp_path, way):
    told = measure(f"{SMALL} --record instructions={tmp_path}/traces -- {program} {way} 2 4")
    played = measure(f"{SMALL} --play sass={tmp_path}/traces/kernelslist.g")
    assert of_gpu(told.stats) == of_gpu(played.stats)
    same(played, measure(f"{SMALL} --play sass={tmp_path}/traces/kernelslist.g"))  # no stale copy
    call([HEDDLE, "trace", "check", tmp_path / "traces/kernel-1.traceg"], "0 errors, 0 warnings")


@pytest.mark.parametrize("way", [0, *only_full(1, 2)])
def test_order_of_ticks_changes_nothing(measure, program, way):
    same_bytes(measure, f"{SMALL.replace('sms=1', 'sms=2')} {{}} -- {program} {way} 2 4",
               [*ORDERS, "--threads=2"])
