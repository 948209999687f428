#!/usr/bin/env python3
"""Chosen kernels of lists of traces, on rtx3070: sass_warmup.py HEDDLE PLATFORMS SCRATCH. Prints "ok" at the end.

Oracles: what the generator knows of its lines; `heddle trace mem` for memory instructions alone; `heddle trace stats` for
profiles; a simulation of everything. Where cycles must be equal, memory is ideal: DRAM refreshes at times of its own, so that
cycles depend on when a kernel begins.
"""
import csv
import filecmp
import json
import os
import shutil
import subprocess
import sys

import warmup
from sass_traces import EXIT, FULL, check, heddle, make_list, platforms, run, scratch, total, trace

HEAP, COPIED = 0x7F0100000000, 0x7F0300000000
IDEAL = ["--set", "memory.memory=ideal"]
BLOCKS, WARPS, CHAIN = 20, 4, 6
LISTS = {}


def walk(first, count, store=None, base=HEAP):
    """Each warp loads `count` lines of its own, one after another, computes, and stores one behind them."""
    def body(block, warp):
        own = base + 128 * (first + (block * WARPS + warp) * count)
        lines = [f"{16 * i:04x} {FULL} 1 R2 LDG.E 1 R2 4 1 0x{own + 128 * i:x} 4" for i in range(count)]
        lines += [f"{0x200 + 16 * i:04x} {FULL} 1 R4 FFMA 3 R4 R2 R6 0" for i in range(10)]
        lines += [f"0300 {FULL} 1 R5 LDS 1 R2 4 1 0x{4 * warp:x} 4", f"0310 {FULL} 0 BAR.SYNC.DEFER_BLOCKING 0 0"]
        if store is not None:
            lines.append(f"0320 {FULL} 0 STG.E 2 R8 R4 4 1 0x{base + 128 * (store + block * WARPS + warp):x} 4")
        return lines + [EXIT]
    return body


