/* State of trace_cpu, and how it moves bytes and packets. Included by trace_cpu.c.
 *
 * It does one thing at a time. A *move* takes bytes to the host's memory or back, line by line. A
 * *packet* is a move, a write to the device, and a move back; one that is blocked begins again.
 * What is behind a packet (the next one, a comparison) is decided in trace_cpu_play.h. The trace
 * and its files are in the memory of the process, as are blobs. */
#ifndef HEDDLE_TRACE_CPU_STATE_H
#define HEDDLE_TRACE_CPU_STATE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api_answer.gen.h"
#include "api_request.gen.h"
#include "components/traces/api_trace/api_trace.h"
#include "components/protocols/mem/index_pool.h"
#include "components/protocols/mem/mem_mask.h"
#include "runtime/state/blob.h"
#include "runtime/observe/hang.h"
#include "runtime/state/platform.h"
#include "runtime/observe/timeline.h"

enum {
    CPU_LINE = 64,
    CPU_PACKET_ROOM = 4096, /* at the start of the memory */
    CPU_TAG_DEVICE = 0xffff,
    CPU_NONE = UINT32_MAX
};

enum cpu_phase {
    CPU_START,
    CPU_PLAY, /* nothing is under way: the next thing is to be begun */
    CPU_MOVE,
    CPU_WRITE_PACKET,
    CPU_RING, /* the address is to be written */
    CPU_WAIT,
    CPU_ASK, /* the device is to be read */
    CPU_ASKED,
    CPU_READ_ANSWER,
    CPU_BLOCKED,
    CPU_OVER
};

/* A number of the trace, and what it is here. */
struct cpu_name {
    uint32_t number;
    uint64_t value; /* address or handle; 0: not yet, or no more */
};

struct cpu_names {
    uint32_t blob; /* struct cpu_name[] */
    uint32_t count;
};

/* A copy to the host that is to be compared when it is complete. */
struct cpu_check {
    uint64_t address, size;
    const char *file;
    uint32_t line, stream;
};

struct cpu_mover {
    bool write;
    uint64_t address, size, issued, finished;
    uint8_t *bytes;
};

/* A line that is under way. */
struct cpu_slot {
    uint64_t offset; /* in the move */
    uint32_t bytes;
};

struct trace_cpu {
    struct trace_cpu_io io;
    uint32_t slots; /* arena: struct cpu_slot[lines] */
    struct index_pool free_slots;
    uint32_t phase; /* enum cpu_phase */
    uint32_t call;  /* of the trace */
    uint32_t stage; /* of it */
    uint32_t item;  /* what of several things is next */
    uint32_t sequence;
    uint64_t next_byte; /* of the memory, for what is copied */
    uint64_t since;     /* cycle */
    uint64_t wait_until;
    uint64_t times[3]; /* cycles of the steps of the packet under way */
    struct cpu_mover mover;
    struct api_request request;
    struct api_answer answer;
    uint8_t packet[CPU_PACKET_ROOM];
    uint32_t packet_bytes;
    struct api_trace trace; /* in the memory of the process, as are the blobs */
    struct cpu_names memory, streams, events;
    uint32_t checks, check_count;   /* blob: struct cpu_check[] */
    uint32_t compared;              /* of them */
    uint32_t modules, module_count; /* blob: uint64_t handles */
    uint32_t kernels, kernel_count; /* blob: names (const char *) whose stubs are registered */
    uint32_t symbols, symbol_count; /* the same for variables */
    uint32_t bytes;                 /* blob: a file */
    uint32_t found;                 /* blob: what has come back */
    uint32_t module_file;           /* of --module */
    uint32_t argument_byte;
    uint32_t drain_stage;
    bool drain;       /* everything is to be waited for, before the call goes on */
    bool stream_made; /* by the packet under way */
    char first_wrong[400];
};

/* The run is over, with a message that names the line of the trace. */
__attribute__((format(printf, 3, 4))) static void cpu_fail(struct trace_cpu *c, uint32_t line,
                                                           const char *format, ...)
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

static uint32_t line_part(uint64_t address, uint64_t left)
{
    uint32_t rest = CPU_LINE - (uint32_t)(address % CPU_LINE);
    return left < rest ? (uint32_t)left : rest;
}

static struct cpu_slot *slot_at(const struct trace_cpu *c, uint32_t i)
{
    return arena_at(struct cpu_slot, c->slots) + i;
}

