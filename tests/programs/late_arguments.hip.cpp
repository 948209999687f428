// A kernel that reads its arguments late, while thousands of launches in another stream go through the memory that holds
// arguments; and launches whose arguments did not change. Arguments: [launches].
#include "check.hpp"

struct table {
    int value[64];
};

// Which value is read is known only at the end, so it is not loaded before.
__global__ void late(table t, const int *which, int *out, int cycles)
{
    long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
    out[threadIdx.x] = t.value[(which[0] + threadIdx.x) % 64];
}

__global__ void add(int *sum, table t, int index)
{
    if (threadIdx.x == 0) {
        sum[0] += t.value[index];
    }
}

int main(int argc, char **argv)
{
    int launches = size_argument(argc, argv, 1, 1000);
    table t;
    std::vector<int> got(64), want(64), which(1, 17), sum(1), wanted(1);
    int *dwhich = to_device(which), *dout = device_zeros<int>(64), *dsum = device_zeros<int>(1);
    hipStream_t slow, fast;
    HIP_MUST(hipStreamCreate(&slow));
    HIP_MUST(hipStreamCreate(&fast));
    for (int i = 0; i < 64; i++) {
        t.value[i] = 3 * i + 1;
    }
    for (int i = 0; i < 64; i++) {
        want[i] = t.value[(17 + i) % 64];
    }
    late<<<1, 64, 0, slow>>>(t, dwhich, dout, launches * 8000);
    HIP_MUST(hipGetLastError());
    for (int i = 0; i < launches; i++) {
        t.value[i / 4 % 64] = i / 4; // the same for four launches in a row
        add<<<1, 64, 0, fast>>>(dsum, t, i / 8 % 64);
        HIP_MUST(hipGetLastError());
        wanted[0] += t.value[i / 8 % 64];
        if (i % 64 == 63) {
            HIP_MUST(hipStreamSynchronize(fast));
        }
    }
    HIP_MUST(hipStreamSynchronize(fast));
    if (hipStreamQuery(slow) != hipErrorNotReady) {
        std::printf("FAIL late_arguments: the slow kernel is done before the others\n");
        return 1;
    }
    HIP_MUST(hipStreamSynchronize(slow));
    from_device(got, dout);
    from_device(sum, dsum);
    HIP_MUST(hipStreamDestroy(slow));
    HIP_MUST(hipStreamDestroy(fast));
    return same_or_report("late_arguments: late", got, want) && same_or_report("late_arguments: sum", sum, wanted)
               ? pass("late_arguments")
               : 1;
}
