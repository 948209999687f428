/* Sets of 64-bit numbers, and of addresses. Nothing depends on the order of their tables. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_SET_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"

/* Each key with 64 bits of its own; all zero is an empty set. */
struct itrace_set {
    struct hash_table entries;
};

/* The bits of `key`, which is added with none if it is not there. Valid until the next addition. */
uint64_t *itrace_set_add(struct itrace_set *set, uint64_t key);
/* The bits of `key`; 0 where it is not there. */
uint64_t itrace_set_get(const struct itrace_set *set, uint64_t key);
/* The number of keys that both have. */
uint64_t itrace_set_common(const struct itrace_set *a, const struct itrace_set *b);
/* The number of bits that are set, of all keys together. */
uint64_t itrace_set_bits(const struct itrace_set *set);
void itrace_set_release(struct itrace_set *set);

#endif
