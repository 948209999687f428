"""Chosen kernels of lists of SASS traces, on rtx3070.

Oracles: what the maker of a trace knows of its lines; `heddle trace mem` for memory instructions
alone; `heddle trace stats` for profiles; a simulation of everything. Where cycles must be equal,
memory is ideal: DRAM refreshes at times of its own, so that cycles depend on when a kernel begins.
"""
import csv
import shutil
from pathlib import Path

import pytest

import harness
import launches
from harness import heddle, run, same, ways
from programs import only_full
from sass_traces import EXIT, FULL, Folder, load, store

PLATFORM = "platforms/rtx3070.heddle --generic --no-cache"
IDEAL = "--set memory.memory=ideal"
FILL = "--set player.copies=fill"
HEAP, COPIED = 0x7F0100000000, 0x7F0300000000
BLOCKS, WARPS, CHAIN = 20, 4, 6
LINES = BLOCKS * WARPS * CHAIN  # that a kernel loads


def walk(first, count, stored=None, base=HEAP):
    """Each warp loads `count` lines of its own, one after another, computes, and stores one
    line."""
    def body(block, warp):
        own = base + 128 * (first + (block * WARPS + warp) * count)
        lines = [load(16 * i, own + 128 * i) for i in range(count)]
        lines += [f"{0x200 + 16 * i:04x} {FULL} 1 R4 FFMA 3 R4 R2 R6 0" for i in range(10)]
        lines += [f"0300 {FULL} 1 R5 LDS 1 R2 4 1 0x{4 * warp:x} 4",
                  f"0310 {FULL} 0 BAR.SYNC.DEFER_BLOCKING 0 0"]
        if stored is not None:
            lines.append(store(0x320, base + 128 * (stored + block * WARPS + warp)))
        return lines + [EXIT]
    return body


@pytest.fixture
def sass(tmp_path):
    return Folder(tmp_path)


