// Graphs of calls: written down node by node, and captured from one stream and from two. Launched several times, with
// other arguments, and as part of another graph. What must be refused is asked for, too. Arguments: none.
#include "check.hpp"

enum { N = 4096, BLOCK = 256 };

__global__ void scale_add(const int *in, int *out, int factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] += in[i] * factor;
    }
}

static void expect(hipError_t got, hipError_t want, const char *what)
{
    if (got != want) {
        std::printf("FAIL graphs: %s: %s instead of %s\n", what, hipGetErrorName(got), hipGetErrorName(want));
        std::exit(1);
    }
    (void)hipGetLastError();
}

struct counted {
    int calls;
    const int *data;
    int seen;
};

static void count_call(void *data)
{
    counted *c = static_cast<counted *>(data);
    c->calls++;
    c->seen = c->data[0];
}

static void count_callback(hipStream_t, hipError_t, void *data)
{
    count_call(data);
}

struct kernel_node {
    const int *in;
    int *out, factor, n;
    void *values[4];
    hipKernelNodeParams params;

    kernel_node(const int *in_, int *out_, int factor_) : in(in_), out(out_), factor(factor_), n(N), values(), params()
    {
        values[0] = &in;
        values[1] = &out;
        values[2] = &factor;
        values[3] = &n;
        params.func = reinterpret_cast<void *>(scale_add);
        params.gridDim = dim3(N / BLOCK);
        params.blockDim = dim3(BLOCK);
        params.kernelParams = values;
    }
};

