/* Calls of the simulated program, and what is wrong with them. Front ends report both to the
 * driver, which passes them on to checks. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_HOST_CALL_PROGRAM_CALL_H
#define HEDDLE_COMPONENTS_PROTOCOLS_HOST_CALL_PROGRAM_CALL_H

#include <stdint.h>

/* Mistakes in the calls of a program that is checked. */
enum driver_mistake {
    DRIVER_MISTAKE_LEAK,
    DRIVER_MISTAKE_FREED_TWICE,
    DRIVER_MISTAKE_FREED_WRONG, /* what was freed is not the start of an allocation */
    DRIVER_MISTAKE_USED_FREED,
    DRIVER_MISTAKE_CAPTURE_UNJOINED,
    DRIVER_MISTAKE_CAPTURE_OPEN
};

/* A call of the program. */
struct driver_call {
    const char *name;   /* "hipFree()" */
    const char *source; /* position, if there are no lines of a source: "saxpy+0x1234" */
    uint64_t code;      /* return address; 0: unknown, as the rest */
    const char *file;   /* file with this code, loaded at `base` */
    uint64_t base;
};

#endif
