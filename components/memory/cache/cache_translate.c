/* From virtual to physical addresses, in a cache with the part `translation`.
 *
 * The part knows pages; this file keeps the requests whose page is not known. They step aside
 * (parked) in a queue of their page, so that requests after them are not held up, and move to
 * `replay` when the page comes. Replayed requests are accepted before new ones.
 *
 * A fragment that has come may cover a page that is still on its way, with requests that wait for
 * it. A later request to one of their lines joins them, so that requests to a line keep their
 * order.
 *
 * A write to a page that is read-only asks for the page once more, as a fault: it may be read-only
 * because of copies elsewhere, which then go. Every access to a page that has to come first does
 * so, too. Only a pause can release a request blocked on such a fault, so flushes, invalidations
 * and pauses do not wait for it. */
#include "cache.gen.h"

#include "base/likely.h"
#include "components/protocols/translate/translated_page.h"
#include "runtime/engine/component_failure.h"

#include "cache_state.h"

static void queue_append(struct cache *c, struct cache_queue *q, uint32_t first, uint32_t last)
{
    if (q->first == CACHE_PARKED_NONE)
        q->first = first;
    else
        get_parked(c, q->last)->next = first;
    q->last = last;
}

static uint32_t request_pid(const struct mem_request *m)
{
    return message_kind(m) == MEM_READ
               ? m->read.pid
               : (message_kind(m) == MEM_WRITE ? m->write.pid : m->atomic.pid);
}

static bool check_writable(const struct cache *c, const struct mem_request *m, bool is_writable)
{
    if (is_writable || message_kind(m) == MEM_READ)
        return true;
    engine_fail(&c->io.base, "process %u writes to read-only memory at virtual address 0x%llx",
                request_pid(m), (unsigned long long)request_address(m));
    return false;
}

static bool is_writing(const struct mem_request *m)
{
    return message_kind(m) != MEM_READ;
}

static struct cache_queue *get_page_queue(const struct cache *c, uint32_t page)
{
    return arena_at(struct cache_queue, c->page_queues_at) + page;
}

/* Flags of enum cache_page_state; none: the page has been asked for by a lookup. */
static uint8_t *get_page_state(const struct cache *c, uint32_t page)
{
    return arena_at(uint8_t, c->page_states_at) + page;
}

/* The first `count` requests of a page's queue, or all, go on: their page is known. */
static void replay_requests(struct cache *c, struct cache_queue *q, const struct translate_reply *m,
                            uint32_t count)
{
    uint64_t inside = ((uint64_t)1 << m->found.page_bits) - 1;
    uint32_t first = q->first, last = CACHE_PARKED_NONE;
    for (; count && q->first != CACHE_PARKED_NONE; count--, q->first = get_parked(c, last)->next) {
        last = q->first;
        struct cache_parked *p = get_parked(c, last);
        p->physical = m->found.physical + (request_address(&p->request) & inside);
        p->traits = m->found.traits;
        __builtin_prefetch(get_set(c, find_set(c, p->physical / line_bytes(c))));
    }
    if (last == CACHE_PARKED_NONE)
        return;
    get_parked(c, last)->next = CACHE_PARKED_NONE;
    queue_append(c, &c->replay, first, last);
    c->hold = HOLD_NONE; /* these go first, whatever the others wait for */
    c->head_misses = false;
}

static uint32_t count_waiting(const struct cache *c, const struct cache_queue *q)
{
    uint32_t count = 0;
    for (uint32_t i = q->first; i != CACHE_PARKED_NONE; i = get_parked(c, i)->next)
        count++;
    return count;
}

/* The number of requests that wait in front of the first one that writes. */
static uint32_t count_readers(const struct cache *c, const struct cache_queue *q)
{
    uint32_t count = 0;
    for (uint32_t i = q->first; i != CACHE_PARKED_NONE && !is_writing(&get_parked(c, i)->request);
         i = get_parked(c, i)->next)
        count++;
    return count;
}

/* Asks for a page as a fault, in place of its answer, the oldest reply. False: the port is full. */
static bool ask_as_fault(struct cache *c, uint16_t page)
{
    const struct mem_request *m = &get_parked(c, get_page_queue(c, page)->first)->request;
    if (!cache_translate_can_send(c))
        return false;
    cache_translate_send_fault(c, page, request_address(m), request_pid(m));
    *get_page_state(c, page) = PAGE_FAULT | (*get_page_state(c, page) & PAGE_AWAY);
    cache_translate_pop_reply(c);
    return true;
}

