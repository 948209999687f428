// Pinned memory is copied to the device. WRONG: behind hipHostFree().
// finds: used-freed: hipHostFree() | hipMemcpyAsync()
#include "../check.hpp"

int main()
{
    void *pinned = nullptr, *data = nullptr;
    HIP_MUST(hipHostMalloc(&pinned, 1024, hipHostMallocDefault));
    HIP_MUST(hipMalloc(&data, 1024));
    std::memset(pinned, 1, 1024);
#ifdef WRONG
    HIP_MUST(hipHostFree(pinned));
    (void)hipMemcpyAsync(data, pinned, 1024, hipMemcpyHostToDevice, nullptr);
#else
    HIP_MUST(hipMemcpyAsync(data, pinned, 1024, hipMemcpyHostToDevice, nullptr));
    HIP_MUST(hipHostFree(pinned));
#endif
    HIP_MUST(hipFree(data));
    return 0;
}
