/* Moves the contents of managed and mapped memory between host and device.
 *
 * The pages are a file in memory, mapped twice: at `address`, with the rights that follow from the
 * state of the block, and at `library_view`, where this library and the driver read and write. So a
 * block is complete before any thread of the program can see it, and commands can read what the
 * program can no longer change. Invariant: the host may read a block at `address` unless it is
 * UNUSED or AT_DEVICE, and write it only when AT_HOST. */
#define _GNU_SOURCE /* memfd_create */
#include "hip_managed_pages.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/hip/api/record/hip_record.h"
#include "components/hip/api/streams/hip_stream.h"

enum {
    HOST_PAGE = 4096,
    /* bytes; a compromise between the number of faults and bytes copied needlessly */
    BLOCK = 65536,
    FETCH_BLOCKS = 32 /* most that one fault fetches */
};

enum location {
    UNUSED, /* neither side has used it: zero for the host, anything for the device */
    AT_HOST,
    AT_BOTH,
    AT_DEVICE
};

struct managed {
    uint64_t address, size; /* whole pages */
    bool is_pinned;         /* mapped, not managed */
    uint64_t blocks;
    int device;
    char *library_view;    /* the second mapping, which this library uses */
    bool is_open;          /* some block is not AT_DEVICE */
    uint64_t next, streak; /* the block after the last fetch, and the blocks of that fetch */
    uint8_t *locations;    /* enum location */
};

static struct {
    struct managed **list;
    size_t count, capacity;
    uint64_t last_writes[HIP_DEVICES_MAX]; /* last write to each device */
    uint64_t *writes;                      /* tickets of commands that write mapped memory */
    size_t write_count, write_capacity;
} managed_pages;

static struct managed *find_managed(uint64_t address)
{
    for (size_t i = 0; i < managed_pages.count; i++)
        if (address - managed_pages.list[i]->address < managed_pages.list[i]->size)
            return managed_pages.list[i];
    return NULL;
}

bool hip_is_managed(uint64_t address)
{
    return find_managed(address) != NULL;
}

bool hip_managed_holds(uint64_t address, uint64_t size)
{
    const struct managed *m = find_managed(address);
    return m && size > 0 && size <= m->size - (address - m->address);
}

static uint64_t block_end(const struct managed *m, uint64_t block)
{
    return block < m->blocks - 1 ? (block + 1) * BLOCK : m->size;
}

/* Gives `count` blocks a new location, and the rights that follow from it. */
static bool put_pages(struct managed *m, uint64_t first, uint64_t count, enum location location)
{
    static const int rights[] = {
        [UNUSED] = PROT_NONE,
        [AT_HOST] = PROT_READ | PROT_WRITE,
        [AT_BOTH] = PROT_READ,
        [AT_DEVICE] = PROT_NONE,
    };
    uint64_t start = first * BLOCK, end = block_end(m, first + count - 1);
    if (mprotect((void *)(uintptr_t)(m->address + start), end - start, rights[location]) != 0) {
        hip_say("cannot change the protection of managed memory: %s", strerror(errno));
        return false;
    }
    memset(m->locations + first, location, count);
    m->is_open |= location != AT_DEVICE;
    return true;
}

/* ---- to the device ---- */

/* Sends blocks [first, end) before the device reads or, with `is_written`, changes them. The pages
 * are closed before the command is enqueued, which reads `library_view`. */
static hipError_t send_blocks(struct managed *m, uint64_t first, uint64_t end, bool is_written)
{
    for (uint64_t block = first, next; block < end; block = next) {
        enum location location = m->locations[block], after = is_written ? AT_DEVICE : AT_BOTH;
        for (next = block + 1; next < end && m->locations[next] == location;)
            next++;
        if (location == AT_DEVICE || (location != AT_HOST && !is_written))
            continue;
        if (!put_pages(m, block, next - block, after))
            return hipErrorOperatingSystem;
        if (location == AT_HOST) {
            uint64_t start = block * BLOCK, size = block_end(m, next - 1) - start, ticket = 0;
            hip_record_host_write(m->address + start, m->library_view + start, size);
            hip_host_memory_scan(m->address + start, m->library_view + start, size);
            enum driver_status status =
                hip.api->write_shared(hip.devices[m->device].queue, m->address + start,
                                      m->library_view + start, size, &ticket);
            managed_pages.last_writes[m->device] = ticket;
            if (status != DRIVER_OK)
                return hip_status(status);
        }
    }
    return hipSuccess;
}

