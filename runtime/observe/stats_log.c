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

struct noted {
    uint32_t own_block;
    uint32_t words;
};

uint64_t *stats_log_ticked;
static uint64_t *unsettled; /* as stats_log_ticked: since the stretch began */
static uint32_t id_words,
    main_words; /* words of all ids; words of the main partition's, which come first */
static struct own_block *own_blocks; /* in the order of ids */
static uint32_t own_count;
static uint32_t *first_of; /* by id: its first own block; one more at the end */
static struct noted *noted;
static uint64_t *noted_values;
static uint64_t value_count;
static uint32_t noted_count;
static uint32_t window_count;
static uint32_t window_ends[STATS_LOG_WINDOWS]; /* in `noted` */

/* Sorted by counting: blocks of an id are together. */
static uint64_t find_own_blocks(const struct platform_table *t)
{
    uint32_t count;
    const struct stat_block *blocks = stats_blocks(&count);
    uint64_t words = 0;
    first_of = arena_derive(((size_t)id_words * 64 + 2) * sizeof *first_of);
    own_blocks = arena_derive(((size_t)count + 1) * sizeof *own_blocks);
    for (uint32_t b = 0; b < count; b++)
        if (blocks[b].words && platform_is_here(stats_leaf_of_block(t, b)))
            first_of[platform_component(stats_leaf_of_block(t, b))->id + 2]++;
    for (uint32_t id = 2; id < id_words * 64 + 2; id++)
        first_of[id] += first_of[id - 1];
    for (uint32_t b = 0; b < count; b++) {
        if (!blocks[b].words || !platform_is_here(stats_leaf_of_block(t, b)))
            continue;
        uint32_t place = first_of[platform_component(stats_leaf_of_block(t, b))->id + 1]++;
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
    id_words = main_words = own_count = noted_count = window_count = 0;
    value_count = 0;
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        const struct engine_domain *d = &engine.domains[i];
        uint32_t end = d->first_word + d->word_count;
        id_words = max(end, id_words);
        main_words = i < engine.clock_count ? id_words : main_words;
    }
    stats_log_ticked = arena_derive((id_words + 1) * sizeof *stats_log_ticked);
    unsettled = arena_derive((id_words + 1) * sizeof *unsettled);
    uint64_t words = find_own_blocks(t);
    noted = arena_reserve(((size_t)own_count + 1) * STATS_LOG_WINDOWS * sizeof *noted);
    noted_values = arena_reserve((words + 1) * STATS_LOG_WINDOWS * sizeof *noted_values);
}

void stats_log_close(void)
{
    stats_log_ticked = NULL;
}

static void keep_before(uint32_t first, uint32_t behind)
{
    for (uint32_t i = first; i < behind; i++)
        memcpy(own_blocks[i].before, own_blocks[i].values, own_blocks[i].words * sizeof(uint64_t));
}

void stats_log_begin(void)
{
    if (stats_log_ticked)
        keep_before(0, own_count);
}

static void note_component(uint32_t id)
{
    for (uint32_t i = first_of[id]; i < first_of[id + 1]; i++) {
        noted[noted_count++] = (struct noted){i, own_blocks[i].words};
        memcpy(noted_values + value_count, own_blocks[i].values,
               own_blocks[i].words * sizeof *noted_values);
        value_count += own_blocks[i].words;
    }
}

void stats_log_add(uint32_t number)
{
    if (number >= STATS_LOG_WINDOWS || number < window_count)
        bug("window %u of a stretch is logged behind %u", number, window_count);
    while (window_count < number)
        window_ends[window_count++] = noted_count;
    for (uint32_t w = 0; w < id_words; w++) {
        for (uint64_t bits = stats_log_ticked[w]; bits; bits &= bits - 1)
            note_component(w * 64 + (uint32_t)__builtin_ctzll(bits));
        unsettled[w] |= stats_log_ticked[w];
        stats_log_ticked[w] = 0;
    }
    window_ends[window_count++] = noted_count;
}

void stats_log_show(uint32_t number)
{
    const uint64_t *values = noted_values;
    uint32_t end = number < window_count ? window_ends[number] : noted_count;
    for (uint32_t i = 0; i < own_count; i++)
        stats_block_show(own_blocks[i].block, own_blocks[i].before);
    for (uint32_t i = 0; i < end; i++) {
        stats_block_show(own_blocks[noted[i].own_block].block, values);
        values += noted[i].words;
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
        for (uint64_t bits = unsettled[w] | stats_log_ticked[w] | main; bits; bits &= bits - 1) {
            uint32_t id = w * 64 + (uint32_t)__builtin_ctzll(bits);
            keep_before(first_of[id], first_of[id + 1]);
        }
        unsettled[w] = stats_log_ticked[w] = 0;
    }
    noted_count = window_count = 0;
    value_count = 0;
}
