/* Registered memory that kernels use. For each range the library keeps the bytes that both sides
 * have, as far as it knows (`common_bytes`). Bytes of the host that differ were changed by the
 * host, bytes of the device that differ by kernels. Invariant: `common_bytes` does not change while
 * a command may read it. */
#include "hip_registered.h"

#include <inttypes.h>
#include <sys/personality.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/hip/api/record/hip_record.h"

#include "hip_host_memory.h"

enum { PIECE = 4096 /* bytes that are compared at once */ };

/* Neighbouring pages of the device: one allocation of the driver. */
struct run {
    uint64_t address, size;
    unsigned users; /* ranges */
};

struct range {
    uint64_t start, size;
    int device;
    char *common_bytes;
    bool is_fresh;       /* the device has nothing yet */
    uint64_t last_write; /* ticket of the last write to the device */
};

static struct {
    struct run *runs; /* by address */
    size_t run_count, run_capacity;
    struct range *ranges;
    size_t count, capacity;
    uint64_t *launches; /* tickets of kernels whose changes the host may not have */
    size_t launch_count, launch_capacity;
} registered;

/* ---- pages ---- */

/* The index of the first run that ends after `address`. */
static size_t find_run_from(uint64_t address)
{
    size_t i = 0;
    while (i < registered.run_count
           && registered.runs[i].address + registered.runs[i].size <= address)
        i++;
    return i;
}

/* Finds the run that holds `address`, or makes one up to `end` or to the next run. */
static hipError_t find_or_add_run(uint64_t address, uint64_t end, struct run **run)
{
    size_t index = find_run_from(address);
    if (index < registered.run_count && registered.runs[index].address <= address) {
        *run = &registered.runs[index];
        return hipSuccess;
    }
    if (index < registered.run_count && registered.runs[index].address < end)
        end = registered.runs[index].address;
    hipError_t error =
        hip_status_of(hip.api->allocate_at(hip.devices[hip_current_device()].number, address,
                                           end - address, DRIVER_PLACE_MANAGED),
                      "mapping registered memory");
    if (error != hipSuccess)
        return error;
    grow_list(registered.runs, registered.run_count + 1, registered.run_capacity, HIP_LIBRARY);
    memmove(&registered.runs[index + 1], &registered.runs[index],
            (registered.run_count - index) * sizeof *registered.runs);
    registered.runs[index] = (struct run){.address = address, .size = end - address};
    registered.run_count++;
    *run = &registered.runs[index];
    return hipSuccess;
}

/* All runs from `address` up to `end` have one user less. */
static void release_runs(uint64_t address, uint64_t end)
{
    size_t index = find_run_from(address);
    while (index < registered.run_count && registered.runs[index].address < end) {
        struct run *run = &registered.runs[index];
        if (--run->users > 0) {
            index++;
            continue;
        }
        hip_status_of(hip.api->release(run->address), "freeing registered memory");
        memmove(run, run + 1, (--registered.run_count - index) * sizeof *run);
    }
}

/* Pages from `address` up to `end` have one user more; runs are added where there are none. */
static hipError_t acquire_runs(uint64_t address, uint64_t end)
{
    uint64_t next = address;
    while (next < end) {
        struct run *run = NULL;
        hipError_t error = find_or_add_run(next, end, &run);
        if (error != hipSuccess) {
            release_runs(address, next);
            return error;
        }
        run->users++;
        next = run->address + run->size;
    }
    return hipSuccess;
}

/* ---- ranges ---- */

static uint64_t first_page(uint64_t address)
{
    return address / hip.page_bytes * hip.page_bytes;
}

static uint64_t end_of_pages(const struct range *range)
{
    return first_page(range->start + range->size - 1) + hip.page_bytes;
}

/* `heddle run` has asked for the same addresses in every run. */
static void check_layout(void)
{
    static bool has_warned;
    if (!has_warned && !(personality(UINT32_MAX) & ADDR_NO_RANDOMIZE)) {
        hip_say("kernels use registered memory, whose addresses differ from run to run on this "
                "system (personality() is refused); cycle counts may, too");
    }
    has_warned = true;
}

