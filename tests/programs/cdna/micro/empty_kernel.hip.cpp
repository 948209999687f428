// empty_kernel BLOCKS: a launch of an empty kernel and the wait for it.
#include "micro.hpp"

__global__ void empty()
{
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "empty_kernel", size_t(1) << 31, {{"block_size", "256"}});
    unsigned block = unsigned(m.number("block_size", 1024));
    label_run(m, [&] {
        empty<<<dim3(unsigned(m.size)), dim3(block)>>>();
        HIP_MUST(hipDeviceSynchronize());
    });
    return m.check ? m.verdict(true) : 0; // there is nothing to check but that it ends
}
