// Errors of device functions in units of the last place, against MPFR, and the bounds that the CUDA
// C++ Programming Guide publishes ("Mathematical functions", maximum ULP errors). Arguments: how
// many values of each function (default: 4096). Prints a line for each function and PASS or FAIL.
#include <mpfr.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef int (*exact_function)(mpfr_t, const mpfr_t, mpfr_rnd_t);

static int exact_erfcx(mpfr_t to, const mpfr_t x, mpfr_rnd_t round)
{
    mpfr_t square;
    mpfr_init2(square, 300);
    mpfr_sqr(square, x, round);
    mpfr_exp(square, square, round);
    mpfr_erfc(to, x, round);
    int inexact = mpfr_mul(to, to, square, round);
    mpfr_clear(square);
    return inexact;
}

// Newton's method, which comes nearer from the side of 0, as erf() is concave.
static int exact_erfinv(mpfr_t to, const mpfr_t y, mpfr_rnd_t round)
{
    mpfr_t x, step, slope;
    mpfr_inits2(300, x, step, slope, (mpfr_ptr)0);
    mpfr_set_zero(x, 1);
    do {
        mpfr_sqr(slope, x, round);
        mpfr_exp(slope, slope, round);
        mpfr_erf(step, x, round);
        mpfr_sub(step, y, step, round);
        mpfr_mul(step, step, slope, round);
        mpfr_const_pi(slope, round);
        mpfr_sqrt(slope, slope, round);
        mpfr_div_2ui(slope, slope, 1, round);
        mpfr_mul(step, step, slope, round);
        mpfr_add(x, x, step, round);
    } while (!mpfr_zero_p(step) && mpfr_number_p(x) && mpfr_get_exp(step) > mpfr_get_exp(x) - 100);
    int inexact = mpfr_set(to, x, round);
    mpfr_clears(x, step, slope, (mpfr_ptr)0);
    return inexact;
}

static int exact_erfcinv(mpfr_t to, const mpfr_t q, mpfr_rnd_t round)
{
    mpfr_ui_sub(to, 1, q, round);
    return exact_erfinv(to, to, round);
}

static int exact_normcdfinv(mpfr_t to, const mpfr_t p, mpfr_rnd_t round)
{
    mpfr_t root;
    mpfr_init2(root, 300);
    mpfr_mul_2ui(to, p, 1, round);
    mpfr_sub_ui(to, to, 1, round);
    exact_erfinv(to, to, round);
    mpfr_sqrt_ui(root, 2, round);
    int inexact = mpfr_mul(to, to, root, round);
    mpfr_clear(root);
    return inexact;
}

// X(name, exact, bound for float, bound for double, least, most)
#define FUNCTIONS(X)                                                                               \
    X(sin, mpfr_sin, 2, 2, -100, 100)                                                              \
    X(cos, mpfr_cos, 2, 2, -100, 100)                                                              \
    X(tan, mpfr_tan, 4, 2, -100, 100)                                                              \
    X(asin, mpfr_asin, 2, 2, -1, 1)                                                                \
    X(acos, mpfr_acos, 2, 2, -1, 1)                                                                \
    X(atan, mpfr_atan, 2, 2, -50, 50)                                                              \
    X(sinh, mpfr_sinh, 3, 2, -30, 30)                                                              \
    X(cosh, mpfr_cosh, 2, 1, -30, 30)                                                              \
    X(tanh, mpfr_tanh, 2, 1, -10, 10)                                                              \
    X(asinh, mpfr_asinh, 3, 3, -1000, 1000)                                                        \
    X(acosh, mpfr_acosh, 4, 3, 1, 1000)                                                            \
    X(atanh, mpfr_atanh, 3, 2, -1, 1)                                                              \
    X(exp, mpfr_exp, 1, 1, -80, 80)                                                                \
    X(exp2, mpfr_exp2, 2, 1, -120, 120)                                                            \
    X(exp10, mpfr_exp10, 1, 1, -37, 37)                                                            \
    X(expm1, mpfr_expm1, 1, 1, -20, 20)                                                            \
    X(log, mpfr_log, 1, 1, 0, 1000)                                                                \
    X(log2, mpfr_log2, 1, 1, 0, 1000)                                                              \
    X(log10, mpfr_log10, 2, 1, 0, 1000)                                                            \
    X(log1p, mpfr_log1p, 1, 1, -1, 1000)                                                           \
    X(cbrt, mpfr_cbrt, 1, 1, -1000, 1000)                                                          \
    X(erf, mpfr_erf, 2, 2, -5, 5)                                                                  \
    X(erfc, mpfr_erfc, 4, 5, -5, 9)                                                                \
    X(erfcx, exact_erfcx, 4, 4, -5, 40)                                                            \
    X(erfinv, exact_erfinv, 2, 5, -1, 1)                                                           \
    X(erfcinv, exact_erfcinv, 4, 6, 0, 2)                                                          \
    X(normcdfinv, exact_normcdfinv, 5, 8, 0, 1)                                                    \
    X(tgamma, mpfr_gamma, 5, 10, 0.1, 30)                                                          \
    X(lgamma, mpfr_lngamma, 6, 4, 0.5, 100)                                                        \
    X(sinpi, mpfr_sinpi, 1, 2, -20, 20)                                                            \
    X(cospi, mpfr_cospi, 1, 2, -20, 20)                                                            \
    X(sqrt, mpfr_sqrt, 0, 0, 0, 1000)                                                              \
    X(rsqrt, mpfr_rec_sqrt, 2, 1, 0, 1000)