/* `queue` waits for what was sent, also for other commands: all writes to a device go through one
 * queue, in order. */
static hipError_t wait_for_sent(uint32_t queue)
{
    hipError_t error = hipSuccess;
    for (int device = 0; device < hip.device_count && error == hipSuccess; device++) {
        uint64_t done_ps = 0, ticket = managed_pages.last_writes[device];
        if (ticket && queue != hip.devices[device].queue
            && hip.api->time_of(ticket, &done_ps) == DRIVER_NOT_READY)
            error = hip_status(hip.api->wait_for(queue, ticket));
    }
    return error;
}

void hip_managed_add_write(uint64_t ticket)
{
    grow_list(managed_pages.writes, managed_pages.write_count + 1, managed_pages.write_capacity,
              HIP_LIBRARY);
    managed_pages.writes[managed_pages.write_count++] = ticket;
}

static hipError_t wait_for_written(void)
{
    hipError_t error = hipSuccess;
    for (size_t i = 0; i < managed_pages.write_count && error == hipSuccess; i++)
        error = hip_is_ticket_done(managed_pages.writes[i])
                    ? hipSuccess
                    : hip_wait_here(managed_pages.writes[i]);
    managed_pages.write_count = 0;
    return error;
}

hipError_t hip_managed_prepare_launch(uint32_t queue)
{
    hipError_t waited = wait_for_written();
    if (waited != hipSuccess)
        return waited;
    for (size_t i = 0; i < managed_pages.count; i++) {
        struct managed *m = managed_pages.list[i];
        hipError_t error = m->is_open ? send_blocks(m, 0, m->blocks, true) : hipSuccess;
        if (error != hipSuccess)
            return error;
        m->is_open = false;
    }
    return wait_for_sent(queue);
}

hipError_t hip_managed_prepare_use(uint32_t queue, uint64_t address, uint64_t size, bool is_written)
{
    struct managed *m = find_managed(address);
    if (!m || size == 0)
        return hipSuccess;
    uint64_t offset = address - m->address;
    hipError_t error =
        m->is_open ? send_blocks(m, offset / BLOCK, (offset + size - 1) / BLOCK + 1, is_written)
                   : hipSuccess;
    return error == hipSuccess ? wait_for_sent(queue) : error;
}

/* ---- to the host ---- */

/* This thread has fetched blocks, which are recorded. Another thread may have been faster. */
static _Thread_local bool has_fetched;

/* Fetches blocks from `block` on. The work that may change them is done. */
static bool fetch_block(struct managed *m, uint64_t block, bool is_write)
{
    uint64_t count = 1, ticket = 0, start = block * BLOCK;
    if (block == m->next && m->streak > 0)
        count = min(2 * m->streak, FETCH_BLOCKS);
    uint64_t end = block;
    while (end < m->blocks && end < block + count && m->locations[end] == AT_DEVICE)
        end++;
    has_fetched = true;
    m->next = end;
    m->streak = end - block;
    enum driver_status status =
        hip.api->read_shared(hip.devices[m->device].queue, m->library_view + start,
                             m->address + start, block_end(m, end - 1) - start, &ticket);
    return hip_status(status == DRIVER_OK ? hip.api->wait(ticket) : status) == hipSuccess
           && put_pages(m, block, end - block, is_write ? AT_HOST : AT_BOTH);
}

static bool bring_block(uint64_t host, bool is_write)
{
    struct managed *m = find_managed(host);
    if (m && m->locations[(host - m->address) / BLOCK] == AT_DEVICE) {
        if (hip_wait_all_devices() != hipSuccess)
            return false;
        m = find_managed(host); /* the wait has released the lock */
    }
    if (!m)
        return false;
    uint64_t block = (host - m->address) / BLOCK;
    switch ((enum location)m->locations[block]) {
    case AT_DEVICE:
        return fetch_block(m, block, is_write);
    case AT_BOTH:
        return !is_write || put_pages(m, block, 1, AT_HOST);
    case UNUSED:
        return put_pages(m, block, 1, AT_HOST);
    default:
        return true; /* another thread was faster */
    }
}

