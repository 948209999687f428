// Graphs: nodes added by hand with dependencies, a captured graph as a child, parameters changed in
// the instance, an update from another graph, and launches in a row. Prints PASS or FAIL.
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
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(child));
    OK(cudaStreamDestroy(s));
    puts(bad ? "FAIL" : "PASS");
    cudaFree(a);
    cudaFree(b);
    return bad != 0;
}
