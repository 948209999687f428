/* Calls of the program that allocate, free and change mappings, and contexts. Called with the lock
 * held.
 *
 * Whatever may have been used by a kernel is changed only when nothing is queued, and a shoot-down
 * follows before anything else can be. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/host/driver/commands/driver_commands.h"
#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_ptx.h"
#include "components/host/driver/migration/driver_migration.h"
#include "components/host/driver/unified_split.h"
#include "components/host/driver/user_queues/driver_user_queue.h"
#include "components/nvidia/program/ptx_services.h"
#include "runtime/engine/component_failure.h"
#include "runtime/state/memory.h"

#include "driver_program.h"

/* Waits for all that a process has queued (DRIVER_ALL_PIDS: that anyone has). */
static enum driver_status await_process(struct driver *d, uint32_t pid)
{
    enum driver_status status = run_usable();
    for (uint32_t i = 0; i < d->queue_count && status == DRIVER_OK; i++) {
        const struct driver_queue *q = driver_queue_at(d, i);
        if (q->is_used && (pid == DRIVER_ALL_PIDS || driver_handle_at(d, q->handle)->pid == pid))
            status = await_queue(d, i);
    }
    return status == DRIVER_OK ? await_migration(d) : status;
}

static enum driver_status await_everything(struct driver *d)
{
    return await_process(d, DRIVER_ALL_PIDS);
}

/* Lets all TLBs forget the pages of a process (DRIVER_ALL_PIDS: of all) in [address, address +
 * size), and waits until they have. */
static enum driver_status mapping_shoot_down(struct driver *d, uint32_t pid, uint64_t address,
                                             uint64_t size)
{
    struct driver_command k = {.kind = DRIVER_SHOOTDOWN,
                               .pid = pid,
                               .size = d->gpu_count,
                               .shootdown = {page_table_address(address), size}};
    uint64_t ticket;
    enum driver_status status = enqueue_command(d, 0, &k, &ticket);
    return status == DRIVER_OK ? await_ticket(d, ticket) : status;
}

/* Makes the addresses that were freed fresh again. */
static enum driver_status mapping_recycle(struct driver *d)
{
    if (driver_process()->is_in_tick)
        return driver_fail(DRIVER_OUT_OF_MEMORY, "all device addresses have been handed out");
    enum driver_status status = shootdown_check();
    if (status == DRIVER_OK)
        status = await_everything(d);
    if (status == DRIVER_OK)
        status = mapping_shoot_down(d, DRIVER_ALL_PIDS, 0, (uint64_t)1 << 48);
    if (status == DRIVER_OK)
        memory_recycle(&d->memory);
    return status;
}

static bool mapping_make_room(struct driver *d, const struct memory_request *q, uint64_t pages)
{
    bool evicted = false;
    if (!driver_evicts(d) || driver_process()->is_in_tick || await_everything(d) != DRIVER_OK)
        return false;
    for (uint32_t i = 0; i < q->device_count; i++) {
        uint64_t share = memory_count_of(q, pages, i);
        while (d->memory.device[q->device[i]].pages.free_pages < share) {
            if (!residence_evict(d, q->device[i]) || await_migration(d) != DRIVER_OK)
                return false;
            evicted = true;
        }
    }
    return evicted;
}

static uint64_t split_pages(void *of, uint64_t first, uint64_t count, uint32_t gpus, uint32_t *gpu)
{
    const struct driver *d = of;
    return driver_split_ops(d)->pages(driver_split(d), first, count, gpus, gpu);
}

/* Completes the request: for which GPUs, and how pages are divided among them. */
static void ask_for_place(struct driver *d, const struct driver_handle *h, enum driver_place place,
                          struct memory_request *q)
{
    bool unified = place == DRIVER_PLACE_MANAGED;
    q->pid = h->pid;
    q->use = PROGRAM_BUFFER;
    q->flags = unified ? PAGE_TABLE_UNIFIED | PAGE_TABLE_FINE : 0;
    q->device = h->member;
    q->device_count = h->count;
    if (unified && driver_evicts(d)) /* comes to a GPU when it is used, unless it is pinned */
        q->flags |= q->fixed ? PAGE_TABLE_REMOTE : 0;
    if (place == DRIVER_PLACE_HOST || (unified && driver_evicts(d))) {
        q->device = &d->gpu_count;
        q->device_count = 1;
    } else if (h->count > 1) {
        q->run = split_pages;
        q->of = d;
    }
}

