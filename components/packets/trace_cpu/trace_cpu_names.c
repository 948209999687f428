/* Finds the objects on this device that a trace has numbers and names for: addresses, streams,
 * events, code objects with their kernels and variables. */
#include "trace_cpu_state.h"

static const char *name_error(int32_t error)
{
    switch (error) {
#define API_ERROR(name, number, text)                                                              \
    case number:                                                                                   \
        return text;
#include "components/packets/api_packet/api_error.def"
#undef API_ERROR
    default:
        return "error";
    }
}

/* False: the packet that was sent last has failed, which a message says. */
static bool check_call(struct trace_cpu *c, const char *step)
{
    if (c->answer.error == 0)
        return true;
    cpu_fail(c, cpu_line_of_call(c), "%s failed: %s (%" PRId32 ")", step,
             name_error(c->answer.error), c->answer.error);
    return false;
}

/* ---- numbers of the trace ---- */

static struct cpu_name *name_find(const struct cpu_names *names, uint32_t number)
{
    struct cpu_name *items =
        names->count ? (struct cpu_name *)(void *)blob_at(names->blob)->bytes : NULL;
    for (uint32_t i = names->count; i-- > 0;)
        if (items[i].number == number)
            return &items[i];
    return NULL;
}

static void name_set(struct cpu_names *names, uint32_t number, uint64_t value)
{
    struct cpu_name *name = name_find(names, number);
    if (name)
        name->value = value;
    else
        *(struct cpu_name *)list_add(&names->blob, &names->count, sizeof(struct cpu_name)) =
            (struct cpu_name){number, value};
}

static uint64_t name_value(const struct cpu_names *names, uint32_t number)
{
    const struct cpu_name *name = name_find(names, number);
    return name ? name->value : 0;
}

static struct cpu_text *variable_of(const struct trace_cpu *c,
                                    const struct api_trace_pointer *pointer);

static uint64_t address_of(const struct trace_cpu *c, const struct api_trace_pointer *pointer)
{
    if (pointer->space == API_TRACE_SYMBOL)
        return variable_of(c, pointer)->address + pointer->offset;
    if (pointer->space == API_TRACE_HOST)
        return name_value(&c->host, pointer->allocation) + pointer->offset;
    return name_value(&c->memory, pointer->allocation) + pointer->offset;
}

/* A host thread's own stream has a number for each thread. */
static uint32_t stream_name(const struct trace_cpu *c, uint32_t stream)
{
    return stream == API_TRACE_STREAM_OF_THREAD ? stream - c->trace.calls[c->call].thread : stream;
}

/* Streams of the original grammar exist from their first use: the packet that makes one. */
static bool make_new_stream(struct trace_cpu *c, uint32_t stream)
{
    if (!stream || name_value(&c->streams, stream_name(c, stream)))
        return false;
    packet_begin(c, API_CALL_STREAM_CREATE);
    packet_write(c);
    return true;
}

static uint64_t stream_of(const struct trace_cpu *c, const struct api_trace_call *call)
{
    return call->stream ? name_value(&c->streams, stream_name(c, call->stream)) : 0;
}

/* ---- code objects ---- */

/* Brings a code object to the device; `stage` from 0. False: not yet. */
static bool register_file(struct trace_cpu *c, const char *path)
{
    uint64_t address;
    switch (c->stage++) {
    case 0:
        if (!read_file(c, path, 0) || !allocate_bytes(c, blob_at(c->bytes)->size, &address))
            return false;
        move_begin(c, true, address, blob_at(c->bytes)->bytes, blob_at(c->bytes)->size);
        c->phase = CPU_MOVE;
        return false;
    case 1:
        packet_begin(c, API_CALL_REGISTER_MODULE)->register_module.address = c->mover.address;
        c->request.register_module.size = c->mover.size;
        packet_write(c);
        return false;
    default:
        release_file(c);
        if (c->answer.error) {
            cpu_fail(c, cpu_line_of_call(c), "the device cannot use '%s': %s (%" PRId32 ")", path,
                     name_error(c->answer.error), c->answer.error);
            return false;
        }
        *(uint64_t *)list_add(&c->modules, &c->module_count, sizeof(uint64_t)) =
            c->answer.register_module.module;
        return true;
    }
}