/* The oldest reply says that the page has to come first: all that wait for it ask for that. False:
 * the port is full. */
static bool ask_for_arrival(struct cache *c, uint16_t page)
{
    uint8_t *state = get_page_state(c, page);
    if (!cache_translate_can_send(c))
        return false;
    if (!*state)
        c->faulted_count += count_waiting(c, get_page_queue(c, page));
    *state |= PAGE_AWAY;
    return ask_as_fault(c, page);
}

/* The requests that wait for a page no longer wait for a fault. */
static void end_fault(struct cache *c, uint32_t page)
{
    if (*get_page_state(c, page))
        c->faulted_count -= count_waiting(c, get_page_queue(c, page));
    *get_page_state(c, page) = 0;
}

/* The oldest reply, `m`, brings a read-only page: requests in front of the first that writes go on,
 * and the others ask for the page as a fault. False: the port is full. */
static bool accept_read_only(struct cache *c, const struct translate_reply *m)
{
    struct cache_queue *q = get_page_queue(c, m->tag);
    if (!cache_translate_can_send(c))
        return false;
    replay_requests(c, q, m, count_readers(c, q));
    c->faulted_count += count_waiting(c, q);
    return ask_as_fault(c, m->tag);
}

/* False: the page is not mapped, which ends the run. */
static bool check_mapped(const struct cache *c, const struct translate_reply *m)
{
    const struct mem_request *first = &get_parked(c, get_page_queue(c, m->tag)->first)->request;
    if (m->found.page_bits)
        return true;
    engine_fail(&c->io.base, "process %u %s virtual address 0x%llx, which is not mapped",
                request_pid(first), is_writing(first) ? "writes to" : "reads",
                (unsigned long long)request_address(first));
    return false;
}

/* False: the page is none that the translation can keep, which ends the run. */
static bool check_fits(const struct cache *c, const struct translated_page *page)
{
    if (cache_translation_ops(c)->fits(cache_translation(c), page))
        return true;
    engine_fail(&c->io.base,
                "a page of 2^%u bytes in a fragment of 2^%u is the answer to a lookup; all pages "
                "have one size, and fragments are no smaller",
                page->page_bits, page->fragment_bits);
    return false;
}

/* Accepts the oldest reply. False: it stays, since the port is full or the run has failed. */
static bool accept_page(struct cache *c, const struct translate_reply *m)
{
    struct cache_queue *q = get_page_queue(c, m->tag);
    const uint8_t *state = get_page_state(c, m->tag);
    struct translated_page page = {m->found.physical, m->found.page_bits, m->found.fragment_bits,
                                   m->found.traits};
    if (*state & PAGE_AGAIN)
        return ask_as_fault(c, m->tag);
    if (!check_mapped(c, m))
        return false;
    if (!page.fragment_bits)
        return ask_for_arrival(c, m->tag);
    if (!check_fits(c, &page))
        return false;
    if (*state & PAGE_AWAY) /* the page has come: this answers a lookup */
        end_fault(c, m->tag);
    if (!*state && !page_may_be_written(page.traits) && count_readers(c, q) < count_waiting(c, q))
        return accept_read_only(c, m);
    end_fault(c, m->tag);
    replay_requests(c, q, m, UINT32_MAX);
    *q = (struct cache_queue){CACHE_PARKED_NONE, CACHE_PARKED_NONE};
    cache_translation_ops(c)->fill(cache_translation(c), m->tag, &page);
    cache_translate_pop_reply(c);
    return true;
}

static OUT_OF_LINE void accept_pages(struct cache *c)
{
    const struct translate_reply *m;
    while ((m = cache_translate_peek_reply(c)) && accept_page(c, m))
        ;
}

/* The oldest request, `m`, steps aside into the queue of its page. The caller has checked the
 * room. */
static void step_aside(struct cache *c, const struct mem_request *m, uint32_t page)
{
    c->faulted_count += *get_page_state(c, page) != 0;
    uint32_t i = index_pool_acquire(&c->free_parked) + 1;
    struct cache_parked *p = get_parked(c, i);
    memcpy(&p->request, m, sizeof p->request);
    p->next = CACHE_PARKED_NONE;
    if (message_kind(m) == MEM_WRITE)
        memcpy(parked_payload(c, i), cache_top_payload(c),
               mem_write_payload_bytes(cache_params(c)->above));
    else if (message_kind(m) == MEM_ATOMIC)
        memcpy(parked_payload(c, i), cache_top_payload(c),
               mem_atomic_payload_bytes(cache_params(c)->above));
    queue_append(c, get_page_queue(c, page), i, i);
    c->unanswered++;
}

