/* Answers clGetProgramInfo() and clGetProgramBuildInfo(). */
#include <stdlib.h>
#include <string.h>

#include "opencl_program.h"

/* The first build that is an executable; NULL: there is none. */
static const struct opencl_build *executable(const struct opencl_program *program)
{
    for (uint32_t i = 0; i < program->build_count; i++)
        if (program->builds[i].status == CL_BUILD_SUCCESS && program->builds[i].has_facts)
            return &program->builds[i];
    return NULL;
}

static cl_int answer_names(const struct opencl_build *build, struct opencl_answer to)
{
    size_t size = 1;
    for (size_t i = 0; i < build->facts.kernel_count; i++)
        size += strlen(build->facts.kernels[i].name) + 1;
    char *text = opencl_allocate(size);
    for (size_t i = 0; i < build->facts.kernel_count; i++) {
        strcat(text, i > 0 ? ";" : "");
        strcat(text, build->facts.kernels[i].name);
    }
    cl_int error = opencl_answer_text(to, text);
    free(text);
    return error;
}

static cl_int answer_devices(const struct opencl_program *program, cl_program_info query,
                             struct opencl_answer to)
{
    size_t sizes[OPENCL_DEVICES_MAX];
    cl_device_id devices[OPENCL_DEVICES_MAX];
    for (uint32_t i = 0; i < program->build_count; i++) {
        sizes[i] = program->builds[i].size;
        devices[i] = program->builds[i].device->object.handle;
    }
    return query == CL_PROGRAM_DEVICES
               ? opencl_answer(to, devices, program->build_count * sizeof devices[0])
               : opencl_answer(to, sizes, program->build_count * sizeof sizes[0]);
}

/* The value is an array of addresses, to which the binaries go. */
static cl_int answer_binaries(const struct opencl_program *program, struct opencl_answer to)
{
    size_t size = program->build_count * sizeof(unsigned char *);
    unsigned char *const *targets = to.value;
    if (to.value && to.capacity < size)
        return CL_INVALID_VALUE;
    if (targets)
        for (uint32_t i = 0; i < program->build_count; i++)
            if (targets[i] && program->builds[i].size > 0)
                memcpy(targets[i], program->builds[i].binary, program->builds[i].size);
    if (to.needed)
        *to.needed = size;
    return CL_SUCCESS;
}

static cl_int get_program_info(cl_program handle, cl_program_info query, struct opencl_answer to)
{
    const struct opencl_program *program = opencl_find(OPENCL_PROGRAM, handle);
    if (!program)
        return CL_INVALID_PROGRAM;
    const struct opencl_build *build = executable(program);
    switch (query) {
    case CL_PROGRAM_REFERENCE_COUNT:
        return OPENCL_ANSWER(to, cl_uint, program->object.references);
    case CL_PROGRAM_CONTEXT:
        return OPENCL_ANSWER(to, cl_context, program->context->object.handle);
    case CL_PROGRAM_NUM_DEVICES:
        return OPENCL_ANSWER(to, cl_uint, program->build_count);
    case CL_PROGRAM_SOURCE:
        return opencl_answer_text(to, program->source ? program->source : "");
    case CL_PROGRAM_DEVICES:
    case CL_PROGRAM_BINARY_SIZES:
        return answer_devices(program, query, to);
    case CL_PROGRAM_BINARIES:
        return answer_binaries(program, to);
    case CL_PROGRAM_IL:
        return opencl_answer(to, NULL, 0);
    case CL_PROGRAM_NUM_KERNELS:
        return build ? OPENCL_ANSWER(to, size_t, build->facts.kernel_count)
                     : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_KERNEL_NAMES:
        return build ? answer_names(build, to) : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
        return OPENCL_ANSWER(to, cl_bool, CL_FALSE);
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_QUERY(clGetProgramInfo, cl_program, cl_program_info, get_program_info);

static cl_program_binary_type binary_type(const struct opencl_build *build)
{
    switch (build->size > 0 ? build->kind : OPENCL_BINARY_UNKNOWN) {
    case OPENCL_BINARY_EXECUTABLE:
        return CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    case OPENCL_BINARY_OBJECT:
        return CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    case OPENCL_BINARY_LIBRARY:
        return CL_PROGRAM_BINARY_TYPE_LIBRARY;
    default:
        return CL_PROGRAM_BINARY_TYPE_NONE;
    }
}

static cl_int get_build_info(cl_program handle, cl_device_id device_handle,
                             cl_program_build_info query, struct opencl_answer to)
{
    const struct opencl_program *program = opencl_find(OPENCL_PROGRAM, handle);
    const struct opencl_device *device = opencl_find(OPENCL_DEVICE, device_handle);
    const struct opencl_build *build =
        program && device ? opencl_program_build(program, device) : NULL;
    if (!build)
        return program ? CL_INVALID_DEVICE : CL_INVALID_PROGRAM;
    switch (query) {
    case CL_PROGRAM_BUILD_STATUS:
        return OPENCL_ANSWER(to, cl_build_status, build->status);
    case CL_PROGRAM_BUILD_OPTIONS:
        return opencl_answer_text(to, build->options ? build->options : "");
    case CL_PROGRAM_BUILD_LOG:
        return opencl_answer_text(to, build->log ? build->log : "");
    case CL_PROGRAM_BINARY_TYPE:
        return OPENCL_ANSWER(to, cl_program_binary_type, binary_type(build));
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
        return OPENCL_ANSWER(to, size_t, build->has_facts ? build->facts.variable_bytes : 0);
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_CALL(clGetProgramBuildInfo,
            (cl_program program, cl_device_id device, cl_program_build_info query, size_t capacity,
             void *value, size_t *needed),
            get_build_info(program, device, query,
                           (struct opencl_answer){capacity, value, needed}));
