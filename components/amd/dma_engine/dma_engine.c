/* Copies and fills for a GPU, line by line.
 *
 * A command is cut into pieces that stay inside one line of the target and, for copies, one line of
 * the source. Each piece in flight has a slot, whose number is the tag of its requests. Bytes to be
 * written go from the command into the request, and bytes read from the answer into the command; a
 * piece of a copy is read, kept with its slot, and written. Commands start in order. A command
 * waits for an earlier one to end if one of the two writes bytes that the other touches. Pieces are
 * issued oldest command first, over the lanes to memory in turn.
 *
 * Lanes are `mem` and the array `lane` after it, which the engine knows by the places of their
 * rings: a line costs too little to find them anew each time. */
#include "atomic_op.gen.h"
#include "dma_engine.gen.h"

#include "base/likely.h"
#include "base/number.h"
#include "components/protocols/mem/mem_mask.h"
#include "runtime/engine/component_failure.h"
#include "runtime/observe/hang.h"

#include "dma_state.h"

static void find_lanes(struct dma_engine *c)
{
    struct dma_lane *lanes = arena_at(struct dma_lane, c->lanes_at);
    lanes[0] = (struct dma_lane){.request = c->io.mem_request, .reply = c->io.mem_reply};
    for (uint32_t i = 1; i < lane_count(c); i++) {
        uint32_t pair = 2 * (c->io.lane_first + i - 1);
        lanes[i] = (struct dma_lane){.request = port_place(pair), .reply = port_place(pair + 1)};
    }
}

static void dma_engine_init(struct dma_engine *c)
{
    uint32_t lines = dma_engine_params(c)->lines;
    c->commands_at = arena_allocate(command_count(c) * sizeof(struct dma_command));
    c->data_at = arena_allocate(command_count(c) * DMA_COMMAND_BYTES);
    c->pieces_at = arena_allocate(lines * sizeof(struct dma_piece));
    c->target_lines_at = arena_allocate((size_t)lines * DMA_LONGEST);
    index_pool_init(&c->free_pieces, lines);
    c->order_at = arena_allocate(command_count(c) * sizeof(uint32_t));
    c->used_bits_at = arena_allocate(command_words(c) * sizeof(uint64_t));
    c->complete_bits_at = arena_allocate(command_words(c) * sizeof(uint64_t));
    c->lanes_at = arena_allocate(lane_count(c) * sizeof(struct dma_lane));
    c->first_read = DMA_NONE;
    c->last_read = DMA_NONE;
    find_lanes(c);
}

static bool ranges_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

/* From `source`. */
static bool reads_source(const struct dma_command *k)
{
    const uint32_t kinds = 1u << COMMAND_READ | 1u << COMMAND_COPY | 1u << COMMAND_ATOMIC;
    return kinds >> k->kind & 1;
}

static bool commands_conflict(const struct dma_command *a, const struct dma_command *b)
{
    bool a_reads = reads_source(a), a_writes = a->kind != COMMAND_READ;
    bool b_reads = reads_source(b), b_writes = b->kind != COMMAND_READ;
    return (a_writes && b_writes && ranges_overlap(a->target, a->size, b->target, b->size))
           || (a_writes && b_reads && ranges_overlap(a->target, a->size, b->source, b->size))
           || (a_reads && b_writes && ranges_overlap(a->source, a->size, b->target, b->size));
}

