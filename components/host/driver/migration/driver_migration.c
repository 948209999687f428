/* Moving pages of managed memory to the GPUs that ask for them
 * (components/amd/page_migration_controller).
 *
 * Requests wait in a list. When the first of them is about a page that is to move, no command
 * begins until
 *   - copies that are under way have ended,
 *   - GPUs on which kernels run have paused: all accesses are answered, and first-level caches and
 *     TLBs have forgotten all.
 *
 * Then each request is worked on: a page is taken on the GPU that asks, its controller copies the
 * contents, the page table is changed at the end of a window, all TLBs are shot down, the old page
 * is given back, and the request answered. When none is left the GPUs resume; the next pause comes
 * `migration_interval` cycles later at the earliest. The copy goes through the L2s, where all GPUs
 * see memory, so nothing needs to be flushed but the first level.
 *
 * With `migration = between_kernels` pages move only while no kernel runs, so nothing is ever
 * paused.
 *
 * A page for which its GPU has no room waits while others are evicted (driver_residence.c):
 * requests for these, to come to the host's memory, are put before its own. The host's memory
 * is the last device of the driver. It has no caches, no compute units and no controller, so the
 * GPU that loses a page to it copies the page there.
 *
 * A request may be late: whether the page is still there, and still elsewhere, is looked up when
 * its turn comes. */
#include "driver_migration.h"

#include <inttypes.h>

#include "components/host/driver/commands/driver_commands.h"
#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/program/driver_program.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/deferral.h"
#include "runtime/engine/run_control.h"

/* The GPU at a port of the array that begins with `first`. */
static uint32_t migrate_gpu_of(const struct driver *d, uint32_t first, uint32_t i, bool out)
{
    const struct platform_ring *ring =
        &engine_base.platform->rings[engine_base.port_rings[2 * (first + i)]];
    return program_gpu_of(driver_program(d), out ? ring->receiver : ring->sender);
}

static void migrate_init(struct driver *d)
{
    uint32_t touches = driver_touch_count(d), moves = driver_move_count(d);
    if (touches != moves)
        engine_die(&d->io.base,
                   "%u page migration controllers ask (`touch`) and %u are told (`move`); connect "
                   "both of each",
                   touches, moves);
    if (!touches)
        return;
    if (shootdown_check() != DRIVER_OK)
        engine_die(&d->io.base, "pages cannot migrate: %s", driver_failure());
    d->migrate.requests = arena_allocate(DRIVER_PAGE_REQUESTS * sizeof(struct driver_page_request));
    d->migrate.written = arena_allocate(DRIVER_WRITTEN * sizeof(struct driver_written));
    for (uint32_t i = 0; i < moves; i++)
        d->migrate.port[migrate_gpu_of(d, driver_io(d)->move_first, i, true)] = i;
}

static bool migrate_listen(struct driver *d)
{
    bool progress = false;
    for (uint32_t i = 0; i < driver_touch_count(d); i++) {
        const struct page_touch_request *m;
        while (d->migrate.count < DRIVER_PAGE_REQUESTS - DRIVER_BLOCK_PAGES
               && (m = driver_touch_peek(d, i))) {
            const struct driver_page_request r = {
                .address = m->touched.address,
                .pid = m->touched.pid,
                .port = i,
                .tag = m->tag,
                .wish = (uint8_t)m->touched.wish,
                .gpu = migrate_gpu_of(d, driver_io(d)->touch_first, i, false)};
            migrate_add(d, &r);
            driver_touch_pop(d, i);
            progress = true;
        }
    }
    return progress;
}

/* True if no access to managed memory may be under way for the first request. */
static bool migrate_needs_pause(const struct driver *d)
{
    enum migrate_work work = migrate_work_of(d, migrate_first(d));
    return work == MIGRATE_WORK_MOVE || work == MIGRATE_WORK_COPY || work == MIGRATE_WORK_WRITE;
}

/* ---- until managed memory is not in use ---- */

static bool migrate_is_idle(const struct driver *d)
{
    for (uint32_t i = 0; i < d->device_count; i++)
        if (d->device[i].kernels_running || d->device[i].slots_used)
            return false;
    return true;
}

/* True if a copy is between its flush and its end. Lines that a page's move leaves in an L2 would
 * be missed by it. */
