/* Requests whose physical address is known. Each accept_* accepts the request completely, or
 * returns false and has changed nothing that a second attempt would count again (it may have
 * written a victim back, after which its way is free).
 *
 * A request that is not answered here waits at an MSHR (cache_mshr.c), or has gone below under a
 * tag of `sent`. Called by cache.c, for new requests and for those that waited for a page. */
#include "cache.gen.h"

#include "cache_state.h"

/* Counts a request that hits, or that misses and waits for no MSHR. */
static ALWAYS_INLINE void count_request(struct cache *c, bool is_hit)
{
    c->io.stats.hits += is_hit;
    c->io.stats.misses += !is_hit;
    c->unanswered++;
    set_served(c, is_hit ? MEM_SERVED_HIT : MEM_SERVED_MISSED);
}

/* False: nothing can be sent below in this cycle, and the oldest request is held. */
static inline bool can_send_below(struct cache *c)
{
    if (!index_pool_has(&c->free_sent))
        return hold_request(c, HOLD_OTHER);
    return has_room_below(c) || hold_request(c, HOLD_ROOM_BELOW);
}

/* A read of a line that is not pending, of which all that is wanted is here. */
static ALWAYS_INLINE bool accept_hit(struct cache *c, uint16_t tag, uint32_t set, uint32_t way,
                                     unsigned piece)
{
    if (!can_answer(c))
        return hold_request(c, HOLD_ANSWER);
    line_touch(c, set, way);
    count_request(c, true);
    c->io.stats.reads++;
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
    bool is_here = s->filled >> way & 1;
    if (keeps_masks(c) && !is_here)
        is_here = mem_mask_covers(
            *line_mask(c, set * way_count(c) + way),
            mem_mask_range((unsigned)(address % line_bytes(c)), m->read.size, line_bytes(c)));
    return is_here ? accept_hit(c, m->tag, set, way, find_piece(c, address))
                   : keeps_masks(c) && accept_miss(c, m, address, set, way, false);
}

/* A write, with mask and bytes at their places in the line. */
struct write_request {
    uint64_t number; /* the line's number */
    uint32_t set;
    uint16_t tag;
    struct cache_writer writer;
    struct mem_mask mask;
    const void *bytes;
};

/* In a write-back cache: the write stays here. */
static inline bool accept_write_here(struct cache *c, const struct write_request *w)
{
    struct cache_set *s = get_set(c, w->set);
    uint32_t way = find_way(c, s, w->number);
    bool is_hit = way != CACHE_WAY_NONE, was_written = false;
    if (is_hit && (s->pending >> way & 1)) {
        struct cache_mshr *mshr = mshr_join(c, w->set, way, true);
        if (!mshr)
            return false;
        target_store(c, target_add(c, mshr, MEM_WRITE, w->tag, 0), w->mask, w->bytes, NULL);
        c->io.stats.writes++;
        return true;
    }
    if (!can_answer(c))
        return hold_request(c, HOLD_ANSWER);
    if (is_hit) {
        line_touch(c, w->set, way);
    } else {
        way = make_room(c, w->set, &was_written);
        if (way == CACHE_WAY_NONE)
            return hold_request(c, HOLD_OTHER);
        line_claim(c, w->set, way, w->number);
    }
    line_write(c, w->set * way_count(c) + way, w->mask, w->bytes);
    line_set_dirty(c, w->set * way_count(c) + way);
    count_request(c, is_hit);
    c->io.stats.writes++;
    answer_request(c, w->tag, false, NULL);
    return true;
}

/* True if the write of a part of a line can join that of another part, which has gone below in this
 * cycle: requests shorter than a line come in pairs. */
static inline bool joins_last_write(const struct cache *c, const struct write_request *w)
{
    const struct cache_last_write *last = &c->last_write;
    return above_bytes(c) < line_bytes(c) && !is_write_back(c)
           && last->cycle_end == component_tick_now(&c->io.base) + 1 && last->line == w->number
           && last->writer.pid == w->writer.pid && last->writer.scope == w->writer.scope
           && !arena_at(struct cache_sent, c->sent_at)[last->sent].is_joined;
}

static inline void join_last_write(struct cache *c, const struct write_request *w)
{
    const struct cache_last_write *last = &c->last_write;
    struct cache_sent *sent = arena_at(struct cache_sent, c->sent_at) + last->sent;
    unsigned below = below_bytes(c), offset = offset_below(c, last->line * line_bytes(c));
    uint64_t *words = mem_write_mask(last->payload, below);
    struct mem_mask mask = mem_mask_or(mem_mask_load(words, below), mem_mask_up(w->mask, offset));
    mem_mask_store(words, mask, below);
    mem_copy_masked((char *)mem_write_data(last->payload, below) + offset, w->bytes, w->mask,
                    line_bytes(c));
    sent->is_joined = true;
    sent->second_tag = w->tag;
    sent->second_served = c->served;
}

/* Sends a write below, for which there is room. */
static inline void pass_write(struct cache *c, const struct write_request *w)
{
    uint32_t sent = sent_open(c, (struct cache_sent){.tag = w->tag, .kind = SENT_WRITE});
    void *payload = send_write(c, sent, w->number * line_bytes(c), w->writer, w->mask, w->bytes);
    if (above_bytes(c) < line_bytes(c))
        c->last_write = (struct cache_last_write){w->number, component_tick_now(&c->io.base) + 1,
                                                  sent, w->writer, payload};
}

