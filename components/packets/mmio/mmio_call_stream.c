/* Calls about streams and events, and how calls become operations of streams. */
#include "mmio_state.h"

static bool stream_exists(const struct mmio *c, uint64_t stream)
{
    return stream < API_STREAMS_MAX && c->streams[stream].is_used;
}

/* The driver's queue for work of the call in a stream; the default stream has one on each device.
 */
static uint32_t queue_of(const struct mmio *c, const struct mmio_call *k, uint64_t stream)
{
    return stream ? c->streams[stream].queue : device_of(c, k);
}

static uint32_t device_of_stream(const struct mmio *c, const struct mmio_call *k, uint64_t stream)
{
    return stream ? c->streams[stream].device : device_of(c, k);
}

/* The call becomes an operation, or is blocked. */
static bool issue_operation(struct mmio *c, struct mmio_call *k, uint64_t stream,
                            struct mmio_operation operation)
{
    uint32_t number = operation_find_free(c);
    if (!stream_exists(c, stream))
        return end_call(c, k, MMIO_INVALID_HANDLE);
    struct api_stream_point point = {0};
    if (operation.kind == OPERATION_WAIT)
        point = event_at(c, operation.event)->point;
    enum api_stream_verdict verdict =
        number == MMIO_NONE ? API_STREAM_BLOCKED
                            : api_stream_issue(streams_of(c), (enum api_call)k->request.call,
                                               (uint16_t)stream, number, point);
    if (verdict == API_STREAM_BLOCKED) {
        if (operation.blob != BLOB_NONE)
            blob_free(operation.blob);
        return end_blocked(c, k);
    }
    operation.stream = (uint16_t)stream;
    operation.queue = queue_of(c, k, stream);
    operation.thread = k->request.thread;
    operation.call = verdict == API_STREAM_LATER ? slot_of(c, k) : MMIO_NONE;
    *operation_at(c, number) = operation;
    if (operation.kind == OPERATION_RECORD) {
        struct mmio_event *event = event_at(c, operation.event);
        *event = (struct mmio_event){.is_used = true,
                                     .is_recorded = true,
                                     .point = api_stream_now(streams_of(c), (uint16_t)stream)};
    }
    if (verdict == API_STREAM_NOW)
        return end_call(c, k, MMIO_SUCCESS);
    k->phase = PHASE_WAITING;
    return true;
}

static bool wait_for(struct mmio *c, struct mmio_call *k, uint64_t stream,
                     struct api_stream_point point)
{
    if (!stream_exists(c, stream))
        return end_call(c, k, MMIO_INVALID_HANDLE);
    enum api_stream_verdict verdict =
        api_stream_issue(streams_of(c), (enum api_call)k->request.call, (uint16_t)stream,
                         MMIO_OPERATIONS + slot_of(c, k), point);
    if (verdict == API_STREAM_BLOCKED)
        return end_blocked(c, k);
    if (verdict == API_STREAM_NOW)
        return end_call(c, k, MMIO_SUCCESS);
    k->phase = PHASE_WAITING;
    return true;
}

static bool device_synchronize(struct mmio *c, struct mmio_call *k)
{
    return wait_for(c, k, 0, (struct api_stream_point){0});
}

static bool stream_synchronize(struct mmio *c, struct mmio_call *k)
{
    return wait_for(c, k, k->request.stream_synchronize.stream, (struct api_stream_point){0});
}

static bool stream_create(struct mmio *c, struct mmio_call *k)
{
    uint32_t i = 1;
    while (i < API_STREAMS_MAX && c->streams[i].is_used)
        i++;
    if (i == API_STREAMS_MAX)
        return end_call(c, k, MMIO_OUT_OF_MEMORY);
    if (k->step == 0) {
        ask_driver(c, k, DEVICE_CALL_OPEN)->device = device_of(c, k);
        return false;
    }
    if (k->status)
        return end_call(c, k, error_of(k->status));
    c->streams[i] = (struct mmio_stream){
        .is_used = true, .device = device_of(c, k), .queue = (uint32_t)k->value};
    k->answer.stream_create.stream = i;
    return end_call(c, k, MMIO_SUCCESS);
}

/* The answer has the handle where that of stream_create has it. */
static bool stream_create_with_flags(struct mmio *c, struct mmio_call *k)
{
    return stream_create(c, k);
}

