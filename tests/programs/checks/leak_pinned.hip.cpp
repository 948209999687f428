// Pinned memory. WRONG: it is not freed.
// finds: leak: hipHostMalloc()
#include "../check.hpp"

int main()
{
    void *data = nullptr;
    HIP_MUST(hipHostMalloc(&data, 4096, hipHostMallocDefault));
    std::memset(data, 0, 4096);
#ifndef WRONG
    HIP_MUST(hipHostFree(data));
#endif
    return 0;
}
