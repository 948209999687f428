/* Command processor: turns the driver's commands into work for compute units, the DMA engine and
 * the caches.
 *
 * A launch takes a free dispatcher, and waits for the kernel overhead and until the caches of its
 * packet's acquire scope (agent: all L1 caches) have dropped their lines. Then work-groups go out
 * as the shared resource pool allows. After the last work-group the launch waits until the caches
 * of the release scope have written back. Every message that arrives wakes the whole command
 * processor, so all dispatchers see what any compute unit frees. Cache control works on one
 * operation at a time, level by level (see CONTROL_PORTS): invalidate what a kernel must not find,
 * or flush. Copies pass through to the DMA engine with their tags. Commands are taken in order; a
 * command that finds nothing free stays at the head of the port. */
#include "command_processor.gen.h"

#define UNIT_COLD

#include "cu_resource_pool.gen.h"

#include <string.h>

#include "base/likely.h"
#include "base/number.h"
#include "components/sampling/launch_record.h"
#include "components/sampling/online_parts.h"
#include "components/sampling/warmup.h"
#include "components/statistics/kernel_stats.h"
#include "components/statistics/run_progress.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/engine.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/timeline.h"
#include "runtime/state/platform.h"

#include "command_processor_state.h"
#include "dispatcher.h"

static int64_t instance_param(const struct platform_instance *instance, const char *name,
                              int64_t fallback)
{
    const struct platform_table *table = engine_base.platform;
    for (uint32_t i = 0; i < instance->param_count; i++)
        if (!strcmp(table->strings + table->param_names[instance->params + i], name))
            return table->params[instance->params + i];
    return fallback;
}

/* The pool must not hand out what a compute unit does not have: both say how much there is. */
static void check_pool(const struct command_processor *c, const struct cu_resource_pool *pool,
                       uint32_t cu)
{
    const struct cu_resource_pool_params *p = cu_resource_pool_params(pool);
    const struct {
        const char *name;
        int64_t pool_has;
    } resources[] = {{"simds", p->simds},
                     {"wavefronts", p->wavefronts},
                     {"vgprs", p->vgprs},
                     {"sgprs", p->sgprs},
                     {"lds", p->lds}};
    const struct platform_table *table = engine_base.platform;
    uint32_t ring = engine_base.port_rings[2 * (command_processor_io(c)->work_first + cu)];
    const struct platform_instance *unit = &table->instances[table->rings[ring].receiver];
    for (size_t i = 0; i < ARRAY_COUNT(resources); i++) {
        int64_t unit_has = instance_param(unit, resources[i].name, resources[i].pool_has);
        if (unit_has < resources[i].pool_has)
            engine_die(&c->io.base, "`pool` hands out %s = %lld, but %s has %lld; set both alike",
                       resources[i].name, (long long)resources[i].pool_has,
                       table->strings + unit->path, (long long)unit_has);
    }
}

/* Cycles to a compute unit and back: a question leaves in one cycle, is looked at in another,
 * answered in the same. */
static uint32_t round_trip(const struct command_processor *c)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < command_processor_work_count(c); i++) {
        const uint32_t *rings =
            engine_base.port_rings + 2 * (command_processor_io(c)->work_first + i);
        most = max(ring_at(rings[0])->latency + ring_at(rings[1])->latency, most);
    }
    return most;
}

static void command_processor_init(struct command_processor *c)
{
    uint32_t cus = command_processor_work_count(c);
    struct cu_resource_pool *pool = command_processor_pool(c);
    c->groups_at = arena_allocate((size_t)cus * WORK_GROUP_SLOTS_MAX * sizeof(struct placed_group));
    wave_sync_unit_init(&c->sync, cus
                                      * (uint32_t)(command_processor_params(c)->simds
                                                   * command_processor_params(c)->wavefronts));
    c->accounts_at =
        arena_allocate(command_processor_dispatcher_count(c) * sizeof(struct kernel_account));
    control_init(c);
    for (uint32_t i = 0; i < cus; i++)
        check_pool(c, pool, i);
    pool_init(pool, cus);
    for (uint32_t i = 0; i < command_processor_dispatcher_count(c); i++) {
        dispatcher_setup(command_processor_dispatcher(c, i), cus, round_trip(c));
        arena_at(struct kernel_account, c->accounts_at)[i].active_at =
            arena_allocate(cus * sizeof(uint64_t));
    }
}

