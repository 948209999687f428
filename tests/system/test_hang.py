"""Runs that do not end by themselves: deadlock, stall, limit; the report names who waits for
whom."""
import pytest

from harness import FAILS


def test_deadlock_names_who_waits(run):
    run("tests/system/hang/deadlock.heddle", "deadlock", "left", "right", "waits", status=FAILS)


def test_livelock_names_who_spins(run):
    run("tests/system/hang/livelock.heddle --stall-limit 100000", "stall", "spinner", status=FAILS)


@pytest.mark.parametrize("mode, status", [("timing", 5), ("functional", 6)])
def test_program_ends_though_a_kernel_that_it_has_launched_does_not(run, mode, status):
    """What was simulated is written, and more than one work-group may end behind the program."""
    run(f"platforms/tiny.heddle --mode {mode} --stall-limit 300000 -- endless exit",
        "--stall-limit", status=status)


def test_endless_kernel_is_stopped_at_the_limit(run):
    run("platforms/tiny.heddle --max-cycles 200000 -- endless", "max-cycles",
        "hipErrorLaunchTimeOut", "s_branch|s_cbranch|pc", status=6)


def test_stall_is_an_error_of_hip(run):
    run("platforms/tiny.heddle --stall-limit 10 -- vectoradd", "hipErrorIllegalState", "stall",
        status=5)


def test_limit_and_fault_look_alike_on_any_number_of_threads(run):
    seen = []
    for threads in 1, 3:
        how = {"env": {"HEDDLE_THREAD_DELAYS": "3"}}
        limit = run(f"platforms/r9nano.heddle --threads {threads} --max-cycles 100000 -- endless",
                    "max-cycles", "hottest", status=6, **how)
        fault = run(f"platforms/r9nano.heddle --threads {threads} -- bad_oob",
                    "flat_load|global_load", "lane", status=3, **how)
        seen.append([line for line in (limit.output + fault.output).splitlines()
                     if "'--threads" not in line])  # a machine may have fewer processors
    assert seen[0] == seen[1]


@pytest.mark.parametrize("text, status, says", [
    ("tests/system/hang/deadlock.heddle", 4, ("deadlock", "left", "right")),
    ("platforms/r9nano.heddle --stall-limit 4 -- vectoradd", 5, ("stall",))],
    ids=["deadlock", "stall"])
def test_report_of_a_hang_does_not_depend_on_who_found_it(run, text, status, says):
    """One thread, several in step, and several at times of their own."""
    platform, rest = text.split(" ", 1) if " " in text else (text, "")
    reports = set()
    for threads, delays in (1, ""), (2, ""), (2, "5"), (3, ""), (3, "5"):
        done = run(f"{platform} --threads {threads} {rest}", *says, status=status,
                   env={"HEDDLE_THREAD_DELAYS": delays})
        reports.add("\n".join(line for line in done.output.splitlines()
                              if "there are processors for" not in line))
    assert len(reports) == 1, reports
