/* Random reads, writes, atomics and fences with every answer checked.
 *
 * `expected` holds what the memory must hold: bytes are written there when the request is sent, and
 * since a line has at most one request in flight, nothing that comes back can depend on the order
 * in which the system serves requests. Request number n is a function of (seed, instance, n) alone:
 * trying again in a later cycle draws the same request, so ticks that send nothing change nothing.
 */
#include "atomic_op.gen.h"
#include "tester.gen.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/splitmix64.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/index_pool.h"
#include "runtime/observe/hang.h"

#define PROBES                                                                                     \
    8 /* lines tried for one request before the tick gives up until an answer frees one */
#define ELEMENT 4 /* bytes of the elements that atomics add to */

struct tester_request {
    uint64_t sent;
    uint32_t line;
    uint16_t kind; /* enum mem_request_kind */
    uint16_t tag;
};

struct tester {
    struct tester_io io;
    uint64_t issued, answered;
    struct index_pool free;
    uint32_t in_flight_at; /* arena: struct tester_request, by tag */
    uint32_t busy_at;      /* arena: one byte a line */
    uint32_t expected_at;  /* arena: span bytes */
    uint32_t before_at;    /* arena: a line for each tag: what an atomic must answer with */
};

static uint32_t line_bytes(const struct tester *c)
{
    return tester_params(c)->line;
}

static uint8_t *expected_line(const struct tester *c, uint32_t line)
{
    return arena_at(uint8_t, c->expected_at) + (size_t)line * line_bytes(c);
}

static uint64_t mix(uint64_t x)
{
    return splitmix64(&x);
}

static uint64_t draw(const struct tester *c, uint32_t what)
{
    uint64_t stream = mix(tester_params(c)->seed << 32 | c->io.base.leaf);
    return mix(stream ^ mix(c->issued << 8 | what));
}

static void tester_init(struct tester *c)
{
    uint32_t tags = tester_params(c)->outstanding;
    index_pool_init(&c->free, tags);
    c->in_flight_at = arena_allocate(tags * sizeof(struct tester_request));
    c->before_at = arena_allocate((size_t)tags * line_bytes(c));
    c->busy_at = arena_allocate(tester_params(c)->lines);
    c->expected_at = arena_allocate(tester_params(c)->span);
}

/* Finds a line without a request in flight. False: it is none of those tried. */
static bool pick_line(const struct tester *c, uint32_t *line)
{
    uint32_t lines = tester_params(c)->lines;
    uint32_t first = (uint32_t)(draw(c, 0) % lines);
    for (uint32_t i = 0; i < PROBES && i < lines; i++) {
        *line = (first + i) % lines;
        if (!arena_at(uint8_t, c->busy_at)[*line])
            return true;
    }
    return false;
}

/* Random bytes of a line under a random mask, here and in the message. */
static void fill_write(struct tester *c, uint32_t line, uint64_t *mask, uint8_t *data)
{
    uint8_t *expected = expected_line(c, line);
    for (uint32_t i = 0; i < line_bytes(c); i++) {
        if (i % 64 == 0)
            mask[i / 64] = draw(c, 2 + i / 64)
                           & (line_bytes(c) < 64 ? ((uint64_t)1 << line_bytes(c)) - 1 : UINT64_MAX);
        data[i] = (uint8_t)draw(c, 16 + i);
        if (mask[i / 64] >> i % 64 & 1)
            expected[i] = data[i];
    }
}

/* Adds a random number to one element; the answer must be the line as it was before. */
static void fill_atomic(struct tester *c, uint32_t line, uint32_t tag, uint64_t *mask,
                        uint8_t *operand)
{
    uint32_t at = (uint32_t)(draw(c, 1) % (line_bytes(c) / ELEMENT)) * ELEMENT, value,
             add = (uint32_t)draw(c, 2);
    uint8_t *expected = expected_line(c, line);
    memcpy(arena_at(uint8_t, c->before_at) + (size_t)tag * line_bytes(c), expected, line_bytes(c));
    memset(mask, 0, divide_up(line_bytes(c), 64) * sizeof *mask);
    mask[at / 64] = (((uint64_t)1 << ELEMENT) - 1) << at % 64;
    memset(operand, 0, line_bytes(c));
    memcpy(operand + at, &add, ELEMENT);
    memcpy(&value, expected + at, ELEMENT);
    value += add;
    memcpy(expected + at, &value, ELEMENT);
}

static unsigned pick_kind(const struct tester *c)
{
    const int64_t shares[] = {[MEM_WRITE] = tester_params(c)->write_percent,
                              [MEM_ATOMIC] = tester_params(c)->atomic_percent,
                              [MEM_FENCE] = tester_params(c)->fence_percent};
    int64_t percent = (int64_t)(draw(c, 255) % 100);
    for (unsigned kind = MEM_WRITE; kind <= MEM_FENCE; kind++)
        if ((percent -= shares[kind]) < 0)
            return kind;
    return MEM_READ;
}

