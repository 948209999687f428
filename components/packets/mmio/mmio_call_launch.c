/* Calls that make up a launch. */
#include "base/number.h"

#include "mmio_state.h"

static bool configure_call(struct mmio *c, struct mmio_call *k)
{
    struct mmio_thread *t = thread_of(c, k->request.thread);
    t->is_configured = true;
    t->argument_bytes = 0;
    memset(t->arguments, 0, sizeof t->arguments);
    t->grid[0] = k->request.configure_call.grid_x;
    t->grid[1] = k->request.configure_call.grid_y;
    t->grid[2] = k->request.configure_call.grid_z;
    t->block[0] = k->request.configure_call.block_x;
    t->block[1] = k->request.configure_call.block_y;
    t->block[2] = k->request.configure_call.block_z;
    t->shared = k->request.configure_call.shared_bytes;
    t->stream = k->request.configure_call.stream;
    return end_call(c, k, MMIO_SUCCESS);
}

static bool set_argument(struct mmio *c, struct mmio_call *k)
{
    struct mmio_thread *t = thread_of(c, k->request.thread);
    uint32_t offset = k->request.set_argument.offset, size = k->request.set_argument.size;
    if (!t->is_configured)
        return end_call(c, k, MMIO_MISSING_CONFIGURATION);
    if (!size || size > sizeof k->request.set_argument.value
        || offset > MMIO_ARGUMENT_BYTES_MAX - size)
        return end_call(c, k, MMIO_INVALID_VALUE);
    memcpy(t->arguments + offset, k->request.set_argument.value, size);
    if (offset + size > t->argument_bytes)
        t->argument_bytes = offset + size;
    return end_call(c, k, MMIO_SUCCESS);
}

static bool is_good_geometry(const struct mmio *c, const struct mmio_thread *t,
                             const struct code_object_kernel *kernel, uint32_t device)
{
    const struct driver_device_info *info = info_of(c, device);
    uint64_t items = 1;
    for (int i = 0; i < 3; i++) {
        if (!t->grid[i] || !t->block[i] || t->block[i] > info->max_work_group
            || (uint64_t)t->grid[i] * t->block[i] > UINT32_MAX)
            return false;
        items *= t->block[i];
    }
    return items <= info->max_work_group
           && (!kernel->max_group_threads || items <= kernel->max_group_threads)
           && (uint64_t)kernel->group_size + t->shared <= info->lds_bytes_per_cu;
}

static struct kernarg_geometry geometry_of(const struct mmio *c, const struct mmio_thread *t,
                                           uint32_t device)
{
    struct kernarg_geometry g = {.dynamic_lds_bytes = t->shared};
    kernarg_set_apertures(&g, info_of(c, device)->isa);
    for (int i = 0; i < 3; i++) {
        g.grid[i] = t->grid[i] * t->block[i];
        g.block[i] = t->block[i];
    }
    return g;
}

/* The launch as the driver wants it; BLOB_NONE: an argument is missing. */
static uint32_t make_launch(const struct mmio *c, const struct mmio_name *function,
                            const struct mmio_thread *t, uint32_t device)
{
    const struct code_object_kernel *kernel = kernel_of(function);
    const struct mmio_module *module = &mmio_modules[function->module];
    size_t name = strlen(kernel->name) + 1, arguments = kernarg_size(kernel);
    size_t at = round_up(sizeof(struct driver_launch), 16);
    struct blob *blob = blob_new(at + arguments + name);
    struct driver_launch *launch = (struct driver_launch *)(void *)blob->bytes;
    struct kernarg_geometry geometry = geometry_of(c, t, device);
    if (kernarg_fill_packed(kernel, t->arguments, t->argument_bytes, &geometry, blob->bytes + at)
        >= 0) {
        blob_free(blob->number);
        return BLOB_NONE;
    }
    memcpy(blob->bytes + at + arguments, kernel->name, name);
    *launch = (struct driver_launch){
        .name = (char *)blob->bytes + at + arguments,
        .symbol = (char *)blob->bytes + at + arguments,
        .entry = module->base[device] + kernel->entry_address,
        .kernel_object = module->ptx ? 0 : module->base[device] + kernel->descriptor_address,
        .group_bytes = kernel->group_size + t->shared,
        .private_bytes = module->ptx ? 0 : code_object_private_bytes(kernel),
        .kernarg = blob->bytes + at,
        .kernarg_bytes = (uint32_t)arguments,
        .kernarg_align = kernel->kernarg_align,
    };
    if (!module->ptx)
        kernarg_make_descriptor(&module->object, kernel, launch->descriptor);
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = geometry.grid[i];
        launch->block[i] = (uint16_t)geometry.block[i];
    }
    return blob->number;
}

