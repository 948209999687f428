// Half precision: conversions both ways, arithmetic, packed pairs, and comparison. The host rounds from fp64; +, - and *
// of halves are exact there before rounding. Arguments: [elements].
#include "check.hpp"

#include <hip/hip_fp16.h>

enum { results = 8 };

__global__ void compute(const float *x, const float *y, float *out, __half2 *packed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    __half a = __float2half(x[i]), b = __float2half(y[i]);
    float *to = out + results * i;
    to[0] = __half2float(a);
    to[1] = __half2float(__hadd(a, b));
    to[2] = __half2float(__hsub(a, b));
    to[3] = __half2float(__hmul(a, b));
    to[4] = __half2float(__hfma(a, b, a));
    to[5] = __hlt(a, b) ? 1.0f : 2.0f;
    to[6] = static_cast<float>(__half2int_rz(a));
    to[7] = __half2float(__float2half(x[i] * 3000.0f)); // overflows to infinity at times
    packed[i] = __hadd2(__halves2half2(a, b), __floats2half2_rn(1.0f, -2.0f));
}

// Nearest half, ties to even, by scaling to an integer number of units in the last place.
static float to_half(double x)
{
    if (x == 0 || std::isnan(x)) {
        return static_cast<float>(x);
    }
    int exponent = std::max(std::ilogb(x), -14);
    double unit = std::ldexp(1.0, exponent - 10), rounded = std::nearbyint(x / unit) * unit;
    return static_cast<float>(std::fabs(rounded) >= 65520 || std::fabs(rounded) > 65504
                                  ? std::copysign(INFINITY, x)
                                  : rounded);
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 700);
    random_source random;
    std::vector<float> x(n), y(n), out(results * n), want(results * n), pairs(2 * n), want_pairs(2 * n);
    for (int i = 0; i < n; i++) {
        x[i] = std::ldexp(static_cast<float>(static_cast<int>(random.next())), -static_cast<int>(26 + random.next() % 20));
        y[i] = std::ldexp(static_cast<float>(static_cast<int>(random.next())), -static_cast<int>(26 + random.next() % 10));
        double a = to_half(x[i]), b = to_half(y[i]);
        float *to = &want[results * i];
        to[0] = static_cast<float>(a);
        to[1] = to_half(a + b);
        to[2] = to_half(a - b);
        to[3] = to_half(a * b);
        to[4] = to_half(a * b + a);
        to[5] = a < b ? 1.0f : 2.0f;
        to[6] = std::trunc(static_cast<float>(a));
        to[7] = to_half(static_cast<double>(x[i] * 3000.0f));
        want_pairs[2 * i] = to_half(a + 1);
        want_pairs[2 * i + 1] = to_half(b - 2);
    }
    float *dx = to_device(x), *dy = to_device(y), *dout = device_zeros<float>(out.size());
    __half2 *dpacked = nullptr;
    allocate(&dpacked, n * sizeof(__half2));
    compute<<<blocks_for(n, 64), 64>>>(dx, dy, dout, dpacked, n);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    std::vector<__half2> packed(n);
    from_device(packed, dpacked);
    for (int i = 0; i < n; i++) {
        pairs[2 * i] = __low2float(packed[i]);
        pairs[2 * i + 1] = __high2float(packed[i]);
    }
    return same_or_report("half", out, want) && same_or_report("half: pairs", pairs, want_pairs) ? pass("half") : 1;
}
