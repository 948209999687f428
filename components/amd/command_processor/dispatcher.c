/* Cuts a kernel into work-groups and places them. See dispatcher.h.
 *
 * Invariant: remaining + running + ended = total, the work-groups of the kernel that this GPU runs.
 * A dispatcher that found no room does not look again before its protocol sees a reason, so waiting
 * costs nothing. Dispatch time is kept in hundredths of a cycle and carried from one work-group to
 * the next, so that 1.03 cycles a wavefront come out right in sums. */
#include "dispatcher.h"

#include <string.h>

#include "base/number.h"
#include "components/amd/execute/work_groups.h"
#include "runtime/engine/engine.h"

enum {
    DISPATCH_SMALL_WAVEFRONTS =
        4, /* up to here a work-group costs the same (measured; see dispatch_cost_small) */
    DISPATCH_CONSTANT = 2 /* the 0.02 cycles of 1.03 N + 0.02 */
};

static void dispatcher_setup(struct dispatcher *d, uint32_t compute_units, uint32_t round_trip)
{
    dispatcher_order_ops(d)->setup(dispatcher_order(d), compute_units);
    dispatcher_protocol_ops(d)->setup(dispatcher_protocol(d), compute_units, round_trip);
    d->scratch_capacity = compute_units * WORK_GROUP_SLOTS_MAX;
    d->scratch_free_at = arena_allocate(d->scratch_capacity * sizeof(uint32_t));
    d->scratch_used_at = arena_allocate(d->scratch_capacity * sizeof(uint32_t));
}

/* Blocks of private memory: number `share` and each `shares`th after it. */
static void start_scratch(struct dispatcher *d, uint32_t groups, uint32_t share, uint32_t shares)
{
    uint32_t count = groups > share ? divide_up(groups - share, shares) : 0;
    uint32_t blocks = min(count, d->scratch_capacity);
    d->scratch_free_count = blocks;
    for (uint32_t i = 0; i < blocks; i++)
        arena_at(uint32_t, d->scratch_free_at)[i] = share + (blocks - 1 - i) * shares;
}

static bool dispatcher_begin(struct dispatcher *d, const struct work_launch *launch)
{
    const struct work_placement *w = &d->common;
    d->common = work_common(launch);
    d->total = d->remaining = d->launched = work_count_groups(w, d->groups);
    memset(d->next_id, 0, sizeof d->next_id);
    d->next_number = 0;
    d->first_number = 0;
    d->stride = 1;
    dispatcher_order_ops(d)->start(dispatcher_order(d), d->remaining);
    dispatcher_protocol_ops(d)->start(dispatcher_protocol(d));
    d->request =
        (struct resource_request){work_full_wavefronts(w), w->vgprs, w->sgprs, w->lds_bytes};
    d->running = 0;
    d->is_refused = false;
    d->scratch_groups = aql_scratch_groups(launch->packet);
    start_scratch(d, d->scratch_groups, 0, 1);
    d->io.stats.kernels++;
    return pool_possible(dispatcher_pool(d), &d->request);
}

static void dispatcher_limit(struct dispatcher *d, uint64_t first, uint64_t count)
{
    work_nth_group(d->groups, first, d->next_id);
    d->first_number = first;
    d->total = d->remaining = d->launched = count;
    dispatcher_order_ops(d)->start(dispatcher_order(d), count);
}

static void dispatcher_divide(struct dispatcher *d, uint32_t share, uint32_t shares)
{
    d->first_number += share;
    d->stride = shares;
    d->total = d->remaining = d->launched > share ? divide_up(d->launched - share, shares) : 0;
    work_nth_group(d->groups, d->first_number, d->next_id);
    start_scratch(d, d->scratch_groups, share, shares);
    dispatcher_order_ops(d)->start(dispatcher_order(d), d->remaining);
}

/* The block of private memory of the work-group in `slot` of `cu`. */
static uint32_t *scratch_used(const struct dispatcher *d, uint32_t cu, uint32_t slot)
{
    return arena_at(uint32_t, d->scratch_used_at) + cu * WORK_GROUP_SLOTS_MAX + slot;
}

static void assign_scratch(struct dispatcher *d, uint32_t cu, struct work_placement *w)
{
    if (!w->private_bytes || !w->scratch)
        return;
    uint32_t block = arena_at(uint32_t, d->scratch_free_at)[--d->scratch_free_count];
    *scratch_used(d, cu, w->work_group_slot) = block;
    w->scratch_wavefront = block * d->request.wavefronts;
}

/* The dispatcher is busy with a work-group for `centi_cy` hundredths of a cycle, from `now` or from
 * the end of its present work on, and at least until `cycles` have passed. */
static void be_busy(struct dispatcher *d, uint64_t now, uint64_t centi_cy, uint32_t cycles)
{
    uint64_t start = d->busy_until_centi_cy, now_centi_cy = now * DISPATCHER_CENTI_CY;
    if (start + DISPATCHER_CENTI_CY <= now_centi_cy)
        start = now_centi_cy;
    uint64_t end = start + centi_cy, answered = (now + cycles) * DISPATCHER_CENTI_CY;
    d->busy_until_centi_cy = max(end, answered);
}

