// Counter-based random numbers (Philox 4x32-10: Salmon et al., SC 2011) and a Monte Carlo estimate of pi whose count is
// the host's to the last one. Arguments: [work-items].
#include "check.hpp"

#define BOTH __host__ __device__ static inline

BOTH void philox(uint32_t *c, uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
        uint32_t n0 = static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, n2 = static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1;
        c[1] = static_cast<uint32_t>(b);
        c[3] = static_cast<uint32_t>(a);
        c[0] = n0;
        c[2] = n2;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

BOTH unsigned inside(uint32_t i)
{
#pragma clang fp contract(off) // a device fuses where the host cannot
    uint32_t c[4] = {i, 1, 2, 3};
    philox(c, 0xabcd1234, 99);
    float x = (c[0] >> 8) * (1.0f / 16777216), y = (c[1] >> 8) * (1.0f / 16777216);
    double u = (c[2] >> 8) * (1.0 / 16777216), v = (c[3] >> 8) * (1.0 / 16777216);
    return ((x - 0.5f) * 4096 > (0.5f - y) * 4096) + 2 * (u * u + v * v < 1.0);
}

__global__ void estimate(unsigned *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned hits = i < n ? inside(i) : 0;
    unsigned upper = __popcll(__ballot(hits & 1)), circle = __popcll(__ballot(hits & 2));
    if (threadIdx.x % wave == 0) {
        atomicAdd(&counts[0], upper);
        atomicAdd(&counts[1], circle);
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 6000);
    // From the reference implementation's known answers: counter 0, key 0.
    uint32_t zero[4] = {0, 0, 0, 0};
    philox(zero, 0, 0);
    if (zero[0] != 0x6627e8d5) {
        std::printf("FAIL philox: known answer is %08x\n", zero[0]);
        return 1;
    }
    std::vector<unsigned> counts(2), want(2);
    for (int i = 0; i < n; i++) {
        want[0] += inside(i) & 1;
        want[1] += inside(i) >> 1;
    }
    unsigned *dcounts = device_zeros<unsigned>(2);
    estimate<<<blocks_for(n, 128), 128>>>(dcounts, n);
    HIP_MUST(hipGetLastError());
    from_device(counts, dcounts);
    return same_or_report("philox", counts, want) ? pass("philox") : 1;
}
