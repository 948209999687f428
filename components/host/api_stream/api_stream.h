/* Streams: which call may be taken now, and when it is answered. Pure logic, for whatever executes
 * the calls of api_call.h; it knows no time and no memory.
 *
 * The rules are those of SST's balar ("Balar In Depth", CUDA stream support): every stream is a
 * queue of operations that run one after the other; stream 0 is the default stream. A call on it,
 * or any in launch-blocking mode, is refused while anything at all is pending: it is `blocked`, and
 * the caller tries again. Calls on other streams are always taken. Copies that the program waits
 * for and the synchronising calls are answered when they are complete, the rest at once.
 *
 * Nothing here ever waits. That is the point: the component that takes the calls also drains the
 * queues, and would wait for itself.
 *
 * Beyond balar: copies out of symbols are answered on completion as those into symbols are, since
 * their bytes must be there; a synchronising call waits for its own stream or event and for what
 * was pending when it came, not for what comes later; streams wait for events.
 *
 * State is flat, without pointers, so it can be in a component's state. A component that uses it
 * names api_stream.c among its files.
 *
 * Invariant: `order` rises within a queue, so "complete up to an order" is one comparison with the
 * head. */
#ifndef HEDDLE_COMPONENTS_HOST_API_STREAM_API_STREAM_H
#define HEDDLE_COMPONENTS_HOST_API_STREAM_API_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "components/protocols/api_call/api_call.h"

/* Streams, and operations pending in all of them; what finds no room is blocked. */
#define API_STREAMS_MAX           64
#define API_STREAM_OPERATIONS_MAX 256
#define API_STREAM_WAITERS_MAX    64
#define API_STREAM_NONE           UINT16_MAX

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
    uint16_t head[API_STREAMS_MAX], tail[API_STREAMS_MAX];
    uint16_t free; /* list of unused operations */
    uint16_t waiter_count;
    struct api_stream_operation operations[API_STREAM_OPERATIONS_MAX];
    struct api_stream_waiter waiters[API_STREAM_WAITERS_MAX]; /* as they came */
};

/* The rules for a call: api_stream_flags. */
static unsigned api_stream_rule(enum api_call call);
static void api_streams_init(struct api_streams *s, bool launch_blocking);

/* True if everything up to the point is complete. */
static bool api_stream_passed(const struct api_streams *s, const struct api_stream_point *point);

/* The end of a stream as it is now: what event_record makes the event mean. */
static struct api_stream_point api_stream_now(const struct api_streams *s, uint16_t stream);
static bool api_stream_may_issue(const struct api_streams *s, enum api_call call, uint16_t stream);

/* Takes a call, or does not. `stream` is below API_STREAMS_MAX, 0 for calls that name none;
 * `event` is the point of the event that the call names (event_synchronize, stream_wait_event), and
 * unused otherwise. After event_record was taken, the event's point is api_stream_now(). */
static enum api_stream_verdict api_stream_issue(struct api_streams *s, enum api_call call,
                                                uint16_t stream, uint64_t ticket,
                                                struct api_stream_point event);

/* The operation that the stream may execute now; NULL: none, or its event has not happened. */
static const struct api_stream_operation *api_stream_head(const struct api_streams *s,
                                                          uint16_t stream);

/* The head of the stream, which api_stream_head() gave, is complete and leaves. True if `ticket` is
 * to be answered. Ask api_stream_next_waiter() afterwards. */
static bool api_stream_complete(struct api_streams *s, uint16_t stream, uint64_t *ticket);

/* The next synchronising call that is over, in the order in which they came. */
static bool api_stream_next_waiter(struct api_streams *s, uint64_t *ticket);

#endif
