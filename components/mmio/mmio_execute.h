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

/* ---- streams ---- */

static bool stream_exists(const struct mmio *c, uint64_t stream)
{
    return stream < API_STREAM_COUNT && c->streams[stream].used;
}

/* The driver's queue for work of the call in a stream; the default stream has one on each device.
 */
static uint32_t queue_of(const struct mmio *c, const struct mmio_call *k, uint64_t stream)
{
    return stream ? c->streams[stream].queue : device_of(c, k);
}

static uint32_t device_of_stream(const struct mmio *c, const struct mmio_call *k, uint64_t stream)
{
    return stream ? c->streams[stream].device : device_of(c, k);
}

/* The call becomes an operation, or is blocked. */
static bool issue(struct mmio *c, struct mmio_call *k, uint64_t stream,
                  struct mmio_operation operation)
{
    uint32_t number = operation_new(c);
    if (!stream_exists(c, stream))
        return end(c, k, MMIO_INVALID_HANDLE);
    struct api_stream_point point = {0};
    if (operation.kind == OPERATION_WAIT)
        point = event_at(c, operation.event)->point;
    enum api_stream_verdict verdict =
        number == MMIO_NONE ? API_STREAM_BLOCKED
                            : api_stream_issue(streams_of(c), (enum api_call)k->request.call,
                                               (uint16_t)stream, number, point);
    if (verdict == API_STREAM_BLOCKED) {
        if (operation.blob != BLOB_NONE)
            blob_free(operation.blob);
        return end_blocked(c, k);
    }
    operation.stream = (uint16_t)stream;
    operation.queue = queue_of(c, k, stream);
    operation.thread = k->request.thread;
    operation.call = verdict == API_STREAM_LATER ? slot_of(c, k) : MMIO_NONE;
    *operation_at(c, number) = operation;
    if (operation.kind == OPERATION_RECORD) {
        struct mmio_event *event = event_at(c, operation.event);
        *event = (struct mmio_event){.used = true,
                                     .recorded = true,
                                     .point = api_stream_now(streams_of(c), (uint16_t)stream)};
    }
    if (verdict == API_STREAM_NOW)
        return end(c, k, MMIO_SUCCESS);
    k->phase = PHASE_WAITING;
    return true;
}

static bool wait_for(struct mmio *c, struct mmio_call *k, uint64_t stream,
                     struct api_stream_point point)
{
    if (!stream_exists(c, stream))
        return end(c, k, MMIO_INVALID_HANDLE);
    enum api_stream_verdict verdict =
        api_stream_issue(streams_of(c), (enum api_call)k->request.call, (uint16_t)stream,
                         MMIO_OPERATIONS + slot_of(c, k), point);
    if (verdict == API_STREAM_BLOCKED)
        return end_blocked(c, k);
    if (verdict == API_STREAM_NOW)
        return end(c, k, MMIO_SUCCESS);
    k->phase = PHASE_WAITING;
    return true;
}

static bool device_synchronize(struct mmio *c, struct mmio_call *k)
{
    return wait_for(c, k, 0, (struct api_stream_point){0});
}

static bool stream_synchronize(struct mmio *c, struct mmio_call *k)
{
    return wait_for(c, k, k->request.stream_synchronize.stream, (struct api_stream_point){0});
}

static bool create_stream(struct mmio *c, struct mmio_call *k, uint64_t *handle)
{
    uint32_t i = 1;
    while (i < API_STREAM_COUNT && c->streams[i].used)
        i++;
    if (i == API_STREAM_COUNT)
        return end(c, k, MMIO_OUT_OF_MEMORY);
    if (k->step == 0) {
        ask(c, k, DEVICE_CALL_OPEN)->device = device_of(c, k);
        return false;
    }
    if (k->status)
        return end(c, k, error_of(k->status));
    c->streams[i] =
        (struct mmio_stream){.used = true, .device = device_of(c, k), .queue = (uint32_t)k->value};
    *handle = i;
    return end(c, k, MMIO_SUCCESS);
}

static bool stream_create(struct mmio *c, struct mmio_call *k)
{
    return create_stream(c, k, &k->answer.stream_create.stream);
}

static bool stream_create_with_flags(struct mmio *c, struct mmio_call *k)
{
    return create_stream(c, k, &k->answer.stream_create_with_flags.stream);
}

/* Waits until the stream is empty. */
static bool stream_destroy(struct mmio *c, struct mmio_call *k)
{
    uint64_t stream = k->request.stream_destroy.stream;
    if (!stream || !stream_exists(c, stream))
        return end(c, k, MMIO_INVALID_HANDLE);
    if (streams_of(c)->head[stream] != API_STREAM_NONE)
        return false;
    if (k->step == 0) {
        ask(c, k, DEVICE_CALL_CLOSE)->device = c->streams[stream].queue;
        return false;
    }
    c->streams[stream].used = false;
    return end(c, k, error_of(k->status));
}

