// Waits that are left out, barriers in divergent code, stacks that overflow; as cases.hpp says. A
// wait is a part of the assembly, so both instructions stand at its line. Barriers are the built-in
// function, whose line is that of the call.
#include "cases.hpp"

template <bool wrong> __global__ void load(int *data, int *, int) // load: early-read
{
    int *at = data + threadIdx.x, value;
    UNLESS("flat_load_dword %0, %1", "s_waitcnt vmcnt(0)", "v_add_u32 %0, vcc, 1, %0" DONE, // load: first
           : "=&v"(value) : "v"(at) : "vcc", "memory");
    *at = value;
}

template <bool wrong> __global__ void scalar_load(int *data, int *, int) // scalar_load: early-read
{
    int value;
    UNLESS("s_load_dword %0, %1, 0x0", "s_waitcnt lgkmcnt(0)", "s_add_i32 %0, %0, 1" DONE, // scalar_load: first
           : "=&s"(value) : "s"(data) : "scc", "memory");
    data[threadIdx.x] = value;
}

template <bool wrong> __global__ void second_load(int *data, int *more, int) // second_load: early-read
{
    int *at = data + threadIdx.x, *next = more + threadIdx.x, first, second;
    UNLESS("flat_load_dword %0, %2\nflat_load_dword %1, %3\ns_waitcnt vmcnt(2)", // second_load: first
           "s_waitcnt vmcnt(1)", "v_add_u32 %0, vcc, 1, %0" DONE,
           : "=&v"(first), "=&v"(second) : "v"(at), "v"(next) : "vcc", "memory");
    *at = first + second;
}

template <bool wrong> __global__ void overwritten(int *data, int *, int) // overwritten: early-write
{
    int *at = data + threadIdx.x, value;
    UNLESS("flat_load_dword %0, %1", "s_waitcnt vmcnt(0)", "v_mov_b32 %0, 7" DONE, // overwritten: first
           : "=&v"(value) : "v"(at) : "memory");
    *at = value;
}

template <bool wrong> __global__ void lds_store(int *data, int *, int) // lds_store: early-barrier
{
    __shared__ int kept[128];
    int i = static_cast<int>(threadIdx.x), value = data[i];
    unsigned at = static_cast<unsigned>(reinterpret_cast<uintptr_t>(&kept[i]));
    UNLESS("s_mov_b32 m0, -1\nds_write_b32 %0, %1", "s_waitcnt lgkmcnt(0)", "s_barrier" DONE, // lds_store: first
           : : "v"(at), "v"(value) : "memory");
    data[i] = kept[127 - i];
}

template <bool wrong> __global__ void lane_number(int *data, int *, int) // lane_number: wait-states
{
    int lane = data[threadIdx.x], value = static_cast<int>(threadIdx.x), number, result;
    UNLESS("v_readfirstlane_b32 %0, %2", "s_nop 3", "v_readlane_b32 %1, %3, %0", // lane_number: first
           : "=&s"(number), "=&s"(result) : "v"(lane), "v"(value));
    data[threadIdx.x] = result;
}

template <bool wrong> __global__ void neighbour(int *data, int *, int) // neighbour: wait-states
{
    int value = data[threadIdx.x], made, result = 0;
    UNLESS("v_mul_lo_u32 %0, %2, 3", "s_nop 1", // neighbour: first
           "v_mov_b32_dpp %1, %0 row_shr:1 row_mask:0xf bank_mask:0xf",
           : "=&v"(made), "+v"(result) : "v"(value));
    data[threadIdx.x] = result;
}

template <bool wrong> __global__ void wide_store(int *data, int *, int) // wide_store: wait-states
{
    int *at = data + 4 * threadIdx.x;
    asm volatile("v_mov_b32 v8, 1\nv_mov_b32 v9, 2\nv_mov_b32 v10, 3\nv_mov_b32 v11, 4"
                 : : : "v8", "v9", "v10", "v11");
    UNLESS("flat_store_dwordx4 %0, v[8:11]", "s_nop 0", "v_mov_b32 v10, 7" DONE, // wide_store: first
           : : "v"(at) : "v8", "v9", "v10", "v11", "memory");
}

template <bool wrong> __global__ void mode_register(int *data, int *, int) // mode_register: wait-states
{
    int mode, bits = 3;
    UNLESS("s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), %1", "s_nop 1", // mode_register: first
           "s_getreg_b32 %0, hwreg(HW_REG_MODE)", : "=s"(mode) : "s"(bits));
    data[threadIdx.x] = mode;
}

template <bool wrong> __global__ void lanes(int *data, int *, int) // lanes: divergent-barrier
{
    __shared__ int kept[64];
    int i = static_cast<int>(threadIdx.x);
    kept[i] = data[i];
    if (!wrong || i < 32) {
        __builtin_amdgcn_s_barrier(); // lanes: first
    }
    data[i] = kept[63 - i]; // lanes: second
}

template <bool wrong> __global__ void branches(int *data, int *, int) // branches: different-barriers
{
    int i = static_cast<int>(threadIdx.x), other = data[i];
    if (i < 64) {
        data[i] = other + 1;
        if (wrong) {
            __builtin_amdgcn_s_barrier(); // branches: first
        }
    } else {
        atomicAdd(&data[i], other);
        if (wrong) {
            __builtin_amdgcn_s_barrier(); // branches: second
        }
        other *= 3;
    }
    if (!wrong) {
        __syncthreads();
    }
    data[i] += other;
}

template <bool wrong> __global__ void skipped(int *data, int *more, int) // skipped: skipped-barrier
{
    int i = static_cast<int>(threadIdx.x);
    if (wrong ? i < 64 : true) {
        __builtin_amdgcn_s_barrier(); // skipped: first
    } else {
        more[i] = i;
    }
    data[i] = i; // skipped: second
}

// Work-items behind the end may return before a barrier; `wrong` is no mistake here.
template <bool wrong> __global__ void returned(int *data, int *, int)
{
    __shared__ int kept[256];
    int i = static_cast<int>(threadIdx.x);
    kept[i] = data[i];
    if (wrong && i >= 96) {
        return;
    }
    __syncthreads();
    data[i] = kept[i ^ 32];
}

__device__ __attribute__((noinline)) int depth(int n, volatile int *data)
{ // stack: first
    volatile int kept[64];
    kept[n & 63] = n;
    return n == 0 ? data[0] : depth(n - 1, data) + kept[n & 63];
}

template <bool wrong> __global__ void stack(int *data, int *, int) // stack: stack-overflow
{
    data[threadIdx.x] = depth(threadIdx.x < 64 && wrong ? 70 : 3, data + 512);
}

#define CASE(name, block) {#name, name<false>, name<true>, 1, block, true}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        CASE(load, 64),       CASE(scalar_load, 64), CASE(second_load, 64),  CASE(overwritten, 64),
        CASE(lds_store, 128), CASE(lane_number, 64), CASE(neighbour, 64),    CASE(wide_store, 64),
        CASE(lanes, 64),      CASE(branches, 256),   CASE(mode_register, 64), CASE(skipped, 256),
        CASE(returned, 256),  CASE(stack, 128)};
    const char *name = argc > 1 ? argv[1] : "";
    bool wrong = argc > 2 && std::strcmp(argv[2], "wrong") == 0;
    return run_case(cases, sizeof cases / sizeof cases[0], name, wrong) ? 0 : 2;
}