/* `way`: for all below or for the one that has the address, with acquire, release or both. */
static void send_fence(struct tester *c, uint16_t tag, uint64_t address, uint32_t way)
{
    bool acquire = way / 2 != 1, release = way / 2 != 0;
    if (way % 2)
        tester_mem_send_fence_at(c, tag, address, SCOPE_AGENT, acquire, release);
    else
        tester_mem_send_fence(c, tag, SCOPE_AGENT, acquire, release);
}

static void send_line(struct tester *c, uint32_t line)
{
    uint16_t tag = (uint16_t)index_pool_acquire(&c->free);
    uint64_t address = tester_params(c)->base + (uint64_t)line * line_bytes(c);
    unsigned kind = pick_kind(c);
    if (kind == MEM_WRITE) {
        void *payload = tester_mem_send_write(c, tag, address, 0, SCOPE_WAVEFRONT);
        fill_write(c, line, mem_write_mask(payload, line_bytes(c)),
                   mem_write_data(payload, line_bytes(c)));
        c->io.stats.writes++;
    } else if (kind == MEM_ATOMIC) {
        void *payload = tester_mem_send_atomic(c, tag, address, 0, ATOMIC_OP_ADD, ELEMENT, true);
        fill_atomic(c, line, tag, mem_atomic_mask(payload, line_bytes(c)),
                    mem_atomic_operand(payload, line_bytes(c)));
        memset(mem_atomic_compare(payload, line_bytes(c)), 0, line_bytes(c));
        c->io.stats.atomics++;
    } else if (kind == MEM_FENCE) {
        send_fence(c, tag, address, (uint32_t)(draw(c, 1) % 6));
        c->io.stats.fences++;
    } else {
        tester_mem_send_read(c, tag, address, line_bytes(c), 0, false);
        c->io.stats.reads++;
    }
    arena_at(struct tester_request, c->in_flight_at)[tag] = (struct tester_request){
        .sent = tester_now(c), .line = line, .kind = (uint16_t)kind, .tag = tag};
    arena_at(uint8_t, c->busy_at)[line] = 1;
    c->issued++;
}

static bool send_next(struct tester *c)
{
    uint32_t line;
    if (c->issued == tester_params(c)->requests || !index_pool_has(&c->free) || !pick_line(c, &line)
        || !tester_mem_can_send(c))
        return false;
    send_line(c, line);
    return true;
}

/* Atomics answer with the old values at their element only. */
static void check_answer(struct tester *c, const struct tester_request *r, const uint8_t *data)
{
    const uint8_t *expected = expected_line(c, r->line);
    const uint8_t *before = arena_at(uint8_t, c->before_at) + (size_t)r->tag * line_bytes(c);
    for (uint32_t i = 0; i < line_bytes(c); i++) {
        bool is_element =
            memcmp(before + i / ELEMENT * ELEMENT, expected + i / ELEMENT * ELEMENT, ELEMENT) != 0;
        uint8_t wanted = r->kind == MEM_ATOMIC ? before[i] : expected[i];
        if ((r->kind == MEM_ATOMIC && !is_element) || data[i] == wanted)
            continue;
        engine_fail(&c->io.base,
                    "%s of address 0x%" PRIx64 ", sent in cycle %" PRIu64
                    ", was answered with 0x%02x instead of 0x%02x",
                    r->kind == MEM_ATOMIC ? "atomic" : "read",
                    tester_params(c)->base + (uint64_t)r->line * line_bytes(c) + i, r->sent,
                    data[i], wanted);
        return;
    }
}

static bool accept_answer(struct tester *c)
{
    const struct mem_reply *m = tester_mem_peek_reply(c);
    if (!m)
        return false;
    const struct tester_request *r = &arena_at(struct tester_request, c->in_flight_at)[m->tag];
    if (message_kind(m) == MEM_DATA)
        check_answer(c, r, mem_data_data(tester_mem_reply_payload(c), line_bytes(c)));
    stat_histogram_add(&c->io.stats.latency, tester_now(c) - r->sent);
    arena_at(uint8_t, c->busy_at)[r->line] = 0;
    index_pool_release(&c->free, m->tag);
    c->answered++;
    tester_mem_pop_reply(c);
    return true;
}

static bool tester_tick(struct tester *c)
{
    bool answered = accept_answer(c);
    return send_next(c) || answered;
}

static unsigned tester_outstanding(const struct tester *c, struct hang_report *report)
{
    uint64_t left = tester_params(c)->requests - c->answered;
    if (left && report)
        hang_note(report,
                  "%" PRIu64 " of %" PRIu64 " requests unanswered, %" PRIu64 " not sent yet", left,
                  tester_params(c)->requests, left - (c->issued - c->answered));
    return left > UINT32_MAX ? UINT32_MAX : (unsigned)left;
}
