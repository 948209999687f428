/* The memory unit, which all sub-cores share. It takes one instruction at a time: of the ready
 * ones, the instruction that issued first, and among those of one cycle, the instruction of the
 * sub-core whose turn it was (Accel-Sim, register_set::get_ready(), shader_core_ctx::issue()).
 * Shared memory answers after its latency; everything else becomes requests to the L1, which
 * answers when it can. */
#include "base/likely.h"
#include "base/number.h"

#include "sm_shared.h"
#include "sm_state.h"

/* Takes the next instruction; *at: when there is one. */
static bool memory_pop(struct streaming_multiprocessor *c, uint64_t now, uint64_t *at)
{
    struct sm_memory *m = &c->memory;
    uint32_t best = SM_SUB_CORES;
    uint64_t first = ENGINE_NEVER, oldest = ENGINE_NEVER;
    for (uint32_t rest = c->queued; rest; rest &= rest - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(rest);
        const struct sm_access *head = &sm_queue(c, s)[c->sub[s].queue_head];
        uint64_t ready = max(head->ready_cycle, m->free_at);
        first = min(ready, first);
        if (ready > now || head->issued >= oldest)
            continue;
        oldest = head->issued;
        best = s;
    }
    if (best == SM_SUB_CORES) {
        *at = min(first, *at);
        return false;
    }
    m->access = sm_queue(c, best)[c->sub[best].queue_head];
    c->sub[best].queue_head = (c->sub[best].queue_head + 1) % SM_QUEUE;
    c->queued &= ~((uint32_t) !--c->sub[best].queue_count << best);
    return true;
}

/* Shared memory is busy for so many cycles more, from `now` on or from when it is free; returns the
 * cycle after them. */
static inline uint64_t memory_occupy_shared(struct streaming_multiprocessor *c, uint64_t now,
                                            unsigned cycles)
{
    struct sm_memory *m = &c->memory;
    m->free_at = max(m->free_at, now) + cycles;
    return m->free_at;
}

static void memory_shared(struct streaming_multiprocessor *c, const uint32_t *record, uint64_t now)
{
    const struct streaming_multiprocessor_params *params = streaming_multiprocessor_params(c);
    const struct sm_access *a = &c->memory.access;
    uint64_t address[32];
    unsigned parts = 1, cycles = 1;
    trace_addresses(record, address);
    cycles =
        shared_cycles(address, trace_record_mask(record), a->width, params->shared_banks, &parts);
    c->io.stats.shared_accesses++;
    c->io.stats.bank_conflicts += cycles - parts;
    if (unlikely(c->warp[a->warp].has_account))
        account_shared(c, a->warp, cycles, cycles - parts);
    if (a->kind == TRACE_COPY) { /* the place that the next copy fills when its data has come */
        c->async[a->warp].writes = (uint8_t)cycles;
        sm_event_add(c, now + 1, a->warp, a->destination, true);
        return;
    }
    c->memory.free_at = now + cycles;
    sm_event_add(c, now + cycles + params->shared_latency, a->warp, a->destination, true);
}

/* Begins with the instruction that was taken. */
static void memory_begin(struct streaming_multiprocessor *c, uint64_t now)
{
    struct sm_memory *m = &c->memory;
    const uint32_t *record = sm_words(c) + m->access.record;
    m->free_at = now + 1;
    if (trace_record_mode(*record) == TRACE_NONE) { /* no lane takes part */
        sm_event_add(c, now + 1, m->access.warp, m->access.destination, true);
        return;
    }
    if (trace_record_space(*record) == TRACE_SHARED) {
        memory_shared(c, record, now);
        return;
    }
    m->sent = 0;
    coalesce(&m->lines, record, m->access.width,
             (uint64_t)c->io.base.leaf * SM_WARPS + m->access.warp);
    if (unlikely(c->warp[m->access.warp].has_account))
        account_memory(c, &m->access, m->lines.count);
    m->is_active = true;
    m->tag = SM_NONE;
    if (m->access.kind == TRACE_COPY) {
        uint32_t lanes = (uint32_t)__builtin_popcount(trace_record_mask(record));
        uint32_t bytes = 4 * streaming_multiprocessor_params(c)->shared_banks;
        uint8_t *named = &c->async[m->access.warp].writes;
        m->access.writes = *named ? *named : (uint8_t)divide_up(lanes * m->access.width, bytes);
        *named = 0;
    }
    c->io.stats.loads += m->access.kind == TRACE_LOAD || m->access.kind == TRACE_COPY;
    c->io.stats.stores += m->access.kind == TRACE_STORE;
    c->io.stats.atomics += m->access.kind == TRACE_ATOMIC;
}

