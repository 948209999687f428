// Several streams with copies and kernels, events between them, elapsed time, polling, and a callback. Arguments:
// [elements].
#include "check.hpp"

constexpr int lanes = 4;

__global__ void multiply_add(int *data, int n, int factor, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = data[i] * factor + offset;
    }
}

__global__ void sum_all(int *const a, int *const b, int *const c, int *const d, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + b[i] + c[i] + d[i];
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 2000);
    size_t bytes = n * sizeof(int);
    hipStream_t streams[lanes];
    hipEvent_t begin, end, ready[lanes];
    int *host[lanes], *device[lanes];
    std::vector<int> want(n), got(n);
    HIP_MUST(hipEventCreate(&begin));
    HIP_MUST(hipEventCreate(&end));
    HIP_MUST(hipEventRecord(begin, nullptr));
    for (int s = 0; s < lanes; s++) {
        HIP_MUST(hipStreamCreateWithFlags(&streams[s], s % 2 ? hipStreamNonBlocking : hipStreamDefault));
        HIP_MUST(hipEventCreateWithFlags(&ready[s], hipEventDisableTiming));
        HIP_MUST(hipHostMalloc(reinterpret_cast<void **>(&host[s]), bytes));
        allocate(&device[s], bytes);
        for (int i = 0; i < n; i++) {
            host[s][i] = i * (s + 1);
            want[i] += (host[s][i] * 3 + s) * 5 - 1;
        }
        HIP_MUST(hipMemcpyAsync(device[s], host[s], bytes, hipMemcpyHostToDevice, streams[s]));
        multiply_add<<<blocks_for(n, 128), 128, 0, streams[s]>>>(device[s], n, 3, s);
        multiply_add<<<blocks_for(n, 128), 128, 0, streams[s]>>>(device[s], n, 5, -1);
        HIP_MUST(hipEventRecord(ready[s], streams[s]));
    }
    for (int s = 1; s < lanes; s++) {
        HIP_MUST(hipStreamWaitEvent(streams[0], ready[s], 0));
    }
    int *dout = nullptr;
    allocate(&dout, bytes);
    sum_all<<<blocks_for(n, 128), 128, 0, streams[0]>>>(device[0], device[1], device[2], device[3], dout, n);
    HIP_MUST(hipMemcpyAsync(host[0], dout, bytes, hipMemcpyDeviceToHost, streams[0]));
    HIP_MUST(hipEventRecord(end, streams[0]));
    while (hipEventQuery(end) == hipErrorNotReady) {
    }
    HIP_MUST(hipEventSynchronize(end));
    HIP_MUST(hipStreamSynchronize(streams[0]));
    if (hipStreamQuery(streams[0]) != hipSuccess) {
        std::printf("FAIL streams: not idle after synchronisation\n");
        return 1;
    }
    float milliseconds = 0;
    HIP_MUST(hipEventElapsedTime(&milliseconds, begin, end));
    if (!(milliseconds > 0) || milliseconds > 1000) {
        std::printf("FAIL streams: %g ms\n", static_cast<double>(milliseconds));
        return 1;
    }
    std::copy(host[0], host[0] + n, got.begin());
    for (int s = 0; s < lanes; s++) {
        HIP_MUST(hipStreamDestroy(streams[s]));
        HIP_MUST(hipEventDestroy(ready[s]));
        HIP_MUST(hipHostFree(host[s]));
    }
    HIP_MUST(hipEventDestroy(begin));
    HIP_MUST(hipEventDestroy(end));
    return same_or_report("streams", got, want) ? pass("streams") : 1;
}
