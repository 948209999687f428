/* Pipes: no device has any (CL_DEVICE_PIPE_SUPPORT is false). The functions look at the object that
 * they begin with and refuse, as the specification says for such devices. */
#include "components/opencl/api/devices/opencl_context.h"

static cl_mem fail_pipe(cl_context context, cl_int *error)
{
    *error = opencl_find(OPENCL_CONTEXT, context) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
    return NULL;
}

/* The parameters but for the first do not matter. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
OPENCL_CREATE(cl_mem, clCreatePipe,
              (cl_context context, cl_mem_flags flags, cl_uint packet, cl_uint packets,
               const cl_pipe_properties *properties, cl_int *errcode_ret),
              fail_pipe(context, &error));
OPENCL_CALL(clGetPipeInfo,
            (cl_mem pipe, cl_pipe_info query, size_t capacity, void *value, size_t *needed),
            CL_INVALID_MEM_OBJECT);
