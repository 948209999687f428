/* MSHRs: lines that have been asked for below, and the requests that wait for each.
 *
 * The first request is in the MSHR itself, since mostly it is the only one; later requests are
 * linked to it in the order in which they came. Writes and atomics that wait keep their bytes in
 * the pool `stored`. Called by cache_request.c; the answers are worked on in cache_answer.c. */
#include "cache.gen.h"

#include "cache_state.h"

/* True if `mshr` can have one more target, with bytes if `has_bytes`. There are as many targets as
 * all MSHRs can have. */
static inline bool has_target_room(const struct cache *c, const struct cache_mshr *mshr,
                                   bool has_bytes)
{
    return mshr->targets < cache_params(c)->targets
           && (!has_bytes || index_pool_has(&c->free_stored));
}

static inline struct cache_target *target_append(struct cache *c, struct cache_mshr *mshr)
{
    uint32_t i = index_pool_acquire(&c->free_targets);
    struct cache_target *targets = arena_at(struct cache_target, c->targets_at);
    if (mshr->targets++ > 1)
        targets[mshr->last].next = i;
    else
        mshr->first = i;
    mshr->last = i;
    return targets + i;
}

static ALWAYS_INLINE struct cache_target *target_add(struct cache *c, struct cache_mshr *mshr,
                                                     uint8_t kind, uint16_t tag, unsigned piece)
{
    struct cache_target *t = &mshr->head;
    if (mshr->targets)
        t = target_append(c, mshr);
    else
        mshr->targets = 1;
    t->kind = kind;
    t->tag = tag;
    t->piece = (uint8_t)piece;
    c->unanswered++;
    return t;
}

/* Enters the first target of an MSHR, a read. */
static ALWAYS_INLINE void target_begin(struct cache *c, struct cache_mshr *mshr, uint16_t tag,
                                       unsigned piece)
{
    mshr->targets = 1;
    mshr->head.kind = MEM_READ;
    mshr->head.tag = tag;
    mshr->head.piece = (uint8_t)piece;
    c->unanswered++;
}

static inline void target_store(struct cache *c, struct cache_target *t, struct mem_mask mask,
                                const void *bytes, const void *compare)
{
    t->stored = index_pool_acquire(&c->free_stored);
    struct cache_stored *s = arena_at(struct cache_stored, c->stored_at) + t->stored;
    s->mask = mask;
    memcpy(s->bytes[0], bytes, line_bytes(c));
    if (compare)
        memcpy(s->bytes[1], compare, line_bytes(c));
}

/* True if the line of number `number` can be requested together with that of the cycle before. */
static ALWAYS_INLINE bool pairs_with_last(const struct cache *c, uint64_t number, uint32_t pid)
{
    const struct cache_last_read *last = &c->last_read;
    return cache_params(c)->pairs && last->cycle_end == component_tick_now(&c->io.base)
           && last->line == number / 2 && last->pid == pid
           && get_mshr(c, last->mshr)->address != number * line_bytes(c);
}

/* Asks below for the line of MSHR `i`. */
static ALWAYS_INLINE void ask_below(struct cache *c, uint32_t i, uint64_t number, uint32_t pid)
{
    if (pairs_with_last(c, number, pid)) {
        struct mem_request *sent = (struct mem_request *)ring_slot(c->last_read.slot);
        sent->read.address = number / 2 * below_bytes(c);
        sent->read.size = below_bytes(c);
        get_mshr(c, c->last_read.mshr)->paired = (uint16_t)(i + 1);
        c->last_read.cycle_end = 0;
        c->io.stats.paired++;
        return;
    }
    begin_interval_below(c);
    if (cache_params(c)->pairs)
        c->last_read = (struct cache_last_read){.line = number / 2,
                                                .cycle_end = component_tick_now(&c->io.base) + 1,
                                                .mshr = i,
                                                .pid = pid,
                                                .slot = ring_placed(c->io.bottom_request)->tail};
    cache_bottom_send_read(c, (uint16_t)i, number * line_bytes(c), line_bytes(c), pid_below(c, pid),
                           false);
}

