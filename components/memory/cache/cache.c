/* Set-associative cache: what it does in a cycle. State and invariants are in cache_state.h, the
 * handling of single requests in cache_take.h.
 *
 * A cycle, in this order: answers from below, page answers, flush and invalidate, requests (those
 * that waited for a page first, in order, then new ones). Requests are taken in
 * order; one that cannot be taken holds the ones behind it, except that requests on a page that is
 * being translated step aside ("hit under miss").
 *
 * A fence ends here, since every answer to a write comes from where all sharers see it: it is
 * answered when everything taken before it has been answered, and with `acquire` all lines are
 * dropped, so later reads ask below. A write-back cache also writes its dirty lines back first.
 * With the parameter acquire = below the answers to reads come from what not all sharers see
 * either, so a fence with `acquire` is sent on and its answer awaited. Fences of a wavefront or
 * work-group, whose members share this cache, only keep their place in the order.
 *
 * Flush and invalidate wait until everything taken is answered; nothing new is taken meanwhile.
 * Invalidate, and flush with `invalidate`, also forget translations. A pause is a flush with
 * `invalidate` behind which nothing is taken until `resume` comes: JOB_PAUSED.
 *
 * A write to a page that is read-only asks for it once more, as a fault: it may be read-only
 * because of copies elsewhere, which go then. Who waits for that waits for a pause, so flushes,
 * invalidations and pauses do not wait for him, and come before a fence that does. */
#include "cache.gen.h"

#include "cache_take.h"
#include "cache_warm.h"
#include "runtime/observe/hang.h"
#include "components/sampling/sampling_options.h"
#include "scope.gen.h"

static void init_parking(struct cache *c, uint32_t pages)
{
    c->payload_stride = (uint32_t)(mem_atomic_payload_bytes(cache_params(c)->line) + 15) / 16 * 16;
    uint32_t requests = (uint32_t)cache_params(c)->mshrs;
    index_pool_init(&c->free_parked, requests);
    c->parked = arena_allocate(requests * sizeof(struct cache_parked));
    c->parked_data = arena_allocate((size_t)requests * c->payload_stride);
    c->pages = arena_allocate(pages * sizeof(struct cache_queue));
    c->faults = arena_allocate(pages);
    for (uint32_t i = 0; i < pages; i++)
        arena_at(struct cache_queue, c->pages)[i] = (struct cache_queue){PARKED_NONE, PARKED_NONE};
}

static void cache_init(struct cache *c)
{
    uint32_t sets = (uint32_t)cache_params(c)->sets, ways = (uint32_t)cache_params(c)->ways;
    uint32_t lines = sets * ways, mshrs = (uint32_t)cache_params(c)->mshrs;
    c->sets = arena_allocate(sets * set_bytes(c));
    for (uint32_t i = 0; i < lines; i++)
        *line_tag(c, i) = LINE_FREE;
    c->lines = arena_allocate(lines * sizeof(uint16_t));
    c->data = arena_allocate((size_t)lines * line_bytes(c));
    if (keeps_masks(c))
        c->masks = arena_allocate(lines * sizeof(struct mem_mask));
    c->dirty = arena_allocate((lines + 63) / 64 * sizeof(uint64_t));
    c->mshrs = arena_allocate(mshrs * sizeof(struct cache_mshr));
    index_pool_init(&c->free_mshrs, mshrs);
    uint32_t targets = mshrs * (uint32_t)cache_params(c)->targets;
    c->targets = arena_allocate(targets * sizeof(struct cache_target));
    index_pool_init(&c->free_targets, targets);
    c->sent = arena_allocate(mshrs * sizeof(struct cache_sent));
    index_pool_init(&c->free_sent, mshrs);
    if (is_write_back(c)) {
        c->stored = arena_allocate(mshrs * 2 * sizeof(struct cache_stored));
        index_pool_init(&c->free_stored, mshrs * 2);
    }
    uint32_t delay = (uint32_t)cache_params(c)->latency - 1;
    c->replay = (struct cache_queue){PARKED_NONE, PARKED_NONE};
    if (cache_translation(c)) {
        delay += cache_translation_ops(c)->latency(cache_translation(c));
        init_parking(c, cache_translation_ops(c)->capacity(cache_translation(c)));
    }
    ring_add_pipeline(ring_number(cache_io(c)->top_reply), delay);
    cache_replacement_ops(c)->setup(cache_replacement(c), sets, ways);
    warm_register(&c->io.base, &cache_warm_ops);
    c->notes = platform_sampling()->kernels != NULL;
    c->leads = c->notes && residency_is_known();
}

