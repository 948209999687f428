/* Graphs that are launched: a list of actions, copied from the nodes of a graph in an order that
 * keeps their dependencies, and parted into branches, in which one follows the other. The first
 * branch is made on the stream of the launch, others on streams of their own, which go when all was
 * enqueued; events hold what follows across branches. Actions of nodes, and of lists made from
 * them, can be changed. */
#include "base/grow.h"
#include "components/hip/api/hip_handle.h"

#include "hip_graph.h"
#include "hip_stream.h"

enum { BRANCHES_MAX = 16 }; /* more share streams, as if one followed the other */

struct step {
    hipGraphNode_t node; /* the node that it was made from */
    struct hip_action action;
    uint32_t *dependencies; /* the steps that it follows */
    uint32_t dependency_count, branch;
    bool is_disabled;  /* it does nothing */
    bool is_followed;  /* another step follows it */
    bool is_continued; /* a step of its own branch follows it */
    bool is_awaited;   /* something outside of its branch waits for it */
};

struct exec {
    hipGraphExec_t handle;
    struct step *steps;
    size_t count, capacity;
    uint32_t branches;
    unsigned launches; /* launches that are being made */
    bool is_destroyed;
};

static hipError_t perform_action(struct hip_action *action, hipStream_t stream)
{
    switch (action->kind) {
    case HIP_ACTION_KERNEL:
        return hip_make_call(&action->kernel, stream);
    case HIP_ACTION_COPY:
        return hip_copy_3d(&action->copy, stream, false);
    case HIP_ACTION_FILL:
        return hip_fill(action->fill, stream, false);
    case HIP_ACTION_HOST:
        return hip_call_host(stream, action->host);
    case HIP_ACTION_RECORD:
        return hip_record_event(action->event, stream);
    case HIP_ACTION_WAIT:
        return hip_wait_event(action->event, stream);
    case HIP_ACTION_EMPTY:
    case HIP_ACTION_GRAPH: /* its nodes take its place */
        break;
    }
    return hipSuccess;
}

static struct exec *find_exec(hipGraphExec_t handle)
{
    return hip_handle_find(HIP_HANDLE_GRAPH_EXEC, handle);
}

/* A step that follows others, whose list it takes. */
static void add_step(struct exec *exec, struct hip_node *node, uint32_t *dependencies, size_t count)
{
    static const struct hip_action empty = {.kind = HIP_ACTION_EMPTY};
    bool is_graph = node->action.kind == HIP_ACTION_GRAPH;
    struct step step = {.node = node->handle,
                        .action = hip_graph_copy_action(is_graph ? &empty : &node->action),
                        .dependencies = dependencies,
                        .dependency_count = (uint32_t)count};
    for (size_t i = 0; i < count; i++)
        exec->steps[dependencies[i]].is_followed = true;
    grow_list(exec->steps, exec->count + 1, exec->capacity, HIP_LIBRARY);
    exec->steps[exec->count++] = step;
}

/* An empty step after all that were made since `first`. */
static void add_end(struct exec *exec, struct hip_node *node, size_t first)
{
    uint32_t *dependencies = hip_allocate((exec->count - first) * sizeof *dependencies);
    size_t count = 0;
    for (size_t i = first; i < exec->count; i++)
        if (!exec->steps[i].is_followed)
            dependencies[count++] = (uint32_t)i;
    add_step(exec, node, dependencies, count);
}

/* False: dependencies go around. A graph that is a node is between two empty steps; `entry`:
 * the first of them, or NULL. */
static bool add_steps(struct exec *exec, const struct hip_graph *graph, const size_t *entry)
{
    struct hip_node **order = hip_graph_order(graph);
    if (!order)
        return false;
    bool has_order = true;
    for (size_t i = 0; has_order && i < graph->count; i++) {
        struct hip_node *node = order[i];
        size_t count = node->dependency_count;
        uint32_t *dependencies = hip_allocate((count + 1) * sizeof *dependencies);
        for (size_t k = 0; k < count; k++)
            dependencies[k] = node->dependencies[k]->step;
        if (count == 0 && entry)
            dependencies[count++] = (uint32_t)*entry;
        add_step(exec, node, dependencies, count);
        const size_t first = exec->count - 1;
        if (node->action.kind == HIP_ACTION_GRAPH) {
            has_order = add_steps(exec, node->action.child, &first);
            add_end(exec, node, first);
        }
        node->step = (uint32_t)exec->count - 1;
    }
    hip_release(order);
    return has_order;
}

