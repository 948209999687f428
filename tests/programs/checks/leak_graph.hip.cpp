// A graph that is launched. WRONG: what is launched is not destroyed.
// finds: leak: hipGraphInstantiate()
#include "../check.hpp"

int main()
{
    void *data = nullptr;
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    hipStream_t stream = nullptr;
    HIP_MUST(hipMalloc(&data, 256));
    HIP_MUST(hipStreamCreate(&stream));
    HIP_MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP_MUST(hipMemsetAsync(data, 0, 256, stream));
    HIP_MUST(hipStreamEndCapture(stream, &graph));
    HIP_MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP_MUST(hipGraphLaunch(exec, stream));
    HIP_MUST(hipStreamSynchronize(stream));
#ifndef WRONG
    HIP_MUST(hipGraphExecDestroy(exec));
#endif
    HIP_MUST(hipGraphDestroy(graph));
    HIP_MUST(hipStreamDestroy(stream));
    HIP_MUST(hipFree(data));
    return 0;
}
