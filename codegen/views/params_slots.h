/* The slots of a platform, which `--set PATH=PART` fills, for `heddle params`. */
#ifndef HEDDLE_CODEGEN_VIEWS_PARAMS_SLOTS_H
#define HEDDLE_CODEGEN_VIEWS_PARAMS_SLOTS_H

#include <jansson.h>
#include <stdint.h>

#include "base/region.h"
#include "dsl/model.h"

struct params_slot {
    const char *path; /* with [*] for each index, or of the first when not all have one part */
    const char *part; /* the part that fills the slot; "none" */
    uint32_t members; /* slots of this path with this part */
    const struct model_part_decl *decl;
};

struct params_slots {
    VECTOR(struct params_slot) rows;
};

/* `collapse` makes "gpu.l2[*]" of "gpu.l2[3]". */
void params_slots_collect(struct params_slots *slots, struct region *region, const struct model *m,
                          const char *(*collapse)(struct region *region, const char *path));

/* Parts that a slot takes: name, doc and parameters of each. */
json_t *params_slot_takes(const struct model *m, const struct model_part_decl *decl);

#endif
