// memcopy_d2h N: one hipMemcpy of N MiB from the device to pageable memory of the host.
#include "memcopy.hpp"

int main(int argc, char **argv)
{
    return memcopy_main(argc, argv, "memcopy_d2h", copy_d2h);
}
