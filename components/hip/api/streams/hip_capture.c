/* Captures the calls of streams. A call follows the earlier calls of its stream, and the events
 * that the stream has waited for. A stream joins a capture when it waits for an event that was
 * recorded in the capture; all streams leave when the capture ends. Streams without a handle of
 * their own (the null stream, hipStreamPerThread) cannot capture. */
#include "hip_capture.h"

#include "base/grow.h"
#include "components/hip/api/hip_findings.h"

#include "hip_stream.h"

/* The calls that something follows: for each stream, how many of its captured calls, and the number
 * in the capture of the last one. */
struct history {
    struct progress {
        size_t stream, calls, last;
    } * list;
    size_t count, capacity;
};

struct member {
    hipStream_t stream;
    struct history history; /* with the calls of the stream itself */
};

struct captured_event {
    hipEvent_t event;
    struct history history;
};

struct capture {
    struct capture *next;
    unsigned long long number; /* from 1 */
    struct hip_origin origin;
    struct hip_captured *calls;
    struct history *call_histories; /* for each call, the calls that it follows */
    size_t call_count, call_capacity, history_capacity;
    struct member *streams; /* the first one began it */
    size_t stream_count, stream_capacity;
    struct captured_event *events;
    size_t event_count, event_capacity;
    bool is_spoilt;
};

static struct capture *captures;
static unsigned long long last_number;

static size_t calls_of(const struct history *b, size_t stream)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->list[i].stream == stream)
            return b->list[i].calls;
    return 0;
}

static void advance(struct history *b, const struct progress *later)
{
    for (size_t i = 0; i < b->count; i++) {
        struct progress *entry = &b->list[i];
        if (entry->stream != later->stream)
            continue;
        if (entry->calls < later->calls)
            *entry = *later;
        return;
    }
    grow_list(b->list, b->count + 1, b->capacity, HIP_LIBRARY);
    b->list[b->count++] = *later;
}

static void merge_history(struct history *b, const struct history *added)
{
    for (size_t i = 0; i < added->count; i++)
        advance(b, &added->list[i]);
}

/* The place of a stream in a capture, or the count of its streams. */
static size_t place_of(const struct capture *c, hipStream_t stream)
{
    size_t i = 0;
    while (i < c->stream_count && c->streams[i].stream != stream)
        i++;
    return i;
}

static struct capture *capture_of(hipStream_t stream)
{
    struct capture *c = captures;
    while (c && place_of(c, stream) == c->stream_count)
        c = c->next;
    return c;
}

bool hip_is_capturing(hipStream_t stream)
{
    return capture_of(stream) != NULL;
}

/* True if a call that follows all of `b` follows `entry` through another one of these. */
static bool is_implied(const struct capture *c, const struct history *b,
                       const struct progress *entry)
{
    for (size_t i = 0; i < b->count; i++)
        if (calls_of(&c->call_histories[b->list[i].last], entry->stream) >= entry->calls)
            return true;
    return false;
}

hipError_t hip_capture_call(hipStream_t stream, const struct hip_action *action)
{
    struct capture *c = capture_of(stream);
    size_t place = place_of(c, stream), number = c->call_count;
    struct history *history = &c->streams[place].history, call_history = {0};
    struct hip_captured call = {.action = *action};
    call.dependencies = hip_allocate((history->count + 1) * sizeof *call.dependencies);
    for (size_t i = 0; i < history->count; i++)
        if (!is_implied(c, history, &history->list[i]))
            call.dependencies[call.dependency_count++] = history->list[i].last;
    merge_history(&call_history, history);
    grow_list(c->call_histories, number + 1, c->history_capacity, HIP_LIBRARY);
    c->call_histories[number] = call_history;
    grow_list(c->calls, number + 1, c->call_capacity, HIP_LIBRARY);
    c->calls[c->call_count++] = call;
    advance(history, &(struct progress){place, calls_of(history, place) + 1, number});
    return c->is_spoilt ? hipErrorStreamCaptureInvalidated : hipSuccess;
}

hipError_t hip_capture_spoil(hipStream_t stream)
{
    capture_of(stream)->is_spoilt = true;
    return hip_fail(hipErrorStreamCaptureUnsupported,
                    "the stream is capturing: what it is asked for is written down, and cannot be "
                    "waited for");
}

static struct captured_event *find_event(const struct capture *c, hipEvent_t event)
{
    for (size_t i = 0; i < c->event_count; i++)
        if (c->events[i].event == event)
            return &c->events[i];
    return NULL;
}

hipError_t hip_capture_record(hipStream_t stream, hipEvent_t event)
{
    struct capture *c = capture_of(stream);
    struct captured_event *captured = find_event(c, event);
    if (!captured) {
        grow_list(c->events, c->event_count + 1, c->event_capacity, HIP_LIBRARY);
        captured = &c->events[c->event_count++];
        *captured = (struct captured_event){.event = event};
    }
    captured->history.count = 0;
    merge_history(&captured->history, &c->streams[place_of(c, stream)].history);
    return hipSuccess;
}

