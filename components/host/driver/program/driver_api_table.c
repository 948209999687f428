/* struct driver_api: what a front end calls. Each call takes the driver's lock and leaves the work
 * to the files beside this one; see driver_api.h for what the calls mean. */
#include "driver_api_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "runtime/engine/arena.h"
#include "components/host/driver/launch/driver_launch.h"
#include "components/host/driver/user_queues/driver_user_queue.h"
#include "components/host/driver/user_queues/driver_user_queue_api.h"
#include "components/traces/instruction_trace/amd/amd_recording.h"
#include "driver_code.h"
#include "driver_code_copies.h"
#include "driver_enqueue.h"
#include "driver_handles.h"
#include "driver_mapping.h"
#include "driver_record.h"
#include "driver_wait.h"
#include "runtime/session/exit_status.h"

static struct driver *the_driver(void)
{
    return driver_process()->driver;
}

static void api_enter(void)
{
    pthread_mutex_lock(&driver_process()->mutex);
    arena_show();
}

static enum driver_status api_leave(enum driver_status status)
{
    pthread_mutex_unlock(&driver_process()->mutex);
    return status;
}

/* Whoever holds the lock uses the state, and comes here itself. */
static void api_hide(void)
{
    if (pthread_mutex_trylock(&driver_process()->mutex) != 0)
        return;
    arena_hide();
    pthread_mutex_unlock(&driver_process()->mutex);
}

static bool api_is_hidden(const void *address)
{
    return arena_touches(address, 1);
}

static uint32_t api_device_count(void)
{
    api_enter();
    uint32_t count = the_driver()->device_count;
    api_leave(DRIVER_OK);
    return count;
}

static enum driver_status api_device_info(uint32_t device, struct driver_device_info *info)
{
    struct driver *d = the_driver();
    api_enter();
    enum driver_status status = handle_check(d, device);
    if (status == DRIVER_OK)
        handle_info(d, driver_handle_at(d, device), info);
    return api_leave(status);
}

static enum driver_status api_set_window(uint64_t base, uint64_t size)
{
    struct driver *d = the_driver();
    api_enter();
    if (d->memory.end)
        return api_leave(
            driver_fail(DRIVER_INVALID_VALUE, "the window of device addresses is set already"));
    if (base + size < base || base + size > (uint64_t)1 << 48)
        return api_leave(driver_fail(DRIVER_INVALID_VALUE, "device addresses have 48 bits"));
    memory_set_range(&d->memory, base, base + size);
    journal_begin();
    return api_leave(DRIVER_OK);
}

static enum driver_status api_allocate(uint32_t device, uint64_t size, uint64_t align,
                                       uint64_t *address)
{
    api_enter();
    enum driver_status status = host_allocate(the_driver(), device, size, align, false, address);
    if (status == DRIVER_OK)
        record_allocated(device, *address, size, false);
    if (status == DRIVER_OK)
        status = host_note(the_driver(), API_CALL_MALLOC, size);
    return api_leave(status);
}

static enum driver_status api_allocate_at(uint32_t device, uint64_t address, uint64_t size,
                                          bool unified)
{
    api_enter();
    enum driver_status status = host_allocate_at(the_driver(), device, address, size, unified);
    if (status == DRIVER_OK && unified)
        record_allocated(device, address, size, true);
    if (status == DRIVER_OK && !unified)
        status = host_note(the_driver(), API_CALL_MALLOC, size);
    return api_leave(status);
}

static enum driver_status api_allocate_unified(uint32_t device, uint64_t size, uint64_t align,
                                               uint64_t *address)
{
    api_enter();
    enum driver_status status = host_allocate(the_driver(), device, size, align, true, address);
    if (status == DRIVER_OK)
        record_allocated(device, *address, size, true);
    return api_leave(status);
}

static enum driver_status api_release(uint64_t address)
{
    api_enter();
    enum driver_status status = host_release(the_driver(), address);
    if (status == DRIVER_OK)
        amd_recording_line("Free,0x%016" PRIx64, address);
    if (status == DRIVER_OK)
        status = host_note(the_driver(), API_CALL_FREE, address);
    return api_leave(status);
}