static bool migrate_meets_copies(const struct driver *d)
{
    for (uint32_t i = 0; i < d->queue_count; i++) {
        const struct driver_queue *q = driver_queue_at(d, i);
        const struct driver_command *k =
            q->first == DRIVER_NONE ? NULL : driver_command_at(d, q->first);
        if (k && command_touches(d, k) && (k->phase != PHASE_QUEUED || gpu_set_any(&k->flushed)))
            return true;
    }
    return false;
}

/* The GPUs on which kernels may run; those of user queues are not counted here. */
static struct gpu_set migrate_running(const struct driver *d)
{
    struct gpu_set running = {{0}};
    for (uint32_t i = 0; i < d->gpu_count; i++)
        if (d->device[i].kernels_running || driver_queues_count(d))
            gpu_set_put(&running, i);
    return running;
}

/* Between kernels nothing can be done but what they wait for: such a request goes to the front. */
static bool migrate_find_awaited(struct driver *d)
{
    for (uint32_t i = 0; i < d->migrate.count; i++) {
        struct driver_page_request *r = migrate_at(d, i), first = *migrate_first(d);
        if (r->wish != PAGE_WISH_WRITE && r->wish != PAGE_WISH_FETCH)
            continue;
        *migrate_first(d) = *r;
        *r = first;
        return true;
    }
    return false;
}

/* Begins with the first request. False: it cannot be answered now. */
static bool migrate_start(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    if (!m->count)
        return false;
    if (driver_params(d)->migration == DRIVER_MIGRATION_BETWEEN_KERNELS && !migrate_is_idle(d)
        && migrate_needs_pause(d) && !migrate_find_awaited(d))
        return false;
    if (!migrate_needs_pause(d)) {
        m->state = MIGRATE_NEXT;
        return true;
    }
    struct gpu_set running = migrate_running(d);
    if (gpu_set_any(&running) && m->not_before > driver_now(d)) {
        driver_wake_at(d, m->not_before);
        return false;
    }
    m->state = MIGRATE_DRAIN;
    return true;
}

static bool migrate_drain(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    if (migrate_meets_copies(d))
        return false;
    m->paused = migrate_running(d);
    m->paused_at = driver_now(d);
    m->sent = 0;
    m->is_ready = !gpu_set_any(&m->paused);
    m->state = m->is_ready ? MIGRATE_NEXT : MIGRATE_PAUSE;
    if (!m->is_ready) {
        d->io.stats.pauses++;
        timeline_begin(&d->io.base, UINT64_MAX, "pause");
    }
    return true;
}

/* Sends the paused GPUs what the state is about. True: all have answered. */
static bool migrate_send(struct driver *d, bool *progress)
{
    struct driver_migrate *m = &d->migrate;
    for (int slot; m->sent < d->gpu_count; m->sent++) {
        if (!gpu_set_has(&m->paused, m->sent))
            continue;
        if ((slot = slot_for(d, m->sent)) < 0)
            return false;
        if (m->state == MIGRATE_PAUSE)
            driver_gpu_send_pause(d, m->sent, (uint16_t)slot);
        else
            driver_gpu_send_resume(d, m->sent, (uint16_t)slot);
        slot_acquire(d, m->sent, slot, DRIVER_COMMANDS_MAX, 0, 0);
        *progress = true;
    }
    return !driver_command_at(d, DRIVER_COMMANDS_MAX)->in_flight;
}

static bool migrate_pause(struct driver *d)
{
    bool progress = false;
    if (!migrate_send(d, &progress))
        return progress;
    d->migrate.is_ready = true;
    d->migrate.state = MIGRATE_NEXT;
    return true;
}

static void migrate_end(struct driver *d)
{
    d->migrate.state = MIGRATE_NONE;
    d->migrate.is_ready = false;
    if (d->awaits_migration)
        engine_stop();
}

static bool migrate_resume(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    bool progress = false;
    if (!migrate_send(d, &progress))
        return progress;
    m->paused = (struct gpu_set){{0}};
    m->not_before = driver_now(d) + driver_params(d)->migration_interval;
    d->io.stats.pause_cycles += driver_now(d) - m->paused_at;
    timeline_end(&d->io.base, UINT64_MAX, "pause");
    migrate_end(d);
    return true;
}

/* ---- one request ---- */

/* The next one, if it can be worked on now. */
static bool migrate_next(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    if (m->count && !migrate_first(d)->is_later && (m->is_ready || !migrate_needs_pause(d)))
        return false;
    for (uint32_t i = 0; i < m->count; i++)
        migrate_at(d, i)->is_later = false;
    m->sent = 0;
    if (gpu_set_any(&m->paused))
        m->state = MIGRATE_RESUME;
    else
        migrate_end(d);
    return true;
}

