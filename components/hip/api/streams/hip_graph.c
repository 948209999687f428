/* Graphs: calls that are written down, to be made together later. A program writes them down one by
 * one, or captures them (hip_capture.h). A node is an action and the nodes before it. Graphs that
 * are launched are in hip_graph_exec.c, questions about graphs in hip_graph_nodes.c. Attributes are
 * refused.
 *
 * Ownership: a graph has its nodes, a node the arguments of its kernel and a graph inside of it. */
#include "hip_graph.h"

#include "base/grow.h"
#include "components/hip/api/hip_handle.h"

/* ---- actions ---- */

static struct hip_graph *copy_graph(const struct hip_graph *graph);
static void release_graph(struct hip_graph *graph);

struct hip_action hip_graph_copy_action(const struct hip_action *action)
{
    struct hip_action copy = *action;
    if (action->kind == HIP_ACTION_KERNEL) {
        copy.kernel.arguments = hip_allocate(action->kernel.size);
        memcpy(copy.kernel.arguments, action->kernel.arguments, action->kernel.size);
    }
    if (action->kind == HIP_ACTION_GRAPH)
        copy.child = copy_graph(action->child);
    return copy;
}

void hip_graph_release_action(struct hip_action *action)
{
    if (action->kind == HIP_ACTION_KERNEL)
        hip_release_call(&action->kernel);
    if (action->kind == HIP_ACTION_GRAPH)
        release_graph(action->child);
}

/* ---- graphs and nodes ---- */

static struct hip_graph *create_graph(void)
{
    struct hip_graph *graph = hip_allocate(sizeof *graph);
    *graph = (struct hip_graph){.handle = NULL};
    graph->handle = hip_handle_add(HIP_HANDLE_GRAPH, graph);
    return graph;
}

struct hip_graph *hip_graph_find(hipGraph_t handle)
{
    return hip_handle_find(HIP_HANDLE_GRAPH, handle);
}

struct hip_node *hip_graph_find_node(hipGraphNode_t handle)
{
    return hip_handle_find(HIP_HANDLE_GRAPH_NODE, handle);
}

static void release_node(struct hip_node *node)
{
    hip_graph_release_action(&node->action);
    hip_handle_remove(node->handle);
    hip_release(node->dependencies);
    hip_release(node->values);
    hip_release(node);
}

static void release_graph(struct hip_graph *graph)
{
    struct hip_node *next;
    for (struct hip_node *node = graph->first; node; node = next) {
        next = node->next;
        release_node(node);
    }
    hip_handle_remove(graph->handle);
    hip_release(graph);
}

static void add_dependency(struct hip_node *node, struct hip_node *earlier)
{
    grow_list(node->dependencies, node->dependency_count + 1, node->dependency_capacity,
              HIP_LIBRARY);
    node->dependencies[node->dependency_count++] = earlier;
}

/* False: it was not before. */
static bool remove_dependency(struct hip_node *node, const struct hip_node *earlier)
{
    for (size_t i = 0; i < node->dependency_count; i++) {
        if (node->dependencies[i] != earlier)
            continue;
        node->dependencies[i] = node->dependencies[--node->dependency_count];
        return true;
    }
    return false;
}

static struct hip_node *add_node(struct hip_graph *graph, const struct hip_action *action)
{
    struct hip_node *node = hip_allocate(sizeof *node);
    *node = (struct hip_node){.graph = graph, .action = *action};
    node->handle = hip_handle_add(HIP_HANDLE_GRAPH_NODE, node);
    *(graph->last ? &graph->last->next : &graph->first) = node;
    graph->last = node;
    graph->count++;
    return node;
}

/* The nodes in an order that keeps all dependencies. NULL: there is none, as they go around. */
struct hip_node **hip_graph_order(const struct hip_graph *graph)
{
    struct hip_node **order = hip_allocate((graph->count + 1) * sizeof(struct hip_node *));
    size_t count = 0, last_count = 1;
    for (struct hip_node *n = graph->first; n; n = n->next)
        n->is_placed = false;
    while (count != last_count) {
        last_count = count;
        for (struct hip_node *n = graph->first; n; n = n->next) {
            size_t left = 0;
            for (size_t i = 0; i < n->dependency_count; i++)
                left += !n->dependencies[i]->is_placed;
            if (!n->is_placed && left == 0) {
                n->is_placed = true;
                order[count++] = n;
            }
        }
    }
    if (count < graph->count) {
        hip_release(order);
        return NULL;
    }
    return order;
}

