/* See store_log.h. Runs of bytes are noted as they come; one that continues the last, or lies in
 * it, makes that longer. Their bytes are read when ranks meet, by a channel to all of them. */
#include "store_log.h"

#include <string.h>

#include "arena.h"
#include "bug.h"
#include "engine.h"
#include "rank.h"
#include "rank_channel.h"
#include "util.h"

#define OFFERED_MOST 64
#define RUNS_MOST    ((uint32_t)1 << 20)

struct run {
    uint64_t offset; /* in the arena */
    uint64_t bytes;
};

bool store_log_on;
static const void *offered[OFFERED_MOST];
static uint32_t offered_count;
static struct run *runs;
static uint32_t run_count;

void store_offer(const void *store)
{
    if (ranks.count > 1 && offered_count < OFFERED_MOST)
        offered[offered_count++] = store;
}

bool store_is_offered(const void *store)
{
    for (uint32_t i = 0; i < offered_count; i++)
        if (offered[i] == store)
            return true;
    return false;
}

void store_log_note(const void *start, size_t bytes)
{
    uint64_t offset = (uint64_t)((const char *)start - engine_base.arena);
    struct run *last = run_count ? &runs[run_count - 1] : NULL;
    if (last && offset >= last->offset && offset <= last->offset + last->bytes) {
        uint64_t end = offset + bytes - last->offset;
        last->bytes = max_u64(end, last->bytes);
        return;
    }
    if (run_count == RUNS_MOST)
        die("a program has made more than %u changes of its memory's tables at once", RUNS_MOST);
    runs[run_count++] = (struct run){offset, bytes};
}

void store_log_forget(void)
{
    store_log_on = false;
    offered_count = 0;
    run_count = 0;
}

static void encode(uint32_t to, uint64_t end_ps)
{
    (void)end_ps;
    for (uint32_t i = 0; i < run_count; i++) {
        rank_put(to, &runs[i], sizeof runs[i]);
        rank_put(to, engine_base.arena + runs[i].offset, runs[i].bytes);
    }
}

static void merge(struct rank_reader *from)
{
    struct run run;
    while (from->left) {
        memcpy(&run, rank_read(from, sizeof run), sizeof run);
        memcpy(engine_base.arena + run.offset, rank_read(from, run.bytes), run.bytes);
    }
}

static void forget_runs(void)
{
    run_count = 0;
}

void store_log_begin(void)
{
    static const struct rank_channel channel = {.times = RANK_CHANNEL_BARRIER,
                                                .to_all = true,
                                                .encode = encode,
                                                .merge = merge,
                                                .sent = forget_runs};
    rank_channel_register(&channel);
    if (!runs)
        runs = arena_reserve(RUNS_MOST * sizeof *runs);
    store_log_on = true;
}
