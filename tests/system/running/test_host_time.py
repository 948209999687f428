"""Whose processor time it was: the section `host` of statistics tells the simulation from the rest.
Amounts of processor time are compared with each other, never with a
clock on the wall; a busy machine makes all of them larger."""
import json
import re

import pytest

from harness import PROGRAMS, run
from programs import only_full

TINY = "platforms/tiny.heddle"
SECONDS = 0.5  # that the program spends
REST = 0.6     # of it, what start-up of a short run stays below by far


def measure(folder, options, way, seconds):
    """The section `host`, and what the program itself says that it has spent."""
    stats = folder / "s.json"
    done = run(f"{TINY} {options} --stats {stats} -- {PROGRAMS}/host_time {way} {seconds}")
    return json.loads(stats.read_text())["host"], float(re.search("spent (.+)", done.stdout)[1])


@pytest.mark.parametrize("options, way", [
    ("", "thread"), ("", "callback"), ("", "parent"), ("--mode functional", "between"),
    *only_full(("", "between"), ("", "before"), ("--generic", "between"))])
def test_own_code_of_a_program_is_not_the_simulators(tmp_path, options, way):
    host, spent = measure(tmp_path, options, way, SECONDS)
    assert spent >= SECONDS
    assert host["simulation_cpu_seconds"] < spent * REST
    assert spent + host["simulation_cpu_seconds"] <= host["cpu_seconds"]


@pytest.mark.parametrize("options, way", [
    ("", "device"), ("--threads 2", "device"), ("", "leave"), ("--mode functional", "device")])
def test_simulation_is_not_the_programs(tmp_path, options, way):
    """Also when the program ends while one of its threads waits for it."""
    host, _ = measure(tmp_path, options, way, 0)
    share = 0.1 if "functional" in options else 0.5
    assert share * host["cpu_seconds"] < host["simulation_cpu_seconds"] < host["cpu_seconds"]


def test_platforms_that_drive_themselves_simulate(tmp_path):
    stats = tmp_path / "s.json"
    run(f"tests/system/platforms/memtest.heddle --stats {stats}")
    host = json.loads(stats.read_text())["host"]
    assert 0 < host["simulation_cpu_seconds"] < host["cpu_seconds"]


def test_nothing_of_the_host_is_written_where_it_is_not_wanted(tmp_path):
    stats = tmp_path / "s.json"
    run(f"{TINY} --stats {stats} --stats-no-host -- {PROGRAMS}/host_time between 0")
    assert "cpu_seconds" not in stats.read_text()
