"""Work-groups that meet in a kernel: grid sync and the global wave sync behind it. That the program
passes is tested with all others (test_programs.py), several dies in test_cdna_programs.py."""
import pytest

from programs import only_full

TINY = "platforms/tiny.heddle"


@pytest.mark.parametrize("mode", ["functional", "timing"])
def test_only_cooperative_launches_may_meet(run, mode):
    run(f"{TINY} --mode {mode} -- grid_sync plain",
        "its work-groups meet .grid sync.: launch it with hipLaunchCooperativeKernel .kernel 'sums",
        status=3)


def test_those_that_wait_for_ever_are_named(run):
    run(f"{TINY} --mode functional -- grid_sync short", "^FAIL", "kernel 'meet.int., int..': waits",
        "barrier 5 of the global wave sync .ds_gws_barrier. expects 1 more",
        "work-group .0,0,0., wavefront 0", status=3)
    run(f"{TINY} -- grid_sync short", "^FAIL", "deadlock",
        "gpu.cp waits for no other component: look there",
        "8 wavefronts wait at barrier 5 of the global wave sync .ds_gws_barrier. for 1 more",
        "work-group .7,0,0., wavefront 0 waits for lgkmcnt.0.", status=4)


def test_work_groups_meet_through_user_queues(run):
    run(f"{TINY} --generic --set queues=true --set driver.launch_by=queue -- grid_sync")


@pytest.mark.parametrize("options", ["--tick-all", *only_full(
    "--permute 1", "--warmup functional --kernels 3", "--kernels 2", "--mode sampled",
    "--warmup memory --kernels 3")])
def test_nothing_depends_on_how_they_are_simulated(run, options):
    run(f"{TINY} {options} -- grid_sync")


def test_a_recording_of_a_grid_sync_is_played(run, tmp_path):
    run(f"{TINY} --record api={tmp_path}/api -- grid_sync")
    run(f"{TINY} --play api={tmp_path}/api", "ratio: 1.000000")