/* The write goes below, and the own copy follows the policy: in write-through, -around and -evict
 * caches, and in a write-back one for memory that is written through by its type. A write-back
 * cache holds the write while its line is pending, since other writes may wait for that line; the
 * others forget the line. */
static inline bool accept_write_through(struct cache *c, const struct write_request *w)
{
    struct cache_set *s = get_set(c, w->set);
    uint32_t way = find_way(c, s, w->number);
    bool is_pending = way != CACHE_WAY_NONE && (s->pending >> way & 1);
    bool is_hit = way != CACHE_WAY_NONE && !is_pending, was_written = false;
    bool joins = joins_last_write(c, w);
    if (is_pending && is_write_back(c))
        return hold_request(c, HOLD_OTHER);
    if (!joins && !can_send_below(c))
        return false;
    if (is_pending) {
        line_forget(c, w->set * way_count(c) + way);
        way = CACHE_WAY_NONE;
    } else if (is_hit && cache_params(c)->write == CACHE_WRITE_EVICT) {
        line_drop(c, w->set * way_count(c) + way);
        c->io.stats.evictions++;
        way = CACHE_WAY_NONE;
    } else if (is_hit) {
        line_touch(c, w->set, way);
    } else if (keeps_masks(c)) {
        way = make_room(c, w->set, &was_written);
        if (was_written && !can_send_below(c)) { /* the victim has taken the room */
            line_drop(c, w->set * way_count(c) + way);
            return false;
        }
        if (way != CACHE_WAY_NONE)
            line_claim(c, w->set, way, w->number);
    }
    if (way != CACHE_WAY_NONE)
        line_write(c, w->set * way_count(c) + way, w->mask, w->bytes);
    count_request(c, is_hit);
    c->io.stats.writes++;
    joins ? join_last_write(c, w) : pass_write(c, w);
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
        count_request(c, true);
        c->io.stats.atomics++;
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
    bool may_be_dirty = is_write_back(c) && line != CACHE_LINE_NONE;
    if (may_be_dirty && line_is_pending(c, line))
        return hold_request(c, HOLD_OTHER);
    if (!can_send_below(c))
        return false;
    bool is_dirty = may_be_dirty && line_is_dirty(c, line);
    if (is_dirty)
        line_write_back(c, line);
    if (line != CACHE_LINE_NONE)
        line_forget(c, line);
    return !is_dirty || can_send_below(c);
}

/* A write that others than the users of this write-back cache are to see: it goes on, after what
 * is dirty of its line, and the own copy is forgotten. */
static inline bool accept_write_past(struct cache *c, const struct write_request *w)
{
    if (!line_pass(c, w->number))
        return false;
    count_request(c, false);
    c->io.stats.writes++;
    pass_write(c, w);
    return true;
}

/* The offset in an answer from below of the part that a request is about. */
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
    count_request(c, false);
    c->io.stats.reads++;
    uint32_t sent = sent_open(c, (struct cache_sent){.tag = m->tag,
                                                     .kind = SENT_ATOMIC,
                                                     .piece = find_piece_below(c, address)});
    end_last_write(c);
    begin_interval_below(c);
    cache_bottom_send_read(c, (uint16_t)(cache_params(c)->mshrs + sent), number * line_bytes(c),
                           line_bytes(c), typed_pid(c, m->read.pid), true);
    return true;
}

/* In a cache where not all sharers meet: the atomic happens below, and the own copy is forgotten.
 */
static inline bool accept_atomic_below(struct cache *c, const struct mem_request *m, void *payload,
                                       uint64_t address)
{
    unsigned below = below_bytes(c), offset = offset_below(c, address);
    uint64_t start = address / line_bytes(c) * line_bytes(c) - offset;
    struct atomic_operands o;
    if (!line_pass(c, address / line_bytes(c)))
        return false;
    count_request(c, false);
    c->io.stats.atomics++;
    uint32_t sent = sent_open(
        c, (struct cache_sent){.tag = m->tag,
                               .kind = m->atomic.returns ? SENT_ATOMIC : SENT_ATOMIC_BLIND,
                               .piece = find_piece_below(c, address)});
    end_last_write(c);
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
    return true;
}

/* Accepts all requests but plain reads. */
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
    uint64_t number = address / line_bytes(c);
    struct write_request w = {
        .number = number,
        .set = find_set(c, number),
        .tag = m->tag,
        .writer = {typed_pid(c, m->write.pid), (enum scope)m->write.scope},
        .mask = mem_mask_up(mem_mask_load(mem_write_mask(payload, above), above), piece),
        .bytes = widen_bytes(c, mem_write_data(payload, above), piece, wide)};
    enum mem_type type = resolve_type(c, m->write.pid, address);
    if (is_write_back(c) && (w.writer.scope > widest_scope(c) || type == MEM_UNCACHED))
        return accept_write_past(c, &w);
    return is_write_back(c) && type == MEM_COARSE ? accept_write_here(c, &w)
                                                  : accept_write_through(c, &w);
}

static ALWAYS_INLINE bool accept_request(struct cache *c, const struct mem_request *m,
                                         void *payload, uint64_t address)
{
    if (message_kind(m) == MEM_READ && resolve_type(c, m->read.pid, address) != MEM_UNCACHED
        && (has_last_word(c) || cache_params(c)->shared || likely(!m->read.coherent)))
        return accept_read(c, m, address);
    return accept_other(c, m, payload, address);
}
