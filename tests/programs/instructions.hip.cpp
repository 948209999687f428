// Instructions that compilers emit seldom, or assembler alone, against what the host computes: dynamically indexed arrays in
// registers, the branch stack, skipped vector instructions, typed buffers, transfers between memory and LDS, elements that reach
// beyond a buffer, operands in LDS, and on gfx9 scalar atomics, scratch and dot products that saturate.
#include "check.hpp"

typedef unsigned words4 __attribute__((ext_vector_type(4)));
typedef unsigned words2 __attribute__((ext_vector_type(2)));
typedef float floats4 __attribute__((ext_vector_type(4)));

#define EXPECT(condition, ...)                                                                         \
    do {                                                                                               \
        if (!(condition)) {                                                                            \
            std::printf("FAIL instructions: line %d: %s: ", __LINE__, #condition);                     \
            std::printf(__VA_ARGS__);                                                                  \
            std::printf("\n");                                                                         \
            std::exit(1);                                                                              \
        }                                                                                              \
    } while (0)

// A buffer resource of `bytes` without stride; data format 32, number format `number`, components as they are.
__device__ words4 buffer_of(const void *base, unsigned bytes, unsigned data = 4, unsigned number = 4)
{
    uint64_t address = reinterpret_cast<uint64_t>(base);
    unsigned low = __builtin_amdgcn_readfirstlane(static_cast<unsigned>(address));
    unsigned high = __builtin_amdgcn_readfirstlane(static_cast<unsigned>(address >> 32));
    return words4{low, high & 0xffff, bytes, 4u | 5u << 3 | 6u << 6 | 7u << 9 | number << 12 | data << 15};
}

__device__ unsigned lds_offset(const void *shared)
{
    return static_cast<unsigned>(reinterpret_cast<uint64_t>(shared));
}

// Lanes index an array of their own: by a value that all share, and by one of each lane's.
__global__ void indexed(const unsigned *in, unsigned *out, unsigned same)
{
    unsigned lane = threadIdx.x, a[12];
#pragma unroll
    for (unsigned i = 0; i < 12; i++)
        a[i] = in[i] * (lane + 1);
    a[same % 12] += 1000;
    a[in[lane] % 12] ^= 0x5555;
    unsigned sum = a[(same + 3) % 12] + 3 * a[(lane * 5) % 12];
#pragma unroll
    for (unsigned i = 0; i < 12; i++)
        sum = sum * 31 + a[i];
    out[lane] = sum;
}

static void check_indexed()
{
    std::vector<unsigned> in(64), out(64);
    random_source random;
    for (unsigned &x : in)
        x = random.next();
    unsigned *device_in = to_device(in), *device_out = device_zeros<unsigned>(64);
    for (unsigned same = 0; same < 12; same += 5) {
        indexed<<<1, 64>>>(device_in, device_out, same);
        from_device(out, device_out);
        for (unsigned lane = 0; lane < 64; lane++) {
            unsigned a[12];
            for (unsigned i = 0; i < 12; i++)
                a[i] = in[i] * (lane + 1);
            a[same % 12] += 1000;
            a[in[lane] % 12] ^= 0x5555;
            unsigned sum = a[(same + 3) % 12] + 3 * a[(lane * 5) % 12];
            for (unsigned i = 0; i < 12; i++)
                sum = sum * 31 + a[i];
            EXPECT(out[lane] == sum, "lane %u, index %u: %x, not %x", lane, same, out[lane], sum);
        }
    }
}

// Lanes below `limit` take one path, the others another; then both meet. What is skipped changes nothing.
__global__ void paths(unsigned *out, unsigned limit)
{
    unsigned lane = threadIdx.x, value = 3, skipped = 5;
    uint64_t condition = __builtin_amdgcn_uicmp(lane, limit, 36 /* below */);
    asm volatile("s_mov_b64 s[8:9], exec\n s_mov_b64 s[6:7], %1\n"
                 "s_cbranch_i_fork s[6:7], 1f\n"
                 "v_xor_b32 %0, 0x70, %0\n"
                 "s_branch 2f\n"
                 "1: v_lshlrev_b32 %0, 2, %0\n"
                 "2: s_mov_b32 s5, 0\n s_cbranch_join s5\n"
                 "s_mov_b64 exec, s[8:9]\n"
                 : "+v"(value)
                 : "s"(condition)
                 : "s0", "s1", "s2", "s3", "s5", "s6", "s7", "s8", "s9");
    asm volatile("s_setvskip -1, 0\n s_nop 4\n v_mov_b32 %0, 9\n s_setvskip 0, 0\n s_nop 4\n" : "+v"(skipped));
    out[lane] = value | skipped << 16;
}

static void check_paths()
{
    std::vector<unsigned> out(64);
    unsigned *device_out = device_zeros<unsigned>(64);
    for (unsigned limit : {0u, 10u, 32u, 50u, 64u}) {
        paths<<<1, 64>>>(device_out, limit);
        from_device(out, device_out);
        for (unsigned lane = 0; lane < 64; lane++)
            EXPECT(out[lane] == ((lane < limit ? 12 : 0x73) | 5 << 16), "lane %u of %u: %x", lane, limit, out[lane]);
    }
}

// Memory to LDS and back, each lane's dword in the place of another; bytes are extended; outside is 0.
__global__ void transfers(const unsigned *in, unsigned *out, unsigned *back)
{
    __shared__ unsigned words[64], bytes[64];
    unsigned lane = threadIdx.x, offset = (63 - lane) * 4;
    words4 from = buffer_of(in, 60 * 4), to = buffer_of(back, 256, 0);
    to[1] |= 4 << 16, to[3] |= 1 << 23; // each lane has its own record of 4 bytes
    words[lane] = bytes[lane] = 77;
    __syncthreads();
    asm volatile("s_mov_b32 m0, %2\n s_nop 0\n buffer_load_dword %0, %1, 0 offen lds\n"
                 "s_mov_b32 m0, %3\n s_nop 0\n buffer_load_sbyte %0, %1, 0 offen lds\n"
                 "s_waitcnt vmcnt(0)\n s_mov_b32 m0, -1\n" ::"v"(offset),
                 "s"(from), "s"(lds_offset(words)), "s"(lds_offset(bytes))
                 : "memory");
    __syncthreads();
    out[lane] = words[lane];
    out[64 + lane] = bytes[lane];
    asm volatile("s_mov_b32 m0, %1\n s_nop 0\n buffer_store_lds_dword %0, 0 lds\n"
                 "s_waitcnt vmcnt(0)\n s_mov_b32 m0, -1\n" ::"s"(to), "s"(lds_offset(words))
                 : "memory");
}

static void check_transfers()
{
    std::vector<unsigned> in(64), out(128), back(64);
    random_source random;
    for (unsigned &x : in)
        x = random.next();
    unsigned *device_out = device_zeros<unsigned>(128), *device_back = device_zeros<unsigned>(64);
    transfers<<<1, 64>>>(to_device(in), device_out, device_back);
    from_device(out, device_out);
    from_device(back, device_back);
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned word = lane < 4 ? 0 : in[63 - lane];
        unsigned byte = static_cast<unsigned>(static_cast<int8_t>(word));
        EXPECT(out[lane] == word && out[64 + lane] == byte, "lane %u: %x, %x", lane, out[lane], out[64 + lane]);
        EXPECT(back[lane] == word, "lane %u: %x", lane, back[lane]);
    }
}

