// Products of matrices by matrix instructions: fp32, fp16 and fp64 tiles of 16 x 16, where the target has them, else by
// ordinary ones. A wavefront makes a tile. Values are small integers, so that sums are exact. Arguments: [tiles a side].
#include "check.hpp"

typedef float float4_t __attribute__((ext_vector_type(4)));
typedef _Float16 half4_t __attribute__((ext_vector_type(4)));
typedef double double4_t __attribute__((ext_vector_type(4)));

enum { tile = 16, wavefront = 64, depth = 64 };

// Where a lane's four results are: rows first, first + step ... of its column.
template <typename T, typename V>
__device__ void store(T *c, int n, int row, int column, int first, int step, V sum)
{
    for (int r = 0; r < 4; r++) {
        c[(row + first + step * r) * n + column] = sum[r];
    }
}

template <typename T, typename S>
__device__ void ordinary(const T *a, const T *b, S *c, int n, int row, int column, int lane)
{
    for (int r = 0; r < 4; r++) {
        int i = row + 4 * (lane / tile) + r;
        S sum = 0;
        for (int k = 0; k < depth; k++) {
            sum += static_cast<S>(a[i * depth + k]) * static_cast<S>(b[k * n + column]);
        }
        c[i * n + column] = sum;
    }
}

__global__ void singles(const float *a, const float *b, float *c, int n)
{
    int lane = threadIdx.x, row = blockIdx.y * tile, column = blockIdx.x * tile + lane % tile;
#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__)
    float4_t sum = {0, 0, 0, 0};
    for (int k = lane / tile; k < depth; k += 4) {
        sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a[(row + lane % tile) * depth + k], b[k * n + column], sum, 0, 0, 0);
    }
    store(c, n, row, column, 4 * (lane / tile), 1, sum);
#else
    ordinary(a, b, c, n, row, column, lane);
#endif
}

__global__ void halves(const _Float16 *a, const _Float16 *b, float *c, int n)
{
    int lane = threadIdx.x, row = blockIdx.y * tile, column = blockIdx.x * tile + lane % tile;
#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__)
    float4_t sum = {0, 0, 0, 0};
    for (int k = 4 * (lane / tile); k < depth; k += 16) {
        half4_t x, y;
        for (int e = 0; e < 4; e++) {
            x[e] = a[(row + lane % tile) * depth + k + e];
            y[e] = b[(k + e) * n + column];
        }
        sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
    }
    store(c, n, row, column, 4 * (lane / tile), 1, sum);
#else
    ordinary(a, b, c, n, row, column, lane);
#endif
}

__global__ void doubles(const double *a, const double *b, double *c, int n)
{
    int lane = threadIdx.x, row = blockIdx.y * tile, column = blockIdx.x * tile + lane % tile;
#if defined(__gfx90a__) || defined(__gfx942__)
    double4_t sum = {0, 0, 0, 0};
    for (int k = lane / tile; k < depth; k += 4) {
        sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[(row + lane % tile) * depth + k], b[k * n + column], sum, 0, 0, 0);
    }
    store(c, n, row, column, lane / tile, 4, sum);
#else
    ordinary(a, b, c, n, row, column, lane);
#endif
}

template <typename T, typename S>
static bool multiply(void (*kernel)(const T *, const T *, S *, int), int n, int seed)
{
    std::vector<T> a(n * depth), b(depth * n);
    std::vector<S> c(n * n);
    for (int i = 0; i < n * depth; i++) {
        a[i] = static_cast<T>((i * 7 + seed) % 17 - 8);
        b[i] = static_cast<T>((i * 5 + i / n + seed) % 13 - 6);
    }
    T *device_a, *device_b;
    S *device_c;
    HIP_MUST(hipMalloc(&device_a, a.size() * sizeof(T)));
    HIP_MUST(hipMalloc(&device_b, b.size() * sizeof(T)));
    HIP_MUST(hipMalloc(&device_c, c.size() * sizeof(S)));
    HIP_MUST(hipMemcpy(device_a, a.data(), a.size() * sizeof(T), hipMemcpyHostToDevice));
    HIP_MUST(hipMemcpy(device_b, b.data(), b.size() * sizeof(T), hipMemcpyHostToDevice));
    kernel<<<dim3(n / tile, n / tile), wavefront>>>(device_a, device_b, device_c, n);
    HIP_MUST(hipMemcpy(c.data(), device_c, c.size() * sizeof(S), hipMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            S sum = 0;
            for (int k = 0; k < depth; k++) {
                sum += static_cast<S>(a[i * depth + k]) * static_cast<S>(b[k * n + j]);
            }
            right = right && sum == c[i * n + j];
        }
    }
    return right;
}

int main(int argc, char **argv)
{
    int n = tile * size_argument(argc, argv, 1, 2);
    bool single = multiply(singles, n, 1), half = multiply(halves, n, 2), twice = multiply(doubles, n, 3);
    if (!single || !half || !twice) {
        std::printf("FAIL matrix: fp32 %d, fp16 %d, fp64 %d\n", single, half, twice);
        return 1;
    }
    std::printf("PASS matrix\n");
    return 0;
}
