/* Copies and fills for a GPU, line by line.
 *
 * A command is cut into pieces that stay inside one line of the target and, for copies, one line of
 * the source. Each piece in flight has a slot, whose number is the tag of its requests; a piece of
 * a copy is read, kept in its slot, and written. Commands start in order; one that touches what an
 * earlier one writes, or writes what an earlier one touches, waits until that one is done. Pieces
 * are issued oldest command first, over the lanes to memory in turn. */
#include "dma_engine.gen.h"

#include "atomic_op.gen.h"
#include "components/protocols/mem/index_pool.h"
#include "components/protocols/mem/mem_mask.h"
#include "runtime/observe/hang.h"

#define DMA_LONGEST       128u  /* line */
#define DMA_COMMAND_BYTES 4096u /* the payload of a command message */
#define DMA_NONE          UINT32_MAX

struct dma_command {
    uint64_t target; /* of reads: unused */
    uint64_t source; /* of reads, copies and atomics */
    uint64_t value;  /* of atomics */
    uint64_t order;  /* commands taken before */
    uint32_t size;
    uint32_t issued; /* bytes cut into pieces */
    uint32_t finished;
    uint32_t pattern;
    uint16_t tag;
    uint8_t kind; /* enum command_request_kind */
    bool used;
};

struct dma_piece {
    uint64_t target;
    uint32_t command;
    uint32_t offset; /* in the command */
    uint32_t bytes;
    uint32_t next; /* of those whose bytes have been read and wait to be written */
    bool writing;
    uint8_t reserved[7];
    uint8_t data[DMA_LONGEST]; /* the bytes of the target's line, at their places */
};

struct dma_engine {
    struct dma_engine_io io;
    uint32_t commands; /* arena offsets */
    uint32_t data;     /* DMA_COMMAND_BYTES by command: what is to be written, or has been read */
    uint32_t pieces;
    struct index_pool free_pieces;
    uint32_t first_read, last_read; /* pieces to write */
    uint32_t order;                 /* commands with bytes left to cut, a ring by age */
    uint32_t oldest, unissued;
    uint32_t turn; /* lane that is asked first */
    uint32_t used;
    uint32_t complete; /* of these, not answered yet */
    uint64_t taken;
};

static unsigned dma_line(const struct dma_engine *c)
{
    return (unsigned)dma_engine_params(c)->line;
}

static struct dma_command *command_at(const struct dma_engine *c, uint32_t i)
{
    return arena_at(struct dma_command, c->commands) + i;
}

static uint8_t *command_bytes(const struct dma_engine *c, uint32_t i)
{
    return arena_at(uint8_t, c->data) + (size_t)i * DMA_COMMAND_BYTES;
}

static struct dma_piece *piece_at(const struct dma_engine *c, uint32_t i)
{
    return arena_at(struct dma_piece, c->pieces) + i;
}

static uint32_t *order_at(const struct dma_engine *c, uint32_t i)
{
    return arena_at(uint32_t, c->order) + i % (uint32_t)dma_engine_params(c)->commands;
}

static uint32_t command_count(const struct dma_engine *c)
{
    return (uint32_t)dma_engine_params(c)->commands;
}

static void dma_engine_init(struct dma_engine *c)
{
    c->commands = arena_allocate(command_count(c) * sizeof(struct dma_command));
    c->data = arena_allocate(command_count(c) * DMA_COMMAND_BYTES);
    c->pieces = arena_allocate((size_t)dma_engine_params(c)->lines * sizeof(struct dma_piece));
    index_pool_init(&c->free_pieces, (uint32_t)dma_engine_params(c)->lines);
    c->order = arena_allocate(command_count(c) * sizeof(uint32_t));
    c->first_read = DMA_NONE;
    c->last_read = DMA_NONE;
}

