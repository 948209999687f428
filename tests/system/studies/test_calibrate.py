"""`heddle calibrate` and what it is made of: points, their runner, errors, fits (python/heddle)."""
import csv
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import HEDDLE, PROGRAMS, ROOT, call, same_file

from heddle.base.files import digest
from heddle.base.mistakes import Mistake
from heddle.calibration import compare, description, fit, point_runner, variants
from heddle.calibration.points import DONE, FAILED, LEFT_OUT, WAITING, Point, Store

TABLE = """# made up
kernel,n,us
vectoradd,256,3.0
vectoradd,1024,5.0
vectoradd,4096,6.0
vectoradd,16384,11.0
reduction,1024,10
reduction,4096,10
"""
DESCRIPTION = f"""
title = "tiny"
platform = "platforms/tiny.heddle"
[table]
file = "table.csv"
label = "kernel"
value = "us"
unit = "us"
[defaults]
command = ["{PROGRAMS}/{{label}}", "{{n}}"]
size = "n"
[labels.vectoradd]
[labels.reduction]
"""


@pytest.fixture
def described(tmp_path):
    """described(TEXT, TABLE): the description's path."""
    def write(text=DESCRIPTION, table=TABLE):
        (tmp_path / "table.csv").write_text(table)
        (tmp_path / "d.toml").write_text(text)
        return tmp_path / "d.toml"
    return write


def calibrate(path, *words, says=(), **how):
    return call([HEDDLE, "calibrate", path, "-o", path.parent / "out", "--jobs", 2, *words], *says,
                **how)


def rows_of(path):
    with open(path.parent / "out/points.csv", encoding="utf-8") as file:
        return {row["point"]: row for row in csv.DictReader(file)}


# ---- the command


def test_calibrating_compares_plots_and_names_the_worst(described):
    path = described()
    done = calibrate(path, "--folds", "2")
    rows = rows_of(path)
    assert len(rows) == 6
    errors = [abs(float(r["simulated"]) - float(r["measured"])) / float(r["measured"])
              for r in rows.values()]
    weighted = sum(abs(float(r["simulated"]) - float(r["measured"])) for r in rows.values()) \
        / sum(float(r["measured"]) for r in rows.values())
    last = next(line for line in done.stdout.splitlines() if line.startswith("| **all**"))
    assert f"| {100 * sum(errors) / 6:.1f} % |" in last and f"| {100 * weighted:.1f} % |" in last
    assert "limited by what a launch costs" in rows["vectoradd 256"]["limited_by"]
    worst = re.search(r"## The worst\n\n.*\n.*\n\| (\w+ \d+) \|", done.stdout)[1]
    assert float(rows[worst]["error"]) == pytest.approx(max(errors), abs=1e-5)
    assert done.stdout.count("| 1 | ") == 1 and "## Folds" in done.stdout
    out = path.parent / "out"
    assert (out / "points.svg").read_text().count("<circle") == 6 + 2  # and the legend
    before = [(out / f).read_bytes() for f in ("report.md", "points.csv", "points.svg")]
    again = calibrate(path, "--folds", "2")
    assert again.stdout == done.stdout and "points run" not in again.stderr  # nothing runs twice
    assert before == [(out / f).read_bytes() for f in ("report.md", "points.csv", "points.svg")]


def test_result_is_that_of_heddle_run(described, measure):
    path = described()
    calibrate(path, "--labels", "reduction", "--points", "1")
    kernels = measure("platforms/tiny.heddle -- reduction 1024").stats["kernels"]
    total = sum(kernel["end_ps"] - kernel["start_ps"] for kernel in kernels) * 1e-6
    assert float(rows_of(path)["reduction 1024"]["simulated"]) == pytest.approx(total)


