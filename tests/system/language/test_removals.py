"""Platforms that lost a connection, a parameter or a control: see removals.py."""
import tempfile
from pathlib import Path

import pytest

import coherence_changes
from programs import only_full
from removals import GOOD, SUBJECTS, Mutant, choose, judge, removals


def judged(mutant):
    with tempfile.TemporaryDirectory() as folder:
        outcome, output = judge(mutant, Path(folder))
    return outcome, f"{mutant}\n{output}"


@pytest.mark.parametrize("count", [3, *only_full(1000)])
def test_platform_without_a_part_is_refused_or_right(count):
    found = [judged(mutant) for mutant in choose(count, seed=9)]
    bad = [f"{outcome}: {text}" for outcome, text in found if outcome not in GOOD]
    assert not bad, "\n".join(bad)
    assert count < 10 or len({outcome for outcome, _ in found}) > 1


@pytest.mark.parametrize("count", [5, *only_full(1000)])
def test_coherence_settings_that_pass_check_pass_the_litmus_tests(count):
    found = []
    for change in coherence_changes.choose(count, seed=1):
        with tempfile.TemporaryDirectory() as folder:
            found.append((*coherence_changes.judge(change, Path(folder)), change))
    bad = [f"{outcome}: {change}\n{output}" for outcome, output, change in found
           if outcome not in GOOD]
    assert not bad, "\n".join(bad)
    assert len({outcome for outcome, _, _ in found}) > 1


def test_parts_of_a_description_are_found():
    source = """component c {
        param n : int = 4 in 1 .. 8;
        a[n] : cache { size = 4KiB; replacement = rrip { bits = 3; }; };  // b -> c;
        if n > 1 {
            a[*].bottom, d.mem -> x[*].top via bar = crossbar { latency = 3cy; } by space s;
        }
        cp.control[*] -> a[*].control latency 2cy;
        map s.local;
    }"""
    parts = {(kind, source[begin:end].strip()) for kind, begin, end in removals(source)}
    assert parts == {
        ("parameter", "size = 4KiB;"), ("parameter", "replacement = rrip { bits = 3; };"),
        ("parameter", "bits = 3;"), ("parameter", "latency = 3cy;"),
        ("connection", "a[*].bottom, d.mem -> x[*].top via bar = crossbar { latency = 3cy; }"
                       " by space s;"),
        ("connection part", "a[*].bottom,"), ("connection part", ", d.mem"),
        ("connection part", "by space s"),
        ("control", "cp.control[*] -> a[*].control latency 2cy;"),
        ("connection part", "latency 2cy"), ("map", "map s.local;")}


def test_platforms_are_right_before_anything_is_removed(full):
    played = [subject for subject in SUBJECTS if subject.play]
    for subject in [*SUBJECTS[:20:10], *played[::1 if full else 4]]:
        outcome, text = judged(Mutant(subject, subject.file, "nothing", 0, 0))
        assert outcome == "gives right results", text
