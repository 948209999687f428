"""The programs of tests/programs/cdna compute what they should on the machines that they are
measured on, print their time, and refuse what they do not understand.

Small machines of two dies, or one, with two arrays stand for the whole ones but under --full."""
import re

import pytest

from harness import PROGRAMS, same
from programs import built, only_full

MACHINES = {"mi210": "gfx90a", "mi300a": "gfx942", "mi300x": "gfx942"}
SMALL = {"mi210": "--set gpu.arrays=2", "mi300a": "--set gpu.xcds=2 --set gpu.arrays=2",
         "mi300x": "--set gpu.xcds=2 --set gpu.arrays=2"}
LABELS = {"vectoradd": 1000, "memcopy_h2d": 1, "memcopy_d2h": 1, "memcopy_d2d": 1,
          "matrixtranspose": 128, "stencil2d": 64, "nbody": 512, "matrixmultiplication": 64,
          "atax": 48, "pagerank": 64, "fastwalshtransform": 512}
# As the columns of the tables have it: value of the parameter that varies, fixed parameters.
MICRO = """
    empty_kernel 100 block_size=1024
    fp32_throughput 64 num_blocks=1;threads_per_block=256
    fp64_throughput 64 num_blocks=1;threads_per_block=64
    fp16_throughput 64 num_blocks=1;threads_per_block=1
    int32_throughput 64 num_blocks=2;threads_per_block=32
    cache_latency 4096 cacheline_bytes=64;measure_laps=4;rng_seed=42;hops=500
    cache_latency 4096 path=vector hops=500
    cache_bandwidth 4096 mode=shared;kib=16;num_blocks=8
    cache_bandwidth 4096 mode=private;kib=16;num_blocks=8
    levels 4096 hops=100;path=scalar
    memory_bandwidth 1 transfer_type=d2d;use_pinned_memory=true
    memory_bandwidth 1 transfer_type=h2d;use_pinned_memory=false
    memory_bandwidth 1 transfer_type=d2h;use_pinned_memory=true
    mixbench 1 flops_per_byte=0.5;threads_per_block=512
    shared_mem_latency 4 access_pattern=conflict;block_size=64;num_blocks=1
    shared_mem_latency 4 access_pattern=no_conflict;block_size=256;num_blocks=1
    shared_mem_bandwidth 8 access_pattern=no_conflict;block_size=256;num_blocks=4
    shared_mem_bandwidth 8 access_pattern=conflict;block_size=256;num_blocks=4
    atomic_operations 2 atomic_op=atomicAdd;num_blocks=8;threads_per_block=256
    atomic_operations 2 atomic_op=atomicMin;num_blocks=8;threads_per_block=256
    atomic_operations 2 atomic_op=atomicCAS;num_blocks=8;threads_per_block=256
    altis_gups 1000 num_threads=1024;num_updates=8 --iterations 2
    warp_shuffle 10 num_blocks=1;shuffle_variant=all;threads_per_block=256
    tensor_core_throughput 48 precision=fp16
    pcie_bandwidth 1 transfer_type=all;use_pinned_memory=true
    shoc_devicememory 1 block_size=256;transfer_mode=readwrite
    shoc_triad 3000 block_size=256;precision=float
    strides 3
    gathers 4096 num_blocks=2;steps=8
    gathers 65536 element=1;window=256;steps=8
    stream_occupancy 128 size_mb=1;operation=triad
    stream_occupancy 128 size_mb=1;operation=read
    small_kernels 4 launches=10""".strip().split("\n")
# Built for gfx942 always.
QUICK_MICRO = ("fp32_throughput", "cache_latency", "memory_bandwidth", "mixbench", "shared_mem")


def program(machine, name, folder="cdna"):
    return built(PROGRAMS / folder / f"{name}.{MACHINES[machine]}")


