/* Requests whose physical address is known. Each take_* either takes the request
 * completely, or returns false and has changed nothing that a second attempt would count again (it
 * may have written a victim back, after which its way is free).
 *
 * A request that is not answered here waits at an MSHR (cache_mshr.c), or has gone below under a
 * tag of `sent`. Called by cache.c, for new requests and for those that waited for a page. */
#include "cache.gen.h"

#include "cache_state.h"

/* A read of a line that is not pending, of which all that is wanted is here. */
static ALWAYS_INLINE bool accept_hit(struct cache *c, uint16_t tag, uint32_t set, uint32_t way,
                                     unsigned piece)
{
    if (!can_answer(c))
        return hold_request(c, HOLD_ANSWER);
    line_touch(c, set, way);
    c->io.stats.hits++;
    c->io.stats.reads++;
    c->unanswered++;
    set_served(c, MEM_SERVED_HIT);
    answer_request(c, tag, true, line_data(c, set * way_count(c) + way) + piece);
    return true;
}

/* A read of a line that is not here, or lacks bytes. */
static ALWAYS_INLINE bool accept_miss(struct cache *c, const struct mem_request *m,
                                      uint64_t address, uint32_t set, uint32_t way, bool has_room)
{
    struct cache_mshr *mshr =
        mshr_open(c, set, address / line_bytes(c), way, typed_pid(c, m->read.pid), false, has_room);
    if (!mshr) {
        c->head_misses = way == CACHE_WAY_NONE;
        c->head_set = set;
        return false;
    }
    target_begin(c, mshr, m->tag, find_piece(c, address));
    c->io.stats.reads++;
    return true;
}

static ALWAYS_INLINE bool accept_read(struct cache *c, const struct mem_request *m,
                                      uint64_t address)
{
    uint64_t number = address / line_bytes(c);
    uint32_t set = c->head_set, way = CACHE_WAY_NONE;
    if (!c->head_misses) {
        set = find_set(c, number);
        way = find_way(c, get_set(c, set), number);
    }
    if (way == CACHE_WAY_NONE)
        return accept_miss(c, m, address, set, way, false);
    const struct cache_set *s = get_set(c, set);
    if (s->pending >> way & 1) {
        struct cache_mshr *mshr = mshr_join(c, set, way, false);
        if (!mshr)
            return false;
        target_add(c, mshr, MEM_READ, m->tag, find_piece(c, address));
        c->io.stats.reads++;
        return true;
    }
    bool here = s->filled >> way & 1;
    if (keeps_masks(c) && !here)
        here = mem_mask_covers(
            *line_mask(c, set * way_count(c) + way),
            mem_mask_range((unsigned)(address % line_bytes(c)), m->read.size, line_bytes(c)));
    return here ? accept_hit(c, m->tag, set, way, find_piece(c, address))
                : keeps_masks(c) && accept_miss(c, m, address, set, way, false);
}

static inline bool accept_write_back(struct cache *c, uint16_t tag, uint64_t address,
                                     struct mem_mask mask, const void *bytes)
{
    uint64_t number = address / line_bytes(c);
    uint32_t set = find_set(c, number), way = find_way(c, get_set(c, set), number);
    if (way != CACHE_WAY_NONE && (get_set(c, set)->pending >> way & 1)) {
        struct cache_mshr *mshr = mshr_join(c, set, way, true);
        if (!mshr)
            return false;
        target_store(c, target_add(c, mshr, MEM_WRITE, tag, 0), mask, bytes, NULL);
        c->io.stats.writes++;
        return true;
    }
    if (!can_answer(c))
        return hold_request(c, HOLD_ANSWER);
    if (way != CACHE_WAY_NONE) {
        line_touch(c, set, way);
        c->io.stats.hits++;
        set_served(c, MEM_SERVED_HIT);
    } else {
        bool written = false;
        way = make_room(c, set, &written);
        if (way == CACHE_WAY_NONE)
            return hold_request(c, HOLD_OTHER);
        line_claim(c, set, way, number);
        c->io.stats.misses++;
        set_served(c, MEM_SERVED_MISSED);
    }
    line_write(c, set * way_count(c) + way, mask, bytes);
    line_set_dirty(c, set * way_count(c) + way);
    c->io.stats.writes++;
    c->unanswered++;
    answer_request(c, tag, false, NULL);
    return true;
}

