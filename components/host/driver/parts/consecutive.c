/* Even shares in consecutive runs: 15 pages on 4 GPUs are pages 0-3, 4-7, 8-11 and 12-14, and so
 * are 15 work-groups (MGPUSim, "The GPU Driver", unified GPUs). */
#include "consecutive.gen.h"

#include "components/host/device_memory/memory_manager.h"
#include "components/host/driver/unified_split.h"

struct consecutive {
    struct consecutive_io io;
};

static uint64_t consecutive_run(struct part *self, uint64_t first, uint64_t count, uint32_t gpus,
                                uint32_t *gpu)
{
    (void)self;
    return memory_share_at(first, count, gpus, gpu);
}

static const struct unified_split_ops consecutive_ops = {
    .pages = consecutive_run,
    .groups = consecutive_run,
};