/* ---- kernels ---- */

static struct kernel_account *account_of(const struct command_processor *c, uint32_t dispatcher)
{
    return arena_at(struct kernel_account, c->accounts_at) + dispatcher;
}

static struct placed_group *placed_group_at(const struct command_processor *c, uint32_t cu,
                                            uint32_t slot)
{
    return arena_at(struct placed_group, c->groups_at) + cu * WORK_GROUP_SLOTS_MAX + slot;
}

static void kernel_done(struct command_processor *c, uint32_t number)
{
    struct dispatcher *d = command_processor_dispatcher(c, number);
    const struct cu_resource_pool_params *p = cu_resource_pool_params(dispatcher_pool(d));
    struct kernel_shape shape = {.request = d->request,
                                 .work_groups = d->launched,
                                 .units = command_processor_work_count(c),
                                 .simds = p->simds,
                                 .slots = (uint32_t)(p->simds * p->wavefronts),
                                 .dies = d->shares ? d->shares : 1,
                                 .is_shared = d->shares != 0};
    pool_limits(dispatcher_pool(d), &d->request, &shape.limits);
    d->state = DISPATCHER_DONE;
    d->answer_at = command_processor_now(c) + command_processor_params(c)->completion_cost;
    account_end(account_of(c, number), &shape, &c->total_use, command_processor_now(c), d->record);
    if (!d->shares)
        kernel_end(&c->io.base, d->record);
    timeline_end(&c->io.base, number, program_kernel_name(command_processor_program(c), d->kernel));
}

/* The kernel's last work-group has ended. */
static void kernel_release(struct command_processor *c, uint32_t number)
{
    struct dispatcher *d = command_processor_dispatcher(c, number);
    if (d->release == AQL_SCOPE_SYSTEM)
        d->state = DISPATCHER_RELEASING;
    else
        kernel_done(c, number);
}

/* Finds the first idle dispatcher. False: all are busy. */
static bool idle_dispatcher(const struct command_processor *c, uint32_t *number)
{
    uint32_t count = command_processor_dispatcher_count(c);
    *number = 0;
    while (*number < count && command_processor_dispatcher(c, *number)->state != DISPATCHER_IDLE)
        ++*number;
    return *number < count;
}

/* Fields that the commands `launch` and `share` have in common; a launch has no shares. */
struct launch_order {
    uint64_t packet_address, entry;
    uint32_t pid, kernel, record, share, shares;
    struct aql_packet packet;
    struct aql_descriptor descriptor;
};

static struct launch_order launch_order(const struct command_request *m, void *payload)
{
    struct launch_order o;
    if (message_kind(m) == COMMAND_LAUNCH) {
        o = (struct launch_order){.packet_address = m->launch.packet_address,
                                  .entry = m->launch.entry,
                                  .pid = m->launch.pid,
                                  .kernel = m->launch.kernel};
        memcpy(&o.packet, command_launch_packet(payload), sizeof o.packet);
        memcpy(&o.descriptor, command_launch_descriptor(payload), sizeof o.descriptor);
        return o;
    }
    o = (struct launch_order){.packet_address = m->share.packet_address,
                              .entry = m->share.entry,
                              .pid = m->share.pid,
                              .kernel = m->share.kernel,
                              .record = *command_share_record(payload),
                              .share = *command_share_share(payload),
                              .shares = *command_share_shares(payload)};
    memcpy(&o.packet, command_share_packet(payload), sizeof o.packet);
    memcpy(&o.descriptor, command_share_descriptor(payload), sizeof o.descriptor);
    return o;
}

/* Begins the record in the statistics, unless a dealer that launches on several dies has begun
 * it. */
static void launch_record(const struct command_processor *c, struct dispatcher *d,
                          const struct launch_order *o)
{
    d->shares = o->shares;
    d->record = o->shares ? o->record
                          : launch_record_begin(&c->io.base, command_processor_program(c),
                                                o->kernel, &o->packet);
}

