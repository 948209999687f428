/* What each call does: a table of functions. Included by mmio.c.
 *
 * A function is called when nothing that it asked for is outstanding. It returns true when the call
 * is over, or belongs to a stream from now on, and false when it has asked the driver for something
 * (`step` says how far it is) or wants to be tried again. */
#ifndef HEDDLE_MMIO_EXECUTE_H
#define HEDDLE_MMIO_EXECUTE_H

#include "mmio_module.h"

static uint32_t slot_of(const struct mmio *c, const struct mmio_call *k)
{
    return (uint32_t)(k - call_at(c, 0));
}

static bool end(struct mmio *c, struct mmio_call *k, int32_t error)
{
    call_end(c, k, error);
    return true;
}

static bool end_blocked(struct mmio *c, struct mmio_call *k)
{
    uint32_t sequence = k->answer.sequence;
    uint16_t call = k->answer.call;
    memset(&k->answer, 0, sizeof k->answer);
    k->answer.sequence = sequence;
    k->answer.call = call;
    k->answer.state = API_STATE_BLOCKED;
    c->io.stats.blocked++;
    return end(c, k, MMIO_SUCCESS);
}

static struct mmio_post *ask(struct mmio *c, struct mmio_call *k,
                             enum device_call_request_kind kind)
{
    k->step++;
    k->pending++;
    return post_driver(c, OWNER_STEP, slot_of(c, k), kind);
}

static uint32_t device_of(const struct mmio *c, const struct mmio_call *k)
{
    return thread_of(c, k->request.thread)->device;
}

#include "mmio_calls.h"

/* ---- memory ---- */

static bool allocate(struct mmio *c, struct mmio_call *k)
{
    if (k->step == 0) {
        struct mmio_post *post = ask(c, k, DEVICE_CALL_ALLOCATE);
        post->size = k->request.malloc.size;
        post->device = device_of(c, k);
        return false;
    }
    k->answer.malloc.address = k->status ? 0 : k->value;
    return end(c, k, error_of(k->status));
}

static bool release(struct mmio *c, struct mmio_call *k)
{
    if (!k->request.free.address)
        return end(c, k, MMIO_SUCCESS);
    if (k->step == 0 && streams_of(c)->pending)
        return false; /* what was asked for before may use it */
    if (k->step == 0) {
        ask(c, k, DEVICE_CALL_RELEASE)->address = k->request.free.address;
        return false;
    }
    return end(c, k, error_of(k->status));
}

static bool memory_info(struct mmio *c, struct mmio_call *k)
{
    if (k->step == 0) {
        ask(c, k, DEVICE_CALL_ROOM)->device = device_of(c, k);
        return false;
    }
    k->answer.memory_info.free_bytes = k->value;
    k->answer.memory_info.total_bytes = info_of(c, device_of(c, k))->memory_bytes;
    return end(c, k, error_of(k->status));
}

static bool in_window(uint64_t address)
{
    return address - DEVICE_CALL_WINDOW_BASE < DEVICE_CALL_WINDOW_BYTES;
}

static bool copy(struct mmio *c, struct mmio_call *k, uint64_t stream, uint64_t to, uint64_t from,
                 uint64_t size, uint32_t direction)
{
    static const uint8_t kinds[] = {[API_DIRECTION_HOST_TO_HOST] = OPERATION_HOST,
                                    [API_DIRECTION_HOST_TO_DEVICE] = OPERATION_WRITE,
                                    [API_DIRECTION_DEVICE_TO_HOST] = OPERATION_READ,
                                    [API_DIRECTION_DEVICE_TO_DEVICE] = OPERATION_COPY};
    if (direction == API_DIRECTION_BY_ADDRESS)
        direction = (in_window(from) ? 2u : 0u) + (in_window(to) ? 1u : 0u);
    return issue(
        c, k, stream,
        (struct mmio_operation){.kind = kinds[direction], .to = to, .from = from, .size = size});
}

static bool copy_memory(struct mmio *c, struct mmio_call *k)
{
    return copy(c, k, 0, k->request.memcpy.destination, k->request.memcpy.source,
                k->request.memcpy.size, k->request.memcpy.direction);
}

