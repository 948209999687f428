/* Graphs: calls that are written down, to be made together later. A program writes them down one by
 * one, or captures them (hip_capture.h). A node is an action and the nodes before it. A graph that
 * is launched is a list of actions, in an order that keeps all of these; they are made on the
 * stream one after the other, so branches that could run side by side do not. Refused are nodes of
 * events, updates of a launched graph but for kernels, and attributes (hip_stubs.c).
 *
 * Ownership: a graph has its nodes, a node the arguments of its kernel and a graph inside of it; a
 * launched graph has copies of all that. */
#include "hip_capture.h"
#include "hip_stream.h"
#include "components/hip/api/hip_handle.h"

struct node {
    struct node *next; /* in order of creation */
    hipGraphNode_t handle;
    struct hip_graph *graph;
    struct hip_action action;
    struct node **before;
    size_t before_count;
    bool placed; /* while nodes are put in order */
};

struct hip_graph {
    hipGraph_t handle;
    struct node *first, *last;
    size_t count;
};

struct step {
    hipGraphNode_t node; /* that it was made from */
    struct hip_action action;
};

struct exec {
    hipGraphExec_t handle;
    struct step *steps;
    size_t count;
    unsigned launches; /* that are being made */
    bool destroyed;
};

/* ---- actions ---- */

static struct hip_graph *copy_graph(const struct hip_graph *graph);
static void release_graph(struct hip_graph *graph);

static struct hip_action copy_action(const struct hip_action *action)
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

static void release_action(struct hip_action *action)
{
    if (action->kind == HIP_ACTION_KERNEL)
        hip_release_call(&action->kernel);
    if (action->kind == HIP_ACTION_GRAPH)
        release_graph(action->child);
}

static hipError_t perform(struct hip_action *action, hipStream_t stream)
{
    switch (action->kind) {
    case HIP_ACTION_KERNEL:
        return hip_make_call(&action->kernel, stream);
    case HIP_ACTION_COPY:
        return hip_copy_3d(&action->copy, stream, false);
    case HIP_ACTION_FILL:
        return hip_fill((void *)(uintptr_t)action->fill.address, action->fill.pitch,
                        action->fill.value, action->fill.width, action->fill.count,
                        action->fill.rows, stream, false);
    case HIP_ACTION_HOST:
        return hip_call_host(stream, action->host);
    case HIP_ACTION_EMPTY:
    case HIP_ACTION_GRAPH: /* its nodes stand in its place */
        break;
    }
    return hipSuccess;
}

/* ---- graphs and nodes ---- */

static struct hip_graph *make_graph(void)
{
    struct hip_graph *graph = hip_allocate(sizeof *graph);
    *graph = (struct hip_graph){.handle = NULL};
    graph->handle = hip_handle_make(HIP_HANDLE_GRAPH, graph);
    return graph;
}

static struct hip_graph *find_graph(hipGraph_t handle)
{
    return hip_handle_find(HIP_HANDLE_GRAPH, handle);
}

static struct node *find_node(hipGraphNode_t handle)
{
    return hip_handle_find(HIP_HANDLE_GRAPH_NODE, handle);
}

static void release_graph(struct hip_graph *graph)
{
    struct node *next;
    for (struct node *node = graph->first; node; node = next) {
        next = node->next;
        release_action(&node->action);
        hip_handle_destroy(node->handle);
        hip_release(node->before);
        hip_release(node);
    }
    hip_handle_destroy(graph->handle);
    hip_release(graph);
}

static void put_before(struct node *node, struct node *earlier)
{
    node->before = hip_grow(node->before, (node->before_count + 1) * sizeof *node->before);
    node->before[node->before_count++] = earlier;
}

static struct node *add_node(struct hip_graph *graph, const struct hip_action *action)
{
    struct node *node = hip_allocate(sizeof *node);
    *node = (struct node){.graph = graph, .action = *action};
    node->handle = hip_handle_make(HIP_HANDLE_GRAPH_NODE, node);
    *(graph->last ? &graph->last->next : &graph->first) = node;
    graph->last = node;
    graph->count++;
    return node;
}

