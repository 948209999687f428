/* Streams: which call may be taken now, and when it is answered. Pure logic, for whatever executes
 * the calls of api_packet.heddle; it knows no time and no memory.
 *
 * The rules are those of SST's balar ("Balar In Depth", CUDA stream support): every stream is a
 * queue of operations that run one after the other; stream 0 is the default stream. A call on it,
 * or any in launch-blocking mode, is refused while anything at all is pending: it is `blocked`, and
 * the caller tries again. Calls on other streams are always taken. Copies that the program waits
 * for and the synchronising calls are answered when they are complete, the rest at once.
 *
 * Nothing here ever waits. That is the point: whoever takes the calls also drains the queues, and
 * would wait for itself.
 *
 * Beyond balar: copies out of symbols are answered on completion as those into symbols are, since
 * their bytes must be there; a synchronising call waits for its own stream or event and for what
 * was pending when it came, not for what comes later; streams wait for events.
 *
 * State is flat, without pointers, so it can stand in a component's state. Invariant: `order` rises
 * within a queue, so "complete up to an order" is one comparison with the head. */
#ifndef HEDDLE_API_STREAM_H
#define HEDDLE_API_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "api_call.gen.h"

/* Streams, and operations pending in all of them; what finds no room is blocked. */
#define API_STREAM_COUNT           64
#define API_STREAM_OPERATIONS_MOST 256
#define API_STREAM_WAITERS_MOST    64
#define API_STREAM_NONE            UINT16_MAX

enum api_stream_flags {
    API_STREAM_QUEUES = 1, /* becomes an operation of its stream */
    API_STREAM_CHECKS = 2, /* blocked while the default stream may not be used */
    API_STREAM_WAITS = 4   /* answered when complete */
};

enum api_stream_verdict {
    API_STREAM_NOW,    /* answer at once; an operation is pending if the call makes one */
    API_STREAM_LATER,  /* answer when api_stream_complete() or api_stream_next_waiter() says so */
    API_STREAM_BLOCKED /* answer "blocked"; nothing has happened */
};

/* A point in a stream's past or future: everything up to `order` in it. */
struct api_stream_point {
    uint16_t stream; /* API_STREAM_NONE: in all of them */
    uint64_t order;  /* 0: complete since ever */
};

struct api_stream_operation {
    uint64_t order;
    uint64_t ticket; /* the caller's */
    uint16_t call;   /* enum api_call */
    uint16_t next;
    bool waits;                    /* its ticket is answered when it is complete */
    struct api_stream_point after; /* stream_wait_event: what it waits for */
};

struct api_stream_waiter {
    uint64_t ticket;
    struct api_stream_point until;
};

struct api_streams {
    bool launch_blocking;
    uint32_t pending; /* operations in all queues */
    uint64_t last_order;
    uint16_t head[API_STREAM_COUNT], tail[API_STREAM_COUNT];
    uint16_t free; /* list of unused operations */
    uint16_t waiter_count;
    struct api_stream_operation operations[API_STREAM_OPERATIONS_MOST];
    struct api_stream_waiter waiters[API_STREAM_WAITERS_MOST]; /* as they came */
};

/* What the rules say of a call: api_stream_flags. */
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
    for (uint16_t i = 0; i < API_STREAM_COUNT; i++)
        s->head[i] = s->tail[i] = API_STREAM_NONE;
    for (uint16_t i = 0; i < API_STREAM_OPERATIONS_MOST; i++)
        s->operations[i].next =
            i + 1 < API_STREAM_OPERATIONS_MOST ? (uint16_t)(i + 1) : API_STREAM_NONE;
}

static inline bool api_stream_queue_passed(const struct api_streams *s, uint16_t stream,
                                           uint64_t order)
{
    uint16_t head = s->head[stream];
    return head == API_STREAM_NONE || s->operations[head].order > order;
}

/* Is everything up to the point complete? */
static inline bool api_stream_passed(const struct api_streams *s,
                                     const struct api_stream_point *point)
{
    if (point->stream != API_STREAM_NONE)
        return api_stream_queue_passed(s, point->stream, point->order);
    for (uint16_t i = 0; i < API_STREAM_COUNT; i++)
        if (!api_stream_queue_passed(s, i, point->order))
            return false;
    return true;
}

/* The end of a stream as it is now: what event_record makes the event mean. */
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
    if (s->waiter_count == API_STREAM_WAITERS_MOST)
        return API_STREAM_BLOCKED;
    s->waiters[s->waiter_count++] = (struct api_stream_waiter){ticket, until};
    return API_STREAM_LATER;
}

/* Takes a call, or does not. `stream` is below API_STREAM_COUNT, 0 for calls that name none;
 * `event` is the point of the event that the call names (event_synchronize, stream_wait_event), and
 * unused otherwise. After event_record was taken, the event's point is api_stream_now(). */
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

/* The operation that the stream may execute now; NULL: none, or its event has not happened. */
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

/* The head of the stream, which api_stream_head() gave, is complete and leaves. true: `ticket` is
 * to be answered. Ask api_stream_next_waiter() afterwards. */
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

/* The next synchronising call that is over, in the order in which they came. */
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

#endif
