/* The kind of memory that an address lies in. A call classifies each address that it gets once,
 * before anything else, and decides by that from then on. All functions are called with `hip.lock`
 * held. */
#ifndef HEDDLE_COMPONENTS_HIP_API_MEMORY_HIP_LOCATION_H
#define HEDDLE_COMPONENTS_HIP_API_MEMORY_HIP_LOCATION_H

#include "components/hip/api/hip_objects.h"

enum hip_location_kind {
    /* Host addresses. */
    HIP_LOCATION_PAGEABLE,   /* memory that HIP does not know */
    HIP_LOCATION_REGISTERED, /* memory of the program, from hipHostRegister */
    HIP_LOCATION_PINNED,     /* from hipHostMalloc */
    /* Device addresses. */
    HIP_LOCATION_DEVICE,      /* from hipMalloc, or a module's */
    HIP_LOCATION_MANAGED,     /* from hipMallocManaged: the host may use the address, too */
    HIP_LOCATION_UNALLOCATED, /* in no allocation */
};

struct hip_location {
    uint64_t address;
    enum hip_location_kind kind;
    /* The contents move between host and device (hip_managed_pages.h): managed memory, and pinned
     * memory that kernels use. */
    bool is_managed;
    /* The allocation that holds the address, as it was when the address was classified. Number 0:
     * there is none. */
    struct hip_allocation allocation;
};

/* One side of a copy, or the target of a fill. */
struct hip_use {
    struct hip_location location;
    uint64_t size; /* bytes from the first row's start to the last row's end */
    bool is_written;
    uint64_t memory; /* hip_host_memory_prepare(): the address that the driver gets */
};

struct hip_location hip_location_of(uint64_t address);

static inline bool hip_location_on_device(const struct hip_location *location)
{
    return location->kind >= HIP_LOCATION_DEVICE;
}

/* The bytes of the allocation from the address on; 0: the address is in none. */
static inline uint64_t hip_location_left(const struct hip_location *location)
{
    return location->allocation.size - (location->address - location->allocation.address);
}

/* The device whose memory it is; -1: the host's. */
static inline int hip_location_device(const struct hip_location *location)
{
    return hip_location_on_device(location) && location->allocation.number > 0
               ? location->allocation.device
               : -1;
}

/* True if a command may use `size` bytes there after the call has returned. Pageable memory may be
 * gone by then (HIP programming guide, "Pinned memory"). */
static inline bool hip_location_stays(const struct hip_location *location, uint64_t size)
{
    return hip_location_on_device(location)
           || (location->allocation.number > 0 && size <= hip_location_left(location));
}

/* Checks that a copy in direction `kind` may write `to_size` bytes at `to` and read `from_size`
 * bytes at `from`, and names a mistake. hipErrorInvalidMemcpyDirection: there is no such direction.
 */
hipError_t hip_location_check_copy(const struct hip_location *to, uint64_t to_size,
                                   const struct hip_location *from, uint64_t from_size,
                                   hipMemcpyKind kind);

#endif
