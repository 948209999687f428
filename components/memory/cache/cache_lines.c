/* Sets and lines: finding a line by its number, marking it, taking a way for another one.
 *
 * A line is free (tag CACHE_TAG_FREE), present, or pending. A pending line has its way since the
 * request for its bytes went out, so that lines are found by their tags in any state. Nothing here
 * waits: line_write_back(), which sends, needs room that the caller has checked. The lowest layer
 * of the cache. */
#include "cache.gen.h"

#include "base/hash.h"
#include "base/number.h"

#include "cache_state.h"

typedef uint8_t cache_bytes __attribute__((vector_size(16)));
#ifdef __SSE2__
typedef char cache_signs __attribute__((vector_size(16)));
#endif

/* `folded`: exclusive or of all groups of index bits, so that a bank of an interleaved memory,
 * whose addresses agree in some bits, still uses all its sets. */
static inline uint32_t find_set(const struct cache *c, uint64_t number)
{
    uint64_t sets = cache_params(c)->sets;
    if (sets == 1)
        return 0;
    if (cache_params(c)->index == CACHE_INDEX_FOLDED) {
        unsigned bits = 64 - (unsigned)__builtin_clzll(sets - 1);
        for (unsigned shift = bits; shift < 64; shift *= 2)
            number ^= number >> shift;
    }
    return (uint32_t)((sets & (sets - 1)) == 0 ? number & (sets - 1) : number % sets);
}

static inline uint64_t hash_hint(uint64_t number)
{
    return hash_multiply(number) >> 56;
}

/* Bit i is set if byte i of the 16 at `bytes`, or of their first half, is `hint`. Bits of the other
 * half are undefined. */
static inline uint32_t match_hints(const uint64_t *bytes, uint8_t hint, bool is_half)
{
    cache_bytes all = {0}, one = {0};
    memcpy(&all, bytes, is_half ? sizeof all / 2 : sizeof all);
    cache_bytes equal = (cache_bytes)(all == one + hint);
#ifdef __SSE2__
    return (uint32_t)__builtin_ia32_pmovmskb128((cache_signs)equal);
#else
    uint32_t bits = 0;
    for (unsigned i = 0; i < sizeof equal; i++)
        bits |= (uint32_t)(equal[i] & 1) << i;
    return bits;
#endif
}

/* The way of the line with this number, or CACHE_WAY_NONE. */
static inline uint32_t find_way(const struct cache *c, struct cache_set *s, uint64_t number)
{
    const uint64_t *tags = set_tags(c, s);
    uint8_t hint = (uint8_t)hash_hint(number);
    for (uint32_t first = 0; first < way_count(c); first += CACHE_HINT_WAYS * 2) {
        bool is_half = way_count(c) - first <= CACHE_HINT_WAYS;
        for (uint32_t equal = match_hints(s->hints + first / CACHE_HINT_WAYS, hint, is_half); equal;
             equal &= equal - 1) {
            uint32_t way = first + (uint32_t)__builtin_ctz(equal);
            if (way < way_count(c) && tags[way] == ~number)
                return way;
        }
    }
    return CACHE_WAY_NONE;
}

/* The line with this number, or CACHE_LINE_NONE. */
static inline uint32_t find_line(const struct cache *c, uint32_t set, uint64_t number)
{
    uint32_t way = find_way(c, get_set(c, set), number);
    return way == CACHE_WAY_NONE ? CACHE_LINE_NONE : set * way_count(c) + way;
}

static inline void line_set_dirty(struct cache *c, uint32_t line)
{
    uint64_t *word = &arena_at(uint64_t, c->dirty_at)[line / 64], bit = (uint64_t)1 << (line % 64);
    c->dirty_count += !(*word & bit);
    c->dirty_from = min(line / 64, c->dirty_from);
    *word |= bit;
}

static inline void line_set_clean(struct cache *c, uint32_t line)
{
    arena_at(uint64_t, c->dirty_at)[line / 64] &= ~((uint64_t)1 << (line % 64));
    c->dirty_count--;
}

/* The line after an atomic on the bytes of `mask`. OR with zeros is how programs read past caches,
 * which must not make bytes dirty: written back later, they would undo what was written below in
 * the meantime. */
static inline void line_set_changed(struct cache *c, uint32_t line, unsigned op,
                                    struct mem_mask mask, const void *operand)
{
    static const uint64_t zeros[2] = {0, 0};
    bool is_changed = op != ATOMIC_OP_OR;
    for (unsigned offset = 0; offset < line_bytes(c) && !is_changed; offset += sizeof zeros)
        is_changed = memcmp((const char *)operand + offset, zeros, sizeof zeros) != 0;
    if (!is_changed)
        return;
    *line_mask(c, line) = mem_mask_or(*line_mask(c, line), mask);
    line_set_dirty(c, line);
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
            get_set(c, line / way_count(c))->filled |= (uint64_t)1 << (line % way_count(c));
    }
}

