/* Checks what a call needs from earlier calls: memory that is allocated and large enough, streams
 * and events that exist. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"

#include "api_trace_internal.h"

static struct api_trace_object *api_trace_find(const struct api_trace_set *set, uint32_t number)
{
    uint32_t low = 0, high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->items[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->count && set->items[low].number == number ? &set->items[low] : NULL;
}

/* Numbers usually rise, so the place is usually the end. */
static struct api_trace_object *insert(struct api_trace_reader *r, struct api_trace_set *set,
                                       uint32_t number)
{
    set->items =
        region_grow(&r->trace->memory, set->items, set->count, &set->capacity, sizeof *set->items);
    uint32_t at = set->count++;
    while (at > 0 && set->items[at - 1].number > number) {
        set->items[at] = set->items[at - 1];
        at--;
    }
    set->items[at] = (struct api_trace_object){.number = number};
    return &set->items[at];
}

static bool make_object(struct api_trace_reader *r, struct api_trace_set *set, const char *what,
                        uint32_t number, uint64_t size)
{
    struct api_trace_object *object = api_trace_find(set, number);
    if (object && object->is_live)
        return api_trace_fail(r, "%s-%" PRIu32 " exists already, since line %" PRIu32, what, number,
                              object->line);
    if (!object)
        object = insert(r, set, number);
    object->is_live = true;
    object->line = r->line;
    object->size = size;
    return true;
}

static struct api_trace_object *use(struct api_trace_reader *r, struct api_trace_set *set,
                                    const char *what, uint32_t number)
{
    struct api_trace_object *object = api_trace_find(set, number);
    if (object && object->is_live)
        return object;
    if (!object)
        api_trace_fail(r, "%s-%" PRIu32 " does not exist", what, number);
    else
        api_trace_fail(r, "%s-%" PRIu32 " does not exist any more, since line %" PRIu32, what,
                       number, object->line);
    return NULL;
}

static bool end_object(struct api_trace_reader *r, struct api_trace_set *set, const char *what,
                       uint32_t number)
{
    struct api_trace_object *object = use(r, set, what, number);
    if (!object)
        return false;
    object->is_live = false;
    object->line = r->line;
    return true;
}

uint64_t api_trace_rows(const struct api_trace_call *call)
{
    return max(call->rows, 1);
}

uint64_t api_trace_bytes(const struct api_trace_call *call)
{
    uint64_t rows = api_trace_rows(call);
    return call->size > UINT64_MAX / rows ? UINT64_MAX : call->size * rows;
}

static bool is_inside(struct api_trace_reader *r, const struct api_trace_pointer *pointer,
                      uint64_t bytes)
{
    bool is_host = pointer->space == API_TRACE_HOST;
    if (pointer->space == API_TRACE_SYMBOL) /* how large it is, the code object knows */
        return use(r, &r->modules, "module", pointer->allocation) != NULL;
    const struct api_trace_object *object = use(r, is_host ? &r->hosts : &r->allocations,
                                                is_host ? "hptr" : "dptr", pointer->allocation);
    if (!object)
        return false;
    if (pointer->offset <= object->size && bytes <= object->size - pointer->offset)
        return true;
    return api_trace_fail(r,
                          "%" PRIu64 " bytes from byte %" PRIu64 " of %s-%" PRIu32
                          " do not lie in its %" PRIu64 " bytes",
                          bytes, pointer->offset, is_host ? "hptr" : "dptr", pointer->allocation,
                          object->size);
}

/* From the first byte of the first row to the last of the last. */
static bool holds_rows(struct api_trace_reader *r, const struct api_trace_call *call,
                       const struct api_trace_pointer *pointer, uint64_t row, uint64_t pitch)
{
    uint64_t more = call->rows > 1 ? call->rows - 1 : 0;
    if (more > 0 && pitch < row)
        return api_trace_fail(r, "rows of %" PRIu64 " bytes overlap, %" PRIu64 " bytes apart", row,
                              pitch);
    if (more > 0 && pitch > (INT64_MAX - row) / more)
        return api_trace_fail(r, "%" PRIu64 " rows are more than any memory holds", call->rows);
    return is_inside(r, pointer, row + more * pitch);
}

static bool has_stream(struct api_trace_reader *r, const struct api_trace_call *call)
{
    return call->stream == 0
           || (r->trace->version > 1 && call->stream == API_TRACE_STREAM_OF_THREAD)
           || use(r, &r->streams, "stream", call->stream);
}

static bool follow_launch(struct api_trace_reader *r, const struct api_trace_call *call)
{
    bool good = true;
    uint64_t items = 1;
    for (int i = 0; i < 3; i++) {
        good = good && call->grid[i] > 0 && call->block[i] > 0;
        items = items > UINT32_MAX ? items : items * call->block[i];
    }
    if (!good)
        api_trace_fail(r, "the grid or the block of '%.80s' is empty", call->name);
    if (items > UINT32_MAX)
        good = api_trace_fail(r, "the block of '%.80s' has more than 4294967295 work-items",
                              call->name);
    for (uint32_t i = 0; i < call->argument_count; i++)
        if (call->arguments[i].is_pointer)
            good = is_inside(r, &call->arguments[i].pointer, 0) && good;
    if (call->module != 0)
        good = use(r, &r->modules, "module", call->module) && good;
    return good;
}

