/* A platform without a simulator, for the tests of the HIP library: device memory is host memory,
 * commands are executed in order when something waits, and each takes 1 microsecond of invented
 * time. A test opens the same shared object to look at what arrived. */
#ifndef HEDDLE_TESTS_COMPONENTS_HIP_MOCK_PLATFORM_H
#define HEDDLE_TESTS_COMPONENTS_HIP_MOCK_PLATFORM_H

#include "components/host/driver/driver_api.h"

enum { MOCK_MEMORY_BYTES = 64 << 20, MOCK_KERNARG_MAX = 4096, MOCK_COMMAND_PS = 1000000 };

struct mock_state {
    struct driver_launch launch; /* the last one executed; kernarg points to `kernarg` */
    char launch_name[256], launch_symbol[256];
    unsigned char kernarg[MOCK_KERNARG_MAX];
    unsigned launches;
    unsigned registered_kernels, registered_code, unregistered_code;
    unsigned pending;                /* commands that were not executed yet */
    unsigned allocations;            /* living ones */
    unsigned finished;               /* calls of finish() of the driver */
    unsigned hidden;                 /* calls of hide() */
    enum driver_status fail_next;    /* the next wait answers this, like a kernel that faulted */
    enum driver_ptx_fault ptx_fault; /* what that kernel did */
};

/* Exported by the mock. */
struct mock_state *mock_state(void);

#endif