static enum driver_status api_remap(uint64_t address, uint64_t size, uint32_t gpu)
{
    api_enter();
    amd_recording_refuse("it moves pages between GPUs (remap)");
    return api_leave(host_remap(the_driver(), address, size, gpu));
}

static enum driver_status api_remove_page(uint64_t address)
{
    api_enter();
    amd_recording_refuse("it removes pages");
    return api_leave(host_remove_page(the_driver(), address));
}

static enum driver_status api_allocate_page_at(uint32_t device, uint64_t address, bool unified)
{
    api_enter();
    amd_recording_refuse("it allocates single pages");
    return api_leave(host_allocate_page_at(the_driver(), device, address, unified));
}

static enum driver_status api_page_info(uint64_t address, struct driver_page *page)
{
    api_enter();
    return api_leave(host_page_info(the_driver(), address, page));
}

static uint64_t api_name(uint32_t device, uint64_t address)
{
    struct driver *d = the_driver();
    api_enter();
    if (handle_check(d, device) == DRIVER_OK)
        address = memory_name(d, driver_handle_at(d, device)->pid, address);
    api_leave(DRIVER_OK);
    return address;
}

static enum driver_status api_device_at(uint64_t physical, uint32_t *device)
{
    const struct driver *d = the_driver();
    api_enter();
    *device = memory_device_of(&d->memory, physical);
    return api_leave(*device < d->device_count
                         ? DRIVER_OK
                         : driver_fail(DRIVER_INVALID_ADDRESS,
                                       "no GPU has memory at physical address 0x%" PRIx64,
                                       physical));
}

static enum driver_status api_context_create(uint32_t device, uint32_t process, uint32_t *context)
{
    api_enter();
    amd_recording_refuse("it uses a GPU in several processes (contexts)");
    enum driver_status status = host_usable();
    if (status == DRIVER_OK && process)
        status = handle_check(the_driver(), process);
    uint32_t pid =
        process && status == DRIVER_OK ? driver_handle_at(the_driver(), process)->pid : 0;
    return api_leave(status == DRIVER_OK ? context_create(the_driver(), device, pid, context)
                                         : status);
}

static enum driver_status api_context_destroy(uint32_t context)
{
    api_enter();
    enum driver_status status = user_leave(the_driver(), context);
    return api_leave(status == DRIVER_OK ? context_destroy(the_driver(), context) : status);
}

static enum driver_status api_unify(const uint32_t *gpus, uint32_t count, uint32_t *device)
{
    api_enter();
    amd_recording_refuse("it makes one device of several GPUs");
    return api_leave(handle_unify(the_driver(), gpus, count, device));
}

static bool api_find(uint64_t address, struct driver_allocation *allocation)
{
    api_enter();
    const struct program_allocation *a = program_find(driver_program(the_driver()), address);
    bool found = a && a->use <= PROGRAM_CODE;
    if (found)
        *allocation = (struct driver_allocation){a->start, a->end - a->start, a->device};
    api_leave(DRIVER_OK);
    return found;
}

static enum driver_status api_memory_info(uint32_t device, uint64_t *free_bytes,
                                          uint64_t *total_bytes)
{
    api_enter();
    enum driver_status status = handle_check(the_driver(), device);
    if (status == DRIVER_OK) {
        const struct driver_handle *h = driver_handle_at(the_driver(), device);
        *free_bytes = *total_bytes = 0;
        for (uint32_t i = 0; i < h->count; i++) {
            const struct memory_device *m = &the_driver()->memory.device[h->member[i]];
            *free_bytes += m->pages.free_pages * driver_page_bytes(the_driver());
            *total_bytes += m->size;
        }
    }
    return api_leave(status);
}

static enum driver_status api_queue_create(uint32_t device, uint32_t *queue)
{
    api_enter();
    enum driver_status status = handle_check(the_driver(), device);
    if (status == DRIVER_OK) {
        *queue = queue_new(the_driver(), driver_handle_at(the_driver(), device)->member[0], device);
        if (*queue == DRIVER_NONE)
            status = driver_fail(DRIVER_OUT_OF_MEMORY, "more than %d queues", DRIVER_QUEUES);
    }
    if (status == DRIVER_OK)
        amd_recording_line("Stream,%u,%u", *queue, device);
    return api_leave(status);
}

