// A stream captures. WRONG: until the program ends.
// finds: capture-open: hipStreamBeginCapture()
#include "../check.hpp"

int main()
{
    void *data = nullptr;
    hipStream_t stream = nullptr;
    hipGraph_t graph = nullptr;
    HIP_MUST(hipMalloc(&data, 256));
    HIP_MUST(hipStreamCreate(&stream));
    HIP_MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP_MUST(hipMemsetAsync(data, 0, 256, stream));
#ifndef WRONG
    HIP_MUST(hipStreamEndCapture(stream, &graph));
    HIP_MUST(hipGraphDestroy(graph));
#endif
    HIP_MUST(hipStreamDestroy(stream));
    HIP_MUST(hipFree(data));
    return 0;
}
