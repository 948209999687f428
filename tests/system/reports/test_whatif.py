"""`heddle whatif`: halves and doubles parameters, tries what the diagnosis proposes, and knows what
is no effect."""
import csv
import json
import re

import pytest

from harness import FAILS, HEDDLE, PROGRAMS, call
from programs import only_full
from test_limits_told import CAUSES

from heddle.verdict.kernel_facts import Limit, Setting
from heddle.whatif import uncertainty
from heddle.whatif.sensitivity import Parameter, Point, disturbances, parameters
from heddle.whatif.sensitivity import with_proposed
from heddle.whatif.whatif import Diagnosis, Found, lines, tornado

# Planted in the program, and no parameter of the machine is for it.
IN_THE_PROGRAM = [("r9nano", "lds_banks"), ("mi210", "lds_banks"), ("r9nano", "lds_bandwidth"),
                  ("r9nano", "spin"), ("mi210", "spin")]
PLATFORM, NANO = "platforms/tiny.heddle", "platforms/r9nano.heddle"


def whatif(out, cause, *words, says=(), **how):
    return call([HEDDLE, "whatif", NANO, "-o", out, "--jobs", 2, *words, "--",
                 PROGRAMS / "planted", cause], *says, **how)


def test_what_the_diagnosis_proposes_is_tried_and_what_matters_comes_first(tmp_path):
    out = tmp_path / "found"
    told = whatif(out, "channel", "--runs", 17, says=[
        r"one_channel\(.*: .*one hot channel: .*settings to try: .*gpu\.hashed=true",
        r"confirmed: gpu\.hashed=true \(.*\) changes the time by -\d\d\.\d %$"])
    shown = re.findall(r"^[a-z]\S+  .*% at .*$", told.stdout, re.M)
    changes = [max(abs(float(c)) for c in re.findall(r"([+-][\d.]+) %", line)) for line in shown]
    assert len(changes) > 1 and changes == sorted(changes, reverse=True)
    found = json.loads((out / "whatif.json").read_text())
    kinds = {one["set"][0].split("=")[0].split(".")[-1] for one in found["disturbed"]}
    assert kinds == {"first_page", "first_unit", "latency"}
    assert found["noise_floor"] >= max(abs(one["change"]) for one in found["disturbed"])
    with open(out / "whatif.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert 4 < len(rows) <= 17 - 1 - len(found["disturbed"])
    call([HEDDLE, "stats", *[out / "base/statistics/000001.json"] * 2],
         rf"^noise floor: {100 * found['noise_floor']:.3g} %, measured by")
    more = whatif(out, "channel", "--runs", 19)  # goes on: what is done stays done
    ran, now = map(int, re.search(r"(\d+) runs, (\d+) of them now", more.stderr).groups())
    assert 0 < now < 6 < ran


@pytest.mark.parametrize("platform, cause", [
    *only_full(("r9nano", "copies"), *(
        (platform, cause) for platform in ("r9nano", "mi210") for cause in CAUSES))])
def test_what_is_said_of_a_planted_cause_is_confirmed(tmp_path, platform, cause):
    """Of copies the time of all, of others that of the kernel: by a setting that helps, or by one
    that hurts where none does. What is in the program has no setting."""
    says = ("no setting of the machine takes this away" if (platform, cause) in IN_THE_PROGRAM else
            r"confirmed: \S+.* \(.*\) changes the time by -\d"
            r"|confirmed the other way: \S+ changes the time by \+\d")
    call([HEDDLE, "whatif", f"platforms/{platform}.heddle", "-o", tmp_path / "found", "--jobs", 2,
          "--runs", 1, "--", PROGRAMS / "planted", cause], rf"^  (?:{says})")


@pytest.mark.parametrize("cause, says", only_full(
    ("occupancy", r"confirmed: gpu\.player\.shared=328KiB with gpu\.sm\.l1\.size=384KiB "
     r"\(more warps fit on a sub-core\) changes the time by -\d"),
    ("fp32", r"confirmed: gpu\.sm\.sm\.fp32_interval=1cy .* by -\d"),
    ("shared_banks", "no setting of the machine takes this away")))
def test_what_is_said_of_a_planted_cause_on_an_sm_is_confirmed(tmp_path, planted_cuda, cause, says):
    call([HEDDLE, "whatif", "platforms/a100.heddle", "-o", tmp_path / "found", "--jobs", 2,
          "--runs", 1, "--", planted_cuda, cause], rf"^  (?:{says})")


def test_what_the_run_has_not_used_or_only_hands_on_is_left_out():
    run = {"components": {"a[0]": {"hits": 0}, "a[1]": {"hits": 3}, "b": {"hits": 0},
                          "a[0].p": {"hits": 1}},
           "links": {"x.y -> z.y via wire": {"latency_ps": 5, "forward": {"bytes": 0}},
                     "x.y -> z.y via used": {"latency_ps": 5, "forward": {"bytes": 2}}},
           "stamp": {"settings": {
               "a[*].size": "64B", "b.size": "64B", "a[*].ways": "1", "a[*].kind": "lru",
               "a[*].hashed": "false", "a[*].sum": "3", "a[*].p.size": "64B",
               "a[*].p.order.first_unit": "0", "b.first_page": "0", "link wire.latency": "5ns",
               "link used.latency": "100ns", "link used.bandwidth": "2GB/s"}}}
    rows = [{"parameter": "a[*].sum", "source": "let"},
            {"parameter": "a[*].ways", "source": "body", "range": "1 .. 4"},
            {"parameter": "a[*].size", "source": "body", "range": "64B .. 1KiB pow2"},
            {"parameter": "a[*].kind", "source": "body", "choices": ["lru", "rrip", "plru"]},
            {"parameter": "a[*].order", "source": "slot", "value": "one", "optional": True,
             "takes": [{"part": "one", "parameters": []},
                       {"part": "two", "parameters": [{"default": "3"}]},
                       {"part": "needs", "parameters": [{"default": ""}]}]}]
    found = {one.name: {which: p.settings for which, p in one.points.items()}
             for one in parameters(run, rows)}
    assert found == {"a[*].size": {"double": ("a[*].size=128B",)},
                     "a[*].ways": {"double": ("a[*].ways=2",)},
                     "a[*].kind": {"rrip": ("a[*].kind=rrip",), "plru": ("a[*].kind=plru",)},
                     "a[*].order": {"none": ("a[*].order=none",), "two": ("a[*].order=two",)},
                     "a[*].hashed": {"other": ("a[*].hashed=true",)},
                     "used.latency": {"half": ("used.latency=50ns",),
                                      "double": ("used.latency=200ns",)},
                     "used.bandwidth": {"half": ("used.bandwidth=1GB/s",),
                                        "double": ("used.bandwidth=4GB/s",)}}
    assert [point.settings[0] for point in disturbances(run)] == [
        "a[*].p.order.first_unit=1", "a[*].p.order.first_unit=3", "used.latency=101ns",
        "used.latency=102ns", "used.latency=103ns"]


SETTING = Setting(("a=2",), "there is more")


def told(change):
    """Of a parameter that changes a run so much, with a floor of 2 %."""
    point = Point(("a=2",), round(1000 * (1 + change)))
    return Found("a run", 1000, 0, 0.02, [], [Parameter("a", "1", {"double": point})], [],
                 Diagnosis("k", Limit("a", 50, "limited by a", (SETTING,)), [(SETTING, point)]))


def test_a_cause_that_no_setting_takes_away_is_confirmed_by_one_that_makes_it_worse():
    half, double = Point(("a=2",), 1000), Point(("a=8",), 1300)
    for setting, verdict in (
            (Setting(("a=2",), "", ("a=8",)), "the other way: a=8 changes the time by +30.0 %"),
            (Setting((), "", ("a=8",)), "confirmed the other way: a=8 changes"),
            (Setting((), "", ("a=9",)), "not confirmed: it names no setting")):
        found = Diagnosis("k", Limit("a", 50, "limited by a", (setting,)))
        found.take([Parameter("a", "4", {"half": half, "double": double})])
        assert verdict in found.verdict(1000, 0.02)
    assert "it is in the program" in Diagnosis("k", Limit("a", 50, "limited")).verdict(1000, 0.02)


def test_what_is_proposed_comes_first_and_is_tried_though_no_parameter_has_it():
    found = parameters({"components": {"b[0]": {"hits": 1}},
                        "stamp": {"settings": {"a": "4", "b[*].c": "true", "d": "8"}}})
    first = with_proposed(found, [("d=16",), ("b.c=false",), ("a=8", "d=16"), ("a=32",)],
                          {"a": "4", "d": "8"})
    assert [one.name for one in first] == ["d", "b[*].c", "a with d", "a", "a"]
    assert first[2].value == "4, 8" and first[2].points["proposed"].settings == ("a=8", "d=16")
    assert first[3].points["proposed"].settings == ("a=32",) and first[4] in found


def test_what_lies_within_the_noise_floor_is_grey_and_no_effect():
    loud, quiet = told(-0.03), told(-0.015)
    assert "#bbbbbb" in tornado(quiet, 20) and "#bbbbbb" not in tornado(loud, 20)
    assert any(line.endswith("no effect") for line in lines(quiet, 20))
    assert not any(line.endswith("no effect") for line in lines(loud, 20))
    assert "  confirmed: a=2 (there is more) changes the time by -3.0 %" in lines(loud, 20)
    assert ("  not confirmed: a=2 (there is more) changes the time by -1.5 %, which is within the "
            "noise floor" in lines(quiet, 20))
    hurts = "  not confirmed: a=2 (there is more) changes the time by +5.0 %"
    assert hurts in lines(told(0.05), 20)


def test_runs_are_disturbed_by_where_they_begin(measure, run):
    done = measure(f"{PLATFORM} --set gpu.cp.dispatcher.order.first_unit=3 -- vectoradd 64")
    assert [done.components[f"gpu.sa[0].cu[{i}]"]["instructions"] > 0 for i in range(4)] == [
        False, False, False, True]
    run(f"{PLATFORM} --set gpu.vram=256MiB --set driver.first_page=65536 -- vectoradd 64",
        "hipErrorOutOfMemory", status=FAILS)


def test_a_program_that_fails_and_a_missing_folder_are_named(tmp_path):
    call([HEDDLE, "whatif", PLATFORM, "-o", tmp_path / "x", "--", "/bin/false"],
         "the run without changes failed", status=1)
    call([HEDDLE, "whatif", PLATFORM, "--", "/bin/false"], "'-o DIR' is missing", status=2)


# ---- --uncertainty


@pytest.mark.parametrize("value, row, expected", [
    ("10cy", {"basis": "assumed"}, ["5cy", "20cy"]),
    ("10cy", {"basis": "assumed", "range": "8cy .. 1000cy"}, ["8cy", "20cy"]),
    ("100ns", {"basis": "fitted", "range": "0ns .. 1ms"}, ["80ns", "125ns"]),
    ("64KiB", {"basis": "fitted", "range": "1KiB .. 64MiB pow2"}, ["32KiB", "128KiB"]),
    ("10cy", {"basis": "assumed", "said_by": "9cy .. 14cy; two sources disagree"},
     ["9cy", "14cy"]),
    ("10cy", {"basis": "assumed", "said_by": "as in 9cy .. 14cy"}, ["5cy", "20cy"]),
    ("1", {"basis": "assumed"}, ["2"]),  # none of it is half of nothing
    ("10cy", {"basis": "measured"}, []),
    ("0cy", {"basis": "assumed"}, []),
    ("true", {"basis": "assumed"}, []),
    ("folded", {"basis": "assumed"}, [])])
def test_unknown_number_goes_to_the_ends_of_its_range(value, row, expected):
    assert uncertainty.ends(value, row) == expected


def test_interval_takes_errors_as_independent_and_says_what_was_left():
    def one(*results):
        return Parameter("p", "1", {str(i): Point(("p=1",), result)
                                    for i, result in enumerate(results)})
    found = uncertainty.interval([one(970_000, 1_030_000), one(960_000, 1_040_000),
                                  one(1_000_000, None)], 1_000_000, 5)
    assert (found.low, found.high) == pytest.approx((950_000, 1_050_000))
    assert found.words == ("1 us, 0.95 to 1.05 us (-5.0 to +5.0 %) by 3 numbers that are assumed "
                           "or fitted, of 5; the others were not tried")
    assert "(-3.0 to +3.0 %) by 1 number that is assumed or fitted, of 2;" in uncertainty.interval(
        [one(970_000, 1_030_000)], 1_000_000, 2).words
    both = [one(970_000, 1_100_000), one(900_000), one(1_001_000)]
    both[1].points["0"].settings = ("q=2",)
    fast, slow = uncertainty.corners_of(both, 1_000_000, 0.002)
    assert fast.settings == ("p=1", "q=2") and slow.settings == ("p=1",)


def test_interval_of_a_run_is_told_by_its_report_of_trust(tmp_path):
    """By nothing else: another program, or other settings, have none."""
    program = [PROGRAMS / "vectoradd", "512"]
    told = call([HEDDLE, "whatif", PLATFORM, "--uncertainty", "--runs", 12, "-o", tmp_path / "u",
                 "--jobs", 2, "--set", "gpu.cus=3", "--", *program]).stdout
    words = re.match(r"vectoradd 512 on tiny, gpu.cus=3: (.* us, .*; the others were not tried.*)",
                     told)[1]
    low, high = map(float, re.search(r"([\d.]+) to ([\d.]+) us \(", words).groups())
    with open(tmp_path / "u/uncertainty.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["kind"] for row in rows} <= {"assumed", "fitted"}
    assert low <= float(words.split(" us")[0]) <= high and low < high
    changes = [float(row["change"]) for row in rows if row["change"]]
    assert low >= min(1 + min(changes) * len(changes), 1) and max(changes) > 0
    trust = [HEDDLE, "run", PLATFORM, "--report", "trust"]
    call([*trust, "--set", "gpu.cus=3", "--", *program], rf"^  result +{re.escape(words)}$")
    call([*trust, "--", *program], "^  `heddle whatif --uncertainty` says how far")