def test_variants_say_what_choosing_by_simulation_costs(described):
    """A table of any columns, without one of labels; the third is slow on the card."""
    path = described(DESCRIPTION.replace('label = "kernel"\n', "").replace('size = "n"\n', "")
                     .replace("{label}", "vcopy").replace('"{n}"]', '"4096", "{block}"]')
                     .replace("[labels.reduction]\n", "").replace("vectoradd", "copy"),
                     "block,us,note\n64,4,a\n128,5,b\n256,8,c\n1024,9,d\n")
    done = calibrate(path, "--variants")
    rows = {row["point"]: float(row["simulated"]) for row in rows_of(path).values()}
    assert list(rows) == [f"copy {block}" for block in (64, 128, 256, 1024)]
    chosen = min(rows, key=rows.get)
    regret = {"64": 0, "128": 25, "256": 100, "1024": 125}[chosen.removeprefix("copy ")]
    assert re.search(rf"\| copy \| 4 \| 2.25 \| .* \| {regret}.0 % \| 0.0 % \| 0.0 % \| 62.5 % "
                     rf"\| block={chosen.removeprefix('copy ')} \| block=64 \|", done.stdout)


def test_regret_is_that_of_the_first_of_the_simulation():
    def points(*pairs):
        return [compare.Compared(description.Row("l", f"l {n}", {}, 0, (), card, None, None), sim)
                for n, (card, sim) in enumerate(pairs)]
    found = variants.choice_of(points(*((10 + n, 30 - n) for n in range(12))))
    assert found.chosen.row.name == "l 11" and found.best.row.name == "l 0"
    assert [round(regret, 6) for regret in found.regret] == [1.1, 0.7, 0.2]
    assert found.spread == 2.1 and round(found.by_chance, 6) == 0.55
    tied = variants.choice_of(points((3, 1), (9, 1), (6, 2)))  # the slowest of those that tie
    assert tied.regret[0] == 2 and tied.regret[1] == 0


def test_number_is_read_from_what_the_program_prints(described):
    path = described(DESCRIPTION.replace("size = \"n\"", "read = '^cycles {n} ([0-9.]+)$'\n"
                                         "unit = \"ns\"").replace(
        f'"{PROGRAMS}/{{label}}", "{{n}}"', '"/bin/sh", "-c", "echo cycles 1{n} 9; '
        'echo cycles {n} 7000; echo cycles x 8; ' + f'{PROGRAMS}/vectoradd 64"'))
    calibrate(path, "--labels", "vectoradd")
    assert {float(row["simulated"]) for row in rows_of(path).values()} == {7.0}


def test_small_points_have_more_arguments(described):
    path = described(DESCRIPTION.replace("[labels.vectoradd]", """[labels.vectoradd]
command = ["/bin/sh", "-c", "echo got $1 $2; PROGRAM 64", "sh", "{n}"]
small = { below = 1024, arguments = ["7"] }
read = "^got {n} ?([0-9]+)"
unit = "us\"""".replace("PROGRAM", f"{PROGRAMS}/vectoradd")))
    calibrate(path, "--labels", "vectoradd", "--points", "1")
    assert float(rows_of(path)["vectoradd 256"]["simulated"]) == 7


def test_points_that_fail_are_named_and_run_again_when_asked(described, tmp_path):
    flag = tmp_path / "good"
    command = f'"/bin/sh", "-c", "test -e {flag} || {{ echo error: no flag; exit 3; }}; ' \
        + f'{PROGRAMS}/vectoradd {{n}}"'
    path = described(DESCRIPTION.replace(f'"{PROGRAMS}/{{label}}", "{{n}}"',
                                         command.replace("{{ ", "{ ").replace("; }}", "; }")))
    words = ("--labels", "vectoradd", "--points", "2")
    calibrate(path, *words, status=1).stdout.index("256, 16384: status 3: error: no flag")
    flag.touch()
    assert "status 3" in calibrate(path, *words, status=1).stdout  # only when asked
    calibrate(path, *words, "--retry")
    assert len(rows_of(path)) == 2


def test_killed_at_any_moment_it_goes_on(described, full):
    """Killed twice, in full five times; the table is that of an unbroken run, and no process
    stays."""
    sizes = range(64, 64 * (41 if full else 17), 64)
    table = "kernel,n,us\n" + "".join(f"vectoradd,{n},5\n" for n in sizes)
    path = described(DESCRIPTION.replace("[labels.reduction]", "").replace('size = "n"', ""), table)
    call([HEDDLE, "build", "platforms/tiny.heddle"])
    seeded = random.Random(1)
    for _ in range(5 if full else 2):
        with subprocess.Popen([HEDDLE, "calibrate", path, "-o", path.parent / "out", "--jobs", "2"],
                              cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=os.environ) as process:
            time.sleep(0.25 + seeded.random() * 0.2)
            process.send_signal(signal.SIGKILL)
    calibrate(path)
    broken = (path.parent / "out/points.csv").read_bytes()
    assert broken.count(b"\n") == len(sizes) + 1
    call([HEDDLE, "calibrate", path, "-o", path.parent / "whole", "--jobs", 2])
    assert broken == (path.parent / "whole/points.csv").read_bytes()


