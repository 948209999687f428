/* Options of clBuildProgram, clCompileProgram and clLinkProgram, as words for clang. */
#ifndef HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_OPTIONS_H
#define HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_OPTIONS_H

#include <stdint.h>

#include "components/clang/clang_process.h"

/* Options that choose device libraries. */
enum opencl_math {
    OPENCL_MATH_DENORMS_ARE_ZERO = 1,
    OPENCL_MATH_UNSAFE = 2,
    OPENCL_MATH_FINITE = 4,
    OPENCL_MATH_ROUNDED_SQRT = 8,
    OPENCL_MATH_UNOPTIMISED = 16,
};

struct opencl_options {
    struct clang_command words; /* for the compiler that reads sources */
    uint32_t math;              /* bits of enum opencl_math */
    bool creates_library;
};

/* Reads the options; NULL: there are none. NULL, or a message to be released.
 * opencl_options_release() in both cases. `is_link`: they are those of clLinkProgram. */
char *opencl_options_read(struct opencl_options *options, const char *text, bool is_link);
void opencl_options_release(struct opencl_options *options);

#endif
