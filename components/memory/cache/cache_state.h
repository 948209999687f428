/* State of a cache. cache.c draws how a request goes through the files that work on it.
 *
 * Tags are apart from the bytes. A tag is the complement of the line's number, so that those of
 * lines that were never used are zero. A line is free (tag CACHE_TAG_FREE), present, or pending:
 * its bytes have been asked for. A line that is not `filled` holds only the bytes of its mask. In a
 * write-back cache the mask names the dirty bytes, filled or not, so a write miss needs no fetch;
 * in a write-through one it names the bytes that earlier writes left.
 *
 * Requests to one line take effect in the order in which they were accepted: what comes to a
 * pending line is queued at its MSHR (write-back), or makes the line's MSHR `detached` (other
 * policies): the answer still serves the requests that waited, but the line is forgotten, and the
 * next read asks again, after the write that went below meanwhile. So a store that follows a load
 * to the same place can never be seen by that load, nor missed by the next.
 *
 * An answer is formed when the request takes effect, and is sent at once into the ring of answers.
 * It spends `latency` - 1 cycles there (plus the translation's) before it leaves. So with
 * connections of one cycle, a hit takes latency + 1 cycles from the request's sending to the
 * answer's arrival. */
#ifndef HEDDLE_COMPONENTS_MEMORY_CACHE_CACHE_STATE_H
#define HEDDLE_COMPONENTS_MEMORY_CACHE_CACHE_STATE_H

#include "scope.gen.h"

#include "base/likely.h"
#include "base/number.h"
#include "components/protocols/mem/mem_mask.h"
#include "components/protocols/mem/mem_served.h"
#include "components/protocols/mem/mem_types.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/index_pool.h"

#include "address_translation.h"
#include "replacement_policy.h"

#define CACHE_TAG_FREE    0
#define CACHE_LINE_NONE   UINT32_MAX
#define CACHE_WAY_NONE    UINT32_MAX
#define CACHE_PARKED_NONE 0  /* parked requests are numbered from 1 on */
#define CACHE_HINT_WAYS   8u /* ways in a word */
#define CACHE_TAGS_MAX    32

/* In these files, ALWAYS_INLINE marks the path of hits and plain misses, which becomes one
 * function. All else is OUT_OF_LINE, so that the common path saves few registers. */

/* The state of a set for lookups and replacement: one or a few lines of the host's caches. It is
 * followed by a byte for each way, a hash of its tag, so that 16 ways are searched at once; then by
 * the tags, uint64_t [ways]. Bit w of the masks is way w. */
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
    uint8_t piece; /* first byte, in the line, of the part that is answered */
};

/* MSHR_INSTALLED: the answer is in the line, and the targets are being served. MSHR_SERVED: the
 * first of them has been (in builds that note where requests are served). */
enum cache_mshr_state { MSHR_FREE, MSHR_PENDING, MSHR_INSTALLED, MSHR_SERVED };

struct cache_mshr {
    uint64_t address;
    uint32_t line;        /* CACHE_LINE_NONE: detached */
    uint32_t first, last; /* targets after the first one */
    uint16_t targets;     /* requests that wait */
    uint8_t state;        /* enum cache_mshr_state */
    bool has_own_bytes;   /* some bytes of the line are not those from below; write-back only */
    bool is_outdated;     /* others have changed the line since: see cache_probe.c */
    uint16_t paired;      /* 1 + number of the MSHR whose line comes in the same answer; 0: none */
    struct cache_target head; /* the first one: nearly always the only one */
};

/* Mask, then operands, then comparands of a queued write or atomic. */
struct cache_stored {
    struct mem_mask mask;
    uint8_t bytes[2][MEM_LINE_MAX];
};

/* A write, atomic or coherent read sent below, by the tag of its answer; the bytes of SENT_ATOMIC
 * are waited for. */
enum cache_sent_kind { SENT_WRITE, SENT_WRITE_BACK, SENT_ATOMIC, SENT_ATOMIC_BLIND };
struct cache_sent {
    uint16_t tag;
    uint8_t kind;
    uint8_t piece;       /* first byte, in the answer, of the part that goes above */
    uint16_t second_tag; /* tag of another write that has joined this one */
    bool is_joined;
    uint8_t served, second_served; /* where this write and the joined one were served */
};

