// fp64_throughput FMAS: four chains of f64 fused multiply-adds in each thread, FMAS of them together.
#include "throughput.hpp"

int main(int argc, char **argv)
{
    return throughput_main<real_step<double>>(argc, argv, "fp64_throughput");
}
