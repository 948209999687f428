/* Shared TLB. It accepts up to `width` lookups a cycle, one of each input, inputs in turn. Hits are
 * answered `latency` - 1 cycles later. A page that is not here is asked for below once, however
 * many lookups wait for it. Pages that are not mapped are not remembered.
 *
 * A shoot-down drops entries at once. A page that is on its way may come with a mapping that was
 * valid before, so it is asked for once more when it comes. The shoot-down is answered when all
 * such pages have come again. Shoot-downs are worked on one at a time. */
#include "tlb.gen.h"

#include "base/number.h"
#include "components/sampling/warmup.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/index_pool.h"
#include "runtime/observe/hang.h"

#include "translation_table.h"

#define TLB_WAITERS_PER_PAGE 64 /* on average */
#define TLB_NONE             UINT32_MAX

/* A lookup that waits for a page. */
struct tlb_waiter {
    uint32_t next;
    uint32_t input;
    uint64_t address;
    uint16_t tag;
};

struct tlb_page {
    uint32_t first, last;
    bool is_outdated; /* shot down after it was asked for: the answer may be an old one */
};

struct tlb {
    struct tlb_io io;
    struct translation_table table;
    struct index_pool free_waiters;
    uint32_t waiters_at; /* struct tlb_waiter by number in free_waiters */
    uint32_t pages_at;   /* struct tlb_page by number of the page asked for */
    /* Inputs whose oldest lookup is of a page that is neither here nor asked for, and could not be
     * asked for. They are tried again when there is room to ask, when another input has asked for
     * the page, or when it has come. */
    uint32_t refused_at;       /* uint64_t [], a bit an input */
    uint32_t refused_pages_at; /* uint64_t, by input: name_page() */
    uint32_t refused_count;
    uint32_t next_input;
    uint32_t outdated_count; /* pages with `is_outdated` */
    bool is_forgetting;      /* the oldest message at the control port has been worked on */
};

/* A lookup without time: see components/sampling/warmup.h. */
static void tlb_touch(struct component *self, const struct warm_access *a)
{
    struct tlb *c = (struct tlb *)(void *)self;
    uint32_t i = translation_find(&c->table, a->pid, a->address);
    if (i != TRANSLATION_NONE) {
        translation_touch(&c->table, i);
        return;
    }
    warm_pass(ring_number(c->io.bottom_request), a);
    struct translated_page page = {a->physical, a->page_bits, a->fragment_bits,
                                   page_traits(a->writable, MEM_COARSE)};
    translation_enter(&c->table, a->pid, a->address, &page);
}

static void tlb_warm_drop(struct component *self)
{
    translation_table_flush(&((struct tlb *)(void *)self)->table);
}

static const struct warm_ops tlb_warm_ops = {.touch = tlb_touch, .drop = tlb_warm_drop};

/* The ring of answers of an input. */
static uint32_t get_answer_ring(const struct tlb *c, uint32_t input)
{
    return engine_base.port_rings[2 * (c->io.top_first + input) + 1];
}

static void tlb_init(struct tlb *c)
{
    warm_register(&c->io.base, &tlb_warm_ops);
    uint32_t mshrs = tlb_params(c)->mshrs;
    translation_table_init(&c->table, tlb_params(c)->sets, tlb_params(c)->ways, mshrs,
                           tlb_params(c)->fragments);
    index_pool_init(&c->free_waiters, mshrs * TLB_WAITERS_PER_PAGE);
    c->waiters_at =
        arena_allocate((size_t)mshrs * TLB_WAITERS_PER_PAGE * sizeof(struct tlb_waiter));
    c->pages_at = arena_allocate(mshrs * sizeof(struct tlb_page));
    for (uint32_t i = 0; i < mshrs; i++)
        arena_at(struct tlb_page, c->pages_at)[i] =
            (struct tlb_page){.first = TLB_NONE, .last = TLB_NONE};
    c->refused_at = arena_allocate(divide_up((size_t)tlb_top_count(c), 64) * sizeof(uint64_t));
    c->refused_pages_at = arena_allocate((size_t)tlb_top_count(c) * sizeof(uint64_t));
    for (uint32_t i = 0; i < tlb_top_count(c); i++)
        ring_add_pipeline(get_answer_ring(c, i), tlb_params(c)->latency - 1);
}

/* Process and page in one word. */
static uint64_t name_page(const struct tlb *c, uint32_t pid, uint64_t address)
{
    return translation_key(&c->table, address) ^ (uint64_t)pid << 48;
}

static void refuse_input(struct tlb *c, uint32_t input, uint32_t pid, uint64_t address)
{
    uint64_t *word = &arena_at(uint64_t, c->refused_at)[input / 64],
             bit = (uint64_t)1 << (input % 64);
    c->refused_count += !(*word & bit);
    *word |= bit;
    arena_at(uint64_t, c->refused_pages_at)[input] = name_page(c, pid, address);
}

