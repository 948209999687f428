/* Cuts a kernel into work-groups and places them. See dispatcher.h.
 *
 * Invariant: left + running + ended = work-groups of the kernel. A dispatcher that found no room does not look again before
 * the pool has seen a release, so waiting costs nothing. Dispatch time is kept in hundredths of a cycle and carried from one
 * work-group to the next, so that 1.03 cycles a wavefront come out right in sums. */
#include "dispatcher.h"

#include <string.h>

#include "runtime/engine.h"

enum {
    DISPATCH_SMALL_WAVEFRONTS = 4, /* up to here a work-group costs the same (measured; see dispatch_cost_small) */
    DISPATCH_CONSTANT = 2          /* the 0.02 cycles of 1.03 N + 0.02 */
};

static void dispatcher_init(struct dispatcher *d)
{
    (void)d;
}

static void dispatcher_setup(struct dispatcher *d, uint32_t compute_units)
{
    d->scratch_most = compute_units * 64;
    d->scratch_free = arena_allocate(d->scratch_most * sizeof(uint32_t));
    d->scratch_used = arena_allocate(d->scratch_most * sizeof(uint32_t));
}

static void start_scratch(struct dispatcher *d, const struct aql_packet *packet)
{
    uint32_t blocks = packet->scratch_groups < d->scratch_most ? (uint32_t)packet->scratch_groups
                                                               : d->scratch_most;
    d->scratch_free_count = blocks;
    for (uint32_t i = 0; i < blocks; i++)
        arena_at(uint32_t, d->scratch_free)[i] = blocks - 1 - i;
}

static bool dispatcher_start(struct dispatcher *d, const struct aql_packet *packet,
                             const struct aql_descriptor *descriptor, uint64_t entry,
                             uint64_t packet_address, uint32_t pid, uint32_t dispatch_id)
{
    struct work_placement *w = &d->common;
    uint32_t items = 1;
    *w = (struct work_placement){.entry = entry, .kernarg = packet->kernarg, .packet = packet_address,
                                 .scratch = packet->scratch, .rsrc1 = descriptor->rsrc1,
                                 .rsrc2 = descriptor->rsrc2, .properties = descriptor->properties,
                                 .private_bytes = packet->private_bytes, .pid = pid,
                                 .lds_bytes = packet->group_bytes, .dispatch_id = dispatch_id};
    w->scratch_bytes_per_wavefront = (uint32_t)aql_scratch_bytes(packet->private_bytes);
    d->left = 1;
    for (unsigned i = 0; i < 3; i++) {
        w->grid[i] = packet->grid[i];
        w->block[i] = packet->work_group[i];
        items *= packet->work_group[i];
        d->groups[i] = packet->work_group[i]
                           ? (packet->grid[i] + packet->work_group[i] - 1) / packet->work_group[i]
                           : 0;
        d->next[i] = 0;
        d->left *= d->groups[i];
    }
    /* Granules of 4 vector and 8 scalar registers; scalar ones are then taken in the pool's granularity. */
    w->vgprs = (uint16_t)(((w->rsrc1 & 63) + 1) * 4);
    w->sgprs = (uint16_t)(((w->rsrc1 >> 6 & 15) + 1) * 8);
    d->request = (struct resource_request){(items + 63) / 64, w->vgprs, w->sgprs, w->lds_bytes};
    d->running = 0;
    d->refused = false;
    start_scratch(d, packet);
    d->io.stats.kernels++;
    return dispatcher_pool_ops(d)->possible(dispatcher_pool(d), &d->request);
}

/* Work-items and wavefronts of work-group `id`, which may stick out of the grid. */
static void cut_group(const struct dispatcher *d, const uint32_t id[3], struct work_placement *w)
{
    uint32_t items = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t rest = d->common.grid[i] - id[i] * d->common.block[i];
        w->items[i] = (uint16_t)(rest < d->common.block[i] ? rest : d->common.block[i]);
        items *= w->items[i];
    }
    w->wavefronts = (uint16_t)((items + 63) / 64);
}

