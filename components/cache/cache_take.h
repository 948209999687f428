/* What a cache does with a request whose physical address is known. Each take_* either takes the
 * request completely or returns false and has changed nothing that a second attempt would count
 * again (it may have written a victim back, after which its way is free). Called from the input and
 * the replay queue. */
#ifndef HEDDLE_COMPONENTS_CACHE_TAKE_H
#define HEDDLE_COMPONENTS_CACHE_TAKE_H

#include "cache_state.h"

/* Room at `mshr` for one more, with `stored` a slot for bytes? */
static inline bool target_room(const struct cache *c, const struct cache_mshr *mshr, bool stored)
{
    return mshr->targets < cache_params(c)->targets && index_pool_has(&c->free_targets)
           && (!stored || index_pool_has(&c->free_stored));
}

static inline struct cache_target *target_add(struct cache *c, struct cache_mshr *mshr,
                                              uint8_t kind, uint16_t tag)
{
    uint32_t i = index_pool_take(&c->free_targets);
    struct cache_target *all = arena_at(struct cache_target, c->targets), *t = all + i;
    *t = (struct cache_target){.next = TARGET_NONE, .kind = kind, .tag = tag};
    if (mshr->targets++)
        all[mshr->last].next = i;
    else
        mshr->first = i;
    mshr->last = i;
    c->unanswered++;
    return t;
}

static inline void target_store(struct cache *c, struct cache_target *t, struct mem_mask mask,
                                const void *bytes, const void *compare)
{
    t->stored = index_pool_take(&c->free_stored);
    struct cache_stored *s = arena_at(struct cache_stored, c->stored) + t->stored;
    s->mask = mask;
    memcpy(s->bytes[0], bytes, line_bytes(c));
    if (compare)
        memcpy(s->bytes[1], compare, line_bytes(c));
}

/* Asks below for the bytes of `line`, which is claimed. MSHR, target and room below must be there.
 */
static inline struct cache_mshr *mshr_begin(struct cache *c, uint32_t line, uint32_t pid)
{
    uint32_t i = index_pool_take(&c->free_mshrs);
    struct cache_mshr *mshr = mshr_at(c, i);
    *mshr =
        (struct cache_mshr){.address = *line_tag(c, line) * line_bytes(c), .line = line, .used = 1};
    line_state(c, line)->mshr = (uint16_t)(i + 1);
    set_at(c, line / way_count(c))->pending |= (uint64_t)1 << (line % way_count(c));
    cache_bottom_send_read(c, (uint16_t)i, mshr->address, line_bytes(c), pid, false);
    stat_histogram_add(&c->io.stats.mshr_occupancy, index_pool_used(&c->free_mshrs));
    return mshr;
}

/* The MSHR at which a request for bytes that are not here can wait, new or not. NULL: no room now.
 */
static inline struct cache_mshr *mshr_for(struct cache *c, uint32_t set, uint64_t number,
                                          uint32_t line, uint32_t pid, bool stored)
{
    struct cache_mshr *mshr;
    if (line != LINE_NONE && line_state(c, line)->mshr) {
        mshr = mshr_at(c, line_state(c, line)->mshr - 1u);
        if (!target_room(c, mshr, stored) || mshr->installed) {
            hold(c, HOLD_OTHER);
            return NULL;
        }
        line_touch(c, line);
        c->io.stats.mshr_hits++;
    } else {
        bool mshr_left = index_pool_has(&c->free_mshrs);
        if (!mshr_left || !index_pool_has(&c->free_targets)
            || (stored && !index_pool_has(&c->free_stored)) || !cache_bottom_can_send(c)) {
            hold(c, mshr_left ? HOLD_ROOM_BELOW : HOLD_MSHR);
            return NULL;
        }
        if (line == LINE_NONE) {
            line = line_make_room(c, set);
            if (line == LINE_NONE
                || !cache_bottom_can_send(c)) { /* writing back may have used the room */
                hold(c, line == LINE_NONE ? HOLD_OTHER : HOLD_ROOM_BELOW);
                return NULL;
            }
            line_claim(c, line, number);
        } else {
            line_touch(c, line);
        }
        mshr = mshr_begin(c, line, pid);
    }
    c->io.stats.misses++;
    return mshr;
}

static inline bool take_read(struct cache *c, uint16_t tag, uint64_t address, uint32_t size,
                             uint32_t pid)
{
    uint64_t number = address / line_bytes(c);
    uint32_t set = set_of(c, number), line = line_find(c, set, number);
    if (line != LINE_NONE && !line_state(c, line)->mshr) {
        bool here = line_state(c, line)->filled;
        if (!here && keeps_masks(c))
            here = mem_mask_covers(
                *line_mask(c, line),
                mem_mask_range((unsigned)(address % line_bytes(c)), size, line_bytes(c)));
        if (here) {
            if (!response_room(c))
                return hold(c, HOLD_RESPONSE);
            line_touch(c, line);
            c->io.stats.hits++;
            c->io.stats.reads++;
            c->unanswered++;
            respond(c, tag, true, line_data(c, line));
            return true;
        }
    }
    struct cache_mshr *mshr = mshr_for(c, set, number, line, pid, false);
    if (!mshr)
        return false;
    target_add(c, mshr, MEM_READ, tag);
    c->io.stats.reads++;
    return true;
}