static bool has_cycle(const struct hip_graph *graph)
{
    struct hip_node **order = hip_graph_order(graph);
    hip_release(order);
    return !order;
}

/* Copies a graph whose dependencies do not go around. */
static struct hip_graph *copy_graph(const struct hip_graph *graph)
{
    struct hip_graph *copy = create_graph();
    struct hip_node **order = hip_graph_order(graph);
    struct hip_node **copies = hip_allocate((graph->count + 1) * sizeof(struct hip_node *));
    for (size_t i = 0; i < graph->count; i++) {
        struct hip_action action = hip_graph_copy_action(&order[i]->action);
        copies[i] = add_node(copy, &action);
        order[i]->step = (uint32_t)i;
        for (size_t k = 0; k < order[i]->dependency_count; k++)
            add_dependency(copies[i], copies[order[i]->dependencies[k]->step]);
    }
    hip_release(copies);
    hip_release(order);
    return copy;
}

/* Every function that adds a node checks what it is given before it makes the action. */
static hipError_t check_node(const hipGraphNode_t *node, hipGraph_t graph,
                             const hipGraphNode_t *dependencies, size_t count)
{
    const struct hip_graph *owner = hip_graph_find(graph);
    if (!node || !owner || (count > 0 && !dependencies))
        return hipErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        const struct hip_node *earlier = hip_graph_find_node(dependencies[i]);
        if (!earlier || earlier->graph != owner)
            return hipErrorInvalidValue;
    }
    return hipSuccess;
}

static hipError_t add_action(hipGraphNode_t *node, hipGraph_t graph,
                             const hipGraphNode_t *dependencies, size_t count,
                             const struct hip_action *action)
{
    struct hip_node *node_object = add_node(hip_graph_find(graph), action);
    for (size_t i = 0; i < count; i++)
        add_dependency(node_object, hip_graph_find_node(dependencies[i]));
    *node = node_object->handle;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipGraphCreate, (graph, flags), hipGraph_t *graph, unsigned flags)
{
    if (!graph || flags != 0)
        return hipErrorInvalidValue;
    *graph = create_graph()->handle;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipGraphDestroy, (handle), hipGraph_t handle)
{
    struct hip_graph *graph = hip_graph_find(handle);
    if (!graph)
        return hipErrorInvalidValue;
    release_graph(graph);
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipGraphClone, (copy, handle), hipGraph_t *copy, hipGraph_t handle)
{
    const struct hip_graph *graph = hip_graph_find(handle);
    if (!copy || !graph || has_cycle(graph))
        return hipErrorInvalidValue;
    *copy = copy_graph(graph)->handle;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipStreamEndCapture, (stream, handle), hipStream_t stream, hipGraph_t *handle)
{
    struct hip_captured *calls = NULL;
    size_t count = 0;
    if (!handle)
        return hip_is_capturing(stream) ? hipErrorInvalidValue : hipErrorIllegalState;
    hipError_t error = hip_capture_end(stream, &calls, &count);
    if (error != hipSuccess && error != hipErrorStreamCaptureInvalidated
        && error != hipErrorStreamCaptureUnjoined)
        return error;
    struct hip_graph *graph = create_graph();
    struct hip_node **nodes = hip_allocate((count + 1) * sizeof(struct hip_node *));
    for (size_t i = 0; i < count; i++) {
        nodes[i] = add_node(graph, &calls[i].action);
        for (size_t k = 0; k < calls[i].dependency_count; k++)
            add_dependency(nodes[i], nodes[calls[i].dependencies[k]]);
        hip_release(calls[i].dependencies);
    }
    hip_release(nodes);
    hip_release(calls);
    *handle = error == hipSuccess ? graph->handle : NULL;
    if (error != hipSuccess)
        release_graph(graph);
    return error;
}