static inline void line_touch(struct cache *c, uint32_t set, uint32_t way)
{
    cache_replacement_ops(c)->touch(cache_replacement(c), set, way);
}

/* Claims a way for line `number`: one that is free, or whose line goes. The mask is empty, the
 * bytes are undefined. */
static inline void line_claim(struct cache *c, uint32_t set, uint32_t way, uint64_t number)
{
    struct cache_set *s = get_set(c, set);
    uint64_t bit = (uint64_t)1 << way;
    s->used |= bit;
    s->filled &= ~bit;
    ((uint8_t *)s->hints)[way] = (uint8_t)hash_hint(number);
    set_tags(c, s)[way] = ~number;
    struct mem_mask *mask = keeps_masks(c) ? line_mask(c, set * way_count(c) + way) : NULL;
    if (mask && (mask->word[0] | mask->word[1])) /* what was never set stays untouched */
        *mask = (struct mem_mask){{0, 0}};
    c->has_lines = true;
    cache_replacement_ops(c)->fill(cache_replacement(c), set, way);
}

/* Forgets the line, which is not dirty. */
static inline void line_drop(struct cache *c, uint32_t line)
{
    struct cache_set *set = get_set(c, line / way_count(c));
    uint64_t bit = (uint64_t)1 << (line % way_count(c));
    set->used &= ~bit;
    set->pending &= ~bit;
    set->filled &= ~bit;
    *line_tag(c, line) = CACHE_TAG_FREE;
}

/* Forgets a line, pending or not, whose bytes this cache will not know once a write has gone below.
 */
static inline void line_forget(struct cache *c, uint32_t line)
{
    if (line_is_pending(c, line))
        line_mshr(c, line)->line = CACHE_LINE_NONE;
    line_drop(c, line);
}

static void drop_all(struct cache *c)
{
    if (!c->has_lines)
        return;
    c->has_lines = false;
    for (uint32_t i = 0; i < cache_params(c)->sets; i++) {
        struct cache_set *set = get_set(c, i);
        if (!set->used) /* what was never used stays untouched */
            continue;
        for (uint64_t rest = set->used; rest; rest &= rest - 1)
            set_tags(c, set)[__builtin_ctzll(rest)] = CACHE_TAG_FREE;
        set->used = set->pending = set->filled = 0;
    }
}

/* Sends bytes of the line at `address` below, under the number `sent`. There must be room. Returns
 * the payload. */
static inline void *send_write(struct cache *c, uint32_t sent, uint64_t address,
                               struct cache_writer writer, struct mem_mask mask, const void *bytes)
{
    unsigned below = below_bytes(c), offset = offset_below(c, address);
    void *payload =
        cache_bottom_send_write(c, (uint16_t)(cache_params(c)->mshrs + sent), address - offset,
                                pid_below(c, writer.pid), writer.scope);
    begin_interval_below(c);
    mem_mask_store(mem_write_mask(payload, below), mem_mask_up(mask, offset), below);
    memcpy((char *)mem_write_data(payload, below) + offset, bytes, line_bytes(c));
    return payload;
}

/* Sends the dirty bytes of `line` below; the line is clean afterwards. Room below and a `sent`
 * entry must be there. */
static inline void line_write_back(struct cache *c, uint32_t line)
{
    uint32_t sent = sent_open(c, (struct cache_sent){.kind = SENT_WRITE_BACK});
    send_write(c, sent, line_number(c, line) * line_bytes(c),
               (struct cache_writer){0, SCOPE_WAVEFRONT}, *line_mask(c, line), line_data(c, line));
    line_set_clean(c, line);
    c->io.stats.writebacks++;
}

/* A way of `set` that is free, or whose line can go: it has been written back, which is
 * `was_written`, or was clean; line_claim() or line_drop() follows. CACHE_WAY_NONE: every line is
 * pending, or its bytes cannot be written back yet. */
static inline uint32_t make_room(struct cache *c, uint32_t set, bool *was_written)
{
    const struct cache_set *s = get_set(c, set);
    uint64_t unused = ~s->used & mem_mask_low_bits(way_count(c)),
             candidates = s->used & ~s->pending;
    if (unused)
        return (uint32_t)__builtin_ctzll(unused);
    if (!candidates)
        return CACHE_WAY_NONE;
    if (is_write_back(c) && c->dirty_count && !(index_pool_has(&c->free_sent) && has_room_below(c)))
        return CACHE_WAY_NONE;
    uint32_t way = cache_replacement_ops(c)->victim(cache_replacement(c), set, candidates);
    uint32_t line = set * way_count(c) + way;
    if (is_write_back(c) && c->dirty_count && line_is_dirty(c, line)) {
        line_write_back(c, line);
        *was_written = true;
    }
    c->io.stats.evictions++;
    return way;
}
