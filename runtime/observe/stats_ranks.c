/* See stats_ranks.h. Both sides walk the same tables in the same order, so no names travel. What a
 * shared link was used for is known where all its senders are (link/cut.c). */
#include "stats_ranks.h"

#include <string.h>
#include <sys/resource.h>

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
    const struct platform_table *t = engine_base.platform;
    uint32_t count;
    const struct stat_block *blocks = stats_blocks(&count);
    for (uint32_t b = 0; b < count; b++) {
        uint32_t leaf = stats_leaf_of_block(t, b);
        if (platform_rank_of(leaf) == owner)
            move(blocks[b].values, blocks[b].words * sizeof(uint64_t), owner);
    }
}

static void move_rings(uint32_t owner)
{
    const struct platform_table *t = engine_base.platform;
    for (uint32_t i = 0; i < t->ring_count; i++)
        if (platform_rank_of(t->rings[i].sender) == owner)
            move(&ring_at(i)->messages, sizeof ring_at(i)->messages, owner);
}

/* That of the first ring there. */
uint32_t stats_rank_of_half(uint32_t link, unsigned half)
{
    const struct platform_table *t = engine_base.platform;
    for (uint32_t i = 0; i < t->ring_count; i++) {
        const struct platform_ring *r = &t->rings[i];
        unsigned back = t->links[link].shared == LINK_BUS ? 0 : r->is_reply ^ r->reversed;
        if (r->link == link + 1 && back == half)
            return platform_rank_of(r->sender);
    }
    return UINT32_MAX;
}

static void move_links(uint32_t owner)
{
    for (uint32_t i = 0; i < 2 * engine_base.platform->link_count; i++) {
        if (stats_rank_of_half(i / 2, i % 2) != owner)
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
