/* Moving pages of managed memory to the GPUs that ask for them (components/page_migration_controller). Included by driver.c.
 *
 * Questions wait in a list until the GPUs are drained: no kernel runs and no message of a command is in flight. Then, before
 * anything new begins, each is worked on: a page is taken on the GPU that asks, its controller copies the contents, the page
 * table is changed at the end of a window, all TLBs are shot down, the old page is given back, and the question answered. So a
 * page that a kernel touches is there for the next one; kernels are never stopped in the middle, and those that wait for each
 * other are never kept apart.
 *
 * A question may be late: whether the page is still there, and still elsewhere, is looked up when its turn comes. */
#ifndef HEDDLE_DRIVER_MIGRATE_H
#define HEDDLE_DRIVER_MIGRATE_H

#include "driver_execute.h"

static struct driver_touch *migrate_first(const struct driver *d)
{
    return arena_at(struct driver_touch, d->migrate.touches) + d->migrate.first % DRIVER_TOUCHES;
}

/* Which GPU is behind a port of the array that begins with `first`. */
static uint32_t migrate_gpu_of(const struct driver *d, uint32_t first, uint32_t i, bool out)
{
    const struct platform_ring *ring = &engine_base.platform->rings[engine_base.port_rings[2 * (first + i)]];
    return program_gpu_of(driver_program(d), out ? ring->receiver : ring->sender);
}

static void migrate_init(struct driver *d)
{
    uint32_t touches = driver_touch_count(d), moves = driver_move_count(d);
    if (touches != moves)
        die("driver: %u page migration controllers ask (`touch`) and %u are told (`move`); connect both of each", touches, moves);
    if (!touches)
        return;
    if (shootdown_check() != DRIVER_OK)
        die("driver: pages cannot migrate: %s", driver_text);
    d->migrate.touches = arena_allocate(DRIVER_TOUCHES * sizeof(struct driver_touch));
    for (uint32_t i = 0; i < moves; i++)
        d->migrate.port[migrate_gpu_of(d, driver_io(d)->move_first, i, true)] = i;
}

static bool migrate_listen(struct driver *d)
{
    bool progress = false;
    for (uint32_t i = 0; i < driver_touch_count(d); i++) {
        const struct page_touch_request *m;
        while (d->migrate.count < DRIVER_TOUCHES && (m = driver_touch_peek(d, i))) {
            struct driver_touch *t =
                arena_at(struct driver_touch, d->migrate.touches) + (d->migrate.first + d->migrate.count++) % DRIVER_TOUCHES;
            *t = (struct driver_touch){.address = m->touched.address, .pid = m->touched.pid, .port = i, .tag = m->tag,
                                       .gpu = migrate_gpu_of(d, driver_io(d)->touch_first, i, false)};
            driver_touch_pop(d, i);
            progress = true;
        }
    }
    return progress;
}

/* May the GPUs be taken for a while? */
static bool migrate_is_drained(const struct driver *d)
{
    for (uint32_t i = 0; i < d->device_count; i++) {
        if (d->device[i].kernels_running || d->device[i].slots_used)
            return false;
    }
    return true;
}

/* Where the page is, if it can move; and whether that is the GPU that asks. */
static bool migrate_find(const struct driver *d, const struct driver_touch *t, uint64_t *physical, uint64_t *flags)
{
    return page_table_look_up(driver_page_table(d), t->pid, t->address, physical, flags) && (*flags & PAGE_TABLE_UNIFIED);
}

/* Begins with the first question. False: it waits for room in a port. */
static bool migrate_begin(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    const struct driver_touch *t = migrate_first(d);
    uint64_t flags, bytes = driver_page_bytes(d);
    if (!migrate_find(d, t, &m->from, &flags)) {
        m->state = MIGRATE_ANSWER;
        return true;
    }
    m->moves = false;
    if (memory_device_of(&d->memory, m->from) == t->gpu) {
        m->state = MIGRATE_SWAP;
        engine_at_window_end(&d->io.base, driver_window_end);
        return true;
    }
    if (!driver_move_can_send(d, m->port[t->gpu]))
        return false;
    if (!memory_hold_page(&d->memory, t->gpu, &m->to)) {
        d->io.stats.migrations_refused++;
        m->state = MIGRATE_ANSWER;
        return true;
    }
    m->moves = true;
    driver_move_send_fetch(d, m->port[t->gpu], 0, m->from, m->to, (uint32_t)bytes);
    trace_begin(&d->io.base, t->address, "migrate page");
    m->state = MIGRATE_COPY;
    return true;
}

/* At the end of a window: the page is placed, and lies where it was copied. */
static void migrate_swap(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    const struct driver_touch *t = migrate_first(d);
    uint64_t physical, flags, old;
    if (m->state != MIGRATE_SWAP)
        return;
    if (m->moves && memory_swap_page(memory_view(d), t->pid, t->address, m->to, &old) != MEMORY_OK)
        bug("driver: page 0x%" PRIx64 " has gone while it was copied", t->address);
    if (migrate_find(d, t, &physical, &flags))
        page_table_enter(driver_page_table(d), t->pid, t->address, physical, flags | PAGE_TABLE_PLACED);
    m->state = m->moves ? MIGRATE_SHOOT : MIGRATE_ANSWER;
    m->shot = 0;
}

/* Shoots the old mapping down on one GPU after the other. */
static bool migrate_shoot(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    const struct driver_touch *t = migrate_first(d);
    bool progress = false;
    for (int slot; m->shot < d->device_count && (slot = slot_for(d, m->shot)) >= 0; m->shot++, progress = true) {
        driver_gpu_send_shootdown(d, m->shot, (uint16_t)slot, t->address, driver_page_bytes(d), t->pid);
        slot_take(d, m->shot, slot, DRIVER_COMMANDS, 0, 0);
        d->io.stats.shootdowns++;
    }
    if (m->shot < d->device_count || driver_command_at(d, DRIVER_COMMANDS)->in_flight)
        return progress;
    memory_give_page(&d->memory, m->from);
    dirty_note(d, t->gpu, t->pid); /* the copy went through the L2s */
    dirty_leave(d, t->pid);
    d->io.stats.migrations++;
    trace_end(&d->io.base, t->address, "migrate page");
    m->state = MIGRATE_ANSWER;
    return true;
}

static bool migrate_answer(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    const struct driver_touch *t = migrate_first(d);
    if (!driver_touch_can_reply(d, t->port))
        return false;
    driver_touch_reply_noted(d, t->port, t->tag);
    m->first = (m->first + 1) % DRIVER_TOUCHES;
    m->state = --m->count ? MIGRATE_NEXT : MIGRATE_NONE;
    if (d->await_migration && m->state == MIGRATE_NONE)
        engine_stop();
    return true;
}

/* One step. While it is not MIGRATE_NONE, no command begins. */
static bool migrate_step(struct driver *d)
{
    struct driver_migrate *m = &d->migrate;
    switch ((enum migrate_state)m->state) {
    case MIGRATE_NONE:
        if (!m->count || !migrate_is_drained(d))
            return false;
        m->state = MIGRATE_NEXT;
        return true;
    case MIGRATE_NEXT:
        return migrate_begin(d);
    case MIGRATE_COPY: {
        uint32_t port = m->port[migrate_first(d)->gpu];
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
    while (d->migrate.state == MIGRATE_NONE && queues_step(d))
        progress = true;
    return progress;
}

#endif
