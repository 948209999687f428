/* Makes and copies kernels, and sets their arguments (see opencl_kernel_object.h). */
#include "opencl_kernel_object.h"

#include <stdlib.h>
#include <string.h>

#include "components/opencl/api/memory/opencl_image.h"
#include "components/opencl/api/memory/opencl_sampler.h"

struct opencl_kernel_object *opencl_kernel_find(cl_kernel handle)
{
    return opencl_find(OPENCL_KERNEL, handle);
}

const struct hip_function *opencl_kernel_function(const struct hip_module *module, const char *name)
{
    for (size_t i = 0; i < module->object.kernel_count; i++)
        if (strcmp(module->object.kernels[i].name, name) == 0)
            return &module->functions[i];
    return NULL;
}

/* ---- making ---- */

static void destroy_kernel(struct opencl_object *object)
{
    struct opencl_kernel_object *kernel = (struct opencl_kernel_object *)object;
    for (uint32_t i = 0; i < kernel->facts->argument_count; i++)
        free(kernel->values[i].bytes);
    kernel->program->kernels--;
    opencl_drop(&kernel->program->object);
    free(kernel->values);
    free(kernel->name);
    free(kernel);
}

static struct opencl_kernel_object *create_kernel_object(struct opencl_program *program,
                                                         const struct opencl_kernel *facts)
{
    struct opencl_kernel_object *kernel = opencl_allocate(sizeof *kernel);
    kernel->program = program;
    kernel->facts = facts;
    kernel->name = opencl_copy_text(facts->name);
    kernel->values = opencl_allocate(facts->argument_count * sizeof *kernel->values);
    for (uint32_t i = 0; i < facts->argument_count; i++)
        kernel->values[i].bytes = opencl_allocate(facts->arguments[i].size);
    program->kernels++;
    opencl_hold(&program->object);
    opencl_object_begin(&kernel->object, OPENCL_KERNEL, destroy_kernel);
    return kernel;
}

static bool is_built(const struct opencl_build *build)
{
    return build->status == CL_BUILD_SUCCESS && build->has_facts;
}

static bool is_alike(const struct opencl_kernel *a, const struct opencl_kernel *b)
{
    bool has_same = a->argument_count == b->argument_count;
    for (uint32_t i = 0; i < a->argument_count && has_same; i++)
        has_same = a->arguments[i].kind == b->arguments[i].kind
                   && a->arguments[i].size == b->arguments[i].size;
    return has_same;
}

static cl_kernel create_kernel(cl_program handle, const char *name, cl_int *error)
{
    struct opencl_program *program = opencl_find(OPENCL_PROGRAM, handle);
    const struct opencl_kernel *first = NULL;
    bool is_any_built = false;
    *error = !program ? CL_INVALID_PROGRAM : !name ? CL_INVALID_VALUE : CL_SUCCESS;
    for (uint32_t i = 0; *error == CL_SUCCESS && i < program->build_count; i++) {
        const struct opencl_build *build = &program->builds[i];
        const struct opencl_kernel *facts = opencl_build_kernel(build, name);
        if (!is_built(build))
            continue;
        is_any_built = true;
        if (first && facts && !is_alike(first, facts))
            *error = CL_INVALID_KERNEL_DEFINITION;
        first = first ? first : facts;
    }
    if (*error == CL_SUCCESS && !first)
        *error = is_any_built ? CL_INVALID_KERNEL_NAME : CL_INVALID_PROGRAM_EXECUTABLE;
    return *error == CL_SUCCESS ? create_kernel_object(program, first)->object.handle : NULL;
}

OPENCL_CREATE(cl_kernel, clCreateKernel,
              (cl_program program, const char *name, cl_int *errcode_ret),
              create_kernel(program, name, &error));

static cl_int create_all(cl_program handle, cl_uint capacity, cl_kernel *kernels, cl_uint *count)
{
    struct opencl_program *program = opencl_find(OPENCL_PROGRAM, handle);
    const struct opencl_build *build = NULL;
    if (!program)
        return CL_INVALID_PROGRAM;
    for (uint32_t i = 0; i < program->build_count && !build; i++)
        build = is_built(&program->builds[i]) ? &program->builds[i] : NULL;
    if (!build)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    if (kernels && capacity < build->facts.kernel_count)
        return CL_INVALID_VALUE;
    if (kernels)
        for (size_t i = 0; i < build->facts.kernel_count; i++)
            kernels[i] = create_kernel_object(program, &build->facts.kernels[i])->object.handle;
    if (count)
        *count = (cl_uint)build->facts.kernel_count;
    return CL_SUCCESS;
}

