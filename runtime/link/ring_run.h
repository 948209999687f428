/* Rings as the runtime handles them: opening, what crosses shards, and their use.
 * What a component does with a ring is in ring.h and port.h.
 *
 * Life cycle: ring_reserve() first of all that is allocated; ring_open() when the instances exist.
 * Ownership: the half of a ring at the sender's side belongs to the sender's shard, the half at the
 * receiver's to the receiver's; ring.c says what may be touched from where. */
#ifndef HEDDLE_RUNTIME_LINK_RING_RUN_H
#define HEDDLE_RUNTIME_LINK_RING_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message;
struct platform_table;
struct ring;

/* Called before anything else is allocated: the rings are at the same place of every arena. */
void ring_reserve(void);
void ring_open(const struct platform_table *table);
/* Called when the components are initialised: takes over the delays that components of other ranks
 * have added to rings. */
void ring_agree(void);
/* All messages pass ring_trace(), or none. A state does not depend on it: off while one is written,
 * set again when one has been loaded. */
void ring_trace_all(bool on);
/* In timeline.c: message number `nth` of a ring, from 1, sent at `time_ps` while tracing, over a
 * shared wire that granted it at `granted_ps`; RING_OWN: over none. The ring may have taken others
 * before it is granted. */
#define RING_OWN UINT64_MAX
void ring_trace(const struct ring *r, const struct message *m, uint64_t nth, uint64_t time_ps,
                uint64_t granted_ps);
/* Announces a message of another shard to the receiver of ring `number` (of the tables), for cycle
 * `ready`. Called by exchange.c, in the shard of the receiver. */
void ring_deliver(uint32_t number, uint64_t ready);
/* True if the receiver, in another shard, has made room: the sender is woken when it may use that.
 * Called by exchange.c, in the shard of the sender. */
bool ring_retry_sender(uint32_t number);

struct ring_link_use {
    uint64_t messages;
    uint64_t bytes;
    uint64_t busy_ps;
};
/* Use of one half of a link: 0 forward (requests), 1 backward. Of what has been sent, the time
 * after `until_ps` is not busy yet. */
const struct ring_link_use *ring_link_use(uint32_t link, unsigned half, uint64_t until_ps);

/* Messages sent so far over all rings. */
uint64_t engine_messages(void);

#endif