/* ---- answers from below ---- */

/* The bytes have come: into the line, around those that were written before they were asked for. */
static __attribute__((noinline)) void install_around(struct cache *c, uint32_t line,
                                                     const void *bytes)
{
    struct mem_mask missing = mem_mask_not(*line_mask(c, line), line_bytes(c));
    mem_copy_masked(line_data(c, line), bytes, missing, line_bytes(c));
}

CACHE_INLINE void install(struct cache *c, struct cache_mshr *mshr, const void *bytes)
{
    mshr->installed = 1;
    if (mshr->line == LINE_NONE)
        return;
    if (engine_unlikely(mshr->own_bytes))
        install_around(c, mshr->line, bytes);
    else
        memcpy(line_data(c, mshr->line), bytes, line_bytes(c));
}

/* Lets a waiting write or atomic take effect. */
static __attribute__((noinline)) void serve_stored(struct cache *c, const struct cache_target *t,
                                                   uint32_t line)
{
    const struct cache_stored *s = arena_at(struct cache_stored, c->stored) + t->stored;
    if (t->kind == MEM_WRITE) {
        line_write(c, line, s->mask, s->bytes[0]);
        line_set_dirty(c, line);
        respond(c, t->tag, false, NULL);
    } else {
        respond(c, t->tag, true, t->returns ? line_data(c, line) : NULL);
        mem_apply_atomic(t->op, t->size, s->mask, line_data(c, line), s->bytes[0], s->bytes[1],
                         NULL);
        line_set_changed(c, line, t->op, s->mask, s->bytes[0]);
    }
    index_pool_give(&c->free_stored, t->stored);
}

/* Lets the first waiting request take effect. `line` is LINE_NONE only for reads. An answer takes
 * its bytes from the one that has come, if it can: what has just been copied to the line is still
 * on its way there, and waiting for that took 15 % of the time of a miss. */
CACHE_INLINE void serve(struct cache *c, struct cache_mshr *mshr, uint32_t line, const void *bytes)
{
    const struct cache_target *t = &mshr->head;
    if (is_write_back(c) && t->kind != MEM_READ) { /* only a write-back cache stores what waits */
        mshr->own_bytes = true;
        serve_stored(c, t, line);
        return;
    }
    bool own = is_write_back(c) && mshr->own_bytes;
    respond(c, t->tag, true, own ? line_data(c, line) : bytes);
}

/* The one that waits at `mshr` behind the first moves up. */
static __attribute__((noinline)) void next_target(struct cache *c, struct cache_mshr *mshr)
{
    uint32_t i = mshr->first;
    mshr->head = arena_at(struct cache_target, c->targets)[i];
    mshr->first = mshr->head.next;
    index_pool_give(&c->free_targets, i);
}

/* When would the request have begun to wait here? */
static uint64_t re_timed_wait(const struct cache_target *t)
{
    return t->since - t->lead - (uint64_t)(int64_t)(t->note.line + t->note.page);
}

/* A line has come, which has been asked for by the first one that waits here. When would it have,
 * behind the launches before? */
static __attribute__((noinline)) void note_come(struct cache *c, const struct cache_mshr *mshr,
                                                struct message_note below)
{
    uint64_t now = component_tick_now(&c->io.base), asked = re_timed_wait(&mshr->head);
    c->re_timed = asked + (now - mshr->head.since) - (uint64_t)(int64_t)below.line;
    if (!keeps_lines(c))
        return;
    for (uint32_t n = 1, i = mshr->first; n < mshr->targets; n++) {
        const struct cache_target *t = arena_at(struct cache_target, c->targets) + i;
        asked = re_timed_wait(t) < asked ? re_timed_wait(t) : asked;
        i = t->next;
    }
    c->re_timed = note_server_answer(&c->below, mshr->head.since, now, asked,
                                     residency_take(c->io.base.leaf, mshr->address));
}

/* Of the answer to a request that waited for the line in `answer`. */
static __attribute__((noinline)) void note_line(struct cache *c, const struct cache_target *t,
                                                const struct message *answer)
{
    uint64_t now = component_tick_now(&c->io.base);
    int64_t waited = (int64_t)(now - t->since), line = message_note(answer).line;
    if (c->leads)
        line = message_note_lost(t->since, now, re_timed_wait(t), c->re_timed);
    else
        line = keeps_lines(c) || waited < line ? waited : line;
    c->note = (struct message_note){message_note_cycles(t->note.line + line), t->note.page};
    note_freed(c, c->note, t->lead);
}

