/* Statistics of several ranks. All ranks have the same tables, so no names travel, and only what
 * has changed does. What a shared wire was used for is known where all its senders are
 * (link/rank_rings.c). */
#include "stats_ranks.h"

#include <string.h>
#include <sys/resource.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"
#include "runtime/engine/shard.h"
#include "runtime/link/ring.h"
#include "runtime/link/ring_run.h"
#include "runtime/link/shared_wire.h"

#include "json.h"
#include "stats_span.h"

uint32_t stats_leaf_of_block(const struct platform_table *t, uint32_t block)
{
    return block < t->instance_count ? block : t->parts[block - t->instance_count].owner_instance;
}

/* A message to rank 0: an item's number and its words. Items are blocks, then rings, then halves of
 * links. */
struct item {
    uint32_t number;
    uint32_t words;
    uint64_t *sent; /* as rank 0 has it */
};

/* The statistics that ranks send to rank 0. */
static struct {
    uint32_t block_count, ring_count;
    struct item *items; /* this rank's items, in order of their numbers; none at rank 0 */
    uint32_t item_count;
    uint8_t *half_ranks; /* by half of a link: the rank that sends over it */
} exports;

/* The words of an item as they are now. */
static uint64_t *words_of_item(uint32_t number)
{
    uint32_t count;
    if (number < exports.block_count)
        return (uint64_t *)(uintptr_t)stats_blocks(&count)[number].values;
    if (number < exports.block_count + exports.ring_count)
        return &ring_at(number - exports.block_count)->messages;
    uint32_t half = number - exports.block_count - exports.ring_count;
    return (uint64_t *)(uintptr_t)ring_link_use(half / 2, half % 2, engine.time_ps + 1);
}

static uint32_t size_of_item(uint32_t number)
{
    uint32_t count;
    return number < exports.block_count ? stats_blocks(&count)[number].words
           : number < exports.block_count + exports.ring_count
               ? 1
               : sizeof(struct ring_link_use) / sizeof(uint64_t);
}

static void add_item(uint32_t number)
{
    uint32_t words = size_of_item(number);
    if (words)
        exports.items[exports.item_count++] =
            (struct item){number, words, arena_derive(words * sizeof(uint64_t))};
}

static void find_items(const struct platform_table *t)
{
    stats_blocks(&exports.block_count);
    exports.ring_count = t->ring_count;
    exports.item_count = 0;
    exports.items =
        arena_derive(((size_t)exports.block_count + exports.ring_count + 2 * t->link_count + 1)
                     * sizeof *exports.items);
    for (uint32_t b = 0; b < exports.block_count; b++)
        if (platform_rank_of(stats_leaf_of_block(t, b)) == ranks.number)
            add_item(b);
    for (uint32_t i = 0; i < exports.ring_count; i++)
        if (platform_rank_of(t->rings[i].sender) == ranks.number)
            add_item(exports.block_count + i);
    for (uint32_t i = 0; i < 2 * t->link_count; i++)
        if (exports.half_ranks[i] == ranks.number)
            add_item(exports.block_count + exports.ring_count + i);
}

static void find_halves(const struct platform_table *t)
{
    exports.half_ranks = arena_derive(2 * (size_t)t->link_count + 1);
    memset(exports.half_ranks, RANK_MAX, 2 * t->link_count);
    for (uint32_t i = t->ring_count; i-- > 0;) {
        const struct platform_ring *r = &t->rings[i];
        if (!r->link)
            continue;
        bool is_backward = r->is_reply ^ r->is_reversed;
        exports.half_ranks[2 * (r->link - 1) + is_backward] = (uint8_t)platform_rank_of(r->sender);
    }
}

uint32_t stats_rank_of_half(uint32_t link, unsigned half)
{
    return exports.half_ranks ? exports.half_ranks[2 * link + half] : 0;
}

/* Traffic of each connection over a half of a shared wire follows the half's own words. */
static void encode_channels(uint32_t to, uint32_t half)
{
    for (uint32_t c = 0; c < shared_wire_channel_count(half / 2, half % 2); c++)
        rank_put(to, shared_wire_channel(half / 2, half % 2, c),
                 sizeof(struct shared_wire_channel_use));
}

static void merge_channels(uint32_t half, struct rank_reader *from)
{
    for (uint32_t c = 0; c < shared_wire_channel_count(half / 2, half % 2); c++)
        memcpy((void *)(uintptr_t)shared_wire_channel(half / 2, half % 2, c),
               rank_read(from, sizeof(struct shared_wire_channel_use)),
               sizeof(struct shared_wire_channel_use));
}

/* Encodes the items that have changed. */
static void encode_items(uint32_t to)
{
    for (uint32_t i = 0; i < exports.item_count; i++) {
        const struct item *item = &exports.items[i];
        const uint64_t *values = words_of_item(item->number);
        size_t bytes = item->words * sizeof *values;
        if (memcmp(item->sent, values, bytes) == 0)
            continue;
        memcpy(item->sent, values, bytes);
        rank_put(to, &item->number, sizeof item->number);
        rank_put(to, values, bytes);
        if (item->number >= exports.block_count + exports.ring_count)
            encode_channels(to, item->number - exports.block_count - exports.ring_count);
    }
}

static void merge_items(struct rank_reader *from)
{
    uint32_t number;
    while (from->left) {
        memcpy(&number, rank_read(from, sizeof number), sizeof number);
        size_t bytes = size_of_item(number) * sizeof(uint64_t);
        memcpy(words_of_item(number), rank_read(from, bytes), bytes);
        if (number >= exports.block_count + exports.ring_count)
            merge_channels(number - exports.block_count - exports.ring_count, from);
    }
}

/* A rank's use of its host machine, on which no result depends. */
struct spent {
    uint64_t peak_rss_bytes, cpu_us, instructions;
    struct rank_use use;
};

static struct spent spent[RANK_MAX];

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
    if (rank_is_alone())
        return;
    spent[0] = spent_here();
    json_open(out, "ranks", '[');
    for (uint32_t i = 0; i < ranks.count; i++) {
        json_open(out, NULL, '{');
        json_uint(out, "peak_rss_bytes", spent[i].peak_rss_bytes);
        json_seconds(out, "cpu_seconds", (double)spent[i].cpu_us * 1e-6);
        json_seconds(out, "waited_seconds", (double)spent[i].use.waited_ns * 1e-9);
        json_seconds(out, "waited_cpu_seconds", (double)spent[i].use.waited_cpu_ns * 1e-9);
        json_uint(out, "instructions", spent[i].instructions);
        json_uint(out, "meetings", spent[i].use.exchanges);
        json_uint(out, "bytes_sent", spent[i].use.bytes);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void encode(uint32_t to, uint64_t end_ps)
{
    (void)end_ps;
    spent[ranks.number] = spent_here();
    rank_put(to, &spent[ranks.number], sizeof spent[0]);
    encode_items(to);
}

static void merge(struct rank_reader *from)
{
    memcpy(&spent[from->rank], rank_read(from, sizeof spent[0]), sizeof spent[0]);
    merge_items(from);
}

void stats_ranks_open(const struct platform_table *t)
{
    static const struct rank_channel channel = {.times = RANK_CHANNEL_SETTLE | RANK_CHANNEL_END
                                                         | RANK_CHANNEL_VIEW,
                                                .encode = encode,
                                                .merge = merge};
    if (rank_is_alone())
        return;
    find_halves(t);
    find_items(t);
    rank_channel_register(&channel);
}
