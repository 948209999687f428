/* Set-associative cache: what it does in a cycle, and in which order. State is in cache_state.h.
 *
 * A request goes one way, a file for each stage:
 *
 *        top                                               control
 *         |                                                   |
 *   cache.c            the next request, in order       cache_control.c
 *         |                                             flush, invalidate, pause, fence
 *   cache_translate.c  its page; until that is known
 *         |            the request is parked
 *   cache_request.c    hit ------------------------------.
 *         |  miss, write, atomic                         |
 *   cache_mshr.c       MSHRs: asked for once, others     |
 *         |            wait for the same line            |
 *       bottom                                           |
 *         |  the answer                                  |
 *   cache_answer.c     fills the line, serves those      v
 *                      that wait ---------------------> top
 *
 * Below all of them lies cache_lines.c: sets, tags, victims. cache_warm.c does the same without
 * time, for warm-up.
 *
 * A cycle, in this order: answers from below, page answers, control, requests (first those that
 * waited for a page, in order, then new ones). Requests are accepted in order, and a request
 * that cannot be accepted holds up the later ones. The exception is requests to a page that is
 * being translated: they step aside ("hit under miss").
 *
 * `head_*` keeps what was computed for a held request, so that it is not computed again; `hold`
 * says what the request waits for, so that it is not tried in vain. */
#include "cache.gen.h"

#include "base/likely.h"
#include "base/number.h"
#include "components/sampling/warmup.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/platform_table.h"
#include "runtime/link/shard_cut.h"
#include "runtime/observe/hang.h"

#include "cache_state.h"

static void init_lines(struct cache *c, uint32_t sets, uint32_t lines, uint32_t mshrs)
{
    if (keeps_masks(c))
        c->masks_at = arena_allocate(lines * sizeof(struct mem_mask));
    c->data_at = arena_allocate((size_t)lines * line_bytes(c));
    c->sets_at = arena_allocate(sets * set_bytes(c));
    c->line_mshrs_at = arena_allocate(lines * sizeof(uint16_t));
    if (platform_is_large(engine_base.platform) && lines < UINT16_MAX)
        c->places_at = arena_allocate((lines + 1) * sizeof(uint16_t));
    c->dirty_at = arena_allocate(divide_up(lines, 64) * sizeof(uint64_t));
    c->mshrs_at = arena_allocate(mshrs * sizeof(struct cache_mshr));
}

static void init_requests(struct cache *c, uint32_t mshrs)
{
    uint32_t targets = mshrs * cache_params(c)->targets;
    index_pool_init(&c->free_mshrs, mshrs);
    index_pool_init(&c->free_sent, mshrs);
    c->sent_at = arena_allocate(mshrs * sizeof(struct cache_sent));
    c->targets_at = arena_allocate(targets * sizeof(struct cache_target));
    if (is_write_back(c)) {
        index_pool_init(&c->free_stored, mshrs * 2);
        c->stored_at = arena_allocate(mshrs * 2 * sizeof(struct cache_stored));
    }
    index_pool_init(&c->free_targets, targets);
}

/* Called after init_requests(), so that its state lies behind the targets. */
static void init_parking(struct cache *c, uint32_t pages)
{
    c->payload_stride = (uint32_t)round_up(mem_atomic_payload_bytes(cache_params(c)->above), 16);
    uint32_t requests = cache_params(c)->mshrs;
    index_pool_init(&c->free_parked, requests);
    size_t bytes = round_up(requests * sizeof(struct cache_parked), 64);
    c->parked_at = arena_allocate(bytes + (size_t)requests * c->payload_stride);
    c->parked_payloads_at = c->parked_at + (uint32_t)(bytes / ARENA_UNIT);
    c->page_queues_at = arena_allocate(pages * sizeof(struct cache_queue));
    c->page_states_at = arena_allocate(pages);
}

/* cache_warm.c defines these, in the same unit. */
static const struct warm_ops cache_warm_ops;

static void cache_init(struct cache *c)
{
    uint32_t sets = cache_params(c)->sets, ways = cache_params(c)->ways;
    init_lines(c, sets, line_count(c), cache_params(c)->mshrs);
    init_requests(c, cache_params(c)->mshrs);
    uint32_t delay = cache_params(c)->latency - 1;
    if (cache_translation(c)) {
        delay += cache_translation_ops(c)->latency(cache_translation(c));
        init_parking(c, cache_translation_ops(c)->capacity(cache_translation(c)));
    }
    ring_add_pipeline(ring_number(cache_io(c)->top_reply), delay);
    uint32_t below = ring_number(c->io.bottom_request);
    if (cache_params(c)->pairs && (ring_at(below)->latency < 2 || shard_cut_far(below) != below))
        engine_die(&c->io.base, "with `pairs` the way below takes two cycles at least, inside of "
                                "one partition");
    init_probes(c);
    cache_replacement_ops(c)->setup(cache_replacement(c), sets, ways);
    warm_register(&c->io.base, &cache_warm_ops);
}

