/* Where the wavefront slots of all compute units were while a kernel ran, and how many wavefronts
 * it could have had there.
 *
 * Cycles of a kernel go from the arrival of its launch to the end of its last work-group, as the
 * command processor sees them; times the slots of all compute units this is its number of
 * slot-cycles (components/protocols/work/work_cycles.h). The compute units account for those in
 * which they had its wavefronts. The rest is accounted for here, from time stamps alone, such that
 * the sum is exact whatever happens:
 *
 * - empty.launch: nothing was to be placed yet (kernel overhead, invalidation of caches)
 * - empty.placing: there were work-groups to be placed
 * - empty.draining: all of its work-groups had been placed
 * - moving.dispatch: held by its work-groups, which were on their way to a compute unit, or their
 * end on the way back
 * - others.kernels: held by work-groups of other kernels
 *
 * Occupancy is given as closed forms of what a work-group asks for (resource_pool.h) and as the
 * sums from which what was achieved follows: wavefront_cycles (slot-cycles of wavefronts that had
 * not ended), unit_cycles (sum over the compute units of the cycles in which each had work-groups
 * of the kernel), and of these longest_unit_cycles, the most of one.
 *
 * Called by command_processor.c when a kernel begins, runs, and ends, and for each work-group. */
#include "command_processor.gen.h"

#include <inttypes.h>

#include "command_processor_state.h"
#include "components/protocols/work/work_cycles.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "components/statistics/kernel_shares.h"
#include "components/statistics/kernel_stats.h"

static uint64_t slot_use_until(const struct slot_use *u, uint64_t now)
{
    return u->sum + u->wavefronts * (now - u->at);
}

static void slot_use_change(struct slot_use *u, uint64_t now, uint64_t more, uint64_t less)
{
    u->sum = slot_use_until(u, now);
    u->at = now;
    u->wavefronts += more - less;
}

static void account_begin(struct kernel_account *k, const struct slot_use *all, uint64_t now,
                          uint32_t units)
{
    uint32_t active = k->active;
    *k = (struct kernel_account){.begin = now,
                                 .own = {.at = now},
                                 .all_at_begin = slot_use_until(all, now),
                                 .active = active};
    memset(arena_at(uint64_t, active), 0, units * sizeof(uint64_t));
}

static void account_running(struct kernel_account *k, const struct slot_use *all, uint64_t now)
{
    k->running = k->placed = now;
    k->all_at_running = k->all_at_placed = slot_use_until(all, now);
}

static void account_place(struct kernel_account *k, struct slot_use *all, uint64_t now,
                          uint32_t wavefronts, bool last)
{
    slot_use_change(&k->own, now, wavefronts, 0);
    slot_use_change(all, now, wavefronts, 0);
    if (last) {
        k->placed = now;
        k->all_at_placed = all->sum;
    }
}

/* A work-group has come back with what compute unit `unit` wrote down. */
static void account_finish(struct kernel_account *k, struct slot_use *all, uint64_t now,
                           uint32_t wavefronts, uint32_t unit, const void *from_unit)
{
    struct work_account part;
    memcpy(&part, from_unit, sizeof part);
    slot_use_change(&k->own, now, 0, wavefronts);
    slot_use_change(all, now, 0, wavefronts);
    for (unsigned i = 0; i < WORK_CYCLES_KINDS; i++)
        k->units.slot_cycles[i] += part.slot_cycles[i];
    k->units.held += part.held;
    k->units.active += part.active;
    arena_at(uint64_t, k->active)[unit] += part.active;
    k->units.lds_busy += part.lds_busy;
    k->units.lds_conflict += part.lds_conflict;
    k->units.vmem_lines += part.vmem_lines;
    k->units.vmem_issued += part.vmem_issued;
    k->units.vmem_cycles += part.vmem_cycles;
    k->units.scratch_lines += part.scratch_lines;
    k->units.valu_idle_lanes += part.valu_idle_lanes;
    k->units.polls += part.polls;
}

