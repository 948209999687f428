// C = A B for square matrices, one thread an element, straight from memory. Arguments: [side].
#include "check.hpp"

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        sum += a[row * n + k] * b[k * n + column];
    }
    c[row * n + column] = sum;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 40);
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
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    matmul<<<grid, block>>>(da, db, dc, n);
    HIP_MUST(hipDeviceSynchronize());
    from_device(c, dc);
    return same_or_report("matmul", c, want) ? pass("matmul") : 1;
}
