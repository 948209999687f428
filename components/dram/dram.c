/* Ideal memory channel: takes `width` requests a cycle from its two ports together, in turn when
 * both have some, and answers each `latency` - 1 cycles later, so that with connections of one
 * cycle an answer is seen latency + 1 cycles after the request was sent.
 *
 * A request takes effect in the simulated memory when it is answered, in the order of its port; so
 * a load never sees a store that came behind it, and what has been answered is there for the other
 * port. */
#include "dram.gen.h"

#include "components/mem/index_pool.h"
#include "components/mem/mem_mask.h"
#include "runtime/hang.h"
#include "runtime/memory.h"

enum { DRAM_TOP, DRAM_DMA, DRAM_PORTS };

struct dram_entry {
    uint64_t due;
    uint64_t address; /* of the line */
    uint32_t stored;
    uint16_t tag;
    uint8_t kind; /* enum mem_request_kind */
    uint8_t op;
    uint8_t size;
    bool returns;
    uint8_t reserved[6];
};

/* Mask, bytes or operands, comparands of a write or atomic. */
struct dram_stored {
    struct mem_mask mask;
    uint8_t bytes[2][MEM_LINE_MAX];
};

struct dram_queue {
    uint32_t entries; /* arena offset: struct dram_entry [mask + 1], a ring */
    uint32_t head;
    uint32_t count;
};

struct dram {
    struct dram_io io;
    struct dram_queue queues[DRAM_PORTS];
    struct index_pool free_stored;
    uint32_t stored;
    uint32_t mask;
    uint32_t turn; /* the port that is asked first */
};

static unsigned dram_line(const struct dram *c)
{
    return (unsigned)dram_params(c)->line;
}

static void dram_init(struct dram *c)
{
    uint64_t needed = (uint64_t)(dram_params(c)->latency + 1) * (uint64_t)dram_params(c)->width;
    uint32_t entries = 1;
    while (entries < needed)
        entries *= 2;
    c->mask = entries - 1;
    for (unsigned p = 0; p < DRAM_PORTS; p++)
        c->queues[p].entries = arena_allocate(entries * sizeof(struct dram_entry));
    index_pool_init(&c->free_stored, entries * DRAM_PORTS);
    c->stored = arena_allocate(entries * DRAM_PORTS * sizeof(struct dram_stored));
}

static const struct mem_request *peek(const struct dram *c, unsigned port)
{
    return port == DRAM_TOP ? dram_top_peek(c) : dram_dma_peek(c);
}

static bool can_reply(const struct dram *c, unsigned port)
{
    return port == DRAM_TOP ? dram_top_can_reply(c) : dram_dma_can_reply(c);
}

/* Queues request `m` of `port`. */
static void enqueue(struct dram *c, unsigned port, const struct mem_request *m)
{
    struct dram_queue *q = &c->queues[port];
    unsigned line = dram_line(c);
    void *payload = port == DRAM_TOP ? dram_top_payload(c) : dram_dma_payload(c);
    struct dram_entry *e =
        arena_at(struct dram_entry, q->entries) + ((q->head + q->count++) & c->mask);
    *e = (struct dram_entry){.due = dram_now(c) + (uint64_t)dram_params(c)->latency - 1,
                             .tag = m->tag,
                             .kind = (uint8_t)message_kind(m)};
    if (e->kind == MEM_READ) {
        e->address = m->read.address / line * line;
    } else if (e->kind != MEM_FENCE) {
        e->stored = index_pool_take(&c->free_stored);
        struct dram_stored *s = arena_at(struct dram_stored, c->stored) + e->stored;
        if (e->kind == MEM_WRITE) {
            e->address = m->write.address / line * line;
            s->mask = mem_mask_load(mem_write_mask(payload, line), line);
            memcpy(s->bytes[0], mem_write_data(payload, line), line);
        } else {
            e->address = m->atomic.address / line * line;
            e->op = m->atomic.op;
            e->size = m->atomic.size;
            e->returns = m->atomic.returns;
            s->mask = mem_mask_load(mem_atomic_mask(payload, line), line);
            memcpy(s->bytes[0], mem_atomic_operand(payload, line), line);
            memcpy(s->bytes[1], mem_atomic_compare(payload, line), line);
        }
    }
    /* The host's memory answers meanwhile: it is read only when the request is served. */
    if (e->kind != MEM_FENCE && memory_contains(e->address, line))
        __builtin_prefetch(memory_at(e->address));
    if (port == DRAM_TOP)
        dram_top_pop(c);
    else
        dram_dma_pop(c);
}