static bool stream_query(struct mmio *c, struct mmio_call *k)
{
    uint64_t stream = k->request.stream_query.stream;
    if (!stream_exists(c, stream))
        return end(c, k, MMIO_INVALID_HANDLE);
    bool empty = streams_of(c)->head[stream] == API_STREAM_NONE;
    call_end(c, k, MMIO_SUCCESS);
    k->answer.error = empty ? MMIO_SUCCESS : MMIO_NOT_READY; /* no mistake: not remembered */
    return true;
}

/* ---- events: handles from 1 ---- */

static struct mmio_event *event_of(const struct mmio *c, uint64_t handle)
{
    bool good = handle >= 1 && handle <= MMIO_EVENTS && event_at(c, (uint32_t)handle - 1)->used;
    return good ? event_at(c, (uint32_t)handle - 1) : NULL;
}

static bool create_event(struct mmio *c, struct mmio_call *k, uint64_t *handle)
{
    uint32_t i = 0;
    while (i < MMIO_EVENTS && event_at(c, i)->used)
        i++;
    if (i == MMIO_EVENTS)
        return end(c, k, MMIO_OUT_OF_MEMORY);
    *event_at(c, i) = (struct mmio_event){.used = true};
    *handle = i + 1;
    return end(c, k, MMIO_SUCCESS);
}

static bool event_create(struct mmio *c, struct mmio_call *k)
{
    return create_event(c, k, &k->answer.event_create.event);
}

static bool event_create_with_flags(struct mmio *c, struct mmio_call *k)
{
    return create_event(c, k, &k->answer.event_create_with_flags.event);
}

static bool event_destroy(struct mmio *c, struct mmio_call *k)
{
    struct mmio_event *event = event_of(c, k->request.event_destroy.event);
    if (!event)
        return end(c, k, MMIO_INVALID_HANDLE);
    if (event->recorded && !event->happened && !api_stream_passed(streams_of(c), &event->point))
        return false; /* its record is still to come */
    event->used = false;
    return end(c, k, MMIO_SUCCESS);
}

static bool event_record(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_event *event = event_of(c, k->request.event_record.event);
    if (!event)
        return end(c, k, MMIO_INVALID_HANDLE);
    return issue(c, k, k->request.event_record.stream,
                 (struct mmio_operation){.kind = OPERATION_RECORD,
                                         .event = (uint32_t)k->request.event_record.event - 1});
}

static bool stream_wait_event(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_event *event = event_of(c, k->request.stream_wait_event.event);
    if (!event)
        return end(c, k, MMIO_INVALID_HANDLE);
    if (k->request.stream_wait_event.flags)
        return end(c, k, MMIO_INVALID_VALUE);
    return issue(
        c, k, k->request.stream_wait_event.stream,
        (struct mmio_operation){.kind = OPERATION_WAIT,
                                .event = (uint32_t)k->request.stream_wait_event.event - 1});
}

static bool event_synchronize(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_event *event = event_of(c, k->request.event_synchronize.event);
    return event ? wait_for(c, k, 0, event->point) : end(c, k, MMIO_INVALID_HANDLE);
}

static bool event_query(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_event *event = event_of(c, k->request.event_query.event);
    if (!event)
        return end(c, k, MMIO_INVALID_HANDLE);
    bool over = !event->recorded || event->happened;
    call_end(c, k, MMIO_SUCCESS);
    k->answer.error = over ? MMIO_SUCCESS : MMIO_NOT_READY;
    return true;
}

static bool event_elapsed_time(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_event *from = event_of(c, k->request.event_elapsed_time.start);
    const struct mmio_event *to = event_of(c, k->request.event_elapsed_time.stop);
    if (!from || !to || !from->recorded || !to->recorded)
        return end(c, k, MMIO_INVALID_HANDLE);
    if (!from->happened || !to->happened)
        return end(c, k, MMIO_NOT_READY);
    /* Picoseconds are exact; one division makes milliseconds of them, the same everywhere. */
    int64_t ps = (int64_t)(to->time_ps - from->time_ps);
    k->answer.event_elapsed_time.milliseconds = (float)((double)ps / 1e9);
    return end(c, k, MMIO_SUCCESS);
}

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

/* ---- launches ---- */

static bool configure_call(struct mmio *c, struct mmio_call *k)
{
    struct mmio_thread *t = thread_of(c, k->request.thread);
    t->configured = true;
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
    return end(c, k, MMIO_SUCCESS);
}

