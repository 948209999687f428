/* Queues of SDMA engines.
 *
 * Packets begin in order. Copies and fills go to a queue of the driver, where the GPU's DMA engine
 * takes the time for them and does one after the other; neighbours overlap as far as the engine
 * can. Any other packet begins when all before it are over, at that moment of simulated time. A
 * copy between memory of the host and of a GPU crosses the link.
 *
 * The ring is counted in bytes from 0 on; gfx8 has pointers and doorbells of 32 bits that begin
 * again at the end of the ring, gfx9 has 64 bits that never wrap (ROCr, BlitSdma). */
#include "kfd_sdma_queue.h"

#include <linux/kfd_ioctl.h>
#include <stdio.h>

#include "kfd_sdma_packet.h"

enum {
    COPIES_MAX = 64, /* copies of a queue that are with the driver */
    RING_LEAST = 1024,
    WORD = sizeof(uint32_t)
};

bool kfd_sdma_is_type(uint32_t queue_type)
{
    return queue_type == KFD_IOC_QUEUE_TYPE_SDMA || queue_type == KFD_IOC_QUEUE_TYPE_SDMA_XGMI;
}

bool kfd_sdma_ring_size(uint64_t bytes)
{
    return bytes >= RING_LEAST && !(bytes & (bytes - 1));
}

static bool is_gfx8(uint32_t gpu)
{
    return kfd.gpu[gpu].traits->encoding == ISA_ENCODING_GFX8;
}

/* num_sdma_queues_per_engine (kfd_device.c of Linux): as the topology says. */
uint32_t kfd_sdma_queues(uint32_t gpu)
{
    return kfd.gpu[gpu].info.dma_engines * (is_gfx8(gpu) ? 2 : 8);
}

/* ---- what packets do ---- */

static enum kfd_turn stop_at(struct kfd_queue *q, const char *what, uint64_t address,
                             uint64_t bytes)
{
    char reason[160];
    snprintf(reason, sizeof reason, "%s %llu bytes at 0x%llx, which are not in memory of the GPU",
             what, (unsigned long long)bytes, (unsigned long long)address);
    kfd_queue_fault(q, reason, address);
    return TURN_OVER;
}

static bool is_at_host(const struct kfd_queue *q, uint64_t address)
{
    return kfd_find_allocation(q->process, address)->is_at_host;
}

/* The driver's command is under way, or it was refused. */
static enum kfd_turn take_ticket(struct kfd_queue *q, enum driver_status status, uint64_t ticket)
{
    if (kfd_status(status, "an SDMA queue") == 0) {
        kfd_packet_track(q, ticket, 0);
        return TURN_BEGUN;
    }
    if (!kfd.has_ended)
        kfd_queue_stop(q, STOP_PACKET, "the driver refuses a copy");
    return TURN_OVER;
}

/* The link sees what is in memory, so what kernels have left in caches comes first. */
static int settle_copies(struct kfd_queue *q)
{
    bool left = kfd_queues_unreleased(q->process);
    kfd_queues_released(q->process, q);
    return left ? kfd_status(kfd.api->fence(q->driver, NULL), "a fence") : 0;
}

static enum kfd_turn begin_row(struct kfd_queue *q, uint64_t to, uint64_t from, uint64_t bytes)
{
    uint64_t ticket = 0;
    char *target = kfd_queue_bytes(q, to, bytes), *source = kfd_queue_bytes(q, from, bytes);
    if (!target || !source)
        return target ? stop_at(q, "a copy reads", from, bytes)
                      : stop_at(q, "a copy writes", to, bytes);
    bool to_host = is_at_host(q, to), from_host = is_at_host(q, from);
    if ((to_host || from_host) && settle_copies(q) != 0)
        return TURN_OVER;
    enum driver_status status = to_host == from_host
                                    ? kfd.api->copy(q->driver, to, from, bytes, &ticket)
                                : to_host ? kfd.api->read(q->driver, target, from, bytes, &ticket)
                                          : kfd.api->write(q->driver, to, source, bytes, &ticket);
    return take_ticket(q, status, ticket);
}

/* Rows that follow each other without a gap on both sides are one. */
static void join_rows(struct sdma_packet *p)
{
    if (p->to_pitch.row == p->bytes && p->from_pitch.row == p->bytes) {
        p->bytes *= p->rows;
        p->rows = 1;
    }
    if (p->rows == 1 && p->to_pitch.slice == p->bytes && p->from_pitch.slice == p->bytes) {
        p->bytes *= p->slices;
        p->slices = 1;
    }
}

/* Goes on with a copy, from row `q->sdma.row` of all slices on. */
static enum kfd_turn begin_copy(struct kfd_queue *q, struct sdma_packet *p)
{
    join_rows(p);
    uint64_t rows = p->bytes ? (uint64_t)p->rows * p->slices : 0;
    for (; q->sdma.row < rows; q->sdma.row++) {
        uint64_t row = q->sdma.row % p->rows, slice = q->sdma.row / p->rows;
        if (q->count == COPIES_MAX)
            return TURN_WAITS;
        enum kfd_turn turn =
            begin_row(q, p->to + row * p->to_pitch.row + slice * p->to_pitch.slice,
                      p->from + row * p->from_pitch.row + slice * p->from_pitch.slice, p->bytes);
        if (turn != TURN_BEGUN)
            return turn;
    }
    q->sdma.row = 0;
    return TURN_BEGUN;
}