static void note_allocation(struct driver *d, const struct driver_handle *h,
                            enum driver_place place, const struct memory_request *q,
                            uint64_t address)
{
    uint64_t page = driver_page_bytes(d), pages = divide_up(q->size, page);
    if (place != DRIVER_PLACE_DEVICE || h->count > 1)
        program_open(driver_program(d), address);
    memory_trace(d, "map", h->pid, address, q->size);
    if (q->device_count == 1 || q->fixed)
        return;
    for (uint32_t i = 0; i < q->device_count; i++)
        stat_histogram_add(&d->io.stats.unified_pages, memory_count_of(q, pages, i));
}

static enum driver_status allocate_pages(struct driver *d, const struct driver_handle *h,
                                         struct memory_request q, enum driver_place place,
                                         uint64_t *address)
{
    uint64_t page = driver_page_bytes(d), pages = divide_up(q.size, page);
    ask_for_place(d, h, place, &q);
    for (int attempt = 0;; attempt++) {
        enum memory_result result = memory_try(d, q, address);
        if (result == MEMORY_OK)
            note_allocation(d, h, place, &q, *address);
        if (result == MEMORY_OUT_OF_PAGES && mapping_make_room(d, &q, pages))
            continue;
        if (q.fixed
            && (result == MEMORY_OUT_OF_ADDRESSES || (result == MEMORY_RECYCLE_FIRST && attempt)))
            result = MEMORY_NOT_ALLOCATED;
        if (result != MEMORY_RECYCLE_FIRST || attempt)
            return memory_status(d, result, memory_poorest(d, q.device, q.device_count), q.fixed,
                                 q.size);
        enum driver_status status = mapping_recycle(d);
        if (status != DRIVER_OK)
            return status;
    }
}

static enum driver_status mapping_allocate(struct driver *d, uint32_t number, uint64_t size,
                                           uint64_t align, enum driver_place place,
                                           uint64_t *address)
{
    enum driver_status status = handle_check(d, number);
    if (status != DRIVER_OK)
        return status;
    if (align & (align - 1))
        return driver_fail(DRIVER_INVALID_VALUE, "alignment %" PRIu64 " is not a power of two",
                           align);
    if (!size)
        return driver_fail(DRIVER_INVALID_VALUE, "an allocation of 0 bytes");
    const struct memory_request q = {.size = size, .align = align};
    return allocate_pages(d, driver_handle_at(d, number), q, place, address);
}

static enum driver_status mapping_allocate_at(struct driver *d, uint32_t number, uint64_t address,
                                              uint64_t size, enum driver_place place)
{
    enum driver_status status = handle_check(d, number);
    if (status == DRIVER_OK && place == DRIVER_PLACE_HOST && !driver_has_host(d))
        status = driver_fail(DRIVER_INVALID_DEVICE, "the platform has no memory of the host");
    if (status != DRIVER_OK)
        return status;
    const struct driver_handle *h = driver_handle_at(d, number);
    if (!size || !address || address % driver_page_bytes(d))
        return driver_fail(DRIVER_INVALID_VALUE,
                           "an allocation of %" PRIu64 " bytes at 0x%" PRIx64
                           "; pages have %" PRIu64 " bytes",
                           size, address, driver_page_bytes(d));
    if (memory_is_foreign(&d->memory, address, address + size)
        && (status = shootdown_check()) != DRIVER_OK)
        return status;
    if (memory_may_name(d, h->pid, address, size))
        address = page_table_name(h->pid, address);
    const struct memory_request q = {.size = size, .fixed = address};
    return allocate_pages(d, h, q, place, &address);
}

/* The allocation of the program that begins at `address`, or NULL and the reason. */
static const struct program_allocation *find_start(const struct driver *d, uint64_t address)
{
    const struct program_allocation *a = program_find(driver_program(d), address);
    char where[160];
    if (a && a->start == address && a->use <= PROGRAM_CODE)
        return a;
    program_describe(driver_program(d), address, where, sizeof where);
    driver_fail(DRIVER_INVALID_ADDRESS, "0x%" PRIx64 " is not the start of an allocation: %s",
                address, where);
    return NULL;
}

static enum driver_status call_limit_to(struct driver *d, uint64_t address, uint64_t gpus)
{
    const struct program_allocation *a = find_start(d, address);
    if (!a)
        return DRIVER_INVALID_ADDRESS;
    program_bar(driver_program(d), a->start, ~gpus);
    return DRIVER_OK;
}

