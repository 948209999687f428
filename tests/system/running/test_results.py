"""What every program, trace and tester counts; and programs pass.

A row of results.txt is a hash, five counts, and what follows `heddle run`. The hash is of the
statistics as text without `stamp` (versions, parameters, the hash of the program) and without what
depends on the host; the counts say in numbers what moved when it differs. A change of a model
changes rows on purpose, and UPDATE_RESULTS=1 writes them anew; anything else must leave every byte
as it was. --no-hashes judges by what programs and testers say of themselves. Every third row runs
always: rows beside each other are alike, and what changes one of them by mistake changes others.
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
TINY = "platforms/tiny.heddle"
COUNTS = ("cycles", "instructions", "cache hits", "DRAM bytes", "link bytes")
WIDTHS = (11, 12, 10, 10, 10)


def rows():
    """(Hash and counts, command) of each line that is no comment."""
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            *expected, text = line.split(maxsplit=1 + len(COUNTS))
            yield expected, text


def make_traces(folder):
    for program in API:
        run(f"{TINY} --record api={folder}/api-{program} -- {program}")
    for kind in "order", "streams", "busy":
        call([sys.executable, "tests/system/api_calls/packets/make_trace.py", kind,
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


def total(stats, beside, *names):
    """The sum of statistics over the components that also have one of `beside`."""
    return sum(one[name] for one in stats["components"].values()
               if any(each in one for each in beside) for name in names if name in one)


def counts_of(stats):
    """The numbers in the order of COUNTS: cycles of the fastest clock, instructions of wavefronts
    and warps, hits of caches (not of TLBs), bytes of memories, bytes of links in both ways."""
    return (max((clock["cycles"] for clock in stats["clocks"].values()), default=0),
            total(stats, ["instructions"], "instructions"),
            total(stats, ["writebacks", "accesses"], "hits"),
            total(stats, ["reads"], "bytes_read", "bytes_written"),
            sum(link[way]["bytes"] for link in stats.get("links", {}).values()
                for way in ("forward", "backward")))


def row_of(found, text):
    counts = (count.rjust(width) for count, width in zip(found[1:], WIDTHS))
    return "  ".join([found[0], *counts, text])


def write_row(found, text):
    """Other workers write other rows."""
    with open(LIST, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        lines = [row_of(found, text) if line.endswith("  " + text) and not line.startswith("#")
                 else line for line in file.read().split("\n")]
        file.seek(0)
        file.write("\n".join(lines))
        file.truncate()


def moved(expected, found):
    """What a reader wants to know of a row that differs: each count, before and after."""
    lines = []
    for name, old, new in zip(COUNTS, expected[1:], found[1:]):
        change = f" -> {new} ({(int(new) / int(old) - 1) * 100:+.3g} %)" if int(old) \
            else f" -> {new}"
        lines.append(f"  {name:13}{old}{change if old != new else ' as before'}")
    if expected[1:] == found[1:]:
        lines.append("  Only other statistics differ: `heddle stats OLD NEW` lists them, where OLD "
                     "is of a build without the change.")
    return "\n".join(lines)


def marks_of(number, text):
    marks = [pytest.mark.skipif("{data}" in text and not os.path.isdir(ROOT / DATA),
                                reason="no real traces (SASS_DATA)")]
    return marks if number % 3 == 0 else [*marks, pytest.mark.full]


def name_of(text):
    return text.replace("platforms/", "").replace(".heddle", "").replace("{programs}/", "")


@pytest.mark.parametrize("expected, text", [
    pytest.param(*row, id=name_of(row[1]), marks=marks_of(number, row[1]))
    for number, row in enumerate(rows())])
def test_counts_are_those_of_the_list(request, measure, expected, text):
    command = text.replace("{data}", DATA).replace("{programs}/", "")
    if "{traces}" in text:
        command = command.replace("{traces}", str(request.getfixturevalue("traces")))
    done = measure(command)
    found = [hash_of(done.stats_file), *map(str, counts_of(done.stats))]
    if os.environ.get("UPDATE_RESULTS"):
        write_row(found, text)
    elif not request.config.getoption("--no-hashes") and found != expected:
        pytest.fail(f"the statistics differ: heddle run {command}\n{moved(expected, found)}\n"
                    f"  statistics: {done.stats_file}", pytrace=False)
