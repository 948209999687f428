"""Statistics and the report on where the time of kernels went."""
import csv
import io
import json
import re
import resource
import shlex

import pytest

from harness import ROOT, run
from programs import GOOD, quick_and_full

from heddle.verdict import noise_floor

TINY = "platforms/tiny.heddle"
LAUNCHING = [p for p in GOOD if p != "copies"]  # which launches no kernel


@pytest.mark.parametrize("program",
                         quick_and_full("vectoradd matmul_tiled nbody histogram aes128", LAUNCHING))
def test_every_slot_cycle_of_a_kernel_is_reported_once(measure, heddle, program):
    """And in words there is a reason."""
    done = measure(f"{TINY} --report cpi -- {program}", "of waves", "occupancy: .* limited by",
                   "^  limited by")
    kernels = done.stats["kernels"]
    table = heddle(f"stats {done.stats_file} --report cpi --csv").stdout
    reported = sum(int(row["slot_cycles"]) for row in csv.DictReader(io.StringIO(table)))
    told = sum(sum(kinds.values()) for k in kernels for kinds in k["slot_cycles"].values())
    assert kernels and told == reported == sum(k["cycles"] * k["slots"] for k in kernels)
    # What issued is what the compute units count, but for the s_endpgm of each wavefront, and for
    # other kernels that ran at the same time.
    units = [k["components"]["gpu.sa[*].cu[*]"] for k in kernels]
    issued = sum(sum(k["slot_cycles"]["issued"].values()) for k in kernels)
    counted = 4 * sum(u["instructions"] - u["wavefronts_run"] for u in units)
    assert issued < counted if any(k["overlaps"] for k in kernels) else issued == counted


def test_report_needs_no_file(run):
    run(f"{TINY} --report cpi -- vectoradd", "limited by")


def test_two_runs_are_compared(measure, heddle):
    a, b = (measure(f"{TINY} --generic --set gpu.l2={size} -- matmul_tiled").stats_file
            for size in ("8KiB", "256KiB"))
    heddle(f"stats {a} {b} --report cpi", "difference", "^  issued ")
    lines = heddle(f"stats {a} {b}").stdout.splitlines()
    heads = [line.split("  ")[0] for line in lines if line and line[0] != " "]
    assert heads[3:] == ["cycles by kernel", heads[4], "settings"] and len(lines) < 40
    assert heads[2].startswith("noise floor: ")
    assert re.match(r"the \d+ largest of \d+ changes; --all shows all; \d+ within the noise floor",
                    heads[4])
    whole = heddle(f"stats {a} {b} --all").stdout.splitlines()
    assert len(whole) > len(lines)
    only = heddle(f"stats {a} {b} --below gpu.l2 --all").stdout.split("\n\n")[1].splitlines()[2:]
    assert only and all(line.startswith("  gpu.l2[*]") for line in only)
    heddle(f"stats {a} {b} --threshold 100", "noise floor: 100 %, as --threshold says",
           r"no counter differs; \d+ within the noise floor are left out")
    heddle(f"stats {a} {b} --threshold much", "not a percentage", status=2)
    heddle(f"stats {a} --below gpu", "name a second file", status=2)


def test_noise_floor_is_found_by_what_ran(measure, heddle, tmp_path, monkeypatch):
    """As it was measured with the settings of one of the runs, else with others; never that of
    other work, for which it is assumed. Each counter has its own."""
    a, b, c, other = (measure(f"{TINY} --generic --set gpu.l2={size} -- matmul_tiled {n}")
                      for size, n in (("8KiB", 64), ("256KiB", 64), ("64KiB", 64), ("8KiB", 32)))
    monkeypatch.setenv("HEDDLE_CACHE", str(tmp_path))
    files = [one.stats_file for one in (a, b, c)]
    heddle(f"stats {files[0]} {files[1]}", "^noise floor: 4 %, assumed", r"gpu.l2\[\*\] evictions")
    noise_floor.keep(other.stats, 0.3, {}, 9)
    heddle(f"stats {files[0]} {files[1]}", "^noise floor: 4 %, assumed")
    noise_floor.keep(a.stats, 0.9, {"gpu.l2[*] evictions": 1.0}, 4)
    told = heddle(f"stats {files[0]} {files[1]}", "^noise floor: 90 %, measured by .* in 4 runs",
                  "matmul_tiled.*within the noise floor$", "noise floor are left out$")
    assert "gpu.l2[*] evictions" not in told.stdout
    heddle(f"stats {files[1]} {files[2]}", "in 4 runs that are equally right, with other settings")
    assert "gpu.l2[*] evictions" in heddle(f"stats {files[0]} {files[1]} --all").stdout