/* Keeps only the work-groups of this die. False: there is no private memory for any of them. */
static bool launch_share(struct command_processor *c, struct dispatcher *d,
                         const struct launch_order *o, const char *name)
{
    dispatcher_divide(d, o->share, o->shares);
    d->common.die = (uint8_t)o->share;
    if (!d->remaining || !dispatcher_lacks_scratch(d))
        return true;
    engine_fail(&c->io.base,
                "memory has room for the private memory of %u work-groups, and each of %u dies "
                "needs one (kernel '%s')",
                d->scratch_groups, o->shares, name);
    return false;
}

/* Scope of the work that an acquire or a release of `scope` needs in the caches of this die. */
static uint8_t cache_scope(const struct command_processor *c, unsigned scope)
{
    bool dies = command_processor_params(c)->dies == COMMAND_PROCESSOR_DIES_SEVERAL;
    return (uint8_t)(dies && scope == AQL_SCOPE_AGENT ? AQL_SCOPE_SYSTEM : scope);
}

/* False: all dispatchers are busy. */
static bool begin_kernel(struct command_processor *c, const struct command_request *m)
{
    uint32_t number;
    if (!idle_dispatcher(c, &number))
        return false;
    struct dispatcher *d = command_processor_dispatcher(c, number);
    const struct launch_order o = launch_order(m, command_processor_host_payload(c));
    const char *name = program_kernel_name(command_processor_program(c), o.kernel);
    d->kernel = o.kernel;
    d->host_tag = m->tag;
    const struct work_launch launch = {(enum isa_target)command_processor_params(c)->isa,
                                       &o.packet,
                                       &o.descriptor,
                                       o.entry,
                                       o.packet_address,
                                       o.pid,
                                       c->launches};
    if (!dispatcher_begin(d, &launch)) {
        engine_fail(&c->io.base,
                    "no compute unit can hold a work-group of %u wavefronts with %u vector "
                    "registers, %u scalar registers and %u bytes of LDS (kernel '%s')",
                    d->request.wavefronts, d->request.vgprs, d->request.sgprs, d->request.lds_bytes,
                    name);
        return false;
    }
    if (aql_groups(&o.packet))
        dispatcher_limit(d, aql_first_group(&o.packet), aql_groups(&o.packet));
    if (o.shares && !launch_share(c, d, &o, name))
        return false;
    if (aql_meets(&o.packet) && !o.shares)
        wave_sync_begin_launch(&c->sync.sync, aql_all_groups(&o.packet));
    c->launches++;
    c->io.stats.kernels++;
    d->state = DISPATCHER_STARTING;
    d->start_at = command_processor_now(c) + command_processor_params(c)->kernel_overhead;
    d->acquire = cache_scope(c, aql_scope(o.packet.header, AQL_ACQUIRE_SHIFT));
    d->release = cache_scope(c, aql_scope(o.packet.header, AQL_RELEASE_SHIFT));
    d->is_invalidated = d->acquire == AQL_SCOPE_NONE;
    d->is_released = false;
    d->common.memory_only = aql_memory_only(&o.packet);
    d->common.dispatcher = (uint16_t)number;
    preload_begin(c, d, &o.descriptor);
    launch_record(c, d, &o);
    if (o.shares)
        timeline_begin(&c->io.base, number, name);
    else
        timeline_begin_launch(&c->io.base, number, name);
    account_begin(account_of(c, number), &c->total_use, command_processor_now(c),
                  command_processor_work_count(c));
    return true;
}

static bool can_send_work(const void *owner, uint32_t cu)
{
    return command_processor_work_can_send((const struct command_processor *)owner, cu);
}

static bool dispatch(struct command_processor *c, uint32_t number)
{
    struct dispatcher *d = command_processor_dispatcher(c, number);
    const struct dispatch_units units = {
        .count = command_processor_work_count(c),
        .cost = {command_processor_params(c)->dispatch_cost_small,
                 command_processor_params(c)->dispatch_cost_per_wavefront},
        .can_send = can_send_work,
        .owner = c};
    struct dispatched_group g;
    if (!dispatcher_next(d, command_processor_now(c), &units, &g))
        return false;
    uint16_t slot = g.placement.work_group_slot, wavefronts = g.placement.wavefronts;
    void *payload =
        command_processor_work_send_map(c, g.cu, slot, d->kernel, g.id[0], g.id[1], g.id[2]);
    memcpy(work_map_placement(payload), &g.placement, sizeof g.placement);
    *placed_group_at(c, g.cu, slot) = (struct placed_group){(uint16_t)number, wavefronts};
    slot_account_place(&account_of(c, number)->slots, &c->total_use, command_processor_now(c),
                       wavefronts, !d->remaining);
    if (unlikely(online_parts_recording))
        online_parts_record_placed(&c->io.base);
    return true;
}