/* Asks below for the bytes of a line, which is claimed; `is_partial`: some are here already. MSHR
 * and room below must be there. */
static ALWAYS_INLINE struct cache_mshr *mshr_begin(struct cache *c, uint32_t set, uint32_t way,
                                                   uint64_t number, uint32_t pid, bool is_partial)
{
    uint32_t i = index_pool_acquire(&c->free_mshrs), line = set * way_count(c) + way;
    struct cache_mshr *mshr = get_mshr(c, i);
    mshr->address = number * line_bytes(c);
    mshr->line = line;
    mshr->targets = 0;
    mshr->state = MSHR_PENDING;
    mshr->has_own_bytes = is_write_back(c) && is_partial;
    mshr->is_outdated = false;
    arena_at(uint16_t, c->line_mshrs_at)[line] = (uint16_t)i;
    get_set(c, set)->pending |= (uint64_t)1 << way;
    mshr->paired = 0;
    end_last_write(c);
    ask_below(c, i, number, pid);
    stat_histogram_add(&c->io.stats.mshr_occupancy, index_pool_used(&c->free_mshrs));
    return mshr;
}

/* The MSHR of a pending line, for one more request. NULL: no room now. */
static inline struct cache_mshr *mshr_join(struct cache *c, uint32_t set, uint32_t way,
                                           bool has_bytes)
{
    struct cache_mshr *mshr = line_mshr(c, set * way_count(c) + way);
    if (!has_target_room(c, mshr, has_bytes) || mshr->state != MSHR_PENDING || mshr->is_outdated) {
        hold_request(c, HOLD_OTHER);
        return NULL;
    }
    line_touch(c, set, way);
    c->io.stats.mshr_hits++;
    c->io.stats.misses++;
    return mshr;
}

/* A new MSHR for a line that is not here (`way` CACHE_WAY_NONE), or of which bytes are missing.
 * NULL: no room now. `has_room`: there is room below, which has been looked at in this tick. */
static ALWAYS_INLINE struct cache_mshr *mshr_open(struct cache *c, uint32_t set, uint64_t number,
                                                  uint32_t way, uint32_t pid, bool has_bytes,
                                                  bool has_room)
{
    if (!index_pool_has(&c->free_mshrs)) {
        hold_request(c, HOLD_MSHR);
        return NULL;
    }
    bool can_ask = has_room || pairs_with_last(c, number, pid) || has_room_below(c);
    if ((has_bytes && !index_pool_has(&c->free_stored)) || !can_ask) {
        hold_request(c, HOLD_ROOM_BELOW);
        return NULL;
    }
    bool is_partial = way != CACHE_WAY_NONE;
    if (way == CACHE_WAY_NONE) {
        bool was_written = false;
        way = make_room(c, set, &was_written);
        if (way == CACHE_WAY_NONE) {
            hold_request(c, HOLD_OTHER);
            return NULL;
        }
        if (was_written && !has_room_below(c)) { /* the victim has taken the room */
            line_drop(c, set * way_count(c) + way);
            hold_request(c, HOLD_ROOM_BELOW);
            return NULL;
        }
        line_claim(c, set, way, number);
    } else {
        line_touch(c, set, way);
    }
    c->io.stats.misses++;
    return mshr_begin(c, set, way, number, pid, is_partial);
}

/* The MSHR at which a write or atomic can wait for bytes that are not here, new or not. NULL: no
 * room now. */
static inline struct cache_mshr *mshr_find_or_open(struct cache *c, uint32_t set, uint64_t number,
                                                   uint32_t way, uint32_t pid)
{
    if (way != CACHE_WAY_NONE && get_set(c, set)->pending >> way & 1)
        return mshr_join(c, set, way, true);
    return mshr_open(c, set, number, way, pid, true, false);
}