static enum driver_status mapping_release(struct driver *d, uint64_t address)
{
    const struct program_allocation *a = find_start(d, address);
    if (!a)
        return DRIVER_INVALID_ADDRESS;
    uint32_t pid = a->pid;
    uint64_t size = a->end - a->start;
    /* Another process may use the address at once. */
    bool again =
        page_table_is_name(address) || memory_is_foreign(&d->memory, address, address + size);
    enum driver_status status = again ? shootdown_check() : DRIVER_OK;
    if (status == DRIVER_OK)
        status = await_process(d, pid);
    if (status == DRIVER_OK)
        memory_release(d, address);
    if (status == DRIVER_OK && again)
        status = mapping_shoot_down(d, pid, address, size);
    if (status == DRIVER_OK && memory_retired_many(&d->memory) && !driver_process()->is_in_tick)
        status = mapping_recycle(d);
    return status;
}

/* The place of `address`, the first byte of a page, and the number of those of `size` bytes that
 * lie there side by side. */
static uint64_t find_run(const struct driver *d, uint64_t address, uint64_t size, uint64_t *bytes)
{
    uint64_t rest, page = driver_page_bytes(d), physical = memory_physical(d, address, &rest);
    for (*bytes = page; *bytes < size; *bytes += page)
        if (memory_physical(d, address + *bytes, &rest) != physical + *bytes)
            break;
    return physical;
}

static enum driver_status call_extent(struct driver *d, uint64_t address, uint64_t size,
                                      uint64_t *offset, uint64_t *bytes)
{
    enum driver_status status = memory_check(d, address, size, "sharing with the host");
    if (status == DRIVER_OK && page_table_address(address) % driver_page_bytes(d))
        status = driver_fail(DRIVER_INVALID_ADDRESS, "0x%" PRIx64 " is not the start of a page",
                             address);
    if (status == DRIVER_OK)
        *offset = memory_file_offset(find_run(d, address, size, bytes));
    return status;
}

static enum driver_status call_alias(struct driver *d, uint64_t address, uint64_t size, void *host)
{
    uint64_t bytes, page = driver_page_bytes(d), whole = round_up(size, page);
    enum driver_status status = memory_check(d, address, size, "sharing with the host");
    for (uint64_t at = 0; at < whole && status == DRIVER_OK; at += bytes) {
        uint64_t physical = find_run(d, address + at, whole - at, &bytes);
        if (!(host ? memory_alias(physical, bytes, host + at) : memory_clear(physical, bytes)))
            status = driver_fail(DRIVER_OUT_OF_MEMORY,
                                 "sharing %" PRIu64 " bytes at 0x%" PRIx64 " with the host: %s",
                                 bytes, address + at, strerror(errno));
    }
    return status;
}

/* ---- single pages ---- */

/* The process of a range, which has to lie in one allocation of the program. */
static enum driver_status mapping_find(struct driver *d, uint64_t address, uint64_t size,
                                       const char *operation, uint32_t *pid)
{
    const struct program_allocation *a = program_find(driver_program(d), address);
    if (!a || a->use > PROGRAM_CODE || !size || size > a->end - address)
        return driver_fail(DRIVER_INVALID_ADDRESS,
                           "%s: [0x%" PRIx64 ", 0x%" PRIx64 ") is not inside of one allocation",
                           operation, address, address + size);
    *pid = a->pid;
    return DRIVER_OK;
}

/* Called before a mapping is changed: finds the process, and waits until nothing uses the range. */
static enum driver_status mapping_begin(struct driver *d, uint64_t address, uint64_t size,
                                        const char *operation, uint32_t *pid)
{
    enum driver_status status = mapping_find(d, address, size, operation, pid);
    if (status == DRIVER_OK)
        status = shootdown_check();
    return status == DRIVER_OK ? await_everything(d) : status;
}

static enum driver_status call_remap(struct driver *d, uint64_t address, uint64_t size,
                                     uint32_t gpu)
{
    uint32_t pid;
    if (gpu >= d->gpu_count)
        return driver_fail(DRIVER_INVALID_DEVICE, "remap: there is no GPU %u; the platform has %u",
                           gpu, d->gpu_count);
    enum driver_status status = mapping_begin(d, address, size, "remap", &pid);
    if (status == DRIVER_OK) {
        program_open(driver_program(d), address);
        l2_note_left(d, pid);
    }
    if (status == DRIVER_OK)
        status = memory_status(d, memory_remap(memory_view(d), pid, address, size, gpu), gpu,
                               address, size);
    if (status == DRIVER_OK)
        memory_trace(d, "map", pid, address, size);
    return status == DRIVER_OK ? mapping_shoot_down(d, pid, address, size) : status;
}

