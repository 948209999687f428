/* See stats_ranks.h. Both sides walk the same tables in the same order, so no names travel. What a
 * shared link was used for is known where all its senders are (link/cut.c). */
#include "stats_ranks.h"

#include <string.h>
#include <sys/resource.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"
#include "runtime/link/ring.h"
#include "runtime/link/ring_run.h"
#include "runtime/link/wire.h"
#include "json.h"
#include "stats_span.h"

uint32_t stats_leaf_of_block(const struct platform_table *t, uint32_t block)
{
    return block < t->instance_count ? block : t->parts[block - t->instance_count].owner_instance;
}

/* Who counts, for speed: of each block, ring and half of a link. */
static uint8_t *block_ranks, *ring_ranks, *half_ranks;

void stats_ranks_open(const struct platform_table *t)
{
    if (rank_is_alone())
        return;
    uint32_t block_count = t->instance_count + t->part_count;
    block_ranks = arena_derive(block_count + 1);
    ring_ranks = arena_derive(t->ring_count + 1);
    half_ranks = arena_derive(2 * (size_t)t->link_count + 1);
    memset(half_ranks, RANK_MOST, 2 * t->link_count);
    for (uint32_t b = 0; b < block_count; b++)
        block_ranks[b] = (uint8_t)platform_rank_of(stats_leaf_of_block(t, b));
    for (uint32_t i = t->ring_count; i-- > 0;) {
        const struct platform_ring *r = &t->rings[i];
        ring_ranks[i] = (uint8_t)platform_rank_of(r->sender);
        if (!r->link)
            continue;
        bool back = t->links[r->link - 1].shared != LINK_BUS && r->is_reply ^ r->reversed;
        half_ranks[2 * (r->link - 1) + back] = ring_ranks[i];
    }
}

uint32_t stats_rank_of_half(uint32_t link, unsigned half)
{
    return half_ranks[2 * link + half];
}

/* Between rank 0 and the rank `owner`. */
static void move(const void *numbers, size_t size, uint32_t owner)
{
    if (ranks.number == 0)
        memcpy((void *)(uintptr_t)numbers, rank_take(owner, size), size);
    else
        rank_put(0, numbers, size);
}

static void move_blocks(uint32_t owner)
{
    uint32_t count;
    const struct stat_block *blocks = stats_blocks(&count);
    for (uint32_t b = 0; b < count; b++)
        if (block_ranks[b] == owner && blocks[b].words)
            move(blocks[b].values, blocks[b].words * sizeof(uint64_t), owner);
}

static void move_rings(uint32_t owner)
{
    for (uint32_t i = 0; i < engine_base.platform->ring_count; i++)
        if (ring_ranks[i] == owner)
            move(&ring_at(i)->messages, sizeof ring_at(i)->messages, owner);
}

static void move_links(uint32_t owner)
{
    for (uint32_t i = 0; i < 2 * engine_base.platform->link_count; i++) {
        if (half_ranks[i] != owner)
            continue;
        move(ring_link_use(i / 2, i % 2), sizeof(struct ring_link_use), owner);
        for (uint32_t c = 0; c < wire_channel_count(i / 2, i % 2); c++)
            move(wire_channel(i / 2, i % 2, c), sizeof(struct wire_channel_use), owner);
    }
}

/* Of host machines; no result depends on it. */
struct spent {
    uint64_t peak_rss_bytes, cpu_us, instructions;
    struct rank_use use;
};

static struct spent spent[RANK_MOST];

static uint64_t us(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

static struct spent spent_here(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (struct spent){(uint64_t)usage.ru_maxrss * 1024,
                          us(&usage.ru_utime) + us(&usage.ru_stime), engine_instructions(),
                          rank_use()};
}

void stats_ranks_write(struct json *out)
{
    spent[0] = spent_here();
    json_open(out, "ranks", '[');
    for (uint32_t i = 0; i < ranks.count; i++) {
        json_open(out, NULL, '{');
        json_uint(out, "peak_rss_bytes", spent[i].peak_rss_bytes);
        json_decimal(out, "cpu_seconds", (double)spent[i].cpu_us * 1e-6);
        json_decimal(out, "waited_seconds", (double)spent[i].use.waited_ns * 1e-9);
        json_decimal(out, "waited_cpu_seconds", (double)spent[i].use.waited_cpu_ns * 1e-9);
        json_uint(out, "instructions", spent[i].instructions);
        json_uint(out, "meetings", spent[i].use.exchanges);
        json_uint(out, "bytes_sent", spent[i].use.bytes);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void move_all(uint32_t owner)
{
    if (ranks.number == owner)
        spent[owner] = spent_here();
    move(&spent[owner], sizeof spent[owner], owner);
    move_blocks(owner);
    move_rings(owner);
    move_links(owner);
}

void stats_ranks_tell(void)
{
    if (ranks.number)
        move_all(ranks.number);
}

void stats_ranks_take(uint32_t from)
{
    move_all(from);
}
