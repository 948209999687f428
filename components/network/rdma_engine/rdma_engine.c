/* RDMA engine: requests for other GPUs' memory go out by `remote`, requests of peers come in by
 * `peer` and go on to the own memory system by `inside`. What a DMA engine asks comes in by
 * `copy_out` and goes on, at its owner, by `copy_in`: past the caches, as copies inside of a GPU
 * do. Each direction is a table of requests on their way, so that a reply finds its requester's tag
 * again.
 *
 * Invariant: a slot of a table is in the free list or belongs to exactly one request that has been
 * forwarded and not yet answered. One request and one reply a cycle in each direction. */
#include "rdma_engine.gen.h"

#include "components/protocols/probe/probe_die.h"
#include "runtime/engine/index_pool.h"
#include "runtime/observe/hang.h"

/* Requests from `copy_out` leave as this process, which none has, so that the peer knows them. */
#define RDMA_COPY_PID UINT16_MAX

/* By which port a request came in. */
enum rdma_way { RDMA_LOCAL, RDMA_COPY_OUT, RDMA_PEER };

/* A request on its way. */
struct rdma_request {
    uint64_t sent; /* cycle */
    uint16_t tag;  /* the requester's tag */
    uint16_t way;  /* enum rdma_way */
};

struct rdma_table {
    uint32_t requests_at; /* arena: struct rdma_request, by slot */
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
    t->requests_at = arena_allocate(entries * sizeof(struct rdma_request));
    index_pool_init(&t->free, entries);
}

static struct rdma_request *table_at(const struct rdma_table *t, uint16_t slot)
{
    return arena_at(struct rdma_request, t->requests_at) + slot;
}

static uint16_t table_add(struct rdma_table *t, uint16_t tag, uint64_t now, enum rdma_way way)
{
    uint32_t slot = index_pool_acquire(&t->free);
    *table_at(t, (uint16_t)slot) = (struct rdma_request){now, tag, (uint16_t)way};
    return (uint16_t)slot;
}

static struct rdma_request table_remove(struct rdma_table *t, uint16_t slot)
{
    index_pool_release(&t->free, slot);
    return *table_at(t, slot);
}

static void rdma_engine_init(struct rdma_engine *c)
{
    table_init(&c->outward, rdma_engine_params(c)->entries);
    table_init(&c->inward, rdma_engine_params(c)->entries);
}

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

/* The request with the process under which it goes on. A die of this GPU is none of the peer's,
 * which does not keep track of lines that go abroad. */
static struct mem_request rename_process(const struct mem_request *m, enum rdma_way way)
{
    struct mem_request named = *m;
    uint32_t pid = request_pid(m);
    if (way == RDMA_COPY_OUT)
        pid = RDMA_COPY_PID;
    else if (way == RDMA_LOCAL && probe_is_die(pid))
        pid = 0;
    switch (message_kind(m)) {
    case MEM_READ:
        named.read.pid = pid;
        break;
    case MEM_WRITE:
        named.write.pid = (uint16_t)pid;
        break;
    case MEM_ATOMIC:
        named.atomic.pid = pid;
        break;
    }
    return named;
}

/* Passes the oldest request of the ring `from` on into the ring `to`. */
static bool forward_request(struct rdma_engine *c, struct rdma_table *t, enum rdma_way way,
                            uint32_t from, uint32_t to)
{
    uint64_t limit = c->io.base.limit;
    const struct mem_request *m = (const struct mem_request *)port_peek_optional(from, limit);
    if (!m || !index_pool_has(&t->free) || !port_can_send_optional(to, limit))
        return false;
    struct mem_request named = rename_process(m, way);
    uint16_t slot = table_add(t, m->tag, rdma_engine_now(c), way);
    port_forward(to, limit, port_messages(ring_number(to)), (const struct message *)&named,
                 ring_peek_payload(from), slot);
    ring_pop(from, limit);
    return true;
}

/* Passes the oldest reply of the ring `from` on into the ring `to`. */
static bool forward_reply(struct rdma_engine *c, struct rdma_table *t, uint32_t from, uint32_t to)
{
    uint64_t limit = c->io.base.limit;
    const struct message *m = port_peek_optional(from, limit);
    if (!m || !port_can_send_optional(to, limit))
        return false;
    uint16_t tag = table_remove(t, m->tag).tag;
    port_forward(to, limit, port_messages(ring_number(to)), m, ring_peek_payload(from), tag);
    ring_pop(from, limit);
    return true;
}

/* One reply of a peer goes to the component that asked. */
static bool answer_outward(struct rdma_engine *c)
{
    const struct mem_reply *m = rdma_engine_remote_peek_reply(c);
    if (!m)
        return false;
    struct rdma_request request = *table_at(&c->outward, m->tag);
    uint32_t to = request.way == RDMA_LOCAL ? c->io.local_reply : c->io.copy_out_reply;
    if (!forward_reply(c, &c->outward, c->io.remote_reply, to))
        return false;
    stat_histogram_add(&c->io.stats.remote_latency, rdma_engine_now(c) - request.sent);
    return true;
}

/* One request goes out: by turns when both ports have some. */
static bool forward_outward(struct rdma_engine *c)
{
    bool copies = rdma_engine_copy_out_is_connected(c) && rdma_engine_copy_out_peek(c);
    if (copies && (c->copies_next || !rdma_engine_local_peek(c))) {
        bool copied = forward_request(c, &c->outward, RDMA_COPY_OUT, c->io.copy_out_request,
                                      c->io.remote_request);
        c->io.stats.copied_out += copied;
        c->copies_next &= !copied;
        return copied;
    }
    bool sent =
        forward_request(c, &c->outward, RDMA_LOCAL, c->io.local_request, c->io.remote_request);
    c->io.stats.sent += sent;
    c->copies_next |= sent;
    return sent;
}

/* One reply goes to peers: by turns when both ports have some. */
static bool answer_inward(struct rdma_engine *c)
{
    bool inside = rdma_engine_inside_peek_reply(c);
    bool copied = rdma_engine_copy_in_is_connected(c) && rdma_engine_copy_in_peek_reply(c);
    bool is_copy = copied && (c->copies_answered_next || !inside);
    if (!forward_reply(c, &c->inward, is_copy ? c->io.copy_in_reply : c->io.inside_reply,
                       c->io.peer_reply))
        return false;
    c->copies_answered_next = !is_copy;
    return true;
}

/* One request of a peer goes to memory: that of a DMA engine past the caches. */
static bool forward_inward(struct rdma_engine *c)
{
    const struct mem_request *m = rdma_engine_peer_peek(c);
    bool is_copy = m && rdma_engine_copy_in_is_connected(c) && request_pid(m) == RDMA_COPY_PID;
    uint32_t to = is_copy ? c->io.copy_in_request : c->io.inside_request;
    bool forwarded = forward_request(c, &c->inward, RDMA_PEER, c->io.peer_request, to);
    c->io.stats.copied_in += forwarded && is_copy;
    c->io.stats.served += forwarded && !is_copy;
    return forwarded;
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
