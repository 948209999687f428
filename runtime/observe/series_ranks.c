/* Samples of several ranks. Ranks take the same samples, but not at the same time: one that goes on
 * alone is ahead. Rank 0 keeps a queue of each, which it shortens whenever ranks have met. */
#include "series_ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/rank.h"

struct queue {
    uint64_t *words;
    size_t first, count, capacity; /* in words */
};

static struct queue queues[RANK_MAX]; /* rank 0 has those of the others, too */

static size_t words_of(const uint64_t *sample)
{
    return 2 + 2 * (size_t)sample[1];
}

static uint64_t *reserve_words(struct queue *q, size_t words)
{
    if (q->first == q->count)
        q->first = q->count = 0;
    grow_list(q->words, q->count + words, q->capacity, "series");
    q->count += words;
    return q->words + q->count - words;
}

void series_ranks_forget(void)
{
    for (uint32_t i = 0; i < RANK_MAX; i++) {
        free(queues[i].words);
        queues[i] = (struct queue){0};
    }
}

void series_ranks_add(const uint64_t *sample)
{
    memcpy(reserve_words(&queues[ranks.number], words_of(sample)), sample,
           words_of(sample) * sizeof *sample);
}

void series_ranks_encode(uint32_t to)
{
    struct queue *q = &queues[ranks.number];
    rank_put(to, q->words + q->first, (q->count - q->first) * sizeof *q->words);
    q->first = q->count;
}

void series_ranks_merge(struct rank_reader *from)
{
    size_t words = from->left / sizeof(uint64_t);
    if (words)
        memcpy(reserve_words(&queues[from->rank], words), rank_read(from, words * sizeof(uint64_t)),
               words * sizeof(uint64_t));
}

bool series_ranks_next(uint64_t *sample)
{
    for (uint32_t i = 0; i < ranks.count; i++)
        if (queues[i].first == queues[i].count)
            return false;
    sample[0] = queues[0].words[queues[0].first];
    sample[1] = 0;
    for (uint32_t i = 0; i < ranks.count; i++) {
        struct queue *q = &queues[i];
        const uint64_t *part = q->words + q->first;
        if (part[0] != sample[0])
            bug("rank %u has taken a sample at %" PRIu64 " ps, rank 0 at %" PRIu64 " ps", i,
                part[0], sample[0]);
        memcpy(sample + words_of(sample), part + 2, 2 * part[1] * sizeof *part);
        sample[1] += part[1];
        q->first += words_of(part);
    }
    return true;
}
