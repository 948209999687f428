// Integer arithmetic of 8 to 64 bits: products, quotients, shifts, bit operations, saturating and packed helpers. Device
// and host run the same source where they can. Arguments: [pairs].
#include "check.hpp"

typedef unsigned long long u64;
typedef long long i64;
enum { results = 34 };

__host__ __device__ static void common(u64 a, u64 b, u64 *out)
{
    i64 sa = static_cast<i64>(a), sb = static_cast<i64>(b);
    uint32_t x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
    int32_t sx = static_cast<int32_t>(x), sy = static_cast<int32_t>(y);
    u64 divisor = b | 1;
    unsigned by = b % 64, by32 = b % 32;
    out[0] = a + b;
    out[1] = a - b;
    out[2] = a * b;
    out[3] = a / divisor;
    out[4] = a % divisor;
    out[5] = static_cast<u64>((sa >> 1) / static_cast<i64>(divisor >> 2 | 1));
    out[6] = static_cast<u64>((sa >> 1) % static_cast<i64>(divisor >> 40 | 1));
    out[7] = a << by;
    out[8] = a >> by;
    out[9] = static_cast<u64>(sa >> by);
    out[10] = x * y;
    out[11] = x / (y | 1);
    out[12] = x % (y | 1);
    out[13] = static_cast<u64>((sx >> 1) / (sy >> 12 | 1));
    out[14] = static_cast<u64>((sx >> 1) % (sy >> 12 | 1));
    out[15] = x << by32;
    out[16] = static_cast<u64>(sx >> by32);
    out[17] = static_cast<u64>(static_cast<u64>(x) * y);
    out[18] = static_cast<u64>(static_cast<i64>(sx) * sy);
    out[19] = (a < b) | (sa < sb) << 1 | (x < y) << 2 | (sx < sy) << 3 | (a == b) << 4;
    out[20] = static_cast<u64>(static_cast<int8_t>(x) * static_cast<int16_t>(y));
    out[21] = (static_cast<uint8_t>(x) + static_cast<uint16_t>(y)) ^ (a & ~b) ^ (a | b);
    out[22] = sa < 0 ? static_cast<u64>(-(sa + 1)) : a;
    out[23] = (x >> by32 | x << (32 - by32) % 32) + (sx > sy ? x : y);
}

__host__ static void host_only(u64 a, u64 b, u64 *out)
{
    uint32_t x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
    uint32_t reversed = 0;
    u64 reversed64 = 0;
    for (int i = 0; i < 64; i++) {
        reversed |= i < 32 && x >> i & 1 ? 1u << (31 - i) : 0;
        reversed64 |= a >> i & 1 ? 1ull << (63 - i) : 0;
    }
    out[24] = static_cast<u64>(static_cast<u64>(x & 0xffffff) * (y & 0xffffff)) & 0xffffffff;
    out[25] = static_cast<uint32_t>((static_cast<int32_t>(x << 8) >> 8) * (static_cast<int32_t>(y << 8) >> 8));
    out[26] = static_cast<u64>(static_cast<u64>(x) * y) >> 32;
    out[27] = static_cast<u64>((static_cast<unsigned __int128>(a) * b) >> 64);
    out[28] = (x ? __builtin_clz(x) : 32) + 100 * (a ? __builtin_clzll(a) : 64);
    out[29] = __builtin_ffs(static_cast<int>(x)) + 100 * __builtin_ffsll(static_cast<i64>(a));
    out[30] = reversed;
    out[31] = reversed64;
    out[32] = __builtin_popcount(x) + 100 * __builtin_popcountll(a);
    out[33] = (x > y ? x - y : y - x) + 1000;
}

__device__ static void device_only(u64 a, u64 b, u64 *out)
{
    unsigned x = static_cast<unsigned>(a), y = static_cast<unsigned>(b);
    out[24] = static_cast<unsigned>(__umul24(x, y));
    out[25] = static_cast<unsigned>(__mul24(static_cast<int>(x), static_cast<int>(y)));
    out[26] = __umulhi(x, y);
    out[27] = __umul64hi(a, b);
    out[28] = __clz(x) + 100 * __clzll(a);
    out[29] = __ffs(x) + 100 * __ffsll(a);
    out[30] = __brev(x);
    out[31] = __brevll(a);
    out[32] = __popc(x) + 100 * __popcll(a);
    out[33] = __usad(x, y, 1000);
}

__global__ void compute(const u64 *a, const u64 *b, u64 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        common(a[i], b[i], out + results * i);
        device_only(a[i], b[i], out + results * i);
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 300);
    static const u64 edges[] = {0, 1, 2, ~0ull, 1ull << 63, (1ull << 63) - 1, 1ull << 32, 0xffffffff, 0x80000000};
    constexpr int edge_count = sizeof edges / sizeof edges[0];
    random_source random;
    std::vector<u64> a(n), b(n), out(results * n), want(results * n);
    for (int i = 0; i < n; i++) {
        a[i] = (static_cast<u64>(random.next()) << 32 | random.next()) >> random.next() % 64;
        b[i] = (static_cast<u64>(random.next()) << 32 | random.next()) >> random.next() % 64;
        if (i < edge_count * edge_count) {
            a[i] = edges[i / edge_count];
            b[i] = edges[i % edge_count];
        }
        common(a[i], b[i], &want[results * i]);
        host_only(a[i], b[i], &want[results * i]);
    }
    u64 *da = to_device(a), *db = to_device(b), *dout = device_zeros<u64>(out.size());
    compute<<<blocks_for(n, 64), 64>>>(da, db, dout, n);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    return same_or_report("integers", out, want) ? pass("integers") : 1;
}