static bool set_argument(struct mmio *c, struct mmio_call *k)
{
    struct mmio_thread *t = thread_of(c, k->request.thread);
    uint32_t offset = k->request.set_argument.offset, size = k->request.set_argument.size;
    if (!t->configured)
        return end(c, k, MMIO_MISSING_CONFIGURATION);
    if (!size || size > sizeof k->request.set_argument.value || offset > MMIO_ARGUMENTS - size)
        return end(c, k, MMIO_INVALID_VALUE);
    memcpy(t->arguments + offset, k->request.set_argument.value, size);
    if (offset + size > t->argument_bytes)
        t->argument_bytes = offset + size;
    return end(c, k, MMIO_SUCCESS);
}

static bool good_geometry(const struct mmio *c, const struct mmio_thread *t,
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
    bool gfx8 = strncmp(info_of(c, device)->isa, "gfx8", 4) == 0;
    struct kernarg_geometry g = {
        .dynamic_lds_bytes = t->shared,
        .shared_aperture = (uint64_t)(gfx8 ? WORK_SHARED_APERTURE_GFX8 : WORK_SHARED_APERTURE_GFX9)
                           << 32,
        .private_aperture =
            (uint64_t)(gfx8 ? WORK_PRIVATE_APERTURE_GFX8 : WORK_PRIVATE_APERTURE_GFX9) << 32,
    };
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
    size_t at = (sizeof(struct driver_launch) + 15) / 16 * 16;
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
        .kernel_object = module->base[device] + kernel->descriptor_address,
        .group_bytes = kernel->group_size + t->shared,
        .private_bytes = kernel->private_size,
        .kernarg = blob->bytes + at,
        .kernarg_bytes = (uint32_t)arguments,
        .kernarg_align = kernel->kernarg_align,
    };
    kernarg_make_descriptor(&module->object, kernel, launch->descriptor);
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = geometry.grid[i];
        launch->block[i] = (uint16_t)geometry.block[i];
    }
    return blob->number;
}

static bool launch(struct mmio *c, struct mmio_call *k)
{
    struct mmio_thread *t = thread_of(c, k->request.thread);
    const struct mmio_name *function = name_find(function_at(c, 0), k->request.launch.function);
    int32_t error = MMIO_SUCCESS;
    if (!t->configured || !stream_exists(c, t->stream))
        return end(c, k, t->configured ? MMIO_INVALID_HANDLE : MMIO_MISSING_CONFIGURATION);
    if (!api_stream_may_issue(streams_of(c), API_CALL_LAUNCH, (uint16_t)t->stream))
        return end_blocked(c, k); /* the configuration stays for the next attempt */
    uint32_t device = device_of_stream(c, k, t->stream);
    if (!function)
        error = MMIO_INVALID_FUNCTION;
    else if (!good_geometry(c, t, kernel_of(function), device))
        error = MMIO_INVALID_CONFIGURATION;
    if (!error && !module_place(c, k, function->module, device, &error)) {
        k->pending++;
        return false;
    }
    uint32_t blob = error ? BLOB_NONE : make_launch(c, function, t, device);
    if (!error && blob == BLOB_NONE)
        error = MMIO_INVALID_VALUE;
    if (error) {
        t->configured = false;
        return end(c, k, error);
    }
    bool over =
        issue(c, k, t->stream, (struct mmio_operation){.kind = OPERATION_LAUNCH, .blob = blob});
    if (k->answer.state != API_STATE_BLOCKED)
        t->configured = false;
    return over;
}

static bool max_blocks(struct mmio *c, struct mmio_call *k)
{
    const struct mmio_name *function = name_find(function_at(c, 0), k->request.max_blocks.function);
    const struct driver_device_info *info = info_of(c, device_of(c, k));
    if (!function)
        return end(c, k, MMIO_INVALID_FUNCTION);
    const struct code_object_kernel *kernel = kernel_of(function);
    uint32_t waves = (k->request.max_blocks.block_size + 63) / 64;
    if (!waves || k->request.max_blocks.block_size > info->max_work_group)
        return end(c, k, MMIO_INVALID_VALUE);
    uint32_t simd = info->wavefronts_per_simd;
    if (kernel->vgpr_count && info->vgprs_per_simd / kernel->vgpr_count < simd)
        simd = info->vgprs_per_simd / kernel->vgpr_count;
    if (kernel->sgpr_count && info->sgprs_per_simd / kernel->sgpr_count < simd)
        simd = info->sgprs_per_simd / kernel->sgpr_count;
    uint64_t blocks = simd * info->simds_per_cu / waves;
    uint64_t lds = kernel->group_size + k->request.max_blocks.shared_bytes;
    if (lds && info->lds_bytes_per_cu / lds < blocks)
        blocks = info->lds_bytes_per_cu / lds;
    if (info->work_groups_per_cu < blocks)
        blocks = info->work_groups_per_cu;
    k->answer.max_blocks.blocks = (uint32_t)blocks;
    return end(c, k, MMIO_SUCCESS);
}

#include "mmio_devices.h"

#endif