hipError_t hip_registered_map(uint64_t start, uint64_t size)
{
    check_layout();
    struct range range = {
        .start = start, .size = size, .device = hip_current_device(), .is_fresh = true};
    hipError_t error = acquire_runs(first_page(start), end_of_pages(&range));
    if (error != hipSuccess)
        return error;
    grow_list(registered.ranges, registered.count + 1, registered.capacity, HIP_LIBRARY);
    range.common_bytes = hip_allocate(size);
    registered.ranges[registered.count++] = range;
    return hipSuccess;
}

void hip_registered_unmap(uint64_t start)
{
    size_t i = 0;
    while (i < registered.count && registered.ranges[i].start != start)
        i++;
    if (i == registered.count)
        return;
    struct range *range = &registered.ranges[i];
    hip_release(range->common_bytes);
    release_runs(first_page(start), end_of_pages(range));
    memmove(range, range + 1, (--registered.count - i) * sizeof *range);
}

/* Writes `size` bytes of the range from `offset` on to the device, or reads them from it, with a
 * command for each run of pages. */
static hipError_t transfer(struct range *range, uint64_t offset, uint64_t size, char *read,
                           uint64_t *ticket)
{
    uint64_t next = range->start + offset, end = next + size;
    uint32_t queue = hip.devices[range->device].queue;
    while (next < end) {
        const struct run *run = &registered.runs[find_run_from(next)];
        uint64_t stop = min(run->address + run->size, end);
        uint64_t offset_now = next - range->start;
        enum driver_status status =
            read ? hip.api->read_shared(queue, read + offset_now, next, stop - next, ticket)
                 : hip.api->write_shared(queue, next, range->common_bytes + offset_now, stop - next,
                                         ticket);
        if (status != DRIVER_OK)
            return hip_status(status);
        next = stop;
    }
    return hipSuccess;
}

/* ---- to the device ---- */

/* A program may free registered memory without unregistering it: then it cannot be read. */
static hipError_t check_range(const struct range *range, bool is_written)
{
    uint64_t end = range->start;
    if (hip_is_accessible(range->start, range->size, is_written, &end))
        return hipSuccess;
    return hip_fail(hipErrorInvalidValue,
                    "of the %" PRIu64 " bytes at 0x%" PRIx64 ", which are registered and used by "
                    "kernels, only %" PRIu64
                    " can be %s: call hipHostUnregister before they are freed",
                    range->size, range->start, end > range->start ? end - range->start : 0,
                    is_written ? "written" : "read");
}

static bool has_changed(const struct range *range)
{
    return range->is_fresh
           || memcmp(range->common_bytes, (const void *)(uintptr_t)range->start, range->size) != 0;
}

/* Narrows `offset` and `end` to the first byte that differs and the end of the last one. Bytes in
 * between may be the same on both sides. False: no byte differs. */
static bool find_changed(const struct range *range, uint64_t *offset, uint64_t *end)
{
    const char *host = (const char *)(uintptr_t)range->start;
    while (*offset < *end && !range->is_fresh && host[*offset] == range->common_bytes[*offset])
        (*offset)++;
    while (*end > *offset && !range->is_fresh && host[*end - 1] == range->common_bytes[*end - 1])
        (*end)--;
    return *offset < *end;
}

static hipError_t send_bytes(struct range *range, uint64_t first, uint64_t last)
{
    if (first >= last)
        return hipSuccess;
    memcpy(range->common_bytes + first, (const char *)(uintptr_t)range->start + first,
           last - first);
    hip_host_memory_scan(range->start + first, range->common_bytes + first, last - first);
    hip_record_host_write(range->start + first, range->common_bytes + first, last - first);
    return transfer(range, first, last - first, NULL, &range->last_write);
}

