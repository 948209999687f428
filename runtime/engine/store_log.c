/* See store_log.h. Runs of bytes are noted as they come; one that continues the last, or lies in
 * it, makes that longer. Their bytes are read when they are told. */
#include "store_log.h"

#include <string.h>

#include "arena.h"
#include "bug.h"
#include "engine.h"
#include "rank.h"

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
        last->bytes = end > last->bytes ? end : last->bytes;
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

void store_log_begin(void)
{
    if (!runs)
        runs = arena_reserve(RUNS_MOST * sizeof *runs);
    store_log_on = true;
}

void store_log_tell(void)
{
    for (uint32_t to = 0; to < ranks.count; to++) {
        if (to == ranks.number)
            continue;
        rank_put(to, &run_count, sizeof run_count);
        for (uint32_t i = 0; i < run_count; i++) {
            rank_put(to, &runs[i], sizeof runs[i]);
            rank_put(to, engine_base.arena + runs[i].offset, runs[i].bytes);
        }
    }
    run_count = 0;
}

void store_log_take(uint32_t from)
{
    uint32_t count;
    struct run run;
    memcpy(&count, rank_take(from, sizeof count), sizeof count);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&run, rank_take(from, sizeof run), sizeof run);
        memcpy(engine_base.arena + run.offset, rank_take(from, run.bytes), run.bytes);
    }
}
