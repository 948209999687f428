/* struct driver_api: what a front end calls. Each call takes the driver's lock and leaves the work
 * to the files beside this one; driver_calls.def says what the calls mean. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_launch.h"
#include "components/host/driver/launch/driver_ptx.h"
#include "components/host/driver/migration/driver_migration.h"
#include "components/host/driver/user_queues/driver_user_queue.h"
#include "components/statistics/program_observer.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"
#include "runtime/observe/host_time.h"
#include "runtime/session/exit_status.h"
#include "runtime/state/memory.h"

#include "driver_program.h"

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
    uint64_t now_ps = engine.domains[the_driver()->io.base.domain].time_ps;
    __atomic_store_n(&driver_process()->now_ps, now_ps, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&driver_process()->mutex);
    return status;
}

/* The thread that holds the lock uses the state, and comes here itself. */
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

/* ---- devices ---- */

static uint32_t call_device_count(void)
{
    return the_driver()->gpu_count;
}

static enum driver_status call_device_info(struct driver *d, uint32_t device,
                                           struct driver_device_info *info)
{
    enum driver_status status = handle_check(d, device);
    if (status == DRIVER_OK)
        handle_info(d, driver_handle_at(d, device), info);
    return status;
}

static enum driver_status call_context_create(struct driver *d, uint32_t device, uint32_t process,
                                              uint32_t *context)
{
    enum driver_status status = run_usable();
    if (status == DRIVER_OK && process)
        status = handle_check(d, process);
    uint32_t pid = process && status == DRIVER_OK ? driver_handle_at(d, process)->pid : 0;
    return status == DRIVER_OK ? context_create(d, device, pid, context) : status;
}

static enum driver_status call_context_destroy(struct driver *d, uint32_t context)
{
    enum driver_status status = user_queue_leave(d, context);
    return status == DRIVER_OK ? context_destroy(d, context) : status;
}

static enum driver_status call_set_peer(struct driver *d, uint32_t gpu, uint32_t peer, bool on)
{
    if (gpu >= d->gpu_count || peer >= d->gpu_count)
        return driver_fail(DRIVER_INVALID_DEVICE, "there is no GPU %u; the platform has %u",
                           gpu >= d->gpu_count ? gpu : peer, d->gpu_count);
    if (gpu == peer)
        return driver_fail(DRIVER_INVALID_DEVICE, "GPU %u cannot be its own peer", gpu);
    if (on && !(d->device[gpu].info.has_fabric && d->device[peer].info.has_fabric))
        return driver_fail(DRIVER_INVALID_DEVICE, "no fabric joins GPU %u and GPU %u", gpu, peer);
    program_set_reach(driver_program(d), gpu, peer, on);
    return DRIVER_OK;
}

/* ---- memory ---- */

static enum driver_status call_set_window(struct driver *d, uint64_t base, uint64_t size)
{
    if (d->memory.end)
        return driver_fail(DRIVER_INVALID_VALUE, "the window of device addresses is set already");
    if (base + size < base || base + size > (uint64_t)1 << 48)
        return driver_fail(DRIVER_INVALID_VALUE, "device addresses have 48 bits");
    memory_set_range(&d->memory, base, base + size);
    journal_begin();
    return DRIVER_OK;
}

static enum driver_status api_share_memory(int *file)
{
    api_enter();
    *file = memory_make_file();
    return api_leave(*file >= 0 ? DRIVER_OK
                                : driver_fail(DRIVER_OUT_OF_MEMORY,
                                              "the memory of GPUs cannot become a file of the "
                                              "system: %s",
                                              strerror(errno)));
}

static enum driver_status call_clear(struct driver *d, uint64_t address, uint64_t size)
{
    return call_alias(d, address, size, NULL);
}

