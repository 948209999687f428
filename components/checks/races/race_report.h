/* The meeting point of the checks of races, whatever it is that accesses memory: work-groups of
 * AMD's instruction sets, blocks of PTX, copies and fills. They share the shadow of device memory,
 * and each can say what another one did there. */
#ifndef HEDDLE_COMPONENTS_CHECKS_RACES_RACE_REPORT_H
#define HEDDLE_COMPONENTS_CHECKS_RACES_RACE_REPORT_H

#include "components/checks/check_place.h"

#include "race_shadow.h"

/* Accesses to device memory; addresses have the process above bit 48. */
extern struct race_memory race_device_memory __attribute__((visibility("hidden")));
static inline uint64_t race_process_base(uint32_t pid)
{
    return (uint64_t)pid << 48;
}

/* The base to which the address is added for an order by atomics in a work-group's LDS. */
static inline uint64_t race_lds_base(uint32_t group)
{
    return (uint64_t)1 << 63 | (uint64_t)group << 24;
}

/* race_group_begin(), of a work-group that reports can name. */
uint32_t race_group(uint32_t command, const struct check_identity *identity);

/* The site of an access: its instruction, and its lane or FINDING_LANE_NONE. */
enum { RACE_LANE_BITS = 7, RACE_LANE_NONE = (1 << RACE_LANE_BITS) - 1 };
static inline uint32_t race_site(uint32_t instruction, uint32_t lane)
{
    return instruction << RACE_LANE_BITS | (lane & RACE_LANE_NONE);
}
struct check_place race_place(race_id id, uint32_t site);

/* Reports that the event races with an access. */
void race_report(const struct race_event *event, const struct race_access *earlier);

#endif
