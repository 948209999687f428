// Tensor cores by inline PTX: tiles come by cp.async in two stages, fragments by ldmatrix, products
// by mma.sync in half, bfloat16 and tf32. Prints PASS or FAIL.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>
#include <cstdio>
#include <vector>

__device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void cp_async16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(shared_address(to)),
                 "l"(__cvta_generic_to_global(from)));
}
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p)));
}
__device__ __forceinline__ void ldmatrix_x2_trans(uint32_t (&r)[2], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];\n"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(p)));
}
template <typename T> __device__ void mma(float (&d)[4], uint32_t (&a)[4], uint32_t (&b)[2]);
#define DEFINE_MMA(type, name)                                                                     \
    template <> __device__ void mma<type>(float(&d)[4], uint32_t(&a)[4], uint32_t(&b)[2])          \
    {                                                                                              \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 "                \
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"                     \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
    }
DEFINE_MMA(half, "f16")
DEFINE_MMA(__nv_bfloat16, "bf16")

// One warp: 16 by 8 of the result. A is 16 by k in rows, B is k by 8 in rows.
template <typename T> __global__ void tile(const T *a, const T *b, float *d, int k)
{
    alignas(16) __shared__ T sa[2][16][16], sb[2][16][8];
    int lane = threadIdx.x;
    auto load = [&](int stage, int at) {
        cp_async16(&sa[stage][lane / 2][lane % 2 * 8], a + lane / 2 * k + at + lane % 2 * 8);
        if (lane < 16)
            cp_async16(&sb[stage][lane][0], b + (at + lane) * 8);
        asm volatile("cp.async.commit_group;\n" ::: "memory");
    };
    float sum[4] = {};
    load(0, 0);
    for (int at = 0; at < k; at += 16) {
        int stage = at / 16 % 2;
        if (at + 16 < k) {
            load(stage ^ 1, at + 16);
            asm volatile("cp.async.wait_group %0;\n" ::"n"(1) : "memory");
        } else {
            asm volatile("cp.async.wait_all;\n" ::: "memory");
        }
        __syncwarp();
        uint32_t fa[4], fb[2];
        ldmatrix_x4(fa, &sa[stage][lane % 16][lane / 16 * 8]);
        ldmatrix_x2_trans(fb, &sb[stage][lane % 16][0]);
        mma<T>(sum, fa, fb);
        __syncwarp();
    }
    for (int i = 0; i < 4; i++)
        d[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sum[i];
}

__global__ void tf32(const float *a, const float *b, float *d)
{
    int lane = threadIdx.x, row = lane / 4, column = lane % 4;
    uint32_t fa[4], fb[2];
    float sum[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++)
        asm("cvt.rna.tf32.f32 %0, %1;"
            : "=r"(fa[i])
            : "f"(a[(row + i % 2 * 8) * 8 + column + i / 2 * 4]));
    for (int i = 0; i < 2; i++)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(fb[i]) : "f"(b[(column + i * 4) * 8 + row]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++)
        d[(row + i / 2 * 8) * 8 + column * 2 + i % 2] = sum[i];
}

template <typename T> int compare(const std::vector<T> &a, const std::vector<T> &b, const float *d)
{
    int bad = 0, k = (int)a.size() / 16;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            float want = 0;
            for (int x = 0; x < k; x++)
                want += float(a[i * k + x]) * float(b[x * 8 + j]);
            bad += want != d[i * 8 + j];
        }
    return bad;
}

template <typename T, typename Launch> int test(int k, Launch launch)
{
    std::vector<T> a(16 * k), b(k * 8);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = T((float)((int)(i * 5 % 13) - 6));
    for (size_t i = 0; i < b.size(); i++)
        b[i] = T((float)((int)(i * 3 % 11) - 5) * 0.5f);
    T *da, *db;
    float *dd, d[128];
    cudaMalloc(&da, a.size() * sizeof(T));
    cudaMalloc(&db, b.size() * sizeof(T));
    cudaMalloc(&dd, sizeof d);
    cudaMemcpy(da, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice);
    launch(da, db, dd, k);
    if (cudaError_t e = cudaMemcpy(d, dd, sizeof d, cudaMemcpyDeviceToHost)) {
        std::puts(cudaGetErrorString(e));
        return 1;
    }
    cudaFree(da);
    cudaFree(db);
    cudaFree(dd);
    return compare(a, b, d);
}

int main()
{
    int bad =
        test<half>(64, [](half *a, half *b, float *d, int k) { tile<<<1, 32>>>(a, b, d, k); });
    bad += test<__nv_bfloat16>(48, [](__nv_bfloat16 *a, __nv_bfloat16 *b, float *d, int k) {
        tile<__nv_bfloat16><<<1, 32>>>(a, b, d, k);
    });
    bad += test<float>(8, [](float *a, float *b, float *d, int) { tf32<<<1, 32>>>(a, b, d); });
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
