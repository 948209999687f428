// Floats of 8 bits: all codes there and back, conversions against the nearest code of a table, on the
// device and on the host; a product of matrices of them; <cuda/functional>. Prints PASS or FAIL.
#include <cstdio>
#include <cstring>
#include <cmath>
#include <cuda/functional>
#include <cuda_fp8.h>

static const int CASES = 4096, N = 16;

template <typename F> __global__ void narrow(const float *from, unsigned char *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = F(from[i]).__x;
}
template <typename F> __global__ void widen(float *to)
{
    F f;
    f.__x = threadIdx.x;
    to[threadIdx.x] = (float)f;
}
__global__ void product(const __nv_fp8x4_e4m3 *a, const __nv_fp8x4_e5m2 *b, float *c)
{
    auto most = cuda::proclaim_return_type<float>([](float x, float y) { return x > y ? x : y; });
    float sum = 0;
    for (int k = 0; k < N / 4; k++) {
        float4 x = (float4)a[threadIdx.y * N / 4 + k], y = (float4)b[threadIdx.x * N / 4 + k];
        sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
    c[threadIdx.y * N + threadIdx.x] = most(cuda::minimum<float>()(sum, 1000), -1000);
}

// The code nearest to v, the even one of two; no infinities, as constructors saturate.
static unsigned char nearest(const float *table, int codes, float v)
{
    if (std::isnan(v))
        return 0x7f;
    int best = 0;
    double a = std::fmin(std::fabs((double)v), table[codes - 1]);
    for (int i = 1; i < codes; i++) {
        double d = std::fabs(table[i] - a), e = std::fabs(table[best] - a);
        if (d < e || (d == e && i % 2 == 0))
            best = i;
    }
    return (std::signbit(v) ? 0x80 : 0) | best;
}

// From the definition: sign, exponent, fraction.
static float of_code(int code, int fraction, int bias)
{
    int e = (code & 0x7f) >> fraction, f = code & ((1 << fraction) - 1);
    float v = e ? std::ldexp(f + (1 << fraction), e - bias - fraction)
                : std::ldexp(f, 1 - bias - fraction);
    return code & 0x80 ? -v : v;
}

template <typename F> static int test(int fraction, int bias, int codes)
{
    float *from, *wide, table[128];
    unsigned char *to;
    int bad = 0;
    cudaMallocManaged(&from, CASES * sizeof *from);
    cudaMallocManaged(&wide, 256 * sizeof *wide);
    cudaMallocManaged(&to, CASES);
    for (int i = 0; i < codes; i++)
        table[i] = of_code(i, fraction, bias);
    unsigned int x = 1;
    for (int i = 0; i < CASES; i++) {
        x = x * 1664525 + 1013904223;
        unsigned int bits = i % 2 ? x : (x & 0x807fffff) | (118 + x % 18) << 23;
        std::memcpy(&from[i], &bits, 4);
        if (i % 16 == 0) // in the middle of two codes
            from[i] = (of_code(x % codes, fraction, bias) + of_code(x % codes + 1, fraction, bias))
                      / 2;
    }
    narrow<F><<<CASES / 256, 256>>>(from, to);
    widen<F><<<1, 256>>>(wide);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < CASES; i++)
        bad += to[i] != nearest(table, codes, from[i]) || to[i] != F(from[i]).__x;
    for (int i = 0; i < 256; i++)
        bad += (i & 0x7f) < codes ? wide[i] != of_code(i, fraction, bias)
                                  : !std::isnan(wide[i]) && !std::isinf(wide[i]);
    cudaFree(from);
    cudaFree(wide);
    cudaFree(to);
    return bad;
}

int main()
{
    int bad = test<__nv_fp8_e4m3>(3, 7, 0x7f) + test<__nv_fp8_e5m2>(2, 15, 0x7c);
    bad += __nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E4M3) != 0x7f;
    bad += __nv_cvt_float_to_fp8(-1e9f, __NV_NOSAT, __NV_E5M2) != 0xfc;
    bad += __nv_cvt_float_to_fp8(1e9f, __NV_SATFINITE, __NV_E5M2) != 0x7b;
    bad += (float)__nv_fp8_e4m3(__half(1.75f)) != 1.75f || (int)__nv_fp8_e5m2(3) != 3;
    __nv_fp8x4_e4m3 *a;
    __nv_fp8x4_e5m2 *b;
    float *c, x[N][N], y[N][N];
    cudaMallocManaged(&a, N * N);
    cudaMallocManaged(&b, N * N);
    cudaMallocManaged(&c, N * N * sizeof *c);
    for (int i = 0; i < N * N; i++)
        x[i / N][i % N] = i % 7 - 3, y[i / N][i % N] = (i % 5 - 2) * .5f;
    for (int i = 0; i < N * N / 4; i++) {
        a[i] = __nv_fp8x4_e4m3(((float4 *)x)[i]);
        b[i] = __nv_fp8x4_e5m2(((float4 *)y)[i]);
    }
    product<<<1, dim3(N, N)>>>(a, b, c);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += x[i][k] * y[j][k];
            bad += c[i * N + j] != sum;
        }
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