/* True if the request that was held may be accepted now. This is a guess that avoids vain attempts:
 * only `true` may be wrong. */
static bool may_succeed(struct cache *c)
{
    if (c->hold == HOLD_NONE)
        return true;
    if (likely(c->hold == HOLD_ROOM_BELOW))
        return !ring_is_still_full(ring_placed(c->io.bottom_request)) && has_room_below(c);
    if (c->hold == HOLD_MSHR)
        return index_pool_has(&c->free_mshrs);
    return c->hold != HOLD_ANSWER || can_answer(c);
}

static inline void begin_blocked(struct cache *c)
{
    if (!c->blocked_since)
        c->blocked_since = component_tick_now(&c->io.base) + 1;
}

static inline void end_blocked(struct cache *c)
{
    if (c->blocked_since) {
        c->io.stats.blocked += component_tick_now(&c->io.base) + 1 - c->blocked_since;
        c->blocked_since = 0;
    }
}

/* The next request to be accepted, and where it is kept. */
struct cache_next {
    const struct mem_request *request;
    void *payload;
    uint64_t physical;
    uint32_t parked; /* CACHE_PARKED_NONE: it is the oldest of `top` */
};

/* Finds the next request. If its page is not known, it steps aside here. */
static ALWAYS_INLINE enum cache_next_state find_next(struct cache *c, struct cache_next *next)
{
    next->parked = cache_translation_ops(c) ? c->replay.first : CACHE_PARKED_NONE;
    if (unlikely(next->parked != CACHE_PARKED_NONE)) {
        struct cache_parked *p = get_parked(c, next->parked);
        next->request = &p->request;
        next->payload = parked_payload(c, next->parked);
        next->physical = p->physical;
        c->memory = page_type(p->traits);
        return check_writable(c, &p->request, page_may_be_written(p->traits)) ? NEXT_READY
                                                                              : NEXT_NONE;
    }
    next->request = c->job == JOB_NONE ? cache_top_peek(c) : NULL;
    if (!next->request)
        return NEXT_NONE;
    if (unlikely(message_kind(next->request) >= MEM_FENCE)) {
        start_fence(c, next->request);
        return NEXT_NONE;
    }
    next->payload = cache_top_payload(c);
    return translate_request(c, next->request, &next->physical);
}

/* True if the request that was held is the oldest of `top`, and a read of a line that is not here.
 * Nearly always it is, and then its set and address are known. */
static ALWAYS_INLINE bool can_retry(const struct cache *c)
{
    return c->head_misses && c->job == JOB_NONE
           && (!cache_translation_ops(c) || c->replay.first == CACHE_PARKED_NONE);
}

static ALWAYS_INLINE const struct mem_request *get_oldest(const struct cache *c)
{
    return (const struct mem_request *)ring_slot(ring_placed(c->io.top_request)->head);
}

/* The address of the oldest request, which has been translated. */
static ALWAYS_INLINE uint64_t get_oldest_physical(const struct cache *c)
{
    return cache_translation_ops(c) ? c->head_physical : request_address(get_oldest(c));
}

/* Removes the oldest request of `top`, which has been accepted. False: no other can be seen. */
static ALWAYS_INLINE bool finish_oldest(struct cache *c)
{
    c->head_misses = false;
    c->head_is_translated = c->head_faults = false;
    return ring_drop(ring_placed(c->io.top_request), c->io.base.limit);
}

/* Removes a request that has been accepted, or has stepped aside. False: no other can be seen. */
static ALWAYS_INLINE bool finish_next(struct cache *c, const struct cache_next *next)
{
    end_blocked(c);
    if (unlikely(next->parked != CACHE_PARKED_NONE)) {
        c->head_misses = false;
        c->unanswered--; /* counted when it stepped aside, and again when accepted */
        c->replay.first = get_parked(c, next->parked)->next;
        index_pool_release(&c->free_parked, next->parked - 1);
        return true;
    }
    return finish_oldest(c);
}

/* Lines whose tags have been looked up in this cycle, by tag RAM; LOOKUP_NONE: none yet. */
struct cache_lookups {
    uint64_t line[CACHE_TAGS_MAX];
};

#define LOOKUP_NONE UINT64_MAX

/* True if a lookup is left for the line of `address`. */
static ALWAYS_INLINE bool can_look_up(const struct cache *c, struct cache_lookups *lookups,
                                      uint64_t address)
{
    uint64_t line = address / line_bytes(c);
    unsigned ram = (unsigned)(line % cache_params(c)->tags);
    if (lookups->line[ram] == LOOKUP_NONE)
        lookups->line[ram] = line;
    return line == lookups->line[ram];
}

