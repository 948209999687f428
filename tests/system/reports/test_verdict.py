"""What limits a kernel (python/heddle/verdict), by made-up counts: the shares of its causes, the
sentences and settings that follow from them, and the fullest arrays of a series."""
import csv
import json
import re

import pytest

from heddle.base.mistakes import Mistake
from heddle.statistics.kernels import Kernel
from heddle.statistics.model import Model
from heddle.verdict import account, fullness, limits
from heddle.verdict.fullness import Array, Found, Fullness
from heddle.verdict.kernel_facts import Machine

SIMDS, SLOTS, CYCLES = 4, 10, 1000  # of a compute unit; of a SIMD; of a launch


def kernel(rows, units=1, cycles=CYCLES, groups=64, waves=1, unit_cycles=None, **sums):
    """A kernel of one launch on so many compute units, which all have work-groups for
    `unit_cycles`. What `rows` leave of the slot-cycles is empty at the end."""
    k = Kernel("k", label="k", launches=[{"work_groups": groups, "cycles": cycles,
                                          "slots": units * SIMDS * SLOTS}])
    k.rows = {tuple(name.split(".")): value for name, value in rows.items()}
    k.rows["empty", "draining"] = cycles * units * SIMDS * SLOTS - sum(k.rows.values())
    unit_cycles = cycles * units if unit_cycles is None else unit_cycles
    k.sums.update({"compute_units": units, "simds": SIMDS, "slots_per_simd": SLOTS,
                   "wavefronts_per_work_group": waves,
                   "work_groups_per_unit": SIMDS * SLOTS // waves,
                   "longest_unit_cycles": min(unit_cycles, cycles), "unit_cycles": unit_cycles,
                   "all_unit_cycles": cycles * units, **sums})
    return k


VALU = {"executing.valu": 4000, "waiting.valu_busy": 36000}  # on all SIMDs, in all cycles
MEMORY = {"executing.valu": 400, "waiting.vmcnt": 39600}
# The shares of causes in per cent, of those that have any.
SHARES = {
    "the ALUs work in all cycles": (kernel(VALU), {"valu": 100}),
    "loads are waited for in half of them": (
        kernel({"executing.valu": 2000, "waiting.vmcnt": 38000}), {"valu": 50, "memory": 50}),
    "two waits share by their counts": (
        kernel({"waiting.barrier": 30000, "waiting.fetch": 10000}), {"barrier": 75, "fetch": 25}),
    "nothing can be placed for a quarter of the launch": (
        kernel({"empty.launch": 10000, "executing.valu": 3000, "waiting.valu_busy": 27000},
               unit_cycles=750), {"valu": 75, "launch": 25}),
    "one of two compute units is done after half of it": (
        kernel({"executing.valu": 6000, "waiting.valu_busy": 54000}, units=2, unit_cycles=1500),
        {"valu": 100, "idle": 25}),
    "three of four SIMDs have no wavefront": (
        kernel({"executing.valu": 1000}), {"empty": 75, "program": 75, "valu": 25}),
    "half of the lanes are off": (
        kernel({"issued.valu": 4000, "waiting.valu_busy": 36000}, valu_idle_lanes=32 * 1000),
        {"valu": 50, "lanes": 50}),
    # With the room taken by twice as many, 0.9 more would be under way: 0.9 / 1.9 of the time.
    "work-groups come one by one": (
        kernel({"empty.placing": 18000, "executing.valu": 2000, "waiting.valu_busy": 18000}),
        {"valu": 50, "dispatch": 100 * 0.9 / 1.9}),
    "the kernel had no compute unit": (kernel({}, unit_cycles=0), {}),
}


@pytest.mark.parametrize("name", SHARES)
def test_shares_of_causes(name):
    k, expected = SHARES[name]
    shares = account.shares_of(k)
    assert {cause: share for cause, share in shares.items() if share > 1e-9} \
        == pytest.approx(expected)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


@pytest.mark.parametrize("row, cause", [(row, cause) for cause, rows in account.CAUSES.items()
                                        for row in rows if cause != "valu"])
def test_every_wait_has_its_cause(row, cause):
    assert account.waits(kernel({row: 100})) == {cause: 1.0}


def test_waits_that_no_cause_names_are_the_program_and_the_alus_own_are_left_out():
    assert account.waits(kernel({"issued.scalar": 60, "executing.branch": 20,
                                 "issued.valu_f64_add": 500, "waiting.barrier": 20})) \
        == {account.OTHER: 0.8, "barrier": 0.2}


