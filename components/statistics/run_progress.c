/* Counts kernels and work-groups for the progress line, by atomics: command processors may be in
 * several shards. run_progress.h has the interface. */
#include "run_progress.h"

static uint64_t kernels, begun, groups, done; /* atomic */

static uint64_t get(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void add_progress(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

void progress_open(void)
{
    kernels = begun = groups = done = 0;
}

void progress_add_kernel(uint64_t work_groups)
{
    add_progress(&kernels, 1);
    add_progress(&groups, work_groups);
}

void progress_begin_kernel(void)
{
    add_progress(&begun, 1);
}

void progress_end_work_groups(uint64_t work_groups)
{
    add_progress(&done, work_groups);
}

void progress_read(struct run_counts *to)
{
    *to = (struct run_counts){.launches = get(&kernels),
                              .begun = get(&begun),
                              .parts = get(&groups),
                              .done = get(&done),
                              .launch_word = "kernel",
                              .parts_word = "work-groups"};
}
