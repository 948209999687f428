"""A run that goes on from a checkpoint, in another process and under other circumstances, ends with
the bytes of an unbroken one."""
import pytest

import harness
from harness import same, same_file
from programs import only_full

MEMTEST = "tests/system/platforms/memtest.heddle"
LEVELS = "tests/system/platforms/memtest_levels.heddle"
MOMENTS = ["1", "5000cy", "33us"]


@pytest.mark.parametrize("text, moment", [
    (MEMTEST, "1"), (f"{MEMTEST} --platform memtest_translated --generic", "5000cy"),
    *only_full((f"{LEVELS} --platform memtest_clocks --generic", "33us"),
               (f"{LEVELS} --platform memtest_deep --generic", "5000cy"))],
    ids=["memtest", "translated", "clocks", "deep"])
def test_restored_run_ends_with_the_same_bytes(measure, tmp_path, full, text, moment):
    """From one moment, with --full from each."""
    state, again = tmp_path / "state", tmp_path / "again"
    reference = measure(text)
    for when in MOMENTS if full else [moment]:
        same(reference, measure(f"{text} --checkpoint {state} --checkpoint-at {when}"))
        same(reference, measure(f"{text} --restore {state}"))
    # Two processes, whose addresses differ, write the same state.
    measure(f"{text} --checkpoint {again} --checkpoint-at {when}")
    same_file(state, again)
    text = text.replace(" --generic", "")
    same(reference, measure(f"{text} --restore {state} --generic --tick-order random:1 --tick-all"))


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    file = tmp_path_factory.mktemp("checkpoint") / "state"
    harness.run(f"{MEMTEST} --checkpoint {file} --checkpoint-at 10us")
    return file


@pytest.mark.parametrize("options, says", [
    ("--set l2.latency=11cy", "how much is kept.* l2.* is 11 cy, was 10"),
    ("--platform memtest_translated", "of another platform: memtest$")])
def test_state_of_another_platform_is_refused(run, state, options, says):
    run(f"{MEMTEST} --generic {options} --restore {state}",
        says, status=7)


def test_damaged_state_is_refused(run, state, tmp_path):
    content = state.read_bytes()
    cut, damaged = tmp_path / "cut", tmp_path / "damaged"
    cut.write_bytes(content[:50000])
    run(f"{MEMTEST} --restore {cut}", "its end is missing", status=7)
    damaged.write_bytes(content[:30001] + b"x" + content[30002:])
    run(f"{MEMTEST} --restore {damaged}", "damaged", status=7)
    run(f"{MEMTEST} --restore {MEMTEST}", "was not written by|is no file of", status=7)
    run(f"{MEMTEST} --restore {tmp_path}/none", "No such file", status=1)


def test_checkpoint_after_the_end_is_not_written(run, tmp_path):
    late = tmp_path / "late"
    run(f"{MEMTEST} --checkpoint {late} --checkpoint-at 5s", "before --checkpoint-at", status=8)
    assert not late.exists()


def test_checkpoint_before_the_restored_state_is_refused(run, state, tmp_path):
    run(f"{MEMTEST} --restore {state} --checkpoint {tmp_path}/late --checkpoint-at 5us",
        "lies before the state", status=7)


@pytest.mark.parametrize("text, status, says", [
    (f"{MEMTEST} --checkpoint state --checkpoint-at 7kg", 2, "25us"),
    (f"{MEMTEST} --checkpoint state", 2, "belong together"),
    (f"platforms/tiny.heddle --restore {MEMTEST} -- vectoradd", 2, "program's own"),
    ("platforms/tiny.heddle --checkpoint state --checkpoint-at 5us", harness.FAILS,
     "needs a program|host program"),
    (f"{MEMTEST} --checkpoint /no/folder/x --checkpoint-at 5us", 1, "cannot write there")],
    ids=["unit", "no-time", "program", "no-program", "folder"])
def test_mistake_with_a_checkpoint_is_named(run, tmp_path, text, status, says):
    run(text.replace(" state", f" {tmp_path}/state"), says, status=status)
