"""Recordings of the instructions that the wavefronts of an AMD program execute, and playing
them."""
import filecmp
import json
import os
import re
import shutil

import pytest

import damage
import recording
from harness import API_TRACES, ANY, BUILD, FAILS, PROGRAMS, ROOT, call, same, same_file, ways
from programs import only_full, quick_and_full

TINY = "platforms/tiny.heddle"
RING4 = "platforms/ring4.heddle"


def code_of(program):
    return PROGRAMS / ("module_kernels.hsaco" if program == "module" else program)


def check_recording(measure, folder, program, same_steps):
    """Recording changes no statistics, and agrees with them, with the disassembler, and with what
    functional mode records, unless the program does by timing what it does."""
    timed, quick = folder / "trace", folder / "quick"
    plain = measure(f"{TINY} -- {program}")
    done = measure(f"{TINY} --record instructions={timed} -- {program}", f"recorded in '{timed}'")
    same(plain, done)
    recording.check(timed, done.stats, code_of(program))
    done = measure(f"{TINY} --mode functional --profile blocks --record instructions={quick}"
                   f" -- {program}")
    recording.check(quick, done.stats, code_of(program))
    if same_steps:
        same_file(timed / "kernelslist.g", quick / "kernelslist.g")
        recording.same(timed, quick)


@pytest.mark.parametrize("program", quick_and_full(
    "vectoradd matmul_tiled histogram shuffles module", """scratch divergence
    saxpy matmul transpose stencil atax bitonic convolution device_variables doubles dynamic_lds fft
    fir floyd_warshall grids half integers math narrow nbody scan spmv structs alignment dct8x8
    aes128""".split()))
def test_recording_agrees_with_statistics_and_disassembler(measure, tmp_path, program):
    check_recording(measure, tmp_path, program, True)
    if program == "vectoradd":
        recording.check_vectoradd(tmp_path / "trace")


# Programs whose steps depend on time (order of atomics and of streams, waiting, clocks), or whose
# host serves their kernels meanwhile, which there is no time for in functional mode.
@pytest.mark.parametrize("program", quick_and_full("atomics streams", """
    bfs calls clocks overlap life philox fences host_threads kmeans managed pipeline reduction
    threads""".split()))
def test_recording_of_what_depends_on_time_agrees_with_statistics(measure, tmp_path, program):
    check_recording(measure, tmp_path, program, False)


def test_recording_of_gfx906_agrees_with_statistics(measure, tmp_path):
    trace = tmp_path / "trace"
    done = measure(f"{TINY} --set gpu.isa=gfx906 --record instructions={trace} -- fft")
    recording.check(trace, done.stats, code_of("fft"))


def test_recording_of_four_gpus_has_the_same_bytes_however_it_is_run(run, measure, tmp_path):
    trace = tmp_path / "trace"
    done = measure(f"{RING4} --record instructions={trace} -- peer_ring")
    recording.check(trace, done.stats, code_of("peer_ring"))
    lines = (trace / "kernelslist.g").read_text().splitlines()
    assert sum(line.startswith("MemcpyDtoD") for line in lines) == 8  # copies between GPUs
    assert any(line.startswith("After,9,") for line in lines)  # and the order of their queues
    for number, order in enumerate(ways(["--tick-order=random:5", "--threads=2", "--generic"])):
        other = tmp_path / str(number)
        run(f"{RING4} {order} --record instructions={other} -- peer_ring",
            env={"HEDDLE_THREAD_DELAYS": "3"})
        assert sorted(os.listdir(trace)) == sorted(os.listdir(other))
        for name in os.listdir(trace):
            same_file(trace / name, other / name, order)


