"""The program's clocks follow simulated time (--host-clock simulated), or are the host's."""
import pytest

from harness import ANY, same
from programs import only_full

TINY = "platforms/tiny.heddle"
SIMULATED = "--host-clock simulated -- host_clocks simulated"


def test_simulated_clocks_show_the_same_in_every_run(measure):
    first = measure(f"{TINY} {SIMULATED}")
    for options in "", "--threads 2", "--tick-order random:1":
        again = measure(f"{TINY} {options} {SIMULATED}")
        assert again.output == first.output
        same(first, again)


def test_simulated_clocks_show_the_same_in_every_run_of_functional_mode(measure):
    first, again = (measure(f"{TINY} --mode functional {SIMULATED}") for _ in range(2))
    assert again.output == first.output
    same(first, again)


def test_clocks_are_those_of_the_host_by_default(run):
    run(f"{TINY} -- host_clocks")
    run(f"{TINY} --host-clock host -- host_clocks")


@pytest.mark.parametrize("program", ["threads", "managed", *only_full("streams", "prints")])
def test_simulated_clocks_change_nothing_for_programs_that_do_not_sleep(measure, program):
    same(measure(f"{TINY} -- {program}"),
         measure(f"{TINY} --host-clock simulated -- {program}"))


def test_simulated_clocks_need_host_threads_in_order(run):
    run(f"{TINY} --host-clock simulated -- host_clocks", "needs host threads in order",
        "the program has the host's clocks", env={"HEDDLE_HOST_THREADS": "free"})


@pytest.mark.parametrize("text, says", [
    ("--host-clock simulated", "is for programs"),
    ("--host-clock simulated --record api=somewhere -- vectoradd", "which no recording holds"),
    ("--host-clock fast -- vectoradd", "host or simulated"),
])
def test_simulated_clocks_are_for_programs(run, text, says):
    run(f"{TINY} {text}", says, status=2)


def test_a_limit_of_cycles_ends_a_sleep(run):
    run(f"{TINY} --max-cycles 1000000 {SIMULATED}", "sleep: .*--max-cycles", status=ANY)


def test_functional_mode_says_that_elapsed_times_mean_nothing(run):
    """Once, and only to programs that ask."""
    told = run(f"{TINY} --mode functional {SIMULATED}",
               "hipEventElapsedTime: in functional mode kernels and copies take no time")
    assert told.output.count("take no time") == 1
    assert not run(f"{TINY} --mode functional -- vectoradd").stderr
