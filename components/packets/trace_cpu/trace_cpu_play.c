/* Plays the lines of a trace: for each kind a function that is called whenever nothing is
 * under way, and begins the next thing (`stage` counts them) or returns true when the line is over.
 */
#include "base/number.h"

#include "trace_cpu_state.h"

enum { QUERY_NOT_READY = 600 /* hipErrorNotReady */ };

/* ---- lines that are one packet ---- */

static void make_packet(struct trace_cpu *c, const struct api_trace_call *call)
{
    uint64_t event = name_value(&c->events, call->event);
    struct api_request *r = &c->request;
    switch (call->kind) {
    case API_TRACE_MALLOC:
        packet_begin(c, API_CALL_MALLOC)->malloc.size = call->size;
        break;
    case API_TRACE_MALLOC_MANAGED:
        packet_begin(c, API_CALL_MALLOC_MANAGED)->malloc_managed.size = call->size;
        r->malloc_managed.flags = call->flags;
        break;
    case API_TRACE_FREE:
        packet_begin(c, API_CALL_FREE)->free.address = name_value(&c->memory, call->to.allocation);
        break;
    case API_TRACE_PREFETCH:
        packet_begin(c, API_CALL_MEM_PREFETCH)->mem_prefetch.address = address_of(c, &call->to);
        r->mem_prefetch.size = call->size;
        r->mem_prefetch.device = call->device;
        r->mem_prefetch.stream = stream_of(c, call);
        break;
    case API_TRACE_MODULE_UNLOAD:
        packet_begin(c, API_CALL_UNREGISTER_MODULE)->unregister_module.module =
            name_value(&c->code, call->module);
        break;
    case API_TRACE_SET_DEVICE:
        packet_begin(c, API_CALL_SET_DEVICE)->set_device.device = call->device;
        break;
    case API_TRACE_STREAM_CREATE:
        packet_begin(c, API_CALL_STREAM_CREATE_WITH_FLAGS)->stream_create_with_flags.flags =
            call->flags;
        break;
    case API_TRACE_STREAM_DESTROY:
        packet_begin(c, API_CALL_STREAM_DESTROY)->stream_destroy.stream = stream_of(c, call);
        break;
    case API_TRACE_STREAM_WAIT_EVENT:
        packet_begin(c, API_CALL_STREAM_WAIT_EVENT)->stream_wait_event.event = event;
        r->stream_wait_event.stream = stream_of(c, call);
        break;
    case API_TRACE_EVENT_CREATE:
        packet_begin(c, API_CALL_EVENT_CREATE_WITH_FLAGS)->event_create_with_flags.flags =
            call->flags;
        break;
    case API_TRACE_EVENT_DESTROY:
        packet_begin(c, API_CALL_EVENT_DESTROY)->event_destroy.event = event;
        break;
    case API_TRACE_EVENT_SYNCHRONIZE:
        packet_begin(c, API_CALL_EVENT_SYNCHRONIZE)->event_synchronize.event = event;
        break;
    default:
        packet_begin(c, API_CALL_EVENT_RECORD)->event_record.event = event;
        r->event_record.stream = stream_of(c, call);
    }
}

/* Notes the object that the answer brings or ends. Returns the name of the call for messages. */
static const char *read_packet(struct trace_cpu *c, const struct api_trace_call *call)
{
    switch (call->kind) {
    case API_TRACE_MALLOC:
        name_set(&c->memory, call->to.allocation, c->answer.malloc.address);
        return "hipMalloc";
    case API_TRACE_MALLOC_MANAGED:
        name_set(&c->memory, call->to.allocation, c->answer.malloc_managed.address);
        return "hipMallocManaged";
    case API_TRACE_FREE:
        name_set(&c->memory, call->to.allocation, 0);
        return "hipFree";
    case API_TRACE_PREFETCH:
        return "hipMemPrefetchAsync";
    case API_TRACE_MODULE_UNLOAD:
        name_set(&c->code, call->module, 0);
        return "hipModuleUnload";
    case API_TRACE_SET_DEVICE:
        return "hipSetDevice";
    case API_TRACE_STREAM_CREATE:
        name_set(&c->streams, call->stream, c->answer.stream_create_with_flags.stream);
        return "hipStreamCreate";
    case API_TRACE_STREAM_DESTROY:
        name_set(&c->streams, call->stream, 0);
        return "hipStreamDestroy";
    case API_TRACE_STREAM_WAIT_EVENT:
        return "hipStreamWaitEvent";
    case API_TRACE_EVENT_CREATE:
        name_set(&c->events, call->event, c->answer.event_create_with_flags.event);
        return "the call about an event";
    default:
        return "the call about an event";
    }
}

static bool play_packet(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (c->stage++ > 0)
        return check_call(c, read_packet(c, call));
    make_packet(c, call);
    packet_write(c);
    return false;
}

