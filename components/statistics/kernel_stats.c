/* Records of kernels; see kernel_stats.h. Without --stats nothing is kept.
 *
 * Begin and end are marked when they are called and settled at the end of the window, when all
 * components have come to the same time: the snapshots of statistics then hold the same numbers
 * whatever the order of ticks and the number of threads. Command processors may be in several
 * shards, so calls take a lock; there are few. */
#include "kernel_stats.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"
#include "runtime/observe/view.h"

#include "kernel_records.h"
#include "kernel_share_messages.h"
#include "kernel_shares.h"
#include "run_progress.h"

/* A kernel began or ended. */
struct kernel_mark {
    uint32_t kernel;
    uint64_t time_ps;
};

struct kernel_records kernel_records;

static struct kernel_mark *marks; /* not settled: two of each kernel at most */
static uint32_t mark_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void mark(uint32_t kernel, uint64_t time_ps)
{
    marks[mark_count++] = (struct kernel_mark){kernel, time_ps};
    window_ask_end();
}

void kernel_records_mark(const struct kernel_record *record, uint64_t time_ps)
{
    mark((uint32_t)(record - kernel_records.record), time_ps);
}

uint32_t kernel_records_keep_text(const char *text)
{
    size_t bytes = strlen(text);
    uint32_t copy = arena_allocate(bytes + 1);
    memcpy(arena_at(char, copy), text, bytes);
    return copy;
}

static void warn_full(void)
{
    static bool warned;
    if (!warned)
        fprintf(stderr,
                "heddle: warning: the statistics tell %d kernels apart; those of the rest are in "
                "the sums of the run only\n",
                KERNELS_MAX);
    warned = true;
}

void kernel_records_reserve(void)
{
    if (kernel_records.record)
        return;
    kernel_records.record = arena_reserve(KERNELS_MAX * sizeof *kernel_records.record);
    marks = arena_reserve(2 * (size_t)KERNELS_MAX * sizeof *marks);
}

struct kernel_record *kernel_records_add(void)
{
    if (kernel_records.count == KERNELS_MAX) {
        warn_full();
        return NULL;
    }
    kernel_records_reserve();
    struct kernel_record *k = &kernel_records.record[kernel_records.count];
    *k = (struct kernel_record){.number = kernel_records.count++};
    return k;
}

/* The number of the record, or KERNELS_MAX. */
static uint32_t add_record(const struct component *c, const char *name, const char *symbol,
                           uint32_t gpu)
{
    struct kernel_record *k = kernel_records_add();
    if (!k)
        return KERNELS_MAX;
    k->name = kernel_records_keep_text(name);
    k->symbol = kernel_records_keep_text(symbol);
    k->gpu = gpu;
    k->component = c->leaf;
    k->start_ps = component_now_ps(c);
    k->start_cycle = component_now(c);
    mark(k->number, k->start_ps);
    return k->number;
}

uint32_t kernel_begin(const struct component *c, const char *name, const char *symbol, uint32_t gpu)
{
    progress_begin_kernel();
    __atomic_fetch_add(&kernel_records.running_count, 1, __ATOMIC_RELAXED);
    if (!stats_are_wanted()) {
        kernel_records.has_unrecorded = true;
        return KERNELS_MAX;
    }
    pthread_mutex_lock(&lock);
    uint32_t kernel = add_record(c, name, symbol, gpu);
    pthread_mutex_unlock(&lock);
    return kernel == KERNELS_MAX ? kernel : kernel | ranks.number << KERNELS_RANK_SHIFT;
}

bool kernel_is_kept(uint32_t kernel)
{
    return kernel != KERNELS_MAX;
}

uint32_t kernel_rank(uint32_t kernel)
{
    return kernel >> KERNELS_RANK_SHIFT;
}

bool kernel_is_here(uint32_t kernel)
{
    return kernel_rank(kernel) == ranks.number;
}

static struct kernel_record *record_of(uint32_t kernel)
{
    if (!kernel_is_here(kernel))
        bug("the record of a kernel is at rank %u", kernel_rank(kernel));
    return &kernel_records.record[kernel & (((uint32_t)1 << KERNELS_RANK_SHIFT) - 1)];
}

void kernel_count(uint32_t kernel, uint64_t work_groups, uint64_t wavefront_instructions)
{
    if (kernel == KERNELS_MAX)
        return;
    if (!kernel_is_here(kernel)) {
        kernel_send_count(kernel, work_groups, wavefront_instructions);
        return;
    }
    struct kernel_record *k = record_of(kernel);
    __atomic_fetch_add(&k->work_groups, work_groups, __ATOMIC_RELAXED);
    __atomic_fetch_add(&k->instructions, wavefront_instructions, __ATOMIC_RELAXED);
}

