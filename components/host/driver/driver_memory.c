/* Memory of devices: the program's calls, with their checks and messages, on memory_manager.h.
 *
 * The interface for code that moves pages (page migration, remapping):
 *
 * - memory_owner(d, address): the GPU whose memory holds the page of a virtual address. Pages of an
 *   allocation may lie on several GPUs (unified ones, remapped pages), so copies ask for each
 * piece, never for the allocation.
 * - memory_view(d): what the functions of memory_manager.h take. A page moves in five steps:
 *   1. no kernel uses it: none of its process runs, or those that do have been paused and their
 *      accesses drained;
 *   2. memory_hold_page(&d->memory, device, &to) takes a free page; the contents go there, with
 *      caches flushed before;
 *   3. memory_swap_page(memory_view(d), pid, address, to, &from) changes the page table; the
 *      flags of the page stay;
 *   4. a command of kind DRIVER_SHOOTDOWN (pid, device_address, size) lets all TLBs of all GPUs
 *      forget the old mapping; it is done when none can use it any more. Host calls use
 *      mapping_shoot_down(), which waits for it;
 *   5. memory_give_page(&d->memory, from).
 *   Step 3 is done in a host call or at the end of a window (engine_at_window_end), since others
 *   read the page table while they tick. MMUs keep nothing: a walk that ends after step 3 finds
 *   the new page.
 * - Flags of a page (page_table_look_up): PAGE_TABLE_UNIFIED says that the page may move.
 * - The process of an allocation: program_allocation.pid. An address that two processes use has a
 *   name for the one that came second, page_table_name(); all functions here take names.
 *
 * Whole pages, whatever the size. Addresses that were freed are handed out again only after
 * everything has been handed out once, and after a shoot-down of everything; so freeing needs none.
 * A call that fails leaves everything as it was. */
#include "driver_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/host/driver/commands/driver_commands.h"
#include "components/host/driver/migration/driver_migration.h"
#include "components/host/driver/program/driver_program.h"
#include "runtime/engine/rank.h"
#include "runtime/observe/timeline.h"
#include "runtime/state/memory.h"

#include "driver_process.h"
#include "driver_state.h"

static enum driver_status memory_status(const struct driver *d, enum memory_result result,
                                        uint32_t number, uint64_t address, uint64_t bytes)
{
    char where[160];
    if (driver_process()->lost != DRIVER_OK)
        return driver_fail(driver_process()->lost, "%s", driver_process()->lost_text);
    switch (result) {
    case MEMORY_OK:
        return DRIVER_OK;
    case MEMORY_OUT_OF_PAGES:
        return driver_fail(DRIVER_OUT_OF_MEMORY,
                           "device %u has %" PRIu64 " of %" PRIu64 " bytes free, %" PRIu64
                           " are asked for",
                           number, d->memory.device[number].pages.free_pages * d->memory.page,
                           d->memory.device[number].size, bytes);
    case MEMORY_OUT_OF_ADDRESSES:
    case MEMORY_RECYCLE_FIRST:
        return driver_fail(DRIVER_OUT_OF_MEMORY, "all device addresses have been handed out");
    case MEMORY_OUT_OF_ENTRIES:
        return driver_fail(DRIVER_OUT_OF_MEMORY, "more than %d allocations at the same time",
                           PROGRAM_ALLOCATIONS_MAX);
    case MEMORY_TABLE_FULL:
        return driver_fail(DRIVER_OUT_OF_MEMORY, "the page table is full");
    case MEMORY_NOT_MAPPED:
        program_describe(driver_program(d), address, where, sizeof where);
        return driver_fail(DRIVER_INVALID_ADDRESS,
                           "a page of [0x%" PRIx64 ", 0x%" PRIx64 ") is not mapped: %s", address,
                           address + bytes, where);
    default:
        program_describe(driver_program(d), address, where, sizeof where);
        return driver_fail(DRIVER_INVALID_ADDRESS, "0x%" PRIx64 " cannot be allocated or freed: %s",
                           address, where);
    }
}

static uint32_t memory_poorest(const struct driver *d, const uint32_t *devices, uint32_t count)
{
    uint32_t poorest = devices[0];
    for (uint32_t i = 1; i < count; i++)
        if (d->memory.device[devices[i]].pages.free_pages
            < d->memory.device[poorest].pages.free_pages)
            poorest = devices[i];
    return poorest;
}