/* The command in message `m`; false after engine_fail() when it is none for a DMA engine. */
static bool parse(const struct dma_engine *c, const struct command_request *m,
                  struct dma_command *out)
{
    *out = (struct dma_command){.tag = m->tag, .kind = (uint8_t)message_kind(m)};
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

/* A slot for the command, the lowest that is free, or DMA_NONE: it waits for an earlier one.
 * At least one is free. */
static uint32_t slot_for(const struct dma_engine *c, const struct dma_command *command)
{
    const uint64_t *used = command_bits(c->used_bits_at);
    uint32_t slot = DMA_NONE;
    for (uint32_t w = 0; w < command_words(c); w++) {
        for (uint64_t bits = used[w]; bits; bits &= bits - 1)
            if (commands_conflict(command_at(c, w * 64 + (uint32_t)__builtin_ctzll(bits)), command))
                return DMA_NONE;
        if (slot == DMA_NONE && ~used[w])
            slot = w * 64 + (uint32_t)__builtin_ctzll(~used[w]);
    }
    return slot;
}

/* All its bytes have been moved. */
static void complete(struct dma_engine *c, uint32_t command)
{
    command_bits(c->complete_bits_at)[command / 64] |= bit_of(command);
    c->complete_count++;
}

static bool accept_commands(struct dma_engine *c)
{
    bool progress = false;
    const struct command_request *m;
    while (c->used_count < command_count(c) && (m = dma_engine_command_peek(c))) {
        struct dma_command command;
        uint32_t slot;
        if (!parse(c, m, &command) || (slot = slot_for(c, &command)) == DMA_NONE)
            break;
        *command_at(c, slot) = command;
        if (command.kind == COMMAND_WRITE)
            memcpy(command_bytes(c, slot), command_write_data(dma_engine_command_payload(c)),
                   command.size);
        dma_engine_command_pop(c);
        *order_at(c, c->oldest + c->unissued++) = slot;
        command_bits(c->used_bits_at)[slot / 64] |= bit_of(slot);
        c->used_count++;
        if (command.size == 0)
            complete(c, slot);
        progress = true;
    }
    return progress;
}

/* ---- requests ---- */

/* The ring of a lane with room for a request, or NULL. */
static struct ring *lane_find(struct dma_engine *c)
{
    const struct dma_lane *lanes = arena_at(struct dma_lane, c->lanes_at);
    uint64_t limit = c->io.base.limit;
    uint32_t lane = c->next_lane;
    for (uint32_t i = 0; i < lane_count(c); i++) {
        struct ring *r = ring_placed(lanes[lane].request);
        lane = lane + 1 == lane_count(c) ? 0 : lane + 1;
        /* An engine that has sent something is ticked in the next cycle anyway. */
        if (!ring_has_had_its_cycle(r, limit) && ring_ask_room(r, limit)) {
            c->next_lane = lane;
            return r;
        }
    }
    return NULL;
}

/* The message that send_request() will send. */
static struct mem_request *next_request(const struct ring *lane)
{
    return (struct mem_request *)(void *)ring_slot(lane->tail);
}

static void send_request(struct dma_engine *c, struct ring *lane, enum mem_request_kind kind,
                         uint32_t number)
{
    next_request(lane)->tag = (uint16_t)number;
    ring_post(lane, c->io.base.limit, kind, 1);
}

static void put_read(struct dma_engine *c, const struct ring *lane, uint64_t address,
                     uint32_t bytes)
{
    struct mem_request *m = next_request(lane);
    m->read.address = address;
    m->read.size = bytes;
    m->read.pid = 0;
    m->read.coherent = false;
    c->io.stats.bytes_read += bytes;
}

/* The request that writes piece `number`; returns where its bytes go. */
static uint8_t *put_write(struct dma_engine *c, const struct ring *lane, uint32_t number)
{
    struct dma_piece *p = piece_at(c, number);
    struct mem_request *m = next_request(lane);
    void *payload = ring_payload(lane->tail);
    unsigned first = (unsigned)(p->target % dma_line(c));
    m->write.address = p->target - first;
    m->write.pid = 0;
    m->write.scope = SCOPE_WAVEFRONT;
    mem_mask_store(mem_write_mask(payload, dma_line(c)),
                   mem_mask_range(first, p->bytes, dma_line(c)), dma_line(c));
    p->is_writing = true;
    c->io.stats.bytes_written += p->bytes;
    return mem_write_data(payload, dma_line(c)) + first;
}

static void send_atomic(struct dma_engine *c, struct ring *lane, uint32_t number, uint64_t value)
{
    const struct dma_piece *p = piece_at(c, number);
    struct mem_request *m = next_request(lane);
    void *payload = ring_payload(lane->tail);
    unsigned first = (unsigned)(p->target % dma_line(c));
    m->atomic.address = p->target - first;
    m->atomic.pid = 0;
    m->atomic.op = ATOMIC_OP_ADD;
    m->atomic.size = sizeof value;
    m->atomic.returns = true;
    mem_mask_store(mem_atomic_mask(payload, dma_line(c)),
                   mem_mask_range(first, sizeof value, dma_line(c)), dma_line(c));
    memset(mem_atomic_operand(payload, dma_line(c)), 0, dma_line(c));
    memset(mem_atomic_compare(payload, dma_line(c)), 0, dma_line(c));
    memcpy(mem_atomic_operand(payload, dma_line(c)) + first, &value, sizeof value);
    c->io.stats.bytes_read += sizeof value;
    c->io.stats.bytes_written += sizeof value;
    send_request(c, lane, MEM_ATOMIC, number);
}

/* A line, nearly always. */
static void copy_bytes(const struct dma_engine *c, void *to, const void *from, uint32_t bytes)
{
    if (likely(bytes == dma_line(c)))
        memcpy(to, from, dma_line(c));
    else
        memcpy(to, from, bytes);
}

static uint32_t up_to_line_end(const struct dma_engine *c, uint64_t address, uint32_t bytes)
{
    uint32_t rest = dma_line(c) - (uint32_t)(address % dma_line(c));
    return min(bytes, rest);
}

/* Cuts the next piece off command `i` and makes it ready. */
static uint32_t cut_piece(struct dma_engine *c, uint32_t i)
{
    struct dma_command *command = command_at(c, i);
    uint32_t number = index_pool_acquire(&c->free_pieces), bytes = command->size - command->issued;
    uint64_t target = command->target + command->issued, source = command->source + command->issued;
    struct dma_piece *p = piece_at(c, number);
    if (command->kind != COMMAND_READ)
        bytes = up_to_line_end(c, target, bytes);
    if (reads_source(command))
        bytes = up_to_line_end(c, source, bytes);
    p->target = target;
    p->command = i;
    p->offset = command->issued;
    p->bytes = bytes;
    p->next = DMA_NONE;
    p->is_writing = false;
    command->issued += bytes;
    return number;
}

/* Bytes offset .. offset + bytes - 1 of a pattern that is repeated. */
static void fill_bytes(uint8_t *to, uint32_t pattern, uint32_t offset, uint32_t bytes)
{
    unsigned turn = offset % 4 * 8;
    uint64_t turned = pattern >> turn | pattern << (-turn % 32), twice = turned << 32 | turned;
    for (; bytes >= sizeof twice; bytes -= sizeof twice, to += sizeof twice)
        memcpy(to, &twice, sizeof twice);
    memcpy(to, &twice, bytes);
}

/* Sends the first request of the next piece of command `i`. */
static void issue_piece(struct dma_engine *c, struct ring *lane, uint32_t i)
{
    const struct dma_command *command = command_at(c, i);
    uint32_t number = cut_piece(c, i);
    const struct dma_piece *p = piece_at(c, number);
    switch (command->kind) {
    case COMMAND_WRITE:
        copy_bytes(c, put_write(c, lane, number), command_bytes(c, i) + p->offset, p->bytes);
        send_request(c, lane, MEM_WRITE, number);
        break;
    case COMMAND_FILL:
        fill_bytes(put_write(c, lane, number), command->pattern, p->offset, p->bytes);
        send_request(c, lane, MEM_WRITE, number);
        break;
    case COMMAND_ATOMIC:
        send_atomic(c, lane, number, command->value);
        break;
    default:
        put_read(c, lane, command->source + p->offset, p->bytes);
        send_request(c, lane, MEM_READ, number);
    }
}

/* Writes the bytes that a piece of a copy has read. */
static void send_kept(struct dma_engine *c, struct ring *lane, uint32_t number)
{
    const struct dma_piece *p = piece_at(c, number);
    copy_bytes(c, put_write(c, lane, number), target_line_at(c, number) + p->target % dma_line(c),
               p->bytes);
    send_request(c, lane, MEM_WRITE, number);
}

/* Issues as much of command `i` as lanes and slots allow. True if something was issued. */
static bool issue_command(struct dma_engine *c, uint32_t i)
{
    const struct dma_command *command = command_at(c, i);
    struct ring *lane;
    bool progress = false;
    while (command->issued < command->size && index_pool_has(&c->free_pieces)
           && (lane = lane_find(c))) {
        issue_piece(c, lane, i);
        progress = true;
    }
    return progress;
}

/* Bytes that have been read are written first, so that slots come free. */
static bool send_requests(struct dma_engine *c)
{
    bool progress = false;
    while (c->first_read != DMA_NONE) {
        uint32_t number = c->first_read;
        struct ring *lane = lane_find(c);
        if (!lane)
            return progress;
        c->first_read = piece_at(c, number)->next;
        send_kept(c, lane, number);
        progress = true;
    }
    while (c->unissued) {
        uint32_t i = *order_at(c, c->oldest);
        const struct dma_command *command = command_at(c, i);
        progress |= issue_command(c, i);
        if (command->issued < command->size)
            break;
        c->oldest++;
        c->unissued--;
    }
    return progress;
}

/* The bytes of a piece of a copy are there. */
static void keep_bytes(struct dma_engine *c, uint16_t number, const uint8_t *bytes)
{
    const struct dma_piece *p = piece_at(c, number);
    copy_bytes(c, target_line_at(c, number) + p->target % dma_line(c), bytes, p->bytes);
    if (c->first_read == DMA_NONE)
        c->first_read = number;
    else
        piece_at(c, c->last_read)->next = number;
    c->last_read = number;
}

/* The line of a piece is there, or its bytes are written. */
static void receive_answer(struct dma_engine *c, uint16_t number, void *payload)
{
    const struct dma_piece *p = piece_at(c, number);
    struct dma_command *command = command_at(c, p->command);
    if (reads_source(command) && !p->is_writing) {
        const uint8_t *bytes = mem_data_data(payload, dma_line(c));
        bytes += (command->source + p->offset) % dma_line(c);
        if (command->kind == COMMAND_COPY) {
            keep_bytes(c, number, bytes);
            return;
        }
        copy_bytes(c, command_bytes(c, p->command) + p->offset, bytes, p->bytes);
    }
    command->bytes_done += p->bytes;
    if (command->bytes_done == command->size)
        complete(c, p->command);
    index_pool_release(&c->free_pieces, number);
}

/* Bits of incoming rings: that of commands, then those of the lanes in order. */
static bool receive_answers(struct dma_engine *c)
{
    const struct dma_lane *lanes = arena_at(struct dma_lane, c->lanes_at);
    uint64_t limit = c->io.base.limit;
    bool progress = false;
    for (uint32_t w = 0; w <= lane_count(c) / 64; w++) {
        uint64_t bits = component_pending(&c->io.base, w);
        for (bits &= w ? UINT64_MAX : ~(uint64_t)1; bits; bits &= bits - 1) {
            uint32_t lane = w * 64 + (uint32_t)__builtin_ctzll(bits) - 1;
            struct ring *r = ring_placed(lanes[lane].reply);
            const struct message *m;
            while ((m = ring_oldest(r, limit))) {
                receive_answer(c, m->tag, ring_payload(r->head));
                progress = true;
                if (!ring_drop(r, limit))
                    break;
            }
        }
    }
    return progress;
}

/* Answers a command, for which there is room. */
static void finish_command(struct dma_engine *c, uint32_t i)
{
    const struct dma_command *command = command_at(c, i);
    if (command->kind == COMMAND_READ || command->kind == COMMAND_ATOMIC)
        memcpy(command_data_data(dma_engine_command_reply_data(c, command->tag, command->size)),
               command_bytes(c, i), command->size);
    else
        dma_engine_command_reply_done(c, command->tag);
    command_bits(c->used_bits_at)[i / 64] &= ~bit_of(i);
    command_bits(c->complete_bits_at)[i / 64] &= ~bit_of(i);
    c->used_count--;
    c->complete_count--;
    c->io.stats.commands_done++;
}

static bool finish_commands(struct dma_engine *c)
{
    bool progress = false;
    if (!c->complete_count)
        return false;
    for (uint32_t w = 0; w < command_words(c); w++) {
        for (uint64_t bits = command_bits(c->complete_bits_at)[w]; bits; bits &= bits - 1) {
            if (!dma_engine_command_can_reply(c))
                return progress;
            finish_command(c, w * 64 + (uint32_t)__builtin_ctzll(bits));
            progress = true;
        }
    }
    return progress;
}

static bool dma_engine_tick(struct dma_engine *c)
{
    bool progress = receive_answers(c);
    progress |= finish_commands(c);
    progress |= accept_commands(c);
    return send_requests(c) || progress;
}

static unsigned dma_engine_outstanding(const struct dma_engine *c, struct hang_report *report)
{
    if (report)
        for (uint32_t i = 0; i < command_count(c); i++)
            if (command_bits(c->used_bits_at)[i / 64] & bit_of(i))
                hang_note(report, "a command of %u bytes is %u bytes done", command_at(c, i)->size,
                          command_at(c, i)->bytes_done);
    return c->used_count;
}
