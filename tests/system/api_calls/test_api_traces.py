"""Traces of API calls: checked, recorded from a program, and played in its place."""
import os
import shutil
from pathlib import Path

import pytest

from harness import API_TRACES, BUILD, PROGRAMS, ROOT, call, heddle, same
from programs import GOOD, GPUS, only_full, quick_and_full

TINY = "platforms/tiny.heddle"
MODULE = "--module vecadd_kernels.hsaco"


@pytest.mark.parametrize("trace, says", [
    ("vecadd", "vecadd/cuda_calls.trace: 10 calls, no errors"),
    ("pipeline/cuda_calls.trace", "25 calls, no errors")], ids=["folder", "file"])
def test_trace_without_errors(heddle, trace, says):
    heddle(f"api-trace check {API_TRACES}/{trace}", says)


@pytest.mark.parametrize("text, status, says", [
    (f"check {API_TRACES}/damaged", 1, ["damaged/cuda_calls.trace:2: error: .* 63 bytes",
                                        "trace:3: error: .*missing.data",
                                        "trace:5: error: dptr-7", "3 errors"]),
    ("check nowhere", 1, ["cannot read 'nowhere'"]),
    (f"play {API_TRACES}/vecadd", 2, ["there is no 'play'"]),
    (f"check {API_TRACES}/vecadd --module module_kernels.hsaco", 1,
     ["trace:6: error: no code object has a kernel '_Z6vecAddPiS_S_i'"]),
    (f"check {API_TRACES}/vecadd --module meson.build", 1,
     ["is not a code object, a bundle or PTX"])],
    ids=["damaged", "nowhere", "play", "kernel", "module"])
def test_mistake_in_a_trace_is_named(heddle, text, status, says):
    heddle(f"api-trace {text}", *says, status=status)


@pytest.mark.parametrize("arguments, says", [
    ("dptr-0/8/dptr-1/8/dptr-2/8/16/4/7/4/", "argument 5 reaches byte 31 .* has 4 arguments of 28"),
    ("dptr-0/8/dptr-1/8/dptr-2/8/", "argument 4 of kernel '_Z6vecAdd.*' has 4 bytes .*gives 0"),
    ("dptr-0/8/16/4/dptr-2/8/16/4/", "argument 2 of .* has 8 bytes .* gives 4 of them"),
    ("dptr-0/8/dptr-1/8/dptr-2/8/16/8/", "argument 4 reaches byte 31")],
    ids=["more", "fewer", "smaller", "larger"])
@pytest.mark.parametrize("how", ["api-trace check", f"run {TINY} --play"])
def test_launch_has_the_arguments_of_the_kernel(heddle, tmp_path, how, arguments, says):
    shutil.copytree(Path(API_TRACES, "vecadd"), tmp_path / "trace")
    path = tmp_path / "trace" / "cuda_calls.trace"
    calls = path.read_text()
    lines = [line.split("args: ")[0] + f"args: {arguments}" if "args: " in line else line
             for line in calls.splitlines()]
    path.write_text("\n".join(lines) + "\n")
    play = "api=" if "--play" in how else ""
    heddle(f"{how} {play}{tmp_path}/trace {MODULE}", f"trace:6: error: {says}", status=1)


def test_code_object_of_a_trace_is_checked(heddle, tmp_path):
    for file in Path(API_TRACES, "vecadd").glob("*.data"):
        shutil.copy(file, tmp_path)
    kernels = (PROGRAMS / "vecadd_kernels.hsaco").read_bytes()
    (tmp_path / "kernels.hsaco").write_bytes(kernels)
    calls = Path(API_TRACES, "vecadd/cuda_calls.trace").read_text()
    (tmp_path / "cuda_calls.trace").write_text(
        "heddle api-trace 1\nHIP code object: file: kernels.hsaco\n" + calls)
    heddle(f"api-trace check {tmp_path}", "11 calls, no errors")
    (tmp_path / "kernels.hsaco").write_bytes(kernels[:500])
    heddle(f"api-trace check {tmp_path}", "cuda_calls.trace:2: error: 'kernels.hsaco': ", status=1)


def without_program(stats):
    """Statistics but for the hash of what ran, which is the player's when a trace is played."""
    lines = stats.read_text().splitlines()
    return [line for line in lines if not line.lstrip().startswith('"program": ')]


