// A kernel whose lanes all use one bank of the LDS: what limits it is planted, for reports to find.
#include "check.hpp"

__global__ void column_sums(const int *in, int *out)
{
    __shared__ int tile[64 * 32];
    int lane = threadIdx.x;
    for (int i = 0; i < 32; i++) {
        tile[lane * 32 + i] = in[i * 64 + lane] + lane;
    }
    __syncthreads();
    int sum = 0;
#pragma unroll 1
    for (int round = 0; round < 48; round++) {
#pragma unroll 8
        for (int i = 0; i < 32; i++) {
            sum += tile[lane * 32 + i] ^ round;
        }
    }
    out[blockIdx.x * 64 + lane] = sum;
}

int main(int argc, char **argv)
{
    int blocks = size_argument(argc, argv, 1, 16);
    std::vector<int> in(64 * 32), out(blocks * 64), want(blocks * 64);
    for (int i = 0; i < 64 * 32; i++) {
        in[i] = i * 7;
    }
    for (int i = 0; i < blocks * 64; i++) {
        for (int round = 0; round < 48; round++) {
            for (int k = 0; k < 32; k++) {
                want[i] += (in[k * 64 + i % 64] + i % 64) ^ round;
            }
        }
    }
    int *din = to_device(in), *dout = to_device(out);
    column_sums<<<blocks, 64>>>(din, dout);
    from_device(out, dout);
    HIP_MUST(hipFree(din));
    HIP_MUST(hipFree(dout));
    return same_or_report("planted_conflicts", out, want) ? pass("planted_conflicts") : 1;
}
