/* Where the checks of races come together, whatever it is that accesses memory: work-groups of
 * AMD's instruction sets, blocks of PTX, copies and fills. They share the shadow of device memory,
 * and each can say what another one did there. */
#ifndef HEDDLE_CHECKS_RACE_REPORT_H
#define HEDDLE_CHECKS_RACE_REPORT_H

#include "components/checks/finding.h"
#include "race_shadow.h"

struct program_table;

/* What accesses memory, as reports know it from a wavefront's id and a site. */
struct race_source {
    uint64_t (*pc)(race_id id, uint32_t site);
    void (*describe)(race_id id, uint32_t site, struct finding_place *place);
};

/* What is accessed in device memory; addresses have the process above bit 48. */
extern struct race_memory race_device_memory;
static inline uint64_t race_process_base(uint32_t pid)
{
    return (uint64_t)pid << 48;
}

static inline uint32_t race_process(uint64_t address)
{
    return (uint32_t)(address >> 48);
}

/* race_group_begin(), of a source that stays. */
uint32_t race_group(uint32_t command, const struct race_source *source);

/* Reports that the event races with an access. */
void race_report(const struct race_event *event, const struct race_access *earlier,
                 enum finding_space space, const struct program_table *program);

#endif
