// Host threads with a stream each: workers that launch at the same time in cudaStreamPerThread and
// in streams of their own, current devices of threads, and results that come by futures. Prints
// PASS or FAIL.
#include <cstdio>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

__global__ void mandel(int *out, int n, int seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = i * 747796405u + seed;
    for (int k = 0; k < 20; k++)
        v = v * 1664525u + 1013904223u;
    if (i < n)
        out[i] = v >> 8;
}

static unsigned expected(int i, int seed)
{
    unsigned v = i * 747796405u + seed;
    for (int k = 0; k < 20; k++)
        v = v * 1664525u + 1013904223u;
    return v >> 8;
}

static int work(int seed, cudaStream_t stream)
{
    const int n = 200;
    int *device, *host, bad = 0;
    int current = -1;
    cudaGetDevice(&current);
    bad += current != 0;
    cudaMalloc(&device, n * sizeof(int));
    cudaHostAlloc(&host, n * sizeof(int), cudaHostAllocDefault);
    for (int round = 0; round < 2; round++) {
        mandel<<<2, 100, 0, stream>>>(device, n, seed + round);
        cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
        bad += cudaStreamSynchronize(stream) != cudaSuccess;
        for (int i = 0; i < n; i++)
            bad += (unsigned)host[i] != expected(i, seed + round);
    }
    cudaFree(device);
    cudaFreeHost(host);
    return bad + (cudaGetLastError() != cudaSuccess);
}

int main()
{
    std::vector<std::thread> threads;
    std::mutex mutex;
    int bad = 0;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([&, t] {
            int mine = work(t * 100, cudaStreamPerThread);
            std::lock_guard<std::mutex> guard(mutex);
            bad += mine;
        });
    std::vector<std::future<int>> futures;
    for (int t = 0; t < 2; t++)
        futures.push_back(std::async(std::launch::async, [t] {
            cudaStream_t stream;
            cudaStreamCreate(&stream);
            int mine = work(5000 + t, stream);
            cudaStreamDestroy(stream);
            return mine;
        }));
    for (auto &thread : threads)
        thread.join();
    for (auto &future : futures)
        bad += future.get();
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
