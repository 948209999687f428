// A copy changes one half of a cache line while a kernel in another stream keeps reading the other half; a kernel behind the copy
// must see what was copied.
#include "check.hpp"

// Atomics go to the L2, so the line is in there all the time.
__global__ void watch(int *line, int *out, int cycles)
{
    long long begin = clock64();
    int last = 0;
    while (clock64() - begin < cycles) {
        last = atomicAdd(line, 0);
    }
    out[0] = last;
}

__global__ void take(const int *line, int *out)
{
    out[threadIdx.x] = line[threadIdx.x];
}

int main()
{
    hipStream_t watcher, copier;
    std::vector<int> first(16, 1), second(8, 2), want(16, 1), got(16);
    int *line = to_device(first), *out = device_zeros<int>(16), *seen = device_zeros<int>(1);
    std::fill(want.begin() + 8, want.end(), 2);
    HIP_MUST(hipStreamCreateWithFlags(&watcher, hipStreamNonBlocking));
    HIP_MUST(hipStreamCreateWithFlags(&copier, hipStreamNonBlocking));
    take<<<1, 16, 0, watcher>>>(line, out); // the code is loaded
    HIP_MUST(hipStreamSynchronize(watcher));
    watch<<<1, 1, 0, watcher>>>(line, seen, 40000);
    HIP_MUST(hipGetLastError());
    for (int query = 0; query < 8; query++) { // each lets some time pass: the kernel has begun
        hipStreamQuery(watcher);
    }
    HIP_MUST(hipMemcpyAsync(line + 8, second.data(), 8 * sizeof(int), hipMemcpyHostToDevice, copier));
    take<<<1, 16, 0, copier>>>(line, out);
    HIP_MUST(hipGetLastError());
    HIP_MUST(hipStreamSynchronize(copier));
    if (hipStreamQuery(watcher) != hipErrorNotReady) {
        std::printf("FAIL shared_lines: the watching kernel has ended too early\n");
        return 1;
    }
    HIP_MUST(hipDeviceSynchronize());
    from_device(got, out);
    HIP_MUST(hipStreamDestroy(watcher));
    HIP_MUST(hipStreamDestroy(copier));
    return same_or_report("shared_lines", got, want) ? pass("shared_lines") : 1;
}
