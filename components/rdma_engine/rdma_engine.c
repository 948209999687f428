/* RDMA engine: requests for other GPUs' memory go out by `remote`, requests of peers come in by `peer` and go on to the
 * own memory system by `inside`. Each direction is a table of requests on their way, so that a reply finds its
 * requester's tag again.
 *
 * Invariant: a slot of a table is in the free list or belongs to exactly one request that has been forwarded and not
 * yet answered. One request and one reply a cycle in each direction. */
#include "rdma_engine.gen.h"

#include <string.h>

#include "runtime/hang.h"

#define LINE 64

struct rdma_table {
    uint32_t tags;  /* arena: uint16_t tag of the requester, by slot */
    uint32_t free;  /* arena: uint16_t stack of free slots */
    uint32_t count; /* free slots */
};

struct rdma_engine {
    struct rdma_engine_io io;
    struct rdma_table outward;
    struct rdma_table inward;
};

static void table_init(struct rdma_table *t, uint32_t entries)
{
    t->tags = arena_allocate(entries * sizeof(uint16_t));
    t->free = arena_allocate(entries * sizeof(uint16_t));
    t->count = entries;
    for (uint32_t i = 0; i < entries; i++)
        arena_at(uint16_t, t->free)[i] = (uint16_t)(entries - 1 - i);
}

static uint16_t table_take(struct rdma_table *t, uint16_t tag)
{
    uint16_t slot = arena_at(uint16_t, t->free)[--t->count];
    arena_at(uint16_t, t->tags)[slot] = tag;
    return slot;
}

static uint16_t table_give(struct rdma_table *t, uint16_t slot)
{
    arena_at(uint16_t, t->free)[t->count++] = slot;
    return arena_at(uint16_t, t->tags)[slot];
}

static void rdma_engine_init(struct rdma_engine *c)
{
    table_init(&c->outward, (uint32_t)rdma_engine_params(c)->entries);
    table_init(&c->inward, (uint32_t)rdma_engine_params(c)->entries);
}

/* The two directions differ only in their ports, whose functions are generated one by one. */
#define RDMA_FORWARD(IN, OUT, TABLE, STAT)                                                          \
    static bool forward_##IN(struct rdma_engine *c)                                                 \
    {                                                                                               \
        const struct mem_request *m = rdma_engine_##IN##_peek(c);                                   \
        const void *payload;                                                                        \
        void *copy;                                                                                 \
        if (!m || !c->TABLE.count || !rdma_engine_##OUT##_can_send(c))                              \
            return false;                                                                           \
        payload = rdma_engine_##IN##_payload(c);                                                    \
        switch (message_kind(m)) {                                                                  \
        case MEM_READ:                                                                              \
            rdma_engine_##OUT##_send_read(c, table_take(&c->TABLE, m->tag), m->read.address,        \
                                          m->read.size, m->read.pid, m->read.coherent);             \
            break;                                                                                  \
        case MEM_WRITE:                                                                             \
            copy = rdma_engine_##OUT##_send_write(c, table_take(&c->TABLE, m->tag),                 \
                                                  m->write.address, m->write.pid);                  \
            memcpy(copy, payload, mem_write_payload_bytes(LINE));                                   \
            break;                                                                                  \
        case MEM_ATOMIC:                                                                            \
            copy = rdma_engine_##OUT##_send_atomic(c, table_take(&c->TABLE, m->tag),                \
                                                   m->atomic.address, m->atomic.pid, m->atomic.op,  \
                                                   m->atomic.size, m->atomic.returns);              \
            memcpy(copy, payload, mem_atomic_payload_bytes(LINE));                                  \
            break;                                                                                  \
        default:                                                                                    \
            rdma_engine_##OUT##_send_fence(c, table_take(&c->TABLE, m->tag), m->fence.scope,        \
                                           m->fence.acquire, m->fence.release);                     \
        }                                                                                           \
        rdma_engine_##IN##_pop(c);                                                                  \
        c->io.stats.STAT++;                                                                         \
        return true;                                                                                \
    }                                                                                               \
    static bool answer_##IN(struct rdma_engine *c)                                                  \
    {                                                                                               \
        const struct mem_reply *m = rdma_engine_##OUT##_peek_reply(c);                              \
        if (!m || !rdma_engine_##IN##_can_reply(c))                                                 \
            return false;                                                                           \
        if (message_kind(m) == MEM_DATA)                                                            \
            memcpy(mem_data_data(rdma_engine_##IN##_reply_data(c, table_give(&c->TABLE, m->tag)),   \
                                 LINE),                                                             \
                   mem_data_data(rdma_engine_##OUT##_reply_payload(c), LINE), LINE);                \
        else                                                                                        \
            rdma_engine_##IN##_reply_done(c, table_give(&c->TABLE, m->tag));                        \
        rdma_engine_##OUT##_pop_reply(c);                                                           \
        return true;                                                                                \
    }

RDMA_FORWARD(local, remote, outward, sent)
RDMA_FORWARD(peer, inside, inward, served)

static bool rdma_engine_tick(struct rdma_engine *c)
{
    bool progress = false;
    if (rdma_engine_remote_is_connected(c)) {
        progress |= answer_local(c);
        progress |= forward_local(c);
    }
    if (rdma_engine_peer_is_connected(c) && rdma_engine_inside_is_connected(c)) {
        progress |= answer_peer(c);
        progress |= forward_peer(c);
    }
    return progress;
}

static unsigned rdma_engine_outstanding(const struct rdma_engine *c, struct hang_report *report)
{
    unsigned entries = (unsigned)rdma_engine_params(c)->entries;
    unsigned out = entries - c->outward.count, in = entries - c->inward.count;
    if (report && out + in)
        hang_note(report, "%u requests sent to peers, %u of peers being served", out, in);
    return out + in;
}