static enum driver_status call_join(struct driver *d, uint64_t address, uint64_t size,
                                    uint64_t from)
{
    const struct program_allocation *other = program_find(driver_program(d), from);
    uint32_t pid;
    enum driver_status status = mapping_begin(d, address, size, "joining memory", &pid);
    if (status == DRIVER_OK && (!other || other->pid != pid || size > other->end - from))
        status = driver_fail(DRIVER_INVALID_ADDRESS,
                             "joining memory: [0x%" PRIx64 ", 0x%" PRIx64
                             ") is not inside of one allocation of the process",
                             from, from + size);
    if (status != DRIVER_OK)
        return status;
    l2_note_left(d, pid);
    status =
        memory_status(d, memory_join(memory_view(d), pid, address, size, from), 0, address, size);
    if (status == DRIVER_OK)
        memory_trace(d, "map", pid, address, size);
    return status == DRIVER_OK ? mapping_shoot_down(d, pid, address, size) : status;
}

static enum driver_status call_remove_page(struct driver *d, uint64_t address)
{
    uint32_t pid;
    enum driver_status status = mapping_begin(d, address, 1, "removing a page", &pid);
    if (status == DRIVER_OK) {
        memory_trace(d, "unmap", pid, address, 1);
        l2_note_left(d, pid);
    }
    if (status == DRIVER_OK)
        status = memory_status(d, memory_remove_page(memory_view(d), pid, address), 0, address, 1);
    return status == DRIVER_OK ? mapping_shoot_down(d, pid, address, 1) : status;
}

static enum driver_status call_allocate_page_at(struct driver *d, uint32_t number, uint64_t address,
                                                bool unified)
{
    uint64_t physical = 0;
    enum driver_status status = handle_check(d, number);
    if (status == DRIVER_OK)
        status = shootdown_check();
    if (status == DRIVER_OK)
        status = await_everything(d);
    if (status != DRIVER_OK)
        return status;
    const struct driver_handle *h = driver_handle_at(d, number);
    uint64_t flags = PAGE_TABLE_WRITABLE | (unified ? PAGE_TABLE_UNIFIED : 0);
    uint64_t page = driver_page_bytes(d), start = address / page * page;
    if (memory_may_name(d, h->pid, start, page))
        return mapping_allocate_at(d, number, start, page,
                                   unified ? DRIVER_PLACE_MANAGED : DRIVER_PLACE_DEVICE);
    address = memory_name(d, h->pid, address);
    for (int attempt = 0;; attempt++) {
        enum memory_result result = memory_allocate_page_at(memory_view(d), h->pid, h->member[0],
                                                            address, flags, &physical);
        if (result == MEMORY_OK) {
            l2_note_left(d, h->pid); /* lines of the page that was there */
            program_open(driver_program(d), address);
            memory_trace(d, "map", h->pid, address, 1);
            return mapping_shoot_down(d, h->pid, address, 1);
        }
        if (result != MEMORY_RECYCLE_FIRST || attempt)
            return memory_status(d, result, h->member[0], address, driver_page_bytes(d));
        if ((status = mapping_recycle(d)) != DRIVER_OK)
            return status;
    }
}

static enum driver_status call_advise(struct driver *d, uint64_t address, uint64_t size,
                                      enum driver_advice advice, bool on)
{
    static const uint64_t flag_of[] = {[DRIVER_ADVICE_REMOTE] = PAGE_TABLE_REMOTE,
                                       [DRIVER_ADVICE_READ_MOSTLY] = PAGE_TABLE_READ_MOSTLY,
                                       [DRIVER_ADVICE_FINE] = PAGE_TABLE_FINE,
                                       [DRIVER_ADVICE_UNCACHED] = PAGE_TABLE_UNCACHED};
    uint64_t page = driver_page_bytes(d), physical, flags;
    bool is_type = advice >= DRIVER_ADVICE_FINE;
    uint32_t pid;
    if (!is_type && !driver_move_count(d))
        return DRIVER_OK;
    enum driver_status status =
        (is_type ? mapping_find : mapping_begin)(d, address, size, "advice", &pid);
    for (uint64_t at = address / page * page; at < address + size && status == DRIVER_OK;
         at += page) {
        if (!page_table_look_up(driver_page_table(d), pid, at, &physical, &flags)
            || !(is_type || flags & PAGE_TABLE_UNIFIED))
            continue;
        flags = on ? flags | flag_of[advice] : flags & ~flag_of[advice];
        page_table_enter(driver_page_table(d), pid, at, physical, flags);
    }
    return status;
}

