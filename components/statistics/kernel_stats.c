/* Records of kernels; see kernel_stats.h. Without --stats nothing is kept.
 *
 * Begin and end are marked when they are called and settled at the end of the window, when all
 * components have come to the same time: the snapshots of statistics then hold the same numbers
 * whatever the order of ticks and the number of threads. Command processors may be in several
 * shards, so calls take a lock; there are few. */
#include "kernel_stats.h"
#include "kernel_ranks.h"
#include "kernel_shares.h"
#include "run_progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/bug.h"
#include "runtime/observe/profile.h"
#include "runtime/observe/stats_span.h"
#include "runtime/observe/view.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"
#include "runtime/state/checkpoint.h"
#include "components/sampling/sampling_options.h"

enum kernel_state { KERNEL_BEGUN = 1, KERNEL_ENDED = 2, KERNEL_SPOOLED = 4, KERNEL_CUT = 8 };

struct kernel_record {
    uint32_t name, symbol; /* arena offsets */
    uint32_t gpu;
    uint32_t component; /* instance: the command processor */
    uint32_t number;
    uint32_t launch; /* 0: not said */
    const char *how;
    uint32_t state; /* bits of enum kernel_state */
    uint32_t span;
    uint64_t start_ps;
    uint64_t end_ps;
    uint64_t start_cycle;
    uint64_t cycles;
    uint64_t work_groups;
    uint64_t instructions;
    struct memory_traffic traffic; /* until it has ended: of the run, when it began */
    struct stats_text details;     /* what kernel_describe() was told */
    struct stats_text share;       /* of the components' statistics */
};

#define MAX_KERNELS ((uint32_t)1 << 22)

/* Handles name the rank whose record it is, above what MAX_KERNELS needs. */
#define RANK_SHIFT 23

/* It began or ended. */
struct kernel_mark {
    uint32_t kernel;
    uint64_t time_ps;
};

static struct kernel_record *records;
static uint32_t count;
static struct kernel_mark *marks; /* not settled: two of each kernel at most */
static uint32_t mark_count;
static bool unkept; /* kernels began that nothing is known of */
static uint32_t running;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void mark(uint32_t kernel, uint64_t time_ps)
{
    marks[mark_count++] = (struct kernel_mark){kernel, time_ps};
    window_ask_end();
}

static uint32_t keep_text(const char *text)
{
    size_t bytes = strlen(text);
    uint32_t copy = arena_allocate(bytes + 1);
    memcpy(arena_at(char, copy), text, bytes);
    return copy;
}

static void say_full(void)
{
    static bool said;
    if (!said)
        fprintf(stderr,
                "heddle: warning: the statistics tell %" PRIu32 " kernels apart; those of the rest "
                "are in the sums of the run only\n",
                MAX_KERNELS);
    said = true;
}

static void reserve_records(void)
{
    if (records)
        return;
    records = arena_reserve(MAX_KERNELS * sizeof *records);
    marks = arena_reserve(2 * MAX_KERNELS * sizeof *marks);
}

static uint32_t add_record(const struct component *c, const char *name, const char *symbol,
                           uint32_t gpu)
{
    if (count == MAX_KERNELS) {
        say_full();
        return MAX_KERNELS;
    }
    reserve_records();
    records[count] = (struct kernel_record){.name = keep_text(name),
                                            .symbol = keep_text(symbol),
                                            .gpu = gpu,
                                            .component = c->leaf,
                                            .number = count,
                                            .start_ps = component_now_ps(c),
                                            .start_cycle = component_now(c)};
    mark(count, records[count].start_ps);
    return count++;
}

uint32_t kernel_begin(const struct component *c, const char *name, const char *symbol, uint32_t gpu)
{
    progress_begun();
    __atomic_fetch_add(&running, 1, __ATOMIC_RELAXED);
    if (!stats_wanted()) {
        unkept = true;
        return MAX_KERNELS;
    }
    pthread_mutex_lock(&lock);
    uint32_t kernel = add_record(c, name, symbol, gpu);
    pthread_mutex_unlock(&lock);
    return kernel == MAX_KERNELS ? kernel : kernel | ranks.number << RANK_SHIFT;
}