static enum driver_status call_allocate(struct driver *d, uint32_t device, uint64_t size,
                                        uint64_t align, uint64_t *address)
{
    enum driver_status status =
        mapping_allocate(d, device, size, align, DRIVER_PLACE_DEVICE, address);
    if (status != DRIVER_OK)
        return status;
    if (!d->device[driver_handle_at(d, device)->member[0]].info.shares_memory)
        program_observer->memory_allocated(*address, size);
    return call_path(d) ? call_path(d)->allocated(d, size) : DRIVER_OK;
}

static enum driver_status call_allocate_at(struct driver *d, uint32_t device, uint64_t address,
                                           uint64_t size, enum driver_place place)
{
    enum driver_status status = mapping_allocate_at(d, device, address, size, place);
    if (status != DRIVER_OK)
        return status;
    return call_path(d) && place != DRIVER_PLACE_MANAGED ? call_path(d)->allocated(d, size)
                                                         : DRIVER_OK;
}

static enum driver_status call_allocate_unified(struct driver *d, uint32_t device, uint64_t size,
                                                uint64_t align, uint64_t *address)
{
    return mapping_allocate(d, device, size, align, DRIVER_PLACE_MANAGED, address);
}

static enum driver_status call_release(struct driver *d, uint64_t address)
{
    const struct program_allocation *freed = program_find(driver_program(d), address);
    uint64_t bytes = freed ? freed->end - freed->start : 0;
    enum driver_status status = mapping_release(d, address);
    if (status != DRIVER_OK)
        return status;
    program_observer->memory_written(address, bytes); /* for its next owner */
    return call_path(d) ? call_path(d)->released(d, address) : DRIVER_OK;
}

static uint64_t call_name(uint32_t device, uint64_t address)
{
    struct driver *d = the_driver();
    return handle_check(d, device) == DRIVER_OK
               ? memory_name(d, driver_handle_at(d, device)->pid, address)
               : address;
}

static enum driver_status call_device_at(struct driver *d, uint64_t physical, uint32_t *device)
{
    *device = memory_device_of(&d->memory, physical);
    return *device < d->gpu_count
               ? DRIVER_OK
               : driver_fail(DRIVER_INVALID_ADDRESS,
                             "no GPU has memory at physical address 0x%" PRIx64, physical);
}

static bool call_find(uint64_t address, struct driver_allocation *allocation)
{
    const struct program_allocation *a = program_find(driver_program(the_driver()), address);
    bool is_program_memory = a && a->use <= PROGRAM_CODE;
    if (is_program_memory)
        *allocation = (struct driver_allocation){a->start, a->end - a->start};
    return is_program_memory;
}

static enum driver_status call_memory_info(struct driver *d, uint32_t device, uint64_t *free_bytes,
                                           uint64_t *total_bytes)
{
    enum driver_status status = handle_check(d, device);
    if (status != DRIVER_OK)
        return status;
    const struct driver_handle *h = driver_handle_at(d, device);
    *free_bytes = *total_bytes = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct memory_device *m = &d->memory.device[h->member[i]];
        *free_bytes += m->pages.free_pages * driver_page_bytes(d);
        *total_bytes += m->size;
    }
    return DRIVER_OK;
}

/* ---- queues and their commands ---- */

/* Commands of both directions share the field of the pointer; writes only read what is there. */
static struct command_move program_move(const void *host, uint64_t address, bool of_library)
{
    return (struct command_move){
        .address = address, .host = (char *)(uintptr_t)host, .is_of_library = of_library};
}

/* A wrong pointer of the program must not change the simulation. */
static enum driver_status move_bytes(struct driver *d, uint32_t queue, enum driver_kind kind,
                                     struct command_move move, uint64_t size, uint64_t *ticket)
{
    if (!driver_process()->programs && arena_touches(move.host, size))
        return driver_fail(DRIVER_INVALID_ADDRESS,
                           "%" PRIu64
                           " bytes at the host address %p are memory of the simulator itself, "
                           "not of the program",
                           size, (void *)move.host);
    return enqueue_move(d, queue, kind, move, size, ticket);
}

