/* Pinned memory, and the host memory that commands use. Addresses of pinned memory come from a
 * range of their own, one after the other. The map of allocations knows which memory is wanted and
 * which is mapped; hip_host_memory.h explains these words. */
#include "hip_host_memory.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/number.h"
#include "components/hip/api/record/hip_record.h"
#include "components/hip/api/streams/hip_stream.h"

#include "hip_managed_pages.h"
#include "hip_registered.h"

/* The next address of pinned memory, after all that was ever allocated; 0: none was. */
static uint64_t next_pinned;

/* ---- which memory kernels may have addresses of ---- */

/* A number that only looks like an address costs copies and changes no result. */
void hip_host_memory_scan(uint64_t to, const void *bytes, uint64_t size)
{
    enum { WORDS = 512 }; /* compared together, for speed */
    struct hip_address_range range = hip_unmapped_range();
    uint64_t skipped = -to % sizeof(uint64_t), range_size = range.high - range.low;
    if (range_size == 0 || size < skipped + sizeof(uint64_t))
        return;
    const unsigned char *next = (const unsigned char *)bytes + skipped;
    const unsigned char *end = next + (size - skipped) / sizeof(uint64_t) * sizeof(uint64_t);
    while (next < end) {
        uint64_t words[WORDS], has_address = 0;
        size_t left = (size_t)(end - next) / sizeof words[0], count = min(left, WORDS);
        memcpy(words, next, count * sizeof words[0]);
        for (size_t i = 0; i < count; i++)
            has_address |= words[i] - range.low < range_size;
        for (size_t i = 0; i < count && has_address; i++)
            if (words[i] - range.low < range_size)
                hip_set_wanted(words[i]);
        next += count * sizeof words[0];
    }
}

static hipError_t map_pages(const struct hip_allocation *allocation)
{
    uint64_t start = allocation->address, size = allocation->size;
    if (allocation->kind != HIP_PINNED_MEMORY)
        return hip_registered_map(start, size);
    bool is_coarse = allocation->flags & hipHostMallocNonCoherent;
    hipError_t error = hip_managed_map(start, size);
    return error == hipSuccess && is_coarse
               ? hip_status(hip.api->advise(start, size, DRIVER_ADVICE_FINE, false))
               : error;
}

/* Makes the memory usable by kernels, at its own address. */
static hipError_t map_allocation(const struct hip_allocation *allocation)
{
    uint64_t start = allocation->address;
    uint32_t number = allocation->number;
    hipError_t error = hip_wait_all_devices();
    allocation = hip_find_allocation_again(start, number);
    if (error != hipSuccess || !allocation || allocation->mapped_number)
        return error;
    size_t line = hip_record_call(&(struct api_trace_call){
        .kind = API_TRACE_HOST_MAP, .place = {number, API_TRACE_HOST, 0, NULL}});
    error = map_pages(allocation);
    if (error == hipSuccess)
        hip_record_mapped_number(line, hip_set_mapped(start));
    else
        hip_record_drop(line);
    return error;
}

static hipError_t map_wanted(void)
{
    hipError_t error = hipSuccess;
    const struct hip_allocation *wanted;
    while (error == hipSuccess && (wanted = hip_find_wanted()))
        error = map_allocation(wanted);
    return error;
}

static void add_host_memory(enum hip_allocation_kind kind, uint64_t address, uint64_t size,
                            unsigned flags, enum api_trace_kind call)
{
    hip_add_allocation((struct hip_allocation){.address = address,
                                               .size = size,
                                               .kind = kind,
                                               .device = hip_current_device(),
                                               .flags = flags});
    hip_record_call(
        &(struct api_trace_call){.kind = call,
                                 .place = {hip_allocation_number(address), API_TRACE_HOST, 0, NULL},
                                 .size = size,
                                 .flags = flags});
}

/* ---- pinned memory ---- */

static uint64_t whole_pages(uint64_t size)
{
    return round_up(size, hip.page_bytes);
}

/* Nothing is left at these addresses: to touch them is an error. */
static void close_pages(uint64_t start, uint64_t pages)
{
    void *address = (void *)(uintptr_t)start;
    if (mmap(address, pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0)
        != address)
        hip_say("cannot give pinned memory back: %s", strerror(errno));
}

