/* Launches: what a program asks for is checked against the device and the kernel, its arguments are
 * laid out as the code object says, and the driver gets one struct. A refused launch has no effect.
 */
#include "hip_launch.h"

#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "components/amd/isa/object/kernarg.h"
#include "components/hip/api/code/hip_hostcall.h"
#include "components/hip/api/code/hip_registration.h"
#pragma GCC visibility push(default)
#include "components/hip/api/heddle_hip.h"
#pragma GCC visibility pop
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/record/hip_record.h"
#include "components/hip/api/streams/hip_capture.h"
#include "components/hip/api/streams/hip_stream.h"
#include "runtime/session/run_ledger.h"

/* A launch that a program asks for; `grid` in work-items. */
struct request {
    const struct hip_function *function;
    const void *host_function; /* by which the program knows it, or */
    hipFunction_t handle;      /* this one */
    uint64_t grid[3];
    uint64_t block[3];
    uint64_t dynamic_lds;
    hipStream_t stream;
    void **values; /* explicit arguments one by one, or */
    bool is_cooperative;
    uint16_t cluster;
    const void *packed; /* all together */
    size_t packed_size;
};

/* NVIDIA's devices give a part of their shared memory only to kernels for which the program has
 * asked for it (cudaFuncSetAttribute); the program of a trace has. */
static hipError_t check_dynamic_lds(const struct request *request,
                                    const struct driver_device_info *info)
{
    const struct hip_function *function = request->function;
    const uint32_t most =
        function->dynamic_lds_max > 0 ? function->dynamic_lds_max : info->lds_bytes_unasked;
    if (!function->module->is_ptx || hip.plays_trace || request->dynamic_lds <= most)
        return hipSuccess;
    return hip_fail(
        hipErrorInvalidValue,
        "%" PRIu64 " bytes of dynamic shared memory; the kernel has up to %u, or more "
        "after cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
        "bytes) (kernel '%s')",
        request->dynamic_lds, most, function->name);
}

static hipError_t check_geometry(const struct request *request, int device)
{
    const struct driver_device_info *info = &hip.devices[device].info;
    const struct code_object_kernel *kernel = request->function->kernel;
    const uint64_t *block = request->block;
    for (int dimension = 0; dimension < 3; dimension++) {
        if (request->grid[dimension] == 0 || request->grid[dimension] > UINT32_MAX
            || block[dimension] == 0 || block[dimension] > info->max_work_group)
            return hip_fail(hipErrorInvalidConfiguration,
                            "a work-group of %" PRIu64 " and a grid of %" PRIu64
                            " work-items in dimension %d; allowed are 1 to %u and 1 to %u (kernel "
                            "'%s')",
                            block[dimension], request->grid[dimension], dimension,
                            info->max_work_group, UINT32_MAX, request->function->name);
    }
    uint64_t threads = block[0] * block[1] * block[2];
    if (threads > info->max_work_group)
        return hip_fail(hipErrorInvalidConfiguration,
                        "a work-group of %" PRIu64
                        " work-items; the device takes up to %u (kernel '%s')",
                        threads, info->max_work_group, request->function->name);
    if (kernel->max_group_threads > 0 && threads > kernel->max_group_threads)
        return hip_fail(request->function->module->is_ptx ? hipErrorLaunchOutOfResources
                                                          : hipErrorLaunchFailure,
                        "a work-group of %" PRIu64
                        " work-items, but the kernel was compiled for up to %u, by "
                        "__launch_bounds__ (kernel '%s')",
                        threads, kernel->max_group_threads, request->function->name);
    hipError_t error = check_dynamic_lds(request, info);
    if (error == hipSuccess
        && (request->dynamic_lds > info->lds_bytes_per_cu
            || kernel->group_size + request->dynamic_lds > info->lds_bytes_per_cu))
        return hip_fail(hipErrorInvalidConfiguration,
                        "%u bytes of LDS and %" PRIu64
                        " dynamic ones; a compute unit has %u (kernel '%s')",
                        kernel->group_size, request->dynamic_lds, info->lds_bytes_per_cu,
                        request->function->name);
    return error;
}

