// Normalisation and activation of layers in halves and bfloats, two at a time, as inference code
// writes them. Prints PASS or FAIL.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cmath>
#include <cstdio>
#include <vector>

template <typename T> struct pair_of;
template <> struct pair_of<__half> {
    using type = __half2;
};
template <> struct pair_of<__nv_bfloat16> {
    using type = __nv_bfloat162;
};

__device__ __forceinline__ float2 widen(__half2 v)
{
    return __half22float2(v);
}
__device__ __forceinline__ float2 widen(__nv_bfloat162 v)
{
    return __bfloat1622float2(v);
}
__device__ __forceinline__ void narrow(float2 v, __half2 &to)
{
    to = __float22half2_rn(v);
}
__device__ __forceinline__ void narrow(float2 v, __nv_bfloat162 &to)
{
    to = __float22bfloat162_rn(v);
}

__inline__ __device__ float warp_sum(float v)
{
    for (int mask = 16; mask > 0; mask >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, mask, 32);
    return v;
}

template <typename T>
__global__ void layernorm(const T *in, T *out, const T *gamma, const T *beta, int width)
{
    using pair = typename pair_of<T>::type;
    const pair *row = reinterpret_cast<const pair *>(in + blockIdx.x * width);
    const pair *g = reinterpret_cast<const pair *>(gamma),
               *b = reinterpret_cast<const pair *>(beta);
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < width / 2; i += 32) {
        float2 v = widen(row[i]);
        sum += v.x + v.y;
        squares += v.x * v.x + v.y * v.y;
    }
    float mean = warp_sum(sum) / width;
    float scale = rsqrtf(warp_sum(squares) / width - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < width / 2; i += 32) {
        float2 v = widen(row[i]);
        pair n;
        narrow(make_float2((v.x - mean) * scale, (v.y - mean) * scale), n);
        reinterpret_cast<pair *>(out + blockIdx.x * width)[i] = __hfma2(n, g[i], b[i]);
    }
}

__global__ void activate(const __half2 *in, __half2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const __half2 zero = __float2half2_rn(0.f), one = __half2half2(__float2half(1.f));
    __half2 x = in[i];
    __half2 relu = __hmax2(x, zero);
    __half2 sigmoid = __h2div(one, __hadd2(one, h2exp(__hneg2(x))));
    __half2 silu = __hmul2(x, sigmoid);
    __half2 both = __halves2half2(__low2half(relu), __high2half(silu));
    if (__hgt(__low2half(x), __float2half(2.f)))
        both = __lowhigh2highlow(both);
    out[i] =
        __hfma2_relu(both, one, __hsub2(zero, __half2(__float2half(0.25f), __float2half(0.25f))));
}

template <typename T> int check(float (*wide)(T), T (*narrow_one)(float), float tolerance)
{
    const int rows = 4, width = 256;
    std::vector<T> in(rows * width), gamma(width), beta(width), out(rows * width);
    for (int i = 0; i < rows * width; i++)
        in[i] = narrow_one(std::sin(i * 0.37f) * 2 + i % 5);
    for (int i = 0; i < width; i++) {
        gamma[i] = narrow_one(1 + i % 3 * 0.5f);
        beta[i] = narrow_one(i % 2 ? 0.25f : -0.5f);
    }
    T *d[4];
    for (auto &p : d)
        cudaMalloc(&p, rows * width * sizeof(T));
    cudaMemcpy(d[0], in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(d[1], gamma.data(), width * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(d[2], beta.data(), width * sizeof(T), cudaMemcpyHostToDevice);
    layernorm<T><<<rows, 32>>>(d[0], d[3], d[1], d[2], width);
    cudaMemcpy(out.data(), d[3], out.size() * sizeof(T), cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int r = 0; r < rows; r++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < width; i++) {
            double v = wide(in[r * width + i]);
            sum += v;
            squares += v * v;
        }
        double mean = sum / width, scale = 1 / std::sqrt(squares / width - mean * mean + 1e-5);
        for (int i = 0; i < width; i++) {
            double want = (wide(in[r * width + i]) - mean) * scale * wide(gamma[i]) + wide(beta[i]);
            bad += std::fabs(wide(out[r * width + i]) - want) > tolerance;
        }
    }
    for (auto &p : d)
        cudaFree(p);
    return bad;
}

int main()
{
    int bad = check<__half>([](__half h) { return __half2float(h); },
                            [](float f) { return __float2half(f); }, 0.01f);
    bad += check<__nv_bfloat16>([](__nv_bfloat16 h) { return __bfloat162float(h); },
                                [](float f) { return __float2bfloat16(f); }, 0.05f);
    const int n = 128;
    __half2 *in, *out;
    cudaMallocManaged(&in, n * sizeof *in);
    cudaMallocManaged(&out, n * sizeof *out);
    for (int i = 0; i < n; i++)
        in[i] = __floats2half2_rn((i - 64) / 16.f, (64 - i) / 16.f);
    activate<<<1, n>>>(in, out, n);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < n; i++) {
        double x = (i - 64) / 16., y = -x, a = x > 0 ? x : 0, b = y / (1 + std::exp(-y));
        double low = (x > 2 ? b : a) - 0.25, high = (x > 2 ? a : b) - 0.25;
        bad += std::fabs(__low2float(out[i]) - (low > 0 ? low : 0)) > 0.01;
        bad += std::fabs(__high2float(out[i]) - (high > 0 ? high : 0)) > 0.01;
    }
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(in);
    cudaFree(out);
    return bad != 0;
}
