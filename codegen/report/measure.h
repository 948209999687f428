/* What a run, or one kernel of it, measured of every component and connection: the measures that
 * descriptions declare (dsl/model.h), with the counters of a statistics file put in.
 *
 * Rules beyond the declarations: what a component has in its parts counts, too. Of utilisation,
 * bandwidth and stall the fullest of the component and its parts speaks for it; of the hit rate its
 * own, else that of the first part with one. A component is
 * at least as utilised as its bandwidth. Its bandwidth is at most what those can bring that ask it:
 * messages a cycle of their connections times the largest payload of their protocol. A connection
 * is utilised by the requests it carried, of those that it could have: its width a cycle, and one a
 * cycle from an interconnect. One over a link is utilised by the time in which the busier direction
 * of the link was taken, and its bandwidth is that of the link. */
#ifndef HEDDLE_CODEGEN_MEASURE_H
#define HEDDLE_CODEGEN_MEASURE_H

#include <jansson.h>

#include "codegen/views/view.h"
#include "dsl/arena.h"
#include "dsl/model.h"

struct measured {
    const char *scope;                                 /* "run", or a kernel's name */
    uint64_t time_ps;                                  /* simulated; of all launches together */
    uint64_t *cycles;                                  /* by domain of the model, in that time */
    uint32_t *domains;                                 /* by instance, then by part */
    struct view_share *own[MODEL_MEASURE_COUNT];       /* by instance, then by part: as declared */
    struct view_share *instances[MODEL_MEASURE_COUNT]; /* by instance, parts included */
    struct view_share *connections[MODEL_MEASURE_COUNT]; /* by connection */
};

/* Of the whole run. */
void measure_run(struct measured *m, struct arena *arena, const struct model *model, json_t *root);

/* Of all launches of the kernel called `name`. Where the statistics are sums over an array
 * (--kernel-stats sum), every element has the mean. Connections are not measured. */
void measure_kernel(struct measured *m, struct arena *arena, const struct model *model,
                    json_t *root, const char *name);

/* All that was measured, a line each; `head` with the names of the columns. */
void measure_print_csv(const struct measured *m, const struct model *model, bool head, FILE *out);
/* Equal ones of an array as one row, with its least and its most. */
void measure_print(const struct measured *m, struct arena *arena, const struct model *model,
                   FILE *out);

#endif
