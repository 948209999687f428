/* See hip_capture.h. A call stands behind all that were captured before, also those of other
 * streams of the capture. A stream joins when it waits for an event that was recorded in the
 * capture; all leave when it ends. Streams without a handle of their own (the null stream,
 * hipStreamPerThread) cannot capture. */
#include "hip_capture.h"
#include "hip_stream.h"

struct capture {
    struct capture *next;
    unsigned long long number; /* from 1 */
    struct hip_action *actions;
    size_t action_count, action_room;
    hipStream_t *streams; /* the first one began it */
    size_t stream_count, stream_room;
    hipEvent_t *events;
    size_t event_count, event_room;
    bool spoilt;
};

static struct capture *captures;
static unsigned long long last_number;

static struct capture *capture_of(hipStream_t stream)
{
    for (struct capture *c = captures; c; c = c->next) {
        for (size_t i = 0; i < c->stream_count; i++)
            if (c->streams[i] == stream)
                return c;
    }
    return NULL;
}

bool hip_captures(hipStream_t stream)
{
    return capture_of(stream) != NULL;
}

hipError_t hip_capture_call(hipStream_t stream, const struct hip_action *action)
{
    struct capture *c = capture_of(stream);
    HIP_MAKE_ROOM(c->actions, c->action_count, c->action_room);
    c->actions[c->action_count++] = *action;
    return c->spoilt ? hipErrorStreamCaptureInvalidated : hipSuccess;
}

hipError_t hip_capture_spoil(hipStream_t stream)
{
    hip_complain("the stream is capturing: what it is asked for is written down, and cannot be "
                 "waited for");
    capture_of(stream)->spoilt = true;
    return hipErrorStreamCaptureUnsupported;
}

hipError_t hip_capture_record(hipStream_t stream, hipEvent_t event)
{
    struct capture *c = capture_of(stream);
    HIP_MAKE_ROOM(c->events, c->event_count, c->event_room);
    c->events[c->event_count++] = event;
    return hipSuccess;
}

static bool has_event(const struct capture *c, hipEvent_t event)
{
    for (size_t i = 0; i < c->event_count; i++)
        if (c->events[i] == event)
            return true;
    return false;
}

static void join(struct capture *c, hipStream_t stream)
{
    HIP_MAKE_ROOM(c->streams, c->stream_count, c->stream_room);
    c->streams[c->stream_count++] = stream;
}

bool hip_capture_wait(hipStream_t stream, hipEvent_t event)
{
    struct capture *own = capture_of(stream), *c = captures;
    while (c && !has_event(c, event))
        c = c->next;
    if (c && own && own != c)
        own->spoilt = c->spoilt = true; /* two captures cannot become one */
    if (c && !own)
        join(c, stream);
    return c != NULL;
}

/* ---- the API ---- */

HIP_DEFINE_ALWAYS(hipStreamBeginCapture, (stream, mode), hipStream_t stream,
                  hipStreamCaptureMode mode)
{
    uint32_t queue = 0;
    int device = 0;
    if (stream && (unsigned)mode > hipStreamCaptureModeRelaxed)
        return hipErrorInvalidValue;
    if (!stream || stream == hipStreamPerThread || hip_captures(stream))
        return hipErrorStreamCaptureUnsupported;
    hipError_t error = hip_stream_queue(stream, &queue, &device);
    if (error != hipSuccess)
        return error;
    struct capture *c = hip_allocate(sizeof *c);
    *c = (struct capture){.next = captures, .number = ++last_number};
    captures = c;
    join(c, stream);
    return hipSuccess;
}

hipError_t hip_capture_end(hipStream_t stream, struct hip_action **actions, size_t *count)
{
    struct capture *c = capture_of(stream), **link = &captures;
    if (!c)
        return hipErrorIllegalState;
    if (c->streams[0] != stream)
        return hipErrorStreamCaptureUnmatched;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    *actions = c->actions;
    *count = c->action_count;
    hipError_t error = c->spoilt ? hipErrorStreamCaptureInvalidated : hipSuccess;
    hip_release(c->streams);
    hip_release(c->events);
    hip_release(c);
    return error;
}

static hipError_t status_of(hipStream_t stream, hipStreamCaptureStatus *status,
                            unsigned long long *id)
{
    const struct capture *c = capture_of(stream);
    if (!status)
        return hipErrorInvalidValue;
    *status = !c          ? hipStreamCaptureStatusNone
              : c->spoilt ? hipStreamCaptureStatusInvalidated
                          : hipStreamCaptureStatusActive;
    if (id)
        *id = c ? c->number : 0;
    return hipSuccess;
}

HIP_CALL_ALWAYS(hipStreamIsCapturing, (hipStream_t stream, hipStreamCaptureStatus *status),
                status_of(stream, status, NULL));
HIP_CALL_ALWAYS(hipStreamGetCaptureInfo,
                (hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id),
                status_of(stream, status, id));
