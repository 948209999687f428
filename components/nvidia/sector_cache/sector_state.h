/* State of a sector cache, and the small steps everything else is made of: finding lines, choosing
 * victims, what loads and stores change.
 *
 * A line in use has a tag and, for each of its four sectors, four bits:
 *
 *     present  all bytes are here
 *     partial  some bytes were written here and the others are not here; never present too
 *     dirty    memory below does not know what was written; a subset of present and partial
 *     pending  asked for below: the line has an MSHR and stays
 *
 * A sector can be pending and present (it was overwritten meanwhile) or partial. Under
 * `allocate = miss` a line gets its way when it is asked for; otherwise it may have an MSHR and no
 * way. So MSHRs are found by the number of the line, through a table of chains.
 *
 * The functions here change tags and line state only. Those of sector_take.h add messages, MSHRs
 * and statistics; sector_touch.h does without, for warming a cache outside of simulated time. */
#ifndef HEDDLE_COMPONENTS_SECTOR_STATE_H
#define HEDDLE_COMPONENTS_SECTOR_STATE_H

#include "components/memory/cache/replacement_policy.h"
#include "components/protocols/mem/index_pool.h"
#include "components/protocols/sector_mem/sector_map.h"
#include "sector_cache.gen.h"

#define SECTOR_FREE UINT64_MAX /* tag of a line that is not in use */
#define SECTOR_NONE UINT32_MAX /* no way, no MSHR, no target */

struct sector_line {
    uint8_t present, partial, dirty, pending;
};

struct sector_set {
    uint64_t used; /* ways */
    uint64_t busy; /* ways whose lines have pending sectors */
};

/* A load or atomic that waits. */
struct sector_target {
    uint32_t next;
    uint32_t count; /* atomics: elements */
    uint16_t tag;
    uint8_t sectors;
    uint8_t need; /* that have not come */
    uint8_t atomic;
    uint8_t reserved[3];
};

struct sector_mshr {
    uint64_t number; /* of the line */
    uint32_t next;   /* in the chain */
    uint32_t first, last;
    uint16_t targets;
    uint8_t pending;
    uint8_t used;
};

/* What was sent below with a tag of its own, and what its answer is passed on as. */
enum sector_sent_kind { SECTOR_SENT_DATA, SECTOR_SENT_DONE, SECTOR_SENT_WRITE_BACK };
struct sector_sent {
    uint16_t tag;
    uint8_t kind;
};

enum sector_job { SECTOR_JOB_NONE, SECTOR_JOB_FLUSH, SECTOR_JOB_INVALIDATE, SECTOR_JOB_CARVE };

struct sector_cache {
    struct sector_cache_io io;
    struct sector_hash hash;
    /* Arena offsets. */
    uint32_t sets;  /* struct sector_set [sets] */
    uint32_t hints; /* uint64_t [sets][(ways + 7) / 8]: a byte of hash of each way's tag */
    uint32_t tags;  /* uint64_t [sets][ways] */
    uint32_t lines; /* struct sector_line [sets][ways] */
    uint32_t mshrs;
    uint32_t chains; /* uint32_t [chain_mask + 1]: first MSHR */
    uint32_t targets;
    uint32_t sent;
    uint32_t banks; /* uint64_t: cycle from which each is free */
    uint32_t chain_mask;
    uint32_t mshr_count;
    struct index_pool free_mshrs, free_targets, free_sent;
    uint32_t ways_used;   /* the others are shared memory */
    uint32_t dirty_lines; /* with at least one dirty sector */
    uint32_t unanswered;  /* requests taken and not answered */
    uint32_t flushed;     /* lines that a flush has passed */
    uint8_t job;          /* enum sector_job */
    bool any_lines;       /* false: none was claimed since all were dropped */
    bool installed;       /* the oldest answer from below is in its line, its targets are served */
    bool head_conflicted; /* the oldest request has been counted: bank_conflicts, */
    bool head_failed;     /* reservation_fails */
    uint64_t blocked_since; /* 1 + cycle; 0: not blocked */
};

static inline uint32_t sector_ways(const struct sector_cache *c)
{
    return (uint32_t)sector_cache_params(c)->ways;
}

