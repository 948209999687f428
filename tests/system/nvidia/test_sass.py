"""SASS traces made here, played on rtx3070. Expected numbers are closed forms of the platform's
parameters, or what the maker of a trace knows of its lines."""
import bz2
import gzip
import json
import re

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


@pytest.mark.parametrize("platform, step, launch, stride", [
    ("titanx", 10, 4994, 24), ("qv100", 8, 4994, 0), ("rtx2060", 8, 4994, 24),
    ("a100", 10, 4994, 160), ("h100", 4, 2994, 80)])
def test_every_card_plays_by_its_own_numbers(sass, platform, step, launch, stride):
    """A chain of FP32 instructions, the launch, and slices that lines go to in turn."""
    def kernel(lines, blocks=1):
        path = sass.list("list.g", [sass.trace("kernel-1.traceg", blocks, 1, lines)])
        words = f"platforms/{platform}.heddle --generic --no-cache --play sass={path}"
        return harness.measure(words, folder=sass.path)

    cycles = [kernel(chain(length) + [EXIT]).stats["kernels"][0]["cycles"] for length in (10, 110)]
    assert cycles[1] - cycles[0] == 100 * step
    assert launch + 6 <= cycles[0] - 10 * step <= launch + 40
    done = kernel(lambda block, _: [load(0, 0x7F0100000000 + 256 * block), EXIT], stride or 64)
    slices = [v["accesses"] for path, v in done.components.items() if re.search(r"\.l2\[", path)]
    assert sum(slices) == 4 * (stride or 64)
    assert not stride or set(slices) == {4}


@pytest.mark.parametrize("cost", [0, 115, 350])
def test_blocks_begin_as_far_apart_as_the_whole_gpu_takes(sass, cost):
    """By default each SM is given one a cycle."""
    cycles = []
    for blocks in 100, 500:
        path = sass.list("list.g", [sass.trace("kernel-1.traceg", blocks, 1, [EXIT])])
        words = ("platforms/h100.heddle --generic --set sms=8 --set channels=2 --set"
                 f" player.block_cost={cost} --play sass={path}")
        cycles += [harness.measure(words, folder=sass.path).stats["kernels"][0]["cycles"]]
    assert cycles[1] - cycles[0] == pytest.approx(400 * max(cost / 100, 1 / 8), abs=3)


@pytest.mark.parametrize("holds, more", [(3, {"warps": 16}), (3, {"warps": 1, "shared": 32768}),
                                         (4, {"warps": 2, "registers": 255})],
                         ids=["threads", "shared", "registers"])
def test_blocks_beyond_what_an_sm_holds_wait(sass, holds, more):
    cycles = []
    for blocks in holds, holds + 1:
        trace = sass.trace("kernel-1.traceg", blocks, lines=chain(200) + [EXIT], **more)
        kernel = sass.play([trace], "--set sms=1 --set channels=1").stats["kernels"][0]
        assert kernel["work_groups"] == blocks
        assert kernel["occupancy"]["work_groups_per_unit"] == holds
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
        same(reference, measure(f"{mixed} --restore {state}"))


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
        "heddle: b: cannot play beside 'a'", status=3)


RAW = f"""-kernel name = raw
-grid dim = (1,1,1)
-block dim = (32,1,1)
-accelsim tracer version = 4
#traces format = x
0 0 0 0 0000 {FULL} 0 EXIT 0 0
"""


@pytest.mark.parametrize("commands, says", [
    ([""], "names no kernel"), (["kernel-99.traceg"], "kernel-99.traceg"),
    (["kernel-bad.traceg"], "kernel-bad.traceg:23"),
    (["kernel-raw.trace"], "kernel-raw.trace:6: .*a raw trace: group it first")],
    ids=["empty", "missing", "damaged", "raw"])
def test_mistake_in_a_list_is_named(sass, commands, says):
    sass.trace("kernel-bad.traceg", 1, 1, chain(3) + ["0030 zzzz 0 EXIT 0 0"])
    (sass / "kernel-raw.trace").write_text(RAW)
    run(f"{PLAYER} --play sass={sass.list('list.g', commands)}", says, status=3)


# ---- traces that are not whole ----

ALLOW = "--allow-incomplete"
THREE = ["0000 ffffffff 1 R4 FFMA 3 R4 R5 R6 0", "0010 0000ffff 0 EXIT 0 0",
         "0020 ffff0000 0 EXIT 0 0"]
