// shared_mem_latency ITERATIONS: in each iteration a thread runs over its cells of 32 KiB of LDS: it reads a cell, adds it to a
// sum, and writes the sum back. access_pattern=conflict: the cells of 32 lanes are in one bank.
#include "micro.hpp"

constexpr int cells = 8192;

__global__ void walk(int iterations, float *out)
{
    __shared__ float cell[cells];
    for (int i = threadIdx.x; i < cells; i += blockDim.x) {
        cell[i] = 1.0f;
    }
    __syncthreads();
    float sum = 0;
    for (int n = 0; n < iterations; n++) {
        for (int i = threadIdx.x; i < cells; i += blockDim.x) {
            sum += cell[i];
            cell[i] = sum;
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void walk_one_bank(int iterations, float *out)
{
    __shared__ float cell[cells];
    for (int i = threadIdx.x; i < cells; i += blockDim.x) {
        cell[i] = 1.0f;
    }
    __syncthreads();
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) / 32;
    float sum = 0;
    for (int n = 0; n < iterations; n++) {
        for (int i = threadIdx.x, j = 0; i < cells; i += blockDim.x, j++) {
            int at = (lane * 32 + warp + j * warps) % cells;
            sum += cell[at];
            cell[at] = sum;
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Sums of the first thread. In the other pattern threads meet each other's cells: only that they are finite is known.
static float walk_host(int iterations, int threads)
{
    std::vector<float> cell(cells, 1.0f);
    float sum = 0;
    for (int n = 0; n < iterations; n++) {
        for (int i = 0; i < cells; i += threads) {
            sum += cell[i];
            cell[i] = sum;
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(
        argc, argv, "shared_mem_latency", 1 << 24,
        {{"access_pattern", "no_conflict"}, {"block_size", "256"}, {"num_blocks", "1"}});
    bool conflict = m.one_of("access_pattern", {"no_conflict", "conflict"}) == 1;
    unsigned threads = unsigned(m.number("block_size", 1024));
    unsigned blocks = unsigned(m.number("num_blocks", 65536));
    float *out = device_array<float>(size_t(blocks) * threads);
    label_run(m, [&] {
        if (conflict) {
            walk_one_bank<<<dim3(blocks), dim3(threads)>>>(int(m.size), out);
        } else {
            walk<<<dim3(blocks), dim3(threads)>>>(int(m.size), out);
        }
    });
    if (!m.check) {
        return 0;
    }
    std::vector<float> got(size_t(blocks) * threads);
    from_device(got, out);
    float want = walk_host(int(m.size), int(threads));
    return m.verdict(conflict ? got[0] > 0 : got[0] == want);
}