def test_what_is_zero_is_counted_or_shown(measure, heddle):
    """A row for each number of the file either way."""
    done = measure("platforms/tiny.heddle -- vectoradd")
    short = heddle(f"stats {done.stats_file}").stdout.splitlines()
    whole = heddle(f"stats {done.stats_file} --all").stdout.splitlines()
    count = int(re.fullmatch("([0-9]+) more are zero; --all shows them", short[-1])[1])
    zeros = [line for line in whole if line.endswith(" 0")]
    assert count == len(zeros) > 100 and not [line for line in short if line.endswith(" 0")]
    assert {" ".join(line.split()) for line in whole} >= {
        " ".join(line.split()) for line in short[:-1]}


@pytest.mark.parametrize("command", ["stats", "stats --report cpi", "report"])
def test_runs_without_a_common_kernel_are_not_compared(measure, heddle, command):
    nbody, histogram = (measure(f"{TINY} -- {p}").stats_file for p in ("nbody", "histogram"))
    heddle(f"{command} {nbody} {histogram}", "no kernel in common", status=1)


def test_runs_of_other_work_or_of_another_mode_are_told(measure, heddle, tmp_path):
    small, large, functional = (
        measure(f"{TINY} {words}").stats_file for words in (
            "-- vectoradd 64", "-- vectoradd 256", "--mode functional -- vectoradd 64"))
    heddle(f"stats {small} {large}", r"vectoradd.* did not do the same work: it executed \d+, "
           r"then \d+ instructions")
    heddle(f"report {small} {large} -o {tmp_path}/page.html")
    assert "did not do the same work" in (tmp_path / "page.html").read_text()
    assert "same work" not in heddle(f"stats {small} {small}").output
    heddle(f"stats {small} {functional}", "timing mode and .* in functional mode", status=1)


def test_a_copy_of_a_platform_is_not_taken_for_the_one_of_the_library(run, heddle, tmp_path):
    copy, moved, stats = (tmp_path / name for name in ("tiny.heddle", "away.heddle", "s.json"))
    copy.write_text((ROOT / TINY).read_text().replace("l2 = 256KiB", "l2 = 64KiB"))
    run(f"{copy} --stats {stats} -- vectoradd 64")
    heddle(f"stats --report measures {stats}", r"gpu\.l2\[\*\]")
    copy.rename(moved)
    heddle(f"stats --report measures {stats}", "is not a run of '.*tiny.heddle' as it is now",
           status=1)
    heddle(f"stats --report measures {stats} --description {moved}", r"gpu\.l2\[\*\]")


def test_statistics_say_what_ran(run, tmp_path):
    """With the host, the command and its date; without, what the input is."""
    text = f"{TINY} --set gpu.l2=64KiB --stats {tmp_path}/s.json {{}} -- vectoradd 64"
    run(text.format(""), "^PASS")
    told = json.loads((tmp_path / "s.json").read_text())
    assert told["stamp"]["description"] == TINY
    host = told["host"]
    program = shlex.split(host["command"].partition(" -- ")[2])
    assert program[1:] == ["64"] and program[0].endswith("vectoradd")
    assert "--set gpu.l2=64KiB" in host["command"] and host["command"].endswith("vectoradd 64")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", host["date"])
    assert host["name"] and host["folder"].startswith("/")


def test_reports_have_their_names(run, measure, heddle):
    run(f"{TINY} --report ipc -- vectoradd", "it is cpi, limits, trust, counters or dram",
        status=2)
    stats = measure(f"{TINY} -- vectoradd").stats_file
    heddle(f"stats {stats} --report ipc", "it is cpi, measures, limits, series, trust, c",
           status=2)
    heddle(f"stats {stats} {stats} --report limits", "is of one run", status=2)


