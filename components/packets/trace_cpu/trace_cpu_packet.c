/* Moves of bytes between the trace's files and the host's memory, and packets: written to memory,
 * announced to the device, read back when it has answered. */
#include <stdarg.h>

#include "runtime/engine/component_failure.h"

#include "trace_cpu_state.h"

/* The run is over, with a message that names the line of the trace. */
static void cpu_fail(struct trace_cpu *c, uint32_t line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (line)
        engine_fail(&c->io.base, "%s%s%s:%" PRIu32 ": %s", c->trace.folder,
                    *c->trace.folder ? "/" : "", API_TRACE_FILE, line, text);
    else
        engine_fail(&c->io.base, "%s", text);
    c->phase = CPU_OVER;
}

static uint32_t cpu_line_of_call(const struct trace_cpu *c)
{
    return c->call < c->trace.call_count ? c->trace.calls[c->call].line : 0;
}

/* ---- moving bytes ---- */

static void move_begin(struct trace_cpu *c, bool write, uint64_t address, void *bytes,
                       uint64_t size)
{
    c->mover = (struct cpu_mover){.write = write, .address = address, .size = size, .bytes = bytes};
}

static uint32_t bytes_to_line_end(uint64_t address, uint64_t left)
{
    uint32_t rest = CPU_LINE - (uint32_t)(address % CPU_LINE);
    return left < rest ? (uint32_t)left : rest;
}

static struct cpu_slot *slot_at(const struct trace_cpu *c, uint32_t i)
{
    return arena_at(struct cpu_slot, c->slots_at) + i;
}

static void send_line(struct trace_cpu *c)
{
    struct cpu_mover *m = &c->mover;
    uint64_t address = m->address + m->issued;
    uint32_t bytes = bytes_to_line_end(address, m->size - m->issued),
             first = (uint32_t)(address % CPU_LINE);
    uint32_t slot = index_pool_acquire(&c->free_slots);
    *slot_at(c, slot) = (struct cpu_slot){m->issued, bytes};
    m->issued += bytes;
    if (!m->write) {
        trace_cpu_mem_send_read(c, (uint16_t)slot, address, bytes, 0, false);
        return;
    }
    void *payload =
        trace_cpu_mem_send_write(c, (uint16_t)slot, address - first, 0, SCOPE_WAVEFRONT);
    mem_mask_store(mem_write_mask(payload, CPU_LINE), mem_mask_range(first, bytes, CPU_LINE),
                   CPU_LINE);
    memcpy(mem_write_data(payload, CPU_LINE) + first, m->bytes + slot_at(c, slot)->offset, bytes);
}

static bool move_send(struct trace_cpu *c)
{
    struct cpu_mover *m = &c->mover;
    bool has_sent = false;
    while (m->issued < m->size && index_pool_has(&c->free_slots) && trace_cpu_mem_can_send(c)) {
        send_line(c);
        has_sent = true;
    }
    return has_sent;
}

static void move_receive(struct trace_cpu *c, uint16_t tag, const uint8_t *line)
{
    struct cpu_mover *m = &c->mover;
    const struct cpu_slot *slot = slot_at(c, tag);
    if (line)
        memcpy(m->bytes + slot->offset, line + (m->address + slot->offset) % CPU_LINE, slot->bytes);
    m->finished += slot->bytes;
    index_pool_release(&c->free_slots, tag);
}

static bool move_is_over(const struct trace_cpu *c)
{
    return c->mover.finished == c->mover.size;
}

/* ---- packets ---- */

static uint64_t memory_base(const struct trace_cpu *c)
{
    return trace_cpu_params(c)->memory;
}

static void packet_write(struct trace_cpu *c)
{
    struct packet_fault fault;
    c->request.sequence = ++c->sequence;
    c->packet_bytes =
        (uint32_t)api_request_encode(&c->request, c->packet, sizeof c->packet, &fault);
    c->phase = CPU_WRITE_PACKET;
    c->since = trace_cpu_now(c);
    c->io.stats.packets++;
    timeline_begin(&c->io.base, c->sequence, "1 write the packet to memory");
    move_begin(c, true, memory_base(c), c->packet, c->packet_bytes);
}