static enum driver_status call_write(struct driver *d, uint32_t queue, uint64_t address,
                                     const void *host, uint64_t size, uint64_t *ticket)
{
    return move_bytes(d, queue, DRIVER_WRITE, program_move(host, address, false), size, ticket);
}

static enum driver_status call_read(struct driver *d, uint32_t queue, void *host, uint64_t address,
                                    uint64_t size, uint64_t *ticket)
{
    return move_bytes(d, queue, DRIVER_READ, program_move(host, address, false), size, ticket);
}

static enum driver_status call_write_shared(struct driver *d, uint32_t queue, uint64_t address,
                                            const void *host, uint64_t size, uint64_t *ticket)
{
    return move_bytes(d, queue, DRIVER_WRITE, program_move(host, address, true), size, ticket);
}

static enum driver_status call_read_shared(struct driver *d, uint32_t queue, void *host,
                                           uint64_t address, uint64_t size, uint64_t *ticket)
{
    return move_bytes(d, queue, DRIVER_READ, program_move(host, address, true), size, ticket);
}

static enum driver_status call_fence(struct driver *d, uint32_t queue, uint64_t *ticket)
{
    enum driver_status status = queue_check(d, queue);
    struct driver_command k = {.kind = DRIVER_FENCE};
    if (status == DRIVER_OK)
        k.pid = driver_handle_at(d, driver_queue_at(d, queue)->handle)->pid;
    return status == DRIVER_OK ? enqueue_command(d, queue, &k, ticket) : status;
}

static enum driver_status call_mark(struct driver *d, uint32_t queue, bool fences, uint64_t *ticket)
{
    enum driver_status status = queue_check(d, queue);
    struct driver_command k = {.kind = DRIVER_MARK, .fences = fences};
    return status == DRIVER_OK ? enqueue_command(d, queue, &k, ticket) : status;
}

static enum driver_status check_ticket(const struct driver *d, uint64_t ticket)
{
    if (ticket <= d->last_ticket)
        return DRIVER_OK;
    return driver_fail(DRIVER_INVALID_VALUE, "there is no command %" PRIu64, ticket);
}

static enum driver_status call_wait_for(struct driver *d, uint32_t queue, uint64_t ticket)
{
    enum driver_status status = queue_check(d, queue);
    if (status == DRIVER_OK)
        status = check_ticket(d, ticket);
    return status == DRIVER_OK ? enqueue_barrier(d, queue, ticket, NULL) : status;
}

static enum driver_status call_last(struct driver *d, uint32_t queue, uint64_t *ticket)
{
    enum driver_status status = queue_check(d, queue);
    *ticket = status == DRIVER_OK ? queue_last(d, queue) : 0;
    if (status == DRIVER_OK && !*ticket)
        record_idle(queue);
    return status;
}

/* ---- stream rules of the driver ---- */

static uint32_t call_stream_flags(void)
{
    struct driver *d = the_driver();
    uint32_t flags = driver_stream_rules_ops(d)->flags(driver_stream_rules(d))
                     | (call_path(d) ? DRIVER_STREAMS_TELL_CALLS : 0);
    driver_process()->tells_calls = (flags & DRIVER_STREAMS_TELL_CALLS) != 0;
    return flags;
}

static enum driver_status call_call_begin(struct driver *d, uint32_t queue,
                                          enum driver_stream_call call, bool is_default,
                                          uint64_t *blocker)
{
    enum driver_status status = queue_check(d, queue);
    if (status == DRIVER_OK
        && !driver_stream_rules_ops(d)->begin(driver_stream_rules(d), call, queue, is_default,
                                              blocker))
        status = DRIVER_NOT_READY;
    return status;
}

static enum driver_status call_call_end(struct driver *d, uint32_t queue, uint64_t ticket)
{
    driver_stream_rules_ops(d)->end(driver_stream_rules(d), queue, ticket);
    return DRIVER_OK;
}

