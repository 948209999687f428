// Two blocks of memory are freed. WRONG: one of them twice.
// finds: freed-twice: hipFree() | hipFree()
#include "../check.hpp"

int main()
{
    void *first = nullptr, *second = nullptr;
    HIP_MUST(hipMalloc(&first, 1024));
    HIP_MUST(hipMalloc(&second, 1024));
    HIP_MUST(hipFree(first));
    HIP_MUST(hipFree(second));
#ifdef WRONG
    (void)hipFree(first);
#endif
    return 0;
}