/* Sends what the host has changed. Changed pieces that are neighbours go together. */
static hipError_t send_range(struct range *range)
{
    hipError_t error = range->last_write ? hip_wait_here(range->last_write) : hipSuccess;
    uint64_t first = 0, last = 0; /* changed bytes that are not sent yet */
    for (uint64_t offset = 0; offset < range->size && error == hipSuccess; offset += PIECE) {
        uint64_t from = offset, end = min(offset + PIECE, range->size);
        if (!find_changed(range, &from, &end))
            continue;
        if (from != last) {
            error = send_bytes(range, first, last);
            first = from;
        }
        last = end;
    }
    error = error == hipSuccess ? send_bytes(range, first, last) : error;
    range->is_fresh = false;
    return error;
}

hipError_t hip_registered_prepare_launch(uint32_t queue)
{
    hipError_t error = hipSuccess;
    bool is_changed = false;
    for (size_t i = 0; i < registered.count && error == hipSuccess; i++) {
        error = check_range(&registered.ranges[i], false);
        is_changed |= error == hipSuccess && has_changed(&registered.ranges[i]);
    }
    if (is_changed && error == hipSuccess && registered.launch_count > 0) {
        /* Bytes between those that the host has changed go along: they must be the newest. */
        for (size_t i = 0; i < registered.launch_count && error == hipSuccess; i++)
            error = hip_wait_here(registered.launches[i]);
        error = error == hipSuccess ? hip_registered_fetch() : error;
    }
    for (size_t i = 0; i < registered.count && error == hipSuccess; i++) {
        struct range *range = &registered.ranges[i];
        error = is_changed && has_changed(range) ? send_range(range) : hipSuccess;
        uint64_t done_ps = 0;
        if (error == hipSuccess && range->last_write && queue != hip.devices[range->device].queue
            && hip.api->time_of(range->last_write, &done_ps) == DRIVER_NOT_READY)
            error = hip_status(hip.api->wait_for(queue, range->last_write));
    }
    return error;
}

/* ---- to the host ---- */

void hip_registered_add_launch(uint64_t ticket)
{
    if (registered.count == 0)
        return;
    grow_list(registered.launches, registered.launch_count + 1, registered.launch_capacity,
              HIP_LIBRARY);
    registered.launches[registered.launch_count++] = ticket;
}

bool hip_registered_is_stale(void)
{
    return registered.launch_count > 0;
}

/* Writes what kernels have changed to the host and to `common_bytes`. */
static hipError_t merge_changes(struct range *range, const char *bytes)
{
    char *host = (char *)(uintptr_t)range->start;
    if (memcmp(bytes, range->common_bytes, range->size) == 0)
        return hipSuccess;
    hipError_t error = check_range(range, true);
    for (uint64_t i = 0; i < range->size && error == hipSuccess; i++)
        if (bytes[i] != range->common_bytes[i])
            host[i] = range->common_bytes[i] = bytes[i];
    return error;
}

static hipError_t fetch_range(struct range *range)
{
    uint64_t ticket = 0;
    char *bytes = hip_allocate(range->size);
    hipError_t error = transfer(range, 0, range->size, bytes, &ticket);
    if (error == hipSuccess)
        error = hip_wait_here(ticket);
    if (error == hipSuccess)
        error = merge_changes(range, bytes);
    hip_release(bytes);
    return error;
}

hipError_t hip_registered_fetch(void)
{
    size_t remaining = 0, running = 0;
    hipError_t error = hip.device_error;
    for (size_t i = 0; i < registered.launch_count; i++)
        running += !hip_is_ticket_done(registered.launches[i]);
    if (running == registered.launch_count)
        return error; /* nothing new */
    for (size_t i = 0; i < registered.launch_count; i++)
        if (!hip_is_ticket_done(registered.launches[i]))
            registered.launches[remaining++] = registered.launches[i];
    registered.launch_count = remaining;
    for (size_t i = 0; i < registered.count && error == hipSuccess; i++)
        error = registered.ranges[i].is_fresh ? hipSuccess : fetch_range(&registered.ranges[i]);
    return error;
}
