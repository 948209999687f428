/* Page walker: up to `walkers` walks at a time, each answered `walk_latency` - 1 cycles after it
 * was taken, with what the page table holds then. Inputs take turns. Walks all last equally long,
 * so they end in the order in which they began. Shoot-downs go to all TLBs, one at a time.
 *
 * A fragment that fills a leaf of the page table is mapped by one entry above it (amdgpu's "PDE as
 * PTE"), so a walk for any of its pages reads the same entries. Lookups of an input that meet such
 * a walk under way join it: they take no walker, and their answers come with its own. */
#include "mmu.gen.h"

#include "components/memory/page_table/page_table.h"
#include "components/protocols/translate/translated_page.h"
#include "runtime/engine/index_pool.h"
#include "runtime/observe/hang.h"

#define MMU_JOINED_PER_WALK 64 /* on average */
#define MMU_NONE            UINT32_MAX

struct mmu_lookup {
    uint64_t address;
    uint32_t pid;
    uint32_t next; /* the next lookup that joined the walk; MMU_NONE: this is the last */
    uint16_t tag;
};

struct mmu_walk {
    uint64_t due;
    uint64_t
        leaf; /* number of the leaf whose one entry is walked to, MMU_LEAF_NONE: another walk */
    uint32_t input;
    uint32_t last; /* lookup that has joined, MMU_NONE: none */
    struct mmu_lookup lookup;
};

#define MMU_LEAF_NONE UINT64_MAX

struct mmu {
    struct mmu_io io;
    uint32_t walks_at;  /* arena offset: struct mmu_walk [walkers], a ring */
    uint32_t joined_at; /* arena offset: struct mmu_lookup */
    struct index_pool free_joined;
    uint32_t head;
    uint32_t count;
    uint32_t next_input;
    uint32_t notified, forgotten; /* TLBs, of the oldest shoot-down */
};

static void mmu_init(struct mmu *c)
{
    uint32_t walkers = mmu_params(c)->walkers, joined = walkers * MMU_JOINED_PER_WALK;
    c->walks_at = arena_allocate(walkers * sizeof(struct mmu_walk));
    c->joined_at = arena_allocate(joined * sizeof(struct mmu_lookup));
    index_pool_init(&c->free_joined, joined);
}

static bool answer(struct mmu *c, uint32_t input, const struct mmu_lookup *l)
{
    if (!mmu_top_can_reply(c, input))
        return false;
    uint64_t physical = 0, flags = 0;
    const struct page_table *table = mmu_page_table(c);
    bool is_mapped = page_table_look_up(table, l->pid, l->address, &physical, &flags);
    unsigned fragment_bits = table->page_bits;
    uint64_t fragment;
    if (is_mapped && table->fragment_bits > fragment_bits)
        fragment_bits = page_table_fragment(table, l->pid, l->address, &fragment);
    mmu_top_reply_found(c, input, l->tag, physical, (uint8_t)(is_mapped ? table->page_bits : 0),
                        (uint8_t)fragment_bits,
                        page_traits(page_table_is_writable(flags), page_table_type(flags)));
    c->io.stats.faults += !is_mapped;
    return true;
}

/* Answers the lookups of a walk in the order in which they came. The one that comes next is in
 * the walk itself. False: there is no room for an answer. */
static bool answer_all(struct mmu *c, struct mmu_walk *w, bool *progress)
{
    while (answer(c, w->input, &w->lookup)) {
        uint32_t next = w->lookup.next;
        *progress = true;
        if (next == MMU_NONE)
            return true;
        w->lookup = arena_at(struct mmu_lookup, c->joined_at)[next];
        index_pool_release(&c->free_joined, next);
    }
    return false;
}

static bool finish_walks(struct mmu *c)
{
    bool progress = false;
    while (c->count) {
        struct mmu_walk *w = arena_at(struct mmu_walk, c->walks_at) + c->head;
        if (w->due > mmu_now(c)) {
            mmu_wake_at(c, w->due);
            break;
        }
        if (!answer_all(c, w, &progress))
            break;
        c->head = c->head + 1 == mmu_params(c)->walkers ? 0 : c->head + 1;
        c->count--;
    }
    return progress;
}

