"""Kernels in PTX on NVIDIA's GPUs, by the driver's own interface: in function, in time, recorded
and played again."""
import csv
import importlib.util
import re

import pytest

from harness import BUILD, HEDDLE, ORDERS, ROOT, call, cuda_cc, of_gpu, same_bytes

MODULE = ROOT / "tests/programs/ptx_calls.ptx"
CALLS = f"-- ptx_calls {MODULE}"
SMALL = "platforms/rtx3070.heddle --generic --set sms=4 --set channels=2"
MACHINES = ["rtx3070", "a100", "h100"]


@pytest.mark.parametrize("machine", MACHINES)
def test_kernels_are_executed_without_time(run, machine):
    run(f"platforms/{machine}.heddle --generic --mode functional {CALLS} all", "PASS ptx_calls")


@pytest.mark.parametrize("machine", MACHINES)
def test_kernels_take_time(measure, machine):
    """The statistics have each launch, with blocks, instructions and cycles, as for traces."""
    done = measure(f"platforms/{machine}.heddle --generic {CALLS} all")
    kernels = done.stats["kernels"]
    assert [k["name"] for k in kernels] == ["vectoradd", "histogram", "report"]
    assert all(k["cycles"] > 1000 and k["wavefront_instructions"] > 0 for k in kernels)
    assert done.total(".", "blocks_done") == sum(k["work_groups"] for k in kernels)


def test_bytes_and_cycles_depend_on_no_order(measure):
    same_bytes(measure, f"{SMALL} {{}} {CALLS} all", [*ORDERS, "--threads=2"])


@pytest.mark.parametrize("mode", ["", "--mode functional"])
def test_access_outside_of_all_memory_is_a_fault(run, mode):
    """It names the kernel, the place in the PTX, and the address."""
    run(f"{SMALL} {mode} {CALLS} wrong",
        r"kernel wrong, ptx_calls\.ptx:[0-9]+: st\.global\.u32: .* 0x1000")


def test_recorded_run_is_played_as_it_was(measure, tmp_path):
    folder = tmp_path / "recorded"
    told = measure(f"{SMALL} --record instructions={folder} {CALLS} all")
    played = measure(f"{SMALL} --no-cache --play sass={folder}/kernelslist.g")
    assert of_gpu(told.stats) == of_gpu(played.stats)
    cut = folder / "cut.g"  # the second kernel was launched behind the first one
    cut.write_text((folder / "kernelslist.g").read_text().replace("kernel-1.traceg\n", ""))
    alone = measure(f"{SMALL} --no-cache --play sass={cut}").stats["kernels"]
    assert [kernel["name"] for kernel in alone] == ["histogram", "report"]


def plays(measure, folder):
    """The statistics of the kernels that a recording has, without their times of day."""
    stats = measure(f"{SMALL} --no-cache --play sass={folder}/kernelslist.g").stats
    return stats["kernels"], stats["components"]


