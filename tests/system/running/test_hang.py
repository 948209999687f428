"""Runs that do not end by themselves: deadlock, stall, limit; the report names who waits for
whom."""
import shutil

import pytest

from harness import FAILS, ROOT, cuda_cc
from programs import only_full, quick_and_full

HANG = "tests/system/platforms/hang"


def test_deadlock_names_who_waits(run):
    run(f"{HANG}/deadlock.heddle", "deadlock", "left", "right", "waits", status=FAILS)


def test_livelock_names_who_spins(run):
    run(f"{HANG}/livelock.heddle --stall-limit 100000", "stall", "spinner", status=FAILS)


FUNCTIONAL = "--generic --mode functional"
# Kernels that never end, and what each of them waits for.
WAITS = {"flag": "0x2[0-9a-f]*c ", "held": "atomic_cmpswap.*work-group .1,", "crossed": "cmpswap",
         "exchanged": "flat_atomic_swap", "barrier": "1 repeat.* 1 wait at barriers",
         "shared": "of LDS at 0x14", "crowd": "4936 work-groups have no room",
         "nothing": "reads no memory", "streams": "1 repeat"}
GO_ON = ["bounded", "clocked", "worked", "stored", "passed", "host", "copied"]


@pytest.fixture(scope="session")
def cuda_endings(tmp_path_factory):
    if not shutil.which("clang++-19"):
        pytest.skip("clang-19 is missing")
    folder = tmp_path_factory.mktemp("endings")
    source = shutil.copy(ROOT / "tests/programs/endings.hip.cpp", folder / "endings.cu")
    cuda_cc(source, folder / "endings")
    return folder / "endings"


@pytest.mark.parametrize("case", quick_and_full("crossed shared streams", WAITS))
def test_launch_that_only_repeats_itself_is_a_deadlock(run, case):
    run(f"platforms/tiny.heddle {FUNCTIONAL} -- endings {case}", "deadlock: it", WAITS[case],
        status=4)


@pytest.mark.parametrize("case", quick_and_full("worked passed copied", GO_ON))
def test_launch_that_goes_on_is_none(run, case):
    run(f"platforms/tiny.heddle {FUNCTIONAL} -- endings {case}", f"PASS endings {case}")


@pytest.mark.parametrize("case, status, says", [
    ("crossed", 4, r"atom.global.cas.b32: deadlock: it waits for a change at 0x[0-9a-f]+4,"),
    ("worked", 0, "PASS"),
    *only_full(*[(case, 4, "deadlock: it") for case in WAITS if case != "crossed"],
               *[(case, 0, "PASS") for case in GO_ON[:5] if case != "worked"])])
def test_kernels_of_ptx_are_judged_as_others(run, cuda_endings, case, status, says):
    run(f"platforms/rtx3070.heddle {FUNCTIONAL} -- {cuda_endings} {case}", says, status=status)


def test_thread_that_is_not_ordered_may_end_a_wait(run):
    run(f"platforms/tiny.heddle {FUNCTIONAL} --max-instructions 3000000 -- endings host",
        "another thread of the program", "--max-instructions", status=6,
        env={"HEDDLE_HOST_THREADS": "free"})


@pytest.mark.parametrize("mode", ["timing", "functional"])
def test_run_ends_after_a_number_of_instructions(run, mode):
    run(f"platforms/tiny.heddle --generic --mode {mode} --max-instructions 20000"
        " -- endings worked", "--max-instructions", "FAIL endings worked: 702", status=6)


@pytest.mark.parametrize("mode, what, status", [
    ("timing", "exit", 5), ("functional", "count", 6)])
def test_program_ends_though_a_kernel_that_it_has_launched_does_not(run, mode, what, status):
    """What was simulated is written, and more than one work-group may end behind the program."""
    run(f"platforms/tiny.heddle --mode {mode} --stall-limit 300000 -- endless {what}",
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
    (f"{HANG}/deadlock.heddle", 4, ("deadlock", "left", "right")),
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
