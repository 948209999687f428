// bfloat16 by heddle's hip/hip_bf16.h: every value, conversions, arithmetic, comparison and
// functions, on the device and on the host. The reference looks for the nearest of two neighbours in
// fp64 and knows nothing of bits. Arguments: [elements].
#include "check.hpp"

#include <hip/hip_bf16.h>

enum { RESULTS = 16 };

__host__ __device__ static void compute(float x, float y, float *to)
{
    __hip_bfloat16 a = __float2bfloat16(x), b(y);
    to[0] = a;
    to[1] = __bfloat162float(a + b);
    to[2] = __hsub(a, b);
    to[3] = a * b;
    to[4] = __hdiv(a, b);
    to[5] = __hfma(a, b, a);
    to[6] = __hmax(a, b);
    to[7] = __hmin(a, b);
    to[8] = a < b ? 1.0f : __heq(a, b) ? 2.0f : __hneu(a, b) ? 3.0f : 4.0f;
    __hip_bfloat162 pair = __floats2bfloat162_rn(x, y);
    pair += __low2bfloat162(pair);
    to[9] = __low2float(pair);
    to[10] = __high2float(__hneg2(pair));
    to[11] = __high2float(__lowhigh2highlow(pair)) == __low2float(pair) ? 1.0f : 2.0f;
    __hip_bfloat16 c = a;
    c -= b;
    ++c;
    to[12] = -c;
    to[13] = __bfloat1622float2(__hmul2(pair, pair)).x;
    to[14] = __habs(b);
    to[15] = __bfloat16_as_ushort(b);
}

__global__ void on_device(const float *x, const float *y, float *out, float *functions, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        compute(x[i], y[i], out + RESULTS * i);
        __hip_bfloat16 a = __habs(__hip_bfloat16(x[i]));
        functions[3 * i] = hsqrt(a);
        functions[3 * i + 1] = hfloor(a);
        functions[3 * i + 2] = hlog2(a);
    }
}

// Each of the 65,536 values, widened and rounded again; bit 16 says that it is a NaN.
__global__ void round_trip(uint32_t *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __hip_bfloat16 a = __ushort_as_bfloat16(static_cast<unsigned short>(i));
    out[i] = __bfloat16_as_ushort(__hip_bfloat16(static_cast<float>(a))) | (__hisnan(a) ? 1u << 16 : 0u);
}

// The nearest number with 8 bits of significand, ties to even.
static float nearest(double x)
{
    if (x == 0 || std::isnan(x) || std::isinf(x)) {
        return static_cast<float>(x);
    }
    int exponent = std::max(std::ilogb(x), -126);
    double unit = std::ldexp(1.0, exponent - 7), rounded = std::nearbyint(x / unit) * unit;
    return static_cast<float>(rounded); // infinite where it is too large for a float
}

// As a float's arithmetic is rounded first.
static float as_float(double x)
{
    return nearest(static_cast<float>(x));
}

static void want_results(float x, float y, float *to)
{
    double a = nearest(x), b = nearest(y), difference = as_float(a - b);
    to[0] = static_cast<float>(a);
    to[1] = as_float(a + b);
    to[2] = as_float(a - b);
    to[3] = as_float(a * b);
    to[4] = as_float(static_cast<float>(a) / static_cast<float>(b));
    to[5] = nearest(std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(a)));
    to[6] = static_cast<float>(std::fmax(a, b));
    to[7] = static_cast<float>(std::fmin(a, b));
    to[8] = a < b ? 1.0f : a == b ? 2.0f : a != b ? 3.0f : 4.0f;
    double low = as_float(a + a), high = as_float(b + a);
    to[9] = static_cast<float>(low);
    to[10] = static_cast<float>(-high);
    to[11] = 1.0f;
    to[12] = -as_float(difference + 1);
    to[13] = as_float(low * low);
    to[14] = static_cast<float>(std::fabs(b));
    float narrow = static_cast<float>(b);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    to[15] = static_cast<float>(bits >> 16);
}

static bool check_round_trip()
{
    std::vector<uint32_t> got(65536);
    uint32_t *device = device_zeros<uint32_t>(got.size());
    round_trip<<<blocks_for(got.size(), 256), 256>>>(device);
    from_device(got, device);
    for (uint32_t i = 0; i < got.size(); i++) {
        bool is_nan = (i & 0x7fff) > 0x7f80;
        if (got[i] != (i | (is_nan ? 1u << 16 : 0))) {
            std::printf("FAIL bfloat16: value 0x%04x comes back as 0x%05x\n", i, got[i]);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 2000);
    random_source random;
    std::vector<float> x(n), y(n), out(RESULTS * n), host(RESULTS * n), want(RESULTS * n);
    std::vector<float> functions(3 * n), want_functions(3 * n);
    for (int i = 0; i < n; i++) {
        x[i] = std::ldexp(static_cast<float>(static_cast<int>(random.next())),
                          static_cast<int>(random.next() % 40) - 50);
        y[i] = i % 7 == 0 ? x[i]
                          : std::ldexp(static_cast<float>(static_cast<int>(random.next())),
                                       static_cast<int>(random.next() % 40) - 50);
        if (i % 3 == 0) { // half way between two values
            x[i] = static_cast<float>(257 + 2 * (i % 128));
        }
        want_results(x[i], y[i], &want[RESULTS * i]);
        compute(x[i], y[i], &host[RESULTS * i]);
        double a = std::fabs(nearest(x[i]));
        want_functions[3 * i] = nearest(std::sqrt(static_cast<float>(a)));
        want_functions[3 * i + 1] = nearest(std::floor(a));
        want_functions[3 * i + 2] = nearest(std::log2(static_cast<float>(a)));
    }
    float *dx = to_device(x), *dy = to_device(y), *dout = device_zeros<float>(out.size());
    float *dfunctions = device_zeros<float>(functions.size());
    on_device<<<blocks_for(n, 64), 64>>>(dx, dy, dout, dfunctions, n);
    from_device(out, dout);
    from_device(functions, dfunctions);
    return check_round_trip() && same_or_report("bfloat16 on the host", host, want)
                   && same_or_report("bfloat16", out, want)
                   && near_or_report("bfloat16: functions", functions, want_functions, 1.0 / 128)
               ? pass("bfloat16")
               : 1;
}
