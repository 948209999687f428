/* Measures of all elements of an array together, for what is told again and again. */
#ifndef HEDDLE_CODEGEN_MEASURE_GROUP_H
#define HEDDLE_CODEGEN_MEASURE_GROUP_H

#include "codegen/report/measure_print.h"

struct measure_group {
    struct measure_named what; /* its path has [*] for each index */
    double part[MODEL_MEASURE_COUNT], whole[MODEL_MEASURE_COUNT];
    double most[MODEL_MEASURE_COUNT]; /* the share of the fullest element */
};

struct measure_groups {
    const struct model *model;
    VECTOR(struct measure_group) list;
    uint32_t *group_of; /* by instance, part, connection */
};

void measure_groups_open(struct measure_groups *groups, struct arena *arena,
                         const struct model *model);
/* What was measured takes the place of what is there. */
void measure_groups_set(struct measure_groups *groups, const struct measured *m);

#endif
