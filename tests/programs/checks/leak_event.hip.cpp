// An event for each of four steps. WRONG: they are not destroyed.
// finds: leak: hipEventCreate()
#include "../check.hpp"

int main()
{
    for (int step = 0; step < 4; step++) {
        hipEvent_t event = nullptr;
        HIP_MUST(hipEventCreate(&event));
        HIP_MUST(hipEventRecord(event, nullptr));
        HIP_MUST(hipEventSynchronize(event));
#ifndef WRONG
        HIP_MUST(hipEventDestroy(event));
#endif
    }
    return 0;
}
