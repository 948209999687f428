// A kernel whose lines all lie in one slice of the L2 of an R9 Nano, which are interleaved by 128
// bytes over 16: what limits it is planted, for reports to find.
#include "check.hpp"

constexpr int STRIDE = 2048 / sizeof(int); // 16 slices of 128 bytes

__global__ void column(const int *in, int *out, int rows, int rounds)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int round = 0; round < rounds; round++) {
        sum += __builtin_nontemporal_load(in + (thread + round * 96) % rows * STRIDE + round % 2 * 16);
    }
    out[thread] = sum;
}

int main(int argc, char **argv)
{
    int threads = 2048, rounds = size_argument(argc, argv, 1, 12), rows = 192;
    std::vector<int> in(rows * STRIDE), out(threads), want(threads);
    for (int i = 0; i < rows * STRIDE; i++) {
        in[i] = i;
    }
    for (int i = 0; i < threads; i++) {
        for (int round = 0; round < rounds; round++) {
            want[i] += in[(i + round * 96) % rows * STRIDE + round % 2 * 16];
        }
    }
    int *din = to_device(in), *dout = to_device(out);
    column<<<threads / 64, 64>>>(din, dout, rows, rounds);
    from_device(out, dout);
    HIP_MUST(hipFree(din));
    HIP_MUST(hipFree(dout));
    return same_or_report("planted_channel", out, want) ? pass("planted_channel") : 1;
}