OPENCL_CALL(clCreateKernelsInProgram,
            (cl_program program, cl_uint capacity, cl_kernel *kernels, cl_uint *count),
            create_all(program, capacity, kernels, count));

static cl_kernel clone(cl_kernel handle, cl_int *error)
{
    const struct opencl_kernel_object *kernel = opencl_kernel_find(handle);
    if (!kernel) {
        *error = CL_INVALID_KERNEL;
        return NULL;
    }
    struct opencl_kernel_object *copy = create_kernel_object(kernel->program, kernel->facts);
    for (uint32_t i = 0; i < kernel->facts->argument_count; i++) {
        uint8_t *bytes = copy->values[i].bytes;
        copy->values[i] = kernel->values[i];
        copy->values[i].bytes = bytes;
        memcpy(bytes, kernel->values[i].bytes, kernel->facts->arguments[i].size);
    }
    return copy->object.handle;
}

OPENCL_CREATE(cl_kernel, clCloneKernel, (cl_kernel kernel, cl_int *errcode_ret),
              clone(kernel, &error));
OPENCL_COUNTED(Kernel, cl_kernel, OPENCL_KERNEL, CL_INVALID_KERNEL);

/* ---- arguments ---- */

static cl_int set_local(struct opencl_value *value, size_t size, const void *pointer)
{
    if (pointer)
        return CL_INVALID_ARG_VALUE;
    if (size == 0)
        return CL_INVALID_ARG_SIZE;
    value->is_set = true;
    value->size = size;
    return CL_SUCCESS;
}

/* The handle that `pointer` points to; NULL: there is none. False: the size is wrong. */
static bool read_handle(size_t size, const void *pointer, void **handle)
{
    *handle = NULL;
    if (pointer && size == sizeof *handle)
        memcpy(handle, pointer, size);
    return size == sizeof *handle;
}

/* A buffer, or a pointer to NULL, or NULL: the kernel finds a null pointer then. */
static cl_int set_buffer(const struct opencl_kernel_object *kernel, struct opencl_value *value,
                         size_t size, const void *pointer)
{
    void *handle;
    if (!read_handle(size, pointer, &handle))
        return CL_INVALID_ARG_SIZE;
    const struct opencl_memory *memory = handle ? opencl_buffer_find(handle) : NULL;
    if (handle && (!memory || memory->context != kernel->program->context))
        return CL_INVALID_MEM_OBJECT;
    value->is_set = true;
    value->memory = handle;
    memset(value->bytes, 0, sizeof(uint64_t));
    return CL_SUCCESS;
}

/* True if that is an image of the argument's type. Binaries of other compilers may not say which it
 * is. */
static bool is_image_of(const char *type_name, cl_mem_object_type type)
{
    static const char *const names[] = {
        [CL_MEM_OBJECT_IMAGE2D - CL_MEM_OBJECT_IMAGE2D] = "image2d_t",
        [CL_MEM_OBJECT_IMAGE3D - CL_MEM_OBJECT_IMAGE2D] = "image3d_t",
        [CL_MEM_OBJECT_IMAGE2D_ARRAY - CL_MEM_OBJECT_IMAGE2D] = "image2d_array_t",
        [CL_MEM_OBJECT_IMAGE1D - CL_MEM_OBJECT_IMAGE2D] = "image1d_t",
        [CL_MEM_OBJECT_IMAGE1D_ARRAY - CL_MEM_OBJECT_IMAGE2D] = "image1d_array_t",
        [CL_MEM_OBJECT_IMAGE1D_BUFFER - CL_MEM_OBJECT_IMAGE2D] = "image1d_buffer_t",
    };
    return !*type_name || strcmp(names[type - CL_MEM_OBJECT_IMAGE2D], type_name) == 0;
}

static cl_int set_image(const struct opencl_kernel_object *kernel,
                        const struct opencl_argument *argument, struct opencl_value *value,
                        size_t size, const void *pointer)
{
    void *handle;
    if (!read_handle(size, pointer, &handle))
        return CL_INVALID_ARG_SIZE;
    const struct opencl_memory *memory = opencl_image_find(handle);
    if (!memory || memory->context != kernel->program->context)
        return CL_INVALID_MEM_OBJECT;
    if (!is_image_of(argument->type_name, memory->image->type)
        || (argument->access == OPENCL_ACCESS_READ_ONLY && (memory->flags & CL_MEM_WRITE_ONLY))
        || (argument->access == OPENCL_ACCESS_WRITE_ONLY && (memory->flags & CL_MEM_READ_ONLY)))
        return CL_INVALID_ARG_VALUE;
    value->is_set = true;
    value->memory = handle;
    return CL_SUCCESS;
}