static void send_line(struct trace_cpu *c)
{
    struct cpu_mover *m = &c->mover;
    uint64_t address = m->address + m->issued;
    uint32_t bytes = line_part(address, m->size - m->issued),
             first = (uint32_t)(address % CPU_LINE);
    uint32_t slot = index_pool_take(&c->free_slots);
    *slot_at(c, slot) = (struct cpu_slot){m->issued, bytes};
    m->issued += bytes;
    if (!m->write) {
        trace_cpu_mem_send_read(c, (uint16_t)slot, address, bytes, 0, false);
        return;
    }
    void *payload = trace_cpu_mem_send_write(c, (uint16_t)slot, address - first, 0);
    mem_mask_store(mem_write_mask(payload, CPU_LINE), mem_mask_range(first, bytes, CPU_LINE),
                   CPU_LINE);
    memcpy(mem_write_data(payload, CPU_LINE) + first, m->bytes + slot_at(c, slot)->offset, bytes);
}

static bool move_send(struct trace_cpu *c)
{
    struct cpu_mover *m = &c->mover;
    bool sent = false;
    while (m->issued < m->size && index_pool_has(&c->free_slots) && trace_cpu_mem_can_send(c)) {
        send_line(c);
        sent = true;
    }
    return sent;
}

static void move_receive(struct trace_cpu *c, uint16_t tag, const uint8_t *line)
{
    struct cpu_mover *m = &c->mover;
    const struct cpu_slot *slot = slot_at(c, tag);
    if (line)
        memcpy(m->bytes + slot->offset, line + (m->address + slot->offset) % CPU_LINE, slot->bytes);
    m->finished += slot->bytes;
    index_pool_give(&c->free_slots, tag);
}

static bool move_is_over(const struct trace_cpu *c)
{
    return c->mover.finished == c->mover.size;
}

/* ---- packets ---- */

static uint64_t memory_base(const struct trace_cpu *c)
{
    return (uint64_t)trace_cpu_params(c)->memory;
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
static struct api_request *packet_new(struct trace_cpu *c, enum api_call call)
{
    memset(&c->request, 0, sizeof c->request);
    c->request.call = (uint16_t)call;
    return &c->request;
}

static void lap(struct trace_cpu *c, unsigned step)
{
    c->times[step] = trace_cpu_now(c) - c->since;
    c->since = trace_cpu_now(c);
}

static bool ring_device(struct trace_cpu *c)
{
    uint64_t address = memory_base(c), device = (uint64_t)trace_cpu_params(c)->device_register;
    if (!trace_cpu_mem_can_send(c))
        return false;
    timeline_begin(&c->io.base, c->sequence, "2 write its address to the device");
    void *payload = trace_cpu_mem_send_write(c, CPU_TAG_DEVICE, device, 0);
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
    trace_cpu_mem_send_read(c, CPU_TAG_DEVICE, (uint64_t)trace_cpu_params(c)->device_register,
                            sizeof(uint64_t), 0, false);
    c->phase = CPU_ASKED;
    return true;
}

static void answer_read(struct trace_cpu *c)
{
    lap(c, 1);
    c->packet_bytes = packet_bytes(&api_answer_layout, c->request.call);
    memset(c->packet, 0, c->packet_bytes);
    c->phase = CPU_READ_ANSWER;
    move_begin(c, false, memory_base(c), c->packet, c->packet_bytes);
}

/* The device has answered a write or a read. */
static void device_answered(struct trace_cpu *c, const uint8_t *line)
{
    uint64_t address;
    if (c->phase == CPU_WAIT) {
        timeline_end(&c->io.base, c->sequence, "2 write its address to the device");
        if (trace_cpu_params(c)->read_device)
            c->phase = CPU_ASK;
        else
            answer_read(c);
        return;
    }
    memcpy(&address, line, sizeof address);
    if (address != memory_base(c))
        cpu_fail(c, cpu_line_of_call(c),
                 "the device names a packet at 0x%" PRIx64 ", which is at 0x%" PRIx64, address,
                 memory_base(c));
    else
        answer_read(c);
}

/* The answer is here: false when the call was blocked. */
static bool packet_over(struct trace_cpu *c)
{
    struct packet_fault fault;
    char text[200];
    lap(c, 2);
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
        c->wait_until = trace_cpu_now(c) + (uint64_t)trace_cpu_params(c)->retry;
        c->phase = CPU_BLOCKED;
        return false;
    }
    stat_histogram_add(&c->io.stats.write_packet, c->times[0]);
    stat_histogram_add(&c->io.stats.wait_device, c->times[1]);
    stat_histogram_add(&c->io.stats.read_answer, c->times[2]);
    c->phase = CPU_PLAY;
    return true;
}

#endif