/* false: there are waiting requests left, but no room for more answers. */
CACHE_INLINE bool fill(struct cache *c, uint32_t number, const struct message *answer,
                       const void *bytes)
{
    struct cache_mshr *mshr = mshr_at(c, number);
    uint32_t line = mshr->line;
    if (!mshr->installed) {
        install(c, mshr, bytes);
        if (engine_unlikely(c->leads))
            note_come(c, mshr, message_note(answer));
    }
    while (mshr->targets) {
        if (!response_room(c))
            return false;
        if (engine_unlikely(c->notes))
            note_line(c, &mshr->head, answer);
        serve(c, mshr, line, bytes);
        if (engine_unlikely(c->notes))
            c->note = (struct message_note){0};
        if (--mshr->targets)
            next_target(c, mshr);
    }
    if (line != LINE_NONE) {
        struct cache_set *s = set_at(c, line / way_count(c));
        uint64_t bit = (uint64_t)1 << (line % way_count(c));
        s->pending &= ~bit;
        s->filled |= bit;
    }
    mshr->used = 0;
    index_pool_give(&c->free_mshrs, number);
    return true;
}

/* The answer to a write or atomic that was sent below. */
static __attribute__((noinline)) bool acknowledge(struct cache *c, uint32_t number,
                                                  struct message_note below, void *payload)
{
    struct cache_sent sent = arena_at(struct cache_sent, c->sent)[number];
    if (sent.kind != SENT_WRITE_BACK) {
        if (!response_room(c))
            return false;
        c->note =
            (struct message_note){message_note_cycles(sent.note.line + below.line), sent.note.page};
        respond(c, sent.tag, sent.kind != SENT_WRITE,
                sent.kind == SENT_ATOMIC ? mem_data_data(payload, line_bytes(c)) : NULL);
        c->note = (struct message_note){0};
    }
    index_pool_give(&c->free_sent, number);
    return true;
}

CACHE_INLINE void take_answers(struct cache *c)
{
    struct ring *below = ring_placed(c->io.bottom_reply);
    uint64_t limit = c->io.base.limit;
    const struct message *m = ring_oldest(below, limit);
    if (!m)
        return;
    do {
        uint32_t mshrs = (uint32_t)cache_params(c)->mshrs;
        m = ring_slot(below->head);
        void *payload = ring_payload(below->head);
        bool done = engine_likely(m->tag < mshrs)
                        ? fill(c, m->tag, m, mem_data_data(payload, line_bytes(c)))
                        : acknowledge(c, m->tag - mshrs, message_note(m), payload);
        if (!done)
            return;
    } while (ring_drop(below, limit));
}

/* ---- translation ---- */

static struct cache_parked *parked_at(const struct cache *c, uint32_t i)
{
    return arena_at(struct cache_parked, c->parked) + i;
}

static void *parked_payload(const struct cache *c, uint32_t i)
{
    return arena_at(char, c->parked_data) + (size_t)i * c->payload_stride;
}

static void queue_append(struct cache *c, struct cache_queue *q, uint32_t first, uint32_t last)
{
    if (q->first == PARKED_NONE)
        q->first = first;
    else
        parked_at(c, q->last)->next = first;
    q->last = last;
}

/* `address` is the first field of reads, writes and atomics alike. */
static uint64_t request_address(const struct mem_request *m)
{
    return m->read.address;
}

static uint32_t request_pid(const struct mem_request *m)
{
    return message_kind(m) == MEM_READ
               ? m->read.pid
               : (message_kind(m) == MEM_WRITE ? m->write.pid : m->atomic.pid);
}

static bool check_writable(const struct cache *c, const struct mem_request *m, bool writable)
{
    if (writable || message_kind(m) == MEM_READ)
        return true;
    engine_fail(&c->io.base, "process %u writes to read-only memory at virtual address 0x%llx",
                request_pid(m), (unsigned long long)request_address(m));
    return false;
}

static bool request_writes(const struct mem_request *m)
{
    return message_kind(m) != MEM_READ;
}

static uint8_t *page_fault(const struct cache *c, uint32_t page)
{
    return arena_at(uint8_t, c->faults) + page;
}

