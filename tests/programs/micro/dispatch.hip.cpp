// Dispatching alone: a kernel that ends at once. Each argument is WAVEFRONTS:WORK-GROUPS, the launches in their order; the
// first launch of all only warms up what is to be warm. What they took stands in the statistics of the run.
#include "micro.hpp"

__global__ __launch_bounds__(1024) void empty() {}

int main(int argc, char **argv)
{
    empty<<<1024, 64>>>();
    HIP_MUST(hipDeviceSynchronize());
    for (int i = 1; i < argc; i++) {
        unsigned wavefronts = 0, groups = 0;
        if (std::sscanf(argv[i], "%u:%u", &wavefronts, &groups) != 2 || wavefronts < 1 || wavefronts > 16 || groups < 1) {
            std::printf("FAIL argument %d: '%s' is not WAVEFRONTS:WORK-GROUPS\n", i, argv[i]);
            return 2;
        }
        empty<<<groups, wavefronts * 64>>>();
        HIP_MUST(hipDeviceSynchronize());
    }
    return pass("micro_dispatch");
}
