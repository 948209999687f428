"""`--report counters` and `heddle calibrate --counters` (python/heddle/counters)."""
import csv
import io
import re
from types import SimpleNamespace

import pytest

from harness import HEDDLE, call, heddle, measure

from heddle.base.mistakes import Mistake
from heddle.counters import card, profiler, report, table

TINY = "platforms/tiny.heddle"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Two launches of a kernel with their profile."""
    folder = tmp_path_factory.mktemp("counters")
    profile = folder / "profile.csv"
    done = measure(f"{TINY} --profile instructions={profile} --report counters -- "
                   "vcopy 4096 256 2", folder=folder)
    return SimpleNamespace(folder=folder, profile=profile, stats=done.stats, file=done.stats_file,
                           said=done.stderr)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def rocprof(ran, *words):
    return heddle(f"stats {ran.file} --report counters --csv {' '.join(words)}").stdout


# ---- the table


def test_counters_stand_once_in_the_table_and_name_what_platforms_count(ran):
    found = table.read()
    names = [name for one in found.counters for name in one.names] + list(found.absent)
    assert len(names) == len(set(names)) and len(found.absent) > 100
    assert {one.kind for one in found.counters} == set(table.KINDS)
    assert {one.part for one in found.counters} <= set(found.parts)
    launch = ran.stats["kernels"][0]
    values = table.Evaluator(found, ran.stats).values(launch)
    for one in found.counters:
        value = values[one.names[0]]
        assert isinstance(value, float) != one.is_executed, (one.names, value)
        assert isinstance(value, float) or value == "needs --profile instructions"


def test_expressions_are_those_of_their_definitions(ran):
    """By numbers that no two parts of an expression have in common."""
    waiting = dict.fromkeys(ran.stats["kernels"][0]["slot_cycles"]["waiting"], 0) | {
        "vmcnt": 1000, "barrier": 200, "stores": 40, "valu_busy": 8, "scalar_busy": 12,
        "lds_busy": 16, "lds_conflict": 24, "other_busy": 20}
    launch = {**ran.stats["kernels"][0], "components": {
        "gpu.l2[*]": {"reads": 10, "writes": 5, "hits": 3, "misses": 12, "mshr_hits": 4},
        "gpu.sa[*].l1s": {"reads": 50, "hits": 20, "misses": 30, "mshr_hits": 13},
        "gpu.sa[*].l1i": {"hits": 2, "misses": 9, "mshr_hits": 1}},
        "slot_cycles": {**ran.stats["kernels"][0]["slot_cycles"], "waiting": waiting}}
    found = table.Evaluator(table.read(), ran.stats).values(launch)
    expected = {"TCC_HIT": 7, "TCC_MISS": 8, "TCC_REQ": 15, "L2CacheHit": 100 * 7 / 15,
                "SQC_DCACHE_MISSES": 17, "SQC_DCACHE_MISSES_DUPLICATE": 13, "SQC_TC_REQ": 25,
                "SQ_WAIT_ANY": 310, "SQ_WAIT_INST_ANY": 20, "SQ_WAIT_INST_LDS": 10,
                "TCC_WRITEBACK": 0, "SQ_INSTS_VALU": 0}
    assert {name: found[name] for name in expected} == expected


def test_what_a_platform_does_not_count_has_no_value_and_a_reason(ran):
    stats = {**ran.stats, "components": {
        path: {name: value for name, value in of.items() if name != "writebacks"}
        for path, of in ran.stats["components"].items() if ".l1s" not in path}}
    values = table.Evaluator(table.read(), stats).values(stats["kernels"][0])
    assert values["SQC_DCACHE_REQ"] == "the platform has no l1s"
    assert values["TCC_WRITEBACK"] == "the platform's l2 do not count writebacks"
    assert isinstance(values["L2CacheHit"], float)
    launch = {**stats["kernels"][0], "components": {"gpu.l2[*]": {}}}
    assert table.Evaluator(table.read(), stats).values(launch)["L2CacheHit"] \
        == "nothing was counted that it is a share of"


# ---- the report


def test_counters_are_those_of_the_statistics(ran):
    said = dict(re.findall(r"^  ([A-Z]\w+) +(\d+) ", ran.said, re.MULTILINE))
    launches = ran.stats["kernels"]
    sums = {}
    for launch in launches:
        for path, counts in launch["components"].items():
            for name, value in counts.items():
                if isinstance(value, int):
                    key = path.rpartition(".")[2].removesuffix("[*]"), name
                    sums[key] = sums.get(key, 0) + value
    assert said["SQ_WAVES"] == "128" and said["SQ_INSTS_VMEM_RD"] == said["SQ_INSTS_VMEM_WR"] \
        == "128"
    assert int(said["SQ_INSTS"]) == sum(k["wavefront_instructions"] for k in launches)
    assert int(said["SQ_INSTS_VALU"]) == sums["cu", "valu"]
    assert int(said["GRBM_GUI_ACTIVE"]) == sum(k["cycles"] for k in launches)
    assert int(said["TCC_REQ"]) == sums["l2", "reads"] + sums["l2", "writes"]
    assert int(said["TCC_EA_RDREQ"]) * 64 == sums["dram", "bytes_read"]
    assert re.search(r"^  zero: .*SQ_INSTS_LDS", ran.said, re.MULTILINE)
    plain = heddle(f"stats {ran.file} --report counters").stdout
    assert "SQ_INSTS_VMEM_RD" not in plain.split("not given, needs --profile")[0]
    assert "  SQ_INSTS_LDS  " in heddle(f"stats {ran.file} --report counters --all").stdout


def test_counters_add_up_as_those_of_a_card(ran):
    """In each launch. What a card's file holds to (test_measured_file_...) a run holds to."""
    evaluator = table.Evaluator(table.read(), ran.stats)
    for launch in ran.stats["kernels"]:
        of = evaluator.values(launch)
        assert of["TCC_HIT"] + of["TCC_MISS"] == of["TCC_REQ"] > 0
        assert of["TCC_READ"] + of["TCC_WRITE"] + of["TCC_ATOMIC"] == of["TCC_REQ"]
        assert of["SQC_DCACHE_HITS"] + of["SQC_DCACHE_MISSES"] \
            + of["SQC_DCACHE_MISSES_DUPLICATE"] == of["SQC_DCACHE_REQ"] > 0
        assert of["SQC_ICACHE_HITS"] + of["SQC_ICACHE_MISSES"] \
            + of["SQC_ICACHE_MISSES_DUPLICATE"] == of["SQC_ICACHE_REQ"] > 0
        assert of["TCP_TCC_READ_REQ"] + of["SQC_TC_REQ"] == of["TCC_READ"]
        assert of["SQC_TC_REQ"] == of["SQC_TC_INST_REQ"] + of["SQC_TC_DATA_READ_REQ"]
        assert of["SQ_WAIT_ANY"] + of["SQ_WAIT_INST_ANY"] + of["SQ_ACTIVE_INST_ANY"] \
            == pytest.approx(of["SQ_WAVE_CYCLES"], rel=0.1)
        assert of["SQ_INSTS"] > of["SQ_ACTIVE_INST_ANY"] - of["SQ_WAVES"]
        assert of["SQ_WAIT_INST_LDS"] <= of["SQ_WAIT_INST_ANY"]
        assert of["FetchSize"] * 16 == of["TCC_EA_RDREQ"]
        assert of["SQ_WAVES"] == of["SPI_CSN_WAVE"] == of["Wavefronts"] == 64


