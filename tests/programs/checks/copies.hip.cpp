// Copies and fills that nothing orders with what else accesses the memory, as cases.hpp says.
#include "../check.hpp"

#include <string>
#include <vector>

constexpr int elements = 4096;
constexpr size_t bytes = elements * sizeof(int);

__global__ void count(int *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = i; // down: first, above: first, fill: first, branches: second
}

__global__ void sum(const int *data, int *more)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    more[i] += data[i]; // up: first, set: second, branches: first
}

// Two streams that do not wait for each other by themselves, and two buffers.
struct Place {
    hipStream_t first, second;
    int *data, *other;
    std::vector<int> host = std::vector<int>(elements);

    Place()
    {
        HIP_MUST(hipMalloc(reinterpret_cast<void **>(&data), bytes));
        HIP_MUST(hipMalloc(reinterpret_cast<void **>(&other), bytes));
        HIP_MUST(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
        HIP_MUST(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
        HIP_MUST(hipMemset(data, 0, bytes));
        HIP_MUST(hipMemset(other, 0, bytes));
        sum<<<1, 64>>>(data, other); // the first launch waits for its code
        HIP_MUST(hipDeviceSynchronize());
    }

    // The second stream goes on when the first has come so far.
    void order() const
    {
        hipEvent_t event = nullptr;
        HIP_MUST(hipEventCreate(&event));
        HIP_MUST(hipEventRecord(event, first));
        HIP_MUST(hipStreamWaitEvent(second, event, 0));
        HIP_MUST(hipEventDestroy(event));
    }

    ~Place()
    {
        HIP_MUST(hipDeviceSynchronize());
        HIP_MUST(hipStreamDestroy(first));
        HIP_MUST(hipStreamDestroy(second));
        HIP_MUST(hipFree(data));
        HIP_MUST(hipFree(other));
    }
};

static void down(const Place &p, bool wrong) // down: launch-race
{
    count<<<elements / 64, 64, 0, p.first>>>(p.data);
    if (!wrong) {
        p.order();
    }
    void *host = const_cast<int *>(p.host.data());
    HIP_MUST(hipMemcpyAsync(host, p.data, bytes, hipMemcpyDeviceToHost, p.second)); // down: second
}

static void up(const Place &p, bool wrong) // up: launch-race
{
    sum<<<elements / 64, 64, 0, p.first>>>(p.data, p.other);
    if (!wrong) {
        HIP_MUST(hipStreamSynchronize(p.first));
    }
    const int *host = p.host.data();
    HIP_MUST(hipMemcpyAsync(p.data, host, bytes, hipMemcpyHostToDevice, p.second)); // up: second
}

// Only where the two overlap.
static void above(const Place &p, bool wrong) // above: launch-race
{
    count<<<elements / 128, 64, 0, p.first>>>(p.data);
    int *from = p.data + elements / 2 - wrong;
    HIP_MUST(hipMemcpyDtoDAsync(p.other, from, bytes / 2, p.second)); // above: second
}

static void fill(const Place &p, bool wrong) // fill: launch-race
{
    count<<<elements / 64, 64, 0, p.first>>>(p.data);
    HIP_MUST(hipMemsetAsync(p.data, 0, bytes, wrong ? p.second : p.first)); // fill: second
}

// Such a stream does not wait for the default stream.
static void set(const Place &p, bool wrong) // set: launch-race
{
    HIP_MUST(hipMemsetAsync(p.data, 1, bytes, nullptr)); // set: first
    if (!wrong) {
        HIP_MUST(hipDeviceSynchronize());
    }
    sum<<<elements / 64, 64, 0, p.first>>>(p.data, p.other);
}

static void twice(const Place &p, bool wrong) // twice: launch-race
{
    HIP_MUST(hipMemsetAsync(p.data, 1, bytes, p.first)); // twice: first
    if (!wrong) {
        p.order();
    }
    HIP_MUST(hipMemcpyDtoDAsync(p.data, p.other, bytes, p.second)); // twice: second
}

// The branches of a graph.
static void branches(const Place &p, bool wrong) // branches: launch-race
{
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    hipGraphNode_t clear, read, write;
    hipMemsetParams zeros = {};
    zeros.dst = p.other;
    zeros.elementSize = 4;
    zeros.width = elements;
    zeros.height = 1;
    int *data = p.data, *other = p.other;
    void *to_sum[] = {&data, &other}, *to_count[] = {&data};
    hipKernelNodeParams sums = {}, counts = {};
    sums.func = reinterpret_cast<void *>(sum);
    counts.func = reinterpret_cast<void *>(count);
    sums.gridDim = counts.gridDim = dim3(elements / 64);
    sums.blockDim = counts.blockDim = dim3(64);
    sums.kernelParams = to_sum;
    counts.kernelParams = to_count;
    HIP_MUST(hipGraphCreate(&graph, 0));
    HIP_MUST(hipGraphAddMemsetNode(&clear, graph, nullptr, 0, &zeros));
    HIP_MUST(hipGraphAddKernelNode(&read, graph, &clear, 1, &sums));
    HIP_MUST(hipGraphAddKernelNode(&write, graph, wrong ? &clear : &read, 1, &counts));
    HIP_MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP_MUST(hipGraphLaunch(exec, p.first));
    HIP_MUST(hipGraphLaunch(exec, p.first));
    HIP_MUST(hipStreamSynchronize(p.first));
    HIP_MUST(hipGraphExecDestroy(exec));
    HIP_MUST(hipGraphDestroy(graph));
}

#define CASE(name) {#name, name}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const Place &p, bool wrong);
    } cases[] = {CASE(down), CASE(up), CASE(above), CASE(fill), CASE(set), CASE(twice),
                 CASE(branches)};
    const std::string name = argc > 1 ? argv[1] : "";
    for (const auto &each : cases) {
        if (name == each.name) {
            const Place place;
            each.run(place, argc > 2 && std::string(argv[2]) == "wrong");
            return pass(each.name);
        }
    }
    return 2;
}