/* Asks for a page as a fault, in place of its answer, the oldest reply. False: the port is full. */
static bool ask_for_writing(struct cache *c, uint16_t page)
{
    const struct cache_queue *q = arena_at(struct cache_queue, c->pages) + page;
    const struct mem_request *m = &parked_at(c, q->first)->request;
    if (!cache_translate_can_send(c))
        return false;
    cache_translate_send_fault(c, page, request_address(m), request_pid(m));
    *page_fault(c, page) = PAGE_FAULT;
    cache_translate_pop_reply(c);
    return true;
}

/* When would the request have begun to wait for its page? */
static uint64_t re_timed_came(const struct cache_parked *p)
{
    return p->came - message_lead(&p->request) - (uint64_t)(int64_t)(p->note.line + p->note.page);
}

/* A request whose page has come would have gone on `lost` cycles earlier if the shared TLB had
 * known the page; with leads, when it would have come in cycle `come`. */
static void note_page(struct cache *c, struct cache_parked *p, int64_t lost, uint64_t come)
{
    uint64_t now = component_tick_now(&c->io.base);
    int64_t waited = (int64_t)(now - p->came);
    lost = waited < lost ? waited : lost;
    if (c->leads)
        lost = message_note_lost(p->came, now, re_timed_came(p), come);
    p->note.page = message_note_cycles(p->note.page + lost);
    note_freed(c, p->note, message_lead(&p->request));
}

/* The first `count` requests of a page's queue, or all, can be taken. */
static void page_known(struct cache *c, struct cache_queue *q, const struct translate_reply *m,
                       uint32_t count)
{
    uint64_t inside = ((uint64_t)1 << m->found.page_bits) - 1;
    uint32_t first = q->first, last = PARKED_NONE;
    uint64_t come = 0;
    if (c->leads && first != PARKED_NONE) /* asked for by the first one */
        come = component_tick_now(&c->io.base) - parked_at(c, first)->came
               + re_timed_came(parked_at(c, first)) - (uint64_t)(int64_t)message_note(m).page;
    for (; count && q->first != PARKED_NONE; count--, q->first = parked_at(c, last)->next) {
        last = q->first;
        struct cache_parked *p = parked_at(c, last);
        p->physical = m->found.physical + (request_address(&p->request) & inside);
        p->writable = m->found.writable;
        note_page(c, p, message_note(m).page, come);
    }
    if (last == PARKED_NONE)
        return;
    parked_at(c, last)->next = PARKED_NONE;
    queue_append(c, &c->replay, first, last);
    c->hold = HOLD_NONE; /* these go first, whatever the others wait for */
    c->head_missed = false;
}

/* How many wait for a page; `writing`: before the first that writes. */
static uint32_t page_waiting(const struct cache *c, const struct cache_queue *q, bool writing)
{
    uint32_t count = 0;
    for (uint32_t i = q->first; i != PARKED_NONE; i = parked_at(c, i)->next, count++) {
        if (writing && request_writes(&parked_at(c, i)->request))
            break;
    }
    return count;
}

static __attribute__((noinline)) void take_pages(struct cache *c)
{
    const struct translate_reply *m;
    while ((m = cache_translate_peek_reply(c))) {
        struct cache_queue *q = arena_at(struct cache_queue, c->pages) + m->tag;
        uint8_t *fault = page_fault(c, m->tag);
        if (*fault & PAGE_AGAIN) {
            if (!ask_for_writing(c, m->tag))
                return;
            continue;
        }
        if (!m->found.valid) {
            const struct mem_request *first = &parked_at(c, q->first)->request;
            engine_fail(&c->io.base, "process %u %s virtual address 0x%llx, which is not mapped",
                        request_pid(first), message_kind(first) == MEM_READ ? "reads" : "writes to",
                        (unsigned long long)request_address(first));
            return;
        }
        uint32_t readers = m->found.writable ? 0 : page_waiting(c, q, true);
        if (!m->found.writable && !*fault && readers < page_waiting(c, q, false)) {
            if (!cache_translate_can_send(c))
                return;
            page_known(c, q, m, readers);
            c->faulted += page_waiting(c, q, false);
            ask_for_writing(c, m->tag);
            continue;
        }
        if (*fault)
            c->faulted -= page_waiting(c, q, false);
        *fault = 0;
        page_known(c, q, m, UINT32_MAX);
        *q = (struct cache_queue){PARKED_NONE, PARKED_NONE};
        cache_translation_ops(c)->fill(cache_translation(c), m->tag, m->found.physical,
                                       m->found.page_bits, m->found.writable);
        cache_translate_pop_reply(c);
    }
}

