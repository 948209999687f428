/* Turns a dispatch packet into work-groups: the values that all of them share, and the size of
 * each.
 *
 * Pure functions, used by the dispatcher and by the functional executor. Places on a compute unit
 * (LDS offset, slots, scratch area) are filled in by the unit that places the work-group. */
#ifndef HEDDLE_COMPONENTS_AMD_EXECUTE_WORK_GROUPS_H
#define HEDDLE_COMPONENTS_AMD_EXECUTE_WORK_GROUPS_H

#include "components/amd/isa/isa_target.h"
#include "components/protocols/command/aql_packet.h"
#include "components/protocols/work/work_placement.h"

/* Work-group slots of a compute unit, at most. */
enum { WORK_GROUP_SLOTS_MAX = 64 };

/* A launch as a device receives it. */
struct work_launch {
    enum isa_target target;
    const struct aql_packet *packet;
    const struct aql_descriptor *descriptor;
    uint64_t entry;          /* virtual address of the code */
    uint64_t packet_address; /* virtual */
    uint32_t pid;
    uint32_t dispatch_id;
};

/* Everything that does not depend on the work-group. */
struct work_placement work_common(const struct work_launch *launch);

/* Vector registers and accumulators of a wavefront: more than `vgprs` where accumulators are a
 * file of their own. */
static inline uint32_t work_registers(enum isa_target target, uint32_t vgprs)
{
    return isa_traits[target].accumulators == ISA_ACCUMULATORS_OWN ? 2 * vgprs : vgprs;
}

/* Work-groups in each direction; returns their number. */
uint64_t work_count_groups(const struct work_placement *common, uint32_t groups[3]);

/* Wavefronts of a work-group that does not stick out of the grid. */
uint32_t work_full_wavefronts(const struct work_placement *common);

/* Work-items and wavefronts of work-group `id`, which may stick out of the grid. */
void work_cut_group(const uint32_t id[3], struct work_placement *w);

/* The next work-group in the order x, y, z. */
void work_next_group(const uint32_t groups[3], uint32_t id[3]);

/* Work-group number `number` in that order. */
void work_nth_group(const uint32_t groups[3], uint64_t number, uint32_t id[3]);

#endif