def test_recordings_in_all_forms_are_played_alike(run, measure, tmp_path):
    """Addresses in each of the three forms; raw, and grouped afterwards: the same trace. The table
    has each kernel."""
    forms = {"stride": "", "each": "--record-addresses each", "raw": "--record-raw",
             "difference": "--record-addresses difference"}
    for name, option in forms.items():
        run(f"{SMALL} --record instructions={tmp_path / name} {option} {CALLS} all")
    raw, stride = tmp_path / "raw", tmp_path / "stride"
    memory = (raw / "kernel-mem-2.trace").read_text()
    whole = (raw / "kernel-2.trace").read_text()
    assert re.search(r"^11 0 0 3 [0-9a-f]{4} [0-9a-f]{8} ", whole, re.M), whole[:900]
    kept = [line for line in whole.splitlines() if re.search(
        r"^[\d ]+ \w{4} \w{8} .*(ld|st|atom|red)\.(?!param|const)| exit ", line)]
    assert re.findall(r"^\d.*", memory, re.M) == kept
    call([HEDDLE, "trace", "group", raw / "kernelslist"])
    call([HEDDLE, "trace", "group", raw / "kernel-mem-2.trace"])
    call([HEDDLE, "trace", "mem", "-o", tmp_path, stride / "kernel-2.traceg"])
    steps = re.compile(r"^(?:[0-9a-f]{4} .*|warp .*|thread .*|insts .*)$", re.M)
    assert steps.findall((raw / "kernel-mem-2.traceg").read_text()) == steps.findall(
        (tmp_path / "kernel-mem-2.traceg").read_text())
    for file in ("kernelslist.g", "kernel-1.traceg", "kernel-2.traceg", "stats.csv"):
        assert (raw / file).read_bytes() == (stride / file).read_bytes()
    modes = {name: set(re.findall(r" 4 ([012]) 0x", (tmp_path / name / "kernel-1.traceg")
                                  .read_text())) for name in ("stride", "each", "difference")}
    assert modes == {"stride": {"1"}, "each": {"0"}, "difference": {"2"}}
    of = plays(measure, stride)
    assert plays(measure, tmp_path / "each") == of == plays(measure, tmp_path / "difference")
    with open(stride / "stats.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    assert [row["kernel mangled name"] for row in rows] == [k["symbol"] for k in of[0]]
    assert [int(row["total_insts"]) for row in rows] == [
        k["wavefront_instructions"] for k in of[0]]
    assert [int(row["#blocks"]) for row in rows] == [k["work_groups"] for k in of[0]]


RAW = """-kernel name = k
-grid dim = (2,1,1)
-block dim = (32,1,1)

1 0 0 0 0000 ffffffff 0 EXIT 0 0
0 0 0 0 0000 ffffffff 0 EXIT 0 0
"""


@pytest.mark.parametrize("text, says", [
    (RAW + "0 0 0 0000 ffffffff 0 EXIT 0 0\n", "7: error: no instruction of a raw trace, which"),
    (RAW + "-late = 1\n", "7: error: no instruction of a raw trace"),
    (RAW.replace("1 0 0 0 0", "#BEGIN_TB\n0"), "5: error: it is grouped by thread block already"),
    (RAW[:RAW.index("1 0 0 0 ")], "error: it has no instruction")])
def test_what_cannot_be_grouped_is_named(tmp_path, text, says):
    trace, grouped = tmp_path / "kernel-1.trace", tmp_path / "kernel-1.traceg"
    trace.write_text(RAW)
    call([HEDDLE, "trace", "group", trace])
    assert re.findall("thread block = .*", grouped.read_text()) == [
        "thread block = 0,0,0", "thread block = 1,0,0"]
    call([HEDDLE, "trace", "check", grouped])
    grouped.unlink()
    trace.write_text(text)
    call([HEDDLE, "trace", "group", trace], f"kernel-1.trace:.*{says}", status=1)
    assert not grouped.exists()


WAITING = """
#include <cuda_runtime.h>
#include <cstdio>
__device__ unsigned arrived, taken;
__device__ void meet(unsigned goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned *)&arrived < goal)
            ;
    }
    __syncthreads();
}
__global__ void rounds(unsigned *data, int n, int times, unsigned *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int t = 0; t < times; t++) {
        unsigned next = ((volatile unsigned *)data)[(i + blockDim.x) % n] + 1;
        meet(gridDim.x * (2 * t + 1));
        ((volatile unsigned *)data)[i] = next;
        meet(gridDim.x * (2 * t + 2));
    }
    if (threadIdx.x % 8 == 0) {
        while (atomicCAS(&taken, 0, 1) != 0)
            ;
        *(volatile unsigned *)sum += 1;
        __threadfence();
        atomicExch(&taken, 0);
    }
}
int main()
{
    const int n = 12 * 64, times = 3;
    unsigned host[n], *data, *sum, got = 0, wrong = 0;
    cudaMalloc(&data, n * 4);
    cudaMalloc(&sum, 4);
    for (int i = 0; i < n; i++)
        host[i] = i;
    cudaMemcpy(data, host, n * 4, cudaMemcpyHostToDevice);
    cudaMemset(sum, 0, 4);
    rounds<<<12, 64>>>(data, n, times, sum);
    cudaMemcpy(host, data, n * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(&got, sum, 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        wrong += host[i] != (unsigned)((i + 64 * times) % n + times);
    printf("%s %u %u\\n", wrong || got != 96 ? "FAIL" : "PASS", wrong, got);
}
"""


def test_blocks_wait_for_each_other(measure, tmp_path):
    """At a barrier through global memory, and for a lock, also in a warp. Recordings in both forms
    have the parts in which they were executed, and are played in the same cycles."""
    source = tmp_path / "waiting.cu"
    source.write_text(WAITING)
    cuda_cc(source, tmp_path / "waiting")
    for form in ("--record-raw", ""):
        folder = tmp_path / f"traces{form}"
        told = measure(f"{SMALL} --record instructions={folder} {form} -- {tmp_path}/waiting",
                       "PASS 0 96")
        if form:
            call([HEDDLE, "trace", "group", folder / "kernelslist"])
        played = measure(f"{SMALL} --play sass={folder}/kernelslist.g")
        assert of_gpu(told.stats) == of_gpu(played.stats)
        trace = folder / "kernel-1.traceg"
        assert trace.read_text().count("part = ") > 12
    trace.write_text(re.sub("part = 2", "part = 1", trace.read_text(), count=1))
    call([HEDDLE, "trace", "check", trace], "'part =' wants a number above", status=1)


@pytest.mark.full
def test_instructions_agree_in_ten_million_vectors():
    """The page lists which ones are compared, and which are not."""
    spec = importlib.util.spec_from_file_location("ptx", ROOT / "tests/bench/ptx_instructions.py")
    ptx = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ptx)
    section = ptx.section(BUILD)
    assert int(section.split()[0].replace(",", "")) > 10_000_000
    page = (ROOT / "docs/evidence/cuda.md").read_text()
    assert section in page, "run tests/bench/ptx_instructions.py"