enum translated { TRANSLATED, ASIDE, HELD, NOTHING };

/* The oldest request, `m`, steps aside until its page is known. */
static __attribute__((noinline)) enum translated park(struct cache *c, const struct mem_request *m,
                                                      bool ask, bool fault)
{
    uint32_t pid = request_pid(m);
    if (!index_pool_has(&c->free_parked) || (ask && !cache_translate_can_send(c)))
        return HELD;
    uint64_t address = request_address(m);
    uint32_t page = fault ? cache_translation_ops(c)->fault(cache_translation(c), pid, address)
                          : cache_translation_ops(c)->wait(cache_translation(c), pid, address);
    if (page == UINT32_MAX)
        return HELD;
    if (fault) {
        cache_translate_send_fault(c, (uint16_t)page, address, pid);
        *page_fault(c, page) = PAGE_FAULT;
    } else if (ask) {
        if (engine_unlikely(c->leads))
            message_lead_next(c->io.translate_request, lead_here(c));
        cache_translate_send_lookup(c, (uint16_t)page, address, pid);
    }
    c->faulted += *page_fault(c, page) != 0;
    uint32_t i = index_pool_take(&c->free_parked);
    struct cache_parked *p = parked_at(c, i);
    memcpy(&p->request, m, sizeof p->request);
    p->next = PARKED_NONE;
    p->note = c->note;
    p->came = component_tick_now(&c->io.base);
    if (message_kind(m) == MEM_WRITE)
        memcpy(parked_payload(c, i), cache_top_payload(c),
               mem_write_payload_bytes(cache_params(c)->line));
    else if (message_kind(m) == MEM_ATOMIC)
        memcpy(parked_payload(c, i), cache_top_payload(c),
               mem_atomic_payload_bytes(cache_params(c)->line));
    queue_append(c, arena_at(struct cache_queue, c->pages) + page, i, i);
    c->unanswered++;
    return ASIDE;
}

/* Finds the physical address of the oldest request, or moves it aside. A result is kept while the
 * request has to stay. */
CACHE_INLINE enum translated translate(struct cache *c, const struct mem_request *m,
                                       uint64_t *physical)
{
    *physical = request_address(m);
    if (!cache_translation_ops(c))
        return TRANSLATED;
    if (engine_unlikely(c->head_faults))
        return park(c, m, true, true);
    if (!c->head_translated) {
        struct address_translation found;
        enum address_translation_result r = cache_translation_ops(c)->lookup(
            cache_translation(c), request_pid(m), request_address(m), &found);
        if (r == ADDRESS_TRANSLATION_FULL)
            return HELD;
        if (r != ADDRESS_TRANSLATION_HIT)
            return park(c, m, r == ADDRESS_TRANSLATION_ABSENT, false);
        if (engine_unlikely(!found.writable) && request_writes(m)) {
            c->head_faults = true;
            return park(c, m, true, true);
        }
        c->head_translated = true;
        c->head_physical = found.physical;
    }
    *physical = c->head_physical;
    return TRANSLATED;
}

/* ---- flush, invalidate, fences ---- */

static void start_job(struct cache *c, enum cache_job job, bool write_back_lines, bool drop)
{
    c->job = (uint8_t)job;
    c->job_write_back = write_back_lines && is_write_back(c);
    c->job_drop = drop;
    c->job_pass = false;
}

/* Paused, or told to go on: there is nothing to write back or to drop. */
static void control_at_once(struct cache *c, const struct cache_control_request *m)
{
    if (!cache_control_can_reply(c))
        return;
    if (message_kind(m) == CACHE_CONTROL_RESUME)
        c->job = JOB_NONE;
    cache_control_reply_finished(c, m->tag);
    cache_control_pop(c);
}

