/* Where an address lies. A call classifies each address that it gets once, before anything else,
 * and decides by that from then on. All functions are called with `hip.lock` held. */
#ifndef HEDDLE_HIP_PLACE_H
#define HEDDLE_HIP_PLACE_H

#include "components/hip/api/hip_internal.h"

enum hip_place_kind {
    /* Host addresses. */
    HIP_PLACE_PAGEABLE,   /* memory that HIP does not know */
    HIP_PLACE_REGISTERED, /* the program's own, of hipHostRegister */
    HIP_PLACE_PINNED,     /* of hipHostMalloc */
    /* Device addresses. */
    HIP_PLACE_DEVICE,      /* of hipMalloc, or of a module */
    HIP_PLACE_MANAGED,     /* of hipMallocManaged: the host may use the address, too */
    HIP_PLACE_UNALLOCATED, /* in no allocation */
    HIP_PLACE_KINDS
};

struct hip_place {
    uint64_t address;
    enum hip_place_kind kind;
    /* The contents move between host and device (hip_managed.h): managed memory, and pinned memory
     * that kernels use. */
    bool managed;
    /* What holds the address, as it was when the address was classified; number 0: nothing. */
    struct hip_allocation allocation;
};

struct hip_place hip_place_of(uint64_t address);

static inline bool hip_place_on_device(const struct hip_place *place)
{
    return place->kind >= HIP_PLACE_DEVICE;
}

/* The bytes of the allocation from the address on; 0: there is none. */
static inline uint64_t hip_place_left(const struct hip_place *place)
{
    return place->allocation.size - (place->address - place->allocation.address);
}

/* The device whose memory it is; -1: the host's. */
static inline int hip_place_device(const struct hip_place *place)
{
    return hip_place_on_device(place) && place->allocation.number > 0 ? place->allocation.device
                                                                      : -1;
}

/* Whether a command may use `size` bytes there after the call has returned: pageable memory may be
 * gone by then (HIP programming guide, "Pinned memory"). */
static inline bool hip_place_stays(const struct hip_place *place, uint64_t size)
{
    return hip_place_on_device(place)
           || (place->allocation.number > 0 && size <= hip_place_left(place));
}

/* Whether a copy in direction `kind` may have `size` bytes at `to`, and at `from`. What is wrong is
 * said, with `what` in front; hipErrorInvalidMemcpyDirection: there is no such direction. */
hipError_t hip_place_check_copy(const struct hip_place *to, uint64_t to_size,
                                const struct hip_place *from, uint64_t from_size,
                                hipMemcpyKind kind);

#endif
