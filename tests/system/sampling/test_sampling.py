"""Chosen kernels and their warm-up, `heddle experiment`, and samples."""
import csv
import re

import pytest

import launches
import sample_model
from harness import FAILS, PROGRAMS, same_bytes
from programs import both_ways, only_full

TINY = "platforms/tiny.heddle"
X4 = "platforms/r9nano_x4.heddle"
R9NANO = "platforms/r9nano.heddle"
WARMUPS = ["none", "perfect", "memory:2", "full-memory", "functional", "functional:2"]
ASLEEP = ["--tick-order=random:3", "--threads=2", "--generic"]
ORDERS = [*ASLEEP, "--tick-all"]


def name_of(text):
    """Of a parameter: options and program, without the platform's folder."""
    return re.sub(r" \{\} -- |--set |platforms/|\.heddle", " ", text).strip()


CHOSEN = ["dct8x8", "ocean", "kmeans", "bfs", "histogram"]


@pytest.mark.parametrize("warmup, program", both_ways(WARMUPS, CHOSEN))
def test_program_passes_with_chosen_kernels(measure, warmup, program):
    """And the statistics say which launches were simulated how."""
    chosen = "1" if program == "histogram" else "3,5-6"  # it has one launch
    done = measure(f"{TINY} --kernels {chosen} --warmup {warmup} -- {program}")
    if program == "dct8x8":
        launches.check_ways(done.stats, warmup, [3, 5, 6])


@pytest.mark.parametrize("program", ["dct8x8", "scan"])
@pytest.mark.parametrize("chosen", ["1", "2", "3", "1,3"])
def test_launch_behind_a_detailed_one_reads_what_that_left_in_caches(run, chosen, program):
    run(f"{TINY} --kernels {chosen} -- {program}")


def test_kernels_are_chosen_by_name(measure):
    done = measure(f"{TINY} --kernels weigh,_Z5blendPKfPfi -- dct8x8")
    launches.check_ways(done.stats, "functional", range(3, 25, 3))


# Launches are simulated here and there: bytes come and go between memory and caches right.
HERE_AND_THERE = [
    *(f"{X4} --kernels 2,4,7-8,11- {{}} -- {program}" for program in
      "atomics bfs kmeans radix_sort scratch streams managed halo".split()),
    f"{TINY} --set gpu.l2_write=through --kernels 2,5 {{}} -- dct8x8",
    f"{TINY} --set gpu.l2=8KiB --kernels 2,5,9- {{}} -- dct8x8"]


@pytest.mark.parametrize("warmup, text", both_ways(["functional", "none", "memory:1"],
                                                   HERE_AND_THERE), ids=name_of)
def test_program_passes_with_launches_simulated_here_and_there(run, warmup, text):
    run(text.format(f"--warmup {warmup}"))


@pytest.mark.parametrize("program", ["dct8x8", "kmeans", "ocean"])
def test_warm_launch_is_within_two_per_cent(measure, program):
    """Of simulating everything, where cold caches are 10 % off and more."""
    perfect = launches.kernels(measure(f"{TINY} --kernels 7-9 --warmup perfect -- {program}").stats)
    for launch in 7, 8, 9:
        error = {}
        for how in "functional", "none", "full-memory":
            done = measure(f"{TINY} --kernels {launch} --warmup {how} -- {program}")
            cycles = launches.kernels(done.stats)[launch]["cycles"]
            error[how] = abs(cycles / perfect[launch]["cycles"] - 1)
        assert error["functional"] <= 0.02 and error["full-memory"] <= 0.03, (launch, error)
        assert error["none"] >= 0.09, (launch, error)


def test_warm_launch_finds_the_code_that_instruction_caches_keep(measure):
    """Also where launches before it have fewer work-groups than there are units."""
    keep = ("--set gpu.arrays=4 --set gpu.cus=1 --set gpu.cp.code_kept=true "
            "--set 'gpu.sa[*].cu[*].code_kept=true'")
    for chosen in "", "--kernels 8", "--kernels 1,3-5,8":
        kernel = measure(f"{TINY} {keep} {chosen} -- floyd_warshall 8").stats["kernels"][7]
        assert kernel["cycles"] and kernel["work_groups"] < 4
        assert not kernel["components"]["gpu.sa[*].l1i"].get("misses"), chosen


