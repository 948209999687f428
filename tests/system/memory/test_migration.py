"""Managed memory: pages go where the policy says, and are copied for reading."""
import pytest

from harness import same, same_bytes, ways

MANAGED = "platforms/managed4.heddle"
ORDERS = ["--tick-order=random:3 --tick-all", "--threads=2", "--generic"]
SLEEPING = ["--tick-order=random:3", "--threads=2", "--generic"]  # the memory tester ticks all
DELAYS = {"HEDDLE_THREAD_DELAYS": "2"}


# What must move follows from the program: 4 GPUs change 4 shared pages in turn, in 2 rounds, and
# each has a page of its own; all pages begin on the first GPU. First touch moves the three own
# pages of the others. When every touch moves a page, the shared ones move with each turn but the
# very first.
@pytest.mark.parametrize("policy, moves", [("pinned --generic", 0), ("first_touch", 3),
                                           ("on_touch", 31)])
def test_policy_moves_as_many_pages_as_the_program_touches(measure, full, policy, moves):
    option = "" if policy == "first_touch" else f"--set gpu.policy={policy}"  # it is the default
    text = f"{MANAGED} {option} {{}} -- managed_pingpong 4 2"
    orders = ORDERS if full else SLEEPING
    reference = same_bytes(measure, text, orders if policy == "on_touch" else [])
    driver = reference.components["driver"]
    pages = [reference.components[f"gpu[{i}].pages"] for i in range(4)]
    assert driver["migrations"] == sum(p["pages"] for p in pages) == moves
    assert driver["shootdowns"] == 4 * moves and driver["migrations_refused"] == 0
    assert all(p["bytes"] == 4096 * p["pages"] for p in pages)


# Pages move between kernels only: the four compute units of a GPU touch a page once in each of the
# two kernels of its turn, which makes 8. Up to 8 a page moves with each turn; with 9 it does so in
# the second round only, from GPU 1 on.
@pytest.mark.parametrize("threshold, moves", [(60000, 0), (1, 31), (8, 31), (9, 15)])
def test_counted_touches_move_pages_at_the_threshold(measure, threshold, moves):
    done = measure(f"{MANAGED} --generic --set driver.migration=between_kernels"
                   f" --set gpu.policy=access_counter --set gpu.policy.threshold={threshold}"
                   " -- managed_pingpong 4 2")
    assert done.components["driver"]["migrations"] == moves


@pytest.mark.parametrize("policy", ["on_touch", "access_counter --set gpu.policy.threshold=4",
                                    "read_duplicate"])
def test_pages_move_while_kernels_use_them(measure, full, policy):
    """Kernels of all GPUs use the same pages at the same time, some for as long as others wait for
    them; pages move meanwhile, or only when none runs."""
    text = f"{MANAGED} --set gpu.policy={policy} --max-cycles 5000000 {{}} -- managed_both 2 2"
    during = measure(text.format(""))
    between = measure(text.format("--generic --set driver.migration=between_kernels"))
    d, cps = during.components["driver"], [during.components[f"gpu[{i}].cp"] for i in range(4)]
    changes = d["migrations"] + d["copies_made"] + d["copies_written"]
    pauses, paused = ([c[name] for c in cps] for name in ("pauses", "paused_cycles"))
    assert changes > 20 and d["pauses"] > 5 and d["shootdowns"] == 4 * changes
    assert max(pauses) <= d["pauses"] <= sum(pauses)
    assert max(paused) < d["pause_cycles"] < sum(paused)
    b = between.components["driver"]  # only writes must not wait for the end of kernels
    assert b["pauses"] <= b["copies_written"]
    assert b["migrations"] + b["copies_made"] < d["migrations"] + d["copies_made"]
    for order in ways(ORDERS if full and policy == "on_touch" else SLEEPING):
        same(during, measure(text.format(order), env=DELAYS))


def test_kernels_that_wait_for_each_other_take_turns_without_timing(measure):
    done = same_bytes(measure, f"{MANAGED} --generic --mode functional {{}} -- managed_both 2 2",
                      ["--threads=2"])
    assert sorted(k["gpu"] for k in done.stats["kernels"]) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_pages_move_while_a_launch_has_the_only_message_that_may_be_under_way(run):
    run(f"{MANAGED} --generic --set driver.in_flight=1 --max-cycles 5000000 -- managed_both 2 2")


READS = f"{MANAGED} --set gpu.policy=read_duplicate {{}} -- managed_reads 3 3"


def test_pages_are_copied_for_reading_and_copies_go_with_a_write(measure):
    """3 pages are read by all 4 GPUs at once, so 3 copies are made of each; in each of 3 rounds
    another GPU has written to them before, and the host in the end. What the host reads makes no
    difference."""
    text = READS.format("--set driver.copy_interval=0cy {}")
    copies = measure(text.format(""))
    driver = copies.components["driver"]
    assert (driver["copies_made"], driver["copies_dropped"], driver["copies_written"],
            driver["migrations"]) == (36, 27, 9, 0)
    assert sum(copies.components[f"gpu[{i}].pages"]["pages"] for i in range(4)) == 36
    pinned = measure(f"{MANAGED} --generic --set gpu.policy=pinned -- managed_reads 3 3")
    sent = [sum(run.components[f"gpu[{i}].rdma"]["sent"] for i in range(4))
            for run in (copies, pinned)]
    assert sent[0] < sent[1] / 2
    for order in ways(SLEEPING):
        same(copies, measure(text.format(order), env=DELAYS))


def test_pages_are_copied_less_often_with_an_interval(measure):
    done = measure(READS.format("--generic --set driver.copy_interval=1000000cy"))
    assert done.components["driver"]["copies_written"] == 3
