/* Capture: a stream writes its calls into a graph instead of making them. A call stands behind all
 * that were captured before, also those of other streams of the capture, so the graph is a chain.
 * A stream joins when it waits for an event that was recorded in the capture; all leave when it
 * ends. Streams without a handle of their own (the null stream, hipStreamPerThread) cannot capture.
 */
#include "hip_graph.h"
#include "hip_stream.h"

struct capture {
    struct capture *next;
    struct hip_graph *graph;
    hipStream_t *streams; /* the first one began it */
    size_t stream_count;
    hipEvent_t *events;
    size_t event_count;
    bool spoilt;
};

static struct capture *captures;

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

hipError_t hip_capture_call(hipStream_t stream, const struct hip_node_action *action)
{
    struct capture *c = capture_of(stream);
    hip_graph_append(c->graph, action);
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
    c->events = hip_grow(c->events, (c->event_count + 1) * sizeof *c->events);
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
    c->streams = hip_grow(c->streams, (c->stream_count + 1) * sizeof(hipStream_t));
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
    *c = (struct capture){.next = captures, .graph = hip_graph_make()};
    captures = c;
    join(c, stream);
    return hipSuccess;
}

static void forget(struct capture *c)
{
    struct capture **link = &captures;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    hip_release(c->streams);
    hip_release(c->events);
    hip_release(c);
}

HIP_DEFINE_ALWAYS(hipStreamEndCapture, (stream, graph), hipStream_t stream, hipGraph_t *graph)
{
    struct capture *c = capture_of(stream);
    if (!c || !graph)
        return c ? hipErrorInvalidValue : hipErrorIllegalState;
    if (c->streams[0] != stream)
        return hipErrorStreamCaptureUnmatched;
    bool spoilt = c->spoilt;
    *graph = spoilt ? NULL : hip_graph_handle(c->graph);
    if (spoilt)
        hip_graph_release(c->graph);
    forget(c);
    return spoilt ? hipErrorStreamCaptureInvalidated : hipSuccess;
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
        *id = c ? (uintptr_t)hip_graph_handle(c->graph) : 0;
    return hipSuccess;
}

HIP_CALL_ALWAYS(hipStreamIsCapturing, (hipStream_t stream, hipStreamCaptureStatus *status),
                status_of(stream, status, NULL));
HIP_CALL_ALWAYS(hipStreamGetCaptureInfo,
                (hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id),
                status_of(stream, status, id));