/* True: it goes on after a pause, in which answers to faults may have come. */
static __attribute__((noinline)) bool start_control(struct cache *c)
{
    const struct cache_control_request *m = cache_control_peek(c);
    bool busy = c->job != JOB_NONE && c->job != JOB_PAUSED;
    bool paused = c->job == JOB_PAUSED;
    if (!m || (busy && !(c->job == JOB_FENCE && c->faulted)))
        return false;
    if (c->job == JOB_PAUSED || message_kind(m) == CACHE_CONTROL_RESUME)
        control_at_once(c, m);
    else if (message_kind(m) == CACHE_CONTROL_PAUSE)
        start_job(c, JOB_PAUSE, true, true);
    else if (message_kind(m) == CACHE_CONTROL_INVALIDATE)
        start_job(c, JOB_INVALIDATE, false, true);
    else
        start_job(c, JOB_FLUSH, true, m->flush.invalidate);
    return paused && c->job == JOB_NONE;
}

static void drop_all(struct cache *c)
{
    uint32_t lines = (uint32_t)cache_params(c)->sets * way_count(c);
    if (!c->any_lines)
        return;
    c->any_lines = false;
    for (uint32_t i = 0; i < lines; i++)
        if (*line_tag(c, i) != LINE_FREE)
            line_drop(c, i);
}

/* Sends dirty lines below in order of their places, as many as there is room for. */
static bool write_back_all(struct cache *c)
{
    bool progress = false;
    for (uint32_t w = 0; c->dirty_count; w++)
        for (uint64_t bits; (bits = arena_at(uint64_t, c->dirty)[w]);) {
            if (!index_pool_has(&c->free_sent) || !cache_bottom_can_send(c))
                return progress;
            write_back(c, w * 64 + (uint32_t)__builtin_ctzll(bits));
            progress = true;
        }
    return progress;
}

/* Faults that are not answered: what is on its way may be what has just been forgotten. */
static void forget_answers(struct cache *c)
{
    uint32_t pages = cache_translation_ops(c)->capacity(cache_translation(c));
    for (uint32_t i = 0; c->faulted && i < pages; i++)
        *page_fault(c, i) |= *page_fault(c, i) ? PAGE_AGAIN : 0;
}

static bool finish_job(struct cache *c)
{
    bool from_control = c->job != JOB_FENCE;
    if (from_control ? !cache_control_can_reply(c) : !cache_top_can_reply(c))
        return false;
    if (c->job_drop) {
        if (c->dirty_count) {
            engine_fail(&c->io.base, "invalidate would lose %u dirty lines; flush first",
                        c->dirty_count);
            return false;
        }
        drop_all(c);
        if (from_control && cache_translation(c)) {
            cache_translation_ops(c)->flush(cache_translation(c));
            c->head_translated = c->head_missed = c->head_faults = false;
            forget_answers(c);
        }
    }
    if (from_control) {
        cache_control_reply_finished(c, cache_control_peek(c)->tag);
        cache_control_pop(c);
    } else {
        cache_top_reply_done(c, cache_top_peek(c)->tag);
        cache_top_pop(c);
    }
    c->job = c->job == JOB_PAUSE ? JOB_PAUSED : JOB_NONE;
    return true;
}

/* The fence at the head goes on below; its answer comes like that to a write-back. */
static bool pass_fence(struct cache *c)
{
    const struct mem_request *m = cache_top_peek(c);
    if (!index_pool_has(&c->free_sent) || !cache_bottom_can_send(c))
        return false;
    uint32_t sent = index_pool_take(&c->free_sent);
    arena_at(struct cache_sent, c->sent)[sent] = (struct cache_sent){.kind = SENT_WRITE_BACK};
    cache_bottom_send_fence(c, (uint16_t)((uint32_t)cache_params(c)->mshrs + sent), m->fence.scope,
                            m->fence.acquire, m->fence.release);
    c->job_pass = false;
    return true;
}

static __attribute__((noinline)) bool work_on_job(struct cache *c)
{
    bool progress = false;
    if (c->unanswered != (c->job == JOB_FENCE ? 0 : c->faulted))
        return false;
    if (c->job_write_back)
        progress = write_back_all(c);
    if ((c->job_write_back && c->dirty_count) || index_pool_used(&c->free_sent))
        return progress;
    return (c->job_pass ? pass_fence(c) : finish_job(c)) || progress;
}

/* The oldest request is a fence. */
static void start_fence(struct cache *c, const struct mem_request *m)
{
    bool shared = m->fence.scope == SCOPE_AGENT || m->fence.scope == SCOPE_SYSTEM;
    start_job(c, JOB_FENCE, shared && (m->fence.release || m->fence.acquire),
              shared && m->fence.acquire);
    c->job_pass = c->job_drop && cache_params(c)->acquire == CACHE_ACQUIRE_BELOW;
}

