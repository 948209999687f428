/* Records of kernels on their way to rank 0, which writes the statistics: each other rank sends the
 * records of kernels that began or ended, and rank 0 has a record of its own for each. */
#include <string.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"
#include "runtime/observe/json.h"

#include "kernel_records.h"
#include "kernel_stats.h"

/* One kernel of another rank; its texts follow, each with its end. */
struct message {
    uint32_t kernel;  /* the other rank's handle */
    uint32_t details; /* bytes of text */
    struct kernel_record record;
};

/* By rank, how many of its handles are known, and their records here: 1 + number of each, or 0. */
static struct kernel_handles {
    uint32_t count;
    uint32_t *record;
} handles[RANK_MAX];

void kernel_handles_reset(void)
{
    for (uint32_t i = 0; i < RANK_MAX; i++)
        handles[i].count = 0;
}

static void send_text(uint32_t text)
{
    rank_put_text(0, text ? arena_at(char, text) : "");
}

static void send_record(uint32_t kernel, uint64_t end_ps)
{
    const struct kernel_record *k = &kernel_records.record[kernel];
    struct message m = {kernel, (uint32_t)k->details.bytes, *k};
    if (!kernel_has_ended(k, end_ps))
        m.record.state &= ~(uint32_t)KERNEL_ENDED;
    rank_put(0, &m, sizeof m);
    send_text(k->name);
    send_text(k->symbol);
    send_text(k->how);
    stats_spool_read(k->details, rank_reserve(0, m.details));
}

static void encode_kernels(uint32_t to, uint64_t end_ps)
{
    (void)to; /* the only one */
    kernel_records_take_marks(end_ps, send_record);
    if (end_ps != ENGINE_NEVER)
        return;
    for (uint32_t i = 0; i < kernel_records.count; i++)
        if (!(kernel_records.record[i].state & KERNEL_ENDED))
            send_record(i, end_ps);
}

/* The record of the other rank's kernel; NULL: there is no room for it. */
static struct kernel_record *record_of(uint32_t from, uint32_t kernel)
{
    struct kernel_handles *h = &handles[from];
    if (!h->record)
        h->record = arena_reserve(KERNELS_MAX * sizeof *h->record);
    if (h->record[kernel])
        return &kernel_records.record[h->record[kernel] - 1];
    struct kernel_record *k = kernel_records_add();
    if (!k)
        return NULL;
    h->record[kernel] = k->number + 1;
    if (kernel >= h->count)
        h->count = kernel + 1;
    return k;
}

/* Replaces our record by the other rank's, but keeps our own progress with it. */
static void update_record(struct kernel_record *k, const struct kernel_record *theirs,
                          struct rank_reader *from)
{
    struct kernel_record own = *k;
    const char *name = rank_read_text(from), *symbol = rank_read_text(from);
    const char *how = rank_read_text(from);
    *k = *theirs;
    k->name = own.name ? own.name : kernel_records_keep_text(name);
    k->symbol = own.symbol ? own.symbol : kernel_records_keep_text(symbol);
    k->how = own.how ? own.how : kernel_records_keep_text(how);
    k->number = own.number;
    k->span = own.span;
    k->traffic = own.traffic;
    k->share = own.share;
    k->details = own.details;
    k->state = own.state | (theirs->state & KERNEL_ENDED);
}

static void merge_records(struct rank_reader *from)
{
    struct message m;
    while (from->left) {
        memcpy(&m, rank_read(from, sizeof m), sizeof m);
        struct kernel_record unused = {0}, *k = record_of(from->rank, m.kernel);
        update_record(k ? k : &unused, &m.record, from);
        const char *details = rank_read(from, m.details);
        if (!k)
            continue;
        if (m.details) {
            json_raw(stats_spool_begin(true), details, m.details);
            k->details = stats_spool_end();
        }
        kernel_records_mark(k, k->state & KERNEL_ENDED ? k->end_ps : k->start_ps);
    }
}

const struct rank_channel kernel_channel = {.times = RANK_CHANNEL_SETTLE | RANK_CHANNEL_END,
                                            .encode = encode_kernels,
                                            .merge = merge_records};
