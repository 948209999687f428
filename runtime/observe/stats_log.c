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

struct entries {
    uint32_t own_block;
    uint32_t words;
};

uint64_t *stats_log_ticked;
static uint64_t *stretch_ticked; /* as stats_log_ticked: since the stretch began */
static uint32_t id_words,
    main_words; /* words of all ids; words of the main partition's, which come first */
static struct own_block *own_blocks; /* in the order of ids */
static uint32_t own_count;
static uint32_t *first_block; /* by id: its first own block; one more at the end */
static struct entries *entries;
static uint64_t *entry_values;
static uint64_t value_count;
static uint32_t entry_count;
static uint32_t window_count;
static uint32_t window_ends[STATS_LOG_WINDOWS]; /* in `entries` */

/* Sorted by counting: blocks of an id are together. */
static uint64_t find_own_blocks(const struct platform_table *t)
{
    uint32_t count;
    const struct stat_block *blocks = stats_blocks(&count);
    uint64_t words = 0;
    first_block = arena_derive(((size_t)id_words * 64 + 2) * sizeof *first_block);
    own_blocks = arena_derive(((size_t)count + 1) * sizeof *own_blocks);
    for (uint32_t b = 0; b < count; b++)
        if (blocks[b].words && platform_is_here(stats_leaf_of_block(t, b)))
            first_block[platform_component(stats_leaf_of_block(t, b))->id + 2]++;
    for (uint32_t id = 2; id < id_words * 64 + 2; id++)
        first_block[id] += first_block[id - 1];
    for (uint32_t b = 0; b < count; b++) {
        if (!blocks[b].words || !platform_is_here(stats_leaf_of_block(t, b)))
            continue;
        uint32_t place = first_block[platform_component(stats_leaf_of_block(t, b))->id + 1]++;
        own_blocks[place] = (struct own_block){b, blocks[b].words, blocks[b].values, NULL};
        words += blocks[b].words;
        own_count++;
    }
    uint64_t *before = arena_derive((words + 1) * sizeof *before);
    for (uint32_t i = 0; i < own_count; before += own_blocks[i++].words)
        own_blocks[i].before = before;
    return words;
}

void stats_log_open(void)
{
    const struct platform_table *t = engine_base.platform;
    id_words = main_words = own_count = entry_count = window_count = 0;
    value_count = 0;
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        const struct engine_domain *d = &engine.domains[i];
        uint32_t end = d->first_word + d->word_count;
        id_words = max(end, id_words);
        main_words = i < engine.clock_count ? id_words : main_words;
    }
    stats_log_ticked = arena_derive((id_words + 1) * sizeof *stats_log_ticked);
    stretch_ticked = arena_derive((id_words + 1) * sizeof *stretch_ticked);
    uint64_t words = find_own_blocks(t);
    entries = arena_reserve(((size_t)own_count + 1) * STATS_LOG_WINDOWS * sizeof *entries);
    entry_values = arena_reserve((words + 1) * STATS_LOG_WINDOWS * sizeof *entry_values);
}

void stats_log_close(void)
{
    stats_log_ticked = NULL;
}

static void save_blocks(uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        memcpy(own_blocks[i].before, own_blocks[i].values, own_blocks[i].words * sizeof(uint64_t));
}

void stats_log_begin(void)
{
    if (stats_log_ticked)
        save_blocks(0, own_count);
}

static void add_component(uint32_t id)
{
    for (uint32_t i = first_block[id]; i < first_block[id + 1]; i++) {
        entries[entry_count++] = (struct entries){i, own_blocks[i].words};
        memcpy(entry_values + value_count, own_blocks[i].values,
               own_blocks[i].words * sizeof *entry_values);
        value_count += own_blocks[i].words;
    }
}

void stats_log_add(uint32_t number)
{
    if (number >= STATS_LOG_WINDOWS || number < window_count)
        bug("window %u of a stretch is logged behind %u", number, window_count);
    while (window_count < number)
        window_ends[window_count++] = entry_count;
    for (uint32_t w = 0; w < id_words; w++) {
        for (uint64_t bits = stats_log_ticked[w]; bits; bits &= bits - 1)
            add_component(w * 64 + (uint32_t)__builtin_ctzll(bits));
        stretch_ticked[w] |= stats_log_ticked[w];
        stats_log_ticked[w] = 0;
    }
    window_ends[window_count++] = entry_count;
}

void stats_log_show(uint32_t number)
{
    const uint64_t *values = entry_values;
    uint32_t end = number < window_count ? window_ends[number] : entry_count;
    for (uint32_t i = 0; i < own_count; i++)
        stats_block_show(own_blocks[i].block, own_blocks[i].before);
    for (uint32_t i = 0; i < end; i++) {
        stats_block_show(own_blocks[entries[i].own_block].block, values);
        values += entries[i].words;
    }
}

void stats_log_hide(void)
{
    for (uint32_t i = 0; i < own_count; i++)
        stats_block_show(own_blocks[i].block, own_blocks[i].values);
}

void stats_log_forget(void)
{
    if (!stats_log_ticked)
        return;
    for (uint32_t w = 0; w < id_words; w++) {
        uint64_t main = rank_is_first() && w < main_words ? UINT64_MAX : 0;
        for (uint64_t bits = stretch_ticked[w] | stats_log_ticked[w] | main; bits;
             bits &= bits - 1) {
            uint32_t id = w * 64 + (uint32_t)__builtin_ctzll(bits);
            save_blocks(first_block[id], first_block[id + 1]);
        }
        stretch_ticked[w] = stats_log_ticked[w] = 0;
    }
    entry_count = window_count = 0;
    value_count = 0;
}
