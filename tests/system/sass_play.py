#!/usr/bin/env python3
"""Plays traces of its own on rtx3070: sass_play.py HEDDLE PLATFORMS SCRATCH. Prints "ok" at the end.

Expected numbers are closed forms of the platform's parameters, or come from the generator in sass_traces.py, which
knows how many instructions it has written.
"""
import filecmp
import json
import os
import subprocess
import sys

from sass_traces import EXIT, FULL, chain, check, heddle, make_list, play, platforms, run, scratch, total, trace

STEP = 2 + 5 + 1  # latency of FP32, the pipeline, the third operand of one bank pair


def closed_forms():
    """A longer chain takes longer by the chain's step; counts are those of the text."""
    cycles = []
    for length in (10, 110):
        result = play([trace("kernel-1.traceg", 1, 1, chain(length) + [EXIT])])
        kernel = result["kernels"][0]
        check("instructions", kernel["wavefront_instructions"], length + 1)
        check("thread instructions", kernel["thread_instructions"], 32 * (length + 1))
        cycles.append(kernel["cycles"])
    check("cycles of 100 steps", cycles[1] - cycles[0], 100 * STEP)
    result = play([trace("kernel-1.traceg", 1, 1, chain(10) + [EXIT])], "--set", "player.launch_latency=100cy")
    check("cycles of launching", cycles[0] - result["kernels"][0]["cycles"], 4994 - 100)


def limits():
    """Blocks beyond what an SM holds wait for those before them."""
    one = ["--set", "sms=1", "--set", "channels=1"]
    for limit, more in (("threads", dict(warps=16)), ("shared", dict(warps=1, shared=32768)),
                        ("registers", dict(warps=2, registers=255))):
        cycles = []
        holds = {"threads": 3, "shared": 3, "registers": 4}[limit]
        for blocks in (holds, holds + 1):
            result = play([trace("kernel-1.traceg", blocks, lines=chain(200) + [EXIT], **more)], *one)
            check("blocks", result["kernels"][0]["work_groups"], blocks)
            check("occupancy", result["kernels"][0]["occupancy"]["blocks_per_sm"], holds)
            cycles.append(result["kernels"][0]["cycles"] - 5000)
        if not 1.4 < cycles[1] / cycles[0] < 2.1:
            sys.exit(f"limit {limit}: {cycles}")
    run(make_list("list.g", [trace("kernel-1.traceg", 1, 1, [EXIT], shared=200000)]), status=3,
        says="not enough bytes of shared memory")
    run(make_list("list.g", [trace("kernel-1.traceg", 1, 1, [EXIT], threads=2048)]), status=3, says="at most 1024")


def streams():
    """Kernels of one stream follow each other, those of others run beside them."""
    names = [trace(f"kernel-{i}.traceg", 1, 1, chain(300) + [EXIT], stream=s) for i, s in ((1, 7), (2, 7), (3, 9))]
    kernels = {k["name"]: k for k in play(names)["kernels"]}
    first, second, other = (kernels[f"kernel_{i}"] for i in (1, 2, 3))
    if other["start_ps"] > first["start_ps"] + 2000 or other["start_ps"] >= first["end_ps"]:
        sys.exit("kernels of different streams do not run side by side")
    if not first["end_ps"] <= second["start_ps"] <= first["end_ps"] + 2000:
        sys.exit("kernels of one stream do not follow each other")
    kernels = {k["name"]: k for k in play(names, "--set", "player.kernels=1")["kernels"]}
    if kernels["kernel_3"]["start_ps"] < kernels["kernel_2"]["end_ps"]:
        sys.exit("kernels=1 runs two at once")