@pytest.mark.parametrize("warmup", ["memory:3", *only_full("functional")])
def test_warmed_launches_count_the_same_however_they_are_run(measure, full, warmup):
    same_bytes(measure, f"{R9NANO} {{}} --kernels 3,5- --warmup {warmup} -- kmeans",
               ORDERS if full else ASLEEP)


def test_memory_instructions_alone_meet_in_another_order(measure):
    """Without arithmetic, accesses of two work-groups interleave otherwise, and another line is the
    victim: the second launch reads more lines behind everything than behind memory instructions."""
    reads = {}
    for how in "perfect", "full-memory":
        done = measure(f"{TINY} --set gpu.l2.index=plain --kernels 2 --warmup {how}"
                       " --kernel-stats sum -- interleave")
        reads[how] = launches.kernels(done.stats)[2]["components"]["gpu.dram[*]"]["reads"]
    assert reads["perfect"] > reads["full-memory"]


RUN, EXPERIMENT = (f"{command} {TINY}" for command in ("run", "experiment"))
MISTAKES = [
    (f"{RUN} --kernels 0 -- dct8x8", 2, "'0' is no launch"),
    (f"{RUN} --kernels 1,3-2 -- dct8x8", 2, "'3-2' is no launch"),
    (f"{RUN} --kernels 1,,2 -- dct8x8", 2, "'' is no launch"),
    (f"{RUN} --kernels 1 --warmup memory:0 -- dct8x8", 2, "none, perfect"),
    (f"{RUN} --kernels 1 --warmup hot -- dct8x8", 2, "none, perfect"),
    (f"{RUN} --warmup none -- dct8x8", 2, "choose them with '--kernels"),
    (f"{RUN} --kernels weigh --warmup functional:2 -- dct8x8", 2, "give numbers"),
    (f"{RUN} --mode functional --kernels 1 -- dct8x8", 2, "nothing is with"),
    (f"{RUN} --profile blocks -- dct8x8", 2, "give that, too"),
    (f"{RUN} --record-raw -- dct8x8", 2, "'--record-raw' says how '--record instructions'"),
    (f"{RUN} --record-addresses each -- dct8x8", 2, "'--record-addresses' says how"),
    (f"{RUN} --mode functional --profile all -- dct8x8", 2, "it is blocks, memory, instr"),
    (f"{RUN} --kernels nosuch -- dct8x8", 8,
     r"no launch is 'nosuch'\nheddle: there were 24 launches: .*\(\d+, the first is 1\)"),
    (f"{RUN} --kernels 500 -- dct8x8", 8, "no launch is '500'\nheddle: there were 24"),
    (f"{RUN} --kernels 2-3,500,7- -- dct8x8", 0, "no launch is '500'\nheddle: there were 24"),
    (f"{RUN} --kernels auto --stats FOLDER/a.json -- processes nothing", 8, "has used HIP"),
    (f"{RUN} --kernels auto -- copies", 8, "no kernel was launched"),
    ("run tests/system/platforms/memtest.heddle --kernels 1", 2, "name one"),
    (f"{EXPERIMENT} --kernels 1 -o FOLDER/e", 2, "name a program"),
    (f"{EXPERIMENT} --kernels 99 -o FOLDER/e -- dct8x8", 1, "no launch is '99'"),
    (f"{RUN} --kernels auto --stats FOLDER/a.json --checkpoint FOLDER/d -- dct8x8", 2,
     "goes on for a whole run"),
    (f"{RUN} --kernels auto --warmup none --stats FOLDER/a.json -- dct8x8", 2,
     "functional or functional:N"),
    (f"{RUN} --kernels auto --error 0 -- dct8x8", 2, "how far off the sum may be"),
    (f"{RUN} --error 2 -- dct8x8", 2, "chosen while they run"),
    (f"{RUN} --kernels auto --error 2 --play sass=PROGRAM", 7, "no trace_player"),
    (f"{EXPERIMENT} --kernels auto -o FOLDER/e -- dct8x8", 2, "chooses while a program runs"),
]