/* ---- a cycle ---- */

/* Can the request that was held be taken now? Only a guess that avoids vain attempts, never a wrong
 * no. */
static bool worth_trying(const struct cache *c)
{
    if (c->hold == HOLD_NONE)
        return true;
    if (engine_likely(c->hold == HOLD_ROOM_BELOW))
        return !ring_is_still_full(ring_placed(c->io.bottom_request)) && cache_bottom_can_send(c);
    if (c->hold == HOLD_MSHR)
        return index_pool_has(&c->free_mshrs);
    return c->hold != HOLD_RESPONSE || response_room(c);
}

/* A new request stood behind one that was held, or was held itself, until an answer from below made
 * room. What that answer lost, the request has lost as well, if it has waited that long. */
static __attribute__((noinline)) void note_wait(struct cache *c, const struct mem_request *m)
{
    uint64_t came = message_cycle((const void *)m), at = c->went_on_at;
    c->lead = message_lead(m);
    struct cache_room room = c->went_on;
    if (c->blocked_since) {
        at = component_tick_now(&c->io.base);
        room = freed_since(c, c->blocked_since - 1);
    }
    if (engine_likely(came >= at))
        return;
    if (c->leads) {
        int64_t lost = message_note_lost(came, at, came - c->lead, at - room.lead);
        c->note = (struct message_note){message_note_cycles(lost > 0 ? lost : 0), 0};
        return;
    }
    int64_t stood = (int64_t)(at - came), page = room.lost.page;
    page = page < stood ? page : stood;
    int64_t line = room.lost.line < stood - page ? room.lost.line : stood - page;
    c->note = (struct message_note){(int16_t)line, (int16_t)page};
}

/* The next request to be taken, and where it is kept. */
struct cache_next {
    const struct mem_request *request;
    void *payload;
    uint64_t physical;
    uint32_t parked; /* PARKED_NONE: it is the oldest of `top` */
};

/* Finds it; one whose page is not known steps aside here. TRANSLATED: it can be tried. */
CACHE_INLINE enum translated find_next(struct cache *c, struct cache_next *next)
{
    next->parked = cache_translation_ops(c) ? c->replay.first : PARKED_NONE;
    if (engine_unlikely(next->parked != PARKED_NONE)) {
        struct cache_parked *p = parked_at(c, next->parked);
        next->request = &p->request;
        next->payload = parked_payload(c, next->parked);
        next->physical = p->physical;
        c->note = p->note;
        c->lead = message_lead(&p->request);
        return check_writable(c, &p->request, p->writable) ? TRANSLATED : NOTHING;
    }
    next->request = c->job == JOB_NONE ? cache_top_peek(c) : NULL;
    if (!next->request)
        return NOTHING;
    if (engine_unlikely(message_kind(next->request) == MEM_FENCE)) {
        start_fence(c, next->request);
        return NOTHING;
    }
    next->payload = cache_top_payload(c);
    if (engine_unlikely(c->notes))
        note_wait(c, next->request);
    return translate(c, next->request, &next->physical);
}

/* Is the request that was held the oldest of `top`, a read of a line that is not here? Nearly
 * always, and all about it is known then. */
CACHE_INLINE bool can_retry(const struct cache *c)
{
    return c->head_missed && c->job == JOB_NONE
           && (!cache_translation_ops(c) || c->replay.first == PARKED_NONE);
}

CACHE_INLINE bool take_again(struct cache *c)
{
    const struct mem_request *m =
        (const struct mem_request *)ring_slot(ring_placed(c->io.top_request)->head);
    uint64_t physical = cache_translation_ops(c) ? c->head_physical : request_address(m);
    if (engine_unlikely(c->notes))
        note_wait(c, m);
    bool taken =
        take_miss(c, m->tag, c->head_set, physical / line_bytes(c), WAY_NONE, m->read.pid, true);
    c->note = (struct message_note){0};
    return taken;
}

/* The oldest request of `top` has been taken. false: no other can be seen. */
CACHE_INLINE bool finish_oldest(struct cache *c)
{
    c->head_missed = false;
    c->head_translated = c->head_faults = false;
    return ring_drop(ring_placed(c->io.top_request), c->io.base.limit);
}

