"""heddle run --check: each mistake of tests/programs/checks is named at its lines, and the right
form of each program is accused of nothing."""
import functools
import json
import re

import pytest

import harness
from programs import only_full

SOURCES = harness.ROOT / "tests/programs/checks"
TABLES = ["races", "memory", "waits", "calls"]  # programs of many cases
QUICK = ["lds_barrier", "narrow_scope", "locked", "streams", "branch", "copied", "lds_last",
         "rodata", "second_load", "neighbour", "lanes", "free_twice"]


@functools.cache
def marks(table):
    """{case: (kind, {line of its first or second place})} by the comments of the source."""
    kinds, lines = {}, {}
    for number, text in enumerate((SOURCES / f"{table}.hip.cpp").read_text().splitlines(), 1):
        for name, word in re.findall(r"(\w+): ([\w-]+)", text.partition("//")[2]):
            if word in ("first", "second"):
                lines.setdefault(name, set()).add(f"{table}.hip.cpp:{number}")
            else:
                kinds[name] = word
    return {name: (kind, lines[name]) for name, kind in kinds.items()}


def cases():
    found = [(table, name) for table in TABLES for name in marks(table)]
    return ([case for case in found if case[1] in QUICK]
            + only_full(*(case for case in found if case[1] not in QUICK)))


def findings(command, stats, status):
    words = harness.words_of(f"platforms/tiny.heddle --check all --stats {stats} {command}")
    harness.call([harness.HEDDLE, "run", *words], status=status)
    return [f for f in json.loads(stats.read_text())["findings"] if not f["suppressed"]]


def places(finding):
    return {place["source"] for place in finding["places"]}


@pytest.mark.parametrize("table, name", cases())
@pytest.mark.parametrize("mode", ["functional", *only_full("timing")])
def test_a_mistake_is_named_at_its_lines_and_the_right_form_is_not_accused(
        table, name, mode, tmp_path):
    kind, lines = marks(table)[name]
    program = f"--mode {mode} -- {harness.PROGRAMS}/checks_{table} {name}"
    found = findings(f"{program} wrong", tmp_path / "wrong.json", 9)
    assert {f["kind"] for f in found} == {kind}
    assert set().union(*map(places, found)) == lines
    assert findings(f"{program} right", tmp_path / "right.json", 0) == []


def test_work_items_may_return_before_a_barrier(tmp_path):
    program = f"--mode functional -- {harness.PROGRAMS}/checks_waits returned"
    for form in ("right", "wrong"):
        assert findings(f"{program} {form}", tmp_path / f"{form}.json", 0) == []


def test_the_marks_are_those_of_sixty_mistakes():
    assert sum(len(marks(table)) for table in TABLES) >= 60
