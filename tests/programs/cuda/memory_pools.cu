// Stream-ordered memory: cudaMallocAsync and cudaFreeAsync in several streams, pools of one's own,
// thresholds, statistics and trimming. Prints PASS or FAIL.
#include <cstdint>
#include <cstdio>

#define OK(x) (cudaSuccess == (x) ? 0 : (printf("%s, line %d\n", #x, __LINE__), 1))

__global__ void iota(int *p, int n, int start)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = start + i;
}
__global__ void sum(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    int device, supported = 0, bad = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device);
    bad += !supported;
    cudaMemPool_t pool;
    bad += OK(cudaDeviceGetDefaultMemPool(&pool, device));
    uint64_t threshold = UINT64_MAX, got = 0;
    bad += OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    bad += OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
    bad += got != threshold;
    cudaStream_t s[3];
    for (cudaStream_t &each : s)
        bad += OK(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking));
    const int n = 300;
    int result[3][n];
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < 3; k++) {
            int *a, *b, *c;
            bad += OK(cudaMallocAsync(&a, n * sizeof(int), s[k]));
            bad += OK(cudaMallocAsync((void **)&b, n * sizeof(int), s[k]));
            iota<<<3, 100, 0, s[k]>>>(a, n, k * 1000);
            iota<<<3, 100, 0, s[k]>>>(b, n, round);
            bad += OK(cudaMallocAsync(&c, n * sizeof(int), s[k]));
            sum<<<3, 100, 0, s[k]>>>(a, b, c, n);
            bad += OK(cudaFreeAsync(a, s[k]));
            bad += OK(cudaFreeAsync(b, s[k]));
            bad +=
                OK(cudaMemcpyAsync(result[k], c, sizeof result[k], cudaMemcpyDeviceToHost, s[k]));
            bad += OK(cudaFreeAsync(c, s[k]));
        }
    for (cudaStream_t each : s)
        bad += OK(cudaStreamSynchronize(each));
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n; i++)
            bad += result[k][i] != k * 1000 + 2 * i + 1;

    cudaMemPool_t own;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    bad += OK(cudaMemPoolCreate(&own, &properties));
    int *big, value = 0;
    bad += OK(cudaMallocFromPoolAsync(&big, 1 << 20, own, s[0]));
    iota<<<1, 32, 0, s[0]>>>(big + 1000, 32, 7);
    bad += OK(cudaMemcpyAsync(&value, big + 1031, sizeof value, cudaMemcpyDeviceToHost, s[0]));
    bad += OK(cudaStreamSynchronize(s[0]));
    bad += value != 38;
    uint64_t used = 0;
    bad += OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
    bad += used < 1 << 20;
    bad += OK(cudaFreeAsync(big, s[0]));
    bad += OK(cudaStreamSynchronize(s[0]));
    bad += OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
    bad += used != 0;
    bad += OK(cudaMemPoolTrimTo(own, 0));
    bad += OK(cudaMemPoolDestroy(own));
    for (cudaStream_t each : s)
        bad += OK(cudaStreamDestroy(each));
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