@pytest.mark.parametrize("text, status, says", MISTAKES)
def test_mistake_is_named(heddle, tmp_path, text, status, says):
    text = text.replace("FOLDER", str(tmp_path)).replace("PROGRAM", str(PROGRAMS / "dct8x8"))
    heddle(text, says, status=status)


def test_experiment_compares_all_ways(heddle, tmp_path):
    heddle(f"experiment {TINY} --kernels 8,11 -o {tmp_path}/e -- dct8x8",
           "^wrote results.csv, corrections.csv, ipc.svg, accuracy.svg, index.html to .*/e$")
    launches.check_experiment(tmp_path / "e", ["8", "11"])


def test_experiment_ranks_launches_by_what_the_cold_start_costs(heddle, tmp_path):
    """Without --kernels: all launches, and the first four of them are looked at."""
    heddle(f"experiment {TINY} --corrections -o {tmp_path}/e -- kmeans", "factors.csv have all 9")
    rank = launches.table(tmp_path / "e/ranking.csv")
    cost = [float(row["cold_cycles"]) - float(row["perfect_cycles"]) for row in rank]
    assert sorted(int(row["launch"]) for row in rank) == list(range(1, 10))
    assert cost == sorted(cost, reverse=True) and cost[0] > 1000 and rank[-1]["launch"] == "1"
    chosen = {row["launch"] for row in launches.rows_of(tmp_path / "e")}
    worst = {row["kernel"]: row["launch"] for row in reversed(rank)}  # of each kernel
    assert len(chosen) == 4 and set(worst.values()) & set(list(worst.values())[-4:]) <= chosen
    launches.check_factors(tmp_path / "e", chosen, rank)


# The tables that profilers write, of launches 1 to 9.
def profiler_table(kind, reads, time, names):
    if kind == "ncu":
        rows = ["==PROF== Connected",
                '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"']
        rows += [f'"{i}","{n}(float)","{m}","{u}","{v}"' for i, n in enumerate(names)
                 for m, u, v in (("dram__bytes_read.sum", "Kbyte", f"{reads / 1000:,}"),
                                 ("sm__cycles_elapsed.max", "cycle", f"{time:,}"))]
    elif kind == "ncu raw":
        rows = ['"ID","Kernel Name","dram__sectors_read.sum","sm__cycles_elapsed.max"',
                '"","","sector","cycle"',
                *(f'"{i}","{n}(float)","{reads // 32}","{time}"' for i, n in enumerate(names))]
    else:
        rows = ["Index,KernelName,TCC_EA_RDREQ_sum,GRBM_GUI_ACTIVE",
                *(f'{i},"{n}.kd",{reads // 64},{time}' for i, n in enumerate(names))]
    return "\n".join(rows) + "\n"


def test_experiment_takes_what_a_profiler_counted(heddle, tmp_path):
    """The formula's accesses are the profiler's, and two tables give a quotient."""
    heddle(f"experiment {TINY} --corrections -o {tmp_path}/plain -- kmeans 2000 3")
    names = [re.split(r"[(<]", row["kernel"])[0] for row in
             sorted(launches.table(tmp_path / "plain/ranking.csv"), key=lambda r: int(r["launch"]))]
    for kind in "ncu", "ncu raw", "rocprof":
        for name, time in ("cold", 8000), ("warm", 6000):
            (tmp_path / name).write_text(profiler_table(kind, 64000, time, names))
        heddle(f"experiment {TINY} --corrections -o {tmp_path}/e --profiler {tmp_path}/cold "
               f"--profiler {tmp_path}/warm -- kmeans 2000 3")
        assert {float(row["accesses"]) for row in launches.table(tmp_path / "e/corrections.csv")} \
            == {1000}
        cycles = {(r["launch"], r["mode"]): float(r["cycles"]) for r in
                  launches.rows_of(tmp_path / "e")}
        for (launch, mode), value in cycles.items():
            assert mode != "profiler" or abs(value - 0.75 * cycles[launch, "none"]) <= 0.5
        assert any(mode == "profiler" for _, mode in cycles)
    (tmp_path / "cold").write_text(profiler_table(kind, 64000, 1, ["other"] * 9))
    heddle(f"experiment {TINY} --corrections -o {tmp_path}/e --profiler {tmp_path}/cold -- kmeans "
           "2000 3", "launch [0-9] is 'other.kd', in the simulation .*: profile the same program",
           status=1)


