"""SASS traces made here, played on rtx3070. Expected numbers are closed forms of the platform's
parameters, or what the maker of a trace knows of its lines."""
import json
import sys

import pytest

import harness
from harness import HEDDLE, call, run, same
from sass_traces import EXIT, FULL, Folder, chain, load, store

PLAYER = "platforms/rtx3070.heddle --generic --no-cache"
STEP = 2 + 5 + 1  # latency of FP32, the pipeline, the third operand of one bank pair


@pytest.fixture
def sass(tmp_path):
    """Traces, and play(COMMANDS, OPTIONS): the statistics of a list of them."""
    folder = Folder(tmp_path)

    def play(commands, options="", **how):
        path = folder.list("list.g", commands)
        return harness.measure(f"{PLAYER} {options} --play sass={path}", folder=tmp_path, **how)

    folder.play = play
    return folder


def total(run, ends, name):
    return sum(v.get(name, 0) for path, v in run.components.items() if path.endswith(ends))


def test_longer_chain_takes_longer_by_the_chains_step(sass):
    cycles = []
    for length in 10, 110:
        done = sass.play([sass.trace("kernel-1.traceg", 1, 1, chain(length) + [EXIT])])
        kernel = done.stats["kernels"][0]
        assert kernel["wavefront_instructions"] == length + 1
        assert kernel["thread_instructions"] == 32 * (length + 1)
        cycles.append(kernel["cycles"])
    assert cycles[1] - cycles[0] == 100 * STEP
    done = sass.play([sass.trace("kernel-1.traceg", 1, 1, chain(10) + [EXIT])],
                     "--set player.launch_latency=100cy")
    assert cycles[0] - done.stats["kernels"][0]["cycles"] == 4994 - 100


@pytest.mark.parametrize("holds, more", [(3, {"warps": 16}), (3, {"warps": 1, "shared": 32768}),
                                         (4, {"warps": 2, "registers": 255})],
                         ids=["threads", "shared", "registers"])
def test_blocks_beyond_what_an_sm_holds_wait(sass, holds, more):
    cycles = []
    for blocks in holds, holds + 1:
        trace = sass.trace("kernel-1.traceg", blocks, lines=chain(200) + [EXIT], **more)
        kernel = sass.play([trace], "--set sms=1 --set channels=1").stats["kernels"][0]
        assert kernel["work_groups"] == blocks
        assert kernel["occupancy"]["blocks_per_sm"] == holds
        cycles.append(kernel["cycles"] - 5000)
    assert 1.4 < cycles[1] / cycles[0] < 2.1


@pytest.mark.parametrize("more, says", [({"shared": 200000}, "not enough bytes of shared memory"),
                                        ({"threads": 2048}, "at most 1024")])
def test_block_that_no_sm_holds_is_refused(sass, more, says):
    path = sass.list("list.g", [sass.trace("kernel-1.traceg", 1, 1, [EXIT], **more)])
    run(f"{PLAYER} --play sass={path}", says, status=3)


def test_kernels_of_one_stream_follow_each_other(sass):
    """And those of others run beside them."""
    names = [sass.trace(f"kernel-{i}.traceg", 1, 1, chain(300) + [EXIT], stream=s)
             for i, s in ((1, 7), (2, 7), (3, 9))]

    def kernels(options=""):
        return {k["name"]: k for k in sass.play(names, options).stats["kernels"]}

    first, second, other = (kernels()[f"kernel_{i}"] for i in (1, 2, 3))
    assert other["start_ps"] <= first["start_ps"] + 2000 and other["start_ps"] < first["end_ps"]
    assert first["end_ps"] <= second["start_ps"] <= first["end_ps"] + 2000
    alone = kernels("--set player.kernels=1")
    assert alone["kernel_3"]["start_ps"] >= alone["kernel_2"]["end_ps"]


