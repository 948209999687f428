/* Code objects and modules of PTX that the host has registered: read here, placed in the memory of
 * each GPU that uses them. */
#include <stdio.h>

#include "mmio_state.h"

static struct mmio_module mmio_modules[MMIO_MODULES_MAX];

enum place_step {
    PLACE_ALLOCATE,
    PLACE_ALLOCATED,
    PLACE_REGISTERED,
    PLACE_WRITTEN,
    PLACE_KERNEL,
    PLACE_OVER
};

static int32_t module_read_ptx(struct mmio_module *module, const uint8_t *bytes, size_t size)
{
    char error[PTX_ERROR_BYTES];
    struct blob *text = blob_new(size);
    memcpy(text->bytes, bytes, size);
    module->text = text->number;
    module->ptx = ptx_services()->read("a module", (const char *)text->bytes, size, &module->object,
                                       error, sizeof error);
    if (module->ptx)
        return MMIO_SUCCESS;
    fprintf(stderr, "heddle: %s\n", error);
    return MMIO_INVALID_IMAGE;
}

static void module_release(struct mmio_module *module)
{
    if (module->ptx)
        ptx_services()->release(module->ptx);
    if (module->text)
        blob_free(module->text);
    code_object_release(&module->object);
    *module = (struct mmio_module){0};
}

/* Reads the code object in `bytes`, or the one of a bundle that fits device `device`. hipError_t.
 */
static int32_t module_read(const struct mmio *c, struct mmio_module *module, const uint8_t *bytes,
                           size_t size, uint32_t device)
{
    const char *isa = info_of(c, device)->isa;
    struct bundle bundle = {0};
    int32_t error = MMIO_SUCCESS;
    if (driver_executes_ptx(info_of(c, device)))
        return module_read_ptx(module, bytes, size);
    if (bundle_recognise(bytes, size)) {
        const struct bundle_entry *entry = NULL;
        if (!bundle_read(&bundle, bytes, size))
            error = MMIO_INVALID_IMAGE;
        else if (!(entry = bundle_find(&bundle, isa, false, true)))
            error = MMIO_NO_BINARY;
        if (!error && !code_object_read(&module->object, entry->code, entry->size))
            error = MMIO_INVALID_IMAGE;
        bundle_release(&bundle);
        return error;
    }
    char target[64];
    if (!code_object_recognise(bytes, size) || !code_object_read(&module->object, bytes, size))
        return MMIO_INVALID_IMAGE;
    code_object_target_name(&module->object.target, target, sizeof target);
    return bundle_match_target(target, isa, false, true) > 0 ? MMIO_SUCCESS : MMIO_NO_BINARY;
}

static uint32_t module_of_handle(uint64_t handle)
{
    bool is_valid = handle >= 1 && handle <= MMIO_MODULES_MAX && mmio_modules[handle - 1].is_used;
    return is_valid ? (uint32_t)handle - 1 : MMIO_NONE;
}

static struct mmio_name *name_find(struct mmio_name *names, uint64_t address)
{
    for (uint32_t i = 0; i < MMIO_NAMES_MAX; i++)
        if (names[i].is_used && names[i].address == address)
            return &names[i];
    return NULL;
}

/* The entry of a stub or shadow: its old one, or a free one; NULL: all are used. */
static struct mmio_name *name_place(struct mmio_name *names, uint64_t address)
{
    struct mmio_name *name = name_find(names, address);
    for (uint32_t i = 0; !name && i < MMIO_NAMES_MAX; i++)
        if (!names[i].is_used)
            name = &names[i];
    return name;
}

static void names_release(struct mmio_name *names, uint32_t module)
{
    for (uint32_t i = 0; i < MMIO_NAMES_MAX; i++)
        if (names[i].module == module)
            names[i].is_used = false;
}

static const struct code_object_kernel *kernel_of(const struct mmio_name *function)
{
    return &mmio_modules[function->module].object.kernels[function->index];
}

