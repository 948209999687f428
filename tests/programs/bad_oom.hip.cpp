// Allocates more than any device has, then everything in pieces. Expected: out of memory, nothing
// lost.
#include "check.hpp"

int main()
{
    size_t free_before = 0, free_after = 0, total = 0;
    HIP_MUST(hipMemGetInfo(&free_before, &total));
    void *pointer = nullptr;
    hipError_t huge = hipMalloc(&pointer, total + 1);
    hipError_t absurd = hipMalloc(&pointer, SIZE_MAX - 100);
    if (huge != hipErrorOutOfMemory || absurd != hipErrorOutOfMemory) {
        std::printf("FAIL bad_oom: %s, %s\n", hipGetErrorName(huge), hipGetErrorName(absurd));
        return 1;
    }
    std::vector<void *> pieces;
    size_t piece = total / 8;
    while (pieces.size() <= 8 && hipMalloc(&pointer, piece) == hipSuccess) {
        pieces.push_back(pointer);
    }
    if (pieces.size() > 8 || pieces.empty()) {
        std::printf("FAIL bad_oom: got %zu eighths of the memory\n", pieces.size());
        return 1;
    }
    for (void *each : pieces) {
        HIP_MUST(hipFree(each));
    }
    (void)hipGetLastError();
    HIP_MUST(hipMemGetInfo(&free_after, &total));
    if (free_after != free_before) {
        std::printf("FAIL bad_oom: %zu bytes are lost\n", free_before - free_after);
        return 1;
    }
    return pass("bad_oom");
}
