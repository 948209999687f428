// A result is copied to the host. WRONG: behind hipFree().
// finds: used-freed: hipFree() | hipMemcpy()
#include "../check.hpp"

int main()
{
    std::vector<int> out(256);
    int *data = nullptr;
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&data), 1024));
    HIP_MUST(hipMemset(data, 1, 1024));
#ifdef WRONG
    HIP_MUST(hipFree(data));
    (void)hipMemcpy(out.data(), data, 1024, hipMemcpyDeviceToHost);
#else
    HIP_MUST(hipMemcpy(out.data(), data, 1024, hipMemcpyDeviceToHost));
    HIP_MUST(hipFree(data));
#endif
    return 0;
}