static bool follow_memset(struct api_trace_reader *r, const struct api_trace_call *call)
{
    if (call->width != 1 && call->width != 2 && call->width != 4)
        return api_trace_fail(r, "'width' is %" PRIu32 ", not 1, 2 or 4", call->width);
    if (call->width < 4 && call->value >> 8 * call->width != 0)
        return api_trace_fail(r,
                              "'value' is %" PRIu32 ", which does not fit into %" PRIu32 " byte%s",
                              call->value, call->width, call->width == 1 ? "" : "s");
    uint64_t bytes = call->size > UINT64_MAX / 4 ? UINT64_MAX : call->size * call->width;
    return holds_rows(r, call, &call->to, bytes, call->pitch);
}

/* Memory that host and device share has whole pages of the host. */
static uint64_t whole_pages(uint64_t size)
{
    return round_up(size, 4096);
}

static bool follow_map(struct api_trace_reader *r, const struct api_trace_call *call)
{
    const struct api_trace_object *host = use(r, &r->hosts, "hptr", call->place.allocation);
    return host
           && make_object(r, &r->allocations, "dptr", call->to.allocation, whole_pages(host->size));
}

static bool follow_pinned(struct api_trace_reader *r, const struct api_trace_call *call)
{
    bool is_to = call->kind == API_TRACE_PINNED_TO_DEVICE;
    bool good = call->place.space == API_TRACE_HOST
                || api_trace_fail(r, "'host_ptr' is not host memory (hptr-N or hptr-N+OFFSET)");
    good = good && holds_rows(r, call, &call->place, call->size, call->host_pitch);
    return holds_rows(r, call, is_to ? &call->to : &call->from, call->size, call->pitch) && good;
}

/* Checks the calls that only version 2 has. */
static bool follow_recorded(struct api_trace_reader *r, const struct api_trace_call *call)
{
    switch (call->kind) {
    case API_TRACE_EVENT_QUERY:
        return use(r, &r->events, "event", call->event) != NULL;
    case API_TRACE_MODULE_LOAD:
        return make_object(r, &r->modules, "module", call->module, 0);
    case API_TRACE_MODULE_UNLOAD:
        return end_object(r, &r->modules, "module", call->module);
    case API_TRACE_MALLOC_AT:
        return make_object(r, &r->allocations, "dptr", call->to.allocation, call->size);
    case API_TRACE_MALLOC_MANAGED:
        return make_object(r, &r->allocations, "dptr", call->to.allocation,
                           whole_pages(call->size));
    case API_TRACE_HOST_MALLOC:
        return make_object(r, &r->hosts, "hptr", call->place.allocation, whole_pages(call->size));
    case API_TRACE_HOST_REGISTER:
        return make_object(r, &r->hosts, "hptr", call->place.allocation, call->size);
    case API_TRACE_HOST_FREE:
    case API_TRACE_HOST_UNREGISTER:
        return end_object(r, &r->hosts, "hptr", call->place.allocation);
    case API_TRACE_HOST_MAP:
        return follow_map(r, call);
    case API_TRACE_HOST_ACCESS:
        return is_inside(r, &call->place, 1);
    case API_TRACE_HOST_WRITE:
        return is_inside(r, &call->place, call->size);
    case API_TRACE_COMPARE:
        return holds_rows(r, call, &call->place, call->size, call->host_pitch);
    case API_TRACE_PINNED_TO_DEVICE:
    case API_TRACE_PINNED_FROM_DEVICE:
        return follow_pinned(r, call);
    case API_TRACE_PREFETCH:
    case API_TRACE_REMAP:
        return is_inside(r, &call->to, call->size);
    default:
        return true;
    }
}

bool api_trace_follow(struct api_trace_reader *r, const struct api_trace_call *call)
{
    bool good = true;
    if (call->kind != API_TRACE_STREAM_CREATE && call->kind != API_TRACE_STREAM_DESTROY)
        good = has_stream(r, call);
    switch (call->kind) {
    case API_TRACE_MALLOC:
        return make_object(r, &r->allocations, "dptr", call->to.allocation, call->size);
    case API_TRACE_FREE:
        return end_object(r, &r->allocations, "dptr", call->to.allocation);
    case API_TRACE_COPY_TO_DEVICE:
        return holds_rows(r, call, &call->to, call->size, call->pitch) && good;
    case API_TRACE_COPY_FROM_DEVICE:
        return holds_rows(r, call, &call->from, call->size, call->pitch) && good;
    case API_TRACE_COPY_ON_DEVICE:
        good = holds_rows(r, call, &call->to, call->size, call->pitch) && good;
        return holds_rows(r, call, &call->from, call->size, call->from_pitch) && good;
    case API_TRACE_MEMSET:
        return follow_memset(r, call) && good;
    case API_TRACE_LAUNCH:
        return follow_launch(r, call) && good;
    case API_TRACE_STREAM_CREATE:
        return make_object(r, &r->streams, "stream", call->stream, 0);
    case API_TRACE_STREAM_DESTROY:
        return call->stream == 0 ? api_trace_fail(r, "the default stream cannot be destroyed")
                                 : end_object(r, &r->streams, "stream", call->stream);
    case API_TRACE_EVENT_CREATE:
        return make_object(r, &r->events, "event", call->event, 0);
    case API_TRACE_EVENT_DESTROY:
        return end_object(r, &r->events, "event", call->event);
    case API_TRACE_STREAM_WAIT_EVENT:
    case API_TRACE_EVENT_RECORD:
    case API_TRACE_EVENT_SYNCHRONIZE:
        return use(r, &r->events, "event", call->event) && good;
    default:
        return follow_recorded(r, call) && good;
    }
}
