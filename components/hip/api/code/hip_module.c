/* Modules: code objects that are loaded on a device, with their kernels and device variables.
 *
 * A module comes from a file or memory that the program names, or from a binary embedded in it
 * (hip_registration.c). Invariant: a module's memory and functions live from its loading to its
 * unloading. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/region.h"
#include "components/amd/isa/object/kernarg.h"
#include "components/hip/api/hip_handle.h"
#include "components/hip/api/hip_internal.h"
#include "components/hip/api/record/hip_record.h"
#include "components/nvidia/ptx/ptx_object.h"
#include "runtime/engine/options.h"

enum { FILE_MAX = 1 << 30 };

static struct hip_module *modules;

/* ---- loading a code object ---- */

/* Says what a binary has, when none of it fits. */
static hipError_t fail_target(int device, const char *targets)
{
    const char *isa = hip.devices[device].info.isa;
    hip_say("device %d is %s, but the code is only for: %s; compile with --offload-arch=%s (if the "
            "compiler does not know it: docs/guide/libraries.md)",
            device, isa, *targets ? targets : "no GPU", isa);
    return hipErrorNoBinaryForGpu;
}

static bool fits_device(const struct code_object *object, int device)
{
    char target[64];
    const struct hip_device *info = &hip.devices[device];
    code_object_target_name(&object->target, target, sizeof target);
    return bundle_match_target(target, info->info.isa, info->uses_xnack, info->uses_sramecc) > 0;
}

/* True if the code object has variables that kernels may write. LLD puts .dynamic, which is only
 * relocated (112 bytes in code objects), into a segment of its own in front of variables. */
static bool has_variables(const struct code_object *object)
{
    enum { DYNAMIC_BYTES = 112 };
    uint64_t writable = 0;
    for (size_t i = 0; i < object->segment_count; i++)
        writable += object->segments[i].is_writable ? object->segments[i].memory_size : 0;
    return writable > DYNAMIC_BYTES;
}

/* Copies the image to the device and gives the driver its code. The lock stays held, so that no
 * other thread loads the same binary at the same time. */
static hipError_t place_image(struct hip_module *module, const char *name)
{
    struct code_object *object = &module->object;
    hipError_t error = hip_allocate_device(module->device, object->span, CODE_OBJECT_PAGE,
                                           HIP_MODULE_MEMORY, &module->base);
    if (error != hipSuccess)
        return error;
    uint8_t *image = hip_allocate(object->span);
    code_object_load(object, module->base, image);
    uint64_t ticket = 0;
    uint32_t queue = hip.devices[module->device].queue;
    enum driver_status status = hip.api->register_code(hip.devices[module->device].number, name,
                                                       module->base, image, object->span);
    if (status == DRIVER_OK)
        status = hip.api->write(queue, module->base, image, object->span, &ticket);
    if (status == DRIVER_OK)
        status = hip.api->wait(ticket);
    if (status == DRIVER_OK && !has_variables(object))
        status = hip.api->copy_code(hip.devices[module->device].number, module->base);
    hip_release(image);
    return hip_status_of(status, "loading a module");
}

static hipError_t register_kernels(struct hip_module *module)
{
    module->functions = hip_allocate(module->object.kernel_count * sizeof *module->functions);
    for (size_t i = 0; i < module->object.kernel_count; i++) {
        const struct code_object_kernel *kernel = &module->object.kernels[i];
        struct hip_function *function = &module->functions[i];
        function->module = module;
        function->kernel = kernel;
        function->name = code_object_readable_name(kernel->name);
        kernarg_make_descriptor(&module->object, kernel, function->descriptor);
        hipError_t error = hip_status_of(
            hip.api->register_kernel(hip.devices[module->device].number, function->name,
                                     module->base + kernel->entry_address),
            "loading a module");
        if (error != hipSuccess)
            return error;
    }
    return hipSuccess;
}

hipError_t hip_unload_module(struct hip_module *module)
{
    for (struct hip_module **link = &modules; *link; link = &(*link)->next) {
        if (*link == module) {
            *link = module->next;
            break;
        }
    }
    hipError_t error = hipSuccess;
    if (module->base != 0 && hip.state == HIP_OPEN && hip.device_error == hipSuccess) {
        uint64_t base = module->base;
        error = hip_release_device(base); /* waits for kernels that still run in it */
        hip.api->unregister_code(base);
    }
    hip_handle_remove(module->handle);
    if (module->functions)
        for (size_t i = 0; i < module->object.kernel_count; i++) {
            hip_handle_remove(module->functions[i].handle);
            hip_release(module->functions[i].name);
        }
    code_object_release(&module->object);
    hip_release(module->functions);
    hip_release(module);
    return error;
}

