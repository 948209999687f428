"""A CUDA program of products of four warps (wgmma), written for a list of cases: the host lays the
matrices out in shared memory as the manual draws it, and compares with a product in plain C."""

# type of D, of A and B; bytes of an element of A and B; how D and they are made of an int
TYPES = {"f16": ("f32.f16.f16", 2, "half_bits"), "bf16": ("f32.bf16.bf16", 2, "bfloat_bits"),
         "half": ("f16.f16.f16", 2, "half_bits"), "tf32": ("f32.tf32.tf32", 4, "float_bits"),
         "e4m3": ("f32.e4m3.e4m3", 1, "e4m3_bits"), "s8": ("s32.s8.s8", 1, "int_bits")}
SWIZZLES = {0: 0, 128: 1, 64: 2, 32: 3}  # bytes, and what a descriptor says

HEAD = r"""
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static uint32_t float_bits(int v) { float f = v; uint32_t b; memcpy(&b, &f, 4); return b; }
static uint32_t int_bits(int v) { return (uint32_t)v; }
static uint32_t bfloat_bits(int v) { return float_bits(v) >> 16; }
static uint32_t small(int v, int mantissa, int bias)
{
    if (!v)
        return 0;
    uint32_t b = float_bits(v);
    return (b >> 31) << (mantissa == 10 ? 15 : 7)
           | ((b >> 23 & 255) - 127 + bias) << mantissa
           | (b >> (23 - mantissa) & ((1 << mantissa) - 1));
}
static uint32_t half_bits(int v) { return small(v, 10, 15); }
static uint32_t e4m3_bits(int v) { return small(v, 3, 7); }

// Byte `k` of row `r` (of M or N), K contiguous: rows of 128, 64 or 32 bytes whose pieces of 16
// bytes change places; or core matrices of 8 rows of 16 bytes, here one behind the other along K.
static uint32_t place_k(int swizzle, int r, int k)
{
    if (!swizzle)
        return r / 8 * 512 + k / 16 * 128 + r % 8 * 16 + k % 16;
    int row = swizzle == 128 ? r % 8 : swizzle == 64 ? r / 2 % 4 : r / 4 % 2;
    return r * swizzle + ((k / 16) ^ row) * 16 + k % 16;
}

// Element (r, k) of 2 bytes, M or N contiguous: for each k as many rows as the swizzle has room.
static uint32_t place_mn(int swizzle, int r, int k)
{
    if (!swizzle)
        return k / 8 * 4096 + r / 8 * 128 + k % 8 * 16 + r % 8 * 2;
    int across = swizzle / 2, piece = r % across / 8;
    int turn = swizzle == 128 ? k % 8 : swizzle == 64 ? k / 2 % 4 : k / 4 % 2;
    return r / across * 16 * swizzle + k * swizzle + (piece ^ turn) * 16 + r % 8 * 2;
}

static const int A_AT = 0, B_AT = 16384, SHARED = 49152;

__device__ void stage(unsigned char *shared, const unsigned char *image)
{
    for (int i = 16 * threadIdx.x; i < SHARED; i += 16 * blockDim.x)
        *(uint4 *)&shared[i] = *(const uint4 *)&image[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}
"""

TAIL = r"""
int main(int count, char **words)
{
    int bad = 0, times = count > 1 ? atoi(words[1]) : 1, only = count > 2 ? atoi(words[2]) : -1;
CHECKS
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
"""


def descriptor(swizzle, across):
    """All but the address: leading and stride offsets, and the swizzle."""
    if across:
        leading, stride = (4096, 128) if not swizzle else (16 * swizzle, 8 * swizzle)
    else:
        leading, stride = (128, 512) if not swizzle else (0, 8 * swizzle)
    return SWIZZLES[swizzle] << 62 | stride >> 4 << 32 | leading >> 4 << 16


def kernel(number, case):
    n, kind, swizzle_a, swizzle_b, across_a, across_b, held, sign = case
    types, size, _ = TYPES[kind]
    d, k = n // (4 if kind == "half" else 2), 32 // size
    halves = size == 2
    registers = ", ".join(f"d{i}" for i in range(d))
    word = "s32" if kind == "s8" else "b32" if kind == "half" else "f32"
    loads = "".join(f"ld.global.{word} d{i}, [%0+{4 * i}];\\n" for i in range(d))
    stores = "".join(f"st.global.{word} [%0+{4 * i}], d{i};\\n" for i in range(d))
    a = "{a0, a1, a2, a3}" if held else "%1"
    loads += "".join(f"ld.global.b32 a{i}, [%5+{4 * i}];\\n" for i in range(4)) if held else ""
    tail = "" if kind == "s8" else f", {sign}, 1"
    if halves:
        tail += f", {across_b:d}" if held else f", {across_a:d}, {across_b:d}"
    return f"""
__global__ void product{number}(const unsigned char *image, void *d, int times, int adds,
                                const void *a)
{{
    extern __shared__ __align__(1024) unsigned char shared[];
    stage(shared, image);
    uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);
    uint64_t left = {descriptor(swizzle_a, across_a)}ull | (base + A_AT) >> 4,
             right = {descriptor(swizzle_b, across_b)}ull | (base + B_AT) >> 4;
    asm volatile("{{ .reg .{word} d<{d}>; .reg .b32 a<4>, n; .reg .pred p, q;\\n{loads}"
                 "setp.ne.s32 p, %4, 0;\\nmov.b32 n, %3;\\nwgmma.fence.sync.aligned;\\n"
                 "L: wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types}\\n"
                 " {{{registers}}}, {a}, %2, p{tail};\\n"
                 "sub.s32 n, n, 1;\\nsetp.gt.s32 q, n, 0;\\n@q bra L;\\n"
                 "wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;\\n{stores}}}"
                 :: "l"((char *)d + threadIdx.x * {4 * d}), "l"(left), "l"(right), "r"(times),
                 "r"(adds), "l"((const char *)a + threadIdx.x * 16) : "memory");
    if (threadIdx.x < 32) // behind its wait a warp may write: the products of all four are over
        for (int i = threadIdx.x; i < SHARED / 4; i += 32)
            ((volatile unsigned *)shared)[i] = 0x7f7f7f7f;
}}
"""


