/* A set of the GPUs of a platform, by their numbers: a value, which is copied and compared. */
#ifndef HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_GPU_SET_H
#define HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_GPU_SET_H

#include <stdbool.h>
#include <stdint.h>

enum { GPU_SET_MAX = 512, GPU_SET_WORDS = GPU_SET_MAX / 64, GPU_SET_NONE = -1 };

struct gpu_set {
    uint64_t word[GPU_SET_WORDS];
};

static inline bool gpu_set_has(const struct gpu_set *set, uint32_t gpu)
{
    return set->word[gpu / 64 % GPU_SET_WORDS] >> gpu % 64 & 1;
}

static inline void gpu_set_put(struct gpu_set *set, uint32_t gpu)
{
    set->word[gpu / 64 % GPU_SET_WORDS] |= (uint64_t)1 << gpu % 64;
}

static inline void gpu_set_drop(struct gpu_set *set, uint32_t gpu)
{
    set->word[gpu / 64 % GPU_SET_WORDS] &= ~((uint64_t)1 << gpu % 64);
}

static inline struct gpu_set gpu_set_of(uint32_t gpu)
{
    struct gpu_set set = {{0}};
    gpu_set_put(&set, gpu);
    return set;
}

/* All from 0 to count - 1. */
static inline struct gpu_set gpu_set_first(uint32_t count)
{
    struct gpu_set set = {{0}};
    for (uint32_t i = 0; i < count; i++)
        gpu_set_put(&set, i);
    return set;
}

static inline struct gpu_set gpu_set_join(struct gpu_set a, const struct gpu_set *b)
{
    for (unsigned i = 0; i < GPU_SET_WORDS; i++)
        a.word[i] |= b->word[i];
    return a;
}

/* `a` without those of `b`. */
static inline struct gpu_set gpu_set_without(struct gpu_set a, const struct gpu_set *b)
{
    for (unsigned i = 0; i < GPU_SET_WORDS; i++)
        a.word[i] &= ~b->word[i];
    return a;
}

static inline bool gpu_set_meets(const struct gpu_set *a, const struct gpu_set *b)
{
    uint64_t both = 0;
    for (unsigned i = 0; i < GPU_SET_WORDS; i++)
        both |= a->word[i] & b->word[i];
    return both != 0;
}

static inline bool gpu_set_any(const struct gpu_set *set)
{
    return gpu_set_meets(set, set);
}

/* The lowest number from `from` on, or GPU_SET_NONE:
 * `for (int i = GPU_SET_NONE; (i = gpu_set_next(&set, i + 1)) != GPU_SET_NONE;)`. */
static inline int gpu_set_next(const struct gpu_set *set, int from)
{
    for (unsigned i = (unsigned)from / 64; i < GPU_SET_WORDS; i++) {
        uint64_t bits = set->word[i];
        bits &= i == (unsigned)from / 64 ? UINT64_MAX << from % 64 : UINT64_MAX;
        if (bits)
            return (int)(64 * i) + __builtin_ctzll(bits);
    }
    return GPU_SET_NONE;
}

#endif