static bool dispatchers_step(struct command_processor *c)
{
    bool progress = false;
    uint64_t now = command_processor_now(c);
    for (uint32_t i = 0; i < command_processor_dispatcher_count(c); i++) {
        struct dispatcher *d = command_processor_dispatcher(c, i);
        if (d->state == DISPATCHER_STARTING)
            progress |= preload_step(c, i);
        if (d->state == DISPATCHER_STARTING && d->is_invalidated && preload_is_done(d)
            && d->start_at <= now) {
            d->state = DISPATCHER_RUNNING;
            d->busy_until_centi_cy = now * DISPATCHER_CENTI_CY;
            slot_account_running(&account_of(c, i)->slots, &c->total_use, now);
            progress = true;
            if (!d->remaining)
                kernel_release(c, i);
        }
        if (d->state == DISPATCHER_RELEASING && d->is_released) {
            kernel_done(c, i);
            progress = true;
        }
        if (d->state == DISPATCHER_RUNNING)
            progress |= dispatch(c, i);
        if (d->state == DISPATCHER_DONE && d->answer_at <= now
            && command_processor_host_can_reply(c)) {
            command_processor_host_reply_done(c, d->host_tag);
            d->state = DISPATCHER_IDLE;
            progress = true;
        }
    }
    return progress;
}

/* ---- global wave sync ---- */

/* The global wave sync is part of this component, or lies beyond the host port if other dies use
 * it, too. It numbers a wavefront by its compute unit and its number there. */
static bool sync_receive(struct command_processor *c, uint32_t cu, const struct work_reply *m)
{
    uint32_t wavefront = cu << WAVE_SYNC_CU_SHIFT | m->sync.wavefront;
    if (command_processor_params(c)->dies == COMMAND_PROCESSOR_DIES_ONE) {
        const struct isa_sync request = {(uint8_t)m->sync.operation, (uint8_t)m->sync.resource,
                                         m->sync.value};
        wave_sync_unit_accept(&c->sync, &request, wavefront);
        return true;
    }
    if (!command_processor_host_can_reply(c))
        return false;
    const struct placed_group *g = placed_group_at(c, cu, m->tag);
    command_processor_host_reply_sync(c, command_processor_dispatcher(c, g->dispatcher)->host_tag,
                                      wavefront, m->sync.operation, m->sync.resource,
                                      m->sync.value);
    return true;
}

/* Answers a wavefront at the wave sync. False: the way to its compute unit is full. */
static bool sync_answer(const struct command_processor *c, uint32_t wavefront)
{
    uint32_t cu = wavefront >> WAVE_SYNC_CU_SHIFT;
    if (!command_processor_work_can_send(c, cu))
        return false;
    command_processor_work_send_go_on(c, cu, 0, wavefront & ((1 << WAVE_SYNC_CU_SHIFT) - 1));
    return true;
}

static bool sync_step(struct command_processor *c)
{
    uint32_t wavefront;
    bool sent = false;
    while (wave_sync_unit_next(&c->sync, &wavefront) && sync_answer(c, wavefront)) {
        wave_sync_unit_pop(&c->sync);
        sent = true;
    }
    return sent;
}

/* ---- from compute units ---- */

static void group_finished(struct command_processor *c, uint32_t cu, const struct work_reply *m)
{
    const struct placed_group *g = placed_group_at(c, cu, m->tag);
    struct dispatcher *d = command_processor_dispatcher(c, g->dispatcher);
    account_finish(account_of(c, g->dispatcher), &c->total_use, command_processor_now(c),
                   g->wavefronts, cu,
                   work_finished_account(command_processor_work_reply_payload(c, cu)));
    kernel_count(d->record, 1, m->finished.wavefront_instructions);
    if (unlikely(online_parts_recording))
        online_parts_record_ended(&c->io.base, m->finished.wavefront_instructions);
    progress_end_work_groups(1);
    if (dispatcher_finished(d, cu, m->tag))
        kernel_release(c, g->dispatcher);
    for (uint32_t other = 0; other < command_processor_dispatcher_count(c); other++)
        if (other != g->dispatcher)
            dispatcher_other_finished(command_processor_dispatcher(c, other), cu);
}

