"""The HIP programs of tests/programs that tests run in numbers."""
import fcntl
import itertools
import subprocess

import pytest

from harness import BUILD, SYSTEM

GOOD = """
    vectoradd saxpy matmul matmul_tiled transpose reduction histogram stencil module atax aes128
    atomics bfs bitonic calls convolution copies device_variables divergence doubles dynamic_lds fft
    fir chase floyd_warshall grids half integers kmeans layers math matmul_chain narrow nbody
    network pipeline scan scratch shuffles spmv streams structs alignment clocks devices peers
    spread fences life philox prints radix_sort sha256 threads host_threads managed occupancy
    overlap dct8x8 ocean interleave host_memory volumes graphs grid_sync""".split()

# For as many GPUs as there are.
GPUS = """peer_ring allreduce halo matmul_gpus gpu_threads queues managed_pingpong managed_both
    managed_reads""".split()

# HIP programs that are CUDA programs, too, once tests/programs/as_cuda.sh has changed their names.
# Not among them: those with what CUDA has not (contexts, scopes of atomics), with what NVIDIA's
# GPUs have not (64 lanes, code objects), and with calls of heddle's own.
CUDA = """
    aes128 alignment atax bfs bitonic call_costs calls chase clocks convolution dct8x8
    device_variables divergence doubles dynamic_lds fences fft fir floyd_warshall graphs grids
    half histogram host_memory host_threads integers interleave kmeans layers life managed_both
    managed_pingpong managed_reads many_streams math matmul matmul_chain matmul_tiled matrix
    narrow nbody occupancy ocean overlap own_streams peers philox pipeline prints queued queues
    radix_sort reduction saxpy scan scratch sha256 spmv spread stages stencil stream_rules
    streams structs threads transpose vectoradd""".split()

CUDA_OPTIONS = {"own_streams": ["--default-stream", "per-thread"]}


def built(path):
    """`path` of a program; what is not built always is built now, which is so under --full. One
    worker at a time, since ninja writes its log into the folder."""
    if not path.exists():
        with open(SYSTEM / "ninja.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            subprocess.run(["ninja", "-C", BUILD, path.relative_to(BUILD)], check=True)
    return path


def only_full(*values):
    """Values of a parameter that are for --full."""
    return [pytest.param(*(v if isinstance(v, tuple) else (v,)), marks=pytest.mark.full)
            for v in values]


def quick_and_full(quick, everything):
    """The words of `quick` always, the rest of `everything` with --full."""
    quick = quick.split()
    return quick + only_full(*(p for p in everything if p not in quick))


def both_ways(first, second):
    """Pairs of values of two parameters: each value of both always, all pairs with --full."""
    longest = max(len(first), len(second))
    quick = [(first[i % len(first)], second[i % len(second)]) for i in range(longest)]
    return quick + only_full(*(pair for pair in itertools.product(first, second)
                               if pair not in quick))