def check_labels(run, machine, options, labels=None):
    for name in labels or LABELS:
        done = run(f"platforms/{machine}.heddle --generic {options} --"
                   f" {program(machine, name)} {LABELS[name]} --check")
        assert re.search(rf"^{name} {LABELS[name]} \d+\.\d{{7}}$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("machine, mode", [("mi300a", "timing"), ("mi300x", "functional"),
                                           *only_full(("mi300x", "timing"), ("mi210", "timing"),
                                                      ("mi300a", "functional"),
                                                      ("mi210", "functional"))])
def test_labels_are_right(run, machine, mode):
    check_labels(run, machine, f"{SMALL[machine]} --mode {mode}")


@pytest.mark.full
@pytest.mark.parametrize("mode", ["functional", "timing", "timing --threads 2"])
@pytest.mark.parametrize("machine", ["mi300a", "mi300x"])
def test_labels_are_right_on_a_whole_machine(run, machine, mode):
    check_labels(run, machine, f"--mode {mode}")


@pytest.mark.parametrize("name", ["pagerank", *only_full(*(n for n in LABELS if n != "pagerank"))])
def test_labels_have_the_same_bytes_on_one_thread_and_on_two(measure, name):
    runs = [measure(f"platforms/mi300a.heddle --generic {SMALL['mi300a']} --threads {threads} --"
                    f" {program('mi300a', name)} {LABELS[name]} --check") for threads in (1, 2)]
    assert runs[0].stdout == runs[1].stdout
    same(*runs)


@pytest.mark.parametrize("machine, mode", [("mi300a", "timing"),
                                           *only_full(("mi210", "timing"), ("mi300x", "timing"),
                                                      ("mi300a", "functional"))])
def test_micro_benchmarks_are_right(run, request, machine, mode):
    quick = [line for line in MICRO if line.startswith(QUICK_MICRO)][::2]
    for line in MICRO if request.config.getoption("--full") else quick:
        name, *arguments = line.split()
        words = " ".join(f"'{word}'" for word in arguments)
        done = run(f"platforms/{machine}.heddle --generic {SMALL[machine]} --mode {mode} --"
                   f" {program(machine, name, 'cdna/micro')} {words} --check")
        assert re.search(rf"^{name} {arguments[0]} \d+\.\d{{7}}$", done.stdout, re.MULTILINE)


def test_launches_do_not_see_the_packets_of_their_neighbours(run):
    """In one line of the L2, whose lines are longer than a packet and stay over launches."""
    run("platforms/mi210.heddle --generic --set gpu.arrays=2 -- own_packets")


def test_an_event_makes_the_l2_forget_what_launches_without_one_find(measure):
    """Of four launches between events each reads from memory what the first one did. Code stays,
    and so do the times of events, within which the L2 forgets."""
    text = f"platforms/mi300a.heddle --generic {SMALL['mi300a']} --set driver.event_fence={{}} --"\
           f" {program('mi300a', 'matrixmultiplication')} 32 --iterations 3 --check"
    kept, dropped = (measure(text.format(fence)) for fence in ("none", "system"))
    assert dropped.total(r"\bl2\[", "misses") > 2 * kept.total(r"\bl2\[", "misses")
    assert dropped.total(r"\bl1i$", "misses") == kept.total(r"\bl1i$", "misses") > 0
    assert milliseconds(kept) < milliseconds(dropped) < 1.6 * milliseconds(kept)


def test_events_that_need_no_fence_of_system_scope_leave_the_l2_alone(measure):
    """Release to the system is what events have without flags; release to the device, and none."""
    text = "platforms/tiny.heddle --generic --set driver.event_fence=system -- flushes kkkk {}"
    counts = [measure(text.format(flags)).components["driver"]["flushes"]
              for flags in (0, 0x80000000, 0x40000000, 0x20000000)]
    assert counts[0] == counts[1] == counts[2] + 4 == counts[3] + 4


def test_work_groups_of_all_dies_meet(run, measure):
    machine = "platforms/mi300a.heddle --generic --set gpu.isa=gfx90a --set gpu.xcds=2" \
        " --set gpu.arrays=2"
    run(f"{machine} --mode functional -- grid_sync all 16")
    same(*(measure(f"{machine} --threads {threads} -- grid_sync all 16") for threads in (1, 2)))


