// tensor_core_throughput N: C = A B of N x N numbers of f16, summed in f32. A wavefront makes a tile of 16 x 16 by matrix
// instructions whose operands it loads from memory: no LDS and no reuse of registers.
#include "micro.hpp"

using half = _Float16;
using half4 = half __attribute__((ext_vector_type(4)));
using float4v = float __attribute__((ext_vector_type(4)));

constexpr int tile = 16;

__global__ void multiply(const half *a, const half *b, float *c, int n)
{
    int lane = threadIdx.x, column = lane % tile, quarter = lane / tile;
    int row0 = (blockIdx.y * blockDim.y + threadIdx.y) * tile, column0 = blockIdx.x * tile;
    float4v sum = {0, 0, 0, 0};
    if (row0 >= n) {
        return;
    }
    for (int k = 0; k < n; k += tile) {
        half4 left = *reinterpret_cast<const half4 *>(&a[(row0 + column) * n + k + 4 * quarter]);
        half4 right;
        for (int i = 0; i < 4; i++) {
            right[i] = b[(k + 4 * quarter + i) * n + column0 + column];
        }
        sum = __builtin_amdgcn_mfma_f32_16x16x16f16(left, right, sum, 0, 0, 0);
    }
    for (int i = 0; i < 4; i++) {
        c[(row0 + 4 * quarter + i) * n + column0 + column] = sum[i];
    }
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "tensor_core_throughput", 32768, {{"precision", "fp16"}});
    m.one_of("precision", {"fp16"});
    if (m.size % tile != 0) {
        m.refuse("the size is not a multiple of 16");
    }
    size_t n = m.size;
    glibc_random random(42);
    std::vector<half> a(n * n), b(n * n);
    for (std::vector<half> *matrix : {&a, &b}) {
        for (half &value : *matrix) {
            value = half(float(random.next() % 16 - 8) / 8.0f); // sums of products are exact
        }
    }
    half *da = to_device(a), *db = to_device(b);
    float *dc = device_array<float>(n * n);
    label_run(m, [&] {
        multiply<<<dim3(n / tile, blocks_for(n / tile, 4)), dim3(64, 4)>>>(da, db, dc, int(n));
    });
    if (!m.check) {
        return 0;
    }
    std::vector<float> got(n * n), want(n * n);
    from_device(got, dc);
    for (size_t y = 0; y < n; y++) {
        for (size_t k = 0; k < n; k++) {
            for (size_t x = 0; x < n; x++) {
                want[y * n + x] += float(a[y * n + k]) * float(b[k * n + x]);
            }
        }
    }
    return same_or_report(m.name.c_str(), got, want) ? pass(m.name.c_str()) : 1;
}
