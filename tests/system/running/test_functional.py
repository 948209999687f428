"""Functional mode executes the instructions that timing executes."""
import pytest

from harness import same_bytes


def kernels_of(run, mode):
    """In order of their names: kernels of several queues may swap."""
    assert run.stats["mode"] == mode
    return sorted((k["name"], k["gpu"], k["work_groups"], k["wavefront_instructions"])
                  for k in run.stats["kernels"])


# Programs without loops that depend on timing (locks, compare-and-swap).
@pytest.mark.parametrize("program", ["vectoradd", "matmul_tiled", "reduction", "scan", "scratch",
                                     "calls", "divergence", "shuffles", "module"])
def test_functional_mode_executes_the_same_instructions(measure, program):
    timing = measure(f"platforms/tiny.heddle -- {program}")
    functional = same_bytes(measure, f"platforms/tiny.heddle --mode functional {{}} -- {program}",
                            ["--generic"])
    kernels = kernels_of(functional, "functional")
    assert kernels and kernels == kernels_of(timing, "timing")


# Work-groups that are independent (matmul, spmv, nbody), that count together or ask which of them
# is the last (histogram, reduction), and that meet (grid_sync); private memory; a race whose
# outcome is the order of the work-groups.
@pytest.mark.parametrize("program", ["matmul 128", "spmv 4096", "nbody 2048 1", "histogram 100000",
                                     "reduction 100000", "scratch", "grid_sync", "bfs"])
def test_threads_share_launches_and_no_byte_changes(measure, program):
    same_bytes(measure, f"platforms/r9nano.heddle --mode functional {{}} -- {program}",
               ["--threads 2", "--threads 4"])


def test_thousands_of_queued_launches_are_counted(measure):
    done = measure("platforms/tiny.heddle --mode functional -- queued 5000")
    assert len(done.stats["kernels"]) == 5001


@pytest.mark.parametrize("isa", ["gfx803", "gfx906"])
def test_unaligned_private_memory_stays_within_its_lane(run, isa):
    """The same in timing mode: test_recordings.py."""
    run(f"platforms/tiny.heddle --set gpu.isa={isa} --mode functional -- unaligned_scratch")


@pytest.mark.parametrize("mode", ["functional", "timing"])
def test_work_group_has_all_of_a_large_lds(run, mode):
    run(f"platforms/tiny.heddle --generic --set gpu.sa[*].cu[*].lds=160KiB --mode {mode}"
        " -- queued 10")


def lines_of(done):
    return sorted(done.stdout.splitlines())


def test_device_code_prints_as_in_timing_mode(run):
    timing = lines_of(run("platforms/tiny.heddle -- prints"))
    assert timing == lines_of(run("platforms/tiny.heddle --mode functional -- prints"))
    assert timing == lines_of(run("platforms/tiny.heddle --mode functional --threads=2 -- prints"))
    assert timing == lines_of(run("platforms/tiny.heddle --kernels 2,4 -- prints"))


def test_device_code_asserts_as_in_timing_mode(run):
    run("platforms/tiny.heddle --mode functional -- bad_assert", "^PASS", "failed", "trap 2",
        "bad_assert.hip.cpp:[0-9]+", status=3)
