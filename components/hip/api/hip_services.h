/* What further programming interfaces in the same process use of this library: the open platform,
 * its lock and the order of host threads, memory, modules and launches. The libraries of OpenCL
 * (components/opencl) and CUDA (components/cuda) have it; CUDA's also calls HIP's functions. So a
 * process has one platform, whichever interface it uses, and a program may use both.
 *
 * The functions go through a table, as exported ones would be names of every program. */
#ifndef HEDDLE_HIP_SERVICES_H
#define HEDDLE_HIP_SERVICES_H

#include "components/hip/api/code/hip_hostcall.h"
#include "components/hip/api/commands/hip_launch.h"
#include "components/hip/api/hip_findings.h"
#include "components/hip/api/hip_internal.h"
#include "components/hip/api/hip_recorder.h"
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/streams/hip_capture.h"
#include "components/hip/api/streams/hip_graph.h"
#include "components/hip/api/streams/hip_stream.h"
#include "components/hip/turns/hip_turns.h"

struct hip_services {
    struct hip_library *library;
    const struct hip_recorder *recorder; /* of use while `library->recording` is set */
#define HIP_SERVICE(name, function) __typeof__(function) *name;
#include "hip_services.def"
#undef HIP_SERVICE
    /* wait_for(): the thread, which holds the lock, waits until wake() has the same address, and
     * gives lock and turn away meanwhile; false, with `watches`: no thread of the process could go
     * on for a second. make_thread(), which is called without the lock: an ordered thread. */
    bool (*wait_for)(const void *address, bool watches);
    void (*wake)(const void *address);
    int (*make_thread)(void *(*start)(void *), void *argument);
};

#pragma GCC visibility push(default)
/* Without the lock; opens nothing. */
const struct hip_services *heddleServices(void);
#pragma GCC visibility pop

#endif