static bool launch_kernel(struct mmio *c, struct mmio_call *k)
{
    struct mmio_thread *t = thread_of(c, k->request.thread);
    const struct mmio_name *function = name_find(function_at(c, 0), k->request.launch.function);
    int32_t error = MMIO_SUCCESS;
    if (!t->is_configured || !stream_exists(c, t->stream))
        return end_call(c, k, t->is_configured ? MMIO_INVALID_HANDLE : MMIO_MISSING_CONFIGURATION);
    if (!api_stream_may_issue(streams_of(c), API_CALL_LAUNCH, (uint16_t)t->stream))
        return end_blocked(c, k); /* the configuration stays for the next attempt */
    uint32_t device = device_of_stream(c, k, t->stream);
    if (!function)
        error = MMIO_INVALID_FUNCTION;
    else if (!is_good_geometry(c, t, kernel_of(function), device))
        error = MMIO_INVALID_CONFIGURATION;
    if (!error && !module_place(c, k, function->module, device, &error)) {
        k->pending++;
        return false;
    }
    uint32_t blob = error ? BLOB_NONE : make_launch(c, function, t, device);
    if (!error && blob == BLOB_NONE)
        error = MMIO_INVALID_VALUE;
    if (error) {
        t->is_configured = false;
        return end_call(c, k, error);
    }
    bool is_over = issue_operation(c, k, t->stream,
                                   (struct mmio_operation){.kind = OPERATION_LAUNCH, .blob = blob});
    if (k->answer.state != API_STATE_BLOCKED)
        t->is_configured = false;
    return is_over;
}

/* The driver knows how NVIDIA's devices hand out registers and shared memory. */
static bool max_blocks_ptx(struct mmio *c, struct mmio_call *k, const struct mmio_name *function)
{
    int32_t error = MMIO_SUCCESS;
    const uint32_t device = device_of(c, k);
    if (k->step == 0 && !module_place(c, k, function->module, device, &error)) {
        k->pending++;
        return false;
    }
    if (error || k->step > 0) {
        k->answer.max_blocks.blocks = (uint32_t)k->value;
        return end_call(c, k, error ? error : error_of(k->status));
    }
    struct mmio_post *post = ask_driver(c, k, DEVICE_CALL_BLOCKS);
    post->address =
        mmio_modules[function->module].base[device] + kernel_of(function)->entry_address;
    post->size = k->request.max_blocks.shared_bytes;
    post->pattern = k->request.max_blocks.block_size;
    post->device = device;
    return false;
}

static bool max_blocks(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_name *function = name_find(function_at(c, 0), k->request.max_blocks.function);
    const struct driver_device_info *info = info_of(c, device_of(c, k));
    if (!function)
        return end_call(c, k, MMIO_INVALID_FUNCTION);
    const struct code_object_kernel *kernel = kernel_of(function);
    if (mmio_modules[function->module].ptx)
        return max_blocks_ptx(c, k, function);
    uint32_t waves = divide_up(k->request.max_blocks.block_size, 64);
    if (!waves || k->request.max_blocks.block_size > info->max_work_group)
        return end_call(c, k, MMIO_INVALID_VALUE);
    uint32_t simd = info->wavefronts_per_simd;
    if (kernel->registers.vgprs && info->vgprs_per_simd / kernel->registers.vgprs < simd)
        simd = info->vgprs_per_simd / kernel->registers.vgprs;
    if (kernel->registers.sgprs && info->sgprs_per_simd / kernel->registers.sgprs < simd)
        simd = info->sgprs_per_simd / kernel->registers.sgprs;
    uint64_t blocks = simd * info->simds_per_cu / waves;
    uint64_t lds = kernel->group_size + k->request.max_blocks.shared_bytes;
    if (lds && info->lds_bytes_per_cu / lds < blocks)
        blocks = info->lds_bytes_per_cu / lds;
    if (info->work_groups_per_cu < blocks)
        blocks = info->work_groups_per_cu;
    k->answer.max_blocks.blocks = (uint32_t)blocks;
    return end_call(c, k, MMIO_SUCCESS);
}
