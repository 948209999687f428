// matrixmultiplication N: C = A B of N x N floats, 4 x 4 of them a thread and 32 x 32 a work-group. The tile of A goes through a
// buffer, which is in global memory, and all work-groups use the same 4 KiB of it: with more than one work-group what a
// thread reads there may be of another tile. --check multiplies again with an A whose tiles of 32 x 32 are all
// the same and compares that with the host's product; of the measured product it checks the bounds.
#include "label.hpp"

constexpr int side = 8;         // threads along an edge of a work-group
constexpr int tile = 4 * side;  // floats along an edge of a tile

__device__ static inline void multiply_row(float4 &sum, float4 a, const float4 *b)
{
    const float part[4] = {a.x, a.y, a.z, a.w};
    for (int k = 0; k < 4; k++) {
        sum.x += part[k] * b[k].x;
        sum.y += part[k] * b[k].y;
        sum.z += part[k] * b[k].z;
        sum.w += part[k] * b[k].w;
    }
}

__global__ void multiply_kernel(const float4 *a, const float4 *b, float4 *c, int row_length,
                                float4 *block_a)
{
    int lx = threadIdx.x, ly = threadIdx.y, width = blockDim.x;
    int x = blockIdx.x * width + lx, y = blockIdx.y * blockDim.y + ly;
    float4 sum[4] = {};
    for (int step = 0; step < row_length / width; step++) {
        for (int r = 0; r < 4; r++) {
            block_a[lx + (4 * ly + r) * width] = a[step * width + lx + (4 * y + r) * row_length];
        }
        __syncthreads();
        for (int j = 0; j < width; j++) {
            float4 rows_a[4], rows_b[4];
            for (int r = 0; r < 4; r++) {
                rows_a[r] = block_a[j + (4 * ly + r) * width];
                rows_b[r] = b[x + (step * 4 * width + 4 * j + r) * row_length];
            }
            for (int r = 0; r < 4; r++) {
                multiply_row(sum[r], rows_a[r], rows_b);
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++) {
        c[x + (4 * y + r) * row_length] = sum[r];
    }
}

struct product {
    size_t n;
    float *a, *b, *c, *block_a;
};

static void multiply(const product &p)
{
    multiply_kernel<<<dim3(p.n / tile, p.n / tile), dim3(side, side)>>>(
        reinterpret_cast<const float4 *>(p.a), reinterpret_cast<const float4 *>(p.b),
        reinterpret_cast<float4 *>(p.c), int(p.n / 4), reinterpret_cast<float4 *>(p.block_a));
}

static bool multiply_check(const product &p, std::vector<float> a, const std::vector<float> &b)
{
    size_t n = p.n;
    std::vector<float> got(n * n), want(n * n);
    from_device(got, p.c);
    for (float one : got) {
        if (!(std::fabs(one) <= float(n))) { // as no factor is above 1
            std::printf("FAIL matrixmultiplication: %g is no sum of %zu products\n", one, n);
            return false;
        }
    }
    for (size_t i = 0; i < n * n; i++) {
        a[i] = a[i / n % tile * n + i % n % tile];
    }
    HIP_MUST(hipMemcpy(p.a, a.data(), n * n * sizeof(float), hipMemcpyHostToDevice));
    multiply(p);
    from_device(got, p.c);
    for (size_t y = 0; y < n; y++) {
        for (size_t k = 0; k < n; k++) {
            for (size_t x = 0; x < n; x++) {
                want[y * n + x] = fused(a[y * n + k], b[k * n + x], want[y * n + x]);
            }
        }
    }
    return same_or_report("matrixmultiplication", got, want);
}

int main(int argc, char **argv)
{
    label l = label_arguments(argc, argv, "matrixmultiplication", tile, 32768);
    size_t n = l.size;
    glibc_random random(42);
    std::vector<float> a(n * n), b(n * n);
    for (std::vector<float> *matrix : {&a, &b}) {
        for (float &value : *matrix) {
            value = float(random.next() % 100) / 50.0f - 1.0f;
        }
    }
    product p = {n, to_device(a), to_device(b), device_array<float>(n * n),
                 device_array<float>(n * n)};
    label_run(l, [&] { multiply(p); });
    return !l.check                                                      ? 0
           : label_random_is_that_of_glibc(l) && multiply_check(p, a, b) ? pass(l.name.c_str())
                                                                         : 1;
}
