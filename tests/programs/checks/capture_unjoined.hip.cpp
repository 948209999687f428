// A capture forks to a second stream. WRONG: which does not join again.
// finds: capture-unjoined: hipStreamBeginCapture() | hipStreamEndCapture()
#include "../check.hpp"

int main()
{
    void *data = nullptr;
    hipStream_t first = nullptr, second = nullptr;
    hipEvent_t fork = nullptr, join = nullptr;
    hipGraph_t graph = nullptr;
    HIP_MUST(hipMalloc(&data, 256));
    HIP_MUST(hipStreamCreate(&first));
    HIP_MUST(hipStreamCreate(&second));
    HIP_MUST(hipEventCreate(&fork));
    HIP_MUST(hipEventCreate(&join));
    HIP_MUST(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal));
    HIP_MUST(hipEventRecord(fork, first));
    HIP_MUST(hipStreamWaitEvent(second, fork, 0));
    HIP_MUST(hipMemsetAsync(data, 0, 256, second));
#ifndef WRONG
    HIP_MUST(hipEventRecord(join, second));
    HIP_MUST(hipStreamWaitEvent(first, join, 0));
#endif
    (void)hipStreamEndCapture(first, &graph);
    if (graph) {
        HIP_MUST(hipGraphDestroy(graph));
    }
    HIP_MUST(hipEventDestroy(fork));
    HIP_MUST(hipEventDestroy(join));
    HIP_MUST(hipStreamDestroy(first));
    HIP_MUST(hipStreamDestroy(second));
    HIP_MUST(hipFree(data));
    return 0;
}
