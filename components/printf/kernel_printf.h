/* printf of kernels, as the host prints it: the conversions of C, with OpenCL's vectors ("%v4hlf").
 * Where arguments and strings are, the front end knows. */
#ifndef HEDDLE_COMPONENTS_PRINTF_KERNEL_PRINTF_H
#define HEDDLE_COMPONENTS_PRINTF_KERNEL_PRINTF_H

#include <stddef.h>
#include <stdint.h>

struct kernel_printf {
    void *context; /* argument of the functions below */
    /* An argument begins, a vector of so many elements; 0: it is none. NULL: no matter. */
    void (*begin)(void *context, unsigned elements);
    /* The next argument, or element of a vector, for which the conversion wants 1, 2, 4 or 8 bytes.
     * Returns how many bytes `value` has: 2 and 4 are a half and a float where it wants a floating
     * number. 0: there is none. */
    unsigned (*number)(void *context, unsigned bytes, uint64_t *value);
    /* The next argument, a string, which stays until the next call. NULL: there is none. */
    const char *(*string)(void *context);
    void (*put)(void *context, const char *text, size_t size);
};

/* Prints; text that is not a conversion is printed as it is. Returns the characters, or -1 when an
 * argument was missing, with which printing ends. */
int kernel_printf(const struct kernel_printf *with, const char *format);

#endif