static bool work_receive(struct command_processor *c)
{
    uint32_t count = command_processor_work_count(c);
    bool received = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit = command_processor_work_first_pending(c) + i;
        uint64_t pending = component_pending(&c->io.base, bit / 64) >> (bit % 64);
        if (!pending) {
            i += 63 - bit % 64; /* nothing in the rest of this word */
            continue;
        }
        if (!(pending & 1))
            continue;
        const struct work_reply *m;
        while ((m = command_processor_work_peek_reply(c, i))) {
            if (message_kind(m) == WORK_FINISHED)
                group_finished(c, i, m);
            else if (!sync_receive(c, i, m))
                break;
            command_processor_work_pop_reply(c, i);
            received = true;
        }
    }
    return received;
}

/* ---- commands ---- */

/* Hands a copy to the DMA engine. False: its port is full. */
static bool forward_copy(struct command_processor *c, const struct command_request *m)
{
    if (!command_processor_dma_can_send(c))
        return false;
    void *payload = command_processor_host_payload(c);
    switch (message_kind(m)) {
    case COMMAND_WRITE:
        memcpy(command_write_data(
                   command_processor_dma_send_write(c, m->tag, m->write.address, m->write.size)),
               command_write_data(payload), m->write.size);
        break;
    case COMMAND_READ:
        command_processor_dma_send_read(c, m->tag, m->read.address, m->read.size);
        break;
    case COMMAND_ATOMIC:
        command_processor_dma_send_atomic(c, m->tag, m->atomic.address, m->atomic.value);
        break;
    case COMMAND_FILL:
        command_processor_dma_send_fill(c, m->tag, m->fill.address, m->fill.size, m->fill.pattern);
        break;
    default:
        command_processor_dma_send_copy(c, m->tag, m->copy.destination, m->copy.source,
                                        m->copy.size);
        break;
    }
    return true;
}

static bool flush(struct command_processor *c, const struct command_request *m)
{
    if (c->flush_wanted || !c->flush_answered || c->flush_under_way)
        return false;
    c->flush_wanted = true;
    c->flush_drops = message_kind(m) == COMMAND_INVALIDATE;
    c->flush_code = message_kind(m) != COMMAND_FENCE;
    c->flush_tag = m->tag;
    return true;
}

static bool shoot_down(struct command_processor *c, const struct command_request *m)
{
    if (c->shootdown.is_wanted || c->shootdown.is_done || c->control == CONTROL_SHOOTDOWN)
        return false;
    c->shootdown.address = m->shootdown.address;
    c->shootdown.size = m->shootdown.size;
    c->shootdown.pid = m->shootdown.pid;
    c->shootdown.tag = m->tag;
    c->shootdown.is_wanted = true;
    return true;
}

static bool pause_or_resume(struct command_processor *c, const struct command_request *m)
{
    bool on = message_kind(m) == COMMAND_PAUSE;
    if (c->pause.is_wanted || c->pause.is_done || control_is_pause(c))
        return false;
    if (on == c->pause.is_on) {
        engine_fail(&c->io.base, "a second command to %s: it %s already", on ? "pause" : "go on",
                    on ? "pauses" : "goes on");
        return false;
    }
    if (on)
        c->pause.since = command_processor_now(c);
    c->pause.is_on = on;
    c->pause.tag = m->tag;
    c->pause.is_wanted = true;
    return true;
}

static bool accept_command(struct command_processor *c, const struct command_request *m)
{
    switch (message_kind(m)) {
    case COMMAND_LAUNCH:
    case COMMAND_SHARE:
        return begin_kernel(c, m);
    case COMMAND_FLUSH:
    case COMMAND_FENCE:
    case COMMAND_INVALIDATE:
        return flush(c, m);
    case COMMAND_SHOOTDOWN:
        return shoot_down(c, m);
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
        return pause_or_resume(c, m);
    case COMMAND_GO_ON:
        return sync_answer(c, m->go_on.wavefront);
    default:
        return forward_copy(c, m);
    }
}

