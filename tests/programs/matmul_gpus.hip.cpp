// Matrix multiplication with the rows of A and C divided over all GPUs; all read B from the first one's memory.
// Arguments: [order].
#include "check.hpp"

__global__ void multiply(const float *a, const float *b, float *c, int rows, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < n && y < rows) {
        float sum = 0;
        for (int k = 0; k < n; k++) {
            sum += a[y * n + k] * b[k * n + x];
        }
        c[y * n + x] = sum;
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 40), count = 0;
    HIP_MUST(hipGetDeviceCount(&count));
    random_source random;
    std::vector<float> a(n * n), b(n * n), want(n * n), got(n * n);
    for (int i = 0; i < n * n; i++) {
        a[i] = random.small();
        b[i] = random.small();
    }
    for (int i = 0; i < n * n; i++) {
        for (int k = 0; k < n; k++) {
            want[i] += a[i / n * n + k] * b[k * n + i % n];
        }
    }
    HIP_MUST(hipSetDevice(0));
    float *db = to_device(b);
    std::vector<float *> dc(count);
    std::vector<int> first(count + 1);
    for (int d = 0; d < count; d++) {
        first[d + 1] = n * (d + 1) / count;
        int rows = first[d + 1] - first[d];
        HIP_MUST(hipSetDevice(d));
        if (d > 0) {
            HIP_MUST(hipDeviceEnablePeerAccess(0, 0));
        }
        float *da = to_device(std::vector<float>(a.begin() + first[d] * n, a.begin() + first[d + 1] * n));
        dc[d] = device_zeros<float>(rows * n);
        multiply<<<dim3(blocks_for(n, 64), rows), 64>>>(da, db, dc[d], rows, n);
        HIP_MUST(hipGetLastError());
    }
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipMemcpy(&got[first[d] * n], dc[d], (first[d + 1] - first[d]) * n * sizeof(float), hipMemcpyDeviceToHost));
    }
    return same_or_report("matmul_gpus", got, want) ? pass("matmul_gpus") : 1;
}
