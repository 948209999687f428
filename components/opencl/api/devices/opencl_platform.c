/* The one platform: what it is, and its devices. */
#include <stdlib.h>
#include <string.h>

#include "opencl_device.h"
#include "opencl_features.h"

static cl_int get_platforms(cl_uint entries, cl_platform_id *platforms, cl_uint *count)
{
    if ((entries == 0 && platforms) || (!platforms && !count))
        return CL_INVALID_VALUE;
    if (platforms)
        platforms[0] = opencl.platform.handle;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

OPENCL_CALL(clGetPlatformIDs, (cl_uint entries, cl_platform_id *platforms, cl_uint *count),
            get_platforms(entries, platforms, count));

/* The loader asks for these first. */
OPENCL_EXPORTED cl_int clIcdGetPlatformIDsKHR(cl_uint entries, cl_platform_id *platforms,
                                              cl_uint *count)
{
    cl_int error = clGetPlatformIDs(entries, platforms, count);
    return error == CL_DEVICE_NOT_FOUND ? CL_PLATFORM_NOT_FOUND_KHR : error;
}

static cl_int get_platform_info(cl_platform_id handle, cl_platform_info query,
                                struct opencl_answer to)
{
    static const cl_name_version extensions[] = {
        {CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"},
    };
    if (handle && !opencl_find(OPENCL_PLATFORM, handle))
        return CL_INVALID_PLATFORM;
    switch (query) {
    case CL_PLATFORM_PROFILE:
        return opencl_answer_text(to, "FULL_PROFILE");
    case CL_PLATFORM_VERSION:
        return opencl_answer_text(to, "OpenCL 3.0 heddle");
    case CL_PLATFORM_NUMERIC_VERSION:
        return OPENCL_ANSWER(to, cl_version, CL_MAKE_VERSION(3, 0, 0));
    case CL_PLATFORM_NAME:
        return opencl_answer_text(to, "heddle");
    case CL_PLATFORM_VENDOR:
        return opencl_answer_text(to, "heddle");
    case CL_PLATFORM_EXTENSIONS:
        return opencl_answer_text(to, "cl_khr_icd");
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
        return opencl_answer(to, extensions, sizeof extensions);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return opencl_answer_text(to, "HEDDLE");
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
        return OPENCL_ANSWER(to, cl_ulong, OPENCL_TIMER_NS);
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_EXPORTED
OPENCL_QUERY(clGetPlatformInfo, cl_platform_id, cl_platform_info, get_platform_info);

static bool type_matches(cl_device_type type)
{
    return (type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) != 0;
}

static cl_int get_devices(cl_platform_id platform, cl_device_type type, cl_uint entries,
                          cl_device_id *devices, cl_uint *count)
{
    const cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU
                                 | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    if (platform && !opencl_find(OPENCL_PLATFORM, platform))
        return CL_INVALID_PLATFORM;
    if (type == 0 || (type != CL_DEVICE_TYPE_ALL && (type & ~known) != 0))
        return CL_INVALID_DEVICE_TYPE;
    if ((entries == 0 && devices) || (!devices && !count))
        return CL_INVALID_VALUE;
    if (!type_matches(type))
        return CL_DEVICE_NOT_FOUND;
    cl_uint there = type == CL_DEVICE_TYPE_DEFAULT ? 1 : opencl.device_count;
    if (devices)
        for (cl_uint i = 0; i < there && i < entries; i++)
            devices[i] = opencl.devices[i].object.handle;
    if (count)
        *count = there;
    return CL_SUCCESS;
}

OPENCL_CALL(clGetDeviceIDs,
            (cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id *devices,
             cl_uint *count),
            get_devices(platform, type, entries, devices, count));

/* ---- devices are there as long as the program; they cannot be divided ---- */

OPENCL_COUNTED(Device, cl_device_id, OPENCL_DEVICE, CL_INVALID_DEVICE);

static cl_int divide(cl_device_id device, const cl_device_partition_property *properties)
{
    if (!opencl_find(OPENCL_DEVICE, device))
        return CL_INVALID_DEVICE;
    (void)properties; /* none is supported */
    return CL_INVALID_VALUE;
}

cl_int CL_API_CALL clCreateSubDevices(cl_device_id device,
                                      const cl_device_partition_property *properties, cl_uint count,
                                      cl_device_id *made, cl_uint *made_count)
{
    (void)count, (void)made, (void)made_count;
    cl_int error = opencl_enter("clCreateSubDevices");
    return opencl_leave(error == CL_SUCCESS ? divide(device, properties) : error);
}

cl_int opencl_devices_find(const cl_device_id *handles, cl_uint count,
                           struct opencl_device ***found)
{
    *found = NULL;
    if (!handles || count == 0)
        return CL_INVALID_VALUE;
    struct opencl_device **list = opencl_allocate(count * sizeof(struct opencl_device *));
    cl_uint kept = 0;
    for (cl_uint i = 0; i < count; i++) {
        struct opencl_device *device = opencl_find(OPENCL_DEVICE, handles[i]);
        if (!device) {
            free(list);
            return CL_INVALID_DEVICE;
        }
        list[kept++] = device;
    }
    *found = list;
    return CL_SUCCESS;
}

/* ---- clocks ---- */

static cl_int get_timers(cl_device_id device, cl_ulong *device_ns, cl_ulong *host_ns)
{
    if (!opencl_find(OPENCL_DEVICE, device))
        return CL_INVALID_DEVICE;
    if (!device_ns || !host_ns)
        return CL_INVALID_VALUE;
    *device_ns = *host_ns = opencl.api->now() / 1000;
    return CL_SUCCESS;
}

OPENCL_CALL(clGetDeviceAndHostTimer, (cl_device_id device, cl_ulong *device_ns, cl_ulong *host_ns),
            get_timers(device, device_ns, host_ns));

static cl_int get_host_timer(cl_device_id device, cl_ulong *host_ns)
{
    cl_ulong device_ns = 0;
    return get_timers(device, &device_ns, host_ns);
}

OPENCL_CALL(clGetHostTimer, (cl_device_id device, cl_ulong *host_ns),
            get_host_timer(device, host_ns));

/* Compilers are started for each build and keep nothing. */
OPENCL_CALL(clUnloadCompiler, (void), CL_SUCCESS);
OPENCL_CALL(clUnloadPlatformCompiler, (cl_platform_id platform),
            opencl_find(OPENCL_PLATFORM, platform) ? CL_SUCCESS : CL_INVALID_PLATFORM);

static cl_int set_default_queue(cl_context context, cl_device_id device)
{
    if (!opencl_find(OPENCL_CONTEXT, context))
        return CL_INVALID_CONTEXT;
    return opencl_find(OPENCL_DEVICE, device) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}

/* Kernels do not enqueue kernels. */
cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue queue)
{
    (void)queue;
    cl_int error = opencl_enter("clSetDefaultDeviceCommandQueue");
    return opencl_leave(error == CL_SUCCESS ? set_default_queue(context, device) : error);
}
