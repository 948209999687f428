/* Building, compiling and linking. A call builds for one device after the other before it returns,
 * also where the program wants to be called when that is done: it is called at the end. */
#include <stdlib.h>
#include <string.h>

#include "components/opencl/api/devices/opencl_device.h"

#include "opencl_program.h"

typedef void(CL_CALLBACK *build_call)(cl_program, void *);

/* The devices that a call names, all of which the program has; none: all of them. */
static cl_int choose_devices(const struct opencl_program *program, cl_uint count,
                             const cl_device_id *list, struct opencl_device ***devices,
                             uint32_t *chosen)
{
    if ((count == 0) != !list)
        return CL_INVALID_VALUE;
    if (list) {
        cl_int error = opencl_devices_find(list, count, devices);
        for (cl_uint i = 0; i < count && error == CL_SUCCESS; i++)
            if (!opencl_program_build(program, (*devices)[i]))
                error = CL_INVALID_DEVICE;
        *chosen = count;
        return error;
    }
    *chosen = program->build_count;
    *devices = opencl_allocate(*chosen * sizeof **devices);
    for (uint32_t i = 0; i < *chosen; i++)
        (*devices)[i] = program->builds[i].device;
    return CL_SUCCESS;
}

/* The build takes over what was built. */
static cl_int keep_built(struct opencl_build *build, const char *options,
                         enum opencl_build_status status, struct opencl_built *built,
                         cl_int failure, cl_int wrong_options)
{
    bool is_sound = status == OPENCL_BUILD_OK && opencl_build_set(build, built->bytes, built->size);
    if (status != OPENCL_BUILD_OK || is_sound) {
        free(build->log);
        build->log = opencl_copy_text(built->log);
    }
    free(build->options);
    build->options = opencl_copy_text(options);
    build->status = is_sound ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    opencl_built_release(built);
    if (status == OPENCL_BUILD_INVALID_OPTIONS)
        return wrong_options;
    if (status == OPENCL_BUILD_COMPILER_MISSING)
        return CL_COMPILER_NOT_AVAILABLE;
    return is_sound ? CL_SUCCESS : failure;
}

static cl_int build_source(struct opencl_program *program, struct opencl_build *build,
                           const char *options)
{
    const struct opencl_text source = {NULL, program->source, strlen(program->source)};
    struct opencl_built built = {0};
    opencl_build_clear(build);
    const struct opencl_job job = {.sources = &source,
                                   .source_count = 1,
                                   .options = options,
                                   .target = build->device->info.isa,
                                   .links = true};
    enum opencl_build_status status = opencl_compile(&job, &built);
    return keep_built(build, options, status, &built, CL_BUILD_PROGRAM_FAILURE,
                      CL_INVALID_BUILD_OPTIONS);
}

/* A binary that is an executable is built; objects and libraries are linked. */
static cl_int build_binary(struct opencl_build *build, const char *options)
{
    struct opencl_built built = {0};
    if (build->kind == OPENCL_BINARY_UNKNOWN || build->size == 0)
        return CL_INVALID_BINARY;
    if (build->kind != OPENCL_BINARY_EXECUTABLE) {
        const struct opencl_text object = {NULL, (const char *)build->binary, build->size};
        enum opencl_build_status status =
            opencl_link(&object, 1, options, build->device->info.isa, &built);
        return keep_built(build, options, status, &built, CL_BUILD_PROGRAM_FAILURE,
                          CL_INVALID_BUILD_OPTIONS);
    }
    free(build->options);
    build->options = opencl_copy_text(options);
    build->status = CL_BUILD_SUCCESS;
    return CL_SUCCESS;
}

static cl_int build_program(cl_program handle, cl_uint count, const cl_device_id *list,
                            const char *options, bool has_call, const void *data)
{
    struct opencl_program *program = opencl_find(OPENCL_PROGRAM, handle);
    struct opencl_device **devices = NULL;
    uint32_t chosen = 0;
    if (!program)
        return CL_INVALID_PROGRAM;
    if (!has_call && data)
        return CL_INVALID_VALUE;
    if (program->kernels > 0)
        return CL_INVALID_OPERATION;
    cl_int error = choose_devices(program, count, list, &devices, &chosen);
    for (uint32_t i = 0; i < chosen && error == CL_SUCCESS; i++) {
        struct opencl_build *build = opencl_program_build(program, devices[i]);
        error =
            program->source ? build_source(program, build, options) : build_binary(build, options);
    }
    free(devices);
    return error;
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                                  const char *options, build_call call, void *data)
{
    cl_int error = opencl_enter("clBuildProgram");
    if (error == CL_SUCCESS)
        error = build_program(program, count, devices, options, call != NULL, data);
    opencl_leave(error);
    if (call && (error == CL_SUCCESS || error == CL_BUILD_PROGRAM_FAILURE))
        call(program, data);
    return error;
}

/* ---- compiling ---- */

/* The sources of programs that are headers. NULL: one is not a program with a source. */
static struct opencl_text *headers_of(cl_uint count, const cl_program *programs,
                                      const char *const *names)
{
    struct opencl_text *headers = opencl_allocate(count * sizeof *headers);
    for (cl_uint i = 0; i < count; i++) {
        const struct opencl_program *program = opencl_find(OPENCL_PROGRAM, programs[i]);
        if (!program || !program->source || !names[i]) {
            free(headers);
            return NULL;
        }
        headers[i] = (struct opencl_text){names[i], program->source, strlen(program->source)};
    }
    return headers;
}