def test_each_memory_controller_has_a_line(measure, heddle):
    done = measure(f"{TINY} --report dram -- vectoradd")
    told = [line.split() for line in done.stderr.splitlines() if line.startswith("dram[")]
    counts = [done.components[f"gpu.dram[{i}]"] for i in (0, 1)]
    moved = [c["bytes_read"] + c["bytes_written"] for c in counts]
    assert [[line[0], *line[2:6], line[6]] for line in told] == [
        [f"dram[{i}]:", *(str(counts[i][name]) for name in ("reads", "writes", "bytes_read",
                                                            "bytes_written")),
         f"{100 * moved[i] / max(moved):.1f}"] for i in (0, 1)]
    assert f"\n{sum(moved) / max(moved):.2f} of 2 controllers in use" in done.stderr
    assert heddle(f"stats {done.stats_file} --report dram --description {TINY}").stdout \
        in done.stderr


def test_functional_mode_has_no_time_to_report(run, measure, heddle):
    run(f"{TINY} --mode functional --report cpi -- vectoradd", "where time went", status=2)
    quick = measure(f"{TINY} --mode functional -- vectoradd").stats_file
    heddle(f"stats {quick} --report cpi", "nothing to report", status=1)


def test_statistics_that_do_not_add_up_are_refused(measure, heddle, tmp_path):
    wrong = tmp_path / "wrong.json"
    text = measure(f"{TINY} -- nbody").stats_file.read_text()
    wrong.write_text(text.replace('"vmcnt": ', '"vmcnt": 1'))
    heddle(f"stats {wrong} --report cpi", "add up to", status=1)


def test_report_follows_the_resources_of_a_compute_unit(run):
    run(f"{TINY} --set gpu.sa.cu.wavefronts=2 --report cpi -- vectoradd", "limited by")


def test_computed_occupancy_is_what_kernels_count(measure):
    """The kernels of `occupancy` count how many of them run at a time."""
    done = measure("platforms/r9nano.heddle --set gpu.arrays=1 -- micro/occupancy 4")
    computed = [k["occupancy"] for k in done.stats["kernels"]]
    counted = [line.split() for line in done.output.splitlines() if "/" in line]
    assert len(counted) == len(computed) >= 15
    for words, o in zip(counted, computed):
        assert float(words[1]) == o["work_groups_per_unit"] * o["wavefronts_per_work_group"], words


def test_statistics_of_kernels_are_sums_all_or_none(measure, run):
    text = f"{TINY} --kernel-stats {{}} -- vectoradd"
    total, every, none = (measure(text.format(which)).stats_file.read_text()
                          for which in ("sum", "all", "none"))
    assert total.count('"gpu.sa[*].cu[*]"') == 1
    assert re.search(r'"components": \{.*"gpu\.sa\[0\]\.cu\[3\]"', every)
    assert none.count('"components"') == 1
    run(text.format("some"), "sum, all or none", status=2)


def test_several_runs_are_compared_by_what_was_set(measure, heddle):
    """Composites, links, slots and enumerations by name; a value that is the default is no
    mistake."""
    sets = ["gpu.l2=8KiB", "gpu.l2=16KiB", "gpu.l2=8KiB --set pcie.bandwidth=16GB/s "
            "--set driver.launch_by=command"]
    runs = [measure(f"{TINY} --generic --set {s} -- processes plain", "^PASS") for s in sets]
    assert "W06" not in runs[2].output
    stamp = runs[2].stats["stamp"]
    assert stamp["set"] == ["gpu.l2=8KiB", "pcie.bandwidth=16GB/s", "driver.launch_by=command"]
    assert stamp["settings"]["driver.launch_by"] == "command"
    assert stamp["settings"]["driver.copy"] == "dma_copy"
    files = [str(done.stats_file) for done in runs]
    shown = heddle(f"stats {' '.join(files)}").stdout.split("\n\n")[-1]
    assert shown.startswith("settings\n")
    assert re.search(r"^  gpu\.l2 +8KiB +16KiB +8KiB$", shown, re.M)
    assert re.search(r"^  link pcie\.bandwidth +32GB/s +32GB/s +16GB/s$", shown, re.M)
    assert "driver" not in shown
    heddle(f"stats {files[0]} {files[0]}", "no counter differs", "no setting differs")
    heddle(f"stats {' '.join(files)} --report cpi", "two runs at most", status=2)


