/* State of a cache, and the small steps everything else is made of: finding lines, choosing
 * victims, answering.
 *
 * Tags stand apart from the bytes. A line is free (tag LINE_FREE), present, or pending (its bytes
 * have been asked for; the way is taken when the request goes out, so a line is found by its tag
 * whatever its state). A line that is not `filled` holds only the bytes of its mask. In
 * a write-back cache the mask names the dirty bytes, filled or not, so a write miss needs no fetch;
 * in a write-through one it names the bytes that earlier writes left.
 *
 * Requests to one line take effect in the order in which they were taken: what comes to a pending
 * line is queued at its MSHR (write-back), or makes the line's MSHR `detached` (other policies):
 * the answer still serves those who waited, but the line is forgotten, and the next read asks
 * again, behind the write that went below meanwhile. So a store that follows a load to the same
 * place can never be seen by that load, nor missed by the next.
 *
 * An answer is formed when the request takes effect and is sent at once into the ring of answers,
 * in which it spends `latency` - 1 cycles (plus the translation's) before it leaves, so that with
 * connections of one cycle a hit takes latency + 1 from request sent to answer seen. */
#ifndef HEDDLE_COMPONENTS_CACHE_STATE_H
#define HEDDLE_COMPONENTS_CACHE_STATE_H

#include "components/memory/cache/address_translation.h"
#include "components/memory/cache/replacement_policy.h"
#include "components/protocols/mem/index_pool.h"
#include "components/protocols/mem/mem_mask.h"
#include "components/sampling/residency.h"
#include "components/sampling/message_note.h"

#define LINE_FREE   UINT64_MAX
#define LINE_NONE   UINT32_MAX
#define WAY_NONE    UINT32_MAX
#define PARKED_NONE UINT32_MAX
#define HINT_WAYS   8u /* of a word */

/* What finding and replacing need to know of a set: one or a few lines of the host's caches. Behind
 * it stand a byte for each way, a hash of its tag, so that 16 ways are searched at once; then the
 * tags, uint64_t [ways]. Bit w of the masks is way w. */
struct cache_set {
    uint64_t used;    /* lines not free */
    uint64_t pending; /* lines whose bytes have been asked for */
    uint64_t filled;  /* lines of which all bytes are here, unless they are pending */
    uint64_t hints[];
};

/* A request that waits at an MSHR. */
struct cache_target {
    uint32_t next;
    uint32_t stored; /* writes and atomics: slot of mask and bytes */
    uint16_t tag;
    uint8_t kind; /* enum mem_request_kind */
    uint8_t op;
    uint8_t size;
    bool returns;
    uint16_t lead;            /* of the request */
    struct message_note note; /* up to when it began to wait here */
    uint64_t since;           /* cycle in which it did */
};

struct cache_mshr {
    uint64_t address;
    uint32_t line;        /* LINE_NONE: detached */
    uint32_t first, last; /* targets behind the first one */
    uint16_t targets;     /* that wait */
    uint8_t used;
    bool own_bytes; /* not all bytes of the line are those that come from below; write-back only */
    uint8_t installed; /* the answer has been merged into the line, its targets are being served */
    struct cache_target head; /* the first one: nearly always the only one */
};

/* Mask, then operands, then comparands of a queued write or atomic. */
struct cache_stored {
    struct mem_mask mask;
    uint8_t bytes[2][MEM_LINE_MAX];
};

/* A write, atomic or coherent read sent below, by the tag of its answer; SENT_ATOMIC has bytes that
 * somebody waits for. */
enum cache_sent_kind { SENT_WRITE, SENT_WRITE_BACK, SENT_ATOMIC, SENT_ATOMIC_BLIND };
struct cache_sent {
    uint16_t tag;
    uint8_t kind;
    struct message_note note;
};

/* An answer that made room: what it lost, and with leads how much earlier it would have come. */
struct cache_room {
    struct message_note lost;
    uint64_t lead;
};

/* A request whose page has been asked for, or that waits to be replayed after it. */
struct cache_parked {
    struct mem_request request;
    uint64_t physical;
    uint32_t next;
    bool writable;
    struct message_note note;
    uint64_t came; /* cycle */
};

struct cache_queue {
    uint32_t first, last; /* PARKED_NONE: empty */
};

/* Of a page that has been asked for: somebody wants to write there who was told that he may not;
 * and that was forgotten since, so the answer may be an old one and the page is asked for once
 * more. */
enum { PAGE_FAULT = 1, PAGE_AGAIN = 2 };

/* Why the oldest request could not be taken: tells whether it is worth trying again. */
enum cache_hold { HOLD_NONE, HOLD_ROOM_BELOW, HOLD_MSHR, HOLD_RESPONSE, HOLD_OTHER };

enum cache_job { JOB_NONE, JOB_FLUSH, JOB_INVALIDATE, JOB_FENCE, JOB_PAUSE, JOB_PAUSED };

