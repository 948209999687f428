// Inline PTX as libraries write it: special registers, wide multiplication with carries, bit
// fields, lop3, predicated code with labels, vector loads with cache hints, barriers and
// saturation. Prints PASS or FAIL.
#include <cstdint>
#include <cmath>
#include <cstdio>

__device__ __forceinline__ uint32_t laneId()
{
    uint32_t id;
    asm("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}
__device__ __forceinline__ uint32_t lanesBelow()
{
    uint32_t mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}
__device__ __forceinline__ uint32_t bfe(uint32_t v, uint32_t at, uint32_t bits)
{
    uint32_t r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(at), "r"(bits));
    return r;
}
__device__ __forceinline__ uint32_t bfi(uint32_t from, uint32_t into, uint32_t at, uint32_t bits)
{
    uint32_t r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(from), "r"(into), "r"(at), "r"(bits));
    return r;
}
template <int TABLE> __device__ __forceinline__ uint32_t lop3(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "n"(TABLE));
    return r;
}

// 128-bit sum and product of 64 bits, in words of 32.
__device__ void wide(uint32_t (&r)[4], uint64_t a, uint64_t b)
{
    uint32_t a0 = (uint32_t)a, a1 = (uint32_t)(a >> 32), b0 = (uint32_t)b, b1 = (uint32_t)(b >> 32);
    asm("{\n\t"
        ".reg .u32 t;\n\t"
        "mul.lo.u32 %0, %4, %6;\n\t"
        "mul.hi.u32 t, %4, %6;\n\t"
        "mad.lo.cc.u32 %1, %4, %7, t;\n\t"
        "madc.hi.u32 %2, %4, %7, 0;\n\t"
        "mad.lo.cc.u32 %1, %5, %6, %1;\n\t"
        "madc.hi.cc.u32 %2, %5, %6, %2;\n\t"
        "madc.hi.u32 %3, %5, %7, 0;\n\t"
        "mad.lo.cc.u32 %2, %5, %7, %2;\n\t"
        "addc.u32 %3, %3, 0;\n\t"
        "}"
        : "=&r"(r[0]), "=&r"(r[1]), "=&r"(r[2]), "=&r"(r[3])
        : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
}

__device__ uint32_t collatz(uint32_t n)
{
    uint32_t steps;
    asm("{\n"
        "  .reg .pred p, q;\n"
        "  .reg .u32 v, half, low;\n"
        "  mov.u32 v, %1;\n"
        "  mov.u32 %0, 0;\n"
        "LOOP:\n"
        "  setp.le.u32 p, v, 1;\n"
        "  @p bra DONE;\n"
        "  and.b32 low, v, 1;\n"
        "  setp.eq.u32 q, low, 0;\n"
        "  shr.u32 half, v, 1;\n"
        "  @!q mad.lo.u32 v, v, 3, 1;\n"
        "  @q mov.u32 v, half;\n"
        "  add.u32 %0, %0, 1;\n"
        "  bra.uni LOOP;\n"
        "DONE:\n"
        "}"
        : "=&r"(steps)
        : "r"(n));
    return steps;
}

struct Out {
    uint32_t lane, below, warp, field, inserted, majority, xored, product[4], steps, permuted;
    int32_t saturated, clamped;
    float rounded[4];
    double fused;
    uint64_t wide;
};

__global__ void run(const uint4 *in, Out *out)
{
    int t = threadIdx.x;
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(in + t));
    Out o = {};
    o.lane = laneId();
    o.below = lanesBelow();
    asm("mov.u32 %0, %%warpid;" : "=r"(o.warp));
    o.field = bfe(v.x, 5, 11);
    o.inserted = bfi(v.y, v.x, 8, 12);
    o.majority = lop3<0xe8>(v.x, v.y, v.z);
    o.xored = lop3<0x96>(v.x, v.y, v.z);
    wide(o.product, (uint64_t)v.x << 32 | v.y, (uint64_t)v.z << 32 | v.w);
    o.steps = collatz(t + 1);
    asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(o.permuted) : "r"(v.x), "r"(v.y));
    asm("add.sat.s32 %0, %1, %2;" : "=r"(o.saturated) : "r"(v.x | 0x40000000u), "r"(0x7fffffff));
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(o.clamped) : "r"((int)v.w / 1000));
    float x = fmaf(t, 1e-3f, 1.0f), y = 3.0f;
    asm("div.rn.f32 %0, %1, %2;" : "=f"(o.rounded[0]) : "f"(x), "f"(y));
    asm("add.rz.f32 %0, %1, %2;" : "=f"(o.rounded[1]) : "f"(x), "f"(1e-9f));
    asm("cvt.rni.f32.f32 %0, %1;" : "=f"(o.rounded[2]) : "f"(t * 0.5f));
    asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(o.rounded[3]) : "f"(x), "f"(y), "f"(-3.0f));
    asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(o.fused) : "d"((double)x), "d"(1.0 / 3), "d"(-0.25));
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(o.wide) : "r"(v.x), "r"(v.y), "l"(1ULL));
    asm volatile("bar.sync 1, 64;" ::: "memory");
    asm volatile("st.global.wt.v2.u32 [%0], {%1, %2};" ::"l"(&out[t].lane), "r"(o.lane),
                 "r"(o.below));
    o.lane = out[t].lane;
    o.below = out[t].below;
    out[t] = o;
}

