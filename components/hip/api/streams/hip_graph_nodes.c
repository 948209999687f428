/* Queries about graphs: their nodes and edges, and what nodes do. */
#include "components/hip/api/hip_handle.h"

#include "hip_graph.h"

/* `nodes` may be NULL; then only their number is wanted. */
static hipError_t list_nodes(hipGraph_t handle, hipGraphNode_t *nodes, size_t *count,
                             bool lists_roots)
{
    const struct hip_graph *graph = hip_graph_find(handle);
    size_t total = 0;
    if (!graph || !count)
        return hipErrorInvalidValue;
    for (const struct hip_node *n = graph->first; n; n = n->next) {
        if (lists_roots && n->dependency_count > 0)
            continue;
        if (nodes && total < *count)
            nodes[total] = n->handle;
        total++;
    }
    *count = nodes && *count < total ? *count : total;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipGraphGetNodes, (graph, nodes, count), hipGraph_t graph, hipGraphNode_t *nodes,
                  size_t *count)
{
    return list_nodes(graph, nodes, count, false);
}

HIP_DEFINE_ALWAYS(hipGraphGetRootNodes, (graph, nodes, count), hipGraph_t graph,
                  hipGraphNode_t *nodes, size_t *count)
{
    return list_nodes(graph, nodes, count, true);
}

HIP_DEFINE_ALWAYS(hipGraphNodeGetType, (handle, type), hipGraphNode_t handle,
                  hipGraphNodeType *type)
{
    static const hipGraphNodeType types[] = {[HIP_ACTION_KERNEL] = hipGraphNodeTypeKernel,
                                             [HIP_ACTION_COPY] = hipGraphNodeTypeMemcpy,
                                             [HIP_ACTION_FILL] = hipGraphNodeTypeMemset,
                                             [HIP_ACTION_HOST] = hipGraphNodeTypeHost,
                                             [HIP_ACTION_EMPTY] = hipGraphNodeTypeEmpty,
                                             [HIP_ACTION_GRAPH] = hipGraphNodeTypeGraph,
                                             [HIP_ACTION_RECORD] = hipGraphNodeTypeEventRecord,
                                             [HIP_ACTION_WAIT] = hipGraphNodeTypeWaitEvent};
    const struct hip_node *node = hip_graph_find_node(handle);
    if (!node || !type)
        return hipErrorInvalidValue;
    *type = types[node->action.kind];
    return hipSuccess;
}

/* Writes down pairs of nodes, up to `count` where there is room for them; then how many there are.
 * One of the two may not be wanted, and one node may be given. */
struct edges {
    hipGraphNode_t *from, *to;
    size_t capacity, total;
};

static void add_edge(struct edges *e, const struct hip_node *from, const struct hip_node *to)
{
    if (e->total < e->capacity) {
        if (e->from)
            e->from[e->total] = from->handle;
        if (e->to)
            e->to[e->total] = to->handle;
    }
    e->total++;
}

static hipError_t list_edges(const struct hip_graph *graph, const struct hip_node *dependency,
                             const struct hip_node *dependent, hipGraphNode_t *from,
                             hipGraphNode_t *to, size_t *count)
{
    if (!graph || !count)
        return hipErrorInvalidValue;
    struct edges e = {.from = from, .to = to, .capacity = from || to ? *count : 0};
    for (const struct hip_node *n = graph->first; n; n = n->next)
        for (size_t i = 0; i < n->dependency_count; i++)
            if ((!dependency || dependency == n->dependencies[i]) && (!dependent || dependent == n))
                add_edge(&e, n->dependencies[i], n);
    *count = e.capacity && e.capacity < e.total ? e.capacity : e.total;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipGraphGetEdges, (graph, from, to, count), hipGraph_t graph,
                  hipGraphNode_t *from, hipGraphNode_t *to, size_t *count)
{
    return list_edges(hip_graph_find(graph), NULL, NULL, from, to, count);
}

HIP_DEFINE_ALWAYS(hipGraphNodeGetDependencies, (node, dependencies, count), hipGraphNode_t node,
                  hipGraphNode_t *dependencies, size_t *count)
{
    const struct hip_node *object = hip_graph_find_node(node);
    return list_edges(object ? object->graph : NULL, NULL, object, dependencies, NULL, count);
}