/* The bytes of an allocation that kernels may access. */
static uint64_t memory_bounds(const struct driver *d, uint64_t size)
{
    uint64_t page = driver_page_bytes(d);
    bool whole = driver_process()->has_page_bounds && size <= UINT64_MAX - page;
    return whole ? round_up(size, page) : size;
}

/* A state keeps the addresses that calls got: when it is restored, they get these again. */
static enum memory_result memory_as_before(struct driver *d, struct memory_request q,
                                           uint64_t *address)
{
    uint64_t wanted = 0;
    bool again = journal_replays() && !driver_process()->is_running;
    if (again && journal_take_address(q.size, &wanted) != DRIVER_OK)
        return MEMORY_NOT_MAPPED;
    enum memory_result result = memory_allocate(memory_view(d), &q, address);
    if (again && wanted && (result != MEMORY_OK || *address != wanted)) {
        if (result == MEMORY_OK)
            memory_free(memory_view(d), *address);
        q.fixed = *address = wanted;
        result = memory_allocate(memory_view(d), &q, address);
    }
    if (!again)
        journal_keep_address(d, q.size, result == MEMORY_OK ? *address : 0);
    return result;
}

static enum memory_result memory_try(struct driver *d, struct memory_request q, uint64_t *address)
{
    q.flags |= PAGE_TABLE_WRITABLE;
    q.size = memory_bounds(d, q.size);
    return q.fixed ? memory_allocate(memory_view(d), &q, address) : memory_as_before(d, q, address);
}

static enum driver_status memory_allocate_own(struct driver *d, uint32_t number, uint32_t pid,
                                              uint64_t size, enum program_use use,
                                              uint64_t *address)
{
    const struct memory_request q = {
        .pid = pid, .use = use, .size = size, .device = &number, .device_count = 1};
    return memory_status(d, memory_try(d, q, address), number, 0, size);
}

static void memory_release(struct driver *d, uint64_t address)
{
    const struct program_allocation *a = program_find(driver_program(d), address);
    if (a) {
        memory_trace(d, "unmap", a->pid, a->start, a->end - a->start);
        l2_note_left(d, a->pid);
        residence_free(d, a->pid, a->start, a->end - a->start);
    }
    if (memory_free(memory_view(d), address) != MEMORY_OK)
        bug("driver: 0x%" PRIx64 " is not the start of an allocation", address);
}

/* The first page of [address, address + size), inside of allocation `a`, that was removed. False:
 * there is none. */
static bool memory_find_hole(const struct driver *d, const struct program_allocation *a,
                             uint64_t address, uint64_t size, uint64_t *hole)
{
    uint64_t page = driver_page_bytes(d), physical, flags;
    if (!d->memory.has_removed_pages)
        return false;
    for (*hole = address / page * page; *hole < address + size; *hole += page)
        if (!page_table_look_up(driver_page_table(d), a->pid, *hole, &physical, &flags))
            return true;
    return false;
}

static enum driver_status memory_check(const struct driver *d, uint64_t address, uint64_t size,
                                       const char *operation)
{
    const struct program_allocation *a = program_find(driver_program(d), address);
    uint64_t hole;
    char where[160];
    if (a && size <= a->end - address) {
        if (!memory_find_hole(d, a, address, size, &hole))
            return DRIVER_OK;
        return driver_fail(DRIVER_INVALID_ADDRESS,
                           "%s of %" PRIu64 " bytes at 0x%" PRIx64 ": the page at 0x%" PRIx64
                           " was removed",
                           operation, size, address, hole);
    }
    if (a)
        return driver_fail(
            DRIVER_INVALID_ADDRESS,
            "%s of %" PRIu64 " bytes at 0x%" PRIx64 " leaves its allocation of %" PRIu64
            " bytes at 0x%" PRIx64 " by %" PRIu64 " bytes",
            operation, size, address, a->end - a->start, a->start, address + size - a->end);
    program_describe(driver_program(d), address, where, sizeof where);
    return driver_fail(DRIVER_INVALID_ADDRESS,
                       "%s of %" PRIu64 " bytes at 0x%" PRIx64 " is outside of any allocation: %s",
                       operation, size, address, where);
}

static uint64_t memory_physical(const struct driver *d, uint64_t address, uint64_t *rest)
{
    uint64_t page = driver_page_bytes(d), physical;
    const struct program_allocation *a = program_find(driver_program(d), address);
    bool writable;
    if (!a || !page_table_find(driver_page_table(d), a->pid, address, &physical, &writable))
        bug("driver: 0x%" PRIx64 " is not mapped", address);
    *rest = page - address % page;
    return physical + address % page;
}

