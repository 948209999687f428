/* How measures are called where they are printed. */
#ifndef HEDDLE_CODEGEN_MEASURE_PRINT_H
#define HEDDLE_CODEGEN_MEASURE_PRINT_H

#include "codegen/report/measure.h"

struct measure_named {
    const char *path, *type, *kind;
};

/* Instance `index`, or behind all of them a part. */
struct measure_named measure_name(const struct model *model, uint32_t index);
struct measure_named measure_connection_name(struct arena *arena, const struct model_connection *c);
/* Three fields of CSV, each with a comma behind it. */
void measure_print_named(const struct measure_named *what, FILE *out);
/* Of an instance, with what its parts say; of a part, its own. */
const struct view_share *measure_share(const struct measured *m, const struct model *model,
                                       unsigned kind, uint32_t index);

#endif