static bool copy_memory_async(struct mmio *c, struct mmio_call *k)
{
    return copy(c, k, k->request.memcpy_async.stream, k->request.memcpy_async.destination,
                k->request.memcpy_async.source, k->request.memcpy_async.size,
                k->request.memcpy_async.direction);
}

static bool copy_peer(struct mmio *c, struct mmio_call *k)
{
    return copy(c, k, 0, k->request.memcpy_peer.destination, k->request.memcpy_peer.source,
                k->request.memcpy_peer.size, API_DIRECTION_DEVICE_TO_DEVICE);
}

static bool copy_peer_async(struct mmio *c, struct mmio_call *k)
{
    return copy(c, k, k->request.memcpy_peer_async.stream, k->request.memcpy_peer_async.destination,
                k->request.memcpy_peer_async.source, k->request.memcpy_peer_async.size,
                API_DIRECTION_DEVICE_TO_DEVICE);
}

static bool fill(struct mmio *c, struct mmio_call *k, uint64_t stream, uint64_t address,
                 uint32_t value, uint8_t width, uint64_t count)
{
    if (width != 1 && width != 2 && width != 4)
        return end(c, k, MMIO_INVALID_VALUE);
    return issue(c, k, stream,
                 (struct mmio_operation){.kind = OPERATION_FILL,
                                         .to = address,
                                         .pattern = value,
                                         .width = width,
                                         .size = count});
}

static bool set_memory(struct mmio *c, struct mmio_call *k)
{
    return fill(c, k, 0, k->request.memset.address, k->request.memset.value,
                k->request.memset.width, k->request.memset.count);
}

static bool set_memory_async(struct mmio *c, struct mmio_call *k)
{
    return fill(c, k, k->request.memset_async.stream, k->request.memset_async.address,
                k->request.memset_async.value, k->request.memset_async.width,
                k->request.memset_async.count);
}

/* ---- code objects, functions, variables ---- */

