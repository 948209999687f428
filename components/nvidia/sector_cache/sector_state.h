/* State of a sector cache, and the functions that its files call in one another.
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
 * sector_lines.c changes tags and line state only. sector_request.c adds messages, MSHRs and
 * statistics for a request in simulated time; sector_touch.c does without, to warm a cache outside
 * of it; sector_cache.c is the cycle. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_SECTOR_CACHE_SECTOR_STATE_H
#define HEDDLE_COMPONENTS_NVIDIA_SECTOR_CACHE_SECTOR_STATE_H

#include "sector_cache.gen.h"
#include "sector_mem.gen.h"

#include "base/hash.h"
#include "base/number.h"
#include "components/memory/cache/replacement_policy.h"
#include "components/protocols/sector_mem/sector_map.h"
#include "components/sampling/warmup.h"
#include "runtime/engine/index_pool.h"

#define SECTOR_FREE UINT64_MAX /* tag of a line that is not in use */
#define SECTOR_NONE UINT32_MAX /* no way, no MSHR, no target */

struct sector_line {
    uint8_t present, partial, dirty, pending;
};

struct sector_set {
    uint64_t used_ways;
    uint64_t pending_ways; /* ways whose lines have pending sectors */
};

/* A load or atomic that waits. */
struct sector_target {
    uint32_t next;
    uint32_t count; /* atomics: elements */
    uint16_t tag;
    uint8_t sectors;
    uint8_t missing_sectors;
    bool is_atomic;
    uint8_t reserved[3];
};

struct sector_mshr {
    uint64_t number; /* number of the line */
    uint32_t next;   /* in the chain */
    uint32_t first, last;
    uint16_t targets;
    uint16_t waiting_targets[4]; /* targets that wait for a sector */
    uint8_t pending_sectors;
    uint8_t ready_sectors; /* sectors that have come and are being handed to waiting requests */
    uint8_t is_used;
};

/* The form in which the answer to a request that was sent below with a tag of its own is passed
 * on. */
enum sector_sent_kind { SECTOR_SENT_DATA, SECTOR_SENT_DONE, SECTOR_SENT_WRITE_BACK };
struct sector_sent {
    uint16_t tag;
    uint8_t kind;
    uint8_t answers_left;
    uint8_t sectors; /* sectors that have come */
};

struct sector_queue {
    uint32_t first, count;
};

/* A message that goes below. */
struct sector_below {
    uint64_t address;
    uint32_t count; /* atomics: elements */
    uint16_t tag;
    uint8_t kind; /* enum sector_mem_request_kind */
    uint8_t sectors, partial;
    bool bypass;
};

enum sector_job { SECTOR_JOB_NONE, SECTOR_JOB_FLUSH, SECTOR_JOB_INVALIDATE, SECTOR_JOB_CARVE };

/* Sectors that a request which touched a cache would have sent below: of its own line, and of a
 * line that was replaced. */
struct sector_touched {
    uint64_t evicted; /* address of the line */
    uint8_t evicted_sectors, evicted_partial;
    uint8_t load;
    uint8_t store, partial;
    uint8_t atomic;
    uint8_t fill;
};

struct sector_cache {
    struct sector_cache_io io;
    struct sector_hash hash;
    /* Arena offsets. */
    uint32_t sets_at;  /* struct sector_set [sets] */
    uint32_t hints_at; /* uint64_t [sets][(ways + 7) / 8]: a byte of hash of each way's tag */
    uint32_t tags_at;  /* uint64_t [sets][ways] */
    uint32_t lines_at; /* struct sector_line [sets][ways] */
    uint32_t mshrs_at;
    uint32_t chains_at; /* uint32_t [chain_mask + 1]: first MSHR */
    uint32_t targets_at;
    uint32_t sent_at;
    uint32_t banks_at;       /* uint64_t: cycle from which each is free */
    uint32_t below_at;       /* struct sector_below [miss_queue]: sectors that wait to go below */
    uint32_t bank_below_at;  /* struct sector_below [banks][latency]: sectors yet to join `below` */
    uint32_t bank_queues_at; /* struct sector_queue [banks] */
    /* uint32_t [ready_mask + 1]: MSHR * 4 + sector of what has come and is awaited. */
    uint32_t ready_at;
    uint32_t chain_mask, ready_mask;
    uint32_t mshr_count;
    struct sector_queue misses;
    uint32_t ready_first, ready_count;
    uint32_t banked;        /* sectors in the queues of banks */
    uint32_t waited;        /* sectors for which a target waits */
    uint64_t answers_cycle; /* the cycle in which `answers_given` sectors of misses were answered */
    uint32_t answers_given;
    struct index_pool free_mshrs, free_targets, free_sent;
    uint32_t ways_used;            /* the others are shared memory */
    uint32_t dirty_lines;          /* with at least one dirty sector */
    uint32_t unanswered;           /* requests taken and not answered */
    uint32_t flushed;              /* lines that a flush has passed */
    uint8_t job;                   /* enum sector_job */
    bool has_lines;                /* False: no line was claimed since all were dropped */
    bool head_conflict_is_counted; /* the oldest request has been counted in bank_conflicts */
    bool head_fail_is_counted;     /* the oldest request has been counted in reservation_fails */
    uint64_t blocked_since;        /* 1 + cycle; 0: not blocked */
};