bool kernel_is_kept(uint32_t kernel)
{
    return kernel != MAX_KERNELS;
}

uint32_t kernel_rank(uint32_t kernel)
{
    return kernel >> RANK_SHIFT;
}

static struct kernel_record *own_record(uint32_t kernel)
{
    if (kernel_rank(kernel) != ranks.number)
        bug("the record of a kernel is at rank %u", kernel_rank(kernel));
    return &records[kernel & (((uint32_t)1 << RANK_SHIFT) - 1)];
}

void kernel_count(uint32_t kernel, uint64_t work_groups, uint64_t wavefront_instructions)
{
    if (kernel == MAX_KERNELS)
        return;
    if (kernel_rank(kernel) != ranks.number) {
        kernel_ranks_count(kernel, work_groups, wavefront_instructions);
        return;
    }
    struct kernel_record *k = own_record(kernel);
    __atomic_fetch_add(&k->work_groups, work_groups, __ATOMIC_RELAXED);
    __atomic_fetch_add(&k->instructions, wavefront_instructions, __ATOMIC_RELAXED);
}

void kernel_set_launch(uint32_t kernel, uint32_t launch, const char *how)
{
    if (kernel == MAX_KERNELS)
        return;
    own_record(kernel)->launch = launch;
    own_record(kernel)->how = how;
}

/* ---- details ---- */

/* Length of what two paths have in common in whole names. */
static size_t common_names(const char *a, const char *b)
{
    size_t i = 0, names = 0;
    while (a[i] && a[i] == b[i]) {
        i++;
        if ((!a[i] || a[i] == '.') && (!b[i] || b[i] == '.'))
            names = i;
    }
    return names;
}

static unsigned count_names(const char *path)
{
    unsigned names = *path != '\0';
    for (; *path; path++)
        names += *path == '.';
    return names;
}

/* Closes and opens objects, so that what follows stands in `to` instead of `from`. */
static void move_to_group(struct json *spool, const char *from, const char *to)
{
    char name[64];
    size_t common = common_names(from, to);
    for (unsigned n = count_names(from + common + (from[common] == '.')); n > 0; n--)
        json_close(spool, '}');
    for (to += common + (to[common] == '.'); *to;) {
        size_t size = strcspn(to, ".");
        if (size >= sizeof name)
            bug("detail of a kernel: group '%s' has a name that is too long", to);
        memcpy(name, to, size);
        name[size] = '\0';
        json_open(spool, name, '{');
        to += size + (to[size] == '.');
    }
}

/* Members of the kernel's record, each behind a comma. */
static struct stats_text spool_details(const struct kernel_detail *details, uint32_t number)
{
    const char *group = "";
    struct json *spool = stats_spool_begin(true);
    for (uint32_t i = 0; i < number; i++) {
        const char *wanted = details[i].group ? details[i].group : "";
        move_to_group(spool, group, wanted);
        group = wanted;
        if (details[i].text)
            json_text(spool, details[i].name, details[i].text);
        else
            json_uint(spool, details[i].name, details[i].value);
    }
    move_to_group(spool, group, "");
    return stats_spool_end();
}

void kernel_describe(uint32_t kernel, const struct kernel_detail *details, uint32_t number)
{
    if (kernel == MAX_KERNELS)
        return;
    pthread_mutex_lock(&lock);
    own_record(kernel)->details = spool_details(details, number);
    pthread_mutex_unlock(&lock);
}

void kernel_end(const struct component *c, uint32_t kernel)
{
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELAXED);
    if (kernel == MAX_KERNELS)
        return;
    struct kernel_record *k = own_record(kernel);
    k->end_ps = component_now_ps(c);
    k->cycles = component_now(c) - k->start_cycle;
    k->state |= KERNEL_ENDED;
    pthread_mutex_lock(&lock);
    mark((uint32_t)(k - records), k->end_ps);
    pthread_mutex_unlock(&lock);
}

