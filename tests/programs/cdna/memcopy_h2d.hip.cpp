// memcopy_h2d N: one hipMemcpy of N MiB from pageable memory of the host to the device.
#include "memcopy.hpp"

int main(int argc, char **argv)
{
    return memcopy_main(argc, argv, "memcopy_h2d", copy_h2d);
}
