/* Cache of sectors: what it does in a cycle. State and invariants are in sector_state.h, single
 * requests in sector_request.c.
 *
 * A cycle, in this order: answers from below, control, requests, the queue of misses. An answer
 * from below goes to its line at once, and its sectors join the ones that wait to be handed to
 * requests. Requests are accepted in order; a request that cannot be accepted holds up the later
 * ones. An answer is sent at once into the ring of answers and spends `latency` - 1 cycles there.
 * With connections of one cycle, a hit takes latency + 1 cycles from the request's sending to the
 * answer's arrival, and a miss takes the time of its answer from below in addition.
 *
 * Answers from below have a port of their own and keep no bank busy. A cache that writes through
 * answers a store when its answer has come from below.
 *
 * Flush, invalidate and carve wait until all requests are answered; none is accepted meanwhile. */
#include "base/likely.h"
#include "base/number.h"
#include "runtime/engine/component_failure.h"
#include "runtime/observe/hang.h"

#include "sector_state.h"

/* The layout of messages that sector_carried_bytes() relies on. */
_Static_assert(SECTOR_MEM_STORE == 1 && SECTOR_MEM_ATOMIC == 2 && SECTOR_MEM_DATA == 0, "kinds");
_Static_assert(offsetof(struct sector_mem_request, store.sectors)
                       - offsetof(struct sector_mem_request, fields)
                   == 8,
               "mask of a store");
_Static_assert(offsetof(struct sector_mem_request, atomic.sectors)
                       - offsetof(struct sector_mem_request, fields)
                   == 12,
               "mask of an atomic");
_Static_assert(offsetof(struct sector_mem_reply, data.sectors)
                   == offsetof(struct sector_mem_reply, fields),
               "mask of an answer");

static void sector_cache_init(struct sector_cache *c)
{
    const struct sector_cache_params *params = sector_cache_params(c);
    uint32_t sets = params->sets, ways = params->ways, lines = sets * ways;
    c->mshr_count = params->mshrs;
    if (params->allocate == SECTOR_CACHE_ALLOCATE_STREAMING && c->mshr_count < lines)
        c->mshr_count = min(lines, 8192);
    uint32_t chains = 1, targets = c->mshr_count * params->targets * 4;
    while (chains < c->mshr_count)
        chains *= 2;
    targets = min(targets, 65536); /* there are no more tags */
    sector_hash_init(&c->hash, params->index, params->sets);
    c->sets_at = arena_allocate(sets * sizeof(struct sector_set));
    c->hints_at = arena_allocate((size_t)sets * sector_hint_words(c) * sizeof(uint64_t));
    c->tags_at = arena_allocate(lines * sizeof(uint64_t));
    c->lines_at = arena_allocate(lines * sizeof(struct sector_line));
    for (uint32_t i = 0; i < lines; i++)
        *sector_tag_at(c, i) = SECTOR_FREE;
    c->mshrs_at = arena_allocate(c->mshr_count * sizeof(struct sector_mshr));
    c->chains_at = arena_allocate(chains * sizeof(uint32_t));
    c->chain_mask = chains - 1;
    for (uint32_t i = 0; i < chains; i++)
        arena_at(uint32_t, c->chains_at)[i] = SECTOR_NONE;
    c->targets_at = arena_allocate(targets * sizeof(struct sector_target));
    c->sent_at = arena_allocate(c->mshr_count * sizeof(struct sector_sent));
    c->banks_at = arena_allocate(params->banks * sizeof(uint64_t));
    c->below_at = arena_allocate(params->miss_queue * sizeof(struct sector_below));
    if (params->miss_queue) {
        c->bank_below_at =
            arena_allocate((size_t)(params->banks * params->latency) * sizeof(struct sector_below));
        c->bank_queues_at = arena_allocate(params->banks * sizeof(struct sector_queue));
    }
    c->ready_mask = chains * 4 - 1;
    c->ready_at = arena_allocate((size_t)chains * 4 * sizeof(uint32_t));
    index_pool_init(&c->free_mshrs, c->mshr_count);
    index_pool_init(&c->free_targets, targets);
    index_pool_init(&c->free_sent, c->mshr_count);
    sector_carve(c, params->shared);
    ring_add_pipeline(ring_number(c->io.top_reply), params->latency - 1);
    sector_cache_replacement_ops(c)->setup(sector_cache_replacement(c), sets, ways);
    warm_register(&c->io.base, &sector_cache_warm_ops);
}

