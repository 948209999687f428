"""CUDA programs in the styles that people write, which verify themselves: by `heddle cuda-cc` on
three machines, by nvcc where it is installed, and on several GPUs."""
import json
import os
import re
import shutil

import pytest

from harness import ANY, HEDDLE, ORDERS, ROOT, call, cuda_cc, of_gpu, same_bytes
from programs import only_full, quick_and_full

PROGRAMS = ROOT / "tests/programs/cuda"
MACHINES = ["rtx3070", "a100", "h100"]
# These have tests of their own.
ELSEWHERE = "bulk_copies clocks clusters copy_stages math_errors peer_rate".split()
ALL = sorted(path.stem for path in PROGRAMS.glob("*.cu") if path.stem not in ELSEWHERE
             and re.search(r"Prints\s+(// )?PASS\s+(// )?or\s+(// )?FAIL", path.read_text()))
NO_KERNEL = ["device_query"]  # nothing to record
QUICK = "aggregated_atomics groups halves intrinsics layered_textures managed_variables"
FUNCTIONAL = "platforms/a100.heddle --generic --mode functional"
FOUR = "platforms/a100_x4.heddle --generic --set sms=2 --set channels=2 --set vram=1GiB"
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
pytestmark = pytest.mark.skipif(not shutil.which("clang++-19"), reason="clang-19 is missing")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """A program, compiled once."""
    folder = tmp_path_factory.mktemp("styles")

    def compile_program(name):
        program = folder / name
        if not program.exists():
            cuda_cc(PROGRAMS / f"{name}.cu", program)
        return program
    return compile_program


@pytest.fixture
def by_nvcc(tmp_path):
    def compile_program(name):
        call([NVCC, "-std=c++17", "-cudart", "shared", "-arch=sm_80", "--extended-lambda",
              "--expt-relaxed-constexpr", PROGRAMS / f"{name}.cu", "-o", tmp_path / name])
        return tmp_path / name
    return compile_program


@pytest.mark.parametrize("name", quick_and_full(QUICK, ALL))
def test_program_passes(run, compiled, name):
    """In function on one machine, in time on another; --full: on all."""
    at = ALL.index(name)
    run(f"platforms/{MACHINES[at % 3]}.heddle --generic -- {compiled(name)}", "^PASS")
    run(f"platforms/{MACHINES[(at + 1) % 3]}.heddle --generic --mode functional"
        f" -- {compiled(name)}", "^PASS")


def test_shared_memory_above_the_l1_is_named(run, compiled):
    run("platforms/rtx3070.heddle --generic --set sms=4 --set channels=2 --set sm.l1.size=16KiB"
        f" -- {compiled('block_scan')}",
        r"bytes of shared memory, and the L1 in which it lies has 16384.*parameter 'shared'",
        status=ANY)


def test_clocks_read_simulated_time(run, compiled):
    """A read of the clock waits until what stands before it is over."""
    told = run("platforms/rtx3070.heddle --generic --set sms=4 --set channels=2"
               f" -- {compiled('clocks')}").stdout
    miss, hit, loop, nanoseconds = (int(word) for word in told.split()[1::2])
    assert 300 < miss < 1500 and 39 < hit < miss / 2  # the L1's latency, and more
    assert 20000 <= loop < 20100 and abs(nanoseconds * 1.132 - loop) < 100  # 1132 MHz


def test_blocks_of_clusters_meet(run, measure, tmp_path):
    """In both modes, by one thread and two, and recorded; a machine before sm_90 refuses them."""
    program = tmp_path / "clusters"
    call([HEDDLE, "cuda-cc", "-arch=sm_90", PROGRAMS / "clusters.cu", "-o", program])
    small = f"platforms/h100.heddle --generic --set sms=8 --set channels=2 {{}} -- {program}"
    run(small.format(f"--mode functional --record api={tmp_path}/calls"), "^PASS")
    run(small.split(" --")[0] + f" --mode functional --play api={tmp_path}/calls",
        "^ratio: 1.000000$")
    same_bytes(measure, small, ["--threads=2"])
    run(f"{FUNCTIONAL} -- {program}", "sm_90", status=ANY)


