/* Applies balar's rules to calls, stream by stream. */
#include "api_stream.h"

#include <string.h>

static inline unsigned api_stream_rule(enum api_call call)
{
    switch (call) {
    case API_CALL_MEMCPY:
    case API_CALL_MEMCPY_PEER:
    case API_CALL_MEMCPY_TO_SYMBOL:
    case API_CALL_MEMCPY_FROM_SYMBOL:
        return API_STREAM_QUEUES | API_STREAM_CHECKS | API_STREAM_WAITS;
    case API_CALL_MEMCPY_ASYNC:
    case API_CALL_MEMCPY_PEER_ASYNC:
    case API_CALL_MEMCPY_TO_SYMBOL_ASYNC:
    case API_CALL_MEMCPY_FROM_SYMBOL_ASYNC:
    case API_CALL_MEMSET:
    case API_CALL_MEMSET_ASYNC:
    case API_CALL_LAUNCH:
    case API_CALL_EVENT_RECORD:
        return API_STREAM_QUEUES | API_STREAM_CHECKS;
    case API_CALL_STREAM_WAIT_EVENT:
        return API_STREAM_QUEUES;
    case API_CALL_DEVICE_SYNCHRONIZE:
    case API_CALL_STREAM_SYNCHRONIZE:
    case API_CALL_EVENT_SYNCHRONIZE:
        return API_STREAM_WAITS;
    default:
        return 0;
    }
}

static inline void api_streams_init(struct api_streams *s, bool launch_blocking)
{
    memset(s, 0, sizeof *s);
    s->launch_blocking = launch_blocking;
    for (uint16_t i = 0; i < API_STREAMS_MAX; i++)
        s->head[i] = s->tail[i] = API_STREAM_NONE;
    for (uint16_t i = 0; i < API_STREAM_OPERATIONS_MAX; i++)
        s->operations[i].next =
            i + 1 < API_STREAM_OPERATIONS_MAX ? (uint16_t)(i + 1) : API_STREAM_NONE;
}

static inline bool api_stream_queue_passed(const struct api_streams *s, uint16_t stream,
                                           uint64_t order)
{
    uint16_t head = s->head[stream];
    return head == API_STREAM_NONE || s->operations[head].order > order;
}

static inline bool api_stream_passed(const struct api_streams *s,
                                     const struct api_stream_point *point)
{
    if (point->stream != API_STREAM_NONE)
        return api_stream_queue_passed(s, point->stream, point->order);
    for (uint16_t i = 0; i < API_STREAMS_MAX; i++)
        if (!api_stream_queue_passed(s, i, point->order))
            return false;
    return true;
}

static inline struct api_stream_point api_stream_now(const struct api_streams *s, uint16_t stream)
{
    return (struct api_stream_point){stream, s->last_order};
}

static inline bool api_stream_may_issue(const struct api_streams *s, enum api_call call,
                                        uint16_t stream)
{
    bool is_default = stream == 0 || s->launch_blocking;
    return !(api_stream_rule(call) & API_STREAM_CHECKS) || !is_default || s->pending == 0;
}

static inline enum api_stream_verdict api_stream_enqueue(struct api_streams *s, uint16_t stream,
                                                         struct api_stream_operation operation)
{
    uint16_t index = s->free;
    if (index == API_STREAM_NONE)
        return API_STREAM_BLOCKED;
    s->free = s->operations[index].next;
    operation.order = ++s->last_order;
    operation.next = API_STREAM_NONE;
    s->operations[index] = operation;
    if (s->tail[stream] == API_STREAM_NONE)
        s->head[stream] = index;
    else
        s->operations[s->tail[stream]].next = index;
    s->tail[stream] = index;
    s->pending++;
    return operation.waits ? API_STREAM_LATER : API_STREAM_NOW;
}

static inline enum api_stream_verdict api_stream_wait(struct api_streams *s, uint64_t ticket,
                                                      struct api_stream_point until)
{
    if (api_stream_passed(s, &until))
        return API_STREAM_NOW;
    if (s->waiter_count == API_STREAM_WAITERS_MAX)
        return API_STREAM_BLOCKED;
    s->waiters[s->waiter_count++] = (struct api_stream_waiter){ticket, until};
    return API_STREAM_LATER;
}

static inline enum api_stream_verdict api_stream_issue(struct api_streams *s, enum api_call call,
                                                       uint16_t stream, uint64_t ticket,
                                                       struct api_stream_point event)
{
    unsigned rule = api_stream_rule(call);
    if (!api_stream_may_issue(s, call, stream))
        return API_STREAM_BLOCKED;
    if (rule & API_STREAM_QUEUES)
        return api_stream_enqueue(
            s, stream,
            (struct api_stream_operation){.ticket = ticket,
                                          .call = (uint16_t)call,
                                          .waits = (rule & API_STREAM_WAITS) != 0,
                                          .after = call == API_CALL_STREAM_WAIT_EVENT
                                                       ? event
                                                       : (struct api_stream_point){0}});
    if (!(rule & API_STREAM_WAITS))
        return API_STREAM_NOW;
    if (call == API_CALL_EVENT_SYNCHRONIZE)
        return api_stream_wait(s, ticket, event);
    bool is_all = call == API_CALL_DEVICE_SYNCHRONIZE;
    return api_stream_wait(
        s, ticket, (struct api_stream_point){is_all ? API_STREAM_NONE : stream, s->last_order});
}

static inline const struct api_stream_operation *api_stream_head(const struct api_streams *s,
                                                                 uint16_t stream)
{
    uint16_t head = s->head[stream];
    if (head == API_STREAM_NONE)
        return NULL;
    const struct api_stream_operation *operation = &s->operations[head];
    bool is_free = operation->after.order == 0 || api_stream_passed(s, &operation->after);
    return is_free ? operation : NULL;
}

static inline bool api_stream_complete(struct api_streams *s, uint16_t stream, uint64_t *ticket)
{
    uint16_t index = s->head[stream];
    struct api_stream_operation *operation = &s->operations[index];
    s->head[stream] = operation->next;
    if (operation->next == API_STREAM_NONE)
        s->tail[stream] = API_STREAM_NONE;
    s->pending--;
    operation->next = s->free;
    s->free = index;
    *ticket = operation->ticket;
    return operation->waits;
}

static inline bool api_stream_next_waiter(struct api_streams *s, uint64_t *ticket)
{
    for (uint16_t i = 0; i < s->waiter_count; i++) {
        if (!api_stream_passed(s, &s->waiters[i].until))
            continue;
        *ticket = s->waiters[i].ticket;
        s->waiter_count--;
        memmove(&s->waiters[i], &s->waiters[i + 1],
                (size_t)(s->waiter_count - i) * sizeof s->waiters[0]);
        return true;
    }
    return false;
}