def test_csv_has_the_columns_of_rocprof_and_no_zero_for_what_is_not_given(ran):
    rows = rows_of(rocprof(ran))
    assert [row["Dispatch_ID"] for row in rows] == ["0", "1"]
    assert "SQ_INSTS_VMEM_RD" not in rows[0] and rows[0]["Grid_Size"] == ""
    assert {row["Kernel_Name"] for row in rows} == {"vcopy(double const*, int, double*)"}
    for row, launch in zip(rows, ran.stats["kernels"]):
        assert int(row["GRBM_COUNT"]) == launch["cycles"]
        assert int(row["End_Timestamp"]) == launch["end_ps"] // 1000
        assert int(row["TCP_TCC_READ_REQ_sum"]) == 512  # of 64 bytes
    assert "SQ_INSTS_VMEM_RD" in rows_of(rocprof(ran, f"--profile {ran.profile}"))[0]
    assert {len(row) for row in profiled(ran)} == {5}


def profiled(ran):
    """What the profiler's reader makes of it: the same launches."""
    path = ran.folder / "own.csv"
    path.write_text(rocprof(ran))
    found = profiler.read(str(path))
    assert [one.number for one in found] == ["0", "1"]
    return [vars(one) for one in found]


def test_mistakes_of_the_report_are_named(ran):
    heddle(f"stats {ran.file} --profile {ran.profile}", "is for '--report counters'", status=2)
    other = ran.folder / "other.csv"
    lines = ran.profile.read_text().splitlines(True)
    other.write_text("".join(lines[:-1]))
    heddle(f"stats {ran.file} --report counters --profile {other}", "is not the profile of this",
           status=1)
    empty = {**ran.stats, "kernels": []}
    with pytest.raises(Mistake, match="has no launch with timing"):
        report.counted(empty, "x")
    with pytest.raises(Mistake, match="without AMD's compute units"):
        report.counted({**ran.stats, "components": {}}, "x")