/* A step continues the branch of the first one that it follows and nothing has continued, or has a
 * branch of its own. */
static uint32_t choose_branch(struct exec *exec, const struct step *step)
{
    for (uint32_t k = 0; k < step->dependency_count; k++) {
        struct step *dependency = &exec->steps[step->dependencies[k]];
        if (!dependency->is_continued) {
            dependency->is_continued = true;
            return dependency->branch;
        }
    }
    if (exec->branches < BRANCHES_MAX)
        return exec->branches++;
    return step->dependency_count > 0 ? exec->steps[step->dependencies[0]].branch : 0;
}

static void part_into_branches(struct exec *exec)
{
    exec->branches = 0;
    for (size_t i = 0; i < exec->count; i++)
        exec->steps[i].branch = choose_branch(exec, &exec->steps[i]);
    for (size_t i = 0; i < exec->count; i++) {
        struct step *step = &exec->steps[i];
        for (uint32_t k = 0; k < step->dependency_count; k++)
            if (exec->steps[step->dependencies[k]].branch != step->branch)
                exec->steps[step->dependencies[k]].is_awaited = true;
        step->is_awaited |= step->branch > 0 && !step->is_followed;
    }
}

static void release_exec(struct exec *exec)
{
    for (size_t i = 0; i < exec->count; i++) {
        hip_graph_release_action(&exec->steps[i].action);
        hip_release(exec->steps[i].dependencies);
    }
    hip_release(exec->steps);
    hip_release(exec);
}

static hipError_t instantiate(hipGraphExec_t *handle, hipGraph_t graph)
{
    if (!handle || !hip_graph_find(graph))
        return hipErrorInvalidValue;
    struct exec *exec = hip_allocate(sizeof *exec);
    *exec = (struct exec){.handle = NULL};
    if (!add_steps(exec, hip_graph_find(graph), NULL)) {
        hip_say("hipGraphInstantiate: a node of the graph stands before itself");
        release_exec(exec);
        return hipErrorInvalidValue;
    }
    part_into_branches(exec);
    exec->handle = hip_handle_add(HIP_HANDLE_GRAPH_EXEC, exec);
    *handle = exec->handle;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipGraphInstantiate, (exec, graph, wrong, log, size), hipGraphExec_t *exec,
                  hipGraph_t graph, hipGraphNode_t *wrong, char *log, size_t size)
{
    if (wrong)
        *wrong = NULL;
    if (log && size)
        log[0] = '\0';
    return instantiate(exec, graph);
}

HIP_DEFINE_ALWAYS(hipGraphInstantiateWithFlags, (exec, graph, flags), hipGraphExec_t *exec,
                  hipGraph_t graph, unsigned long long flags)
{
    (void)flags; /* hipGraphInstantiateFlagAutoFreeOnLaunch: no node allocates */
    return instantiate(exec, graph);
}

/* A launch: the streams of the branches, what they begin after, and an event for each step
 * that something waits for. */
struct launch {
    struct exec *exec;
    hipStream_t streams[BRANCHES_MAX];
    hipEvent_t begin, *done;
};

static hipError_t mark_stream(hipEvent_t *event, hipStream_t stream)
{
    hipError_t error = hip_create_event(event, hipEventDisableTiming | hipEventReleaseToDevice);
    return error == hipSuccess ? hip_record_event(*event, stream) : error;
}

static hipError_t create_streams(struct launch *l)
{
    const uint32_t count = l->exec->branches;
    hipError_t error = count > 1 ? mark_stream(&l->begin, l->streams[0]) : hipSuccess;
    for (uint32_t b = 1; b < count && error == hipSuccess; b++)
        error = hip_create_stream(&l->streams[b]);
    return error;
}

static hipError_t enqueue_step(struct launch *l, size_t number)
{
    struct step *step = &l->exec->steps[number];
    hipStream_t stream = l->streams[step->branch];
    hipError_t error = hipSuccess;
    if (step->branch > 0 && step->dependency_count == 0)
        error = hip_wait_event(l->begin, stream);
    for (uint32_t i = 0; i < step->dependency_count && error == hipSuccess; i++)
        if (l->exec->steps[step->dependencies[i]].branch != step->branch)
            error = hip_wait_event(l->done[step->dependencies[i]], stream);
    if (error == hipSuccess && !step->is_disabled)
        error = perform_action(&step->action, stream);
    return error == hipSuccess && step->is_awaited ? mark_stream(&l->done[number], stream) : error;
}