static void account(struct dispatcher *d, uint64_t now, uint32_t wavefronts,
                    struct dispatch_cost cost, uint32_t cycles)
{
    be_busy(d, now,
            wavefronts <= DISPATCH_SMALL_WAVEFRONTS
                ? cost.small
                : (uint64_t)cost.per_wavefront * wavefronts + DISPATCH_CONSTANT,
            cycles);
    if (d->is_refused)
        d->io.stats.no_resources += now - d->refused_at;
    d->is_refused = false;
    d->io.stats.work_groups++;
    d->io.stats.wavefronts += wavefronts;
}

static bool dispatcher_lacks_scratch(const struct dispatcher *d)
{
    return d->common.private_bytes && d->common.scratch && !d->scratch_free_count;
}

static void refuse_group(struct dispatcher *d, uint64_t now)
{
    if (!d->is_refused)
        d->refused_at = now;
    d->is_refused = true;
    d->refused_releases = pool_releases(dispatcher_pool(d));
}

/* The place of work-group `number` of those to be run in the grid: neighbours are asked for in
 * turn, mostly. */
static void find_group(struct dispatcher *d, uint64_t number)
{
    if (number == d->next_number)
        return;
    d->next_number = number;
    work_nth_group(d->groups, d->first_number + number * d->stride, d->next_id);
}

/* The work-group in d->next_id goes to compute unit out->cu. */
static void send_group(struct dispatcher *d, struct dispatched_group *out)
{
    memcpy(out->id, d->next_id, sizeof d->next_id);
    assign_scratch(d, out->cu, &out->placement);
    out->placement.cu = (uint16_t)out->cu;
    dispatcher_order_ops(d)->placed(dispatcher_order(d), out->cu);
    d->remaining--;
    d->running++;
    d->next_number++;
    if (d->stride == 1)
        work_next_group(d->groups, d->next_id);
    else
        work_nth_group(d->groups, d->first_number + d->next_number * d->stride, d->next_id);
}

static bool dispatcher_next(struct dispatcher *d, uint64_t now, const struct dispatch_units *units,
                            struct dispatched_group *out)
{
    const struct dispatch_protocol_ops *protocol = dispatcher_protocol_ops(d);
    struct cu_resource_pool *pool = dispatcher_pool(d);
    struct resource_request request = d->request;
    uint64_t number, cut = UINT64_MAX;
    bool congested = false;
    if (d->state != DISPATCHER_RUNNING || dispatcher_due(d) > now)
        return false;
    uint32_t attempts = dispatcher_lacks_scratch(d) ? 0 : units->count;
    for (uint32_t i = 0; i < attempts; i++) {
        uint32_t cycles;
        if (!dispatcher_order_ops(d)->propose(dispatcher_order(d), i, &out->cu, &number)
            || !protocol->may_try(dispatcher_protocol(d), out->cu))
            continue;
        if (number != cut) {
            find_group(d, number);
            out->placement = d->common;
            work_cut_group(d->next_id, &out->placement);
            request.wavefronts = out->placement.wavefronts;
            cut = number;
        }
        bool room = pool_may_fit(pool, out->cu, &request);
        if (room && !units->can_send(units->owner, out->cu)) {
            congested = true; /* credit wakes the owner */
            continue;
        }
        room = room && pool_place(pool, out->cu, &request, &out->placement);
        enum dispatch_result result =
            protocol->tried(dispatcher_protocol(d), out->cu, room, &cycles);
        if (result == DISPATCH_PLACED) {
            account(d, now, request.wavefronts, units->cost, cycles);
            send_group(d, out);
            return true;
        }
        if (result == DISPATCH_REFUSED) {
            be_busy(d, now, 0, cycles);
            break;
        }
    }
    if (!congested)
        refuse_group(d, now);
    return false;
}

static bool dispatcher_finished(struct dispatcher *d, uint32_t cu, uint32_t slot)
{
    if (d->common.private_bytes && d->common.scratch)
        arena_at(uint32_t, d->scratch_free_at)[d->scratch_free_count++] =
            *scratch_used(d, cu, slot);
    pool_release(dispatcher_pool(d), cu, slot);
    dispatcher_protocol_ops(d)->ended(dispatcher_protocol(d), cu, true);
    d->running--;
    return !d->remaining && !d->running;
}

static void dispatcher_other_finished(struct dispatcher *d, uint32_t cu)
{
    if (d->state == DISPATCHER_RUNNING)
        dispatcher_protocol_ops(d)->ended(dispatcher_protocol(d), cu, false);
}

static uint64_t dispatcher_due(const struct dispatcher *d)
{
    if (!d->remaining)
        return ENGINE_NEVER;
    if (d->is_refused
        && !dispatcher_protocol_ops(d)->may_retry(dispatcher_protocol(d), d->refused_releases,
                                                  pool_releases(dispatcher_pool(d))))
        return ENGINE_NEVER;
    return divide_up(d->busy_until_centi_cy, DISPATCHER_CENTI_CY);
}