struct cache {
    struct cache_io io;
    /* Arena offsets. */
    uint32_t sets;  /* struct cache_set [sets], of set_bytes() each */
    uint32_t lines; /* uint16_t [lines]: MSHR of a pending line */
    uint32_t masks; /* struct mem_mask [lines]; write-back and write-through only */
    uint32_t data;  /* [lines][line] */
    uint32_t dirty; /* bitmap of lines */
    uint32_t mshrs;
    uint32_t targets;
    uint32_t stored;
    uint32_t sent;
    uint32_t parked;
    uint32_t parked_data;
    uint32_t pages;   /* struct cache_queue by number of the page asked for */
    uint32_t faults;  /* uint8_t, the same: PAGE_FAULT, PAGE_AGAIN */
    uint32_t faulted; /* requests that wait for a page to become writable */
    uint32_t payload_stride;
    struct index_pool free_mshrs, free_targets, free_stored, free_sent, free_parked;
    uint32_t dirty_count;
    uint32_t unanswered; /* requests taken and not answered */
    struct cache_queue replay;
    uint8_t job; /* enum cache_job */
    bool job_write_back, job_drop;
    bool job_pass; /* the fence has yet to be sent below */
    bool head_translated;
    bool head_faults;  /* the next request writes to a page that is known as read-only */
    bool head_missed;  /* the next request is a read of a line that is not here, */
    uint32_t head_set; /* in this set, and could not be asked for: only takes bring lines */
    bool any_lines;    /* false: none has been claimed since all were dropped */
    uint8_t hold;      /* enum cache_hold */
    uint64_t head_physical;
    uint64_t blocked_since;   /* 1 + cycle, 0: not blocked */
    bool notes;               /* they are kept: in runs with chosen kernels */
    struct message_note note; /* of the request that is being taken or answered, else zero */
    uint16_t lead;            /* of the request that is being taken */
    bool leads;               /* they are kept: re-timing knows what is spared (components/sampling/residency.h) */
    /* Cycle in which the line would have come whose answer is being worked on. */
    uint64_t re_timed;
    struct note_server below;
    /* Of the answer from below that made room last, and in which cycle; the same when requests
     * that were held could go on. */
    struct cache_room freed, went_on;
    uint64_t freed_at, went_on_at;
};

static inline unsigned line_bytes(const struct cache *c)
{
    return (unsigned)cache_params(c)->line;
}

static inline unsigned way_count(const struct cache *c)
{
    return (unsigned)cache_params(c)->ways;
}

/* Does it keep lines from one kernel to the next? The first level does not. */
static inline bool keeps_lines(const struct cache *c)
{
    return !cache_translation_ops(c)
           && (cache_params(c)->write == CACHE_WRITE_BACK || cache_params(c)->shared);
}

static inline bool is_write_back(const struct cache *c)
{
    return cache_params(c)->write == CACHE_WRITE_BACK;
}

static inline bool keeps_masks(const struct cache *c)
{
    return cache_params(c)->write == CACHE_WRITE_BACK
           || cache_params(c)->write == CACHE_WRITE_THROUGH;
}

static inline char *line_data(const struct cache *c, uint32_t line)
{
    return arena_at(char, c->data) + (size_t)line * line_bytes(c);
}

static inline struct mem_mask *line_mask(const struct cache *c, uint32_t line)
{
    return arena_at(struct mem_mask, c->masks) + line;
}

static inline struct cache_mshr *mshr_at(const struct cache *c, uint32_t i)
{
    return arena_at(struct cache_mshr, c->mshrs) + i;
}

/* `folded`: exclusive or of all groups of index bits, so that a bank of an interleaved memory,
 * whose addresses agree in some bits, still uses all its sets. */
static inline uint32_t set_of(const struct cache *c, uint64_t number)
{
    uint64_t sets = (uint64_t)cache_params(c)->sets;
    if (sets == 1)
        return 0;
    if (cache_params(c)->index == CACHE_INDEX_FOLDED) {
        unsigned bits = 64 - (unsigned)__builtin_clzll(sets - 1);
        for (unsigned shift = bits; shift < 64; shift *= 2)
            number ^= number >> shift;
    }
    return (uint32_t)((sets & (sets - 1)) == 0 ? number & (sets - 1) : number % sets);
}

static inline unsigned hint_words(const struct cache *c)
{
    return (way_count(c) + HINT_WAYS - 1) / HINT_WAYS;
}

/* A multiple of the host's cache line. */
static inline size_t set_bytes(const struct cache *c)
{
    size_t words = hint_words(c) + way_count(c);
    return (sizeof(struct cache_set) + words * sizeof(uint64_t) + 63) / 64 * 64;
}