/* Can a write of a part of a line join the one of another part that has gone below in this cycle?
 * Requests shorter than a line come in pairs. */
static inline bool joins_last_write(const struct cache *c, uint64_t number,
                                    struct cache_writer writer)
{
    const struct cache_last_write *last = &c->last_write;
    return above_bytes(c) < line_bytes(c) && last->cycle_end == component_tick_now(&c->io.base) + 1
           && last->line == number && last->writer.pid == writer.pid
           && last->writer.scope == writer.scope
           && !arena_at(struct cache_sent, c->sent_at)[last->sent].is_joined;
}

static inline void join_last_write(struct cache *c, uint16_t tag, struct mem_mask mask,
                                   const void *bytes)
{
    const struct cache_last_write *last = &c->last_write;
    struct cache_sent *sent = arena_at(struct cache_sent, c->sent_at) + last->sent;
    unsigned below = below_bytes(c), offset = offset_below(c, last->line * line_bytes(c));
    uint64_t *words = mem_write_mask(last->payload, below);
    struct mem_mask all = mem_mask_or(mem_mask_load(words, below), mem_mask_up(mask, offset));
    mem_mask_store(words, all, below);
    mem_copy_masked((char *)mem_write_data(last->payload, below) + offset, bytes, mask,
                    line_bytes(c));
    sent->is_joined = true;
    sent->second_tag = tag;
    save_served(c, &sent->second_served);
}

/* Sends a write below, for which there is room. */
static inline void pass_write(struct cache *c, uint16_t tag, uint64_t number, struct mem_mask mask,
                              const void *bytes, struct cache_writer writer)
{
    uint32_t sent = index_pool_take(&c->free_sent);
    arena_at(struct cache_sent, c->sent_at)[sent] =
        (struct cache_sent){.tag = tag, .kind = SENT_WRITE};
    save_served(c, &arena_at(struct cache_sent, c->sent_at)[sent].served);
    void *payload = send_write(c, sent, number * line_bytes(c), writer, mask, bytes);
    if (above_bytes(c) < line_bytes(c))
        c->last_write = (struct cache_last_write){number, component_tick_now(&c->io.base) + 1, sent,
                                                  writer, payload};
}

/* Write-through, -around and -evict: the write goes below, the own copy follows the policy. */
static inline bool accept_write_below(struct cache *c, uint16_t tag, uint64_t address,
                                      struct mem_mask mask, const void *bytes,
                                      struct cache_writer writer)
{
    uint64_t number = address / line_bytes(c);
    bool joins = joins_last_write(c, number, writer);
    if (!joins && (!index_pool_has(&c->free_sent) || !has_room_below(c)))
        return hold_request(c, index_pool_has(&c->free_sent) ? HOLD_ROOM_BELOW : HOLD_OTHER);
    uint32_t set = find_set(c, number), line = find_line(c, set, number);
    if (line != CACHE_LINE_NONE && !line_is_pending(c, line)) {
        c->io.stats.hits++;
        set_served(c, MEM_SERVED_HIT);
        if (cache_params(c)->write == CACHE_WRITE_EVICT) {
            line_drop(c, line);
            c->io.stats.evictions++;
        } else {
            line_touch(c, set, line % way_count(c));
            line_write(c, line, mask, bytes);
        }
    } else {
        c->io.stats.misses++;
        set_served(c, MEM_SERVED_MISSED);
        bool written = false;
        uint32_t way = CACHE_WAY_NONE;
        if (line != CACHE_LINE_NONE)
            line_forget(c, line);
        else if (cache_params(c)->write == CACHE_WRITE_THROUGH)
            way = make_room(c, set, &written);
        if (way != CACHE_WAY_NONE) {
            line_claim(c, set, way, number);
            line_write(c, set * way_count(c) + way, mask, bytes);
        }
    }
    if (joins)
        join_last_write(c, tag, mask, bytes);
    else
        pass_write(c, tag, number, mask, bytes, writer);
    c->io.stats.writes++;
    c->unanswered++;
    return true;
}

