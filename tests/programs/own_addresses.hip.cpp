// Two contexts have memory at the same address: kernels, copies, fills and hipFree of each mean their own. Kernels of both
// run side by side, many times over the same pages, so that every level of TLBs holds translations of both. Without an
// argument all pages are on the first GPU; `far` puts those of the second context on the last.
#include "check.hpp"
#include "components/hip/api/heddle_hip.h"

__global__ void add(int *at, int n, int value, int rounds)
{
    for (int r = 0; r < rounds; r++)
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            at[i] += value;
}

static bool holds(const char *what, const int *at, int n, int want)
{
    std::vector<int> got(n);
    HIP_MUST(hipMemcpy(got.data(), at, n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        if (got[i] != want + i) {
            std::printf("FAIL own_addresses: %s: word %d is %d, not %d\n", what, i, got[i], want + i);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const int n = 5 * 1024;
    const bool far = argc > 1;
    int gpus = 0, other = -1;
    HIP_MUST(hipGetDeviceCount(&gpus));
    std::vector<int> words(n);
    for (int i = 0; i < n; i++)
        words[i] = i;
    int *at;
    HIP_MUST(hipMalloc(&at, n * sizeof(int)));
    HIP_MUST(hipMemcpy(at, words.data(), n * sizeof(int), hipMemcpyHostToDevice));
    HIP_MUST((hipError_t)heddleCreateContext(&other, far ? gpus - 1 : 0));
    if (heddleAllocateAt(at, 4096) == hipSuccess) {
        std::printf("FAIL own_addresses: memory of the same process is there\n");
        return 1;
    }
    HIP_MUST(hipSetDevice(other));
    HIP_MUST((hipError_t)heddleAllocateAt(at, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        words[i] += 1000000;
    HIP_MUST(hipMemcpy(at, words.data(), n * sizeof(int), hipMemcpyHostToDevice));
    for (int round = 0; round < 3; round++) {
        for (int device : {0, other}) {
            HIP_MUST(hipSetDevice(device));
            add<<<8, 256>>>(at, n, device ? 100 : 1, 3);
        }
    }
    if (!holds("the second context", at, n, 1000900))
        return 1;
    HIP_MUST(hipSetDevice(0));
    if (!holds("the first context", at, n, 9))
        return 1;
    // The first goes; the second keeps its own, and may have the place again when it has gone.
    HIP_MUST(hipFree(at));
    HIP_MUST(hipSetDevice(other));
    if (!holds("the second context, alone", at, n, 1000900))
        return 1;
    HIP_MUST(hipFree(at));
    if (hipMemcpy(words.data(), at, 4, hipMemcpyDeviceToHost) == hipSuccess) {
        std::printf("FAIL own_addresses: freed memory was read\n");
        return 1;
    }
    HIP_MUST(hipSetDevice(0));
    HIP_MUST((hipError_t)heddleDestroyDevice(other));
    std::printf("PASS own_addresses\n");
    return 0;
}
