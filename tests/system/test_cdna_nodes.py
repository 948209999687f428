"""Several GPUs of CDNA with links between them: programs on all of them, what a link carries, and
the same bytes however it is run. The machine is a small mi300x_x8."""
import re

import pytest

from harness import PROGRAMS, same_bytes
from programs import only_full

SMALL = ("platforms/mi300x_x8.heddle --generic --max-cycles 20000000 --set gpus=3 --set xcds=2"
         " --set arrays=1 --set vram=1GiB")
COPY = 1 << 20  # bytes


@pytest.mark.parametrize("program", ["collectives.gfx942 ring 4096", "collectives.gfx942 tree 1024",
                                     "collectives.gfx942 halving 1024",
                                     *only_full("peers.gfx942")])
def test_programs_use_all_gpus(run, program):
    run(f"{SMALL} -- {PROGRAMS}/{program}", "PASS")


@pytest.mark.parametrize("access", ["push", "pull"])
def test_copy_is_as_fast_as_the_link_between_two(run, access):
    """64 GB/s; what leaves a GPU in a request carries its address and which bytes are meant, 32 of
    160 bytes, and the program waits for the copy."""
    out = run(f"{SMALL} -- {PROGRAMS}/peer_copies.gfx942 {COPY} {access}", "PASS").stdout
    least = COPY / 64
    time = float(re.search(r"copied in (\d+) ns", out)[1])
    assert least < time < least * 160 / 128 * 1.05 + 8000


@pytest.mark.full
def test_ways_to_run_change_no_byte(measure):
    same_bytes(measure, f"{SMALL} {{}} -- {PROGRAMS}/collectives.gfx942 ring 4096",
               ["--threads 2", "--tick-all --tick-order descending"])


def test_one_die_has_no_links(heddle):
    heddle("check platforms/mi300x_x8.heddle --set gpu[0].xcds=1", "several dies", status=1)