WHOLE = "".join(f"#BEGIN_TB\nthread block = {b},0,0\n"
                + "".join(f"warp = {w}\ninsts = 3\n" + "\n".join(THREE) + "\n" for w in (0, 1))
                + "#END_TB\n" for b in (0, 1))
SECOND = WHOLE[WHOLE.rindex("#BEGIN_TB"):]
WARP = "warp = 1\ninsts = 3\n" + "\n".join(THREE) + "\n"


@pytest.mark.parametrize("old, new, says, statistic", [
    (SECOND, "", ":28: 1 of the grid's 2 thread blocks are missing, the first is 1,0,0",
     ("missing_blocks", 1)),
    (SECOND, 2 * SECOND, ":43: thread block 1,0,0 stands in the trace twice",
     ("repeated_blocks", 1)),
    (WARP + "#END", "#END", ":23: thread block 0,0,0 has 1 of its 2 warps: warp 1 is missing",
     ("missing_warps", 2)),
    ("insts = 3", "insts = 0", None, None),
    ("3\n" + "\n".join(THREE), "1\n" + THREE[0],
     ":20: thread block 0,0,0, warp 0 ends without EXIT", ("warps_without_exit", 4)),
    ("3\n" + "\n".join(THREE), "2\n" + "\n".join(THREE[:2]),
     ":21: thread block 0,0,0, warp 0 ends, but lanes ffff0000 have not come to EXIT",
     ("warps_without_exit", 4)),
    (THREE[0] + "\n" + THREE[1], THREE[1] + "\n" + THREE[0],
     ":21: thread block 0,0,0, warp 0: 'FFMA' at PC 0000 is executed by lanes ffff behind",
     ("instructions_behind_exit", 4)),
    ("-nregs = 16", "-nregs = 6", ":20: 'FFMA' at PC 0000 has register R6, but 'nregs = 6'",
     ("registers_beyond", 1)),
    ("-nregs = 16", "-nregs = 21955", "'nregs = 21955' is more than the 255",
     ("header_fields", 1)),
    ("-nregs = 16\n", "", "the header has no '-nregs = ...'", ("header_fields", 1)),
    ("-grid dim = (2", "-grid dim = (3", "the first is 2,0,0", ("missing_blocks", 1)),
    ("-block dim = (64", "-block dim = (96", "warp 2 is missing", ("missing_warps", 2))])
def test_trace_that_is_not_whole_is_refused_and_played_when_allowed(sass, old, new, says,
                                                                    statistic):
    name = sass.trace("kernel-1.traceg", 2, 2, THREE)
    text = (sass / name).read_text()
    assert WHOLE in text
    (sass / name).write_text(text.replace(old, new))
    path = sass.list("list.g", [name])
    if says is None:  # a wrong count is damage, not a gap
        run(f"{PLAYER} --play sass={path}", "outside of a warp|more instructions", status=3)
        run(f"{PLAYER} {ALLOW} --play sass={path}", "more instructions", status=3)
        return
    run(f"{PLAYER} --play sass={path}", re.escape(f"{name}{':' * (says[0] != ':')}"),
        re.escape(says), status=3)
    done = harness.measure(f"{PLAYER} {ALLOW} --play sass={path}", "warning: ",
                           re.escape(says.lstrip(":0123456789 ")), folder=sass.path)
    assert done.stats["kernels"][0]["incomplete"] == dict([statistic])
    assert done.components["player"]["gaps"] == statistic[1]


def test_trace_that_ends_in_a_block_is_played_up_to_there_when_allowed(sass):
    name = sass.trace("kernel-1.traceg", 2, 2, THREE)
    text = (sass / name).read_text()
    (sass / name).write_text(text[:text.rindex("0020")])
    path = sass.list("list.g", [name])
    run(f"{PLAYER} --play sass={path}",
        "kernel-1.traceg:39: the file ends inside .*'--allow-incomplete'", status=3)
    done = harness.measure(f"{PLAYER} {ALLOW} --play sass={path}", "ends inside",
                           folder=sass.path)
    assert done.stats["kernels"][0]["wavefront_instructions"] == 11


