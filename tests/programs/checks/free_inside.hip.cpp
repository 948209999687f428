// Memory is freed by its address. WRONG: by that of its second element.
// finds: freed-wrong: hipMalloc() | hipFree()
#include "../check.hpp"

int main()
{
    int *data = nullptr;
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&data), 1024));
#ifdef WRONG
    (void)hipFree(data + 1);
#endif
    HIP_MUST(hipFree(data));
    return 0;
}