/* Lets the host read or, with `is_write`, write the block at `host`. Prints why and returns false
 * when it cannot. */
static bool bring_page(uint64_t host, bool is_write)
{
    const char *before = hip_set_step("host access to managed memory");
    bool is_open = bring_block(host, is_write);
    hip_set_step(before);
    return is_open;
}

/* Notes the access, which a player of the trace repeats, and what the host finds. */
static bool bring_recorded(uint64_t host, bool is_write)
{
    const struct managed *m = find_managed(host);
    if (!m)
        return false;
    hip_record_host_access(host, is_write);
    has_fetched = false;
    bool is_open = bring_page(host, is_write);
    m = find_managed(host);
    if (is_open && has_fetched && m) {
        uint64_t start = (m->next - m->streak) * BLOCK;
        hip_record_host_access_end(m->address + start, m->library_view + start,
                                   block_end(m, m->next - 1) - start);
    }
    return is_open;
}

bool hip_host_memory_fault(uint64_t address, bool is_write)
{
    if (__atomic_load_n(&managed_pages.count, __ATOMIC_RELAXED) == 0)
        return false;
    int error_number = errno;
    bool was_inside = hip_is_inside(); /* the library itself reads a program's argument */
    if (!was_inside)
        hip_lock();
    bool is_open = bring_recorded(address, is_write);
    if (!was_inside) {
        hip_host_memory_fetch();
        hip_record_end_call();
        hip_unlock();
    }
    errno = error_number;
    return is_open;
}

/* ---- allocation ---- */

/* Makes both mappings. False: the host has no memory for them, and nothing is left of them. */
static bool map_pages(struct managed *m)
{
    int file = memfd_create("heddle managed memory", MFD_CLOEXEC);
    void *view = (void *)(uintptr_t)m->address;
    if (file < 0 || ftruncate(file, (off_t)m->size) != 0) {
        if (file >= 0)
            close(file);
        return false;
    }
    void *library_view = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    bool is_mapped = library_view != MAP_FAILED
                     && mmap(view, m->size, PROT_NONE, MAP_SHARED | MAP_FIXED, file, 0) == view;
    close(file); /* the mappings keep it */
    if (library_view != MAP_FAILED && !is_mapped)
        munmap(library_view, m->size);
    m->library_view = library_view;
    return is_mapped;
}

static void unmap_pages(const struct managed *m)
{
    void *view = (void *)(uintptr_t)m->address;
    munmap(m->library_view, m->size);
    if (mmap(view, m->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0)
        != view)
        hip_say("cannot take managed memory back: %s", strerror(errno));
}

static struct managed *add_to_map(const struct managed *m)
{
    grow_list(managed_pages.list, managed_pages.count + 1, managed_pages.capacity, HIP_LIBRARY);
    struct managed *added = managed_pages.list[managed_pages.count++] = hip_allocate(sizeof *added);
    *added = *m;
    added->blocks = divide_up(m->size, BLOCK);
    added->locations = hip_allocate(added->blocks); /* UNUSED */
    return added;
}

hipError_t hip_allocate_managed_image(int device, uint64_t size, uint64_t *address)
{
    if (size > SIZE_MAX - HOST_PAGE)
        return hipErrorOutOfMemory;
    struct managed m = {.size = round_up(size, HOST_PAGE), .device = device, .is_open = true};
    hipError_t error =
        hip_allocate_device(m.device, m.size, HOST_PAGE, HIP_MANAGED_MEMORY, &m.address);
    uint64_t memory_bytes = hip.devices[device].info.memory_bytes;
    if (error == hipErrorOutOfMemory && m.size > memory_bytes)
        return hip_fail(error,
                        "%" PRIu64 " bytes of managed memory are more than the %" PRIu64
                        " of device %d, or than the host's memory where the platform has such "
                        "(docs/guide/oversubscription.md)",
                        m.size, memory_bytes, device);
    if (error != hipSuccess)
        return error;
    if (!map_pages(&m)) {
        hip_release_device(m.address);
        return hipErrorOutOfMemory;
    }
    add_to_map(&m);
    *address = m.address;
    return hipSuccess;
}