static uint64_t memory_run(const struct driver *d, uint64_t address, uint64_t *rest)
{
    const struct program_allocation *a = program_find(driver_program(d), address);
    uint64_t physical = memory_physical(d, address, rest), first;
    uint64_t bytes =
        (uint64_t)1 << page_table_fragment(driver_page_table(d), a->pid, address, &first);
    *rest = first + bytes - physical;
    return physical;
}

/* Nothing depends on whether pages follow each other where this does not look. With several ranks
 * most of the memory is another's. */
static void memory_prepare(const struct driver *d, uint64_t address, uint64_t size)
{
    enum { STEP = 2 << 20 }; /* less is not worth it */
    uint64_t run = 0, bytes = 0, rest, part;
    if (size < STEP || !rank_is_alone())
        return;
    for (uint64_t done = 0; done < size; done += part) {
        part = min(size - done, STEP);
        uint64_t first = memory_physical(d, address + done, &rest);
        uint64_t last = memory_physical(d, address + done + part - 1, &rest);
        bool together = last - first == part - 1;
        if (first != run + bytes || !together) {
            memory_expect(run, bytes);
            run = first;
            bytes = 0;
        }
        bytes += together ? part : 0;
    }
    memory_expect(run, bytes);
}

static struct gpu_set memory_owners(const struct driver *d, uint64_t address, uint64_t size)
{
    struct gpu_set owners = {{0}};
    uint64_t rest;
    if (d->device_count == 1)
        return gpu_set_of(0);
    for (uint64_t done = 0; done < size; done += rest)
        gpu_set_put(&owners,
                    memory_device_of(&d->memory, memory_physical(d, address + done, &rest)));
    return owners;
}

static uint32_t memory_owner(const struct driver *d, uint64_t address)
{
    uint64_t rest;
    return memory_device_of(&d->memory, memory_physical(d, address, &rest));
}

static uint64_t memory_name(const struct driver *d, uint32_t pid, uint64_t address)
{
    const struct program_allocation *a = program_find_in(driver_program(d), pid, address);
    return a && page_table_is_name(a->start) ? page_table_name(pid, address) : address;
}

static bool memory_may_name(const struct driver *d, uint32_t pid, uint64_t address, uint64_t size)
{
    const struct program_table *t = driver_program(d);
    bool is_used = false;
    if (size > ((uint64_t)1 << 48) - address)
        return false;
    for (uint32_t i = 0; i < t->allocation_count; i++) {
        const struct program_allocation *a = &t->allocation[i];
        uint64_t start = page_table_address(a->start), end = page_table_address(a->end);
        if (start >= address + size || address >= round_up(end, d->memory.page))
            continue;
        if (a->pid == pid || a->use == PROGRAM_ARGUMENTS)
            return false; /* arguments are mapped in all processes */
        is_used |= !page_table_is_name(a->start);
    }
    return is_used;
}

/* Names of spans stay until the end of the run. */
static void trace_run(struct driver *d, const char *operation, uint32_t pid, uint32_t gpu,
                      uint64_t address, uint64_t pages)
{
    enum { TEXT = 120 };
    char *name = grow_zeroed(TEXT, "the names of spans");
    snprintf(name, TEXT, "%s 0x%" PRIx64 ", %" PRIu64 " pages, GPU %u, process %u", operation,
             page_table_address(address), pages, gpu, pid);
    timeline_begin(&d->io.base, address, name);
    timeline_end(&d->io.base, address, name);
}

static void memory_trace(struct driver *d, const char *operation, uint32_t pid, uint64_t address,
                         uint64_t size)
{
    uint64_t page = d->memory.page, first = address / page * page, run = first, physical, flags;
    uint32_t owner = UINT32_MAX;
    if (!(engine.tracing & ENGINE_TIMELINE))
        return;
    for (uint64_t at = first; at < address + size; at += page) {
        uint32_t gpu = page_table_look_up(driver_page_table(d), pid, at, &physical, &flags)
                           ? memory_device_of(&d->memory, physical)
                           : UINT32_MAX;
        if (gpu != owner && owner != UINT32_MAX)
            trace_run(d, operation, pid, owner, run, (at - run) / page);
        run = gpu != owner ? at : run;
        owner = gpu;
    }
    if (owner != UINT32_MAX)
        trace_run(d, operation, pid, owner, run, (round_up(address + size, page) - run) / page);
}
