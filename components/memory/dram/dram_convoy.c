/* Copies that nobody else notices, on the port of copies: convoy.h. Requests are taken in the order
 * of their cycles, with the timing part asked and told as by ticks in these cycles. */
#include "dram.gen.h"

#include "dram_state.h"
#include "runtime/engine/bug.h"
#include "runtime/link/convoy.h"

static struct dram *dram_convoying(struct component *self)
{
    return (struct dram *)(void *)self;
}

static unsigned dram_convoy_access(bool writes)
{
    return writes ? DRAM_TIMING_WRITE : DRAM_TIMING_READ;
}

/* The ring of answers has room for `count`, and they are seen in cycles that marks can name. */
static bool dram_convoy_has_way(const struct dram *c, uint32_t count)
{
    const struct ring *r = ring_placed(c->io.dma_reply);
    uint64_t now = component_now(&c->io.base);
    uint32_t slot = r->tail + (count - 1) * r->step;
    if (!r->simple || count * r->step > r->end - r->first)
        return false;
    slot -= slot < r->end ? 0 : r->end - r->first;
    return message_stamp(ring_slot(slot)) <= ring_limit(now)
           && convoy_seen(r, now + ENGINE_QUIET) < now + ENGINE_NEAR;
}

static bool dram_convoy_ready(struct component *self, bool writes, uint32_t count, uint32_t bytes)
{
    struct dram *c = dram_convoying(self);
    if (bytes != dram_line(c) || bytes != dram_port_line(c, DRAM_DMA)
        || !dram_convoy_has_way(c, count))
        return false;
    if (!dram_timing_ops(c))
        return true;
    if (c->refused || c->taken[DRAM_TOP] || c->taken[DRAM_DMA] || count > c->half)
        return false;
    dram_issue(c, component_now_ps(&c->io.base));
    return dram_timing_ops(c)->has_room(dram_part(c), dram_convoy_access(writes), count);
}

/* Of a later edge of the own clock. */
static uint64_t dram_convoy_ps(const struct dram *c, uint64_t cycle)
{
    const struct engine_domain *d = &engine.domains[c->io.base.domain];
    return d->remainder ? engine_time_of(c->io.base.domain, cycle)
                        : d->time_ps + (cycle - d->cycle) * d->period_ps;
}

/* The answer to a request leaves in `cycle`: what is sent from here on is sent then. */
static void dram_convoy_leaves(struct dram *c, uint64_t cycle)
{
    c->io.base.limit = ring_limit(cycle);
    if (!dram_can_reply(c, DRAM_DMA))
        bug("a memory finds no room for an answer that it had room for");
}

/* As dram_take_memory(). Returns when the request is through. */
static uint64_t dram_convoy_time(struct dram *c, const struct convoy_request *r, unsigned access,
                                 uint32_t number)
{
    const struct dram_timing_ops *ops = dram_timing_ops(c);
    uint64_t now_ps = dram_convoy_ps(c, r->at);
    if (ops->next_ps(dram_part(c)) < now_ps)
        dram_issue(c, now_ps - 1);
    uint64_t time =
        ops->take(dram_part(c), number, r->address, access, now_ps, dram_params(c)->width == 1);
    if (time == DRAM_TIMING_FULL)
        bug("a memory has no room for a request that it had room for");
    return time;
}

static void dram_convoy_write(struct dram *c, const struct convoy_request *r)
{
    if (dram_timing_ops(c))
        dram_convoy_time(c, r, DRAM_TIMING_WRITE, 0);
    dram_convoy_leaves(c, r->at);
    dram_reply_done(c, DRAM_DMA, r->number);
    c->io.stats.writes++;
    c->io.stats.bytes_written += dram_line(c);
}

static void dram_convoy_read(struct dram *c, const struct convoy_request *r)
{
    c->io.stats.reads++;
    c->io.stats.bytes_read += dram_line(c);
    if (!dram_timing_ops(c)) {
        dram_convoy_leaves(c, r->at);
        memcpy(dram_reply_data(c, DRAM_DMA, r->number), memory_at(r->address), dram_line(c));
        return;
    }
    uint32_t number = index_pool_take(&c->free_requests);
    uint64_t time = dram_convoy_time(c, r, DRAM_TIMING_READ, number);
    *dram_entry(c, number) =
        (struct dram_entry){.tag = r->number, .port = DRAM_DMA, .kind = MEM_READ};
    memcpy(dram_bytes(c, number), memory_at(r->address), dram_line(c));
    c->taken[DRAM_DMA]++;
    if (time != DRAM_TIMING_LATER)
        dram_answer_at(c, DRAM_DMA, number, time);
}

static void dram_convoy_take(struct component *self, const struct convoy_request *r, bool writes)
{
    struct dram *c = dram_convoying(self);
    (writes ? dram_convoy_write : dram_convoy_read)(c, r);
    c->turn = DRAM_TOP;
}

/* Commands that are due before `until` are issued, one time after the other, until the time of each
 * request is known: what it does not know is through later. */
static void dram_convoy_find(struct dram *c, uint64_t until)
{
    uint64_t until_ps = dram_convoy_ps(c, until), next_ps;
    while (c->queues[DRAM_DMA].count < c->taken[DRAM_DMA]
           && (next_ps = dram_timing_ops(c)->next_ps(dram_part(c))) < until_ps)
        dram_issue(c, next_ps);
}

/* As dram_finish_port(). */
static void dram_convoy_finish(struct dram *c, uint64_t until)
{
    struct dram_queue *q = &c->queues[DRAM_DMA];
    const struct dram_answer *ring = arena_at(struct dram_answer, q->answers);
    uint64_t leaves = 0;
    c->first_due = ENGINE_NEVER;
    for (; q->count; q->head++, q->count--) {
        const struct dram_answer *a = ring + (q->head & c->mask);
        leaves = a->due > leaves ? a->due : leaves + 1;
        if (leaves >= until) {
            c->first_due = leaves;
            return;
        }
        dram_convoy_leaves(c, leaves);
        memcpy(dram_reply_data(c, DRAM_DMA, dram_entry(c, a->number)->tag),
               dram_bytes(c, a->number), dram_line(c));
        index_pool_give(&c->free_requests, a->number);
        c->taken[DRAM_DMA]--;
    }
}

static void dram_convoy_answer(struct component *self, uint64_t until)
{
    struct dram *c = dram_convoying(self);
    if (!c->taken[DRAM_DMA])
        return;
    dram_convoy_find(c, until);
    dram_convoy_finish(c, until);
    c->look = dram_look_at(c, false);
    uint64_t wake = c->first_due < c->look ? c->first_due : c->look;
    if (wake != ENGINE_NEVER)
        engine_wake_later(self->id, wake);
}

static const struct convoy_ops dram_convoy_ops = {
    .ready = dram_convoy_ready,
    .take = dram_convoy_take,
    .answer = dram_convoy_answer,
};