/* The walk under way with number `i`, by age. */
static struct mmu_walk *walk_at(const struct mmu *c, uint32_t i)
{
    uint32_t walkers = mmu_params(c)->walkers, index = c->head + i;
    return arena_at(struct mmu_walk, c->walks_at) + (index >= walkers ? index - walkers : index);
}

/* The leaf of a page whose fragment fills it, or MMU_LEAF_NONE. */
static uint64_t leaf_of(const struct mmu *c, const struct translate_request *m)
{
    const struct page_table *table = mmu_page_table(c);
    unsigned bits = table->page_bits + PAGE_TABLE_FANOUT_BITS;
    uint64_t physical;
    bool is_writable;
    if (table->fragment_bits < bits
        || !page_table_find(table, m->lookup.pid, m->lookup.address, &physical, &is_writable)
        || page_table_fragment(table, m->lookup.pid, m->lookup.address, &physical) < bits)
        return MMU_LEAF_NONE;
    return m->lookup.address >> bits;
}

/* Lets a lookup join a walk to the same leaf that is under way, not one that is being answered.
 * False: there is none that it can join. */
static bool join_walk(struct mmu *c, uint32_t input, uint64_t leaf, const struct mmu_lookup *lookup)
{
    if (leaf == MMU_LEAF_NONE)
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        struct mmu_walk *w = walk_at(c, i);
        if (w->leaf != leaf || w->input != input || w->lookup.pid != lookup->pid
            || w->due <= mmu_now(c) || !index_pool_has(&c->free_joined))
            continue;
        uint32_t number = index_pool_acquire(&c->free_joined);
        struct mmu_lookup *joined = arena_at(struct mmu_lookup, c->joined_at);
        joined[number] = *lookup;
        if (w->last == MMU_NONE)
            w->lookup.next = number;
        else
            joined[w->last].next = number;
        w->last = number;
        return true;
    }
    return false;
}

/* Accepts a lookup, which joins a walk or, if `may_begin`, may begin one of its own. */
static bool accept_walk(struct mmu *c, uint32_t input, const struct translate_request *m,
                        bool may_begin)
{
    struct mmu_lookup lookup = {
        .address = m->lookup.address, .pid = m->lookup.pid, .next = MMU_NONE, .tag = m->tag};
    uint64_t leaf = leaf_of(c, m);
    bool has_joined = join_walk(c, input, leaf, &lookup);
    if (has_joined || !may_begin)
        return has_joined;
    *walk_at(c, c->count++) = (struct mmu_walk){.due = mmu_now(c) + mmu_params(c)->walk_latency - 1,
                                                .leaf = leaf,
                                                .input = input,
                                                .last = MMU_NONE,
                                                .lookup = lookup};
    c->io.stats.walks++;
    stat_histogram_add(&c->io.stats.walks_in_flight, c->count);
    return true;
}

/* When all walkers are busy, lookups may still join walks. */
static bool join_walks(struct mmu *c)
{
    bool progress = false;
    for (uint32_t input = 0; input < mmu_top_count(c); input++) {
        const struct translate_request *m;
        while ((m = mmu_top_peek(c, input)) && accept_walk(c, input, m, false)) {
            mmu_top_pop(c, input);
            progress = true;
        }
    }
    return progress;
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
        accept_walk(c, input, m, true);
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
    for (; c->notified < tlbs && mmu_tlbs_can_send(c, c->notified); progress = true)
        mmu_tlbs_send_forget(c, c->notified++, 0, m->forget.address, m->forget.size, m->forget.pid);
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
    c->notified = c->forgotten = 0;
    return true;
}

static bool mmu_tick(struct mmu *c)
{
    uint32_t first = c->next_input;
    bool has_passed = mmu_control_is_connected(c) && pass_shootdown(c);
    bool progress = accept(c);
    if (!progress)
        c->next_input = first; /* a tick that does nothing leaves no trace */
    progress |= c->count == mmu_params(c)->walkers && join_walks(c);
    return finish_walks(c) || progress || has_passed;
}

static unsigned mmu_outstanding(const struct mmu *c, struct hang_report *report)
{
    if (report && c->count)
        hang_note(report, "%u page walks are under way, %u lookups have joined them", c->count,
                  index_pool_used(&c->free_joined));
    return c->count;
}