/* Commands after the launch on its stream follow the ends of all branches. */
static hipError_t join_branches(struct launch *l)
{
    hipError_t error = hipSuccess;
    for (size_t i = 0; i < l->exec->count && error == hipSuccess; i++)
        if (l->exec->steps[i].branch > 0 && !l->exec->steps[i].is_followed)
            error = hip_wait_event(l->done[i], l->streams[0]);
    return error;
}

static void end_launch(struct launch *l)
{
    for (uint32_t b = 1; b < l->exec->branches; b++)
        if (l->streams[b])
            hip_destroy_stream(l->streams[b]);
    for (size_t i = 0; i < l->exec->count; i++)
        if (l->done[i])
            hip_destroy_event(l->done[i]);
    if (l->begin)
        hip_destroy_event(l->begin);
    hip_release(l->done);
}

/* Waits on the way may release the lock, and the program may destroy the graph then. */
HIP_DEFINE(hipGraphLaunch, (handle, stream), hipGraphExec_t handle, hipStream_t stream)
{
    struct exec *exec = find_exec(handle);
    if (!exec)
        return hipErrorInvalidValue;
    struct launch l = {.exec = exec, .streams = {stream}};
    uint32_t queue = 0;
    int device = 0, current = hip_current_device();
    hipError_t error = hip_stream_queue(stream, &queue, &device);
    const size_t bytes = (exec->count + 1) * sizeof *l.done;
    if (error != hipSuccess)
        return error;
    l.done = memset(hip_allocate(bytes), 0, bytes);
    exec->launches++;
    if (exec->branches > 1)
        hip_set_current_device(device); /* on which streams and events are made */
    error = create_streams(&l);
    for (size_t i = 0; i < exec->count && error == hipSuccess; i++)
        error = enqueue_step(&l, i);
    error = error == hipSuccess ? join_branches(&l) : error;
    end_launch(&l);
    hip_set_current_device(current);
    if (--exec->launches == 0 && exec->is_destroyed)
        release_exec(exec);
    return error;
}

HIP_DEFINE_ALWAYS(hipGraphExecDestroy, (handle), hipGraphExec_t handle)
{
    struct exec *exec = find_exec(handle);
    if (!exec)
        return hipErrorInvalidValue;
    hip_handle_remove(handle);
    exec->is_destroyed = true;
    if (exec->launches == 0)
        release_exec(exec);
    return hipSuccess;
}

/* ---- other parameters ---- */

/* Takes the action in place of `old`, unless `status` is an error or it is of another kind. */
static hipError_t change_action(struct hip_action *old, hipError_t status,
                                struct hip_action *action)
{
    if (status != hipSuccess)
        return status;
    if (!old || old->kind != action->kind) {
        hip_graph_release_action(action);
        return hipErrorInvalidValue;
    }
    hip_graph_release_action(old);
    *old = *action;
    return hipSuccess;
}

static hipError_t change_node(hipGraphNode_t handle, hipError_t status, struct hip_action *action)
{
    struct hip_node *node = hip_graph_find_node(handle);
    return change_action(node ? &node->action : NULL, status, action);
}

static struct step *find_step(struct exec *exec, hipGraphNode_t node)
{
    if (!exec)
        return NULL;
    for (size_t i = 0; i < exec->count; i++)
        if (exec->steps[i].node == node)
            return &exec->steps[i];
    return NULL;
}

/* Kernels, copies and fills may be left out of launches, as CUDA's cudaGraphNodeSetEnabled says. */
hipError_t hip_graph_enable(hipGraphExec_t handle, hipGraphNode_t node, const bool *must_enable,
                            bool *is_enabled)
{
    struct step *step = find_step(find_exec(handle), node);
    if (!step || step->action.kind > HIP_ACTION_FILL || (!must_enable && !is_enabled))
        return hipErrorInvalidValue;
    if (must_enable)
        step->is_disabled = !*must_enable;
    if (is_enabled)
        *is_enabled = !step->is_disabled;
    return hipSuccess;
}