/* Mask and bytes that have come with an atomic, at their places in the line. */
struct atomic_operands {
    struct mem_mask mask;
    const void *operand, *compare;
    uint8_t wide[2][MEM_LINE_MAX]; /* where requests from above are shorter than a line */
};

/* The bytes of a request from above at their place in the line. */
static inline const void *widen_bytes(const struct cache *c, const void *bytes, unsigned piece,
                                      uint8_t *wide)
{
    if (above_bytes(c) == line_bytes(c))
        return bytes;
    memset(wide, 0, line_bytes(c));
    memcpy(wide + piece, bytes, above_bytes(c));
    return wide;
}

static inline void read_operands(const struct cache *c, void *payload, uint64_t address,
                                 struct atomic_operands *o)
{
    unsigned above = above_bytes(c), piece = find_piece(c, address);
    o->mask = mem_mask_up(mem_mask_load(mem_atomic_mask(payload, above), above), piece);
    o->operand = widen_bytes(c, mem_atomic_operand(payload, above), piece, o->wide[0]);
    o->compare = widen_bytes(c, mem_atomic_compare(payload, above), piece, o->wide[1]);
}

/* In a write-back cache that all sharers see: the atomic happens here. */
static inline bool accept_atomic_here(struct cache *c, const struct mem_request *m, void *payload,
                                      uint64_t address)
{
    unsigned bytes = line_bytes(c), piece = find_piece(c, address);
    uint64_t number = address / bytes;
    uint32_t set = find_set(c, number), way = find_way(c, get_set(c, set), number);
    uint32_t line = set * way_count(c) + way;
    struct atomic_operands o;
    read_operands(c, payload, address, &o);
    if (way != CACHE_WAY_NONE && !line_is_pending(c, line)
        && (line_is_filled(c, line) || mem_mask_covers(*line_mask(c, line), o.mask))) {
        if (!can_answer(c))
            return hold_request(c, HOLD_ANSWER);
        line_touch(c, set, way);
        c->io.stats.hits++;
        c->io.stats.atomics++;
        c->unanswered++;
        set_served(c, MEM_SERVED_HIT);
        answer_request(c, m->tag, true, m->atomic.returns ? line_data(c, line) + piece : NULL);
        mem_apply_atomic(m->atomic.op, m->atomic.size, o.mask, line_data(c, line), o.operand,
                         o.compare, NULL);
        line_set_changed(c, line, m->atomic.op, o.mask, o.operand);
        return true;
    }
    struct cache_mshr *mshr = mshr_find_or_open(c, set, number, way, m->atomic.pid);
    if (!mshr)
        return false;
    struct cache_target *t = target_add(c, mshr, MEM_ATOMIC, m->tag, piece);
    t->op = m->atomic.op;
    t->size = m->atomic.size;
    t->returns = m->atomic.returns;
    target_store(c, t, o.mask, o.operand, o.compare);
    c->io.stats.atomics++;
    return true;
}

/* Makes way for a request that passes this cache: checks the room below, sends the line's dirty
 * bytes, and forgets the line. False: the request has to be held, for room or, in a write-back
 * cache, for the line's answer, which writes wait for. */