bool kernel_times_of(uint32_t number, struct kernel_times *times)
{
    for (uint32_t i = count; i-- > 0;) {
        const struct kernel_record *k = &records[i];
        if (k->launch != number || !(k->state & KERNEL_ENDED))
            continue;
        if (!(k->state & KERNEL_SPOOLED))
            bug("launch %" PRIu32 " has ended in this window", number);
        *times = (struct kernel_times){k->start_ps, k->end_ps, k->cycles, k->traffic};
        return true;
    }
    return false;
}

static bool has_ended(const struct kernel_record *k, uint64_t end_ps)
{
    return (k->state & KERNEL_ENDED) && k->end_ps < end_ps;
}

static void settle(uint32_t kernel, uint64_t end_ps)
{
    struct kernel_record *k = &records[kernel];
    if (!(k->state & KERNEL_BEGUN)) {
        k->state |= KERNEL_BEGUN;
        k->span = stats_span_begin();
        k->traffic = memory_traffic_now();
        view_kernel(kernel, arena_at(char, k->name), k->start_ps, 0, 0);
    }
    if (has_ended(k, end_ps) && !(k->state & KERNEL_SPOOLED)) {
        k->state |= KERNEL_SPOOLED;
        k->share = stats_span_end(k->span);
        k->traffic = memory_traffic_since(k->traffic);
        view_kernel(kernel, arena_at(char, k->name), k->start_ps, k->end_ps, k->cycles);
    }
}

/* Those of before `end_ps` are dealt with and gone. */
static void take_marks(uint64_t end_ps, void (*deal)(uint32_t kernel, uint64_t end_ps))
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < mark_count; i++) {
        if (marks[i].time_ps < end_ps)
            deal(marks[i].kernel, end_ps);
        else
            marks[left++] = marks[i];
    }
    mark_count = left;
}

void kernel_settle(uint64_t end_ps)
{
    take_marks(end_ps, settle);
}

/* ---- several ranks ---- */

/* What rank 0 is told of a kernel of another rank; texts follow, each with its end. */
struct told {
    uint32_t kernel;  /* the other rank's handle; MAX_KERNELS: no more */
    uint32_t details; /* bytes of text */
    struct kernel_record record;
};

/* By rank and its handle: 1 + our own; 0: not known yet. */
static uint32_t *known[RANK_MOST];
static uint32_t known_count[RANK_MOST]; /* behind the last that is known */

uint64_t kernel_asks(uint64_t from_ps)
{
    uint64_t first_ps = ENGINE_NEVER;
    for (uint32_t i = 0; i < mark_count; i++)
        if (marks[i].time_ps >= from_ps && marks[i].time_ps < first_ps)
            first_ps = marks[i].time_ps;
    return first_ps;
}

static void tell(uint32_t kernel, uint64_t end_ps)
{
    const struct kernel_record *k = &records[kernel];
    struct told told = {kernel, (uint32_t)k->details.bytes, *k};
    if (!has_ended(k, end_ps))
        told.record.state &= ~(uint32_t)KERNEL_ENDED;
    const char *how = k->how ? k->how : "";
    rank_put(0, &told, sizeof told);
    rank_put(0, arena_at(char, k->name), strlen(arena_at(char, k->name)) + 1);
    rank_put(0, arena_at(char, k->symbol), strlen(arena_at(char, k->symbol)) + 1);
    rank_put(0, how, strlen(how) + 1);
    stats_spool_read(k->details, rank_room(0, told.details));
}

void kernel_tell(uint64_t end_ps, bool last)
{
    static const struct told none = {.kernel = MAX_KERNELS};
    if (!ranks.number)
        return;
    take_marks(end_ps, tell);
    for (uint32_t i = 0; last && i < count; i++)
        if (!(records[i].state & KERNEL_ENDED))
            tell(i, end_ps);
    rank_put(0, &none, sizeof none);
}

static const char *take_text(uint32_t from)
{
    const char *text = rank_take(from, 0);
    return rank_take(from, strlen(text) + 1);
}