static enum driver_status call_page_info(struct driver *d, uint64_t address,
                                         struct driver_page *page)
{
    const struct program_allocation *a = program_find(driver_program(d), address);
    uint64_t flags;
    if (!a || !page_table_look_up(driver_page_table(d), a->pid, address, &page->physical, &flags))
        return memory_status(d, MEMORY_NOT_MAPPED, 0, address, 1);
    page->device = memory_device_of(&d->memory, page->physical);
    if (page->device == d->gpu_count)
        page->device = DRIVER_HOST_DEVICE;
    page->process = a->pid;
    page->unified = (flags & PAGE_TABLE_UNIFIED) != 0;
    return DRIVER_OK;
}

/* ---- queues ---- */

static enum driver_status call_queue_create(struct driver *d, uint32_t device, uint32_t flags,
                                            uint32_t *queue)
{
    enum driver_status status = handle_check(d, device);
    if (status != DRIVER_OK)
        return status;
    *queue = queue_open(d, driver_handle_at(d, device)->member[0], device);
    if (*queue == DRIVER_NONE)
        return driver_fail(DRIVER_OUT_OF_MEMORY, "more than %d queues", DRIVER_QUEUES_MAX);
    driver_queue_at(d, *queue)->flags = flags;
    return DRIVER_OK;
}

static enum driver_status call_queue_destroy(struct driver *d, uint32_t queue)
{
    enum driver_status status = queue_check(d, queue);
    if (status == DRIVER_OK && queue < d->gpu_count)
        status =
            driver_fail(DRIVER_INVALID_VALUE, "queue %u belongs to its device and stays", queue);
    if (status == DRIVER_OK)
        status = await_queue(d, queue);
    if (status == DRIVER_OK)
        status = user_queue_close(d, queue);
    if (status != DRIVER_OK)
        return status;
    driver_queue_at(d, queue)->is_used = false;
    return DRIVER_OK;
}

/* ---- code ---- */

static enum driver_status code_register(struct driver *d, uint32_t device, const char *name,
                                        uint64_t address, const void *bytes, uint64_t size)
{
    enum driver_status status = handle_check(d, device);
    if (status == DRIVER_OK) {
        code_add(name, address, bytes, size);
        program_set_use(driver_program(d), address, PROGRAM_CODE);
    }
    return status;
}

static enum driver_status code_unregister(struct driver *d, uint64_t address)
{
    code_copies_release(d, address, DRIVER_NONE);
    return code_remove(address) ? DRIVER_OK : ptx_unregister(address);
}

static enum driver_status code_register_kernel(struct driver *d, uint32_t device, const char *name,
                                               uint64_t entry)
{
    enum isa_target target;
    enum driver_status status = handle_check(d, device);
    if (status != DRIVER_OK)
        return status;
    const struct driver_device *gpu = &d->device[driver_handle_at(d, device)->member[0]];
    if (device_executes_ptx(gpu))
        return ptx_register_kernel(name, entry);
    if (isa_target_by_name(gpu->info.isa, &target) < 0)
        return driver_fail(DRIVER_INVALID_DEVICE, "device %u has no known instruction set", device);
    return code_check_kernel(target, name, entry)
               ? DRIVER_OK
               : driver_fail(DRIVER_INVALID_ADDRESS,
                             "kernel '%s': no code is registered at 0x%" PRIx64, name, entry);
}

/* ---- code of unified devices ---- */

static enum driver_status copy_code_to(struct driver *d, const struct code_module *m,
                                       uint32_t number, uint32_t gpu)
{
    struct code_copy *c = grow_zeroed(sizeof *c, CODE_MEMORY);
    *c = (struct code_copy){.address = m->address, .size = m->size, .handle = number, .gpu = gpu};
    uint64_t ticket;
    enum driver_status status = memory_allocate_own(d, gpu, driver_handle_at(d, number)->pid,
                                                    m->size, PROGRAM_CODE, &c->copy);
    if (status != DRIVER_OK) {
        free(c);
        return status;
    }
    c->next = driver_process()->code_copies;
    driver_process()->code_copies = c;
    d->io.stats.launch_copies++;
    const struct command_move move = {.address = c->copy, .host = (char *)m->bytes};
    status = enqueue_move(d, gpu, DRIVER_WRITE, move, m->size, &ticket);
    return status == DRIVER_OK ? await_ticket(d, ticket) : status;
}