/* ---- copies ---- */

/* The packet of a copy whose sides are known. */
static void send_copy(struct trace_cpu *c, const struct api_trace_call *call, uint64_t to,
                      uint64_t from, enum api_direction direction)
{
    if (call->is_async) {
        struct api_request *r = packet_begin(c, API_CALL_MEMCPY_ASYNC);
        r->memcpy_async.destination = to;
        r->memcpy_async.source = from;
        r->memcpy_async.size = call->size;
        r->memcpy_async.direction = (uint16_t)direction;
        r->memcpy_async.stream = stream_of(c, call);
    } else {
        struct api_request *r = packet_begin(c, API_CALL_MEMCPY);
        r->memcpy.destination = to;
        r->memcpy.source = from;
        r->memcpy.size = call->size;
        r->memcpy.direction = (uint16_t)direction;
    }
    packet_write(c);
}

/* Sends a packet for each row. False: some are not answered yet. */
static bool copy_rows(struct trace_cpu *c, const struct api_trace_call *call, struct cpu_rows to,
                      struct cpu_rows from, enum api_direction direction)
{
    if (c->item > 0 && !check_call(c, "the copy"))
        return false;
    if (c->item == api_trace_rows(call))
        return true;
    send_copy(c, call, to.first + c->item * to.pitch, from.first + c->item * from.pitch, direction);
    c->item++;
    return false;
}

static void send_symbol_copy(struct trace_cpu *c, const struct api_trace_call *call,
                             uint32_t number, uint64_t host, bool to)
{
    uint64_t shadow = CPU_SHADOW + (uint64_t)number * CPU_STUB_STEP;
    if (to) {
        struct api_request *r = packet_begin(c, API_CALL_MEMCPY_TO_SYMBOL);
        r->memcpy_to_symbol.symbol = shadow;
        r->memcpy_to_symbol.source = host;
        r->memcpy_to_symbol.size = call->size;
        r->memcpy_to_symbol.offset = call->offset;
        r->memcpy_to_symbol.direction = API_DIRECTION_HOST_TO_DEVICE;
    } else {
        struct api_request *r = packet_begin(c, API_CALL_MEMCPY_FROM_SYMBOL);
        r->memcpy_from_symbol.destination = host;
        r->memcpy_from_symbol.symbol = shadow;
        r->memcpy_from_symbol.size = call->size;
        r->memcpy_from_symbol.offset = call->offset;
        r->memcpy_from_symbol.direction = API_DIRECTION_DEVICE_TO_HOST;
    }
    packet_write(c);
}

static bool play_to_device(struct trace_cpu *c, const struct api_trace_call *call)
{
    enum { NAME, FILL, COPY, ROWS, END };
    uint64_t address;
    uint32_t number = 0;
    bool symbol = call->kind == API_TRACE_SYMBOL_TO_DEVICE;
    switch (c->stage) {
    case NAME:
        if (symbol && !find_name(c, call->name, 0, false, &number))
            return false;
        c->stage = FILL;
        return false;
    case FILL:
        if (!allocate_bytes(c, api_trace_bytes(call), &address)
            || !read_file(c, call->file, api_trace_bytes(call)))
            return false;
        move_begin(c, true, address, blob_at(c->bytes)->bytes, api_trace_bytes(call));
        c->phase = CPU_MOVE;
        c->stage = COPY;
        return false;
    case COPY:
        release_file(c);
        if (symbol) {
            number = text_find(c->symbols, c->symbol_count, call->name, 0);
            send_symbol_copy(c, call, number, c->mover.address, true);
            c->stage = END;
            return false;
        }
        c->copy_address = c->mover.address;
        c->stage = ROWS;
        return false;
    case ROWS:
        return copy_rows(c, call, (struct cpu_rows){address_of(c, &call->to), call->pitch},
                         (struct cpu_rows){c->copy_address, call->size},
                         API_DIRECTION_HOST_TO_DEVICE);
    default:
        return check_call(c, "the copy");
    }
}

static bool play_from_device(struct trace_cpu *c, const struct api_trace_call *call)
{
    enum { NAME, COPY, ROWS, END };
    uint64_t address;
    uint32_t number = 0;
    bool symbol = call->kind == API_TRACE_SYMBOL_FROM_DEVICE;
    switch (c->stage) {
    case NAME:
        if (symbol && !find_name(c, call->name, 0, false, &number))
            return false;
        c->stage = COPY;
        return false;
    case COPY:
        if (!allocate_bytes(c, api_trace_bytes(call), &address))
            return false;
        check_add(c, call, address, api_trace_bytes(call), 0);
        if (symbol) {
            number = text_find(c->symbols, c->symbol_count, call->name, 0);
            send_symbol_copy(c, call, number, address, false);
            c->stage = END;
            return false;
        }
        c->copy_address = address;
        c->stage = ROWS;
        return false;
    case ROWS:
        return copy_rows(c, call, (struct cpu_rows){c->copy_address, call->size},
                         (struct cpu_rows){address_of(c, &call->from), call->pitch},
                         API_DIRECTION_DEVICE_TO_HOST)
               && (call->is_async || compare_copies(c));
    default:
        return check_call(c, "the copy") && (call->is_async || compare_copies(c));
    }
}

