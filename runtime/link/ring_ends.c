/* Waits and transfers at the ends of rings. Sums by ring, so the order of what was added does not
 * matter. A component that writes a store is initialised at all ranks and must add nothing: no
 * driver does. */
#include "ring_ends.h"

#include <string.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"

struct added {
    uint32_t ring;
    uint32_t cycles, slots;
};

static const struct platform_table *table;
static struct added *sums; /* by ring; NULL: alone */

void ring_ends_open(const struct platform_table *opened)
{
    table = opened;
    sums = rank_is_alone() ? NULL : arena_derive((table->ring_count + 1) * sizeof *sums);
}

void ring_ends_add(uint32_t near, uint32_t cycles, uint32_t slots)
{
    if (!sums)
        return;
    sums[near].cycles += cycles;
    sums[near].slots += slots;
}

/* The rank of the other end of a ring that leaves this rank; this rank when it does not. */
static uint32_t rank_across(uint32_t ring)
{
    uint32_t sender = platform_rank_of(table->rings[ring].sender);
    uint32_t receiver = platform_rank_of(table->rings[ring].receiver);
    return sender == ranks.number ? receiver : receiver == ranks.number ? sender : ranks.number;
}

void ring_ends_agree(void (*add)(uint32_t near, uint32_t cycles, uint32_t slots))
{
    if (!sums)
        return;
    for (uint32_t i = 0; i < table->ring_count; i++) {
        uint32_t to = rank_across(i);
        const struct added sent = {i, sums[i].cycles, sums[i].slots};
        if (to != ranks.number && (sent.cycles || sent.slots))
            rank_put(to, &sent, sizeof sent);
    }
    rank_exchange();
    for (uint32_t from = rank_other(0); from < ranks.count; from = rank_other(from + 1)) {
        struct added sent;
        while (rank_bytes_left(from)) {
            memcpy(&sent, rank_read_next(from, sizeof sent), sizeof sent);
            if (sent.ring >= table->ring_count || rank_across(sent.ring) != from)
                bug("rank %u adds to ring %u, which does not lie between us", from, sent.ring);
            add(sent.ring, sent.cycles, sent.slots);
        }
    }
}