#define KERNELS(name, exact, single, wide, least, most)                                            \
    __global__ void name##_single(float *x, int n)                                                 \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        if (i < n)                                                                                 \
            x[i] = name##f(x[i]);                                                                  \
    }                                                                                              \
    __global__ void name##_wide(double *x, int n)                                                  \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        if (i < n)                                                                                 \
            x[i] = name(x[i]);                                                                     \
    }
FUNCTIONS(KERNELS)

static void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    std::printf("FAIL math_errors: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

// The distance of `found` from the exact value, in units of the last place of that.
template <typename T>
static double error_of(exact_function exact, double x, double found, int digits, int smallest)
{
    mpfr_t value;
    mpfr_init2(value, 200);
    mpfr_set_d(value, x, MPFR_RNDN);
    exact(value, value, MPFR_RNDN);
    double rounded = mpfr_get_d(value, MPFR_RNDN), units = 0;
    if (std::isfinite((T)rounded) && std::isfinite(found) && !mpfr_zero_p(value)) {
        long exponent = mpfr_get_exp(value) - digits;
        if (exponent < smallest)
            exponent = smallest;
        mpfr_sub_d(value, value, found, MPFR_RNDN);
        mpfr_mul_2si(value, value, -exponent, MPFR_RNDN);
        units = std::fabs(mpfr_get_d(value, MPFR_RNDN));
    } else if ((T)rounded != (T)found && !(std::isnan(rounded) && std::isnan(found))) {
        units = 1e9;
    }
    mpfr_clear(value);
    return units;
}

template <typename T>
static bool check(const char *name, exact_function exact, void (*kernel)(T *, int), double bound,
                  double least, double most, int n)
{
    std::vector<T> in(n), out(n);
    T *device;
    unsigned long long state = 12345;
    for (T &v : in) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        v = (T)(least + (most - least) * ((double)(state >> 11) / 9007199254740992.0));
    }
    must(cudaMalloc(&device, n * sizeof(T)));
    must(cudaMemcpy(device, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    kernel<<<(n + 127) / 128, 128>>>(device, n);
    must(cudaGetLastError());
    must(cudaMemcpy(out.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
    must(cudaFree(device));
    double worst = 0, at = 0;
    for (int i = 0; i < n; i++) {
        bool single = sizeof(T) == 4;
        double units = error_of<T>(exact, in[i], out[i], single ? 24 : 53, single ? -149 : -1074);
        if (units > worst) {
            worst = units;
            at = in[i];
        }
    }
    bool good = worst <= bound + 0.5; // the guide counts from the rounded value
    std::printf("%-8s %-6s %8.3f of %4.1f%s at %.17g\n", name, sizeof(T) == 4 ? "float" : "double",
                worst, bound, good ? "" : "  TOO MUCH", at);
    return good;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 4096, bad = 0;
#define CHECK(name, exact, single, wide, least, most)                                              \
    bad += !check<float>(#name, exact, name##_single, single, least, most, n);                     \
    bad += !check<double>(#name, exact, name##_wide, wide, least, most, n);
    FUNCTIONS(CHECK)
    std::printf(bad ? "FAIL math_errors: %d functions\n" : "PASS math_errors\n", bad);
    return bad != 0;
}
