/* Graphs as the library keeps them (hip_graph.c) for the graphs that are launched
 * (hip_graph_exec.c). All functions are called with `hip.lock` held. */
#ifndef HEDDLE_COMPONENTS_HIP_API_STREAMS_HIP_GRAPH_H
#define HEDDLE_COMPONENTS_HIP_API_STREAMS_HIP_GRAPH_H

#include "hip_capture.h"

struct hip_node {
    struct hip_node *next; /* in order of creation */
    hipGraphNode_t handle;
    struct hip_graph *graph;
    struct hip_action action;
    struct hip_node **dependencies;
    size_t dependency_count, dependency_capacity;
    bool is_placed; /* while nodes are put in order */
    uint32_t step;  /* the last one that was made of it, while steps, or a copy, are made */
    void **values;  /* arguments of a kernel, for programs that ask; owned */
};

struct hip_graph {
    hipGraph_t handle;
    struct hip_node *first, *last;
    size_t count;
};

/* The handle's graph or node, or NULL. */
struct hip_graph *hip_graph_find(hipGraph_t handle);
struct hip_node *hip_graph_find_node(hipGraphNode_t handle);
/* The nodes in an order that keeps all dependencies, which hip_release() frees. NULL: there is
 * none, as they go around. */
struct hip_node **hip_graph_order(const struct hip_graph *graph);
/* A copy of what the action owns, too; and the end of what it owns. */
struct hip_action hip_graph_copy_action(const struct hip_action *action);
void hip_graph_release_action(struct hip_action *action);

/* Reads or sets whether launches make the action of a node. `must_enable` or `is_enabled` may be
 * NULL. */
hipError_t hip_graph_enable(hipGraphExec_t exec, hipGraphNode_t node, const bool *must_enable,
                            bool *is_enabled);

/* The actions of nodes with these parameters. A kernel's has its arguments. */
hipError_t hip_action_of_kernel(const hipKernelNodeParams *p, struct hip_action *action);
hipError_t hip_action_of_copy(const hipMemcpy3DParms *p, struct hip_action *action);
hipMemcpy3DParms hip_copy_of_row(void *to, const void *from, size_t size, hipMemcpyKind kind);
hipError_t hip_action_of_fill(const hipMemsetParams *p, struct hip_action *action);
hipError_t hip_action_of_host(const hipHostNodeParams *p, struct hip_action *action);

#endif