@pytest.mark.parametrize("call, why", [
    ("vectoradd", "a size is missing"), ("vectoradd 0", "'0' is not a number from 1 to"),
    ("vectoradd 12x", "'12x' is not a number"), ("vectoradd 4 5", "'5' is one argument too many"),
    ("nbody 256 --iterations", "--iterations is followed by a number"),
    ("matrixtranspose 65", "the size is not a multiple of 64"),
    ("fastwalshtransform 12", "the size is not a power of two"),
    ("micro/mixbench 1 flops=3", "'flops=3' is none of: flops_per_byte=4 threads_per_block=256"),
    ("micro/mixbench 9 'threads_per_block=64;flop=7'", "'flop=7' is none of"),
    ("micro/shared_mem_latency 1 access_pattern=both", "is one of: no_conflict, conflict")])
def test_wrong_arguments_are_refused(run, call, why):
    name, *rest = call.split(" ", 1)
    run(f"platforms/tiny.heddle --generic --set gpu.isa=gfx942 --"
        f" {PROGRAMS / 'cdna' / (name + '.gfx942')} {' '.join(rest)}", re.escape(why), status=2)


def milliseconds(done):
    return float(done.stdout.split()[2])


# The time of an event is between the two of a measurement once, the set-up of a copy in each. What
# the program needs to record the second hides a short kernel, as vectoradd's is.
@pytest.mark.parametrize("name, size, option, more", [
    ("vectoradd", 1024, "driver.record_cost=13250ns", 0.010),
    ("memcopy_d2h", 2, "driver.read_setup=15us", 0.010),
    ("atax", 48, "driver.blit_setup=10100ns", 0.020),
    *only_full(("nbody", 512, "driver.event_cost=12500ns", 0.010),
               ("memcopy_h2d", 2, "driver.copy_setup=14us", 0.010),
               ("memcopy_d2d", 4, "driver.blit_setup=10100ns", 0.010),
               ("fastwalshtransform", 512, "driver.wait_cost=34500ns", 0.010))])
def test_what_the_host_takes_is_in_the_time_of_a_measurement(run, name, size, option, more):
    text = f"platforms/mi300a.heddle --generic {SMALL['mi300a']} {{}} --"\
           f" {program('mi300a', name)} {size} --check"
    plain, later = (milliseconds(run(text.format(o))) for o in ("", f"--set {option}"))
    assert later - plain == pytest.approx(more, abs=0.0002)


@pytest.mark.parametrize("machine, says", [
    ("mi210", "arch gfx90a:sramecc+:xnack-|version 9.0|cus 104|clock_khz 1700000|memory 68719476736"
              "|l2 8388608|lds 65536|warp 64|threads 1024 2048|bus 4096|integrated 0"),
    ("mi300a", "arch gfx942:sramecc+:xnack-|version 9.4|cus 228|clock_khz 2100000"
               "|memory 137438953472|l2 4194304|lds 65536|warp 64|threads 1024 2048|bus 8192"
               "|integrated 1"),
    ("mi300x", "arch gfx942:sramecc+:xnack-|version 9.4|cus 304|clock_khz 2100000"
               "|memory 206158430208|l2 4194304|lds 65536|warp 64|threads 1024 2048|bus 8192"
               "|integrated 0")])
def test_properties_are_those_of_the_machine(run, machine, says):
    done = run(f"platforms/{machine}.heddle --generic -- {program(machine, 'properties')}",
               "^many_registers more", "^occupancy 32 2 4 1 1$", f"^name {machine} gpu$")
    for line in says.split("|"):
        assert line in done.stdout.splitlines()
    bandwidth = float(re.search(r"^terabytes_s (.*)$", done.stdout, re.MULTILINE).group(1))
    assert bandwidth == pytest.approx(1.64 if machine == "mi210" else 5.3, rel=0.03)