void hip_unload_device(int device)
{
    hip_unload_embedded(device);
    for (struct hip_module *module = modules, *next; module; module = next) {
        next = module->next;
        if (module->device == device)
            hip_unload_module(module);
    }
}

void hip_add_module(struct hip_module *module)
{
    struct hip_module **link = &modules;
    while (*link)
        link = &(*link)->next;
    *link = module;
}

/* Loads one ELF file of `size` bytes. */
static hipError_t load_object(const void *bytes, size_t size, int device, const char *name,
                              struct hip_module **loaded)
{
    struct hip_module *module = hip_allocate(sizeof *module);
    module->device = device;
    hipError_t error = hipSuccess;
    if (!code_object_read(&module->object, bytes, size)) {
        hip_say("%s: %s", name, module->object.error);
        error = hipErrorInvalidImage;
    } else if (!fits_device(&module->object, device)) {
        char target[64];
        code_object_target_name(&module->object.target, target, sizeof target);
        error = fail_target(device, target);
    }
    if (error == hipSuccess)
        error = place_image(module, name);
    if (error == hipSuccess)
        hip.api->describe_code(module->base, bytes, size);
    if (error == hipSuccess)
        error = register_kernels(module);
    if (error != hipSuccess) {
        hip_unload_module(module);
        return error;
    }
    hip_add_module(module);
    *loaded = module;
    return hipSuccess;
}

/* `*size`: at most; then what the bundle has. */
static hipError_t load_bundle(const void *bytes, size_t *size, int device, const char *name,
                              struct hip_module **loaded)
{
    struct bundle bundle;
    hipError_t error = hipSuccess;
    const struct hip_device *info = &hip.devices[device];
    if (!bundle_read(&bundle, bytes, *size)) {
        hip_say("%s: %s", name, bundle.error);
        error = hipErrorInvalidImage;
    } else {
        const struct bundle_entry *entry =
            bundle_find(&bundle, info->info.isa, info->uses_xnack, info->uses_sramecc);
        if (!entry) {
            char targets[400];
            bundle_list_targets(&bundle, targets, sizeof targets);
            error = fail_target(device, targets);
        } else {
            error = load_object(entry->code, entry->size, device, name, loaded);
        }
    }
    *size = bundle.size_bytes;
    bundle_release(&bundle);
    return error;
}

hipError_t hip_load_module(const void *bytes, size_t size, int device, const char *name,
                           struct hip_module **loaded)
{
    if (ptx_object_recognise(bytes, size))
        return hip_load_ptx(bytes, strnlen(bytes, size), device, name, loaded);
    bool is_code_object = code_object_recognise(bytes, size);
    size_t exact = is_code_object ? code_object_image_size(bytes, size) : 0;
    size = exact > 0 ? exact : size;
    hipError_t error = is_code_object ? load_object(bytes, size, device, name, loaded)
                                      : load_bundle(bytes, &size, device, name, loaded);
    if (error == hipSuccess)
        hip_record_module(*loaded, bytes, size);
    return error;
}

hipError_t hip_find_variable(const struct hip_module *module, const char *name, uint64_t *address,
                             uint64_t *size)
{
    const struct code_object_symbol *symbol = code_object_find_symbol(&module->object, name);
    if (!symbol || !symbol->is_variable)
        return hipErrorNotFound;
    *address = module->base + symbol->address;
    *size = symbol->size;
    return hipSuccess;
}

/* ---- modules that the program loads ---- */

static struct hip_module *find_module(hipModule_t handle)
{
    return hip_handle_find(HIP_HANDLE_MODULE, handle);
}

const struct hip_function *hip_check_function(hipFunction_t handle)
{
    return hip_handle_find(HIP_HANDLE_FUNCTION, handle);
}

static struct hip_function *change_function(const struct hip_function *function)
{
    struct hip_module *module = function->module;
    return &module->functions[function->kernel - module->object.kernels];
}

