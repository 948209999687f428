// The host reads device memory, or writes where it is told to. Expected: a message that names the
// address, and death by SIGSEGV.
#include "check.hpp"

int main(int count, char **arguments)
{
    std::vector<int> data(64, 1);
    volatile int *touched = to_device(data);
    if (count > 1) {
        touched = reinterpret_cast<volatile int *>(std::strtoull(arguments[1], nullptr, 0));
        touched[5] = 13;
    }
    std::printf("FAIL bad_hosttouch: read %d\n", touched[5]);
    return 1;
}
