/* RDMA engine: requests for other GPUs' memory go out by `remote`, requests of peers come in by
 * `peer` and go on to the own memory system by `inside`. Each direction is a table of requests on
 * their way, so that a reply finds its requester's tag again.
 *
 * Invariant: a slot of a table is in the free list or belongs to exactly one request that has been
 * forwarded and not yet answered. One request and one reply a cycle in each direction. */
#include "rdma_engine.gen.h"

#include <string.h>

#include "components/mem/index_pool.h"
#include "runtime/hang.h"

#define LINE 64

/* A request on its way. */
struct rdma_request {
    uint64_t sent; /* cycle */
    uint16_t tag;  /* of the requester */
};

struct rdma_table {
    uint32_t requests; /* arena: struct rdma_request, by slot */
    struct index_pool free;
};

struct rdma_engine {
    struct rdma_engine_io io;
    struct rdma_table outward;
    struct rdma_table inward;
};

static void table_init(struct rdma_table *t, uint32_t entries)
{
    t->requests = arena_allocate(entries * sizeof(struct rdma_request));
    index_pool_init(&t->free, entries);
}

static uint16_t table_take(struct rdma_table *t, uint16_t tag, uint64_t now)
{
    uint32_t slot = index_pool_take(&t->free);
    arena_at(struct rdma_request, t->requests)[slot] = (struct rdma_request){now, tag};
    return (uint16_t)slot;
}

static struct rdma_request table_give(struct rdma_table *t, uint16_t slot)
{
    index_pool_give(&t->free, slot);
    return arena_at(struct rdma_request, t->requests)[slot];
}

static void rdma_engine_init(struct rdma_engine *c)
{
    table_init(&c->outward, (uint32_t)rdma_engine_params(c)->entries);
    table_init(&c->inward, (uint32_t)rdma_engine_params(c)->entries);
}

/* The two directions differ only in their ports, whose functions are generated one by one. */
#define RDMA_FORWARD(IN, OUT, TABLE, STAT)                                                         \
    static bool forward_##IN(struct rdma_engine *c)                                                \
    {                                                                                              \
        const struct mem_request *m = rdma_engine_##IN##_peek(c);                                  \
        const void *payload;                                                                       \
        void *copy;                                                                                \
        if (!m || !index_pool_has(&c->TABLE.free) || !rdma_engine_##OUT##_can_send(c))             \
            return false;                                                                          \
        payload = rdma_engine_##IN##_payload(c);                                                   \
        uint16_t slot = table_take(&c->TABLE, m->tag, rdma_engine_now(c));                         \
        switch (message_kind(m)) {                                                                 \
        case MEM_READ:                                                                             \
            rdma_engine_##OUT##_send_read(c, slot, m->read.address, m->read.size, m->read.pid,     \
                                          m->read.coherent);                                       \
            break;                                                                                 \
        case MEM_WRITE:                                                                            \
            copy = rdma_engine_##OUT##_send_write(c, slot, m->write.address, m->write.pid);        \
            memcpy(copy, payload, mem_write_payload_bytes(LINE));                                  \
            break;                                                                                 \
        case MEM_ATOMIC:                                                                           \
            copy =                                                                                 \
                rdma_engine_##OUT##_send_atomic(c, slot, m->atomic.address, m->atomic.pid,         \
                                                m->atomic.op, m->atomic.size, m->atomic.returns);  \
            memcpy(copy, payload, mem_atomic_payload_bytes(LINE));                                 \
            break;                                                                                 \
        default:                                                                                   \
            rdma_engine_##OUT##_send_fence(c, slot, m->fence.scope, m->fence.acquire,              \
                                           m->fence.release);                                      \
        }                                                                                          \
        rdma_engine_##IN##_pop(c);                                                                 \
        c->io.stats.STAT++;                                                                        \
        return true;                                                                               \
    }                                                                                              \
    static bool answer_##IN(struct rdma_engine *c, uint64_t *sent)                                 \
    {                                                                                              \
        const struct mem_reply *m = rdma_engine_##OUT##_peek_reply(c);                             \
        if (!m || !rdma_engine_##IN##_can_reply(c))                                                \
            return false;                                                                          \
        struct rdma_request request = table_give(&c->TABLE, m->tag);                               \
        if (message_kind(m) == MEM_DATA)                                                           \
            memcpy(mem_data_data(rdma_engine_##IN##_reply_data(c, request.tag), LINE),             \
                   mem_data_data(rdma_engine_##OUT##_reply_payload(c), LINE), LINE);               \
        else                                                                                       \
            rdma_engine_##IN##_reply_done(c, request.tag);                                         \
        rdma_engine_##OUT##_pop_reply(c);                                                          \
        *sent = request.sent;                                                                      \
        return true;                                                                               \
    }

RDMA_FORWARD(local, remote, outward, sent)
RDMA_FORWARD(peer, inside, inward, served)

static bool rdma_engine_tick(struct rdma_engine *c)
{
    bool progress = false;
    uint64_t sent;
    if (rdma_engine_remote_is_connected(c)) {
        if (answer_local(c, &sent)) {
            stat_histogram_add(&c->io.stats.remote_latency, rdma_engine_now(c) - sent);
            progress = true;
        }
        progress |= forward_local(c);
    }
    if (rdma_engine_peer_is_connected(c) && rdma_engine_inside_is_connected(c)) {
        progress |= answer_peer(c, &sent);
        progress |= forward_peer(c);
    }
    return progress;
}

static unsigned rdma_engine_outstanding(const struct rdma_engine *c, struct hang_report *report)
{
    unsigned out = index_pool_used(&c->outward.free), in = index_pool_used(&c->inward.free);
    if (report && out + in)
        hang_note(report, "%u requests sent to peers, %u of peers being served", out, in);
    return out + in;
}
