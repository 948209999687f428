/* Kernels in queues. What a call asks for is checked; its arguments are laid out as the code object
 * says, so later changes of the kernel do not matter; the driver gets the launch when the command
 * is issued. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/isa/object/kernarg.h"
#include "components/opencl/api/devices/opencl_device.h"
#include "components/opencl/api/memory/opencl_image.h"
#include "components/opencl/api/programs/opencl_kernel_object.h"
#include "components/opencl/api/programs/opencl_printf.h"

#include "opencl_driver_commands.h"

struct launch {
    struct opencl_command command;
    struct opencl_program *program; /* held */
    const struct opencl_build *build;
    const struct hip_function *function;
    struct kernarg_geometry geometry;
    uint64_t grid[3], block[3], dynamic_lds;
    void **values; /* values of the explicit arguments, in `bytes` */
    uint8_t *bytes;
    bool prints; /* by a buffer of OpenCL's printf */
    struct used {
        struct opencl_memory *memory; /* held */
        bool is_written;
    } * used;
    size_t used_count;
};

/* The launch that a call asks for. */
struct request {
    const struct opencl_kernel_object *kernel;
    const struct opencl_queue *queue;
    cl_uint dimensions;
    const size_t *offset, *global, *local;
};

/* ---- sizes ---- */

static size_t largest_divisor(size_t number, size_t limit)
{
    size_t divisor = min(number, limit);
    while (divisor > 1 && number % divisor != 0)
        divisor--;
    return divisor > 0 ? divisor : 1;
}

/* The program leaves the size of work-groups to us: as large as divides the grid, the first
 * dimension first. */
static void choose_block(struct launch *launch, const struct request *request, size_t limit)
{
    const uint32_t *required = request->kernel->facts->required_group;
    for (int i = 0; i < 3; i++) {
        launch->block[i] =
            required[0] > 0 ? required[i] : largest_divisor((size_t)launch->grid[i], limit);
        limit /= launch->block[i] < limit ? (size_t)launch->block[i] : limit;
        limit = limit > 0 ? limit : 1;
    }
}

static size_t limit_of(const struct launch *launch, const struct opencl_device *device)
{
    uint32_t compiled = launch->function->kernel->max_group_threads;
    uint32_t most = device->info.max_work_group;
    return compiled > 0 && compiled < most ? compiled : most;
}

