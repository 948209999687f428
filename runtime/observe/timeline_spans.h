/* Spans that are open in the trace: how many of a name a component has, for counters, and since
 * when, for spans that are written when they end. In the order of time. */
#ifndef HEDDLE_RUNTIME_TIMELINE_SPANS_H
#define HEDDLE_RUNTIME_TIMELINE_SPANS_H

#include <stdbool.h>
#include <stdint.h>

struct timeline_span {
    uint64_t id, begin_ps;
    const char *name;
};

void timeline_spans_open(uint32_t instances);
void timeline_spans_add(uint32_t instance, struct timeline_span span);
/* Takes out a span that ends. false: it was never begun. */
bool timeline_spans_take(uint32_t instance, uint64_t id, const char *name,
                         struct timeline_span *span);
/* Open spans of the component with this name. */
uint32_t timeline_spans_count(uint32_t instance, const char *name);
/* Takes out a span that is still open, for the end of a run; false: there are no more. */
bool timeline_spans_drain(uint32_t *instance, struct timeline_span *span);
void timeline_spans_close(void);

#endif