static enum kfd_turn begin_fill(struct kfd_queue *q, struct sdma_packet *p)
{
    uint64_t ticket = 0;
    if (!p->bytes)
        return TURN_BEGUN;
    if (q->count == COPIES_MAX)
        return TURN_WAITS;
    if (!kfd_queue_bytes(q, p->to, p->bytes))
        return stop_at(q, "a fill writes", p->to, p->bytes);
    enum driver_status status =
        kfd.api->fill(q->driver, p->to, &p->data, p->data_bytes, p->bytes / p->data_bytes, &ticket);
    return take_ticket(q, status, ticket);
}

static enum kfd_turn begin_nop(struct kfd_queue *q, struct sdma_packet *p)
{
    (void)q, (void)p;
    return TURN_BEGUN;
}

static enum kfd_turn begin_fence(struct kfd_queue *q, struct sdma_packet *p)
{
    uint32_t *at = kfd_queue_bytes(q, p->to, sizeof *at);
    if (!at)
        return stop_at(q, "a fence writes", p->to, sizeof *at);
    __atomic_store_n(at, p->data, __ATOMIC_SEQ_CST);
    return TURN_BEGUN;
}

static bool compare_words(uint8_t operation, uint32_t a, uint32_t b)
{
    switch ((enum sdma_compare)operation) {
    case SDMA_ALWAYS:
        return true;
    case SDMA_LESS:
        return a < b;
    case SDMA_LESS_OR_EQUAL:
        return a <= b;
    case SDMA_EQUAL:
        return a == b;
    case SDMA_UNEQUAL:
        return a != b;
    case SDMA_GREATER_OR_EQUAL:
        return a >= b;
    case SDMA_GREATER:
        return a > b;
    }
    return false;
}

static enum kfd_turn begin_poll(struct kfd_queue *q, struct sdma_packet *p)
{
    const uint32_t *at = kfd_queue_bytes(q, p->from, sizeof *at);
    if (!at)
        return stop_at(q, "a poll reads", p->from, sizeof *at);
    uint32_t value = __atomic_load_n(at, __ATOMIC_SEQ_CST) & p->mask;
    return compare_words(p->operation, value, p->data) ? TURN_BEGUN : TURN_WAITS;
}

static uint64_t apply_atomic(const struct sdma_packet *p, uint64_t old)
{
    switch ((enum sdma_atomic)p->operation) {
    case SDMA_SWAP:
    case SDMA_COMPARE_SWAP:
        return p->operand;
    case SDMA_ADD:
        return old + p->operand;
    case SDMA_SUBTRACT:
        return old - p->operand;
    case SDMA_AND:
        return old & p->operand;
    case SDMA_OR:
        return old | p->operand;
    case SDMA_XOR:
        return old ^ p->operand;
    }
    return old;
}