# Every line that is read comes from memory once; with caches too small for it, some more often.
@pytest.mark.parametrize("program, sets, more", [
    ("vectoradd 20000", "", False), ("matmul", "", False),
    ("matmul", "--set gpu.l2=4KiB --set gpu.sa.l1v.size=1KiB", True)],
    ids=["vectoradd", "matmul", "small"])
def test_profile_counts_the_unique_reads_of_a_cold_launch(measure, program, sets, more):
    text = f"{TINY} {sets} {{}} -- {program}"
    profile = measure(text.format("--mode functional --profile memory")).stats["kernels"][0]
    profile = profile["profile"]
    cold = measure(text.format("--kernels 1 --warmup none --kernel-stats all")).stats["kernels"][0]
    parts = cold["components"].items()
    reads = sum(part.get("reads", 0) for _, part in parts if "bytes_read" in part)
    first = [part for path, part in parts if re.search(r"\.l1[vsi](\[\d+\])?$", path)]
    asked = sum(part.get(k, 0) for part in first for k in ("reads", "writes", "atomics"))
    assert reads > profile["lines_read"] if more else reads == profile["lines_read"]
    assert profile["lines_read"] <= profile["lines"] <= profile["accesses"] <= asked


def test_profile_counts_scalar_and_code_accesses_like_those_of_lanes(measure, tmp_path):
    """As many as the L1 caches of vectors and scalars are asked for, and code, whose instructions
    are looked at once a launch, however many wavefronts execute them; the lines of each, too."""
    code = []
    for items in 64, 256:  # one wavefront of four adds, or each
        text = f"{TINY} {{}} -- vectoradd {items}"
        options = f"--mode functional --profile memory --addresses {tmp_path}/a"
        profile = measure(text.format(options)).stats["kernels"][0]["profile"]
        cold = measure(text.format("--kernels 1 --warmup none --kernel-stats all")).stats
        asked = {name: sum(part.get(kind, 0)
                           for path, part in cold["kernels"][0]["components"].items()
                           if re.search(rf"\.{name}(\[\d+\])?$", path)
                           for kind in ("reads", "writes", "atomics")) for name in ("l1v", "l1s")}
        assert asked == {"l1v": 3 * items // 16, "l1s": {64: 14, 256: 20}[items]}
        code.append(profile["accesses"] - sum(asked.values()))
        lines = listed_lines(tmp_path / "a")
        others = {*lines[1, "read"], *lines[1, "write"]}
        assert len(others) - 3 * items // 16 == 4 + 2  # code; packet and arguments
    assert code[0] == code[1] > 4


@pytest.mark.parametrize("program, launch", [("bitonic 11", 5), ("kmeans", 5), ("saxpy", 2)])
def test_launch_alone_is_as_cold_as_behind_another_cold_one(measure, program, launch):
    """The same misses, and about the same cycles; docs/design/sampling.md says what is left."""
    def cold(chosen):
        done = measure(f"{TINY} --kernels {chosen} --warmup none --kernel-stats all -- {program}")
        kernel = launches.kernels(done.stats)[launch]
        parts = {path: part for path, part in kernel["components"].items()
                 if re.search(r"\.(l2|dram|l1s|l1i)(\[\d+\])?$", path)}
        return kernel["cycles"], sum(p.get("misses", 0) + p.get("reads", 0) for p in parts.values())
    alone, behind = cold(launch), cold(f"{launch - 1},{launch}")
    assert alone[1] == behind[1] and abs(alone[0] - behind[0]) <= alone[0] / 100
    if program.startswith("bitonic"):
        assert alone == behind


def listed_lines(file):
    """Of --addresses: addresses of lines by launch and access."""
    with open(file, encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    lines = {}
    for row in rows:
        lines.setdefault((int(row["launch"]), row["access"]), []).append(int(row["address"], 16))
    assert all(len(set(one)) == len(one) for one in lines.values())  # each once
    return lines


@pytest.mark.parametrize("program", ["vectoradd 1000", "saxpy", "atomics"])
def test_addresses_are_the_unique_lines_of_the_profile(measure, tmp_path, program):
    """As many as it counts, and of vectoradd those of its arrays: 63 lines of 1,000 floats each."""
    profile = "--mode functional --profile memory --addresses"
    text = f"{TINY} {{}} {profile} {tmp_path}/{{}} -- {program}"
    done = measure(text.format("", "a"))
    lines = listed_lines(tmp_path / "a")
    for launch, kernel in launches.kernels(done.stats).items():
        read, written = lines[launch, "read"], lines[launch, "write"]
        assert len(read) == kernel["profile"]["lines_read"]
        assert len({*read, *written}) == kernel["profile"]["lines"]
        if program.startswith("vectoradd"):
            assert sorted(written) == list(range(min(written), min(written) + 63 * 64, 64))
            pages = [line >> 12 for line in read]
            assert sorted(map(pages.count, set(pages)))[-2:] == [63, 63]
    measure(text.format("--threads 2", "b"))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


TURNS = "platforms/managed4.heddle --generic {} -- managed_both 2 2"


@pytest.mark.parametrize("how", ["--kernels 6", "--kernels 7 --warmup functional:9"])
def test_launches_that_take_turns_are_skipped_and_touched(run, how):
    run(TURNS.format(how))


def test_launch_that_waits_for_one_that_is_not_simulated_is_named(run):
    run(TURNS.format("--kernels 2 --max-cycles 300000"), "has to name both or none", status=FAILS)


@pytest.mark.parametrize("text, says", [
    *only_full(("-- dct8x8 64 40", ["240 launches in 6 groups, 29 simulated"])),
    ("--warmup functional:3 -- kmeans", ["predicted: [0-9]+ cycles"]),
    # The less that is enough, the fewer are simulated.
    ("--error 10% -- pipeline 3000 60", [
        "240 launches in 7 groups, 22 simulated",
        r"narrower: --error 0\.[0-9]+% or less; .* \(now 9.4 %\), at most [0-9.]+ CPU seconds"]),
    ("--error 0.1 -- pipeline 3000 60", ["240 launches in 7 groups, 104 simulated"])],
    ids=["dct8x8", "kmeans", "ten-per-cent", "tenth-per-cent"])
def test_sample_predicts_with_an_interval(heddle, text, says):
    heddle(f"run {TINY} --kernels auto {text}", *says)


# At most so many per cent of the launches are simulated.
@pytest.mark.parametrize("program, share", [
    ("radix_sort 2500 10", 15), ("floyd_warshall 64", 15),
    *only_full(("dct8x8 64 40", 15), ("ocean 32 16", 15), ("network 8 20", 20))])
def test_estimate_follows_its_definition_and_the_choice_its_rules(measure, program, share):
    """Counts of instructions are those of a full run, and the total is within 2 % of it."""
    auto = measure(f"{TINY} --kernels auto --kernel-stats none -- {program}").stats
    full = measure(f"{TINY} --kernel-stats none -- {program}").stats
    sample_model.check_estimate(auto)
    sample_model.check_choice(auto, 6)
    sample_model.check_instructions(auto, full)
    sample_model.check_accuracy(auto, full, 2, share)


# Copies between launches, several streams, processes and GPUs.
@pytest.mark.parametrize("text", [
    *(f"{X4} {{}} -- {program}" for program in
      "bfs radix_sort scratch many_streams overlap peer_ring".split()),
    f"{X4} --unified 0,1,2,3 {{}} -- dct8x8 64 8",
    f"{TINY} --set gpu.l2=8KiB --warmup functional:1 {{}} -- dct8x8 64 40",
    *only_full(*(f"{X4} {{}} -- {program}" for program in
                 "atomics kmeans streams managed halo".split()))], ids=name_of)
def test_program_passes_whatever_launches_are_chosen(measure, text):
    measure(text.format("--kernels auto"))


def test_sample_counts_the_same_however_it_is_run(measure, full):
    same_bytes(measure, f"{R9NANO} {{}} --kernels auto -- radix_sort 2500 4",
               ORDERS if full else ASLEEP)
