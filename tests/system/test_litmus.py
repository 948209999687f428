"""Litmus tests of the memory model, by target, scope, memory and placement (tests/programs/
litmus.hip.cpp): no flag that is waited for stays away, and no value behind it is old.

Rows of one scope at one distance: 36 of message passing (six ways to release, six to acquire, with
plain data), six with data that is relaxed, non-temporal or volatile, four of relaxed flags alone.
`bits` has one for every combination of cache policy bits that has to arrive."""
import itertools

import pytest

from programs import only_full

ROWS = 46
CDNA = "--set gpu.arrays=2 --set gpu.channels=2 --set gpu.l2=32KiB --set gpu.vram=256MiB"
DIES = (f"{CDNA} --set gpu.xcds=3 --set gpu.io_dies=2 --set gpu.memory_channels=2"
        " --set gpu.infinity_cache=64KiB")
GCN3 = "--set gpu.arrays=2 --set gpu.banks=2 --set gpu.vram=256MiB"
L2_ALL = "--set arrays=2 --set gpu.banks=2 --set gpu.vram=256MiB"
# Name: platform and settings, program, rows of `bits` at one distance.
TARGETS = {
    "mi300a": (f"platforms/mi300a.heddle {DIES}", "litmus.gfx942", 20 + 72),
    "mi300x": (f"platforms/mi300x.heddle {DIES}", "litmus.gfx942", 20 + 72),
    "mi210": (f"platforms/mi210.heddle {CDNA}", "litmus", 10 + 20),
    "r9nano": (f"platforms/r9nano.heddle {GCN3}", "litmus", 10 + 20),
    "l2_all": (f"platforms/r9nano_x4_l2_all.heddle {L2_ALL}", "litmus", 10 + 20),
    "tiny": ("platforms/tiny.heddle", "litmus", 10 + 20),
}
SCOPES = ["wavefront", "workgroup", "agent", "system", "bits"]
MEMORIES = ["device", "host", "noncoherent", "managed", "finegrained"]
# Work-groups in neighbouring dies, two dies apart, and in one die of three; in compute units apart,
# and in one.
DISTANCES = "1 2 3"


def rows_pass(measure, target, memory, scope, distances=DISTANCES, options=""):
    platform, program, bits = TARGETS[target]
    done = measure(f"{platform} --generic --max-cycles 200000000 {options}"
                   f" -- {program} {memory} {scope} {distances}")
    rows = bits if scope == "bits" else ROWS
    assert f"{rows * len(distances.split())} rows, 0 of them wrong" in done.output


# Every target has one of its widest scopes, and every kind of L2 has both and one more.
QUICK_ROWS = [("mi300a", "agent"), ("mi300a", "system"), ("mi300a", "bits"),
              ("mi300x", "system"), ("mi210", "agent"), ("r9nano", "agent"),
              ("r9nano", "system"), ("r9nano", "wavefront"), ("l2_all", "agent"),
              ("l2_all", "system"), ("l2_all", "workgroup"), ("tiny", "agent")]


@pytest.mark.parametrize("target, scope", QUICK_ROWS + only_full(
    *(case for case in itertools.product(TARGETS, SCOPES) if case not in QUICK_ROWS)))
def test_every_row_of_a_scope_holds(measure, target, scope):
    rows_pass(measure, target, "device", scope)


@pytest.mark.parametrize("target, scope, memory", [
    ("mi300a", "system", "host"), ("mi300a", "system", "managed"),
    *only_full(*itertools.product(TARGETS, ("agent", "system"), MEMORIES[1:]))])
def test_every_kind_of_memory_does(measure, target, scope, memory):
    rows_pass(measure, target, memory, scope, "1 3")


@pytest.mark.parametrize("platform, program", [
    (f"platforms/r9nano_x4.heddle {GCN3}", "litmus"),
    ("platforms/mi300x_x8.heddle --set gpus=2 --set xcds=2 --set arrays=1 --set vram=1GiB",
     "litmus.gfx942")])
@pytest.mark.parametrize("memory", ["device", *only_full("host", "managed")])
def test_devices_see_each_other_at_system_scope(measure, platform, program, memory):
    done = measure(f"{platform} --generic --max-cycles 200000000"
                   f" -- {program} {memory} devices 1")
    assert f"{ROWS} rows, 0 of them wrong" in done.output


@pytest.mark.parametrize("options", ["--set gpu.l2=64KiB", *only_full(
    "--set gpu.xcds=6", "--set gpu.xcds=2 --set gpu.partitions=whole",
    "--set queues=true --set driver.launch_by=queue", "--threads 2")])
def test_other_dies_and_ways_of_launching_do(measure, options):
    rows_pass(measure, "mi300a", "device", "agent", "1 2 5", options)


@pytest.mark.parametrize("setting", [
    # Fences end above the L2 of a die; it keeps what it should pass on.
    "gpu.xcd.sa.l1v.acquire=here",
    *only_full("gpu.xcd.sa.l1v.release=system", "gpu.xcd.l2.atomics_at=here")])
def test_a_row_sees_what_is_wrong(run, setting):
    platform, program, _ = TARGETS["mi300a"]
    banks = " --set gpu.xcd.sa.l1v.banks_below=1" if "acquire" in setting else ""
    run(f"{platform} --generic --allow-incoherent --max-cycles 200000000 --set {setting}{banks}"
        f" -- {program} device agent 1", "FAIL litmus", status=1)
