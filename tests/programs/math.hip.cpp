// The fp32 functions of the device library against the host's fp64 ones, each with its own tolerance. Arguments: [n].
#include "check.hpp"

#define FUNCTIONS(X)                                                                                                  \
    X(sin, sinf(x), std::sin(x), 2e-6)                                                                                \
    X(cos, cosf(x), std::cos(x), 2e-6)                                                                                \
    X(tan, tanf(x * 0.1f), std::tan(as_float(x * 0.1f)), 2e-5) \
    X(large_sin, sinf(x * 100000.0f), std::sin(as_float(x * 100000.0f)), 2e-6)                             \
    X(exp, expf(x), std::exp(x), 2e-6)                                                                                \
    X(exp2, exp2f(x), std::exp2(x), 2e-6)                                                                             \
    X(expm1, expm1f(x), std::expm1(x), 2e-6)                                                                          \
    X(log, logf(fabsf(x)), std::log(std::fabs(x)), 2e-6)                                                              \
    X(log2, log2f(fabsf(x)), std::log2(std::fabs(x)), 2e-6)                                                           \
    X(log10, log10f(fabsf(x)), std::log10(std::fabs(x)), 2e-6)                                                        \
    X(log1p, log1pf(fabsf(x)), std::log1p(std::fabs(x)), 2e-6)                                                        \
    X(pow, powf(fabsf(x), y), std::pow(std::fabs(x), y), 1e-5)                                                        \
    X(powi, powf(x, 3.0f), std::pow(x, 3.0), 1e-5)                                                                    \
    X(sqrt, sqrtf(fabsf(x)), std::sqrt(std::fabs(x)), 2e-7)                                                           \
    X(rsqrt, rsqrtf(fabsf(x)), 1 / std::sqrt(std::fabs(x)), 1e-6)                                                     \
    X(cbrt, cbrtf(x), std::cbrt(x), 1e-6)                                                                             \
    X(divide, y / x, y / x, 3e-7)                                                                                     \
    X(reciprocal, 1.0f / x, 1 / x, 3e-7)                                                                              \
    X(erf, erff(x), std::erf(x), 2e-6)                                                                                \
    X(erfc, erfcf(x * 0.3f), std::erfc(as_float(x * 0.3f)), 1e-5)                                          \
    X(gamma, lgammaf(fabsf(x)), std::lgamma(std::fabs(x)), 1e-5)                                                      \
    X(tanh, tanhf(x), std::tanh(x), 2e-6)                                                                             \
    X(sinh, sinhf(x), std::sinh(x), 2e-6)                                                                             \
    X(atan, atanf(x), std::atan(x), 1e-6)                                                                             \
    X(atan2, atan2f(y, x), std::atan2(y, x), 1e-6)                                                                    \
    X(asin, asinf(x / 16), std::asin(x / 16), 1e-6)                                                                   \
    X(acos, acosf(x / 16), std::acos(x / 16), 1e-6)                                                                   \
    X(hypot, hypotf(x, y), std::hypot(x, y), 1e-6)                                                                    \
    X(fmod, fmodf(x, y), std::fmod(x, y), 1e-6)                                                                       \
    X(remainder, remainderf(x, y), std::remainder(x, y), 1e-6)                                                        \
    X(floor, floorf(x) + ceilf(y) * 64, std::floor(x) + std::ceil(y) * 64, 0)                                         \
    X(round, roundf(x) + rintf(y) * 64 + truncf(x) * 4096, std::round(x) + std::rint(y) * 64 + std::trunc(x) * 4096, 0) \
    X(ldexp, ldexpf(x, 9) + scalbnf(y, -3), std::ldexp(x, 9) + std::scalbn(y, -3), 1e-6)                              \
    X(copysign, copysignf(x, y) + fdimf(x, y), std::copysign(x, y) + std::fdim(x, y), 1e-6)                           \
    X(fast_sin, __sinf(x), std::sin(x), 1e-5)                                                                         \
    X(fast_exp, __expf(x), std::exp(x), 1e-5)                                                                         \
    X(fast_log, __logf(fabsf(x)), std::log(std::fabs(x)), 1e-5)                                                       \
    X(fma, fmaf(x, y, x), x * y + x, 3e-7)

// What a device's fp32 product is, as the host's x and y are fp64.
static double as_float(double x)
{
    return static_cast<double>(static_cast<float>(x));
}

enum function {
#define X(name, device, host, tolerance) function_##name,
    FUNCTIONS(X)
#undef X
        function_count
};

__global__ void compute(const float *xs, const float *ys, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = xs[i], y = ys[i];
#define X(name, device, host, tolerance) out[function_##name * n + i] = device;
        FUNCTIONS(X)
#undef X
    }
}

static bool check_one(const char *name, double got, double want, double tolerance, float x, float y)
{
    double scale = std::fabs(want) > 1 ? std::fabs(want) : 1;
    if (got == want || std::fabs(got - want) <= tolerance * scale) {
        return true;
    }
    std::printf("FAIL math: %s of %.9g and %.9g is %.9g, expected %.9g\n", name, static_cast<double>(x),
                static_cast<double>(y), got, want);
    return false;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 256);
    random_source random;
    std::vector<float> xs(n), ys(n), out(function_count * n);
    for (int i = 0; i < n; i++) {
        xs[i] = (static_cast<int>(random.next() % 32001) - 16000 + 0.5f) / 1100.0f;
        ys[i] = (static_cast<int>(random.next() % 8001) - 4000 + 0.5f) / 900.0f;
    }
    float *dx = to_device(xs), *dy = to_device(ys), *dout = device_zeros<float>(out.size());
    compute<<<blocks_for(n, 64), 64>>>(dx, dy, dout, n);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    bool good = true;
    for (int i = 0; i < n && good; i++) {
        double x = xs[i], y = ys[i];
#define X(name, device, host, tolerance) \
    good &= check_one(#name, out[function_##name * n + i], host, tolerance, xs[i], ys[i]);
        FUNCTIONS(X)
#undef X
    }
    return good ? pass("math") : 1;
}