def test_copy_of_an_incomplete_trace_keeps_no_line_back(sass):
    """Whoever reads the trace later is told what is missing, with its line."""
    name = sass.trace("kernel-1.traceg", 2, 2, THREE[:1])
    path = sass.list("list.g", [name])
    platform = PLAYER.replace("--no-cache", "")
    run(f"{platform} {ALLOW} --play sass={path}", "without EXIT")
    run(f"{platform} --play sass={path}", "kernel-1.traceg:20: .*without EXIT", status=3)


@pytest.mark.parametrize("line, says", [
    ("nonsense", "list.g:1: .*neither 'MemcpyHtoD,0xADDRESS,BYTES' nor the name of a trace"),
    ("MemcpyHtoD,0x00007f0100000000", "list.g:1: .*neither"),
    ("kernel-9.traceg", "list.g:1: .*'kernel-9.traceg' cannot be read: No such file")])
def test_line_of_a_list_that_cannot_be_played_is_left_out_when_allowed(sass, line, says):
    path = sass.list("list.g", [line, sass.trace("kernel-1.traceg", 1, 1, [EXIT])])
    run(f"{PLAYER} --play sass={path}", says, status=3)
    done = harness.measure(f"{PLAYER} {ALLOW} --play sass={path}", says, "left out",
                           folder=sass.path)
    assert done.components["player"]["left_out"] == 1
    assert len(done.stats["kernels"]) == 1


@pytest.mark.parametrize("copy", [f"0x7f0100000000,{10 ** 15}", "0xfffffffffffff000,8192"])
def test_copy_that_no_card_can_hold_is_refused_at_once(sass, copy):
    path = sass.list("list.g", [sass.trace("kernel-1.traceg", 1, 1, [EXIT]), f"MemcpyHtoD,{copy}"])
    for options in "", ALLOW, "--set player.copies=fill":
        run(f"{PLAYER} {options} --play sass={path}", "list.g:2: more than 1 TiB", status=3)


@pytest.mark.parametrize("line, says", [
    (load(0, 2 ** 64 - 16), "the address 0xfffffffffffffff0 of active lane 0"),
    (load(0, 2 ** 64 - 16 - 4 * 20000), None),
    (store(0, 2 ** 64 - 1, stride=0), "the address 0xffffffffffffffff of active lane 0"),
    ("0000 00000003 1 R4 LDG.E 1 R2 4 2 0x1000 -4097", "0xffffffffffffffff of active lane 1"),
    (f"0000 {FULL} 1 X300 FFMA 3 R4 R5 R6 0", "a register .R0 to R255"),
    (f"0000 {FULL} 1 R4 FFMA 3 R4 R254 R6 0", "has register R254, but 'nregs = 16'"),
    (f"0000 {FULL} 1 R4 FFMA 3 R4 UR254 R255 0", None)])
def test_addresses_and_registers_that_no_card_has_are_named(sass, line, says):
    path = sass.list("list.g", [sass.trace("kernel-1.traceg", 1, 1, [line, EXIT])])
    words = [f"{PLAYER} --play sass={path}"]
    run(*words, *([f"kernel-1.traceg:20: .*{says}"] if says else []), status=3 if says else 0)


# ---- what real tracers write ----

def odd_register(count):
    return [f"{16 * i:04x} {FULL} 1 R4 FFMA 3 R4 R{1744830 + i} R6 0" for i in range(count)]


ODD = {
    "registers": (odd_register(3) + [EXIT], "has a register above R255"),
    "zero": ([f"{16 * i:04x} {FULL} 1 R2 LDG.E 1 R2 4 1 0x0 4" for i in range(3)] + [EXIT],
             "accesses address 0 of global memory"),
    "behind": ([EXIT, f"0010 {FULL} 0 BRA 0 0 16", f"0010 {FULL} 0 BRA 0 0 16"],
               "'BRA' at PC 0010 stands behind the EXIT of all lanes"),
    "behind, masked": ([EXIT, "0010 00000000 0 BRA 0 0 16"], None),
    "base": ([f"0000 {FULL} 1 R2 LDG.E 1 R2 4 1 7f0100000000 4",
              f"0010 {FULL} 1 R2 LDG.E 1 R2 4 2 7f0100000000" + 31 * " 4", EXIT], None)}


@pytest.mark.parametrize("what", ODD)
def test_what_tracers_write_plays_with_one_warning_a_run(sass, what):
    lines, says = ODD[what]
    names = [sass.trace(f"kernel-{i}.traceg", 2, 2, lines) for i in (1, 2)]
    done = sass.play(names)
    assert done.stderr.count("warning: ") == (says is not None)
    assert not says or says in done.stderr
    assert [k["wavefront_instructions"] for k in done.stats["kernels"]] == [4 * len(lines)] * 2