/* Puts bytes into a line that is not pending. */
static inline void line_write(struct cache *c, uint32_t line, struct mem_mask mask,
                              const void *bytes)
{
    mem_copy_masked(line_data(c, line), bytes, mask, line_bytes(c));
    if (keeps_masks(c)) {
        struct mem_mask *have = line_mask(c, line);
        *have = mem_mask_or(*have, mask);
        if (mem_mask_is_full(*have, line_bytes(c)))
            line_state(c, line)->filled = 1;
    }
}

static inline bool take_write_back(struct cache *c, uint16_t tag, uint64_t address,
                                   struct mem_mask mask, const void *bytes, uint32_t pid)
{
    uint64_t number = address / line_bytes(c);
    uint32_t set = set_of(c, number), line = line_find(c, set, number);
    if (line != LINE_NONE && line_state(c, line)->mshr) {
        struct cache_mshr *mshr = mshr_for(c, set, number, line, pid, true);
        if (!mshr)
            return false;
        target_store(c, target_add(c, mshr, MEM_WRITE, tag), mask, bytes, NULL);
        c->io.stats.writes++;
        return true;
    }
    if (!response_room(c))
        return hold(c, HOLD_RESPONSE);
    if (line != LINE_NONE) {
        line_touch(c, line);
        c->io.stats.hits++;
    } else {
        line = line_make_room(c, set);
        if (line == LINE_NONE)
            return hold(c, HOLD_OTHER);
        line_claim(c, line, number);
        c->io.stats.misses++;
    }
    line_write(c, line, mask, bytes);
    line_set_dirty(c, line);
    c->io.stats.writes++;
    c->unanswered++;
    respond(c, tag, false, NULL);
    return true;
}

/* A line that goes below without this cache knowing its bytes afterwards: forget it, pending or
 * not. */
static inline void line_forget(struct cache *c, uint32_t line)
{
    if (line_state(c, line)->mshr)
        mshr_at(c, line_state(c, line)->mshr - 1u)->line = LINE_NONE;
    line_drop(c, line);
}

/* Write-through, -around and -evict: the write goes below, the own copy follows the policy. */
static inline bool take_write_below(struct cache *c, uint16_t tag, uint64_t address,
                                    struct mem_mask mask, const void *bytes, uint32_t pid)
{
    if (!index_pool_has(&c->free_sent) || !cache_bottom_can_send(c))
        return hold(c, index_pool_has(&c->free_sent) ? HOLD_ROOM_BELOW : HOLD_OTHER);
    uint64_t number = address / line_bytes(c);
    uint32_t set = set_of(c, number), line = line_find(c, set, number);
    if (line != LINE_NONE && !line_state(c, line)->mshr) {
        c->io.stats.hits++;
        if (cache_params(c)->write == CACHE_WRITE_EVICT) {
            line_drop(c, line);
            c->io.stats.evictions++;
        } else {
            line_touch(c, line);
            line_write(c, line, mask, bytes);
        }
    } else {
        c->io.stats.misses++;
        if (line != LINE_NONE) {
            line_forget(c, line);
        } else if (cache_params(c)->write == CACHE_WRITE_THROUGH) {
            line = line_make_room(c, set);
            if (line != LINE_NONE) {
                line_claim(c, line, number);
                line_write(c, line, mask, bytes);
            }
        }
    }
    uint32_t sent = index_pool_take(&c->free_sent);
    arena_at(struct cache_sent, c->sent)[sent] = (struct cache_sent){tag, SENT_WRITE};
    void *payload = cache_bottom_send_write(c, (uint16_t)(cache_params(c)->mshrs + sent),
                                            number * line_bytes(c), pid);
    mem_mask_store(mem_write_mask(payload, line_bytes(c)), mask, line_bytes(c));
    memcpy(mem_write_data(payload, line_bytes(c)), bytes, line_bytes(c));
    c->io.stats.writes++;
    c->unanswered++;
    return true;
}

