"""GPUs whose L2s keep lines of all memory: what they see of each other with releases and acquires,
and what they do not without."""
import pytest

from harness import SLEEPING, same_bytes
from programs import only_full

ALL = "platforms/r9nano_x4_l2_all.heddle --set arrays=1 --max-cycles 20000000"
THROUGH = "--set l2_write=through"
OWN = "--set l2_caches=own"


@pytest.mark.parametrize("options, way, comes", [
    ("", "kernels", "right"), ("", "fences", "right"), ("", "agents", "right"),
    # Each fence has its work: of the writer, and of the reader.
    ("", "released", "old"), ("", "acquired", "old"), ("", "atomics", "old"),
    ("--set driver.release=agent", "kernels", "old"),
    ("--set driver.release=none", "kernels", "old"),
    ("--set driver.acquire=agent", "kernels", "old"),
    # The driver flushes every L2 that may hold lines of what it copies.
    ("--set driver.release=none --set driver.acquire=none", "host", "right"),
    # What waits for the answer to a store waits for memory then: that is a release.
    (THROUGH, "kernels", "right"), (THROUGH, "fences", "right"), (THROUGH, "atomics", "right"),
    (THROUGH, "acquired", "right"), (THROUGH, "released", "old"),
    (f"{THROUGH} --set driver.release=none", "kernels", "right"),
    (f"{THROUGH} --set driver.acquire=agent", "kernels", "old"),
    # The owner's L2 is the only place of a line: only first levels must forget.
    (OWN, "kernels", "right"), (OWN, "fences", "right"), (OWN, "atomics", "right"),
    (OWN, "acquired", "right"), (OWN, "released", "old"),
    (f"{OWN} --set driver.release=none", "kernels", "right"),
    (f"{OWN} --set driver.acquire=none", "kernels", "old")])
def test_old_values_come_where_an_order_is_missing(run, options, way, comes):
    run(f"{ALL} --generic {options} -- scopes {way} {comes}")


@pytest.mark.parametrize("release", ["needed", "agent"])
def test_copies_find_what_kernels_wrote_through_user_queues(run, release):
    """With agent, one GPU alone is right: the driver flushes before copies."""
    run(f"{ALL} --generic --set queues=true --set driver.launch_by=queue"
        f" --set driver.release={release} -- copies")


@pytest.mark.parametrize("release", ["agent", "system"])
def test_flush_at_the_end_of_every_kernel_is_a_setting(measure, release):
    """On any platform; the lines stay, so the next kernel finds them."""
    done = measure(f"platforms/tiny.heddle --generic --set driver.release={release} -- bitonic 12")
    kernels, flushes = len(done.stats["kernels"]), done.components["gpu.cp"]["flushes"]
    assert kernels >= 10
    assert flushes >= kernels if release == "system" else flushes < 5
    assert done.total(r"gpu\.l2", "hits") > done.total(r"gpu\.l2", "misses")


@pytest.mark.parametrize("program", ["allreduce", "halo", "peer_ring", "spread"])
def test_programs_of_several_gpus_pass(run, program):
    run(f"{ALL} --generic -- {program}")


@pytest.mark.parametrize("mode", ["", "--mode functional", "--unified 0,1,2,3"])
def test_programs_of_one_gpu_pass(run, mode):
    run(f"{ALL} --generic {mode} -- scan")


def test_l2s_that_keep_all_count_the_same_however_they_are_run(measure):
    text = f"{ALL} {{}} -- scopes fences right"
    reference = same_bytes(measure, text, SLEEPING + ["--threads 2", "--threads 4"])
    same_bytes(measure, f"{ALL} {{}} -- halo", ["--tick-all"])
    assert reference.total(r"sa.*l1v", "reads") > 0


@pytest.mark.parametrize("program", only_full("peers", "scopes kernels right", "managed"))
def test_more_programs_pass(run, program):
    run(f"{ALL} -- {program}")
