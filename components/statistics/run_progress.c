/* See run_progress.h. The estimate takes all work-groups that are known for equal. */
#include "run_progress.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t kernels, begun, groups, done; /* atomic */

static uint64_t get(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void add(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

void progress_open(void)
{
    kernels = begun = groups = done = 0;
}

void progress_asked(uint64_t work_groups)
{
    add(&kernels, 1);
    add(&groups, work_groups);
}

void progress_begun(void)
{
    add(&begun, 1);
}

void progress_done(uint64_t work_groups)
{
    add(&done, work_groups);
}

void progress_tell(char *text, size_t size, double seconds)
{
    uint64_t all = get(&groups), ended = get(&done);
    int used = 0;
    text[0] = '\0';
    if (!get(&begun) || !get(&kernels))
        return;
    used = snprintf(text, size, "kernel %" PRIu64 " of %" PRIu64, get(&begun), get(&kernels));
    if (!ended || ended > all || (size_t)used >= size)
        return;
    used += snprintf(text + used, size - (size_t)used, ", %.0f %% of the work-groups",
                     100 * (double)ended / (double)all);
    if (ended < all && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", about %.0f s left",
                 seconds * (double)(all - ended) / (double)ended);
}
