/* Memory that host code uses, as lines of version 2 have it. Pinned memory is at the end of the
 * host's memory, from the top down. It needs no packets; the device's DMA engine reaches it where
 * it is. Memory that kernels use, too, is on the device: managed memory, and mapped pinned memory
 * once more. The lines say when host code has stored there and when it has found what kernels have
 * stored, and these bytes are copied then. */
#include "base/number.h"

#include "trace_cpu_state.h"

static bool play_host_malloc(struct trace_cpu *c, const struct api_trace_call *call)
{
    uint64_t all = trace_cpu_params(c)->memory_size;
    uint64_t size = round_up(call->size, CPU_HOST_PAGE);
    if (call->size > all || size > all - c->pinned_bytes - CPU_PACKET_BYTES) {
        cpu_fail(c, call->line,
                 "%" PRIu64 " bytes of pinned memory do not fit into the host's memory of %" PRIu64
                 "; enlarge it",
                 call->size, all);
        return false;
    }
    if (c->next_byte > all - c->pinned_bytes - size) {
        c->is_draining = true;
        return false;
    }
    c->pinned_bytes += size;
    name_set(&c->host, call->place.allocation, memory_base(c) + all - c->pinned_bytes);
    return true;
}

/* Freed memory is not used again: copies may still be on their way. */
static bool play_host_free(struct trace_cpu *c, const struct api_trace_call *call)
{
    uint64_t mapped = name_value(&c->device_addresses, call->place.allocation);
    if (mapped && c->stage++ == 0) {
        packet_begin(c, API_CALL_FREE)->free.address = mapped;
        packet_write(c);
        return false;
    }
    name_set(&c->device_addresses, call->place.allocation, 0);
    name_set(&c->host, call->place.allocation, 0);
    return !mapped || check_call(c, "hipHostFree");
}

/* The line that made the pinned memory. */
static const struct api_trace_call *host_made_by(const struct trace_cpu *c, uint32_t number)
{
    const struct api_trace_call *call = &c->trace.calls[c->call];
    while (call->place.allocation != number
           || (call->kind != API_TRACE_HOST_MALLOC && call->kind != API_TRACE_HOST_REGISTER))
        call--;
    return call;
}

static bool play_host_map(struct trace_cpu *c, const struct api_trace_call *call)
{
    uint32_t number = call->place.allocation;
    if (c->stage++ == 0) {
        struct api_request *r = packet_begin(c, API_CALL_HOST_GET_DEVICE_POINTER);
        r->host_get_device_pointer.address = name_value(&c->host, number);
        r->host_get_device_pointer.size = host_made_by(c, number)->size;
        packet_write(c);
        return false;
    }
    name_set(&c->memory, call->to.allocation, c->answer.host_get_device_pointer.address);
    name_set(&c->device_addresses, number, c->answer.host_get_device_pointer.address);
    return check_call(c, "hipHostGetDevicePointer");
}

static bool play_host_access(struct trace_cpu *c, const struct api_trace_call *call)
{
    (void)c, (void)call;
    return true;
}

/* Row `item` of the line's file goes to the place. False: some have yet to go. */
static bool write_rows(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (c->item == api_trace_rows(call) || !call->size) {
        release_file(c);
        c->item = 0;
        return true;
    }
    if (c->item == 0 && !read_file(c, call->file, call->size * api_trace_rows(call)))
        return false;
    move_begin(c, true, address_of(c, &call->place) + c->item * call->host_pitch,
               blob_at(c->bytes)->bytes + c->item * call->size, call->size);
    c->item++;
    c->phase = CPU_MOVE;
    return false;
}

/* The device's address of the line's place in pinned memory; 0: it is not mapped. */
static uint64_t mapped_place(const struct trace_cpu *c, const struct api_trace_call *call)
{
    uint64_t mapped = name_value(&c->device_addresses, call->place.allocation);
    return mapped ? mapped + call->place.offset : 0;
}

static bool play_host_write(struct trace_cpu *c, const struct api_trace_call *call)
{
    enum { WRITE, COPY, END };
    struct api_trace_call copy = *call;
    copy.to = call->place;
    if (call->place.space != API_TRACE_HOST)
        return play_to_device(c, &copy);
    if (c->stage == WRITE) {
        if (!write_rows(c, call))
            return false;
        name_set(&c->writing_calls, call->place.allocation, 0);
        c->stage = mapped_place(c, call) ? COPY : END;
        return c->stage == END;
    }
    if (c->stage++ == COPY) {
        send_copy(c, call, mapped_place(c, call), address_of(c, &call->place),
                  API_DIRECTION_HOST_TO_DEVICE);
        return false;
    }
    return check_call(c, "the copy");
}

/* True if the host has found there what kernels have stored: the line follows the access that this
 * thread made then. */
static bool was_fetched(const struct trace_cpu *c, const struct api_trace_call *call)
{
    const struct api_trace_call *before = call;
    if (call->place.space != API_TRACE_HOST)
        return true;
    while (--before >= c->trace.calls)
        if (before->thread == call->thread && before->kind != API_TRACE_THREAD)
            return mapped_place(c, call) && before->kind == API_TRACE_HOST_ACCESS
                   && before->place.allocation == call->place.allocation;
    return false;
}

/* Mapped memory is copied to the host before it is compared there. */
static bool play_compare(struct trace_cpu *c, const struct api_trace_call *call)
{
    enum { WAIT, COPY, CHECK };
    struct api_trace_call copy = *call;
    copy.from = call->place;
    c->is_draining = c->stage == WAIT && was_fetched(c, call);
    if (call->place.space != API_TRACE_HOST)
        return play_from_device(c, &copy);
    if (c->stage == WAIT) {
        c->stage = c->is_draining ? COPY : CHECK;
        return false;
    }
    if (c->stage == COPY) {
        c->stage = CHECK;
        send_copy(c, call, address_of(c, &call->place), mapped_place(c, call),
                  API_DIRECTION_DEVICE_TO_HOST);
        return false;
    }
    for (; c->item < api_trace_rows(call); c->item++)
        check_add(c, call, address_of(c, &call->place) + c->item * call->host_pitch, call->size,
                  c->item * call->size);
    return compare_copies(c);
}

/* Copies from pinned memory read it when they are executed. So bytes that a line before has put
 * there are not written again: an earlier copy to the host may replace them meanwhile. False: they
 * are there. */
static bool begin_writing(struct trace_cpu *c, const struct api_trace_call *call)
{
    uint64_t number = name_value(&c->writing_calls, call->place.allocation);
    const struct api_trace_call *before = number ? &c->trace.calls[number - 1] : NULL;
    if (c->item == 0 && before && before->place.offset == call->place.offset
        && before->size == call->size && api_trace_rows(before) == api_trace_rows(call)
        && strcmp(before->file, call->file) == 0)
        return false;
    name_set(&c->writing_calls, call->place.allocation, c->call + 1);
    return true;
}

static bool play_pinned_to(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (c->stage == 0) {
        c->stage = !begin_writing(c, call) || write_rows(c, call);
        return false;
    }
    return copy_rows(c, call, (struct cpu_rows){address_of(c, &call->to), call->pitch},
                     (struct cpu_rows){address_of(c, &call->place), call->host_pitch},
                     API_DIRECTION_HOST_TO_DEVICE);
}

static bool play_pinned_from(struct trace_cpu *c, const struct api_trace_call *call)
{
    return copy_rows(c, call, (struct cpu_rows){address_of(c, &call->place), call->host_pitch},
                     (struct cpu_rows){address_of(c, &call->from), call->pitch},
                     API_DIRECTION_DEVICE_TO_HOST);
}
