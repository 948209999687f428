"""The same bytes of statistics in every order of ticks, with every component ticked at every edge,
from generic and specialised builds, under load and from another compiler."""
import contextlib
import os
import shutil
import subprocess

import pytest

from harness import ANY, HEDDLE, ORDERS, call, same, same_bytes, ways, words_of
from programs import GOOD, GPUS, only_full, quick_and_full

EVERY_ORDER = ORDERS + ["--tick-order=random:2", "--generic --tick-order=random:3"]


@pytest.mark.specialised
@pytest.mark.parametrize("platform, program",
                         [("tiny", p) for p in ("vectoradd", "matmul_tiled", "histogram")]
                         + only_full(*(("r9nano", p) for p in GOOD)))
def test_order_of_ticks_changes_no_byte(measure, full, platform, program):
    text = f"platforms/{platform}.heddle {{}} -- {program}"
    same_bytes(measure, text, EVERY_ORDER + ([""] * 10 if full else []))


@pytest.mark.parametrize("program", quick_and_full("gpu_threads", GPUS))
def test_order_of_ticks_changes_no_byte_on_four_gpus(measure, full, program):
    again = [""] * 10 if full else []
    same_bytes(measure, f"platforms/ring4.heddle {{}} -- {program}",
               ["--tick-order=random:5", "--threads=2", "--generic"] + again)


TWO_GPUS = ("platforms/ring4.heddle --set gpus=2 --set gpu.arrays=2 --set gpu.banks=2"
            " --set gpu.vram=64MiB")


@pytest.mark.parametrize("seed", [4, *only_full(*range(1, 4), *range(5, 125))])
def test_random_hostile_calls_change_no_byte(measure, seed):
    """Handles and memory are used after they were destroyed and freed, by the wrong kind of
    pointer, on the wrong device: every answer, and what it leaves behind, is the same."""
    runs = [measure(f"{TWO_GPUS} {how} -- hostile {seed} 600", status=ANY)
            for how in ["", *ways(["--threads=2", "--threads=4",
                                   "--tick-order=random:3 --tick-all"])]]
    assert runs[0].status in (0, 3) and runs[0].stdout.count("\n") > 100, runs[0].output
    for other in runs[1:]:
        same(runs[0], other)
        assert (other.stdout, other.status) == (runs[0].stdout, runs[0].status)


def test_addresses_of_the_program_do_not_depend_on_options(measure, full):
    """Kernels that use registered memory see them."""
    same_bytes(measure, f"{TWO_GPUS} {{}} -- host_memory",
               ["--threads=2", f"--tick-order=random:4{' --tick-all' * full}"])


@pytest.mark.full
@pytest.mark.parametrize("program", GPUS)
def test_hundred_runs_on_four_gpus_end(run, program):
    for _ in range(100):
        run(f"platforms/ring4.heddle -- {program}")


@contextlib.contextmanager
def processors_taken_away(count=4):
    """Others compute meanwhile."""
    burners = [subprocess.Popen(["timeout", "120", "sh", "-c", "while :; do :; done"],
                                start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for burner in burners:
            os.killpg(burner.pid, 15)
            burner.wait()


@pytest.mark.parametrize("platform, times", [("tiny", 1), *only_full(("r9nano", 10))])
@pytest.mark.parametrize("program", ["threads", "host_threads", *only_full("managed")])
def test_scheduling_of_host_threads_changes_no_byte(measure, tmp_path, platform, times, program):
    """On all processors, on one, and with others that take the processors away."""
    text = f"platforms/{platform}.heddle -- {program}"
    reference = measure(text)
    alone = tmp_path / "alone.json"
    for _ in range(times):
        same(reference, measure(text))
        options, _, _ = text.partition(" -- ")
        call(["taskset", "-c", "0", HEDDLE, "run", *words_of(options), "--stats", alone,
              "--stats-no-host", *words_of(f"-- {program}")], "^PASS")
        assert alone.read_bytes() == reference.stats_file.read_bytes()
    with processors_taken_away():
        for _ in range(times):
            same(reference, measure(text))


@pytest.mark.full
def test_other_compiler_changes_no_byte(measure):
    assert shutil.which("clang")
    text = "platforms/tiny.heddle -- matmul_tiled"
    same(measure(text), measure(text, env={"HEDDLE_CC": "clang"}))