static inline bool sector_writes_back(const struct sector_cache *c)
{
    return sector_cache_params(c)->write == SECTOR_CACHE_WRITE_BACK;
}

static inline struct sector_set *sector_set_at(const struct sector_cache *c, uint32_t set)
{
    return arena_at(struct sector_set, c->sets) + set;
}

/* Lines are numbered through: set * ways + way. */
static inline struct sector_line *sector_line_at(const struct sector_cache *c, uint32_t line)
{
    return arena_at(struct sector_line, c->lines) + line;
}

static inline uint64_t *sector_tag_at(const struct sector_cache *c, uint32_t line)
{
    return arena_at(uint64_t, c->tags) + line;
}

static inline struct sector_mshr *sector_mshr_at(const struct sector_cache *c, uint32_t i)
{
    return arena_at(struct sector_mshr, c->mshrs) + i;
}

static inline struct sector_target *sector_target_at(const struct sector_cache *c, uint32_t i)
{
    return arena_at(struct sector_target, c->targets) + i;
}

static inline uint32_t sector_count(unsigned sectors)
{
    return (sectors & 1) + (sectors >> 1 & 1) + (sectors >> 2 & 1) + (sectors >> 3 & 1);
}

static inline uint32_t sector_set_of(const struct sector_cache *c, uint64_t number)
{
    const struct sector_cache_params *k = sector_cache_params(c);
    if (k->slices > 1)
        number = sector_local(number * SECTOR_LINE, k->interleave, k->slices) / SECTOR_LINE;
    return sector_hash(&c->hash, number);
}

static inline uint32_t sector_hint_words(const struct sector_cache *c)
{
    return (sector_ways(c) + 7) / 8;
}

static inline uint64_t *sector_hints_at(const struct sector_cache *c, uint32_t set)
{
    return arena_at(uint64_t, c->hints) + (size_t)set * sector_hint_words(c);
}

static inline uint64_t sector_hint(uint64_t number)
{
    return number * 0x9e3779b97f4a7c15u >> 56;
}

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

static inline void sector_touched(struct sector_cache *c, uint32_t line)
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
             unused = all & ~s->used, candidates = s->used & ~s->busy;
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
    sector_set_at(c, line / sector_ways(c))->used &= ~((uint64_t)1 << line % sector_ways(c));
    *sector_line_at(c, line) = (struct sector_line){0};
    *sector_tag_at(c, line) = SECTOR_FREE;
}

/* Gives a line that is not in use to `number`. */
static inline void sector_claim(struct sector_cache *c, uint32_t line, uint64_t number)
{
    uint32_t set = line / sector_ways(c), way = line % sector_ways(c);
    sector_set_at(c, set)->used |= (uint64_t)1 << way;
    *sector_tag_at(c, line) = number;
    ((uint8_t *)sector_hints_at(c, set))[way] = (uint8_t)sector_hint(number);
    c->any_lines = true;
    sector_cache_replacement_ops(c)->fill(sector_cache_replacement(c), set, way);
}

/* Sectors that a store finds: written before or read, and not on their way for the first time. */
static inline unsigned sector_known(const struct sector_line *l)
{
    return l->present | l->partial;
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
        s->busy &= ~((uint64_t)1 << line % sector_ways(c));
}

static inline void sector_mark_pending(struct sector_cache *c, uint32_t line, unsigned sectors)
{
    sector_line_at(c, line)->pending |= (uint8_t)sectors;
    sector_set_at(c, line / sector_ways(c))->busy |= (uint64_t)1 << line % sector_ways(c);
}

/* What stands here of the sectors is worth nothing any more; what is dirty of the others stays. */
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
    uint32_t lines = (uint32_t)sector_cache_params(c)->sets * sector_ways(c);
    for (uint32_t i = 0; i < lines && c->any_lines; i++)
        if (*sector_tag_at(c, i) != SECTOR_FREE)
            sector_drop(c, i);
    c->any_lines = false;
}

static inline void sector_carve(struct sector_cache *c, uint64_t shared_bytes)
{
    uint64_t way = (uint64_t)sector_cache_params(c)->sets * SECTOR_LINE,
             taken = (shared_bytes + way - 1) / way;
    c->ways_used = taken < sector_ways(c) ? sector_ways(c) - (uint32_t)taken : 0;
}

#endif
