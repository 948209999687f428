/* Messages under way between shards: arrivals, and senders that wait for room; see exchange.c.
 *
 * Between windows exchange_turn() swaps two copies of all outboxes. In a window each is written by
 * the sender's thread only, and what was written in the window before is read by the receiver's. */
#ifndef HEDDLE_RUNTIME_LINK_EXCHANGE_H
#define HEDDLE_RUNTIME_LINK_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct platform_table;
struct window_plan;

void exchange_open(const struct platform_table *table);
/* From the shard of the sender: a message that arrives in cycle `ready` of the receiver. */
void exchange_message(uint32_t from, uint32_t to, uint32_t ring, uint64_t ready);
/* From the shard of the sender, which was refused and has not been since it was last woken: the
 * receiver has not taken the message in the slot that comes next. */
void exchange_wait(uint32_t ring);
/* Begins a window: what was sent until now can be delivered. Called by the leader. */
void exchange_turn(void);
/* True if something was sent since the last exchange_turn(), or a sender waits for room. For the
 * leader. */
bool exchange_is_pending(void);
/* Forgets what the shard sent before, if that is all that the window which begins demands. True:
 * exchange_deliver() must be called for the shard, which does it. For the leader. */
bool exchange_prepare(uint32_t shard, const struct window_plan *plan);
/* exchange_prepare() unless the shard has an edge in the window of `plan`. False: it has neither an
 * edge nor messages there, and can sleep through it. For the leader. */
bool exchange_prepare_window(uint32_t shard, const struct window_plan *plan);
/* Delivers the arrivals that other shards sent to `shard` in the window before that of `plan`,
 * forgets the older ones of `shard` itself, and wakes senders for which there is room now. The
 * shard's clocks move to their last edges before `start_ps`. Called by the thread that runs the
 * shard, before its edges. True if the shard must plan anew. */
bool exchange_deliver(uint32_t shard, const struct window_plan *plan, uint64_t start_ps);
/* Delivers everything to all shards, none of it due before `start_ps`. Called by the leader,
 * between windows. */
void exchange_deliver_all(uint64_t start_ps);

/* With several ranks, called by the leader, between windows: passes each arrival that is for a
 * shard of another rank to `send`, in the order of each ring, and forgets it. */
void exchange_drain_foreign(void (*send)(uint32_t ring, uint64_t ready));
/* Wakes senders of this rank for which there is room now. */
void exchange_retry_senders(void);
/* True if a sender of this rank waits for room. */
bool exchange_has_waiting_sender(void);

#endif
