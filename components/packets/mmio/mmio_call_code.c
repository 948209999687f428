/* Calls about code objects: modules, functions and variables. */
#include "mmio_state.h"

static bool register_module(struct mmio *c, struct mmio_call *k)
{
    enum { FETCH, READ, PLACE };
    uint64_t size = k->request.register_module.size;
    int32_t error;
    if (k->step == FETCH) {
        k->index = 0;
        while (k->index < MMIO_MODULES_MAX && mmio_modules[k->index].is_used)
            k->index++;
        if (!size || size > MMIO_CODE_MAX || k->index == MMIO_MODULES_MAX)
            return end_call(c, k, size > MMIO_CODE_MAX ? MMIO_OUT_OF_MEMORY : MMIO_INVALID_VALUE);
        k->work = blob_new(size)->number;
        k->step = READ;
        k->pending++;
        post_dma(c, OWNER_STEP, slot_of(c, k),
                 (struct packet_dma_command){.address = k->request.register_module.address,
                                             .size = size,
                                             .blob = k->work,
                                             .way = PACKET_DMA_WAY_TO_DEVICE});
        return false;
    }
    if (k->step == READ) {
        struct mmio_module *module = &mmio_modules[k->index];
        const struct blob *blob = blob_at(k->work);
        *module = (struct mmio_module){.is_used = true};
        error = blob->status == PACKET_DMA_REFUSED
                    ? MMIO_INVALID_VALUE
                    : module_read(c, module, blob->bytes, size, device_of(c, k));
        blob_free(k->work);
        k->work = BLOB_NONE;
        if (error) {
            module_release(module);
            return end_call(c, k, error);
        }
        k->answer.register_module.module = k->index + 1;
        k->index = 0;
        k->step = PLACE;
    }
    uint32_t number = (uint32_t)k->answer.register_module.module - 1;
    if (!module_place(c, k, number, device_of(c, k), &error)) {
        k->pending++;
        return false;
    }
    return end_call(c, k, error);
}

/* Takes it from all devices, one after the other. */
static bool unregister_module(struct mmio *c, struct mmio_call *k)
{
    uint32_t number = module_of_handle(k->request.unregister_module.module);
    if (number == MMIO_NONE)
        return end_call(c, k, MMIO_INVALID_HANDLE);
    if (streams_of(c)->pending)
        return false;
    struct mmio_module *module = &mmio_modules[number];
    for (; k->index < c->device_count; k->index++) {
        uint64_t base = module->base[k->index];
        if (!base)
            continue;
        bool first = k->step % 2 == 0;
        ask_driver(c, k, first ? DEVICE_CALL_FORGET : DEVICE_CALL_RELEASE)->address = base;
        k->index += !first;
        return false;
    }
    names_release(function_at(c, 0), number);
    names_release(variable_at(c, 0), number);
    module_release(module);
    return end_call(c, k, MMIO_SUCCESS);
}

static bool register_function(struct mmio *c, struct mmio_call *k)
{
    uint32_t number = module_of_handle(k->request.register_function.module);
    if (number == MMIO_NONE)
        return end_call(c, k, MMIO_INVALID_HANDLE);
    const struct code_object *object = &mmio_modules[number].object;
    const struct code_object_kernel *kernel =
        code_object_find_kernel(object, k->request.register_function.name);
    struct mmio_name *name = name_place(function_at(c, 0), k->request.register_function.function);
    if (!kernel || !name)
        return end_call(c, k, kernel ? MMIO_OUT_OF_MEMORY : MMIO_INVALID_FUNCTION);
    *name = (struct mmio_name){.is_used = true,
                               .module = number,
                               .index = (uint32_t)(kernel - object->kernels),
                               .address = k->request.register_function.function};
    return end_call(c, k, MMIO_SUCCESS);
}

static bool register_variable(struct mmio *c, struct mmio_call *k)
{
    uint32_t number = module_of_handle(k->request.register_variable.module);
    if (number == MMIO_NONE)
        return end_call(c, k, MMIO_INVALID_HANDLE);
    const struct code_object *object = &mmio_modules[number].object;
    const struct code_object_symbol *symbol =
        code_object_find_symbol(object, k->request.register_variable.name);
    struct mmio_name *name = name_place(variable_at(c, 0), k->request.register_variable.symbol);
    if (!symbol || !symbol->is_variable || !name)
        return end_call(c, k, name ? MMIO_INVALID_SYMBOL : MMIO_OUT_OF_MEMORY);
    *name = (struct mmio_name){.is_used = true,
                               .module = number,
                               .index = (uint32_t)(symbol - object->symbols),
                               .address = k->request.register_variable.symbol};
    return end_call(c, k, MMIO_SUCCESS);
}