def check_recorded(measure, folder, platform, program):
    """A program as it is, recorded, and played: the same statistics. Recording what is played gives
    the same trace, but at its end the player waits for all devices."""
    trace, again = folder / "trace", folder / "again"
    plain = measure(f"{platform} -- {program}")
    recorded = measure(f"{platform} --record api={trace} -- {program}", f"recorded in '{trace}'")
    same(plain, recorded)
    heddle(f"api-trace check {trace}", "no errors")
    played = measure(f"{platform} --play api={trace} --record api={again}", "^ratio: 1.000000$")
    assert without_program(played.stats_file) == without_program(plain.stats_file)
    calls, more = ((f / "cuda_calls.trace").read_text() for f in (trace, again))
    assert more.startswith(calls)


# But for `host_memory`, whose kernels find pointers to registered memory in memory.
@pytest.mark.parametrize("program", quick_and_full(
    "vectoradd module copies device_variables prints streams host_threads own_addresses",
    [name for name in GOOD if name != "host_memory"]
    + ["own_streams", "stream_rules", "flushes", "late_arguments", "own_addresses"]))
def test_played_recording_counts_what_the_program_counts(measure, tmp_path, program):
    check_recorded(measure, tmp_path, TINY, program)


@pytest.mark.parametrize("program", quick_and_full("peer_ring gpu_threads own_devices",
                                                   GPUS + ["peers", "devices"]))
def test_played_recording_counts_what_the_program_counts_on_four_gpus(measure, tmp_path, program):
    check_recorded(measure, tmp_path, "platforms/ring4.heddle", program)


@pytest.mark.parametrize("program", only_full("managed_pingpong"))
def test_played_recording_counts_what_the_program_counts_with_moving_pages(measure, tmp_path,
                                                                         program):
    check_recorded(measure, tmp_path, "platforms/managed4.heddle", program)


@pytest.mark.parametrize("program", only_full("host_memory"))
def test_recording_moves_neither_heap_nor_stack(measure, tmp_path, program):
    """Kernels use memory in both."""
    same(measure(f"{TINY} -- {program}"), measure(f"{TINY} --record api={tmp_path}/t -- {program}"))


def test_recording_is_played_elsewhere(run, measure, tmp_path):
    trace = tmp_path / "trace"
    run(f"platforms/r9nano.heddle --record api={trace} -- streams")
    for platform in "tiny", "r9nano_x4":
        run(f"platforms/{platform}.heddle --play api={trace}", "^ratio: 1.000000$")
    run(f"{TINY} --mode functional --play api={trace}/cuda_calls.trace", "^ratio: 1.000000$")
    same(measure(f"{TINY} --play api={trace}"),
         measure(f"{TINY} --tick-order random:3 --threads 2 --play api={trace}"))


TWO_STREAMS = """
    #include <stdio.h>
    #include <string.h>
    enum { LARGE = 1 << 18, SMALL = 64 };
    int main(void)
    {
        void *device, *large, *small, *stream[2];
        hipMalloc(&device, LARGE);
        hipHostMalloc(&large, LARGE, 0);
        hipHostMalloc(&small, SMALL, 0);
        hipMemset(device, 7, LARGE);
        for (int i = 0; i < 2; i++)
            hipStreamCreateWithFlags(&stream[i], 1);
        hipMemcpyAsync(large, device, LARGE, 2, stream[0]);
        hipMemcpyAsync(small, device, SMALL, 2, stream[1]);
        hipStreamSynchronize(stream[1]);
        hipStreamQuery(stream[1]);
        hipStreamSynchronize(stream[0]);
        memset(large, 0, LARGE);
        puts(((char *)small)[SMALL - 1] == 7 ? "PASS" : "FAIL");
    }"""


def test_recording_compares_what_the_program_has_waited_for(run, tmp_path):
    """Without timing, a large copy is over when the program waits for a small one."""
    (tmp_path / "a.c").write_text(TWO_STREAMS)
    call(["cc", "-Wno-implicit-function-declaration", tmp_path / "a.c", "-o", tmp_path / "a",
          f"-L{BUILD}/components/hip", "-l:libamdhip64.so.5"])
    for mode in "functional", "timing":
        run(f"{TINY} --mode {mode} --record api={tmp_path}/{mode} -- {tmp_path}/a", "PASS")
        for other in "functional", "timing":
            run(f"{TINY} --mode {other} --play api={tmp_path}/{mode}",
                f"correct: {2**18 + 64} bytes", "ratio: 1.000000")


