// fp16_throughput FMAS: four chains of fused multiply-adds on two f16 in each thread, FMAS of them together. Only the first
// thread stores its sum.
#include "throughput.hpp"

using half2 = _Float16 __attribute__((ext_vector_type(2)));

struct half_step {
    using type = half2;
    static constexpr bool stores_all = false;
    __host__ __device__ static half2 start(int thread, int chain)
    {
        _Float16 one = (_Float16)(1.0f + 0.001f * float(thread) + 0.1f * float(chain));
        return half2{one, one};
    }
    __host__ __device__ static half2 next(half2 a)
    {
        half2 factor = {(_Float16)0.999f, (_Float16)0.999f};
        half2 addend = {(_Float16)1e-3f, (_Float16)1e-3f};
#ifdef __HIP_DEVICE_COMPILE__
        return a * factor + addend; // contracted
#else
        half2 result;
        for (int k = 0; k < 2; k++) { // exact before it is rounded
            result[k] = (_Float16)(double(a[k]) * double(factor[k]) + double(addend[k]));
        }
        return result;
#endif
    }
    __host__ __device__ static half2 sum(half2 a, half2 b)
    {
        return a + b;
    }
    __device__ static void store(half2 *out, half2 value)
    {
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            *out = value;
        }
    }
    static bool same(half2 got, half2 want)
    {
        return float(got[0]) == float(want[0]) && float(got[1]) == float(want[1]);
    }
};

int main(int argc, char **argv)
{
    return throughput_main<half_step>(argc, argv, "fp16_throughput");
}
