/* RDMA engine: requests for other GPUs' memory go out by `remote`, requests of peers come in by
 * `peer` and go on to the own memory system by `inside`. What a DMA engine asks comes in by
 * `copy_out` and goes on, at its owner, by `copy_in`: past the caches, as copies inside of a GPU
 * do. Each direction is a table of requests on their way, so that a reply finds its requester's tag
 * again.
 *
 * Invariant: a slot of a table is in the free list or belongs to exactly one request that has been
 * forwarded and not yet answered. One request and one reply a cycle in each direction. */
#include "rdma_engine.gen.h"

#include <string.h>

#include "runtime/engine/index_pool.h"
#include "components/protocols/probe/probe_die.h"
#include "runtime/observe/hang.h"

#define LINE ((uint32_t)rdma_engine_params(c)->line)

/* What comes in by `copy_out` leaves as this process, which none has, so that the peer knows it. */
#define RDMA_COPY_PID UINT16_MAX

/* By which port a request came in. */
enum rdma_way { WAY_local, WAY_copy_out, WAY_peer };

/* A request on its way. */
struct rdma_request {
    uint64_t sent; /* cycle */
    uint16_t tag;  /* of the requester */
    uint16_t way;  /* enum rdma_way */
};

struct rdma_table {
    uint32_t requests; /* arena: struct rdma_request, by slot */
    struct index_pool free;
};

struct rdma_engine {
    struct rdma_engine_io io;
    struct rdma_table outward;
    struct rdma_table inward;
    bool copies_next, copies_answered_next; /* whose turn it is */
};

static void table_init(struct rdma_table *t, uint32_t entries)
{
    t->requests = arena_allocate(entries * sizeof(struct rdma_request));
    index_pool_init(&t->free, entries);
}

static struct rdma_request *table_at(const struct rdma_table *t, uint16_t slot)
{
    return arena_at(struct rdma_request, t->requests) + slot;
}

static uint16_t table_take(struct rdma_table *t, uint16_t tag, uint64_t now, enum rdma_way way)
{
    uint32_t slot = index_pool_take(&t->free);
    *table_at(t, (uint16_t)slot) = (struct rdma_request){now, tag, (uint16_t)way};
    return (uint16_t)slot;
}

static struct rdma_request table_give(struct rdma_table *t, uint16_t slot)
{
    index_pool_give(&t->free, slot);
    return *table_at(t, slot);
}

static void rdma_engine_init(struct rdma_engine *c)
{
    table_init(&c->outward, (uint32_t)rdma_engine_params(c)->entries);
    table_init(&c->inward, (uint32_t)rdma_engine_params(c)->entries);
}

/* The ways differ only in their ports, whose functions are generated one by one: RDMA_FORWARD for
 * requests, RDMA_ANSWER for their replies. `PID`: what goes on as the process. */
#define RDMA_FORWARD(IN, OUT, TABLE, STAT, PID)                                                    \
    static bool forward_##IN##_##OUT(struct rdma_engine *c)                                        \
    {                                                                                              \
        const struct mem_request *m = rdma_engine_##IN##_peek(c);                                  \
        const void *payload;                                                                       \
        void *copy;                                                                                \
        if (!m || !index_pool_has(&c->TABLE.free) || !rdma_engine_##OUT##_can_send(c))             \
            return false;                                                                          \
        payload = rdma_engine_##IN##_payload(c);                                                   \
        uint16_t slot = table_take(&c->TABLE, m->tag, rdma_engine_now(c), WAY_##IN);               \
        switch (message_kind(m)) {                                                                 \
        case MEM_READ:                                                                             \
            rdma_engine_##OUT##_send_read(c, slot, m->read.address, m->read.size, PID(m->read),    \
                                          m->read.coherent);                                       \
            break;                                                                                 \
        case MEM_WRITE:                                                                            \
            copy = rdma_engine_##OUT##_send_write(c, slot, m->write.address, PID(m->write),        \
                                                  m->write.scope);                                 \
            memcpy(copy, payload, mem_write_payload_bytes(LINE));                                  \
            break;                                                                                 \
        case MEM_ATOMIC:                                                                           \
            copy =                                                                                 \
                rdma_engine_##OUT##_send_atomic(c, slot, m->atomic.address, PID(m->atomic),        \
                                                m->atomic.op, m->atomic.size, m->atomic.returns);  \
            memcpy(copy, payload, mem_atomic_payload_bytes(LINE));                                 \
            break;                                                                                 \
        case MEM_FENCE:                                                                            \
            rdma_engine_##OUT##_send_fence(c, slot, m->fence.scope, m->fence.acquire,              \
                                           m->fence.release);                                      \
            break;                                                                                 \
        default:                                                                                   \
            rdma_engine_##OUT##_send_fence_at(c, slot, m->fence_at.address, m->fence_at.scope,     \
                                              m->fence_at.acquire, m->fence_at.release);           \
        }                                                                                          \
        rdma_engine_##IN##_pop(c);                                                                 \
        c->io.stats.STAT++;                                                                        \
        return true;                                                                               \
    }
