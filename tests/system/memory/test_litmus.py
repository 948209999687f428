"""Litmus tests of the memory model. Hand-overs, by target, scope, memory and placement
(tests/programs/litmus.hip.cpp): no flag that is waited for stays away, and no value behind it is
old. The tests of the literature (litmus_tests.hip.cpp): no outcome comes that the model forbids.

Rows of one scope at one distance: 36 of message passing (six ways to release, six to acquire, with
plain data), six with data that is relaxed, non-temporal or volatile, four of relaxed flags alone.
`bits` has one for every combination of cache policy bits that has to arrive."""
import itertools

import pytest

import litmus_model
from harness import SLEEPING
from litmus_runs import (CDNA, DIES, GCN3, L2_ALL, PLACES, PLATFORMS, TESTS, command, forbidden,
                         is_scoped, make_cuda, places_of, read_outcomes)
from programs import only_full

ROWS = 46
# Name: platform and settings, program, rows of `bits` at one distance.
TARGETS = {
    "mi300a": (f"platforms/mi300a.heddle {DIES}", "litmus.gfx942", 20 + 72),
    "mi300x": (f"platforms/mi300x.heddle {DIES}", "litmus.gfx942", 20 + 72),
    "mi210": (f"platforms/mi210.heddle {CDNA}", "litmus", 10 + 20),
    "r9nano": (f"platforms/r9nano.heddle {GCN3}", "litmus", 10 + 20),
    "l2_all": (f"platforms/r9nano_x4_l2_all.heddle {L2_ALL}", "litmus", 10 + 20),
    "tiny": ("platforms/tiny.heddle", "litmus", 10 + 20),
}
SCOPES = ["wavefront", "workgroup", "agent", "system", "bits"]
MEMORIES = ["device", "host", "noncoherent", "managed", "finegrained"]
# Work-groups in neighbouring dies, two dies apart, and in one die of three; in compute units apart,
# and in one.
DISTANCES = "1 2 3"


def rows_pass(measure, target, memory, scope, distances=DISTANCES, options=""):
    platform, program, bits = TARGETS[target]
    done = measure(f"{platform} --generic --max-cycles 200000000 {options}"
                   f" -- {program} {memory} {scope} {distances}")
    rows = bits if scope == "bits" else ROWS
    assert f"{rows * len(distances.split())} rows, 0 of them wrong" in done.output


# Every target has one of its widest scopes, and every kind of L2 has both and one more.
QUICK_ROWS = [("mi300a", "agent"), ("mi300a", "system"), ("mi300a", "bits"),
              ("mi300x", "system"), ("mi210", "agent"), ("r9nano", "agent"),
              ("r9nano", "system"), ("r9nano", "wavefront"), ("l2_all", "agent"),
              ("l2_all", "system"), ("l2_all", "workgroup"), ("tiny", "agent")]


@pytest.mark.parametrize("target, scope", QUICK_ROWS + only_full(
    *(case for case in itertools.product(TARGETS, SCOPES) if case not in QUICK_ROWS)))
def test_every_row_of_a_scope_holds(measure, target, scope):
    rows_pass(measure, target, "device", scope)


@pytest.mark.parametrize("target, scope, memory", [
    ("mi300a", "system", "host"), ("mi300a", "system", "managed"),
    *only_full(*itertools.product(TARGETS, ("agent", "system"), MEMORIES[1:]))])
def test_every_kind_of_memory_does(measure, target, scope, memory):
    rows_pass(measure, target, memory, scope, "1 3")


@pytest.mark.parametrize("platform, program", [
    (f"platforms/r9nano_x4.heddle {GCN3}", "litmus"),
    ("platforms/mi300x_x8.heddle --set gpus=2 --set xcds=2 --set arrays=1 --set vram=1GiB",
     "litmus.gfx942")])
@pytest.mark.parametrize("memory", ["device", *only_full("host", "managed")])
def test_devices_see_each_other_at_system_scope(measure, platform, program, memory):
    done = measure(f"{platform} --generic --max-cycles 200000000"
                   f" -- {program} {memory} devices 1")
    assert f"{ROWS} rows, 0 of them wrong" in done.output


@pytest.mark.parametrize("options", ["--set gpu.l2=64KiB", *only_full(
    "--set gpu.xcds=6", "--set gpu.xcds=2 --set gpu.partitions=whole",
    "--set queues=true --set driver.launch_by=queue", "--threads 2")])
def test_other_dies_and_ways_of_launching_do(measure, options):
    rows_pass(measure, "mi300a", "device", "agent", "1 2 5", options)


@pytest.mark.parametrize("setting", [
    # Fences end above the L2 of a die; it keeps what it should pass on.
    "gpu.xcd.sa.l1v.acquire=here",
    *only_full("gpu.xcd.sa.l1v.release=system", "gpu.xcd.l2.atomics_at=here")])