enum { DETAILS_MOST = WORK_CYCLES_KINDS + 40 };

struct kernel_details {
    unsigned count;
    struct kernel_detail detail[DETAILS_MOST];
    enum kernel_merge merge[DETAILS_MOST]; /* with those of the other dies */
};

static void detail_put(struct kernel_details *to, struct kernel_detail detail,
                       enum kernel_merge merge)
{
    if (to->count == DETAILS_MOST)
        bug("a kernel's record has more than %d details", DETAILS_MOST);
    to->merge[to->count] = merge;
    to->detail[to->count++] = detail;
}

static void detail_add(struct kernel_details *to, const char *group, const char *name,
                       uint64_t value)
{
    detail_put(to, (struct kernel_detail){group, name, NULL, value}, KERNEL_ADD);
}

static void detail_same(struct kernel_details *to, const char *group, const char *name,
                        uint64_t value)
{
    detail_put(to, (struct kernel_detail){group, name, NULL, value}, KERNEL_SAME);
}

static void detail_most(struct kernel_details *to, const char *group, const char *name,
                        uint64_t value)
{
    detail_put(to, (struct kernel_detail){group, name, NULL, value}, KERNEL_MOST);
}

/* Slot-cycles between two times that no kernel held. */
static uint64_t empty_slots(uint64_t slots, uint64_t cycles, uint64_t all_before,
                            uint64_t all_after)
{
    return slots * cycles - (all_after - all_before);
}

/* Every slot-cycle of the kernel, each once. */
static void describe_cycles(const struct kernel_account *k, const struct kernel_shape *shape,
                            const struct slot_use *all, uint64_t now, struct kernel_details *to)
{
    static const struct {
        const char *group, *name;
    } names[WORK_CYCLES_KINDS] = {
#define X(identifier, kind_group, kind_name) {"slot_cycles." kind_group, kind_name},
        WORK_CYCLES(X)
#undef X
    };
    uint64_t slots = (uint64_t)shape->units * shape->slots, end = slot_use_until(all, now),
             charged = 0;
    uint64_t own = slot_use_until(&k->own, now);
    detail_add(to, NULL, "slots", slots);
    for (unsigned i = 0; i < WORK_CYCLES_KINDS; i++) {
        charged += k->units.slot_cycles[i];
        detail_add(to, names[i].group, names[i].name, k->units.slot_cycles[i]);
    }
    if (charged != k->units.held || own < charged)
        bug("command processor: compute units account for %" PRIu64 " slot-cycles of %" PRIu64
            ", held for %" PRIu64,
            charged, k->units.held, own);
    detail_add(to, "slot_cycles.moving", "dispatch", own - charged);
    detail_add(to, "slot_cycles.empty", "launch",
               empty_slots(slots, k->running - k->begin, k->all_at_begin, k->all_at_running));
    detail_add(to, "slot_cycles.empty", "placing",
               empty_slots(slots, k->placed - k->running, k->all_at_running, k->all_at_placed));
    detail_add(to, "slot_cycles.empty", "draining",
               empty_slots(slots, now - k->placed, k->all_at_placed, end));
    detail_add(to, "slot_cycles.others", "kernels", end - k->all_at_begin - own);
}

/* The resource that lets fewest work-groups onto a compute unit; *most of them. Wavefront slots
 * when nothing else is scarcer, the grid when it has fewer work-groups than would fit. */
static const char *scarcest(const struct kernel_shape *shape, uint32_t *most)
{
    const struct {
        const char *name;
        uint32_t work_groups;
    } resources[] = {{"work_group_slots", shape->limits.work_group_slots},
                     {"lds", shape->limits.lds},
                     {"sgprs", shape->limits.sgprs},
                     {"vgprs", shape->limits.vgprs}};
    uint32_t units = shape->units * shape->dies;
    uint64_t grid = (shape->work_groups + units - 1) / units;
    const char *name = "wavefront_slots";
    *most = shape->limits.wavefront_slots;
    for (unsigned i = 0; i < sizeof resources / sizeof resources[0]; i++) {
        if (resources[i].work_groups < *most) {
            *most = resources[i].work_groups;
            name = resources[i].name;
        }
    }
    return grid < *most ? "grid" : name;
}

