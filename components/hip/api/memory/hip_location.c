/* Classifies addresses, and checks them for copies and fills. */
#include "hip_location.h"

#include <inttypes.h>

#include "components/hip/api/hip_findings.h"

#include "hip_host_memory.h"

/* Memory that the driver gave to the program past HIP: the ring of a user queue, which the program
 * may copy to and from (user_queue_api.h). */
static bool is_of_driver(uint64_t address, struct hip_allocation *allocation)
{
    struct driver_allocation memory;
    if (!hip.api || !hip.api->find(address, &memory))
        return false;
    *allocation = (struct hip_allocation){.address = memory.address, .size = memory.size};
    return true;
}
enum { NULL_BYTES = 4096 /* at address 0: small offsets of a null pointer */ };

struct hip_location hip_location_of(uint64_t address)
{
    static const enum hip_location_kind kinds[] = {
        [HIP_DEVICE_MEMORY] = HIP_LOCATION_DEVICE,
        [HIP_MODULE_MEMORY] = HIP_LOCATION_DEVICE,
        [HIP_MANAGED_MEMORY] = HIP_LOCATION_MANAGED,
        [HIP_PINNED_MEMORY] = HIP_LOCATION_PINNED,
        [HIP_REGISTERED_MEMORY] = HIP_LOCATION_REGISTERED,
    };
    const struct hip_allocation *allocation = hip_find_allocation(address);
    struct hip_location location = {.address = address, .allocation.address = address};
    if (allocation) {
        location.kind = kinds[allocation->kind];
        location.allocation = *allocation;
    } else if (hip_is_device_address(address)) {
        location.kind = is_of_driver(address, &location.allocation) ? HIP_LOCATION_DEVICE
                                                                    : HIP_LOCATION_UNALLOCATED;
    }
    location.is_managed = hip_is_managed(address);
    return location;
}

/* ---- copies ---- */

static hipError_t check_device_side(const struct hip_location *location, uint64_t size)
{
    void *pointer = (void *)(uintptr_t)location->address;
    const struct hip_allocation *allocation = &location->allocation;
    if (!hip_location_on_device(location))
        return hip_fail(hipErrorInvalidValue,
                        "%p is a host pointer where a device pointer is needed", pointer);
    if (location->kind == HIP_LOCATION_UNALLOCATED) {
        hip_say_call("%p is not, or no longer, allocated", pointer);
        hip_report_address(location->address, false);
        return hipErrorInvalidValue;
    }
    if (size > hip_location_left(location))
        return hip_fail(hipErrorInvalidValue,
                        "%" PRIu64 " bytes at %p leave the allocation of %" PRIu64
                        " bytes at %p, of which %" PRIu64 " are left there",
                        size, pointer, allocation->size, (void *)(uintptr_t)allocation->address,
                        hip_location_left(location));
    return hipSuccess;
}

/* Memory that HIP does not know, or that the program has registered and may have freed since. */
static hipError_t check_plain(const struct hip_location *location, uint64_t size, bool is_written)
{
    void *pointer = (void *)(uintptr_t)location->address;
    uint64_t end = location->address;
    if (hip.state == HIP_OPEN && hip.api->is_hidden(pointer))
        return hip_fail(hipErrorInvalidValue,
                        "the host address %p is memory of the simulator itself, not of the program",
                        pointer);
    if (hip_is_accessible(location->address, size, is_written, &end))
        return hipSuccess;
    if (location->address < NULL_BYTES)
        return hip_fail(hipErrorInvalidValue, "the %s %p is a null pointer",
                        is_written ? "destination" : "source", pointer);
    if (end <= location->address)
        return hip_fail(hipErrorInvalidValue, "nothing that can be %s is at the host address %p",
                        is_written ? "written" : "read", pointer);
    return hip_fail(hipErrorInvalidValue,
                    "of %" PRIu64 " bytes at the host address %p only %" PRIu64 " can be %s", size,
                    pointer, end - location->address, is_written ? "written" : "read");
}

static hipError_t check_host_side(const struct hip_location *location, uint64_t size,
                                  bool is_written)
{
    void *pointer = (void *)(uintptr_t)location->address;
    bool is_pinned = location->kind == HIP_LOCATION_PINNED;
    if (location->address == 0)
        return hip_fail(hipErrorInvalidValue,
                        "the %s is a null pointer where a host pointer is needed",
                        is_written ? "destination" : "source");
    if (size > UINT64_MAX - location->address)
        return hip_fail(hipErrorInvalidValue, "%p is not a host pointer to %" PRIu64 " bytes",
                        pointer, size);
    if (hip_location_on_device(location))
        return hip_fail(hipErrorInvalidValue,
                        "%p is a device pointer where a host pointer is needed", pointer);
    if (is_pinned && size > hip_location_left(location))
        return hip_fail(hipErrorInvalidValue,
                        "%" PRIu64 " bytes at %p leave the pinned allocation of %" PRIu64 " bytes",
                        size, pointer, location->allocation.size);
    if (hip_is_pinned_address(location->address) && location->allocation.number == 0) {
        hip_say_call("%p is pinned memory that is not, or no longer, allocated", pointer);
        hip_report_address(location->address, false);
        return hipErrorInvalidValue;
    }
    return is_pinned ? hipSuccess : check_plain(location, size, is_written);
}

/* An address that both sides use may be either, whatever the direction says. */
static hipError_t check_side(const struct hip_location *location, uint64_t size,
                             bool is_device_side, bool is_written)
{
    bool uses_device = is_device_side;
    if (location->kind == HIP_LOCATION_MANAGED)
        uses_device = true;
    else if (location->kind == HIP_LOCATION_PINNED || location->allocation.mapped_number > 0)
        uses_device = false;
    return uses_device ? check_device_side(location, size)
                       : check_host_side(location, size, is_written);
}

hipError_t hip_location_check_copy(const struct hip_location *to, uint64_t to_size,
                                   const struct hip_location *from, uint64_t from_size,
                                   hipMemcpyKind kind)
{
    const struct {
        bool writes_device, reads_device;
    } sides[] = {
        [hipMemcpyHostToHost] = {false, false},
        [hipMemcpyHostToDevice] = {true, false},
        [hipMemcpyDeviceToHost] = {false, true},
        [hipMemcpyDeviceToDevice] = {true, true},
        [hipMemcpyDefault] = {hip_location_on_device(to), hip_location_on_device(from)},
    };
    if ((unsigned)kind > hipMemcpyDefault)
        return hipErrorInvalidMemcpyDirection;
    hipError_t error = check_side(to, to_size, sides[kind].writes_device, true);
    return error == hipSuccess ? check_side(from, from_size, sides[kind].reads_device, false)
                               : error;
}