/* The code stays where it is for a handle of one GPU. */
static enum driver_status copy_code_to_members(struct driver *d, const struct code_module *m,
                                               uint32_t number)
{
    const struct driver_handle *h = driver_handle_at(d, number);
    enum driver_status status = DRIVER_OK;
    if (h->count == 1)
        return DRIVER_OK;
    for (uint32_t i = 0; i < h->count && status == DRIVER_OK; i++)
        status = copy_code_to(d, m, number, h->member[i]);
    return status;
}

static enum driver_status call_copy_code(struct driver *d, uint32_t number, uint64_t address)
{
    enum driver_status status = handle_check(d, number);
    const struct code_module *m = code_find(address);
    if (status == DRIVER_OK && !m)
        status =
            driver_fail(DRIVER_INVALID_ADDRESS, "no code is registered at 0x%" PRIx64, address);
    if (status == DRIVER_OK)
        status = copy_code_to_members(d, m, number);
    if (status != DRIVER_OK && m)
        code_copies_release(d, m->address, number);
    return status;
}

/* ---- contexts ---- */

static enum driver_status context_create(struct driver *d, uint32_t like, uint32_t pid,
                                         uint32_t *context)
{
    enum driver_status status = handle_check(d, like);
    if (status != DRIVER_OK)
        return status;
    const struct driver_handle old = *driver_handle_at(d, like);
    if (!pid)
        for (pid = DRIVER_PID + 1; pid < PAGE_TABLE_PIDS && handle_count_pid(d, pid);)
            pid++;
    *context = pid < PAGE_TABLE_PIDS ? handle_open(d, pid, old.member, old.count) : DRIVER_NONE;
    if (*context == DRIVER_NONE)
        return driver_fail(DRIVER_OUT_OF_MEMORY, "more than %d devices and contexts",
                           DRIVER_HANDLES_MAX);
    for (uint32_t i = 0; i < old.count; i++) {
        uint64_t ring = d->device[old.member[i]].ring.address;
        if (ring && !memory_share(memory_view(d), ring, pid)) {
            driver_handle_at(d, *context)->is_used = false;
            return driver_fail(DRIVER_OUT_OF_MEMORY, "the page table is full");
        }
    }
    return DRIVER_OK;
}

/* Frees all that the process has, and forgets its translations. */
static enum driver_status process_end(struct driver *d, uint32_t pid)
{
    for (uint32_t i = 0; i < d->device_count; i++) {
        struct driver_device *device = &d->device[i];
        for (uint32_t n = 0; n < DRIVER_SCRATCH_POOLS_MAX; n++)
            if (device->scratch[n].bytes && device->scratch[n].pid == pid)
                device->scratch[n].bytes = 0;
        argument_ring_leave(d, i, pid);
    }
    l2_note_left(d, pid);
    if (ptx_services())
        ptx_services()->heap_drop(pid);
    memory_free_process(memory_view(d), pid);
    program_contain(driver_program(d), pid, false);
    engine_clear_fault(pid);
    return mapping_shoot_down(d, pid, 0, (uint64_t)1 << 48);
}

static enum driver_status context_destroy(struct driver *d, uint32_t number)
{
    enum driver_status status = handle_check(d, number);
    if (status == DRIVER_OK && number < d->gpu_count)
        status = driver_fail(DRIVER_INVALID_VALUE, "device %u is a GPU of the platform and stays",
                             number);
    if (status == DRIVER_OK)
        status = shootdown_check();
    struct driver_handle *h = driver_handle_at(d, number);
    if (status == DRIVER_OK)
        status = await_process(d, h->pid);
    if (status != DRIVER_OK)
        return status;
    for (uint32_t i = 0; i < d->queue_count; i++)
        if (driver_queue_at(d, i)->handle == number)
            driver_queue_at(d, i)->is_used = false;
    h->is_used = false;
    code_copies_release(d, UINT64_MAX, number);
    return h->pid != DRIVER_PID && !handle_count_pid(d, h->pid) ? process_end(d, h->pid)
                                                                : DRIVER_OK;
}