static inline bool line_pass(struct cache *c, uint64_t number)
{
    uint32_t line = find_line(c, find_set(c, number), number);
    bool back = is_write_back(c) && line != CACHE_LINE_NONE;
    if (back && line_is_pending(c, line))
        return hold_request(c, HOLD_OTHER);
    if (!index_pool_has(&c->free_sent) || !has_room_below(c))
        return hold_request(c, index_pool_has(&c->free_sent) ? HOLD_ROOM_BELOW : HOLD_OTHER);
    bool dirty = back && line_is_dirty(c, line);
    if (dirty)
        line_write_back(c, line);
    if (line != CACHE_LINE_NONE)
        line_forget(c, line);
    if (dirty && (!index_pool_has(&c->free_sent) || !has_room_below(c)))
        return hold_request(c, index_pool_has(&c->free_sent) ? HOLD_ROOM_BELOW : HOLD_OTHER);
    return true;
}

/* A write that others than the users of this write-back cache are to see: it goes on, after what
 * is dirty of its line, and the own copy is forgotten. */
static inline bool accept_write_past(struct cache *c, uint16_t tag, uint64_t address,
                                     struct mem_mask mask, const void *bytes,
                                     struct cache_writer writer)
{
    uint64_t number = address / line_bytes(c);
    if (!line_pass(c, number))
        return false;
    set_served(c, MEM_SERVED_MISSED);
    pass_write(c, tag, number, mask, bytes, writer);
    c->io.stats.misses++;
    c->io.stats.writes++;
    c->unanswered++;
    return true;
}

/* A write of memory that is written through by its type: others see it when it is answered, so it
 * goes on, and the own copy follows. */
static inline bool accept_write_on(struct cache *c, uint16_t tag, uint64_t address,
                                   struct mem_mask mask, const void *bytes,
                                   struct cache_writer writer)
{
    uint64_t number = address / line_bytes(c);
    uint32_t set = find_set(c, number), way = find_way(c, get_set(c, set), number);
    bool written = false, here = way != CACHE_WAY_NONE;
    if (here && (get_set(c, set)->pending >> way & 1))
        return hold_request(c, HOLD_OTHER);
    if (!index_pool_has(&c->free_sent) || !has_room_below(c))
        return hold_request(c, index_pool_has(&c->free_sent) ? HOLD_ROOM_BELOW : HOLD_OTHER);
    if (!here)
        way = make_room(c, set, &written);
    if (written && way != CACHE_WAY_NONE
        && (!index_pool_has(&c->free_sent) || !has_room_below(c))) {
        line_drop(c, set * way_count(c) + way); /* the victim has taken the room */
        return hold_request(c, HOLD_ROOM_BELOW);
    }
    if (here)
        line_touch(c, set, way);
    else if (way != CACHE_WAY_NONE)
        line_claim(c, set, way, number);
    if (way != CACHE_WAY_NONE)
        line_write(c, set * way_count(c) + way, mask, bytes);
    c->io.stats.hits += here;
    c->io.stats.misses += !here;
    set_served(c, here ? MEM_SERVED_HIT : MEM_SERVED_MISSED);
    pass_write(c, tag, number, mask, bytes, writer);
    c->io.stats.writes++;
    c->unanswered++;
    return true;
}

/* Where the part that a request is about lies in an answer from below. */
static inline uint8_t find_piece_below(const struct cache *c, uint64_t address)
{
    return (uint8_t)(offset_below(c, address) + find_piece(c, address));
}

/* A coherent read in a cache that is not what all sharers see, or may not be: like an atomic, it
 * goes below. */
static inline bool accept_read_below(struct cache *c, const struct mem_request *m, uint64_t address)
{
    uint64_t number = address / line_bytes(c);
    if (!line_pass(c, number))
        return false;
    uint32_t sent = index_pool_take(&c->free_sent);
    end_last_write(c);
    arena_at(struct cache_sent, c->sent_at)[sent] = (struct cache_sent){
        .tag = m->tag, .kind = SENT_ATOMIC, .piece = find_piece_below(c, address)};
    set_served(c, MEM_SERVED_MISSED);
    save_served(c, &arena_at(struct cache_sent, c->sent_at)[sent].served);
    begin_interval_below(c);
    cache_bottom_send_read(c, (uint16_t)(cache_params(c)->mshrs + sent), number * line_bytes(c),
                           line_bytes(c), typed_pid(c, m->read.pid), true);
    c->io.stats.misses++;
    c->io.stats.reads++;
    c->unanswered++;
    return true;
}