/* Write-back: the atomic happens here. */
static inline bool take_atomic_here(struct cache *c, const struct mem_request *m, void *payload,
                                    uint64_t address)
{
    unsigned bytes = line_bytes(c);
    uint64_t number = address / bytes;
    uint32_t set = set_of(c, number), line = line_find(c, set, number);
    struct mem_mask mask = mem_mask_load(mem_atomic_mask(payload, bytes), bytes);
    const void *operand = mem_atomic_operand(payload, bytes),
               *compare = mem_atomic_compare(payload, bytes);
    if (line != LINE_NONE && !line_state(c, line)->mshr
        && (line_state(c, line)->filled || mem_mask_covers(*line_mask(c, line), mask))) {
        if (!response_room(c))
            return hold(c, HOLD_RESPONSE);
        line_touch(c, line);
        c->io.stats.hits++;
        c->io.stats.atomics++;
        c->unanswered++;
        respond(c, m->tag, true, m->atomic.returns ? line_data(c, line) : NULL);
        mem_apply_atomic(m->atomic.op, m->atomic.size, mask, line_data(c, line), operand, compare,
                         NULL);
        line_set_changed(c, line, m->atomic.op, mask, operand);
        return true;
    }
    struct cache_mshr *mshr = mshr_for(c, set, number, line, m->atomic.pid, true);
    if (!mshr)
        return false;
    struct cache_target *t = target_add(c, mshr, MEM_ATOMIC, m->tag);
    t->op = m->atomic.op;
    t->size = m->atomic.size;
    t->returns = m->atomic.returns;
    target_store(c, t, mask, operand, compare);
    c->io.stats.atomics++;
    return true;
}

/* A coherent read in a cache that is not what all sharers see, or may not be: like an atomic, it
 * goes below. */
static inline bool take_read_below(struct cache *c, const struct mem_request *m, uint64_t address)
{
    if (!index_pool_has(&c->free_sent) || !cache_bottom_can_send(c))
        return hold(c, index_pool_has(&c->free_sent) ? HOLD_ROOM_BELOW : HOLD_OTHER);
    uint64_t number = address / line_bytes(c);
    uint32_t line = line_find(c, set_of(c, number), number);
    if (line != LINE_NONE)
        line_forget(c, line);
    uint32_t sent = index_pool_take(&c->free_sent);
    arena_at(struct cache_sent, c->sent)[sent] = (struct cache_sent){m->tag, SENT_ATOMIC};
    cache_bottom_send_read(c, (uint16_t)(cache_params(c)->mshrs + sent), number * line_bytes(c),
                           line_bytes(c), m->read.pid, true);
    c->io.stats.misses++;
    c->io.stats.reads++;
    c->unanswered++;
    return true;
}

/* The other policies: it happens below, and the own copy is stale then. */
static inline bool take_atomic_below(struct cache *c, const struct mem_request *m, void *payload,
                                     uint64_t address)
{
    if (!index_pool_has(&c->free_sent) || !cache_bottom_can_send(c))
        return hold(c, index_pool_has(&c->free_sent) ? HOLD_ROOM_BELOW : HOLD_OTHER);
    unsigned bytes = line_bytes(c);
    uint64_t number = address / bytes;
    uint32_t line = line_find(c, set_of(c, number), number);
    if (line != LINE_NONE)
        line_forget(c, line);
    uint32_t sent = index_pool_take(&c->free_sent);
    arena_at(struct cache_sent, c->sent)[sent] =
        (struct cache_sent){m->tag, m->atomic.returns ? SENT_ATOMIC : SENT_ATOMIC_BLIND};
    void *below =
        cache_bottom_send_atomic(c, (uint16_t)(cache_params(c)->mshrs + sent), number * bytes,
                                 m->atomic.pid, m->atomic.op, m->atomic.size, m->atomic.returns);
    mem_mask_store(mem_atomic_mask(below, bytes),
                   mem_mask_load(mem_atomic_mask(payload, bytes), bytes), bytes);
    memcpy(mem_atomic_operand(below, bytes), mem_atomic_operand(payload, bytes), bytes);
    memcpy(mem_atomic_compare(below, bytes), mem_atomic_compare(payload, bytes), bytes);
    c->io.stats.misses++;
    c->io.stats.atomics++;
    c->unanswered++;
    return true;
}

static inline bool take(struct cache *c, const struct mem_request *m, void *payload,
                        uint64_t address)
{
    if (message_kind(m) == MEM_READ)
        return !is_write_back(c) && engine_unlikely(m->read.coherent) && !cache_params(c)->shared
                   ? take_read_below(c, m, address)
                   : take_read(c, m->tag, address, m->read.size, m->read.pid);
    if (message_kind(m) == MEM_ATOMIC)
        return is_write_back(c) ? take_atomic_here(c, m, payload, address)
                                : take_atomic_below(c, m, payload, address);
    struct mem_mask mask = mem_mask_load(mem_write_mask(payload, line_bytes(c)), line_bytes(c));
    const void *bytes = mem_write_data(payload, line_bytes(c));
    return is_write_back(c) ? take_write_back(c, m->tag, address, mask, bytes, m->write.pid)
                            : take_write_below(c, m->tag, address, mask, bytes, m->write.pid);
}

#endif
