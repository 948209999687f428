/* From the model to what a build consists of: units (component types compiled with one set of
 * parameters), and the tables of runtime/engine/platform_table.h with every number filled in.
 *
 * Order. Instances are grouped by clock domain, then by unit in order of first appearance, then in
 * order of declaration. Generic builds keep the groups of specialised ones and only let all groups
 * of a type refer to the same unit, so ids, tick order and statistics are the same in both. Request
 * rings and reply rings are numbered by connection. Parts are after their owners. */
#ifndef HEDDLE_CODEGEN_EMIT_LAYOUT_H
#define HEDDLE_CODEGEN_EMIT_LAYOUT_H

#include "base/region.h"
#include "dsl/model.h"
#include "runtime/state/platform.h"

#include "intern.h"

/* The part types that may fill one slot of a component or part, in one unit. */
struct layout_slot {
    const struct model_type *owner;
    const struct model_part_decl *decl;
    VECTOR(const struct model_type *) fillers;
    bool may_be_empty;
};

/* Parameter values that all parts of a type share inside a unit. */
struct layout_part_type {
    const struct model_type *type;
    const struct model_part *first; /* NULL in generic units */
    bool uniform;                   /* all parts of the type have the parameters of `first` */
};

struct layout_unit {
    const struct model_type *type;
    const char
        *symbol; /* "cache__1", "cache__generic": C name of the descriptor, stem of the file */
    const struct model_instance *first; /* the first instance that needs the unit */
    bool generic;
    VECTOR(struct layout_part_type)
    parts; /* parts are before owners that refer to them; index = part.kind */
    VECTOR(struct layout_slot) slots;
    VECTOR(const struct model_type *) visited; /* while a generic unit is made */
};

struct layout {
    struct region *region;
    const struct model *model;
    bool generic;
    VECTOR(struct layout_unit *)
    units; /* units that the build compiles; group.unit is an index in here */
    VECTOR(const struct model_instance *) instances; /* as in table.instances */
    uint32_t *positions;                             /* leaf_id -> index in instances */
    VECTOR(const struct model_part *) parts;         /* as in table.parts */
    struct platform_table table;                     /* complete but for `units` */
    char model_hash[65];
};

/* The model must have a root. Lives in `region`. */
struct layout *layout_make(struct region *region, const struct model *model, bool generic);

/* Folders with sources that the unit's wrapper includes, each once, in order of use; "" is the
 * current one. */
uint32_t layout_unit_folders(const struct layout *layout, const struct layout_unit *unit,
                             const char ***folders);

#endif
