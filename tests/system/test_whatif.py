"""`heddle whatif`: halves and doubles parameters, and knows what is no effect."""
import csv
import re
import sys

from harness import HEDDLE, PROGRAMS, ROOT, call

sys.path.insert(0, str(ROOT / "python"))
from heddle.whatif import parameters  # noqa: E402

PLATFORM = "platforms/tiny.heddle"


def whatif(out, *words, says=(), **how):
    return call([HEDDLE, "whatif", PLATFORM, "-o", out, "--jobs", 2, *words, "--",
                 PROGRAMS / "vectoradd", "256"], *says, **how)


def test_parameters_that_matter_come_first_and_small_changes_are_no_effect(tmp_path):
    out = tmp_path / "found"
    told = whatif(out, "--runs", 60, says=["parameters fit into the budget", r"noise floor: ±\d"])
    shown = re.findall(r"^[a-z]\S+  .*% at .*$", told.output, re.M)
    changes = [max(abs(float(c)) for c in re.findall(r"([+-][\d.]+) %", line)) for line in shown]
    assert len(changes) > 1 and changes == sorted(changes, reverse=True)
    floor = float(re.search(r"noise floor: ±([\d.]+)", told.output)[1])
    with open(out / "whatif.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) <= 60 and all((abs(float(row["change"])) * 100 > floor - 0.01) or
                                   row["outside_floor"] == "0" for row in rows if row["change"])
    assert "noise floor" in (out / "whatif.svg").read_text()
    whatif(out, "--runs", 60, says=["runs, 0 of them now"])


def test_what_the_run_has_not_used_is_left_out():
    run = {"components": {"a[0]": {"hits": 0}, "a[1]": {"hits": 3}, "b": {"hits": 0}},
           "links": {"wire": {"latency_ps": 5, "forward": {"bytes": 0}}},
           "stamp": {"settings": {"a[*].size": "64B", "b.size": "64B", "a[*].ways": "1",
                                  "a[*].kind": "lru", "link wire.latency": "5ns"}}}
    found = {one.name: {which: p.settings for which, p in one.points.items()}
             for one in parameters(run)}
    assert found == {"a[*].size": {"half": ("a[*].size=32B",), "double": ("a[*].size=128B",)},
                     "a[*].ways": {"double": ("a[*].ways=2",)}}


def test_a_program_that_fails_and_a_missing_folder_are_named(tmp_path):
    call([HEDDLE, "whatif", PLATFORM, "-o", tmp_path / "x", "--", "/bin/false"],
         "the run without changes failed", status=1)
    call([HEDDLE, "whatif", PLATFORM, "--", "/bin/false"], "'-o DIR' is missing", status=2)
