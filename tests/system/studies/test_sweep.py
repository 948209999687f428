"""`heddle sweep`: points, the database, workers, the page of `heddle report` about a sweep."""
import contextlib
import csv
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
from html import unescape

import pytest

from browser import EARS, chromium, dom, needs_chromium
from harness import HEDDLE, PROGRAMS, ROOT, call, until
from programs import only_full

from heddle.base.mistakes import Mistake
from heddle.sweeps import sweep_figures, worker
from heddle.sweeps.constraint import Constraint
from heddle.sweeps.database import Database
from heddle.sweeps.plan import of_command_line
from heddle.sweeps.pool import cut
from heddle.sweeps.values import number_of, parse_values

TINY = "platforms/tiny.heddle"
ADD = [PROGRAMS / "vectoradd", "{n}"]
SMALL = ["--generic", "--vary", "gpu.l2=64KiB,128KiB", "--vary", "{n}=256..1024*2"]
TABLES = ("sweep", "points", "settings", "kernels", "components", "printed")


def sweep(out, *words, says=(), program=tuple(ADD), platform=TINY, **how):
    more = ["--", *program] if program else []
    return call([HEDDLE, "sweep", platform, "-o", out, "--jobs", 2, *words, *more], *says, **how)


def rows_of(out):
    with open(out / "points.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def content(out):
    """All that must not depend on how the sweep was run."""
    with sqlite3.connect(out / "sweep.sqlite") as sql:
        tables = {name: sql.execute(f"SELECT * FROM {name} ORDER BY 1, 2, 3").fetchall()
                  if name != "sweep" else sql.execute("SELECT * FROM sweep").fetchall()
                  for name in TABLES}
    sql.close()
    return tables, (out / "points.csv").read_bytes()


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep of six points, and what it said."""
    out = tmp_path_factory.mktemp("sweep") / "small"
    done = sweep(out, *SMALL)
    done.out = out
    return done


# ---- the command


def test_one_platform_of_generic_code_is_not_compiled_for_its_parameters(tmp_path):
    """Not even to find out what its points depend on."""
    sweep(tmp_path / "out", "--generic", "--vary", "ticker.most=7", program=(),
          platform="tests/system/platforms/small/small.heddle",
          env={"HEDDLE_CACHE": str(tmp_path / "cache")})
    generated = (tmp_path / "cache/platforms").rglob("ticker__*.c")
    assert {file.name for file in generated} == {"ticker__generic.c"}


def test_points_are_runs_of_heddle_run(swept, measure):
    rows = rows_of(swept.out)
    assert [(r["gpu.l2"], r["n"]) for r in rows] == [
        (l2, n) for n in ("256", "512", "1024") for l2 in ("64KiB", "128KiB")]
    run = measure(f"{TINY} --generic --set gpu.l2=128KiB -- vectoradd 512").stats
    row = rows[3]
    assert int(row["time_ps"]) == run["time_ps"]
    assert int(row["cycles"]) == sum(k["cycles"] for k in run["kernels"])
    with sqlite3.connect(swept.out / "sweep.sqlite") as sql:
        stored = {(path, name): value for path, name, value in sql.execute(
            "SELECT path, name, value FROM components WHERE point = 4")}
        model = sql.execute("SELECT model FROM points WHERE point = 4").fetchone()[0]
        cost = sql.execute("SELECT count(*) FROM host WHERE cpu_seconds > 0").fetchone()[0]
    slices = [run["components"][f"gpu.l2[{i}]"] for i in range(2)]
    assert stored["gpu.l2[*]", "misses"] == sum(part["misses"] for part in slices)
    assert stored["gpu.l2[*]", "mshr_occupancy.sum"] == sum(
        part["mshr_occupancy"]["sum"] for part in slices)
    assert model == run["stamp"]["model"] and cost == 6
    assert not list((swept.out / "work").glob("*"))


def test_statistics_of_points_are_kept_when_asked(swept, tmp_path):
    out = tmp_path / "kept"
    sweep(out, "--generic", "--keep", "--vary", "{n}=256..512*2")
    for number, row in enumerate(rows_of(out), 1):
        stats = json.loads((out / f"statistics/{number:06}.json").read_text())
        assert stats["time_ps"] == int(row["time_ps"])
        assert stats["stamp"]["parameters"]
    assert len(list((out / "statistics").iterdir())) == 2
    assert not list(swept.out.glob("statistics/*"))


def test_killed_at_any_moment_it_goes_on(swept, tmp_path, full):
    """Killed twice, in full five times: the tables of an unbroken sweep, and no process stays. In
    full a thousand points, of which the driver costs less than a twentieth."""
    words, program, out = [*SMALL[:3], "--vary", "{n}=64..640+64"], ADD, tmp_path / "out"
    if full:
        words = ["--vary", "gpu.l2=32KiB..256KiB*2", "--vary", "gpu.cus=1..5", "--vary",
                 "gpu.sa.l1v.size=4KiB..64KiB*2", "--vary", "{n}=32..212+20"]
        program = [PROGRAMS / "matmul_tiled", "{n}"]
    seeded = random.Random(1)
    command = [HEDDLE, "sweep", TINY, "-o", out, "--jobs", "2", *words, "--", *program]
    for _ in range(5 if full else 2):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            time.sleep((5 if full else 0.5) + seeded.random() * (5 if full else 0.3))
            process.send_signal(signal.SIGKILL)
    until(lambda: not processes_of(str(out)))
    sweep(out, *words, program=program)
    whole = tmp_path / "whole"
    done = sweep(whole, *words, program=program)
    assert content(out) == content(whole)
    assert len(rows_of(out)) == (1000 if full else 20)
    if full:
        spent, driving = map(float, re.search(
            r"run in ([0-9.]+) CPU seconds, ([0-9.]+) more to drive", done.stderr).groups())
        assert driving < 0.05 * spent, done.stderr


def processes_of(word):
    return [number for number in os.listdir("/proc")
            if number.isdigit() and word in command_line(number)]


def test_kill_leaves_no_process(tmp_path):
    """Though what runs would take long."""
    marker = str(tmp_path / "marker")
    command = [HEDDLE, "sweep", TINY, "-o", tmp_path / "out", "--vary", "{x}=1,2", "--",
               "/bin/sh", "-c", "sleep 60; exit $1", marker, "{x}"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        until(lambda: any(command_line(n).startswith("/bin/sh") for n in processes_of(marker)))
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_of(marker))


def test_half_a_line_is_read_when_it_is_whole(tmp_path):
    """Of a worker that is writing, or was killed."""
    plan = of_command_line(["x"], ["a=1..3"], [])
    database = Database(tmp_path / "out")
    database.open_plan(plan)
    database.add(plan.points(), ["k1", "k2", "k3"])
    results = tmp_path / "out/work/1/0000.jsonl"
    results.parent.mkdir(parents=True)
    lines = [json.dumps({"point": n, "key": f"k{n}", "status": 3, "cpu": 0.5, "wall": 1.0,
                         "failed": "x"}) for n in (1, 2, 3)]
    results.write_text(lines[0] + "\n" + lines[1][:20])
    assert database.collect() == 1 and database.waiting() == {2, 3}
    results.write_text(lines[0] + "\n" + lines[1] + "\n" + lines[2].replace("k3", "old") + "\n")
    assert database.collect() == 1 and database.waiting() == {3}  # of a point that has changed
    assert database.collect() == 0
    database.close()


def command_line(number):
    try:
        with open(f"/proc/{number}/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def test_done_is_not_run_again_and_changes_are(swept, tmp_path):
    out, program = tmp_path / "out", tmp_path / "program"
    shutil.copytree(swept.out, out)
    again = sweep(out, *SMALL)
    assert "points run" not in again.stderr and again.stdout == swept.stdout
    assert content(out) == content(swept.out)
    shutil.copy(PROGRAMS / "vectoradd", program)
    words = ["--vary", "{n}=64,128"]  # and compiled for its parameters
    sweep(tmp_path / "own", *words, program=[program, "{n}"])
    with open(program, "ab") as file:
        file.write(b"\0")
    sweep(tmp_path / "own", *words, program=[program, "{n}"],
          says=["2 points are run again: what they depend on has changed"])


def test_points_that_fail_are_named_and_run_again_when_asked(tmp_path):
    flag, out = tmp_path / "good", tmp_path / "out"
    script = f"test $0 = 1 -o -e {flag} || {{ echo error: no flag; exit 3; }}; " \
        f"exec {PROGRAMS}/vectoradd 64"
    words = ["--vary", "{x}=1..3"]
    program = ["/bin/sh", "-c", script, "{x}"]
    done = sweep(out, *words, program=program, status=1,
                 says=["2 points failed:",
                       r"2 \(sh x=2\), 3 \(sh x=3\): status 3: error: no flag"])
    assert [row["state"] for row in rows_of(out)] == ["done", "failed", "failed"]
    assert (out / "logs/000002.out").read_text() == "error: no flag\n"
    flag.touch()
    assert "status 3" in sweep(out, *words, program=program, status=1).stderr  # only when asked
    done = sweep(out, *words, "--retry", program=program)
    assert "2 points run" in done.stderr and len({r["time_ps"] for r in rows_of(out)}) == 1


def test_combination_that_the_platform_refuses_fails_alone(tmp_path):
    """Each value is right by itself."""
    done = sweep(tmp_path / "out", "--generic", "--vary", "gpu.sa.l1v.ways=4,64", "--vary",
                 "gpu.sa.l1v.size=1KiB,16KiB", program=[PROGRAMS / "vectoradd", "64"], status=1)
    states = {(r["gpu.sa.l1v.ways"], r["gpu.sa.l1v.size"]): r["state"]
              for r in rows_of(tmp_path / "out")}
    assert states["4", "1KiB"] == states["4", "16KiB"] == "done"
    assert states["64", "1KiB"] == "failed" and "error: " in done.stderr


def test_limit_ends_points(tmp_path):
    program = ["/bin/sh", "-c", f"test $0 = 1 || while :; do :; done; {PROGRAMS}/vectoradd 64",
               "{x}"]
    sweep(tmp_path / "out", "--generic", "--vary", "{x}=1,2", "--limit", 1, program=program,
          status=1, says=[r"2 \(sh x=2\): took more than the limit of 1 CPU seconds"])


def limited_run(tmp_path, script, limit=1):
    """What a worker that gets no processor after it has started a process says of it."""
    before = signal.getsignal(signal.SIGXCPU), resource.getrlimit(resource.RLIMIT_CPU)
    prlimit = resource.prlimit
    resource.prlimit = lambda *words: (time.sleep(0.5), prlimit(*words))
    try:
        status, cpu, wall = worker.run(["/bin/sh", "-c", script], str(tmp_path / "log"), limit)
    finally:
        resource.prlimit = prlimit
        signal.signal(signal.SIGXCPU, before[0])
        resource.setrlimit(resource.RLIMIT_CPU, before[1])
    return worker.was_limited(status, cpu, wall, limit)


def test_limit_holds_for_what_a_process_starts_before_the_worker_runs_again(tmp_path):
    said = limited_run(tmp_path, "/bin/sh -c 'while :; do :; done'; exit $?")
    assert said == "took more than the limit of 1 CPU seconds"


def test_what_waits_in_vain_is_said_to_have_taken_long(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "longest", lambda limit: 0.5)
    said = limited_run(tmp_path, "sleep 100; true")
    assert said == "took more than 0.5 seconds of the clock, with a limit of 1 CPU seconds"


SWEEP_FILE = f"""
platform = "{TINY}"
generic = true
constraints = ["gpu.cus * n <= 512", "n != 128"]
[vary]
gpu.cus = "1..4"
[programs]
add = {{ command = ["{PROGRAMS}/vectoradd", "{{n}}"], inputs = {{ n = [64, 128, 256] }} }}
reduce = ["/bin/sh", "-c", "{PROGRAMS}/reduction 256; echo speed 2.5; echo speed 3.5"]
[results]
speed = '^(?:speed|PASS) ([0-9.]+|vector)'
"""


def test_sweep_file_has_programs_inputs_constraints_and_results(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(SWEEP_FILE.replace("|vector", ""))
    done = sweep(tmp_path / "out", platform=path, program=(), status=1)
    rows = rows_of(tmp_path / "out")
    assert [(r["program"], r["n"], r["gpu.cus"]) for r in rows] == [
        ("add", "64", c) for c in "1234"] + [("add", "256", "1"), ("add", "256", "2")] + [
        ("reduce", "", c) for c in "1234"]
    assert {r["speed"] for r in rows if r["program"] == "reduce"} == {"3.5"}
    assert "6 points failed" in done.stderr and "no line of what it printed" in done.stderr
    path.write_text(SWEEP_FILE)
    sweep(tmp_path / "other", platform=path, program=(), status=1,
          says=["'vector', which .* found, is not a number"])


# ---- mistakes


@pytest.mark.parametrize("words, says", [
    (["--vary", "gpu.lx=1"], r"gpu.lx=1: 'gpu' has no parameter 'lx' \[E0601\]"),
    (["--vary", "gpu.l2=64KiB,banana"], r"gpu.l2=banana: no parameter or value"),
    (["--vary", "gpu.cus=1,1000"], r"gpu.cus=1000: 'cus' is 1000, which is not in 1 .. 16"),
    (["--vary", "gpu.l2=256KiB,512KiB", "--vary", "gpu.banks=2,3"],
     r":\n  gpu.banks=3: 'banks' is 3, which is not a power of two .*\n$"),
    (["--vary", "gpu.l2=64"], r"gpu.l2=64: expected bytes, .*\(a unit is missing"),
    (["--vary", "gpu.cus=4..1"], r"'4..1' is not a range: the smaller end comes first"),
    (["--vary", "gpu.l2=1KiB..4MiB"], r"needs a step, as in 1KiB..4MiB\*2"),
    (["--vary", "gpu.l2=1KiB..4ns*2"], r"the units of '1KiB..4ns\*2' do not fit"),
    (["--vary", "gpu.cus=1,,2"], r"a value of '1,,2' is empty"),
    (["--vary", "gpu.cus=1,1..2"], r"the value '1' appears twice"),
    (["--vary", "gpu.cus"], r"is not PATH=VALUES"),
    (["--vary", "gpu.cus=1..99999999"], r"has more than 100000 values"),
    (["--vary", "gpu.cus=1,2", "--vary", "gpu.cus=3"], r"'gpu.cus' is varied twice"),
    (["--vary", "gpu.cus=1,2", "--set", "gpu.cus=3"], r"'gpu.cus=3' sets a varied parameter"),
    (["--vary", "{m}=1,2"], r"'\{m\}' is varied, but the command of 'vectoradd' does not have it"),
    (["--vary", "gpu.cus=1,2", "--constraint", "gpu.cus >"], r"'gpu.cus >' is no expression"),
    (["--vary", "gpu.cus=1,2", "--constraint", "gpu.banks > 2"], r"which is not varied"),
    (["--vary", "gpu.cus=1,2", "--constraint", "open('x') == gpu.cus"],
     r"what constraints do not know \(Call\)"),
    (["--vary", "gpu.cus=1,2", "--constraint", "gpu.cus > 9"], r"no combination satisfies"),
    (["--vary", "gpu.cus=1,2", "--read", "a=(["], r"is not a regular expression"),
])
def test_mistake_on_the_command_line_runs_nothing(tmp_path, words, says):
    sweep(tmp_path / "out", *words, program=[PROGRAMS / "vectoradd"], says=[says], status=2)
    assert not (tmp_path / "out" / "sweep.sqlite").exists()


@pytest.mark.parametrize("change, says", [
    (("[vary]", "[varied]"), r"s.toml: unknown key 'varied' at the top; it has constraints"),
    ((f'platform = "{TINY}"', ""), r"s.toml: 'platform' or 'platforms' is missing"),
    (("n = [64, 128, 256]", "n = [[1]]"), r"s.toml: 'n' of \[programs\] add has '\[1\]'"),
    (("[64, 128, 256] }", "[64, 128, 256] }, x = 1"), r"unknown key 'x' of \[programs\] add"),
    (("tiny.heddle", "tinny.heddle"), r"tinny.heddle' cannot be used:"),
    (("/vectoradd", "/vectorad"), r"cannot read the program '.*/vectorad'"),
    (("([0-9.]+|vector)", "x"), r"the result 'speed' must have one group"),
])
def test_mistake_in_a_sweep_file_is_named(tmp_path, change, says):
    assert change[0] in SWEEP_FILE
    (tmp_path / "s.toml").write_text(SWEEP_FILE.replace(*change))
    sweep(tmp_path / "out", platform=tmp_path / "s.toml", program=(), says=[says], status="any "
          "status")
    assert not (tmp_path / "out" / "sweep.sqlite").exists()


def test_folder_of_another_sweep_is_refused(swept, tmp_path):
    before = content(swept.out)
    sweep(swept.out, *SMALL, "--set", "gpu.cus=2", status=1,
          says=[r"is another sweep, with set: \[\], not \[\"gpu.cus=2\"\]\. Name another folder"])
    assert content(swept.out) == before
    (tmp_path / "file").touch()
    sweep(tmp_path, *SMALL, says=["has other files and no sweep"], status=1)
    assert sorted(os.listdir(tmp_path)) == ["file"]
    call([HEDDLE, "report", tmp_path], "is a folder without a sweep", status=1)
    call([HEDDLE, "sweep", TINY, "--vary", "gpu.cus=1"], "'-o DIR' is missing", status=2)


def test_damaged_database_and_full_disk_are_named(swept, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(swept.out, out)
    data = (out / "sweep.sqlite").read_bytes()
    (out / "sweep.sqlite").write_bytes(b"no database at all " * 100)
    sweep(out, *SMALL, says=["sweep.sqlite' cannot be used: file is not a database; if"], status=1)
    (out / "sweep.sqlite").write_bytes(data[:4096] + bytes(len(data) - 4096))
    sweep(out, *SMALL, says=["sweep.sqlite' cannot be used: .*remove it"], status=1)
    # a limit on the size of files stands for a full disk
    full = tmp_path / "full"
    command = [HEDDLE, "sweep", TINY, "-o", full, *SMALL, "--", *ADD]
    call(["prlimit", "--fsize=30000", *command], "cannot write|points have not been run",
         status=1)
    sweep(full, *SMALL)
    assert content(full) == content(swept.out)


@pytest.mark.parametrize("change", [
    "UPDATE points SET time_ps = 1.5e300 WHERE point = 2",
    "ALTER TABLE points RENAME COLUMN cycles TO circles",
    "DELETE FROM sweep WHERE name = 'plan'", *only_full(
        "UPDATE points SET cycles = 'many' WHERE point = 1",
        "UPDATE points SET cycles = -5 WHERE point = 2",
        "UPDATE kernels SET cycles = x'00ff'",
        "UPDATE components SET value = 'NaN'",
        "UPDATE host SET cpu_seconds = 'fast'",
        "UPDATE settings SET number = 'b' WHERE point = 1",
        "DROP TABLE host",
        "UPDATE sweep SET value = 'null' WHERE name = 'plan'")])
def test_what_no_sweep_has_written_in_a_database_is_named(swept, tmp_path, change):
    """Neither a page is made of it, nor is the sweep continued."""
    out = tmp_path / "out"
    shutil.copytree(swept.out, out)
    with contextlib.closing(sqlite3.connect(out / "sweep.sqlite")) as connection:
        connection.execute(change)
        connection.commit()
    call([HEDDLE, "report", out, "-o", tmp_path / "page.html"], "sweep.sqlite' cannot be used",
         status=1)
    assert not (tmp_path / "page.html").exists()
    if "DELETE" not in change:  # another plan can be written where there is none
        sweep(out, *SMALL, says=["sweep.sqlite' cannot be used"], status=1)


# ---- workers


def test_words_in_front_start_each_worker(swept, tmp_path):
    front = tmp_path / "in front"
    front.write_text(f"#!/bin/sh\necho $1 >>'{tmp_path}/started'\nshift\nexec \"$@\"\n")
    front.chmod(0o755)
    sweep(tmp_path / "out", *SMALL, "--start", f"'{front}' 'one word'")
    assert set((tmp_path / "started").read_text().splitlines()) == {"one word"}
    assert content(tmp_path / "out") == content(swept.out)


HURT = "it's \"1\" $HOME \n$(touch hurt) {n} %s\\"


def test_a_folder_of_any_name_can_be_swept(tmp_path):
    folder = tmp_path / HURT
    folder.mkdir()
    shutil.copy(TINY, folder / "tiny.heddle")
    sweep(folder / "out", "--generic", "--vary", "gpu.cus=1,2", platform=folder / "tiny.heddle",
          program=(PROGRAMS / "vectoradd",), says=["2 of 2 points are in"])
    assert not list(tmp_path.rglob("hurt"))


def test_batches_become_smaller():
    assert cut(3, 2) == [1, 1, 1]
    sizes = cut(1000, 2)
    assert sum(sizes) == 1000 and sizes == sorted(sizes, reverse=True)
    assert len(sizes) < 12 and sizes[-1] < 100 < sizes[0]


# ---- values and constraints


@pytest.mark.parametrize("text, values", [
    ("1..4", "1 2 3 4"), ("64KiB..1MiB*4", "64KiB 256KiB 1MiB"), ("5,1..2,9", "5 1 2 9"),
    ("0..100+50", "0 50 100"), ("1GHz..2GHz+500MHz", "1GHz 1500MHz 2GHz"), ("lru,fifo", "lru fifo"),
    ("1KiB..4KiB*2", "1KiB 2KiB 4KiB"), ("8cy..10cy", "8cy 9cy 10cy"),
    ("1GB/s..3GB/s", "1GB/s 2GB/s 3GB/s")])
def test_values_of_a_range(text, values):
    assert parse_values(text, "here") == values.split()


def test_numbers_have_units():
    assert number_of("2KiB") == 2048 and number_of("1.5us") == 1500000
    assert number_of("lru") is None and number_of("3parsecs") is None


@pytest.mark.parametrize("text, holds", [
    ("gpu.l2 >= gpu.cus * 64KiB", True), ("gpu.l2 / gpu.cus < 64KiB", False),
    ("gpu.cus in (1, 2)", None), ("not gpu.cus == 4 or gpu.l2.ways == 8", True),
    ("1 < gpu.cus < 4", False), ("gpu.policy == 'lru'", True), ("gpu.policy > 3", None)])
def test_constraint(text, holds):
    values = {"gpu.l2": "256KiB", "gpu.cus": "4", "gpu.l2.ways": "8", "gpu.policy": "lru"}
    if holds is None:
        with pytest.raises(Mistake):
            Constraint(text, list(values), "here").holds(values)
    else:
        assert Constraint(text, list(values), "here").holds(values) == holds


def test_sample_is_the_same_for_the_same_seed():
    many = {"vary": ["a=1..1000", "b=1..1000", "c=1..1000"], "program": []}

    def taken(seed):
        return [p.values for p in of_command_line(["x"], **many, sample=5, seed=seed).points()]
    assert taken(1) == taken(1) != taken(2) and len(taken(1)) == 5
    with pytest.raises(Mistake, match="1000000000 points; at most 1000000"):
        of_command_line(["x"], **many).points()


# ---- the report


def test_front_is_of_those_that_no_other_beats():
    assert sweep_figures.front([1, 2, 3, 4, 2], [9, 5, 6, 1, 5], more=False) == [0, 1, 3]
    assert sweep_figures.front([1, 2, 3, 4], [1, 5, 4, 6], more=True) == [0, 1, 3]
    assert sweep_figures.front([1, 1], [3, 2], more=False) == [1]


def test_page_says_what_ran_when_and_where(swept, tmp_path):
    call([HEDDLE, "report", swept.out, "-o", tmp_path / "page.html"])
    head = (tmp_path / "page.html").read_text().partition("</h1>")[2].partition("<section")[0]
    told = unescape(head)
    assert f"heddle sweep {TINY} -o {swept.out} --jobs 2 " in told
    version = call([HEDDLE, "--version"]).stdout.strip()
    assert re.search(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ, on " + re.escape(
        f"{os.uname().nodename}, in {os.getcwd()}, {version}"), told)
    assert "sessions" not in told


@needs_chromium
def test_page_shows_what_the_table_says(swept, tmp_path):
    page = tmp_path / "page.html"
    call([HEDDLE, "report", swept.out, "-o", page])
    seen = dom(tmp_path, page, "result=cycles&x=n&group=gpu.l2&sort-points-0=0up")
    rows = seen.rows("points-0")
    assert [row[0] for row in rows] == list(range(1, 7))
    head = [shown for _, shown in seen.tables["points-0"][0]]
    assert [row[head.index("cycles")] for row in rows] == [
        int(r["cycles"]) for r in rows_of(swept.out)]
    assert not re.search(r"(src|href)=.(https?:)?//|@import|url\(", page.read_text())


# What somebody does with the page of a sweep, and what it draws then.
HANDS = """<script>
addEventListener('load', function () {
  var told = {};
  function choose(name, value) {
    var list = document.querySelector('select[name="' + name + '"]');
    list.value = value;
    list.dispatchEvent(new Event('change'));
  }
  function titles(id, shape) {
    return [].map.call(document.querySelectorAll(id + ' ' + shape + ' title'), function (title) {
      return title.textContent; });
  }
  told.each = titles('#sweep-lines', 'circle');
  choose('scale', 'relative');
  told.relative = titles('#sweep-lines', 'circle');
  choose('scale', 'absolute');
  choose('map-x', 'gpu.l2');
  choose('map-y', 'n');
  told.map = [].map.call(document.querySelectorAll('#sweep-map rect[data-value]'), function (cell) {
    return Number(cell.dataset.value); });
  choose('map-y', 'gpu.l2');
  told.same = document.getElementById('sweep-map').textContent;
  told.all = document.querySelector('#sweep-parallel svg').dataset.kept;
  document.querySelector('[aria-label="n 256"]').dispatchEvent(
    new KeyboardEvent('keydown', {key: ' ', bubbles: true, cancelable: true}));
  told.left = document.querySelector('#sweep-parallel svg').dataset.kept;
  told.out = document.querySelector('[aria-label="n 256"]').getAttribute('aria-checked');
  told.best = document.getElementById('sweep-kept').textContent;
  told.csv = csvOf(document.getElementById('sweep-csv').dataset.columns.split('|'));
  told.errors = errors;
  document.body.setAttribute('data-told', JSON.stringify(told));
});
</script>"""


@needs_chromium
def test_page_draws_a_line_for_each_input_a_map_and_parallel_coordinates(swept, tmp_path):
    page = tmp_path / "page.html"
    call([HEDDLE, "report", swept.out, "-o", page])
    page.write_text(page.read_text().replace("<head>", "<head>" + EARS) + HANDS)
    shown = chromium(tmp_path, "--dump-dom", f"file://{page}#result=cycles&x=gpu.l2")
    told = json.loads(unescape(re.search('data-told="(.*?)"', shown)[1]))
    assert told["errors"] == []
    rows = rows_of(swept.out)
    cycles = {(r["n"], r["gpu.l2"]): int(r["cycles"]) for r in rows}
    inputs, sizes = sorted({r["n"] for r in rows}, key=int), ("64KiB", "128KiB")
    points = [(n, size, cycles[n, size]) for n in inputs for size in sizes]

    def numbers(titles):
        found = (re.match(r"n (\d+), gpu.l2 (\w+): ([\d.]+)", title) for title in titles)
        return [(one[1], one[2], float(one[3])) for one in found]
    assert numbers(told["each"]) == [(n, size, pytest.approx(value, rel=1e-3))
                                     for n, size, value in points]
    assert numbers(told["relative"]) == [
        (n, size, pytest.approx(value / cycles[n, sizes[0]], rel=1e-3))
        for n, size, value in points]
    assert sorted(told["map"]) == sorted(cycles.values())
    assert "two different settings" in told["same"]
    assert (told["all"], told["left"], told["out"]) == ("6", "4", "false")
    assert "4 of 6 points" in told["best"]
    own = list(csv.DictReader(told["csv"].splitlines()))
    assert {(r["n"], r["gpu.l2"]): int(r["cycles"]) for r in own} == cycles


def test_page_opens_on_the_setting_that_changes_most(tmp_path):
    """Not on the first: a larger L2 does not help where a second compute unit does. An input, which
    changes more, comes behind settings of the machine."""
    out = tmp_path / "out"
    sweep(out, "--generic", "--vary", "gpu.l2=64KiB,128KiB", "--vary", "gpu.cus=1,4",
          "--vary", "{n}=16,64", program=[PROGRAMS / "matmul_tiled", "{n}"])
    call([HEDDLE, "report", out, "-o", tmp_path / "page.html"])
    text = (tmp_path / "page.html").read_text()
    listed = {name: re.findall('value="(.*?)"', options) for name, options in
              re.findall('<select name="(x|map-x|map-y)">(.*?)</select>', text)}
    assert listed == {"x": ["gpu.cus", "gpu.l2", "n"], "map-x": ["gpu.cus", "gpu.l2", "n"],
                      "map-y": ["gpu.l2", "n", "gpu.cus"]}
    assert "n: 16, 64</p>" in text


def test_plots_have_their_numbers_beside_them(swept, tmp_path):
    call([HEDDLE, "report", swept.out, "-o", tmp_path, "--plot", "cycles:n:gpu.l2", "--plot",
          "pareto:time:gpu.l2", "--plot", "gpu.dram[*].bytes_read:n"])
    rows = rows_of(swept.out)
    with open(tmp_path / "small-cycles-n-gpu.l2.csv", encoding="utf-8") as file:
        found = {(r["n"], r["gpu.l2"]): float(r["cycles"]) for r in csv.DictReader(file)}
    assert found == {(r["n"], r["gpu.l2"]): float(r["cycles"]) for r in rows}
    with open(tmp_path / "small-pareto-time-gpu.l2.csv", encoding="utf-8") as file:
        machines = list(csv.DictReader(file))
    for machine, l2 in zip(machines, ("64KiB", "128KiB")):  # geometric means over n
        times = [int(r["time_ps"]) for r in rows if r["gpu.l2"] == l2]
        assert float(machine["time"]) == pytest.approx(
            (times[0] * times[1] * times[2]) ** (1 / 3))
    assert "<polyline" in (tmp_path / "small-gpu.dram.bytes_read-n.svg").read_text()
    call([HEDDLE, "report", swept.out, "--plot", "cycels:n"], "did you mean 'cycles'", status=1)
    call([HEDDLE, "report", swept.out, "--plot", "cycles:m"], "'m' is not varied", status=1)
    call([HEDDLE, "report", swept.out, "--plot", "cycles"], "is RESULT:SETTING", status=2)