// Pixels of four bytes to floats, halved, and back; elements that reach beyond the buffer; a status register.
__global__ void typed(const unsigned *in, unsigned *pixels, words4 *straddled, words2 *status)
{
    unsigned lane = threadIdx.x, offset = lane * 4, wide = lane * 16;
    words4 from = buffer_of(in, 256, 10, 0), to = buffer_of(pixels, 256), narrow = buffer_of(in, 256 - 8);
    floats4 color, again;
    words4 whole;
    unsigned word, state;
    asm volatile("buffer_load_format_xyzw %0, %2, %3, 0 offen\n"
                 "tbuffer_load_format_xyzw %1, %2, %3, 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM] offen\n"
                 "s_waitcnt vmcnt(0)\n"
                 : "=&v"(color), "=&v"(again)
                 : "v"(offset), "s"(from));
    color = (color + again) * 0.25f;
    asm volatile("tbuffer_store_format_xyzw %0, %1, %2, 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM] offen\n"
                 "s_waitcnt vmcnt(0)\n" ::"v"(color),
                 "v"(offset), "s"(to)
                 : "memory");
    asm volatile("v_mov_b32 v40, 1\n v_mov_b32 v41, 1\n buffer_load_dwordx4 %0, %3, %4, 0 offen\n"
                 "buffer_load_dword v40, %5, %4, 0 offen tfe\n s_waitcnt vmcnt(0)\n"
                 "v_mov_b32 %1, v40\n v_mov_b32 %2, v41\n"
                 : "=&v"(whole), "=&v"(word), "=&v"(state)
                 : "v"(wide), "s"(narrow), "v"(offset)
                 : "v40", "v41");
    straddled[lane] = whole;
    status[lane] = words2{word, state};
}