/* ---- waiting ---- */

static enum driver_status call_wait(struct driver *d, uint64_t ticket)
{
    enum driver_status status = check_ticket(d, ticket);
    return status == DRIVER_OK ? await_ticket(d, ticket) : status;
}

static enum driver_status call_wait_queue(struct driver *d, uint32_t queue)
{
    enum driver_status status = queue_check(d, queue);
    return status == DRIVER_OK ? await_queue(d, queue) : status;
}

/* Until any command is done, or up to cycle `stop_at` where that is not 0. */
static enum driver_status advance_to(struct driver *d, uint64_t stop_at)
{
    enum driver_status status = run_usable();
    if (status != DRIVER_OK || !d->undone)
        return status;
    run_expect_end(d);
    d->stop_at = stop_at;
    d->awaits_any = true;
    status = run_until_stopped(d);
    d->awaits_any = false;
    d->stop_at = 0;
    return status == DRIVER_OK ? run_lose_patience(d) : status;
}

static enum driver_status call_advance(struct driver *d, bool poll)
{
    return advance_to(d, poll ? driver_now(d) + driver_params(d)->poll_cost : 0);
}

static enum driver_status call_step(struct driver *d, uint64_t most_ps)
{
    uint32_t domain = d->io.base.domain;
    uint32_t undone = d->undone;
    __atomic_store_n(&driver_process()->is_nudged, false, __ATOMIC_SEQ_CST);
    driver_process()->is_stepping = true;
    enum driver_status status =
        advance_to(d, engine_cycle_at(domain, engine.domains[domain].time_ps + most_ps));
    driver_process()->is_stepping = false;
    return status == DRIVER_OK && d->undone == undone ? DRIVER_NOT_READY : status;
}

static void api_nudge(void)
{
    __atomic_store_n(&driver_process()->is_nudged, true, __ATOMIC_SEQ_CST);
}

static enum driver_status call_waited(struct driver *d, uint64_t ticket)
{
    enum driver_status status = check_ticket(d, ticket);
    if (status == DRIVER_OK)
        host_note_wait(d, ticket);
    return status;
}

static uint64_t call_switch_program(uint64_t progress)
{
    struct driver *d = the_driver();
    uint64_t before = d->host_cycle;
    d->host_cycle = progress;
    return before;
}

static uint64_t api_pages_moved(void)
{
    return __atomic_load_n(&the_driver()->migrate.moved, __ATOMIC_RELAXED);
}

static uint64_t api_now(void)
{
    return __atomic_load_n(&driver_process()->now_ps, __ATOMIC_RELAXED);
}

static enum driver_status call_pass(struct driver *d, uint64_t span_ps)
{
    uint32_t domain = d->io.base.domain;
    uint64_t end = engine_cycle_at(domain, engine.domains[domain].time_ps + span_ps);
    enum driver_status status = run_usable();
    while (status == DRIVER_OK && driver_now(d) < end) {
        d->stop_at = end;
        status = run_until_stopped(d);
    }
    d->stop_at = 0;
    return status;
}

static enum driver_status call_query(struct driver *d, uint64_t ticket)
{
    enum driver_status status = check_ticket(d, ticket);
    if (status == DRIVER_OK)
        status = run_usable();
    if (status == DRIVER_OK && !driver_ticket_done(d, ticket)) {
        d->stop_at = driver_now(d) + driver_params(d)->poll_cost;
        status = run_until_stopped(d);
        if (status == DRIVER_OK && !driver_ticket_done(d, ticket))
            status = DRIVER_NOT_READY;
    }
    if (status == DRIVER_OK)
        record_wait(ticket);
    return status;
}

