/* Makes programs from sources and binaries, and keeps their builds (see opencl_program.h). */
#include "opencl_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "components/opencl/api/commands/opencl_driver_commands.h"
#include "components/opencl/api/devices/opencl_device.h"

/* ---- builds ---- */

struct opencl_build *opencl_program_build(const struct opencl_program *program,
                                          const struct opencl_device *device)
{
    for (uint32_t i = 0; i < program->build_count; i++)
        if (program->builds[i].device == device)
            return &program->builds[i];
    return NULL;
}

const struct opencl_kernel *opencl_build_kernel(const struct opencl_build *build, const char *name)
{
    if (!build->has_facts)
        return NULL;
    for (size_t i = 0; i < build->facts.kernel_count; i++)
        if (strcmp(build->facts.kernels[i].name, name) == 0)
            return &build->facts.kernels[i];
    return NULL;
}

/* OpenCL C 2.0 and later leave that to an option. */
bool opencl_build_allows_remainder(const struct opencl_build *build)
{
    const char *options = build->options ? build->options : "";
    const char *version = strstr(options, "-cl-std=CL");
    return version && version[strlen("-cl-std=CL")] >= '2'
           && !strstr(options, "-cl-uniform-work-group-size");
}

cl_int opencl_build_load(struct opencl_build *build)
{
    if (build->module)
        return CL_SUCCESS;
    hipError_t error = opencl.hip->load_module(build->binary, build->size, build->device->number,
                                               "program of OpenCL", &build->module);
    return error == hipErrorInvalidImage || error == hipErrorNoBinaryForGpu
               ? CL_INVALID_PROGRAM_EXECUTABLE
               : opencl_error_of(error);
}

void opencl_build_clear(struct opencl_build *build)
{
    if (build->module)
        opencl_driver_unload(build->module);
    if (build->has_facts)
        opencl_facts_release(&build->facts);
    free(build->options);
    free(build->log);
    free(build->binary);
    *build = (struct opencl_build){.device = build->device, .status = CL_BUILD_NONE};
}

bool opencl_build_set(struct opencl_build *build, const void *bytes, size_t size)
{
    char error[320] = "the bytes are no binary of a program";
    build->kind = opencl_binary_kind(bytes, size);
    bool is_sound = build->kind != OPENCL_BINARY_UNKNOWN;
    if (build->kind == OPENCL_BINARY_EXECUTABLE) {
        is_sound = opencl_facts_read(&build->facts, bytes, size, error);
        build->has_facts = is_sound;
    }
    if (!is_sound) {
        build->kind = OPENCL_BINARY_UNKNOWN;
        free(build->log);
        build->log = opencl_copy_text(error);
        return false;
    }
    free(build->binary);
    build->binary = grow_memory(NULL, size, OPENCL_LIBRARY);
    memcpy(build->binary, bytes, size);
    build->size = size;
    return true;
}

/* ---- programs ---- */

static void destroy_program(struct opencl_object *object)
{
    struct opencl_program *program = (struct opencl_program *)object;
    for (uint32_t i = 0; i < program->build_count; i++)
        opencl_build_clear(&program->builds[i]);
    opencl_destructors_due(program->destructors);
    opencl_drop(&program->context->object);
    free(program->builds);
    free(program->source);
    free(program);
}

struct opencl_program *opencl_program_create(struct opencl_context *context,
                                             struct opencl_device **devices, uint32_t count)
{
    struct opencl_program *program = opencl_allocate(sizeof *program);
    program->context = context;
    program->object.destroy = destroy_program;
    program->builds = opencl_allocate(count * sizeof *program->builds);
    program->build_count = count;
    for (uint32_t i = 0; i < count; i++)
        program->builds[i] = (struct opencl_build){.device = devices[i], .status = CL_BUILD_NONE};
    opencl_hold(&context->object);
    opencl_object_begin(&program->object, OPENCL_PROGRAM, destroy_program);
    return program;
}

/* The pieces of a source, one after the other. NULL: a piece is missing. */
static char *join_texts(cl_uint count, const char *const *texts, const size_t *sizes)
{
    size_t size = 0;
    for (cl_uint i = 0; i < count; i++) {
        if (!texts[i])
            return NULL;
        size += sizes && sizes[i] ? sizes[i] : strlen(texts[i]);
    }
    char *text = opencl_allocate(size + 1), *end = text;
    for (cl_uint i = 0; i < count; i++) {
        size_t piece = sizes && sizes[i] ? sizes[i] : strlen(texts[i]);
        memcpy(end, texts[i], piece);
        end += piece;
    }
    return text;
}

static cl_program create_with_source(cl_context handle, cl_uint count, const char *const *texts,
                                     const size_t *sizes, cl_int *error)
{
    struct opencl_context *context = opencl_find(OPENCL_CONTEXT, handle);
    char *source = context && count > 0 && texts ? join_texts(count, texts, sizes) : NULL;
    *error = !context ? CL_INVALID_CONTEXT : source ? CL_SUCCESS : CL_INVALID_VALUE;
    if (*error != CL_SUCCESS)
        return NULL;
    struct opencl_program *program =
        opencl_program_create(context, context->devices, context->device_count);
    program->source = source;
    return program->object.handle;
}

