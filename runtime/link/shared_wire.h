/* Shared wires: full-duplex links that several connections use at once.
 *
 * Each direction is one medium. The rings that lead its way are its channels: requests of some
 * connections and replies of others. A message waits in its ring until the medium is free; the
 * channels take turns, message by message, so of n channels that always have something to send each
 * sends every n-th message, however deep its ring is. A message is sent only when its receiver has
 * a slot for it (the ring's credits), so a channel whose receiver takes nothing holds up no other.
 *
 * The medium decides at the earliest time at which it is free and something waits; whatever was
 * sent at that time or before takes part. That depends on times alone, so neither the order of
 * ticks nor the shards in which the senders are can change it. A shard decides when its own time
 * has come there (shard.h, wire_ps: a step without an edge if need be). With senders in several
 * shards the leader decides at the end of the window, for all times inside of it: what is granted
 * then arrives a latency later, which is no shorter than the window (shard_cut.c).
 *
 * Round robin between the queues of a link is what PCI Express switches do between the virtual
 * channels of a port at their default setting (PCI Express Base Specification, "VC Arbitration").
 *
 * Known to the runtime's own files only. State lives in the arena. */
#ifndef HEDDLE_RUNTIME_LINK_SHARED_WIRE_H
#define HEDDLE_RUNTIME_LINK_SHARED_WIRE_H

#include "runtime/engine/platform_table.h"

/* Messages and bytes that one ring has sent over its wire. */
struct shared_wire_channel_use {
    uint32_t ring;
    uint64_t messages;
    uint64_t bytes;
    uint64_t waited_ps; /* from the sending until the wire took it, summed */
};

/* Called when all rings are open. */
void shared_wire_open(const struct platform_table *table);
/* Ring `number` has been given more slots, at start-up; nothing for one that crosses no wire. */
void shared_wire_deepen(uint32_t number);

/* From a tick: the message in `slot` of a ring waits from now on. */
void shared_wire_queue(uint32_t ring, uint32_t slot, uint64_t now_ps, uint32_t bytes);
/* At the end of a step: grants what the wires of the shard can take by now. */
void shared_wire_settle(uint32_t shard);
/* Between windows: grants what wires of several shards can take before `end_ps`. */
void shared_wire_settle_mixed(uint64_t end_ps);
/* Earliest time at which a wire of several shards is to decide; ENGINE_NEVER: nothing waits. */
uint64_t shared_wire_mixed_next(void);
/* Called when a run begins, perhaps with state that was loaded: finds the times of decisions. */
void shared_wire_find(void);

/* Channels of half `half` of link `link`, in order; 0 for other links. */
uint32_t shared_wire_channel_count(uint32_t link, unsigned half);
const struct shared_wire_channel_use *shared_wire_channel(uint32_t link, unsigned half,
                                                          uint32_t index);

/* In link_bandwidth.c. Moves a message that was sent at `time_ps` over its link now, and announces
 * it to the receiver. `use` belongs to the message's ring, and counts the message already. */
void ring_grant(const struct shared_wire_channel_use *use, uint32_t slot, uint64_t time_ps,
                uint32_t bytes, uint64_t decided_ps);
/* The time at which a half has sent everything that it was granted. */
uint64_t ring_link_free_ps(uint32_t link, unsigned half);

#endif