/* The process of a write, and the scope that sees it when it is answered. */
struct cache_writer {
    uint32_t pid;
    enum scope scope;
};

/* The last write that has gone below: one to another part of its line joins it in the same cycle,
 * when nothing can have seen it. */
struct cache_last_write {
    uint64_t line;      /* number */
    uint64_t cycle_end; /* 1 + cycle, 0: there is none */
    uint32_t sent;
    struct cache_writer writer;
    void *payload;
};

/* The last read that has gone below, if no other request has gone there since. With `pairs`, a read
 * of the other half of its line below joins it in the next cycle, while the first is still on its
 * way. */
struct cache_last_read {
    uint64_t line;      /* number of the line below */
    uint64_t cycle_end; /* 1 + cycle, 0: there is none */
    uint32_t mshr;
    uint32_t pid;
    uint32_t slot; /* slot of its ring */
};

/* A request whose page has been asked for, or that waits to be replayed after it. */
struct cache_parked {
    struct mem_request request;
    uint64_t physical;
    uint32_t next;
    uint8_t traits;
};

struct cache_queue {
    uint32_t first, last; /* CACHE_PARKED_NONE: empty */
};

/* State of a page that has been asked for. PAGE_FAULT: as a fault, for a request that must write
 * to it. PAGE_AGAIN: it was forgotten since, so the answer may be an old one and the page is asked
 * for once more. PAGE_AWAY: the page has to come first, for requests of any kind. */
enum cache_page_state { PAGE_FAULT = 1, PAGE_AGAIN = 2, PAGE_AWAY = 4 };

/* The reason why the oldest request could not be accepted: tells whether it is worth trying
 * again. */
enum cache_hold { HOLD_NONE, HOLD_ROOM_BELOW, HOLD_MSHR, HOLD_ANSWER, HOLD_OTHER };

/* The state of the next request. NEXT_READY: its physical address is known. NEXT_ASIDE: it waits
 * for its page. NEXT_HELD: it stays where it is. NEXT_NONE: there is no request. */
enum cache_next_state { NEXT_READY, NEXT_ASIDE, NEXT_HELD, NEXT_NONE };

enum cache_job { JOB_NONE, JOB_FLUSH, JOB_INVALIDATE, JOB_FENCE, JOB_PAUSE, JOB_PAUSED };

struct cache {
    struct cache_io io;
    /* Arena offsets and state that every request uses, in one of the host's cache lines. */
    uint32_t sets_at; /* struct cache_set [sets], of set_bytes() each */
    uint32_t data_at; /* [line] by line_place() */
    /* uint16_t [1 + lines]: how many places are used, and of each line 1 + its place, or 0. On
     * large platforms only, see line_place(). */
    uint32_t places_at;
    uint32_t line_mshrs_at; /* uint16_t [lines]: MSHR of a pending line */
    uint32_t mshrs_at;      /* struct cache_mshr [] */
    uint32_t unanswered;    /* requests accepted and not answered */
    struct cache_queue replay;
    uint8_t job;             /* enum cache_job */
    uint8_t hold;            /* enum cache_hold */
    bool head_is_translated; /* head_physical and head_memory hold */
    bool head_faults;        /* the next request writes to a page that is known as read-only */
    bool head_misses;    /* the next request is a read of a line that is not here, in head_set */
    uint8_t memory;      /* enum mem_type: of the request that is being accepted */
    uint8_t head_memory; /* enum mem_type: of the next request */
    bool has_lines;      /* False: no line has been claimed since all were dropped */
    uint64_t head_physical;
    uint64_t blocked_since; /* 1 + cycle, 0: not blocked */
    /* Arena offsets and state that misses and writes use; hits do not touch them. */
    uint32_t head_set;   /* the set in which the next request missed (head_misses) */
    uint32_t masks_at;   /* struct mem_mask by line_place(); write-back and write-through only */
    uint32_t sent_at;    /* struct cache_sent [mshrs] */
    uint32_t targets_at; /* struct cache_target [] */
    struct index_pool free_mshrs, free_sent, free_targets, free_stored, free_parked;
    uint32_t stored_at; /* struct cache_stored [] */
    uint32_t dirty_at;  /* uint64_t [], a bitmap of lines */
    uint32_t dirty_count;
    uint32_t dirty_from; /* no line in a word of the bitmap before this one is dirty */
    uint32_t parked_at;  /* struct cache_parked [] */
    uint32_t parked_payloads_at;
    uint32_t page_queues_at; /* struct cache_queue by number of the page asked for */
    uint32_t page_states_at; /* uint8_t, enum cache_page_state, by number of the page asked for */
    uint32_t faulted_count;  /* requests that wait for a page to come or to become writable */
    uint32_t payload_stride;
    bool job_writes_back, job_drops;
    bool job_drops_stale;    /* drops only what others may have changed */
    bool job_passes;         /* caches below are being sent the fence */
    uint32_t job_pass_count; /* caches below that have yet to be sent the fence */
    struct cache_last_write last_write;
    struct cache_last_read last_read;
    uint64_t probed_base, probed_size; /* bytes whose lines are probed */
    uint32_t probe_pid;                /* process of requests that go below; 0: not probed */
    bool has_other_memory;             /* memory below that sends no probes */
    uint64_t below_next; /* with below_interval: the first cycle in which a line may go below */
    uint8_t served;      /* what is noted on the next answer, see mem_served.h */
};

