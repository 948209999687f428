/* Rings between two ranks: what crosses them when ranks meet; see rank_rings.c.
 *
 * Life cycle: rank_rings_open() when the instances are initialised, with several ranks. Then
 * rank_rings_collect() at the end of each window, and when ranks meet rank_rings_send(), an
 * exchange (rank.h), and rank_rings_receive() for each of the others. */
#ifndef HEDDLE_RUNTIME_LINK_RANK_RINGS_H
#define HEDDLE_RUNTIME_LINK_RANK_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/rank.h"

struct platform_table;

/* Opens the rings between ranks. False: the platform has something that cannot be cut, and rank 0
 * has printed what. */
bool rank_rings_open(const struct platform_table *table);
/* The time at which the first of what was sent arrives: at each rank, and in the main partition. */
struct rank_rings_arrivals {
    uint64_t messages; /* 1: not only credits */
    uint64_t main_ps;
    uint64_t rank_ps[RANK_MAX]; /* last, so that only as many are sent as there are ranks */
};

/* Collects the messages that were sent to other ranks in the window that ends. */
void rank_rings_collect(void);
/* True if rank_rings_collect() has collected anything since the last exchange of ranks. */
bool rank_rings_have_outgoing(void);
/* Sends the other ranks what rank_rings_collect() has collected, and which slots were freed. */
void rank_rings_send(struct rank_rings_arrivals *arrivals);
/* Takes in what `from` has sent. The clocks of all shards are before the end of the window. */
void rank_rings_receive(uint32_t from);

#endif
