"""What every program, trace and tester counts, as hashes; and programs pass.

A row of results.txt is a hash and what follows `heddle run`. The hash is of the statistics as text
without `stamp` (versions, parameters, the hash of the program) and without what depends on the
host. A change of a model changes rows on purpose, and UPDATE_RESULTS=1 writes them anew; anything
else must leave every byte as it was. --no-hashes judges by what programs and testers say of
themselves.
"""
import fcntl
import hashlib
import os
import sys
from pathlib import Path

import pytest

import results_sass
from harness import ROOT, call, run

LIST = Path(__file__).with_name("results.txt")
DATA = os.environ.get("SASS_DATA", "../shared/data/sass")
API = ("vectoradd", "streams", "copies", "kmeans", "host_threads")
INSTRUCTIONS = ("bfs", "matmul_tiled", "scratch", "dct8x8", "streams")
TINY = "platforms/tiny.heddle"


def rows():
    """(Hash, command) of each line that is no comment."""
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split("  ", 1)


def make_traces(folder):
    for program in API:
        run(f"{TINY} --record api={folder}/api-{program} -- {program}")
    for program in INSTRUCTIONS:
        run(f"{TINY} --record instructions={folder}/steps-{program} -- {program}")
    for kind in "order", "streams", "busy":
        call([sys.executable, "tests/system/packets/make_trace.py", kind,
              folder / f"packets-{kind}"])
    results_sass.make(folder / "sass")


@pytest.fixture(scope="session")
def traces(tmp_path_factory, worker_id):
    """The traces that rows play. The first worker that asks makes them, and others wait for it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "traces"
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            make_traces(folder)
            (folder / "made").touch()
    return folder


def hash_of(stats):
    """The stamp is the block of lines from `"stamp": {` to the brace that closes it."""
    lines = stats.read_text().split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith('  "stamp": {'))
    end = next(i for i, line in enumerate(lines) if i >= begin and line.startswith("  }"))
    return hashlib.sha256("\n".join(lines[:begin] + lines[end + 1:]).encode()).hexdigest()[:16]


def write_row(text, number):
    """Other workers write other rows."""
    with open(LIST, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        lines = [f"{number}  {text}" if line[18:] == text and not line.startswith("#") else line
                 for line in file.read().split("\n")]
        file.seek(0)
        file.write("\n".join(lines))


def name_of(text):
    return text.replace("platforms/", "").replace(".heddle", "").replace("{programs}/", "")


@pytest.mark.parametrize("expected, text", [
    pytest.param(*row, id=name_of(row[1]), marks=pytest.mark.skipif(
        "{data}" in row[1] and not os.path.isdir(ROOT / DATA), reason="no real traces (SASS_DATA)"))
    for row in rows()])
def test_counts_are_those_of_the_list(request, measure, expected, text):
    command = text.replace("{data}", DATA).replace("{programs}/", "")
    if "{traces}" in text:
        command = command.replace("{traces}", str(request.getfixturevalue("traces")))
    done = measure(command)
    if os.environ.get("UPDATE_RESULTS"):
        write_row(text, hash_of(done.stats_file))
    elif not request.config.getoption("--no-hashes"):
        assert hash_of(done.stats_file) == expected
