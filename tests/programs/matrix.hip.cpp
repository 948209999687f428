// Products of matrices by matrix instructions: fp32, fp16, fp64, bf16 and i8 tiles of 16 x 16, where the target has them, else by
// ordinary ones; and of a matrix of which two values in four are zeros. A wavefront makes a tile. Values are small integers, so
// that sums are exact. Arguments: [tiles a side].
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

// Small integers, whose upper halves are exact.
struct brain {
    unsigned short bits;
    brain() = default;
    __host__ __device__ explicit brain(float x) : bits(__builtin_bit_cast(unsigned, x) >> 16) {}
    __host__ __device__ explicit operator float() const { return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16); }
};

__global__ void brains(const brain *a, const brain *b, float *c, int n)
{
    int lane = threadIdx.x, row = blockIdx.y * tile, column = blockIdx.x * tile + lane % tile;
#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__)
#if defined(__gfx908__)
    enum { each = 2 };
#else
    enum { each = 4 };
#endif
    typedef short brains_t __attribute__((ext_vector_type(each)));
    float4_t sum = {0, 0, 0, 0};
    for (int k = each * (lane / tile); k < depth; k += 4 * each) {
        brains_t x, y;
        for (int e = 0; e < each; e++) {
            x[e] = a[(row + lane % tile) * depth + k + e].bits;
            y[e] = b[(k + e) * n + column].bits;
        }
#if defined(__gfx908__)
        sum = __builtin_amdgcn_mfma_f32_16x16x8bf16(x, y, sum, 0, 0, 0);
#else
        sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, sum, 0, 0, 0);
#endif
    }
    store(c, n, row, column, 4 * (lane / tile), 1, sum);
#else
    ordinary(a, b, c, n, row, column, lane);
#endif
}

typedef int int4_t __attribute__((ext_vector_type(4)));

__global__ void bytes(const signed char *a, const signed char *b, int *c, int n)
{
    int lane = threadIdx.x, row = blockIdx.y * tile, column = blockIdx.x * tile + lane % tile;
#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__)
#if defined(__gfx942__)
    typedef long bytes_t;
#else
    typedef int bytes_t;
#endif
    const int each = sizeof(bytes_t);
    int4_t sum = {0, 0, 0, 0};
    for (int k = each * (lane / tile); k < depth; k += 4 * each) {
        bytes_t x = 0, y = 0;
        for (int e = 0; e < each; e++) {
            x |= static_cast<bytes_t>(static_cast<unsigned char>(a[(row + lane % tile) * depth + k + e])) << 8 * e;
            y |= static_cast<bytes_t>(static_cast<unsigned char>(b[(k + e) * n + column])) << 8 * e;
        }
#if defined(__gfx942__)
        sum = __builtin_amdgcn_mfma_i32_16x16x32_i8(x, y, sum, 0, 0, 0);
#else
        sum = __builtin_amdgcn_mfma_i32_16x16x16i8(x, y, sum, 0, 0, 0);
#endif
    }
    store(c, n, row, column, 4 * (lane / tile), 1, sum);
#else
    ordinary(a, b, c, n, row, column, lane);
#endif
}

// Of each four values of a row of A two are used: those whose numbers, 0 to 3, depend on the row and on the four.
__host__ __device__ static int used(int row, int four, int which)
{
    int pair = (row + four) % 6;
    return which == 0 ? (pair < 3 ? 0 : pair < 5 ? 1 : 2) : (pair < 3 ? pair + 1 : pair < 5 ? pair - 1 : 3);
}

__global__ void sparse(const _Float16 *a, const _Float16 *b, float *c, int n)
{
    int lane = threadIdx.x, row = blockIdx.y * tile, column = blockIdx.x * tile + lane % tile;
#if defined(__gfx942__)
    typedef _Float16 half8_t __attribute__((ext_vector_type(8)));
    float4_t sum = {0, 0, 0, 0};
    for (int k = 8 * (lane / tile); k < depth; k += 32) {
        half4_t x;
        half8_t y;
        int index = 0, own = row + lane % tile;
        for (int e = 0; e < 4; e++) {
            int number = used(own, k / 4 + e / 2, e % 2);
            x[e] = a[own * depth + k + e / 2 * 4 + number];
            index |= number << 2 * e;
        }
        for (int e = 0; e < 8; e++) {
            y[e] = b[(k + e) * n + column];
        }
        sum = __builtin_amdgcn_smfmac_f32_16x16x32_f16(x, y, sum, index, 0, 0);
    }
    store(c, n, row, column, 4 * (lane / tile), 1, sum);
#else
    for (int r = 0; r < 4; r++) {
        int i = row + 4 * (lane / tile) + r;
        float sum = 0;
        for (int k = 0; k < depth / 2; k++) {
            int at = k / 2 * 4 + used(i, k / 2, k % 2);
            sum += static_cast<float>(a[i * depth + at]) * static_cast<float>(b[at * n + column]);
        }
        c[i * n + column] = sum;
    }
#endif
}

template <typename T, typename S>
static bool multiply(void (*kernel)(const T *, const T *, S *, int), int n, int seed, bool half_of_a = false)
{
    std::vector<T> a(n * depth), b(depth * n);
    std::vector<S> c(n * n);
    for (int i = 0; i < n * depth; i++) {
        a[i] = static_cast<T>((i * 7 + seed) % 17 - 8);
        b[i] = static_cast<T>((i * 5 + i / n + seed) % 13 - 6);
    }
    for (int i = 0; i < n && half_of_a; i++) {
        for (int k = 0; k < depth; k++) {
            if (k % 4 != used(i, k / 4, 0) && k % 4 != used(i, k / 4, 1)) {
                a[i * depth + k] = T(0);
            }
        }
    }
    T *device_a, *device_b;
    S *device_c;
    allocate(&device_a, a.size() * sizeof(T));
    allocate(&device_b, b.size() * sizeof(T));
    allocate(&device_c, c.size() * sizeof(S));
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
    bool brain_right = multiply(brains, n, 4), byte = multiply(bytes, n, 5), few = multiply(sparse, n, 6, true);
    if (!single || !half || !twice || !brain_right || !byte || !few) {
        std::printf("FAIL matrix: fp32 %d, fp16 %d, fp64 %d, bf16 %d, i8 %d, sparse %d\n", single, half, twice, brain_right, byte,
                    few);
        return 1;
    }
    return pass("matrix");
}
