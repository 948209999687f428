/* The small steps that taking and touching are made of: finding a line, choosing a victim, what
 * loads and stores change. They touch tags and line state only, never messages or statistics. */
#include "base/number.h"

#include "sector_state.h"

/* The line with this number, or SECTOR_NONE. Eight ways are looked at in one step. */
static inline uint32_t sector_find(const struct sector_cache *c, uint32_t set, uint64_t number)
{
    const uint64_t bytes = 0x0101010101010101u, *hints = sector_hints_at(c, set);
    uint32_t first = set * sector_ways(c);
    const uint64_t *tags = sector_tag_at(c, first);
    for (uint32_t word = 0; word * 8 < sector_ways(c); word++) {
        /* The top bit of each byte that is equal; sometimes of the one above it too. */
        uint64_t differ = hints[word] ^ sector_hint(number) * bytes,
                 equal = (differ - bytes) & ~differ & bytes << 7;
        for (; equal; equal &= equal - 1) {
            uint32_t way = word * 8 + (uint32_t)__builtin_ctzll(equal) / 8;
            if (way < sector_ways(c) && tags[way] == number)
                return first + way;
        }
    }
    return SECTOR_NONE;
}

static inline void sector_mark_used(struct sector_cache *c, uint32_t line)
{
    sector_cache_replacement_ops(c)->touch(sector_cache_replacement(c), line / sector_ways(c),
                                           line % sector_ways(c));
}

/* The line of `set` that a new one would get: one not in use, or the one to be replaced, which
 * sector_drop() must follow. SECTOR_NONE: all have sectors under way. */
static inline uint32_t sector_victim(struct sector_cache *c, uint32_t set, bool *in_use)
{
    const struct sector_set *s = sector_set_at(c, set);
    uint64_t all = c->ways_used >= 64 ? UINT64_MAX : ((uint64_t)1 << c->ways_used) - 1,
             unused = all & ~s->used_ways, candidates = s->used_ways & ~s->pending_ways;
    *in_use = !unused;
    if (unused)
        return set * sector_ways(c) + (uint32_t)__builtin_ctzll(unused);
    if (!candidates)
        return SECTOR_NONE;
    return set * sector_ways(c)
           + sector_cache_replacement_ops(c)->victim(sector_cache_replacement(c), set, candidates);
}

static inline void sector_set_dirty(struct sector_cache *c, struct sector_line *l, unsigned dirty)
{
    c->dirty_lines += (dirty != 0) - (l->dirty != 0);
    l->dirty = (uint8_t)dirty;
}

/* Forgets a line without pending sectors, with whatever is dirty in it. */
static inline void sector_drop(struct sector_cache *c, uint32_t line)
{
    sector_set_dirty(c, sector_line_at(c, line), 0);
    sector_set_at(c, line / sector_ways(c))->used_ways &= ~((uint64_t)1 << line % sector_ways(c));
    *sector_line_at(c, line) = (struct sector_line){0};
    *sector_tag_at(c, line) = SECTOR_FREE;
}

/* Gives a line that is not in use to `number`. */
static inline void sector_claim(struct sector_cache *c, uint32_t line, uint64_t number)
{
    uint32_t set = line / sector_ways(c), way = line % sector_ways(c);
    sector_set_at(c, set)->used_ways |= (uint64_t)1 << way;
    *sector_tag_at(c, line) = number;
    ((uint8_t *)sector_hints_at(c, set))[way] = (uint8_t)sector_hint(number);
    c->has_lines = true;
    sector_cache_replacement_ops(c)->fill(sector_cache_replacement(c), set, way);
}

/* A store to a line that is here, of `sectors`, those in `partial` in part. What a fill will
 * complete is left to it. */
static inline void sector_write(struct sector_cache *c, uint32_t line, unsigned sectors,
                                unsigned partial)
{
    struct sector_line *l = sector_line_at(c, line);
    l->present |= (uint8_t)(sectors & ~partial);
    l->partial |= (uint8_t)(sectors & partial);
    l->partial &= (uint8_t)~l->present;
    if (sector_writes_back(c))
        sector_set_dirty(c, l, l->dirty | sectors);
}

/* Sectors have come from below. */
static inline void sector_install(struct sector_cache *c, uint32_t line, unsigned sectors)
{
    struct sector_line *l = sector_line_at(c, line);
    struct sector_set *s = sector_set_at(c, line / sector_ways(c));
    l->present |= (uint8_t)sectors;
    l->partial &= (uint8_t)~sectors;
    l->pending &= (uint8_t)~sectors;
    if (!l->pending)
        s->pending_ways &= ~((uint64_t)1 << line % sector_ways(c));
}

static inline void sector_mark_pending(struct sector_cache *c, uint32_t line, unsigned sectors)
{
    sector_line_at(c, line)->pending |= (uint8_t)sectors;
    sector_set_at(c, line / sector_ways(c))->pending_ways |= (uint64_t)1 << line % sector_ways(c);
}

/* Drops the line's bytes of these sectors; dirty bytes of its other sectors stay. */
static inline void sector_forget(struct sector_cache *c, uint32_t line, unsigned sectors)
{
    struct sector_line *l = sector_line_at(c, line);
    l->present &= (uint8_t)~sectors;
    l->partial &= (uint8_t)~sectors;
    sector_set_dirty(c, l, l->dirty & ~sectors);
}

/* All lines; nothing must be pending. */
static inline void sector_drop_all(struct sector_cache *c)
{
    uint32_t lines = sector_cache_params(c)->sets * sector_ways(c);
    if (!c->has_lines)
        return;
    for (uint32_t i = 0; i < lines; i++)
        if (*sector_tag_at(c, i) != SECTOR_FREE)
            sector_drop(c, i);
    c->has_lines = false;
}

static inline void sector_carve(struct sector_cache *c, uint64_t shared_bytes)
{
    uint64_t way = sector_cache_params(c)->sets * SECTOR_LINE, taken = divide_up(shared_bytes, way);
    c->ways_used = taken < sector_ways(c) ? sector_ways(c) - (uint32_t)taken : 0;
}