static enum driver_status api_queue_destroy(uint32_t queue)
{
    struct driver *d = the_driver();
    api_enter();
    enum driver_status status = queue_check(d, queue);
    if (status == DRIVER_OK && queue < d->device_count)
        status =
            driver_fail(DRIVER_INVALID_VALUE, "queue %u belongs to its device and stays", queue);
    if (status == DRIVER_OK)
        status = host_wait_queue(d, queue);
    if (status == DRIVER_OK)
        status = user_close(d, queue);
    if (status == DRIVER_OK) {
        driver_queue_at(d, queue)->used = false;
        amd_recording_line("StreamEnd,%u", queue);
    }
    return api_leave(status);
}

static enum driver_status api_queue_attends(uint32_t queue)
{
    api_enter();
    enum driver_status status = queue_check(the_driver(), queue);
    if (status == DRIVER_OK)
        driver_queue_at(the_driver(), queue)->attends = true;
    return api_leave(status);
}

/* A wrong pointer of the program, such as one cut to 32 bits, must not change the simulation. */
static enum driver_status check_host(const void *host, uint64_t size)
{
    if (!arena_touches(host, size))
        return DRIVER_OK;
    return driver_fail(DRIVER_INVALID_ADDRESS,
                       "%" PRIu64
                       " bytes at the host address %p are memory of the simulator itself, "
                       "not of the program",
                       size, host);
}

static enum driver_status api_write(uint32_t queue, uint64_t address, const void *host,
                                    uint64_t size, uint64_t *ticket)
{
    api_enter();
    enum driver_status status = check_host(host, size);
    if (status == DRIVER_OK) /* commands of both directions share one field; writes only read it */
        status = enqueue_move(the_driver(), queue, DRIVER_WRITE, (char *)(uintptr_t)host, address,
                              size, ticket);
    return api_leave(status);
}

static enum driver_status api_read(uint32_t queue, void *host, uint64_t address, uint64_t size,
                                   uint64_t *ticket)
{
    api_enter();
    enum driver_status status = check_host(host, size);
    if (status == DRIVER_OK)
        status = enqueue_move(the_driver(), queue, DRIVER_READ, host, address, size, ticket);
    return api_leave(status);
}

static enum driver_status api_write_shared(uint32_t queue, uint64_t address, const void *host,
                                           uint64_t size, uint64_t *ticket)
{
    api_enter();
    enum driver_status status = check_host(host, size);
    if (status == DRIVER_OK) /* commands of both directions share one field; writes only read it */
        status = enqueue_shared(the_driver(), queue, DRIVER_WRITE, (char *)(uintptr_t)host, address,
                                size, ticket);
    return api_leave(status);
}

static enum driver_status api_read_shared(uint32_t queue, void *host, uint64_t address,
                                          uint64_t size, uint64_t *ticket)
{
    api_enter();
    enum driver_status status = check_host(host, size);
    if (status == DRIVER_OK)
        status = enqueue_shared(the_driver(), queue, DRIVER_READ, host, address, size, ticket);
    return api_leave(status);
}

static enum driver_status api_copy(uint32_t queue, uint64_t to, uint64_t from, uint64_t size,
                                   uint64_t *ticket)
{
    struct driver *d = the_driver();
    uint32_t device;
    api_enter();
    enum driver_status status = queue_check(d, queue);
    if (status == DRIVER_OK) {
        to = queue_name(d, queue, to);
        from = queue_name(d, queue, from);
        status = memory_check(d, to, size, "copy to", &device);
    }
    if (status == DRIVER_OK)
        status = memory_check(d, from, size, "copy from", &device);
    if (status != DRIVER_OK)
        return api_leave(status);
    struct driver_command k = {
        .kind = DRIVER_COPY, .size = size, .move = {.address = to, .source = from}};
    return api_leave(enqueue(d, queue, &k, ticket));
}

static enum driver_status api_fill(uint32_t queue, uint64_t address, const void *pattern,
                                   uint32_t pattern_bytes, uint64_t count, uint64_t *ticket)
{
    api_enter();
    return api_leave(
        enqueue_fill(the_driver(), queue, address, pattern, pattern_bytes, count, ticket));
}

static enum driver_status api_launch(uint32_t queue, const struct driver_launch *launch,
                                     uint64_t *ticket)
{
    api_enter();
    return api_leave(enqueue_launch(the_driver(), queue, launch, ticket));
}