def loads(blocks, warps):
    def body(block, warp):
        base = 0x7F0100000000 + 4096 * (block * warps + warp)
        return [f"0000 {FULL} 1 R2 LDG.E 1 R8 4 1 0x{base:x} 4", f"0010 {FULL} 1 R3 LDG.E 1 R8 4 1 0x{base + 512:x} 4",
                f"0020 {FULL} 1 R4 FFMA 3 R2 R3 R4 0", f"0030 {FULL} 0 STG.E 2 R8 R4 4 1 0x{base:x} 4",
                f"0040 {FULL} 0 BAR.SYNC.DEFER_BLOCKING 0 0", f"0050 {FULL} 1 R5 LDS 1 R2 4 1 0x{4 * warp:x} 128",
                f"0060 {FULL} 0 RED.E.ADD.STRONG.GPU 2 R8 R5 4 1 0x{0x7F0200000000:x} 0",
                f"0070 {FULL} 0 MEMBAR.SC.GPU 0 0", f"0080 {FULL} 0 STL 2 R1 R4 4 1 0x7f0003fffd00 0",
                f"0090 {FULL} 1 R6 LDL 1 R1 4 1 0x7f0003fffd00 0", f"00a0 0000ffff 1 R7 FROBNICATE 1 R6 0", EXIT]
    return body


def every_kind():
    """Counts by what instructions do; an unknown one is one warning."""
    blocks, warps = 30, 8
    result = play([trace("kernel-1.traceg", blocks, warps, loads(blocks, warps))])
    n = blocks * warps
    for name, each in (("instructions", 12), ("loads", 3), ("stores", 2), ("atomics", 1), ("shared_accesses", 1), ("barriers", 1),
                       ("membars", 1), ("bank_conflicts", 31), ("warps_run", 1)):
        check(name, total(result, ".sm", name), each * n)
    check("threads", total(result, ".sm", "thread_instructions"), n * (11 * 32 + 16))
    check("unknown", result["components"]["player"]["unknown"], n)
    check("warnings", result["said"].count("FROBNICATE"), 1)
    if f"executed {n} times" not in result["said"]:
        sys.exit(f"the unknown opcode is not counted: {result['said']}")
    check("atomics at the L2", total(result, "l2[0]", "atomics_done") + total(result, "l2[1]", "atomics_done"), 32 * n)


def copies():
    """What the host copied stands in the L2 when it is asked to."""
    def body(block, warp):
        return [f"0000 {FULL} 1 R2 LDG.E 1 R8 4 1 0x{0x7F0100000000 + 128 * (8 * block + warp):x} 4", EXIT]
    commands = ["MemcpyHtoD,0x00007f0100000000,8192", trace("kernel-1.traceg", 8, 8, body)]
    reads = [total(play(commands, "--set", f"player.copies={how}"), ".dram", "reads") for how in ("none", "fill")]
    check("sectors read from DRAM", reads, [64 * 4, 0])


def same_bytes():
    """Neither the order of ticks nor threads nor a state file between them change a byte."""
    blocks, warps = 40, 4
    commands = [trace("kernel-1.traceg", blocks, warps, loads(blocks, warps)), "MemcpyHtoD,0x00007f0100000000,8192",
                trace("kernel-2.traceg", blocks, warps, loads(blocks, warps), stream=3),
                trace("kernel-3.traceg.xz", blocks, warps, loads(blocks, warps), stream=3, pack=True)]
    path, reference, other = make_list("list.g", commands), os.path.join(scratch, "a.json"), os.path.join(scratch, "b.json")
    fill = ["--set", "player.copies=fill"]
    run(path, "--stats", reference, *fill)
    variants = [["--tick-order", "descending"], ["--tick-order", "random:5"], ["--tick-all"], ["--threads", "2"]]
    for variant in variants:
        run(path, "--stats", other, *fill, *variant)
        if not filecmp.cmp(reference, other, False):
            sys.exit(f"{variant}: other statistics")
    state = os.path.join(scratch, "state")
    for cycle in ("5100", "5400", "12000"):
        run(path, "--stats", other, *fill, "--checkpoint", state, "--checkpoint-at", cycle)
        if not filecmp.cmp(reference, other, False):
            sys.exit("--checkpoint changes the statistics")
        run(path, "--stats", other, *fill, "--restore", state)
        with open(reference) as a, open(other) as b:
            if json.load(a)["components"] != json.load(b)["components"]:
                sys.exit(f"--restore of cycle {cycle}: other statistics")