/* The oldest request, `m`, whose page is known: the page that another one to its line waits for, or
 * UINT32_MAX. */
static OUT_OF_LINE uint32_t find_page_before(const struct cache *c, const struct mem_request *m)
{
    uint64_t line = request_address(m) / line_bytes(c);
    uint32_t page =
        cache_translation_ops(c)->pending(cache_translation(c), request_pid(m), request_address(m));
    if (page == UINT32_MAX)
        return UINT32_MAX;
    const struct cache_queue *q = get_page_queue(c, page);
    for (uint32_t i = q->first; i != CACHE_PARKED_NONE; i = get_parked(c, i)->next)
        if (request_address(&get_parked(c, i)->request) / line_bytes(c) == line)
            return page;
    return UINT32_MAX;
}

/* The way in which a request asks for its page. ASK_NONE: another one has asked. */
enum cache_ask { ASK_NONE, ASK_LOOKUP, ASK_FAULT };

/* The oldest request, `m`, steps aside until its page is known. */
static OUT_OF_LINE enum cache_next_state park_request(struct cache *c, const struct mem_request *m,
                                                      enum cache_ask ask)
{
    uint32_t pid = request_pid(m);
    if (!index_pool_has(&c->free_parked) || (ask != ASK_NONE && !cache_translate_can_send(c)))
        return NEXT_HELD;
    uint64_t address = request_address(m);
    uint32_t page = ask == ASK_FAULT
                        ? cache_translation_ops(c)->fault(cache_translation(c), pid, address)
                        : cache_translation_ops(c)->wait(cache_translation(c), pid, address);
    if (page == UINT32_MAX)
        return NEXT_HELD;
    if (ask == ASK_FAULT) {
        cache_translate_send_fault(c, (uint16_t)page, address, pid);
        *get_page_state(c, page) = PAGE_FAULT;
    } else if (ask == ASK_LOOKUP) {
        cache_translate_send_lookup(c, (uint16_t)page, address, pid);
    }
    step_aside(c, m, page);
    return NEXT_ASIDE;
}

/* Finds the physical address of the oldest request, or moves it aside. A result is kept while the
 * request has to stay. */
static ALWAYS_INLINE enum cache_next_state
translate_request(struct cache *c, const struct mem_request *m, uint64_t *physical)
{
    *physical = request_address(m);
    if (!cache_translation_ops(c))
        return NEXT_READY;
    if (unlikely(c->head_faults))
        return park_request(c, m, ASK_FAULT);
    if (!c->head_is_translated) {
        struct address_translation translation;
        bool is_full = !index_pool_has(&c->free_parked);
        if (unlikely(is_full) && find_page_before(c, m) != UINT32_MAX)
            return NEXT_HELD;
        enum address_translation_result r = cache_translation_ops(c)->lookup(
            cache_translation(c), request_pid(m), request_address(m), &translation);
        if (r == ADDRESS_TRANSLATION_FULL)
            return NEXT_HELD;
        if (r != ADDRESS_TRANSLATION_HIT)
            return park_request(c, m, r == ADDRESS_TRANSLATION_ABSENT ? ASK_LOOKUP : ASK_NONE);
        if (unlikely(!page_may_be_written(translation.traits)) && is_writing(m)) {
            c->head_faults = true;
            return park_request(c, m, ASK_FAULT);
        }
        bool may_wait = !is_full && index_pool_used(&c->free_parked);
        uint32_t before = unlikely(may_wait) ? find_page_before(c, m) : UINT32_MAX;
        if (unlikely(before != UINT32_MAX)) {
            step_aside(c, m, before);
            return NEXT_ASIDE;
        }
        c->head_is_translated = true;
        c->head_physical = translation.physical;
        c->head_memory = page_type(translation.traits);
    }
    *physical = c->head_physical;
    c->memory = c->head_memory;
    return NEXT_READY;
}

/* Answers to faults that are on their way may bring what has just been forgotten. */
static void outdate_page_answers(struct cache *c)
{
    uint32_t pages = cache_translation_ops(c)->capacity(cache_translation(c));
    if (!c->faulted_count)
        return;
    for (uint32_t i = 0; i < pages; i++)
        *get_page_state(c, i) |= *get_page_state(c, i) ? PAGE_AGAIN : 0;
}