/* ---- answers from below ---- */

/* The sectors of an answer go to their line. */
static void install_sectors(struct sector_cache *c, struct sector_mshr *mshr, unsigned sectors)
{
    uint32_t set = sector_set_of(c, mshr->number), line = sector_find(c, set, mshr->number);
    if (line == SECTOR_NONE) { /* allocate = fill; without room nothing is kept */
        line = make_room(c, set);
        if (line != SECTOR_NONE)
            sector_claim(c, line, mshr->number);
        if (line != SECTOR_NONE && (mshr->pending_sectors & ~sectors))
            sector_mark_pending(c, line, mshr->pending_sectors & ~sectors);
    }
    if (line != SECTOR_NONE)
        sector_install(c, line, sectors);
    mshr->pending_sectors &= (uint8_t)~sectors;
}

static void close_if_over(struct sector_cache *c, uint32_t number)
{
    const struct sector_mshr *mshr = sector_mshr_at(c, number);
    if (!mshr->pending_sectors && !mshr->ready_sectors && !mshr->targets)
        mshr_close(c, number);
}

/* Sectors have come: requests that wait for them get them in their turn. */
static void fill_sectors(struct sector_cache *c, uint32_t number, unsigned sectors)
{
    struct sector_mshr *mshr = sector_mshr_at(c, number);
    install_sectors(c, mshr, sectors);
    for (unsigned rest = sectors; rest; rest &= rest - 1) {
        unsigned sector = (unsigned)__builtin_ctz(rest);
        if (!mshr->waiting_targets[sector])
            continue;
        mshr->ready_sectors |= (uint8_t)(1u << sector);
        arena_at(uint32_t, c->ready_at)[(c->ready_first + c->ready_count++) & c->ready_mask] =
            number * 4 + sector;
    }
    close_if_over(c, number);
}

static void answer_target(struct sector_cache *c, uint64_t number, const struct sector_target *t)
{
    if (t->is_atomic)
        atomic_happens(c, sector_find(c, sector_set_of(c, number), number), number, t->sectors,
                       t->count);
    sector_cache_top_reply_data(c, t->tag, t->sectors);
    c->unanswered--;
}

/* False: the port that answers misses has sent as many sectors as a cycle allows. */
static bool may_answer(struct sector_cache *c)
{
    uint64_t now = component_tick_now(&c->io.base);
    if (c->answers_cycle != now) {
        c->answers_cycle = now;
        c->answers_given = 0;
    }
    uint32_t rate = sector_cache_params(c)->answers;
    return !rate || c->answers_given < rate;
}

/* The first request that waits for the sector gets it, and is answered when it was the last one. */
static void hand_sector(struct sector_cache *c, struct sector_mshr *mshr, unsigned sector)
{
    uint32_t *link = &mshr->first, before = SECTOR_NONE;
    while (!(sector_target_at(c, *link)->missing_sectors >> sector & 1)) {
        before = *link;
        link = &sector_target_at(c, *link)->next;
    }
    uint32_t i = *link;
    struct sector_target *t = sector_target_at(c, i);
    t->missing_sectors &= (uint8_t) ~(1u << sector);
    c->waited -= --mshr->waiting_targets[sector] == 0;
    c->answers_given++;
    if (t->missing_sectors)
        return;
    answer_target(c, mshr->number, t);
    *link = t->next;
    if (mshr->last == i)
        mshr->last = before;
    mshr->targets--;
    index_pool_release(&c->free_targets, i);
}

/* Hands arrived sectors to the waiting requests, in order, as many as a cycle allows. */
static bool hand_ready_sectors(struct sector_cache *c)
{
    bool progress = false;
    while (c->ready_count && may_answer(c) && sector_cache_top_can_reply(c)) {
        uint32_t entry = arena_at(uint32_t, c->ready_at)[c->ready_first & c->ready_mask];
        struct sector_mshr *mshr = sector_mshr_at(c, entry / 4);
        hand_sector(c, mshr, entry % 4);
        progress = true;
        if (mshr->waiting_targets[entry % 4])
            continue;
        mshr->ready_sectors &= (uint8_t) ~(1u << entry % 4);
        c->ready_first++;
        c->ready_count--;
        close_if_over(c, entry / 4);
    }
    return progress;
}

