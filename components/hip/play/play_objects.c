/* Finds the objects that a trace has numbers for. They are in a hash table by kind and number, so a
 * trace may number them as it likes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"

#include "play_api.h"

/* ---- numbers ---- */

struct entry {
    uint64_t kind, number;
    struct play_object *object; /* which stays where it is */
};

static struct hash_table table;
static const struct hash_kind entry_kind = HASH_KIND(struct entry, number, "an API trace");

static struct play_object *play_find(enum play_kind kind, uint32_t number)
{
    const uint64_t key[] = {kind, number};
    const struct entry *entry = hash_table_find(&table, &entry_kind, key);
    return entry && entry->object->is_used ? entry->object : NULL;
}

struct play_object *play_get(const struct api_trace_call *call, enum play_kind kind,
                             uint32_t number)
{
    static const char *const words[] = {"dptr", "hptr", "stream", "event", "module"};
    struct play_object *object = play_find(kind, number);
    if (!object)
        play_die(call, "%s-%u does not exist", words[kind], number);
    return object;
}

struct play_object *play_add(enum play_kind kind, uint32_t number, void *handle)
{
    const uint64_t key[] = {kind, number};
    struct entry *entry = hash_table_add(&table, &entry_kind, key);
    if (!entry->object)
        entry->object = play_allocate(sizeof *entry->object);
    *entry->object = (struct play_object){
        .number = number, .kind = (uint8_t)kind, .is_used = true, .handle = handle};
    return entry->object;
}

void play_remove(enum play_kind kind, uint32_t number)
{
    struct play_object *object = play_find(kind, number);
    if (object)
        object->is_used = false;
}

static void *find_symbol(const struct api_trace_call *call, const struct api_trace_pointer *pointer)
{
    hipDeviceptr_t address = NULL;
    size_t size = 0;
    hipModule_t module = play_get(call, PLAY_MODULE, pointer->allocation)->handle;
    if (hipModuleGetGlobal(&address, &size, module, pointer->symbol) != hipSuccess)
        play_die(call, "module-%u has no variable '%s'", pointer->allocation, pointer->symbol);
    return address;
}

void *play_address(const struct api_trace_call *call, const struct api_trace_pointer *pointer)
{
    void *start = pointer->space == API_TRACE_SYMBOL
                      ? find_symbol(call, pointer)
                      : play_get(call, pointer->space == API_TRACE_HOST ? PLAY_HOST : PLAY_DEVICE,
                                 pointer->allocation)
                            ->handle;
    return (char *)start + pointer->offset;
}

/* In balar's grammar streams exist from their first use. */
hipStream_t play_stream(const struct api_trace_call *call)
{
    hipStream_t stream = NULL;
    if (call->stream == 0)
        return NULL;
    if (call->stream == API_TRACE_STREAM_OF_THREAD)
        return hipStreamPerThread;
    if (play_trace.version == 0 && !play_find(PLAY_STREAM, call->stream)) {
        play_check(call, hipStreamCreate(&stream), "hipStreamCreate");
        play_add(PLAY_STREAM, call->stream, stream);
    }
    return play_get(call, PLAY_STREAM, call->stream)->handle;
}

/* ---- code ---- */

enum { DEVICES_MAX = 64 };

struct source {
    struct source *next;
    const char *path;
    const struct api_trace_call *call; /* NULL: --module */
    hipModule_t modules[DEVICES_MAX];
};

static struct source *sources, **last_source = &sources;

void play_add_source(const char *path, const struct api_trace_call *call)
{
    struct source *source = play_allocate(sizeof *source);
    source->path = path;
    source->call = call;
    *last_source = source;
    last_source = &source->next;
}

hipModule_t play_load(const struct api_trace_call *call, const char *path)
{
    hipModule_t module = NULL;
    play_check(call, hipModuleLoad(&module, path), "hipModuleLoad");
    return module;
}

/* The next source after `source` for the current device, or NULL. */
static struct source *next_source(const struct api_trace_call *call, struct source *source,
                                  hipModule_t *module)
{
    int device = 0;
    source = source ? source->next : sources;
    play_check(call, hipGetDevice(&device), "hipGetDevice");
    if (source && device < DEVICES_MAX && !source->modules[device])
        source->modules[device] = play_load(source->call ? source->call : call, source->path);
    *module = source && device < DEVICES_MAX ? source->modules[device] : NULL;
    return source;
}

hipFunction_t play_function(const struct api_trace_call *call)
{
    hipFunction_t function = NULL;
    hipModule_t module = NULL;
    if (call->module) {
        module = play_get(call, PLAY_MODULE, call->module)->handle;
        if (hipModuleGetFunction(&function, module, call->name) == hipSuccess)
            return function;
    }
    for (struct source *entry = next_source(call, NULL, &module); entry && !call->module;
         entry = next_source(call, entry, &module))
        if (hipModuleGetFunction(&function, module, call->name) == hipSuccess)
            return function;
    play_die(call, "no code object has a kernel '%s'%s", call->name,
             sources || call->module ? "" : ": name one with --module FILE");
}

void *play_symbol(const struct api_trace_call *call, uint64_t *size)
{
    hipModule_t module = NULL;
    hipDeviceptr_t address = NULL;
    size_t bytes = 0;
    for (struct source *entry = next_source(call, NULL, &module); entry;
         entry = next_source(call, entry, &module))
        if (hipModuleGetGlobal(&address, &bytes, module, call->name) == hipSuccess) {
            *size = bytes;
            return address;
        }
    play_die(call, "no code object has a variable '%s'", call->name);
}
