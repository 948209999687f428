// Bytes a cycle that all compute units together get from a level: every wavefront reads 16 bytes a
// lane, many loads at a time. Argument: what to measure.
#include "micro.hpp"

typedef uint32_t quad __attribute__((ext_vector_type(4)));

constexpr int threads = 256, groups_a_unit = 4, vector = 16;
constexpr int units = 64, waves = units * 16; // of every kernel

// 16 wavefronts of each compute unit read the same 8 KiB again and again.
__global__ void read_l1(const char *memory, uint64_t *times)
{
    const char *mine = memory + blockIdx.x * 8192 + threadIdx.x % 512 * vector;
    uint64_t begin = 0;
#pragma unroll 1
    for (int i = 0; i < 5; i++) {
        if (i == 1) {
            __syncthreads();
            begin = micro_now();
        }
        asm volatile(
            ".rept 32\n\tflat_load_dwordx4 v[8:11], %0\n\t.endr\n\ts_waitcnt vmcnt(0) lgkmcnt(0)"
            :
            : "v"(mine)
            : "v8", "v9", "v10", "v11", "memory");
    }
    uint64_t end = micro_now();
    micro_note(times, begin, end);
}

// Every compute unit reads all of the memory, each from another place on; before, once without a
// clock.
__global__ void read_l2(const char *memory, size_t bytes, int rounds, uint64_t *times)
{
    size_t mine = (threadIdx.x + static_cast<size_t>(blockIdx.x / units) * threads) * vector,
           first = blockIdx.x % units * (bytes / units);
    quad sum = 0;
    uint64_t begin = 0;
    for (int round = 0; round <= rounds; round++) {
        if (round == 1) {
            __syncthreads();
            begin = micro_now();
        }
#pragma unroll 8
        for (size_t at = mine; at < bytes; at += threads * groups_a_unit * vector) {
            sum ^= *reinterpret_cast<const quad *>(memory + ((first + at) & (bytes - 1)));
        }
    }
    asm volatile("" ::"v"(sum) : "memory");
    uint64_t end = micro_now();
    micro_note(times, begin, end);
}

// All of the memory once, by everybody together.
__global__ void read_all(const char *memory, size_t bytes, uint64_t *times)
{
    quad sum = 0;
    uint64_t begin = micro_now();
    size_t step = static_cast<size_t>(gridDim.x) * threads * vector;
#pragma unroll 1
    for (size_t at = (static_cast<size_t>(blockIdx.x) * threads + threadIdx.x) * vector; at < bytes;
         at += step) {
        sum ^= *reinterpret_cast<const quad *>(memory + at);
    }
    asm volatile("" ::"v"(sum) : "memory");
    uint64_t end = micro_now();
    micro_note(times, begin, end);
}

// Copies: one byte read for each written.
__global__ void copy_all(const char *from, char *to, size_t bytes, uint64_t *times)
{
    uint64_t begin = micro_now();
    size_t step = static_cast<size_t>(gridDim.x) * threads * vector;
#pragma unroll 4
    for (size_t at = (static_cast<size_t>(blockIdx.x) * threads + threadIdx.x) * vector; at < bytes;
         at += step) {
        *reinterpret_cast<quad *>(to + at) = *reinterpret_cast<const quad *>(from + at);
    }
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    uint64_t end = micro_now();
    micro_note(times, begin, end);
}

// 16 wavefronts of each compute unit read LDS without bank conflicts: a dword, or four, a lane.
constexpr int rounds = 32;
template <bool wide> __global__ void read_lds(uint64_t *times)
{
    __shared__ uint32_t words[4096];
    uint32_t at = threadIdx.x * (wide ? 16 : 4);
    asm volatile("s_mov_b32 m0, -1");
    __syncthreads();
    uint64_t begin = micro_now();
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        if (wide) {
            asm volatile(".rept 32\n\tds_read_b128 v[8:11], %0\n\t.endr\n\ts_waitcnt lgkmcnt(0)"
                         :
                         : "v"(at), "v"(words)
                         : "v8", "v9", "v10", "v11", "memory");
        } else {
            asm volatile(".rept 32\n\tds_read_b32 v8, %0\n\t.endr\n\ts_waitcnt lgkmcnt(0)"
                         :
                         : "v"(at), "v"(words)
                         : "v8", "memory");
        }
    }
    uint64_t end = micro_now();
    micro_note(times, begin, end);
}

int main(int argc, char **argv)
{
    constexpr int groups = units * groups_a_unit;
    constexpr size_t size = 16 << 20;
    uint64_t *times = device_zeros<uint64_t>(2 * waves);
    auto wanted = [&](const char *name) { return argc < 2 || std::strcmp(argv[1], name) == 0; };
    if (wanted("read_l1")) {
        char *memory = device_zeros<char>(units * 8192);
        read_l1<<<units, 1024>>>(memory, times);
        micro_result("read_l1", units * 1024.0 * vector * 32 * 4 / micro_span(times, waves));
        micro_release(memory);
    }
    if (wanted("read_l2")) {
        constexpr size_t bytes = 1 << 20;
        char *memory = device_zeros<char>(bytes);
        read_l2<<<groups, threads>>>(memory, bytes, 2, times);
        micro_result("read_l2",
                     units * 2.0 * static_cast<double>(bytes) / micro_span(times, waves));
        micro_release(memory);
    }
    if (wanted("read_dram")) {
        char *memory = device_zeros<char>(size);
        read_all<<<groups, threads>>>(memory, size, times);
        micro_result("read_dram", static_cast<double>(size) / micro_span(times, waves));
        micro_release(memory);
    }
    if (wanted("copy_dram")) {
        char *from = device_zeros<char>(size), *to = device_zeros<char>(size);
        copy_all<<<groups, threads>>>(from, to, size, times);
        micro_result("copy_dram", 2.0 * static_cast<double>(size) / micro_span(times, waves));
    }
    if (wanted("read_lds")) {
        read_lds<false><<<units, 1024>>>(times);
        micro_result("read_lds", units * 1024.0 * 4 * 32 * rounds / micro_span(times, waves));
    }
    if (wanted("read_lds_wide")) {
        read_lds<true><<<units, 1024>>>(times);
        micro_result("read_lds_wide", units * 1024.0 * 16 * 32 * rounds / micro_span(times, waves));
    }
    return pass("micro_bandwidth");
}