def check(number, case):
    n, kind, swizzle_a, swizzle_b, across_a, across_b, held, sign = case
    _, size, bits = TYPES[kind]
    k, half = 32 // size, kind == "half"
    places = [f"place_mn({s}, r, k)" if across else f"place_k({s}, r, k * {size})"
              for s, across in ((swizzle_a, across_a), (swizzle_b, across_b))]
    d_bits = {"half": "half_bits", "s8": "int_bits"}.get(kind, "float_bits")
    return f"""
    if (only < 0 || only == {number}) {{
        const int N = {n}, K = {k}, D = N / {4 if half else 2};
        std::vector<unsigned char> image(SHARED);
        std::vector<int> a(64 * K), b(N * K);
        std::vector<uint32_t> d(128 * D), held(128 * 4);
        for (int r = 0; r < 64; r++)
            for (int k = 0; k < K; k++) {{
                uint32_t bits = {bits}(a[r * K + k] = (r * 7 + k * 5 + 3) % 9 - 4);
                memcpy(&image[A_AT + {places[0]}], &bits, {size});
                int pair = {4 // size}, reg = r % 16 / 8 + k / (4 * pair) * 2;
                int lane = r / 16 * 32 + r % 8 * 4 + k / pair % 4;
                held[lane * 4 + reg] |= bits << k % pair * {8 * size};
            }}
        for (int r = 0; r < N; r++)
            for (int k = 0; k < K; k++) {{
                uint32_t bits = {bits}(b[r * K + k] = (r * 3 + k * 11 + 1) % 7 - 3);
                memcpy(&image[B_AT + {places[1]}], &bits, {size});
            }}
        for (int adds = 0; adds < 2; adds++) {{
            auto at = [&](int m, int n) {{ // 32-bit word and part of it of an element of D
                int lane = m / 16 * 32 + m % 8 * 4 + n % 8 / 2;
                int s = n / 8 * 4 + m % 16 / 8 * 2 + n % 2;
                return 2 * (lane * D + (D < N / 2 ? s / 2 : s)) + (D < N / 2 ? s % 2 : 0);
            }};
            for (auto &w : d)
                w = 0;
            for (int m = 0; m < 64; m++)
                for (int n = 0; n < N; n++)
                    d[at(m, n) / 2] |= {d_bits}(m - n % 16) << 16 * (at(m, n) % 2);
            unsigned char *image_d;
            uint32_t *d_d, *held_d;
            cudaMalloc(&image_d, SHARED);
            cudaMalloc(&d_d, d.size() * 4);
            cudaMalloc(&held_d, held.size() * 4);
            cudaMemcpy(image_d, image.data(), SHARED, cudaMemcpyHostToDevice);
            cudaMemcpy(d_d, d.data(), d.size() * 4, cudaMemcpyHostToDevice);
            cudaMemcpy(held_d, held.data(), held.size() * 4, cudaMemcpyHostToDevice);
            cudaFuncSetAttribute(product{number}, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 SHARED);
            product{number}<<<1, 128, SHARED>>>(image_d, d_d, times, adds, held_d);
            bad += cudaDeviceSynchronize() != cudaSuccess;
            cudaMemcpy(d.data(), d_d, d.size() * 4, cudaMemcpyDeviceToHost);
            int wrong = 0;
            for (int m = 0; m < 64; m++)
                for (int n = 0; n < N; n++) {{
                    int sum = 0;
                    for (int k = 0; k < K; k++)
                        sum += a[m * K + k] * b[n * K + k];
                    sum = {sign} * sum * (adds ? times : 1) + (adds ? m - n % 16 : 0);
                    uint32_t got = d[at(m, n) / 2] >> 16 * (at(m, n) % 2);
                    wrong += {"(got & 0xffff)" if half else "got"} != {d_bits}(sum);
                }}
            if (wrong)
                std::printf("case {number} {kind} n{n}: %d wrong\\n", wrong);
            bad += wrong;
        }}
    }}"""


def source(cases):
    """A program that is called with how often a product is made, and the number of a case: all."""
    return HEAD + "".join(kernel(i, c) for i, c in enumerate(cases)) + TAIL.replace(
        "CHECKS", "".join(check(i, c) for i, c in enumerate(cases)))