def test_recording_of_several_gpus_needs_as_many(run, tmp_path):
    run(f"platforms/ring4.heddle --record api={tmp_path}/gpus -- peer_ring")
    run(f"{TINY} --play api={tmp_path}/gpus",
        "gpus:[0-9]+: error: the trace uses device 1; the platform has 1", status=1)


@pytest.mark.parametrize("text, status, says", [
    (f"{TINY} --record api=FOLDER/there -- vectoradd", 1,
     ["'--record api=FOLDER/there': this exists already"]),
    (f"{TINY} --record api=FOLDER/new", 2, ["records a program; name one"]),
    (f"{TINY} --record api=FOLDER/no/new -- vectoradd", 1, ["cannot make a folder there"]),
    (f"{TINY} --record api=FOLDER/new -- /bin/true", 8, ["has used HIP"]),
    (f"{TINY} --record api=FOLDER/new -- bad_oob", 3,
     ["a kernel broke the device", "nothing is recorded"]),
    (f"{TINY} --max-cycles 100000 --record api=FOLDER/new -- endless", 6, ["nothing is recorded"]),
    ("tests/system/platforms/queues.heddle --record api=FOLDER/new -- user_queues", 1,
     ["^PASS", "cannot be recorded: it writes to user queues"])],
    ids=["exists", "no-program", "folder", "no-hip", "fault", "endless", "user-queues"])
def test_recording_appears_whole_or_not_at_all(run, tmp_path, text, status, says):
    (tmp_path / "there").mkdir()
    run(text.replace("FOLDER", str(tmp_path)),
        *(words.replace("FOLDER", str(tmp_path)) for words in says), status=status)
    assert os.listdir(tmp_path) == ["there"]


@pytest.fixture
def vecadd(tmp_path):
    """A copy of a trace with golden data, to be changed."""
    folder = tmp_path / "play"
    folder.mkdir()
    for file in Path(API_TRACES, "vecadd").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_wrong_byte_is_named(run, vecadd):
    run(f"{TINY} --play api={vecadd} {MODULE}", "^total: 64 bytes$", "^ratio: 1.000000$")
    golden = vecadd / "cuMemcpyD2H-0-64.data"
    data = bytearray(golden.read_bytes())
    data[9] = 7
    golden.write_bytes(data)
    run(f"{TINY} --play api={vecadd} {MODULE}",
        "play:7: 'cuMemcpyD2H-0-64.data': byte 9: expected 0x07, found 0x00; 1 of 64",
        "^correct: 63 bytes$", "^ratio: 0.984375$", status=1)


def edit(folder, change):
    """Changes the lines of a trace: `change` gets them, each without its end."""
    calls = folder / "cuda_calls.trace"
    lines = calls.read_text().splitlines()
    change(lines)
    calls.write_text("\n".join(lines) + "\n")


def test_free_in_the_middle_does_not_end_a_trace(run, vecadd):
    def change(lines):
        free = next(i for i, line in enumerate(lines) if "free" in line and "dptr-0" in line)
        copy = next(i for i, line in enumerate(lines) if "memcpyD2H" in line)
        lines.insert(copy, lines.pop(free))

    edit(vecadd, change)
    run(f"{TINY} --play api={vecadd} {MODULE}", "^total: 64 bytes$", "^ratio: 1.000000$")
    run(f"{TINY} --play api={vecadd}",
        "play:6: error: no code object has a kernel '_Z6vecAddPiS_S_i': name one with --module",
        status=1)