/* Waits until the stream is empty. */
static bool stream_destroy(struct mmio *c, struct mmio_call *k)
{
    uint64_t stream = k->request.stream_destroy.stream;
    if (!stream || !stream_exists(c, stream))
        return end_call(c, k, MMIO_INVALID_HANDLE);
    if (streams_of(c)->head[stream] != API_STREAM_NONE)
        return false;
    if (k->step == 0) {
        ask_driver(c, k, DEVICE_CALL_CLOSE)->device = c->streams[stream].queue;
        return false;
    }
    c->streams[stream].is_used = false;
    return end_call(c, k, error_of(k->status));
}

static bool stream_query(struct mmio *c, struct mmio_call *k)
{
    uint64_t stream = k->request.stream_query.stream;
    if (!stream_exists(c, stream))
        return end_call(c, k, MMIO_INVALID_HANDLE);
    bool is_empty = streams_of(c)->head[stream] == API_STREAM_NONE;
    call_end(c, k, MMIO_SUCCESS);
    k->answer.error = is_empty ? MMIO_SUCCESS : MMIO_NOT_READY; /* no mistake: not remembered */
    return true;
}

/* ---- events: handles from 1 ---- */

static struct mmio_event *event_of(const struct mmio *c, uint64_t handle)
{
    bool is_valid =
        handle >= 1 && handle <= MMIO_EVENTS_MAX && event_at(c, (uint32_t)handle - 1)->is_used;
    return is_valid ? event_at(c, (uint32_t)handle - 1) : NULL;
}

static bool event_create(struct mmio *c, struct mmio_call *k)
{
    uint32_t i = 0;
    while (i < MMIO_EVENTS_MAX && event_at(c, i)->is_used)
        i++;
    if (i == MMIO_EVENTS_MAX)
        return end_call(c, k, MMIO_OUT_OF_MEMORY);
    *event_at(c, i) = (struct mmio_event){.is_used = true};
    k->answer.event_create.event = i + 1;
    return end_call(c, k, MMIO_SUCCESS);
}

/* The answer has the handle where that of event_create has it. */
static bool event_create_with_flags(struct mmio *c, struct mmio_call *k)
{
    return event_create(c, k);
}

static bool event_destroy(struct mmio *c, struct mmio_call *k)
{
    struct mmio_event *event = event_of(c, k->request.event_destroy.event);
    if (!event)
        return end_call(c, k, MMIO_INVALID_HANDLE);
    if (event->is_recorded && !event->has_happened
        && !api_stream_passed(streams_of(c), &event->point))
        return false; /* its record is still to come */
    event->is_used = false;
    return end_call(c, k, MMIO_SUCCESS);
}

static bool event_record(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_event *event = event_of(c, k->request.event_record.event);
    if (!event)
        return end_call(c, k, MMIO_INVALID_HANDLE);
    return issue_operation(
        c, k, k->request.event_record.stream,
        (struct mmio_operation){.kind = OPERATION_RECORD,
                                .event = (uint32_t)k->request.event_record.event - 1});
}

static bool stream_wait_event(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_event *event = event_of(c, k->request.stream_wait_event.event);
    if (!event)
        return end_call(c, k, MMIO_INVALID_HANDLE);
    if (k->request.stream_wait_event.flags)
        return end_call(c, k, MMIO_INVALID_VALUE);
    return issue_operation(
        c, k, k->request.stream_wait_event.stream,
        (struct mmio_operation){.kind = OPERATION_WAIT,
                                .event = (uint32_t)k->request.stream_wait_event.event - 1});
}

static bool event_synchronize(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_event *event = event_of(c, k->request.event_synchronize.event);
    return event ? wait_for(c, k, 0, event->point) : end_call(c, k, MMIO_INVALID_HANDLE);
}

static bool event_query(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_event *event = event_of(c, k->request.event_query.event);
    if (!event)
        return end_call(c, k, MMIO_INVALID_HANDLE);
    bool is_over = !event->is_recorded || event->has_happened;
    call_end(c, k, MMIO_SUCCESS);
    k->answer.error = is_over ? MMIO_SUCCESS : MMIO_NOT_READY;
    return true;
}

static bool event_elapsed_time(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_event *from = event_of(c, k->request.event_elapsed_time.start);
    const struct mmio_event *to = event_of(c, k->request.event_elapsed_time.stop);
    if (!from || !to || !from->is_recorded || !to->is_recorded)
        return end_call(c, k, MMIO_INVALID_HANDLE);
    if (!from->has_happened || !to->has_happened)
        return end_call(c, k, MMIO_NOT_READY);
    /* Picoseconds are exact; one division makes milliseconds of them, the same everywhere. */
    int64_t ps = (int64_t)(to->time_ps - from->time_ps);
    k->answer.event_elapsed_time.milliseconds = (float)((double)ps / 1e9);
    return end_call(c, k, MMIO_SUCCESS);
}
