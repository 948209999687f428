"""Time series: what each counter grew by in every interval of simulated time."""
import csv
import io
import json
import re

import pytest

from harness import heddle, same, same_file

TINY = "platforms/tiny.heddle"
TESTER = "tests/system/platforms/threads.heddle --set tester.threads=2"


def rows_of(path):
    head, *rows = csv.reader(path.open())
    return head, [list(map(int, row)) for row in rows]


def counters(stats):
    """All that are not 0, by the names that columns have."""
    found = {}
    for section in "components", "connections", "links":
        for path, told in stats[section].items():
            for name, value in told.items():
                inner = value if isinstance(value, dict) else {"": value}
                for kind in inner.keys() & {"", "count", "sum", "messages", "bytes", "busy_ps"}:
                    if name != "latency_ps" and not name.endswith("_channels"):
                        found[f"{path}.{name}.{kind}".strip(".")] = inner[kind]
    return {name: value for name, value in found.items() if value and not isinstance(value, str)}


@pytest.mark.parametrize("text, every", [(f"{TINY} {{}} -- matmul_tiled", "777cy"),
                                         (f"{TESTER} {{}}", "333ns")], ids=["tiny", "tester"])
def test_intervals_add_up_to_the_statistics(measure, tmp_path, text, every):
    """And are as long as was asked for; the statistics are those of a run without them."""
    plain = measure(text.format(""))
    path = tmp_path / "s.csv"
    done = measure(text.format(f"--series {path} --every {every}"))
    same(plain, done)
    head, rows = rows_of(path)
    sums = dict(zip(head, map(sum, zip(*rows))))
    assert {n: v for n, v in sums.items() if n not in ("from_ps", "to_ps")} == counters(done.stats)
    step = 333_000 if every == "333ns" else 777_000  # at 1 GHz
    assert [row[1] for row in rows[:-1]] == [step * i for i in range(1, len(rows))]
    assert [row[0] for row in rows] == [0] + [row[1] for row in rows[:-1]]
    assert rows[-1][1] == done.stats["time_ps"] + 1


def test_a_link_is_taken_for_no_longer_than_there_is_time(measure, tmp_path):
    """What has been sent and waits for it is no use of it yet."""
    path = tmp_path / "s.csv"
    done = measure(f"{TINY} --series {path} --every 200ns --series-counter '*.busy_ps' "
                   "-- vectoradd 4096")
    head, rows = rows_of(path)
    assert all(busy <= row[1] - row[0] for row in rows for busy in row[2:])
    assert max(busy / (row[1] - row[0]) for row in rows[:-1] for busy in row[2:]) > 0.99
    assert dict(zip(head[2:], map(sum, list(zip(*rows))[2:]))) == {
        name: value for name, value in counters(done.stats).items() if name in head}


def test_samples_do_not_depend_on_threads(measure, tmp_path):
    """Within windows and at their ends."""
    for threads in 1, 2:
        measure(f"{TESTER} --threads {threads} --every 7333ns --series {tmp_path}/{threads}.csv "
                f"--record perfetto={tmp_path}/{threads}.json")
    same_file(tmp_path / "1.csv", tmp_path / "2.csv")
    same_file(tmp_path / "1.json", tmp_path / "2.json")


def test_a_row_holds_what_comes_before_its_end(measure, tmp_path):
    """The same as a run that is cut there, whose last edge is a little before its end."""
    path, cut = tmp_path / "s.csv", 3000
    measure(f"{TINY} --every {cut}cy --series {path} -- vectoradd")
    early = measure(f"{TINY} --max-cycles {cut - 1} -- vectoradd", status=6)
    head, rows = rows_of(path)
    first = {name: value for name, value in zip(head[1:], rows[0][1:]) if value}
    before, cut_off = first.pop("to_ps") - early.stats["time_ps"] - 1, counters(early.stats)
    for name in [name for name in first if name.endswith("busy_ps")]:
        assert 0 <= first.pop(name) - cut_off.pop(name) <= before
    assert first == cut_off


def test_counters_can_be_chosen_and_are_tracks_of_the_trace(measure, tmp_path):
    done = measure(f"{TINY} --every 1us --series {tmp_path}/s.csv --record perfetto={tmp_path}/t "
                   "--series-counter gpu.l2.hits --series-counter *.instructions -- matmul_tiled")
    head, rows = rows_of(tmp_path / "s.csv")
    assert len(head) > 3 and all(name.endswith((".hits", ".instructions")) for name in head[2:])
    tracks = [event for event in json.loads((tmp_path / "t").read_text())["traceEvents"]
              if event["ph"] == "C" and event["pid"] == 4]
    told = {(event["name"], name, event["ts"]): value
            for event in tracks for name, value in event["args"].items() if value}
    wanted = {(*name.rsplit(".", 1), row[0] / 1e6): value
              for row in rows for name, value in zip(head[2:], row[2:]) if value}
    assert told == wanted and done.stats["components"]["gpu.l2[0]"]["hits"]


def test_measures_over_time_are_a_table(measure, tmp_path):
    path = tmp_path / "s.csv"
    done = measure(f"{TINY} --every 300cy --series {path} -- matmul_tiled")
    told = heddle(f"stats {done.stats_file} --report series --series {path} "
                  "--series-counter instructions --series-counter active_cycles").stdout
    rows = list(csv.DictReader(io.StringIO(told)))
    lookups = [float(row["part"]) for row in rows
               if row["path"] == "gpu.l2tlb" and row["measure"] == "utilisation"]
    assert sum(lookups) == done.components["gpu.l2tlb"]["lookups"]
    for name in "instructions", "active_cycles":
        wanted = done.total(r"^gpu.sa\[.*cu\[.\]$", name)
        own = [row for row in rows if row["measure"] == name]
        assert sum(int(row["part"]) for row in own) == wanted
        assert name == "instructions" or all(
            int(row["part"]) <= int(row["whole"]) for row in own)


@pytest.mark.parametrize("change, says", [
    (lambda text: text.replace("from_ps", "begin"), "is not what"),
    (lambda text: text.replace("gpu.l2[0].hits", "gpu.l2[9].hits"), "not of this run.*l2.9"),
    (lambda text: re.sub("\n0,", "\n-,", text), "a row that is not all numbers"),
    (lambda text: text.rstrip() + ",1\n", "does not fit its head")])
def test_other_files_are_no_series(measure, tmp_path, change, says):
    path = tmp_path / "s.csv"
    done = measure(f"{TINY} --every 1us --series {path} -- matmul_tiled")
    path.write_text(change(path.read_text()))
    heddle(f"stats {done.stats_file} --report series --series {path}", says, status=1)
    heddle(f"report {done.stats_file} --series {path} -o {tmp_path}/p.html", says, status=1)


@pytest.mark.parametrize("options, says", [
    ("--series s.csv", "needs an interval"), ("--every 1us", "give either"),
    ("--every 0us --series s.csv", "above 0"),
    ("--every 2GHz --series s.csv", "time with its unit"),
    ("--every 1us --series s.csv --mode functional", "over time"),
    ("--every 1us --series s.csv --series-counter ''", "is empty")])
def test_wrong_options_are_refused(run, options, says):
    run(f"{TINY} {options} -- vectoradd", says, status=2)


def test_unknown_counters_and_wrong_paths_are_named(run):
    run(f"{TINY} --every 1us --series no/such/s.csv -- vectoradd", "cannot write there",
        status=1)
    run(f"{TINY} --every 1us --series s.csv --series-counter gpu.l9 -- vectoradd",
        "no counter of the platform", status=7)