HIP_DEFINE_ALWAYS(hipGraphNodeGetDependentNodes, (node, dependents, count), hipGraphNode_t node,
                  hipGraphNode_t *dependents, size_t *count)
{
    const struct hip_node *object = hip_graph_find_node(node);
    return list_edges(object ? object->graph : NULL, object, NULL, NULL, dependents, count);
}

/* ---- what nodes do ---- */

/* The node, if it is of the kind and there is room for the answer. */
static struct hip_node *node_of(hipGraphNode_t handle, enum hip_action_kind kind,
                                const void *answer)
{
    struct hip_node *node = hip_graph_find_node(handle);
    return node && node->action.kind == kind && answer ? node : NULL;
}

/* Pointers to the arguments stay until the node goes, or is asked again. */
HIP_DEFINE_ALWAYS(hipGraphKernelNodeGetParams, (handle, p), hipGraphNode_t handle,
                  hipKernelNodeParams *p)
{
    struct hip_node *node = node_of(handle, HIP_ACTION_KERNEL, p);
    if (!node)
        return hipErrorInvalidValue;
    const struct hip_kernel_call *call = &node->action.kernel;
    hip_release(node->values);
    node->values = hip_call_values(call);
    *p = (hipKernelNodeParams){
        .func = (void *)(uintptr_t)(call->host_function ? call->host_function : call->function),
        .gridDim = {call->blocks[0], call->blocks[1], call->blocks[2]},
        .blockDim = {call->block[0], call->block[1], call->block[2]},
        .sharedMemBytes = (unsigned)call->dynamic_lds,
        .kernelParams = node->values};
    return node->values ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipGraphMemcpyNodeGetParams, (handle, p), hipGraphNode_t handle,
                  hipMemcpy3DParms *p)
{
    const struct hip_node *node = node_of(handle, HIP_ACTION_COPY, p);
    if (node)
        *p = node->action.copy;
    return node ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipGraphMemsetNodeGetParams, (handle, p), hipGraphNode_t handle,
                  hipMemsetParams *p)
{
    const struct hip_node *node = node_of(handle, HIP_ACTION_FILL, p);
    if (node)
        *p = (hipMemsetParams){.dst = (void *)(uintptr_t)node->action.fill.address,
                               .pitch = node->action.fill.pitch,
                               .value = node->action.fill.value,
                               .elementSize = node->action.fill.width,
                               .width = node->action.fill.count,
                               .height = node->action.fill.rows};
    return node ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipGraphHostNodeGetParams, (handle, p), hipGraphNode_t handle,
                  hipHostNodeParams *p)
{
    const struct hip_node *node = node_of(handle, HIP_ACTION_HOST, p);
    if (node)
        *p = (hipHostNodeParams){.fn = node->action.host.function,
                                 .userData = node->action.host.data};
    return node ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipGraphChildGraphNodeGetGraph, (handle, graph), hipGraphNode_t handle,
                  hipGraph_t *graph)
{
    const struct hip_node *node = node_of(handle, HIP_ACTION_GRAPH, graph);
    if (node)
        *graph = node->action.child->handle;
    return node ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t event_of(hipGraphNode_t handle, enum hip_action_kind kind, hipEvent_t *event)
{
    const struct hip_node *node = node_of(handle, kind, event);
    if (node)
        *event = node->action.event;
    return node ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t set_event(hipGraphNode_t handle, enum hip_action_kind kind, hipEvent_t event)
{
    struct hip_node *node = node_of(handle, kind, hip_handle_find(HIP_HANDLE_EVENT, event));
    if (node)
        node->action.event = event;
    return node ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipGraphEventRecordNodeGetEvent, (node, event), hipGraphNode_t node,
                  hipEvent_t *event)
{
    return event_of(node, HIP_ACTION_RECORD, event);
}

HIP_DEFINE_ALWAYS(hipGraphEventWaitNodeGetEvent, (node, event), hipGraphNode_t node,
                  hipEvent_t *event)
{
    return event_of(node, HIP_ACTION_WAIT, event);
}

HIP_DEFINE_ALWAYS(hipGraphEventRecordNodeSetEvent, (node, event), hipGraphNode_t node,
                  hipEvent_t event)
{
    return set_event(node, HIP_ACTION_RECORD, event);
}

HIP_DEFINE_ALWAYS(hipGraphEventWaitNodeSetEvent, (node, event), hipGraphNode_t node,
                  hipEvent_t event)
{
    return set_event(node, HIP_ACTION_WAIT, event);
}