static struct kernel_record *record_of(uint32_t from, uint32_t kernel)
{
    if (!known[from])
        known[from] = arena_reserve(MAX_KERNELS * sizeof *known[from]);
    uint32_t *own = &known[from][kernel];
    if (!*own && count < MAX_KERNELS) {
        reserve_records();
        records[count] = (struct kernel_record){.number = count};
        *own = ++count;
        if (kernel >= known_count[from])
            known_count[from] = kernel + 1;
    }
    if (!*own)
        say_full();
    return *own ? &records[*own - 1] : NULL;
}

/* What the other rank does not know: how far we have come with it. */
static void update(struct kernel_record *k, const struct kernel_record *theirs, uint32_t from)
{
    struct kernel_record own = *k;
    const char *name = take_text(from), *symbol = take_text(from), *how = take_text(from);
    *k = *theirs;
    k->name = own.name ? own.name : keep_text(name);
    k->symbol = own.symbol ? own.symbol : keep_text(symbol);
    k->how = own.how ? own.how : arena_at(char, keep_text(how));
    k->number = own.number;
    k->span = own.span;
    k->traffic = own.traffic;
    k->share = own.share;
    k->details = own.details;
    k->state = own.state | (theirs->state & KERNEL_ENDED);
}

void kernel_take(uint32_t from)
{
    struct told told;
    for (;;) {
        memcpy(&told, rank_take(from, sizeof told), sizeof told);
        if (told.kernel == MAX_KERNELS)
            return;
        struct kernel_record unused = {0}, *k = record_of(from, told.kernel);
        update(k ? k : &unused, &told.record, from);
        const char *details = rank_take(from, told.details);
        if (!k)
            continue;
        if (told.details) {
            json_raw(stats_spool_begin(true), details, told.details);
            k->details = stats_spool_end();
        }
        mark((uint32_t)(k - records), k->state & KERNEL_ENDED ? k->end_ps : k->start_ps);
    }
}

void kernel_cut(void)
{
    kernel_settle(ENGINE_NEVER);
    for (uint32_t i = 0; i < count; i++) {
        struct kernel_record *k = &records[i];
        if (k->state & KERNEL_ENDED)
            continue;
        uint64_t cycle = engine_cycle_at(platform_domain_of(k->component), engine.time_ps);
        k->end_ps = engine.time_ps > k->start_ps ? engine.time_ps : k->start_ps;
        k->cycles = cycle > k->start_cycle ? cycle - k->start_cycle : 0;
        k->share = stats_span_end(k->span);
        k->traffic = memory_traffic_since(k->traffic);
        k->state |= KERNEL_ENDED | KERNEL_SPOOLED | KERNEL_CUT;
    }
}

/* ---- in a state ---- */

/* Behind it the records, `how` of each as the number of a way; then, for each of several ranks,
 * what is known of its handles, behind their number. */
struct saved_kernels {
    uint64_t count, unkept, running;
};

static uint64_t known_size(void)
{
    uint64_t size = 0;
    for (uint32_t i = 0; !rank_is_alone() && i < ranks.count; i++)
        size += sizeof(uint32_t) + known_count[i] * sizeof *known[i];
    return size;
}

static uint64_t kernels_size(void)
{
    return sizeof(struct saved_kernels) + count * sizeof *records + known_size();
}

static void known_save(struct checkpoint_sink *to)
{
    for (uint32_t i = 0; !rank_is_alone() && i < ranks.count; i++) {
        checkpoint_put(to, &known_count[i], sizeof known_count[i]);
        checkpoint_put(to, known[i], known_count[i] * sizeof *known[i]);
    }
}

/* `size` bytes are left for it. */
static bool known_load(const char *from, uint64_t size)
{
    for (uint32_t i = 0; !rank_is_alone() && i < ranks.count; i++) {
        if (size < sizeof known_count[i])
            return false;
        memcpy(&known_count[i], from, sizeof known_count[i]);
        from += sizeof known_count[i];
        size -= sizeof known_count[i];
        uint64_t bytes = known_count[i] * sizeof *known[i];
        if (known_count[i] > MAX_KERNELS || bytes > size)
            return false;
        if (bytes && !known[i])
            known[i] = arena_reserve(MAX_KERNELS * sizeof *known[i]);
        if (bytes)
            memcpy(known[i], from, bytes);
        from += bytes;
        size -= bytes;
    }
    return size == 0;
}

