"""Programs on AMD's own ROCm, which speaks to a simulated kernel driver: HSA programs of ours, and
the HIP programs of the other tests through the distribution's libamdhip64."""
import concurrent.futures
import json
import re
import shutil

import pytest

import harness
from harness import BUILD, PROGRAMS
from programs import built

KFD = BUILD / "tests/kfd"
KERNEL = f"{PROGRAMS / 'vecadd_kernels.hsaco'} _Z6vecAddPiS_S_i.kd"
VECTORADD = f"-- {KFD / 'hsa_vectoradd'} {KERNEL}"
NANO = "platforms/r9nano.heddle --stack rocm"

ROCMINFO = f"-- {shutil.which('rocminfo')}"
NEEDS_ROCMINFO = pytest.mark.skipif(
    not shutil.which("rocminfo"), reason="rocminfo is not installed: ./dev setup --full")

# HIP programs through the distribution's library. Those that ask for heddle's own functions, and
# those that hold answers of heddle's library to be right, are left out.
QUICK = ["prints", "stream_ends", "streams"]
REST = """aes128 alignment allreduce atax atomics bfloat16 bfs bitonic calls chase
    clocks convolution copies copy_rate dct8x8 device_variables devices divergence
    doubles dynamic_lds each_gpu fences fft fir fixed_address floyd_warshall flushes
    gpu_threads grids half halo halo3d histogram host_clocks host_threads instructions
    integers interleave kmeans layers life managed_both managed_pingpong managed_reads
    many_streams math matmul matmul_chain matmul_gpus matmul_tiled matrix narrow nbody
    network ocean overlap peer_ring philox pipeline processes queued queues radix_sort
    random_streams reduction saxpy scan scratch sha256 shared_buffer shuffles spmv
    spread stages stencil structs threads transpose unaligned_scratch
    vectoradd""".split()


@pytest.fixture(autouse=True)
def needs_rocr():
    if not (KFD / "hsa_vectoradd").exists():
        pytest.skip("libhsa-runtime-dev is missing: no program ran on ROCr")


def test_an_hsa_program_runs_as_it_is(run):
    run(f"{NANO} --mode functional {VECTORADD}", r"^PASS hsa_vectoradd on gfx803")


def test_kernels_of_an_hsa_program_take_time_have_names_and_repeat(measure):
    ran = [measure(f"{NANO} {VECTORADD}", r"^PASS hsa_vectoradd on gfx803, \d+ ns$")
           for _ in range(2)]
    named = [kernel for kernel in ran[0].stats["kernels"] if kernel["symbol"] == "_Z6vecAddPiS_S_i"]
    assert [kernel["name"] for kernel in named] == 2 * ["vecAdd(int*, int*, int*, int)"]
    told = int(re.search(r"(\d+) ns", ran[0].output)[1])
    assert abs(told - named[1]["cycles"]) < 2000  # at 1 GHz; packet and fences count for the signal
    kernels = [json.dumps(one.stats["kernels"]) for one in ran]
    assert kernels[0] == kernels[1]


def statistics(run, file, program):
    run(f"{NANO} --stats {file} -- {program}", "^PASS")
    return json.loads(file.read_text())


def test_statistics_say_when_a_program_has_gone_on_at_a_time_of_the_host(run, tmp_path):
    """Between two packets it sleeps."""
    paused = statistics(run, tmp_path / "stats", f"{KFD / 'hsa_stranger'} pause {KERNEL}")
    assert paused["host"]["unordered"] is True


def test_a_wait_for_any_of_several_signals_leaves_nothing_to_the_host(run, tmp_path):
    ran = statistics(run, tmp_path / "stats", f"{KFD / 'hsa_stranger'} any {KERNEL}")
    assert "unordered" not in ran["host"]


@pytest.mark.parametrize("times", [3, pytest.param(21, marks=pytest.mark.full)])
def test_a_program_with_one_thread_repeats_on_a_busy_host(run, tmp_path, times):
    with concurrent.futures.ThreadPoolExecutor(3) as together:
        ran = list(together.map(
            lambda i: statistics(run, tmp_path / f"{i}", f"{PROGRAMS / 'many_streams'} 8"),
            range(times)))
    assert [one.pop("host").get("unordered") for one in ran] == times * [None]
    told = [json.dumps({k: v for k, v in one.items() if k != "stamp"}) for one in ran]
    assert told == times * told[:1]


