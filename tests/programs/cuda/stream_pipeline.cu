// A pipeline of streams: chunks are copied in, worked on and copied out in their own streams, with
// events between them, priorities, host functions and callbacks. Prints PASS or FAIL.
#include <cuda_runtime.h>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

static void check(cudaError_t code, const char *what, int line)
{
    if (code != cudaSuccess) {
        std::fprintf(stderr, "%s, line %d: %s (%s)\n", what, line, cudaGetErrorName(code),
                     cudaGetErrorString(code));
        std::exit(2);
    }
}
#define CU(x) check((x), #x, __LINE__)

class Stream
{
    cudaStream_t s;

  public:
    explicit Stream(int priority = 0)
    {
        CU(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority));
    }
    Stream(const Stream &) = delete;
    ~Stream()
    {
        cudaStreamDestroy(s);
    }
    operator cudaStream_t() const
    {
        return s;
    }
};

class Event
{
    cudaEvent_t e;

  public:
    explicit Event(unsigned flags = cudaEventDisableTiming)
    {
        CU(cudaEventCreateWithFlags(&e, flags));
    }
    Event(const Event &) = delete;
    ~Event()
    {
        cudaEventDestroy(e);
    }
    operator cudaEvent_t() const
    {
        return e;
    }
};

__global__ void square(float *x, int n)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        x[i] = sqrtf(x[i] * x[i] + 1.0f);
}

__global__ void total(const float *x, int n, float *sum)
{
    float mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        mine += x[i];
    atomicAdd(sum, mine);
}

struct Progress {
    std::atomic<int> functions{0}, callbacks{0};
};

static void CUDART_CB onHost(void *data)
{
    static_cast<Progress *>(data)->functions++;
}
static void CUDART_CB onDone(cudaStream_t, cudaError_t status, void *data)
{
    if (status == cudaSuccess)
        static_cast<Progress *>(data)->callbacks++;
}

int main()
{
    const int chunks = 4, per = 512;
    float *host, *device, *sum, result = 0;
    CU(cudaMallocHost((void **)&host, chunks * per * sizeof(float)));
    CU(cudaMalloc(&device, chunks * per * sizeof(float)));
    CU(cudaMalloc(&sum, sizeof *sum));
    for (int i = 0; i < chunks * per; i++)
        host[i] = (float)(i % 97);
    int least, greatest;
    CU(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    Progress progress;
    {
        std::vector<std::unique_ptr<Stream>> streams;
        std::vector<std::unique_ptr<Event>> done;
        for (int i = 0; i < chunks; i++) {
            streams.emplace_back(new Stream(i % 2 ? greatest : least));
            done.emplace_back(new Event);
        }
        Stream last;
        Event begin(cudaEventDefault), end(cudaEventDefault);
        CU(cudaEventRecord(begin, last));
        CU(cudaMemsetAsync(sum, 0, sizeof *sum, last));
        for (int i = 0; i < chunks; i++) {
            cudaStream_t s = *streams[i];
            float *h = host + i * per, *d = device + i * per;
            CU(cudaMemcpyAsync(d, h, per * sizeof(float), cudaMemcpyHostToDevice, s));
            square<<<2, 128, 0, s>>>(d, per);
            CU(cudaMemcpyAsync(h, d, per * sizeof(float), cudaMemcpyDeviceToHost, s));
            CU(cudaLaunchHostFunc(s, onHost, &progress));
            CU(cudaEventRecord(*done[i], s));
            CU(cudaStreamWaitEvent(last, *done[i], 0));
            CU(cudaStreamAddCallback(s, onDone, &progress, 0));
        }
        total<<<1, 256, 0, last>>>(device, chunks * per, sum);
        CU(cudaMemcpyAsync(&result, sum, sizeof result, cudaMemcpyDeviceToHost, last));
        CU(cudaEventRecord(end, last));
        while (cudaEventQuery(end) == cudaErrorNotReady)
            std::this_thread::yield();
        float ms = -1;
        CU(cudaEventElapsedTime(&ms, begin, end));
        CU(cudaDeviceSynchronize());
        if (ms < 0)
            return std::puts("FAIL"), 1;
    }
    double expected = 0;
    int bad = 0;
    for (int i = 0; i < chunks * per; i++) {
        double v = std::sqrt((double)(i % 97) * (i % 97) + 1);
        expected += v;
        bad += std::fabs(host[i] - v) > 1e-4;
    }
    bad += std::fabs(result - expected) > 1e-4 * expected;
    bad += progress.functions != chunks || progress.callbacks != chunks;
    CU(cudaFreeHost(host));
    CU(cudaFree(device));
    CU(cudaFree(sum));
    std::puts(bad ? "FAIL" : "PASS");
    return bad != 0;
}