hipError_t hip_release_pinned(const struct hip_allocation *allocation)
{
    uint64_t start = allocation->address;
    uint32_t number = allocation->number;
    hip_record_host_free(start, allocation->device);
    /* Copies, and kernels on all devices if they use it, may still be under way. */
    hipError_t error =
        allocation->mapped_number ? hip_wait_all_devices() : hip_wait_device(allocation->device);
    allocation = hip_find_allocation_again(start, number);
    if (!allocation)
        return hipErrorInvalidValue;
    hip_record_host_free_end(start);
    if (allocation->mapped_number && hip.device_error == hipSuccess)
        hip_managed_unmap(start);
    uint64_t pages = whole_pages(allocation->size);
    hip_remove_allocation(allocation);
    close_pages(start, pages);
    return error;
}

/* Zeroed memory that host code may use; 0: there is none. */
static uint64_t open_pages(uint64_t pages)
{
    uint64_t end = hip.pinned_base + hip.pinned_size;
    uint64_t start = next_pinned > 0 ? next_pinned : hip.pinned_base;
    if (pages > end - start)
        start = hip_find_pinned_gap(pages);
    void *address = (void *)(uintptr_t)start;
    if (start == 0
        || mmap(address, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0)
               != address)
        return 0;
    next_pinned = max(start + pages, next_pinned);
    return start;
}

static hipError_t host_allocate(void **pointer, size_t size, unsigned flags)
{
    if (!pointer)
        return hipErrorInvalidValue;
    *pointer = NULL;
    if (size == 0)
        return hipSuccess;
    uint64_t address = size > hip.pinned_size ? 0 : open_pages(whole_pages(size));
    if (!address)
        return hipErrorOutOfMemory;
    add_host_memory(HIP_PINNED_MEMORY, address, size, flags, API_TRACE_HOST_MALLOC);
    *pointer = (void *)(uintptr_t)address;
    return hipSuccess;
}

HIP_DEFINE(hipHostMalloc, (pointer, size, flags), void **pointer, size_t size, unsigned flags)
{
    return host_allocate(pointer, size, flags);
}

HIP_DEFINE(hipHostAlloc, (pointer, size, flags), void **pointer, size_t size, unsigned flags)
{
    return host_allocate(pointer, size, flags);
}

HIP_DEFINE(hipMallocHost, (pointer, size), void **pointer, size_t size)
{
    return host_allocate(pointer, size, hipHostMallocDefault);
}

HIP_DEFINE(hipMemAllocHost, (pointer, size), void **pointer, size_t size)
{
    return host_allocate(pointer, size, hipHostMallocDefault);
}

/* ---- registered memory ---- */

enum { HOST_REGISTER_READ_ONLY = 8 /* hipHostRegisterReadOnly of later versions */ };

HIP_DEFINE(hipHostRegister, (pointer, size, flags), void *pointer, size_t size, unsigned flags)
{
    const unsigned all_flags = hipHostRegisterPortable | hipHostRegisterMapped
                               | hipHostRegisterIoMemory | HOST_REGISTER_READ_ONLY;
    uint64_t address = (uintptr_t)pointer, end = 0;
    if (!pointer || size == 0 || hip_is_device_address(address) || size > UINT64_MAX - address
        || (flags & ~all_flags) != 0)
        return hipErrorInvalidValue;
    if (hip_find_overlap(address, size))
        return hipErrorHostMemoryAlreadyRegistered;
    if (!hip_is_accessible(address, size, false, &end))
        return hip_fail(hipErrorInvalidValue, "of %zu bytes at %p only %llu can be read", size,
                        pointer, (unsigned long long)(end > address ? end - address : 0));
    add_host_memory(HIP_REGISTERED_MEMORY, address, size, flags, API_TRACE_HOST_REGISTER);
    return hipSuccess;
}

/* Memory is unregistered by the start that it was registered with. */
HIP_DEFINE_ALWAYS(hipHostUnregister, (pointer), void *pointer)
{
    uint64_t start = (uintptr_t)pointer;
    const struct hip_allocation *allocation = hip_find_allocation(start);
    if (!allocation || allocation->kind != HIP_REGISTERED_MEMORY || allocation->address != start)
        return hipErrorHostMemoryNotRegistered;
    uint32_t number = allocation->number;
    hipError_t error = hipSuccess;
    if (allocation->mapped_number && hip.device_error == hipSuccess) {
        error = hip_wait_all_devices();
        hip_registered_fetch();
    }
    allocation = hip_find_allocation_again(start, number);
    if (!allocation)
        return hipErrorHostMemoryNotRegistered;
    hip_record_call(&(struct api_trace_call){.kind = API_TRACE_HOST_UNREGISTER,
                                             .place = {number, API_TRACE_HOST, 0, NULL}});
    if (allocation->mapped_number && hip.device_error == hipSuccess)
        hip_registered_unmap(start);
    hip_remove_allocation(allocation);
    return error;
}

