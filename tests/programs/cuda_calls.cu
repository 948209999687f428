// Functions of CUDA's runtime, with kernels that say what they saw: what an ordinary program uses.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

static int failures;

#define MUST(call)                                                                                 \
    do {                                                                                           \
        cudaError_t must_error = (call);                                                           \
        if (must_error != cudaSuccess && ++failures)                                               \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(must_error));            \
    } while (0)

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition) && ++failures)                                                            \
            printf("line %d: not %s\n", __LINE__, #condition);                                     \
    } while (0)

enum { COUNT = 1000, BLOCK = 128, BLOCKS = (COUNT + BLOCK - 1) / BLOCK };

__constant__ int factors[4] = {1, 2, 3, 4};
__device__ unsigned long long launches;
__device__ float numbers[16];

__global__ void scale(int *data, int count, int add)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = data[i] * factors[i & 3] + add;
    if (i == 0)
        atomicAdd(&launches, 1ull);
}

__global__ void reverse(int *data)
{
    extern __shared__ int room[];
    room[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

struct pair {
    char tag;
    double value;
};

// All blocks wait for each other, each time.
__global__ void meet(unsigned *arrived, int times, unsigned *sum)
{
    for (int i = 1; i <= times; i++) {
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1);
            while (atomicAdd(arrived, 0) < i * gridDim.x)
                ;
        }
        __syncthreads();
    }
    atomicAdd(sum, 1);
}

template <typename T> __global__ void put(T *to, pair p, short s, T t)
{
    *to = p.value + s + t + p.tag;
}