static inline struct cache_set *set_at(const struct cache *c, uint32_t set)
{
    return (struct cache_set *)(void *)(arena_at(char, c->sets) + set * set_bytes(c));
}

static inline uint64_t *set_tags(const struct cache *c, struct cache_set *s)
{
    return s->hints + hint_words(c);
}

/* Lines are numbered through: set * ways + way. */
static inline uint64_t *line_tag(const struct cache *c, uint32_t line)
{
    return set_tags(c, set_at(c, line / way_count(c))) + line % way_count(c);
}

static inline bool line_is_pending(const struct cache *c, uint32_t line)
{
    return set_at(c, line / way_count(c))->pending >> (line % way_count(c)) & 1;
}

static inline bool line_is_filled(const struct cache *c, uint32_t line)
{
    return set_at(c, line / way_count(c))->filled >> (line % way_count(c)) & 1;
}

/* Of a pending line. */
static inline struct cache_mshr *line_mshr(const struct cache *c, uint32_t line)
{
    return mshr_at(c, arena_at(uint16_t, c->lines)[line]);
}

static inline uint64_t hint_of(uint64_t number)
{
    return number * 0x9e3779b97f4a7c15u >> 56;
}

typedef uint8_t cache_bytes __attribute__((vector_size(16)));
#ifdef __SSE2__
typedef char cache_signs __attribute__((vector_size(16)));
#endif

/* Bit i: byte i of the 16 at `bytes`, or of their first half, is `hint`. The other half may say
 * anything. */