static inline unsigned line_bytes(const struct cache *c)
{
    return cache_params(c)->line;
}

static inline unsigned above_bytes(const struct cache *c)
{
    return cache_params(c)->above;
}

static inline unsigned below_bytes(const struct cache *c)
{
    return cache_params(c)->below;
}

/* The offset in its line of the part that a request from above is about. */
static inline unsigned find_piece(const struct cache *c, uint64_t address)
{
    unsigned above = above_bytes(c);
    return above == line_bytes(c) ? 0 : (unsigned)(address % line_bytes(c)) / above * above;
}

/* The offset of the own line at `address` in a line of what is below. */
static inline unsigned offset_below(const struct cache *c, uint64_t address)
{
    unsigned line = line_bytes(c);
    return below_bytes(c) == line ? 0 : (unsigned)(address % below_bytes(c)) / line * line;
}

/* True if a line may go below, or be requested there, in this cycle. */
static inline bool has_room_below(struct cache *c)
{
    if (cache_params(c)->below_interval > 1 && component_tick_now(&c->io.base) < c->below_next) {
        component_wake_at(&c->io.base, c->below_next);
        return false;
    }
    return cache_bottom_can_send(c);
}

/* Notes that a line goes below: the next one waits for the interval, and joins no read. */
static inline void begin_interval_below(struct cache *c)
{
    if (cache_params(c)->pairs)
        c->last_read.cycle_end = 0;
    if (cache_params(c)->below_interval > 1)
        c->below_next = component_tick_now(&c->io.base) + cache_params(c)->below_interval;
}

/* Something else has gone below: no write joins one that went before it. */
static inline void end_last_write(struct cache *c)
{
    if (above_bytes(c) < line_bytes(c))
        c->last_write.cycle_end = 0;
}

static inline unsigned way_count(const struct cache *c)
{
    return cache_params(c)->ways;
}

static inline uint32_t line_count(const struct cache *c)
{
    return cache_params(c)->sets * way_count(c);
}

/* The process that a request has as it goes below. */
static inline uint32_t pid_below(const struct cache *c, uint32_t pid)
{
    return c->probe_pid ? c->probe_pid : pid;
}

/* The process of the request that is being accepted, with the type that its translation has
 * brought. */
static inline uint32_t typed_pid(const struct cache *c, uint32_t pid)
{
    return c->memory ? mem_typed_pid(pid, (enum mem_type)c->memory) : pid;
}

static inline bool is_write_back(const struct cache *c)
{
    return cache_params(c)->write == CACHE_WRITE_BACK;
}

/* True if atomics happen here, and coherent reads may be answered here. Sharers of a cache of
 * system scope, or of one of several dies, have others that do not see it. */
static inline bool has_last_word(const struct cache *c)
{
    return is_write_back(c) && cache_params(c)->scope == CACHE_SCOPE_AGENT
           && cache_params(c)->atomics_at == CACHE_ATOMICS_AT_HERE;
}

/* The widest scope whose members all use this cache: a write of a wider one goes on below, even
 * from a cache that writes back. */
static inline enum scope widest_scope(const struct cache *c)
{
    if (cache_params(c)->scope == CACHE_SCOPE_SYSTEM)
        return SCOPE_AGENT;
    return cache_params(c)->atomics_at == CACHE_ATOMICS_AT_BELOW ? SCOPE_WORK_GROUP : SCOPE_SYSTEM;
}