/* Finds the variable on the current device; places its module there if need be. False: not yet. */
static bool find_variable(struct mmio *c, struct mmio_call *k, uint64_t shadow, uint64_t *address,
                          uint64_t *size, int32_t *error)
{
    const struct mmio_name *name = name_find(variable_at(c, 0), shadow);
    *error = MMIO_INVALID_SYMBOL;
    if (!name)
        return true;
    if (!module_place(c, k, name->module, device_of(c, k), error)) {
        k->pending++;
        return false;
    }
    const struct mmio_module *module = &mmio_modules[name->module];
    *address = module->base[device_of(c, k)] + module->object.symbols[name->index].address;
    *size = module->object.symbols[name->index].size;
    return true;
}

static bool get_symbol(struct mmio *c, struct mmio_call *k)
{
    uint64_t address = 0, size = 0;
    int32_t error;
    if (!find_variable(c, k, k->request.get_symbol.symbol, &address, &size, &error))
        return false;
    k->answer.get_symbol.address = address;
    k->answer.get_symbol.size = size;
    return end_call(c, k, error);
}

/* A copy whose device side is a variable. */
struct symbol_copy {
    uint64_t shadow, offset; /* the variable's shadow, and the first byte in it */
    uint64_t other, bytes;   /* address of the other side */
    uint64_t stream;
    uint32_t direction;
    bool to_symbol;
};

static bool copy_symbol(struct mmio *c, struct mmio_call *k, struct symbol_copy copy)
{
    uint64_t address = 0, size = 0;
    int32_t error;
    if (!find_variable(c, k, copy.shadow, &address, &size, &error))
        return false;
    if (!error && (copy.offset > size || copy.bytes > size - copy.offset))
        error = MMIO_INVALID_VALUE;
    uint32_t forth = API_DIRECTION_HOST_TO_DEVICE, back = API_DIRECTION_DEVICE_TO_HOST;
    if (!copy.to_symbol) {
        forth = API_DIRECTION_DEVICE_TO_HOST;
        back = API_DIRECTION_HOST_TO_DEVICE;
    }
    if (!error && copy.direction == API_DIRECTION_BY_ADDRESS)
        copy.direction = in_window(copy.other) ? API_DIRECTION_DEVICE_TO_DEVICE : forth;
    if (!error && (copy.direction == API_DIRECTION_HOST_TO_HOST || copy.direction == back))
        error = MMIO_INVALID_DIRECTION;
    if (error)
        return end_call(c, k, error);
    address += copy.offset;
    return copy_range(c, k, copy.stream, copy.to_symbol ? address : copy.other,
                      copy.to_symbol ? copy.other : address, copy.bytes, copy.direction);
}

#define COPY_SYMBOL(name, member, other_side, its_stream, is_to_symbol)                            \
    static bool name(struct mmio *c, struct mmio_call *k)                                          \
    {                                                                                              \
        return copy_symbol(c, k,                                                                   \
                           (struct symbol_copy){.shadow = k->request.member.symbol,                \
                                                .offset = k->request.member.offset,                \
                                                .other = k->request.member.other_side,             \
                                                .bytes = k->request.member.size,                   \
                                                .stream = its_stream,                              \
                                                .direction = k->request.member.direction,          \
                                                .to_symbol = is_to_symbol});                       \
    }
COPY_SYMBOL(copy_to_symbol, memcpy_to_symbol, source, 0, true)
COPY_SYMBOL(copy_to_symbol_async, memcpy_to_symbol_async, source,
            k->request.memcpy_to_symbol_async.stream, true)
COPY_SYMBOL(copy_from_symbol, memcpy_from_symbol, destination, 0, false)
COPY_SYMBOL(copy_from_symbol_async, memcpy_from_symbol_async, destination,
            k->request.memcpy_from_symbol_async.stream, false)
#undef COPY_SYMBOL
