/* The event engine: clock edges, which components are awake, and when the others wake.
 *
 * Time is an integer number of picoseconds. Edge n of a clock of f Hz is at floor(n * 10^12 /
 * f) ps, exactly. A component is ticked at every edge of its clock while it is awake. A tick that
 * made no progress puts it to sleep until the earliest of: a message becoming visible, credit
 * returning on a port it was refused, the cycle it asked for in that same tick (component_wake_at).
 * Being ticked without a reason must change nothing, statistics included.
 *
 * Component ids are positions in the bitmaps `active` and `next`; each unit (see unit.h) starts at
 * a multiple of 64, and a clock domain owns a run of whole words.
 *
 * Threads: the platform is cut into shards, groups of its partitions; each shard has its own copy
 * of every clock domain, so a domain's number says shard and clock (shard * clock_count + clock),
 * and everything that is reached through it belongs to one thread at a time. One thread: one shard.
 * See run.c for how shards go on together.
 *
 * Everything here is state that a checkpoint can hold: no pointer but the table of bases, which is
 * made anew at start-up. One engine a process (`engine` is a static object of the platform's shared
 * object).
 */
#ifndef HEDDLE_RUNTIME_ENGINE_ENGINE_H
#define HEDDLE_RUNTIME_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_CLOCKS_MAX  16 /* most clocks of a platform */
#define ENGINE_DOMAINS_MAX 64 /* clocks times shards */
#define ENGINE_NEVER       UINT64_MAX
#define ENGINE_WORDS       8   /* a clock domain's words of bitmaps are a multiple of that */
#define ENGINE_NEAR        512 /* cycles in which wake-ups are marked in bitmaps */

#define ENGINE_TIMELINE 1u /* engine.tracing: a trace file is written */
#define ENGINE_WATCHES  2u /* each message is looked at: watch.h */

struct ring;
struct platform_table;

/* First member of the generated `struct NAME_io`, and so of every instance. */
struct component {
    /* Position in the bitmaps. Instances are at multiples of a cache line. */
    _Alignas(64) uint32_t id;
    uint32_t leaf;   /* index in platform_table.instances */
    uint32_t params; /* first word in engine_base.params */
    uint32_t domain;
    /* Arena offset of words of bits. Bit i: incoming ring i may hold a message. */
    uint32_t pending_at;
    uint32_t pending_words;
    /* First entry in engine_base.incoming: numbers of rings, in the order of the bits. */
    uint32_t incoming;
    int32_t route_space; /* interconnects: platform space that routes, -1 none */
    int32_t route_else;  /* interconnects: output for what the space does not hold, -1 none */
    uint32_t reasons;    /* to look before it sleeps: COMPONENT_FAR, COMPONENT_WISHES */
    uint64_t wake;       /* with COMPONENT_WISHES: earliest cycle asked for in the current tick */
    uint64_t limit;      /* of the cycle of the current tick: cycle << 16 | 0xffff, for rings */
};
_Static_assert(sizeof(struct component) == 64,
               "what the engine needs of a component is one cache line");

#define COMPONENT_FAR    1u /* a message may be under way that made no arrival mark */
#define COMPONENT_WISHES 2u /* the component asked to be woken */
#define COMPONENT_ALONE  4u /* ticked by another component, which sees to its sleep */

struct engine_domain {
    _Alignas(64) uint64_t hz; /* 64 bytes: component_now() finds the cycle by a shift */
    uint64_t cycle;           /* edges so far: number of the current edge */
    uint64_t time_ps;         /* that edge's time */
    uint64_t period_ps;       /* 10^12 / hz */
    uint64_t remainder;       /* 10^12 % hz */
    uint64_t fraction;        /* accumulated remainder, < hz */
    uint64_t instructions;    /* retired by its components */
    uint32_t first_word;      /* bitmap words of this domain */
    uint32_t word_count;
};

enum engine_order { ENGINE_ASCENDING, ENGINE_DESCENDING, ENGINE_RANDOM };

/* The places of the state: made anew at start-up, never state itself. Compiled units see it as
 * constant, so that the compiler need not read it again after every store. */
struct engine_bases {
    char *arena;
    uint64_t *active;
    uint64_t *next;
    uint64_t *near;      /* [ENGINE_NEAR][near_words]: a bitmap of those woken in each cycle */
    uint32_t near_words; /* of a bitmap */
    uint32_t near_mark;  /* engine_mark_of() component 0 */
    struct component **components; /* by id; NULL in the gaps between groups */
    const uint32_t *incoming;
    const uint32_t *port_rings; /* pairs {request ring, reply ring} of port arrays */
    const uint32_t *part_refs;  /* arena offsets of the parts of part arrays */
    const int64_t *params;
    const struct platform_table *platform;
};

struct engine {
    struct engine_domain domains[ENGINE_DOMAINS_MAX];
    uint32_t domain_count; /* shard_count * clock_count */
    uint32_t clock_count;
    uint32_t shard_count;
    uint32_t tracing;    /* 0: off; the only thing hot paths look at */
    uint32_t word_count; /* of a bitmap */
    uint64_t time_ps;    /* between runs and in reports; in a tick ask the clock domain */
};

/* Hidden, so that position-independent code reaches them without a detour through the global offset
 * table. UNIT_CODE is defined in generated wrappers, whose code never runs while the bases change:
 * it reads them by a constant alias, which saves 1 to 2 % of the host instructions of a simulation.
 */
extern struct engine engine __attribute__((visibility("hidden")));
extern struct engine_bases engine_base __attribute__((visibility("hidden")));
#ifdef UNIT_CODE
extern const struct engine_bases engine_constant_base __attribute__((visibility("hidden")));
#define engine_base engine_constant_base
#endif