static bool host_receive(struct command_processor *c)
{
    const struct command_request *m;
    bool received = false;
    while ((m = command_processor_host_peek(c)) && accept_command(c, m)) {
        command_processor_host_pop(c);
        received = true;
    }
    return received;
}

static bool answer_driver(struct command_processor *c)
{
    const struct command_reply *m;
    bool sent = false;
    while ((m = command_processor_dma_peek_reply(c)) && command_processor_host_can_reply(c)) {
        if (preload_receive(c, m)) {
            sent = true;
            continue;
        }
        if (message_kind(m) == COMMAND_DATA)
            memcpy(command_data_data(command_processor_host_reply_data(c, m->tag, m->data.size)),
                   command_data_data(command_processor_dma_reply_payload(c)), m->data.size);
        else
            command_processor_host_reply_done(c, m->tag);
        command_processor_dma_pop_reply(c);
        sent = true;
    }
    if (!c->flush_answered && command_processor_host_can_reply(c)) {
        command_processor_host_reply_done(c, c->flush_tag);
        c->flush_answered = true;
        sent = true;
    }
    if (c->shootdown.is_done && command_processor_host_can_reply(c)) {
        command_processor_host_reply_done(c, c->shootdown.tag);
        c->shootdown.is_done = false;
        sent = true;
    }
    if (c->pause.is_done && command_processor_host_can_reply(c)) {
        command_processor_host_reply_done(c, c->pause.tag);
        c->pause.is_done = false;
        sent = true;
    }
    return sent;
}

/* The cycle in which the dispatcher continues by itself. */
static uint64_t dispatcher_wakes_at(const struct dispatcher *d)
{
    switch (d->state) {
    case DISPATCHER_STARTING:
        return !d->is_invalidated || d->acquire == AQL_SCOPE_NONE ? d->start_at : ENGINE_NEVER;
    case DISPATCHER_RUNNING:
        return dispatcher_due(d);
    case DISPATCHER_DONE:
        return d->answer_at;
    default:
        return ENGINE_NEVER;
    }
}

static bool command_processor_tick(struct command_processor *c)
{
    bool progress = work_receive(c);
    if (c->control != CONTROL_NONE)
        progress |= control_receive(c);
    progress |= host_receive(c);
    progress |= control_step(c);
    progress |= dispatchers_step(c);
    progress |= sync_step(c);
    progress |= answer_driver(c);
    if (progress)
        return true;
    for (uint32_t i = 0; i < command_processor_dispatcher_count(c); i++) {
        uint64_t at = dispatcher_wakes_at(command_processor_dispatcher(c, i));
        if (at != ENGINE_NEVER && at > command_processor_now(c))
            command_processor_wake_at(c, at);
    }
    return false;
}

/* The work of the caches that are waited for. */
static const char *control_text(const struct command_processor *c)
{
    if (control_is_pause(c))
        return "pause or go on";
    return c->control == CONTROL_RELEASE || c->control_level > CONTROL_LAST_INVALIDATED
               ? "write back"
               : "invalidate";
}

static unsigned command_processor_outstanding(const struct command_processor *c,
                                              struct hang_report *report)
{
    unsigned undone = (c->control != CONTROL_NONE) + c->flush_wanted + !c->flush_answered
                      + c->shootdown.is_wanted + c->shootdown.is_done + c->pause.is_wanted
                      + c->pause.is_done + c->pause.is_on;
    if (c->control != CONTROL_NONE && report)
        hang_note(report, "waits for %u caches to %s", c->control_awaited, control_text(c));
    else if (c->pause.is_on && report)
        hang_note(report, "memory accesses are paused for a page that moves");
    for (uint32_t i = 0; i < command_processor_dispatcher_count(c); i++) {
        const struct dispatcher *d = command_processor_dispatcher(c, i);
        if (d->state == DISPATCHER_IDLE)
            continue;
        undone++;
        if (report)
            hang_note(report,
                      "dispatcher %u: kernel '%s', %llu work-groups running, %llu to be placed%s",
                      i, program_kernel_name(command_processor_program(c), d->kernel),
                      (unsigned long long)d->running, (unsigned long long)d->remaining,
                      d->is_refused ? ", no compute unit has room" : "");
    }
    if (report)
        wave_sync_unit_report(&c->sync, report);
    return undone;
}
