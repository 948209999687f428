/* Opening, the lock, errors, answers, and the end of the program.
 *
 * The loader asks for the platform when the program makes its first call, so that call opens the
 * simulation. The commands that are left at the end of the program are executed by the destructor,
 * which comes before that of the HIP library. */
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "components/opencl/api/devices/opencl_context.h"
#include "components/opencl/api/devices/opencl_device.h"
#include "components/opencl/api/queues/opencl_queue.h"

#include "opencl_internal.h"

struct opencl_library opencl;

static void open_devices(void)
{
    const int count = opencl.hip->device_count();
    opencl.api = opencl.hip->driver();
    opencl_object_begin(&opencl.platform, OPENCL_PLATFORM, NULL);
    for (int i = 0; i < count && opencl.device_count < OPENCL_DEVICES_MAX; i++)
        if (opencl.hip->is_device(i))
            opencl_device_open(&opencl.devices[opencl.device_count++], i);
}

cl_int opencl_enter(const char *function)
{
    opencl.hip = heddleServices();
    hipError_t error = opencl.hip->enter(function);
    if (error == hipSuccess && !opencl.api)
        open_devices();
    return opencl_error_of(error);
}

cl_int opencl_leave(cl_int error)
{
    struct opencl_destructor *destructors = opencl_destructors_pop();
    opencl.hip->leave(hipSuccess);
    opencl_destructors_run(destructors);
    return error;
}

cl_int opencl_error_of(hipError_t error)
{
    switch (error) {
    case hipSuccess:
        return CL_SUCCESS;
    case hipErrorOutOfMemory:
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    case hipErrorNoDevice:
        return CL_DEVICE_NOT_FOUND;
    default:
        return CL_OUT_OF_RESOURCES;
    }
}

cl_int opencl_status(enum driver_status status)
{
    return opencl_error_of(opencl.hip->status(status));
}

void *opencl_allocate(size_t size)
{
    return grow_zeroed(size, OPENCL_LIBRARY);
}

char *opencl_copy_text(const char *text)
{
    size_t size = text ? strlen(text) + 1 : 1;
    char *copy = opencl_allocate(size);
    return text ? memcpy(copy, text, size) : copy;
}

cl_int opencl_answer(struct opencl_answer to, const void *bytes, size_t size)
{
    if (to.value && to.capacity < size)
        return CL_INVALID_VALUE;
    if (to.value && size > 0)
        memcpy(to.value, bytes, size);
    if (to.needed)
        *to.needed = size;
    return CL_SUCCESS;
}

cl_int opencl_answer_text(struct opencl_answer to, const char *text)
{
    return opencl_answer(to, text, strlen(text) + 1);
}

__attribute__((destructor)) static void finish_commands(void)
{
    if (!opencl.api || !opencl.hip->is_open() || opencl.hip->is_inside())
        return;
    if (opencl_enter("end of the program") == CL_SUCCESS)
        opencl_queues_finish();
    opencl_leave(CL_SUCCESS);
}
