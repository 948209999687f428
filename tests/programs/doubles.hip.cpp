// fp64: matrix product, dot product, square root, division, fused multiply-add, conversions. IEEE 754 fixes the results
// of these, so they must be the host's to the bit; exp, log and sin may differ in the last places. Arguments: [n].
#include "check.hpp"

__global__ void dgemm(const double *a, const double *b, double *c, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n) {
        double sum = 0;
        for (int k = 0; k < n; k++) {
            sum = fma(a[row * n + k], b[k * n + column], sum);
        }
        c[row * n + column] = sum;
    }
}

enum { functions = 11 };

__host__ __device__ static void exact(double x, double y, double *out)
{
#pragma clang fp contract(off) // a device fuses where the host cannot
    out[0] = x / y;
    out[1] = sqrt(fabs(x));
    out[2] = fma(x, y, x);
    out[3] = x * y - y;
    out[4] = static_cast<double>(static_cast<float>(x));
    out[5] = static_cast<double>(static_cast<int>(x));
    out[6] = floor(x) + ceil(y) + trunc(x) + rint(y);
    out[7] = fmin(x, y) - fmax(x, y);
    out[8] = static_cast<double>(static_cast<long long>(x * 1e6));
    out[9] = 1.0 / x;
    out[10] = ldexp(x, 37) + static_cast<double>(static_cast<unsigned>(fabs(y)));
}

__global__ void exact_functions(const double *x, const double *y, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        exact(x[i], y[i], out + functions * i);
    }
}

__global__ void close_functions(const double *x, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[4 * i] = exp(x[i]);
        out[4 * i + 1] = log(fabs(x[i]) + 0.1);
        out[4 * i + 2] = sin(x[i]);
        out[4 * i + 3] = pow(fabs(x[i]), 1.7);
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 24), many = n * n;
    random_source random;
    std::vector<double> a(many), b(many), c(many), want(many);
    for (int i = 0; i < many; i++) {
        a[i] = (static_cast<int>(random.next()) + 0.5) / 1e8;
        b[i] = (static_cast<int>(random.next()) + 0.5) / 1e8;
    }
    for (int row = 0; row < n; row++) {
        for (int column = 0; column < n; column++) {
            for (int k = 0; k < n; k++) {
                want[row * n + column] = std::fma(a[row * n + k], b[k * n + column], want[row * n + column]);
            }
        }
    }
    double *da = to_device(a), *db = to_device(b), *dc = device_zeros<double>(many);
    dgemm<<<dim3(blocks_for(n, 16), blocks_for(n, 16)), dim3(16, 16)>>>(da, db, dc, n);
    from_device(c, dc);
    if (!same_or_report("doubles: dgemm", c, want)) {
        return 1;
    }
    std::vector<double> got(functions * many), expected(functions * many);
    for (int i = 0; i < many; i++) {
        exact(a[i], b[i], &expected[functions * i]);
    }
    double *dout = device_zeros<double>(functions * many);
    exact_functions<<<blocks_for(many, 64), 64>>>(da, db, dout, many);
    from_device(got, dout);
    if (!same_or_report("doubles: exact", got, expected)) {
        return 1;
    }
    got.resize(4 * many);
    expected.resize(4 * many);
    for (int i = 0; i < many; i++) {
        expected[4 * i] = std::exp(a[i]);
        expected[4 * i + 1] = std::log(std::fabs(a[i]) + 0.1);
        expected[4 * i + 2] = std::sin(a[i]);
        expected[4 * i + 3] = std::pow(std::fabs(a[i]), 1.7);
    }
    close_functions<<<blocks_for(many, 64), 64>>>(da, dout, many);
    from_device(got, dout);
    return near_or_report("doubles: close", got, expected, 1e-14) ? pass("doubles") : 1;
}