static void describe_limit(struct kernel_details *to, const char *name, uint32_t work_groups)
{
    if (work_groups != UINT32_MAX)
        detail_same(to, "occupancy.limits", name, work_groups);
}

/* How the work was spread: compute units that had some, and the cycles of the one that had it
 * longest. */
static void describe_balance(const struct kernel_account *k, const struct kernel_shape *shape,
                             struct kernel_details *to)
{
    const uint64_t *active = arena_at(uint64_t, k->active);
    uint64_t used = 0, longest = 0;
    for (uint32_t i = 0; i < shape->units; i++) {
        used += active[i] != 0;
        longest = active[i] > longest ? active[i] : longest;
    }
    detail_add(to, "occupancy.achieved", "units_used", used);
    detail_most(to, "occupancy.achieved", "longest_unit_cycles", longest);
}

static void describe_occupancy(const struct kernel_account *k, const struct kernel_shape *shape,
                               struct kernel_details *to)
{
    const char *group = "occupancy";
    uint32_t most;
    const char *limiter = scarcest(shape, &most);
    detail_add(to, group, "compute_units", shape->units);
    detail_same(to, group, "simds", shape->simds);
    detail_same(to, group, "slots_per_simd", shape->slots / shape->simds);
    detail_same(to, group, "wavefronts_per_work_group", shape->request.wavefronts);
    detail_same(to, group, "vgprs", shape->request.vgprs);
    detail_same(to, group, "sgprs", shape->request.sgprs);
    detail_same(to, group, "lds_bytes", shape->request.lds_bytes);
    detail_same(to, group, "work_groups_per_unit", most);
    detail_put(to, (struct kernel_detail){group, "limited_by", limiter, 0}, KERNEL_SAME);
    describe_limit(to, "wavefront_slots", shape->limits.wavefront_slots);
    describe_limit(to, "vgprs", shape->limits.vgprs);
    describe_limit(to, "sgprs", shape->limits.sgprs);
    describe_limit(to, "lds", shape->limits.lds);
    describe_limit(to, "work_group_slots", shape->limits.work_group_slots);
    detail_add(to, "occupancy.achieved", "wavefront_cycles",
               k->units.held - k->units.slot_cycles[WORK_ENDED]);
    detail_add(to, "occupancy.achieved", "unit_cycles", k->units.active);
    describe_balance(k, shape, to);
    detail_add(to, "units", "lds_busy", k->units.lds_busy);
    detail_add(to, "units", "lds_conflict", k->units.lds_conflict);
    detail_add(to, "units", "vector_memory_instructions", k->units.vmem_issued);
    detail_add(to, "units", "vector_memory_cycles", k->units.vmem_cycles);
    detail_add(to, "units", "vector_memory_lines", k->units.vmem_lines);
    detail_add(to, "units", "scratch_lines", k->units.scratch_lines);
    detail_add(to, "units", "valu_idle_lanes", k->units.valu_idle_lanes);
    if (2 * k->units.polls > k->units.vmem_issued) /* a few are no spinning */
        detail_add(to, "units", "polls", k->units.polls);
}

/* At the end of the kernel: everything goes to its record. */
static void account_end(const struct kernel_account *k, const struct kernel_shape *shape,
                        const struct slot_use *all, uint64_t now, uint32_t record)
{
    struct kernel_details details = {0};
    describe_cycles(k, shape, all, now, &details);
    describe_occupancy(k, shape, &details);
    if (shape->shared)
        kernel_shares_add(record, details.detail, details.merge, details.count);
    else
        kernel_describe(record, details.detail, details.count);
}