/* The code followed by its name, as the driver wants to have it. */
static void place_code(struct mmio *c, struct mmio_call *call, uint32_t number, uint32_t device)
{
    struct mmio_module *module = &mmio_modules[number];
    size_t size = module->ptx ? blob_at(module->text)->size : module->object.span;
    char name[64];
    int length = snprintf(name, sizeof name, "module %u", number + 1);
    struct blob *blob = blob_new(size + (size_t)length + 1);
    module->base[device] = call->value;
    if (module->ptx)
        memcpy(blob->bytes, blob_at(module->text)->bytes, size);
    else
        code_object_load(&module->object, call->value, blob->bytes);
    memcpy(blob->bytes + size, name, (size_t)length + 1);
    call->work = blob->number;
    struct mmio_post *post =
        post_driver(c, OWNER_STEP, (uint32_t)(call - call_at(c, 0)), DEVICE_CALL_CODE);
    post->address = call->value;
    post->size = size;
    post->blob = blob->number;
    post->device = device;
}

static void place_write(struct mmio *c, struct mmio_call *call, uint32_t number, uint32_t device)
{
    const struct mmio_module *module = &mmio_modules[number];
    if (module->ptx) {
        struct blob *image = blob_new(module->object.span);
        ptx_services()->image(module->ptx, module->base[device], image->bytes);
        call->work = image->number;
    }
    struct mmio_post *post =
        post_driver(c, OWNER_STEP, (uint32_t)(call - call_at(c, 0)), DEVICE_CALL_WRITE);
    post->address = module->base[device];
    post->size = module->object.span;
    post->blob = call->work;
    post->device = device; /* the device's own queue */
}

static void place_kernel(struct mmio *c, struct mmio_call *call, uint32_t number, uint32_t device)
{
    const struct code_object_kernel *kernel = &mmio_modules[number].object.kernels[call->index++];
    size_t bytes = strlen(kernel->name) + 1;
    struct blob *blob = blob_new(bytes);
    memcpy(blob->bytes, kernel->name, bytes);
    call->work = blob->number;
    struct mmio_post *post =
        post_driver(c, OWNER_STEP, (uint32_t)(call - call_at(c, 0)), DEVICE_CALL_KERNEL);
    post->address = mmio_modules[number].base[device] + kernel->entry_address;
    post->blob = blob->number;
    post->device = device;
}

/* Brings a module to a device, step by step; called whenever an answer has come. False: it is
 * not there yet. When it cannot be, `*error` says why. */
static bool module_place(struct mmio *c, struct mmio_call *call, uint32_t number, uint32_t device,
                         int32_t *error)
{
    struct mmio_module *module = &mmio_modules[number];
    *error = call->place == PLACE_ALLOCATE ? MMIO_SUCCESS : error_of(call->status);
    if (call->place == PLACE_ALLOCATE && module->base[device])
        return true;
    /* A code object is written next, as it was registered. */
    bool keeps = call->place == PLACE_REGISTERED && !*error && !module->ptx;
    if (call->work != BLOB_NONE && !keeps) {
        blob_free(call->work);
        call->work = BLOB_NONE;
    }
    if (*error) {
        module->base[device] = 0;
        call->place = PLACE_ALLOCATE;
        return true;
    }
    switch ((enum place_step)call->place) {
    case PLACE_ALLOCATE: {
        struct mmio_post *post =
            post_driver(c, OWNER_STEP, (uint32_t)(call - call_at(c, 0)), DEVICE_CALL_ALLOCATE);
        post->size = whole_host_pages(module->object.span); /* variables may be managed */
        post->device = device;
        break;
    }
    case PLACE_ALLOCATED:
        place_code(c, call, number, device);
        break;
    case PLACE_REGISTERED:
        place_write(c, call, number, device);
        break;
    default:
        if (call->index == module->object.kernel_count) {
            call->place = PLACE_ALLOCATE;
            return true;
        }
        place_kernel(c, call, number, device);
        call->place = PLACE_KERNEL;
        return false;
    }
    call->place++;
    return false;
}
