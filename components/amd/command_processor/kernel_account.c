/* A kernel's use of the wavefront slots of all compute units, and the wavefronts that it could have
 * had. slot_account.h computes the use of slots, from time stamps and the cycles that compute units
 * account for (components/protocols/work/work_cycles.h).
 *
 * Possible occupancy is a closed form of the resources of a work-group (cu_resource_pool.h).
 * Achieved occupancy follows from three sums: wavefront_cycles (slot-cycles of wavefronts that had
 * not ended), unit_cycles (sum over the compute units of the cycles in which each had work-groups
 * of the kernel), and longest_unit_cycles, the most of any one compute unit. */
#include "command_processor.gen.h"

#include "base/number.h"
#include "components/protocols/work/work_cycles.h"
#include "components/statistics/kernel_shares.h"
#include "runtime/engine/engine.h"

#include "command_processor_state.h"

static void account_begin(struct kernel_account *k, const struct slot_use *total_use, uint64_t now,
                          uint32_t units)
{
    uint32_t active_at = k->active_at;
    *k = (struct kernel_account){.active_at = active_at};
    slot_account_begin(&k->slots, total_use, now);
    memset(arena_at(uint64_t, active_at), 0, units * sizeof(uint64_t));
}

/* A work-group has come back with the ledger of compute unit `unit`. */
static void account_finish(struct kernel_account *k, struct slot_use *total_use, uint64_t now,
                           uint32_t wavefronts, uint32_t unit, const void *from_unit)
{
    struct work_account added;
    memcpy(&added, from_unit, sizeof added);
    slot_account_finish(&k->slots, total_use, now, wavefronts);
    for (unsigned i = 0; i < WORK_CYCLES_KINDS; i++)
        k->units.slot_cycles[i] += added.slot_cycles[i];
    k->units.held += added.held;
    k->units.active += added.active;
    arena_at(uint64_t, k->active_at)[unit] += added.active;
    k->units.lds_busy += added.lds_busy;
    k->units.lds_conflict += added.lds_conflict;
    k->units.vmem_lines += added.vmem_lines;
    k->units.vmem_issued += added.vmem_issued;
    k->units.vmem_cycles += added.vmem_cycles;
    k->units.scratch_lines += added.scratch_lines;
    k->units.valu_idle_lanes += added.valu_idle_lanes;
    k->units.polls += added.polls;
}

/* Every slot-cycle of the kernel, each once. */
static void describe_cycles(const struct kernel_account *k, const struct kernel_shape *shape,
                            const struct slot_use *total_use, uint64_t now, struct slot_details *to)
{
    static const struct slot_kind kinds[WORK_CYCLES_KINDS] = {
#define X(identifier, kind_group, kind_name) {"slot_cycles." kind_group, kind_name},
        WORK_CYCLES(X)
#undef X
    };
    const struct slot_charges charges = {kinds, k->units.slot_cycles, WORK_CYCLES_KINDS,
                                         k->units.held};
    slot_account_describe(&k->slots, total_use, (uint64_t)shape->units * shape->slots, now,
                          &charges, to);
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
    uint64_t grid = divide_up(shape->work_groups, units);
    const char *name = "wavefront_slots";
    *most = shape->limits.wavefront_slots;
    for (unsigned i = 0; i < ARRAY_COUNT(resources); i++) {
        if (resources[i].work_groups < *most) {
            *most = resources[i].work_groups;
            name = resources[i].name;
        }
    }
    return grid < *most ? "grid" : name;
}

static void describe_limit(struct slot_details *to, const char *name, uint32_t work_groups)
{
    if (work_groups != UINT32_MAX)
        slot_details_same(to, "occupancy.limits", name, work_groups);
}

/* Spread of the work: the compute units that had work, and the cycles of the unit that had work
 * longest. */
static void describe_balance(const struct kernel_account *k, const struct kernel_shape *shape,
                             struct slot_details *to)
{
    const uint64_t *active = arena_at(uint64_t, k->active_at);
    uint64_t used = 0, longest = 0;
    for (uint32_t i = 0; i < shape->units; i++) {
        used += active[i] != 0;
        longest = max(active[i], longest);
    }
    slot_details_add(to, "occupancy.achieved", "units_used", used);
    slot_details_put(
        to, (struct kernel_detail){"occupancy.achieved", "longest_unit_cycles", NULL, longest},
        KERNEL_MAX);
}

static void describe_occupancy(const struct kernel_account *k, const struct kernel_shape *shape,
                               struct slot_details *to)
{
    const char *group = "occupancy";
    uint32_t most;
    const char *limiter = scarcest(shape, &most);
    slot_details_add(to, group, "compute_units", shape->units);
    slot_details_same(to, group, "simds", shape->simds);
    slot_details_same(to, group, "slots_per_simd", shape->slots / shape->simds);
    slot_details_same(to, group, "wavefronts_per_work_group", shape->request.wavefronts);
    slot_details_same(to, group, "vgprs", shape->request.vgprs);
    slot_details_same(to, group, "sgprs", shape->request.sgprs);
    slot_details_same(to, group, "lds_bytes", shape->request.lds_bytes);
    slot_details_same(to, group, "work_groups_per_unit", most);
    slot_details_put(to, (struct kernel_detail){group, "limited_by", limiter, 0}, KERNEL_SAME);
    describe_limit(to, "wavefront_slots", shape->limits.wavefront_slots);
    describe_limit(to, "vgprs", shape->limits.vgprs);
    describe_limit(to, "sgprs", shape->limits.sgprs);
    describe_limit(to, "lds", shape->limits.lds);
    describe_limit(to, "work_group_slots", shape->limits.work_group_slots);
    slot_details_add(to, "occupancy.achieved", "wavefront_cycles",
                     k->units.held - k->units.slot_cycles[WORK_ENDED]);
    slot_details_add(to, "occupancy.achieved", "unit_cycles", k->units.active);
    describe_balance(k, shape, to);
    slot_details_add(to, "units", "lds_busy", k->units.lds_busy);
    slot_details_add(to, "units", "lds_conflict", k->units.lds_conflict);
    slot_details_add(to, "units", "vector_memory_instructions", k->units.vmem_issued);
    slot_details_add(to, "units", "vector_memory_cycles", k->units.vmem_cycles);
    slot_details_add(to, "units", "vector_memory_lines", k->units.vmem_lines);
    slot_details_add(to, "units", "scratch_lines", k->units.scratch_lines);
    slot_details_add(to, "units", "valu_idle_lanes", k->units.valu_idle_lanes);
    if (2 * k->units.polls > k->units.vmem_issued) /* a few are no spinning */
        slot_details_add(to, "units", "polls", k->units.polls);
}

/* At the end of the kernel: everything goes to its record. */
static void account_end(const struct kernel_account *k, const struct kernel_shape *shape,
                        const struct slot_use *total_use, uint64_t now, uint32_t record)
{
    struct slot_details details = {0};
    describe_cycles(k, shape, total_use, now, &details);
    describe_occupancy(k, shape, &details);
    if (shape->is_shared) {
        slot_details_add(&details, NULL, KERNEL_SHARES_END,
                         (uint64_t)shape->units * shape->slots * now);
        kernel_shares_add(record, details.detail, details.merge, details.count);
    } else {
        kernel_describe(record, details.detail, details.count);
    }
}
