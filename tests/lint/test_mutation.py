"""Each seeded bug has its place in the sources, and the test that it names exists."""
import re

import pytest
from house import files, text_of

import seeded

BUGS = seeded.read_bugs()
# Test(suite, name; ParameterizedTest(struct thing *t, suite, name
TEST = re.compile(r"^(?:Test|Theory|ParameterizedTest)\((?:[^,]*\*\s*\w+,|\([^)]*\),)?"
                  r"\s*(\w+),\s*(\w+)", re.MULTILINE)


def test_there_are_at_most_a_hundred_of_different_names():
    assert len({bug.name for bug in BUGS}) == len(BUGS) <= 100


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_seeded_bug_has_its_place(bug):
    seeded.place(bug)


def test_seeded_bugs_name_tests_that_exist():
    known = {"::".join(pair) for file in files("tests/*.c") for pair in TEST.findall(text_of(file))}
    assert not [bug.name for bug in BUGS if bug.case not in known]
