/* The split of a unified device: it decides which of the GPUs of a unified device gets which pages
 * of an allocation, and which work-groups of a launch. Both are told run by run, in order, so that
 * each page and each work-group goes to exactly one GPU.
 *
 * (MGPUSim, "The GPU Driver": pages and work-groups in consecutive shares, the latter by the filter
 * of a launch.) */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_UNIFIED_SPLIT_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_UNIFIED_SPLIT_H

#include <stdint.h>

struct part;

/* The run that begins at number `first` of `count` goes to the GPU at place *gpu of `gpus`. Returns
 * its length, which is at least 1; what is beyond `count` is cut off. Asked twice, it answers the
 * same. */
typedef uint64_t unified_run(struct part *self, uint64_t first, uint64_t count, uint32_t gpus,
                             uint32_t *gpu);

struct unified_split_ops {
    unified_run *pages, *groups;
};

#endif