/* Adds a node behind the last one. The node takes what the action owns. */
static void append(struct hip_graph *graph, const struct hip_action *action)
{
    struct node *last = graph->last, *node = add_node(graph, action);
    if (last)
        put_before(node, last);
}

/* The nodes in an order that keeps all dependencies. NULL: there is none, as they go around. */
static struct node **order_nodes(const struct hip_graph *graph)
{
    struct node **order = hip_allocate((graph->count + 1) * sizeof(struct node *));
    size_t count = 0, before = 1;
    for (struct node *n = graph->first; n; n = n->next)
        n->placed = false;
    while (count != before) {
        before = count;
        for (struct node *n = graph->first; n; n = n->next) {
            size_t left = 0;
            for (size_t i = 0; i < n->before_count; i++)
                left += !n->before[i]->placed;
            if (!n->placed && left == 0) {
                n->placed = true;
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

static bool goes_around(const struct hip_graph *graph)
{
    struct node **order = order_nodes(graph);
    hip_release(order);
    return !order;
}

/* Copies a graph whose dependencies do not go around. */
static struct hip_graph *copy_graph(const struct hip_graph *graph)
{
    struct hip_graph *copy = make_graph();
    struct node **order = order_nodes(graph);
    for (size_t i = 0; i < graph->count; i++) {
        struct hip_action action = copy_action(&order[i]->action);
        append(copy, &action);
    }
    hip_release(order);
    return copy;
}

/* Every function that adds a node checks what it is given before it makes the action. */
static hipError_t check_node(const hipGraphNode_t *node, hipGraph_t graph,
                             const hipGraphNode_t *before, size_t count)
{
    const struct hip_graph *found = find_graph(graph);
    if (!node || !found || (count > 0 && !before))
        return hipErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        const struct node *earlier = find_node(before[i]);
        if (!earlier || earlier->graph != found)
            return hipErrorInvalidValue;
    }
    return hipSuccess;
}

static hipError_t add(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                      size_t count, const struct hip_action *action)
{
    struct node *made = add_node(find_graph(graph), action);
    for (size_t i = 0; i < count; i++)
        put_before(made, find_node(before[i]));
    *node = made->handle;
    return hipSuccess;
}

/* Adds an action that owns nothing. `is_valid`: so are the parameters of the action. */
static hipError_t add_plain(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                            size_t count, bool is_valid, const struct hip_action *action)
{
    hipError_t error = check_node(node, graph, before, count);
    if (error != hipSuccess || !is_valid)
        return error != hipSuccess ? error : hipErrorInvalidValue;
    return add(node, graph, before, count, action);
}

HIP_DEFINE_ALWAYS(hipGraphCreate, (graph, flags), hipGraph_t *graph, unsigned flags)
{
    if (!graph || flags != 0)
        return hipErrorInvalidValue;
    *graph = make_graph()->handle;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipGraphDestroy, (handle), hipGraph_t handle)
{
    struct hip_graph *graph = find_graph(handle);
    if (!graph)
        return hipErrorInvalidValue;
    release_graph(graph);
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipGraphClone, (copy, handle), hipGraph_t *copy, hipGraph_t handle)
{
    const struct hip_graph *graph = find_graph(handle);
    if (!copy || !graph || goes_around(graph))
        return hipErrorInvalidValue;
    *copy = copy_graph(graph)->handle;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipStreamEndCapture, (stream, handle), hipStream_t stream, hipGraph_t *handle)
{
    struct hip_action *actions = NULL;
    size_t count = 0;
    if (!handle)
        return hip_captures(stream) ? hipErrorInvalidValue : hipErrorIllegalState;
    hipError_t error = hip_capture_end(stream, &actions, &count);
    if (error != hipSuccess && error != hipErrorStreamCaptureInvalidated
        && error != hipErrorStreamCaptureUnjoined)
        return error;
    struct hip_graph *graph = make_graph();
    for (size_t i = 0; i < count; i++)
        append(graph, &actions[i]);
    hip_release(actions);
    *handle = error == hipSuccess ? graph->handle : NULL;
    if (error != hipSuccess)
        release_graph(graph);
    return error;
}

/* ---- nodes of each kind ---- */

/* A pointer that is no kernel of the program is a kernel of a module. */
static hipError_t kernel_call(const hipKernelNodeParams *p, struct hip_kernel_call *call)
{
    if (!p || !p->func || (p->kernelParams && p->extra))
        return hipErrorInvalidValue;
    bool is_handle = hip_check_function(p->func) != NULL;
    *call = (struct hip_kernel_call){.host_function = is_handle ? NULL : p->func,
                                     .function = is_handle ? p->func : NULL,
                                     .blocks = {p->gridDim.x, p->gridDim.y, p->gridDim.z},
                                     .block = {p->blockDim.x, p->blockDim.y, p->blockDim.z},
                                     .dynamic_lds = p->sharedMemBytes};
    return hip_keep_call(call, p->kernelParams, p->extra);
}

HIP_DEFINE(hipGraphAddKernelNode, (node, graph, before, count, p), hipGraphNode_t *node,
           hipGraph_t graph, const hipGraphNode_t *before, size_t count,
           const hipKernelNodeParams *p)
{
    struct hip_action action = {.kind = HIP_ACTION_KERNEL};
    hipError_t error = check_node(node, graph, before, count);
    error = error == hipSuccess ? kernel_call(p, &action.kernel) : error;
    return error == hipSuccess ? add(node, graph, before, count, &action) : error;
}

static hipError_t add_copy(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                           size_t count, const hipMemcpy3DParms *p)
{
    struct hip_action action = {.kind = HIP_ACTION_COPY};
    if (p)
        action.copy = *p;
    return add_plain(node, graph, before, count, p != NULL, &action);
}

HIP_CALL_ALWAYS(hipGraphAddMemcpyNode,
                (hipGraphNode_t * node, hipGraph_t graph, const hipGraphNode_t *before,
                 size_t count, const hipMemcpy3DParms *p),
                add_copy(node, graph, before, count, p));

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *node, hipGraph_t graph,
                                   const hipGraphNode_t *before, size_t count, void *to,
                                   const void *from, size_t size, hipMemcpyKind kind)
{
    hipMemcpy3DParms p = {.kind = kind, .extent = {size, 1, 1}};
    p.dstPtr.ptr = to;
    p.srcPtr.ptr = (void *)(uintptr_t)from;
    HIP_API_ALWAYS(add_copy(node, graph, before, count, &p));
}

HIP_DEFINE_ALWAYS(hipGraphAddMemsetNode, (node, graph, before, count, p), hipGraphNode_t *node,
                  hipGraph_t graph, const hipGraphNode_t *before, size_t count,
                  const hipMemsetParams *p)
{
    struct hip_action action = {.kind = HIP_ACTION_FILL};
    bool is_valid = p && (p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4);
    if (is_valid) {
        action.fill.address = (uintptr_t)p->dst;
        action.fill.value = p->value;
        action.fill.width = p->elementSize;
        action.fill.count = p->width;
        action.fill.rows = p->height;
        action.fill.pitch = p->pitch;
    }
    return add_plain(node, graph, before, count, is_valid, &action);
}

HIP_DEFINE_ALWAYS(hipGraphAddHostNode, (node, graph, before, count, p), hipGraphNode_t *node,
                  hipGraph_t graph, const hipGraphNode_t *before, size_t count,
                  const hipHostNodeParams *p)
{
    struct hip_action action = {.kind = HIP_ACTION_HOST};
    bool is_valid = p && p->fn;
    if (is_valid)
        action.host = (struct hip_host_action){.function = p->fn, .data = p->userData};
    return add_plain(node, graph, before, count, is_valid, &action);
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t *node, hipGraph_t graph,
                                const hipGraphNode_t *before, size_t count)
{
    struct hip_action action = {.kind = HIP_ACTION_EMPTY};
    HIP_API_ALWAYS(add_plain(node, graph, before, count, true, &action));
}

HIP_DEFINE_ALWAYS(hipGraphAddChildGraphNode, (node, graph, before, count, child),
                  hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                  size_t count, hipGraph_t child)
{
    struct hip_action action = {.kind = HIP_ACTION_GRAPH};
    hipError_t error = check_node(node, graph, before, count);
    if (error == hipSuccess && (!find_graph(child) || goes_around(find_graph(child))))
        error = hipErrorInvalidValue;
    if (error != hipSuccess)
        return error;
    action.child = copy_graph(find_graph(child));
    return add(node, graph, before, count, &action);
}

HIP_DEFINE_ALWAYS(hipGraphAddDependencies, (graph, from, to, count), hipGraph_t graph,
                  const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count)
{
    hipGraphNode_t node;
    hipError_t error = check_node(&node, graph, from, count);
    error = error == hipSuccess ? check_node(&node, graph, to, count) : error;
    for (size_t i = 0; i < count && error == hipSuccess; i++)
        put_before(find_node(to[i]), find_node(from[i]));
    return error;
}

/* ---- what there is ---- */

/* `nodes` may be NULL; then only their number is wanted. */
static hipError_t list_nodes(hipGraph_t handle, hipGraphNode_t *nodes, size_t *count, bool roots)
{
    const struct hip_graph *graph = find_graph(handle);
    size_t found = 0;
    if (!graph || !count)
        return hipErrorInvalidValue;
    for (const struct node *n = graph->first; n; n = n->next) {
        if (roots && n->before_count > 0)
            continue;
        if (nodes && found < *count)
            nodes[found] = n->handle;
        found++;
    }
    *count = nodes && *count < found ? *count : found;
    return hipSuccess;
}

HIP_CALL_ALWAYS(hipGraphGetNodes, (hipGraph_t graph, hipGraphNode_t *nodes, size_t *count),
                list_nodes(graph, nodes, count, false));
HIP_CALL_ALWAYS(hipGraphGetRootNodes, (hipGraph_t graph, hipGraphNode_t *nodes, size_t *count),
                list_nodes(graph, nodes, count, true));

HIP_DEFINE_ALWAYS(hipGraphNodeGetType, (handle, type), hipGraphNode_t handle,
                  hipGraphNodeType *type)
{
    static const hipGraphNodeType types[] = {
        [HIP_ACTION_KERNEL] = hipGraphNodeTypeKernel, [HIP_ACTION_COPY] = hipGraphNodeTypeMemcpy,
        [HIP_ACTION_FILL] = hipGraphNodeTypeMemset,   [HIP_ACTION_HOST] = hipGraphNodeTypeHost,
        [HIP_ACTION_EMPTY] = hipGraphNodeTypeEmpty,   [HIP_ACTION_GRAPH] = hipGraphNodeTypeGraph};
    const struct node *node = find_node(handle);
    if (!node || !type)
        return hipErrorInvalidValue;
    *type = types[node->action.kind];
    return hipSuccess;
}

/* ---- launched graphs ---- */

static struct exec *find_exec(hipGraphExec_t handle)
{
    return hip_handle_find(HIP_HANDLE_GRAPH_EXEC, handle);
}

/* False: dependencies go around. */
static bool add_steps(struct exec *exec, const struct hip_graph *graph)
{
    struct node **order = order_nodes(graph);
    bool ok = order != NULL;
    for (size_t i = 0; ok && i < graph->count; i++) {
        const struct hip_action *action = &order[i]->action;
        if (action->kind == HIP_ACTION_GRAPH) {
            ok = add_steps(exec, action->child);
            continue;
        }
        exec->steps = hip_grow(exec->steps, (exec->count + 1) * sizeof *exec->steps);
        exec->steps[exec->count++] = (struct step){order[i]->handle, copy_action(action)};
    }
    hip_release(order);
    return ok;
}

static void release_exec(struct exec *exec)
{
    for (size_t i = 0; i < exec->count; i++)
        release_action(&exec->steps[i].action);
    hip_release(exec->steps);
    hip_release(exec);
}

static hipError_t instantiate(hipGraphExec_t *handle, hipGraph_t graph)
{
    if (!handle || !find_graph(graph))
        return hipErrorInvalidValue;
    struct exec *exec = hip_allocate(sizeof *exec);
    *exec = (struct exec){.handle = NULL};
    if (!add_steps(exec, find_graph(graph))) {
        hip_say("hipGraphInstantiate: a node of the graph stands before itself");
        release_exec(exec);
        return hipErrorInvalidValue;
    }
    exec->handle = hip_handle_make(HIP_HANDLE_GRAPH_EXEC, exec);
    *handle = exec->handle;
    return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *wrong,
                               char *log, size_t size)
{
    if (wrong)
        *wrong = NULL;
    if (log && size)
        log[0] = '\0';
    HIP_API_ALWAYS(instantiate(exec, graph));
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph,
                                        unsigned long long flags)
{
    (void)flags; /* hipGraphInstantiateFlagAutoFreeOnLaunch: no node allocates */
    HIP_API_ALWAYS(instantiate(exec, graph));
}

/* Waits on the way may release the lock, and the program may destroy the graph then. */
HIP_DEFINE(hipGraphLaunch, (handle, stream), hipGraphExec_t handle, hipStream_t stream)
{
    struct exec *exec = find_exec(handle);
    hipError_t error = exec ? hipSuccess : hipErrorInvalidValue;
    if (!exec)
        return error;
    exec->launches++;
    for (size_t i = 0; i < exec->count && error == hipSuccess; i++)
        error = perform(&exec->steps[i].action, stream);
    if (--exec->launches == 0 && exec->destroyed)
        release_exec(exec);
    return error;
}

HIP_DEFINE_ALWAYS(hipGraphExecDestroy, (handle), hipGraphExec_t handle)
{
    struct exec *exec = find_exec(handle);
    if (!exec)
        return hipErrorInvalidValue;
    hip_handle_destroy(handle);
    exec->destroyed = true;
    if (exec->launches == 0)
        release_exec(exec);
    return hipSuccess;
}

/* ---- kernels with other arguments ---- */

static hipError_t change_kernel(struct hip_action *action, const hipKernelNodeParams *p)
{
    struct hip_kernel_call call;
    hipError_t error =
        action->kind == HIP_ACTION_KERNEL ? kernel_call(p, &call) : hipErrorInvalidValue;
    if (error == hipSuccess) {
        hip_release_call(&action->kernel);
        action->kernel = call;
    }
    return error;
}

HIP_DEFINE(hipGraphKernelNodeSetParams, (handle, p), hipGraphNode_t handle,
           const hipKernelNodeParams *p)
{
    struct node *node = find_node(handle);
    return node ? change_kernel(&node->action, p) : hipErrorInvalidValue;
}

HIP_DEFINE(hipGraphExecKernelNodeSetParams, (handle, node, p), hipGraphExec_t handle,
           hipGraphNode_t node, const hipKernelNodeParams *p)
{
    struct exec *exec = find_exec(handle);
    for (size_t i = 0; exec && i < exec->count; i++) {
        if (exec->steps[i].node == node) {
            return exec->launches ? hipErrorGraphExecUpdateFailure
                                  : change_kernel(&exec->steps[i].action, p);
        }
    }
    return hipErrorInvalidValue;
}
