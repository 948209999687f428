// clock64, wall_clock64, and the order of time across a barrier. Arguments: none.
#include "check.hpp"

__global__ void measure(long long *times, float *values)
{
    long long begin = clock64();
    float *value = &values[blockIdx.x * blockDim.x + threadIdx.x];
    float x = *value;
    for (int i = 0; i < 50; i++) {
        x = x * 1.0001f + 0.5f;
    }
    *value = x;
    __syncthreads();
    long long end = clock64();
    if (threadIdx.x == 0) {
        times[2 * blockIdx.x] = begin;
        times[2 * blockIdx.x + 1] = end;
    }
}

int main()
{
    constexpr int groups = 3;
    std::vector<long long> times(2 * groups);
    long long *dtimes = device_zeros<long long>(times.size());
    float *dvalues = device_zeros<float>(groups * 256);
    long long last = 0;
    for (int launch = 0; launch < 2; launch++) {
        measure<<<groups, 256>>>(dtimes, dvalues);
        from_device(times, dtimes);
        long long latest = 0;
        for (int group = 0; group < groups; group++) {
            long long begin = times[2 * group], end = times[2 * group + 1];
            // 50 dependent multiply-adds of at least 4 cycles each lie in between.
            if (begin < last || end - begin < 200 || end - begin > 100000) {
                std::printf("FAIL clocks: launch %d, group %d: from %lld to %lld\n", launch, group, begin, end);
                return 1;
            }
            latest = std::max(latest, end);
        }
        last = latest;
    }
    return pass("clocks");
}