# ---- beside a card


def calibrate(ran, *words, **how):
    return call([HEDDLE, "calibrate", ran.file, "-o", ran.folder / "out", *words], **how)


def compared(text):
    """The lines of the table of counters."""
    return {cells[1]: cells for line in text.splitlines() if line.startswith("| ")
            for cells in [[cell.strip() for cell in line.split("|")]]}


def test_own_counters_are_equal_to_themselves_in_each_layout_of_a_card(ran, tmp_path):
    own = rocprof(ran, f"--profile {ran.profile}")
    head, *rows = csv.reader(io.StringIO(own))
    (tmp_path / "wide.csv").write_text("\ufeff# of a card\n" + own.replace(
        "vcopy(double const*, int, double*)", "vcopy(double const*, int, double*) [clone .kd]"))
    named = ["Dispatch_Id", "Kernel_Name", "Start_Timestamp", "End_Timestamp"]
    with open(tmp_path / "long.csv", "w", encoding="utf-8") as file:  # rocprofv3
        out = csv.writer(file)
        out.writerow([*named, "Counter_Name", "Counter_Value"])
        for row in rows:
            cells = dict(zip(head, row))
            cells["Dispatch_Id"] = cells["Dispatch_ID"]
            out.writerows([*(cells[name] for name in named), name.removesuffix("_sum"), cells[name]]
                          for name in head[12:])
    for name, columns in ("a.csv", head[:30]), ("b.csv", [*head[:12], *head[30:]]):
        with open(tmp_path / name, "w", encoding="utf-8") as file:
            csv.DictWriter(file, columns, extrasaction="ignore").writeheader()
            csv.DictWriter(file, columns, extrasaction="ignore").writerows(
                dict(zip(head, row)) for row in rows)
    pages = []
    for files in (["wide.csv"], ["long.csv"], ["a.csv", "b.csv"]):
        words = [word for file in files for word in ("--counters", tmp_path / file)]
        pages.append(compared(calibrate(ran, *words, "--profile", ran.profile).stdout))
        assert {cells[6] for name, cells in pages[-1].items()
                if name not in ("counter", "---", "time", "L2CacheHit")} == {"equal"}
        assert {"FetchSize", "L2CacheHit", "Wavefronts"} <= set(pages[-1])
        assert pages[-1]["time"][6] in ("equal", "near")  # in whole nanoseconds
        assert pages[-1]["L2CacheHit"][6] in ("equal", "near")  # in as many digits as it has there
    assert pages[0] == pages[1] == pages[2]
    written = rows_of((ran.folder / "out/counters.csv").read_text())
    assert {row["dispatch"] for row in written} == {"0", "1"} and len(written) > 150