/* One of the answers to a request that was sent below with a tag of its own; the last answer is
 * passed on. */
static bool acknowledge(struct sector_cache *c, uint32_t number, unsigned sectors)
{
    struct sector_sent *sent = arena_at(struct sector_sent, c->sent_at) + number;
    if (sent->kind != SECTOR_SENT_WRITE_BACK && sent->answers_left == 1) {
        if (!sector_cache_top_can_reply(c))
            return false;
        if (sent->kind == SECTOR_SENT_DATA)
            sector_cache_top_reply_data(c, sent->tag, (uint8_t)(sent->sectors | sectors));
        else
            sector_cache_top_reply_done(c, sent->tag);
        c->unanswered--;
    }
    sent->sectors |= (uint8_t)sectors;
    if (!--sent->answers_left)
        index_pool_release(&c->free_sent, number);
    return true;
}

static bool accept_answers(struct sector_cache *c)
{
    const struct sector_mem_reply *m;
    bool progress = false;
    while ((m = sector_cache_bottom_peek_reply(c))) {
        if (m->tag < c->mshr_count)
            fill_sectors(c, m->tag, m->data.sectors & SECTOR_ALL);
        else if (!acknowledge(c, m->tag - c->mshr_count, m->data.sectors))
            break;
        sector_cache_bottom_pop_reply(c);
        progress = true;
    }
    return hand_ready_sectors(c) || progress;
}

/* ---- control ---- */

static void start_control(struct sector_cache *c)
{
    static const uint8_t jobs[] = {[SECTOR_CONTROL_FLUSH] = SECTOR_JOB_FLUSH,
                                   [SECTOR_CONTROL_INVALIDATE] = SECTOR_JOB_INVALIDATE,
                                   [SECTOR_CONTROL_CARVE] = SECTOR_JOB_CARVE};
    const struct sector_control_request *m = sector_cache_control_peek(c);
    if (c->job != SECTOR_JOB_NONE || !m)
        return;
    c->job = jobs[message_kind(m)];
    c->flushed = 0;
}

/* Sends dirty lines below in order of their places, as many as there is room for. */
static bool write_back_all(struct sector_cache *c)
{
    bool progress = false;
    for (; c->dirty_lines; c->flushed++) {
        if (!sector_line_at(c, c->flushed)->dirty)
            continue;
        if (!can_send(c, 0, SECTOR_ALL))
            break;
        write_back(c, c->flushed);
        progress = true;
    }
    return progress;
}

static bool finish_control(struct sector_cache *c)
{
    const struct sector_control_request *m = sector_cache_control_peek(c);
    if (!sector_cache_control_can_reply(c))
        return false;
    if (c->job != SECTOR_JOB_FLUSH && c->dirty_lines) {
        engine_fail(&c->io.base, "%s would lose %u dirty lines; flush first",
                    c->job == SECTOR_JOB_CARVE ? "carve" : "invalidate", c->dirty_lines);
        return false;
    }
    if (c->job == SECTOR_JOB_CARVE && m->carve.shared > sector_cache_params(c)->size) {
        engine_fail(&c->io.base,
                    "a kernel's blocks have %u bytes of shared memory, and the L1 in which it lies "
                    "has %lld: there is too much for blocks (parameter 'shared' of the "
                    "trace_player), or too small an L1 (parameter 'size')",
                    m->carve.shared, (long long)sector_cache_params(c)->size);
        return false;
    }
    if (c->job != SECTOR_JOB_FLUSH || m->flush.invalidate)
        sector_drop_all(c);
    if (c->job == SECTOR_JOB_CARVE)
        sector_carve(c, m->carve.shared);
    sector_cache_control_reply_finished(c, m->tag);
    sector_cache_control_pop(c);
    c->job = SECTOR_JOB_NONE;
    return true;
}

static bool work_on_control(struct sector_cache *c)
{
    bool progress = false;
    if (c->unanswered || index_pool_used(&c->free_mshrs))
        return false;
    if (c->job == SECTOR_JOB_FLUSH)
        progress = write_back_all(c);
    if ((c->job == SECTOR_JOB_FLUSH && c->dirty_lines) || index_pool_used(&c->free_sent))
        return progress;
    return finish_control(c) || progress;
}

/* ---- requests ---- */

/* Occupies the banks of a request for as long as its sectors need. False: one is busy, and the
 * component wakes when it is not. */
