/* Answers from below, which fill lines and serve waiting requests, and the cache's own answers. */
#include "cache.gen.h"

#include "cache_state.h"

/* Answers `tag`: with `data` (NULL: bytes that nothing reads) when `is_data`, as long as requests
 * from above are. can_answer() must be true. With -DHEDDLE_PROFILE, which units get whose C files
 * name it, the answer says where the request was served. */
static inline void answer_request(struct cache *c, uint16_t tag, bool is_data, const void *data)
{
    c->unanswered--;
    mem_served_next(cache_io(c)->top_reply, c->served);
    if (!is_data) {
        cache_top_reply_done(c, tag);
        return;
    }
    void *payload = cache_top_reply_data(c, tag);
    if (data)
        memcpy(mem_data_data(payload, above_bytes(c)), data, above_bytes(c));
}

/* Puts the bytes that have come into the line, around bytes that were written before the request
 * for the line. */
static OUT_OF_LINE void install_around(struct cache *c, uint32_t line, const void *bytes)
{
    struct mem_mask missing = mem_mask_not(*line_mask(c, line), line_bytes(c));
    mem_copy_masked(line_data(c, line), bytes, missing, line_bytes(c));
}

static ALWAYS_INLINE void install_bytes(struct cache *c, struct cache_mshr *mshr, const void *bytes)
{
    mshr->state = MSHR_INSTALLED;
    if (mshr->line == CACHE_LINE_NONE)
        return;
    if (unlikely(mshr->has_own_bytes))
        install_around(c, mshr->line, bytes);
    else
        memcpy(line_data(c, mshr->line), bytes, line_bytes(c));
}

/* Lets a waiting write or atomic take effect. */
static OUT_OF_LINE void serve_stored(struct cache *c, const struct cache_target *t, uint32_t line)
{
    const struct cache_stored *s = arena_at(struct cache_stored, c->stored_at) + t->stored;
    if (t->kind == MEM_WRITE) {
        line_write(c, line, s->mask, s->bytes[0]);
        line_set_dirty(c, line);
        answer_request(c, t->tag, false, NULL);
    } else {
        answer_request(c, t->tag, true, t->returns ? line_data(c, line) + t->piece : NULL);
        mem_apply_atomic(t->op, t->size, s->mask, line_data(c, line), s->bytes[0], s->bytes[1],
                         NULL);
        line_set_changed(c, line, t->op, s->mask, s->bytes[0]);
    }
    index_pool_release(&c->free_stored, t->stored);
}

/* Lets the first waiting request take effect. `line` is CACHE_LINE_NONE only for reads. If it can,
 * an answer takes its bytes from the answer that has come and not from the line: the copy to the
 * line is still on its way in the host, and waiting for it took 15 % of the time of a miss. */
static ALWAYS_INLINE void serve_first(struct cache *c, struct cache_mshr *mshr, uint32_t line,
                                      const void *bytes)
{
    const struct cache_target *t = &mshr->head;
    if (is_write_back(c) && t->kind != MEM_READ) { /* only a write-back cache stores what waits */
        mshr->has_own_bytes = true;
        serve_stored(c, t, line);
        return;
    }
    bool has_own = is_write_back(c) && mshr->has_own_bytes;
    answer_request(c, t->tag, true,
                   (has_own ? line_data(c, line) : (const char *)bytes) + t->piece);
}

/* The second target of `mshr` becomes the first. */
static OUT_OF_LINE void pop_target(struct cache *c, struct cache_mshr *mshr)
{
    uint32_t i = mshr->first;
    mshr->head = arena_at(struct cache_target, c->targets_at)[i];
    mshr->first = mshr->head.next;
    index_pool_release(&c->free_targets, i);
}

/* Only the first target has asked below; the others have joined it. */
static ALWAYS_INLINE void set_target_served(struct cache *c, struct cache_mshr *mshr,
                                            const struct message *answer)
{
    if (!MEM_SERVED_IS_NOTED)
        return;
    set_served(c, mshr->state == MSHR_SERVED
                      ? MEM_SERVED_MERGED
                      : mem_served_below(MEM_SERVED_MISSED, mem_served(answer)));
    mshr->state = MSHR_SERVED;
}

/* False: requests still wait, and there is no room for more answers. */
static ALWAYS_INLINE bool fill_line(struct cache *c, uint32_t number, const struct message *answer,
                                    const void *bytes)
{
    struct cache_mshr *mshr = get_mshr(c, number);
    uint32_t line = mshr->line;
    bytes = (const char *)bytes + offset_below(c, mshr->address);
    if (mshr->state == MSHR_PENDING)
        install_bytes(c, mshr, bytes);
    while (mshr->targets) {
        if (!can_answer(c))
            return false;
        set_target_served(c, mshr, answer);
        serve_first(c, mshr, line, bytes);
        if (--mshr->targets)
            pop_target(c, mshr);
    }
    if (line != CACHE_LINE_NONE) {
        struct cache_set *s = get_set(c, line / way_count(c));
        uint64_t bit = (uint64_t)1 << (line % way_count(c));
        s->pending &= ~bit;
        s->filled |= bit;
        if (unlikely(mshr->is_outdated))
            line_outdate(c, line);
    }
    mshr->state = MSHR_FREE;
    index_pool_release(&c->free_mshrs, number);
    return true;
}

/* The answer to a read: for one line, or for two that were asked for together. */
static ALWAYS_INLINE bool fill_lines(struct cache *c, uint32_t number, const struct message *answer,
                                     const void *bytes)
{
    struct cache_mshr *mshr = get_mshr(c, number);
    if (cache_params(c)->pairs && mshr->paired) {
        if (!fill_line(c, mshr->paired - 1u, answer, bytes))
            return false;
        mshr->paired = 0;
    }
    return fill_line(c, number, answer, bytes);
}

/* The answer to a write or atomic that was sent below. */
static OUT_OF_LINE bool acknowledge_sent(struct cache *c, uint32_t number,
                                         const struct message *answer, void *payload)
{
    struct cache_sent sent = arena_at(struct cache_sent, c->sent_at)[number];
    if (sent.kind != SENT_WRITE_BACK) {
        if (!can_answer(c))
            return false;
        if (sent.is_joined) {
            set_served(c, sent.second_served);
            answer_request(c, sent.second_tag, false, NULL);
            arena_at(struct cache_sent, c->sent_at)[number].is_joined = false;
            if (!can_answer(c))
                return false;
        }
        const uint8_t *data = mem_data_data(payload, below_bytes(c));
        set_served(c, mem_served_below(sent.served, mem_served(answer)));
        answer_request(c, sent.tag, sent.kind != SENT_WRITE,
                       sent.kind == SENT_ATOMIC ? data + sent.piece : NULL);
    }
    index_pool_release(&c->free_sent, number);
    return true;
}

static ALWAYS_INLINE void accept_answers(struct cache *c)
{
    struct ring *below = ring_placed(c->io.bottom_reply);
    uint64_t limit = c->io.base.limit;
    const struct message *m = ring_oldest(below, limit);
    if (!m)
        return;
    do {
        uint32_t mshrs = cache_params(c)->mshrs;
        m = ring_slot(below->head);
        void *payload = ring_payload(below->head);
        bool is_done = likely(m->tag < mshrs)
                           ? fill_lines(c, m->tag, m, mem_data_data(payload, below_bytes(c)))
                           : acknowledge_sent(c, m->tag - mshrs, m, payload);
        if (!is_done)
            return;
    } while (ring_drop(below, limit));
}
