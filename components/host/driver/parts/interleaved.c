/* Runs of equal length in turn, for comparison with consecutive shares. Each run of work-groups is
 * launched by itself, so runs that are short cost launches. */
#include "interleaved.gen.h"

#include "components/host/driver/unified_split.h"

struct interleaved {
    struct interleaved_io io;
};

static uint64_t interleaved_run(uint64_t length, uint64_t first, uint32_t gpus, uint32_t *gpu)
{
    *gpu = (uint32_t)(first / length % gpus);
    return length - first % length;
}

static uint64_t interleaved_pages(struct part *self, uint64_t first, uint64_t count, uint32_t gpus,
                                  uint32_t *gpu)
{
    struct interleaved *p = (struct interleaved *)(void *)self;
    (void)count;
    return interleaved_run(interleaved_params(p)->pages, first, gpus, gpu);
}

static uint64_t interleaved_groups(struct part *self, uint64_t first, uint64_t count, uint32_t gpus,
                                   uint32_t *gpu)
{
    struct interleaved *p = (struct interleaved *)(void *)self;
    (void)count;
    return interleaved_run(interleaved_params(p)->groups, first, gpus, gpu);
}

static const struct unified_split_ops interleaved_ops = {
    .pages = interleaved_pages,
    .groups = interleaved_groups,
};