static bool register_module(struct mmio *c, struct mmio_call *k)
{
    enum { FETCH, READ, PLACE };
    uint64_t size = k->request.register_module.size;
    int32_t error;
    if (k->step == FETCH) {
        for (k->index = 0; k->index < MMIO_MODULES && mmio_modules[k->index].used;)
            k->index++;
        if (!size || size > MMIO_CODE_MOST || k->index == MMIO_MODULES)
            return end(c, k, size > MMIO_CODE_MOST ? MMIO_OUT_OF_MEMORY : MMIO_INVALID_VALUE);
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
        *module = (struct mmio_module){.used = true};
        error = blob->status == PACKET_DMA_REFUSED
                    ? MMIO_INVALID_VALUE
                    : module_read(c, module, blob->bytes, size, device_of(c, k));
        blob_free(k->work);
        k->work = BLOB_NONE;
        if (error) {
            code_object_release(&module->object);
            module->used = false;
            return end(c, k, error);
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
    return end(c, k, error);
}

/* Takes it from all devices, one after the other. */
static bool unregister_module(struct mmio *c, struct mmio_call *k)
{
    uint32_t number = module_of_handle(k->request.unregister_module.module);
    if (number == MMIO_NONE)
        return end(c, k, MMIO_INVALID_HANDLE);
    if (streams_of(c)->pending)
        return false;
    struct mmio_module *module = &mmio_modules[number];
    for (; k->index < c->device_count; k->index++) {
        uint64_t base = module->base[k->index];
        if (!base)
            continue;
        bool first = k->step % 2 == 0;
        ask(c, k, first ? DEVICE_CALL_FORGET : DEVICE_CALL_RELEASE)->address = base;
        k->index += !first;
        return false;
    }
    code_object_release(&module->object);
    names_forget(function_at(c, 0), number);
    names_forget(variable_at(c, 0), number);
    module->used = false;
    return end(c, k, MMIO_SUCCESS);
}

static bool register_function(struct mmio *c, struct mmio_call *k)
{
    uint32_t number = module_of_handle(k->request.register_function.module);
    if (number == MMIO_NONE)
        return end(c, k, MMIO_INVALID_HANDLE);
    const struct code_object *object = &mmio_modules[number].object;
    const struct code_object_kernel *kernel =
        code_object_find_kernel(object, k->request.register_function.name);
    struct mmio_name *name = name_place(function_at(c, 0), k->request.register_function.function);
    if (!kernel || !name)
        return end(c, k, kernel ? MMIO_OUT_OF_MEMORY : MMIO_INVALID_FUNCTION);
    *name = (struct mmio_name){.used = true,
                               .module = number,
                               .index = (uint32_t)(kernel - object->kernels),
                               .address = k->request.register_function.function};
    return end(c, k, MMIO_SUCCESS);
}

static bool register_variable(struct mmio *c, struct mmio_call *k)
{
    uint32_t number = module_of_handle(k->request.register_variable.module);
    if (number == MMIO_NONE)
        return end(c, k, MMIO_INVALID_HANDLE);
    const struct code_object *object = &mmio_modules[number].object;
    const struct code_object_symbol *symbol =
        code_object_find_symbol(object, k->request.register_variable.name);
    struct mmio_name *name = name_place(variable_at(c, 0), k->request.register_variable.symbol);
    if (!symbol || !symbol->is_variable || !name)
        return end(c, k, name ? MMIO_INVALID_SYMBOL : MMIO_OUT_OF_MEMORY);
    *name = (struct mmio_name){.used = true,
                               .module = number,
                               .index = (uint32_t)(symbol - object->symbols),
                               .address = k->request.register_variable.symbol};
    return end(c, k, MMIO_SUCCESS);
}

/* Where the variable is on the current device; places its module there if need be. false: not yet.
 */
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
    int32_t error;
    return find_variable(c, k, k->request.get_symbol.symbol, &k->answer.get_symbol.address,
                         &k->answer.get_symbol.size, &error)
           && end(c, k, error);
}

/* A copy whose device side is a variable. */
static bool copy_symbol(struct mmio *c, struct mmio_call *k, uint64_t shadow, uint64_t other,
                        uint64_t offset, uint64_t bytes, uint32_t direction, uint64_t stream,
                        bool to)
{
    uint64_t address = 0, size = 0;
    int32_t error;
    if (!find_variable(c, k, shadow, &address, &size, &error))
        return false;
    if (!error && (offset > size || bytes > size - offset))
        error = MMIO_INVALID_VALUE;
    if (!error && direction == API_DIRECTION_BY_ADDRESS)
        direction = in_window(other) ? API_DIRECTION_DEVICE_TO_DEVICE
                    : to             ? API_DIRECTION_HOST_TO_DEVICE
                                     : API_DIRECTION_DEVICE_TO_HOST;
    uint32_t wrong = to ? API_DIRECTION_DEVICE_TO_HOST : API_DIRECTION_HOST_TO_DEVICE;
    if (!error && (direction == API_DIRECTION_HOST_TO_HOST || direction == wrong))
        error = MMIO_INVALID_DIRECTION;
    if (error)
        return end(c, k, error);
    return copy(c, k, stream, to ? address + offset : other, to ? other : address + offset, bytes,
                direction);
}

#define COPY_SYMBOL(name, member, other, stream, to)                                               \
    static bool name(struct mmio *c, struct mmio_call *k)                                          \
    {                                                                                              \
        return copy_symbol(c, k, k->request.member.symbol, k->request.member.other,                \
                           k->request.member.offset, k->request.member.size,                       \
                           k->request.member.direction, stream, to);                               \
    }
COPY_SYMBOL(to_symbol, memcpy_to_symbol, source, 0, true)
COPY_SYMBOL(to_symbol_async, memcpy_to_symbol_async, source,
            k->request.memcpy_to_symbol_async.stream, true)
COPY_SYMBOL(from_symbol, memcpy_from_symbol, destination, 0, false)
COPY_SYMBOL(from_symbol_async, memcpy_from_symbol_async, destination,
            k->request.memcpy_from_symbol_async.stream, false)
#undef COPY_SYMBOL

#include "mmio_launch.h"

#include "mmio_devices.h"

#endif
