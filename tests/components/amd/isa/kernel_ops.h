/* Expressions that mean the same in OpenCL C and in C: kernels.cl and test_isa_kernels.c both
 * expand them.
 *
 * X(result type, source type, expression of x and y). y is never 0 and the shifts are masked, so
 * that C defines the result. */

/* By hand: clang-format takes a list for an expression, and puts several into a line. */
/* clang-format off */
#define INTEGER_OPS(X, T, U, BITS)                                                                 \
    X(T, (T)((U)x + (U)y))                                                                         \
    X(T, (T)((U)x - (U)y))                                                                         \
    X(T, (T)(1u * (U)x * (U)y))                                                                    \
    X(T, x / y)                                                                                    \
    X(T, x % y)                                                                                    \
    X(T, (T)((U)x << ((U)y & (BITS - 1))))                                                         \
    X(T, (T)(x >> ((U)y & (BITS - 1))))                                                            \
    X(T, x & y)                                                                                    \
    X(T, x | y)                                                                                    \
    X(T, x ^ y)                                                                                    \
    X(T, (T)~x)                                                                                    \
    X(T, x < y ? x : y)                                                                            \
    X(T, x > y ? y : x)                                                                            \
    X(T, (T)(x == y))                                                                              \
    X(T, (T)(x >= y ? 7 : -3))                                                                     \
    X(T, (T)(1u * (U)x * (U)x + (U)y))                                                             \
    X(T, (T)((U)(x >> 3) * 5u + (U)(y & 15)))                                                      \
    X(T, (T)(((U)x >> 5) & 0x7f))                                                                  \
    X(T, (T)((signed char)x))                                                                      \
    X(T, (T)((unsigned char)y))                                                                    \
    X(T, (T)((short)x))                                                                            \
    X(T, (T)((unsigned short)(y + 1)))                                                             \
    X(T, (T)((U)x ^ ((U)x >> (BITS / 2))))                                                         \
    X(T, (T)((((U)x << 7) | ((U)x >> (BITS - 7)))))

/* Exact in both: IEEE operations and conversions within range. */
#define FLOAT_OPS(X, T)                                                                            \
    X(T, x + y)                                                                                    \
    X(T, x - y)                                                                                    \
    X(T, x * y)                                                                                    \
    X(T, x / y)                                                                                    \
    X(T, y / (x + (T)3))                                                                           \
    X(T, x < y ? x : y)                                                                            \
    X(T, x > y ? -x : y)                                                                           \
    X(T, floor(x))                                                                                 \
    X(T, ceil(x))                                                                                  \
    X(T, trunc(x))                                                                                 \
    X(T, rint(x))                                                                                  \
    X(T, fabs(x))                                                                                  \
    X(T, copysign(x, y))                                                                           \
    X(T, fmin(x, y))                                                                               \
    X(T, fmax(x, y))                                                                               \
    X(T, fma(x, y, x))                                                                             \
    X(T, (T)(int)x)                                                                                \
    X(T, (T)(uint)fabs(x))                                                                         \
    X(T, (T)(long)x)                                                                               \
    X(T, (T)(ulong)fabs(y))                                                                        \
    X(T, ldexp(x, 5))                                                                              \
    X(T, ldexp(y, -7))                                                                             \
    X(T, (T)(x != y))                                                                              \
    X(T, (T)(float)y)                                                                              \
    X(T, (T)(double)x)                                                                             \
    X(T, fmod(x, y))                                                                               \
    X(T, (T)(isnan(x / (y - y)) != 0))                                                             \
    X(T, (T)ilogb(y))                                                                              \
    X(T, (T)(short)x)

/* Library functions: the device library's, made of many instructions; compared within units in the
 * last place. */
#define LIBRARY_OPS(X, T)                                                                          \
    X(T, sqrt(fabs(x)))                                                                            \
    X(T, sin(x))                                                                                   \
    X(T, cos(x))                                                                                   \
    X(T, tan(x))                                                                                   \
    X(T, asin(x / (T)200))                                                                         \
    X(T, acos(x / (T)200))                                                                         \
    X(T, atan(x))                                                                                  \
    X(T, atan2(x, y))                                                                              \
    X(T, exp(x / (T)8))                                                                            \
    X(T, exp2(x / (T)8))                                                                           \
    X(T, log(fabs(y)))                                                                             \
    X(T, log2(fabs(y)))                                                                            \
    X(T, log10(fabs(y)))                                                                           \
    X(T, pow(fabs(y), x / (T)16))                                                                  \
    X(T, sinh(x / (T)16))                                                                          \
    X(T, cosh(x / (T)16))                                                                          \
    X(T, tanh(x / (T)16))                                                                          \
    X(T, cbrt(x))                                                                                  \
    X(T, hypot(x, y))                                                                              \
    X(T, erf(x / (T)32))                                                                           \
    X(T, log1p(fabs(x)))                                                                           \
    X(T, expm1(x / (T)16))                                                                         \
    X(T, sin(x * (T)100000))                                                                       \
    X(T, tgamma(fabs(y) / (T)8))                                                                   \
    X(T, asinh(x))                                                                                 \
    X(T, atanh(x / (T)150))
/* clang-format on */