HIP_DEFINE_ALWAYS(hipHostGetFlags, (flags, pointer), unsigned *flags, void *pointer)
{
    const struct hip_allocation *allocation = hip_find_allocation((uintptr_t)pointer);
    if (!flags || !allocation || allocation->kind != HIP_PINNED_MEMORY)
        return hipErrorInvalidValue;
    *flags = allocation->flags;
    return hipSuccess;
}

HIP_DEFINE(hipHostGetDevicePointer, (device, pointer, flags), void **device, void *pointer,
           unsigned flags)
{
    const struct hip_allocation *allocation = hip_find_allocation((uintptr_t)pointer);
    if (!device || flags != 0 || !allocation)
        return hipErrorInvalidValue;
    *device = NULL;
    hipError_t error = hipSuccess;
    if (allocation->kind == HIP_PINNED_MEMORY || allocation->kind == HIP_REGISTERED_MEMORY)
        error = allocation->mapped_number ? hipSuccess : map_allocation(allocation);
    else if (allocation->kind != HIP_MANAGED_MEMORY)
        error = hipErrorInvalidValue;
    *device = error == hipSuccess ? pointer : NULL;
    return error;
}

/* ---- commands ---- */

static bool is_mirrored(const struct hip_location *location)
{
    return location->kind == HIP_LOCATION_REGISTERED && location->allocation.mapped_number > 0;
}

static hipError_t prepare_side(uint32_t queue, const struct hip_use *use)
{
    if (use->location.is_managed && hip_location_on_device(&use->location))
        return hip_managed_prepare_use(queue, use->location.address, use->size, use->is_written);
    if (!is_mirrored(&use->location) || !hip_registered_is_stale())
        return hipSuccess;
    hipError_t error = hip_wait_all_devices();
    return error == hipSuccess ? hip_registered_fetch() : error;
}

hipError_t hip_host_memory_prepare(uint32_t queue, struct hip_use *uses, size_t count, bool waits)
{
    hipError_t error = hipSuccess;
    bool is_on_device = false; /* a device executes the command */
    for (size_t i = 0; i < count && error == hipSuccess; i++) {
        uses[i].memory = uses[i].location.address;
        is_on_device |= hip_location_on_device(&uses[i].location);
        error = prepare_side(queue, &uses[i]);
    }
    if (!is_on_device)
        return error;
    for (size_t i = 0; i < count && error == hipSuccess; i++)
        if (uses[i].location.is_managed && !hip_location_on_device(&uses[i].location))
            error = hip_managed_prepare_host_use(&uses[i], waits);
    return error;
}

/* Bytes that go to the device may contain addresses of more memory. */
hipError_t hip_host_memory_prepare_launch(uint32_t queue, const void *arguments, uint64_t size)
{
    hipError_t error = hipSuccess;
    hip_host_memory_scan(0, arguments, size);
    do {
        error = map_wanted();
        error = error == hipSuccess ? hip_managed_prepare_launch(queue) : error;
        error = error == hipSuccess ? hip_registered_prepare_launch(queue) : error;
    } while (error == hipSuccess && hip_find_wanted());
    return error;
}

void hip_host_memory_add_writer(uint64_t ticket, const struct hip_use *target)
{
    if (!target)
        hip_registered_add_launch(ticket);
    else if (!hip_location_on_device(&target->location)
             && target->location.allocation.mapped_number > 0)
        hip_managed_add_write(ticket);
}

/* The thread knows of a command that is done, and has not fetched since. */
static _Thread_local bool has_waited;

void hip_host_memory_mark_waited(void)
{
    has_waited = true;
}

hipError_t hip_host_memory_fetch(void)
{
    bool must_fetch = has_waited && hip_registered_is_stale() && hip.device_error == hipSuccess;
    has_waited = false;
    if (!must_fetch)
        return hipSuccess;
    const char *before = hip_set_step("registered memory");
    hipError_t error = hip_registered_fetch();
    hip_set_step(before);
    return error;
}
