/* See owned.h. Runs of the arena in the order in which they were handed out, which is the same at
 * all ranks. The arena begins zeroed, and most of it is never touched: a run of zeros is told as
 * such. */
#include "owned.h"

#include <string.h>

#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"
#include "runtime/link/ring.h"
#include "runtime/link/split.h"

#define RUNS_MOST ((uint32_t)1 << 22)
#define CHUNK     4096u /* bytes that are told or left out together */

struct run {
    uint64_t start;
    uint64_t bytes;
    uint32_t shard;
};

static struct run *runs;
static uint32_t run_count;

void owned_forget(void)
{
    run_count = 0;
}

static void add(uint32_t shard, uint64_t start, uint64_t end)
{
    struct run *last = run_count ? &runs[run_count - 1] : NULL;
    if (start == end)
        return;
    if (last && last->shard == shard && last->start + last->bytes == start) {
        last->bytes += end - start;
        return;
    }
    if (!runs)
        runs = arena_reserve(RUNS_MOST * sizeof *runs);
    if (run_count == RUNS_MOST)
        die("the platform has too many components for several ranks");
    runs[run_count++] = (struct run){start, end - start, shard};
}

void owned_between(uint32_t shard, struct arena_ends before, struct arena_ends after)
{
    if (rank_is_alone())
        return;
    add(shard, before.front, after.front);
    add(shard, before.rear, after.rear);
}

static bool is_zero(const char *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static void tell(const char *bytes, uint64_t size)
{
    for (uint64_t at = 0; at < size; at += CHUNK) {
        uint32_t count = (uint32_t)(size - at < CHUNK ? size - at : CHUNK);
        uint8_t zero = is_zero(bytes + at, count);
        rank_put(0, &zero, sizeof zero);
        if (!zero)
            rank_put(0, bytes + at, count);
    }
}

static void take(char *bytes, uint64_t size, uint32_t from)
{
    for (uint64_t at = 0; at < size; at += CHUNK) {
        uint32_t count = (uint32_t)(size - at < CHUNK ? size - at : CHUNK);
        if (*(const uint8_t *)rank_take(from, 1))
            memset(bytes + at, 0, count);
        else
            memcpy(bytes + at, rank_take(from, count), count);
    }
}

static void move(void *bytes, uint64_t size, uint32_t owner)
{
    if (ranks.number == 0 && owner != 0)
        take(bytes, size, owner);
    else if (ranks.number == owner && owner != 0)
        tell(bytes, size);
}

static uint32_t rank_at(uint32_t component)
{
    return component_rank(engine_base.components[component]);
}

/* The slots are those of the receiver. */
static void move_rings(void)
{
    for (uint32_t i = 0; i < engine_base.platform->ring_count; i++) {
        struct ring *near = ring_at(i), *far = ring_at(split_far(i));
        uint32_t sender = rank_at(ring_sender(near)), receiver = rank_at(ring_receiver(near));
        move(near, sizeof *near, sender);
        if (far != near)
            move(far, sizeof *far, receiver);
        move(ring_slot(near->first), (uint64_t)(near->end - near->first) * ARENA_UNIT, receiver);
    }
}

void owned_gather(void)
{
    if (rank_is_alone())
        return;
    for (uint32_t pass = 0; pass < 2; pass++) {
        bool tells = pass == 0;
        if (tells == (ranks.number != 0)) {
            for (uint32_t i = 0; i < run_count; i++)
                move(engine_base.arena + runs[i].start, runs[i].bytes,
                     ranks.of_shard[runs[i].shard]);
            move_rings();
        }
        if (tells)
            rank_exchange();
    }
}
