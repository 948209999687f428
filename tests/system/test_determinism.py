"""The same bytes of statistics in every order of ticks, with every component ticked at every edge,
from generic and specialised builds, under load and from another compiler."""
import contextlib
import os
import shutil
import subprocess

import pytest

from harness import HEDDLE, ORDERS, call, same, same_bytes, words_of
from programs import GOOD, GPUS, only_full, quick_and_full

EVERY_ORDER = ORDERS + ["--tick-order=random:2", "--generic --tick-order=random:3"]


@pytest.mark.parametrize("platform, program",
                         [("tiny", p) for p in ("vectoradd", "matmul_tiled", "histogram")]
                         + only_full(*(("r9nano", p) for p in GOOD)))
def test_order_of_ticks_changes_no_byte(measure, full, platform, program):
    text = f"platforms/{platform}.heddle {{}} -- {program}"
    same_bytes(measure, text, EVERY_ORDER + ([""] * 10 if full else []))


@pytest.mark.parametrize("program", quick_and_full("halo gpu_threads", GPUS))
def test_order_of_ticks_changes_no_byte_on_four_gpus(measure, full, program):
    again = [""] * 10 if full else []
    same_bytes(measure, f"platforms/ring4.heddle {{}} -- {program}",
               ["--tick-order=random:5", "--threads=2", "--generic"] + again)


@pytest.mark.full
@pytest.mark.parametrize("program", GPUS)
def test_hundred_runs_on_four_gpus_end(run, program):
    for _ in range(100):
        run(f"platforms/ring4.heddle -- {program}", seconds=60)


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


@pytest.mark.parametrize("platform, times", [("tiny", 2), *only_full(("r9nano", 10))])
@pytest.mark.parametrize("program", ["threads", "host_threads", "managed"])
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


@pytest.mark.parametrize("text", ["platforms/tiny.heddle -- matmul_tiled",
                                  "platforms/r9nano.heddle -- bfs",
                                  "tests/system/memtest.heddle --set tester.episodes=40"])
def test_optimisation_changes_no_byte(measure, text):
    """Most tests compile platforms with less of it than users do (conftest.py)."""
    same(measure(text, env={"HEDDLE_CFLAGS": ""}), measure(text, env={"HEDDLE_CFLAGS": "-O1"}))


def test_other_compiler_changes_no_byte(measure):
    assert shutil.which("clang")
    text = "platforms/tiny.heddle -- matmul_tiled"
    same(measure(text), measure(text, env={"HEDDLE_CC": "clang"}))
