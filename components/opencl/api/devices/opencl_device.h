/* The platform and its devices: the GPUs of the description. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_DEVICES_OPENCL_DEVICE_H
#define HEDDLE_COMPONENTS_OPENCL_API_DEVICES_OPENCL_DEVICE_H

#include "components/opencl/api/opencl_internal.h"

/* GPU `number` of the HIP library becomes `device`. */
void opencl_device_open(struct opencl_device *device, int number);
/* The devices of handles. CL_SUCCESS, or the error of clCreateContext. The caller frees `*found`.
 */
cl_int opencl_devices_find(const cl_device_id *handles, cl_uint count,
                           struct opencl_device ***found);

#endif
