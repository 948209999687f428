/* Shared TLB: takes up to `width` lookups a cycle, one of each input, inputs in turn; answers hits
 * `latency` - 1 cycles later and asks below for pages it does not have, once each, whoever waits
 * for them. Pages that are not mapped are not remembered. */
#include "tlb.gen.h"

#include "components/mem/index_pool.h"
#include "components/translate/translation_table.h"
#include "runtime/hang.h"

#define TLB_WAITERS_PER_PAGE 64 /* on average */
#define TLB_NONE             UINT32_MAX

struct tlb_answer {
    uint64_t due;
    uint64_t physical;
    uint32_t input;
    uint16_t tag;
    uint8_t page_bits;
    bool valid, writable;
};

/* Who waits for a page. */
struct tlb_waiter {
    uint32_t next;
    uint32_t input;
    uint64_t address;
    uint16_t tag;
};

struct tlb_page {
    uint32_t first, last;
};

struct tlb {
    struct tlb_io io;
    struct translation_table table;
    struct index_pool free_waiters;
    uint32_t waiters; /* arena offsets */
    uint32_t pages;   /* struct tlb_page by number of the page asked for */
    uint32_t answers; /* ring of struct tlb_answer [answer_mask + 1] */
    uint32_t answer_mask, answer_head, answer_count;
    uint32_t next_input;
};

static void tlb_init(struct tlb *c)
{
    uint32_t mshrs = (uint32_t)tlb_params(c)->mshrs, answers = 64;
    translation_table_init(&c->table, (uint32_t)tlb_params(c)->sets, (uint32_t)tlb_params(c)->ways,
                           mshrs);
    index_pool_init(&c->free_waiters, mshrs * TLB_WAITERS_PER_PAGE);
    c->waiters = arena_allocate((size_t)mshrs * TLB_WAITERS_PER_PAGE * sizeof(struct tlb_waiter));
    c->pages = arena_allocate(mshrs * sizeof(struct tlb_page));
    while (answers < (tlb_params(c)->latency + 1) * tlb_params(c)->width)
        answers *= 2;
    c->answer_mask = answers - 1;
    c->answers = arena_allocate(answers * sizeof(struct tlb_answer));
    for (uint32_t i = 0; i < mshrs; i++)
        arena_at(struct tlb_page, c->pages)[i] = (struct tlb_page){TLB_NONE, TLB_NONE};
}

static bool answer_room(const struct tlb *c)
{
    return c->answer_count <= c->answer_mask;
}

static void answer(struct tlb *c, struct tlb_answer a)
{
    a.due = tlb_now(c) + (uint64_t)tlb_params(c)->latency - 1;
    arena_at(struct tlb_answer, c->answers)[(c->answer_head + c->answer_count++) & c->answer_mask] =
        a;
}

static bool send_answers(struct tlb *c)
{
    bool progress = false;
    while (c->answer_count) {
        const struct tlb_answer *a = arena_at(struct tlb_answer, c->answers) + c->answer_head;
        if (a->due > tlb_now(c)) {
            tlb_wake_at(c, a->due);
            break;
        }
        if (!tlb_top_can_reply(c, a->input))
            break;
        tlb_top_reply_found(c, a->input, a->tag, a->physical, a->page_bits, a->valid, a->writable);
        c->answer_head = (c->answer_head + 1) & c->answer_mask;
        c->answer_count--;
        progress = true;
    }
    return progress;
}

/* Answers those who wait for a page; the page is entered when all are. */
static bool take_pages(struct tlb *c)
{
    bool progress = false;
    const struct translate_reply *m;
    while ((m = tlb_bottom_peek_reply(c))) {
        struct tlb_page *page = arena_at(struct tlb_page, c->pages) + m->tag;
        while (page->first != TLB_NONE && answer_room(c)) {
            uint32_t i = page->first;
            const struct tlb_waiter *w = arena_at(struct tlb_waiter, c->waiters) + i;
            answer(c, (struct tlb_answer){.physical = m->found.physical,
                                          .input = w->input,
                                          .tag = w->tag,
                                          .page_bits = m->found.page_bits,
                                          .valid = m->found.valid,
                                          .writable = m->found.writable});
            page->first = w->next;
            index_pool_give(&c->free_waiters, i);
            progress = true;
        }
        if (page->first != TLB_NONE)
            break;
        translation_fill(&c->table, m->tag, m->found.physical, m->found.page_bits,
                         m->found.writable, m->found.valid);
        tlb_bottom_pop_reply(c);
        progress = true;
    }
    return progress;
}

