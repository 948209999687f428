/* Flows of the trace: which messages belong to one request, from the component that asks first to
 * the one that answers, and back.
 *
 * No message has an identity that lasts for longer than a hop, and none gets one for the sake of
 * traces. The writer of the trace concludes it from what it sees of all messages: while a component
 * owes an answer to a request, what it asks others for the same line, or for the page's
 * translation, belongs to that request. Of several the oldest counts for which nothing has been
 * asked yet. Addresses before and behind a translation are known to be the same from the answers of
 * TLBs; of pages whose translation was not asked for, by their last twelve bits.
 *
 * A request of more than a page's part that caches handle (a copy) begins no flow: the lines that
 * it consists of do. */
#ifndef HEDDLE_RUNTIME_TIMELINE_FLOWS_H
#define HEDDLE_RUNTIME_TIMELINE_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

struct platform_table;

/* A message as the trace has it. */
struct timeline_hop {
    uint32_t ring;
    uint32_t kind; /* of the ring's direction */
    uint16_t tag;
    const uint8_t *fields;
    uint64_t id; /* of a flow that it begins */
    uint64_t sent_ps, arrival_ps;
};

/* The flow of a message. `merged`: for an answer, the flow of another request for the line, which
 * was answered while this one waited without asking others; 0: none was. */
struct timeline_flow {
    uint64_t id; /* 0: of no flow */
    bool first, last;
    uint64_t merged;
};

void timeline_flows_open(const struct platform_table *table);
/* The flow of a message, called in the order of sending. `shown`: it is written; a flow begins with
 * the first of its messages that are. */
struct timeline_flow timeline_flows_add(const struct timeline_hop *hop, bool shown);
void timeline_flows_close(void);

#endif
