/* Statistics as they were at the end of each window. Only a component that has ticked can have
 * changed its own and its parts' statistics. So the end of a window copies the blocks of the
 * components that have ticked in it. A copy of all blocks (`before`) keeps their contents before
 * the first copy. The main partition's blocks change between windows, too, but only after the last
 * window of a stretch. */
#include "stats_log.h"

#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/state/lookup.h"
#include "runtime/state/platform.h"

#include "stats_ranks.h"
#include "stats_span.h"

/* A block of statistics of this rank. */
struct own_block {
    uint32_t block;
    uint32_t words;
    const uint64_t *values;
    uint64_t *before; /* at the end of the stretch before */
};

/* The part of a block that the log keeps at the end of a window; its words are in
 * `entry_values`. */
struct log_entry {
    uint32_t own_block;
    uint32_t words;
};

uint64_t *stats_log_ticked;

static struct {
    uint64_t *stretch_ticked;     /* as stats_log_ticked, since the stretch began */
    uint32_t id_words;            /* words of all ids */
    uint32_t main_words;          /* words of the main partition's ids, which come first */
    struct own_block *own_blocks; /* in the order of ids */
    uint32_t own_count;
    uint32_t *first_block; /* by id: its first own block; one more at the end */
    struct log_entry *entries;
    uint32_t entry_count;
    uint64_t *entry_values;
    uint64_t value_count;
    uint32_t window_count;
    uint32_t window_ends[STATS_LOG_WINDOWS]; /* in `entries` */
} stats_log;

/* Sorted by counting: blocks of an id are together. */
static uint64_t find_own_blocks(const struct platform_table *t)
{
    uint32_t count;
    const struct stat_block *blocks = stats_blocks(&count);
    uint64_t words = 0;
    stats_log.first_block =
        arena_derive(((size_t)stats_log.id_words * 64 + 2) * sizeof *stats_log.first_block);
    stats_log.own_blocks = arena_derive(((size_t)count + 1) * sizeof *stats_log.own_blocks);
    for (uint32_t b = 0; b < count; b++)
        if (blocks[b].words && platform_is_here(stats_leaf_of_block(t, b)))
            stats_log.first_block[platform_component(stats_leaf_of_block(t, b))->id + 2]++;
    for (uint32_t id = 2; id < stats_log.id_words * 64 + 2; id++)
        stats_log.first_block[id] += stats_log.first_block[id - 1];
    for (uint32_t b = 0; b < count; b++) {
        if (!blocks[b].words || !platform_is_here(stats_leaf_of_block(t, b)))
            continue;
        uint32_t place =
            stats_log.first_block[platform_component(stats_leaf_of_block(t, b))->id + 1]++;
        stats_log.own_blocks[place] =
            (struct own_block){b, blocks[b].words, blocks[b].values, NULL};
        words += blocks[b].words;
        stats_log.own_count++;
    }
    uint64_t *before = arena_derive((words + 1) * sizeof *before);
    for (uint32_t i = 0; i < stats_log.own_count; before += stats_log.own_blocks[i++].words)
        stats_log.own_blocks[i].before = before;
    return words;
}

void stats_log_open(void)
{
    const struct platform_table *t = engine_base.platform;
    stats_log.id_words = stats_log.main_words = stats_log.own_count = stats_log.entry_count =
        stats_log.window_count = 0;
    stats_log.value_count = 0;
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        const struct engine_domain *d = &engine.domains[i];
        uint32_t end = d->first_word + d->word_count;
        stats_log.id_words = max(end, stats_log.id_words);
        stats_log.main_words = i < engine.clock_count ? stats_log.id_words : stats_log.main_words;
    }
    stats_log_ticked = arena_derive((stats_log.id_words + 1) * sizeof *stats_log_ticked);
    stats_log.stretch_ticked =
        arena_derive((stats_log.id_words + 1) * sizeof *stats_log.stretch_ticked);
    uint64_t words = find_own_blocks(t);
    stats_log.entries = arena_reserve(((size_t)stats_log.own_count + 1) * STATS_LOG_WINDOWS
                                      * sizeof *stats_log.entries);
    stats_log.entry_values =
        arena_reserve((words + 1) * STATS_LOG_WINDOWS * sizeof *stats_log.entry_values);
}

void stats_log_close(void)
{
    stats_log_ticked = NULL;
}

static void save_blocks(uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        memcpy(stats_log.own_blocks[i].before, stats_log.own_blocks[i].values,
               stats_log.own_blocks[i].words * sizeof(uint64_t));
}

void stats_log_begin(void)
{
    if (stats_log_ticked)
        save_blocks(0, stats_log.own_count);
}

static void add_component(uint32_t id)
{
    for (uint32_t i = stats_log.first_block[id]; i < stats_log.first_block[id + 1]; i++) {
        stats_log.entries[stats_log.entry_count++] =
            (struct log_entry){i, stats_log.own_blocks[i].words};
        memcpy(stats_log.entry_values + stats_log.value_count, stats_log.own_blocks[i].values,
               stats_log.own_blocks[i].words * sizeof *stats_log.entry_values);
        stats_log.value_count += stats_log.own_blocks[i].words;
    }
}

void stats_log_add(uint32_t number)
{
    if (number >= STATS_LOG_WINDOWS || number < stats_log.window_count)
        bug("window %u of a stretch is logged behind %u", number, stats_log.window_count);
    while (stats_log.window_count < number)
        stats_log.window_ends[stats_log.window_count++] = stats_log.entry_count;
    for (uint32_t w = 0; w < stats_log.id_words; w++) {
        for (uint64_t bits = stats_log_ticked[w]; bits; bits &= bits - 1)
            add_component(w * 64 + (uint32_t)__builtin_ctzll(bits));
        stats_log.stretch_ticked[w] |= stats_log_ticked[w];
        stats_log_ticked[w] = 0;
    }
    stats_log.window_ends[stats_log.window_count++] = stats_log.entry_count;
}

void stats_log_show(uint32_t number)
{
    const uint64_t *values = stats_log.entry_values;
    uint32_t end =
        number < stats_log.window_count ? stats_log.window_ends[number] : stats_log.entry_count;
    for (uint32_t i = 0; i < stats_log.own_count; i++)
        stats_block_show(stats_log.own_blocks[i].block, stats_log.own_blocks[i].before);
    for (uint32_t i = 0; i < end; i++) {
        stats_block_show(stats_log.own_blocks[stats_log.entries[i].own_block].block, values);
        values += stats_log.entries[i].words;
    }
}

void stats_log_hide(void)
{
    for (uint32_t i = 0; i < stats_log.own_count; i++)
        stats_block_show(stats_log.own_blocks[i].block, stats_log.own_blocks[i].values);
}

void stats_log_forget(void)
{
    if (!stats_log_ticked)
        return;
    for (uint32_t w = 0; w < stats_log.id_words; w++) {
        uint64_t main = rank_is_first() && w < stats_log.main_words ? UINT64_MAX : 0;
        for (uint64_t bits = stats_log.stretch_ticked[w] | stats_log_ticked[w] | main; bits;
             bits &= bits - 1) {
            uint32_t id = w * 64 + (uint32_t)__builtin_ctzll(bits);
            save_blocks(stats_log.first_block[id], stats_log.first_block[id + 1]);
        }
        stats_log.stretch_ticked[w] = stats_log_ticked[w] = 0;
    }
    stats_log.entry_count = stats_log.window_count = 0;
    stats_log.value_count = 0;
}