def test_bulk_copies_move_data_and_take_time(run, tmp_path):
    """As long as the recording of the run, which has all that they move."""
    program, stats = tmp_path / "bulk_copies", tmp_path / "stats.json"
    call([HEDDLE, "cuda-cc", "-arch=sm_90", PROGRAMS / "bulk_copies.cu", "-o", program])
    small = f"platforms/h100.heddle --generic --set sms=8 --set channels=2 --stats {stats}"
    cycles = []
    for way in (f"--record instructions={tmp_path}/calls -- {program}",
                f"--play sass={tmp_path}/calls/kernelslist.g"):
        run(f"{small} {way}")
        cycles.append(json.loads(stats.read_text())["kernels"][0]["cycles"])
    assert cycles[0] == cycles[1]
    moved = re.findall(r" cp\.async\.bulk\S+ \d.* 4096 0x\w+ 0 4096 0 3 1 0x",
                       (tmp_path / "calls/kernel-1.traceg").read_text())
    assert len(moved) == 4 * 24 * 2  # blocks, pieces of 4 KiB, there and back


@pytest.mark.parametrize("machine", only_full(*MACHINES))
@pytest.mark.parametrize("name", ALL)
def test_program_passes_on_each_machine(run, compiled, name, machine):
    for mode in ("timing", "functional"):
        run(f"platforms/{machine}.heddle --generic --mode {mode} -- {compiled(name)}", "^PASS")


@pytest.mark.parametrize("name", only_full(*(n for n in ALL if n not in NO_KERNEL)))
def test_recording_is_played_as_the_program_ran(measure, compiled, tmp_path, name):
    machine = f"platforms/{MACHINES[ALL.index(name) % 3]}.heddle --generic"
    told = measure(f"{machine} --record instructions={tmp_path}/traces -- {compiled(name)}")
    assert of_gpu(told.stats) == of_gpu(measure(
        f"{machine} --play sass={tmp_path}/traces/kernelslist.g").stats)


@pytest.mark.skipif(not os.access(NVCC, os.X_OK), reason="no nvcc")
@pytest.mark.parametrize("name", only_full(*ALL))
def test_program_of_nvcc_prints_the_same(run, compiled, by_nvcc, name):
    told = [run(f"{FUNCTIONAL} -- {made}", "^PASS").stdout
            for made in (by_nvcc(name), compiled(name))]
    assert told[0] == told[1]


@pytest.mark.parametrize("mode", ["timing", *only_full("functional")])
@pytest.mark.parametrize("name", ["peer_halo", "managed_gpus",
                                  *only_full("device_query", "thread_streams")])
def test_program_passes_on_four_gpus(run, compiled, name, mode):
    run(f"{FOUR} --mode {mode} -- {compiled(name)}", "^PASS")


def test_statistics_of_four_gpus_depend_on_no_order(measure, compiled):
    same_bytes(measure, f"{FOUR} {{}} -- {compiled('peer_halo')}", [*ORDERS, "--threads=2"])


@pytest.mark.parametrize("nvlink, least, most, peers", [("300GB/s", 150, 300, "peers"),
                                                        ("0GB/s", 10, 32, "no peers")])
def test_copies_between_gpus_take_the_time_of_their_way(run, compiled, nvlink, least, most, peers):
    run(f"{FOUR} --set nvlink={nvlink} -- {compiled('peer_rate')} {least} {most}", f"^{peers},",
        "^PASS")


def test_every_call_of_a_program_is_a_packet(measure, compiled):
    counted = measure("platforms/packet_direct.heddle --set arrays=1 --set banks=2 --set vram=1GiB"
                      f" --set gpus_are=nvidia -- {compiled('groups')}", "^PASS").components
    assert (10 < counted["driver"]["packets"] == counted["cpu"]["packets"]
            == counted["device"]["calls_done"])
    assert counted["device"]["malformed"] == 0
