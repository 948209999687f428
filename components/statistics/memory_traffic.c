/* Finds the counters of memories by their names when they are first asked for, and adds them up. */
#include "memory_traffic.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/engine/arena.h"
#include "runtime/observe/stats_span.h"

/* A memory: words of its block. */
struct memory {
    uint32_t block, read, written;
};

static struct memory *memories;
static uint32_t memory_count;
static bool is_found;

void memory_traffic_reset(void)
{
    is_found = false;
    memory_count = 0;
}

/* Word of the counter in the block; false: it has none. */
static bool find_word(const struct stat_block *b, const char *name, uint32_t *word)
{
    *word = 0;
    for (uint32_t i = 0; i < b->stat_count; i++) {
        if (b->stats[i].kind == STAT_COUNTER && strcmp(b->stats[i].name, name) == 0)
            return true;
        *word += stat_words(&b->stats[i]);
    }
    return false;
}

static void find_counters(void)
{
    uint32_t count, unused;
    const struct stat_block *blocks = stats_blocks(&count);
    memories = arena_derive((count + 1) * sizeof *memories);
    for (uint32_t i = 0; i < count; i++) {
        struct memory m = {.block = i};
        if (find_word(&blocks[i], "reads", &unused) && find_word(&blocks[i], "bytes_read", &m.read)
            && find_word(&blocks[i], "bytes_written", &m.written))
            memories[memory_count++] = m;
    }
    is_found = true;
}

struct memory_traffic memory_traffic_now(void)
{
    struct memory_traffic sum = {0};
    uint32_t count;
    if (!stats_are_wanted())
        return sum;
    if (!is_found)
        find_counters();
    const struct stat_block *blocks = stats_blocks(&count);
    for (uint32_t i = 0; i < memory_count; i++) {
        const uint64_t *values = blocks[memories[i].block].values;
        sum.read += values[memories[i].read];
        sum.written += values[memories[i].written];
    }
    return sum;
}

struct memory_traffic memory_traffic_since(struct memory_traffic from)
{
    struct memory_traffic now = memory_traffic_now();
    return (struct memory_traffic){now.read - from.read, now.written - from.written};
}