@pytest.mark.parametrize("case", ["barriers", "destroy", "mistakes", "silent"])
def test_queues_do_what_hsa_says(run, case):
    ran = run(f"{NANO} --mode functional -- {KFD / 'hsa_queues'} {case} {KERNEL}",
              f"^PASS hsa_queues {case}")
    said = re.findall(r"^the queue says: (\w+)", ran.output, re.M)
    assert case != "mistakes" or said == ["HSA_STATUS_ERROR_INVALID_PACKET_FORMAT",
                                          "HSA_STATUS_ERROR_INVALID_CODE_OBJECT",
                                          "HSA_STATUS_ERROR_INVALID_ARGUMENT"]


def test_queues_beyond_the_slots_of_a_gpu_take_turns_by_priority(run):
    run(f"{NANO} -- {KFD / 'hsa_queues'} turns {KERNEL}", "^PASS hsa_queues turns")


# Cheap ones, then the others.
DAILY = ["handler", "values", "locked", "fork"]
SELDOM = "signals any threads crowd ring queues settings times agents fault again".split()


@pytest.mark.parametrize("platform, case", [
    *(("r9nano", case) for case in DAILY),
    *(pytest.param("r9nano", case, marks=pytest.mark.full) for case in SELDOM),
    pytest.param("r9nano_x4", "chain", marks=pytest.mark.full)])
def test_hsa_programs_of_strangers_work(run, platform, case):
    run(f"platforms/{platform}.heddle --stack rocm --mode functional"
        f" -- {KFD / 'hsa_stranger'} {case} {KERNEL}", f"^PASS hsa_stranger {case}",
        status=3 if case == "fault" else 0)


def test_a_fence_of_another_queue_releases_nothing_that_still_runs(run):
    run(f"{NANO} -- {KFD / 'hsa_stranger'} release {KERNEL}", "^PASS hsa_stranger release")


REACH = f"-- {KFD / 'hsa_reach'}"


def test_memory_of_the_host_is_behind_the_link(run):
    ran = run(f"{NANO} {REACH} far {KERNEL}", "^PASS hsa_reach far")
    far, near = map(int, re.search(r"host: (\d+) ns, .*: (\d+) ns", ran.output).groups())
    assert far > near + 262144 / 15.75  # bytes that are read, at 15.75 GB/s
    at_gpu = run(f"{NANO} --set host_memory=0B {REACH} far {KERNEL}", "^PASS hsa_reach far")
    assert int(re.search(r"host: (\d+) ns", at_gpu.output)[1]) < near + 2000


@pytest.mark.parametrize("mode", ["functional", pytest.param("timing", marks=pytest.mark.full)])
def test_a_gpu_reaches_what_is_mapped_to_it(run, mode):
    run(f"platforms/r9nano_x4.heddle --stack rocm --mode {mode} {REACH} allow {KERNEL}",
        "^GPU 0 reads 15$", "store of 4 bytes at 0x[0-9a-f]+ is in memory that is not mapped to",
        r"^Memory access fault by GPU node-2 .* on address 0x[0-9a-f]+000\.", status=3)


COPIES = KFD / "hsa_copies"


def test_copies_wait_for_each_other_and_take_the_time_of_the_link(run):
    for mode in "functional", "timing":
        ran = run(f"{NANO} --mode {mode} -- {COPIES} chain", "^PASS hsa_copies chain")
    there, back = map(int, re.search(r"^(\d+) ns, (\d+) ns", ran.output, re.M).groups())
    assert there > 300000 / 16 and back > 300000 / 16  # bytes, at 16 GB/s


def test_boxes_are_copied(run):
    run(f"platforms/mi210.heddle --stack rocm --mode functional -- {COPIES} windows", "^PASS")


@pytest.mark.parametrize("platform, queues", [("r9nano", 1), ("mi210", 7)])
def test_a_queue_of_copies_that_makes_a_mistake_stops(run, platform, queues):
    rocm = f"platforms/{platform}.heddle --stack rocm --mode functional -- {COPIES}"
    run(f"{rocm} packets", f"^{queues} queues more$", "^the fence is there$",
        "has stopped at byte 16: a packet that is not known", "ERROR_EXCEPTION", status=134)
    run(f"{rocm} fault", "a fence writes 4 bytes at 0x12344, which are not in memory of the GPU",
        r"Memory access fault by GPU node-1 .* on address 0x12000\.", status=134)


