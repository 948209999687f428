/* Modules of PTX, on NVIDIA's devices.
 *
 * The text is parsed here for what the library has to know: variables, kernels and their
 * parameters, which it keeps in the same words as those of a code object, and the image's bytes.
 * The driver gets the text, too, and executes it. So everything behind loading is the same for both
 * kinds of code. */
#include "components/hip/api/hip_recorder.h"
#include "components/hip/api/memory/hip_host_memory.h"

#include "components/nvidia/ptx/ptx.h"

#include <string.h>

enum { IMAGE_ALIGN = 256, PARAMETERS_ALIGN = 16 };

static uint32_t sm_of(int device)
{
    return driver_capability(&hip.devices[device].info);
}

static const char *copy_name(struct code_object *object, const char *name)
{
    return object_memory_copy_text(&object->memory, name, strlen(name));
}

static void describe_kernel(struct code_object *object, const struct ptx_function *function,
                            struct code_object_kernel *kernel)
{
    *kernel = (struct code_object_kernel){
        .name = copy_name(object, function->name),
        .entry_address = function->offset,
        .kernarg_size = function->param_bytes,
        .kernarg_align = PARAMETERS_ALIGN,
        .group_size = function->shared_bytes,
        .wavefront_size = 32,
        .arguments =
            object_memory_take(&object->memory, function->param_count, sizeof *kernel->arguments),
        .argument_count = function->param_count,
        .explicit_argument_count = function->param_count,
    };
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct ptx_variable *param = &function->params[i];
        kernel->arguments[i] = (struct code_object_argument){.name = copy_name(object, param->name),
                                                             .type_name = "",
                                                             .address_space = "",
                                                             .access = "",
                                                             .offset = (uint32_t)param->offset,
                                                             .size = (uint32_t)param->bytes};
    }
}

static int compare_symbols(const void *a, const void *b)
{
    const struct code_object_symbol *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* Symbols are found by name, in their order. */
static void describe_variables(struct code_object *object, const struct ptx_module *ptx)
{
    object->symbols =
        object_memory_take(&object->memory, ptx->variable_count, sizeof *object->symbols);
    for (uint32_t i = 0; i < ptx->variable_count; i++) {
        const struct ptx_variable *variable = &ptx->variables[i];
        if (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST)
            object->symbols[object->symbol_count++] =
                (struct code_object_symbol){.name = copy_name(object, variable->name),
                                            .address = variable->offset,
                                            .size = variable->bytes,
                                            .is_variable = true};
    }
    qsort(object->symbols, object->symbol_count, sizeof *object->symbols, compare_symbols);
}

static void describe(struct code_object *object, const struct ptx_module *ptx)
{
    object->kernels =
        object_memory_take(&object->memory, ptx->function_count, sizeof *object->kernels);
    for (uint32_t i = 0; i < ptx->function_count; i++)
        if (ptx->functions[i].is_entry && ptx->functions[i].is_defined)
            describe_kernel(object, &ptx->functions[i], &object->kernels[object->kernel_count++]);
    object->version = ptx->target;
    object->span = ptx->image_bytes > 0 ? ptx->image_bytes : 1;
    describe_variables(object, ptx);
}

/* The host uses managed variables where they are, so that an image which has some is managed
 * memory. */
static bool has_managed(const struct ptx_module *ptx)
{
    bool found = false;
    for (uint32_t i = 0; i < ptx->variable_count; i++)
        found |= ptx->variables[i].is_managed;
    return found;
}

static hipError_t write_image(const struct hip_module *module, const uint8_t *image)
{
    const struct hip_device *device = &hip.devices[module->device];
    const uint64_t span = module->object.span;
    uint64_t ticket = 0;
    struct hip_use use = {.location = hip_location_of(module->base), .size = span, .written = true};
    hipError_t error = hip_host_memory_prepare(device->queue, &use, 1, true);
    if (error != hipSuccess)
        return error;
    enum driver_status status = hip.api->write(device->queue, module->base, image, span, &ticket);
    return hip_status_of(status == DRIVER_OK ? hip.api->wait(ticket) : status, "loading PTX");
}

/* Writes the image and gives the driver the text. The lock stays held, so that no other thread
 * loads the same binary at the same time. */
static hipError_t place(struct hip_module *module, const struct ptx_module *ptx, const char *name,
                        const char *text, size_t size)
{
    const uint64_t span = module->object.span;
    hipError_t error = has_managed(ptx)
                           ? hip_allocate_managed_on(module->device, span, &module->base)
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

/* What the driver's executor makes of the kernels. */
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
            .module = module, .kernel = kernel, .name = hip_readable_name(kernel->name)};
        enum driver_status status =
            hip.api->register_kernel(device, module->functions[i].name, entry);
        if (status == DRIVER_OK)
            status = hip.api->ptx_kernel(entry, &facts);
        if (status != DRIVER_OK)
            return hip_status_of(status, "loading PTX");
        kernel->vgpr_count = facts.registers;
        kernel->group_size = facts.shared_bytes;
        kernel->private_size = facts.local_bytes;
        kernel->max_group_threads = facts.max_threads;
    }
    return hipSuccess;
}

static hipError_t check_target(const struct ptx_module *ptx, int device, const char *name)
{
    if (ptx->target <= sm_of(device))
        return hipSuccess;
    hip_say("%s: the PTX is for %s, but device %d is %s; compile with -arch=%s (clang: "
            "--cuda-gpu-arch=%s)",
            name, ptx->target_name, device, hip.devices[device].info.isa,
            hip.devices[device].info.isa, hip.devices[device].info.isa);
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
    describe(&module->object, ptx);
    hipError_t error = check_target(ptx, device, name);
    if (error == hipSuccess)
        error = place(module, ptx, name, text, size);
    if (error == hipSuccess)
        error = make_functions(module);
    ptx_free(ptx);
    if (error != hipSuccess) {
        hip_unload_module(module);
        return error;
    }
    HIP_RECORD_STEP(refuse("the program has kernels in PTX, which traces of calls cannot hold"));
    hip_add_module(module);
    *loaded = module;
    return hipSuccess;
}