static cl_int check_block(const struct launch *launch, const struct request *request, size_t limit)
{
    const uint32_t *required = request->kernel->facts->required_group;
    uint64_t items = 1;
    for (int i = 0; i < 3; i++) {
        if (launch->block[i] == 0)
            return CL_INVALID_WORK_GROUP_SIZE;
        if (launch->block[i] > request->queue->device->info.max_work_group)
            return CL_INVALID_WORK_ITEM_SIZE;
        if (required[0] > 0 && launch->block[i] != required[i])
            return CL_INVALID_WORK_GROUP_SIZE;
        items *= launch->block[i];
    }
    return items > limit ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

/* Work-groups at the end of a dimension may be smaller where the program was compiled for that. */
static cl_int check_remainder(const struct launch *launch)
{
    for (int i = 0; i < 3; i++)
        if (launch->grid[i] % launch->block[i] != 0
            && !opencl_build_allows_remainder(launch->build))
            return CL_INVALID_WORK_GROUP_SIZE;
    return CL_SUCCESS;
}

static cl_int set_sizes(struct launch *launch, const struct request *request)
{
    size_t limit = limit_of(launch, request->queue->device);
    for (cl_uint i = 0; i < 3; i++) {
        bool has_dimension = i < request->dimensions;
        launch->grid[i] = has_dimension ? request->global[i] : 1;
        launch->block[i] = has_dimension && request->local ? request->local[i] : 1;
        launch->geometry.offset[i] = has_dimension && request->offset ? request->offset[i] : 0;
        if (launch->grid[i] > UINT32_MAX)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        if (launch->geometry.offset[i] > UINT64_MAX - launch->grid[i])
            return CL_INVALID_GLOBAL_OFFSET;
    }
    if (!request->local)
        choose_block(launch, request, min(limit, OPENCL_GROUP_MAX));
    cl_int error = check_block(launch, request, limit);
    return error == CL_SUCCESS ? check_remainder(launch) : error;
}

/* ---- arguments ---- */

static cl_int use_memory(struct launch *launch, const struct opencl_argument *argument,
                         const struct opencl_value *value, int place, uint8_t *bytes)
{
    struct opencl_memory *memory = opencl_memory_find(value->memory);
    uint64_t address = 0;
    if (!memory)
        return CL_INVALID_KERNEL_ARGS;
    bool is_written =
        memory->image ? argument->access != OPENCL_ACCESS_READ_ONLY
                      : !argument->is_const && argument->address_space != OPENCL_ADDRESS_CONSTANT;
    cl_int error = memory->image ? opencl_image_description(memory, place, &address)
                                 : opencl_memory_address(memory, place, &address);
    memcpy(bytes, &address, sizeof address);
    opencl_hold(&memory->object);
    launch->used[launch->used_count++] = (struct used){memory, is_written};
    return error;
}

/* Local memory of the kernel itself comes first; the arguments follow. */
static void use_local(struct launch *launch, const struct opencl_argument *argument,
                      const struct opencl_value *value, uint8_t *bytes)
{
    enum { ALIGN = 16 }; /* bytes, where the code object does not say */
    uint64_t align = max(argument->pointee_align, ALIGN);
    uint64_t start = launch->function->kernel->group_size + launch->dynamic_lds;
    start = round_up(start, align);
    for (uint32_t i = 0; i < argument->size && i < 8; i++)
        bytes[i] = (uint8_t)(start >> (8 * i));
    launch->dynamic_lds = start + value->size - launch->function->kernel->group_size;
}

static cl_int set_arguments(struct launch *launch, const struct request *request)
{
    const struct opencl_kernel *facts = request->kernel->facts;
    size_t size = 0, offset = 0;
    cl_int error = CL_SUCCESS;
    if (facts->argument_count != launch->function->kernel->explicit_argument_count)
        return CL_INVALID_KERNEL_DEFINITION;
    for (uint32_t i = 0; i < facts->argument_count; i++)
        size += facts->arguments[i].size;
    launch->bytes = opencl_allocate(size);
    launch->values = opencl_allocate(facts->argument_count * sizeof *launch->values);
    launch->used = opencl_allocate(facts->argument_count * sizeof *launch->used);
    for (uint32_t i = 0; i < facts->argument_count && error == CL_SUCCESS; i++) {
        const struct opencl_argument *argument = &facts->arguments[i];
        const struct opencl_value *value = &request->kernel->values[i];
        uint8_t *bytes = launch->bytes + offset;
        if (!value->is_set)
            return CL_INVALID_KERNEL_ARGS;
        memcpy(bytes, value->bytes, argument->size);
        if (argument->kind == OPENCL_ARGUMENT_LOCAL)
            use_local(launch, argument, value, bytes);
        else if (value->memory)
            error = use_memory(launch, argument, value, request->queue->place, bytes);
        launch->values[i] = bytes;
        offset += argument->size;
    }
    if (error == CL_SUCCESS
        && launch->function->kernel->group_size + launch->dynamic_lds
               > request->queue->device->info.lds_bytes_per_cu)
        error = CL_OUT_OF_RESOURCES;
    return error;
}

/* ---- the command ---- */

static cl_int hand_over(struct launch *launch, struct opencl_event *event, const uint8_t *kernarg)
{
    const struct hip_services *services = opencl.hip;
    const struct hip_function *function = launch->function;
    uint32_t size = kernarg_size(function->kernel);
    cl_int error =
        opencl_error_of(services->host_memory_prepare_launch(event->lane, kernarg, size));
    if (error != CL_SUCCESS)
        return error;
    struct driver_launch described = services->describe_launch(
        function, launch->grid, launch->block, launch->dynamic_lds, kernarg);
    enum driver_status status = opencl_driver_launch(
        event->lane, function, &described, &launch->geometry, launch->prints, &event->ticket);
    if (status == DRIVER_FAULT)
        return opencl_error_of(services->fail_launch(function));
    error = opencl_status(status);
    if (error == CL_SUCCESS && launch->geometry.hostcall_buffer != 0)
        services->hostcall_begin(event->queue->device->number, function->name, event->ticket);
    if (error == CL_SUCCESS)
        services->host_memory_add_writer(event->ticket, NULL);
    return error;
}

static cl_int issue_launch(struct opencl_command *command, struct opencl_event *event)
{
    struct launch *launch = (struct launch *)command;
    const struct opencl_queue *queue = event->queue;
    int number = queue->device->number;
    cl_int error = CL_SUCCESS;
    if (launch->grid[0] == 0 || launch->grid[1] == 0 || launch->grid[2] == 0)
        return CL_SUCCESS;
    for (size_t i = 0; i < launch->used_count && error == CL_SUCCESS; i++)
        error = opencl_memory_use(launch->used[i].memory, queue->place, event->lane,
                                  launch->used[i].is_written);
    if (error == CL_SUCCESS && opencl.hip->calls_host(launch->function))
        error = opencl_error_of(opencl.hip->hostcall_buffer(launch->function, number,
                                                            &launch->geometry.hostcall_buffer));
    if (error == CL_SUCCESS && launch->prints)
        error = opencl_printf_prepare(number, event->lane, &launch->geometry.printf_buffer);
    if (error != CL_SUCCESS)
        return error;
    uint8_t *kernarg = opencl_allocate(kernarg_size(launch->function->kernel));
    kernarg_fill(launch->function->kernel, launch->values, &launch->geometry, kernarg);
    error = hand_over(launch, event, kernarg);
    if (error == CL_SUCCESS && launch->prints)
        error =
            opencl_printf_queued(launch->geometry.printf_buffer, event->lane, &launch->build->facts,
                                 &launch->program->object, &event->ticket);
    free(kernarg);
    return error;
}

static void release_launch(struct opencl_command *command)
{
    struct launch *launch = (struct launch *)command;
    for (size_t i = 0; i < launch->used_count; i++)
        opencl_drop(&launch->used[i].memory->object);
    opencl_drop(launch->program ? &launch->program->object : NULL);
    free(launch->values);
    free(launch->bytes);
    free(launch->used);
}

static bool has_hidden(const struct code_object_kernel *kernel, enum code_object_value_kind kind)
{
    for (uint32_t i = kernel->explicit_argument_count; i < kernel->argument_count; i++)
        if (kernel->arguments[i].kind == kind)
            return true;
    return false;
}

static void set_geometry(struct launch *launch, const struct request *request)
{
    kernarg_set_apertures(&launch->geometry, request->queue->device->info.isa);
    launch->geometry.dimensions = request->dimensions;
    launch->geometry.dynamic_lds_bytes = (uint32_t)launch->dynamic_lds;
    for (int i = 0; i < 3; i++) {
        launch->geometry.grid[i] = (uint32_t)launch->grid[i];
        launch->geometry.block[i] = (uint32_t)launch->block[i];
    }
    launch->prints =
        launch->build->facts.format_count > 0
        && has_hidden(launch->function->kernel, CODE_OBJECT_VALUE_HIDDEN_PRINTF_BUFFER);
}

/* ---- calls ---- */

static cl_int find_code(struct launch *launch, const struct request *request)
{
    struct opencl_program *program = request->kernel->program;
    struct opencl_build *build = opencl_program_build(program, request->queue->device);
    if (!build || build->status != CL_BUILD_SUCCESS
        || !opencl_build_kernel(build, request->kernel->name))
        return CL_INVALID_PROGRAM_EXECUTABLE;
    cl_int error = opencl_build_load(build);
    if (error != CL_SUCCESS)
        return error;
    launch->build = build;
    launch->function = opencl_kernel_function(build->module, request->kernel->name);
    return launch->function ? CL_SUCCESS : CL_INVALID_PROGRAM_EXECUTABLE;
}

static cl_int check_launch(const struct opencl_enqueue *enqueue, struct request *request,
                           cl_kernel handle)
{
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
    if (error == CL_INVALID_COMMAND_QUEUE)
        return error;
    request->queue = queue;
    request->kernel = opencl_kernel_find(handle);
    if (!request->kernel)
        return CL_INVALID_KERNEL;
    if (request->kernel->program->context != queue->context)
        return CL_INVALID_CONTEXT;
    if (error != CL_SUCCESS)
        return error;
    if (request->dimensions < 1 || request->dimensions > 3)
        return CL_INVALID_WORK_DIMENSION;
    return request->global ? CL_SUCCESS : CL_INVALID_GLOBAL_WORK_SIZE;
}

static cl_int enqueue_launch(const struct opencl_enqueue *enqueue, cl_kernel handle,
                             struct request request)
{
    cl_int error = check_launch(enqueue, &request, handle);
    if (error != CL_SUCCESS)
        return error;
    struct launch *launch = opencl_allocate(sizeof *launch);
    launch->command = (struct opencl_command){issue_launch, release_launch};
    launch->program = request.kernel->program;
    opencl_hold(&launch->program->object);
    error = find_code(launch, &request);
    if (error == CL_SUCCESS)
        error = set_sizes(launch, &request);
    if (error == CL_SUCCESS)
        error = set_arguments(launch, &request);
    if (error != CL_SUCCESS) {
        release_launch(&launch->command);
        free(launch);
        return error;
    }
    set_geometry(launch, &request);
    return opencl_enqueue(enqueue, &launch->command);
}

OPENCL_CALL(clEnqueueNDRangeKernel,
            (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
             const size_t *global, const size_t *local, cl_uint count, const cl_event *list,
             cl_event *event),
            enqueue_launch(&(struct opencl_enqueue){.queue = queue,
                                                    .type = CL_COMMAND_NDRANGE_KERNEL,
                                                    .wait_count = count,
                                                    .waits = list,
                                                    .event = event},
                           kernel,
                           (struct request){.dimensions = dimensions,
                                            .offset = offset,
                                            .global = global,
                                            .local = local}));

OPENCL_CALL(clEnqueueTask,
            (cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event *list,
             cl_event *event),
            enqueue_launch(&(struct opencl_enqueue){.queue = queue,
                                                    .type = CL_COMMAND_TASK,
                                                    .wait_count = count,
                                                    .waits = list,
                                                    .event = event},
                           kernel,
                           (struct request){.dimensions = 1,
                                            .global = (const size_t[1]){1},
                                            .local = (const size_t[1]){1}}));

static cl_int fail_native(const struct opencl_enqueue *enqueue)
{
    struct opencl_queue *queue = NULL;
    cl_int error = opencl_check_enqueue(enqueue, &queue);
    return error == CL_SUCCESS ? CL_INVALID_OPERATION : error;
}

/* Functions of the host are no kernels of a GPU. */
cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue,
                                         void(CL_CALLBACK *function)(void *), void *arguments,
                                         size_t size, cl_uint number, const cl_mem *list,
                                         const void **places, cl_uint count, const cl_event *waits,
                                         cl_event *event)
{
    (void)function, (void)arguments, (void)size, (void)number, (void)list, (void)places;
    const struct opencl_enqueue enqueue = {
        .queue = queue, .wait_count = count, .waits = waits, .event = event};
    cl_int error = opencl_enter("clEnqueueNativeKernel");
    return opencl_leave(error == CL_SUCCESS ? fail_native(&enqueue) : error);
}