/* A page has been asked for or has come: inputs that were refused are tried again, those of page
 * `name` or all. */
static void readmit_inputs(struct tlb *c, uint64_t name, bool wakes_all)
{
    const uint64_t *pages = arena_at(uint64_t, c->refused_pages_at);
    for (uint32_t w = 0; c->refused_count && w * 64 < tlb_top_count(c); w++) {
        uint64_t *word = &arena_at(uint64_t, c->refused_at)[w];
        for (uint64_t bits = *word; bits; bits &= bits - 1) {
            if (!wakes_all && pages[w * 64 + (uint32_t)__builtin_ctzll(bits)] != name)
                continue;
            *word &= ~(bits & -bits);
            c->refused_count--;
        }
    }
}

/* The name of the page that was asked for under `number`. */
static uint64_t name_pending(const struct tlb *c, uint32_t number)
{
    const struct translation_entry *e =
        translation_entry(&c->table, c->table.sets * c->table.ways + number);
    return e->key ^ (uint64_t)e->pid << 48;
}

static bool can_ask(const struct tlb *c)
{
    return translation_can_ask(&c->table) && index_pool_has(&c->free_waiters)
           && tlb_bottom_can_send(c);
}

/* Asks for a page once more in place of its answer, the oldest reply. False: the port is full. */
static bool ask_again(struct tlb *c, struct tlb_page *page, uint16_t number)
{
    const struct translation_entry *e =
        translation_entry(&c->table, c->table.sets * c->table.ways + number);
    if (!tlb_bottom_can_send(c))
        return false;
    tlb_bottom_send_lookup(c, number, e->key & ~(uint64_t)0xfff, e->pid);
    page->is_outdated = false;
    c->outdated_count--;
    tlb_bottom_pop_reply(c);
    return true;
}

/* Begins a shoot-down: pages that have been asked for are asked for again when their answer comes.
 */
static void begin_forgetting(struct tlb *c, const struct tlb_control_request *m)
{
    uint64_t start = m->forget.address, end = start + m->forget.size;
    for (uint32_t i = 0; i < tlb_params(c)->mshrs; i++) {
        struct tlb_page *page = arena_at(struct tlb_page, c->pages_at) + i;
        if (translation_touches(&c->table, c->table.sets * c->table.ways + i, m->forget.pid, start,
                                end)) {
            c->outdated_count += !page->is_outdated;
            page->is_outdated = true;
        }
    }
    c->io.stats.forgotten += translation_forget(&c->table, m->forget.pid, start, end);
    c->is_forgetting = true;
}

/* Works on the shoot-down at the control port. */
static bool forget_entries(struct tlb *c)
{
    bool progress = !c->is_forgetting;
    const struct tlb_control_request *m = tlb_control_peek(c);
    if (!m)
        return false;
    if (!c->is_forgetting)
        begin_forgetting(c, m);
    if (c->outdated_count || !tlb_control_can_reply(c))
        return progress;
    tlb_control_reply_forgotten(c, m->tag);
    tlb_control_pop(c);
    c->is_forgetting = false;
    return true;
}

/* True if all lookups that wait may get the answer. False: the run has failed. */
static bool check_page(const struct tlb *c, const struct translated_page *page)
{
    if (translation_fits(&c->table, page))
        return true;
    engine_fail(&c->io.base,
                "a page of 2^%u bytes in a fragment of 2^%u is the answer to a lookup; pages here "
                "have 2^%u bytes, and fragments are no smaller",
                page->page_bits, page->fragment_bits, c->table.page_bits);
    return false;
}

/* Answers lookups that wait for a page with the oldest reply, `m`. False: some still wait, since
 * their ports are full. */
static bool answer_waiters(struct tlb *c, struct tlb_page *page, const struct translate_reply *m,
                           bool *has_worked)
{
    while (page->first != TLB_NONE) {
        uint32_t i = page->first;
        const struct tlb_waiter *w = arena_at(struct tlb_waiter, c->waiters_at) + i;
        if (!tlb_top_can_reply(c, w->input))
            return false;
        tlb_top_reply_found(c, w->input, w->tag, m->found.physical, m->found.page_bits,
                            m->found.fragment_bits, m->found.traits);
        page->first = w->next;
        index_pool_release(&c->free_waiters, i);
        *has_worked = true;
    }
    return true;
}

/* Accepts the oldest reply, `m`. The page is entered when all that wait for it are answered. False:
 * the reply stays. */
