// Half and bfloat16: products of matrices by half2, a softmax in half, packing and unpacking,
// atomic sums of pairs, and comparisons. Prints PASS or FAIL.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cmath>
#include <cstdio>
#include <vector>

const int N = 32;

__global__ void gemmHalf2(const half *a, const half *b, half *c)
{
    int row = blockIdx.x, column = threadIdx.x * 2;
    half2 sum = __float2half2_rn(0.f);
    for (int k = 0; k < N; k++) {
        half2 left = __half2half2(a[row * N + k]);
        half2 right = *reinterpret_cast<const half2 *>(&b[k * N + column]);
        sum = __hfma2(left, right, sum);
    }
    c[row * N + column] = __low2half(sum);
    c[row * N + column + 1] = __high2half(sum);
}

__global__ void softmax(const half *x, half *y)
{
    __shared__ half2 part[N];
    half v = x[blockIdx.x * N + threadIdx.x];
    half largest = v;
    for (int o = 16; o; o >>= 1)
        largest = __hmax(largest, __shfl_xor_sync(~0u, largest, o));
    half e = hexp(v - largest);
    half2 sum = __halves2half2(e, __ushort_as_half(0));
    part[threadIdx.x] = sum;
    __syncthreads();
    float all = 0;
    for (int i = 0; i < N; i++)
        all += __half2float(__hadd(part[i].x, part[i].y));
    y[blockIdx.x * N + threadIdx.x] = __hdiv(e, __float2half_rn(all));
}

__global__ void pieces(unsigned *out, half2 *sums, __nv_bfloat16 *bf)
{
    int t = threadIdx.x;
    half2 ab = __floats2half2_rn(t * 0.5f, -t), cd = make_half2(half(1.0f), __int2half_rn(t));
    half2 lows = __lows2half2(ab, cd), highs = __highs2half2(ab, cd);
    out[t] = __half_as_ushort(lows.y) << 16 | __half_as_ushort(lows.x);
    out[32 + t] = (unsigned)__half2float(highs.y) * 1000 + (unsigned)__half2float(__hneg(highs.x));
    atomicAdd(sums, __floats2half2_rn(1.f, 2.f));
    atomicAdd(&sums[1].x, __float2half(0.25f));
    __nv_bfloat16 b = __float2bfloat16(1.0f + t / 128.0f);
    __nv_bfloat162 two = __halves2bfloat162(b, b);
    two = __hmul2(two, __float2bfloat162_rn(2.0f));
    bf[t] = __hgt(two.x, __float2bfloat16(2.25f)) ? two.y : __float2bfloat16(0.0f);
    bool less = __hlt(ab.x, cd.y), near = __hbeq2(ab, ab);
    out[64 + t] = less | near << 1 | (__hisnan(hsqrt(__float2half(-1.f))) ? 4 : 0);
    out[96 + t] = __half2int_rz(hfloor(__float2half(t * 0.75f))) + 100 * __half2ushort_rn(cd.y)
                  + 10000 * (int)__half2float(htrunc(ab.x));
}

int main()
{
    std::vector<half> a(N * N), b(N * N), c(N * N), s(N * N);
    for (int i = 0; i < N * N; i++) {
        a[i] = __float2half((i * 13 % 17 - 8) / 8.0f);
        b[i] = __float2half((i * 7 % 19 - 9) / 16.0f);
    }
    half *da, *db, *dc;
    size_t bytes = N * N * sizeof(half);
    cudaMalloc(&da, bytes);
    cudaMalloc(&db, bytes);
    cudaMalloc(&dc, bytes);
    cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
    gemmHalf2<<<N, N / 2>>>(da, db, dc);
    cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost);
    softmax<<<N, N>>>(dc, da);
    cudaMemcpy(s.data(), da, bytes, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int i = 0; i < N; i++) {
        double sum = 0, probability = 0;
        for (int j = 0; j < N; j++) {
            double want = 0;
            for (int k = 0; k < N; k++)
                want += (double)__half2float(a[i * N + k]) * __half2float(b[k * N + j]);
            bad += std::fabs(want - __half2float(c[i * N + j])) > 0.02;
            sum += std::exp((double)__half2float(c[i * N + j]));
        }
        for (int j = 0; j < N; j++) {
            double want = std::exp((double)__half2float(c[i * N + j])) / sum;
            bad += std::fabs(want - __half2float(s[i * N + j])) > 0.002;
            probability += __half2float(s[i * N + j]);
        }
        bad += std::fabs(probability - 1) > 0.01;
    }
    unsigned *out;
    half2 *sums;
    __nv_bfloat16 *bf;
    cudaMallocManaged(&out, 128 * sizeof *out);
    cudaMallocManaged(&sums, 2 * sizeof *sums);
    cudaMallocManaged(&bf, 32 * sizeof *bf);
    sums[0] = sums[1] = __floats2half2_rn(0.f, 0.f);
    pieces<<<1, 32>>>(out, sums, bf);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int t = 0; t < 32; t++) {
        unsigned want = (unsigned)__half_as_ushort(__float2half(1.f)) << 16
                        | __half_as_ushort(__float2half(t * 0.5f));
        float twice = 2 * (1 + t / 128.0f);
        bad += out[t] != want || out[32 + t] != (unsigned)(t * 1001);
        bad += out[64 + t] != (t > 0) + 2u + 4u;
        bad += out[96 + t] != (unsigned)(t * 3 / 4 + 100 * t + 10000 * (t / 2));
        bad += __bfloat162float(bf[t]) != (twice > 2.25f ? twice : 0);
    }
    bad += __low2float(sums[0]) != 32 || __high2float(sums[0]) != 64 || __low2float(sums[1]) != 8;
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    cudaFree(out);
    cudaFree(sums);
    cudaFree(bf);
    return bad != 0;
}
