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
    puts(bad ? "FAIL" : "PASS");
}
