"""User queues: packets, doorbells and signals of a program's own, and launches that go through
them."""
import re

import pytest

from harness import FAILS, ORDERS, SLEEPING, same_bytes
from programs import GOOD, GPUS, only_full, quick_and_full

QUEUES = "tests/system/platforms/queues.heddle"
BY_QUEUE = "--set driver.launch_by=queue"
LAUNCH = f"--set queues=true {BY_QUEUE}"
RING = "platforms/ring4.heddle --generic --set gpu.arrays=2"
TINY = "platforms/tiny.heddle"


def test_user_queues_do_what_packets_say(measure):
    """More queues than slots, and mistakes; each part of the program checks memory by itself."""
    done = same_bytes(measure, f"{QUEUES} --max-cycles 50000000 {{}} -- user_queues",
                      SLEEPING + ["--threads 2"])
    assert done.total(r"gpu\[0\].pp.scheduler", "preemptions") > 0  # a queue had to give way
    assert done.total(r"gpu\[0\].pp$", "errors") == 4  # the four wrong queues were stopped
    # Memory of another GPU is never looked at past a signal that has not come: each GPU told the
    # driver, which flushed the owner.
    assert done.total(r"gpu\[0\].pp$", "releases") > 0 and done.total(r"gpu\[0\].pp$", "waits") > 0


def test_user_queues_do_the_same_where_no_component_sleeps(measure):
    same_bytes(measure, f"{QUEUES} --set gpus=1 --set gpu.cus=1 {{}}"
               " -- user_queues one wrap order barriers scratch oversubscribed", ["--tick-all"])


@pytest.mark.parametrize("platform", [QUEUES, "platforms/r9nano_x4_l2_all.heddle --set arrays=1"
                                      " --set queues=true"], ids=["own", "all"])
def test_rings_copies_mistakes_and_scopes_of_user_queues(run, platform):
    run(f"{platform} --generic --max-cycles 50000000 -- user_queue_rings")


def test_signal_that_never_comes_is_named(heddle):
    done = heddle(f"run {QUEUES} -- user_queues stuck", "deadlock: work is unfinished",
                  "user queue 0 of process 1: packet 0, a barrier, waits for the signal at 0x")
    signal = re.search("^never is (.*)$", done.output, re.MULTILINE)[1]
    assert re.search(f"packet 0, a barrier, waits for the signal at {signal}$", done.output,
                     re.MULTILINE)


@pytest.mark.parametrize("program", ["vectoradd", "streams", "scratch", "reduction"])
def test_packet_processor_passes_the_drivers_own_work(run, program):
    run(f"{TINY} --generic --set queues=true -- {program}")


def test_platform_without_user_queues_says_so(run):
    run(f"{TINY} --generic -- user_queues one", "is 3", status=1)
    run(f"{QUEUES} --mode functional -- user_queues one", "is 5", status=1)


@pytest.mark.parametrize("program", quick_and_full(
    "many_streams streams scratch calls prints overlap stream_rules host_threads",
    GOOD + ["many_streams", "stream_rules"]))
def test_every_launch_goes_through_a_user_queue(measure, program):
    done = measure(f"platforms/r9nano.heddle {LAUNCH} -- {program}")
    assert done.total("gpu.pp$", "dispatches") == done.total("driver$", "launches")


@pytest.mark.parametrize("text", [
    f"{TINY} {LAUNCH} --set driver.queue_packets=4 -- many_streams 4 40",  # more than a ring holds
    f"{TINY} {LAUNCH} --set driver.staging=separate -- many_streams 12",  # more streams than slots
    # Arguments wait for the link, which a copy fills.
    f"{TINY} --generic {LAUNCH} --set pcie.bandwidth=1GB/s -- stream_rules",
    f"{TINY} --generic {LAUNCH} --set driver.copy=magic_copy -- streams",
    f"{TINY} {LAUNCH} --mode functional -- many_streams",
    # Copies, peers, unified devices (each GPU runs a part of the work-groups), pages that move.
    f"{RING} {LAUNCH} -- peer_ring", f"{RING} {LAUNCH} -- halo",
    f"{RING} {LAUNCH} --unified 0,1,2,3 -- vectoradd 2000",
    f"platforms/managed4.heddle --generic {LAUNCH} -- managed_pingpong",
    # Memory of the host, which has no queues.
    f"platforms/managed4.heddle --generic {LAUNCH} --set gpus=2 --set gpu.banks=1"
    " --set gpu.vram=1MiB --set host_memory=8MiB --set gpu.policy=demand"
    " -- oversubscribe stencil 1536 2"],
    ids=["small-ring", "separate", "busy-link", "magic", "functional",
         "peer_ring", "halo", "unified", "managed", "host-memory"])
def test_launches_through_user_queues_pass(run, text):
    run(text)


@pytest.mark.parametrize("program", only_full(*GPUS))
@pytest.mark.parametrize("platform", ["ring4", "r9nano_x4"])
def test_launches_through_user_queues_pass_on_four_gpus(run, platform, program):
    run(f"platforms/{platform}.heddle {LAUNCH} -- {program}")


def test_launches_through_user_queues_count_the_same_however_they_are_run(measure, full):
    small = f"{QUEUES} {BY_QUEUE} --set gpus=2 --set gpu.cus=1"
    same_bytes(measure, f"{small} {{}} -- many_streams 3 2",
               (ORDERS if full else SLEEPING) + ["--threads 2"])


def test_launches_through_user_queues_need_them(run, heddle):
    heddle(f"check {TINY} {BY_QUEUE}", "launch_by = queue, but .*--set queues=true", "E0307",
           status=1)
    run(f"{TINY} --generic {BY_QUEUE} -- vectoradd", "launch_by = queue, but .*--set queues=true",
        status=FAILS)


def test_chosen_launches_do_not_go_through_user_queues(run):
    run(f"{TINY} --generic {LAUNCH} --kernels 3 -- many_streams", "launch_by = command",
        status=FAILS)
