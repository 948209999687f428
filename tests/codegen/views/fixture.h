/* A small GPU as an elaborated model, built by hand: so that the views can be tested without the
 * front end, and with shapes the library does not have. Its form is that of a GCN GPU: arrays of
 * shader arrays of compute units with caches, an interconnect, banks of L2 and memory, a command
 * processor, a driver behind a link. */
#ifndef HEDDLE_TESTS_CODEGEN_VIEWS_FIXTURE_H
#define HEDDLE_TESTS_CODEGEN_VIEWS_FIXTURE_H

#include "base/region.h"
#include "dsl/model.h"

struct fixture_shape {
    uint32_t arrays, cus, banks;
};

/* Lives in `region`. */
const struct model *fixture_gpu(struct region *region, struct fixture_shape shape);

#endif
