/* Pinned memory of the program, as lines of version 2 have it: at the end of the host's memory,
 * from the top down. It needs no packets; the device's DMA engine reaches it where it is. */
#include "trace_cpu_state.h"

static bool play_host_malloc(struct trace_cpu *c, const struct api_trace_call *call)
{
    uint64_t all = (uint64_t)trace_cpu_params(c)->memory_size;
    uint64_t size = (call->size + CPU_LINE - 1) / CPU_LINE * CPU_LINE;
    if (call->size > all || size > all - c->pinned_bytes - CPU_PACKET_ROOM) {
        cpu_fail(c, call->line,
                 "%" PRIu64 " bytes of pinned memory do not fit into the host's memory of %" PRIu64
                 "; enlarge it",
                 call->size, all);
        return false;
    }
    if (c->next_byte > all - c->pinned_bytes - size) {
        c->drain = true;
        return false;
    }
    c->pinned_bytes += size;
    name_set(&c->host, call->place.allocation, memory_base(c) + all - c->pinned_bytes);
    return true;
}

/* What is freed last is at the bottom, and is free again; the rest stays. */
static bool play_host_free(struct trace_cpu *c, const struct api_trace_call *call)
{
    name_set(&c->host, call->place.allocation, 0);
    return true;
}

static bool play_host_access(struct trace_cpu *c, const struct api_trace_call *call)
{
    (void)c, (void)call;
    return true;
}

static uint64_t rows_of(const struct api_trace_call *call)
{
    return call->rows > 1 ? call->rows : 1;
}

/* Row `item` of the line's file goes to the place. true: all have gone. */
static bool write_rows(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (c->item == rows_of(call) || !call->size) {
        bytes_free(c);
        c->item = 0;
        return true;
    }
    if (c->item == 0 && !file_read(c, call->file, call->size * rows_of(call)))
        return false;
    move_begin(c, true, address_of(c, &call->place) + c->item * call->host_pitch,
               blob_at(c->bytes)->bytes + c->item * call->size, call->size);
    c->item++;
    c->phase = CPU_MOVE;
    return false;
}

static bool play_host_write(struct trace_cpu *c, const struct api_trace_call *call)
{
    return write_rows(c, call);
}

static bool play_compare(struct trace_cpu *c, const struct api_trace_call *call)
{
    for (; c->item < rows_of(call); c->item++)
        check_add(c, call, address_of(c, &call->place) + c->item * call->host_pitch, call->size,
                  c->item * call->size);
    return checks_done(c);
}

/* Copies from pinned memory read it when they are executed. So bytes that a line before has put
 * there are not written again: an earlier copy to the host may replace them meanwhile. */
static bool is_written(struct trace_cpu *c, const struct api_trace_call *call)
{
    uint64_t number = name_value(&c->written, call->place.allocation);
    const struct api_trace_call *before = number ? &c->trace.calls[number - 1] : NULL;
    if (c->item == 0 && before && before->place.offset == call->place.offset
        && before->size == call->size && rows_of(before) == rows_of(call)
        && strcmp(before->file, call->file) == 0)
        return true;
    name_set(&c->written, call->place.allocation, c->call + 1);
    return false;
}

static bool play_pinned_to(struct trace_cpu *c, const struct api_trace_call *call)
{
    if (c->stage == 0) {
        c->stage = is_written(c, call) || write_rows(c, call);
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