static hipError_t check_kernel(const struct request *request, int device)
{
    if (request->function->module->device != device)
        return hip_fail(
            hipErrorInvalidHandle,
            "the kernel is loaded on device %d, the stream belongs to device %d (kernel '%s')",
            request->function->module->device, device, request->function->name);
    return hipSuccess;
}

static bool has_grid_sync(const struct request *request)
{
    const struct hip_function *function = request->function;
    return hip.api->meets(function->module->base + function->kernel->entry_address);
}

static struct kernarg_geometry geometry_of(const struct request *request, int device)
{
    struct kernarg_geometry geometry = {.dynamic_lds_bytes = (uint32_t)request->dynamic_lds};
    kernarg_set_apertures(&geometry, hip.devices[device].info.isa);
    geometry.meets = request->is_cooperative || has_grid_sync(request);
    for (int dimension = 0; dimension < 3; dimension++) {
        geometry.grid[dimension] = (uint32_t)request->grid[dimension];
        geometry.block[dimension] = (uint32_t)request->block[dimension];
    }
    return geometry;
}

struct driver_launch hip_describe_launch(const struct hip_function *function,
                                         const uint64_t grid[3], const uint64_t block[3],
                                         uint64_t dynamic_lds, const uint8_t *kernarg)
{
    const struct code_object_kernel *kernel = function->kernel;
    struct driver_launch launch = {
        .name = function->name,
        .symbol = kernel->name,
        .entry = function->module->base + kernel->entry_address,
        .kernel_object =
            function->module->is_ptx ? 0 : function->module->base + kernel->descriptor_address,
        .group_bytes = (uint32_t)(kernel->group_size + dynamic_lds),
        .private_bytes = function->module->is_ptx ? 0 : code_object_private_bytes(kernel),
        .kernarg = kernarg,
        .kernarg_bytes = kernarg_size(kernel),
        .kernarg_align = kernel->kernarg_align,
    };
    memcpy(launch.descriptor, function->descriptor, sizeof launch.descriptor);
    for (int dimension = 0; dimension < 3; dimension++) {
        launch.grid[dimension] = (uint32_t)grid[dimension];
        launch.block[dimension] = (uint16_t)block[dimension];
    }
    return launch;
}

static _Thread_local uint16_t next_cluster;

void hip_next_cluster(uint16_t cluster)
{
    next_cluster = cluster;
}

static uint16_t consume_cluster(void)
{
    uint16_t cluster = next_cluster;
    next_cluster = 0;
    return cluster;
}

int heddleNextCluster(unsigned cluster)
{
    hip_next_cluster((uint16_t)cluster);
    return hipSuccess;
}

/* Notes the launch and returns its line of the recording. */
static size_t record_launch(const struct request *request, const uint8_t *kernarg)
{
    struct api_trace_call call = {.kind = API_TRACE_LAUNCH,
                                  .shared_bytes = (uint32_t)request->dynamic_lds,
                                  .cluster = request->cluster,
                                  .stream = hip_stream_number(request->stream)};
    for (int i = 0; i < 3; i++) {
        call.grid[i] = (uint32_t)(request->grid[i] / request->block[i]);
        call.block[i] = (uint32_t)request->block[i];
    }
    return hip_record_launch(&call, request->function, kernarg);
}

hipError_t hip_fail_launch(const struct hip_function *function)
{
    if (hip_is_first_refusal(function))
        hip_say_call("%s", hip.api->error_text());
    run_ledger_report(EXIT_GAVE_UP);
    return hipErrorLaunchFailure;
}

/* Enqueues a launch whose arguments are laid out in `kernarg`. */
static hipError_t enqueue_launch(const struct request *request, uint32_t queue,
                                 const uint8_t *kernarg, uint64_t *ticket)
{
    struct driver_launch launch = hip_describe_launch(
        request->function, request->grid, request->block, request->dynamic_lds, kernarg);
    launch.cluster = request->cluster;
    size_t line = record_launch(request, kernarg);
    enum driver_status status = hip.api->launch(queue, &launch, ticket);
    if (status != DRIVER_OK)
        hip_record_drop(line);
    hip_stream_end_call(request->stream, status == DRIVER_OK ? *ticket : 0);
    return status == DRIVER_FAULT ? hip_fail_launch(request->function) : hip_status(status);
}