def test_changed_platform_is_run_again(described):
    path = described()
    words = ("--labels", "vectoradd", "--points", "1")
    calibrate(path, *words)
    first = rows_of(path)["vectoradd 256"]["simulated"]
    calibrate(path, *words, "--set", "gpu.cp.kernel_overhead=100cy")
    assert float(rows_of(path)["vectoradd 256"]["simulated"]) < float(first)


@pytest.mark.full
def test_fit_finds_what_the_table_was_made_with(described):
    """The table is what the platform takes with another cost of a launch."""
    path = described()
    words = ("--labels", "vectoradd", "--points", "2")
    calibrate(path, *words, "--set", "gpu.cp.kernel_overhead=1000cy")
    made = "kernel,n,us\nreduction,1,1\n"
    made += "".join(f"vectoradd,{name.split()[1]},{row['simulated']}\n"
                    for name, row in rows_of(path).items())
    (path.parent / "table.csv").write_text(made)
    done = calibrate(path, *words, "--fit", "gpu.cp.kernel_overhead=500cy..2500cy",
                     "--evaluations", "12")
    found = int(re.search(r"Fitted .*kernel_overhead=(\d+)cy", done.stdout)[1])
    assert abs(found - 1000) < 100, done.stdout


@pytest.mark.parametrize("change, says", [
    (('label = "kernel"', 'label = "name"'), r"table.csv: there is no column 'name'; there are"),
    (("[labels.reduction]", "[labels.other]"), r"no row has the label 'other'"),
    (('unit = "us"', 'unit = "us'), r"d.toml: .*line 8"),
    (('"{n}"]', '"{m}"]'), r"table.csv:3: nothing is called 'm' here; there are kernel, label, n"),
    (('size = "n"', 'size = 3'), r"'size' of \[labels.vectoradd\] must be a text"),
    (('size = "n"', 'read = "(a)(b)"'), r"must have one group, the number, not 2"),
    (('size = "n"', 'read = "(["'), r"is not a regular expression"),
    (('size = "n"', 'read = "(x)"\nunit = "cycles"'), r"'cycles' .* cannot be converted to 'us'"),
])
def test_mistake_in_a_description_is_found(described, change, says):
    assert change[0] in DESCRIPTION
    with pytest.raises(Mistake, match=says):
        description.read(described(DESCRIPTION.replace(*change)))


@pytest.mark.parametrize("table, says", [
    (TABLE + "vectoradd,1\n", r"table.csv:9: 3 cells are expected"),
    (TABLE + "vectoradd,1,fast\n", r"table.csv:9: what was measured must be a positive number"),
    (TABLE + "vectoradd,0,1\n", r"table.csv:9: 'n' must be a positive number, not '0'"),
    ("kernel,n,us\n", r"no row has the label 'vectoradd'"),
])
def test_mistake_in_a_table_is_found(described, table, says):
    with pytest.raises(Mistake, match=says):
        description.read(described(table=table))


@pytest.mark.parametrize("change, says", [
    (("platform =", "platfrom ="), r"d.toml: unknown key 'platfrom' at the top; it has defaults"),
    (("tiny.heddle", "tinny.heddle"), r"tinny.heddle"),
    ((f"{PROGRAMS}/", "nowhere/"), r"there is no program 'nowhere/vectoradd'"),
])
def test_mistake_in_a_description_is_named(described, change, says):
    assert change[0] in DESCRIPTION
    calibrate(described(DESCRIPTION.replace(*change)), says=[says], status=1)


