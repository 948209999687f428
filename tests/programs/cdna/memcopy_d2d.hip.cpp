// memcopy_d2d N: one hipMemcpy of N MiB between two buffers of the device.
#include "memcopy.hpp"

int main(int argc, char **argv)
{
    return memcopy_main(argc, argv, "memcopy_d2d", copy_d2d);
}
