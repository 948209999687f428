// c[i] = a[i] + b[i]. Arguments: [elements]. The size need not be a multiple of the work-group.
#include "check.hpp"

__global__ void vectoradd(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 10000);
    random_source random;
    std::vector<float> a(n), b(n), c(n), want(n);
    for (int i = 0; i < n; i++) {
        a[i] = random.small();
        b[i] = random.small();
        want[i] = a[i] + b[i];
    }
    float *da = to_device(a), *db = to_device(b), *dc = to_device(c);
    vectoradd<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    HIP_MUST(hipGetLastError());
    HIP_MUST(hipDeviceSynchronize());
    from_device(c, dc);
    return same_or_report("vectoradd", c, want) ? pass("vectoradd") : 1;
}
