// Device memory. WRONG: it is not freed.
// finds: leak: hipMalloc()
#include "../check.hpp"

int main()
{
    void *data = nullptr;
    HIP_MUST(hipMalloc(&data, 4096));
    HIP_MUST(hipMemset(data, 0, 4096));
#ifndef WRONG
    HIP_MUST(hipFree(data));
#endif
    return 0;
}
