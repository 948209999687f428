/* The lesser and the greater of two numbers, rounding to multiples, and the length of an array.
 *
 * Operands convert as those of operators do: the type of min(a, b) is that of `a + b`. Each operand
 * is evaluated once. None is a constant expression, so the size of an array is written out. Of
 * floating-point numbers, a NaN gives the second. */
#ifndef HEDDLE_BASE_NUMBER_H
#define HEDDLE_BASE_NUMBER_H

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define NUMBER_ORDER(type, name)                                                                   \
    static inline type min_##name(type a, type b)                                                  \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    static inline type max_##name(type a, type b)                                                  \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }

#define NUMBER_ROUNDING(type, name)                                                                \
    static inline type divide_up_##name(type number, type by)                                      \
    {                                                                                              \
        return (number + by - 1) / by;                                                             \
    }                                                                                              \
    static inline type round_up_##name(type number, type to)                                       \
    {                                                                                              \
        return (number + to - 1) / to * to;                                                        \
    }                                                                                              \
    static inline type round_down_##name(type number, type to)                                     \
    {                                                                                              \
        return number / to * to;                                                                   \
    }

#define NUMBER_INTEGERS(X)                                                                         \
    X(int, int)                                                                                    \
    X(unsigned, unsigned)                                                                          \
    X(long, long)                                                                                  \
    X(unsigned long, ulong)                                                                        \
    X(long long, llong)                                                                            \
    X(unsigned long long, ullong)                                                                  \
    X(__int128, int128)                                                                            \
    X(unsigned __int128, uint128)

NUMBER_INTEGERS(NUMBER_ORDER)
NUMBER_INTEGERS(NUMBER_ROUNDING)
NUMBER_ORDER(float, float)
NUMBER_ORDER(double, double)

#ifndef __cplusplus /* which has no _Generic, and std::min */
/* clang-format off */
#define NUMBER_BY_INTEGER(operation) \
    int: operation##_int, unsigned: operation##_unsigned, \
    long: operation##_long, unsigned long: operation##_ulong, \
    long long: operation##_llong, unsigned long long: operation##_ullong, \
    __int128: operation##_int128, unsigned __int128: operation##_uint128

#define min(a, b) \
    _Generic((a) + (b), NUMBER_BY_INTEGER(min), float: min_float, double: min_double)(a, b)
#define max(a, b) \
    _Generic((a) + (b), NUMBER_BY_INTEGER(max), float: max_float, double: max_double)(a, b)
#define divide_up(number, by)  _Generic((number) + (by), NUMBER_BY_INTEGER(divide_up))(number, by)
#define round_up(number, to)   _Generic((number) + (to), NUMBER_BY_INTEGER(round_up))(number, to)
#define round_down(number, to) _Generic((number) + (to), NUMBER_BY_INTEGER(round_down))(number, to)
/* clang-format on */
#endif

#endif