NEW = "--record instructions=FOLDER/new"
QUEUES = "tests/system/queues.heddle"
REFUSED = {
    "exists": (f"{TINY} --record instructions=FOLDER/there -- vectoradd", 1,
               ["'--record instructions=FOLDER/there': this exists already"]),
    "no-program": (f"{TINY} {NEW}", 2, ["records a program; name one"]),
    "kernels": (f"{TINY} --kernels 1 {NEW} -- vectoradd", 2, ["leave out '--kernels'"]),
    "unified": (f"{RING4} --unified 0,1 {NEW} -- vectoradd", 2, ["leave out '--unified'"]),
    "folder": (f"{TINY} --record instructions=FOLDER/no/new -- vectoradd", 1,
               ["cannot make a folder there"]),
    "no-hip": (f"{TINY} {NEW} -- /bin/true", 8, ["has used HIP"]),
    "fault": (f"{TINY} {NEW} -- bad_oob", 3,
              ["cannot be recorded: a kernel broke the device", "nothing is recorded"]),
    "functional-fault": (f"{TINY} --mode functional {NEW} -- bad_oob", 3, ["nothing is recorded"]),
    "endless": (f"{TINY} --max-cycles 100000 {NEW} -- endless", 6, ["nothing is recorded"]),
    "user-queues": (f"{QUEUES} {NEW} -- user_queues", 1,
                    ["^PASS", "cannot be recorded: it writes to user queues"]),
    "moved-pages": (f"{RING4} {NEW} -- own_devices", 1,
                    ["^PASS", "cannot be recorded: it moves pages between GPUs"]),
    "by-queue": (f"{QUEUES} --set driver.launch_by=queue {NEW} -- vectoradd", FAILS,
                 ["driver.launch_by = queue"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_recording_appears_whole_or_not_at_all(run, tmp_path, case):
    text, status, says = REFUSED[case]
    (tmp_path / "there").mkdir()
    run(text.replace("FOLDER", str(tmp_path)),
        *(words.replace("FOLDER", str(tmp_path)) for words in says), status=status)
    assert os.listdir(tmp_path) == ["there"]


def test_instructions_and_calls_are_recorded_together(run, tmp_path):
    """And instructions of a trace of calls that is played."""
    run(f"{TINY} --record instructions={tmp_path}/steps --record api={tmp_path}/calls -- saxpy")
    run(f"{TINY} --play api={tmp_path}/calls --record instructions={tmp_path}/again",
        "^ratio: 1.000000$")
    recording.same(tmp_path / "steps", tmp_path / "again")


IDLE_LANES = re.compile(r', "valu_idle_lanes": \d+')


def facts(run):
    """Statistics without the hash of what ran, which is the player's when a trace is played, and
    without lanes that were off, which a recording does not have."""
    return [IDLE_LANES.sub("", line) for line in run.stats_file.read_text().splitlines()
            if not line.lstrip().startswith('"program": ')]


def check_played(measure, folder, platform, program):
    """A program, and its recording played on the same platform: the same statistics."""
    trace = folder / "trace"
    recorded = measure(f"{platform} --record instructions={trace} -- {program}", "recorded in")
    assert facts(recorded) == facts(measure(f"{platform} --play instructions={trace}"))


# All kinds of memory, control flow and copies; `scratch` has private memory, `late_arguments` the
# ring; `streams` and `prints` poll.
@pytest.mark.parametrize("program", quick_and_full("""
    vectoradd matmul_tiled bfs scratch shuffles fences dynamic_lds copies
    streams prints unaligned_scratch""", """late_arguments managed
    saxpy matmul transpose reduction histogram stencil atax aes128 bitonic convolution
    device_variables divergence doubles fft fir floyd_warshall grids half integers kmeans layers
    math narrow nbody pipeline scan spmv structs alignment clocks spread life philox radix_sort
    sha256 occupancy overlap dct8x8 ocean interleave module flushes shared_lines calls
    host_threads""".split()))
def test_played_recording_counts_what_the_program_counts(measure, tmp_path, program):
    check_played(measure, tmp_path, TINY, program)


@pytest.mark.parametrize("program", quick_and_full(
    "peer_ring", "allreduce halo matmul_gpus queues peers".split()))
def test_played_recording_counts_what_the_program_counts_on_four_gpus(measure, tmp_path, program):
    check_played(measure, tmp_path, RING4, program)


# `scratch` has pools of other sizes there. (In programs with races, as bfs, timing decides what is
# executed, and a recording keeps that.)
@pytest.mark.parametrize("program", ["scratch", *only_full("floyd_warshall")])
def test_recording_is_played_on_any_platform_as_if_the_program_ran(run, measure, tmp_path, program):
    run(f"{TINY} --mode functional --record instructions={tmp_path}/functional -- {program}")
    run(f"{TINY} --record instructions={tmp_path}/timed -- {program}")
    for platform in (f"{TINY} --set gpu.l2=64KiB --set gpu.banks=1",
                     "platforms/r9nano.heddle --set gpu.arrays=2"):
        wanted = facts(measure(f"{platform} -- {program}"))
        for how in "timed", "functional":
            trace = tmp_path / how / "kernelslist.g"
            assert wanted == facts(measure(f"{platform} --play instructions={trace}")), how


def test_played_recording_counts_the_same_however_it_is_run(run, measure, tmp_path, full):
    """The first run makes caches of its kernels, the second reads them."""
    trace = tmp_path / "trace"
    run(f"{TINY} --record instructions={trace} -- bfs")
    text = f"{TINY} {{}} --play instructions={trace}"
    reference = measure(text.format("--no-cache"))
    assert not list(trace.rglob("*.heddle-cache"))
    for order in "", "", *ways(["--tick-order=descending", "--tick-order=random:3 --tick-all",
                                "--threads=2", "--generic"]):
        same(reference, measure(text.format(order)))
        assert len(list(trace.rglob("*.heddle-cache"))) == len(list(trace.rglob("kernel-*.zst")))
    if full:
        same(reference, measure(text.format(""), env={"HEDDLE_CC": "clang"}))


def chosen_facts(run):
    """As facts(), without the instructions of launches that are skipped, which nobody counts."""
    stats = json.loads("\n".join(facts(run)))
    ways = [k.get("simulated", "detailed") for k in stats["kernels"]]
    assert ways.count("detailed") >= 3
    for kernel, way in zip(stats["kernels"], ways):
        kernel["wavefront_instructions"] *= way != "skipped"
    return stats


@pytest.mark.parametrize("warmup", ["none", "perfect", "memory:2", "full-memory", "functional"])
def test_chosen_kernels_of_a_recording_are_those_of_the_program(run, measure, tmp_path, warmup):
    trace = tmp_path / "trace"
    run(f"{TINY} --record instructions={trace} -- floyd_warshall")
    text = f"{TINY} --kernels 3,6-7 --warmup {warmup}"
    assert (chosen_facts(measure(f"{text} -- floyd_warshall"))
            == chosen_facts(measure(f"{text} --play instructions={trace}")))


class Recording:
    """A recording of vectoradd as text, to be changed."""

    def __init__(self, run, folder):
        self.folder = folder / "trace"
        run(f"{TINY} --record instructions={self.folder} -- vectoradd")
        call(["zstd", "-q", "-d", "--rm", self.folder / "kernel-1.traceg.zst"])
        self.kernel = (self.folder / "kernel-1.traceg").read_text()
        self.list = (self.folder / "kernelslist.g").read_text().replace(".zst\n", "\n")
        (self.folder / "kernelslist.g").write_text(self.list)

    def put(self, name, text):
        assert text not in (self.kernel, self.list), "the edit changes nothing"
        (self.folder / name).write_text(text)


@pytest.mark.parametrize("pattern, instead", [
    (r"(flat_load_dword .* 1 0x[0-9a-f]*00 )", r"\g<1>0x40 "),  # an address that is wrong by a line
    (r"^([0-9a-f]*) [0-9a-f]*( .*_load_dword.* 1 0x[0-9a-f]* 4)", r"\1 000000000000ffff\2")],
    ids=["address", "mask"])
def test_comparison_sees_a_changed_recording(run, measure, tmp_path, pattern, instead):
    text = f"{TINY} --no-cache --play instructions={{}}"
    trace = Recording(run, tmp_path)
    reference = measure(text.format(trace.folder))
    trace.put("kernel-1.traceg", re.sub(pattern, instead, trace.kernel, count=1, flags=re.M))
    changed = measure(text.format(trace.folder), status=ANY)
    assert not (changed.stats_file.exists()
                and filecmp.cmp(reference.stats_file, changed.stats_file, shallow=False))


ACCESSES = [(r"\.l1v(\[\d+\])?$", "reads"), (r"\.l1v(\[\d+\])?$", "writes"),
            (r"\.l1v(\[\d+\])?$", "atomics"), (r"\.l1s(\[\d+\])?$", "reads")]


def accesses_of(done):
    return [done.total(*what) for what in ACCESSES]


@pytest.mark.parametrize("program", ["vectoradd 1000", *quick_and_full("atomics matmul_tiled",
                                                                       "scratch bfs kmeans")])
def test_memory_only_recording_is_played(heddle, measure, tmp_path, program):
    """The accesses are those of the program, and nothing else takes time."""
    ran = measure(f"{TINY} --record instructions={tmp_path}/trace -- {program}")
    told = heddle(f"trace mem -o {tmp_path}/mem {tmp_path}/trace/kernelslist.g").stdout
    steps = [int(number) for number in re.findall(r": (\d+) of \d+ instructions", told)]
    play = f"{TINY} --play instructions={tmp_path}/mem/kernelslist-mem.g"
    done = measure(play)
    assert accesses_of(done) == accesses_of(ran)
    assert [k["wavefront_instructions"] for k in done.stats["kernels"]] == steps
    assert all(0 < k["cycles"] < whole["cycles"]
               for k, whole in zip(done.stats["kernels"], ran.stats["kernels"]))
    if program.startswith("vectoradd"):  # two arrays of floats read, one written, by 64 lanes
        lines = 1000 * 4 // 64 + 1
        assert accesses_of(done)[:3] == [2 * lines, lines, 0]
        assert len(steps) == 1
        for order in ways(["--tick-all", "--threads 2", "--tick-order=random:1"]):
            same(done, measure(f"{play} {order}"))


def test_recording_with_gaps_is_played_only_if_it_says_so(run, tmp_path):
    """Steps that do not follow each other are a mistake without the line '-steps = memory'."""
    trace = Recording(run, tmp_path)
    kept = [line for line in trace.kernel.splitlines() if "v_add" not in line]
    gone = len(trace.kernel.splitlines()) - len(kept)
    assert gone
    warps = "\n".join(kept) + "\n"
    counts = iter(re.findall(r"insts = \d+\n((?:[0-9a-f].*\n)*)", warps))
    warps = re.sub(r"insts = \d+", lambda _: f"insts = {len(next(counts).splitlines())}", warps)
    trace.put("kernel-1.traceg", warps)
    run(f"{TINY} --play instructions={trace.folder}", "does not follow the step before",
        status=FAILS)
    trace.put("kernel-1.traceg", warps.replace("-isa =", "-steps = memory\n-isa =", 1))
    run(f"{TINY} --play instructions={trace.folder}")


@pytest.mark.parametrize("file", only_full("kernel-1.traceg", "kernelslist.g"))
def test_damaged_recordings_are_refused_with_their_place_or_play(run, tmp_path, file):
    trace = Recording(run, tmp_path)
    whole = (trace.folder / file).read_text()
    for seed in range(200):
        (trace.folder / file).write_text(damage.damaged(whole, seed))
        done = run(f"{TINY} --no-cache --max-cycles 3000000 --play instructions={trace.folder}",
                   status=ANY)
        damage.check(done, seed, "kernel-1.traceg|kernelslist.g")


@pytest.mark.parametrize("test", only_full("test_component_replay", "test_api_trace"))
def test_readers_refuse_or_read_a_thousand_damaged_traces(tmp_path, test):
    binary = next(path for path in BUILD.rglob(test) if path.is_file())
    call([binary, "--filter", "*/*damaged_traces*"],
         env={"DAMAGE_SEEDS": "1000", "SCRATCH": str(tmp_path), "TRACES": str(ROOT / API_TRACES)})


def without_line(number):
    return lambda lines: lines[:number] + lines[number + 1:]


def first_end(lines):
    return next(i for i, line in enumerate(lines) if "s_endpgm" in line)


def first_load_elsewhere(lines):
    at = next(i for i, line in enumerate(lines) if re.search("flat_load_dword .* 0x2000", line))
    changed = re.sub("(flat_load_dword .*) 0x2000", r"\1 0x7000", lines[at])
    return lines[:at] + [changed] + lines[at + 1:]


def wrong_pc(lines):
    end = first_end(lines)
    return lines[:end] + [re.sub("^[0-9a-f]*", "fff0", lines[end])] + lines[end + 1:]


def without_second_wavefront(lines):
    text = re.sub(r"^warp = 1\n(?:.+\n)*(?:\n|\Z)", "", "\n".join(lines) + "\n", flags=re.M)
    return text.splitlines()


def repeated_last_block(lines):
    begin = max(i for i, line in enumerate(lines) if line == "#BEGIN_TB")
    return lines + lines[begin:]


# Changes of the lines of a kernel, and what is said of each; END is the line of the first s_endpgm.
KERNEL_MISTAKES = {
    "missing-step": (lambda lines: without_line(first_end(lines) - 1)(lines),
                     "kernel-1.traceg:[0-9]+: thread block 0,0,0, warp 0: PC .* does not follow"
                     "|kernel-1.traceg:[0-9]+: .*insts"),
    "missing-end": (lambda lines: without_line(first_end(lines))(lines),
                    "kernel-1.traceg:[0-9]+: warp 0 ends 1 instructions before"),
    "cut": (lambda lines: lines[:first_end(lines) + 19], "kernel-1.traceg:[0-9]+: "),
    "pc": (wrong_pc, "kernel-1.traceg:END: .*PC fff0 .*'-code' has nothing"),
    "address": (first_load_elsewhere, "kernel 'vectoradd.*load of 4 bytes at 0x7000"),
    "wavefront": (without_second_wavefront,
                  "kernel-1.traceg:[0-9]+: thread block 0,0,0 has .* warps: warp 1 is missing"),
    "repeated": (repeated_last_block,
                 "kernel-1.traceg:[0-9]+: thread block [0-9]+,0,0 stands in the trace twice"),
    "descriptor": (lambda lines: [x for x in lines if not x.startswith("-descriptor")],
                   "kernelslist.g:[0-9]+: error: .*the header has no '-descriptor"),
    "other-isa": (lambda lines: [x.replace("gfx803", "gfx906") if x.startswith("-isa") else x
                                 for x in lines],
                  "kernelslist.g:[0-9]+: error: .*for gfx906; the GPUs of this platform are"
                  " gfx803"),
    "no-isa": (lambda lines: [x for x in lines if not x.startswith("-isa")],
               "kernelslist.g:[0-9]+: error: .*CUDA program, which .*--play sass.*plays"),
}


@pytest.mark.parametrize("mistake", KERNEL_MISTAKES)
def test_mistake_in_a_recorded_kernel_is_named_with_its_place(run, tmp_path, mistake):
    change, says = KERNEL_MISTAKES[mistake]
    trace = Recording(run, tmp_path)
    lines = trace.kernel.splitlines()
    trace.put("kernel-1.traceg", "\n".join(change(lines)) + "\n")
    run(f"{TINY} --play instructions={trace.folder}",
        says.replace("END", str(first_end(lines) + 1)), status=FAILS)


@pytest.mark.parametrize("pattern, instead, status, says", [
    ("^Free", "Freed", 1, "kernelslist.g:[0-9]+: error: .*trace: 'Freed"),
    ("^kernel-1", "kernel-2", 1, "kernelslist.g:[0-9]+: error: .*kernel-2.traceg: cannot be read"),
    ("(^Mem.*),1$", r"\1,7", 1, "kernelslist.g:[0-9]+: error: there is no queue 7"),
    ("^Malloc,0x00002000000", "Malloc,0x00002000001", FAILS,
     "kernelslist.g:[0-9]+: MemcpyHtoD.*outside of any allocation")],
    ids=["free", "kernel", "queue", "allocation"])
def test_mistake_in_the_list_of_a_recording_is_named(run, tmp_path, pattern, instead, status, says):
    trace = Recording(run, tmp_path)
    trace.put("kernelslist.g", re.sub(pattern, instead, trace.list, flags=re.M))
    run(f"{TINY} --play instructions={trace.folder}", says, status=status)


@pytest.mark.parametrize("text, status, says", [
    (f"{TINY} --play instructions=nowhere", 1, "'--play instructions nowhere': cannot read it"),
    (f"{TINY} --play instructions=TRACE -- vectoradd", 2,
     "either a program or '--play instructions'"),
    (f"{TINY} --play instructions=TRACE --kernels auto --stats FOLDER/stats.json", 2,
     "'--kernels auto' executes all launches of a program"),
    (f"{TINY} --play instructions=TRACE --mode functional", 2,
     "'--mode functional' executes programs"),
    (f"{TINY} --play instructions=TRACE --record instructions=FOLDER/again", 2,
     "cannot be recorded"),
    (f"{QUEUES} --set driver.launch_by=queue --play instructions=TRACE", FAILS,
     "cannot be played through user queues")],
    ids=["nowhere", "program", "auto", "functional", "again", "user-queues"])
def test_recording_is_not_played_with(run, tmp_path, text, status, says):
    trace = Recording(run, tmp_path)
    run(text.replace("TRACE", str(trace.folder)).replace("FOLDER", str(tmp_path)), says,
        status=status)
    assert not (tmp_path / "again").exists()
