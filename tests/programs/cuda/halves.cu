// Halves and bfloats: arithmetic, pairs, conversions, shuffles, atomic sums, against floats on the
// host. Prints PASS or FAIL.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void k(__half *a, __half2 *b, __nv_bfloat16 *c, float *o)
{
    int i = threadIdx.x;
    half x = __float2half(1.5f) * a[i] + __hfma(a[i], a[i], __float2half(0.25f));
    half2 y = __hfma2(b[i], __half2half2(x), b[i]);
    __nv_bfloat16 z = c[i] * c[i] + __float2bfloat16(2.0f);
    o[i] = __half2float(x) + __low2float(y) + (float)z + __half22float2(y).y;
    half s = __shfl_xor_sync(~0u, x, 1);
    o[i] += (float)s;
    if (x > s)
        o[i] += (float)hexp(__float2half(0.0f));
    atomicAdd(b, __floats2half2_rn(1, 2));
}
// Comparisons with a number and with a NaN, of halves and of pairs; bits of those that are true.
template <typename T, typename P> __host__ __device__ unsigned compared()
{
    T one(1.0f), two(2.0f), nan(__builtin_nanf(""));
    P pair(one, nan), same(one, one);
    unsigned bits = __hne(one, two) | __hne(nan, nan) << 1 | __hneu(nan, one) << 2;
    bits |= __hlt(one, two) << 3 | __hlt(one, nan) << 4 | __hltu(one, nan) << 5;
    bits |= __hgeu(one, two) << 6 | __heq(one, nan) << 7 | __hequ(one, nan) << 8;
    bits |= __hbeq2(pair, same) << 9 | __hbequ2(pair, same) << 10;
    bits |= (__low2float(__heq2(pair, same)) == 1) << 11;
    bits |= (__high2float(__heq2(pair, same)) == 1) << 12;
    bits |= (__high2float(__hequ2(pair, same)) == 1) << 13;
    T next = one++;
    bits |= (__heq(one, two) && __heq(--one, next)) << 14;
    return bits;
}
constexpr unsigned COMPARED = 1 | 4 | 8 | 32 | 256 | 1024 | 2048 | 8192 | 16384;
__global__ void compare(unsigned *bits)
{
    bits[0] = compared<__half, __half2>();
    bits[1] = compared<__nv_bfloat16, __nv_bfloat162>();
}
static int compared_wrong()
{
    unsigned *bits;
    cudaMallocManaged(&bits, 8);
    compare<<<1, 1>>>(bits);
    cudaDeviceSynchronize();
    int wrong = (bits[0] != COMPARED) + (bits[1] != COMPARED)
                + (compared<__half, __half2>() != COMPARED)
                + (compared<__nv_bfloat16, __nv_bfloat162>() != COMPARED);
    cudaFree(bits);
    return wrong;
}
int main()
{
    __half *a;
    __half2 *b;
    __nv_bfloat16 *c;
    float *o;
    cudaMallocManaged(&a, 64);
    cudaMallocManaged(&b, 128);
    cudaMallocManaged(&c, 64);
    cudaMallocManaged(&o, 128);
    for (int i = 0; i < 32; i++) {
        a[i] = i;
        b[i] = __floats2half2_rn(i, 1);
        c[i] = i;
    }
    k<<<1, 32>>>(a, b, c, o);
    cudaDeviceSynchronize();
    int bad = 0;
    auto X = [](int j) { return (float)__half(1.5f * j + (float)__half(j * j + 0.25f)); };
    for (int i = 0; i < 32; i++) {
        float x = X(i), s = X(i ^ 1);
        float y = (float)__half(i * x + i), y2 = (float)__half(x + 1);
        float z = (float)__nv_bfloat16((float)__nv_bfloat16((float)i * i) + 2);
        float w = x + y + z + y2 + s + (x > s);
        if (i && o[i] != w) {
            if (!bad++)
                printf("%d %f %f\n", i, o[i], w);
        }
    }
    printf("%f\n", __low2float(b[0]));
    bad += compared_wrong();
    for (void *each : {(void *)a, (void *)b, (void *)c, (void *)o})
        cudaFree(each);
    puts(bad ? "FAIL" : "PASS");
}