def test_a_row_sees_what_is_wrong(run, setting):
    platform, program, _ = TARGETS["mi300a"]
    banks = " --set gpu.xcd.sa.l1v.banks_below=1" if "acquire" in setting else ""
    run(f"{platform} --generic --allow-incoherent --max-cycles 200000000 --set {setting}{banks}"
        f" -- {program} device agent 1", "FAIL litmus", status=1)


# Levels at which the literature allows the outcome that a test asks for; at no other. RC11 (see
# litmus_model.py) and its tests, Alglave et al., GPU concurrency (ASPLOS 2015), and the tests of
# Lustig et al. (ASPLOS 2019).
NEVER, UNORDERED, UNSEQUENCED = [], ["relaxed"], ["relaxed", "acq_rel", "fences"]
PUBLISHED = {
    "CoRR": NEVER, "CoWW": NEVER, "CoRW1": NEVER, "CoRW2": NEVER, "CoWR": NEVER,
    "MP": UNORDERED, "LB": UNORDERED, "S": UNORDERED, "WRC": UNORDERED, "ISA2": UNORDERED,
    "MPAt": UNORDERED, "MPNa": UNORDERED, "ISA2Na": UNORDERED,
    "SB": UNSEQUENCED, "R": UNSEQUENCED, "2+2W": UNSEQUENCED, "RWC": UNSEQUENCED,
    "IRIW": UNSEQUENCED, "SBAt": UNSEQUENCED}


def test_model_gives_the_published_verdicts():
    verdicts = {name: [level for level in litmus_model.LEVELS
                       if weak in litmus_model.outcomes(threads, level)]
                for name, (weak, threads) in TESTS.items()}
    assert verdicts == PUBLISHED


def test_model_knows_all_that_interleavings_give():
    """Each order of the operations, one after the other, is an outcome at every level."""
    for name, (_, threads) in TESTS.items():
        owners = [t for t, ops in enumerate(threads) for _ in ops]
        for order in set(itertools.permutations(owners)):
            memory, got, at = dict.fromkeys("xyz", "0"), {}, [0] * len(threads)
            for t in order:
                kind, location, value = threads[t][at[t]]
                if kind in "RU":
                    got[t, at[t]] = memory[location]
                if kind in "WU":
                    memory[location] = value
                at[t] += 1
            outcome = f"{''.join(got[key] for key in sorted(got))} {''.join(memory.values())}"
            for level in litmus_model.LEVELS:
                assert outcome in litmus_model.outcomes(threads, level), (name, level, order)


@pytest.fixture(scope="session")
def litmus_cuda(tmp_path_factory):
    return make_cuda(tmp_path_factory.mktemp("litmus"))


CASES = [(name, place) for name in PLATFORMS for place in places_of(name)]
QUICK = [("tiny", ("lds", "workgroup")), ("r9nano", ("groups", "agent"))]


@pytest.mark.parametrize("platform, place", QUICK + only_full(
    *(case for case in CASES if case not in QUICK)))
def test_no_forbidden_outcome_comes(run, request, platform, place):
    """In no order of ticks, either, and the same ones come in each."""
    cuda = PLATFORMS[platform][1] == ".cuda"
    program = request.getfixturevalue("litmus_cuda") if cuda else None
    orders = ["", *SLEEPING[1:2]] if (platform, place) in QUICK else ["", *SLEEPING[:2]]
    seen = [read_outcomes(run(command(platform, place, 1, options=order, program=program),
                              "PASS").output) for order in orders]
    assert len(seen[0]) == len(TESTS) * len(litmus_model.LEVELS)
    assert not forbidden(seen[0], is_scoped(place))
    assert all(other == seen[0] for other in seen)


@pytest.mark.parametrize("seed", only_full(*range(2, 10)))
@pytest.mark.parametrize("platform", ["r9nano", "mi210", "mi300a"])
def test_no_forbidden_outcome_comes_after_other_delays(run, platform, seed):
    for place in PLACES:
        done = run(command(platform, place, seed), "PASS")
        assert not forbidden(read_outcomes(done.output), is_scoped(place))


def test_weak_outcomes_come(run):
    """Old data in caches at relaxed order, and, where scopes do not include each other, stores that
    others do not see."""
    seen = read_outcomes(run(command("r9nano", ("groups", "agent"), 1, "MPNa,ISA2Na")).output)
    assert all(seen[test, "relaxed"][TESTS[test][0]] for test in ("MPNa", "ISA2Na"))
    seen = read_outcomes(run(command("r9nano", ("groups", "workgroup"), 1, "SB,IRIW")).output)
    assert seen["SB", "seq_cst"]["00 110"] and forbidden(seen)


@pytest.mark.parametrize("platform, change", [
    *only_full(("mi300a", "--set gpu.xcd.sa.l1v.acquire=here --set gpu.xcd.sa.l1v.banks_below=1"),
               ("mi300a", "--set gpu.xcd.sa.l1v.release=system"))])
def test_forbidden_outcomes_come_of_wrong_caches(run, platform, change):
    done = run(command(platform, ("groups", "agent"), 1, "MPNa,ISA2Na,MP,S",
                       f"--allow-incoherent {change}"), "PASS")
    assert forbidden(read_outcomes(done.output))
