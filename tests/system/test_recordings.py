"""Recordings of the instructions that the wavefronts of an AMD program execute."""
import os

import pytest

import recording
from harness import FAILS, PROGRAMS, same, same_file, ways
from programs import quick_and_full

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
