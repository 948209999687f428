// Tensor cores by wmma: D = alpha A B + beta C in tiles of 16, half to float, with column-major B
// and an epilogue over fragments; bytes to int. Prints PASS or FAIL.
#include <mma.h>
#include <cmath>
#include <cstdio>
#include <vector>
using namespace nvcuda;

template <int M, int N, int K>
__global__ void gemm(const half *a, const half *b, const float *c, float *d, int m, int n, int k,
                     float alpha, float beta)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int rowTile = warp / (n / N), columnTile = warp % (n / N);
    wmma::fragment<wmma::matrix_a, M, N, K, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, float> acc, fc;
    wmma::fill_fragment(acc, 0.0f);
    for (int i = 0; i < k; i += K) {
        wmma::load_matrix_sync(fa, a + rowTile * M * k + i, k);
        wmma::load_matrix_sync(fb, b + columnTile * N * k + i, k);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::load_matrix_sync(fc, c + rowTile * M * n + columnTile * N, n, wmma::mem_row_major);
    for (int t = 0; t < fc.num_elements; t++)
        fc.x[t] = alpha * acc.x[t] + beta * fc.x[t];
    wmma::store_matrix_sync(d + rowTile * M * n + columnTile * N, fc, n, wmma::mem_row_major);
}

__global__ void bytes(const signed char *a, const signed char *b, int *d)
{
    __shared__ int result[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> acc;
    wmma::fill_fragment(acc, 3);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(acc, fa, fb, acc);
    wmma::store_matrix_sync(result, acc, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        d[i] = result[i];
}

int main()
{
    const int m = 32, n = 64, k = 48;
    std::vector<half> a(m * k), b(n * k);
    std::vector<float> c(m * n), d(m * n);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = __float2half((int)(i % 7) - 3);
    for (size_t i = 0; i < b.size(); i++)
        b[i] = __float2half((int)(i % 5) * 0.5f);
    for (size_t i = 0; i < c.size(); i++)
        c[i] = (int)(i % 11);
    half *da, *db;
    float *dc, *dd;
    cudaMalloc(&da, a.size() * sizeof(half));
    cudaMalloc(&db, b.size() * sizeof(half));
    cudaMalloc(&dc, c.size() * sizeof(float));
    cudaMalloc(&dd, d.size() * sizeof(float));
    cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
    cudaMemcpy(dc, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice);
    int bad = 0;
    for (int shape = 0; shape < 3; shape++) {
        cudaMemset(dd, 0xff, d.size() * sizeof(float));
        int tiles = m * n / 256;
        if (shape == 0)
            gemm<16, 16, 16><<<tiles / 2, 64>>>(da, db, dc, dd, m, n, k, 2.f, 0.5f);
        else if (shape == 1)
            gemm<32, 8, 16><<<tiles / 2, 64>>>(da, db, dc, dd, m, n, k, 2.f, 0.5f);
        else
            gemm<8, 32, 16><<<tiles / 2, 64>>>(da, db, dc, dd, m, n, k, 2.f, 0.5f);
        cudaMemcpy(d.data(), dd, d.size() * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                float want = 0;
                for (int x = 0; x < k; x++)
                    want += __half2float(a[i * k + x]) * __half2float(b[j * k + x]);
                want = 2.f * want + 0.5f * c[i * n + j];
                bad += std::fabs(want - d[i * n + j]) > 1e-3f;
            }
    }
    signed char *bytesA;
    int *sums;
    cudaMallocManaged(&bytesA, 512);
    cudaMallocManaged(&sums, 1024);
    for (int i = 0; i < 512; i++)
        bytesA[i] = (signed char)(i * 29);
    bytes<<<1, 32>>>(bytesA, bytesA + 256, sums);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < 256; i++) {
        int want = 3;
        for (int x = 0; x < 16; x++)
            want += bytesA[i / 16 * 16 + x] * bytesA[256 + x * 16 + i % 16];
        bad += want != sums[i];
    }
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    cudaFree(dd);
    cudaFree(bytesA);
    cudaFree(sums);
    return bad != 0;
}