static enum driver_status call_time_of(struct driver *d, uint64_t ticket, uint64_t *time_ps)
{
    const struct driver_ticket *t = driver_ticket_at(d, ticket);
    enum driver_status status = check_ticket(d, ticket);
    if (status != DRIVER_OK)
        return status;
    if (t->ticket != ticket)
        t = find_mark(d, ticket);
    if (!t)
        return driver_fail(DRIVER_INVALID_VALUE, "the time of command %" PRIu64 " is forgotten",
                           ticket);
    if (!t->done_ps)
        return DRIVER_NOT_READY;
    *time_ps = driver_ticket_ps(t);
    return DRIVER_OK;
}

/* ---- code ---- */

static enum driver_status call_register_code(struct driver *d, uint32_t device, const char *name,
                                             uint64_t address, const void *bytes, uint64_t size)
{
    enum driver_status status = code_register(d, device, name, address, bytes, size);
    return status == DRIVER_OK && call_path(d) ? call_path(d)->registered(d, address, size)
                                               : status;
}

static enum driver_status call_describe_code(struct driver *d, uint64_t address, const void *file,
                                             uint64_t size)
{
    (void)d;
    program_observer->code_loaded(address, file, size);
    return DRIVER_OK;
}

static enum driver_status call_describe_constant(struct driver *d, uint64_t address, uint64_t size)
{
    (void)d;
    program_observer->constant_loaded(address, size);
    return DRIVER_OK;
}

static enum driver_status call_unregister_code(struct driver *d, uint64_t address)
{
    program_observer->code_unloaded(address);
    enum driver_status status = code_unregister(d, address);
    return status == DRIVER_OK && call_path(d) ? call_path(d)->unregistered(d, address) : status;
}

static enum driver_status call_register_kernel(struct driver *d, uint32_t device, const char *name,
                                               uint64_t entry)
{
    enum driver_status status = code_register_kernel(d, device, name, entry);
    return status == DRIVER_OK && call_path(d) ? call_path(d)->named(d, name, entry) : status;
}

static void api_enter_call(void)
{
    if (!driver_process()->tells_calls)
        return;
    api_enter();
    call_path(the_driver())->begin();
    api_leave(DRIVER_OK);
}

static void api_leave_call(const char *function)
{
    struct driver *d = the_driver();
    if (driver_process()->tells_calls && function) {
        api_enter();
        api_leave(call_path(d)->end(d, function));
    }
}

static bool call_meets(uint64_t entry)
{
    return code_meets(entry);
}

/* Each front end describes itself once. */
#define API_SET(name, member, parameter)                                                           \
    static void api_##name(parameter)                                                              \
    {                                                                                              \
        api_enter();                                                                               \
        driver_process()->member = member;                                                         \
        api_leave(DRIVER_OK);                                                                      \
    }
API_SET(programs, programs, const struct driver_programs *programs)
API_SET(set_printer, print, void (*print)(uint32_t device, const char *text, size_t size))
API_SET(set_caller, caller, bool (*caller)(struct driver_call *call))
API_SET(set_alone, is_alone, bool (*is_alone)(void))
API_SET(set_attendant, attend, void (*attend)(const struct driver_attention *now))

/* ---- errors and the end of the process ---- */

static void api_mistake(enum driver_mistake kind, const struct driver_call *calls, uint32_t count,
                        uint64_t address, const char *text)
{
    program_observer->mistake_made(kind, calls, count, address, text);
}

static void api_program_ends(bool ends)
{
    __atomic_store_n(&driver_process()->ends, ends, __ATOMIC_SEQ_CST);
}

static void api_note_unordered(void)
{
    host_time_mark_unordered();
}

static const char *api_error_text(void)
{
    return driver_failure();
}