OPENCL_CREATE(cl_program, clCreateProgramWithSource,
              (cl_context context, cl_uint count, const char **texts, const size_t *sizes,
               cl_int *errcode_ret),
              create_with_source(context, count, (const char *const *)texts, sizes, &error));

static bool is_for(const uint8_t *bytes, size_t size, const struct opencl_device *device)
{
    struct code_object object;
    bool fits =
        code_object_read(&object, bytes, size) && strcmp(object.target.gfx, device->info.isa) == 0;
    code_object_release(&object);
    return fits;
}

static cl_int set_binary(struct opencl_build *build, const unsigned char *binary, size_t size)
{
    if (!binary || size == 0)
        return CL_INVALID_VALUE;
    if (!opencl_build_set(build, binary, size))
        return CL_INVALID_BINARY;
    if (build->kind == OPENCL_BINARY_EXECUTABLE && !is_for(binary, size, build->device))
        return CL_INVALID_BINARY;
    return CL_SUCCESS;
}

/* Fills the builds with binaries, and returns the first error. */
static cl_int set_binaries(struct opencl_program *program, const size_t *sizes,
                           const unsigned char *const *binaries, cl_int *states)
{
    cl_int error = CL_SUCCESS;
    for (uint32_t i = 0; i < program->build_count; i++) {
        cl_int state = set_binary(&program->builds[i], binaries[i], sizes[i]);
        if (states)
            states[i] = state;
        error = error == CL_SUCCESS ? state : error;
    }
    return error;
}

static cl_program create_with_binary(cl_context handle, cl_uint count, const cl_device_id *list,
                                     const size_t *sizes, const unsigned char *const *binaries,
                                     cl_int *states, cl_int *error)
{
    struct opencl_context *context = opencl_find(OPENCL_CONTEXT, handle);
    struct opencl_device **devices = NULL;
    *error = context ? opencl_devices_find(list, count, &devices) : CL_INVALID_CONTEXT;
    for (cl_uint i = 0; i < count && *error == CL_SUCCESS; i++)
        if (opencl_context_place(context, devices[i]) < 0)
            *error = CL_INVALID_DEVICE;
    if (*error == CL_SUCCESS && (!sizes || !binaries))
        *error = CL_INVALID_VALUE;
    struct opencl_program *program =
        *error == CL_SUCCESS ? opencl_program_create(context, devices, count) : NULL;
    free(devices);
    if (program)
        *error = set_binaries(program, sizes, binaries, states);
    if (program && *error != CL_SUCCESS) {
        opencl_release(OPENCL_PROGRAM, program->object.handle);
        return NULL;
    }
    return program ? program->object.handle : NULL;
}

OPENCL_CREATE(cl_program, clCreateProgramWithBinary,
              (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *sizes,
               const unsigned char **binaries, cl_int *states, cl_int *errcode_ret),
              create_with_binary(context, count, devices, sizes,
                                 (const unsigned char *const *)binaries, states, &error));

/* No device has kernels of its own, and none takes intermediate languages. */
static cl_program fail_program(cl_context context, cl_int reason, cl_int *error)
{
    *error = opencl_find(OPENCL_CONTEXT, context) ? reason : CL_INVALID_CONTEXT;
    return NULL;
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count,
                                                         const cl_device_id *devices,
                                                         const char *names, cl_int *errcode_ret)
{
    (void)count, (void)devices, (void)names;
    cl_int error = opencl_enter("clCreateProgramWithBuiltInKernels");
    if (error == CL_SUCCESS)
        fail_program(context, CL_INVALID_VALUE, &error);
    opencl_leave(error);
    if (errcode_ret)
        *errcode_ret = error;
    return NULL;
}

cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void *bytes, size_t size,
                                             cl_int *errcode_ret)
{
    (void)bytes, (void)size;
    cl_int error = opencl_enter("clCreateProgramWithIL");
    if (error == CL_SUCCESS)
        fail_program(context, CL_INVALID_OPERATION, &error);
    opencl_leave(error);
    if (errcode_ret)
        *errcode_ret = error;
    return NULL;
}

OPENCL_COUNTED(Program, cl_program, OPENCL_PROGRAM, CL_INVALID_PROGRAM);

typedef void(CL_CALLBACK *program_call)(cl_program, void *);

static cl_int add_destructor(cl_program handle, program_call call, void *data)
{
    struct opencl_program *program = opencl_find(OPENCL_PROGRAM, handle);
    if (!program || !call)
        return program ? CL_INVALID_VALUE : CL_INVALID_PROGRAM;
    opencl_destructor_add(&program->destructors, (void (*)(void *, void *))call, handle, data);
    return CL_SUCCESS;
}

OPENCL_CALL(clSetProgramReleaseCallback,
            (cl_program program, void(CL_CALLBACK *call)(cl_program, void *), void *data),
            add_destructor(program, call, data));

static cl_int set_constant(cl_program program)
{
    return opencl_find(OPENCL_PROGRAM, program) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

/* Constants of that kind belong to SPIR-V. */
cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program, cl_uint number,
                                                      size_t size, const void *value)
{
    (void)number, (void)size, (void)value;
    cl_int error = opencl_enter("clSetProgramSpecializationConstant");
    return opencl_leave(error == CL_SUCCESS ? set_constant(program) : error);
}
