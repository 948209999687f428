// Graphs: nodes added by hand with dependencies, a captured graph as a child, parameters changed in
// the instance, an update from another graph, and launches in a row; questions about nodes and
// edges, nodes that are disabled, destroyed, or of events. Prints PASS or FAIL.
#include <cstdio>
#include <cstdlib>

#define OK(x)                                                                                      \
    if (cudaError_t e = (x)) {                                                                     \
        printf("line %d: %s\n", __LINE__, cudaGetErrorString(e));                                  \
        exit(1);                                                                                   \
    }

__global__ void fill(int *p, int base)
{
    p[threadIdx.x] = base + threadIdx.x;
}
__global__ void addTo(int *to, const int *from, int factor)
{
    to[threadIdx.x] += factor * from[threadIdx.x];
}

static void count(void *p)
{
    ++*(int *)p;
}

// What graphs answer, and what becomes of nodes that are disabled or destroyed.
static int ask(cudaGraph_t graph, cudaGraphNode_t filled, cudaGraphNode_t joined,
               cudaGraphNode_t host, cudaStream_t s, const int *a, int base)
{
    cudaGraphNode_t from[16], to[16], near[4], record;
    size_t edges = 16, before = 4, behind = 4, few = 1;
    OK(cudaGraphGetEdges(graph, from, to, &edges));
    OK(cudaGraphNodeGetDependencies(joined, near, &before));
    int bad = edges != 5 || before != 2 || near[1] != filled;
    OK(cudaGraphNodeGetDependentNodes(joined, nullptr, &behind));
    OK(cudaGraphNodeGetDependentNodes(filled, near, &few));
    bad += behind != 1 || few != 1 || near[0] != joined;

    cudaKernelNodeParams kernel;
    OK(cudaGraphKernelNodeGetParams(filled, &kernel));
    bad += kernel.func != (void *)fill || kernel.blockDim.x != 64
           || *(int *)kernel.kernelParams[1] != base;
    bad += cudaGraphKernelNodeGetParams(host, &kernel) != cudaErrorInvalidValue;
    cudaHostNodeParams hostParams;
    OK(cudaGraphHostNodeGetParams(host, &hostParams));
    bad += hostParams.fn != count;

    cudaEvent_t event, other;
    OK(cudaEventCreate(&event));
    OK(cudaGraphAddEventRecordNode(&record, graph, &host, 1, event));
    OK(cudaGraphEventRecordNodeGetEvent(record, &other));
    bad += other != event;
    OK(cudaGraphDestroyNode(host));
    edges = 16;
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
    bad += edges != 4;

    cudaGraphExec_t exec;
    unsigned enabled = 1;
    int first;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphNodeSetEnabled(exec, filled, 0));
    OK(cudaGraphNodeGetEnabled(exec, filled, &enabled));
    bad += enabled != 0;
    bad += cudaGraphNodeSetEnabled(exec, host, 0) != cudaErrorInvalidValue;
    OK(cudaMemset((void *)a, 0, 4));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaEventSynchronize(event));
    OK(cudaMemcpy(&first, a, 4, cudaMemcpyDeviceToHost));
    bad += first != 0;
    OK(cudaGraphNodeSetEnabled(exec, filled, 1));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaMemcpy(&first, a, 4, cudaMemcpyDeviceToHost));
    bad += first != base;
    OK(cudaGraphExecDestroy(exec));
    OK(cudaEventDestroy(event));
    return bad;
}

int main()
{
    const int n = 64;
    int *a, *b, result[n], calls = 0, bad = 0;
    OK(cudaMalloc(&a, n * sizeof(int)));
    OK(cudaMalloc(&b, n * sizeof(int)));
    cudaStream_t s;
    OK(cudaStreamCreate(&s));

    cudaGraph_t child;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    addTo<<<1, n, 0, s>>>(b, a, 10);
    addTo<<<1, n, 0, s>>>(b, a, 1);
    OK(cudaStreamEndCapture(s, &child));
    size_t nodes = 0;
    OK(cudaGraphGetNodes(child, nullptr, &nodes));
    bad += nodes != 2;

    cudaGraph_t graph;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t clear, fillNode, childNode, copy, host, empty;
    cudaMemsetParams memset = {};
    memset.dst = b;
    memset.value = 0;
    memset.elementSize = 4;
    memset.width = n;
    memset.height = 1;
    OK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &memset));
    int base = 100;
    void *arguments[] = {&a, &base};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)fill;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(n);
    kernel.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&fillNode, graph, nullptr, 0, &kernel));
    cudaGraphNode_t both[] = {clear, fillNode};
    OK(cudaGraphAddEmptyNode(&empty, graph, both, 2));
    OK(cudaGraphAddChildGraphNode(&childNode, graph, &empty, 1, child));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &childNode, 1, result, b, sizeof result,
                                cudaMemcpyDeviceToHost));
    cudaHostNodeParams hostParams = {};
    hostParams.fn = count;
    hostParams.userData = &calls;
    OK(cudaGraphAddHostNode(&host, graph, &copy, 1, &hostParams));
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(host, &type));
    bad += type != cudaGraphNodeTypeHost;

    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int round = 0; round < 3; round++) {
        OK(cudaGraphLaunch(exec, s));
        OK(cudaStreamSynchronize(s));
        for (int i = 0; i < n; i++)
            bad += result[i] != 11 * (base + i);
        bad += calls != round + 1;
        base = 1000 * (round + 1);
        OK(cudaGraphExecKernelNodeSetParams(exec, fillNode, &kernel));
    }

    cudaGraph_t clone;
    OK(cudaGraphClone(&clone, graph));
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, clone, &info));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    for (int i = 0; i < n; i++)
        bad += result[i] != 11 * (100 + i);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(clone));
    bad += ask(graph, fillNode, empty, host, s, a, 100);
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(child));
    OK(cudaStreamDestroy(s));
    puts(bad ? "FAIL" : "PASS");
    cudaFree(a);
    cudaFree(b);
    return bad != 0;
}