/* Lays out the arguments as the kernel finds them. The caller releases them. */
static hipError_t lay_out(const struct request *request, const struct kernarg_geometry *geometry,
                          uint8_t **kernarg)
{
    const struct code_object_kernel *kernel = request->function->kernel;
    *kernarg = hip_allocate(kernarg_size(kernel));
    int missing = request->packed ? kernarg_fill_packed(kernel, request->packed,
                                                        request->packed_size, geometry, *kernarg)
                                  : kernarg_fill(kernel, request->values, geometry, *kernarg);
    if (missing >= 0)
        return hip_fail(hipErrorInvalidValue, "argument %d is missing (kernel '%s')", missing,
                        request->function->name);
    return hipSuccess;
}

/* Keeps the arguments of a launch. They are laid out again, with the hidden ones, when it is made.
 */
static hipError_t keep_launch(const struct request *request, int device,
                              struct hip_kernel_call *call)
{
    struct kernarg_geometry geometry = geometry_of(request, device);
    uint8_t *kernarg = NULL;
    hipError_t error = lay_out(request, &geometry, &kernarg);
    if (error != hipSuccess) {
        hip_release(kernarg);
        return error;
    }
    *call = (struct hip_kernel_call){.host_function = request->host_function,
                                     .function = request->handle,
                                     .dynamic_lds = request->dynamic_lds,
                                     .is_cooperative = request->is_cooperative,
                                     .cluster = request->cluster,
                                     .arguments = kernarg,
                                     .size = kernarg_size(request->function->kernel)};
    for (int i = 0; i < 3; i++) {
        call->blocks[i] = (uint32_t)(request->grid[i] / request->block[i]);
        call->block[i] = (uint32_t)request->block[i];
    }
    return hipSuccess;
}

static hipError_t capture_launch(const struct request *request, int device)
{
    struct hip_action action = {.kind = HIP_ACTION_KERNEL};
    hipError_t error = keep_launch(request, device, &action.kernel);
    return error == hipSuccess ? hip_capture_call(request->stream, &action) : error;
}

/* The steps are those of a copy: check, prepare, order, record, enqueue. */
static hipError_t launch_kernel(const struct request *request)
{
    uint32_t queue = 0;
    int device = 0;
    hipError_t error = hip_stream_queue(request->stream, &queue, &device);
    if (error == hipSuccess)
        error = check_kernel(request, device);
    if (error == hipSuccess)
        error = check_geometry(request, device);
    if (error != hipSuccess)
        return error;
    if (hip_is_capturing(request->stream))
        return capture_launch(request, device);
    struct kernarg_geometry geometry = geometry_of(request, device);
    if (hip_calls_host(request->function))
        error = hip_hostcall_buffer(request->function, device, &geometry.hostcall_buffer);
    uint8_t *kernarg = NULL;
    uint64_t ticket = 0;
    if (error == hipSuccess)
        error = lay_out(request, &geometry, &kernarg);
    if (error == hipSuccess)
        error =
            hip_host_memory_prepare_launch(queue, kernarg, kernarg_size(request->function->kernel));
    if (error == hipSuccess)
        error = hip_stream_order(request->stream, DRIVER_STREAM_LAUNCH);
    if (error == hipSuccess)
        error = enqueue_launch(request, queue, kernarg, &ticket);
    if (error == hipSuccess && geometry.hostcall_buffer != 0)
        hip_hostcall_begin(device, request->function->name, ticket);
    if (error == hipSuccess)
        hip_host_memory_add_writer(ticket, NULL);
    hip_release(kernarg);
    return error;
}

/* ---- launches of kernels that the program contains ---- */

struct call {
    dim3 grid, block;
    size_t dynamic_lds;
    hipStream_t stream;
};

/* Kernel calls inside the arguments of kernel calls; the list stays as long as it has some. */
static _Thread_local struct {
    struct call *list;
    size_t count, capacity;
} calls;