static void symbols()
{
    const int out[2] = {30, 40};
    unsigned long long seen = 7;
    float *address = nullptr;
    size_t size = 0;
    int *data;
    std::vector<int> in(COUNT, 2);
    MUST(cudaMalloc(&data, COUNT * sizeof(int)));
    MUST(cudaMemcpy(data, in.data(), COUNT * sizeof(int), cudaMemcpyHostToDevice));
    scale<<<BLOCKS, BLOCK>>>(data, COUNT, 5);
    MUST(cudaMemcpyToSymbol(factors, out, sizeof out, 2 * sizeof(int)));
    scale<<<BLOCKS, BLOCK>>>(data, COUNT, 0);
    MUST(cudaMemcpy(in.data(), data, COUNT * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(in[0] == 7 && in[1] == 18 && in[2] == 11 * 30 && in[999] == 13 * 40);
    MUST(cudaMemcpyFromSymbol(&seen, launches, sizeof seen));
    EXPECT(seen == 2);
    MUST(cudaGetSymbolAddress((void **)&address, numbers));
    MUST(cudaGetSymbolSize(&size, numbers));
    EXPECT(size == sizeof(float[16]));
    MUST(cudaMemset(address, 0, size));
    MUST(cudaFree(data));
}

static void arguments()
{
    double *to, got = 0;
    MUST(cudaMalloc(&to, sizeof got));
    put<double><<<1, 1>>>(to, pair{1, 2.5}, (short)-3, 10.0);
    MUST(cudaMemcpy(&got, to, sizeof got, cudaMemcpyDefault));
    EXPECT(got == 10.5);
    MUST(cudaFree(to));
}

static void shared_memory()
{
    int *data, in[BLOCK];
    for (int i = 0; i < BLOCK; i++)
        in[i] = i;
    MUST(cudaMalloc(&data, sizeof in));
    MUST(cudaMemcpy(data, in, sizeof in, cudaMemcpyHostToDevice));
    reverse<<<1, BLOCK, sizeof in>>>(data);
    MUST(cudaMemcpy(in, data, sizeof in, cudaMemcpyDeviceToHost));
    EXPECT(in[0] == BLOCK - 1 && in[BLOCK - 1] == 0);
    reverse<<<1, BLOCK, 60000>>>(data);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    MUST(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    reverse<<<1, BLOCK, 60000>>>(data);
    MUST(cudaGetLastError());
    MUST(cudaMemcpy(in, data, sizeof in, cudaMemcpyDeviceToHost));
    EXPECT(in[0] == 0);
    MUST(cudaFree(data));
}

static void note_call(void *data)
{
    ++*(int *)data;
}

static void streams_and_events()
{
    cudaStream_t stream[2];
    cudaEvent_t begin, middle, end;
    int *data, *pinned, calls = 0;
    float ms = -1;
    MUST(cudaMallocHost(&pinned, COUNT * sizeof(int)));
    MUST(cudaMalloc(&data, COUNT * sizeof(int)));
    MUST(cudaStreamCreate(&stream[0]));
    MUST(cudaStreamCreateWithFlags(&stream[1], cudaStreamNonBlocking));
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreateWithFlags(&middle, cudaEventDisableTiming));
    MUST(cudaEventCreate(&end));
    MUST(cudaMemsetAsync(data, 0, COUNT * sizeof(int), stream[0]));
    MUST(cudaEventRecord(begin, stream[0]));
    scale<<<BLOCKS, BLOCK, 0, stream[0]>>>(data, COUNT, 1);
    MUST(cudaEventRecord(middle, stream[0]));
    MUST(cudaStreamWaitEvent(stream[1], middle, 0));
    scale<<<BLOCKS, BLOCK, 0, stream[1]>>>(data, COUNT, 1);
    MUST(cudaMemcpyAsync(pinned, data, COUNT * sizeof(int), cudaMemcpyDeviceToHost, stream[1]));
    MUST(cudaLaunchHostFunc(stream[1], note_call, &calls));
    MUST(cudaEventRecord(end, stream[1]));
    MUST(cudaEventSynchronize(end));
    EXPECT(pinned[0] == 2 && pinned[1] == 3 && calls == 1);
    MUST(cudaEventElapsedTime(&ms, begin, end));
    EXPECT(ms >= 0);
    MUST(cudaStreamQuery(stream[1]));
    for (int i = 0; i < 2; i++)
        MUST(cudaStreamDestroy(stream[i]));
    MUST(cudaEventDestroy(end));
    MUST(cudaFreeHost(pinned));
    MUST(cudaFree(data));
}

static void rows()
{
    int *data, in[3][5], out[3][5];
    size_t pitch = 0;
    for (int i = 0; i < 15; i++)
        out[i / 5][i % 5] = i;
    MUST(cudaMallocPitch(&data, &pitch, sizeof out[0], 3));
    MUST(cudaMemset2D(data, pitch, 0xff, sizeof out[0], 3));
    MUST(cudaMemcpy2D(data, pitch, out, sizeof out[0], 4 * sizeof(int), 2, cudaMemcpyDefault));
    MUST(cudaMemcpy2D(in, sizeof in[0], data, pitch, sizeof in[0], 3, cudaMemcpyDefault));
    EXPECT(in[1][3] == 8 && in[0][4] == -1 && in[2][0] == -1);
    MUST(cudaFree(data));
}

static void managed_memory()
{
    int *data, device = 0;
    cudaPointerAttributes attributes;
    MUST(cudaGetDevice(&device));
    MUST(cudaMallocManaged(&data, COUNT * sizeof(int)));
    for (int i = 0; i < COUNT; i++)
        data[i] = i;
    MUST(cudaMemAdvise(data, COUNT * sizeof(int), cudaMemAdviseSetPreferredLocation, device));
    MUST(cudaMemPrefetchAsync(data, COUNT * sizeof(int), device, 0));
    scale<<<BLOCKS, BLOCK>>>(data, COUNT, 1);
    MUST(cudaDeviceSynchronize());
    EXPECT(data[1] == 3 && data[4] == 5);
    MUST(cudaPointerGetAttributes(&attributes, data));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    MUST(cudaPointerGetAttributes(&attributes, &device));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);
    MUST(cudaFree(data));
}

static void graphs()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *data, in = 0;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&data, COUNT * sizeof(int)));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    MUST(cudaMemsetAsync(data, 0, COUNT * sizeof(int), stream));
    for (int i = 1; i <= 3; i++)
        scale<<<BLOCKS, BLOCK, 0, stream>>>(data, COUNT, i);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++)
        MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(&in, data + 1, sizeof in, cudaMemcpyDeviceToHost));
    EXPECT(in == (1 * 2 + 2) * 2 + 3);
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaStreamDestroy(stream));
    MUST(cudaFree(data));
}