/* Number of the name in a list of names; CPU_NONE: not there. */
static uint32_t text_find(uint32_t blob, uint32_t count, const char *name, uint32_t module)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct cpu_text *text =
            (const struct cpu_text *)(const void *)blob_at(blob)->bytes + i;
        if (text->module == module && strcmp(text->name, name) == 0)
            return i;
    }
    return CPU_NONE;
}

/* The module to be asked for a name as number `item`: one of the modules that lines and --module
 * have registered, or the module that the line names. 0: there are no more. */
static uint64_t module_to_ask(const struct trace_cpu *c, uint32_t module, uint32_t item)
{
    if (module)
        return item == 0 ? name_value(&c->code, module) : 0;
    return item < c->module_count
               ? ((const uint64_t *)(const void *)blob_at(c->modules)->bytes)[item]
               : 0;
}

/* Asks one module after the other for the kernel or variable; `item` is the one that was asked last
 * + 1. False: it is not known yet; else `*number` is its. `module`: of the trace; 0: any. */
static bool find_name(struct trace_cpu *c, const char *name, uint32_t module, bool kernel,
                      uint32_t *number)
{
    uint32_t *blob = kernel ? &c->kernels : &c->symbols;
    uint32_t *count = kernel ? &c->kernel_count : &c->symbol_count;
    *number = text_find(*blob, *count, name, module);
    if (*number != CPU_NONE)
        return true;
    if (c->item > 0 && c->answer.error == 0) {
        *number = *count;
        struct cpu_text *text = list_add(blob, count, sizeof *text);
        *text = (struct cpu_text){name, module, 0};
        c->item = 0;
        return true;
    }
    uint64_t handle = module_to_ask(c, module, c->item);
    if (!handle) {
        cpu_fail(c, cpu_line_of_call(c),
                 "no code object has a %s '%.200s'; name one: --module FILE",
                 kernel ? "kernel" : "variable", name);
        return false;
    }
    c->item++;
    if (kernel) {
        struct api_request *r = packet_begin(c, API_CALL_REGISTER_FUNCTION);
        r->register_function.module = handle;
        r->register_function.function = CPU_STUB + (uint64_t)*count * CPU_STUB_STEP;
        snprintf(r->register_function.name, sizeof r->register_function.name, "%s", name);
    } else {
        struct api_request *r = packet_begin(c, API_CALL_REGISTER_VARIABLE);
        r->register_variable.module = handle;
        r->register_variable.symbol = CPU_SHADOW + (uint64_t)*count * CPU_STUB_STEP;
        snprintf(r->register_variable.name, sizeof r->register_variable.name, "%s", name);
    }
    packet_write(c);
    return false;
}

static struct cpu_text *variable_of(const struct trace_cpu *c,
                                    const struct api_trace_pointer *pointer)
{
    uint32_t i = text_find(c->symbols, c->symbol_count, pointer->symbol, pointer->allocation);
    return i == CPU_NONE ? NULL : (struct cpu_text *)(void *)blob_at(c->symbols)->bytes + i;
}

/* Finds the address of a variable of a loaded module, if the pointer is to one. False: not yet. */
static bool find_variable(struct trace_cpu *c, const struct api_trace_pointer *pointer)
{
    uint32_t number;
    if (pointer->space != API_TRACE_SYMBOL)
        return true;
    struct cpu_text *text = variable_of(c, pointer);
    if (!text) {
        find_name(c, pointer->symbol, pointer->allocation, false, &number);
        return false;
    }
    if (!text->address && c->request.call == API_CALL_GET_SYMBOL) {
        if (!check_call(c, "hipGetSymbolAddress"))
            return false;
        text->address = c->answer.get_symbol.address;
    }
    if (text->address)
        return true;
    packet_begin(c, API_CALL_GET_SYMBOL)->get_symbol.symbol =
        CPU_SHADOW
        + (uint64_t)(text - (struct cpu_text *)(void *)blob_at(c->symbols)->bytes) * CPU_STUB_STEP;
    packet_write(c);
    return false;
}

/* Finds the variables that the line points to. Called before the line until it returns true. */
static bool find_variables(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (!find_variable(c, &call->to) || !find_variable(c, &call->from)
        || !find_variable(c, &call->place))
        return false;
    for (uint32_t i = 0; i < call->argument_count; i++)
        if (call->arguments[i].is_pointer && !find_variable(c, &call->arguments[i].pointer))
            return false;
    return true;
}