@pytest.mark.parametrize("mode", ["functional", pytest.param("timing", marks=pytest.mark.full)])
def test_registered_buffers_share_pages(run, mode):
    run(f"{NANO} --mode {mode} -- {KFD / 'hsa_registered'} {KERNEL}", "^PASS")


@pytest.mark.full
@pytest.mark.parametrize("mode", ["functional", "timing"])
def test_two_gpus_wait_for_each_other(run, mode):
    run(f"platforms/r9nano_x4.heddle --stack rocm --mode {mode}"
        f" -- {KFD / 'hsa_queues'} two {KERNEL}", "^PASS hsa_queues two")


@pytest.mark.parametrize("mode", ["timing", pytest.param("functional", marks=pytest.mark.full)])
def test_a_memory_fault_is_told_to_the_program_and_to_people(run, mode):
    run(f"{NANO} --mode {mode} -- {PROGRAMS / 'bad_oob'}",
        r"kernel 'read_behind\(int const\*, int\*, int\)': load of 4 bytes at 0x[0-9a-f]+ is out",
        r"^Memory access fault by GPU node-1 .* on address 0x[0-9a-f]+000\.", status=3)


FULL = pytest.mark.full


@pytest.mark.parametrize("mode, how, status", [
    ("timing", "exit", 5), ("functional", "exit late", 6),
    pytest.param("timing", "exit late", 5, marks=FULL),
    pytest.param("functional", "exit", 6, marks=FULL)])
def test_a_program_ends_though_its_kernel_does_not(run, mode, how, status):
    run(f"{NANO} --mode {mode} --stall-limit 300000 -- {PROGRAMS / 'endless'} {how}",
        "--stall-limit", status=status)


@pytest.mark.parametrize("platform, calls, seed", [
    ("r9nano", 2000, 1), *(pytest.param(platform, 100000, seed, marks=FULL)
                           for platform in ("r9nano", "mi210") for seed in (1, 2))])
def test_random_calls_rings_and_doorbells_break_nothing(run, platform, calls, seed):
    run(f"platforms/{platform}.heddle --stack rocm --mode functional"
        f" -- {KFD / 'kfd_random'} {calls} {seed}", "^PASS kfd_random")


@pytest.mark.parametrize("minor, platform, memory", [
    (14, "r9nano", "plain"), pytest.param(6, "r9nano", "plain", marks=FULL),
    pytest.param(17, "mi210", "svm", marks=FULL), pytest.param(11, "mi210", "svm", marks=FULL)])
def test_calls_of_newer_runtimes_are_answered_or_refused(run, minor, platform, memory):
    """The sequence of ROCt of ROCm 6 and 7, without ROCt."""
    ran = run(f"platforms/{platform}.heddle --stack rocm --kfd-version 1.{minor} --mode functional"
              f" -- {KFD / 'kfd_calls'} {minor} {memory}", "^PASS kfd_calls")
    missing = re.findall(r"^heddle: ioctl 0x(..) of /dev/kfd .* is not there", ran.stderr, re.M)
    later = [number for since, number in ((9, "23"), (13, "25"), (12, "24")) if minor < since]
    assert missing == [*later, "22", "26", "83", "84", "85", "86", "87", "27", "7f", "01"], \
        "each once"
    numbers = re.search(r"^calls: (.*)$", ran.stdout, re.M)[1].split()
    assert {*numbers} - {"0x7f"} <= listed_calls()
    assert minor < 12 or {*numbers} >= listed_calls(), "docs/reference/kfd.md has others"


def listed_calls():
    """Numbers of the table of calls."""
    page = (harness.ROOT / "docs/reference/kfd.md").read_text()
    rows = re.findall(r"^\| (0x[^|]*) \|", page, re.M)
    numbers = set()
    for part in ", ".join(rows).split(", "):
        first, last = (part.split(" to ") * 2)[:2]
        numbers |= {f"0x{number:02x}" for number in range(int(first, 16), int(last, 16) + 1)}
    return numbers


@FULL
@NEEDS_ROCMINFO
def test_a_gpu_that_the_runtime_does_not_know_is_named(run):
    run(f"platforms/mi300a.heddle --stack rocm --mode functional {ROCMINFO}",
        "GPU 0 is a gfx942, which '/.*libhsa-runtime64.*' does not know")


def test_a_version_of_the_driver_is_refused_without_rocm(run):
    run("platforms/tiny.heddle --kfd-version 1.9 -- vectoradd", "add '--stack rocm'", status=2)