def schedulers():
    for scheduler in ("loose_round_robin", "greedy_then_oldest", "two_level"):
        result = play([trace("kernel-1.traceg", 8, 16, loads(8, 16))], "--set", f"sm.sm.scheduler={scheduler}")
        check(scheduler, result["kernels"][0]["wavefront_instructions"], 8 * 16 * 12)


def memory():
    """Memory follows the blocks under way, not the trace; a block that does not fit is named."""
    small = ["--set", "player.memory=1MiB", "--set", "sms=2"]
    long = trace("kernel-1.traceg", 300, 1, loads(300, 1))  # more blocks than the memory has chunks
    check("blocks", play([long], *small)["kernels"][0]["work_groups"], 300)
    lines = [f"{16 * i:04x} {FULL} 1 R2 LDG.E 1 R8 4 2 0x7f0100000000 " + "64 " * 31 for i in range(9000)]
    run(make_list("list.g", [trace("kernel-1.traceg", 1, 1, lines)]), *small, status=3, says="does not fit into 'memory'")


def constant_memory():
    """Sixteen times the trace takes no more memory, but for a little that grows with what was seen at once."""
    peaks = []
    for blocks in (100, 1600):
        name = trace("kernel-1.traceg", blocks, 4, loads(blocks, 4))
        stats = os.path.join(scratch, "stats.json")
        subprocess.run([heddle, "run", f"{platforms}/rtx3070.heddle", "--generic", "--no-cache", "--set", "sms=2", "--stats", stats,
                        "--play", "sass=" + make_list("list.g", [name])], check=True, capture_output=True)
        with open(stats) as f:
            peaks.append(json.load(f)["host"]["peak_rss_bytes"])
    if peaks[1] - peaks[0] > 2 << 20 or peaks[1] > 100 << 20:
        sys.exit(f"memory grows with the trace: {peaks}")


TWO = """import "std/trace_player";  import "std/streaming_multiprocessor";  import "std/sector_memory";
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


def two_players():
    """Which of them would play the list?"""
    path = os.path.join(scratch, "two.heddle")
    with open(path, "w") as f:
        f.write(TWO)
    run(make_list("list.g", [trace("kernel-1.traceg", 1, 1, [EXIT])]), status=3, says="'b' cannot play beside 'a'",
        platform=os.path.relpath(path[:-len(".heddle")], platforms))


def mistakes():
    good = make_list("list.g", [trace("kernel-1.traceg", 1, 1, [EXIT])])
    run(None, status=3, says="--play sass=LIST")
    run(os.path.join(scratch, "nowhere.g"), status=2, says="cannot read '--play sass")
    run(None, "--play", "sass=" + good, "--", "/bin/true", status=2, says="plays a trace instead of a program")
    run(good, status=7, says="has no trace_player", platform="tiny")
    run(make_list("empty.g", [""]), status=3, says="names no kernel")
    run(make_list("list.g", ["kernel-99.traceg"]), status=3, says="kernel-99.traceg")
    trace("kernel-1.traceg", 1, 1, chain(3) + ["0030 zzzz 0 EXIT 0 0"])
    run(make_list("list.g", ["kernel-1.traceg"]), status=3, says="kernel-1.traceg:23")
    with open(os.path.join(scratch, "kernel-1.trace"), "w") as f:
        f.write("-kernel name = raw\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-accelsim tracer version = 4\n#traces format = x\n"
                f"0 0 0 0 0000 {FULL} 0 EXIT 0 0\n")
    run(make_list("list.g", ["kernel-1.trace"]), status=3, says="heddle trace group")
    check("a left out line", "left out" in run(make_list("list.g", ["nonsense", trace("kernel-1.traceg", 1, 1, [EXIT])])), True)


for part in (closed_forms, limits, streams, every_kind, copies, same_bytes, schedulers, memory, constant_memory, two_players, mistakes):
    part()
    print(part.__name__)
print("ok")