/* Threads of the program change the word at the same time. */
static enum kfd_turn begin_atomic(struct kfd_queue *q, struct sdma_packet *p)
{
    uint64_t *at = kfd_queue_bytes(q, p->to, p->data_bytes);
    bool whole = p->data_bytes == sizeof *at, compares = p->operation == SDMA_COMPARE_SWAP;
    uint32_t *half = (uint32_t *)(void *)at, old_half;
    uint64_t old, mask = whole ? UINT64_MAX : UINT32_MAX;
    if (!at)
        return stop_at(q, "an atomic changes", p->to, p->data_bytes);
    do {
        old =
            whole ? __atomic_load_n(at, __ATOMIC_SEQ_CST) : __atomic_load_n(half, __ATOMIC_SEQ_CST);
        if (compares && old != (p->compare & mask))
            return p->is_retried ? TURN_WAITS : TURN_BEGUN;
        old_half = (uint32_t)old;
    } while (whole ? !__atomic_compare_exchange_n(at, &old, apply_atomic(p, old), false,
                                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
                   : !__atomic_compare_exchange_n(half, &old_half, (uint32_t)apply_atomic(p, old),
                                                  false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return TURN_BEGUN;
}

static enum kfd_turn begin_timestamp(struct kfd_queue *q, struct sdma_packet *p)
{
    uint64_t *at = kfd_queue_bytes(q, p->to, sizeof *at);
    if (!at)
        return stop_at(q, "a timestamp writes", p->to, sizeof *at);
    __atomic_store_n(at, kfd_clock_at(q->process, kfd.api->now()), __ATOMIC_SEQ_CST);
    return TURN_BEGUN;
}

static enum kfd_turn begin_trap(struct kfd_queue *q, struct sdma_packet *p)
{
    kfd_event_interrupt(q->process, p->data);
    return TURN_BEGUN;
}

/* Packets of the buffer follow, then those after this one. */
static enum kfd_turn begin_indirect(struct kfd_queue *q, struct sdma_packet *p)
{
    if (q->sdma.left) {
        kfd_queue_stop(q, STOP_PACKET, "an indirect buffer leads to another one");
        return TURN_OVER;
    }
    if (p->bytes && !kfd_queue_bytes(q, p->from, p->bytes))
        return stop_at(q, "an indirect buffer has", p->from, p->bytes);
    q->sdma.buffer = p->from;
    q->sdma.left = p->bytes;
    return TURN_BEGUN;
}

static const struct {
    bool overlaps; /* need not wait for what is under way */
    enum kfd_turn (*begin)(struct kfd_queue *q, struct sdma_packet *p);
} kinds[] = {
    [SDMA_NOP] = {true, begin_nop},
    [SDMA_COPY] = {true, begin_copy},
    [SDMA_FILL] = {true, begin_fill},
    [SDMA_FENCE] = {false, begin_fence},
    [SDMA_POLL] = {false, begin_poll},
    [SDMA_ATOMIC] = {false, begin_atomic},
    [SDMA_TIMESTAMP] = {false, begin_timestamp},
    [SDMA_TRAP] = {false, begin_trap},
    [SDMA_INDIRECT] = {true, begin_indirect},
};

/* ---- rings ---- */

/* Reads the packet at byte `start` of the ring, or at an address in an indirect buffer, of which
 * `bytes` are there. NULL, or what is wrong. */
static const char *read_packet(const struct kfd_queue *q, bool in_buffer, uint64_t start,
                               uint64_t bytes, struct sdma_packet *p)
{
    uint32_t word[SDMA_WORDS_MAX] = {0};
    for (uint64_t i = 0; i < SDMA_WORDS_MAX && i < bytes / WORD; i++) {
        uint64_t byte = start + i * WORD;
        const uint32_t *at =
            kfd_queue_bytes(q, in_buffer ? byte : q->ring + byte % q->sdma.ring_bytes, WORD);
        if (!at)
            return "its packets are not in memory of the GPU any more";
        word[i] = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    }
    return kfd_sdma_decode(!is_gfx8(q->gpu), word, bytes / WORD, p);
}

/* Passes a packet, and lets the program use its words again. */
static bool advance_ring(struct kfd_queue *q, bool in_buffer, uint64_t bytes)
{
    if (in_buffer) {
        q->sdma.buffer += bytes;
        q->sdma.left -= bytes;
        return true;
    }
    q->next += bytes;
    uint64_t *read = kfd_queue_bytes(q, q->read_pointer, is_gfx8(q->gpu) ? 4 : 8);
    if (!read) {
        kfd_queue_stop(q, STOP_OTHER, "its read pointer is not in memory of the GPU any more");
        return false;
    }
    if (is_gfx8(q->gpu))
        __atomic_store_n((uint32_t *)(void *)read, (uint32_t)(q->next % q->sdma.ring_bytes),
                         __ATOMIC_RELEASE);
    else
        __atomic_store_n(read, q->next, __ATOMIC_RELEASE);
    return true;
}

bool kfd_sdma_begin(struct kfd_queue *q)
{
    bool begun = false;
    while (!q->is_stopped && (q->sdma.left || q->next < q->announced_end)) {
        struct sdma_packet p;
        bool in_buffer = q->sdma.left != 0;
        const char *wrong = in_buffer
                                ? read_packet(q, true, q->sdma.buffer, q->sdma.left, &p)
                                : read_packet(q, false, q->next, q->announced_end - q->next, &p);
        if (wrong) {
            kfd_queue_stop(q, STOP_PACKET, wrong);
            break;
        }
        if ((q->count && !kinds[p.kind].overlaps) || kinds[p.kind].begin(q, &p) != TURN_BEGUN
            || !advance_ring(q, in_buffer, (uint64_t)p.words * WORD))
            break;
        begun = true;
    }
    return begun;
}

/* True if a packet among those from `start` on sends an interrupt. */
static bool packet_interrupts(const struct kfd_queue *q, uint64_t start)
{
    struct sdma_packet p;
    while (start < q->announced_end
           && !read_packet(q, false, start, q->announced_end - start, &p)) {
        if (p.kind == SDMA_TRAP)
            return true;
        start += (uint64_t)p.words * WORD;
    }
    return false;
}

bool kfd_sdma_read_doorbell(struct kfd_queue *q, uint64_t value)
{
    uint64_t before = q->announced_end, announced = value;
    if (is_gfx8(q->gpu)) /* where the next packet will be in the ring */
        announced = before + (value - before) % q->sdma.ring_bytes;
    if (value % WORD || announced < before || announced - q->next > q->sdma.ring_bytes) {
        kfd_queue_stop(q, STOP_OTHER, "its doorbell announces what its ring cannot hold");
        return false;
    }
    q->announced_end = announced;
    return !packet_interrupts(q, before) || announced - q->next > q->sdma.ring_bytes / 2;
}
