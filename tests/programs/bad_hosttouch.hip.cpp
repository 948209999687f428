// The host reads device memory, or writes where it is told to. Expected: a message that names the
// address, and death by SIGSEGV. With `keyless` behind the address, the simulator finds no key for
// pages, as on a processor without them.
#include "check.hpp"

#include <sys/mman.h>

int main(int count, char **arguments)
{
    while (count > 2 && pkey_alloc(0, 0) > 0) {
    }
    std::vector<int> data(64, 1);
    volatile int *touched = to_device(data);
    if (count > 1) {
        touched = reinterpret_cast<volatile int *>(std::strtoull(arguments[1], nullptr, 0));
        touched[5] = 13;
    }
    std::printf("FAIL bad_hosttouch: read %d\n", touched[5]);
    return 1;
}
