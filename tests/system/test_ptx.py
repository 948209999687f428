"""Kernels in PTX on NVIDIA's GPUs, by the driver's own interface: in function, in time, recorded
and played again."""
import pytest

from harness import HEDDLE, ORDERS, ROOT, call, of_gpu, same_bytes

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


def test_blocks_wait_for_each_other(run, tmp_path):
    """At a barrier through global memory, and for a lock, also in a warp."""
    source = tmp_path / "waiting.cu"
    source.write_text(WAITING)
    call([HEDDLE, "cuda-cc", source, "-o", tmp_path / "waiting"])
    run(f"{SMALL} -- {tmp_path}/waiting", "PASS 0 96")