static bool accept_page(struct tlb *c, const struct translate_reply *m, bool *has_worked)
{
    struct tlb_page *page = arena_at(struct tlb_page, c->pages_at) + m->tag;
    struct translated_page entry = {m->found.physical, m->found.page_bits, m->found.fragment_bits,
                                    m->found.traits};
    if (page->is_outdated)
        return ask_again(c, page, m->tag);
    if (m->found.page_bits && !check_page(c, &entry))
        return false;
    if (!answer_waiters(c, page, m, has_worked))
        return false;
    uint32_t key_bits = c->table.key_bits;
    uint64_t name = name_pending(c, m->tag);
    c->io.stats.entered += translation_fill(&c->table, m->tag, &entry, m->found.page_bits != 0);
    tlb_bottom_pop_reply(c);
    readmit_inputs(c, name, c->table.has_fragments || c->table.key_bits != key_bits);
    return true;
}

static bool accept_pages(struct tlb *c)
{
    bool has_worked = false;
    const struct translate_reply *m;
    while ((m = tlb_bottom_peek_reply(c)) && accept_page(c, m, &has_worked))
        has_worked = true;
    return has_worked;
}

static void wait_for_page(struct tlb *c, uint32_t page, uint32_t input,
                          const struct translate_request *m)
{
    uint32_t i = index_pool_acquire(&c->free_waiters);
    struct tlb_waiter *waiters = arena_at(struct tlb_waiter, c->waiters_at);
    struct tlb_page *p = arena_at(struct tlb_page, c->pages_at) + page;
    waiters[i] = (struct tlb_waiter){
        .next = TLB_NONE, .input = input, .address = m->lookup.address, .tag = m->tag};
    if (p->first == TLB_NONE)
        p->first = i;
    else
        waiters[p->last].next = i;
    p->last = i;
    c->io.stats.misses++;
}

/* Accepts the lookup `m` of an input. False: nothing has changed. */
static bool accept_lookup(struct tlb *c, uint32_t input, const struct translate_request *m)
{
    uint64_t address = m->lookup.address;
    uint32_t pid = m->lookup.pid, i = translation_find(&c->table, pid, address);
    if (i == TRANSLATION_NONE) {
        if (!can_ask(c)) {
            refuse_input(c, input, pid, address);
            return false;
        }
        readmit_inputs(c, name_page(c, pid, address), false);
        uint32_t page = translation_ask(&c->table, pid, address);
        tlb_bottom_send_lookup(c, (uint16_t)page, address, pid);
        wait_for_page(c, page, input, m);
    } else if (translation_is_pending(&c->table, i)) {
        if (!index_pool_has(&c->free_waiters))
            return false;
        wait_for_page(c, translation_pending_number(&c->table, i), input, m);
        c->io.stats.mshr_hits++;
    } else {
        if (!tlb_top_can_reply(c, input))
            return false;
        const struct translation_entry *e = translation_entry(&c->table, i);
        uint64_t inside = address & (((uint64_t)1 << translation_bits(e)) - 1);
        uint32_t bits = c->table.page_bits;
        tlb_top_reply_found(c, input, m->tag, e->physical + (inside >> bits << bits), (uint8_t)bits,
                            (uint8_t)translation_bits(e), e->traits);
        translation_touch(&c->table, i);
        c->io.stats.hits++;
    }
    c->io.stats.lookups++;
    return true;
}

/* Offers a lookup to the inputs `from` .. `end` - 1 that may have one. */
static int64_t accept_lookups(struct tlb *c, uint32_t from, uint32_t end, int64_t room)
{
    const uint64_t *refused = arena_at(uint64_t, c->refused_at);
    bool may_ask = c->refused_count && can_ask(c);
    for (uint32_t w = from / 64; w * 64 < end && room; w++) {
        uint64_t bits = component_pending(&c->io.base, w);
        if (w == from / 64)
            bits &= UINT64_MAX << (from % 64);
        if (end - w * 64 < 64)
            bits &= ((uint64_t)1 << (end - w * 64)) - 1;
        for (; room && (bits &= may_ask ? UINT64_MAX : ~refused[w]); bits &= bits - 1) {
            uint32_t input = w * 64 + (uint32_t)__builtin_ctzll(bits);
            const struct translate_request *m = tlb_top_peek(c, input);
            if (!m || !accept_lookup(c, input, m))
                continue;
            tlb_top_pop(c, input);
            c->next_input = input + 1 == tlb_top_count(c) ? 0 : input + 1;
            room--;
            may_ask = may_ask && can_ask(c);
        }
    }
    return room;
}

static bool tlb_tick(struct tlb *c)
{
    bool progress = accept_pages(c);
    progress |= tlb_control_is_connected(c) && forget_entries(c);
    int64_t width = tlb_params(c)->width, room = width;
    uint32_t first = c->next_input;
    room = accept_lookups(c, first, tlb_top_count(c), room);
    room = accept_lookups(c, 0, first, room);
    return room < width || progress;
}

static unsigned tlb_outstanding(const struct tlb *c, struct hang_report *report)
{
    if (report && index_pool_used(&c->table.free_pending))
        hang_note(report, "%u pages have been asked for below, %u lookups wait for them",
                  index_pool_used(&c->table.free_pending), index_pool_used(&c->free_waiters));
    return index_pool_used(&c->table.free_pending);
}