/* clang's expansion of kernel<<<grid, block, lds, stream>>>(...) pushes and, in the stub, pops. */
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_lds, hipStream_t stream)
{
    grow_list(calls.list, calls.count + 1, calls.capacity, HIP_LIBRARY);
    calls.list[calls.count++] = (struct call){grid, block, dynamic_lds, stream};
    return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_lds,
                                     hipStream_t *stream)
{
    if (calls.count == 0)
        return hipErrorMissingConfiguration;
    const struct call call = calls.list[--calls.count];
    if (calls.count == 0) {
        hip_release(calls.list);
        calls.list = NULL;
        calls.capacity = 0;
    }
    *grid = call.grid;
    *block = call.block;
    *dynamic_lds = call.dynamic_lds;
    *stream = call.stream;
    return hipSuccess;
}

static void set_block_grid(struct request *request, const uint32_t blocks[3],
                           const uint32_t block[3])
{
    for (int dimension = 0; dimension < 3; dimension++) {
        request->grid[dimension] = (uint64_t)blocks[dimension] * block[dimension];
        request->block[dimension] = block[dimension];
    }
}

/* Only a cooperative launch has the global wave sync, and room for all of its work-groups. */
static hipError_t check_cooperative(const struct request *request)
{
    if (request->is_cooperative || !has_grid_sync(request))
        return hipSuccess;
    run_ledger_report(EXIT_GAVE_UP);
    return hip_fail(hipErrorLaunchFailure,
                    "the kernel lets its work-groups meet (grid sync): launch it with "
                    "hipLaunchCooperativeKernel (kernel '%s')",
                    request->function->name);
}

static hipError_t launch_host_function(struct request request, dim3 grid, dim3 block)
{
    uint32_t queue = 0;
    int device = 0;
    request.cluster = consume_cluster();
    hipError_t error = hip_stream_queue(request.stream, &queue, &device);
    if (error == hipSuccess)
        error = hip_find_host_function(request.host_function, device, &request.function);
    hip.has_unseen_error |= error == hipErrorNoBinaryForGpu;
    if (error == hipSuccess)
        error = check_cooperative(&request);
    set_block_grid(&request, (uint32_t[3]){grid.x, grid.y, grid.z},
                   (uint32_t[3]){block.x, block.y, block.z});
    return error != hipSuccess ? error : launch_kernel(&request);
}

HIP_DEFINE(hipLaunchKernel, (host_function, grid, block, values, dynamic_lds, stream),
           const void *host_function, dim3 grid, dim3 block, void **values, size_t dynamic_lds,
           hipStream_t stream)
{
    const struct request request = {.host_function = host_function,
                                    .dynamic_lds = dynamic_lds,
                                    .stream = stream,
                                    .values = values};
    return launch_host_function(request, grid, block);
}

hipError_t hipExtLaunchKernel(const void *host_function, dim3 grid, dim3 block, void **values,
                              size_t dynamic_lds, hipStream_t stream, hipEvent_t start,
                              hipEvent_t stop, int flags)
{
    (void)flags; /* hipExtAnyOrderLaunch allows another order and asks for none */
    hipError_t error = start ? hipEventRecord(start, stream) : hipSuccess;
    error = error == hipSuccess
                ? hipLaunchKernel(host_function, grid, block, values, dynamic_lds, stream)
                : error;
    return error == hipSuccess && stop ? hipEventRecord(stop, stream) : error;
}

/* All work-groups of the launch must have room at the same time, as they may wait for each other
 * (grid sync). */
static hipError_t check_fit(const void *host_function, dim3 grid, dim3 block, size_t dynamic_lds)
{
    const uint32_t units = hip.devices[hip_current_device()].info.compute_units;
    const uint64_t groups = (uint64_t)grid.x * grid.y * grid.z;
    int blocks = 0;
    hipError_t error = hip_active_blocks(&blocks, host_function, false,
                                         (int)(block.x * block.y * block.z), dynamic_lds);
    if (error == hipSuccess && groups > (uint64_t)blocks * units)
        error = hip_fail(hipErrorCooperativeLaunchTooLarge,
                         "%" PRIu64 " work-groups; %u units with room for %d each can hold no more "
                         "than %" PRIu64 " at a time",
                         groups, units, blocks, (uint64_t)blocks * units);
    return error;
}