static cl_int set_sampler(const struct opencl_kernel_object *kernel, struct opencl_value *value,
                          size_t size, const void *pointer)
{
    void *handle;
    if (!read_handle(size, pointer, &handle))
        return CL_INVALID_ARG_SIZE;
    const struct opencl_sampler *sampler = opencl_find(OPENCL_SAMPLER, handle);
    if (!sampler || sampler->context != kernel->program->context)
        return CL_INVALID_SAMPLER;
    const uint64_t bits = opencl_sampler_bits(sampler);
    value->is_set = true;
    memcpy(value->bytes, &bits, sizeof bits);
    return CL_SUCCESS;
}

static cl_int set_argument(cl_kernel handle, cl_uint number, size_t size, const void *pointer)
{
    struct opencl_kernel_object *kernel = opencl_kernel_find(handle);
    if (!kernel)
        return CL_INVALID_KERNEL;
    if (number >= kernel->facts->argument_count)
        return CL_INVALID_ARG_INDEX;
    const struct opencl_argument *argument = &kernel->facts->arguments[number];
    struct opencl_value *value = &kernel->values[number];
    switch (argument->kind) {
    case OPENCL_ARGUMENT_LOCAL:
        return set_local(value, size, pointer);
    case OPENCL_ARGUMENT_BUFFER:
        return set_buffer(kernel, value, size, pointer);
    case OPENCL_ARGUMENT_SAMPLER:
        return set_sampler(kernel, value, size, pointer);
    case OPENCL_ARGUMENT_IMAGE:
        return set_image(kernel, argument, value, size, pointer);
    case OPENCL_ARGUMENT_QUEUE:
        return CL_INVALID_DEVICE_QUEUE;
    default:
        break;
    }
    if (!pointer)
        return CL_INVALID_ARG_VALUE;
    if (size != argument->size)
        return CL_INVALID_ARG_SIZE;
    memcpy(value->bytes, pointer, size);
    value->is_set = true;
    return CL_SUCCESS;
}

OPENCL_CALL(clSetKernelArg, (cl_kernel kernel, cl_uint number, size_t size, const void *pointer),
            set_argument(kernel, number, size, pointer));

static cl_int set_pointer(cl_kernel handle, cl_uint number, const void *pointer)
{
    struct opencl_kernel_object *kernel = opencl_kernel_find(handle);
    uint64_t address = (uintptr_t)pointer;
    if (!kernel)
        return CL_INVALID_KERNEL;
    if (number >= kernel->facts->argument_count)
        return CL_INVALID_ARG_INDEX;
    if (kernel->facts->arguments[number].kind != OPENCL_ARGUMENT_BUFFER)
        return CL_INVALID_ARG_VALUE;
    kernel->values[number].is_set = true;
    kernel->values[number].memory = NULL;
    memcpy(kernel->values[number].bytes, &address, sizeof address);
    return CL_SUCCESS;
}

OPENCL_CALL(clSetKernelArgSVMPointer, (cl_kernel kernel, cl_uint number, const void *pointer),
            set_pointer(kernel, number, pointer));

/* All shared memory is there for all kernels, so there is nothing to note. */
static cl_int set_info(cl_kernel handle, cl_kernel_exec_info query, size_t size, const void *value)
{
    if (!opencl_kernel_find(handle))
        return CL_INVALID_KERNEL;
    if (!value)
        return CL_INVALID_VALUE;
    switch (query) {
    case CL_KERNEL_EXEC_INFO_SVM_PTRS:
        return size > 0 && size % sizeof(void *) == 0 ? CL_SUCCESS : CL_INVALID_VALUE;
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
        if (size != sizeof(cl_bool))
            return CL_INVALID_VALUE;
        return *(const cl_bool *)value ? CL_INVALID_OPERATION : CL_SUCCESS;
    default:
        return CL_INVALID_VALUE;
    }
}

OPENCL_CALL(clSetKernelExecInfo,
            (cl_kernel kernel, cl_kernel_exec_info query, size_t size, const void *value),
            set_info(kernel, query, size, value));