/* Accepts requests until `room`, one a port, is used up or one has to be held. */
static ALWAYS_INLINE void accept_requests(struct cache *c, unsigned *room)
{
    struct cache_lookups lookups;
    if (!may_succeed(c))
        return;
    for (unsigned ram = 0; ram < cache_params(c)->tags; ram++)
        lookups.line[ram] = LOOKUP_NONE;
    bool has_more = true, is_retry = c->hold == HOLD_ROOM_BELOW && can_retry(c);
    c->hold = HOLD_NONE;
    if (is_retry) {
        uint64_t physical = get_oldest_physical(c);
        c->memory = c->head_memory;
        if (!accept_miss(c, get_oldest(c), physical, c->head_set, CACHE_WAY_NONE, true)) {
            begin_blocked(c);
            return;
        }
        if (cache_params(c)->tags)
            can_look_up(c, &lookups, physical);
        end_blocked(c);
        has_more = finish_oldest(c);
        --*room;
    }
    for (; has_more && *room; --*room) {
        struct cache_next next;
        enum cache_next_state t = find_next(c, &next);
        if (t == NEXT_NONE)
            return;
        if (cache_params(c)->tags && t == NEXT_READY && !can_look_up(c, &lookups, next.physical)) {
            *room = 0;
            return;
        }
        if (t == NEXT_HELD
            || (t == NEXT_READY && !accept_request(c, next.request, next.payload, next.physical))) {
            begin_blocked(c);
            return;
        }
        has_more = finish_next(c, &next);
    }
}

static OUT_OF_LINE void accept_requests_rarely(struct cache *c, unsigned *room)
{
    accept_requests(c, room);
}

/* The work of a tick besides answers from below and requests. True if a job has gone on. */
static OUT_OF_LINE bool tick_rare(struct cache *c, uint64_t pending, unsigned *room)
{
    bool has_worked = false;
    if (pending >> cache_probe_first_pending(c) & 1)
        answer_probes(c);
    if (cache_translation_ops(c) && c->job != JOB_PAUSED
        && (pending >> cache_translate_first_pending(c) & 1))
        accept_pages(c);
    if (pending >> cache_control_first_pending(c) & 1)
        has_worked = start_control(c);
    if ((pending >> cache_top_first_pending(c) & 1) || c->replay.first != CACHE_PARKED_NONE)
        accept_requests_rarely(c, room);
    if (c->job != JOB_NONE && c->job != JOB_PAUSED)
        has_worked |= work_on_job(c);
    return has_worked;
}

/* A tick does all that can be done in its cycle. So the next tick needs a new reason, unless this
 * one was cut short: by the number of ports, or by a job that goes on. */
static bool cache_tick(struct cache *c)
{
    const uint64_t top = (uint64_t)1 << cache_top_first_pending(c),
                   bottom = (uint64_t)1 << cache_bottom_first_pending(c);
    unsigned room = cache_params(c)->ports;
    uint64_t pending = component_pending(&c->io.base, 0);
    if (pending & bottom)
        accept_answers(c);
    if (unlikely((pending & ~(top | bottom)) || c->job != JOB_NONE)) {
        bool has_worked = tick_rare(c, pending, &room);
        return room == 0 || has_worked;
    }
    if (!(pending & top) && (!cache_translation_ops(c) || c->replay.first == CACHE_PARKED_NONE))
        return false;
    accept_requests(c, &room);
    return room == 0 || (unlikely(c->job != JOB_NONE) && work_on_job(c));
}

static void cache_explain(const struct cache *c, struct hang_report *report)
{
    static const char *const jobs[] = {"", "flush", "invalidate", "fence", "pause", "pause"};
    for (uint32_t i = 0; i < cache_params(c)->mshrs; i++)
        if (get_mshr(c, i)->state != MSHR_FREE)
            hang_note(report, "line 0x%llx has been asked for below; %u requests wait for it",
                      (unsigned long long)get_mshr(c, i)->address, get_mshr(c, i)->targets);
    if (index_pool_used(&c->free_sent))
        hang_note(report, "%u writes or atomics sent below are not answered",
                  index_pool_used(&c->free_sent));
    if (cache_translation(c) && index_pool_used(&c->free_parked))
        hang_note(report, "%u requests wait for a translation", index_pool_used(&c->free_parked));
    if (c->job != JOB_NONE)
        hang_note(report, "a %s is being worked on", jobs[c->job]);
    if (c->blocked_since)
        hang_note(report, "the oldest request cannot be accepted since cycle %llu",
                  (unsigned long long)(c->blocked_since - 1));
}

static unsigned cache_outstanding(const struct cache *c, struct hang_report *report)
{
    if (report)
        cache_explain(c, report);
    return c->unanswered + index_pool_used(&c->free_sent) + (c->job != JOB_NONE);
}