hipError_t hip_capture_ask(hipEvent_t event)
{
    for (struct capture *c = captures; c; c = c->next) {
        if (!find_event(c, event))
            continue;
        c->is_spoilt = true;
        return hip_fail(hipErrorCapturedEvent,
                        "the event is one of a capture: what it stands for is written down, and "
                        "cannot be waited for");
    }
    return hipSuccess;
}

static void join_capture(struct capture *c, hipStream_t stream)
{
    grow_list(c->streams, c->stream_count + 1, c->stream_capacity, HIP_LIBRARY);
    c->streams[c->stream_count++] = (struct member){.stream = stream};
}

bool hip_capture_wait(hipStream_t stream, hipEvent_t event)
{
    struct capture *joined = capture_of(stream), *c = captures;
    while (c && !find_event(c, event))
        c = c->next;
    if (c && joined && joined != c)
        joined->is_spoilt = c->is_spoilt = true; /* two captures cannot become one */
    if (c && !joined)
        join_capture(c, stream);
    if (c && (!joined || joined == c))
        merge_history(&c->streams[place_of(c, stream)].history, &find_event(c, event)->history);
    return c != NULL;
}

/* True if a stream has joined and done something that the first one does not follow. */
static bool is_unjoined(const struct capture *c)
{
    for (size_t i = 1; i < c->stream_count; i++)
        if (calls_of(&c->streams[0].history, i) < calls_of(&c->streams[i].history, i))
            return true;
    return false;
}

static void release_capture(struct capture *c)
{
    for (size_t i = 0; i < c->stream_count; i++)
        hip_release(c->streams[i].history.list);
    for (size_t i = 0; i < c->event_count; i++)
        hip_release(c->events[i].history.list);
    for (size_t i = 0; i < c->call_count; i++)
        hip_release(c->call_histories[i].list);
    hip_release(c->call_histories);
    hip_release(c->streams);
    hip_release(c->events);
    hip_release(c);
}

void hip_report_captures(void)
{
    for (const struct capture *c = captures; c; c = c->next)
        hip_report_capture(&c->origin, false);
}

/* ---- the API ---- */

HIP_DEFINE_ALWAYS(hipStreamBeginCapture, (stream, mode), hipStream_t stream,
                  hipStreamCaptureMode mode)
{
    uint32_t queue = 0;
    int device = 0;
    if (stream && (unsigned)mode > hipStreamCaptureModeRelaxed)
        return hipErrorInvalidValue;
    if (!stream || stream == hipStreamPerThread || hip_is_capturing(stream))
        return hipErrorStreamCaptureUnsupported;
    hipError_t error = hip_stream_queue(stream, &queue, &device);
    if (error != hipSuccess)
        return error;
    struct capture *c = hip_allocate(sizeof *c);
    *c = (struct capture){.next = captures, .number = ++last_number, .origin = hip_origin_here()};
    captures = c;
    join_capture(c, stream);
    return hipSuccess;
}

hipError_t hip_capture_end(hipStream_t stream, struct hip_captured **calls, size_t *count)
{
    struct capture *c = capture_of(stream), **link = &captures;
    if (!c)
        return hipErrorIllegalState;
    if (c->streams[0].stream != stream)
        return hipErrorStreamCaptureUnmatched;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    *calls = c->calls;
    *count = c->call_count;
    hipError_t error = c->is_spoilt     ? hipErrorStreamCaptureInvalidated
                       : is_unjoined(c) ? hipErrorStreamCaptureUnjoined
                                        : hipSuccess;
    if (error == hipErrorStreamCaptureUnjoined)
        hip_report_capture(&c->origin, true);
    release_capture(c);
    return error;
}

static hipError_t status_of(hipStream_t stream, hipStreamCaptureStatus *status,
                            unsigned long long *id)
{
    const struct capture *c = capture_of(stream);
    if (!status)
        return hipErrorInvalidValue;
    *status = !c             ? hipStreamCaptureStatusNone
              : c->is_spoilt ? hipStreamCaptureStatusInvalidated
                             : hipStreamCaptureStatusActive;
    if (id)
        *id = c ? c->number : 0;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipStreamIsCapturing, (stream, status), hipStream_t stream,
                  hipStreamCaptureStatus *status)
{
    return status_of(stream, status, NULL);
}

HIP_DEFINE_ALWAYS(hipStreamGetCaptureInfo, (stream, status, id), hipStream_t stream,
                  hipStreamCaptureStatus *status, unsigned long long *id)
{
    return status_of(stream, status, id);
}