/* Where sharers do not meet here: it happens below, and the own copy is stale then. */
static inline bool accept_atomic_below(struct cache *c, const struct mem_request *m, void *payload,
                                       uint64_t address)
{
    unsigned below = below_bytes(c), offset = offset_below(c, address);
    uint64_t start = address / line_bytes(c) * line_bytes(c) - offset;
    struct atomic_operands o;
    if (!line_pass(c, address / line_bytes(c)))
        return false;
    uint32_t sent = index_pool_take(&c->free_sent);
    end_last_write(c);
    arena_at(struct cache_sent, c->sent_at)[sent] =
        (struct cache_sent){.tag = m->tag,
                            .kind = m->atomic.returns ? SENT_ATOMIC : SENT_ATOMIC_BLIND,
                            .piece = find_piece_below(c, address)};
    set_served(c, MEM_SERVED_MISSED);
    save_served(c, &arena_at(struct cache_sent, c->sent_at)[sent].served);
    begin_interval_below(c);
    char *to = cache_bottom_send_atomic(c, (uint16_t)(cache_params(c)->mshrs + sent), start,
                                        pid_below(c, typed_pid(c, m->atomic.pid)), m->atomic.op,
                                        m->atomic.size, m->atomic.returns);
    read_operands(c, payload, address, &o);
    mem_mask_store(mem_atomic_mask(to, below), mem_mask_up(o.mask, offset), below);
    if (below > line_bytes(c)) { /* a cache below looks at all bytes of the operand */
        memset(mem_atomic_operand(to, below), 0, below);
        memset(mem_atomic_compare(to, below), 0, below);
    }
    memcpy((char *)mem_atomic_operand(to, below) + offset, o.operand, line_bytes(c));
    memcpy((char *)mem_atomic_compare(to, below) + offset, o.compare, line_bytes(c));
    c->io.stats.misses++;
    c->io.stats.atomics++;
    c->unanswered++;
    return true;
}

/* Everything but plain reads. */
static OUT_OF_LINE bool accept_other(struct cache *c, const struct mem_request *m, void *payload,
                                     uint64_t address)
{
    if (message_kind(m) == MEM_READ)
        return accept_read_below(c, m, address);
    if (message_kind(m) == MEM_ATOMIC)
        return has_last_word(c) && resolve_type(c, m->atomic.pid, address) == MEM_COARSE
                   ? accept_atomic_here(c, m, payload, address)
                   : accept_atomic_below(c, m, payload, address);
    uint8_t wide[MEM_LINE_MAX];
    unsigned above = above_bytes(c), piece = find_piece(c, address);
    struct mem_mask mask = mem_mask_up(mem_mask_load(mem_write_mask(payload, above), above), piece);
    const void *bytes = widen_bytes(c, mem_write_data(payload, above), piece, wide);
    struct cache_writer writer = {typed_pid(c, m->write.pid), (enum scope)m->write.scope};
    if (!is_write_back(c))
        return accept_write_below(c, m->tag, address, mask, bytes, writer);
    enum mem_type type = resolve_type(c, m->write.pid, address);
    if (writer.scope > widest_scope(c) || type == MEM_UNCACHED)
        return accept_write_past(c, m->tag, address, mask, bytes, writer);
    return type == MEM_FINE ? accept_write_on(c, m->tag, address, mask, bytes, writer)
                            : accept_write_back(c, m->tag, address, mask, bytes);
}

static ALWAYS_INLINE bool accept_request(struct cache *c, const struct mem_request *m,
                                         void *payload, uint64_t address)
{
    if (message_kind(m) == MEM_READ && resolve_type(c, m->read.pid, address) != MEM_UNCACHED
        && (has_last_word(c) || cache_params(c)->shared || likely(!m->read.coherent)))
        return accept_read(c, m, address);
    return accept_other(c, m, payload, address);
}