static void wait_for_page(struct tlb *c, uint32_t page, uint32_t input,
                          const struct translate_request *m)
{
    uint32_t i = index_pool_take(&c->free_waiters);
    struct tlb_waiter *all = arena_at(struct tlb_waiter, c->waiters);
    struct tlb_page *p = arena_at(struct tlb_page, c->pages) + page;
    all[i] = (struct tlb_waiter){
        .next = TLB_NONE, .input = input, .address = m->lookup.address, .tag = m->tag};
    if (p->first == TLB_NONE)
        p->first = i;
    else
        all[p->last].next = i;
    p->last = i;
    c->io.stats.misses++;
}

/* Takes the lookup `m` of an input, or returns false without a trace. */
static bool take(struct tlb *c, uint32_t input, const struct translate_request *m)
{
    uint64_t address = m->lookup.address;
    uint32_t pid = m->lookup.pid, i = translation_find(&c->table, pid, address);
    if (i == TRANSLATION_NONE) {
        if (!translation_can_ask(&c->table) || !index_pool_has(&c->free_waiters)
            || !tlb_bottom_can_send(c))
            return false;
        uint32_t page = translation_ask(&c->table, pid, address);
        tlb_bottom_send_lookup(c, (uint16_t)page, address, pid);
        wait_for_page(c, page, input, m);
    } else if (translation_is_pending(&c->table, i)) {
        if (!index_pool_has(&c->free_waiters))
            return false;
        wait_for_page(c, translation_pending_number(&c->table, i), input, m);
        c->io.stats.mshr_hits++;
    } else {
        if (!answer_room(c))
            return false;
        const struct translation_entry *e = translation_entry(&c->table, i);
        answer(c, (struct tlb_answer){.physical = e->physical,
                                      .input = input,
                                      .tag = m->tag,
                                      .page_bits = (uint8_t)c->table.page_bits,
                                      .valid = true,
                                      .writable = e->writable});
        translation_touch(&c->table, i);
        c->io.stats.hits++;
    }
    c->io.stats.lookups++;
    return true;
}

/* Offers a lookup to the inputs `from` .. `end` - 1 that may have one. */
static int64_t take_from(struct tlb *c, uint32_t from, uint32_t end, int64_t room)
{
    for (uint32_t w = from / 64; w * 64 < end && room; w++) {
        uint64_t bits = component_pending(&c->io.base, w);
        if (w == from / 64)
            bits &= UINT64_MAX << (from % 64);
        if (end - w * 64 < 64)
            bits &= ((uint64_t)1 << (end - w * 64)) - 1;
        for (; bits && room; bits &= bits - 1) {
            uint32_t input = w * 64 + (uint32_t)__builtin_ctzll(bits);
            const struct translate_request *m = tlb_top_peek(c, input);
            if (!m || !take(c, input, m))
                continue;
            tlb_top_pop(c, input);
            c->next_input = input + 1 == tlb_top_count(c) ? 0 : input + 1;
            room--;
        }
    }
    return room;
}

static bool tlb_tick(struct tlb *c)
{
    bool progress = take_pages(c);
    int64_t width = tlb_params(c)->width, room = width;
    uint32_t first = c->next_input;
    room = take_from(c, first, tlb_top_count(c), room);
    room = take_from(c, 0, first, room);
    progress |= room < width;
    return send_answers(c) || progress;
}

static unsigned tlb_outstanding(const struct tlb *c, struct hang_report *report)
{
    if (report && c->table.pending_count)
        hang_note(report, "%u pages have been asked for below, %u lookups wait for them",
                  c->table.pending_count, index_pool_used(&c->free_waiters));
    if (report && c->answer_count)
        hang_note(report, "%u answers wait to be sent", c->answer_count);
    return c->table.pending_count + c->answer_count;
}
