/* A fast hash of bytes, 128 bits: names the content of a trace file and finds damage in a cache. It
 * guards against accidents, not against an adversary. What it gives does not depend on how the
 * bytes are cut into pieces. */
#ifndef HEDDLE_COMPONENTS_ITRACE_HASH_H
#define HEDDLE_COMPONENTS_ITRACE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct itrace_hash {
    uint64_t lane[4];
    uint8_t rest[32]; /* less than a block */
    uint64_t size;    /* bytes so far */
};

struct itrace_digest {
    uint64_t word[2];
};

void itrace_hash_init(struct itrace_hash *hash);
void itrace_hash_add(struct itrace_hash *hash, const void *bytes, size_t size);
struct itrace_digest itrace_hash_finish(struct itrace_hash *hash);

#endif
