/* Open addressing with linear probing, at most half full. */
#include "components/traces/instruction_trace/reader/itrace_set.h"

#include "base/hash.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"

static size_t place_of_key(const struct itrace_set *set, uint64_t key)
{
    size_t mask = set->capacity - 1, at = (size_t)(hash_multiply(key) >> 20) & mask;
    while (set->keys[at] != 0 && set->keys[at] != key + 1)
        at = (at + 1) & mask;
    return at;
}

static void grow(struct itrace_set *set)
{
    struct itrace_set larger = {.capacity = set->capacity ? 2 * set->capacity : 256,
                                .count = set->count};
    larger.keys = itrace_allocate(larger.capacity, sizeof *larger.keys);
    larger.bits = itrace_allocate(larger.capacity, sizeof *larger.bits);
    for (size_t i = 0; i < set->capacity; i++)
        if (set->keys[i]) {
            size_t at = place_of_key(&larger, set->keys[i] - 1);
            larger.keys[at] = set->keys[i];
            larger.bits[at] = set->bits[i];
        }
    itrace_set_release(set);
    *set = larger;
}

uint64_t *itrace_set_add(struct itrace_set *set, uint64_t key)
{
    if (2 * set->count >= set->capacity)
        grow(set);
    size_t at = place_of_key(set, key);
    if (!set->keys[at]) {
        set->keys[at] = key + 1;
        set->count++;
    }
    return &set->bits[at];
}

static bool itrace_set_has(const struct itrace_set *set, uint64_t key)
{
    return set->count > 0 && set->keys[place_of_key(set, key)] != 0;
}

uint64_t itrace_set_get(const struct itrace_set *set, uint64_t key)
{
    return set->count ? set->bits[place_of_key(set, key)] : 0;
}

uint64_t itrace_set_common(const struct itrace_set *a, const struct itrace_set *b)
{
    uint64_t common = 0;
    for (size_t i = 0; i < a->capacity; i++)
        common += a->keys[i] && itrace_set_has(b, a->keys[i] - 1);
    return common;
}

uint64_t itrace_set_bits(const struct itrace_set *set)
{
    uint64_t count = 0;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->keys[i])
            count += (uint64_t)__builtin_popcountll(set->bits[i]);
    return count;
}

void itrace_set_release(struct itrace_set *set)
{
    itrace_free(set->keys);
    itrace_free(set->bits);
    *set = (struct itrace_set){0};
}
