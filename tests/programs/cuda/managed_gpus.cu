// Managed memory that several GPUs use: in turn, side by side, prefetched, advised, and by the host
// in between. Prints PASS or FAIL.
#include <cstdio>

static int failures;

static void must(cudaError_t error, int line)
{
    if (error != cudaSuccess) {
        std::printf("line %d: %s\n", line, cudaGetErrorString(error));
        failures++;
    }
}
#define MUST(call) must(call, __LINE__)

__global__ void add(int *x, int n, int what)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] += what;
}

__global__ void sum(const int *table, int n, unsigned long long *to)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(to, (unsigned long long)table[i]);
}

__global__ void count(int *word, int times)
{
    for (int i = 0; i < times; i++)
        atomicAdd_system(word, 1);
}

int main()
{
    const int n = 40000;
    int gpus = 0, *x, *table, *word;
    unsigned long long *sums;
    MUST(cudaGetDeviceCount(&gpus));
    MUST(cudaMallocManaged(&x, n * sizeof(int)));
    MUST(cudaMallocManaged(&table, n * sizeof(int)));
    MUST(cudaMallocManaged(&word, sizeof(int)));
    MUST(cudaMallocManaged(&sums, gpus * sizeof *sums));
    for (int i = 0; i < n; i++) {
        x[i] = i;
        table[i] = i % 7;
    }
    *word = 0;
    for (int gpu = 0; gpu < gpus; gpu++) { // in turn, the host in between
        MUST(cudaSetDevice(gpu));
        add<<<8, 128>>>(x, n, gpu + 1);
        MUST(cudaDeviceSynchronize());
        x[gpu] += 1000;
        sums[gpu] = 0;
    }
    MUST(cudaMemAdvise(table, n * sizeof(int), cudaMemAdviseSetReadMostly, 0));
    for (int gpu = 0; gpu < gpus; gpu++) // side by side: a part each, and what all of them read
    {
        int part = n / gpus, *from = x + gpu * part;
        MUST(cudaSetDevice(gpu));
        MUST(cudaMemAdvise(from, part * sizeof(int), cudaMemAdviseSetPreferredLocation, gpu));
        MUST(cudaMemAdvise(from, part * sizeof(int), cudaMemAdviseSetAccessedBy, (gpu + 1) % gpus));
        MUST(cudaMemPrefetchAsync(from, part * sizeof(int), gpu, 0));
        MUST(cudaMemPrefetchAsync(table, n * sizeof(int), gpu, 0));
        add<<<8, 128>>>(from, part, 10);
        sum<<<8, 128>>>(table, n, &sums[gpu]);
        count<<<2, 64>>>(word, 5);
    }
    for (int gpu = 0; gpu < gpus; gpu++) {
        MUST(cudaSetDevice(gpu));
        MUST(cudaDeviceSynchronize());
    }
    MUST(cudaMemPrefetchAsync(x, n * sizeof(int), cudaCpuDeviceId, 0));
    MUST(cudaDeviceSynchronize());
    unsigned long long want = 0;
    for (int i = 0; i < n; i++) {
        int all = i + gpus * (gpus + 1) / 2 + (i < gpus ? 1000 : 0) + (i < n / gpus * gpus ? 10 : 0);
        failures += x[i] != all;
        want += i % 7;
    }
    for (int gpu = 0; gpu < gpus; gpu++)
        failures += sums[gpu] != want;
    failures += *word != gpus * 2 * 64 * 5;
    cudaPointerAttributes told;
    MUST(cudaPointerGetAttributes(&told, x + 5));
    failures += told.type != cudaMemoryTypeManaged;
    MUST(cudaFree(x));
    std::printf("%d GPUs: %s\n%s\n", gpus, failures ? "wrong" : "right", failures ? "FAIL" : "PASS");
    cudaFree(table);
    cudaFree(word);
    cudaFree(sums);
    return failures != 0;
}