@pytest.fixture
def six(sass):
    """A list of six kernels: 1, 3 and 5 read the same lines; 2 and 4 read others, and 6 those of
    both."""
    odd, even = (0, "_Z3oddPf"), (LINES, "_ZN4even4readEPf")
    kernels = [odd, even, odd, even, odd, (LINES // 2, "plain")]
    return sass.list("six.g", ["MemcpyHtoD,0x00007f0300000000,8192"] + [
        sass.trace(f"kernel-six{i}.traceg", BLOCKS, WARPS,
                   walk(first, CHAIN, 4 * LINES + 1000 * i), symbol=symbol)
        for i, (first, symbol) in enumerate(kernels, 1)])


def play(path, options=""):
    return harness.measure(f"{PLATFORM} {options} --play sass={path}", folder=path.parent)


def kernels(path, options=""):
    return {k.get("launch", i): k for i, k in enumerate(play(path, options).stats["kernels"], 1)}


def chosen(path, which, how, options=""):
    return kernels(path, f"--kernels {which} --warmup {how} {options}")


def total(kernel, ends, name):
    return sum(v.get(name, 0) for path, v in kernel["components"].items() if path.endswith(ends))


def reads(kernel):
    return total(kernel, ".dram", "reads")


def assert_near(got, want):
    """Equal, but for arbiters that remember whom they served last."""
    assert abs(got - want) <= want / 400


@pytest.mark.parametrize("how", ["none", "perfect", "memory:2", "full-memory", "functional",
                                 "functional:2"])
def test_distance_to_the_next_chosen_kernel_tells_how_one_is_executed(six, how):
    launches.check_ways(play(six, f"--kernels 3,5-6 --warmup {how}").stats, how, [3, 5, 6])


@pytest.mark.parametrize("names, numbers", [
    ("odd,6", [1, 3, 5, 6]), ("_Z3oddPf,plain", [1, 3, 5, 6]), ("even::read,plain", [2, 4, 6])])
def test_kernels_are_chosen_by_name(six, names, numbers):
    done = play(six, f"--kernels {names} --warmup functional")
    launches.check_ways(done.stats, "functional", numbers)


def test_cold_kernel_reads_all_its_lines_and_a_warm_one_those_not_read_yet(six):
    everything = kernels(six, IDEAL)
    for launch, warm in (1, LINES), (2, LINES), (3, 0), (4, 0), (6, 0):
        cold = chosen(six, launch, "none", IDEAL)[launch]
        assert reads(cold) == 4 * LINES
        for how in "perfect", "full-memory", "functional":
            got = chosen(six, launch, how, IDEAL)[launch]
            assert reads(got) == 4 * warm, how
            assert_near(got["cycles"], everything[launch]["cycles"])
        if warm == 0:  # memory takes 100 cycles; slices that it spreads requests to wait less
            assert cold["cycles"] > got["cycles"] + 95 * CHAIN


@pytest.mark.parametrize("which, how, launch, lines", [
    ("3", "functional:1", 3, LINES), ("3", "memory:1", 3, LINES), ("3", "functional:2", 3, 0),
    ("3", "memory:2", 3, 0), ("6", "functional:1", 6, LINES // 2),  # behind 5
    ("1,5", "functional:1", 5, LINES)])  # 1 is too far back
def test_kernels_too_far_back_do_not_warm(six, which, how, launch, lines):
    assert reads(chosen(six, which, how)[launch]) == 4 * lines


def test_cold_kernel_is_cold_behind_a_detailed_one(six):
    alone, second = (chosen(six, which, "none", IDEAL)[3] for which in ("3", "1,3"))
    assert reads(second) == reads(alone)
    assert_near(second["cycles"], alone["cycles"])


@pytest.mark.parametrize("copies", ["", FILL], ids=["none", "fill"])
def test_memory_instructions_alone_are_those_of_trace_mem(sass, six, copies):
    """The same cycles and statistics as with the files that `heddle trace mem` writes."""
    folder = sass.path / "mem"
    heddle(f"trace mem -o {folder} {six}")
    with open(six) as lines, open(folder / "mixed.g", "w") as out:
        for line in lines:
            alone = line.startswith("kernel-") and line[10] < "5"
            out.write(line.replace("kernel-", "kernel-mem-") if alone else line)
    for number in 5, 6:
        shutil.copy(sass / f"kernel-six{number}.traceg", folder)
    want = kernels(folder / "mixed.g", f"--kernel-stats all {copies}")
    got = chosen(six, 5, "full-memory", f"--kernel-stats all {copies}")
    for launch in range(1, 6):
        for key in "cycles", "wavefront_instructions", "work_groups":
            assert got[launch][key] == want[launch][key], (launch, key)
        for path, values in want[launch]["components"].items():
            if path != "player":  # kernels are left out behind this one
                assert got[launch]["components"].get(path) == values, (launch, path)


@pytest.fixture
def copied(sass):
    """Two kernels, each behind a copy of the host; the second reads what was copied."""
    before = sass.trace("kernel-copy1.traceg", 8, 4, walk(0, 2))
    after = sass.trace("kernel-copy2.traceg", 8, 4, walk(0, 2, base=COPIED))
    return sass.list("copy.g", ["MemcpyHtoD,0x00007f0300000000,4096", before,
                                "MemcpyHtoD,0x00007f0300001000,2048", after])


@pytest.mark.parametrize("copies, lines", [("none", 64), ("fill", 64 - 6144 // 128)])
@pytest.mark.parametrize("how", ["none", "perfect", "memory:1", "full-memory", "functional:1",
                                 "functional"])
def test_what_the_host_copied_is_in_the_l2_if_copies_leave_something(copied, how, copies, lines):
    got = chosen(copied, 2, how, f"--set player.copies={copies}" if copies == "fill" else "")
    assert reads(got[2]) == 4 * lines


def test_profile_knows_what_the_host_copied(copied):
    got = kernels(copied, f"--mode functional --profile memory {FILL}")
    assert [got[i]["profile"]["memory_reads"] for i in (1, 2)] == [256, 4 * (64 - 48)]


def test_l1_gives_shared_memory_as_if_all_kernels_had_taken_time(sass):
    def again(block, warp):  # 704 lines twice: more than an L1 of 64 KiB has
        lines = [load(16 * i, HEAP + 128 * (i + 704 * block)) for i in range(704)]
        return lines + lines + [EXIT]

    kinds = ((walk(0, 2), 65536), (again, 0), (again, 0), (again, 65536))
    path = sass.list("carve.g", [sass.trace(f"kernel-carve{i}.traceg", 4, 1, body, shared=size)
                                 for i, (body, size) in enumerate(kinds)])
    for launch in 2, 3, 4:
        want, got = (chosen(path, launch, how, f"{IDEAL} --set sms=4")[launch]
                     for how in ("perfect", "functional"))
        for name in "hits", "misses":
            assert total(got, ".l1", name) == total(want, ".l1", name), (launch, name)
        assert_near(got["cycles"], want["cycles"])


def test_profile_counts_what_trace_stats_counts(six):
    file = Path(six).parent / "addresses"
    got = kernels(six, f"--mode functional --profile memory --addresses {file}")
    with open(file) as text:
        listed = {(int(row["launch"]), row["address"]) for row in csv.DictReader(text)}
    table = heddle(f"trace stats --csv --no-cache {six}").stdout.splitlines()
    for launch, row in enumerate(csv.DictReader(table), 1):
        profile, record = got[launch]["profile"], got[launch]
        for ours, theirs in (("accesses", "line_references"), ("lines", "lines"),
                             ("reused", "common_backward")):
            assert profile[ours] == int(row[theirs]), (launch, ours)
        assert profile["lines"] == sum(one == launch for one, _ in listed)
        columns = list(row)
        classes = columns[columns.index("sp"):columns.index("unknown") + 1]
        assert [int(n) for n in profile["units"].split()] == [int(row[c]) for c in classes]
        assert sum(map(int, profile["blocks"].split())) == int(row["warp_instructions"])
        assert record["thread_instructions"] == int(row["thread_instructions"])
        assert (record["cycles"], record["simulated"]) == (0, "functional")
    assert "profile" not in kernels(six, "--mode functional")[1]


def test_blocks_that_do_not_fit_at_once_go_in_turn(sass):
    """A kernel without time takes no more memory than one with."""
    small = "--set sms=2 --set channels=1 --set player.memory=1MiB"
    path = sass.list("many.g", [sass.trace(f"kernel-many{i}.traceg", 300, 4, walk(i, 3))
                                for i in (1, 2)])
    want, got = (chosen(path, 2, how, f"{small} {IDEAL}") for how in ("perfect", "functional"))
    for name in "work_groups", "wavefront_instructions", "thread_instructions":
        assert got[1][name] == want[1][name]
    assert reads(got[2]) == reads(want[2])


@pytest.mark.parametrize("how", ["functional", *only_full("none", "memory:2")])
def test_chosen_kernels_count_the_same_however_they_are_run(sass, six, how):
    options = f"--kernels 2,5- --warmup {how} {FILL}"
    reference = play(six, options)
    for order in ways(["--tick-order descending", "--tick-order random:5", "--tick-all",
                       "--threads 2"]):
        same(reference, play(six, f"{options} {order}"))
    for cycle in 20, 5400:
        state = sass / "state"
        play(six, f"{options} --checkpoint {state} --checkpoint-at {cycle}")
        restored = play(six, f"{options} --restore {state}")
        same(reference, restored)


def test_experiment_compares_all_ways(sass, six):
    folder = sass / "experiment"
    heddle(f"experiment {PLATFORM} --kernels odd,plain --play sass={six} -o {folder}")
    rows = {(r["launch"], r["mode"]): float(r["accuracy_percent"])
            for r in launches.rows_of(folder)}
    assert len(rows) == 4 * 16
    assert rows["3", "functional"] > 98 > rows["3", "none"]
    for name in "ipc.svg", "accuracy.svg":
        drawn = (folder / name).read_text()
        assert drawn.count("polyline") >= 4 and '"black"' not in drawn  # which the dark would hide
    page = (folder / "index.html").read_text()
    assert "<h1>Warm-up: six.g on " in page and page.count('<figure class="figure">') == 2
    launches.check_page(folder)


def sampled(path):
    """What --kernels auto predicts of all launches, and what they take."""
    sample = play(path, "--kernels auto --kernel-stats none").stats["sample"]
    return sample, sum(k["cycles"] for k in kernels(path, "--kernel-stats none").values())


def test_sample_is_near(sass):
    """Kernels of two kinds, one of which loads more: two groups."""
    path = sass.list("some.g", [
        sass.trace(f"kernel-some{i}.traceg", BLOCKS, WARPS, walk(0, 3 if i % 2 else 5),
                   symbol="_Z1aPf") for i in range(40)])
    sample, truth = sampled(path)
    assert sample["count"] == 40 and sample["simulated"] <= 16
    assert abs(sample["cycles"] - truth) <= min(sample["interval"], truth / 50)


def test_sample_knows_that_equal_instructions_on_other_data_take_longer(sass):
    """Every fifth launch, and the first, read what none has read."""
    place, names = 0, []
    for i in range(40):
        place += i % 5 == 2
        names.append(sass.trace(f"kernel-cold{i}.traceg", BLOCKS, WARPS, walk(600 * place, 6),
                                symbol="_Z4coldPf"))
    sample, truth = sampled(sass.list("cold.g", names))
    assert sample["simulated"] <= 24
    assert abs(sample["cycles"] - truth) <= sample["interval"] <= truth / 5


def test_list_in_which_every_launch_is_another_one_is_simulated(sass):
    path = sass.list("other.g", [
        sass.trace(f"kernel-other{i}.traceg", BLOCKS, WARPS, walk(5000 * i, 1 + i),
                   symbol="_Z5otherPf") for i in range(12)])
    sample, truth = sampled(path)
    assert sample["simulated"] == sample["count"] == 12
    assert 0 < abs(sample["interval"]) <= truth / 50
    assert abs(sample["cycles"] - truth) <= sample["interval"]


def test_list_of_few_kernels_is_sampled(six):
    sample, truth = sampled(six)
    assert sample["count"] == 6 and sample["simulated"] >= 4
    assert abs(sample["cycles"] - truth) <= sample["interval"] <= truth / 10


def test_kernel_that_is_left_out_is_not_read(sass):
    """What lies behind the first page of its trace could not be played."""
    names = [sass.trace(f"kernel-same{i}.traceg", BLOCKS, WARPS, walk(0, CHAIN), symbol="same")
             for i in range(40)]
    path = sass.list("same.g", names)
    auto = "--kernels auto --kernel-stats none"
    before = play(path, auto).stats
    ways = [launch[0] for launch in before["sample"]["launches"]]
    assert ways.count("s") >= 20
    for name, way in zip(names, ways):
        text = (sass / name).read_text()
        assert len(text) > 3 * 4096
        (sass / name).write_text(text[:4096] + "x" * (len(text) - 4096) if way == "s" else text)
    assert play(path, auto).stats["sample"] == before["sample"]
    run(f"{PLATFORM} --play sass={path}", "the mask .* expected", status=3)


@pytest.mark.parametrize("options, status, says", [
    ("--kernels 99", 8, "no launch is '99'\n.*there were 6 launches"),
    ("--kernels 1,0", 2, "'0' is no launch"), ("--warmup none", 2, "choose them with '--kernels"),
    ("--profile memory", 2, "give that, too"),
    ("--kernels 1 --mode functional", 2, "nothing is with")])
def test_mistake_in_the_choice_is_named(six, options, status, says):
    run(f"{PLATFORM} {options} --play sass={six}", says, status=status)


def test_choice_needs_a_list():
    run(f"{PLATFORM} --kernels 1", "name one", status=2)


def test_kernel_that_cannot_be_read_is_named_when_it_is_needed(sass, six):
    gone = sass.list("gone.g", ["kernel-nowhere1.traceg", "kernel-six1.traceg"])
    run(f"{PLATFORM} --kernels 2 --play sass={gone}", "kernel-nowhere1.traceg", status=3)
    sass.trace("kernel-broken1.traceg", 1, 1, ["0030 zzzz 0 EXIT 0 0"])
    broken = sass.list("broken.g", ["kernel-broken1.traceg", "kernel-six1.traceg"])
    run(f"{PLATFORM} --kernels 2 --play sass={broken}", "kernel-broken1.traceg:20", status=3)
    assert chosen(broken, 2, "none")[1]["simulated"] == "skipped"


@pytest.mark.parametrize("text, status, says", [
    ("experiment {platform} --kernels 99 --play sass={six} -o {folder}", 1,
     "no launch is '99'"),
    ("experiment {platform} --kernels 1 -o {folder}", 2, "--play sass=LIST"),
    ("experiment {platform} --kernels 1 --play sass={six} -o {folder} -- true", 2, "not both")])
def test_mistake_with_experiment_is_named(sass, six, text, status, says):
    heddle(text.format(platform=PLATFORM, six=six, folder=sass.path), says, status=status)
