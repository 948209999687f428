// What the micro-benchmarks share: the clock of a wavefront, lines of results, and times of all
// wavefronts of a launch. A program prints lines `NAME VALUE`, which tests/bench/micro/run.py
// reads, and last `PASS micro_...`.
#pragma once

#include "../check.hpp"

#include <algorithm>

// The cycle at which the wavefront gets here: everything before it has issued, what it waits for
// has come.
static __device__ inline uint64_t micro_now()
{
    uint64_t time;
    asm volatile("s_memtime %0\n\ts_waitcnt lgkmcnt(0)" : "=s"(time)::"memory");
    return time;
}

// Notes the times of this wavefront as a pair; micro_span() reads those of all.
static __device__ inline void micro_note(uint64_t *times, uint64_t begin, uint64_t end)
{
    if (threadIdx.x % 64 == 0) {
        unsigned wave = (blockIdx.x * blockDim.x + threadIdx.x) / 64;
        times[2 * wave] = begin;
        times[2 * wave + 1] = end;
    }
}

// Gives memory back before the end.
static inline void micro_release(void *memory)
{
    check_memory.erase(std::find(check_memory.begin(), check_memory.end(), memory));
    HIP_MUST(hipFree(memory));
}

static inline void micro_result(const char *name, double value)
{
    std::printf("%s %.4f\n", name, value);
}

// From the earliest begin to the latest end, of pairs in device memory.
static inline double micro_span(const uint64_t *device, size_t pairs)
{
    std::vector<uint64_t> times(2 * pairs);
    from_device(times, device);
    uint64_t begin = times[0], end = times[1];
    for (size_t i = 0; i < pairs; i++) {
        begin = std::min(begin, times[2 * i]);
        end = std::max(end, times[2 * i + 1]);
    }
    return static_cast<double>(end - begin);
}
