// Matrix fragments of halves, bytes and doubles against loops on the host. Prints PASS or FAIL.
#include <cstdio>
#include <mma.h>
using namespace nvcuda;
__global__ void k(const half *a, const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    for (int i = 0; i < 64; i += 16) {
        wmma::load_matrix_sync(fa, a + i, 64);
        wmma::load_matrix_sync(fb, b + i, 64);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] *= 2;
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
__global__ void kb(const signed char *a, const signed char *b, int *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::fill_fragment(fc, 0);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_col_major);
}
__global__ void kd(const double *a, const double *b, double *c)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
    wmma::fill_fragment(fc, 0.0);
    wmma::load_matrix_sync(fa, a, 4);
    wmma::load_matrix_sync(fb, b, 4);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
int main()
{
    half *a, *b;
    float *c;
    signed char *sa, *sb;
    int *sc;
    double *da, *db, *dc;
    cudaMallocManaged(&a, 2048);
    cudaMallocManaged(&b, 2048);
    cudaMallocManaged(&c, 1024);
    cudaMallocManaged(&sa, 256);
    cudaMallocManaged(&sb, 256);
    cudaMallocManaged(&sc, 1024);
    cudaMallocManaged(&da, 256);
    cudaMallocManaged(&db, 256);
    cudaMallocManaged(&dc, 512);
    for (int i = 0; i < 1024; i++) {
        a[i] = (float)(i * 7 % 13 - 6);
        b[i] = (float)(i * 5 % 11 - 5);
    }
    for (int i = 0; i < 256; i++) {
        sa[i] = i * 3 % 17 - 8;
        sb[i] = i * 7 % 19 - 9;
    }
    for (int i = 0; i < 32; i++) {
        da[i] = i * 0.5;
        db[i] = i - 7;
    }
    k<<<1, 32>>>(a, b, c);
    kb<<<1, 32>>>(sa, sb, sc);
    kd<<<1, 32>>>(da, db, dc);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    int bad = 0;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            float w = 1;
            int s = 0;
            for (int q = 0; q < 64; q++)
                w += (float)a[i * 64 + q] * (float)b[j * 64 + q];
            for (int q = 0; q < 16; q++)
                s += sa[i * 16 + q] * sb[q * 16 + j];
            bad += c[i * 16 + j] != 2 * w;
            bad += 1000 * (sc[j * 16 + i] != s);
        }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            double s = 0;
            for (int q = 0; q < 4; q++)
                s += da[i * 4 + q] * db[j * 4 + q];
            bad += 1000000 * (dc[i * 8 + j] != s);
        }
    for (void *each : std::initializer_list<void *>{a, b, c, sa, sb, sc, da, db, dc})
        cudaFree(each);
    printf("%d\n", bad);
    puts(bad ? "FAIL" : "PASS");
}