void kernel_set_launch(uint32_t kernel, uint32_t launch, const char *how)
{
    if (kernel == KERNELS_MAX)
        return;
    pthread_mutex_lock(&lock);
    record_of(kernel)->launch = launch;
    record_of(kernel)->how = kernel_records_keep_text(how);
    pthread_mutex_unlock(&lock);
}

void kernel_describe(uint32_t kernel, const struct kernel_detail *details, uint32_t number)
{
    if (kernel == KERNELS_MAX)
        return;
    pthread_mutex_lock(&lock);
    record_of(kernel)->details = kernel_details_write(details, number);
    pthread_mutex_unlock(&lock);
}

void kernel_end(const struct component *c, uint32_t kernel)
{
    __atomic_fetch_sub(&kernel_records.running_count, 1, __ATOMIC_RELAXED);
    if (kernel == KERNELS_MAX)
        return;
    struct kernel_record *k = record_of(kernel);
    k->end_ps = component_now_ps(c);
    k->cycles = component_now(c) - k->start_cycle;
    k->state |= KERNEL_ENDED;
    pthread_mutex_lock(&lock);
    kernel_records_mark(k, k->end_ps);
    pthread_mutex_unlock(&lock);
}

bool kernel_times_of(uint32_t number, struct kernel_times *times)
{
    for (uint32_t i = kernel_records.count; i-- > 0;) {
        const struct kernel_record *k = &kernel_records.record[i];
        if (k->launch != number || !(k->state & KERNEL_ENDED))
            continue;
        if (!(k->state & KERNEL_SPOOLED))
            bug("launch %" PRIu32 " has ended in this window", number);
        *times = (struct kernel_times){k->start_ps, k->end_ps, k->cycles, k->traffic};
        return true;
    }
    return false;
}

bool kernel_has_ended(const struct kernel_record *k, uint64_t end_ps)
{
    return (k->state & KERNEL_ENDED) && k->end_ps < end_ps;
}

static void settle_record(uint32_t kernel, uint64_t end_ps)
{
    struct kernel_record *k = &kernel_records.record[kernel];
    if (!(k->state & KERNEL_BEGUN)) {
        k->state |= KERNEL_BEGUN;
        k->span = stats_span_begin();
        k->traffic = memory_traffic_now();
        view_kernel(kernel, arena_at(char, k->name), k->start_ps, 0, 0);
    }
    if (kernel_has_ended(k, end_ps) && !(k->state & KERNEL_SPOOLED)) {
        k->state |= KERNEL_SPOOLED;
        k->share = stats_span_end(k->span);
        k->traffic = memory_traffic_since(k->traffic);
        view_kernel(kernel, arena_at(char, k->name), k->start_ps, k->end_ps, k->cycles);
    }
}

void kernel_records_take_marks(uint64_t end_ps, void (*give)(uint32_t kernel, uint64_t end_ps))
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < mark_count; i++)
        if (marks[i].time_ps < end_ps)
            give(marks[i].kernel, end_ps);
        else
            marks[left++] = marks[i];
    mark_count = left;
}

void kernel_settle(uint64_t end_ps)
{
    kernel_records_take_marks(end_ps, settle_record);
}

uint64_t kernel_next_mark_ps(uint64_t from_ps)
{
    uint64_t first_ps = ENGINE_NEVER;
    for (uint32_t i = 0; i < mark_count; i++)
        if (marks[i].time_ps >= from_ps && marks[i].time_ps < first_ps)
            first_ps = marks[i].time_ps;
    return first_ps;
}

void kernel_cut(void)
{
    kernel_settle(ENGINE_NEVER);
    for (uint32_t i = 0; i < kernel_records.count; i++) {
        struct kernel_record *k = &kernel_records.record[i];
        if (k->state & KERNEL_ENDED)
            continue;
        uint64_t cycle = engine_cycle_at(platform_domain_of(k->component), engine.time_ps);
        k->end_ps = max(engine.time_ps, k->start_ps);
        k->cycles = cycle > k->start_cycle ? cycle - k->start_cycle : 0;
        k->share = stats_span_end(k->span);
        k->traffic = memory_traffic_since(k->traffic);
        k->state |= KERNEL_ENDED | KERNEL_SPOOLED | KERNEL_CUT;
    }
}

void kernel_reset(void)
{
    kernel_state_register();
    kernel_shares_reset();
    memory_traffic_reset();
    kernel_records.has_unrecorded = false;
    kernel_records.running_count = 0;
    kernel_records.count = 0;
    mark_count = 0;
    kernel_handles_reset();
}