static void check_typed()
{
    std::vector<unsigned> in(64), pixels(64);
    std::vector<words4> straddled(64);
    std::vector<words2> status(64);
    random_source random;
    for (unsigned &x : in)
        x = random.next();
    unsigned *device_pixels = device_zeros<unsigned>(64);
    words4 *device_straddled = device_zeros<words4>(64);
    words2 *device_status = device_zeros<words2>(64);
    typed<<<1, 64>>>(to_device(in), device_pixels, device_straddled, device_status);
    from_device(pixels, device_pixels);
    from_device(straddled, device_straddled);
    from_device(status, device_status);
    for (unsigned lane = 0; lane < 64; lane++) {
        for (unsigned i = 0; i < 4; i++) {
            double half = (in[lane] >> 8 * i & 255) / 2.0;
            unsigned byte = pixels[lane] >> 8 * i & 255, word = lane * 4 + i;
            EXPECT(byte >= half - 0.5 && byte <= half + 0.5, "lane %u: %u of %g", lane, byte, half);
            EXPECT(straddled[lane][i] == (word < 62 ? in[word] : 0), "lane %u, dword %u: %x", lane, i,
                   straddled[lane][i]);
        }
        EXPECT(status[lane][0] == (lane < 62 ? in[lane] : 0) && status[lane][1] == 0, "lane %u: %x, %x", lane,
               status[lane][0], status[lane][1]);
    }
}

// Both operands in LDS: lane l adds what stands 64 dwords behind its own.
__global__ void inside(unsigned *out)
{
    __shared__ unsigned words[128];
    unsigned lane = threadIdx.x, place = lds_offset(words) + lane * 4;
    words[lane] = lane;
    words[64 + lane] = 1000 * lane;
    __syncthreads();
    asm volatile("s_mov_b32 m0, -1\n ds_add_src2_u32 %0 offset:64\n s_waitcnt lgkmcnt(0)\n" ::"v"(place) : "memory");
    __syncthreads();
    out[lane] = words[lane];
}

static void check_inside()
{
    std::vector<unsigned> out(64);
    unsigned *device_out = device_zeros<unsigned>(64);
    inside<<<1, 64>>>(device_out);
    from_device(out, device_out);
    for (unsigned lane = 0; lane < 64; lane++)
        EXPECT(out[lane] == 1001 * lane, "lane %u: %u", lane, out[lane]);
}

// Each wavefront counts, keeps the largest number, exchanges two words if they are as expected, and passes a word by scratch.
__global__ void scalars(unsigned *out, unsigned *seen)
{
#if defined(__gfx906__)
    unsigned group = blockIdx.x, one = 1, largest = group, largest_before = 7, through = 0;
    uint64_t pair[2] = {group, 0};
    words4 buffer = buffer_of(out, 8);
    asm volatile("s_atomic_add %0, %5, 0x0 glc\n s_buffer_atomic_umax %1, %6, 0x4\n"
                 "s_buffer_atomic_umax %2, %6, 0x8 glc\n"
                 "s_scratch_store_dword %1, %5, %7\n s_waitcnt lgkmcnt(0)\n s_dcache_wb\n s_dcache_inv\n"
                 "s_scratch_load_dword %3, %5, %7\n s_atc_probe 1, %5, 0x40\n s_waitcnt lgkmcnt(0)\n"
                 : "+&s"(one), "+&s"(largest), "+&s"(largest_before), "+&s"(through), "+s"(pair[0])
                 : "s"(out), "s"(buffer), "s"(4 + group) // in units of 64 bytes
                 : "memory");
    seen[group * 4] = one;
    seen[group * 4 + 1] = largest_before;
    seen[group * 4 + 2] = through;
    seen[group * 4 + 3] = __builtin_amdgcn_sdot4(0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff - 3, true);
#endif
}

static void check_scalars()
{
    enum { GROUPS = 24 };
    hipDeviceProp_t device;
    HIP_MUST(hipGetDeviceProperties(&device, 0));
    if (std::strncmp(device.gcnArchName, "gfx906", 6))
        return;
    std::vector<unsigned> out(1024), seen(GROUPS * 4);
    unsigned *device_out = device_zeros<unsigned>(1024), *device_seen = device_zeros<unsigned>(GROUPS * 4);
    scalars<<<GROUPS, 64>>>(device_out, device_seen);
    from_device(out, device_out);
    from_device(seen, device_seen);
    EXPECT(out[0] == GROUPS && out[1] == GROUPS - 1 && out[2] == 0, "%u, %u, %u", out[0], out[1], out[2]);
    uint64_t numbers = 0;
    for (unsigned group = 0; group < GROUPS; group++) {
        numbers |= uint64_t(1) << seen[group * 4];
        EXPECT(seen[group * 4 + 1] == 0, "outside of the buffer: %u", seen[group * 4 + 1]);
        EXPECT(seen[group * 4 + 2] == group && out[(4 + group) * 16] == group, "scratch of %u", group);
        EXPECT(seen[group * 4 + 3] == 0x7fffffff, "dot product: %x", seen[group * 4 + 3]);
    }
    EXPECT(numbers == (uint64_t(1) << GROUPS) - 1, "numbers %llx", static_cast<unsigned long long>(numbers));
}

int main()
{
    check_indexed();
    check_paths();
    check_transfers();
    check_typed();
    check_inside();
    check_scalars();
    return pass("instructions");
}
