/* A unit: the compiled behaviour of one component type, once for each distinct set of parameters
 * (specialised) or once for all (generic). Generated wrapper files include the component's
 * generated header, the C files of its parts, the author's C file, and end with UNIT_DEFINE. */
#ifndef HEDDLE_RUNTIME_ENGINE_UNIT_H
#define HEDDLE_RUNTIME_ENGINE_UNIT_H

#include "base/likely.h"

#include "engine.h"
#include "part.h"
#include "stat.h"

struct hang_report;

struct unit_part_type {
    const char *name;
    uint32_t instance_bytes; /* binding words follow struct part at once */
    uint32_t stats_offset;
    uint32_t stat_count;
    const struct stat_descriptor *stats;
    void (*init)(void *part); /* its own parts are initialised before, its owner after it */
};

struct unit_type {
    const char *name;   /* the component type's name */
    const char *source; /* its C file, for messages */
    uint32_t instance_bytes;
    uint32_t io_words_offset; /* offset of the first binding word in the instance */
    uint32_t stats_offset;
    uint32_t stat_count;
    const struct stat_descriptor *stats;
    const struct unit_part_type *const *parts; /* part types compiled into this unit */
    uint32_t part_count;
    const uint32_t *store_bytes; /* sizeof of each store that the component writes */
    uint32_t store_count;
    void (*init)(void *instance);
    bool (*tick)(void *instance);
    /* Ticks those whose bits are set in active .. end, exclusive. 0: none of the bits is left. */
    uint64_t (*walk)(char *instances, uint64_t *active, const uint64_t *end, uint64_t now);
    unsigned (*outstanding)(const void *instance, struct hang_report *report);
};

/* The first cache lines of an instance, for the walk to fetch while the one before it ticks: with
 * many instances, each has been pushed out of the host's nearest cache since its last tick (9 % on
 * the memory path of 64 compute units). */
static inline void unit_prefetch(const void *instance)
{
    const char *c = (const char *)instance;
    __builtin_prefetch(c);
    __builtin_prefetch(c + 64);
    __builtin_prefetch(c + 128);
}

/* Walks the awake instances in ascending order: those whose bits are set in `active`, from the
 * instance of its first bit on. The author's tick is called in one place only, so that the compiler
 * puts it there: saving and restoring registers for each call took more than a tick that finds
 * little to do. A caller that ticks a single instance sees to its sleep (COMPONENT_ALONE). */
#define UNIT_DEFINE_WALK(NAME)                                                                     \
    static OUT_OF_LINE uint64_t NAME##_tick_each(struct NAME *from, uint64_t *active,              \
                                                 const uint64_t *end, uint64_t now)                \
    {                                                                                              \
        uint64_t left = 0;                                                                         \
        const uint64_t limit = now << 16 | 0xffff;                                                 \
        for (; active != end; active++, from += 64) {                                              \
            uint64_t bits = *active;                                                               \
            if (!bits)                                                                             \
                continue;                                                                          \
            struct NAME *c = &from[(unsigned)__builtin_ctzll(bits)], *next = c;                    \
            do {                                                                                   \
                uint64_t rest = bits & (bits - 1);                                                 \
                if (rest) {                                                                        \
                    next = &from[(unsigned)__builtin_ctzll(rest)];                                 \
                    unit_prefetch(next);                                                           \
                }                                                                                  \
                engine_before_tick(&c->io.base, limit);                                            \
                if (!NAME##_tick(c))                                                               \
                    engine_sleep(&c->io.base, active, bits ^ rest);                                \
                c = next;                                                                          \
                bits = rest;                                                                       \
            } while (bits);                                                                        \
            left |= *active;                                                                       \
        }                                                                                          \
        return left;                                                                               \
    }                                                                                              \
    static uint64_t NAME##_walk(char *instances, uint64_t *active, const uint64_t *end,            \
                                uint64_t now)                                                      \
    {                                                                                              \
        return NAME##_tick_each((struct NAME *)(void *)instances, active, end, now);               \
    }                                                                                              \
    static bool NAME##_tick_one(void *c)                                                           \
    {                                                                                              \
        struct NAME *one = (struct NAME *)c;                                                       \
        uint64_t bit = 1;                                                                          \
        one->io.base.reasons |= COMPONENT_ALONE;                                                   \
        uint64_t left = NAME##_tick_each(one, &bit, &bit + 1, component_now(&one->io.base));       \
        one->io.base.reasons &= ~COMPONENT_ALONE;                                                  \
        return left;                                                                               \
    }                                                                                              \
    static void NAME##_init_one(void *c)                                                           \
    {                                                                                              \
        NAME##_init(c);                                                                            \
    }                                                                                              \
    static unsigned NAME##_outstanding_one(const void *c, struct hang_report *report)              \
    {                                                                                              \
        return NAME##_outstanding(c, report);                                                      \
    }

#endif