# Line, what stands there, what is put instead, and the message.
MISTAKES = {
    "file": ([(5, "cuMemcpyH2D-1-64.data", "missing.data")],
             "trace:5: error: cannot read the file 'missing.data'"),
    "bounds": ([(4, "size: 64", "size: 65")], "trace:4: error: 65 bytes from byte 0 of dptr-0"),
    "length": ([(1, "64", "128"), (4, "size: 64", "size: 128")],
               "trace:4: error: the file 'cuMemcpyH2D-0-64.data' has 64 bytes, the copy 128"),
    "memory": ([(6, "dptr-0", "dptr-9")], "trace:6: error: dptr-9 does not exist"),
    "kernel": ([(6, "_Z6vecAdd", "_Z6vecSub")],
               "trace:6: error: no code object has a kernel '_Z6vecSub"),
    "number": ([(2, "64", "6four")], "trace:2: error: 'size' is '6four'"),
    "call": ([(8, "CUDA", "HIP")], "trace:8: error: 'HIP free detected.* is no call"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_of_a_hand_is_named_before_anything_is_played(run, vecadd, tmp_path, mistake):
    edits, says = MISTAKES[mistake]

    def change(lines):
        for number, old, new in edits:
            assert old in lines[number - 1]
            lines[number - 1] = lines[number - 1].replace(old, new)
        if mistake == "call":
            lines.pop()

    edit(vecadd, change)
    stats = tmp_path / "stats.json"
    run(f"{TINY} --play api={vecadd} {MODULE}", says, status=1, stats=stats)
    assert not stats.exists()


def test_a_list_of_gpus_is_read_to_its_end(run, tmp_path):
    trace = tmp_path / "cuda_calls.trace"
    trace.write_text(f"heddle api-trace 2\nHIP unify devices: device: 1, gpus: {'0+' * 64}x\n")
    run(f"{TINY} --play api={trace}", r"trace:2: error: 'gpus' is '0\+.*x', not numbers", status=1)


# The extended grammar as somebody may write it: two streams, an event between them, symbols, copies
# that nobody waits for.
STREAMS = """heddle api-trace 1
HIP code object: file: k.hsaco
CUDA memalloc: dptr: dptr-0, size: 64
CUDA memalloc: dptr: dptr-1, size: 64
CUDA memalloc: dptr: dptr-2, size: 128
HIP stream create: stream: stream-1, flags: 1
HIP stream create: stream: stream-2, flags: 1
HIP event create: event: event-0, flags: 0
HIP memset: device_ptr: dptr-2, value: 2779096485, width: 4, count: 32
HIP memcpy async H2D: device_ptr: dptr-0, size: 64, data_file: cuMemcpyH2D-0-64.data, \
stream: stream-1
HIP memcpy async H2D: device_ptr: dptr-1, size: 64, data_file: cuMemcpyH2D-1-64.data, \
stream: stream-2
HIP event record: event: event-0, stream: stream-2
HIP stream wait event: stream: stream-1, event: event-0
HIP launch: kernel: _Z6vecAddPiS_S_i, gdx: 2, gdy: 1, gdz: 1, bdx: 8, bdy: 1, bdz: 1, \
sharedBytes: 0, stream: stream-1, args: 0=dptr-0/8=dptr-1/16=dptr-2+64/24=10000000/
HIP memcpy async D2D: to: dptr-2, from: dptr-2+64, size: 64, stream: stream-1
HIP memcpy async D2H: device_ptr: dptr-2, size: 64, data_file: cuMemcpyD2H-0-64.data, \
stream: stream-1
HIP stream synchronize: stream: stream-1
HIP symbol H2D: symbol: offsets, offset: 0, size: 64, data_file: cuMemcpyH2D-1-64.data
HIP symbol D2H: symbol: offsets, offset: 0, size: 64, data_file: cuMemcpyH2D-1-64.data
HIP event synchronize: event: event-0
HIP event destroy: event: event-0
HIP stream destroy: stream: stream-2
"""


def test_trace_with_streams_is_played(run, vecadd):
    shutil.copy(PROGRAMS / "vecadd_kernels.hsaco", vecadd / "k.hsaco")
    (vecadd / "cuda_calls.trace").write_text(STREAMS)
    run(f"{TINY} --play api={vecadd}", "^total: 128 bytes$", "^ratio: 1.000000$")
    beyond = STREAMS.replace("symbol: offsets, offset: 0", "symbol: offsets, offset: 8")
    (vecadd / "cuda_calls.trace").write_text(beyond)
    run(f"{TINY} --play api={vecadd}",
        "play:18: error: 64 bytes from byte 8 of 'offsets' do not lie in its 64 bytes", status=1)


@pytest.mark.full
def test_reader_refuses_or_reads_a_thousand_damaged_traces(tmp_path):
    binary = next(path for path in BUILD.rglob("test_api_trace") if path.is_file())
    call([binary, "--filter", "*/*damaged_traces*"],
         env={"DAMAGE_SEEDS": "1000", "SCRATCH": str(tmp_path), "TRACES": str(ROOT / API_TRACES)})


BALAR = os.environ.get("HEDDLE_BALAR_VECADD", "../shared/data/balar-vecadd")


@pytest.mark.skipif(not os.path.isdir(BALAR), reason="HEDDLE_BALAR_VECADD names no trace of balar")
def test_trace_of_balar_is_played(run):
    """SST's tracer has made it."""
    run(f"platforms/r9nano.heddle --play api={BALAR} {MODULE}", "^total: 524288 bytes$",
        "^ratio: 1.000000$")