static bool overlaps(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

/* From `source`. */
static bool reads(const struct dma_command *k)
{
    return k->kind == COMMAND_READ || k->kind == COMMAND_COPY || k->kind == COMMAND_ATOMIC;
}

static bool conflicts(const struct dma_command *a, const struct dma_command *b)
{
    bool a_reads = reads(a), a_writes = a->kind != COMMAND_READ;
    bool b_reads = reads(b), b_writes = b->kind != COMMAND_READ;
    return (a_writes && b_writes && overlaps(a->target, a->size, b->target, b->size))
           || (a_writes && b_reads && overlaps(a->target, a->size, b->source, b->size))
           || (a_reads && b_writes && overlaps(a->source, a->size, b->target, b->size));
}

/* The command in message `m`; false after engine_fail() when it is none for a DMA engine. */
static bool parse(const struct dma_engine *c, const struct command_request *m,
                  struct dma_command *out)
{
    *out = (struct dma_command){
        .used = true, .tag = m->tag, .kind = (uint8_t)message_kind(m), .order = c->taken};
    switch (message_kind(m)) {
    case COMMAND_WRITE:
        out->target = m->write.address;
        out->size = m->write.size;
        break;
    case COMMAND_READ:
        out->source = m->read.address;
        out->size = m->read.size;
        break;
    case COMMAND_FILL:
        out->target = m->fill.address;
        out->size = m->fill.size;
        out->pattern = m->fill.pattern;
        break;
    case COMMAND_COPY:
        out->target = m->copy.destination;
        out->source = m->copy.source;
        out->size = m->copy.size;
        break;
    case COMMAND_ATOMIC:
        out->target = out->source = m->atomic.address;
        out->size = sizeof(uint64_t);
        out->value = m->atomic.value;
        break;
    default:
        engine_fail(&c->io.base,
                    "a DMA engine takes write, read, fill, copy and atomic, not command kind %u",
                    message_kind(m));
        return false;
    }
    bool inside = message_kind(m) == COMMAND_WRITE || message_kind(m) == COMMAND_READ;
    if (inside && out->size > DMA_COMMAND_BYTES) {
        engine_fail(&c->io.base, "a command of %u bytes; at most %u fit in one", out->size,
                    DMA_COMMAND_BYTES);
        return false;
    }
    return true;
}

static bool take_commands(struct dma_engine *c)
{
    bool progress = false;
    const struct command_request *m;
    while (c->used < command_count(c) && (m = dma_engine_command_peek(c))) {
        struct dma_command new;
        uint32_t slot = DMA_NONE;
        if (!parse(c, m, &new))
            break;
        for (uint32_t i = command_count(c); i-- > 0;) {
            if (!command_at(c, i)->used)
                slot = i;
            else if (conflicts(command_at(c, i), &new))
                return progress;
        }
        *command_at(c, slot) = new;
        if (new.kind == COMMAND_WRITE)
            memcpy(command_bytes(c, slot), command_write_data(dma_engine_command_payload(c)),
                   new.size);
        dma_engine_command_pop(c);
        *order_at(c, c->oldest + c->unissued++) = slot;
        c->complete += new.size == 0;
        c->used++;
        c->taken++;
        progress = true;
    }
    return progress;
}

/* ---- lanes: lane 0 is `mem` ---- */

static uint32_t lane_count(const struct dma_engine *c)
{
    return (uint32_t)dma_engine_params(c)->lanes;
}

/* A lane with room, or DMA_NONE. */
static uint32_t lane_find(const struct dma_engine *c)
{
    for (uint32_t i = 0; i < lane_count(c); i++) {
        uint32_t lane = (c->turn + i) % lane_count(c);
        if (lane ? dma_engine_lane_can_send(c, lane - 1) : dma_engine_mem_can_send(c))
            return lane;
    }
    return DMA_NONE;
}

static void lane_read(struct dma_engine *c, uint32_t lane, uint16_t tag, uint64_t address,
                      uint32_t bytes)
{
    if (lane)
        dma_engine_lane_send_read(c, lane - 1, tag, address, bytes, 0, false);
    else
        dma_engine_mem_send_read(c, tag, address, bytes, 0, false);
}

static void *lane_write(struct dma_engine *c, uint32_t lane, uint16_t tag, uint64_t address)
{
    return lane ? dma_engine_lane_send_write(c, lane - 1, tag, address, 0)
                : dma_engine_mem_send_write(c, tag, address, 0);
}

static void *lane_add(struct dma_engine *c, uint32_t lane, uint16_t tag, uint64_t address)
{
    const enum atomic_op op = ATOMIC_OP_ADD;
    const uint32_t bytes = sizeof(uint64_t);
    return lane ? dma_engine_lane_send_atomic(c, lane - 1, tag, address, 0, op, bytes, true)
                : dma_engine_mem_send_atomic(c, tag, address, 0, op, bytes, true);
}

/* ---- requests ---- */

static void send_write(struct dma_engine *c, uint32_t lane, uint32_t number)
{
    struct dma_piece *p = piece_at(c, number);
    unsigned first = (unsigned)(p->target % dma_line(c));
    void *payload = lane_write(c, lane, (uint16_t)number, p->target - first);
    mem_mask_store(mem_write_mask(payload, dma_line(c)),
                   mem_mask_range(first, p->bytes, dma_line(c)), dma_line(c));
    memcpy(mem_write_data(payload, dma_line(c)), p->data, dma_line(c));
    p->writing = true;
    c->io.stats.bytes_written += p->bytes;
}

static void send_atomic(struct dma_engine *c, uint32_t lane, uint32_t number, uint64_t value)
{
    const struct dma_piece *p = piece_at(c, number);
    unsigned first = (unsigned)(p->target % dma_line(c));
    void *payload = lane_add(c, lane, (uint16_t)number, p->target - first);
    mem_mask_store(mem_atomic_mask(payload, dma_line(c)),
                   mem_mask_range(first, sizeof value, dma_line(c)), dma_line(c));
    memset(mem_atomic_operand(payload, dma_line(c)), 0, dma_line(c));
    memset(mem_atomic_compare(payload, dma_line(c)), 0, dma_line(c));
    memcpy(mem_atomic_operand(payload, dma_line(c)) + first, &value, sizeof value);
    c->io.stats.bytes_read += sizeof value;
    c->io.stats.bytes_written += sizeof value;
}

static uint32_t up_to_line_end(const struct dma_engine *c, uint64_t address, uint32_t bytes)
{
    uint32_t rest = dma_line(c) - (uint32_t)(address % dma_line(c));
    return bytes < rest ? bytes : rest;
}

/* Cuts the next piece off command `i` and makes it ready. */
static uint32_t cut_piece(struct dma_engine *c, uint32_t i)
{
    struct dma_command *command = command_at(c, i);
    uint32_t number = index_pool_take(&c->free_pieces), bytes = command->size - command->issued;
    uint64_t target = command->target + command->issued, source = command->source + command->issued;
    struct dma_piece *p = piece_at(c, number);
    if (command->kind != COMMAND_READ)
        bytes = up_to_line_end(c, target, bytes);
    if (reads(command))
        bytes = up_to_line_end(c, source, bytes);
    p->target = target;
    p->command = i;
    p->offset = command->issued;
    p->bytes = bytes;
    p->next = DMA_NONE;
    p->writing = false;
    command->issued += bytes;
    return number;
}

/* Sends the first request of the next piece of command `i`. */
static void issue(struct dma_engine *c, uint32_t lane, uint32_t i)
{
    const struct dma_command *command = command_at(c, i);
    uint32_t number = cut_piece(c, i);
    struct dma_piece *p = piece_at(c, number);
    if (command->kind == COMMAND_ATOMIC) {
        send_atomic(c, lane, number, command->value);
        return;
    }
    if (command->kind == COMMAND_READ || command->kind == COMMAND_COPY) {
        lane_read(c, lane, (uint16_t)number, command->source + p->offset, p->bytes);
        c->io.stats.bytes_read += p->bytes;
        return;
    }
    uint8_t *to = p->data + p->target % dma_line(c);
    if (command->kind == COMMAND_WRITE)
        memcpy(to, command_bytes(c, i) + p->offset, p->bytes);
    else
        for (uint32_t b = 0; b < p->bytes; b++)
            to[b] = (uint8_t)(command->pattern >> ((p->offset + b) % 4 * 8));
    send_write(c, lane, number);
}

/* The oldest command with bytes left to cut, or DMA_NONE. */
static uint32_t oldest_unissued(struct dma_engine *c)
{
    while (c->unissued) {
        uint32_t i = *order_at(c, c->oldest);
        if (command_at(c, i)->issued < command_at(c, i)->size)
            return i;
        c->oldest++;
        c->unissued--;
    }
    return DMA_NONE;
}

/* What has been read is written first, so that slots come free. */
static bool send_requests(struct dma_engine *c)
{
    bool progress = false;
    for (;;) {
        uint32_t i = c->first_read == DMA_NONE && index_pool_has(&c->free_pieces)
                         ? oldest_unissued(c)
                         : DMA_NONE;
        if (c->first_read == DMA_NONE && i == DMA_NONE)
            return progress;
        uint32_t lane = lane_find(c);
        if (lane == DMA_NONE)
            return progress;
        if (c->first_read != DMA_NONE) {
            uint32_t number = c->first_read;
            c->first_read = piece_at(c, number)->next;
            send_write(c, lane, number);
        } else {
            issue(c, lane, i);
        }
        c->turn = lane + 1;
        progress = true;
    }
}

/* The line of a piece is there, or its bytes are written. */
static void take_answer(struct dma_engine *c, uint16_t number, const void *payload)
{
    struct dma_piece *p = piece_at(c, number);
    struct dma_command *command = command_at(c, p->command);
    const uint8_t *bytes = mem_data_data((void *)(uintptr_t)payload, dma_line(c));
    bytes += (command->source + p->offset) % dma_line(c);
    if (command->kind == COMMAND_COPY && !p->writing) {
        memcpy(p->data + p->target % dma_line(c), bytes, p->bytes);
        if (c->first_read == DMA_NONE)
            c->first_read = number;
        else
            piece_at(c, c->last_read)->next = number;
        c->last_read = number;
        return;
    }
    if (command->kind == COMMAND_READ || command->kind == COMMAND_ATOMIC)
        memcpy(command_bytes(c, p->command) + p->offset, bytes, p->bytes);
    command->finished += p->bytes;
    c->complete += command->finished == command->size;
    index_pool_give(&c->free_pieces, number);
}

static bool take_answers(struct dma_engine *c)
{
    bool progress = false;
    const struct mem_reply *m;
    while ((m = dma_engine_mem_peek_reply(c))) {
        take_answer(c, m->tag, dma_engine_mem_reply_payload(c));
        dma_engine_mem_pop_reply(c);
        progress = true;
    }
    for (uint32_t i = 0; i + 1 < lane_count(c); i++) {
        while ((m = dma_engine_lane_peek_reply(c, i))) {
            take_answer(c, m->tag, dma_engine_lane_reply_payload(c, i));
            dma_engine_lane_pop_reply(c, i);
            progress = true;
        }
    }
    return progress;
}

static bool finish_commands(struct dma_engine *c)
{
    bool progress = false;
    for (uint32_t i = 0; i < command_count(c) && c->complete; i++) {
        struct dma_command *command = command_at(c, i);
        if (!command->used || command->finished < command->size || !dma_engine_command_can_reply(c))
            continue;
        if (command->kind == COMMAND_READ || command->kind == COMMAND_ATOMIC)
            memcpy(command_data_data(dma_engine_command_reply_data(c, command->tag, command->size)),
                   command_bytes(c, i), command->size);
        else
            dma_engine_command_reply_done(c, command->tag);
        command->used = false;
        c->used--;
        c->complete--;
        c->io.stats.commands_done++;
        progress = true;
    }
    return progress;
}

static bool dma_engine_tick(struct dma_engine *c)
{
    bool progress = take_answers(c);
    progress |= finish_commands(c);
    progress |= take_commands(c);
    return send_requests(c) || progress;
}

static unsigned dma_engine_outstanding(const struct dma_engine *c, struct hang_report *report)
{
    for (uint32_t i = 0; report && i < command_count(c); i++)
        if (command_at(c, i)->used)
            hang_note(report, "a command of %u bytes is %u bytes done", command_at(c, i)->size,
                      command_at(c, i)->finished);
    return c->used;
}