@pytest.mark.parametrize("words, says", [
    (["--fit", "gpu.l2"], r"'--fit gpu.l2' is not PARAM=LO..HI"),
    (["--fit", "gpu.l2=3cy..5ns"], r"both ends must have the same unit"),
    (["--fit", "gpu.l2=5..3"], r"the low end comes first"),
    (["--folds", "3"], r"there are 2 labels to deal"),
    (["--labels", "vectorad"], r"has no label 'vectorad'; it has vectoradd, reduction"),
])
def test_wrong_option_is_refused(described, words, says):
    calibrate(described(), *words, says=[says], status=2)


def test_python_that_lacks_something_is_named(described, tmp_path):
    path = described()
    calibrate(path, says=["install the Debian package python3,"], status=1,
              env={"HEDDLE_PYTHON": "/nowhere"})
    bare = tmp_path / "bare"  # an interpreter that sees no packages but ours
    bare.write_text('#!/bin/sh\nexec /usr/bin/python3 -S "$@"\n')
    bare.chmod(0o755)
    calibrate(path, says=["lacks modules; install the Debian packages python3-numpy and "
                          "python3-scipy"], status=1, env={"HEDDLE_PYTHON": str(bare)})


def test_folder_that_is_in_use_is_refused(described):
    path = described()
    store = Store(path.parent / "out")
    calibrate(path, says=["another process works on the folder"], status=1)
    store.close()
    calibrate(path, "--labels", "vectoradd", "--points", "1")


# ---- points and their runner


# Uses 0.1 CPU seconds and a little, however fast the machine is.
BUSY = f"""{sys.executable} -c 'import time
while time.process_time() < 0.1: pass
print("x")'"""


def make_points(scripts, chain=""):
    return [Point(digest(chain, str(n)), "label", f"label {n}", (), ("sh", "-c", script), chain,
                  float(n)) for n, script in enumerate(scripts, 1)]


def run_points(store, points, **how):
    found = point_runner.Runner(
        store, lambda point, log: {"said": Path(f"{log}.out").read_text()}, **how)
    outcomes = found.run(points)
    return [outcomes[point.key] for point in points]


def test_point_beyond_the_limit_leaves_out_larger_ones(tmp_path):
    store = Store(tmp_path / "s")
    burn = "while :; do :; done"
    points = make_points(["echo a", "echo b", burn, "echo d"], chain="c")
    found = run_points(store, points, limit=1)
    assert [o.state for o in found] == [DONE, DONE, LEFT_OUT, LEFT_OUT]
    assert "took more than the limit of 1 CPU s" in found[2].message
    assert "a smaller one took more" in found[3].message
    run_points(store, points, limit=1)
    assert store.outcome(points[2]).cpu_seconds < 2  # it was not tried again ...
    points[2:3] = make_points(["", "", "echo c"], chain="c")[2:]
    found = run_points(store, points, limit=4)  # ... but is under a larger limit
    assert [o.state for o in found] == [DONE] * 4


def test_budget_runs_sizes_from_coarse_to_fine(tmp_path):
    store = Store(tmp_path / "s")
    order = tmp_path / "order"
    points = make_points([f"echo {n} >>{order}" for n in range(1, 10)], chain="c")
    assert all(o.state == DONE for o in run_points(store, points, budget=100))
    assert order.read_text().split() == list("159372468")


def test_points_beyond_the_budget_wait_for_the_next_time(tmp_path):
    store = Store(tmp_path / "s")
    points = make_points([BUSY] * 6, chain="c")
    found = run_points(store, points, budget=0.25)
    assert found[0].state == DONE and found[5].state == WAITING
    assert all(o.state == DONE for o in run_points(store, points, budget=100))


def test_what_another_limit_left_out_waits_when_the_budget_is_spent(tmp_path):
    store = Store(tmp_path / "s")
    points = make_points([BUSY] * 6, chain="c")
    for point in points[3:]:
        store.add([point])
        store.leave_out(point, "took more than the limit of 4 CPU seconds")
    found = run_points(store, points, budget=0.25)
    assert found[5].state == WAITING and found[5].message is None


def test_points_of_a_chain_run_by_size_and_failures_do_not_stop_it(tmp_path):
    store = Store(tmp_path / "s")
    order = tmp_path / "order"
    points = make_points([f"echo {n} >>{order}; test {n} != 2" for n in range(1, 6)], chain="c")
    found = run_points(store, points[::-1], jobs=3)[::-1]
    assert order.read_text().split() == list("12345")
    assert [o.state for o in found] == [DONE, FAILED, DONE, DONE, DONE]
    assert found[1].message == "status 1: it printed nothing"


