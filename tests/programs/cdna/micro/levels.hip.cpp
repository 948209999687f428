// levels BYTES: what one load and the next that needs its answer take, over BYTES of memory: `path`=vector or scalar. A
// work-item goes through the lines in an order that never repeats before all were visited (a linear congruential sequence):
// first `warm` of them, then `hops`, whose cycles are counted; less as many steps without the load. Nothing is written
// before, so memory beyond what was warmed is in no cache; one line of each 2 MiB is read first, for the TLBs. Prints
// `levels BYTES CYCLES`.
//
// operation=read: all compute units read the same BYTES, `laps` times; prints bytes a cycle of all together.
#include "micro.hpp"

constexpr int line = 128;

static __device__ inline uint64_t now()
{
    uint64_t time;
    asm volatile("s_memtime %0\n\ts_waitcnt lgkmcnt(0)" : "=s"(time)::"memory");
    return time;
}

template <bool loads> static __device__ inline uint32_t step_vector(const char *memory, uint32_t at, uint32_t mask)
{
    uint32_t zero = 0;
    const char *place = memory + uint64_t(at) * line;
    if (loads) {
        asm volatile("global_load_dword %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=v"(zero) : "v"(place) : "memory");
    } else {
        asm volatile("v_mov_b32 %0, 0" : "=v"(zero) : "v"(place) : "memory");
    }
    return (at * 0x9e3779b5u + 0x7f4a7c15u + zero) & mask;
}

template <bool loads> static __device__ inline uint32_t step_scalar(const char *memory, uint32_t at, uint32_t mask)
{
    uint32_t zero = 0;
    const char *place = memory + uint64_t(at) * line;
    if (loads) {
        asm volatile("s_load_dword %0, %1, 0x0\n\ts_waitcnt lgkmcnt(0)" : "=s"(zero) : "s"(place) : "memory");
    } else {
        asm volatile("s_mov_b32 %0, 0" : "=s"(zero) : "s"(place) : "memory");
    }
    return (at * 0x9e3779b5u + 0x7f4a7c15u + zero) & mask;
}

template <bool scalar>
__global__ void chase(const char *memory, uint32_t mask, uint32_t warm, uint32_t hops, uint64_t *times)
{
    uint32_t at = 0, pages = (mask + 1) / (2048 * 1024 / line);
#pragma unroll 1
    for (uint32_t i = 0; i < pages; i++) {
        const char *place = memory + (uint64_t(i) << 21);
        uint32_t zero;
        if (scalar) {
            asm volatile("s_load_dword %0, %1, 0x0\n\ts_waitcnt lgkmcnt(0)" : "=s"(zero) : "s"(place) : "memory");
        } else {
            asm volatile("global_load_dword %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=v"(zero) : "v"(place) : "memory");
        }
    }
#pragma unroll 1
    for (uint32_t i = 0; i < warm; i++) {
        at = scalar ? step_scalar<true>(memory, at, mask) : step_vector<true>(memory, at, mask);
    }
    uint64_t begin = now();
#pragma unroll 1
    for (uint32_t i = 0; i < hops; i++) {
        at = scalar ? step_scalar<true>(memory, at, mask) : step_vector<true>(memory, at, mask);
    }
    asm volatile("" ::"v"(at) : "memory");
    uint64_t middle = now();
#pragma unroll 1
    for (uint32_t i = 0; i < hops; i++) {
        at = scalar ? step_scalar<false>(memory, at, mask) : step_vector<false>(memory, at, mask);
    }
    asm volatile("" ::"v"(at) : "memory");
    times[0] = middle - begin;
    times[1] = now() - middle;
    times[2] = at;
}

__global__ void read_shared(const float4 *memory, uint32_t count, uint32_t laps, uint64_t *times, float *sink)
{
    float4 sum = make_float4(0, 0, 0, 0);
    uint32_t start = blockIdx.x * (count / gridDim.x / 16 * 16);
    uint64_t begin = 0;
    for (uint32_t lap = 0; lap <= laps; lap++) {
        if (lap == 1) {
            __syncthreads();
            begin = now();
        }
#pragma unroll 8
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
            float4 v = memory[(start + i) & (count - 1)];
            sum.x += v.x;
            sum.y += v.y;
            sum.z += v.z;
            sum.w += v.w;
        }
    }
    if (sum.x + sum.y + sum.z + sum.w != 0) { // never
        *sink = sum.x;
    }
    uint64_t end = now();
    if (threadIdx.x % 64 == 0) {
        uint32_t wave = (blockIdx.x * blockDim.x + threadIdx.x) / 64;
        times[2 * wave] = begin;
        times[2 * wave + 1] = end;
    }
}

static double read_rate(const micro &m)
{
    unsigned groups = micro_cus() * unsigned(m.number("groups", 16)), laps = unsigned(m.number("laps"));
    size_t waves = size_t(groups) * 16;
    float4 *memory = nullptr;
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&memory), m.size));
    uint64_t *times = device_zeros<uint64_t>(2 * waves);
    read_shared<<<groups, 1024>>>(memory, uint32_t(m.size / 16), laps, times, device_zeros<float>(1));
    std::vector<uint64_t> got(2 * waves);
    from_device(got, times);
    double cycles = 0; // of all wavefronts, since their clocks may differ
    for (size_t i = 0; i < waves; i++) {
        cycles += double(got[2 * i + 1] - got[2 * i]);
    }
    return double(groups) * laps * double(m.size) / (cycles / double(waves));
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "levels", size_t(1) << 34,
                              {{"path", "vector"}, {"hops", "2048"}, {"warm", "0"}, {"operation", "chase"},
                               {"laps", "2"}, {"groups", "2"}});
    if ((m.size & (m.size - 1)) != 0 || m.size < 4096) {
        m.refuse("BYTES is a power of two, at least 4096");
    }
    if (m.one_of("operation", {"chase", "read"}) == 1) {
        std::printf("levels %zu %.7f\n", m.size, read_rate(m));
        return m.verdict(true);
    }
    uint32_t hops = uint32_t(m.number("hops")), warm = uint32_t(std::strtoul(m.text("warm").c_str(), nullptr, 10));
    char *memory = nullptr;
    uint64_t *times = device_zeros<uint64_t>(3);
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&memory), m.size));
    uint32_t mask = uint32_t(m.size / line - 1);
    if (m.one_of("path", {"vector", "scalar"}) == 0) {
        chase<false><<<1, 1>>>(memory, mask, warm, hops, times);
    } else {
        chase<true><<<1, 1>>>(memory, mask, warm, hops, times);
    }
    std::vector<uint64_t> got(3);
    from_device(got, times);
    std::printf("levels %zu %.7f\n", m.size, double(got[0] - got[1]) / hops);
    uint32_t at = 0;
    for (uint32_t i = 0; i < warm + 2 * hops; i++) {
        at = (at * 0x9e3779b5u + 0x7f4a7c15u) & mask;
    }
    return m.verdict(got[2] == at);
}
