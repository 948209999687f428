/* Handles: what a program holds of a stream, an event, a module, a kernel, a pool, a graph
 * or a program of hipRTC.
 *
 * A handle is a number, not the address of its object. No number is given out twice in a
 * run. So a handle that was destroyed is refused for ever, whatever has been made since, and
 * handles do not depend on the heap, which other threads of the simulation use, too. All handles
 * lie where x86-64 has no addresses, so they are never mistaken for memory. All functions are
 * called with `hip.lock` held. */
#ifndef HEDDLE_COMPONENTS_HIP_API_HIP_HANDLE_H
#define HEDDLE_COMPONENTS_HIP_API_HIP_HANDLE_H

enum hip_handle_kind {
    HIP_HANDLE_STREAM,
    HIP_HANDLE_EVENT,
    HIP_HANDLE_MODULE,
    HIP_HANDLE_FUNCTION,
    HIP_HANDLE_POOL,
    HIP_HANDLE_GRAPH,
    HIP_HANDLE_GRAPH_NODE,
    HIP_HANDLE_GRAPH_EXEC,
    HIP_HANDLE_RTC_PROGRAM
};

/* A new handle of `object`. */
void *hip_handle_add(enum hip_handle_kind kind, void *object);
/* The handle's object. NULL: it was never given out, is of another kind, or was destroyed.
 */
void *hip_handle_find(enum hip_handle_kind kind, const void *handle);
/* All living handles, in the order of their numbers. */
struct hip_origin;
void hip_handles_each(void (*visit)(enum hip_handle_kind kind, const struct hip_origin *origin));
/* From now on the handle is refused. */
void hip_handle_remove(const void *handle);

#endif
