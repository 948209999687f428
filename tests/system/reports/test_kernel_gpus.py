"""A kernel that runs on several GPUs is a kernel of each in reports: they may be of other kinds."""
import csv
import io
import json
import re
import sqlite3

import pytest

import harness

LAUNCHED = "platforms/r9nano_x4.heddle --generic --set gpu.arrays=1 --set gpu.banks=2"
NAME = "sum_windows(int const*, int*, int, int)"
LABELS = [f"{NAME} on GPU {gpu}" for gpu in range(4)]


@pytest.fixture(scope="module")
def launched(tmp_path_factory):
    """The L1s of GPU 3 are slower."""
    folder = tmp_path_factory.mktemp("gpus")
    return harness.measure(f"{LAUNCHED} --set gpu[3].sa.l1v.latency=400cy "
                           f"--profile instructions={folder}/profile.csv -- each_gpu 4 4",
                           folder=folder), folder / "profile.csv"


def test_statistics_report_each_gpu(launched, heddle):
    done, _ = launched
    cycles = [k["cycles"] for k in sorted(done.stats["kernels"], key=lambda k: k["gpu"])]
    assert cycles[3] > cycles[0] + 300
    told = heddle(f"stats {done.stats_file} --report cpi").stdout
    assert re.findall(r"^(sum.*)\n  1 launch, (\d+) cycles", told, re.M) == [
        (label, str(of)) for label, of in zip(LABELS, cycles)]
    for report, column in (("cpi", "kernel"), ("limits", "kernel"), ("measures", "scope")):
        rows = csv.DictReader(io.StringIO(
            heddle(f"stats {done.stats_file} --report {report} --csv").stdout))
        assert list(dict.fromkeys(row[column] for row in rows if row[column] != "run")) == LABELS


def test_measures_are_of_the_launches_on_that_gpu(launched, heddle):
    done, _ = launched
    rows = csv.DictReader(io.StringIO(
        heddle(f"stats {done.stats_file} --report measures --csv").stdout))
    spans = {row["scope"]: int(row["time_ps"]) for row in rows}
    for k in done.stats["kernels"]:
        assert spans[LABELS[k["gpu"]]] == k["end_ps"] - k["start_ps"]


def test_diagrams_ask_for_the_gpu(launched, heddle):
    stats = launched[0].stats_file
    heddle(f"dot --stats {stats} --kernel sum_windows", "ran on GPUs 0, 1, 2, 3; say on which",
           status=1)
    heddle(f"dot --stats {stats} --kernel 'sum_windows on GPU 4'",
           "no kernel of that name on that GPU, but on 0, 1, 2, 3", status=1)
    heddle(f"dot --stats {stats} --kernel 'sum_windows on GPU 2'", "on GPU 2")


def test_profiles_and_pages_keep_gpus_apart(launched, heddle, tmp_path):
    done, table = launched
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    for k in done.stats["kernels"]:
        told = sum(sum(kinds.values()) for group, kinds in k["slot_cycles"].items()
                   if group in ("issued", "executing", "waiting"))
        assert told == sum(int(value) for row in rows if int(row["device"]) == k["gpu"]
                           for name, value in row.items() if "." in name)
    page = tmp_path / "page.html"
    heddle(f"report {done.stats_file} --profile {table} -o {page}")
    text = page.read_text(encoding="utf-8")
    assert all(text.count(f"sum_windows on GPU {gpu}<") >= 3 for gpu in range(4))


def test_runs_are_compared_gpu_by_gpu(launched, heddle, tmp_path):
    """A run on one GPU shows beside the same GPU of the other run."""
    done = launched[0]
    one = json.loads(done.stats_file.read_text())
    one["kernels"] = [k for k in one["kernels"] if k["gpu"] == 3]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(one))
    rows = csv.DictReader(io.StringIO(
        heddle(f"stats {done.stats_file} {other} --report cpi --csv").stdout))
    sums = {label: [0, 0] for label in LABELS}
    for row in rows:
        sums[row["kernel"]][0] += int(row["a"])
        sums[row["kernel"]][1] += int(row["b"])
    assert all(sums[label][1] == 0 < sums[label][0] for label in LABELS[:3])
    assert sums[LABELS[3]][0] == sums[LABELS[3]][1] > 0


def test_sweeps_count_each_gpu(heddle, tmp_path):
    heddle(f"sweep {LAUNCHED} --vary driver.in_flight=64,128 -o {tmp_path}/sweep -- each_gpu 4 1")
    with sqlite3.connect(tmp_path / "sweep" / "sweep.sqlite") as sql:
        rows = sql.execute("SELECT point, name, gpu, launches FROM kernels").fetchall()
    assert sorted(rows) == [(point, NAME, gpu, 1) for point in (1, 2) for gpu in range(4)]


@pytest.mark.parametrize("visible,gpu", [("2", 2), ("3,1", 3)])
def test_program_has_the_gpus_that_are_visible(measure, visible, gpu):
    done = measure(f"{LAUNCHED} --mode functional -- vectoradd",
                   env={"HIP_VISIBLE_DEVICES": visible})
    assert [kernel["gpu"] for kernel in done.stats["kernels"]] == [gpu]


@pytest.mark.parametrize("visible", ["", "4", "gpu", "1,1", "1,"])
def test_list_of_visible_gpus_names_each_once(run, visible):
    run(f"{LAUNCHED} --mode functional -- vectoradd",
        f"HIP_VISIBLE_DEVICES={visible}: GPUs of the platform are 0 to 3", status=7,
        env={"HIP_VISIBLE_DEVICES": visible})
