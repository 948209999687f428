// C = A B by tiles of 16x16 in LDS, with barriers. Arguments: [side, rounded up to a multiple of
// 16].
#include "check.hpp"

constexpr int tile = 16;

__global__ void matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[tile][tile];
    __shared__ float tile_b[tile][tile + 1];
    int column = blockIdx.x * tile + threadIdx.x;
    int row = blockIdx.y * tile + threadIdx.y;
    float sum = 0.0f;
    for (int t = 0; t < n; t += tile) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < tile; k++) {
            sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

int main(int argc, char **argv)
{
    int n = (size_argument(argc, argv, 1, 48) + tile - 1) / tile * tile;
    random_source random;
    std::vector<float> a(n * n), b(n * n), c(n * n), want(n * n);
    for (int i = 0; i < n * n; i++) {
        a[i] = random.small();
        b[i] = random.small();
    }
    for (int row = 0; row < n; row++) {
        for (int column = 0; column < n; column++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) {
                sum += static_cast<double>(a[row * n + k]) * b[k * n + column];
            }
            want[row * n + column] = static_cast<float>(sum); // products are exact, so are the sums
        }
    }
    float *da = to_device(a), *db = to_device(b), *dc = to_device(c);
    matmul_tiled<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(da, db, dc, n);
    HIP_MUST(hipDeviceSynchronize());
    from_device(c, dc);
    return same_or_report("matmul_tiled", c, want) ? pass("matmul_tiled") : 1;
}
