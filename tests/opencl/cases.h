/* OpenCL kernels that are run on the host, by PoCL, and on a simulated GPU, by HIP's
 * module interface: their sizes, their arguments, and how near the results must be.
 *
 * cases.tab is the list. Both programs make the same arguments from it: opencl_oracle.c writes the
 * host's results into a file, opencl_kernels.c compares the GPU's with them. */
#ifndef HEDDLE_TESTS_OPENCL_CASES_H
#define HEDDLE_TESTS_OPENCL_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* REAL32 and REAL16 are a float and a half on the GPU, doubles on the host (prelude.h). */
enum opencl_type { I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, REAL16, REAL32 };

enum opencl_way {
    WAY_NONE,
    WAY_IN,
    WAY_OUT,   /* zeros at first, compared at the end */
    WAY_INOUT, /* filled at first, compared at the end */
    WAY_WORK,  /* filled at first, not compared */
    WAY_VALUE, /* the argument itself */
    WAY_LOCAL  /* local memory */
};

enum opencl_fill {
    FILL_ZERO,
    FILL_ANY,   /* random bits, often extremes; floats neither denormal nor NaN with a payload */
    FILL_RANGE, /* from low to high */
    FILL_MASK   /* random bits; each element may be anything */
};

struct opencl_argument {
    enum opencl_way way;
    enum opencl_type type;
    unsigned count;
    enum opencl_fill fill;
    double low, high;
    double limit; /* units in the last place; below 0: every bit, but those of a NaN */
};

#define OPENCL_ARGUMENTS 20

struct opencl_case {
    const char *file, *kernel;
    unsigned size[3], group[3]; /* work-items, and those of a work-group */
    struct opencl_argument arguments[OPENCL_ARGUMENTS];
};

extern const struct opencl_case opencl_cases[];
extern const unsigned opencl_case_count;

size_t opencl_element_bytes(enum opencl_type type, bool host);
size_t opencl_argument_bytes(const struct opencl_argument *argument, bool host);
bool opencl_is_compared(const struct opencl_argument *argument);

/* The contents at first of argument `number`; the caller frees it. NULL for local memory. */
void *opencl_argument_contents(const struct opencl_case *c, unsigned number, bool host);

/* Is the case one of the names? A name that ends in '*' stands for all that begin like it; none at
 * all for all. */
bool opencl_is_chosen(const struct opencl_case *c, char *const *names, int name_count);

#endif