/* Zeroed memory of the arena, at start-up only, aligned to 64 bytes; offset in units of ARENA_UNIT,
 * the largest that an address can be made of in one x86 instruction. Never fails (ends the program
 * when the reservation is exhausted). */
#define ARENA_UNIT 8u
uint32_t arena_allocate(size_t bytes);
#define arena_at(type, offset) ((type *)(void *)(engine_base.arena + (size_t)(offset)*ARENA_UNIT))

/* Offset of what lies in the arena, at a multiple of ARENA_UNIT. */
static inline uint32_t arena_place(const void *object)
{
    return (uint32_t)((size_t)((const char *)object - engine_base.arena) / ARENA_UNIT);
}

static inline uint64_t component_now(const struct component *c)
{
    return engine.domains[c->domain].cycle;
}

/* Time of that edge. */
static inline uint64_t component_now_ps(const struct component *c)
{
    return engine.domains[c->domain].time_ps;
}

/* Forgets what was asked for in earlier ticks. */
static inline void component_begin_wishes(struct component *c)
{
    if (c->reasons & COMPONENT_WISHES)
        return;
    c->reasons |= COMPONENT_WISHES;
    c->wake = ENGINE_NEVER;
}

/* Ask to be ticked at `cycle` (of the own clock) even if nothing arrives. Holds for this tick only:
 * ask again whenever a tick returns false. */
static inline void component_wake_at(struct component *c, uint64_t cycle)
{
    component_begin_wishes(c);
    if (cycle < c->wake)
        c->wake = cycle;
}

static inline void engine_wake_next(uint32_t id)
{
    engine_base.next[id >> 6] |= (uint64_t)1 << (id & 63);
}

/* The beginning of every arena, where all have the same. */
struct engine_front {
    /* Cycles, modulo ENGINE_NEAR, in which a component is woken: 1. */
    uint8_t near_used[ENGINE_DOMAINS_MAX][ENGINE_NEAR];
};
#define ENGINE_FRONT (64 / ARENA_UNIT) /* arena offset; the rings are after it: */
#define ENGINE_RINGS (uint32_t)(ENGINE_FRONT + sizeof(struct engine_front) / ARENA_UNIT)

static inline uint8_t *engine_near_used(uint32_t domain)
{
    return arena_at(struct engine_front, ENGINE_FRONT)->near_used[domain];
}

/* Component `id` as the function below wants it: arena offset of its word of `near` for cycle 0,
 * and in the lowest 6 bits its bit in that word. So `near` lies in the arena's front. */
static inline uint32_t engine_mark_of(uint32_t id)
{
    return engine_base.near_mark + id;
}

/* Make the component of `mark` and `domain` tick at `cycle` of its clock, less than ENGINE_NEAR
 * cycles from now, in which a message reaches it, or it wants to. A mark is made for each message,
 * whether its receiver sleeps or not: that costs less than finding out. What lies above the low
 * bits of `cycle` does not count. */
static inline void engine_mark_arrival(uint32_t mark, uint32_t domain, uint64_t cycle)
{
    uint32_t row = (uint32_t)cycle % ENGINE_NEAR;
    *arena_at(uint64_t, (mark >> 6) + row * engine_base.near_words) |= (uint64_t)1 << (mark & 63);
    engine_near_used(domain)[row] = 1;
}

static inline bool engine_is_awake(uint32_t id)
{
    return ((engine_base.active[id >> 6] | engine_base.next[id >> 6]) >> (id & 63)) & 1;
}

/* Wake component `id` at `cycle` of its own clock, which is later than its current one. Nothing for
 * one that is awake: it asks again before it sleeps. */
void engine_wake_later(uint32_t id, uint64_t cycle);

/* A message that no mark can be made for reaches component `id` at `cycle`. */
void engine_arrives_far(uint32_t id, uint64_t cycle);

/* For a component that has left the bitmap, unless it was woken in this edge: finds its next reason
 * to wake. */
void engine_find_reason(struct component *c);

/* The cycle of the current tick, in ticks only. */
static inline uint64_t component_tick_now(const struct component *c)
{
    return c->limit >> 16;
}

/* Called by the walk of a unit before a tick: sets the cycle, and forgets the wishes of the last
 * tick. */
static inline void engine_before_tick(struct component *c, uint64_t limit)
{
    c->limit = limit;
    c->reasons &= ~COMPONENT_WISHES;
}

/* Called by the walk of a unit after a tick without progress: takes the component out of the
 * bitmap, bit `bit` of `*active`. The bit is cleared at once, since components that are ticked
 * later in this edge must see that this one sleeps. */
static inline void engine_sleep(struct component *c, uint64_t *active, uint64_t bit)
{
    *active ^= bit;
    /* Nearly always it has asked to be woken soon, and that is all. */
    if (c->reasons == COMPONENT_WISHES && c->wake - component_tick_now(c) - 2 < ENGINE_NEAR - 2
        && !(engine_base.next[c->id >> 6] & bit))
        engine_mark_arrival(engine_mark_of(c->id), c->domain, c->wake);
    else if (c->reasons)
        engine_find_reason(c);
}

/* From outside of ticks (host calls): make the component tick at the next edge of its clock. */
void engine_wake_from_host(uint32_t id);

/* Progress marks for stall detection and the progress line: instructions retired since start. */
static inline void engine_count_instructions(const struct component *c, uint64_t n)
{
    engine.domains[c->domain].instructions += n;
}
uint64_t engine_instructions(void);

/* First edge of `domain` at or after `time_ps`. */
uint64_t engine_cycle_at(uint32_t domain, uint64_t time_ps);
/* Time of edge `cycle`. */
uint64_t engine_time_of(uint32_t domain, uint64_t cycle);

#endif
