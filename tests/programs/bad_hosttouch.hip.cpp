// The host reads device memory. Expected: a message that names the device pointer, and death by
// SIGSEGV.
#include "check.hpp"

int main()
{
    std::vector<int> data(64, 1);
    volatile int *device = to_device(data);
    std::printf("FAIL bad_hosttouch: read %d\n", device[5]);
    return 1;
}
