/* Device memory as the driver asks for it: allocations with messages, and where a page lies. See
 * driver_memory.c. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_DRIVER_MEMORY_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_DRIVER_MEMORY_H

#include "driver_state.h"

static inline struct memory_ref memory_view(struct driver *d)
{
    return (struct memory_ref){&d->memory, driver_page_table(d), driver_program(d)};
}

/* Says what went wrong. `number`: the device that was asked. */
static enum driver_status memory_status(const struct driver *d, enum memory_result result,
                                        uint32_t number, uint64_t address, uint64_t bytes);

/* The GPU of the list that lacks pages, for the message. */
static uint32_t memory_poorest(const struct driver *d, const uint32_t *devices, uint32_t count);

/* Allocates memory that kernels may write; `q.size` in bytes. `q.fixed`: the pages begin there. */
static enum memory_result memory_try(struct driver *d, struct memory_request q, uint64_t *address);

/* Allocates on one GPU for the driver's own use. Addresses that were freed are not used again. */
static enum driver_status memory_allocate_own(struct driver *d, uint32_t number, uint32_t pid,
                                              uint64_t size, enum program_use use,
                                              uint64_t *address);

static void memory_release(struct driver *d, uint64_t address);

/* Checks that [address, address + size) is inside one allocation of the program, and mapped.
 * `operation`: for the message. */
static enum driver_status memory_check(const struct driver *d, uint64_t address, uint64_t size,
                                       const char *operation);

/* The physical address of `address`. *rest: how many bytes follow on the same page. */
static uint64_t memory_physical(const struct driver *d, uint64_t address, uint64_t *rest);

/* The physical address, too, but *rest is what is left of the fragment, which lies in one piece. */
static uint64_t memory_run(const struct driver *d, uint64_t address, uint64_t *rest);

/* All of [address, address + size), which is mapped, is going to be written. */
static void memory_prepare(const struct driver *d, uint64_t address, uint64_t size);

/* The GPUs whose memory holds [address, address + size). */
static struct gpu_set memory_owners(const struct driver *d, uint64_t address, uint64_t size);

/* The GPU whose memory holds the page of `address`. */
static uint32_t memory_owner(const struct driver *d, uint64_t address);

/* The name by which calls without a process mean the memory at `address` of process `pid`. */
static uint64_t memory_name(const struct driver *d, uint32_t pid, uint64_t address);

/* True if all users of [address, address + size) are other processes, so that `pid` may have memory
 * there under a name. */
static bool memory_may_name(const struct driver *d, uint32_t pid, uint64_t address, uint64_t size);

/* Notes in the trace where the pages that touch [address, address + size) lie now, a span of no
 * length for each run of pages on one GPU; `operation` is "map" or "unmap". */
static void memory_trace(struct driver *d, const char *operation, uint32_t pid, uint64_t address,
                         uint64_t size);

#endif
