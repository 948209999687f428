/* Samplers. A kernel gets the bits of one where its code has an address
 * (compiler/opencl_functions.cl), so a sampler needs no memory on a device. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_MEMORY_OPENCL_SAMPLER_H
#define HEDDLE_COMPONENTS_OPENCL_API_MEMORY_OPENCL_SAMPLER_H

#include "components/opencl/api/devices/opencl_context.h"

struct opencl_sampler {
    struct opencl_object object;
    struct opencl_context *context; /* held */
    cl_bool is_normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
    cl_sampler_properties *properties; /* as given, with the zero at the end; NULL: none */
    size_t property_count;
};

/* The bits of a literal of the same sampler in OpenCL C. */
uint64_t opencl_sampler_bits(const struct opencl_sampler *sampler);

#endif
