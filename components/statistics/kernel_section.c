/* The section `kernels` of the statistics. */
#include <stdlib.h>

#include "runtime/engine/arena.h"
#include "runtime/observe/json.h"

#include "kernel_records.h"
#include "kernel_stats.h"

static int by_start(const void *a, const void *b)
{
    const struct kernel_record *x = a;
    const struct kernel_record *y = b;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* True if another kernel ran at the same time. The records are in order of their start; *latest_end
 * is the latest end of the ones before. */
static bool kernel_overlaps(const struct kernel_record *k, uint32_t i, uint64_t *latest_end)
{
    bool before = *latest_end > k->start_ps;
    if (k->end_ps > *latest_end)
        *latest_end = k->end_ps;
    return before || (i + 1 < kernel_records.count && k[1].start_ps < k->end_ps);
}

static void write_record(struct json *out, const struct kernel_record *k, bool beside)
{
    json_open(out, NULL, '{');
    json_text(out, "name", arena_at(char, k->name));
    json_text(out, "symbol", arena_at(char, k->symbol));
    json_uint(out, "gpu", k->gpu);
    if (k->launch) {
        json_uint(out, "launch", k->launch);
        json_text(out, "simulated", arena_at(char, k->how));
    }
    json_uint(out, "start_ps", k->start_ps);
    json_uint(out, "end_ps", k->end_ps);
    json_uint(out, "cycles", k->cycles);
    if (k->state & KERNEL_CUT)
        json_bool(out, "partial", true);
    if (!(k->state & KERNEL_CUT) || k->work_groups) {
        json_uint(out, "wavefront_instructions", k->instructions);
        json_uint(out, "work_groups", k->work_groups);
    }
    json_bool(out, "overlaps", beside);
    stats_spool_copy(out, k->details);
    if (k->share.bytes) {
        json_key(out, "components");
        stats_spool_copy(out, k->share);
    }
    json_close(out, '}');
}

void kernel_write(struct json *out)
{
    const struct kernel_record *k = kernel_records.record;
    uint32_t count = kernel_records.count;
    uint64_t latest_end = 0;
    if (count) /* from here on handles are void */
        qsort(kernel_records.record, count, sizeof *k, by_start);
    json_open(out, "kernels", '[');
    for (uint32_t i = 0; i < count; i++, k++)
        write_record(out, k, kernel_overlaps(k, i, &latest_end));
    json_close(out, ']');
}