def test_csv_has_a_row_for_each_kernel_and_component(measure, heddle):
    runs = [measure(f"{TINY} --generic --set gpu.l2={size} -- matmul_tiled") for size in
            ("8KiB", "16KiB")]
    rows = list(csv.DictReader(io.StringIO(
        heddle(f"stats {runs[0].stats_file} {runs[1].stats_file} --csv").stdout)))
    for done, size in zip(runs, ("8KiB", "16KiB")):
        own = [row for row in rows if row["file"] == str(done.stats_file)]
        assert {row["param:gpu.l2"] for row in own} == {size}
        places = [(row["section"], row["where"]) for row in own]
        assert len(set(places)) == len(places)
        kernel = [row for row in own if row["section"] == "kernel"]
        assert [int(row["cycles"]) for row in kernel] == \
            [k["cycles"] for k in done.stats["kernels"]]
        named = {row["where"]: row for row in own if row["section"] == "component"}
        for path, values in done.components.items():
            for name, value in values.items():
                if isinstance(value, int):
                    assert int(named[path][name]) == value


def test_statistics_tell_the_cpu_time_of_the_whole_process(tmp_path):
    """But for what comes after they are written."""
    stats = tmp_path / "s.json"
    run(f"{TINY} -- vectoradd 64")  # is compiled
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(f"{TINY} --stats {stats} -- vectoradd 200000")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    host = json.loads(stats.read_text())["host"]
    assert 0.7 * used < host["cpu_seconds"] <= used + 0.01


def test_code_stays_in_the_instruction_caches_where_they_keep_it(measure):
    """From launch to launch; with copies, which may bring other code, they start anew."""
    def misses(options, program):
        kernels = measure(f"platforms/tiny.heddle {options} -- {program}").stats["kernels"]
        assert len(kernels) > 3
        caches = [kernel["components"]["gpu.sa[*].l1i"] for kernel in kernels]
        return [cache.get("misses", 0) - cache.get("mshr_hits", 0) for cache in caches]

    keep = "--set gpu.cp.code_kept=true --set 'gpu.sa[*].cu[*].code_kept=true'"
    dropped = misses("", "floyd_warshall 16")
    kept = misses(keep, "floyd_warshall 16")
    assert all(count > 0 for count in dropped)
    assert kept[0] == dropped[0] and sum(kept[1:]) == 0
    assert all(count > 0 for count in misses(keep, "bfs"))  # which copies before each launch


def test_trust_tells_approximate_instructions_and_what_parameters_rest_on(measure, heddle):
    done = measure(f"{TINY} --report trust -- nbody")
    issued = done.stats["kernels"][0]["slot_cycles"]["issued"]
    share = 100 * issued["valu_transcendental"] / sum(issued.values())
    assert 1 < share < 50
    assert f"{100 - share:.1f} % exact, {share:.1f} % approximate" in done.output
    rows = json.loads(heddle("params platforms/tiny.heddle --json").stdout)
    assert "0 of components that had no part" in done.output
    for basis in {row["basis"] for row in rows if row["source"] != "slot"}:
        count = sum(row.get("basis") == basis for row in rows if row["source"] != "slot")
        assert re.search(rf"^ +{count} {basis} ", done.output, re.M), basis
    assert heddle(f"stats {done.stats_file} --report trust").stdout in done.output
    kept = done.stats["trust"]
    every = [kernel["slot_cycles"]["issued"] for kernel in done.stats["kernels"]]
    assert kept["instructions"] == {
        "counted": sum(sum(each.values()) for each in every), "untimed": 0,
        "approximate": {"valu_transcendental": sum(e["valu_transcendental"] for e in every)}}
    assert kept["parameters"].pop("idle") == 0
    assert kept["parameters"] == {basis: sum(row.get("basis") == basis for row in rows
                                             if row["source"] != "slot")
                                  for basis in kept["parameters"]}
    untimed = measure(f"{TINY} --mode functional -- nbody").stats_file
    heddle(f"stats {untimed} --report trust", r"instructions  \d+ of launches without timing")


def test_trust_leaves_out_components_that_had_no_part(measure):
    done = measure("platforms/r9nano_x4.heddle --generic --report trust -- vectoradd")
    assert re.search(r" that it depended on, [1-9]\d* of components", done.output), done.output


def test_classes_of_approximate_instructions_are_those_of_the_models():
    text = "".join((ROOT / f"components/protocols/{file}").read_text(encoding="utf-8")
                   for file in ("work/work_cycles.h", "thread_block/warp_cycles.h"))
    told = (ROOT / "python/heddle/verdict/trust.py").read_text(encoding="utf-8")
    classes = re.findall(r'^    "(\w+)": "', told, re.M)
    assert len(classes) == 4
    assert all(f'"issued", "{name}"' in text for name in classes)