/* It has been taken, or has stepped aside. false: no other can be seen. */
CACHE_INLINE bool finish_next(struct cache *c, const struct cache_next *next)
{
    note_unblocked(c);
    if (engine_unlikely(next->parked != PARKED_NONE)) {
        c->head_missed = false;
        c->unanswered--; /* counted when it stepped aside, and again when taken */
        c->replay.first = parked_at(c, next->parked)->next;
        index_pool_give(&c->free_parked, next->parked);
        return true;
    }
    return finish_oldest(c);
}

/* Takes requests until `room`, one a port, is used up or one has to be held. */
CACHE_INLINE void take_requests(struct cache *c, unsigned *room)
{
    if (!worth_trying(c))
        return;
    bool more = true, retry = c->hold == HOLD_ROOM_BELOW && can_retry(c);
    c->hold = HOLD_NONE;
    if (retry) {
        if (!take_again(c)) {
            note_blocked(c);
            return;
        }
        note_unblocked(c);
        more = finish_oldest(c);
        --*room;
    }
    for (; more && *room; --*room) {
        struct cache_next next;
        enum translated t = find_next(c, &next);
        if (t == NOTHING)
            return;
        if (t == HELD || (t == TRANSLATED && !take(c, next.request, next.payload, next.physical))) {
            c->note = (struct message_note){0};
            note_blocked(c);
            return;
        }
        if (engine_unlikely(c->notes))
            c->note = (struct message_note){0};
        more = finish_next(c, &next);
    }
}

static __attribute__((noinline)) void take_requests_rarely(struct cache *c, unsigned *room)
{
    take_requests(c, room);
}

/* Pages, jobs and what starts them. true: a job has gone on. */
static __attribute__((noinline)) bool tick_rare(struct cache *c, uint64_t pending, unsigned *room)
{
    bool worked = false;
    if (cache_translation_ops(c) && c->job != JOB_PAUSED
        && (pending >> cache_translate_first_pending(c) & 1))
        take_pages(c);
    if (pending >> cache_control_first_pending(c) & 1)
        worked = start_control(c);
    if ((pending >> cache_top_first_pending(c) & 1) || c->replay.first != PARKED_NONE)
        take_requests_rarely(c, room);
    if (c->job != JOB_NONE && c->job != JOB_PAUSED)
        worked |= work_on_job(c);
    return worked;
}

/* All that can be done now is done in one tick, so the next one has a reason of its own only if
 * this one was cut short: by the number of ports, or by a job that has gone on. */
static bool cache_tick(struct cache *c)
{
    const uint64_t top = (uint64_t)1 << cache_top_first_pending(c),
                   bottom = (uint64_t)1 << cache_bottom_first_pending(c);
    unsigned room = (unsigned)cache_params(c)->ports;
    uint64_t pending = component_pending(&c->io.base, 0);
    if (pending & bottom)
        take_answers(c);
    if (engine_unlikely((pending & ~(top | bottom)) || c->job != JOB_NONE)) {
        bool worked = tick_rare(c, pending, &room);
        return room == 0 || worked;
    }
    if (!(pending & top) && (!cache_translation_ops(c) || c->replay.first == PARKED_NONE))
        return false;
    take_requests(c, &room);
    return room == 0 || (engine_unlikely(c->job != JOB_NONE) && work_on_job(c));
}

static unsigned cache_outstanding(const struct cache *c, struct hang_report *report)
{
    static const char *const jobs[] = {"", "flush", "invalidate", "fence", "pause", "pause"};
    for (uint32_t i = 0; report && i < (uint32_t)cache_params(c)->mshrs; i++)
        if (mshr_at(c, i)->used)
            hang_note(report, "line 0x%llx has been asked for below; %u requests wait for it",
                      (unsigned long long)mshr_at(c, i)->address, mshr_at(c, i)->targets);
    if (report && index_pool_used(&c->free_sent))
        hang_note(report, "%u writes or atomics sent below are not answered",
                  index_pool_used(&c->free_sent));
    if (report && cache_translation(c) && index_pool_used(&c->free_parked))
        hang_note(report, "%u requests wait for a translation", index_pool_used(&c->free_parked));
    if (report && c->job != JOB_NONE)
        hang_note(report, "a %s is being worked on", jobs[c->job]);
    if (report && c->blocked_since)
        hang_note(report, "the oldest request cannot be taken since cycle %llu",
                  (unsigned long long)(c->blocked_since - 1));
    return c->unanswered + index_pool_used(&c->free_sent) + (c->job != JOB_NONE);
}