static inline uint32_t sector_ways(const struct sector_cache *c)
{
    return sector_cache_params(c)->ways;
}

static inline bool sector_writes_back(const struct sector_cache *c)
{
    return sector_cache_params(c)->write == SECTOR_CACHE_WRITE_BACK;
}

static inline struct sector_set *sector_set_at(const struct sector_cache *c, uint32_t set)
{
    return arena_at(struct sector_set, c->sets_at) + set;
}

/* Lines are numbered through: set * ways + way. */
static inline struct sector_line *sector_line_at(const struct sector_cache *c, uint32_t line)
{
    return arena_at(struct sector_line, c->lines_at) + line;
}

static inline uint64_t *sector_tag_at(const struct sector_cache *c, uint32_t line)
{
    return arena_at(uint64_t, c->tags_at) + line;
}

static inline struct sector_mshr *sector_mshr_at(const struct sector_cache *c, uint32_t i)
{
    return arena_at(struct sector_mshr, c->mshrs_at) + i;
}

static inline struct sector_target *sector_target_at(const struct sector_cache *c, uint32_t i)
{
    return arena_at(struct sector_target, c->targets_at) + i;
}

/* Digit n of the number is how many bits n has. */
static inline uint32_t sector_count(unsigned sectors)
{
    return 0x4332322132212110u >> 4 * sectors & 7;
}

static inline uint32_t sector_set_of(const struct sector_cache *c, uint64_t number)
{
    const struct sector_cache_params *params = sector_cache_params(c);
    if (params->slices > 1)
        number =
            sector_local(number * SECTOR_LINE, params->interleave, params->slices) / SECTOR_LINE;
    return sector_hash(&c->hash, number);
}

static inline uint32_t sector_hint_words(const struct sector_cache *c)
{
    return divide_up(sector_ways(c), 8);
}

static inline uint64_t *sector_hints_at(const struct sector_cache *c, uint32_t set)
{
    return arena_at(uint64_t, c->hints_at) + (size_t)set * sector_hint_words(c);
}

static inline uint64_t sector_hint(uint64_t number)
{
    return hash_multiply(number) >> 56;
}

/* Sectors that a store finds: written before or read, and not on their way for the first time. */
static inline unsigned sector_valid(const struct sector_line *l)
{
    return l->present | l->partial;
}

/* ---- sector_lines.c ---- */

static uint32_t sector_find(const struct sector_cache *c, uint32_t set, uint64_t number);
static void sector_mark_used(struct sector_cache *c, uint32_t line);
static uint32_t sector_victim(struct sector_cache *c, uint32_t set, bool *in_use);
static void sector_set_dirty(struct sector_cache *c, struct sector_line *l, unsigned dirty);
static void sector_drop(struct sector_cache *c, uint32_t line);
static void sector_claim(struct sector_cache *c, uint32_t line, uint64_t number);
static void sector_write(struct sector_cache *c, uint32_t line, unsigned sectors, unsigned partial);
static void sector_install(struct sector_cache *c, uint32_t line, unsigned sectors);
static void sector_mark_pending(struct sector_cache *c, uint32_t line, unsigned sectors);
static void sector_forget(struct sector_cache *c, uint32_t line, unsigned sectors);
static void sector_drop_all(struct sector_cache *c);
static void sector_carve(struct sector_cache *c, uint64_t shared_bytes);

/* ---- sector_request.c ---- */

static void mshr_close(struct sector_cache *c, uint32_t number);
static bool can_send(struct sector_cache *c, uint64_t number, unsigned sectors);
static bool send_waiting(struct sector_cache *c);
static void write_back(struct sector_cache *c, uint32_t line);
static uint32_t make_room(struct sector_cache *c, uint32_t set);
static void atomic_happens(struct sector_cache *c, uint32_t line, uint64_t number, unsigned sectors,
                           uint32_t count);
static bool accept_request(struct sector_cache *c, const struct sector_mem_request *m);

/* ---- sector_touch.c ---- */

static struct sector_touched sector_cache_touch(struct sector_cache *c,
                                                enum sector_mem_request_kind kind, uint64_t address,
                                                unsigned sectors, unsigned partial);
static void sector_cache_clear(struct sector_cache *c);

/* ---- sector_warm.c ---- */

static const struct warm_ops sector_cache_warm_ops;

#endif