def test_room_counts_what_fits_beside_the_start_of_a_launch():
    assert account.room(kernel({"executing.valu": 10000})) == pytest.approx(4)
    assert account.room(kernel({"executing.valu": 10000, "empty.launch": 20000})) \
        == pytest.approx(2)
    assert account.room(kernel({"executing.valu": 10000}, work_groups_per_unit=20)) \
        == pytest.approx(2)


# ---- sentences


def judged(k, found=None, **settings):
    return limits.of_kernel(k, found, Machine({"stamp": {"settings": settings}}, found))


# The names of causes in the order in which they are told, and words of the first sentence.
SENTENCES = {
    "valu": (kernel(VALU), ["valu"], "work for 100 % of the time .*; confidence: high"),
    "memory": (kernel(MEMORY), ["memory"], "limited by vector memory: a wavefront has 0.0 loads"),
    "launch": (kernel({"empty.launch": 20000, "executing.valu": 2000, "waiting.valu_busy": 18000},
                      unit_cycles=500),
               ["launch", "valu"], "50 % of the time passes before .* can be placed, 500 cycles;"),
    "barriers": (kernel({"waiting.barrier": 40000}), ["barriers"],
                 "100 % of the wavefronts' cycles wait at s_barrier"),
    "fetch": (kernel({"waiting.fetch": 40000}), ["fetch"], "100 % of the .* wait for code"),
    "sleep": (kernel({"executing.sleep": 40000}), ["sleep"], "the kernel waits on purpose"),
    "unequal": (kernel({"executing.valu": 400, "ended.work_group": 39600}), ["unequal"],
                "hold 99 % of the slots"),
    "scalar memory": (kernel({"waiting.lgkmcnt_scalar_memory": 40000}), ["scalar_memory"],
                      "100 % of the wavefronts' cycles wait on lgkmcnt for scalar loads"),
    "full LDS": (kernel({"waiting.lgkmcnt_lds": 40000}, lds_busy=900, lds_conflict=90), ["lds"],
                 "works for 90 % of the time .* 10 % of that for bank conflicts"),
    "LDS with conflicts": (kernel({"waiting.lgkmcnt_lds": 40000}, lds_busy=800, lds_conflict=600),
                           ["lds_conflicts"], "works for 80 % of the time, 75 % of that"),
    "latency of the LDS": (kernel({"waiting.lgkmcnt_lds": 40000}, lds_busy=200), ["lds_latency"],
                           "100 % of the wavefronts' cycles wait for it"),
    "small grid": (kernel({"executing.valu": 4000, "waiting.valu_busy": 36000}, units=2, groups=1,
                          unit_cycles=1000),
                   ["grid", "valu"], "1 work-group a launch for 2 compute units, .* 50 %"),
    "SIMDs without a wavefront": (kernel({"executing.valu": 1000}), ["grid", "program"],
                                  "for 1 compute units of 4 SIMDs, which have none for 75 %"),
    "nothing": (kernel({}, unit_cycles=0), [], ""),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences_about_a_kernel(name):
    k, names, sentence = SENTENCES[name]
    found = judged(k)
    assert [limit.what for limit in found] == names
    if found:
        assert re.search(sentence, found[0].sentence), found[0].sentence


def test_confidence_is_high_from_half_of_the_time_on():
    half = kernel({"waiting.barrier": 24000, "waiting.fetch": 16000})
    assert [(limit.what, limit.sentence.rpartition("confidence: ")[2]) for limit in judged(half)] \
        == [("barriers", "high"), ("fetch", "medium")]


def test_causes_of_less_than_a_third_are_named_only_if_none_has_more():
    k = kernel({"waiting.barrier": 12000, "waiting.fetch": 11000, "waiting.vmcnt": 9000,
                "executing.sleep": 8000})
    assert [limit.what for limit in judged(k)] == ["barriers", "fetch"]


def test_spinning_comes_first():
    k = kernel({"waiting.vmcnt": 40000}, vector_memory_instructions=100, polls=90)
    assert judged(k)[0].what == "spinning"
    assert "90 % of the vector memory instructions" in judged(k)[0].sentence


def test_bank_conflicts_of_a_tenth_are_told_beside_the_rest():
    k = kernel({"waiting.barrier": 35000, "waiting.lds_conflict": 5000}, lds_busy=100,
               lds_conflict=40)
    assert [limit.what for limit in judged(k)] == ["barriers", "bank_conflicts"]


RANGES = Found(ranges={"gpu.cu[*].lds": "1KiB .. 64KiB"})


def test_settings_are_those_that_the_machine_has():
    settings = {"gpu.cu.fetch_latency": "10cy", "gpu.cu.instruction_buffer": "32B"}
    [limit] = judged(kernel({"waiting.fetch": 40000}), RANGES, **settings)
    assert [one.sets for one in limit.tries] \
        == [("gpu.cu.instruction_buffer=64B",), ("gpu.cu.fetch_latency=5cy",)]
    assert [one.against for one in limit.tries] \
        == [("gpu.cu.instruction_buffer=16B",), ("gpu.cu.fetch_latency=20cy",)]
    assert limit.words.endswith("settings to try: gpu.cu.instruction_buffer=64B, "
                                "gpu.cu.fetch_latency=5cy")


def machine(found=RANGES, **settings):
    return Machine({"stamp": {"settings": settings}}, found)


def test_settings_stay_within_their_range():
    assert machine(**{"gpu.cu[*].lds": "64KiB"}).more("", "cu.lds")[0].sets == ()
    assert machine(**{"gpu.cu[*].lds": "32KiB"}).more("", "cu.lds")[0].sets == ("gpu.cu.lds=64KiB",)
    assert machine(**{"gpu.cu[*].lds": "32KiB"}).more("", "cu.other") == ()


def test_no_setting_is_proposed_if_the_ranges_are_not_known():
    assert machine(None, **{"gpu.cu[*].lds": "32KiB"}).more("", "cu.lds") == ()


def test_settings_that_belong_together_change_together():
    [one] = machine(**{"gpu.cu.lds": "8KiB", "gpu.cp.lds": "8KiB"}).more_of_all("", "cu.lds",
                                                                                "cp.lds")
    assert one.words == "gpu.cu.lds=16KiB with gpu.cp.lds=16KiB"


def test_setting_around_a_component_is_the_outermost():
    both = machine(**{"gpu.l2.ways": "4", "gpu.l2.tags.ways": "8"})
    assert both.known("ways", inside="gpu.l2[3].tags") == ["gpu.l2.ways"]
    assert both.known("ways") == ["gpu.l2.ways", "gpu.l2.tags.ways"]


def test_bools_are_flipped():
    assert machine(**{"gpu.hashed": "false"}).flipped("", "hashed", "gpu.l2")[0].sets \
        == ("gpu.hashed=true",)


# ---- the run


@pytest.mark.parametrize("copied, nothing, names", [
    (20, 20, []), (40, 20, ["copies"]), (20, 40, ["host"]), (40, 50, ["host", "copies"])])
def test_time_without_kernels_is_told_from_a_third_of_the_run_on(copied, nothing, names):
    found = Found(copied_ps=copied, nothing_ps=nothing)
    assert [limit.what for limit in limits.of_run({"time_ps": 100}, found)] == names


def test_copies_are_over_a_link_that_is_busy_for_more_than_half_of_them():
    for busy, words in ((30, "over a link: pcie is busy for 60 % of that"),
                        (20, "inside of a GPU: links are busy for 40 % of that at most")):
        found = Found(copied_ps=50, links={"pcie": busy, "other": 1})
        [limit] = limits.of_run({"time_ps": 100}, found)
        assert words in limit.sentence


def test_run_comes_first_if_kernels_have_less_than_a_tenth_of_it():
    def labels(nothing):
        return [label for label, _ in limits.report([kernel(VALU)], {"time_ps": 100}, "f",
                                                    Found(nothing_ps=nothing))]
    assert labels(95) == [limits.THE_RUN, "k"]
    assert labels(60) == ["k", limits.THE_RUN]
    assert labels(10) == ["k"]


# ---- fullness

BUSY = {"name": "utilisation", "part": [[1, "busy"]], "whole": [[1, None]]}
DUMP = {"platform": "p", "clocks": [{"name": "core", "hz": 10 ** 9}], "links": [],
        "connections": [], "parts": [],
        "types": [{"name": "cache", "kind": "cache", "composite": False},
                  {"name": "dram", "kind": "memory", "composite": False}],
        "instances": [{"path": path, "type": kind, "clock": "core", "measures": [BUSY],
                       "interconnect": False}
                      for path, kind in (("l2[0]", "cache"), ("l2[1]", "cache"), ("mem", "dram"))]}
HEAD = ("from_ps", "to_ps", "l2[0].busy", "l2[1].busy", "mem.busy")
KERNELS = [{"name": "k", "gpu": 0, "start_ps": 0, "end_ps": 200000}]


def read(tmp_path, *rows, kernels=KERNELS):
    """Of intervals of 100 ns, with how many of their 100 cycles each element was busy."""
    path = tmp_path / "series.csv"
    with open(path, "w", newline="", encoding="utf-8") as f:
        table = csv.writer(f, lineterminator="\n")
        table.writerow(HEAD)
        for i, row in enumerate(rows):
            table.writerow((100000 * i, 100000 * (i + 1), *row))
    return fullness.read(Model(DUMP, "p.heddle", []), {"kernels": kernels}, str(path))


def test_fullest_array_is_the_one_that_its_requests_meet_full(tmp_path):
    # One hot bank of two: requests meet it at (0.9 * 0.9 + 0.1 * 0.1) / 1.0 = 0.82, memory at 0.7.
    found = read(tmp_path, (90, 10, 70), (20, 20, 50)).kernels["k", 0]
    assert (found.intervals, found.cycles) == (2, 100)
    l2, mem = found.arrays
    assert (l2.path, l2.kind, l2.elements, l2.first, l2.full) == ("l2[*]", "cache", 2, 1, 1)
    assert (l2.top, l2.mean) == pytest.approx((0.9, 0.5)) and l2.fullest == {"l2[0]": 1}
    assert (mem.path, mem.first, mem.full, mem.top) == ("mem", 1, 0, pytest.approx(0.5))


def test_intervals_in_which_nothing_works_are_not_the_kernels(tmp_path):
    assert read(tmp_path, (1, 0, 1), (0, 1, 0)).kernels == {}


def test_time_between_kernels_is_of_copies_or_of_nothing(tmp_path):
    found = read(tmp_path, (0, 0, 0), (0, 0, 50), (0, 0, 1), kernels=[])
    assert (found.copied_ps, found.nothing_ps) == (100000, 200000)


def test_interval_belongs_to_a_kernel_that_ran_for_more_than_half_of_it(tmp_path):
    late = [{"name": "late", "gpu": 0, "start_ps": 40000, "end_ps": 130000}]
    found = read(tmp_path, (50, 50, 0), (50, 50, 0), kernels=late)
    assert found.kernels["late", 0].intervals == 1 and found.copied_ps == 100000


@pytest.mark.parametrize("text, words", [
    ("a,b\n", "is not what `heddle run --series` writes"),
    ("from_ps,to_ps,mem.busy\n0,x,1\n", "has a row that is not all numbers"),
    ("from_ps,to_ps,mem.busy\n0,100,y\n", "has a row that is not all numbers"),
    ("from_ps,to_ps,mem.busy\n0,100\n", "has a row that does not fit its head")])
def test_damaged_series_is_refused(tmp_path, text, words):
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(Mistake, match=words):
        fullness.read(Model(DUMP, "p.heddle", []), {"kernels": KERNELS}, str(tmp_path / "s.csv"))


FOUND = Found({("k", 1): Fullness(5, 100, [Array("l2[*]", "cache", 4, 3, 2, 5, 2.7, 1.5,
                                                  {"l2[0]": 2, "l2[3]": 1})])},
              [("l2[*]", 120.0)], [("tlb", 20.0)], 7, 8, {"pcie": 6}, {"gpu.cu[*].lds": "1 .. 2"})


def test_what_was_found_is_a_member_of_the_statistics_beside_the_others(tmp_path):
    path = tmp_path / "stats.json"
    path.write_text('{\n  "time_ps": 5,\n  "odd":   [1]\n}\n')
    fullness.write(FOUND, str(path))
    assert path.read_text().startswith('{\n  "time_ps": 5,\n  "odd":   [1],\n"fullness"')
    assert fullness.of_file(json.loads(path.read_text()), str(path)) == FOUND


def test_statistics_without_fullness_have_none_and_damaged_ones_are_refused():
    assert fullness.of_file({}, "f") is None
    for damage in ({"kernels": 1}, {"levels": [{}]}, {"copied_ps": None}, {"links": 3}):
        data = {"fullness": {**fullness.encode(FOUND), **damage}}
        if "copied_ps" in damage:
            del data["fullness"]["copied_ps"]
        with pytest.raises(Mistake, match="'f' is damaged: fullness"):
            fullness.of_file(data, "f")