/* The lock, at the end of the process. False: it is not to be had. In a run that was interrupted a
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
    } else if (!enter_last()) {
        fprintf(stderr, "heddle: nothing is written: a call of the driver does not end\n");
        return EXIT_UNABLE;
    }
    if (inside || engine_is_interrupted())
        engine_abandon();
    if (p->lost == DRIVER_OK && (inside || engine_is_interrupted()))
        run_lose(DRIVER_LIMIT, "%s", "the simulation was interrupted");
    if (!inside && p->lost == DRIVER_OK && !engine_is_interrupted() && call_path(the_driver()))
        call_path(the_driver())->drain(the_driver());
    bool recorded = record_finish();
    int status = heddle_platform_open(PLATFORM_ABI)->finish();
    if (!inside)
        api_leave(DRIVER_OK);
    return recorded || status != EXIT_CLEAN ? status : EXIT_UNABLE;
}

/* Kernels that are executed without timing fail in the driver. */
static uint32_t gpu_of_fault(uint32_t leaf, uint32_t functional)
{
    const struct driver *d = the_driver();
    return leaf == d->io.base.leaf ? functional : program_gpu_of(driver_program(d), leaf);
}

static bool api_fault_address(uint64_t *address, uint32_t *gpu)
{
    uint32_t leaf;
    bool by_access = engine_failure_address(address, &leaf);
    *gpu = gpu_of_fault(leaf, driver_process()->functional_gpu);
    return by_access;
}

static enum driver_status call_contain(struct driver *d, uint32_t device)
{
    enum driver_status status = handle_check(d, device);
    if (status == DRIVER_OK)
        program_contain(driver_program(d), driver_handle_at(d, device)->pid, true);
    return status;
}

/* In the middle of a kernel the caller is its attendant, whose thread holds the lock. */
static enum driver_status api_abandon(uint32_t device)
{
    struct driver *d = the_driver();
    bool locks = pthread_mutex_trylock(&driver_process()->mutex) == 0;
    if (locks)
        arena_show();
    enum driver_status status = handle_check(d, device);
    if (status == DRIVER_OK)
        program_kill(driver_program(d), driver_handle_at(d, device)->pid);
    if (locks)
        pthread_mutex_unlock(&driver_process()->mutex);
    return status;
}

static bool call_take_fault(uint32_t device, struct driver_fault *fault)
{
    struct engine_fault first;
    bool has_fault = handle_check(the_driver(), device) == DRIVER_OK
                     && engine_pop_fault(driver_handle_at(the_driver(), device)->pid, &first);
    if (has_fault) {
        *fault = (struct driver_fault){.gpu = gpu_of_fault(first.leaf, first.tag),
                                       .by_access = first.by_access,
                                       .address = first.address};
        memcpy(fault->text, first.text, sizeof fault->text);
    }
    return has_fault;
}

/* ---- the table ---- */

#define POINTER(pointer)        pointer
#define PATTERN(pattern, bytes) pattern
#define RESULT_PLAIN
#define RESULT_CUSTOM
#define RESULT_LOCAL
#define RESULT_GIVES(result) , result
#define RESULT_FILLS(result) , result
#define DRIVER_CALL(name, form, parameters, arguments)                                             \
    static enum driver_status api_##name parameters                                                \
    {                                                                                              \
        api_enter();                                                                               \
        return api_leave(call_##name(the_driver(), UNPACKED arguments RESULT_##form));             \
    }
#define DRIVER_VALUE(type, name, form, parameters, arguments)                                      \
    static type api_##name parameters                                                              \
    {                                                                                              \
        api_enter();                                                                               \
        type value = call_##name arguments;                                                        \
        api_leave(DRIVER_OK);                                                                      \
        return value;                                                                              \
    }
#include "components/host/driver/driver_calls.def"

static const struct driver_api api_table = {
    .version = DRIVER_API_VERSION,
    .user_queues = &driver_queue_api_table,
#define DRIVER_CALL(name, ...)           .name = api_##name,
#define DRIVER_FUNCTION(type, name, ...) .name = api_##name,
#include "components/host/driver/driver_calls.def"
};

static const struct driver_api *driver_api_table(void)
{
    return &api_table;
}
