// shared_mem_bandwidth ITERATIONS: eight independent reads of LDS in each iteration of each thread. access_pattern=conflict: the
// cells of 32 lanes are in one bank.
#include "micro.hpp"

constexpr int cells = 8192;

template <bool conflict> __global__ void read_cells(int iterations, float *out)
{
    __shared__ float cell[cells];
    int thread = threadIdx.x, width = blockDim.x, lane = threadIdx.x & 31;
    for (int i = thread; i < cells; i += width) {
        cell[i] = 1.0f;
    }
    __syncthreads();
    float sum[8] = {};
    for (int n = 0; n < iterations; n++) {
        for (int u = 0; u < 8; u++) {
            int at = conflict ? lane * 32 + ((u + n) & 31) : (thread + (u + n) * width) % cells;
            sum[u] += cell[at];
        }
    }
    float all = 0;
    for (int u = 0; u < 8; u++) {
        all += sum[u];
    }
    out[blockIdx.x * width + thread] = all;
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(
        argc, argv, "shared_mem_bandwidth", 1 << 24,
        {{"access_pattern", "no_conflict"}, {"block_size", "256"}, {"num_blocks", "304"}});
    bool conflict = m.one_of("access_pattern", {"no_conflict", "conflict"}) == 1;
    unsigned threads = unsigned(m.number("block_size", 1024));
    unsigned blocks = unsigned(m.number("num_blocks", 65536));
    float *out = device_array<float>(size_t(blocks) * threads);
    label_run(m, [&] {
        if (conflict) {
            read_cells<true><<<dim3(blocks), dim3(threads)>>>(int(m.size), out);
        } else {
            read_cells<false><<<dim3(blocks), dim3(threads)>>>(int(m.size), out);
        }
    });
    if (!m.check) {
        return 0;
    }
    std::vector<float> got(size_t(blocks) * threads);
    from_device(got, out);
    float want = float(std::min(m.size, size_t(1) << 24)) * 8;
    return m.verdict(std::count(got.begin(), got.end(), want) == long(got.size()));
}
