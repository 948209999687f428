/* Built-in functions on floats, what they compute by MPFR, and how wrong OpenCL lets them be.
 *
 * Limits are those of the OpenCL C specification, "Relative Error as ULPs", for float, double and
 * half. The device computes `expression` of a, b and c of type T. */
#ifndef HEDDLE_TESTS_OPENCL_BUILTIN_ROWS_H
#define HEDDLE_TESTS_OPENCL_BUILTIN_ROWS_H

#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

enum builtin_format { BUILTIN_FLOAT, BUILTIN_DOUBLE, BUILTIN_HALF, BUILTIN_FORMATS };

struct builtin_shape {
    const char *type, *bits_type;     /* of OpenCL C */
    int bits, precision, least, most; /* exponents of the smallest and the largest normal number */
};
extern const struct builtin_shape builtin_shapes[BUILTIN_FORMATS];

/* What a row is given. `integer` takes the place of b. */
struct builtin_inputs {
    const mpfr_t *value; /* a, b, c */
    long integer;
    enum builtin_format format;
};

enum builtin_flag {
    BUILTIN_INTEGER_B = 1,     /* b is an int */
    BUILTIN_INTEGER = 2,       /* the result is an int */
    BUILTIN_ANY_ZERO = 4,      /* a zero may have either sign */
    BUILTIN_HALF_FORM = 8,     /* half_sin() and its like: floats up to 65,536, without denormals */
    BUILTIN_UNLIMITED = 16,    /* any result will do: its error is only reported */
    BUILTIN_LIBRARY_ZERO = 32, /* rocm-device-libs 5.2.3 gives some zeros the other sign */
};

struct builtin_row {
    const char *name, *expression;
    unsigned arguments; /* 1 to 3 */
    /* Sets the exact result, to be rounded. False: the specification does not say. */
    bool (*exact)(const struct builtin_inputs *inputs, mpfr_t result);
    double limit[BUILTIN_FORMATS]; /* ulps; 0: correctly rounded */
    unsigned flags;
    double library[BUILTIN_FORMATS]; /* what rocm-device-libs 5.2.3 reaches beyond the limit */
};

extern const struct builtin_row builtin_rows[];
extern const unsigned builtin_row_count;

/* The number with these bits; NaN and infinities as they are. */
void builtin_load(enum builtin_format format, uint64_t bits, mpfr_t value);
bool builtin_is_denormal(enum builtin_format format, uint64_t bits);
/* How many units in the last place the bits are from the exact result; infinite where an infinity,
 * a NaN or the sign of a zero is not what it must be. `flushes`: denormal results may be zeros. */
double builtin_distance(const struct builtin_row *row, enum builtin_format format, uint64_t bits,
                        const mpfr_t exact, bool flushes);

#endif