static void advance(struct dispatcher *d)
{
    for (unsigned i = 0; i < 3; i++) {
        if (++d->next[i] < d->groups[i])
            return;
        d->next[i] = 0;
    }
}

static void take_scratch(struct dispatcher *d, uint32_t cu, struct work_placement *w)
{
    if (!w->private_bytes || !w->scratch)
        return;
    uint32_t block = arena_at(uint32_t, d->scratch_free)[--d->scratch_free_count];
    arena_at(uint32_t, d->scratch_used)[cu * 64 + w->work_group_slot] = block;
    w->scratch_wavefront = block * d->request.wavefronts;
}

static void account(struct dispatcher *d, uint64_t now, uint32_t wavefronts, struct dispatch_cost cost)
{
    uint64_t start = d->busy_until + 100 > now * 100 ? d->busy_until : now * 100;
    d->busy_until = start
                    + (wavefronts <= DISPATCH_SMALL_WAVEFRONTS
                           ? cost.small
                           : (uint64_t)cost.per_wavefront * wavefronts + DISPATCH_CONSTANT);
    if (d->refused)
        d->io.stats.no_resources += now - d->refused_at;
    d->refused = false;
    d->io.stats.work_groups++;
    d->io.stats.wavefronts += wavefronts;
}

static bool needs_scratch(const struct dispatcher *d)
{
    return d->common.private_bytes && d->common.scratch && !d->scratch_free_count;
}

static void refuse(struct dispatcher *d, uint64_t now)
{
    if (!d->refused)
        d->refused_at = now;
    d->refused = true;
    d->refused_releases = dispatcher_pool_ops(d)->releases(dispatcher_pool(d));
}

static bool dispatcher_next(struct dispatcher *d, uint64_t now, uint32_t compute_units,
                            struct dispatch_cost cost, bool (*may_send)(const void *owner, uint32_t cu),
                            const void *owner, uint32_t *cu, uint32_t id[3],
                            struct work_placement *placement)
{
    const struct resource_pool_ops *ops = dispatcher_pool_ops(d);
    struct part *pool = dispatcher_pool(d);
    struct resource_request request = d->request;
    bool congested = false;
    if (d->state != DISPATCHER_RUNNING || dispatcher_due(d) > now)
        return false;
    *placement = d->common;
    cut_group(d, d->next, placement);
    request.wavefronts = placement->wavefronts;
    for (uint32_t i = 0; i < compute_units && !needs_scratch(d); i++) {
        uint32_t target = (d->next_cu + i) % compute_units;
        if (!ops->may_fit(pool, target, &request))
            continue;
        if (!may_send(owner, target)) {
            congested = true; /* credit wakes the owner */
            continue;
        }
        if (!ops->place(pool, target, &request, placement))
            continue;
        *cu = target;
        memcpy(id, d->next, sizeof d->next);
        take_scratch(d, target, placement);
        account(d, now, request.wavefronts, cost);
        d->next_cu = (target + 1) % compute_units;
        d->left--;
        d->running++;
        advance(d);
        return true;
    }
    if (!congested)
        refuse(d, now);
    return false;
}

static bool dispatcher_finished(struct dispatcher *d, uint32_t cu, uint32_t slot)
{
    if (d->common.private_bytes && d->common.scratch)
        arena_at(uint32_t, d->scratch_free)[d->scratch_free_count++] =
            arena_at(uint32_t, d->scratch_used)[cu * 64 + slot];
    dispatcher_pool_ops(d)->release(dispatcher_pool(d), cu, slot);
    d->running--;
    return !d->left && !d->running;
}

static uint64_t dispatcher_due(const struct dispatcher *d)
{
    if (!d->left)
        return ENGINE_NEVER;
    if (d->refused && d->refused_releases == dispatcher_pool_ops(d)->releases(dispatcher_pool(d)))
        return ENGINE_NEVER;
    return (d->busy_until + 99) / 100;
}