static enum driver_status api_mark(uint32_t queue, uint64_t *ticket)
{
    struct driver_command k = {.kind = DRIVER_MARK};
    api_enter();
    enum driver_status status = queue_check(the_driver(), queue);
    return api_leave(status == DRIVER_OK ? enqueue(the_driver(), queue, &k, ticket) : status);
}

static enum driver_status check_ticket(uint64_t ticket)
{
    if (ticket <= the_driver()->last_ticket)
        return DRIVER_OK;
    return driver_fail(DRIVER_INVALID_VALUE, "there is no command %" PRIu64, ticket);
}

static enum driver_status api_wait_for(uint32_t queue, uint64_t ticket)
{
    struct driver_command k = {.kind = DRIVER_BARRIER, .barrier.awaited = ticket};
    api_enter();
    enum driver_status status = queue_check(the_driver(), queue);
    if (status == DRIVER_OK)
        status = check_ticket(ticket);
    return api_leave(status == DRIVER_OK ? enqueue(the_driver(), queue, &k, NULL) : status);
}

static uint32_t api_stream_flags(void)
{
    api_enter();
    uint32_t flags =
        driver_stream_rules_ops(the_driver())->flags(driver_stream_rules(the_driver()));
    api_leave(DRIVER_OK);
    return flags;
}

static enum driver_status api_call_begin(uint32_t queue, enum driver_stream_call call,
                                         bool is_default, uint64_t *blocker)
{
    struct driver *d = the_driver();
    api_enter();
    enum driver_status status = queue_check(d, queue);
    if (status == DRIVER_OK
        && !driver_stream_rules_ops(d)->begin(driver_stream_rules(d), call, queue, is_default,
                                              blocker))
        status = DRIVER_NOT_READY;
    return api_leave(status);
}

static enum driver_status api_call_end(uint32_t queue, uint64_t ticket)
{
    struct driver *d = the_driver();
    api_enter();
    driver_stream_rules_ops(d)->end(driver_stream_rules(d), queue, ticket);
    return api_leave(DRIVER_OK);
}

static enum driver_status api_wait(uint64_t ticket)
{
    api_enter();
    enum driver_status status = check_ticket(ticket);
    return api_leave(status == DRIVER_OK ? host_wait(the_driver(), ticket) : status);
}

static enum driver_status api_wait_queue(uint32_t queue)
{
    api_enter();
    enum driver_status status = queue_check(the_driver(), queue);
    return api_leave(status == DRIVER_OK ? host_wait_queue(the_driver(), queue) : status);
}

static enum driver_status api_wait_all(uint32_t device)
{
    struct driver *d = the_driver();
    api_enter();
    enum driver_status status = handle_check(the_driver(), device);
    if (status == DRIVER_OK)
        status = host_usable();
    for (uint32_t i = 0; i < d->queue_count && status == DRIVER_OK; i++) {
        const struct driver_queue *q = driver_queue_at(d, i);
        if (q->used && q->handle == device)
            status = host_wait_queue(d, i);
    }
    return api_leave(status);
}

/* The flag stops the engine at the driver's next tick; the lock is free when no thread is in the
 * engine. */
static enum driver_status api_pause(void)
{
    __atomic_store_n(&driver_process()->paused, true, __ATOMIC_RELAXED);
    api_enter();
    driver_process()->pauser = pthread_self();
    return api_leave(DRIVER_OK);
}

static enum driver_status api_resume(void)
{
    api_enter();
    if (!driver_is_paused())
        return api_leave(driver_fail(DRIVER_INVALID_VALUE, "the simulation is not paused"));
    __atomic_store_n(&driver_process()->paused, false, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&driver_process()->continued);
    return api_leave(DRIVER_OK);
}

static enum driver_status api_advance(bool poll)
{
    struct driver *d = the_driver();
    api_enter();
    enum driver_status status = host_usable();
    if (status == DRIVER_OK)
        status = host_wait_continued();
    if (status == DRIVER_OK && d->undone) {
        d->stop_at = poll ? driver_now(d) + (uint64_t)driver_params(d)->poll_cost : 0;
        d->await_any = true;
        if (poll)
            amd_recording_line("Poll");
        status = host_run(d);
        d->await_any = false;
        d->stop_at = 0;
    }
    return api_leave(status);
}