/* A packet of this kind, to be filled. */
static struct api_request *packet_begin(struct trace_cpu *c, enum api_call call)
{
    memset(&c->request, 0, sizeof c->request);
    c->request.call = (uint16_t)call;
    if (c->call < c->trace.call_count)
        c->request.thread = c->trace.calls[c->call].thread;
    return &c->request;
}

static void end_step(struct trace_cpu *c, unsigned step)
{
    c->times[step] = trace_cpu_now(c) - c->since;
    c->since = trace_cpu_now(c);
}

static bool ring_device(struct trace_cpu *c)
{
    uint64_t address = memory_base(c), device = trace_cpu_params(c)->device_register;
    if (!trace_cpu_mem_can_send(c))
        return false;
    timeline_begin(&c->io.base, c->sequence, "2 write its address to the device");
    void *payload = trace_cpu_mem_send_write(c, CPU_TAG_DEVICE, device, 0, SCOPE_WAVEFRONT);
    mem_mask_store(mem_write_mask(payload, CPU_LINE), mem_mask_range(0, sizeof address, CPU_LINE),
                   CPU_LINE);
    memcpy(mem_write_data(payload, CPU_LINE), &address, sizeof address);
    c->phase = CPU_WAIT;
    return true;
}

static bool ask_device(struct trace_cpu *c)
{
    if (!trace_cpu_mem_can_send(c))
        return false;
    trace_cpu_mem_send_read(c, CPU_TAG_DEVICE, trace_cpu_params(c)->device_register,
                            sizeof(uint64_t), 0, false);
    c->phase = CPU_ASKED;
    return true;
}

static void begin_answer_read(struct trace_cpu *c)
{
    end_step(c, 1);
    c->packet_bytes = packet_bytes(&api_answer_layout, c->request.call);
    memset(c->packet, 0, c->packet_bytes);
    c->phase = CPU_READ_ANSWER;
    move_begin(c, false, memory_base(c), c->packet, c->packet_bytes);
}

/* The device has answered a write or a read. */
static void accept_device_answer(struct trace_cpu *c, const uint8_t *line)
{
    uint64_t address;
    if (c->phase == CPU_WAIT) {
        timeline_end(&c->io.base, c->sequence, "2 write its address to the device");
        if (trace_cpu_params(c)->read_device)
            c->phase = CPU_ASK;
        else
            begin_answer_read(c);
        return;
    }
    memcpy(&address, line, sizeof address);
    if (address != memory_base(c))
        cpu_fail(c, cpu_line_of_call(c),
                 "the device names a packet at 0x%" PRIx64 ", which is at 0x%" PRIx64, address,
                 memory_base(c));
    else
        begin_answer_read(c);
}

/* The answer is here: false when the call was blocked. */
static bool end_packet(struct trace_cpu *c)
{
    struct packet_fault fault;
    char text[200];
    end_step(c, 2);
    if (!api_answer_decode(&c->answer, c->packet, c->packet_bytes, &fault)) {
        cpu_fail(c, cpu_line_of_call(c), "the device's answer cannot be read: %s",
                 packet_fault_text(&fault, text, sizeof text));
        return true;
    }
    if (c->answer.sequence != c->request.sequence) {
        cpu_fail(c, cpu_line_of_call(c), "the device answers packet %" PRIu32 ", not %" PRIu32,
                 c->answer.sequence, c->request.sequence);
        return true;
    }
    if (c->answer.state == API_STATE_BLOCKED) {
        c->io.stats.retries++;
        c->wait_until = trace_cpu_now(c) + trace_cpu_params(c)->retry;
        c->phase = CPU_BLOCKED;
        return false;
    }
    stat_histogram_add(&c->io.stats.write_packet, c->times[0]);
    stat_histogram_add(&c->io.stats.wait_device, c->times[1]);
    stat_histogram_add(&c->io.stats.read_answer, c->times[2]);
    c->phase = CPU_PLAY;
    return true;
}