int main()
{
    const int n = 64;
    uint4 *in;
    Out *out;
    cudaMallocManaged(&in, n * sizeof *in);
    cudaMallocManaged(&out, n * sizeof *out);
    uint32_t s = 1;
    for (int i = 0; i < n * 4; i++)
        (&in[0].x)[i] = s = s * 1103515245u + 12345u + i;
    run<<<1, n>>>(in, out);
    cudaError_t error = cudaDeviceSynchronize();
    int bad = error != cudaSuccess;
    for (int t = 0; t < n && !error; t++) {
        const uint4 v = in[t];
        const Out &o = out[t];
        bad += o.lane != t % 32u || o.below != (1u << t % 32) - 1 || o.warp != t / 32u;
        bad += o.field != (v.x >> 5 & 0x7ff);
        bad += o.inserted != ((v.x & ~0xfff00u) | (v.y & 0xfff) << 8);
        bad += o.majority != ((v.x & v.y) | (v.x & v.z) | (v.y & v.z));
        bad += o.xored != (v.x ^ v.y ^ v.z);
        unsigned __int128 p =
            (unsigned __int128)((uint64_t)v.x << 32 | v.y) * ((uint64_t)v.z << 32 | v.w);
        for (int i = 0; i < 4; i++)
            bad += o.product[i] != (uint32_t)(p >> 32 * i);
        uint32_t steps = 0;
        for (uint32_t c = t + 1; c > 1; steps++)
            c = c % 2 ? 3 * c + 1 : c / 2;
        bad += o.steps != steps;
        bad += o.permuted != ((v.x & 0xffff) | v.y << 16);
        int64_t sum = (int64_t)(int32_t)(v.x | 0x40000000u) + 0x7fffffff;
        bad += o.saturated != (sum > 0x7fffffff ? 0x7fffffff : (int32_t)sum);
        int c = (int)v.w / 1000;
        bad += (int8_t)o.clamped != (c > 127 ? 127 : c < -128 ? -128 : c);
        float x = fmaf(t, 1e-3f, 1.0f), nearest = (float)(t / 2 + (t % 2 && t / 2 % 2));
        bad += o.rounded[0] != x / 3.0f || o.rounded[1] != x || o.rounded[2] != nearest;
        bad += o.rounded[3] != __builtin_fmaf(x, 3.0f, -3.0f);
        bad += o.fused != __builtin_fma((double)x, 1.0 / 3, -0.25);
        bad += o.wide != (uint64_t)v.x * v.y + 1;
    }
    printf("%s, %d wrong\n%s\n", cudaGetErrorString(error), bad, bad ? "FAIL" : "PASS");
    cudaFree(in);
    cudaFree(out);
    return bad != 0;
}