static enum driver_status api_set_peer(uint32_t gpu, uint32_t peer, bool on)
{
    struct driver *d = the_driver();
    api_enter();
    if (gpu >= d->device_count || peer >= d->device_count || gpu == peer)
        return api_leave(
            driver_fail(DRIVER_INVALID_DEVICE, "GPU %u and GPU %u are no peers", gpu, peer));
    if (on && !(d->device[gpu].info.has_fabric && d->device[peer].info.has_fabric))
        return api_leave(
            driver_fail(DRIVER_INVALID_DEVICE, "no fabric joins GPU %u and GPU %u", gpu, peer));
    program_set_reach(driver_program(d), gpu, peer, on);
    amd_recording_line("Peer,%u,%u,%d", gpu, peer, on);
    return api_leave(DRIVER_OK);
}

static uint64_t api_now(void)
{
    api_enter();
    uint64_t now_ps = engine.domains[the_driver()->io.base.domain].time_ps;
    api_leave(DRIVER_OK);
    return now_ps;
}

static enum driver_status api_last(uint32_t queue, uint64_t *ticket)
{
    const struct driver *d = the_driver();
    api_enter();
    enum driver_status status = queue_check(d, queue);
    *ticket = 0;
    if (status == DRIVER_OK && driver_queue_at(d, queue)->last != DRIVER_NONE)
        *ticket = driver_command_at(d, driver_queue_at(d, queue)->last)->ticket;
    return api_leave(status);
}

static enum driver_status api_query(uint64_t ticket)
{
    struct driver *d = the_driver();
    api_enter();
    enum driver_status status = check_ticket(ticket);
    if (status == DRIVER_OK)
        status = host_usable();
    if (status == DRIVER_OK && !driver_ticket_done(d, ticket))
        status = host_wait_continued();
    if (status == DRIVER_OK && !driver_ticket_done(d, ticket)) {
        d->stop_at = driver_now(d) + (uint64_t)driver_params(d)->poll_cost;
        record_query(ticket);
        status = host_run(d);
        if (status == DRIVER_OK && !driver_ticket_done(d, ticket))
            status = DRIVER_NOT_READY;
    }
    if (status == DRIVER_OK)
        record_wait(ticket);
    return api_leave(status);
}

static enum driver_status api_time_of(uint64_t ticket, uint64_t *time_ps)
{
    api_enter();
    const struct driver_ticket *t = driver_ticket_at(the_driver(), ticket);
    enum driver_status status = check_ticket(ticket);
    if (status == DRIVER_OK && t->ticket != ticket)
        t = find_mark(the_driver(), ticket);
    if (status == DRIVER_OK && !t)
        status = driver_fail(DRIVER_INVALID_VALUE, "the time of command %" PRIu64 " is forgotten",
                             ticket);
    else if (status == DRIVER_OK && !t->done_ps)
        status = DRIVER_NOT_READY;
    else if (status == DRIVER_OK)
        *time_ps = driver_ticket_ps(t);
    return api_leave(status);
}

static enum driver_status api_register_code(uint32_t device, const char *name, uint64_t address,
                                            const void *bytes, uint64_t size)
{
    api_enter();
    enum driver_status status = handle_check(the_driver(), device);
    if (status == DRIVER_OK) {
        code_add(name, address, bytes, size);
        program_set_use(driver_program(the_driver()), address, PROGRAM_CODE);
    }
    return api_leave(status);
}

static enum driver_status api_copy_code(uint32_t device, uint64_t address)
{
    api_enter();
    return api_leave(host_copy_code(the_driver(), device, address));
}

static enum driver_status api_unregister_code(uint64_t address)
{
    api_enter();
    code_copies_release(the_driver(), address, DRIVER_NONE);
    if (code_remove(address))
        return api_leave(DRIVER_OK);
    return api_leave(
        driver_fail(DRIVER_INVALID_ADDRESS, "no code is registered at 0x%" PRIx64, address));
}

/* The first GPU of a handle. */
static const struct driver_device *gpu_of(uint32_t device)
{
    return &the_driver()->device[driver_handle_at(the_driver(), device)->member[0]];
}

