// Waits that are left out before and behind products of matrices, and where CDNA has rules of its
// own; as cases.hpp says. For gfx90a and gfx942.
#include "cases.hpp"

using Four = float __attribute__((ext_vector_type(4)));

// What the compiler has put around it is far enough away.
#define APART(before, wait, after, ...)                                                            \
    UNLESS("s_nop 7\n" before, wait, after "\ns_nop 7\ns_nop 7", __VA_ARGS__)
#define SUMS "v8", "v9", "v10", "v11"

static __device__ void clear_sums()
{
    asm volatile("v_mov_b32 v8, 0\nv_mov_b32 v9, 0\nv_mov_b32 v10, 0\nv_mov_b32 v11, 0\ns_nop 7"
                 : : : SUMS);
}

// Products of 4x4 matrices take two passes.
template <bool wrong> __global__ void result(int *data, int *, int) // result: wait-states
{
    float one = 1, sum;
    clear_sums();
    APART("v_mfma_f32_4x4x1f32 v[8:11], %1, %1, v[8:11]", "s_nop 4", // result: first
           "v_add_f32 %0, 1.0, v8", : "=&v"(sum) : "v"(one) : SUMS);
    data[threadIdx.x] = static_cast<int>(sum);
}

template <bool wrong> __global__ void stored(int *data, int *, int) // stored: wait-states
{
    float one = 1;
    int *at = data + 4 * threadIdx.x;
    Four out = {};
    APART("v_mfma_f32_4x4x1f32 %0, %1, %1, %0", "s_nop 4", "global_store_dwordx4 %2, %0, off" DONE, // stored: first
           : "+v"(out) : "v"(one), "v"(at) : "memory");
}

template <bool wrong> __global__ void operand(int *data, int *, int) // operand: wait-states
{
    float one = static_cast<float>(data[threadIdx.x]), twice = 0;
    Four out = {};
    APART("v_add_f32 %1, %2, %2", "s_nop 1", "v_mfma_f32_4x4x1f32 %0, %1, %1, %0", // operand: first
           : "+v"(out), "+v"(twice) : "v"(one));
    data[threadIdx.x] = static_cast<int>(out.x);
}

template <bool wrong> __global__ void chain(int *data, int *, int) // chain: wait-states
{
    float one = 1;
    Four out = {};
    clear_sums();
    APART("v_mfma_f32_4x4x1f32 v[8:11], %1, %1, v[8:11]", "s_nop 4", // chain: first
           "v_mfma_f32_4x4x1f32 %0, v8, %1, %0", : "+v"(out) : "v"(one) : SUMS);
    data[threadIdx.x] = static_cast<int>(out.x);
}

template <bool wrong> __global__ void addend(int *data, int *, int) // addend: wait-states
{
    double halves = 1;
    Four out;
    clear_sums();
    APART("v_mfma_f32_4x4x4f16 %0, %1, %1, v[8:11]", "s_nop 0", "v_mov_b32 v8, 2.0", // addend: first
          : "=&v"(out) : "v"(halves) : SUMS);
    data[threadIdx.x] = static_cast<int>(out.x);
}

template <bool wrong> __global__ void doubles(int *data, int *, int) // doubles: wait-states
{
    double one = 1, out = 0, sum;
    APART("v_mfma_f64_4x4x4f64 %1, %2, %2, %1", "s_nop 5", "v_add_f64 %0, %1, 1.0", // doubles: first
           : "=&v"(sum), "+v"(out) : "v"(one));
    data[threadIdx.x] = static_cast<int>(sum);
}

template <bool wrong> __global__ void doubles_stored(int *data, int *, int) // doubles_stored: wait-states
{
    double one = 1, out = 0;
    int *at = data + 2 * threadIdx.x;
    APART("v_mfma_f64_4x4x4f64 %0, %1, %1, %0", "s_nop 7\ns_nop 0", // doubles_stored: first
           "global_store_dwordx2 %2, %0, off" DONE, : "+v"(out) : "v"(one), "v"(at) : "memory");
}

// What a vector instruction leaves in scalar registers.
template <bool wrong> __global__ void base(int *data, int *more, int) // base: wait-states
{
    int offset = static_cast<int>(4 * threadIdx.x), value;
    unsigned low = static_cast<unsigned>(reinterpret_cast<uintptr_t>(more));
    unsigned high = static_cast<unsigned>(reinterpret_cast<uintptr_t>(more) >> 32);
    asm volatile("v_readfirstlane_b32 s40, %0\nv_readfirstlane_b32 s41, %1\ns_nop 7"
                 : : "v"(low), "v"(high) : "s40", "s41");
    APART("v_readfirstlane_b32 s40, %2", "s_nop 4", "global_load_dword %0, %1, s[40:41]" DONE, // base: first
           : "=&v"(value) : "v"(offset), "v"(low) : "s40", "s41", "memory");
    data[threadIdx.x] = value;
}

template <bool wrong> __global__ void lane_number(int *data, int *, int) // lane_number: wait-states
{
    int lane = data[threadIdx.x], value = static_cast<int>(threadIdx.x), number, result;
    APART("v_readfirstlane_b32 %0, %2", "s_nop 3", "v_readlane_b32 %1, %3, %0", // lane_number: first
           : "=&s"(number), "=&s"(result) : "v"(lane), "v"(value));
    data[threadIdx.x] = result;
}

template <bool wrong> __global__ void neighbour(int *data, int *, int) // neighbour: wait-states
{
    int value = data[threadIdx.x], made, result = 0;
    APART("v_mul_lo_u32 %0, %2, 3", "s_nop 1", // neighbour: first
           "v_mov_b32_dpp %1, %0 row_shr:1 row_mask:0xf bank_mask:0xf",
           : "=&v"(made), "+v"(result) : "v"(value));
    data[threadIdx.x] = result;
}

template <bool wrong> __global__ void load(int *data, int *, int) // load: early-read
{
    int *at = data + threadIdx.x, value;
    APART("global_load_dword %0, %1, off", "s_waitcnt vmcnt(0)", "v_add_u32 %0, 1, %0" DONE, // load: first
           : "=&v"(value) : "v"(at) : "memory");
    *at = value;
}

template <bool wrong> __global__ void lds_load(int *data, int *, int) // lds_load: early-read
{
    __shared__ int kept[64];
    int i = static_cast<int>(threadIdx.x), value;
    kept[i] = data[i];
    unsigned at = static_cast<unsigned>(reinterpret_cast<uintptr_t>(&kept[i]));
    APART("ds_read_b32 %0, %1", "s_waitcnt lgkmcnt(0)", "v_add_u32 %0, 1, %0" DONE, // lds_load: first
           : "=&v"(value) : "v"(at) : "memory");
    data[i] = value;
}

#define CASE(name) {#name, name<false>, name<true>, 1, 64, true}

int main(int argc, char **argv)
{
    static const Case cases[] = {CASE(result),         CASE(stored), CASE(operand),
                                 CASE(chain),          CASE(addend), CASE(doubles),
                                 CASE(doubles_stored), CASE(base),   CASE(lane_number),
                                 CASE(neighbour),      CASE(load),   CASE(lds_load)};
    const char *name = argc > 1 ? argv[1] : "";
    bool wrong = argc > 2 && std::strcmp(argv[2], "wrong") == 0;
    return run_case(cases, sizeof cases / sizeof cases[0], name, wrong) ? 0 : 2;
}