/* The `move` port of the GPU that copies a page from `from` to the GPU of the request. */
static uint32_t migrate_port(const struct driver *d, uint64_t from)
{
    uint32_t gpu = migrate_first(d)->gpu;
    return d->migrate.port[gpu < d->gpu_count ? gpu : memory_device_of(&d->memory, from)];
}

static const char *migrate_span(const struct driver *d)
{
    if (migrate_first(d)->gpu == d->gpu_count)
        return "evict page";
    return d->migrate.work == MIGRATE_WORK_MOVE ? "migrate page" : "copy page";
}

/* The first request is moved after the others, until the next pause: the GPU that has got the page
 * uses it before another one takes it. */
static bool migrate_later(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    struct driver_page_request r = *migrate_first(d);
    r.is_later = true;
    m->first = (m->first + 1) % DRIVER_PAGE_REQUESTS;
    m->count--;
    migrate_add(d, &r);
    return true;
}

/* True if an access waits for the answer to the first request. */
static bool migrate_waits(const struct driver *d)
{
    const struct driver_page_request *r = migrate_first(d);
    uint64_t physical, flags;
    return r->wish == PAGE_WISH_FETCH
           || (r->wish == PAGE_WISH_COPY && migrate_find(d, r, &physical, &flags)
               && (flags & PAGE_TABLE_READ_MOSTLY));
}

/* The GPU of the first request has no free page. */
static bool migrate_make_room(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    if (residence_evict(d, migrate_first(d)->gpu))
        return true; /* the state stays: the victim comes first now */
    d->io.stats.migrations_refused++;
    m->state = MIGRATE_ANSWER;
    if (driver_evicts(d) && migrate_waits(d)) {
        m->work = MIGRATE_WORK_STAY;
        m->state = MIGRATE_SWAP;
        engine_at_window_end(&d->io.base, driver_window_end);
    }
    return true;
}

/* Begins with the first request. False: it waits for room in a port. */
static bool migrate_begin(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    const struct driver_page_request *r = migrate_first(d);
    uint64_t flags, bytes = driver_page_bytes(d);
    m->work = migrate_work_of(d, r);
    if (m->work == MIGRATE_WORK_NONE || !migrate_find(d, r, &m->from, &flags)) {
        m->state = MIGRATE_ANSWER;
        return true;
    }
    if (m->work == MIGRATE_WORK_PLACE || m->work == MIGRATE_WORK_WRITE) {
        m->state = MIGRATE_SWAP;
        engine_at_window_end(&d->io.base, driver_window_end);
        return true;
    }
    if (r->wish == PAGE_WISH_FETCH && m->work == MIGRATE_WORK_MOVE && residence_is_new(d, m->from))
        return migrate_later(d);
    if (!driver_move_can_send(d, migrate_port(d, m->from)))
        return false;
    if (!memory_hold_page(&d->memory, r->gpu, &m->to))
        return migrate_make_room(d);
    driver_move_send_fetch(d, migrate_port(d, m->from), 0, m->from, m->to, (uint32_t)bytes,
                           (flags & PAGE_TABLE_EVICTED) && r->gpu < d->gpu_count);
    timeline_begin(&d->io.base, r->address, migrate_span(d));
    m->state = MIGRATE_COPY;
    return true;
}

static void migrate_swap(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    const struct driver_page_request *r = migrate_first(d);
    uint64_t physical, flags, old;
    if (m->state != MIGRATE_SWAP)
        return;
    if (m->work == MIGRATE_WORK_MOVE
        && memory_swap_page(memory_view(d), r->pid, r->address, m->to, &old) != MEMORY_OK)
        bug("driver: page 0x%" PRIx64 " has gone while it was copied", r->address);
    if (!migrate_find(d, r, &physical, &flags))
        bug("driver: page 0x%" PRIx64 " has gone while it was worked on", r->address);
    if (m->work == MIGRATE_WORK_WRITE)
        copies_leave(d, r, physical, flags);
    else if (m->work == MIGRATE_WORK_COPY || m->work == MIGRATE_WORK_COPY_MORE)
        copies_enter(d, r, physical, flags);
    else if (m->work == MIGRATE_WORK_STAY)
        page_table_enter(driver_page_table(d), r->pid, r->address, physical,
                         flags | PAGE_TABLE_REMOTE);
    else if (m->work == MIGRATE_WORK_MOVE && driver_evicts(d))
        page_table_enter(driver_page_table(d), r->pid, r->address, physical,
                         r->gpu == d->gpu_count
                             ? flags | PAGE_TABLE_EVICTED
                             : (flags | PAGE_TABLE_PLACED) & ~PAGE_TABLE_EVICTED);
    else
        page_table_enter(driver_page_table(d), r->pid, r->address, physical,
                         flags | PAGE_TABLE_PLACED);
    m->state = m->work == MIGRATE_WORK_PLACE || m->work == MIGRATE_WORK_STAY ? MIGRATE_ANSWER
                                                                             : MIGRATE_SHOOT;
    m->sent = 0;
}

