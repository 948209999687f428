/* Answers clGetKernelInfo() and its relatives. */
#include "base/number.h"

#include "opencl_kernel_object.h"

static cl_int get_kernel_info(cl_kernel handle, cl_kernel_info query, struct opencl_answer to)
{
    const struct opencl_kernel_object *kernel = opencl_kernel_find(handle);
    if (!kernel)
        return CL_INVALID_KERNEL;
    switch (query) {
    case CL_KERNEL_FUNCTION_NAME:
        return opencl_answer_text(to, kernel->name);
    case CL_KERNEL_NUM_ARGS:
        return OPENCL_ANSWER(to, cl_uint, kernel->facts->argument_count);
    case CL_KERNEL_REFERENCE_COUNT:
        return OPENCL_ANSWER(to, cl_uint, kernel->object.references);
    case CL_KERNEL_CONTEXT:
        return OPENCL_ANSWER(to, cl_context, kernel->program->context->object.handle);
    case CL_KERNEL_PROGRAM:
        return OPENCL_ANSWER(to, cl_program, kernel->program->object.handle);
    case CL_KERNEL_ATTRIBUTES:
        return opencl_answer_text(to, kernel->facts->attributes);
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_QUERY(clGetKernelInfo, cl_kernel, cl_kernel_info, get_kernel_info);

/* ---- arguments ---- */

static cl_kernel_arg_address_qualifier address_of(const struct opencl_argument *argument)
{
    static const cl_kernel_arg_address_qualifier qualifiers[] = {
        [OPENCL_ADDRESS_PRIVATE] = CL_KERNEL_ARG_ADDRESS_PRIVATE,
        [OPENCL_ADDRESS_GLOBAL] = CL_KERNEL_ARG_ADDRESS_GLOBAL,
        [OPENCL_ADDRESS_CONSTANT] = CL_KERNEL_ARG_ADDRESS_CONSTANT,
        [OPENCL_ADDRESS_LOCAL] = CL_KERNEL_ARG_ADDRESS_LOCAL,
    };
    return qualifiers[argument->address_space];
}

static cl_kernel_arg_access_qualifier access_of(const struct opencl_argument *argument)
{
    static const cl_kernel_arg_access_qualifier qualifiers[] = {
        [OPENCL_ACCESS_NONE] = CL_KERNEL_ARG_ACCESS_NONE,
        [OPENCL_ACCESS_READ_ONLY] = CL_KERNEL_ARG_ACCESS_READ_ONLY,
        [OPENCL_ACCESS_WRITE_ONLY] = CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
        [OPENCL_ACCESS_READ_WRITE] = CL_KERNEL_ARG_ACCESS_READ_WRITE,
    };
    return qualifiers[argument->access];
}

static cl_kernel_arg_type_qualifier type_of(const struct opencl_argument *argument)
{
    return (cl_kernel_arg_type_qualifier)(argument->is_const ? CL_KERNEL_ARG_TYPE_CONST : 0)
           | (argument->is_restrict ? CL_KERNEL_ARG_TYPE_RESTRICT : 0)
           | (argument->is_volatile ? CL_KERNEL_ARG_TYPE_VOLATILE : 0)
           | (argument->is_pipe ? CL_KERNEL_ARG_TYPE_PIPE : 0);
}

static cl_int answer_name(const char *name, struct opencl_answer to)
{
    return *name ? opencl_answer_text(to, name) : CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
}

static cl_int get_argument_info(cl_kernel handle, cl_uint number, cl_kernel_arg_info query,
                                struct opencl_answer to)
{
    const struct opencl_kernel_object *kernel = opencl_kernel_find(handle);
    if (!kernel)
        return CL_INVALID_KERNEL;
    if (number >= kernel->facts->argument_count)
        return CL_INVALID_ARG_INDEX;
    const struct opencl_argument *argument = &kernel->facts->arguments[number];
    switch (query) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        return OPENCL_ANSWER(to, cl_kernel_arg_address_qualifier, address_of(argument));
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        return OPENCL_ANSWER(to, cl_kernel_arg_access_qualifier, access_of(argument));
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        return OPENCL_ANSWER(to, cl_kernel_arg_type_qualifier, type_of(argument));
    case CL_KERNEL_ARG_TYPE_NAME:
        return answer_name(argument->type_name, to);
    case CL_KERNEL_ARG_NAME:
        return answer_name(argument->name, to);
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_CALL(clGetKernelArgInfo,
            (cl_kernel kernel, cl_uint number, cl_kernel_arg_info query, size_t capacity,
             void *value, size_t *needed),
            get_argument_info(kernel, number, query,
                              (struct opencl_answer){capacity, value, needed}));

/* ---- on a device ---- */

/* The loaded function, for the device of the handle; NULL means the only one. */
static cl_int find_function(const struct opencl_kernel_object *kernel, cl_device_id handle,
                            const struct hip_function **function,
                            const struct opencl_device **device)
{
    struct opencl_program *program = kernel->program;
    if (!handle && program->build_count > 1)
        return CL_INVALID_DEVICE;
    *device = handle ? opencl_find(OPENCL_DEVICE, handle) : program->builds[0].device;
    struct opencl_build *build = *device ? opencl_program_build(program, *device) : NULL;
    if (!build || !opencl_build_kernel(build, kernel->name))
        return CL_INVALID_DEVICE;
    cl_int error = opencl_build_load(build);
    *function = error == CL_SUCCESS ? opencl_kernel_function(build->module, kernel->name) : NULL;
    return *function || error != CL_SUCCESS ? error : CL_INVALID_KERNEL;
}

/* Work-items that a work-group of the kernel may have. */
static size_t group_limit(const struct hip_function *function, const struct opencl_device *device)
{
    uint32_t compiled = function->kernel->max_group_threads, most = device->info.max_work_group;
    return compiled > 0 && compiled < most ? compiled : most;
}

static cl_ulong local_bytes(const struct opencl_kernel_object *kernel,
                            const struct hip_function *function)
{
    cl_ulong bytes = function->kernel->group_size;
    for (uint32_t i = 0; i < kernel->facts->argument_count; i++)
        if (kernel->facts->arguments[i].kind == OPENCL_ARGUMENT_LOCAL && kernel->values[i].is_set)
            bytes += kernel->values[i].size;
    return bytes;
}

static cl_int get_group_info(cl_kernel handle, cl_device_id device_handle,
                             cl_kernel_work_group_info query, struct opencl_answer to)
{
    const struct opencl_kernel_object *kernel = opencl_kernel_find(handle);
    const struct hip_function *function = NULL;
    const struct opencl_device *device = NULL;
    if (!kernel)
        return CL_INVALID_KERNEL;
    cl_int error = find_function(kernel, device_handle, &function, &device);
    if (error != CL_SUCCESS)
        return error;
    const uint32_t *required = kernel->facts->required_group;
    switch (query) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        return OPENCL_ANSWER(to, size_t, group_limit(function, device));
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return opencl_answer(to, (size_t[3]){required[0], required[1], required[2]},
                             3 * sizeof(size_t));
    case CL_KERNEL_LOCAL_MEM_SIZE:
        return OPENCL_ANSWER(to, cl_ulong, local_bytes(kernel, function));
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return OPENCL_ANSWER(to, size_t, HIP_WAVEFRONT);
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        return OPENCL_ANSWER(to, cl_ulong, function->kernel->private_size);
    default: /* CL_KERNEL_GLOBAL_WORK_SIZE is for built-in kernels */
        return CL_INVALID_VALUE;
    }
}

OPENCL_CALL(clGetKernelWorkGroupInfo,
            (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info query,
             size_t capacity, void *value, size_t *needed),
            get_group_info(kernel, device, query, (struct opencl_answer){capacity, value, needed}));

/* ---- sub-groups: wavefronts ---- */

static size_t sub_groups(size_t items)
{
    return divide_up(items, HIP_WAVEFRONT);
}

/* A size of one dimension whose work-groups have so many sub-groups; zeros: none has. */
static cl_int answer_local_size(size_t wanted, size_t limit, struct opencl_answer to)
{
    bool fits = wanted > 0 && wanted * HIP_WAVEFRONT <= limit;
    size_t list[3] = {fits ? wanted * HIP_WAVEFRONT : 0, fits ? 1 : 0, fits ? 1 : 0};
    size_t count = to.capacity / sizeof list[0];
    if (to.value && (count < 1 || count > 3))
        return CL_INVALID_VALUE;
    return opencl_answer(to, list, (to.value ? count : 3) * sizeof list[0]);
}

static cl_int get_sub_group_info(cl_kernel handle, cl_device_id device_handle,
                                 cl_kernel_sub_group_info query, size_t size, const size_t *input,
                                 struct opencl_answer to)
{
    const struct opencl_kernel_object *kernel = opencl_kernel_find(handle);
    const struct hip_function *function = NULL;
    const struct opencl_device *device = NULL;
    if (!kernel)
        return CL_INVALID_KERNEL;
    cl_int error = find_function(kernel, device_handle, &function, &device);
    if (error != CL_SUCCESS)
        return error;
    size_t limit = group_limit(function, device), count = size / sizeof *input, items = 1;
    bool takes_size = query == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE
                      || query == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE;
    bool takes_count = query == CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT;
    if (takes_size && (!input || size % sizeof *input != 0 || count < 1 || count > 3))
        return CL_INVALID_VALUE;
    if (takes_count && (!input || size != sizeof *input))
        return CL_INVALID_VALUE;
    if (takes_size)
        for (size_t i = 0; i < count; i++)
            items *= input[i];
    switch (query) {
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
        return OPENCL_ANSWER(to, size_t, min(items, HIP_WAVEFRONT));
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
        return OPENCL_ANSWER(to, size_t, sub_groups(items));
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
        return answer_local_size(*input, limit, to);
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
        return OPENCL_ANSWER(to, size_t, sub_groups(limit));
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
        return OPENCL_ANSWER(to, size_t, 0);
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_CALL(clGetKernelSubGroupInfo,
            (cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info query, size_t size,
             const void *input, size_t capacity, void *value, size_t *needed),
            get_sub_group_info(kernel, device, query, size, input,
                               (struct opencl_answer){capacity, value, needed}));
