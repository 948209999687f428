// A pinned buffer that one stream fills from the device and sends back, many times, without waiting in between: each copy
// to the device takes what the copy before it has brought. Ends with a comparison.
#include "check.hpp"

__global__ void step(int *at, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        at[i] = at[i] * 3 + i;
}

int main()
{
    const int n = 3000, rounds = 5;
    int *a, *b, *host;
    hipStream_t stream;
    allocate(&a, n * sizeof(int));
    allocate(&b, n * sizeof(int));
    HIP_MUST(hipHostMalloc((void **)&host, n * sizeof(int)));
    HIP_MUST(hipStreamCreate(&stream));
    std::vector<int> want(n);
    for (int i = 0; i < n; i++)
        want[i] = host[i] = i;
    for (int round = 0; round < rounds; round++) {
        HIP_MUST(hipMemcpyAsync(a, host, n * sizeof(int), hipMemcpyHostToDevice, stream));
        step<<<(n + 255) / 256, 256, 0, stream>>>(a, n);
        HIP_MUST(hipMemcpyAsync(host, a, n * sizeof(int), hipMemcpyDeviceToHost, stream));
        HIP_MUST(hipMemcpyAsync(b, host, n * sizeof(int), hipMemcpyHostToDevice, stream));
        step<<<(n + 255) / 256, 256, 0, stream>>>(b, n);
        HIP_MUST(hipMemcpyAsync(host, b, n * sizeof(int), hipMemcpyDeviceToHost, stream));
        for (int i = 0; i < n; i++)
            want[i] = (want[i] * 3 + i) * 3 + i;
    }
    HIP_MUST(hipStreamSynchronize(stream));
    for (int i = 0; i < n; i++) {
        if (host[i] != want[i]) {
            std::printf("FAIL shared_buffer: word %d is %d, not %d\n", i, host[i], want[i]);
            return 1;
        }
    }
    HIP_MUST(hipHostFree(host));
    HIP_MUST(hipStreamDestroy(stream));
    return pass("shared_buffer");
}