static bool play_on_device(struct trace_cpu *c, const struct api_trace_call *call)
{
    return copy_rows(c, call, (struct cpu_rows){address_of(c, &call->to), call->pitch},
                     (struct cpu_rows){address_of(c, &call->from), call->from_pitch},
                     API_DIRECTION_DEVICE_TO_DEVICE);
}

static bool play_memset(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (c->item > 0 && !check_call(c, "hipMemset"))
        return false;
    if (c->item == api_trace_rows(call))
        return true;
    uint64_t address = address_of(c, &call->to) + c->item++ * call->pitch;
    if (call->is_async) {
        struct api_request *r = packet_begin(c, API_CALL_MEMSET_ASYNC);
        r->memset_async.address = address;
        r->memset_async.value = call->value;
        r->memset_async.width = (uint8_t)call->width;
        r->memset_async.count = call->size;
        r->memset_async.stream = stream_of(c, call);
    } else {
        struct api_request *r = packet_begin(c, API_CALL_MEMSET);
        r->memset.address = address;
        r->memset.value = call->value;
        r->memset.width = (uint8_t)call->width;
        r->memset.count = call->size;
    }
    packet_write(c);
    return false;
}

static void send_configure_call(struct trace_cpu *c, const struct api_trace_call *call)
{
    struct api_request *r = packet_begin(c, API_CALL_CONFIGURE_CALL);
    r->configure_call.grid_x = call->grid[0];
    r->configure_call.grid_y = call->grid[1];
    r->configure_call.grid_z = call->grid[2];
    r->configure_call.block_x = call->block[0];
    r->configure_call.block_y = call->block[1];
    r->configure_call.block_z = call->block[2];
    r->configure_call.shared_bytes = call->shared_bytes;
    r->configure_call.stream = stream_of(c, call);
    packet_write(c);
}

/* The piece of the arguments that begins at byte `at` of argument `i`. */
static uint32_t send_argument(struct trace_cpu *c, const struct api_trace_argument *a, uint32_t at)
{
    struct api_request *r = packet_begin(c, API_CALL_SET_ARGUMENT);
    uint32_t most = sizeof r->set_argument.value, bytes = min(a->size - at, most);
    uint64_t pointer = a->is_pointer ? address_of(c, &a->pointer) : 0;
    r->set_argument.offset = a->offset + at;
    r->set_argument.size = bytes;
    if (a->is_pointer)
        memcpy(r->set_argument.value, &pointer, sizeof pointer);
    else
        memcpy(r->set_argument.value, a->bytes + at, bytes);
    packet_write(c);
    return bytes;
}

static bool play_launch(struct trace_cpu *c, const struct api_trace_call *call)
{
    enum { NAME, CONFIGURE, ARGUMENTS, LAUNCH, END };
    uint32_t number;
    switch (c->stage) {
    case NAME:
        if (!find_name(c, call->name, call->module, true, &number))
            return false;
        c->stage = CONFIGURE;
        return false;
    case CONFIGURE:
        send_configure_call(c, call);
        c->stage = ARGUMENTS;
        c->item = c->argument_byte = 0;
        return false;
    case ARGUMENTS:
        if (!check_call(c, "setting up the launch"))
            return false;
        if (c->item < call->argument_count) {
            const struct api_trace_argument *a = &call->arguments[c->item];
            c->argument_byte += send_argument(c, a, c->argument_byte);
            if (c->argument_byte == a->size) {
                c->argument_byte = 0;
                c->item++;
            }
            return false;
        }
        c->stage = LAUNCH;
        return false;
    case LAUNCH:
        number = text_find(c->kernels, c->kernel_count, call->name, call->module);
        packet_begin(c, API_CALL_LAUNCH)->launch.function =
            CPU_STUB + (uint64_t)number * CPU_STUB_STEP;
        packet_write(c);
        c->stage = END;
        return false;
    default:
        return check_call(c, "the launch");
    }
}

static bool play_code_object(struct trace_cpu *c, const struct api_trace_call *call)
{
    return register_file(c, call->file);
}

static bool play_module_load(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (!register_file(c, call->file))
        return false;
    name_set(&c->code, call->module, c->answer.register_module.module);
    c->module_count--; /* asked for by its number only */
    return true;
}