/* The type by which this cache handles a line: MEM_FINE if it writes the line through, MEM_UNCACHED
 * if it does not keep it, otherwise MEM_COARSE. */
static inline enum mem_type resolve_type(const struct cache *c, uint32_t pid, uint64_t address)
{
    enum mem_type type = is_write_back(c) ? mem_type_of(pid) : MEM_COARSE;
    if (likely(type != MEM_FINE))
        return type;
    if (c->probe_pid && address - c->probed_base >= c->probed_size)
        return cache_params(c)->fine_elsewhere == CACHE_FINE_ELSEWHERE_KEPT ? MEM_COARSE
                                                                            : MEM_UNCACHED;
    return cache_params(c)->fine == CACHE_FINE_KEPT ? MEM_COARSE : MEM_FINE;
}

static inline bool keeps_masks(const struct cache *c)
{
    return cache_params(c)->write == CACHE_WRITE_BACK
           || cache_params(c)->write == CACHE_WRITE_THROUGH;
}

/* The place of a line's bytes and masks. Places go way by way, so that they are dense while a
 * program uses few ways of the sets. A large platform has hundreds of caches, of which a program
 * uses few sets, too; there lines are in the order in which they are first used. Without that
 * MI300X takes up to 1.45 times the memory. */
static inline uint32_t line_place(const struct cache *c, uint32_t line)
{
    if (!c->places_at)
        return line % way_count(c) * cache_params(c)->sets + line / way_count(c);
    uint16_t *places = arena_at(uint16_t, c->places_at);
    if (unlikely(!places[line + 1]))
        places[line + 1] = ++places[0];
    return places[line + 1] - 1u;
}

static inline char *line_data(const struct cache *c, uint32_t line)
{
    return arena_at(char, c->data_at) + (size_t)line_place(c, line) * line_bytes(c);
}

static inline struct mem_mask *line_mask(const struct cache *c, uint32_t line)
{
    return arena_at(struct mem_mask, c->masks_at) + line_place(c, line);
}

static inline struct cache_mshr *get_mshr(const struct cache *c, uint32_t i)
{
    return arena_at(struct cache_mshr, c->mshrs_at) + i;
}

static inline unsigned hint_words(const struct cache *c)
{
    return divide_up(way_count(c), CACHE_HINT_WAYS);
}

/* A multiple of the host's cache line. */
static inline size_t set_bytes(const struct cache *c)
{
    size_t words = hint_words(c) + way_count(c);
    return round_up(sizeof(struct cache_set) + words * sizeof(uint64_t), 64);
}

static inline struct cache_set *get_set(const struct cache *c, uint32_t set)
{
    return (struct cache_set *)(void *)(arena_at(char, c->sets_at) + set * set_bytes(c));
}

static inline uint64_t *set_tags(const struct cache *c, struct cache_set *s)
{
    return s->hints + hint_words(c);
}

/* Lines are numbered through: set * ways + way. */
static inline uint64_t *line_tag(const struct cache *c, uint32_t line)
{
    return set_tags(c, get_set(c, line / way_count(c))) + line % way_count(c);
}

/* Number of a line that is not free. */
static inline uint64_t line_number(const struct cache *c, uint32_t line)
{
    return ~*line_tag(c, line);
}

static inline bool line_is_pending(const struct cache *c, uint32_t line)
{
    return get_set(c, line / way_count(c))->pending >> (line % way_count(c)) & 1;
}

static inline bool line_is_filled(const struct cache *c, uint32_t line)
{
    return get_set(c, line / way_count(c))->filled >> (line % way_count(c)) & 1;
}

/* MSHR of a pending line. */
static inline struct cache_mshr *line_mshr(const struct cache *c, uint32_t line)
{
    return get_mshr(c, arena_at(uint16_t, c->line_mshrs_at)[line]);
}

static inline bool line_is_dirty(const struct cache *c, uint32_t line)
{
    return arena_at(uint64_t, c->dirty_at)[line / 64] >> (line % 64) & 1;
}

/* Says what the oldest request waits for. Returns false, for the caller to pass on. */
static inline bool hold_request(struct cache *c, enum cache_hold hold)
{
    c->hold = (uint8_t)hold;
    return false;
}