def every_kind(warps):
    """Every kind of instruction, and an unknown one that half of the threads execute."""
    def body(block, warp):
        base = 0x7F0100000000 + 4096 * (block * warps + warp)
        return [load(0, base, 2, 8), load(0x10, base + 512, 3, 8),
                f"0020 {FULL} 1 R4 FFMA 3 R2 R3 R4 0", store(0x30, base),
                f"0040 {FULL} 0 BAR.SYNC.DEFER_BLOCKING 0 0",
                f"0050 {FULL} 1 R5 LDS 1 R2 4 1 0x{4 * warp:x} 128",
                f"0060 {FULL} 0 RED.E.ADD.STRONG.GPU 2 R8 R5 4 1 0x{0x7F0200000000:x} 0",
                f"0070 {FULL} 0 MEMBAR.SC.GPU 0 0",
                f"0080 {FULL} 0 STL 2 R1 R4 4 1 0x7f0003fffd00 0",
                f"0090 {FULL} 1 R6 LDL 1 R1 4 1 0x7f0003fffd00 0",
                "00a0 0000ffff 1 R7 FROBNICATE 1 R6 0", EXIT]
    return body


def test_instructions_are_counted_by_what_they_do(sass):
    """An unknown one is one warning."""
    blocks, warps = 30, 8
    done = sass.play([sass.trace("kernel-1.traceg", blocks, warps, every_kind(warps))])
    n = blocks * warps
    for name, each in {"instructions": 12, "loads": 3, "stores": 2, "atomics": 1,
                       "shared_accesses": 1, "barriers": 1, "membars": 1, "bank_conflicts": 31,
                       "warps_run": 1}.items():
        assert total(done, ".sm", name) == each * n, name
    assert total(done, ".sm", "thread_instructions") == n * (11 * 32 + 16)
    assert done.components["player"]["unknown"] == n
    assert done.stderr.count("FROBNICATE") == 1 and f"executed {n} times" in done.stderr
    assert sum(total(done, f"l2[{i}]", "atomics_done") for i in (0, 1)) == 32 * n


@pytest.mark.parametrize("copies, sectors", [("none", 64 * 4), ("fill", 0)])
def test_what_the_host_copied_is_in_the_l2_when_it_is_asked_to(sass, copies, sectors):
    def body(block, warp):
        return [load(0, 0x7F0100000000 + 128 * (8 * block + warp), 2, 8), EXIT]

    done = sass.play(["MemcpyHtoD,0x00007f0100000000,8192",
                      sass.trace("kernel-1.traceg", 8, 8, body)], f"--set player.copies={copies}")
    assert total(done, ".dram", "reads") == sectors


@pytest.fixture
def mixed(sass):
    """Arguments that play three kernels of two streams, one of them packed, behind a copy."""
    blocks, warps, lines = 40, 4, every_kind(4)
    path = sass.list("list.g", [
        sass.trace("kernel-1.traceg", blocks, warps, lines), "MemcpyHtoD,0x00007f0100000000,8192",
        sass.trace("kernel-2.traceg", blocks, warps, lines, stream=3),
        sass.trace("kernel-3.traceg.xz", blocks, warps, lines, stream=3, pack=True)])
    return f"{PLAYER} --set player.copies=fill --play sass={path}"


@pytest.mark.parametrize("order", ["--tick-order descending", "--tick-order random:5", "--tick-all",
                                   "--threads 2"])
def test_order_of_ticks_changes_no_byte(measure, mixed, order):
    same(measure(mixed), measure(f"{mixed} {order}"))


def test_restored_run_counts_the_same(measure, mixed, tmp_path):
    reference, state = measure(mixed), tmp_path / "state"
    for cycle in 5100, 5400, 12000:
        same(reference, measure(f"{mixed} --checkpoint {state} --checkpoint-at {cycle}"))
        assert measure(f"{mixed} --restore {state}").components == reference.components


@pytest.mark.parametrize("scheduler", ["loose_round_robin", "greedy_then_oldest", "two_level"])
def test_every_scheduler_issues_everything(sass, scheduler):
    done = sass.play([sass.trace("kernel-1.traceg", 8, 16, every_kind(16))],
                     f"--set sm.sm.scheduler={scheduler}")
    assert done.stats["kernels"][0]["wavefront_instructions"] == 8 * 16 * 12


SMALL = "--set player.memory=1MiB --set sms=2"


def test_memory_follows_the_blocks_under_way(sass):
    """Not the trace: there are more blocks than the memory has chunks."""
    done = sass.play([sass.trace("kernel-1.traceg", 300, 1, every_kind(1))], SMALL)
    assert done.stats["kernels"][0]["work_groups"] == 300


