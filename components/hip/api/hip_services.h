/* What further programming interfaces in the same process use of this library: the open platform,
 * its lock and the order of host threads, memory, modules and launches. The libraries of OpenCL
 * (components/opencl) and CUDA (components/cuda) have it; CUDA's also calls HIP's functions. So a
 * process has one platform, whichever interface it uses, and a program may use both.
 *
 * The functions are those of the headers named at their groups, and so are their rules. */
#ifndef HEDDLE_HIP_SERVICES_H
#define HEDDLE_HIP_SERVICES_H

#include "components/hip/api/code/hip_hostcall.h"
#include "components/hip/api/commands/hip_launch.h"
#include "components/hip/api/hip_internal.h"
#include "components/hip/api/hip_recorder.h"
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/streams/hip_capture.h"

struct hip_services {
    struct hip_library *library;

    /* hip_internal.h, hip_common.h */
    hipError_t (*enter)(const char *function);
    hipError_t (*leave)(hipError_t error);
    bool (*has_lock)(void);
    hipError_t (*status)(enum driver_status status);
    bool (*ticket_done)(uint64_t ticket);
    hipError_t (*wait_ticket)(uint64_t ticket);
    hipError_t (*wait_here)(uint64_t ticket);
    bool (*is_device)(int device);
    void (*complain)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    const char *(*call_begins_as)(const char *function);
    void (*call_ends_as)(const char *before);
    void (*called)(const char *function);
    void (*set_last_error)(hipError_t error);

    /* hip_stream.h, hip_capture.h */
    hipError_t (*query_ticket)(uint64_t ticket);
    hipError_t (*call_host)(hipStream_t stream, struct hip_host_action host);

    /* Memory: hip_internal.h, hip_location.h, hip_host_memory.h. allocate_shared(): managed memory
     * that belongs to `device`. */
    hipError_t (*allocate_device)(int device, uint64_t size, uint64_t align,
                                  enum hip_allocation_kind kind, uint64_t *address);
    hipError_t (*allocate_shared)(int device, uint64_t size, uint64_t *address);
    hipError_t (*release_device)(uint64_t address);
    struct hip_location (*location_of)(uint64_t address);
    hipError_t (*prepare)(uint32_t queue, struct hip_use *uses, size_t count, bool waits);
    hipError_t (*prepare_launch)(uint32_t queue, const void *arguments, uint64_t size);
    void (*queued)(uint64_t ticket, const struct hip_use *target);
    void (*scan)(uint64_t to, const void *bytes, uint64_t size);
    void (*make_own)(bool own); /* hip_findings.h */
    bool (*is_accessible)(uint64_t address, uint64_t size, bool written, uint64_t *end);

    /* Code and launches: hip_internal.h, hip_launch.h, hip_hostcall.h */
    void **(*register_binary)(const void *wrapper,
                              hipError_t (*load)(const void *wrapper, int device,
                                                 struct hip_module **loaded));
    size_t (*readable_bytes)(const void *start);
    hipError_t (*find_host_function)(const void *host_function, int device,
                                     const struct hip_function **function);
    hipError_t (*load_module)(const void *bytes, size_t size, int device, const char *name,
                              struct hip_module **loaded);
    hipError_t (*load_ptx)(const char *text, size_t size, int device, const char *name,
                           struct hip_module **loaded);
    hipError_t (*unload_module)(struct hip_module *module);
    struct driver_launch (*describe_launch)(const struct hip_function *function,
                                            const uint64_t grid[3], const uint64_t block[3],
                                            uint64_t dynamic_lds, const uint8_t *kernarg);
    void (*next_cluster)(uint16_t cluster);
    void (*allow_large_clusters)(const struct hip_function *function, bool allowed);
    hipError_t (*refuse_launch)(const struct hip_function *function);
    bool (*calls_host)(const struct hip_function *function);
    hipError_t (*hostcall_buffer)(const struct hip_function *function, int device,
                                  uint64_t *address);
    void (*hostcall_begin)(int device, const char *name, uint64_t ticket);

    /* hip_graph.h */
    hipError_t (*graph_enable)(hipGraphExec_t exec, hipGraphNode_t node, const bool *set, bool *is);

    /* hip_recorder.h, of use while `library->recording` is set; hip_stream.h */
    const struct hip_recorder *recorder;
    int (*current_device)(void);
    uint32_t (*take_stream_number)(void);
    uint32_t (*take_event_number)(void);

    /* Turns. wait_for(): the thread, which holds the lock, waits until wake() has the same address,
     * and gives lock and turn away meanwhile; false, with `watches`: no thread of the process could
     * go on for a second. make_thread(), which is called without the lock: an ordered thread.
     * progressed(): the device has something to do.
     */
    bool (*wait_for)(const void *address, bool watches);
    void (*wake)(const void *address);
    int (*make_thread)(void *(*start)(void *), void *argument);
    void (*progressed)(void);
};

#pragma GCC visibility push(default)
/* Without the lock; opens nothing. */
const struct hip_services *heddleServices(void);
#pragma GCC visibility pop

#endif
