/* Makes samplers, and answers what they are (see opencl_sampler.h). */
#include "opencl_sampler.h"

#include <stdlib.h>
#include <string.h>

uint64_t opencl_sampler_bits(const struct opencl_sampler *sampler)
{
    return (uint64_t)(sampler->is_normalized != 0)
           | (uint64_t)(sampler->addressing - CL_ADDRESS_NONE) << 1
           | (sampler->filter == CL_FILTER_LINEAR ? 0x20 : 0x10);
}

static void destroy_sampler(struct opencl_object *object)
{
    struct opencl_sampler *sampler = (struct opencl_sampler *)object;
    opencl_drop(&sampler->context->object);
    free(sampler->properties);
    free(sampler);
}

/* Properties are pairs, each at most once, with a zero after them. */
static bool read_properties(struct opencl_sampler *sampler, const cl_sampler_properties *list)
{
    bool is_given[3] = {false};
    size_t count = 0;
    for (; list[count]; count += 2) {
        cl_sampler_properties value = list[count + 1],
                              place = list[count] - CL_SAMPLER_NORMALIZED_COORDS;
        if (place > 2 || is_given[place])
            return false;
        is_given[place] = true;
        if (list[count] == CL_SAMPLER_NORMALIZED_COORDS)
            sampler->is_normalized = (cl_bool)value;
        else if (list[count] == CL_SAMPLER_ADDRESSING_MODE)
            sampler->addressing = (cl_addressing_mode)value;
        else
            sampler->filter = (cl_filter_mode)value;
    }
    sampler->property_count = count + 1;
    sampler->properties = opencl_allocate((count + 1) * sizeof *list);
    memcpy(sampler->properties, list, (count + 1) * sizeof *list);
    return true;
}

static bool is_sound(const struct opencl_sampler *sampler)
{
    return sampler->is_normalized <= CL_TRUE && sampler->addressing >= CL_ADDRESS_NONE
           && sampler->addressing <= CL_ADDRESS_MIRRORED_REPEAT
           && (sampler->filter == CL_FILTER_NEAREST || sampler->filter == CL_FILTER_LINEAR);
}

static cl_sampler create_sampler(cl_context handle, struct opencl_sampler wanted,
                                 const cl_sampler_properties *properties, cl_int *error)
{
    struct opencl_context *context = opencl_find(OPENCL_CONTEXT, handle);
    *error = context ? CL_SUCCESS : CL_INVALID_CONTEXT;
    if (context && ((properties && !read_properties(&wanted, properties)) || !is_sound(&wanted)))
        *error = CL_INVALID_VALUE;
    if (*error != CL_SUCCESS) {
        free(wanted.properties);
        return NULL;
    }
    struct opencl_sampler *sampler = opencl_allocate(sizeof *sampler);
    *sampler = wanted;
    sampler->context = context;
    opencl_hold(&context->object);
    opencl_object_begin(&sampler->object, OPENCL_SAMPLER, destroy_sampler);
    return sampler->object.handle;
}

OPENCL_CREATE(cl_sampler, clCreateSampler,
              (cl_context context, cl_bool normalized, cl_addressing_mode addressing,
               cl_filter_mode filter, cl_int *errcode_ret),
              create_sampler(context,
                             (struct opencl_sampler){.is_normalized = normalized,
                                                     .addressing = addressing,
                                                     .filter = filter},
                             NULL, &error));
OPENCL_CREATE(cl_sampler, clCreateSamplerWithProperties,
              (cl_context context, const cl_sampler_properties *properties, cl_int *errcode_ret),
              create_sampler(context,
                             (struct opencl_sampler){.is_normalized = CL_TRUE,
                                                     .addressing = CL_ADDRESS_CLAMP,
                                                     .filter = CL_FILTER_NEAREST},
                             properties, &error));
OPENCL_COUNTED(Sampler, cl_sampler, OPENCL_SAMPLER, CL_INVALID_SAMPLER);

static cl_int get_sampler_info(cl_sampler handle, cl_sampler_info query, struct opencl_answer to)
{
    const struct opencl_sampler *sampler = opencl_find(OPENCL_SAMPLER, handle);
    if (!sampler)
        return CL_INVALID_SAMPLER;
    switch (query) {
    case CL_SAMPLER_REFERENCE_COUNT:
        return OPENCL_ANSWER(to, cl_uint, sampler->object.references);
    case CL_SAMPLER_CONTEXT:
        return OPENCL_ANSWER(to, cl_context, sampler->context->object.handle);
    case CL_SAMPLER_NORMALIZED_COORDS:
        return OPENCL_ANSWER(to, cl_bool, sampler->is_normalized);
    case CL_SAMPLER_ADDRESSING_MODE:
        return OPENCL_ANSWER(to, cl_addressing_mode, sampler->addressing);
    case CL_SAMPLER_FILTER_MODE:
        return OPENCL_ANSWER(to, cl_filter_mode, sampler->filter);
    case CL_SAMPLER_PROPERTIES:
        return opencl_answer(to, sampler->properties,
                             sampler->property_count * sizeof *sampler->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_QUERY(clGetSamplerInfo, cl_sampler, cl_sampler_info, get_sampler_info);
