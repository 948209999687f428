/* The table of OpenCL's functions for the loader. The order of the table is that of the loader's
 * header; functions for other programming interfaces (OpenGL, Direct3D, EGL) are not there, and the
 * loader says so. */
#include "opencl_dispatch.h"

#include <string.h>

#include "base/number.h"

#include "opencl_internal.h"

/* The version of OpenCL that opencl_internal.h chooses decides what this declares. */
#include <CL/cl_icd.h>

#define FUNCTIONS(X)                                                                               \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clCreateContext)                                                                             \
    X(clCreateContextFromType)                                                                     \
    X(clRetainContext)                                                                             \
    X(clReleaseContext)                                                                            \
    X(clGetContextInfo)                                                                            \
    X(clCreateCommandQueue)                                                                        \
    X(clRetainCommandQueue)                                                                        \
    X(clReleaseCommandQueue)                                                                       \
    X(clGetCommandQueueInfo)                                                                       \
    X(clSetCommandQueueProperty)                                                                   \
    X(clCreateBuffer)                                                                              \
    X(clCreateImage2D)                                                                             \
    X(clCreateImage3D)                                                                             \
    X(clRetainMemObject)                                                                           \
    X(clReleaseMemObject)                                                                          \
    X(clGetSupportedImageFormats)                                                                  \
    X(clGetMemObjectInfo)                                                                          \
    X(clGetImageInfo)                                                                              \
    X(clCreateSampler)                                                                             \
    X(clRetainSampler)                                                                             \
    X(clReleaseSampler)                                                                            \
    X(clGetSamplerInfo)                                                                            \
    X(clCreateProgramWithSource)                                                                   \
    X(clCreateProgramWithBinary)                                                                   \
    X(clRetainProgram)                                                                             \
    X(clReleaseProgram)                                                                            \
    X(clBuildProgram)                                                                              \
    X(clUnloadCompiler)                                                                            \
    X(clGetProgramInfo)                                                                            \
    X(clGetProgramBuildInfo)                                                                       \
    X(clCreateKernel)                                                                              \
    X(clCreateKernelsInProgram)                                                                    \
    X(clRetainKernel)                                                                              \
    X(clReleaseKernel)                                                                             \
    X(clSetKernelArg)                                                                              \
    X(clGetKernelInfo)                                                                             \
    X(clGetKernelWorkGroupInfo)                                                                    \
    X(clWaitForEvents)                                                                             \
    X(clGetEventInfo)                                                                              \
    X(clRetainEvent)                                                                               \
    X(clReleaseEvent)                                                                              \
    X(clGetEventProfilingInfo)                                                                     \
    X(clFlush)                                                                                     \
    X(clFinish)                                                                                    \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clEnqueueCopyBuffer)                                                                         \
    X(clEnqueueReadImage)                                                                          \
    X(clEnqueueWriteImage)                                                                         \
    X(clEnqueueCopyImage)                                                                          \
    X(clEnqueueCopyImageToBuffer)                                                                  \
    X(clEnqueueCopyBufferToImage)                                                                  \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueMapImage)                                                                           \
    X(clEnqueueUnmapMemObject)                                                                     \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueTask)                                                                               \
    X(clEnqueueNativeKernel)                                                                       \
    X(clEnqueueMarker)                                                                             \
    X(clEnqueueWaitForEvents)                                                                      \
    X(clEnqueueBarrier)                                                                            \
    X(clSetEventCallback)                                                                          \
    X(clCreateSubBuffer)                                                                           \
    X(clSetMemObjectDestructorCallback)                                                            \
    X(clCreateUserEvent)                                                                           \
    X(clSetUserEventStatus)                                                                        \
    X(clEnqueueReadBufferRect)                                                                     \
    X(clEnqueueWriteBufferRect)                                                                    \
    X(clEnqueueCopyBufferRect)                                                                     \
    X(clCreateSubDevices)                                                                          \
    X(clRetainDevice)                                                                              \
    X(clReleaseDevice)                                                                             \
    X(clCreateImage)                                                                               \
    X(clCreateProgramWithBuiltInKernels)                                                           \
    X(clCompileProgram)                                                                            \
    X(clLinkProgram)                                                                               \
    X(clUnloadPlatformCompiler)                                                                    \
    X(clGetKernelArgInfo)                                                                          \
    X(clEnqueueFillBuffer)                                                                         \
    X(clEnqueueFillImage)                                                                          \
    X(clEnqueueMigrateMemObjects)                                                                  \
    X(clEnqueueMarkerWithWaitList)                                                                 \
    X(clEnqueueBarrierWithWaitList)                                                                \
    X(clCreateCommandQueueWithProperties)                                                          \
    X(clCreatePipe)                                                                                \
    X(clGetPipeInfo)                                                                               \
    X(clSVMAlloc)                                                                                  \
    X(clSVMFree)                                                                                   \
    X(clEnqueueSVMFree)                                                                            \
    X(clEnqueueSVMMemcpy)                                                                          \
    X(clEnqueueSVMMemFill)                                                                         \
    X(clEnqueueSVMMap)                                                                             \
    X(clEnqueueSVMUnmap)                                                                           \
    X(clCreateSamplerWithProperties)                                                               \
    X(clSetKernelArgSVMPointer)                                                                    \
    X(clSetKernelExecInfo)                                                                         \
    X(clCloneKernel)                                                                               \
    X(clCreateProgramWithIL)                                                                       \
    X(clEnqueueSVMMigrateMem)                                                                      \
    X(clGetDeviceAndHostTimer)                                                                     \
    X(clGetHostTimer)                                                                              \
    X(clGetKernelSubGroupInfo)                                                                     \
    X(clSetDefaultDeviceCommandQueue)                                                              \
    X(clSetProgramReleaseCallback)                                                                 \
    X(clSetProgramSpecializationConstant)                                                          \
    X(clCreateBufferWithProperties)                                                                \
    X(clCreateImageWithProperties)                                                                 \
    X(clSetContextDestructorCallback)

const void *opencl_dispatch(void)
{
    static const cl_icd_dispatch table = {
#define X(name) .name = name,
        FUNCTIONS(X) X(clGetExtensionFunctionAddress) X(clGetExtensionFunctionAddressForPlatform)
#undef X
    };
    return &table;
}

/* Any function, as the functions that the loader asks for are found. */
typedef void (*any_function)(void);

cl_int clIcdGetPlatformIDsKHR(cl_uint entries, cl_platform_id *platforms, cl_uint *count);

OPENCL_EXPORTED void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    static const struct {
        const char *name;
        any_function function;
    } functions[] = {
#define X(name) {#name, (any_function)name},
        FUNCTIONS(X) X(clIcdGetPlatformIDsKHR)
#undef X
    };
    if (name)
        for (size_t i = 0; i < ARRAY_COUNT(functions); i++) {
            void *address = NULL;
            memcpy(&address, &functions[i].function, sizeof address);
            if (strcmp(functions[i].name, name) == 0)
                return address;
        }
    return NULL;
}

void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                           const char *name)
{
    return opencl_find(OPENCL_PLATFORM, platform) ? clGetExtensionFunctionAddress(name) : NULL;
}
