/* Work-groups from their arrival to their answer; see cu_work_group.c. */
#ifndef HEDDLE_COMPUTE_UNIT_CU_WORK_GROUP_H
#define HEDDLE_COMPUTE_UNIT_CU_WORK_GROUP_H

#include "compute_unit_state.h"

static void group_start(struct compute_unit *c, uint64_t now);
static void group_answer(struct compute_unit *c);
static void group_release_barrier(struct compute_unit *c, struct cu_group *g, uint64_t now);
static void wave_end(struct compute_unit *c, struct cu_wave *w, uint64_t now);

#endif