def test_what_differs_from_a_card_is_named_with_the_part_of_the_model(ran, tmp_path):
    rows = rows_of(rocprof(ran))
    for row in rows:
        row["SQ_INSTS_SALU"] = str(int(row["SQ_INSTS_SALU"]) + 1)
        row["TCC_HIT_sum"] = str(float(row["TCC_HIT_sum"]) * 1.03 + 1)
        row["TCC_READ_sum"] = str(3 * int(row["TCC_READ_sum"]))
        row["Kernel_Name"] = "another(double*)"
        row["TCP_GATE_EN1_sum"], row["SQ_NEVER_HEARD"] = "7", "8"
        half = int(row.pop("TCC_WRITE_sum")) // 2
        row["TCC_WRITE[0]"], row["TCC_WRITE[1]"] = str(half), str(half)
    with open(tmp_path / "card.csv", "w", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows([*rows, {**rows[0], "Dispatch_ID": "2"}])
    told_of = calibrate(ran, "--counters", tmp_path / "card.csv").stdout
    assert "2 dispatches, on the card another(double*); the card has 1 more." in told_of
    assert re.search(r"\d+ of \d+ that must be equal are; not SQ_INSTS_SALU\.", told_of)
    found = compared(told_of)
    assert found["SQ_INSTS_SALU"][6:8] == ["near", "The code: another compiler, version or flags; "
                                           "`heddle disasm` shows heddle's."]
    assert found["TCC_HIT"][6] in ("near", "**differs**") and found["TCC_HIT"][6] != "equal"
    assert found["TCC_READ"][5:7] == ["0.333", "**differs**"] and "cache" in found["TCC_READ"][7]
    assert found["TCC_WRITE"][6] == "equal"
    assert "- TCP_GATE_EN1: the pipeline between" in told_of
    assert "- SQ_NEVER_HEARD: it is not in heddle's table" in told_of


HEAD = "Dispatch_ID,Kernel_Name,SQ_WAVES,obj\n"
HOSTILE = {
    "is empty": b"",
    "profiler's table: no column": b"a,b\n1,2\n",
    "is not a profiler's table": b"# Counters\n\nof one, and another\nprogram\n",
    "has no launches$": HEAD.encode(),
    "has no launches: no row": (HEAD + ",vcopy,1,0x7f\n").encode(),
    "line 2: 3 cells, but the header has 4": (HEAD + "0,vcopy,1\n").encode(),
    "is not text in UTF-8": HEAD.encode("utf-16"),
    r"line \d: (unexpected end of data|',' expected)": (HEAD + '0,"vcopy,1,2\n').encode(),
    "line 2: (line contains NUL|field larger)": (HEAD + "0,v" + "x" * 200000 + ",1,2\n").encode(),
    "'0x12' of SQ_WAVES is not a number": (HEAD + "0,vcopy,0x12,2\n").encode(),
    "SQ_WAVES is inf, which nothing": (HEAD + "0,vcopy,1e400,2\n").encode(),
    "SQ_WAVES is -1, which nothing": (HEAD + "0,vcopy,-1,2\n").encode(),
    "launch 0 appears twice": (HEAD + "0,vcopy,1,2\n0,vcopy,1,2\n").encode(),
    "launch 0 appears twice with SQ_WAVES":
        b"Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n0,v,SQ_WAVES,1\n0,v,SQ_WAVES,1\n",
    "'many' of SQ_WAVES is not a number":
        b"Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n0,vcopy,SQ_WAVES,many\n",
    "no kernel of .*one, two. is one of .*vcopy":
        (HEAD + "0,one,1,2\n1,two,1,2\n").encode(),
}


@pytest.mark.parametrize("says", HOSTILE)
def test_files_that_no_profiler_wrote_are_named_mistakes(ran, tmp_path, says):
    (tmp_path / "card.csv").write_bytes(HOSTILE[says])
    options = SimpleNamespace(counters=[str(tmp_path / "card.csv")], profile=None,
                              files=[str(ran.file)], output=tmp_path / "out")
    with pytest.raises(Mistake, match=says):
        card.main(options)


def test_files_of_different_runs_are_not_put_together(tmp_path):
    for name, kernel in ("a.csv", "one"), ("b.csv", "two"):
        (tmp_path / name).write_text(f"{HEAD}0,{kernel},1,2\n")
    with pytest.raises(Mistake, match="the files are of different runs"):
        card.merged([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])


def test_missing_file_is_named_by_the_command(ran):
    calibrate(ran, "--counters", ran.folder / "none.csv", status=1)
    told_of = calibrate(ran, status=2)  # without a word of counters
    assert "is not a description of a calibration (TOML)" in told_of.stderr


def test_names_of_kernels_are_compared_without_what_surrounds_them():
    for name in ("f(int)", "void a::f<1>(int)", "f.kd", "f(int) [clone .kd]",
                 "(anonymous namespace)::f(double*)"):
        assert profiler.short(name) == "f"


def test_measured_file_of_a_card_has_the_launches_of_its_source():
    """docs/evidence/counters.md is made from it."""
    found = card.merged(["docs/evidence/measured/mi200-vcopy.csv"])
    counted = [card.card_counters(launch, "") for launch in found]
    assert [one["TCC_MISS"] for one in counted] == [131080, 131084, 131084]
    for one in counted:  # what has to be so in any such file
        assert one["TCC_HIT"] + one["TCC_MISS"] == one["TCC_REQ"]
        assert one["SQ_INSTS"] - 3 * one["SQ_WAVES"] == one["SQ_ACTIVE_INST_ANY"]
    assert [round(card.nanoseconds(one)) for one in found] == [19840, 16480, 15680]
