/* Capture: a stream that captures writes its calls down instead of making them, and a program makes
 * a graph of them later (hip_graph.c). Copies, fills, launches, events and callbacks ask here
 * first. All functions are called with `hip.lock` held. */
#ifndef HEDDLE_COMPONENTS_HIP_API_STREAMS_HIP_CAPTURE_H
#define HEDDLE_COMPONENTS_HIP_API_STREAMS_HIP_CAPTURE_H

#include "components/hip/api/commands/hip_launch.h"
#include "components/hip/api/hip_internal.h"

enum hip_action_kind {
    HIP_ACTION_KERNEL,
    HIP_ACTION_COPY,
    HIP_ACTION_FILL,
    HIP_ACTION_HOST,
    HIP_ACTION_EMPTY,
    HIP_ACTION_GRAPH,
    HIP_ACTION_RECORD,
    HIP_ACTION_WAIT
};

/* A call that is made later, and what a node of a graph does. It owns the arguments of its kernel
 * and its child. */
struct hip_action {
    enum hip_action_kind kind;
    struct hip_kernel_call kernel;
    hipMemcpy3DParms copy;
    struct hip_fill_area fill;
    struct hip_host_action host;
    struct hip_graph *child;
    hipEvent_t event; /* to be recorded or waited for */
};

/* A captured call, and the numbers of the calls right before it, by streams and events. The caller
 * of hip_capture_end() takes what the action owns, and `dependencies`. */
struct hip_captured {
    struct hip_action action;
    size_t *dependencies, dependency_count;
};

/* True if the stream captures: its calls are given to hip_capture_call() and not made. */
bool hip_is_capturing(hipStream_t stream);
/* Writes a call down, and takes what the action owns. */
hipError_t hip_capture_call(hipStream_t stream, const struct hip_action *action);
/* Waits for all commands of the stream, then calls the program, or writes that down
 * (hip_stream.c). */
hipError_t hip_call_host(hipStream_t stream, struct hip_host_action host);
/* A call that a stream cannot make while it captures invalidates the capture. */
hipError_t hip_capture_spoil(hipStream_t stream);
/* An event was recorded on a stream that captures. */
hipError_t hip_capture_record(hipStream_t stream, hipEvent_t event);
/* A stream waits for an event. True: the event was captured, and the stream captures, too, from now
 * on. */
bool hip_capture_wait(hipStream_t stream, hipEvent_t event);
/* hipEventCreateWithFlags(), hipEventRecord(), hipStreamWaitEvent() and hipEventDestroy()
 * (hip_event.c); streams that do not take part in the rules of the null stream (hip_stream.c). */
hipError_t hip_create_event(hipEvent_t *event, unsigned flags);
hipError_t hip_record_event(hipEvent_t event, hipStream_t stream);
hipError_t hip_wait_event(hipEvent_t event, hipStream_t stream);
void hip_destroy_event(hipEvent_t event);
hipError_t hip_create_stream(hipStream_t *stream);
void hip_destroy_stream(hipStream_t stream);
/* A program asks about an event, or waits for it. If a capture has the event, the capture becomes
 * invalid. */
hipError_t hip_capture_ask(hipEvent_t event);
/* Reports all captures that have not ended (hip_findings.h). */
void hip_report_captures(void);
/* Ends the capture that `stream` began. Success, hipErrorStreamCaptureInvalidated and
 * hipErrorStreamCaptureUnjoined give the caller the list of its calls. */
hipError_t hip_capture_end(hipStream_t stream, struct hip_captured **calls, size_t *count);

#endif
