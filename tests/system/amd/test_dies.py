"""GPUs of several compute dies: where work-groups run, what dies see of each other, and that they
count the same however they are run. The machine is a small mi300x."""
import pytest

from harness import FAILS, PROGRAMS, same_bytes

SMALL = ("platforms/mi300x.heddle --max-cycles 20000000 --set gpu.xcds={} --set gpu.arrays=1"
         " --set gpu.io_dies=2 --set gpu.memory_channels=2 --set gpu.channels=4 --set gpu.l2=64KiB"
         " --set gpu.infinity_cache=1MiB --set gpu.vram=256MiB")
THREE = SMALL.format(3)
QUEUES = "--set queues=true --set driver.launch_by=queue"
DIES = PROGRAMS / "dies.gfx942"


@pytest.mark.parametrize("options", ["", QUEUES])
@pytest.mark.parametrize("what", ["place", "kernels"])
def test_dies_take_work_groups_in_turn(run, options, what):
    run(f"{THREE} --generic {options} -- {DIES} 3 {what}")


@pytest.mark.parametrize("what", ["right", "released", "acquired", "atomics"])
def test_dies_see_what_others_wrote_behind_release_and_acquire(run, what):
    """Old values come where one is missing, so each has its work."""
    run(f"{THREE} --generic -- {DIES} 3 {what}")


def test_kernels_acquire_what_kernels_on_other_dies_wrote(run):
    run(f"{THREE} --generic --set driver.acquire=none -- {DIES} 3 kernels", "expected", status=1)


@pytest.mark.parametrize("without", [
    "xcd.cp.dies=one", "xcd.l2.atomics_at=here", "xcd.sa.cu.scope=agent", "xcd.l2.scope=system",
    "xcd.sa.l1v.release=system", "xcd.sa.l1v.scope=system",
    "xcd.sa.l1v.acquire=here --set gpu.xcd.sa.l1v.banks_below=1"])
def test_machine_whose_dies_do_not_see_each_other_is_refused(heddle, without):
    heddle(f"check {THREE.replace('--max-cycles 20000000', '')} --set gpu.{without}", "E0507",
           r"gpu\.xcd\[[012]\]", status=1)


def test_one_die_needs_no_fences_of_its_l2(run):
    """Releases and acquires of agent scope end at its first level."""
    platform = ("platforms/mi210.heddle --generic --set gpu.arrays=1 --set gpu.channels=4"
                " --set gpu.l2=64KiB --set gpu.vram=256MiB")
    run(f"{platform} -- scratch")


def test_launch_on_several_dies_is_one_record(measure):
    """Work-groups, slots and occupancy are those of all dies; every slot-cycle is counted once."""
    done = measure(f"{THREE} --generic -- {DIES} 3 place")
    kernel, = done.stats["kernels"]
    assert kernel["work_groups"] == 105
    occupancy = kernel["occupancy"]
    assert occupancy["compute_units"] == occupancy["achieved"]["units_used"] == 6
    assert kernel["slots"] == 6 * 4 * 8
    cycles = sum(sum(group.values()) for group in kernel["slot_cycles"].values())
    assert cycles == kernel["slots"] * kernel["cycles"]
    assert done.components["gpu.dealer"]["kernels"] == 1
    assert [done.components[f"gpu.xcd[{i}].cp"]["kernels"] for i in range(3)] == [1, 1, 1]
    assert done.total(r"gpu\.xcd\[1\].*cu", "work_groups") == 35


def test_slots_of_dies_that_have_ended_are_empty_behind_the_work(measure):
    """Of one work-group two dies have nothing, and they wait for its end, not for its begin."""
    done = measure(f"{THREE} --generic -- {PROGRAMS / 'cdna/vectoradd.gfx942'} 64 --check")
    kernel = done.stats["kernels"][0]
    assert kernel["work_groups"] == 1 and "slots_end" not in kernel
    empty = kernel["slot_cycles"]["empty"]
    assert empty["draining"] > 2 / 3 * kernel["slots"] * kernel["cycles"] > 10 * empty["launch"] > 0


def test_launch_on_several_dies_is_one_in_a_trace(run, tmp_path):
    """What each die does of it is no launch of its own."""
    run(f"{THREE} --generic --record perfetto={tmp_path}/trace --record-kernel 9"
        f" -- {DIES} 3 kernels", "was to show launch 9 of 5$", status=FAILS)


def test_dies_count_the_same_however_they_are_run(measure):
    reference = same_bytes(measure, f"{THREE} --generic {{}} -- {DIES} 3 kernels",
                           ["--threads 2", "--threads 4", "--tick-order=descending",
                            "--tick-order=random:4 --tick-all"])
    assert reference.total(r"gpu\.xcd.*l2", "writebacks") > 0


@pytest.mark.full
@pytest.mark.parametrize("platform, target", [("mi210", "gfx9"), ("mi300a", "gfx942"),
                                              ("mi300x", "gfx942")])
@pytest.mark.parametrize("mode", ["", "--mode functional", QUEUES, "--threads 2"])
def test_programs_pass_on_whole_machines(run, platform, target, mode):
    for program in "matrix", "scratch", "shuffles":
        run(f"platforms/{platform}.heddle {mode} -- {PROGRAMS}/{program}.{target}")