static enum driver_status api_register_kernel(uint32_t device, const char *name, uint64_t entry)
{
    enum isa_target target;
    api_enter();
    enum driver_status status = handle_check(the_driver(), device);
    if (status == DRIVER_OK && isa_target_by_name(gpu_of(device)->info.isa, &target) < 0)
        status =
            driver_fail(DRIVER_INVALID_DEVICE, "device %u has no known instruction set", device);
    if (status == DRIVER_OK && !code_check_kernel(target, name, entry))
        status = driver_fail(DRIVER_INVALID_ADDRESS,
                             "kernel '%s': no code is registered at 0x%" PRIx64, name, entry);
    return api_leave(status);
}

static bool api_meets(uint64_t entry)
{
    api_enter();
    bool meets = code_meets(entry);
    api_leave(DRIVER_OK);
    return meets;
}

static void api_set_attendant(void (*attend)(const struct driver_attention *now))
{
    api_enter();
    driver_process()->attend = attend;
    api_leave(DRIVER_OK);
}

static const char *api_error_text(void)
{
    return driver_failure();
}

/* The lock, at the end of the process; false: it is not to be had. In a run that was interrupted a
 * call may not come to its end. */
static bool enter_last(void)
{
    enum { PATIENCE_S = 60 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    bool entered = engine_is_interrupted()
                       ? pthread_mutex_timedlock(&driver_process()->mutex, &until) == 0
                       : pthread_mutex_lock(&driver_process()->mutex) == 0;
    if (entered)
        arena_show();
    return entered;
}

static int api_finish(void)
{
    struct driver_process *p = driver_process();
    bool inside = p->is_running && pthread_equal(p->runner, pthread_self());
    if (inside) {
        arena_show(); /* this may be a handler of signals */
        engine_abandon();
    } else if (!enter_last()) {
        fprintf(stderr, "heddle: nothing is written: a call of the driver does not end\n");
        return EXIT_NOT_STARTED;
    }
    if (p->lost == DRIVER_OK && (inside || engine_is_interrupted()))
        host_lose(DRIVER_LIMIT, "%s", "the simulation was interrupted");
    record_finish();
    int status = heddle_platform_open(PLATFORM_ABI)->finish();
    if (!inside)
        api_leave(DRIVER_OK);
    return status;
}

static const struct driver_api api_table = {
    .version = DRIVER_API_VERSION,
    .device_count = api_device_count,
    .device_info = api_device_info,
    .set_window = api_set_window,
    .allocate = api_allocate,
    .allocate_at = api_allocate_at,
    .release = api_release,
    .allocate_unified = api_allocate_unified,
    .remap = api_remap,
    .remove_page = api_remove_page,
    .allocate_page_at = api_allocate_page_at,
    .page_info = api_page_info,
    .name = api_name,
    .device_at = api_device_at,
    .context_create = api_context_create,
    .context_destroy = api_context_destroy,
    .unify = api_unify,
    .find = api_find,
    .memory_info = api_memory_info,
    .queue_create = api_queue_create,
    .queue_destroy = api_queue_destroy,
    .queue_attends = api_queue_attends,
    .write = api_write,
    .read = api_read,
    .write_shared = api_write_shared,
    .read_shared = api_read_shared,
    .copy = api_copy,
    .fill = api_fill,
    .launch = api_launch,
    .mark = api_mark,
    .wait_for = api_wait_for,
    .stream_flags = api_stream_flags,
    .call_begin = api_call_begin,
    .call_end = api_call_end,
    .wait = api_wait,
    .wait_queue = api_wait_queue,
    .wait_all = api_wait_all,
    .advance = api_advance,
    .set_peer = api_set_peer,
    .pause = api_pause,
    .resume = api_resume,
    .now = api_now,
    .last = api_last,
    .query = api_query,
    .time_of = api_time_of,
    .register_code = api_register_code,
    .unregister_code = api_unregister_code,
    .copy_code = api_copy_code,
    .register_kernel = api_register_kernel,
    .set_attendant = api_set_attendant,
    .error_text = api_error_text,
    .finish = api_finish,
    .user_queues = &driver_queue_api_table,
    .hide = api_hide,
    .is_hidden = api_is_hidden,
    .meets = api_meets,
};

static const struct driver_api *driver_api_table(void)
{
    return &api_table;
}