/* ---- nodes of each kind ---- */

/* A pointer that is no kernel of the program is a kernel of a module. */
hipError_t hip_action_of_kernel(const hipKernelNodeParams *p, struct hip_action *action)
{
    if (!p || !p->func || (p->kernelParams && p->extra))
        return hipErrorInvalidValue;
    bool is_handle = hip_check_function(p->func) != NULL;
    *action = (struct hip_action){.kind = HIP_ACTION_KERNEL,
                                  .kernel = {.host_function = is_handle ? NULL : p->func,
                                             .function = is_handle ? p->func : NULL,
                                             .blocks = {p->gridDim.x, p->gridDim.y, p->gridDim.z},
                                             .block = {p->blockDim.x, p->blockDim.y, p->blockDim.z},
                                             .dynamic_lds = p->sharedMemBytes}};
    return hip_keep_call(&action->kernel, p->kernelParams, p->extra);
}

hipError_t hip_action_of_copy(const hipMemcpy3DParms *p, struct hip_action *action)
{
    *action = (struct hip_action){.kind = HIP_ACTION_COPY};
    if (p)
        action->copy = *p;
    return p ? hipSuccess : hipErrorInvalidValue;
}

hipMemcpy3DParms hip_copy_of_row(void *to, const void *from, size_t size, hipMemcpyKind kind)
{
    hipMemcpy3DParms p = {.kind = kind, .extent = {size, 1, 1}};
    p.dstPtr.ptr = to;
    p.srcPtr.ptr = (void *)(uintptr_t)from;
    return p;
}

hipError_t hip_action_of_fill(const hipMemsetParams *p, struct hip_action *action)
{
    *action = (struct hip_action){.kind = HIP_ACTION_FILL};
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return hipErrorInvalidValue;
    action->fill.address = (uintptr_t)p->dst;
    action->fill.value = p->value;
    action->fill.width = p->elementSize;
    action->fill.count = p->width;
    action->fill.rows = p->height;
    action->fill.pitch = p->pitch;
    return hipSuccess;
}

hipError_t hip_action_of_host(const hipHostNodeParams *p, struct hip_action *action)
{
    *action = (struct hip_action){.kind = HIP_ACTION_HOST};
    if (!p || !p->fn)
        return hipErrorInvalidValue;
    action->host = (struct hip_host_action){.function = p->fn, .data = p->userData};
    return hipSuccess;
}

/* Adds a node of the action, if that was made without an error. */
static hipError_t add_if_valid(hipGraphNode_t *node, hipGraph_t graph,
                               const hipGraphNode_t *dependencies, size_t count, hipError_t status,
                               struct hip_action *action)
{
    hipError_t error = check_node(node, graph, dependencies, count);
    if (error == hipSuccess && status == hipSuccess)
        return add_action(node, graph, dependencies, count, action);
    if (status == hipSuccess)
        hip_graph_release_action(action);
    return error != hipSuccess ? error : status;
}

#define ADD_NODE(define, make, kind, type)                                                         \
    define(hipGraphAdd##kind##Node, (node, graph, dependencies, count, p), hipGraphNode_t *node,   \
           hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, const type *p)      \
    {                                                                                              \
        struct hip_action action;                                                                  \
        hipError_t status = make(p, &action);                                                      \
        return add_if_valid(node, graph, dependencies, count, status, &action);                    \
    }
ADD_NODE(HIP_DEFINE, hip_action_of_kernel, Kernel, hipKernelNodeParams)
ADD_NODE(HIP_DEFINE_ALWAYS, hip_action_of_copy, Memcpy, hipMemcpy3DParms)
ADD_NODE(HIP_DEFINE_ALWAYS, hip_action_of_fill, Memset, hipMemsetParams)
ADD_NODE(HIP_DEFINE_ALWAYS, hip_action_of_host, Host, hipHostNodeParams)

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *node, hipGraph_t graph,
                                   const hipGraphNode_t *dependencies, size_t count, void *to,
                                   const void *from, size_t size, hipMemcpyKind kind)
{
    const hipMemcpy3DParms p = hip_copy_of_row(to, from, size, kind);
    return hipGraphAddMemcpyNode(node, graph, dependencies, count, &p);
}