def test_running_points_wait_again_after_the_runner_is_gone(tmp_path):
    store = Store(tmp_path / "s")
    points = make_points(["echo x"])
    store.add(points)
    store.start(points[0])
    store.close()
    store = Store(tmp_path / "s")
    assert store.outcome(points[0]).state == WAITING
    assert run_points(store, points)[0].result == {"said": "x\n"}


def test_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "points.sqlite").write_text("this is a text\n" * 100)
    with pytest.raises(Mistake, match="is not a database of points"):
        Store(tmp_path)


def test_cost_grows_by_the_power_law_of_the_last_two():
    assert point_runner.expected_cost([], 4) is None
    assert point_runner.expected_cost([(2, 1.0)], 8) == pytest.approx(4)
    assert point_runner.expected_cost([(1, 0.5), (2, 2.0)], 8) == pytest.approx(32)
    assert point_runner.expected_cost([(1, 0.01), (2, 2.0)], 8) == pytest.approx(8)  # no start-up


# ---- errors and fits


def compared(label, measured, simulated, low=None, high=None):
    row = description.Row(label, label, {}, 1.0, (), measured, low, high)
    return compare.Compared(row, simulated)


def test_errors_are_what_they_are_called():
    points = [compared("a", 1, 2), compared("a", 10, 9), compared("b", 4, 4)]
    e = compare.errors_of(points)
    assert (e.mean, e.median) == (pytest.approx(1.1 / 3), pytest.approx(0.1))
    assert e.weighted == pytest.approx(2 / 15) and e.worst == 1
    assert e.ratio == pytest.approx((2 * 0.9) ** (1 / 3))
    assert compare.rank_correlation(points) == pytest.approx(1)
    assert compare.rank_correlation(points[:2]) is None
    falling = [compared("a", n, 9 - n) for n in (1, 2, 5)]
    assert compare.rank_correlation(falling) == pytest.approx(-1)
    assert [compared("a", 1, s, 0.9, 1.1).inside for s in (0.8, 1, 1.2)] == [False, True, False]


def test_labels_are_dealt_evenly_and_by_the_seed():
    labels = [chr(97 + n) for n in range(11)]
    dealt = compare.fold_of_labels(labels, 5, 1)
    assert sorted(len(f) for f in fit.folds_of(dealt)) == [2, 2, 2, 2, 3]
    assert dealt == compare.fold_of_labels(labels[::-1], 5, 1)
    assert dealt != compare.fold_of_labels(labels, 5, 2)


def slope_and_floor(settings, labels):
    """A machine with two parameters, measured where they are 40 and 2.5."""
    floor, slope = (float(s.split("=")[1].rstrip("cy")) for s in settings)
    return [compared(label, 40 + 2.5 * n * k, floor + slope * n * k)
            for k, label in enumerate(labels, 1) for n in (1, 10, 100)]


def test_fit_finds_parameters_and_is_repeatable():
    intervals = [fit.parse_interval(i) for i in ("a.floor=10cy..90cy", "a.slope=1.0..5.0")]
    found = [fit.Fitter(intervals, slope_and_floor, 300).fit(["x", "y"], [0.5, 0.5])
             for _ in range(2)]
    assert found[0] == found[1] and found[0].loss < 0.03
    floor, slope = (float(s.split("=")[1].rstrip("cy")) for s in found[0].settings)
    assert math.isclose(floor, 40, abs_tol=4) and math.isclose(slope, 2.5, abs_tol=0.2)
    few = fit.Fitter(intervals, slope_and_floor, 5).fit(["x", "y"], [0.5, 0.5])
    assert few.tried == 5


# ---- pages of evidence


def test_page_of_trust_is_that_of_its_points(tmp_path):
    """And every one of the worst has a reason."""
    call([sys.executable, "tests/bench/accuracy/trust.py", "--folder", tmp_path])
    for name in ("trust.md", "generated/trust.svg"):
        same_file(tmp_path / name, ROOT / "docs/evidence" / name)