def make(name):
    """Six kernels: 1, 3 and 5 read the same lines; 2 and 4 read others, and 6 those of both."""
    if name in LISTS:
        return LISTS[name]
    shared = BLOCKS * WARPS * CHAIN
    commands = ["MemcpyHtoD,0x00007f0300000000,8192"]
    for i, first, symbol in ((1, 0, "_Z3oddPf"), (2, shared, "_ZN4even4readEPf"), (3, 0, "_Z3oddPf"), (4, shared, "_ZN4even4readEPf"),
                             (5, 0, "_Z3oddPf"), (6, shared // 2, "plain")):
        commands.append(trace(f"kernel-{name}{i}.traceg", BLOCKS, WARPS, walk(first, CHAIN, 4 * shared + 1000 * i), symbol=symbol))
    LISTS[name] = make_list(f"{name}.g", commands)
    return LISTS[name]


def kernels(path, *options, **more):
    stats = os.path.join(scratch, "warm.json")
    run(path, "--stats", stats, *options, **more)
    with open(stats) as f:
        return {k.get("launch", i + 1): k for i, k in enumerate(json.load(f)["kernels"])}


def chosen(path, launches, how, *options):
    return kernels(path, "--kernels", launches, "--warmup", how, *options)


def reads(kernel):
    return total(kernel, ".dram", "reads")


def near(what, got, want):
    """Equal, but for arbiters that remember whom they served last."""
    if abs(got - want) > want / 500:
        sys.exit(f"{what}: {got}, not {want}")


def ways():
    """Each kernel is executed in the way that its distance to the next chosen one asks for."""
    stats = os.path.join(scratch, "warm.json")
    for how in ("none", "perfect", "memory:2", "full-memory", "functional", "functional:2"):
        chosen(make("six"), "3,5-6", how)
        warmup.ways(stats, how, 3, 5, 6)
    for names, numbers in (("odd,6", (1, 3, 5, 6)), ("_Z3oddPf,plain", (1, 3, 5, 6)), ("even::read,plain", (2, 4, 6))):
        chosen(make("six"), names, "functional")
        warmup.ways(stats, "functional", *numbers)


def cold_and_warm():
    """A cold kernel reads all of its lines from memory; a warm one those that nobody has read yet."""
    lines, half = BLOCKS * WARPS * CHAIN, BLOCKS * WARPS * CHAIN // 2
    six = make("six")
    everything = kernels(six, *IDEAL)
    for launch, warm in ((1, lines), (2, lines), (3, 0), (4, 0), (6, 0)):
        cold = chosen(six, str(launch), "none", *IDEAL)[launch]
        check(f"cold sectors of {launch}", reads(cold), 4 * lines)
        for how in ("perfect", "full-memory", "functional"):
            got = chosen(six, str(launch), how, *IDEAL)[launch]
            check(f"sectors of {launch}, {how}", reads(got), 4 * warm)
            near(f"cycles of {launch}, {how}", got["cycles"], everything[launch]["cycles"])
        if warm == 0 and not cold["cycles"] > got["cycles"] + 100 * CHAIN:
            sys.exit(f"launch {launch} takes {cold['cycles']} cycles cold, {got['cycles']} warm")
    for how, left in (("functional:1", lines), ("memory:1", lines), ("functional:2", 0), ("memory:2", 0)):
        check(f"sectors of 3, {how}", reads(chosen(six, "3", how)[3]), 4 * left)
    check("sectors of 6 behind 5", reads(chosen(six, "6", "functional:1")[6]), 4 * half)
    check("sectors of 5 when 1 is too far back", reads(chosen(six, "1,5", "functional:1")[5]), 4 * lines)
    alone, second = chosen(six, "3", "none", *IDEAL)[3], chosen(six, "1,3", "none", *IDEAL)[3]
    check("cold sectors behind a detailed one", reads(second), reads(alone))
    near("cold cycles behind a detailed one", second["cycles"], alone["cycles"])


def memory_alone():
    """The same cycles and statistics as with the files that `heddle trace mem` writes."""
    six = make("six")
    folder = os.path.join(scratch, "mem")
    subprocess.run([heddle, "trace", "mem", "-o", folder, six], check=True, capture_output=True)
    with open(six) as f, open(os.path.join(folder, "mixed.g"), "w") as out:
        for line in f:
            out.write(line.replace("kernel-", "kernel-mem-") if line.startswith("kernel-") and line[10] < "5" else line)
    for number in (5, 6):
        shutil.copy(os.path.join(scratch, f"kernel-six{number}.traceg"), folder)
    for copies in ([], ["--set", "player.copies=fill"]):
        want = kernels(os.path.join(folder, "mixed.g"), "--kernel-stats", "all", *copies)
        got = chosen(six, "5", "full-memory", "--kernel-stats", "all", *copies)
        for launch in range(1, 6):
            for key in ("cycles", "wavefront_instructions", "work_groups"):
                check(f"{key} of {launch}", got[launch][key], want[launch][key])
            for path, values in want[launch]["components"].items():
                if path != "player":  # kernels are left out behind this one
                    check(f"{path} of {launch}", got[launch]["components"].get(path), values)


def copies():
    """What the host copied stands in the L2 in all modes; and does not, unless copies leave something."""
    before = trace("kernel-copy1.traceg", 8, 4, walk(0, 2))
    after = trace("kernel-copy2.traceg", 8, 4, walk(0, 2, base=COPIED))
    path = make_list("copy.g", ["MemcpyHtoD,0x00007f0300000000,4096", before, "MemcpyHtoD,0x00007f0300001000,2048", after])
    for how in ("none", "perfect", "memory:1", "full-memory", "functional:1", "functional"):
        for fill, want in (("none", 8 * 4 * 2), ("fill", 8 * 4 * 2 - 6144 // 128)):
            got = chosen(path, "2", how, *(["--set", "player.copies=fill"] if fill == "fill" else []))
            check(f"sectors behind copies, {how}, {fill}", reads(got[2]), 4 * want)
    got = kernels(path, "--mode", "functional", "--profile", "memory", "--set", "player.copies=fill")
    check("profile behind copies", [got[i]["profile"]["memory_reads"] for i in (1, 2)], [256, 4 * (64 - 48)])


def shared_memory():
    """The L1 gives and takes shared memory as if kernels without time had taken theirs."""
    def again(block, warp):  # 704 lines twice: more than an L1 of 64 KiB has
        load = [f"{16 * i:04x} {FULL} 1 R2 LDG.E 1 R2 4 1 0x{HEAP + 128 * (i + 704 * block):x} 4" for i in range(704)]
        return load + load + [EXIT]
    kinds = ((walk(0, 2), 65536), (again, 0), (again, 0), (again, 65536))
    path = make_list("carve.g", [trace(f"kernel-carve{i}.traceg", 4, 1, body, shared=size) for i, (body, size) in enumerate(kinds)])
    for launch in (2, 3, 4):
        want = chosen(path, str(launch), "perfect", *IDEAL, "--set", "sms=4")[launch]
        got = chosen(path, str(launch), "functional", *IDEAL, "--set", "sms=4")[launch]
        for name in ("hits", "misses"):
            check(f"L1 {name} of {launch}", total(got, ".l1", name), total(want, ".l1", name))
        near(f"cycles of {launch}", got["cycles"], want["cycles"])


def profiles():
    """Profiles count what `heddle trace stats` counts, and chains as long as they are."""
    six = make("six")
    got = kernels(six, "--mode", "functional", "--profile", "memory")
    rows = list(csv.DictReader(subprocess.run([heddle, "trace", "stats", "--csv", "--no-cache", six], check=True,
                                              capture_output=True, text=True).stdout.splitlines()))
    for launch, row in enumerate(rows, 1):
        profile, record = got[launch]["profile"], got[launch]
        for ours, theirs in (("accesses", "line_references"), ("lines", "lines"), ("reused", "common_backward")):
            check(f"{ours} of {launch}", profile[ours], int(row[theirs]))
        columns = list(row)
        classes = columns[columns.index("sp"):columns.index("unknown") + 1]
        check(f"units of {launch}", [int(n) for n in profile["units"].split()], [int(row[c]) for c in classes])
        check(f"blocks of {launch}", sum(map(int, profile["blocks"].split())), int(row["warp_instructions"]))
        check(f"threads of {launch}", record["thread_instructions"], int(row["thread_instructions"]))
        check(f"time of {launch}", (record["cycles"], record["simulated"]), (0, "functional"))
        check(f"trips of {launch}", (profile["trips_cold"], profile["trips"]), (CHAIN, CHAIN if launch < 3 else 0))
    def wide(block, warp):
        first, second = (HEAP + 0x1000000 + 16384 * (8 * block + warp) + 8192 * i for i in range(2))
        loads = [f"0000 {FULL} 1 R2 LDG.E 1 R8 4 1 0x{first:x} 256", f"0010 {FULL} 1 R3 LDG.E 1 R8 4 1 0x{second:x} 256"]
        return loads + [f"0020 {FULL} 1 R8 FFMA 3 R2 R3 R4 0", f"0030 {FULL} 1 R2 LDG.E 1 R8 4 1 0x{second + 128:x} 256", EXIT]
    for lines in kernels(make_list("wide.g", [trace("kernel-wide1.traceg", 4, 2, wide)]), "--mode", "functional", "--profile", "memory").values():
        check("loads that wait together", (lines["profile"]["trips_cold"], lines["profile"]["trips"]), (2, 2))
    check("no profile", "profile" in kernels(six, "--mode", "functional")[1], False)


def more_than_fits():
    """Blocks that do not fit at once go in turn; a kernel without time takes no more memory than one with."""
    small = ["--set", "sms=2", "--set", "channels=1", "--set", "player.memory=1MiB"]
    path = make_list("many.g", [trace(f"kernel-many{i}.traceg", 300, 4, walk(i, 3)) for i in (1, 2)])
    want, got = (chosen(path, "2", how, *small, *IDEAL) for how in ("perfect", "functional"))
    for name in ("work_groups", "wavefront_instructions", "thread_instructions"):
        check(name, got[1][name], want[1][name])
    check("warm sectors", reads(got[2]), reads(want[2]))
    profile = kernels(path, "--mode", "functional", "--profile", "memory", *small)[1]["profile"]
    check("trips of blocks behind each other", profile["trips_cold"], -(-300 // 24) * 3)


def same_bytes():
    path, reference, other = make("six"), os.path.join(scratch, "a.json"), os.path.join(scratch, "b.json")
    state = os.path.join(scratch, "state")
    for how in ("none", "functional", "memory:2"):
        options = ["--kernels", "2,5-", "--warmup", how, "--set", "player.copies=fill"]
        run(path, "--stats", reference, *options)
        for variant in (["--tick-order", "descending"], ["--tick-order", "random:5"], ["--tick-all"], ["--threads", "2"]):
            run(path, "--stats", other, *options, *variant)
            if not filecmp.cmp(reference, other, False):
                sys.exit(f"{how}, {variant}: other statistics")
        for cycle in ("20", "5400"):
            run(path, "--stats", other, *options, "--checkpoint", state, "--checkpoint-at", cycle)
            run(path, "--stats", other, *options, "--restore", state)
            with open(reference) as a, open(other) as b:
                if json.load(a)["components"] != json.load(b)["components"]:
                    sys.exit(f"{how}, --restore of cycle {cycle}: other statistics")


def tool(command, *options, status=0, says=""):
    got = subprocess.run([heddle, command, f"{platforms}/rtx3070.heddle", "--generic", "--no-cache", *options], capture_output=True,
                         text=True, timeout=300)
    if got.returncode != status or says not in got.stdout + got.stderr:
        sys.exit(f"{command} {options}: status {got.returncode}, not {status}, or no '{says}' in:\n{got.stdout}{got.stderr}")
    return got.stdout


def experiment():
    folder = os.path.join(scratch, "experiment")
    tool("experiment", "--kernels", "odd,plain", "--play", "sass=" + make("six"), "-o", folder)
    with open(os.path.join(folder, "results.csv")) as f:
        rows = {(r["launch"], r["mode"]): r for r in csv.DictReader(f)}
    check("rows", len(rows), 4 * 16)
    for name, texts in (("ipc.svg", ["polyline"] * 4), ("accuracy.svg", ["polyline"] * 4), ("index.html", ["six.g on "])):
        with open(os.path.join(folder, name)) as f:
            page = f.read()
        if any(page.count(text) < texts.count(text) for text in texts):
            sys.exit(f"{name} shows less than four kernels")
    if not float(rows["3", "estimate"]["accuracy_percent"]) > 98 > float(rows["3", "none"]["accuracy_percent"]):
        sys.exit(f"estimate {rows['3', 'estimate']}, cold {rows['3', 'none']}")


def sample():
    """Kernels of two kinds, one of which grows a little: two groups, and the total is near."""
    names = [trace(f"kernel-some{i}.traceg", BLOCKS, WARPS, walk(0, 3 if i % 2 else 5), symbol="_Z1aPf") for i in range(40)]
    path = make_list("some.g", names)
    said = tool("sample", "--play", "sass=" + path, "--full", says="40 launches in 2 groups, 6 simulated")
    error = float(said.split("error")[1].split("%")[0])
    if abs(error) > 2:
        sys.exit(said)


def mistakes():
    six = make("six")
    run(six, "--kernels", "99", status=3, says="chooses none of the list's 6 kernels")
    run(six, "--kernels", "1,0", status=2, says="'0' is no launch")
    run(six, "--warmup", "none", status=2, says="choose them with '--kernels")
    run(six, "--profile", "memory", status=2, says="give that, too")
    run(six, "--kernels", "1", "--mode", "functional", status=2, says="nothing is with")
    run(None, "--kernels", "1", status=2, says="name one")
    run(make_list("gone.g", ["kernel-nowhere1.traceg", "kernel-six1.traceg"]), "--kernels", "2", status=3, says="kernel-nowhere1.traceg")
    trace("kernel-broken1.traceg", 1, 1, ["0030 zzzz 0 EXIT 0 0"])
    broken = make_list("broken.g", ["kernel-broken1.traceg", "kernel-six1.traceg"])
    run(broken, "--kernels", "2", status=3, says="kernel-broken1.traceg:20")
    check("a kernel that is not read", kernels(broken, "--kernels", "2", "--warmup", "none")[1]["simulated"], "skipped")
    tool("experiment", "--kernels", "99", "--play", "sass=" + six, "-o", scratch, status=1, says="none of the list's 6 launches")
    tool("experiment", "--kernels", "1", "-o", scratch, status=2, says="--play sass=LIST")
    tool("sample", "--play", "sass=" + six, "--", "/bin/true", status=2, says="not both")
    tool("sample", "--play", "sass=" + os.path.join(scratch, "nowhere.g"), status=1, says="cannot read")


for part in (ways, cold_and_warm, memory_alone, copies, shared_memory, profiles, more_than_fits, same_bytes, experiment, sample, mistakes):
    part()
    print(part.__name__, flush=True)
print("ok")