def test_block_that_does_not_fit_into_the_memory_is_named(sass):
    lines = [f"{16 * i:04x} {FULL} 1 R2 LDG.E 1 R8 4 2 0x7f0100000000 " + "64 " * 31
             for i in range(9000)]
    path = sass.list("list.g", [sass.trace("kernel-1.traceg", 1, 1, lines)])
    run(f"{PLAYER} {SMALL} --play sass={path}", "does not fit into 'memory'", status=3)


def test_sixteen_times_the_trace_takes_no_more_memory(sass):
    """But for a little that grows with what was seen at once. A shell starts the run, since a
    process begins with the peak of the one that has started it."""
    peaks, stats = [], sass / "stats.json"
    for blocks in 100, 1600:
        path = sass.list("list.g", [sass.trace("kernel-1.traceg", blocks, 4, every_kind(4))])
        call(["sh", "-c", '"$@"; exit $?', "sh", HEDDLE, "run", *PLAYER.split(), "--set", "sms=2",
              "--play", f"sass={path}", "--stats", stats])
        peaks.append(json.loads(stats.read_text())["host"]["peak_rss_bytes"])
    assert peaks[1] - peaks[0] <= 2 << 20 and peaks[1] <= 100 << 20


def test_trace_larger_than_the_memory_it_is_grouped_in(tmp_path):
    """And its temporary file."""
    call([sys.executable, "tests/bench/sass/bounds.py", HEDDLE, "8e6",
          tmp_path / "bounds", "1", "--generic", "--set", "sms=8", "--set", "channels=2"],
         "^within bounds")


TWO = """import "std/trace_player";
import "std/streaming_multiprocessor";
import "std/sector_memory";
platform two {
    clock core = 1GHz;
    a : trace_player on core { };
    b : trace_player on core { };
    s : streaming_multiprocessor on core { stream = a.stream; };
    t : streaming_multiprocessor on core { stream = b.stream; };
    m : sector_dram on core { };
    a.work[*] -> s.work;
    b.work[*] -> t.work;
    s.mem     -> m.top[0];
    t.mem     -> m.top[1];
}
"""


@pytest.fixture
def good(sass):
    return sass.list("good.g", [sass.trace("kernel-1.traceg", 1, 1, [EXIT])])


def test_only_one_player_plays_a_list(sass, good):
    (sass / "two.heddle").write_text(TWO)
    run(f"{sass / 'two.heddle'} --generic --no-cache --play sass={good}",
        "'b' cannot play beside 'a'", status=3)


RAW = f"""-kernel name = raw
-grid dim = (1,1,1)
-block dim = (32,1,1)
-accelsim tracer version = 4
#traces format = x
0 0 0 0 0000 {FULL} 0 EXIT 0 0
"""


@pytest.mark.parametrize("commands, says", [
    ([""], "names no kernel"), (["kernel-99.traceg"], "kernel-99.traceg"),
    (["kernel-bad.traceg"], "kernel-bad.traceg:23"), (["kernel-raw.trace"], "heddle trace group")],
    ids=["empty", "missing", "damaged", "raw"])
def test_mistake_in_a_list_is_named(sass, commands, says):
    sass.trace("kernel-bad.traceg", 1, 1, chain(3) + ["0030 zzzz 0 EXIT 0 0"])
    (sass / "kernel-raw.trace").write_text(RAW)
    run(f"{PLAYER} --play sass={sass.list('list.g', commands)}", says, status=3)


def test_line_of_a_list_that_is_not_understood_is_left_out(sass):
    kernel = sass.trace("kernel-1.traceg", 1, 1, [EXIT])
    run(f"{PLAYER} --play sass={sass.list('list.g', ['nonsense', kernel])}", "left out")


def test_player_needs_a_list_and_a_platform_a_player(sass, good):
    run(PLAYER, "--play sass=LIST", status=3)
    run(f"{PLAYER} --play sass={sass / 'nowhere.g'}", "cannot read it", status=1)
    run(f"{PLAYER} --play sass={good} -- /bin/true", "plays a trace instead of a program", status=2)
    run(f"platforms/tiny.heddle --generic --play sass={good}", "has no trace_player", status=7)