// out = 0; out += 3 in; out += 3 in again in a child; back to the host; a call of the host.
static bool by_nodes(const std::vector<int> &in, int *a, int *b, hipStream_t stream)
{
    std::vector<int> got(N), want(N);
    counted host = {0, got.data(), 0};
    hipGraph_t graph, child;
    hipGraphNode_t fill, first, second, inside, back, call, nothing;
    hipGraphExec_t exec;
    hipMemsetParams zero = {};
    zero.dst = b;
    zero.elementSize = 4;
    zero.width = N;
    zero.height = 1;
    HIP_MUST(hipGraphCreate(&graph, 0));
    HIP_MUST(hipGraphCreate(&child, 0));
    {
        kernel_node kernel(a, b, 3); // its arguments are copied
        HIP_MUST(hipGraphAddKernelNode(&first, graph, nullptr, 0, &kernel.params));
        HIP_MUST(hipGraphAddKernelNode(&inside, child, nullptr, 0, &kernel.params));
        kernel.factor = 1000;
    }
    HIP_MUST(hipGraphAddChildGraphNode(&second, graph, &first, 1, child));
    HIP_MUST(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
    HIP_MUST(hipGraphAddDependencies(graph, &fill, &first, 1)); // of a later node
    HIP_MUST(hipGraphAddMemcpyNode1D(&back, graph, &second, 1, got.data(), b, N * sizeof(int), hipMemcpyDeviceToHost));
    hipHostNodeParams params = {count_call, &host};
    HIP_MUST(hipGraphAddHostNode(&call, graph, &back, 1, &params));
    HIP_MUST(hipGraphAddEmptyNode(&nothing, graph, &call, 1));
    size_t count = 0, roots = 0;
    HIP_MUST(hipGraphGetNodes(graph, nullptr, &count));
    HIP_MUST(hipGraphGetRootNodes(graph, nullptr, &roots));
    if (count != 6 || roots != 1) {
        std::printf("FAIL graphs: %zu nodes, of which %zu begin\n", count, roots);
        return false;
    }
    HIP_MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP_MUST(hipGraphDestroy(child));
    for (int i = 0; i < 2; i++) {
        HIP_MUST(hipGraphLaunch(exec, stream));
        HIP_MUST(hipStreamSynchronize(stream));
    }
    for (int i = 0; i < N; i++) {
        want[i] = 6 * in[i];
    }
    if (!same_or_report("graphs: nodes", got, want)) {
        return false;
    }
    kernel_node other(a, b, -1);
    HIP_MUST(hipGraphExecKernelNodeSetParams(exec, first, &other.params));
    HIP_MUST(hipGraphLaunch(exec, stream));
    HIP_MUST(hipStreamSynchronize(stream));
    for (int i = 0; i < N; i++) {
        want[i] = 2 * in[i];
    }
    if (host.calls != 3 || host.seen != want[0]) {
        std::printf("FAIL graphs: the host was called %d times and saw %d\n", host.calls, host.seen);
        return false;
    }
    HIP_MUST(hipGraphAddDependencies(graph, &call, &fill, 1));
    hipGraphExec_t none;
    expect(hipGraphInstantiate(&none, graph, nullptr, nullptr, 0), hipErrorInvalidValue, "a graph that goes around");
    hipGraph_t copy;
    expect(hipGraphClone(&copy, graph), hipErrorInvalidValue, "a copy of a graph that goes around");
    HIP_MUST(hipGraphCreate(&copy, 0));
    expect(hipGraphAddChildGraphNode(&nothing, copy, nullptr, 0, graph), hipErrorInvalidValue, "a node that goes around");
    HIP_MUST(hipGraphDestroy(copy));
    HIP_MUST(hipGraphExecDestroy(exec));
    expect(hipGraphLaunch(exec, stream), hipErrorInvalidValue, "a graph that was destroyed");
    HIP_MUST(hipGraphDestroy(graph));
    expect(hipGraphAddEmptyNode(&nothing, graph, nullptr, 0), hipErrorInvalidValue, "a node of no graph");
    return same_or_report("graphs: other arguments", got, want);
}

// The same, captured: a second stream does a part of it and comes back.
static bool by_capture(const std::vector<int> &in, int *a, int *b, hipStream_t stream)
{
    std::vector<int> got(N, -1), want(N);
    counted host = {0, got.data(), 0};
    hipStream_t side;
    hipEvent_t fork, joined;
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipStreamCaptureStatus status;
    HIP_MUST(hipStreamCreate(&side));
    HIP_MUST(hipEventCreate(&fork));
    HIP_MUST(hipEventCreate(&joined));
    HIP_MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP_MUST(hipMemsetAsync(b, 0, N * sizeof(int), stream));
    HIP_MUST(hipMemcpyAsync(a, in.data(), N * sizeof(int), hipMemcpyHostToDevice, stream));
    HIP_MUST(hipEventRecord(fork, stream));
    HIP_MUST(hipStreamWaitEvent(side, fork, 0));
    scale_add<<<N / BLOCK, BLOCK, 0, side>>>(a, b, 5, N);
    HIP_MUST(hipEventRecord(joined, side));
    HIP_MUST(hipStreamWaitEvent(stream, joined, 0));
    scale_add<<<N / BLOCK, BLOCK, 0, stream>>>(a, b, 2, N);
    HIP_MUST(hipMemcpyAsync(got.data(), b, N * sizeof(int), hipMemcpyDeviceToHost, stream));
    HIP_MUST(hipStreamAddCallback(stream, count_callback, &host, 0));
    HIP_MUST(hipStreamIsCapturing(side, &status));
    if (status != hipStreamCaptureStatusActive || got[0] != -1 || host.calls != 0) {
        std::printf("FAIL graphs: a call was made while it was captured\n");
        return false;
    }
    HIP_MUST(hipStreamEndCapture(stream, &graph));
    HIP_MUST(hipGraphInstantiateWithFlags(&exec, graph, 0));
    HIP_MUST(hipGraphDestroy(graph));
    for (int i = 0; i < 3; i++) {
        HIP_MUST(hipGraphLaunch(exec, stream));
    }
    HIP_MUST(hipStreamSynchronize(stream));
    for (int i = 0; i < N; i++) {
        want[i] = 7 * in[i];
    }
    if (host.calls != 3 || host.seen != want[0]) {
        std::printf("FAIL graphs: %d callbacks of a captured stream\n", host.calls);
        return false;
    }
    // Who waits for a stream that captures has spoilt it.
    HIP_MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    expect(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported, "twice");
    expect(hipStreamSynchronize(stream), hipErrorStreamCaptureUnsupported, "waiting for a capture");
    expect(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated, "a spoilt capture");
    expect(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported, "null stream");
    HIP_MUST(hipStreamSynchronize(stream)); // as before
    HIP_MUST(hipGraphExecDestroy(exec));
    HIP_MUST(hipStreamDestroy(side));
    HIP_MUST(hipEventDestroy(fork));
    HIP_MUST(hipEventDestroy(joined));
    return same_or_report("graphs: captured", got, want);
}

// Captures that another stream has joined: HIP names an error for work that does not come back, and for a question about
// an event of the capture.
static void joined_captures(int *a, hipStream_t stream)
{
    hipStream_t side, third;
    hipEvent_t fork, joined, last;
    hipGraph_t graph;
    HIP_MUST(hipStreamCreate(&side));
    HIP_MUST(hipStreamCreate(&third));
    HIP_MUST(hipEventCreate(&fork));
    HIP_MUST(hipEventCreate(&joined));
    HIP_MUST(hipEventCreate(&last));
    for (int way = 0; way < 5; way++) { // what comes back: nothing, all, all but the last, by way of a third, no work
        HIP_MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        HIP_MUST(hipMemsetAsync(a, 0, 4, stream));
        HIP_MUST(hipEventRecord(fork, stream));
        HIP_MUST(hipStreamWaitEvent(side, fork, 0));
        if (way < 4) {
            HIP_MUST(hipMemsetAsync(a, 1, 4, side));
            HIP_MUST(hipEventRecord(joined, side));
        }
        if (way == 2) {
            HIP_MUST(hipMemsetAsync(a, 2, 4, side));
        }
        if (way == 3) {
            HIP_MUST(hipStreamWaitEvent(third, joined, 0));
            HIP_MUST(hipMemsetAsync(a, 3, 4, third));
            HIP_MUST(hipEventRecord(last, third));
            HIP_MUST(hipStreamWaitEvent(stream, last, 0));
        }
        if (way == 1 || way == 2) {
            HIP_MUST(hipStreamWaitEvent(stream, joined, 0));
        }
        bool whole = way == 1 || way == 3 || way == 4;
        expect(hipStreamEndCapture(stream, &graph), whole ? hipSuccess : hipErrorStreamCaptureUnjoined,
               "work that comes back, or not");
        if (whole) {
            HIP_MUST(hipGraphDestroy(graph));
        }
    }
    for (int asks = 0; asks < 2; asks++) {
        HIP_MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        HIP_MUST(hipEventRecord(fork, stream));
        expect(asks ? hipEventQuery(fork) : hipEventSynchronize(fork), hipErrorCapturedEvent, "waiting for itself");
        expect(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated, "a capture that waits for itself");
    }
    HIP_MUST(hipEventRecord(fork, stream)); // as ever
    HIP_MUST(hipEventSynchronize(fork));
    HIP_MUST(hipStreamDestroy(side));
    HIP_MUST(hipStreamDestroy(third));
    HIP_MUST(hipEventDestroy(fork));
    HIP_MUST(hipEventDestroy(joined));
    HIP_MUST(hipEventDestroy(last));
}

int main()
{
    random_source random;
    std::vector<int> in(N);
    for (int &value : in) {
        value = static_cast<int>(random.next() % 1000) - 500;
    }
    int *a = to_device(in), *b = device_zeros<int>(N);
    hipStream_t stream;
    HIP_MUST(hipStreamCreate(&stream));
    joined_captures(a, stream);
    if (!by_nodes(in, a, b, stream) || !by_capture(in, a, b, stream)) {
        return 1;
    }
    HIP_MUST(hipStreamDestroy(stream));
    return pass("graphs");
}