HIP_DEFINE(hipLaunchCooperativeKernel, (host_function, grid, block, values, dynamic_lds, stream),
           const void *host_function, dim3 grid, dim3 block, void **values, unsigned dynamic_lds,
           hipStream_t stream)
{
    const struct request request = {.host_function = host_function,
                                    .dynamic_lds = dynamic_lds,
                                    .stream = stream,
                                    .values = values,
                                    .is_cooperative = true};
    hipError_t error = check_fit(host_function, grid, block, dynamic_lds);
    return error == hipSuccess ? launch_host_function(request, grid, block) : error;
}

/* ---- launches of functions of modules ---- */

/* The `extra` list: pairs of key and value up to the end mark. */
static hipError_t read_extra(void **extra, struct request *request)
{
    for (size_t i = 0; extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
            request->packed = extra[i + 1];
        else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
            request->packed_size = *(const size_t *)extra[i + 1];
        else
            return hip_fail(hipErrorInvalidValue, "entry %zu of `extra` is %p, which is no key", i,
                            extra[i]);
    }
    return request->packed ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE(hipModuleLaunchKernel,
           (handle, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_lds, stream, values,
            extra),
           hipFunction_t handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
           unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_lds,
           hipStream_t stream, void **values, void **extra)
{
    struct request request = {.function = hip_check_function(handle),
                              .handle = handle,
                              .dynamic_lds = dynamic_lds,
                              .stream = stream,
                              .values = values,
                              .cluster = consume_cluster()};
    if (!request.function || (values && extra))
        return request.function ? hipErrorInvalidValue : hipErrorInvalidHandle;
    if (extra) {
        hipError_t error = read_extra(extra, &request);
        if (error != hipSuccess)
            return error;
    }
    set_block_grid(&request, (uint32_t[3]){grid_x, grid_y, grid_z},
                   (uint32_t[3]){block_x, block_y, block_z});
    return launch_kernel(&request);
}

/* ---- launches that are kept ---- */

/* Finds the kernel of a kept launch on `device`. */
static hipError_t find_kernel(const struct hip_kernel_call *call, int device,
                              struct request *request)
{
    request->host_function = call->host_function;
    request->handle = call->function;
    request->dynamic_lds = call->dynamic_lds;
    request->is_cooperative = call->is_cooperative;
    request->cluster = call->cluster;
    set_block_grid(request, call->blocks, call->block);
    if (call->host_function)
        return hip_find_host_function(call->host_function, device, &request->function);
    request->function = hip_check_function(call->function);
    return request->function ? hipSuccess : hipErrorInvalidHandle;
}

hipError_t hip_keep_call(struct hip_kernel_call *call, void **values, void **extra)
{
    int device = hip_current_device();
    struct request request = {.values = values};
    hipError_t error = find_kernel(call, device, &request);
    if (error == hipSuccess && extra)
        error = read_extra(extra, &request);
    if (error == hipSuccess)
        error = check_geometry(&request, device);
    return error == hipSuccess ? keep_launch(&request, device, call) : error;
}

void **hip_call_values(const struct hip_kernel_call *call)
{
    struct request request = {.stream = NULL};
    if (find_kernel(call, hip_current_device(), &request) != hipSuccess)
        return NULL;
    const struct code_object_kernel *kernel = request.function->kernel;
    void **values = hip_allocate((kernel->explicit_argument_count + 1) * sizeof *values);
    for (uint32_t i = 0; i < kernel->explicit_argument_count; i++)
        values[i] = (char *)call->arguments + kernel->arguments[i].offset;
    return values;
}

hipError_t hip_make_call(const struct hip_kernel_call *call, hipStream_t stream)
{
    uint32_t queue = 0;
    int device = 0;
    struct request request = {
        .stream = stream, .packed = call->arguments, .packed_size = call->size};
    hipError_t error = hip_stream_queue(stream, &queue, &device);
    error = error == hipSuccess ? find_kernel(call, device, &request) : error;
    return error == hipSuccess ? launch_kernel(&request) : error;
}

void hip_release_call(struct hip_kernel_call *call)
{
    hip_release(call->arguments);
    call->arguments = NULL;
}