hipError_t hip_allocate_managed(uint64_t size, unsigned flags, uint64_t *address)
{
    if ((flags != hipMemAttachGlobal && flags != hipMemAttachHost) || size == 0)
        return hipErrorInvalidValue;
    hipError_t error = hip_allocate_managed_image(hip_current_device(), size, address);
    if (error == hipSuccess)
        hip_record_call(&(struct api_trace_call){.kind = API_TRACE_MALLOC_MANAGED,
                                                 .to.allocation = hip_allocation_number(*address),
                                                 .size = size,
                                                 .flags = flags});
    return error;
}

hipError_t hip_allocate_managed_on(int device, uint64_t size, uint64_t *address)
{
    const int before = hip_current_device();
    hipError_t error = hip_set_current_device(device);
    if (error == hipSuccess)
        error = hip_allocate_managed(size, hipMemAttachGlobal, address);
    hip_set_current_device(before);
    return error;
}

void hip_release_managed(uint64_t address)
{
    struct managed *m = find_managed(address);
    if (!m || m->address != address)
        return;
    for (size_t i = 0; i < managed_pages.count; i++)
        if (managed_pages.list[i] == m)
            memmove(&managed_pages.list[i], &managed_pages.list[i + 1],
                    (--managed_pages.count - i) * sizeof *managed_pages.list);
    unmap_pages(m);
    hip_release(m->locations);
    hip_release(m);
}

/* ---- mapped memory ---- */

/* Moves the contents to the new pages. The caller has waited for commands that use the old ones. */
static hipError_t move_contents(struct managed *m, uint64_t size)
{
    char *copy = hip_allocate(size);
    memcpy(copy, (const void *)(uintptr_t)m->address, size);
    hipError_t error = hipErrorOutOfMemory;
    if (map_pages(m)) {
        memcpy(m->library_view, copy, size);
        struct managed *added = add_to_map(m);
        error = put_pages(added, 0, added->blocks, AT_HOST) ? hipSuccess : hipErrorOperatingSystem;
    }
    hip_release(copy);
    return error;
}

hipError_t hip_managed_map(uint64_t start, uint64_t size)
{
    struct managed m = {.address = start,
                        .size = round_up(size, HOST_PAGE),
                        .device = hip_current_device(),
                        .is_pinned = true,
                        .is_open = true};
    enum driver_status status =
        hip.api->allocate_at(hip.devices[m.device].number, start, m.size, DRIVER_PLACE_MANAGED);
    hipError_t error = hip_status_of(status, "mapping pinned memory");
    if (error == hipSuccess) {
        error = move_contents(&m, size);
        if (error != hipSuccess)
            hip.api->release(start);
    }
    return error;
}

/* Notes before bring_page() what comes to the host, and what the host has stored there. */
static void record_pinned(uint64_t host, uint64_t size, bool is_written, bool waits)
{
    const struct managed *m = find_managed(host);
    uint64_t first = m ? (host - m->address) / BLOCK : 0;
    uint64_t end = m ? (host - m->address + size - 1) / BLOCK + 1 : 0;
    for (uint64_t block = first; m && block < end; block++) {
        uint64_t start = block * BLOCK;
        bool moves =
            m->locations[block] == AT_DEVICE || (m->locations[block] == AT_BOTH && is_written);
        if (waits && moves) {
            bring_recorded(m->address + start, is_written);
            m = find_managed(host); /* the wait has released the lock */
        } else if (!waits && m->locations[block] == AT_HOST) {
            hip_record_host_write(m->address + start, m->library_view + start,
                                  block_end(m, block) - start);
        }
    }
}

hipError_t hip_managed_prepare_host_use(struct hip_use *use, bool waits)
{
    uint64_t host = use->location.address;
    if (hip_is_recording())
        record_pinned(host, use->size, use->is_written, waits);
    const struct managed *m = find_managed(host);
    if (!m)
        return hipSuccess;
    uint64_t offset = host - m->address;
    for (uint64_t place = offset; place < offset + use->size; place = (place / BLOCK + 1) * BLOCK)
        if (!bring_page(m->address + place, use->is_written))
            return hip.device_error != hipSuccess ? hip.device_error : hipErrorOperatingSystem;
    use->memory = (uintptr_t)m->library_view + offset;
    return hipSuccess;
}

void hip_managed_unmap(uint64_t start)
{
    const struct managed *m = find_managed(start);
    if (m && m->is_pinned && m->address == start) {
        hip_release_managed(start);
        hip_status_of(hip.api->release(start), "freeing pinned memory");
    }
}
