/* Copies of a module's code, one on each GPU of a unified device, so that none fetches its
 * instructions from another's memory. Called with the lock held.
 *
 * Only for modules without variables: addresses in a copy that count from the instruction lead into
 * the copy, absolute ones to the original, which makes no difference where nothing is written. Each
 * copy is an allocation of its own; a part of a launch begins at its GPU's copy. Kept on the host,
 * as the modules are. */
#include <stdlib.h>

#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"

#include "driver_program.h"

static uint64_t code_copy_distance(uint32_t handle, uint32_t gpu, uint64_t entry)
{
    for (const struct code_copy *c = driver_process()->code_copies; c; c = c->next)
        if (c->handle == handle && c->gpu == gpu && entry - c->address < c->size)
            return c->copy - c->address;
    return 0;
}

static void code_copies_release(struct driver *d, uint64_t address, uint32_t handle)
{
    struct code_copy **link = &driver_process()->code_copies;
    while (*link) {
        struct code_copy *c = *link;
        if ((address != UINT64_MAX && c->address != address)
            || (handle != DRIVER_NONE && c->handle != handle)) {
            link = &c->next;
            continue;
        }
        *link = c->next;
        memory_release(d, c->copy);
        free(c);
    }
}
