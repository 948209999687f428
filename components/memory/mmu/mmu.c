/* Page walker: up to `walkers` walks at a time, each answered `walk_latency` - 1 cycles after it
 * was taken, with what the page table holds then. Inputs take turns. Walks all last equally long,
 * so they end in the order in which they began. Shoot-downs go to all TLBs, one at a time. */
#include "mmu.gen.h"

#include "components/protocols/page_table/page_table.h"
#include "runtime/observe/hang.h"

struct mmu_walk {
    uint64_t due;
    uint64_t address;
    uint32_t pid;
    uint32_t input;
    uint16_t tag;
};

struct mmu {
    struct mmu_io io;
    uint32_t walks; /* arena offset: struct mmu_walk [walkers], a ring */
    uint32_t head;
    uint32_t count;
    uint32_t next_input;
    uint32_t told, forgotten; /* TLBs, of the oldest shoot-down */
};

static void mmu_init(struct mmu *c)
{
    c->walks = arena_allocate((size_t)mmu_params(c)->walkers * sizeof(struct mmu_walk));
}

static bool answer(struct mmu *c, const struct mmu_walk *w)
{
    if (!mmu_top_can_reply(c, w->input))
        return false;
    uint64_t physical = 0;
    bool writable = false;
    const struct page_table *table = mmu_page_table(c);
    bool valid = page_table_find(table, w->pid, w->address, &physical, &writable);
    unsigned fragment_bits = table->page_bits;
    uint64_t fragment;
    if (valid && table->fragment_bits > fragment_bits)
        fragment_bits = page_table_fragment(table, w->pid, w->address, &fragment);
    mmu_top_reply_found(c, w->input, w->tag, physical, (uint8_t)(valid ? table->page_bits : 0),
                        (uint8_t)fragment_bits, writable);
    c->io.stats.faults += !valid;
    return true;
}

static bool finish(struct mmu *c)
{
    bool progress = false;
    while (c->count) {
        const struct mmu_walk *w = arena_at(struct mmu_walk, c->walks) + c->head;
        if (w->due > mmu_now(c)) {
            mmu_wake_at(c, w->due);
            break;
        }
        if (!answer(c, w))
            break;
        c->head = c->head + 1 == mmu_params(c)->walkers ? 0 : c->head + 1;
        c->count--;
        progress = true;
    }
    return progress;
}

static void begin(struct mmu *c, uint32_t input, const struct translate_request *m)
{
    uint32_t walkers = (uint32_t)mmu_params(c)->walkers, at = c->head + c->count++;
    struct mmu_walk *w = arena_at(struct mmu_walk, c->walks) + (at >= walkers ? at - walkers : at);
    *w = (struct mmu_walk){.due = mmu_now(c) + (uint64_t)mmu_params(c)->walk_latency - 1,
                           .address = m->lookup.address,
                           .pid = m->lookup.pid,
                           .input = input,
                           .tag = m->tag};
    c->io.stats.walks++;
    stat_histogram_add(&c->io.stats.walks_in_flight, c->count);
}

static bool accept(struct mmu *c)
{
    uint32_t inputs = mmu_top_count(c), idle = 0;
    bool progress = false;
    while (c->count < mmu_params(c)->walkers && idle < inputs) {
        uint32_t input = c->next_input;
        const struct translate_request *m = mmu_top_peek(c, input);
        c->next_input = input + 1 == inputs ? 0 : input + 1;
        if (!m) {
            idle++;
            continue;
        }
        idle = 0;
        begin(c, input, m);
        mmu_top_pop(c, input);
        progress = true;
    }
    return progress;
}

static bool pass_shootdown(struct mmu *c)
{
    const struct tlb_control_request *m = mmu_control_peek(c);
    uint32_t tlbs = mmu_tlbs_count(c);
    bool progress = false;
    if (!m)
        return false;
    for (; c->told < tlbs && mmu_tlbs_can_send(c, c->told); progress = true)
        mmu_tlbs_send_forget(c, c->told++, 0, m->forget.address, m->forget.size, m->forget.pid);
    for (uint32_t i = 0; i < tlbs; i++) {
        for (; mmu_tlbs_peek_reply(c, i); progress = true) {
            mmu_tlbs_pop_reply(c, i);
            c->forgotten++;
        }
    }
    if (c->forgotten < tlbs || !mmu_control_can_reply(c))
        return progress;
    mmu_control_reply_forgotten(c, m->tag);
    mmu_control_pop(c);
    c->told = c->forgotten = 0;
    return true;
}

static bool mmu_tick(struct mmu *c)
{
    uint32_t first = c->next_input;
    bool shot = mmu_control_is_connected(c) && pass_shootdown(c);
    bool progress = accept(c);
    if (!progress)
        c->next_input = first; /* a tick that does nothing leaves no trace */
    return finish(c) || progress || shot;
}

static unsigned mmu_outstanding(const struct mmu *c, struct hang_report *report)
{
    if (report && c->count)
        hang_note(report, "%u page walks are under way", c->count);
    return c->count;
}