# Functions that AMD's library has and heddle's refuses. Streams that wait for words of memory do so
# by kernels that run side by side.
CASES = """edit_graphs update_graphs copy_nodes host_nodes captures ipc_handles managed_ranges peers
    unit_masks pointers compile several_devices""".split()


@pytest.mark.parametrize("platform, case", [
    ("r9nano", "host_nodes"), ("r9nano", "compile"),
    *(pytest.param("r9nano", case, marks=FULL) for case in CASES
      if case not in ("host_nodes", "compile")),
    *(pytest.param("mi210", case, marks=FULL) for case in CASES),
    *(pytest.param("r9nano_x4", case, marks=FULL) for case in ("peers", "several_devices"))])
def test_what_only_amds_library_has_works(run, platform, case):
    run(f"platforms/{platform}.heddle --stack rocm --mode functional"
        f" -- {PROGRAMS / 'amd_calls'} {case}", "^PASS amd_calls")


@pytest.mark.full
@pytest.mark.parametrize("program", ["peers", "peer_copies 3000", "wires 1024 256", "halo"])
def test_gpus_reach_each_other_by_pcie(run, program):
    run(f"platforms/r9nano_x4.heddle --stack rocm --mode functional -- {program}", "^PASS")


@pytest.mark.full
def test_streams_wait_for_words_of_memory(run):
    run(f"{NANO} -- {PROGRAMS / 'amd_calls'} stream_words", "^PASS amd_calls")


@pytest.mark.parametrize("program", QUICK + [pytest.param(name, marks=pytest.mark.full)
                                             for name in REST])
def test_a_hip_program_runs_on_the_distributions_library(run, program):
    run(f"{NANO} --mode functional -- {PROGRAMS / program}", "^PASS")


@pytest.mark.full
@pytest.mark.parametrize("program", QUICK + REST)
def test_a_hip_program_takes_time_on_the_distributions_library(run, program):
    run(f"{NANO} -- {PROGRAMS / program}", f"^PASS {program}")


@pytest.mark.parametrize("program, how", [
    ("bitonic", "--kernels 1-3"), *(pytest.param(program, how, marks=FULL)
                                    for program in ("bfs", "bitonic", "kmeans", "radix_sort")
                                    for how in ("--kernels 1-3", "--kernels 2,4,6", "--kernels 4-",
                                                "--kernels auto", "--mode sampled")
                                    if (program, how) != ("bitonic", "--kernels 1-3"))])
def test_launches_that_are_only_executed_leave_right_results(run, program, how):
    run(f"platforms/tiny.heddle --stack rocm {how} -- {PROGRAMS / program}", "^PASS")


MOVING = ("platforms/managed4.heddle --set gpus=2 --set gpu.isa=gfx90a --set host_memory=256MiB"
          " --stack rocm")


@pytest.mark.full
@NEEDS_ROCMINFO
@pytest.mark.parametrize("xnack", [0, 1])
def test_pages_go_to_the_gpu_that_uses_them_with_xnack(measure, run, xnack):
    on = {"env": {"HSA_XNACK": str(xnack)}}
    run(f"{MOVING} --mode functional {ROCMINFO}", f"gfx90a:sramecc[+]:xnack[{'-+'[xnack]}]", **on)
    program = built(PROGRAMS / "managed_pingpong.gfx9")
    ran = measure(f"{MOVING} -- {program} 8", "^PASS", **on)
    driver = ran.stats["components"]["driver"]
    assert (driver["migrations"] > 8 and driver["pauses"] > 1) == bool(xnack)


@NEEDS_ROCMINFO
def test_xnack_is_off_where_pages_cannot_move(run):
    run(f"platforms/mi210.heddle --stack rocm --mode functional {ROCMINFO}",
        "gfx90a:sramecc[+]:xnack-", env={"HSA_XNACK": "1"})


def test_kernels_of_two_threads_overlap(run, tmp_path):
    """Neither thread's host code takes simulated time."""
    stats = statistics(run, tmp_path / "stats", PROGRAMS / "own_streams")
    assert stats["host"]["unordered"] is True


@pytest.mark.full
@pytest.mark.parametrize("mode", ["functional", "timing"])
@pytest.mark.parametrize("program", [name for name in QUICK + REST + ["grid_sync"]
                                     if name != "instructions"])  # those of gfx8 alone
def test_a_hip_program_runs_on_another_generation(run, program, mode):
    run(f"platforms/mi210.heddle --stack rocm --mode {mode}"
        f" -- {built(PROGRAMS / f'{program}.gfx9')}", "^PASS")
