// atax N: y = A^T (A x) for N x N floats: a memset of tmp and y, a launch with a thread per row that adds into tmp in memory
// (lanes read different rows), and one with a thread per column that adds into y (lanes read the same row).
#include "label.hpp"

__global__ void by_rows(const float *a, const float *x, float *tmp, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int j = 0; j < n; j++) {
            tmp[i] += a[i * n + j] * x[j];
        }
    }
}

__global__ void by_columns(const float *a, const float *tmp, float *y, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) {
        for (int i = 0; i < n; i++) {
            y[j] += a[i * n + j] * tmp[i];
        }
    }
}

int main(int argc, char **argv)
{
    label l = label_arguments(argc, argv, "atax", 1, 46340);
    size_t n = l.size;
    glibc_random random(42);
    std::vector<float> a(n * n), x(n);
    for (std::vector<float> *values : {&a, &x}) {
        for (float &value : *values) {
            value = float(random.next() % 100) / 10.0f;
        }
    }
    float *da = to_device(a), *dx = to_device(x);
    float *dtmp = device_array<float>(n), *dy = device_array<float>(n);
    label_run(l, [&] {
        HIP_MUST(hipMemset(dtmp, 0, n * sizeof(float)));
        HIP_MUST(hipMemset(dy, 0, n * sizeof(float)));
        by_rows<<<dim3(blocks_for(n, 256)), dim3(256)>>>(da, dx, dtmp, int(n));
        by_columns<<<dim3(blocks_for(n, 256)), dim3(256)>>>(da, dtmp, dy, int(n));
    });
    if (!l.check) {
        return 0;
    }
    std::vector<float> y(n), tmp(n), want(n);
    from_device(y, dy);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            tmp[i] = fused(a[i * n + j], x[j], tmp[i]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            want[j] = fused(a[i * n + j], tmp[i], want[j]);
        }
    }
    return label_random_is_that_of_glibc(l) && same_or_report("atax", y, want) ? pass("atax") : 1;
}