/* Shoots the old mapping down on one GPU after the other. */
static bool migrate_shoot(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    const struct driver_page_request *r = migrate_first(d);
    bool progress = false;
    for (; m->sent < d->gpu_count; m->sent++, progress = true) {
        int slot = slot_for(d, m->sent);
        if (slot < 0)
            break;
        driver_gpu_send_shootdown(d, m->sent, (uint16_t)slot, r->address, driver_page_bytes(d),
                                  r->pid);
        slot_acquire(d, m->sent, slot, DRIVER_COMMANDS_MAX, 0, 0);
        d->io.stats.shootdowns++;
    }
    if (m->sent < d->gpu_count || driver_command_at(d, DRIVER_COMMANDS_MAX)->in_flight)
        return progress;
    if (m->work == MIGRATE_WORK_MOVE) {
        memory_give_page(&d->memory, m->from);
        residence_went(d, m->from);
        residence_came(d, r->pid, r->address, m->to);
        d->io.stats.migrations += r->gpu < d->gpu_count;
        __atomic_add_fetch(&d->migrate.moved, 1, __ATOMIC_RELAXED); /* api_pages_moved() */
        if (r->wish == PAGE_WISH_FETCH)
            prefetch_neighbours(d, r);
    }
    /* The copy went through the L2s. */
    l2_note_kernel(d, r->gpu < d->gpu_count ? r->gpu : memory_device_of(&d->memory, m->from),
                   r->pid);
    l2_note_left(d, r->pid);
    if (m->work != MIGRATE_WORK_WRITE)
        timeline_end(&d->io.base, r->address, migrate_span(d));
    m->state = MIGRATE_ANSWER;
    return true;
}

static bool migrate_answer(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    const struct driver_page_request *r = migrate_first(d);
    if (r->port != DRIVER_NONE && !driver_touch_can_reply(d, r->port))
        return false;
    if (r->port != DRIVER_NONE)
        driver_touch_reply_noted(d, r->port, r->tag);
    if (r->wish == PAGE_WISH_FETCH)
        residence_faulted(d, r->gpu, r->pid, r->address);
    m->first = (m->first + 1) % DRIVER_PAGE_REQUESTS;
    m->count--;
    m->state = MIGRATE_NEXT;
    return true;
}

/* One step. While it is not MIGRATE_NONE, no command begins; in MIGRATE_DRAIN those that have begun
 * go on. */
static bool migrate_step(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    switch ((enum migrate_state)m->state) {
    case MIGRATE_NONE:
        return migrate_start(d);
    case MIGRATE_DRAIN:
        return migrate_drain(d);
    case MIGRATE_PAUSE:
        return migrate_pause(d);
    case MIGRATE_NEXT:
        return migrate_next(d) || migrate_begin(d);
    case MIGRATE_COPY: {
        uint32_t port = migrate_port(d, m->from);
        if (!driver_move_peek_reply(d, port))
            return false;
        driver_move_pop_reply(d, port);
        m->state = MIGRATE_SWAP;
        engine_at_window_end(&d->io.base, driver_window_end);
        return true;
    }
    case MIGRATE_SWAP:
        return false;
    case MIGRATE_SHOOT:
        return migrate_shoot(d);
    case MIGRATE_ANSWER:
        return migrate_answer(d);
    case MIGRATE_RESUME:
        return migrate_resume(d);
    }
    return false;
}

static bool driver_work(struct driver *d)
{
    bool progress = answers_receive(d);
    if (driver_touch_count(d)) {
        progress |= migrate_listen(d);
        while (migrate_step(d))
            progress = true;
    }
    while (d->migrate.state <= MIGRATE_DRAIN && queues_step(d))
        progress = true;
    return progress;
}
