// Accesses to private memory that are not aligned stay within their work-item. Arguments: none.
#include "check.hpp"

constexpr int items = 128, bytes = 48;
typedef uint32_t quad __attribute__((ext_vector_type(4)));

__device__ void move_words(volatile uint8_t *to, volatile uint8_t *from)
{
    uint32_t half, one;
    uint64_t two;
    quad four;
    asm volatile("flat_load_ushort %0, %4\n\tflat_load_dword %1, %5\n\t"
                 "flat_load_dwordx2 %2, %6\n\tflat_load_dwordx4 %3, %7\n\t"
                 "s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=&v"(half), "=&v"(one), "=&v"(two), "=&v"(four)
                 : "v"(from), "v"(from + 2), "v"(from + 6), "v"(from + 14)
                 : "memory");
    asm volatile("flat_store_short %4, %0\n\tflat_store_dword %5, %1\n\t"
                 "flat_store_dwordx2 %6, %2\n\tflat_store_dwordx4 %7, %3\n\t"
                 "s_waitcnt vmcnt(0) lgkmcnt(0)"
                 :
                 : "v"(half), "v"(one), "v"(two), "v"(four), "v"(to + 28), "v"(to + 24),
                   "v"(to + 16), "v"(to)
                 : "memory");
}

__global__ void shift(const uint8_t *in, uint8_t *out)
{
    int item = blockIdx.x * blockDim.x + threadIdx.x;
    volatile uint8_t from[bytes], to[bytes];
    for (int i = 0; i < bytes; i++) {
        from[i] = in[item * bytes + i];
        to[i] = 0;
    }
    move_words(to + item / 4 % 16, from + item % 16);
    for (int i = 0; i < bytes; i++) {
        out[item * bytes + i] = to[i];
    }
}

int main()
{
    random_source random;
    std::vector<uint8_t> in(items * bytes), out(items * bytes), want(items * bytes);
    for (uint8_t &byte : in) {
        byte = static_cast<uint8_t>(random.next() >> 8);
    }
    for (int item = 0; item < items; item++) {
        uint8_t *to = &want[item * bytes + item / 4 % 16];
        const uint8_t *from = &in[item * bytes + item % 16];
        std::copy_n(from, 2, to + 28);
        std::copy_n(from + 2, 4, to + 24);
        std::copy_n(from + 6, 8, to + 16);
        std::copy_n(from + 14, 16, to);
    }
    uint8_t *device_in = to_device(in), *device_out = to_device(out);
    shift<<<items / 64, 64>>>(device_in, device_out);
    HIP_MUST(hipGetLastError());
    from_device(out, device_out);
    return same_or_report("unaligned_scratch", out, want) ? pass("unaligned_scratch") : 1;
}
