/* Modules of PTX, on NVIDIA's devices.
 *
 * The text is parsed here for what the library has to know: variables, kernels and their
 * parameters, in the words of a code object (ptx_object.h), and the image's bytes. The driver gets
 * the text, too, and executes it. */
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/record/hip_record.h"
#include "components/nvidia/ptx/ptx.h"
#include "components/nvidia/ptx/ptx_object.h"

enum { IMAGE_ALIGN = 256 };

static uint32_t sm_of(int device)
{
    return driver_capability(&hip.devices[device].info);
}

/* The host uses managed variables where they are, so that an image which has some is managed
 * memory. */
static bool has_managed(const struct ptx_module *ptx)
{
    bool is_found = false;
    for (uint32_t i = 0; i < ptx->variable_count; i++)
        is_found |= ptx->variables[i].is_managed;
    return is_found;
}

static hipError_t write_image(const struct hip_module *module, const uint8_t *image)
{
    const struct hip_device *device = &hip.devices[module->device];
    const uint64_t span = module->object.span;
    uint64_t ticket = 0;
    struct hip_use use = {
        .location = hip_location_of(module->base), .size = span, .is_written = true};
    hipError_t error = hip_host_memory_prepare(device->queue, &use, 1, true);
    if (error != hipSuccess)
        return error;
    enum driver_status status = hip.api->write(device->queue, module->base, image, span, &ticket);
    return hip_status_of(status == DRIVER_OK ? hip.api->wait(ticket) : status, "loading PTX");
}

/* Writes the image and gives the driver the text. The lock stays held, so that no other thread
 * loads the same binary at the same time. */
static hipError_t place_module(struct hip_module *module, const struct ptx_module *ptx,
                               const char *name, const char *text, size_t size)
{
    const uint64_t span = module->object.span;
    hipError_t error = has_managed(ptx)
                           ? hip_allocate_managed_image(module->device, span, &module->base)
                           : hip_allocate_device(module->device, span, IMAGE_ALIGN,
                                                 HIP_MODULE_MEMORY, &module->base);
    if (error != hipSuccess)
        return error;
    uint8_t *image = hip_allocate(span);
    ptx_image(ptx, module->base, image);
    error = hip_status_of(
        hip.api->register_ptx(hip.devices[module->device].number, name, module->base, text, size),
        "loading PTX");
    if (error == hipSuccess)
        error = write_image(module, image);
    hip_release(image);
    return error;
}

/* Properties of the kernels, as the driver's executor finds them. */
static hipError_t make_functions(struct hip_module *module)
{
    struct code_object *object = &module->object;
    const uint32_t device = hip.devices[module->device].number;
    module->functions = hip_allocate(object->kernel_count * sizeof *module->functions);
    for (size_t i = 0; i < object->kernel_count; i++) {
        struct code_object_kernel *kernel = &object->kernels[i];
        struct driver_ptx_kernel facts = {0};
        const uint64_t entry = module->base + kernel->entry_address;
        module->functions[i] = (struct hip_function){
            .module = module, .kernel = kernel, .name = code_object_readable_name(kernel->name)};
        enum driver_status status =
            hip.api->register_kernel(device, module->functions[i].name, entry);
        if (status == DRIVER_OK)
            status = hip.api->ptx_kernel(entry, &facts);
        if (status != DRIVER_OK)
            return hip_status_of(status, "loading PTX");
        kernel->registers.vgprs = facts.registers;
        kernel->group_size = facts.shared_bytes;
        kernel->private_size = facts.local_bytes;
        kernel->max_group_threads = facts.max_threads;
    }
    return hipSuccess;
}

static hipError_t check_target(const struct ptx_module *ptx, int device, const char *name)
{
    const char *isa = hip.devices[device].info.isa;
    if (!driver_executes_ptx(&hip.devices[device].info)) {
        hip_say("%s: device %d is %s and executes no PTX", name, device, isa);
        return hipErrorNoBinaryForGpu;
    }
    if (ptx->target <= sm_of(device))
        return hipSuccess;
    hip_say("%s: the PTX is for %s, but device %d is %s; compile with -arch=%s (clang: "
            "--cuda-gpu-arch=%s)",
            name, ptx->target_name, device, isa, isa, isa);
    return hipErrorNoBinaryForGpu;
}

hipError_t hip_load_ptx(const char *text, size_t size, int device, const char *name,
                        struct hip_module **loaded)
{
    struct ptx_error mistakes;
    struct ptx_module *ptx = ptx_parse(name, text, size, &mistakes);
    if (!ptx) {
        hip_say("%s", mistakes.text);
        return hipErrorInvalidImage;
    }
    ptx_layout(ptx);
    struct hip_module *module = hip_allocate(sizeof *module);
    module->device = device;
    module->is_ptx = true;
    ptx_object_describe(ptx, &module->object);
    hipError_t error = check_target(ptx, device, name);
    if (error == hipSuccess)
        error = place_module(module, ptx, name, text, size);
    if (error == hipSuccess)
        error = make_functions(module);
    ptx_free(ptx);
    if (error != hipSuccess) {
        hip_unload_module(module);
        return error;
    }
    hip_record_module(module, text, size);
    hip_add_module(module);
    *loaded = module;
    return hipSuccess;
}