def test_base_addresses_of_a_header_need_no_prefix(sass):
    name = sass.trace("kernel-1.traceg", 1, 1, [load(0, 0x7F0100000000), EXIT])
    text = (sass / name).read_text()
    (sass / name).write_text(text.replace("base_addr = 0x", "base_addr = "))
    assert sass.play([name]).stats["kernels"][0]["wavefront_instructions"] == 2


def test_last_end_of_a_block_may_be_missing(sass):
    names = [sass.trace(f"kernel-{i}.traceg", 2, 2, THREE) for i in (1, 2)]
    for name in names:
        text = (sass / name).read_text()
        (sass / name).write_text(text[:text.rindex("#END_TB")])
    done = sass.play(names)
    assert done.stderr.count("warning: ") == done.stderr.count("the last #END_TB is missing") == 1
    assert [k["wavefront_instructions"] for k in done.stats["kernels"]] == [12, 12]


def test_calls_of_nccl_in_a_list_are_one_warning(sass):
    name = sass.trace("kernel-1.traceg", 1, 1, [EXIT])
    done = sass.play(["ncclCommInitAll,4", name, "ncclAllReduce,0x7f0100000000,1024,0",
                      "MemcpyPeer,0x7f0100000000,0x7f0200000000,64"])
    assert done.stderr.count("warning: ") == done.stderr.count("take no time") == 1
    assert done.components["player"]["left_out"] == 3 and len(done.stats["kernels"]) == 1


@pytest.mark.parametrize("pack, ends, says", [(gzip.compress, ".gz", "gzip, .*'gunzip' it"),
                                              (bz2.compress, ".bz2", "bzip2, .*'bunzip2' it")])
def test_packers_that_are_not_read_are_named(sass, pack, ends, says):
    name = sass.trace("kernel-1.traceg", 1, 1, [EXIT])
    data = pack((sass / name).read_bytes())
    for packed in name + ends, name:
        (sass / packed).write_bytes(data)
        path = sass.list("list.g", [packed])
        run(f"{PLAYER} --play sass={path}", f"{packed}: cannot be read: it is packed by {says}",
            status=3)
        call([HEDDLE, "trace", "check", path],
             f"{packed}: error: cannot be read: it is packed by {says}", status=1)


@pytest.mark.parametrize("options", ["", ALLOW])
@pytest.mark.parametrize("commands", [["kernel-8.traceg"], ["notes.txt", "kernel-8.unknown"],
                                      ["MemcpyHtoD,0x7f0100000000,64", "kernel-8.unknown"],
                                      ["MemcpyHtoD,0x7f0100000000,64", "kernel-8.traceg"],
                                      ["ncclAllReduce,4"]])
def test_list_without_a_kernel_that_can_be_read_is_an_error(sass, options, commands):
    path = sass.list("list.g", commands)
    run(f"{PLAYER} {options} --play sass={path}", "list.g", status=3)
    call([HEDDLE, "trace", "check", path], "error", status=1)


@pytest.mark.parametrize("commands, lines, says", [
    (["kernel-1.traceg", "nonsense"], [EXIT], "neither .*"),
    (["kernel-1.traceg", "kernel-9.traceg"], [EXIT], "No such file.*"),
    (["kernel-1.traceg"], chain(2), "without EXIT.*")])
def test_refusal_that_can_be_lifted_says_how(sass, commands, lines, says):
    sass.trace("kernel-1.traceg", 1, 1, lines)
    run(f"{PLAYER} --play sass={sass.list('list.g', commands)}",
        f"{says}; '--allow-incomplete' plays what is there", status=3)


def test_incomplete_is_allowed_of_sass_traces_only():
    run(f"{PLAYER} {ALLOW}", "'--allow-incomplete' is for '--play sass'", status=2)


def test_player_needs_a_list_and_a_platform_a_player(sass, good):
    run(PLAYER, "or traces: --play sass=LIST", status=2)
    run(f"{PLAYER} --play sass={sass / 'nowhere.g'}", "cannot read it", status=1)
    run(f"{PLAYER} --play sass={good} -- /bin/true", "plays a trace instead of a program", status=2)
    run(f"platforms/tiny.heddle --generic --play sass={good}", "has no trace_player", status=7)