bool hip_is_first_refusal(const struct hip_function *function)
{
    struct hip_function *changed = change_function(function);
    bool is_first = !changed->is_refused;
    changed->is_refused = true;
    return is_first;
}

void hip_set_dynamic_lds(const struct hip_function *function, uint32_t bytes)
{
    change_function(function)->dynamic_lds_max = bytes;
}

void hip_allow_large_clusters(const struct hip_function *function, bool allows)
{
    change_function(function)->allows_large_clusters = allows;
}

const struct hip_module *hip_module_at(uint64_t base)
{
    const struct hip_module *module = modules;
    while (module && module->base != base)
        module = module->next;
    return module;
}

static hipError_t load_data(hipModule_t *handle, const void *image, size_t size, const char *name)
{
    if (!handle || !image)
        return hipErrorInvalidValue;
    struct hip_module *module = NULL;
    hipError_t error = hip_load_module(image, size, hip_current_device(), name, &module);
    if (error == hipSuccess)
        module->handle = hip_handle_add(HIP_HANDLE_MODULE, module);
    *handle = module ? module->handle : NULL;
    return error;
}

static hipError_t load_stream(hipModule_t *handle, FILE *stream, const char *name)
{
    struct region region = {.contents = HIP_LIBRARY};
    size_t size;
    const void *bytes = region_read(&region, stream, FILE_MAX, &size);
    hipError_t error = load_data(handle, bytes, size, name);
    region_release(&region);
    return error;
}

HIP_DEFINE(hipModuleLoad, (handle, name), hipModule_t *handle, const char *name)
{
    if (!handle || !name)
        return hipErrorInvalidValue;
    FILE *stream = fopen(name, "rb");
    if (!stream) {
        hip_say("cannot open the module file '%s': %s", name, strerror(errno));
        return hipErrorFileNotFound;
    }
    hipError_t error = load_stream(handle, stream, name);
    fclose(stream);
    return error;
}

HIP_DEFINE_ALWAYS(hipModuleUnload, (handle), hipModule_t handle)
{
    struct hip_module *module = find_module(handle);
    if (!module || hip_is_embedded(module))
        return hipErrorInvalidHandle; /* the program's own code stays */
    hip_record_call(&(struct api_trace_call){.kind = API_TRACE_MODULE_UNLOAD,
                                             .module = hip_allocation_number(module->base)});
    return hip_unload_module(module);
}

HIP_DEFINE(hipModuleGetFunction, (function, handle, name), hipFunction_t *function,
           hipModule_t handle, const char *name)
{
    struct hip_module *module = find_module(handle);
    if (!function || !name || !module)
        return function && name ? hipErrorInvalidHandle : hipErrorInvalidValue;
    const struct code_object_kernel *kernel = code_object_find_kernel(&module->object, name);
    if (!kernel) {
        hip_say("the module has no kernel '%s'", name);
        return hipErrorNotFound;
    }
    struct hip_function *object = &module->functions[kernel - module->object.kernels];
    if (!object->handle)
        object->handle = hip_handle_add(HIP_HANDLE_FUNCTION, object);
    *function = object->handle;
    return hipSuccess;
}

HIP_DEFINE(hipModuleGetGlobal, (pointer, size, handle, name), hipDeviceptr_t *pointer, size_t *size,
           hipModule_t handle, const char *name)
{
    const struct hip_module *module = find_module(handle);
    uint64_t address = 0, bytes = 0;
    if (!name || !module)
        return name ? hipErrorInvalidHandle : hipErrorInvalidValue;
    hipError_t error = hip_find_variable(module, name, &address, &bytes);
    if (error != hipSuccess) {
        hip_say("the module has no device variable '%s'", name);
        return error;
    }
    if (pointer)
        *pointer = (hipDeviceptr_t)(uintptr_t)address;
    if (size)
        *size = bytes;
    return hipSuccess;
}

HIP_DEFINE(hipModuleLoadData, (handle, image), hipModule_t *handle, const void *image)
{
    return load_data(handle, image, hip_readable_bytes(image), "module in memory");
}

HIP_DEFINE(hipModuleLoadDataEx, (handle, image, count, options, values), hipModule_t *handle,
           const void *image, unsigned count, hipJitOption *options, void **values)
{
    (void)count, (void)options, (void)values; /* options are for compilers; the code is compiled */
    return load_data(handle, image, hip_readable_bytes(image), "module in memory");
}
