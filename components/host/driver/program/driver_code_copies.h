/* Copies of code for the GPUs of unified devices. See driver_code_copies.c. */
#ifndef HEDDLE_DRIVER_CODE_COPIES_H
#define HEDDLE_DRIVER_CODE_COPIES_H

#include "components/host/driver/driver_state.h"

struct code_copy {
    struct code_copy *next;
    uint64_t address, size; /* of the original */
    uint32_t handle, gpu;
    uint64_t copy;
};

/* How far behind the original the code of `entry` lies for a part on GPU `gpu`; 0: there is no
 * copy. */
static uint64_t code_copy_distance(uint32_t handle, uint32_t gpu, uint64_t entry);

/* Gives back the copies of the module at `address` (UINT64_MAX: of any) for the handle
 * (DRIVER_NONE: for any). Nothing uses them any more. */
static void code_copies_release(struct driver *d, uint64_t address, uint32_t handle);

#endif