static inline void memory_request(struct streaming_multiprocessor *c, const struct sm_access *a,
                                  uint16_t tag, const struct sm_request *r)
{
    if (a->kind == TRACE_STORE || a->kind == TRACE_BULK_STORE)
        streaming_multiprocessor_mem_send_store(c, tag, r->line, r->sectors, coalesce_partial(r));
    else if (a->kind == TRACE_ATOMIC || a->kind == TRACE_BULK_REDUCE)
        streaming_multiprocessor_mem_send_atomic(c, tag, r->line, r->sectors, r->lanes);
    else
        streaming_multiprocessor_mem_send_load(c, tag, r->line, r->sectors, a->bypass);
}

/* Acquires a number for `requests` answers. False: there is none until the next answer gives one
 * back. */
static inline bool memory_tag(struct streaming_multiprocessor *c, const struct sm_access *a,
                              uint32_t requests, uint16_t *tag)
{
    uint16_t free = c->memory.free_pending;
    if (free == SM_NONE)
        return false;
    c->memory.free_pending = sm_pending(c, free)->next;
    *sm_pending(c, free) = (struct sm_pending){.answers_left = requests,
                                               .issued = (uint32_t)(a->issued / SM_SUB_CORES),
                                               .destination = a->destination,
                                               .next = SM_NONE,
                                               .warp = a->warp,
                                               .writes = a->writes,
                                               .writes_each_answer = a->kind == TRACE_BULK_LOAD,
                                               .id = (uint16_t)(sm_words(c)[a->record] & TRACE_ID)};
    *tag = free;
    return true;
}

/* Sends what remains of the instruction under way. */
static bool memory_send(struct streaming_multiprocessor *c, uint64_t now)
{
    struct sm_memory *m = &c->memory;
    uint32_t most = streaming_multiprocessor_params(c)->requests, sent = 0;
    if (m->tag == SM_NONE && !memory_tag(c, &m->access, m->lines.count, &m->tag))
        return false;
    for (; m->sent < m->lines.count && sent < most && streaming_multiprocessor_mem_can_send(c);
         sent++)
        memory_request(c, &m->access, m->tag, &m->lines.request[m->sent++]);
    if (m->sent == m->lines.count) {
        m->is_active = false;
        m->free_at = m->free_at > now ? m->free_at : now + 1;
    }
    return sent != 0;
}

/* One cycle of the memory unit; *at: when it has work again without an answer. */
static bool memory_step(struct streaming_multiprocessor *c, uint64_t now, uint64_t *at)
{
    if (c->memory.is_active)
        return memory_send(c, now);
    if (!memory_pop(c, now, at))
        return false;
    memory_begin(c, now);
    if (c->memory.is_active)
        memory_send(c, now);
    return true;
}

/* The last answer of an instruction is there. What goes to shared memory is written first. */
static inline void memory_answered(struct streaming_multiprocessor *c, const struct sm_pending *p,
                                   uint64_t now)
{
    if (!p->writes) {
        warp_retire(c, p->warp, p->destination, true);
        return;
    }
    uint64_t end =
        p->writes_each_answer ? c->memory.free_at : memory_occupy_shared(c, now, p->writes);
    sm_event_add(c, sm_soon(now, end), p->warp, p->destination, true);
}

static bool memory_receive(struct streaming_multiprocessor *c, uint64_t now)
{
    const struct sector_mem_reply *m;
    bool progress = false;
    while ((m = streaming_multiprocessor_mem_peek_reply(c))) {
        uint16_t tag = m->tag;
        struct sm_pending *p = sm_pending(c, tag);
        streaming_multiprocessor_mem_pop_reply(c);
        progress = true;
        if (p->writes_each_answer)
            memory_occupy_shared(c, now, p->writes);
        if (--p->answers_left)
            continue;
        if (unlikely(c->warp[p->warp].has_account && p->issued))
            account_answer(c, p);
        memory_answered(c, p, now);
        p->next = c->memory.free_pending;
        c->memory.free_pending = tag;
    }
    return progress;
}
