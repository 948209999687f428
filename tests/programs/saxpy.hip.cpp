// y = alpha x + y, twice on a stream with events around it. Arguments: [elements].
#include "check.hpp"

__global__ void saxpy(int n, float alpha, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = alpha * x[i] + y[i];
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 8192);
    random_source random;
    std::vector<float> x(n), y(n), want(n);
    for (int i = 0; i < n; i++) {
        x[i] = random.small();
        y[i] = random.small();
        want[i] = 0.25f * x[i] + (0.5f * x[i] + y[i]); // exact: multiples of 1/64
    }
    float *dx = to_device(x), *dy = to_device(y);
    hipStream_t stream;
    hipEvent_t start, stop;
    HIP_MUST(hipStreamCreate(&stream));
    HIP_MUST(hipEventCreate(&start));
    HIP_MUST(hipEventCreate(&stop));
    HIP_MUST(hipEventRecord(start, stream));
    saxpy<<<(n + 127) / 128, 128, 0, stream>>>(n, 0.5f, dx, dy);
    saxpy<<<(n + 127) / 128, 128, 0, stream>>>(n, 0.25f, dx, dy);
    HIP_MUST(hipEventRecord(stop, stream));
    HIP_MUST(hipMemcpyAsync(y.data(), dy, n * sizeof(float), hipMemcpyDeviceToHost, stream));
    HIP_MUST(hipStreamSynchronize(stream));
    float milliseconds = -1.0f;
    HIP_MUST(hipEventElapsedTime(&milliseconds, start, stop));
    if (!(milliseconds > 0.0f)) {
        std::printf("FAIL saxpy: two kernels took %g ms\n", milliseconds);
        return 1;
    }
    std::printf("two kernels took %.6f ms\n", milliseconds);
    HIP_MUST(hipEventDestroy(start));
    HIP_MUST(hipEventDestroy(stop));
    HIP_MUST(hipStreamDestroy(stream));
    return same_or_report("saxpy", y, want) ? pass("saxpy") : 1;
}
