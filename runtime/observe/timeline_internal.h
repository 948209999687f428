/* The parts of timeline.c, which writes the trace. */
#ifndef HEDDLE_RUNTIME_OBSERVE_TIMELINE_INTERNAL_H
#define HEDDLE_RUNTIME_OBSERVE_TIMELINE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "json.h"

/* The part of a run that the trace shows: a window of simulated time, components by path, launches
 * by name or number. An event is shown when all that was asked for agree. Decided where events are
 * written, in the order of time, so it does not depend on threads. */

struct platform_table;

/* Prints the patterns that match nothing, and returns false when there are any. */
bool timeline_select_open(const struct platform_table *table);
/* True if times or launches are limited. Otherwise spans are shown as they begin and end. */
bool timeline_select_limits_time(void);
bool timeline_selects_instance(uint32_t instance);
bool timeline_selects_ring(uint32_t ring);
/* Outside the window, which is known before a launch is. */
bool timeline_selects_time(uint64_t time_ps);

/* From here on in the order of time. */
void timeline_select_launch_begin(uint32_t instance, const char *name, uint64_t id);
/* Any span of `instance` ends; it need not be a launch. */
void timeline_select_launch_end(uint32_t instance, const char *name, uint64_t id, uint64_t now_ps);
bool timeline_selects_now(uint64_t now_ps);
/* True if anything was selected between these times, for a span that ends now. */
bool timeline_selects_span(uint64_t begin_ps, uint64_t now_ps);
/* At the end of the run. False: a launch asked for never ran, or the run ended before the window;
 * said on standard error. */
bool timeline_select_close(uint64_t now_ps);

/* The fields of a message in the trace, by the names they have in the description. */

/* Members of the open object: those fields that travel in the header. `layout`: see fields in
 * struct platform_message. */
void timeline_write_fields(struct json *out, const char *layout, const uint8_t *fields);

/* Spans that are open in the trace: how many of a name a component has, for counters, and since
 * when, for spans that are written when they end. In the order of time. */

struct timeline_span {
    uint64_t id, begin_ps;
    const char *name;
};

void timeline_spans_open(uint32_t instances);
void timeline_spans_add(uint32_t instance, struct timeline_span span);
/* Takes out a span that ends. False: it was never begun. */
bool timeline_spans_remove(uint32_t instance, uint64_t id, const char *name,
                           struct timeline_span *span);
/* Open spans of the component with this name. */
uint32_t timeline_spans_count(uint32_t instance, const char *name);
/* Takes out a span that is still open, for the end of a run. False: there are no more. */
bool timeline_spans_drain(uint32_t *instance, struct timeline_span *span);
void timeline_spans_close(void);

/* Flows of the trace: the messages that belong to one request, on the way from the component that
 * asks first to the component that answers, and back.
 *
 * No message has an identity that lasts for longer than a hop, and none gets one for the sake of
 * traces. The writer of the trace infers flows from all messages: while a component owes an answer
 * to a request, its own requests for the same line, or for the page's translation, belong to that
 * request. If it owes several answers, the oldest request without such a message counts. Addresses
 * before and after a translation are known to be the same from the answers of TLBs; of pages whose
 * translation was not asked for, by their last twelve bits.
 *
 * A request of more than a page's part that caches handle (a copy) begins no flow: the lines that
 * it consists of do. */

/* A message as the trace has it. */
struct timeline_hop {
    uint32_t ring;
    uint32_t kind; /* the message's number in the ring's direction */
    uint16_t tag;
    const uint8_t *fields;
    uint64_t id; /* the flow that it begins */
    uint64_t sent_ps, arrival_ps;
};

/* The flow of a message. `merged`: for an answer, the flow of another request for the line, which
 * was answered while this one waited without asking others; 0: none was. */
struct timeline_flow {
    uint64_t id; /* 0: of no flow */
    bool is_first, is_last;
    uint64_t merged;
};

void timeline_flows_open(const struct platform_table *table);
/* The flow of a message, called in the order of sending. `is_shown`: it is written; a flow begins
 * with the first of its messages that are. */
struct timeline_flow timeline_flows_add(const struct timeline_hop *hop, bool is_shown);
void timeline_flows_close(void);

#endif