static void pools()
{
    cudaStream_t stream;
    int *data, in[2] = {0, 0};
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMallocAsync(&data, sizeof in, stream));
    MUST(cudaMemsetAsync(data, 1, sizeof in, stream));
    MUST(cudaMemcpyAsync(in, data, sizeof in, cudaMemcpyDeviceToHost, stream));
    MUST(cudaFreeAsync(data, stream));
    MUST(cudaStreamSynchronize(stream));
    EXPECT(in[1] == 0x01010101);
    MUST(cudaStreamDestroy(stream));
}

static void questions()
{
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    int blocks = 0, value = 0;
    MUST(cudaGetDeviceProperties(&properties, 0));
    EXPECT(properties.warpSize == 32 && properties.major >= 8);
    MUST(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(value == properties.multiProcessorCount && value > 0);
    MUST(cudaFuncGetAttributes(&attributes, scale));
    EXPECT(attributes.numRegs >= 16 && attributes.maxThreadsPerBlock == 1024);
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, BLOCK, 0));
    EXPECT(blocks * BLOCK <= properties.maxThreadsPerMultiProcessor && blocks >= 1);
}

static void cooperation()
{
    enum { TOGETHER = 6 };
    unsigned *counters, sum = 0;
    int times = 3, blocks = 0, units = 0;
    unsigned *second;
    MUST(cudaMalloc(&counters, 2 * sizeof sum));
    MUST(cudaMemset(counters, 0, 2 * sizeof sum));
    second = counters + 1;
    void *values[] = {&counters, &times, &second};
    MUST(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0));
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meet, 32, 0));
    MUST(cudaLaunchCooperativeKernel((void *)meet, TOGETHER, 32, values, 0, 0));
    MUST(cudaMemcpy(&sum, second, sizeof sum, cudaMemcpyDeviceToHost));
    EXPECT(sum == TOGETHER * 32u);
    EXPECT(cudaLaunchCooperativeKernel((void *)meet, units * blocks + 1, 32, values, 0, 0)
           == cudaErrorCooperativeLaunchTooLarge);
    EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    MUST(cudaFree(counters));
}

static void own_stream(int *data, int number)
{
    cudaStream_t stream;
    MUST(cudaStreamCreate(&stream));
    for (int i = 0; i < 3; i++)
        scale<<<BLOCKS, BLOCK, 0, stream>>>(data, COUNT, number);
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaStreamDestroy(stream));
}

static void host_threads()
{
    enum { THREADS = 4 };
    int *data[THREADS], in = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++) {
        MUST(cudaMalloc(&data[i], COUNT * sizeof(int)));
        MUST(cudaMemset(data[i], 0, COUNT * sizeof(int)));
    }
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(own_stream, data[i], i + 1);
    for (std::thread &thread : threads)
        thread.join();
    for (int i = 0; i < THREADS; i++) {
        MUST(cudaMemcpy(&in, data[i], sizeof in, cudaMemcpyDeviceToHost));
        EXPECT(in == 3 * (i + 1));
        MUST(cudaFree(data[i]));
    }
}

static void errors()
{
    void *pointer = nullptr;
    EXPECT(cudaSetDevice(100) == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
    EXPECT(cudaMalloc(&pointer, (size_t)1 << 50) == cudaErrorMemoryAllocation);
    EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    EXPECT(strcmp(cudaGetErrorString(cudaGetLastError()), "out of memory") == 0);
    scale<<<1, 1025>>>(nullptr, 0, 0);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    scale<<<dim3(1, 65536), 1>>>(nullptr, 0, 0);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    MUST(cudaGetLastError());
}

int main()
{
    symbols();
    arguments();
    shared_memory();
    streams_and_events();
    rows();
    managed_memory();
    graphs();
    pools();
    questions();
    cooperation();
    host_threads();
    errors();
    puts(failures ? "FAIL cuda_calls" : "PASS cuda_calls");
    return failures != 0;
}