/* true: as many were taken as a cycle allows, so there may be more. */
static bool accept(struct dram *c)
{
    for (int64_t room = dram_params(c)->width; room; room--) {
        unsigned port = c->turn;
        const struct mem_request *m = c->queues[port].count <= c->mask ? peek(c, port) : NULL;
        if (!m) {
            port = !port;
            m = c->queues[port].count <= c->mask ? peek(c, port) : NULL;
        }
        if (!m)
            return false;
        enqueue(c, port, m);
        c->turn = !port;
    }
    return true;
}

static void *reply_data(struct dram *c, unsigned port, uint16_t tag)
{
    void *payload = port == DRAM_TOP ? dram_top_reply_data(c, tag) : dram_dma_reply_data(c, tag);
    return mem_data_data(payload, dram_line(c));
}

/* The request takes effect, and is answered. */
static void serve(struct dram *c, unsigned port, const struct dram_entry *e)
{
    unsigned line = dram_line(c);
    struct dram_stored *s = arena_at(struct dram_stored, c->stored) + e->stored;
    if (e->kind == MEM_READ) {
        memcpy(reply_data(c, port, e->tag), memory_span(e->address, line), line);
        c->io.stats.reads++;
        c->io.stats.bytes_read += line;
        return;
    }
    if (e->kind == MEM_ATOMIC) {
        char *memory_line = memory_span(e->address, line), *old = reply_data(c, port, e->tag);
        if (e->returns)
            memcpy(old, memory_line, line);
        mem_apply_atomic(e->op, e->size, s->mask, memory_line, s->bytes[0], s->bytes[1], NULL);
        index_pool_give(&c->free_stored, e->stored);
        c->io.stats.atomics++;
        return;
    }
    if (e->kind == MEM_WRITE) {
        mem_copy_masked(memory_span(e->address, line), s->bytes[0], s->mask, line);
        index_pool_give(&c->free_stored, e->stored);
        c->io.stats.writes++;
        c->io.stats.bytes_written += mem_mask_count(s->mask);
    }
    if (port == DRAM_TOP)
        dram_top_reply_done(c, e->tag);
    else
        dram_dma_reply_done(c, e->tag);
}

/* Answers what is due on `port`. */
static bool finish(struct dram *c, unsigned port)
{
    struct dram_queue *q = &c->queues[port];
    bool progress = false;
    while (q->count) {
        const struct dram_entry *e = arena_at(struct dram_entry, q->entries) + q->head;
        if (e->due > dram_now(c)) {
            dram_wake_at(c, e->due);
            break;
        }
        if (!can_reply(c, port))
            break;
        if (e->kind != MEM_FENCE && engine_unlikely(!memory_contains(e->address, dram_line(c)))) {
            engine_fail(&c->io.base,
                        "physical address 0x%llx is not in simulated memory: no `map` covers it",
                        (unsigned long long)e->address);
            break;
        }
        serve(c, port, e);
        q->head = (q->head + 1) & c->mask;
        q->count--;
        progress = true;
    }
    return progress;
}

static bool dram_tick(struct dram *c)
{
    bool again = component_pending(&c->io.base, 0) && accept(c);
    for (unsigned port = DRAM_TOP; port < DRAM_PORTS; port++) {
        /* A full queue keeps requests waiting, which nothing else would wake it for. */
        bool full = c->queues[port].count > c->mask;
        again |= c->queues[port].count && finish(c, port) && full;
    }
    return again;
}

static unsigned dram_outstanding(const struct dram *c, struct hang_report *report)
{
    static const char *const names[] = {"top", "dma"};
    for (unsigned p = 0; report && p < DRAM_PORTS; p++)
        if (c->queues[p].count)
            hang_note(report, "%u requests of port %s are not answered", c->queues[p].count,
                      names[p]);
    return c->queues[DRAM_TOP].count + c->queues[DRAM_DMA].count;
}