static hipError_t change_step(hipGraphExec_t handle, hipGraphNode_t node, hipError_t status,
                              struct hip_action *action)
{
    struct exec *exec = find_exec(handle);
    struct step *step = find_step(exec, node);
    struct hip_action *old = step ? &step->action : NULL;
    if (old && exec->launches > 0 && status == hipSuccess) {
        hip_graph_release_action(action);
        return hipErrorGraphExecUpdateFailure;
    }
    return change_action(old, status, action);
}

/* The two functions that change parameters of a kind: of a node, and of a step. `exec_type`:
 * the parameters as the second function takes them. */
#define SET_PARAMS(define, action_of, kind, type, exec_type)                                       \
    define(hipGraph##kind##NodeSetParams, (node, p), hipGraphNode_t node, const type *p)           \
    {                                                                                              \
        struct hip_action action;                                                                  \
        hipError_t status = action_of(p, &action);                                                 \
        return change_node(node, status, &action);                                                 \
    }                                                                                              \
    define(hipGraphExec##kind##NodeSetParams, (exec, node, p), hipGraphExec_t exec,                \
           hipGraphNode_t node, exec_type *p)                                                      \
    {                                                                                              \
        struct hip_action action;                                                                  \
        hipError_t status = action_of(p, &action);                                                 \
        return change_step(exec, node, status, &action);                                           \
    }

SET_PARAMS(HIP_DEFINE, hip_action_of_kernel, Kernel, hipKernelNodeParams, const hipKernelNodeParams)
SET_PARAMS(HIP_DEFINE_ALWAYS, hip_action_of_copy, Memcpy, hipMemcpy3DParms, hipMemcpy3DParms)
SET_PARAMS(HIP_DEFINE_ALWAYS, hip_action_of_fill, Memset, hipMemsetParams, const hipMemsetParams)
SET_PARAMS(HIP_DEFINE_ALWAYS, hip_action_of_host, Host, hipHostNodeParams, const hipHostNodeParams)

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *to, const void *from,
                                         size_t size, hipMemcpyKind kind)
{
    const hipMemcpy3DParms p = hip_copy_of_row(to, from, size, kind);
    return hipGraphMemcpyNodeSetParams(node, &p);
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void *to,
                                             const void *from, size_t size, hipMemcpyKind kind)
{
    hipMemcpy3DParms p = hip_copy_of_row(to, from, size, kind);
    return hipGraphExecMemcpyNodeSetParams(exec, node, &p);
}

/* ---- another graph of the same shape ---- */

/* The reason why the steps `update` of a graph cannot take the place of those of `exec`. */
static hipGraphExecUpdateResult compare_steps(const struct exec *exec, const struct exec *update,
                                              hipGraphNode_t *wrong)
{
    if (exec->count != update->count)
        return hipGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < exec->count; i++) {
        if (exec->steps[i].action.kind != update->steps[i].action.kind) {
            *wrong = update->steps[i].node;
            return hipGraphExecUpdateErrorNodeTypeChanged;
        }
    }
    return hipGraphExecUpdateSuccess;
}

/* The steps keep the nodes that they were made from, by which a program changes them later. */
HIP_DEFINE_ALWAYS(hipGraphExecUpdate, (handle, graph, wrong, result), hipGraphExec_t handle,
                  hipGraph_t graph, hipGraphNode_t *wrong, hipGraphExecUpdateResult *result)
{
    struct exec *exec = find_exec(handle), update = {.handle = NULL};
    if (!exec || !hip_graph_find(graph) || !wrong || !result)
        return hipErrorInvalidValue;
    *wrong = NULL;
    *result = exec->launches > 0 || !add_steps(&update, hip_graph_find(graph), NULL)
                  ? hipGraphExecUpdateError
                  : compare_steps(exec, &update, wrong);
    for (size_t i = 0; i < update.count; i++) {
        struct hip_action *action = &update.steps[i].action;
        if (*result == hipGraphExecUpdateSuccess)
            change_action(&exec->steps[i].action, hipSuccess, action);
        else
            hip_graph_release_action(action);
        hip_release(update.steps[i].dependencies);
    }
    hip_release(update.steps);
    return *result == hipGraphExecUpdateSuccess ? hipSuccess : hipErrorGraphExecUpdateFailure;
}
