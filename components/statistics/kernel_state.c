/* Records of kernels in a state of the run. Their texts are in the arena, which a state has, too.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/observe/profile.h"
#include "runtime/state/checkpoint.h"

#include "kernel_records.h"

/* The head of the records in a state. */
struct saved_kernels {
    uint64_t count, unkept, running;
};

static uint64_t kernels_size(void)
{
    return sizeof(struct saved_kernels) + kernel_records.count * sizeof *kernel_records.record;
}

static void kernels_save(struct checkpoint_sink *to)
{
    const struct kernel_records *r = &kernel_records;
    const struct saved_kernels s = {r->count, r->has_unrecorded, r->running_count};
    checkpoint_put(to, &s, sizeof s);
    checkpoint_put(to, r->record, r->count * sizeof *r->record);
}

static bool kernels_load(const void *bytes, uint64_t size)
{
    const struct saved_kernels *s = bytes;
    (void)size;
    if (stats_are_wanted() && s->unkept) {
        fprintf(stderr, "heddle: the state was written without --stats, so nothing is known of the "
                        "kernels before it; write it again with --stats\n");
        return false;
    }
    if (profile_is_wanted() && s->running) {
        fprintf(stderr, "heddle: instructions are counted for whole kernels, and one was running "
                        "when the state was written; write it where a kernel begins "
                        "(--checkpoint-at kernel:NAME)\n");
        return false;
    }
    kernel_records_reserve();
    kernel_records.has_unrecorded = s->unkept;
    kernel_records.running_count = (uint32_t)s->running;
    kernel_records.count = (uint32_t)s->count;
    memcpy(kernel_records.record, s + 1, s->count * sizeof *kernel_records.record);
    return true;
}

static const struct checkpoint_part kernels_part = {
    .name = "kernels", .size = kernels_size, .save = kernels_save, .load = kernels_load};

void kernel_state_register(void)
{
    checkpoint_register(&kernels_part);
}
