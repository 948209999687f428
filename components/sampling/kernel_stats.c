/* Records of kernels; see kernel_stats.h. Without --stats nothing is kept.
 *
 * Begin and end are marked when they are called and settled at the end of the window, when all
 * components have come to the same time: the snapshots of statistics then hold the same numbers
 * whatever the order of ticks and the number of threads. Command processors may be in several
 * shards, so calls take a lock; there are few. */
#include "kernel_stats.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/bug.h"
#include "kernel_record.h"
#include "runtime/threads/shard.h"

#define MAX_KERNELS ((uint32_t)1 << 22)
#define MAX_MARKS   4096u
#define MAX_NAME    4096u

static struct kernel_record *records;
static uint32_t count;
static uint32_t marks[MAX_MARKS]; /* kernels that began or ended in this window */
static uint32_t mark_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void mark(uint32_t kernel)
{
    if (mark_count == MAX_MARKS)
        die("more than %u kernels began or ended at once", MAX_MARKS);
    marks[mark_count++] = kernel;
    window_ask_end();
}

static uint32_t keep_text(const char *text)
{
    size_t bytes = strnlen(text, MAX_NAME);
    uint32_t copy = arena_allocate(bytes + 1);
    memcpy(arena_at(char, copy), text, bytes);
    return copy;
}

static uint32_t add_record(const struct component *c, const char *name, const char *symbol,
                           uint32_t gpu)
{
    if (count == MAX_KERNELS)
        return MAX_KERNELS;
    if (!records)
        records = arena_reserve(MAX_KERNELS * sizeof *records);
    records[count] = (struct kernel_record){.name = keep_text(name),
                                            .symbol = keep_text(symbol),
                                            .gpu = gpu,
                                            .component = c->leaf,
                                            .number = count,
                                            .start_ps = shard_now(c->domain),
                                            .start_cycle = component_now(c)};
    mark(count);
    return count++;
}

uint32_t kernel_begin(const struct component *c, const char *name, const char *symbol, uint32_t gpu)
{
    if (!stats_wanted())
        return MAX_KERNELS;
    pthread_mutex_lock(&lock);
    uint32_t kernel = add_record(c, name, symbol, gpu);
    pthread_mutex_unlock(&lock);
    return kernel;
}

void kernel_count(uint32_t kernel, uint64_t work_groups, uint64_t wavefront_instructions)
{
    if (kernel == MAX_KERNELS)
        return;
    records[kernel].work_groups += work_groups;
    records[kernel].instructions += wavefront_instructions;
}

void kernel_set_launch(uint32_t kernel, uint32_t launch, const char *how)
{
    if (kernel == MAX_KERNELS)
        return;
    records[kernel].launch = launch;
    records[kernel].how = how;
}

void kernel_describe(uint32_t kernel, const struct kernel_detail *details, uint32_t number)
{
    if (kernel == MAX_KERNELS)
        return;
    pthread_mutex_lock(&lock);
    stats_spool_details(details, number, &records[kernel].detail_offset,
                        &records[kernel].detail_bytes);
    pthread_mutex_unlock(&lock);
}

void kernel_end(const struct component *c, uint32_t kernel)
{
    if (kernel == MAX_KERNELS)
        return;
    records[kernel].end_ps = shard_now(c->domain);
    records[kernel].cycles = component_now(c) - records[kernel].start_cycle;
    records[kernel].state |= KERNEL_ENDED;
    pthread_mutex_lock(&lock);
    mark(kernel);
    pthread_mutex_unlock(&lock);
}

bool kernel_cycles_of(uint32_t number, uint64_t *cycles)
{
    for (uint32_t i = count; i-- > 0;) {
        if (records[i].launch != number || !(records[i].state & KERNEL_ENDED))
            continue;
        *cycles = records[i].cycles;
        return true;
    }
    return false;
}

void kernel_settle(void)
{
    for (uint32_t i = 0; i < mark_count; i++) {
        struct kernel_record *k = &records[marks[i]];
        if (!(k->state & KERNEL_SNAPSHOT)) {
            k->state |= KERNEL_SNAPSHOT;
            k->snapshot = stats_snapshot_take();
        }
        if ((k->state & KERNEL_ENDED) && !(k->state & KERNEL_SPOOLED)) {
            k->state |= KERNEL_SPOOLED;
            stats_snapshot_spool(k->snapshot, &k->spool_offset, &k->spool_bytes);
        }
    }
    mark_count = 0;
}

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

const struct kernel_record *kernel_records(uint32_t *number)
{
    if (count)
        qsort(records, count, sizeof *records, by_start);
    *number = count;
    return records;
}

void kernel_forget(void)
{
    count = 0;
    mark_count = 0;
}
