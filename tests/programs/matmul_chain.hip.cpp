// A chain of products of square matrices, each the next one's left factor, between two buffers: one thread an element,
// modulo 2^32. Arguments: [side] [products].
#include "check.hpp"

__global__ void multiply(const uint32_t *a, const uint32_t *b, uint32_t *c, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    uint32_t sum = 0;
    if (row >= n || column >= n) {
        return;
    }
    for (int k = 0; k < n; k++) {
        sum += a[row * n + k] * b[k * n + column];
    }
    c[row * n + column] = sum;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 32), products = size_argument(argc, argv, 2, 4);
    random_source random;
    size_t size = static_cast<size_t>(n) * n;
    std::vector<uint32_t> a(size), b(size), c(size);
    for (size_t i = 0; i < size; i++) {
        a[i] = random.next();
        b[i] = random.next();
    }
    uint32_t *da = to_device(a), *db = to_device(b), *dc = to_device(c);
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    for (int p = 0; p < products; p++) {
        multiply<<<grid, block>>>(da, db, dc, n);
        std::swap(da, dc);
        for (int row = 0; row < n; row++) {
            for (int column = 0; column < n; column++) {
                uint32_t sum = 0;
                for (int k = 0; k < n; k++) {
                    sum += a[static_cast<size_t>(row) * n + k] * b[static_cast<size_t>(k) * n + column];
                }
                c[static_cast<size_t>(row) * n + column] = sum;
            }
        }
        std::swap(a, c);
    }
    HIP_MUST(hipMemcpy(c.data(), da, size * sizeof(uint32_t), hipMemcpyDeviceToHost));
    return same_or_report("matmul_chain", c, a) ? pass("matmul_chain") : 1;
}