/* Notes where the present request is served, for its answer (mem_served.h). */
static inline void set_served(struct cache *c, unsigned served)
{
    if (MEM_SERVED_IS_NOTED)
        c->served = (uint8_t)served;
}

/* Numbers a request that goes below, for its answer. The pool must have a number. */
static inline uint32_t sent_open(struct cache *c, struct cache_sent sent)
{
    uint32_t i = index_pool_acquire(&c->free_sent);
    sent.served = c->served;
    arena_at(struct cache_sent, c->sent_at)[i] = sent;
    return i;
}

static inline bool can_answer(const struct cache *c)
{
    return cache_top_can_reply(c);
}

static inline struct cache_parked *get_parked(const struct cache *c, uint32_t i)
{
    return arena_at(struct cache_parked, c->parked_at) + i - 1;
}

static inline void *parked_payload(const struct cache *c, uint32_t i)
{
    return arena_at(char, c->parked_payloads_at) + (size_t)(i - 1) * c->payload_stride;
}

/* `address` is the first field of reads, writes and atomics alike. */
static inline uint64_t request_address(const struct mem_request *m)
{
    return m->read.address;
}

/* ---- what the files call of each other; comments are at the definitions ---- */

/* cache_lines.c */
static inline uint32_t find_set(const struct cache *c, uint64_t number);
static inline uint32_t find_way(const struct cache *c, struct cache_set *s, uint64_t number);
static inline uint32_t find_line(const struct cache *c, uint32_t set, uint64_t number);
static inline void line_set_dirty(struct cache *c, uint32_t line);
static inline void line_set_clean(struct cache *c, uint32_t line);
static inline void line_set_changed(struct cache *c, uint32_t line, unsigned op,
                                    struct mem_mask mask, const void *operand);
static inline void line_write(struct cache *c, uint32_t line, struct mem_mask mask,
                              const void *bytes);
static inline void line_touch(struct cache *c, uint32_t set, uint32_t way);
static inline void line_claim(struct cache *c, uint32_t set, uint32_t way, uint64_t number);
static inline void line_drop(struct cache *c, uint32_t line);
static inline void line_forget(struct cache *c, uint32_t line);
static void drop_all(struct cache *c);
static inline void *send_write(struct cache *c, uint32_t sent, uint64_t address,
                               struct cache_writer writer, struct mem_mask mask, const void *bytes);
static inline void line_write_back(struct cache *c, uint32_t line);
static inline uint32_t make_room(struct cache *c, uint32_t set, bool *was_written);

/* cache_translate.c */
static bool check_writable(const struct cache *c, const struct mem_request *m, bool writable);
static void accept_pages(struct cache *c);
static inline enum cache_next_state translate_request(struct cache *c, const struct mem_request *m,
                                                      uint64_t *physical);
static void outdate_page_answers(struct cache *c);

/* cache_request.c */
static inline bool accept_miss(struct cache *c, const struct mem_request *m, uint64_t address,
                               uint32_t set, uint32_t way, bool has_room);
static inline bool accept_request(struct cache *c, const struct mem_request *m, void *payload,
                                  uint64_t address);

/* cache_mshr.c */
static inline struct cache_target *target_add(struct cache *c, struct cache_mshr *mshr,
                                              uint8_t kind, uint16_t tag, unsigned piece);
static inline void target_begin(struct cache *c, struct cache_mshr *mshr, uint16_t tag,
                                unsigned piece);
static inline void target_store(struct cache *c, struct cache_target *t, struct mem_mask mask,
                                const void *bytes, const void *compare);
static inline struct cache_mshr *mshr_join(struct cache *c, uint32_t set, uint32_t way,
                                           bool has_bytes);
static inline struct cache_mshr *mshr_open(struct cache *c, uint32_t set, uint64_t number,
                                           uint32_t way, uint32_t pid, bool has_bytes,
                                           bool has_room);
static inline struct cache_mshr *mshr_find_or_open(struct cache *c, uint32_t set, uint64_t number,
                                                   uint32_t way, uint32_t pid);

/* cache_answer.c */
static inline void answer_request(struct cache *c, uint16_t tag, bool is_data, const void *data);
static inline void accept_answers(struct cache *c);

/* cache_control.c */
static bool start_control(struct cache *c);
static bool work_on_job(struct cache *c);
static void start_fence(struct cache *c, const struct mem_request *m);

#endif