static inline uint32_t hints_equal(const uint64_t *bytes, uint8_t hint, bool half)
{
    cache_bytes all = {0}, one = {0};
    memcpy(&all, bytes, half ? sizeof all / 2 : sizeof all);
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

/* The way of the line with this number, or WAY_NONE. */
static inline uint32_t way_find(const struct cache *c, struct cache_set *s, uint64_t number)
{
    const uint64_t *tags = set_tags(c, s);
    uint8_t hint = (uint8_t)hint_of(number);
    for (uint32_t first = 0; first < way_count(c); first += HINT_WAYS * 2) {
        bool half = way_count(c) - first <= HINT_WAYS;
        for (uint32_t equal = hints_equal(s->hints + first / HINT_WAYS, hint, half); equal;
             equal &= equal - 1) {
            uint32_t way = first + (uint32_t)__builtin_ctz(equal);
            if (way < way_count(c) && tags[way] == number)
                return way;
        }
    }
    return WAY_NONE;
}

/* The line with this number, or LINE_NONE. */
static inline uint32_t line_find(const struct cache *c, uint32_t set, uint64_t number)
{
    uint32_t way = way_find(c, set_at(c, set), number);
    return way == WAY_NONE ? LINE_NONE : set * way_count(c) + way;
}

static inline bool line_is_dirty(const struct cache *c, uint32_t line)
{
    return arena_at(uint64_t, c->dirty)[line / 64] >> (line % 64) & 1;
}

static inline void line_set_dirty(struct cache *c, uint32_t line)
{
    uint64_t *word = &arena_at(uint64_t, c->dirty)[line / 64], bit = (uint64_t)1 << (line % 64);
    c->dirty_count += !(*word & bit);
    *word |= bit;
}

static inline void line_set_clean(struct cache *c, uint32_t line)
{
    arena_at(uint64_t, c->dirty)[line / 64] &= ~((uint64_t)1 << (line % 64));
    c->dirty_count--;
}

/* The line after an atomic on the bytes of `mask`. OR with zeros is how programs read past caches,
 * which must not make bytes dirty: written back later, they would undo what was written below in
 * the meantime. */
static inline void line_set_changed(struct cache *c, uint32_t line, unsigned op,
                                    struct mem_mask mask, const void *operand)
{
    static const uint64_t zeros[2] = {0, 0};
    bool changed = op != ATOMIC_OP_OR;
    for (unsigned at = 0; at < line_bytes(c) && !changed; at += sizeof zeros)
        changed = memcmp((const char *)operand + at, zeros, sizeof zeros) != 0;
    if (!changed)
        return;
    *line_mask(c, line) = mem_mask_or(*line_mask(c, line), mask);
    line_set_dirty(c, line);
}

/* Forgets the line, which is not dirty. */
static inline void line_drop(struct cache *c, uint32_t line)
{
    struct cache_set *set = set_at(c, line / way_count(c));
    uint64_t bit = (uint64_t)1 << (line % way_count(c));
    set->used &= ~bit;
    set->pending &= ~bit;
    set->filled &= ~bit;
    *line_tag(c, line) = LINE_FREE;
}

static inline void line_touch(struct cache *c, uint32_t set, uint32_t way)
{
    cache_replacement_ops(c)->touch(cache_replacement(c), set, way);
}

/* Takes a way for line `number`: one that is free, or whose line goes. The mask is empty, the bytes
 * are undefined. */
static inline void line_claim(struct cache *c, uint32_t set, uint32_t way, uint64_t number)
{
    struct cache_set *s = set_at(c, set);
    uint64_t bit = (uint64_t)1 << way;
    s->used |= bit;
    s->filled &= ~bit;
    ((uint8_t *)s->hints)[way] = (uint8_t)hint_of(number);
    set_tags(c, s)[way] = number;
    if (keeps_masks(c))
        *line_mask(c, set * way_count(c) + way) = (struct mem_mask){{0, 0}};
    c->any_lines = true;
    cache_replacement_ops(c)->fill(cache_replacement(c), set, way);
}

/* Why something cannot be taken; returns false, for the caller to pass on. */
static inline bool hold(struct cache *c, enum cache_hold why)
{
    c->hold = (uint8_t)why;
    return false;
}

static inline void note_blocked(struct cache *c)
{
    if (!c->blocked_since)
        c->blocked_since = component_tick_now(&c->io.base) + 1;
}

/* How much earlier the request that is being taken would have gone on from here. */
static inline uint64_t lead_here(const struct cache *c)
{
    int64_t lead = c->lead + c->note.line + c->note.page;
    return lead > 0 ? (uint64_t)lead : 0;
}

static inline void note_freed(struct cache *c, struct message_note lost, uint16_t lead)
{
    int64_t all = lead + lost.line + lost.page;
    c->freed = (struct cache_room){lost, all > 0 ? (uint64_t)all : 0};
    c->freed_at = component_tick_now(&c->io.base);
}

/* Note of the answer that made room last, if that was not before `cycle`. */
static inline struct cache_room freed_since(const struct cache *c, uint64_t cycle)
{
    return c->freed_at >= cycle ? c->freed : (struct cache_room){{0, 0}, 0};
}

static inline void note_unblocked(struct cache *c)
{
    if (c->blocked_since) {
        c->went_on = freed_since(c, c->blocked_since - 1);
        c->went_on_at = component_tick_now(&c->io.base);
        c->io.stats.blocked += component_tick_now(&c->io.base) + 1 - c->blocked_since;
        c->blocked_since = 0;
    }
}

/* Sends the dirty bytes of `line` below; the line is clean afterwards. Room below and a `sent`
 * entry must be there. */
static inline void write_back(struct cache *c, uint32_t line)
{
    uint32_t sent = index_pool_take(&c->free_sent);
    arena_at(struct cache_sent, c->sent)[sent] = (struct cache_sent){.kind = SENT_WRITE_BACK};
    uint64_t address = *line_tag(c, line) * line_bytes(c);
    void *payload =
        cache_bottom_send_write(c, (uint16_t)(cache_params(c)->mshrs + sent), address, 0);
    mem_mask_store(mem_write_mask(payload, line_bytes(c)), *line_mask(c, line), line_bytes(c));
    memcpy(mem_write_data(payload, line_bytes(c)), line_data(c, line), line_bytes(c));
    line_set_clean(c, line);
    c->io.stats.writebacks++;
}

/* A way of `set` that is free, or whose line can go: it has been written back, which is `written`,
 * or was clean; line_claim() or line_drop() follows. WAY_NONE: every line is pending, or its bytes
 * cannot be written back yet. */
static inline uint32_t way_make_room(struct cache *c, uint32_t set, bool *written)
{
    const struct cache_set *s = set_at(c, set);
    uint64_t unused = ~s->used & mem_mask_low_bits(way_count(c)),
             candidates = s->used & ~s->pending;
    if (unused)
        return (uint32_t)__builtin_ctzll(unused);
    if (!candidates)
        return WAY_NONE;
    if (is_write_back(c) && c->dirty_count
        && !(index_pool_has(&c->free_sent) && cache_bottom_can_send(c)))
        return WAY_NONE;
    uint32_t way = cache_replacement_ops(c)->victim(cache_replacement(c), set, candidates);
    uint32_t line = set * way_count(c) + way;
    if (is_write_back(c) && c->dirty_count && line_is_dirty(c, line)) {
        write_back(c, line);
        *written = true;
    }
    c->io.stats.evictions++;
    return way;
}

static inline bool response_room(const struct cache *c)
{
    return cache_top_can_reply(c);
}

/* Answers `tag`: with `data` (NULL: bytes nobody reads) when `is_data`. response_room() must hold.
 */
static inline void respond(struct cache *c, uint16_t tag, bool is_data, const void *data)
{
    c->unanswered--;
    if (engine_unlikely(c->notes))
        message_note_next(cache_io(c)->top_reply, c->note);
    if (!is_data) {
        cache_top_reply_done(c, tag);
        return;
    }
    void *payload = cache_top_reply_data(c, tag);
    if (data)
        memcpy(mem_data_data(payload, line_bytes(c)), data, line_bytes(c));
}

#endif