HIP_DEFINE_ALWAYS(hipGraphAddEmptyNode, (node, graph, dependencies, count), hipGraphNode_t *node,
                  hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count)
{
    struct hip_action action = {.kind = HIP_ACTION_EMPTY};
    return add_if_valid(node, graph, dependencies, count, hipSuccess, &action);
}

static hipError_t add_event(hipGraphNode_t *node, hipGraph_t graph,
                            const hipGraphNode_t *dependencies, size_t count, hipEvent_t event,
                            enum hip_action_kind kind)
{
    struct hip_action action = {.kind = kind, .event = event};
    hipError_t status =
        hip_handle_find(HIP_HANDLE_EVENT, event) ? hipSuccess : hipErrorInvalidValue;
    return add_if_valid(node, graph, dependencies, count, status, &action);
}

HIP_DEFINE_ALWAYS(hipGraphAddEventRecordNode, (node, graph, dependencies, count, event),
                  hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies,
                  size_t count, hipEvent_t event)
{
    return add_event(node, graph, dependencies, count, event, HIP_ACTION_RECORD);
}

HIP_DEFINE_ALWAYS(hipGraphAddEventWaitNode, (node, graph, dependencies, count, event),
                  hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies,
                  size_t count, hipEvent_t event)
{
    return add_event(node, graph, dependencies, count, event, HIP_ACTION_WAIT);
}

HIP_DEFINE_ALWAYS(hipGraphAddChildGraphNode, (node, graph, dependencies, count, child),
                  hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies,
                  size_t count, hipGraph_t child)
{
    struct hip_action action = {.kind = HIP_ACTION_GRAPH};
    hipError_t error = check_node(node, graph, dependencies, count);
    if (error == hipSuccess && (!hip_graph_find(child) || has_cycle(hip_graph_find(child))))
        error = hipErrorInvalidValue;
    if (error != hipSuccess)
        return error;
    action.child = copy_graph(hip_graph_find(child));
    return add_action(node, graph, dependencies, count, &action);
}

static hipError_t check_edges(hipGraph_t graph, const hipGraphNode_t *from,
                              const hipGraphNode_t *to, size_t count)
{
    hipGraphNode_t node;
    hipError_t error = check_node(&node, graph, from, count);
    return error == hipSuccess ? check_node(&node, graph, to, count) : error;
}

HIP_DEFINE_ALWAYS(hipGraphAddDependencies, (graph, from, to, count), hipGraph_t graph,
                  const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count)
{
    hipError_t error = check_edges(graph, from, to, count);
    for (size_t i = 0; i < count && error == hipSuccess; i++)
        add_dependency(hip_graph_find_node(to[i]), hip_graph_find_node(from[i]));
    return error;
}

HIP_DEFINE_ALWAYS(hipGraphRemoveDependencies, (graph, from, to, count), hipGraph_t graph,
                  const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count)
{
    hipError_t error = check_edges(graph, from, to, count);
    for (size_t i = 0; i < count && error == hipSuccess; i++)
        error = remove_dependency(hip_graph_find_node(to[i]), hip_graph_find_node(from[i]))
                    ? hipSuccess
                    : hipErrorInvalidValue;
    return error;
}

HIP_DEFINE_ALWAYS(hipGraphDestroyNode, (handle), hipGraphNode_t handle)
{
    struct hip_node *node = hip_graph_find_node(handle), **link;
    if (!node)
        return hipErrorInvalidValue;
    struct hip_graph *graph = node->graph;
    graph->last = NULL;
    for (link = &graph->first; *link;) {
        while (remove_dependency(*link, node))
            ;
        if (*link == node) {
            *link = node->next;
            continue;
        }
        graph->last = *link;
        link = &(*link)->next;
    }
    graph->count--;
    release_node(node);
    return hipSuccess;
}