/* A recorded query that was answered "done" is repeated until the answer is "done" again. */
static bool play_query(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (c->stage++ > 0) {
        bool ready = c->answer.error == 0;
        if (ready || !call->value)
            return ready || c->answer.error == QUERY_NOT_READY || check_call(c, "the query");
        if (c->answer.error != QUERY_NOT_READY && !check_call(c, "the query"))
            return false;
    }
    if (call->kind == API_TRACE_STREAM_QUERY)
        packet_begin(c, API_CALL_STREAM_QUERY)->stream_query.stream = stream_of(c, call);
    else
        packet_begin(c, API_CALL_EVENT_QUERY)->event_query.event =
            name_value(&c->events, call->event);
    packet_write(c);
    return false;
}

/* Each line has the host thread that calls. */
static bool play_thread(struct trace_cpu *c, const struct api_trace_call *call)
{
    (void)c, (void)call;
    return true;
}

/* Waits for everything, or for a stream; after that, what has been copied is compared. */
static bool play_synchronize(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (c->stage == 0) {
        if (call->kind == API_TRACE_STREAM_SYNCHRONIZE)
            packet_begin(c, API_CALL_STREAM_SYNCHRONIZE)->stream_synchronize.stream =
                stream_of(c, call);
        else
            packet_begin(c, API_CALL_DEVICE_SYNCHRONIZE);
        packet_write(c);
        c->stage = 1;
        return false;
    }
    if (c->stage == 1 && !check_call(c, "the synchronisation"))
        return false;
    c->stage = 2;
    return call->kind != API_TRACE_DEVICE_SYNCHRONIZE || compare_copies(c);
}

static bool (*const players[])(struct trace_cpu *, const struct api_trace_call *) = {
    [API_TRACE_MALLOC] = play_packet,
    [API_TRACE_FREE] = play_packet,
    [API_TRACE_COPY_TO_DEVICE] = play_to_device,
    [API_TRACE_COPY_FROM_DEVICE] = play_from_device,
    [API_TRACE_COPY_ON_DEVICE] = play_on_device,
    [API_TRACE_SYMBOL_TO_DEVICE] = play_to_device,
    [API_TRACE_SYMBOL_FROM_DEVICE] = play_from_device,
    [API_TRACE_MEMSET] = play_memset,
    [API_TRACE_LAUNCH] = play_launch,
    [API_TRACE_CODE_OBJECT] = play_code_object,
    [API_TRACE_SET_DEVICE] = play_packet,
    [API_TRACE_DEVICE_SYNCHRONIZE] = play_synchronize,
    [API_TRACE_STREAM_CREATE] = play_packet,
    [API_TRACE_STREAM_DESTROY] = play_packet,
    [API_TRACE_STREAM_SYNCHRONIZE] = play_synchronize,
    [API_TRACE_STREAM_WAIT_EVENT] = play_packet,
    [API_TRACE_EVENT_CREATE] = play_packet,
    [API_TRACE_EVENT_DESTROY] = play_packet,
    [API_TRACE_EVENT_RECORD] = play_packet,
    [API_TRACE_EVENT_SYNCHRONIZE] = play_packet,
    [API_TRACE_STREAM_QUERY] = play_query,
    [API_TRACE_EVENT_QUERY] = play_query,
    [API_TRACE_MODULE_LOAD] = play_module_load,
    [API_TRACE_MODULE_UNLOAD] = play_packet,
    [API_TRACE_MALLOC_MANAGED] = play_packet,
    [API_TRACE_PREFETCH] = play_packet,
    [API_TRACE_HOST_MAP] = play_host_map,
    [API_TRACE_HOST_MALLOC] = play_host_malloc,
    [API_TRACE_HOST_FREE] = play_host_free,
    [API_TRACE_HOST_REGISTER] = play_host_malloc,
    [API_TRACE_HOST_UNREGISTER] = play_host_free,
    [API_TRACE_HOST_ACCESS] = play_host_access,
    [API_TRACE_HOST_WRITE] = play_host_write,
    [API_TRACE_COMPARE] = play_compare,
    [API_TRACE_PINNED_TO_DEVICE] = play_pinned_to,
    [API_TRACE_PINNED_FROM_DEVICE] = play_pinned_from,
    [API_TRACE_THREAD] = play_thread,
    [API_TRACE_RETURN] = play_thread,
};

static bool play_has_call(const struct api_trace_call *call)
{
    return (size_t)call->kind < ARRAY_COUNT(players) && players[call->kind] && !call->cluster;
}

/* Makes a step of the line. False: it is not over. */
static bool play_line(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (c->stage == 0 && c->item == 0 && !c->is_looking_up)
        c->is_looking_up = true;
    if (c->is_looking_up && !find_variables(c, call))
        return false;
    c->is_looking_up = false;
    return players[call->kind](c, call);
}
