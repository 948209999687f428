// Intrinsics of warps and bits: votes, matches, shuffles with widths, reductions, permutations,
// dot products and packed bytes, each against a loop of the host. Prints PASS or FAIL.
#include <stdio.h>
#include <stdint.h>

struct Results {
    unsigned ballot, any, all, match, matchAll, up, down, wide, reduced, lowest, both;
    unsigned permuted, funnel, reversed, first, leading, dot, packed, bits, difference, mask;
    long long shuffled64;
    double shuffledDouble;
    int high, sad, pred;
    unsigned long long high64;
};

__global__ void collect(const unsigned *in, Results *out)
{
    const unsigned FULL = 0xffffffff;
    int lane = threadIdx.x & 31;
    unsigned v = in[threadIdx.x];
    Results r = {};
    r.ballot = __ballot_sync(FULL, v & 1);
    r.any = __any_sync(FULL, v > 4000000000u);
    r.all = __all_sync(FULL, v != 0);
    r.match = __match_any_sync(FULL, v % 5);
    r.matchAll = __match_all_sync(FULL, lane >= 0, &r.pred);
    r.up = __shfl_up_sync(FULL, v, 3);
    r.down = __shfl_down_sync(FULL, v, 5, 16);
    r.wide = __shfl_sync(FULL, v, lane * 3, 8);
    r.shuffled64 = __shfl_xor_sync(FULL, (long long)v << 20, 9);
    r.shuffledDouble = __shfl_sync(FULL, v * 0.5, 31 - lane);
    r.reduced = __reduce_add_sync(FULL, v & 0xffff);
    r.lowest = __reduce_min_sync(FULL, v);
    r.both = __reduce_xor_sync(FULL, v);
    r.permuted = __byte_perm(v, ~v, 0x2461);
    r.funnel = __funnelshift_l(v, v * 3, lane);
    r.reversed = __brev(v);
    r.first = __ffs(v);
    r.leading = __clz(v) * 100 + __popc(v);
    r.dot = __dp4a(v, 0x01020304u, 7u);
    r.packed = __vadd4(v, 0x10203040u);
    r.bits = __vcmpgtu4(v, 0x80808080u);
    r.difference = __vabsdiffu4(v, 0x55aa55aau);
    r.high = __mulhi((int)v, 1000003);
    r.high64 = __umul64hi((unsigned long long)v << 32 | v, 0x123456789abcdefULL);
    r.sad = __usad(v, 77u, 5u);
    if (lane % 4 == 2)
        r.mask = __activemask();
    out[threadIdx.x] = r;
}

static uint32_t rol(uint32_t low, uint32_t high, int n)
{
    return n ? high << n | low >> (32 - n) : high;
}

static uint8_t byteOf(uint32_t a, uint32_t b, int i)
{
    return (uint8_t)(((uint64_t)b << 32 | a) >> (8 * i));
}

static int wrong = 0;
#define EXPECT(field, value)                                                                       \
    if (got.field != (value) && wrong++ < 10)                                                      \
    printf("thread %d: " #field " is %llx\n", t, (unsigned long long)got.field)

int main()
{
    const int n = 64;
    unsigned h[n], *in;
    Results results[n], *out;
    unsigned state = 12345;
    for (int i = 0; i < n; i++)
        h[i] = (state = state * 1664525u + 1013904223u) ^ i;
    cudaMalloc((void **)&in, sizeof h);
    cudaMalloc((void **)&out, sizeof results);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    collect<<<1, n>>>(in, out);
    if (cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost) != cudaSuccess)
        return printf("FAIL\n"), 1;
    cudaFree(in);
    cudaFree(out);
    for (int t = 0; t < n; t++) {
        const Results &got = results[t];
        const unsigned *w = h + t / 32 * 32, v = h[t];
        int lane = t % 32;
        unsigned ballot = 0, match = 0, sum = 0, low = ~0u, x = 0, any = 0, all = 1;
        for (int i = 0; i < 32; i++) {
            ballot |= (w[i] & 1) << i;
            match |= (unsigned)(w[i] % 5 == v % 5) << i;
            sum += w[i] & 0xffff;
            low = w[i] < low ? w[i] : low;
            x ^= w[i];
            any |= w[i] > 4000000000u;
            all &= w[i] != 0;
        }
        EXPECT(ballot, ballot);
        EXPECT(any, any);
        EXPECT(all, all);
        EXPECT(match, match);
        EXPECT(matchAll, ~0u);
        EXPECT(pred, 1);
        EXPECT(up, w[lane < 3 ? lane : lane - 3]);
        EXPECT(down, w[lane % 16 + 5 < 16 ? lane + 5 : lane]);
        EXPECT(wide, w[lane / 8 * 8 + lane * 3 % 8]);
        EXPECT(shuffled64, (long long)w[lane ^ 9] << 20);
        EXPECT(shuffledDouble, w[31 - lane] * 0.5);
        EXPECT(reduced, sum);
        EXPECT(lowest, low);
        EXPECT(both, x);
        uint32_t perm = 0, packed = 0, bits = 0, diff = 0, dot = 7, rev = 0;
        const int selector[4] = {1, 6, 4, 2};
        for (int i = 0; i < 4; i++) {
            int b = byteOf(v, 0, i), c = byteOf(0x55aa55aau, 0, i);
            perm |= (uint32_t)byteOf(v, ~v, selector[i]) << 8 * i;
            packed |= ((b + byteOf(0x10203040u, 0, i)) & 255u) << 8 * i;
            bits |= (b > 0x80 ? 255u : 0u) << 8 * i;
            diff |= (uint32_t)(b > c ? b - c : c - b) << 8 * i;
            dot += b * byteOf(0x01020304u, 0, i);
        }
        for (int i = 0; i < 32; i++)
            rev |= (v >> i & 1) << (31 - i);
        EXPECT(permuted, perm);
        EXPECT(packed, packed);
        EXPECT(bits, bits);
        EXPECT(difference, diff);
        EXPECT(dot, dot);
        EXPECT(reversed, rev);
        EXPECT(funnel, rol(v, v * 3, lane));
        EXPECT(first, (unsigned)__builtin_ffs((int)v));
        EXPECT(leading, (unsigned)(__builtin_clz(v) * 100 + __builtin_popcount(v)));
        EXPECT(high, (int)(((int64_t)(int)v * 1000003) >> 32));
        unsigned __int128 product =
            (unsigned __int128)((uint64_t)v << 32 | v) * 0x123456789abcdefULL;
        EXPECT(high64, (uint64_t)(product >> 64));
        EXPECT(sad, (int)((v > 77 ? v - 77 : 77 - v) + 5));
        EXPECT(mask, lane % 4 == 2 ? 0x44444444u : 0u);
    }
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