#define RDMA_ANSWER(IN, OUT, TABLE)                                                                \
    static bool answer_##IN##_##OUT(struct rdma_engine *c, const struct mem_reply *m)              \
    {                                                                                              \
        if (!rdma_engine_##IN##_can_reply(c))                                                      \
            return false;                                                                          \
        uint16_t tag = table_give(&c->TABLE, m->tag).tag;                                          \
        if (message_kind(m) == MEM_DATA)                                                           \
            memcpy(mem_data_data(rdma_engine_##IN##_reply_data(c, tag), LINE),                     \
                   mem_data_data(rdma_engine_##OUT##_reply_payload(c), LINE), LINE);               \
        else                                                                                       \
            rdma_engine_##IN##_reply_done(c, tag);                                                 \
        rdma_engine_##OUT##_pop_reply(c);                                                          \
        return true;                                                                               \
    }
#define SAME_PID(fields) (fields).pid
#define COPY_PID(fields) RDMA_COPY_PID
/* A die of this GPU is none of the peer's, which does not keep track of what goes abroad. */
#define HOME_PID(fields) (probe_is_die((fields).pid) ? 0 : (fields).pid)

RDMA_FORWARD(local, remote, outward, sent, HOME_PID)
RDMA_FORWARD(copy_out, remote, outward, copied_out, COPY_PID)
RDMA_FORWARD(peer, inside, inward, served, SAME_PID)
RDMA_FORWARD(peer, copy_in, inward, copied_in, SAME_PID)
RDMA_ANSWER(local, remote, outward)
RDMA_ANSWER(copy_out, remote, outward)
RDMA_ANSWER(peer, inside, inward)
RDMA_ANSWER(peer, copy_in, inward)

/* The process that a request names; a fence names none. */
static uint32_t request_pid(const struct mem_request *m)
{
    switch (message_kind(m)) {
    case MEM_READ:
        return m->read.pid;
    case MEM_WRITE:
        return m->write.pid;
    case MEM_ATOMIC:
        return m->atomic.pid;
    default:
        return 0;
    }
}

/* Passes a reply from a peer to the component that asked. */
static bool answer_outward(struct rdma_engine *c)
{
    const struct mem_reply *m = rdma_engine_remote_peek_reply(c);
    if (!m)
        return false;
    struct rdma_request request = *table_at(&c->outward, m->tag);
    bool answered =
        request.way == WAY_local ? answer_local_remote(c, m) : answer_copy_out_remote(c, m);
    if (answered)
        stat_histogram_add(&c->io.stats.remote_latency, rdma_engine_now(c) - request.sent);
    return answered;
}

/* One request goes out: by turns when both ports have some. */
static bool forward_outward(struct rdma_engine *c)
{
    bool copies = rdma_engine_copy_out_is_connected(c) && rdma_engine_copy_out_peek(c);
    if (copies && (c->copies_next || !rdma_engine_local_peek(c))) {
        bool sent = forward_copy_out_remote(c);
        c->copies_next &= !sent;
        return sent;
    }
    bool sent = forward_local_remote(c);
    c->copies_next |= sent;
    return sent;
}

/* One reply goes to peers: by turns when both ports have some. */
static bool answer_inward(struct rdma_engine *c)
{
    const struct mem_reply *inside = rdma_engine_inside_peek_reply(c);
    const struct mem_reply *copied =
        rdma_engine_copy_in_is_connected(c) ? rdma_engine_copy_in_peek_reply(c) : NULL;
    bool copy = copied && (c->copies_answered_next || !inside);
    bool answered = copy     ? answer_peer_copy_in(c, copied)
                    : inside ? answer_peer_inside(c, inside)
                             : false;
    c->copies_answered_next = answered ? !copy : c->copies_answered_next;
    return answered;
}

static bool forward_inward(struct rdma_engine *c)
{
    const struct mem_request *m = rdma_engine_peer_peek(c);
    if (m && rdma_engine_copy_in_is_connected(c) && request_pid(m) == RDMA_COPY_PID)
        return forward_peer_copy_in(c);
    return forward_peer_inside(c);
}

static bool rdma_engine_tick(struct rdma_engine *c)
{
    bool progress = false;
    if (rdma_engine_remote_is_connected(c)) {
        progress |= answer_outward(c);
        progress |= forward_outward(c);
    }
    if (rdma_engine_peer_is_connected(c) && rdma_engine_inside_is_connected(c)) {
        progress |= answer_inward(c);
        progress |= forward_inward(c);
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
