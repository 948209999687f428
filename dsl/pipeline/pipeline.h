/* The order in which a description is elaborated, checked and made a model. */
#ifndef HEDDLE_DSL_PIPELINE_PIPELINE_H
#define HEDDLE_DSL_PIPELINE_PIPELINE_H

#include "dsl/elaborate/elaborate.h"

/* Elaborates a platform, with all checks. Its model, or NULL when anything is wrong. */
struct model *pipeline_platform(struct elaboration *e, struct program *program,
                                struct type_info *platform, bool with_overrides);
/* Looks at a component or part by itself, with its defaults, so that mistakes in it show and its
 * ports have protocols. `protocols` are those known already. */
void pipeline_component(struct elaboration *e, struct program *program, struct type_info *type,
                        const struct elaboration *before);

#endif
