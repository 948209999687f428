// int32_throughput MADS: four chains of a = a * 3 + 1 on 32-bit integers in each thread, MADS of them together.
#include "throughput.hpp"

struct integer_step {
    using type = unsigned;
    static constexpr bool stores_all = true;
    __host__ __device__ static unsigned start(int thread, int chain)
    {
        return unsigned(thread + chain);
    }
    __host__ __device__ static unsigned next(unsigned a)
    {
        return a * 3 + 1;
    }
    __host__ __device__ static unsigned sum(unsigned a, unsigned b)
    {
        return a + b;
    }
    __device__ static void store(unsigned *out, unsigned value)
    {
        out[blockIdx.x * blockDim.x + threadIdx.x] = value;
    }
    static bool same(unsigned got, unsigned want)
    {
        return got == want;
    }
};

int main(int argc, char **argv)
{
    return throughput_main<integer_step>(argc, argv, "int32_throughput");
}
