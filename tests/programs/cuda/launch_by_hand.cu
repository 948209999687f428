// Launches without <<<>>>: cudaLaunchKernel with an array of arguments, cudaLaunchKernelEx with
// attributes, large dynamic shared memory, attributes of functions, and the occupancy functions.
// Prints PASS or FAIL.
#include <algorithm>
#include <cstdio>
#include <vector>

struct Big {
    double values[60];
    char tag;
};

__global__ void structure(Big big, int *out, char c)
{
    if (threadIdx.x < 60)
        out[threadIdx.x] = (int)big.values[threadIdx.x] + (big.tag == c);
}

__global__ void __launch_bounds__(128, 2) reverse(int *data, int n)
{
    extern __shared__ int buffer[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        buffer[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = buffer[n - 1 - i];
}

template <typename T> __global__ void axpy(T a, const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

static int sharedFor(int threads)
{
    return threads * 16;
}

int main()
{
    int bad = 0, *out;
    cudaMallocManaged(&out, 64 * sizeof(int));
    Big big;
    for (int i = 0; i < 60; i++)
        big.values[i] = i * 3;
    big.tag = 'x';
    char c = 'x';
    void *arguments[] = {&big, &out, &c};
    bad += cudaLaunchKernel((const void *)structure, dim3(1), dim3(64), arguments, 0, nullptr) != 0;
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < 60; i++)
        bad += out[i] != i * 3 + 1;

    cudaFuncAttributes attributes;
    bad += cudaFuncGetAttributes(&attributes, reverse) != cudaSuccess;
    bad += attributes.maxThreadsPerBlock != 128 || attributes.sharedSizeBytes != 0;
    int most = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    int n = 60000 / 4, *data;
    bad += most < 60000;
    std::vector<int> h(n), got(n);
    for (int i = 0; i < n; i++)
        h[i] = i ^ 5;
    cudaMalloc(&data, n * sizeof(int));
    cudaMemcpy(data, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    reverse<<<1, 128, 60000>>>(data, n);
    bad += cudaGetLastError() != cudaErrorInvalidValue;
    bad += cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000) != 0;
    cudaFuncSetAttribute(reverse, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    reverse<<<1, 128, 60000>>>(data, n);
    bad += cudaGetLastError() != cudaSuccess;
    cudaMemcpy(got.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::reverse(h.begin(), h.end());
    bad += got != h;

    int minGrid = 0, block = 0, count = 0;
    cudaOccupancyMaxPotentialBlockSize(&minGrid, &block, axpy<float>, 0, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, axpy<float>, 256, 0);
    bad += minGrid <= 0 || block < 32 || block % 32 || count < 1;
    cudaOccupancyMaxPotentialBlockSizeVariableSMem(&minGrid, &block, axpy<double>, sharedFor);
    bad += block < 32;
    size_t available = 0;
    cudaOccupancyAvailableDynamicSMemPerBlock(&available, axpy<float>, 2, 128);
    bad += available == 0;

    double *x, *y;
    cudaMallocManaged(&x, 100 * sizeof *x);
    cudaMallocManaged(&y, 100 * sizeof *y);
    for (int i = 0; i < 100; i++) {
        x[i] = i;
        y[i] = 1;
    }
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = 0;
    cudaLaunchConfig_t config = {};
    config.gridDim = 4;
    config.blockDim = 32;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    bad += cudaLaunchKernelEx(&config, axpy<double>, 0.5, (const double *)x, y, 100) != 0;
    cudaStreamSynchronize(stream);
    for (int i = 0; i < 100; i++)
        bad += y[i] != 1 + 0.5 * i;
    cudaStreamDestroy(stream);
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(out);
    cudaFree(data);
    cudaFree(x);
    cudaFree(y);
    return bad != 0;
}
