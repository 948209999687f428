/* Answers from below, which fill lines and serve waiting requests, and the cache's own answers. */
#include "cache.gen.h"

#include "cache_state.h"

/* Answers `tag`: with `data` (NULL: bytes that nothing reads) when `is_data`, as long as requests
 * from above are. response_room() must hold. */
static inline void respond(struct cache *c, uint16_t tag, bool is_data, const void *data)
{
    c->unanswered--;
#ifdef HEDDLE_PROFILE
    mem_served_next(cache_io(c)->top_reply, c->served);
#endif
    if (!is_data) {
        cache_top_reply_done(c, tag);
        return;
    }
    void *payload = cache_top_reply_data(c, tag);
    if (data)
        memcpy(mem_data_data(payload, above_bytes(c)), data, above_bytes(c));
}

/* The bytes have come: into the line, around bytes that were written before the request for the
 * line. */
static OUT_OF_LINE void install_around(struct cache *c, uint32_t line, const void *bytes)
{
    struct mem_mask missing = mem_mask_not(*line_mask(c, line), line_bytes(c));
    mem_copy_masked(line_data(c, line), bytes, missing, line_bytes(c));
}

static ALWAYS_INLINE void install(struct cache *c, struct cache_mshr *mshr, const void *bytes)
{
    mshr->installed = MSHR_INSTALLED;
    if (mshr->line == LINE_NONE)
        return;
    if (unlikely(mshr->own_bytes))
        install_around(c, mshr->line, bytes);
    else
        memcpy(line_data(c, mshr->line), bytes, line_bytes(c));
}

/* Lets a waiting write or atomic take effect. */
static OUT_OF_LINE void serve_stored(struct cache *c, const struct cache_target *t, uint32_t line)
{
    const struct cache_stored *s = arena_at(struct cache_stored, c->stored) + t->stored;
    if (t->kind == MEM_WRITE) {
        line_write(c, line, s->mask, s->bytes[0]);
        line_set_dirty(c, line);
        respond(c, t->tag, false, NULL);
    } else {
        respond(c, t->tag, true, t->returns ? line_data(c, line) + t->piece : NULL);
        mem_apply_atomic(t->op, t->size, s->mask, line_data(c, line), s->bytes[0], s->bytes[1],
                         NULL);
        line_set_changed(c, line, t->op, s->mask, s->bytes[0]);
    }
    index_pool_give(&c->free_stored, t->stored);
}

/* Lets the first waiting request take effect. `line` is LINE_NONE only for reads. If it can, an
 * answer takes its bytes from the answer that has come and not from the line: the copy to the line
 * is still on its way in the host, and waiting for it took 15 % of the time of a miss. */
static ALWAYS_INLINE void serve(struct cache *c, struct cache_mshr *mshr, uint32_t line,
                                const void *bytes)
{
    const struct cache_target *t = &mshr->head;
    if (is_write_back(c) && t->kind != MEM_READ) { /* only a write-back cache stores what waits */
        mshr->own_bytes = true;
        serve_stored(c, t, line);
        return;
    }
    bool own = is_write_back(c) && mshr->own_bytes;
    respond(c, t->tag, true, (own ? line_data(c, line) : (const char *)bytes) + t->piece);
}

/* The one that waits at `mshr` after the first moves up. */
static OUT_OF_LINE void next_target(struct cache *c, struct cache_mshr *mshr)
{
    uint32_t i = mshr->first;
    mshr->head = arena_at(struct cache_target, c->targets)[i];
    mshr->first = mshr->head.next;
    index_pool_give(&c->free_targets, i);
}

/* The first one asked below, others have joined it. */
static ALWAYS_INLINE void note_target(struct cache *c, struct cache_mshr *mshr,
                                      const struct message *answer)
{
#ifdef HEDDLE_PROFILE
    note_served(c, mshr->installed == MSHR_SERVED
                       ? MEM_SERVED_MERGED
                       : mem_served_below(MEM_SERVED_MISSED, mem_served(answer)));
    mshr->installed = MSHR_SERVED;
#else
    (void)c;
    (void)mshr;
    (void)answer;
#endif
}

/* False: there are waiting requests left, but no room for more answers. */
static ALWAYS_INLINE bool fill_line(struct cache *c, uint32_t number, const struct message *answer,
                                    const void *bytes)
{
    struct cache_mshr *mshr = mshr_at(c, number);
    uint32_t line = mshr->line;
    bytes = (const char *)bytes + offset_below(c, mshr->address);
    if (!mshr->installed)
        install(c, mshr, bytes);
    while (mshr->targets) {
        if (!response_room(c))
            return false;
        note_target(c, mshr, answer);
        serve(c, mshr, line, bytes);
        if (--mshr->targets)
            next_target(c, mshr);
    }
    if (line != LINE_NONE) {
        struct cache_set *s = set_at(c, line / way_count(c));
        uint64_t bit = (uint64_t)1 << (line % way_count(c));
        s->pending &= ~bit;
        s->filled |= bit;
        if (unlikely(mshr->outdated))
            line_outdate(c, line);
    }
    mshr->used = 0;
    index_pool_give(&c->free_mshrs, number);
    return true;
}

/* The answer to a read: for one line, or for two that were asked for together. */
static ALWAYS_INLINE bool fill_lines(struct cache *c, uint32_t number, const struct message *answer,
                                     const void *bytes)
{
    struct cache_mshr *mshr = mshr_at(c, number);
    if (cache_params(c)->pairs && mshr->paired) {
        if (!fill_line(c, mshr->paired - 1u, answer, bytes))
            return false;
        mshr->paired = 0;
    }
    return fill_line(c, number, answer, bytes);
}

/* The answer to a write or atomic that was sent below. */
static OUT_OF_LINE bool acknowledge(struct cache *c, uint32_t number, const struct message *answer,
                                    void *payload)
{
    struct cache_sent sent = arena_at(struct cache_sent, c->sent)[number];
    if (sent.kind != SENT_WRITE_BACK) {
        if (!response_room(c))
            return false;
        if (sent.joined) {
            note_served_below(c, &sent, true, answer);
            respond(c, sent.second, false, NULL);
            arena_at(struct cache_sent, c->sent)[number].joined = false;
            if (!response_room(c))
                return false;
        }
        const uint8_t *data = mem_data_data(payload, below_bytes(c));
        note_served_below(c, &sent, false, answer);
        respond(c, sent.tag, sent.kind != SENT_WRITE,
                sent.kind == SENT_ATOMIC ? data + sent.piece : NULL);
    }
    index_pool_give(&c->free_sent, number);
    return true;
}

static ALWAYS_INLINE void take_answers(struct cache *c)
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
        bool done = likely(m->tag < mshrs)
                        ? fill_lines(c, m->tag, m, mem_data_data(payload, below_bytes(c)))
                        : acknowledge(c, m->tag - mshrs, m, payload);
        if (!done)
            return;
    } while (ring_drop(below, limit));
}
