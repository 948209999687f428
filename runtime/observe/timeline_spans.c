/* Open spans of components: some dozens each at most, so they are a list. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#include "timeline_internal.h"

struct list {
    struct timeline_span *spans;
    uint32_t count;
    size_t capacity;
};

static struct list *lists;
static uint32_t list_count;

void timeline_spans_open(uint32_t instances)
{
    lists = grow_zeroed(instances * sizeof *lists, "spans");
    list_count = instances;
}

void timeline_spans_add(uint32_t instance, struct timeline_span span)
{
    struct list *l = &lists[instance];
    grow_list(l->spans, l->count + 1, l->capacity, "spans");
    l->spans[l->count++] = span;
}

bool timeline_spans_remove(uint32_t instance, uint64_t id, const char *name,
                           struct timeline_span *span)
{
    struct list *l = &lists[instance];
    uint32_t i = 0;
    while (i < l->count && (l->spans[i].id != id || strcmp(l->spans[i].name, name) != 0))
        i++;
    if (i == l->count)
        return false;
    *span = l->spans[i];
    memmove(&l->spans[i], &l->spans[i + 1], (--l->count - i) * sizeof *l->spans);
    return true;
}

uint32_t timeline_spans_count(uint32_t instance, const char *name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < lists[instance].count; i++)
        count += strcmp(lists[instance].spans[i].name, name) == 0;
    return count;
}

bool timeline_spans_drain(uint32_t *instance, struct timeline_span *span)
{
    for (uint32_t i = 0; i < list_count; i++)
        if (lists[i].count) {
            *instance = i;
            *span = lists[i].spans[0];
            return timeline_spans_remove(i, span->id, span->name, span);
        }
    return false;
}

void timeline_spans_close(void)
{
    for (uint32_t i = 0; i < list_count; i++)
        free(lists[i].spans);
    free(lists);
    lists = NULL;
    list_count = 0;
}
