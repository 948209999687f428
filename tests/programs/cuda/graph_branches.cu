// Graphs whose branches run side by side: captured from streams that fork and join by events, cloned,
// and as a node of another graph. In time a launch takes less than its kernels one behind the other.
// Prints PASS or FAIL.
#include <cstdio>
#include <vector>

static bool failed;

static void expect(bool is_so, const char *what)
{
    if (!is_so)
        std::printf("%s\n", what);
    failed |= !is_so;
}

// One thread that takes its time.
__global__ void work(float *p, float add)
{
    float x = *p;
    for (int i = 0; i < 2000; i++)
        x = x * 0.5f + 1.0f;
    *p = x + add;
}

__global__ void sum(float *to, const float *from, int count)
{
    for (int i = 0; i < count; i++)
        *to += from[i];
}

static size_t edges_of(cudaGraph_t graph)
{
    size_t count = 0;
    cudaGraphGetEdges(graph, nullptr, nullptr, &count);
    return count;
}

static size_t roots_of(cudaGraph_t graph)
{
    size_t count = 0;
    cudaGraphGetRootNodes(graph, nullptr, &count);
    return count;
}

// work -> `branches` times work -> sum, the branches on streams of their own if `forks`.
static cudaGraph_t capture(float *data, int branches, bool forks)
{
    std::vector<cudaStream_t> streams(branches);
    cudaEvent_t fork, join;
    cudaGraph_t graph = nullptr;
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    for (cudaStream_t &stream : streams)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal);
    work<<<1, 1, 0, streams[0]>>>(data, 0);
    cudaEventRecord(fork, streams[0]);
    for (int i = 0; i < branches; i++) {
        cudaStream_t stream = streams[forks ? i : 0];
        if (forks && i > 0)
            cudaStreamWaitEvent(stream, fork, 0);
        work<<<1, 1, 0, stream>>>(&data[i], i);
        if (forks && i > 0) {
            cudaEventRecord(join, stream);
            cudaStreamWaitEvent(streams[0], join, 0);
        }
    }
    sum<<<1, 1, 0, streams[0]>>>(&data[branches], data, branches);
    expect(cudaStreamEndCapture(streams[0], &graph) == cudaSuccess, "capture");
    for (cudaStream_t stream : streams)
        cudaStreamDestroy(stream);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    return graph;
}

// Milliseconds of two launches, which follow each other.
static float launch(cudaGraph_t graph, float *data, int branches)
{
    cudaGraphExec_t exec;
    cudaEvent_t begin, end;
    float time = 0;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int i = 0; i <= branches; i++)
        data[i] = 0;
    expect(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "instantiate");
    cudaGraphLaunch(exec, 0);
    cudaEventRecord(begin);
    cudaGraphLaunch(exec, 0);
    cudaEventRecord(end);
    expect(cudaDeviceSynchronize() == cudaSuccess, "launch");
    cudaEventElapsedTime(&time, begin, end);
    float want = 2 * (2 * branches + branches * (branches - 1) / 2);
    if (data[branches] != want)
        std::printf("%g instead of %g\n", data[branches], want);
    failed |= data[branches] != want;
    cudaGraphExecDestroy(exec);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return time;
}

int main()
{
    const int branches = 4;
    float *data;
    cudaMallocManaged(&data, (branches + 1) * sizeof *data);
    cudaGraph_t forked = capture(data, branches, true), chain = capture(data, branches, false);
    cudaGraph_t clone, outer;
    cudaGraphNode_t node;
    expect(edges_of(forked) == 2 * branches && roots_of(forked) == 1, "edges of forks and joins");
    expect(edges_of(chain) == branches + 1 && roots_of(chain) == 1, "edges of a chain");
    cudaGraphClone(&clone, forked);
    expect(edges_of(clone) == 2 * branches, "edges of a clone");
    cudaGraphCreate(&outer, 0);
    cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, forked);

    float serial = launch(chain, data, branches);
    for (cudaGraph_t graph : {forked, clone, outer}) {
        float time = launch(graph, data, branches);
        if (serial > 0) // functional mode has no time
            expect(time > 0 && time < 0.6f * serial, "branches overlap");
    }
    for (cudaGraph_t graph : {forked, chain, clone, outer})
        cudaGraphDestroy(graph);
    cudaFree(data);
    std::puts(failed ? "FAIL" : "PASS");
    return failed;
}
