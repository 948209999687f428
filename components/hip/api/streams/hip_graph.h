/* Graphs: calls that are written down, to be made together later. A program writes them down one by
 * one (hip_graph.c), or by making them on a stream that captures (hip_capture.c), which asks here
 * first. All functions are called with `hip.lock` held. */
#ifndef HEDDLE_HIP_GRAPH_H
#define HEDDLE_HIP_GRAPH_H

#include "components/hip/api/commands/hip_launch.h"
#include "components/hip/api/hip_internal.h"

enum hip_node_kind { NODE_KERNEL, NODE_COPY, NODE_FILL, NODE_HOST, NODE_EMPTY, NODE_GRAPH };

struct hip_fill_node {
    uint64_t address;
    uint32_t value, width;
    size_t count, rows, pitch;
};

struct hip_host_node {
    hipHostFn_t function;
    hipStreamCallback_t callback; /* or this one, of a captured stream */
    void *data;
};

struct hip_graph;

/* What a node does; the kernel's arguments are its own. */
struct hip_node_action {
    enum hip_node_kind kind;
    struct hip_kernel_call kernel;
    hipMemcpy3DParms copy;
    struct hip_fill_node fill;
    struct hip_host_node host;
    struct hip_graph *child;
};

struct hip_graph *hip_graph_make(void);
hipGraph_t hip_graph_handle(const struct hip_graph *graph);
void hip_graph_release(struct hip_graph *graph);
/* Behind the last node; takes what the action owns. */
void hip_graph_append(struct hip_graph *graph, const struct hip_node_action *action);

/* ---- hip_capture.c ---- */

/* Does the stream write its calls down? They are made on it no more, but given to
 * hip_capture_call(). */
bool hip_captures(hipStream_t stream);
hipError_t hip_capture_call(hipStream_t stream, const struct hip_node_action *action);
/* A call that a stream cannot make while it captures: the capture is spoilt. */
hipError_t hip_capture_spoil(hipStream_t stream);
/* An event was recorded on a stream that captures; a stream waits for an event: true when that was
 * captured, and the stream captures from now on, too. */
hipError_t hip_capture_record(hipStream_t stream, hipEvent_t event);
bool hip_capture_wait(hipStream_t stream, hipEvent_t event);

#endif
