/* Answers of an OpenCL device that do not depend on the description. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_DEVICES_OPENCL_FEATURES_H
#define HEDDLE_COMPONENTS_OPENCL_API_DEVICES_OPENCL_FEATURES_H

#include "components/opencl/api/opencl_internal.h"

enum {
    OPENCL_TIMER_NS = 1,
    OPENCL_ARGUMENTS_MAX = 1024, /* bytes of a kernel's arguments */
    OPENCL_IMAGES_MAX = 128,     /* images among a kernel's arguments */
    OPENCL_PRINTF_BYTES = 1 << 20,
    OPENCL_PATTERN_MAX = 128
};

/* The answer to `query`, or CL_INVALID_VALUE when it is none of these. */
cl_int opencl_feature_answer(cl_device_info query, struct opencl_answer to);

/* CL_DEVICE_EXTENSIONS of a device with this target, with their `versions` as a list. */
cl_int opencl_extensions_answer(const char *isa, bool versions, struct opencl_answer to);

#endif