static bool claim_banks(struct sector_cache *c, uint64_t number, unsigned sectors, bool claims)
{
    uint64_t *banks = arena_at(uint64_t, c->banks_at), now = component_tick_now(&c->io.base),
             free_at = 0;
    uint64_t mask = (uint64_t)(sector_cache_params(c)->banks - 1);
    for (unsigned rest = sectors; rest; rest &= rest - 1) {
        uint64_t *bank = &banks[(number * 4 + (unsigned)__builtin_ctz(rest)) & mask];
        free_at = max(*bank, free_at);
        if (claims)
            *bank = max(*bank, now) + 1;
    }
    if (!claims && free_at > now) {
        sector_cache_wake_at(c, free_at);
        return false;
    }
    return true;
}

static bool hold_request(struct sector_cache *c, bool is_conflict)
{
    bool *counted = is_conflict ? &c->head_conflict_is_counted : &c->head_fail_is_counted;
    *(is_conflict ? &c->io.stats.bank_conflicts : &c->io.stats.reservation_fails) += !*counted;
    *counted = true;
    if (!c->blocked_since)
        c->blocked_since = component_tick_now(&c->io.base) + 1;
    return false;
}

/* The oldest request of `top`. */
static bool accept_head(struct sector_cache *c, const struct sector_mem_request *m)
{
    uint64_t number = m->load.address / SECTOR_LINE;
    unsigned sectors = SECTOR_OF_REQUEST(m) & SECTOR_ALL;
    if (unlikely(!sectors || !c->ways_used)) {
        engine_fail(&c->io.base,
                    sectors ? "address 0x%llx is asked for, but shared memory has taken all ways"
                            : "a request of no sectors of the line at 0x%llx",
                    (unsigned long long)m->load.address);
        return false;
    }
    bool uses_banks = message_kind(m) != SECTOR_MEM_FILL;
    if (uses_banks && !claim_banks(c, number, sectors, false))
        return hold_request(c, true);
    if (!accept_request(c, m))
        return hold_request(c, false);
    if (uses_banks)
        claim_banks(c, number, sectors, true);
    if (c->blocked_since)
        c->io.stats.blocked += component_tick_now(&c->io.base) + 1 - c->blocked_since;
    c->blocked_since = 0;
    c->head_conflict_is_counted = c->head_fail_is_counted = false;
    return true;
}

/* True if as many were accepted as a cycle allows, so there may be more. */
static bool accept_requests(struct sector_cache *c)
{
    const struct sector_mem_request *m;
    int64_t room = sector_cache_params(c)->ports;
    while (room && c->job == SECTOR_JOB_NONE && (m = sector_cache_top_peek(c))) {
        if (!accept_head(c, m))
            return false;
        sector_cache_top_pop(c);
        room--;
    }
    return !room;
}

static bool sector_cache_tick(struct sector_cache *c)
{
    bool progress = accept_answers(c);
    if (sector_cache_control_is_connected(c))
        start_control(c);
    progress |= accept_requests(c);
    if (c->job != SECTOR_JOB_NONE)
        progress |= work_on_control(c);
    return send_waiting(c) || progress;
}

static unsigned sector_cache_outstanding(const struct sector_cache *c, struct hang_report *report)
{
    static const char *const jobs[] = {"", "flush", "invalidation", "carve"};
    if (report)
        for (uint32_t i = 0; i < c->mshr_count; i++)
            if (sector_mshr_at(c, i)->is_used)
                hang_note(report, "line 0x%llx has been asked for below; %u requests wait for it",
                          (unsigned long long)(sector_mshr_at(c, i)->number * SECTOR_LINE),
                          sector_mshr_at(c, i)->targets);
    if (report && index_pool_used(&c->free_sent))
        hang_note(report, "%u stores, atomics or loads sent below are not answered",
                  index_pool_used(&c->free_sent));
    if (report && c->job != SECTOR_JOB_NONE)
        hang_note(report, "a %s is being worked on", jobs[c->job]);
    if (report && c->blocked_since)
        hang_note(report, "the oldest request cannot be taken since cycle %llu",
                  (unsigned long long)(c->blocked_since - 1));
    return c->unanswered + index_pool_used(&c->free_sent) + index_pool_used(&c->free_mshrs)
           + (c->job != SECTOR_JOB_NONE);
}
