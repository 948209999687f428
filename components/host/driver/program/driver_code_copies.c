/* Copies of a module's code, one on each GPU of a unified device, so that none fetches its instructions from another's
 * memory. Included by driver.c. Called with the lock held.
 *
 * Only for modules without variables: addresses in a copy that count from the instruction lead into the copy, absolute ones
 * to the original, which makes no difference where nothing is written. Each copy is an allocation of its own; a part of a
 * launch begins at its GPU's copy. Kept on the host, as the modules are. */
#ifndef HEDDLE_DRIVER_CODE_COPIES_H
#define HEDDLE_DRIVER_CODE_COPIES_H

#include "components/host/driver/program/driver_code.c"
#include "components/host/driver/program/driver_handles.c"
#include "components/host/driver/program/driver_wait.c"

struct code_copy {
    struct code_copy *next;
    uint64_t address, size; /* of the original */
    uint32_t handle, gpu;
    uint64_t copy;
};

static struct code_copy *code_copies;

/* How far behind the original the code of `entry` lies for a part on GPU `gpu`; 0: there is no copy. */
static uint64_t code_copy_distance(uint32_t handle, uint32_t gpu, uint64_t entry)
{
    for (const struct code_copy *c = code_copies; c; c = c->next) {
        if (c->handle == handle && c->gpu == gpu && entry - c->address < c->size)
            return c->copy - c->address;
    }
    return 0;
}

/* Gives back the copies of the module at `address` (UINT64_MAX: of any) for the handle (DRIVER_NONE: for any). Nothing uses
 * them any more. */
static void code_copies_release(struct driver *d, uint64_t address, uint32_t handle)
{
    struct code_copy **link = &code_copies;
    while (*link) {
        struct code_copy *c = *link;
        if ((address != UINT64_MAX && c->address != address) || (handle != DRIVER_NONE && c->handle != handle)) {
            link = &c->next;
            continue;
        }
        *link = c->next;
        memory_release(d, c->copy);
        free(c);
    }
}

#endif