static uintptr_t number_of_how(const char *how)
{
    uintptr_t way = SAMPLING_SKIPPED + 1;
    while (how && way && strcmp(sampling_way_name((enum sampling_way)(way - 1)), how) != 0)
        way--;
    return how ? way : 0;
}

static void kernels_save(struct checkpoint_sink *to)
{
    const struct saved_kernels s = {count, unkept, running};
    checkpoint_put(to, &s, sizeof s);
    for (uint32_t i = 0; i < count; i++) {
        struct kernel_record k = records[i];
        k.how = (const char *)number_of_how(k.how);
        checkpoint_put(to, &k, sizeof k);
    }
    known_save(to);
}

static bool kernels_load(const void *bytes, uint64_t size)
{
    const struct saved_kernels *s = bytes;
    uint64_t whole = sizeof *s;
    if (size >= whole && s->count <= MAX_KERNELS)
        whole += s->count * sizeof *records;
    if (size < whole || s->count > MAX_KERNELS
        || !known_load((const char *)bytes + whole, size - whole)) {
        fprintf(stderr, "heddle: the state's kernels are damaged\n");
        return false;
    }
    if (stats_wanted() && s->unkept) {
        fprintf(stderr, "heddle: the state was written without --stats, so nothing is known of the "
                        "kernels before it; write it again with --stats\n");
        return false;
    }
    if (profile_wanted() && s->running) {
        fprintf(stderr, "heddle: instructions are counted for whole kernels, and one was running "
                        "when the state was written; write it where a kernel begins "
                        "(--checkpoint-at kernel:NAME)\n");
        return false;
    }
    unkept = s->unkept;
    running = (uint32_t)s->running;
    reserve_records();
    count = (uint32_t)s->count;
    memcpy(records, s + 1, count * sizeof *records);
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t way = (uintptr_t)records[i].how;
        records[i].how = way && way <= SAMPLING_SKIPPED + 1
                             ? sampling_way_name((enum sampling_way)(way - 1))
                             : NULL;
    }
    return true;
}

static const struct checkpoint_part kernels_part = {
    .name = "kernels", .size = kernels_size, .save = kernels_save, .load = kernels_load};

void kernel_forget(void)
{
    checkpoint_register(&kernels_part);
    kernel_shares_forget();
    memory_traffic_forget();
    unkept = false;
    running = 0;
    count = 0;
    mark_count = 0;
    memset(known_count, 0, sizeof known_count);
}

/* ---- the section of the statistics ---- */

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

/* Did another kernel run at the same time? The records stand in order of their start; *latest_end
 * is that of the ones before. */
static bool overlaps(const struct kernel_record *k, uint32_t i, uint64_t *latest_end)
{
    bool before = *latest_end > k->start_ps;
    if (k->end_ps > *latest_end)
        *latest_end = k->end_ps;
    return before || (i + 1 < count && k[1].start_ps < k->end_ps);
}

void kernel_write(struct json *out)
{
    const struct kernel_record *k = records;
    uint64_t latest_end = 0;
    if (count) /* from here on handles are void */
        qsort(records, count, sizeof *records, by_start);
    json_open(out, "kernels", '[');
    for (uint32_t i = 0; i < count; i++, k++) {
        json_open(out, NULL, '{');
        json_text(out, "name", arena_at(char, k->name));
        json_text(out, "symbol", arena_at(char, k->symbol));
        json_uint(out, "gpu", k->gpu);
        if (k->launch) {
            json_uint(out, "launch", k->launch);
            json_text(out, "simulated", k->how);
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
        json_bool(out, "overlaps", overlaps(k, i, &latest_end));
        stats_spool_copy(out, k->details);
        if (k->share.bytes) {
            json_key(out, "components");
            stats_spool_copy(out, k->share);
        }
        json_close(out, '}');
    }
    json_close(out, ']');
}
