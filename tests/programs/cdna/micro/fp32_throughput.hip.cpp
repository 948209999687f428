// fp32_throughput FMAS: four chains of f32 fused multiply-adds in each thread, FMAS of them together.
#include "throughput.hpp"

int main(int argc, char **argv)
{
    return throughput_main<real_step<float>>(argc, argv, "fp32_throughput");
}
