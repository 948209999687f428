/* Stream rules of SST's balar: the logic of api_stream.h on the driver's queues.
 *
 * Stream 0 is every default stream; a queue gets one of the others while it has work pending. An
 * operation is a call; it is complete when its last command is, and leaves when all before it in
 * its stream have left. */
#include "balar.gen.h"

#include "components/host/api_stream/api_stream.h"
#include "components/host/driver/stream_rules.h"

/* Tickets of operations that are being enqueued, and that are complete. */
#define TICKET_OPEN UINT64_MAX
#define TICKET_DONE 0

struct balar {
    struct balar_io io;
    struct api_streams streams;
    uint32_t queues[API_STREAMS_MAX]; /* queue of each stream with work pending, but stream 0 */
};

static void balar_init(struct balar *p)
{
    api_streams_init(&p->streams, balar_params(p)->launch_blocking);
}

static struct balar *self_of(struct part *self)
{
    return (struct balar *)(void *)self;
}

static uint32_t balar_flags(const struct part *self)
{
    (void)self;
    return 0;
}

/* The stream that the queue has now; 0: it has none, or is a default one. */
static uint16_t stream_of(const struct balar *p, uint32_t queue)
{
    for (uint16_t i = 1; i < API_STREAMS_MAX; i++)
        if (p->streams.head[i] != API_STREAM_NONE && p->queues[i] == queue)
            return i;
    return 0;
}

/* A stream for the queue; 0: all are taken. */
static uint16_t stream_for(struct balar *p, uint32_t queue)
{
    uint16_t stream = stream_of(p, queue);
    for (uint16_t i = 1; stream == 0 && i < API_STREAMS_MAX; i++)
        if (p->streams.head[i] == API_STREAM_NONE) {
            p->queues[i] = queue;
            stream = i;
        }
    return stream;
}

/* The ticket of the oldest operation. */
static uint64_t oldest(const struct balar *p)
{
    const struct api_stream_operation *first = NULL;
    for (uint16_t i = 0; i < API_STREAMS_MAX; i++) {
        uint16_t head = p->streams.head[i];
        if (head == API_STREAM_NONE)
            continue;
        const struct api_stream_operation *operation = &p->streams.operations[head];
        if (!first || operation->order < first->order)
            first = operation;
    }
    return first ? first->ticket : TICKET_DONE;
}

static bool balar_begin(struct part *self, enum driver_stream_call call, uint32_t queue,
                        bool is_default, uint64_t *blocker)
{
    static const enum api_call calls[] = {
        [DRIVER_STREAM_COPY] = API_CALL_MEMCPY,
        [DRIVER_STREAM_COPY_ASYNC] = API_CALL_MEMCPY_ASYNC,
        [DRIVER_STREAM_FILL] = API_CALL_MEMSET,
        [DRIVER_STREAM_LAUNCH] = API_CALL_LAUNCH,
        [DRIVER_STREAM_EVENT_RECORD] = API_CALL_EVENT_RECORD,
        [DRIVER_STREAM_WAIT_EVENT] = API_CALL_STREAM_WAIT_EVENT,
    };
    struct balar *p = self_of(self);
    uint16_t stream = is_default ? 0 : stream_for(p, queue);
    bool is_taken = (is_default || stream != 0)
                    && api_stream_issue(&p->streams, calls[call], stream, TICKET_OPEN,
                                        (struct api_stream_point){0})
                           != API_STREAM_BLOCKED;
    p->io.stats.taken += is_taken;
    p->io.stats.blocked += !is_taken;
    *blocker = is_taken ? TICKET_DONE : oldest(p);
    return is_taken;
}

/* The operation with this ticket in a stream, or NULL. */
static struct api_stream_operation *find_operation(struct balar *p, uint16_t stream,
                                                   uint64_t ticket)
{
    for (uint16_t at = p->streams.head[stream]; at != API_STREAM_NONE;
         at = p->streams.operations[at].next)
        if (p->streams.operations[at].ticket == ticket)
            return &p->streams.operations[at];
    return NULL;
}

/* The operation's ticket becomes `to`; what is complete at the head of the stream leaves. */
static void change_ticket(struct balar *p, uint16_t stream, uint64_t from, uint64_t to)
{
    struct api_stream_operation *operation = find_operation(p, stream, from);
    uint64_t ticket;
    if (!operation)
        return;
    operation->ticket = to;
    while (p->streams.head[stream] != API_STREAM_NONE
           && p->streams.operations[p->streams.head[stream]].ticket == TICKET_DONE)
        api_stream_complete(&p->streams, stream, &ticket);
}

/* Only one call is being enqueued, so there is one open operation, in the queue's stream. */
static void balar_end(struct part *self, uint32_t queue, uint64_t ticket)
{
    struct balar *p = self_of(self);
    change_ticket(p, stream_of(p, queue), TICKET_OPEN, ticket);
}

static void balar_completed(struct part *self, uint32_t queue, uint64_t ticket)
{
    struct balar *p = self_of(self);
    change_ticket(p, stream_of(p, queue), ticket, TICKET_DONE);
}

static const struct stream_rules_ops balar_ops = {
    .flags = balar_flags,
    .begin = balar_begin,
    .end = balar_end,
    .completed = balar_completed,
};