static cl_int compile_program(cl_program handle, cl_uint count, const cl_device_id *list,
                              const char *options, cl_uint header_count, const cl_program *programs,
                              const char *const *names)
{
    struct opencl_program *program = opencl_find(OPENCL_PROGRAM, handle);
    struct opencl_device **devices = NULL;
    uint32_t chosen = 0;
    if (!program)
        return CL_INVALID_PROGRAM;
    if ((header_count == 0) != !programs || !programs != !names)
        return CL_INVALID_VALUE;
    if (!program->source || program->kernels > 0)
        return CL_INVALID_OPERATION;
    struct opencl_text *headers = headers_of(header_count, programs, names);
    cl_int error =
        headers ? choose_devices(program, count, list, &devices, &chosen) : CL_INVALID_PROGRAM;
    const struct opencl_text source = {NULL, program->source, strlen(program->source)};
    for (uint32_t i = 0; i < chosen && error == CL_SUCCESS; i++) {
        struct opencl_build *build = opencl_program_build(program, devices[i]);
        struct opencl_built built = {0};
        opencl_build_clear(build);
        const struct opencl_job job = {.sources = &source,
                                       .source_count = 1,
                                       .headers = headers,
                                       .header_count = header_count,
                                       .options = options,
                                       .target = build->device->info.isa};
        enum opencl_build_status status = opencl_compile(&job, &built);
        error = keep_built(build, options, status, &built, CL_COMPILE_PROGRAM_FAILURE,
                           CL_INVALID_COMPILER_OPTIONS);
    }
    free(headers);
    free(devices);
    return error;
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                                    const char *options, cl_uint header_count,
                                    const cl_program *headers, const char **names, build_call call,
                                    void *data)
{
    cl_int error = opencl_enter("clCompileProgram");
    if (error == CL_SUCCESS)
        error = !call && data ? CL_INVALID_VALUE
                              : compile_program(program, count, devices, options, header_count,
                                                headers, (const char *const *)names);
    opencl_leave(error);
    if (call && (error == CL_SUCCESS || error == CL_COMPILE_PROGRAM_FAILURE))
        call(program, data);
    return error;
}

/* ---- linking ---- */

/* Objects and libraries of the programs for the device. NULL: a program is not one of these. */
static struct opencl_text *objects_of(cl_uint count, const cl_program *programs,
                                      const struct opencl_device *device)
{
    struct opencl_text *objects = opencl_allocate(count * sizeof *objects);
    for (cl_uint i = 0; i < count; i++) {
        const struct opencl_program *program = opencl_find(OPENCL_PROGRAM, programs[i]);
        const struct opencl_build *build = opencl_program_build(program, device);
        if (!build || build->size == 0
            || (build->kind != OPENCL_BINARY_OBJECT && build->kind != OPENCL_BINARY_LIBRARY)) {
            free(objects);
            return NULL;
        }
        objects[i] = (struct opencl_text){NULL, (const char *)build->binary, build->size};
    }
    return objects;
}

static cl_int check_inputs(cl_uint count, const cl_program *programs)
{
    if (count == 0 || !programs)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++)
        if (!opencl_find(OPENCL_PROGRAM, programs[i]))
            return CL_INVALID_PROGRAM;
    return CL_SUCCESS;
}

static cl_program link_program(cl_context handle, cl_uint count, const cl_device_id *list,
                               const char *options, cl_uint input_count, const cl_program *programs,
                               cl_int *error)
{
    struct opencl_context *context = opencl_find(OPENCL_CONTEXT, handle);
    struct opencl_device **devices = NULL;
    *error = !context                ? CL_INVALID_CONTEXT
             : (count == 0) != !list ? CL_INVALID_VALUE
                                     : check_inputs(input_count, programs);
    if (*error == CL_SUCCESS && list)
        *error = opencl_devices_find(list, count, &devices);
    if (list)
        for (cl_uint i = 0; i < count && *error == CL_SUCCESS; i++)
            if (opencl_context_place(context, devices[i]) < 0)
                *error = CL_INVALID_DEVICE;
    struct opencl_program *linked =
        *error != CL_SUCCESS ? NULL
        : list               ? opencl_program_create(context, devices, count)
               : opencl_program_create(context, context->devices, context->device_count);
    const uint32_t build_count = linked ? linked->build_count : 0;
    for (uint32_t i = 0; i < build_count && *error == CL_SUCCESS; i++) {
        struct opencl_build *build = &linked->builds[i];
        struct opencl_built built = {0};
        struct opencl_text *objects = objects_of(input_count, programs, build->device);
        if (!objects) {
            *error = CL_INVALID_OPERATION;
            break;
        }
        enum opencl_build_status status =
            opencl_link(objects, input_count, options, build->device->info.isa, &built);
        *error = keep_built(build, options, status, &built, CL_LINK_PROGRAM_FAILURE,
                            CL_INVALID_LINKER_OPTIONS);
        free(objects);
    }
    free(devices);
    if (linked && *error != CL_SUCCESS && *error != CL_LINK_PROGRAM_FAILURE) {
        opencl_release(OPENCL_PROGRAM, linked->object.handle);
        return NULL;
    }
    return linked ? linked->object.handle : NULL;
}

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const char *options, cl_uint input_count,
                                     const cl_program *programs, build_call call, void *data,
                                     cl_int *errcode_ret)
{
    cl_int error = opencl_enter("clLinkProgram");
    cl_program linked = NULL;
    if (error == CL_SUCCESS && !call && data)
        error = CL_INVALID_VALUE;
    else if (error == CL_SUCCESS)
        linked = link_program(context, count, devices, options, input_count, programs, &error);
    opencl_leave(error);
    if (errcode_ret)
        *errcode_ret = error;
    if (call && linked)
        call(linked, data);
    return linked;
}
