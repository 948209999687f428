// A stream. WRONG: it is not destroyed.
// finds: leak: hipStreamCreate()
#include "../check.hpp"

int main()
{
    hipStream_t stream = nullptr;
    HIP_MUST(hipStreamCreate(&stream));
    HIP_MUST(hipStreamSynchronize(stream));
#ifndef WRONG
    HIP_MUST(hipStreamDestroy(stream));
#endif
    return 0;
}
