/* Translates addresses of requests and passes them on, in order and with their tags; replies pass
 * back as they are. One walk at a time. An address without a page ends the run: a host's program
 * would have been ended by its operating system. */
#include "host_tlb.gen.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/engine/component_failure.h"
#include "runtime/observe/hang.h"

enum { LINE = 64 };

struct host_tlb_entry {
    uint64_t page; /* number + 1; 0: empty */
    uint64_t physical, last_use;
    uint32_t pid, bits;
};

struct host_tlb {
    struct host_tlb_io io;
    uint32_t entries_at; /* arena */
    bool is_walking;
    bool is_stale; /* the answer to the walk may be older than a shoot-down */
    uint64_t uses;
};

static struct host_tlb_entry *entry_at(const struct host_tlb *c, uint32_t i)
{
    return arena_at(struct host_tlb_entry, c->entries_at) + i;
}

static void host_tlb_init(struct host_tlb *c)
{
    c->entries_at = arena_allocate(host_tlb_params(c)->entries * sizeof(struct host_tlb_entry));
}

static struct host_tlb_entry *find_page(const struct host_tlb *c, uint32_t pid, uint64_t address)
{
    for (uint32_t i = 0; i < host_tlb_params(c)->entries; i++) {
        struct host_tlb_entry *e = entry_at(c, i);
        if (e->page && e->pid == pid && e->page - 1 == address >> e->bits)
            return e;
    }
    return NULL;
}

/* The address is the first field of all requests that have one; the process is at one place in two
 * of them. */
static uint64_t address_of(const struct mem_request *m)
{
    return message_kind(m) == MEM_READ ? m->read.address : m->write.address;
}

static uint32_t pid_of(const struct mem_request *m)
{
    return message_kind(m) == MEM_READ ? m->read.pid : m->write.pid;
}

static bool accept_walk(struct host_tlb *c)
{
    const struct translate_reply *m = host_tlb_translate_peek_reply(c);
    const struct mem_request *first = host_tlb_top_peek(c);
    if (!m)
        return false;
    if (c->is_stale) { /* asked for once more, as if it had missed now */
        c->is_stale = c->is_walking = false;
        host_tlb_translate_pop_reply(c);
        return true;
    }
    uint64_t address = address_of(first);
    uint32_t pid = pid_of(first);
    struct host_tlb_entry *oldest = entry_at(c, 0);
    for (uint32_t i = 1; i < host_tlb_params(c)->entries; i++)
        if (entry_at(c, i)->last_use < oldest->last_use)
            oldest = entry_at(c, i);
    if (!m->found.page_bits)
        engine_fail(&c->io.base, "process %" PRIu32 " has no page at 0x%" PRIx64, pid, address);
    else
        *oldest = (struct host_tlb_entry){.page = (address >> m->found.page_bits) + 1,
                                          .physical = m->found.physical,
                                          .pid = pid,
                                          .bits = m->found.page_bits,
                                          .last_use = ++c->uses};
    c->is_walking = false;
    host_tlb_translate_pop_reply(c);
    return true;
}

static void send_on(struct host_tlb *c, const struct mem_request *m, uint64_t address)
{
    const void *from = host_tlb_top_payload(c);
    if (message_kind(m) == MEM_READ) {
        host_tlb_bottom_send_read(c, m->tag, address, m->read.size, m->read.pid, m->read.coherent);
    } else if (message_kind(m) == MEM_WRITE) {
        void *to = host_tlb_bottom_send_write(c, m->tag, address, m->write.pid, m->write.scope);
        memcpy(to, from, mem_write_payload_bytes(LINE));
    } else {
        void *to = host_tlb_bottom_send_atomic(c, m->tag, address, m->atomic.pid,
                                               (enum atomic_op)m->atomic.op, m->atomic.size,
                                               m->atomic.returns);
        memcpy(to, from, mem_atomic_payload_bytes(LINE));
    }
}

/* Passes the first request on, or asks for its page. */
static bool pass_request(struct host_tlb *c)
{
    const struct mem_request *m = host_tlb_top_peek(c);
    if (!m || c->is_walking || !host_tlb_bottom_can_send(c))
        return false;
    if (message_kind(m) == MEM_FENCE) {
        host_tlb_bottom_send_fence(c, m->tag, (enum scope)m->fence.scope, m->fence.acquire,
                                   m->fence.release);
        host_tlb_top_pop(c);
        return true;
    }
    if (message_kind(m) == MEM_FENCE_AT) {
        host_tlb_bottom_send_fence_at(c, m->tag, m->fence_at.address, (enum scope)m->fence_at.scope,
                                      m->fence_at.acquire, m->fence_at.release);
        host_tlb_top_pop(c);
        return true;
    }
    uint64_t address = address_of(m);
    uint32_t pid = pid_of(m);
    struct host_tlb_entry *e = find_page(c, pid, address);
    if (!e) {
        if (!host_tlb_translate_can_send(c))
            return false;
        host_tlb_translate_send_lookup(c, 0, address, pid);
        c->is_walking = true;
        c->io.stats.misses++;
        return true;
    }
    e->last_use = ++c->uses;
    c->io.stats.hits++;
    send_on(c, m, e->physical + (address & (((uint64_t)1 << e->bits) - 1)));
    host_tlb_top_pop(c);
    return true;
}

static bool pass_replies(struct host_tlb *c)
{
    const struct mem_reply *m;
    bool progress = false;
    while ((m = host_tlb_bottom_peek_reply(c)) && host_tlb_top_can_reply(c)) {
        if (message_kind(m) == MEM_DATA)
            memcpy(mem_data_data(host_tlb_top_reply_data(c, m->tag), LINE),
                   mem_data_data(host_tlb_bottom_reply_payload(c), LINE), LINE);
        else
            host_tlb_top_reply_done(c, m->tag);
        host_tlb_bottom_pop_reply(c);
        progress = true;
    }
    return progress;
}

static bool is_shot_down(const struct tlb_control_request *m, uint32_t pid, uint64_t page,
                         uint64_t size)
{
    return (m->forget.pid == pid || m->forget.pid == UINT32_MAX)
           && page < m->forget.address + m->forget.size && m->forget.address < page + size;
}

/* A shoot-down. Requests that have left have their addresses; a walk under way is done again. */
static bool forget_page(struct host_tlb *c)
{
    const struct tlb_control_request *m = host_tlb_control_peek(c);
    if (!m || !host_tlb_control_can_reply(c))
        return false;
    for (uint32_t i = 0; i < host_tlb_params(c)->entries; i++) {
        struct host_tlb_entry *e = entry_at(c, i);
        if (!e->page || !is_shot_down(m, e->pid, (e->page - 1) << e->bits, (uint64_t)1 << e->bits))
            continue;
        *e = (struct host_tlb_entry){0};
        c->io.stats.forgotten++;
    }
    c->is_stale |= c->is_walking;
    host_tlb_control_reply_forgotten(c, m->tag);
    host_tlb_control_pop(c);
    return true;
}

static bool host_tlb_tick(struct host_tlb *c)
{
    bool progress = pass_replies(c);
    progress |= host_tlb_control_is_connected(c) && forget_page(c);
    if (c->is_walking)
        progress |= accept_walk(c);
    return pass_request(c) || progress;
}

static unsigned host_tlb_outstanding(const struct host_tlb *c, struct hang_report *report)
{
    if (c->is_walking && report)
        hang_note(report, "waits for a page");
    return c->is_walking;
}
