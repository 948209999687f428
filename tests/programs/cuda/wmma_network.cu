// Two layers of a network by warp matrices: fragments with bias and activation element by element,
// loads from shared memory, products of halves, bfloats and bytes. Prints PASS or FAIL.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <vector>

using namespace nvcuda;

constexpr int M = 16, N = 16, K = 16;

template <typename T, typename Acc>
__global__ void layer(const T *a, const T *b, const Acc *bias, Acc *c, int k, int n)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Acc> fc;
    __shared__ Acc rows[M * N];
    for (int i = threadIdx.x; i < M * N; i += 32)
        rows[i] = bias[blockIdx.x * N + i % N];
    __syncwarp();
    wmma::load_matrix_sync(fc, rows, N, wmma::mem_row_major);
    for (int at = 0; at < k; at += K) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * M * k + at, k);
        wmma::load_matrix_sync(fb, b + blockIdx.x * N * k + at, k);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = fc.x[i] > Acc(0) ? fc.x[i] : Acc(0);
    wmma::store_matrix_sync(c + blockIdx.y * M * n + blockIdx.x * N, fc, n, wmma::mem_row_major);
}

template <typename T, typename Acc> int check(T (*make)(int))
{
    const int m = 32, n = 48, k = 64;
    std::vector<double> wa(m * k), wb(n * k);
    T *a, *b;
    Acc *bias, *c;
    cudaMallocManaged(&a, m * k * sizeof(T));
    cudaMallocManaged(&b, n * k * sizeof(T));
    cudaMallocManaged(&bias, n * sizeof(Acc));
    cudaMallocManaged(&c, m * n * sizeof(Acc));
    for (int i = 0; i < m * k; i++)
        a[i] = make(i * 7 % 11 - 5), wa[i] = i * 7 % 11 - 5;
    for (int i = 0; i < n * k; i++)
        b[i] = make(i * 5 % 7 - 3), wb[i] = i * 5 % 7 - 3;
    for (int i = 0; i < n; i++)
        bias[i] = Acc(i - 20);
    layer<T, Acc><<<dim3(n / N, m / M), 32>>>(a, b, bias, c, k, n);
    int bad = cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double want = j - 20;
            for (int x = 0; x < k; x++)
                want += wa[i * k + x] * wb[j * k + x];
            bad += (double)c[i * n + j] != (want > 0 ? want : 0);
        }
    for (void *p : {(void *)a, (void *)b, (void *)bias, (void *)c})
        cudaFree(p);
    return bad;
}

int main()
{
    int bad = check<__half, float>([](int v) { return __float2half((float)v); });
    bad += check<__nv_bfloat16, float>([](int v) { return __float2bfloat16((float)v); });
    bad += check<signed char, int>([](int v) { return (signed char)v; });
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
