"""Several GPUs of CDNA with links between them: programs on all of them, what a link carries, and
the same bytes however it is run. The machine is a small mi300x_x8."""
import json
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


# Two GPUs of one die each.
PAIR = ("platforms/mi210_x2.heddle --generic --max-cycles 20000000 --set arrays=2"
        " --set channels=4 --set l2=256KiB --set vram=1GiB")
DIES = PAIR.replace("mi210_x2", "mi250x")


@pytest.mark.parametrize("program", ["peers 256", "collectives ring 1024",
                                     *only_full("collectives tree 1024", "litmus host system 1",
                                                "each_gpu 8 8 3")])
def test_gpus_of_one_die_reach_each_other(run, program):
    run(f"{PAIR} -- {program}")


def test_dies_of_a_package_reach_each_other_over_its_links(run):
    """Twice as fast by links of twice the rate."""
    times = [float(re.search(r"copied in (\d+) ns", run(
        f"{DIES} --set package.bandwidth={rate}GB/s -- peer_copies {COPY} push").stdout)[1])
        for rate in (25, 50)]
    assert COPY / 50 < times[1] < 0.6 * times[0]


@pytest.mark.parametrize("access", ["push", "pull"])
def test_copy_is_as_fast_as_the_bridge(run, access):
    out = run(f"{PAIR} --set bridge.bandwidth=50GB/s -- peer_copies {COPY} {access}").stdout
    least = COPY / 50
    assert least < float(re.search(r"copied in (\d+) ns", out)[1]) < least * 160 / 128 * 1.05 + 8000


@pytest.mark.full
def test_ways_to_run_a_pair_change_no_byte(measure):
    same_bytes(measure, f"{PAIR} {{}} -- peers 256",
               ["--threads 2", "--tick-all --tick-order descending"])


WALKS = """import "std/cdna";  import "std/gcn3";  import "std/driver";  import "std/mmu";
link pcie {{ bandwidth = 32GB/s; latency = 140ns; }}
platform walks {{
    clock core = 1700MHz;
    clock slow = 900MHz;
    driver : driver on core;
    mmu    : mmu on {clock};
    gpu    : cdna_gpu on core {{
        xcds = 1;  arrays = 1;  channels = 4;  l2 = 256KiB;  vram = 1GiB;  isa = gfx90a;
    }};
    old    : gcn3_gpu on core {{ arrays = 1; banks = 2; l2 = 256KiB; vram = 1GiB; isa = gfx803; }};
    driver.gpu[*] -> gpu.host, old.host via pcie;
    gpu.walks[*], old.walks[*] -> mmu.top[*]{how};
    map gpu.local;
    map old.local;
}}
"""


@pytest.mark.parametrize("clock, how, latency", [
    ("core", "", (19, 1)), ("core", " latency 4cy", (4, 4)), ("core", " via pcie", (0, 0)),
    ("slow", " via pcie", (0, 0))])
def test_page_walks_leave_gpus_of_both_kinds_alike(heddle, tmp_path, clock, how, latency):
    """The wires inside of a compute die are those of a connection that says nothing."""
    path = tmp_path / "walks.heddle"
    path.write_text(WALKS.format(clock=clock, how=how))
    heddle(f"check {path}", "no errors")
    model = json.loads(heddle(f"dump {path} --json").stdout)
    found = [c for c in model["connections"] if c["to"].startswith("mmu.top")]
    assert [c.get("latency_cy", 0) for c in found] == list(latency)
    assert [bool(c.get("link")) for c in found] == [how == " via pcie"] * 2


def test_walks_to_another_clock_need_a_link(heddle, tmp_path):
    """It says so where the platform connects, not inside of the library."""
    path = tmp_path / "walks.heddle"
    path.write_text(WALKS.format(clock="slow", how=""))
    heddle(f"check {path}", r"walks.heddle:13:5: error: .* no link is between them \[E0412\]",
           status=1)
