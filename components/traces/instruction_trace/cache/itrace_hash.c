/* Four lanes of 64 bits, each a multiply and a rotation for its word of a 32-byte block; the end is
 * padded with its own length and mixed until every bit has reached every other. */
#include "components/traces/instruction_trace/cache/itrace_hash.h"

#include <string.h>

/* Odd numbers without structure: the fractions of the square roots of 2, 3, 5 and 7. */
static const uint64_t factor[4] = {0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                   0xa54ff53a5f1d36f1};

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static void add_block(uint64_t lane[4], const uint8_t *bytes)
{
    for (unsigned i = 0; i < 4; i++) {
        uint64_t word;
        memcpy(&word, bytes + 8 * i, 8);
        lane[i] = rotate((lane[i] ^ word) * factor[i], 29);
    }
}

void itrace_hash_init(struct itrace_hash *hash)
{
    *hash = (struct itrace_hash){.lane = {factor[3], factor[2], factor[1], factor[0]}};
}

void itrace_hash_add(struct itrace_hash *hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    size_t have = hash->size % 32;
    hash->size += size;
    if (have) {
        size_t part = size < 32 - have ? size : 32 - have;
        memcpy(hash->rest + have, bytes, part);
        bytes += part;
        size -= part;
        if (have + part < 32)
            return;
        add_block(hash->lane, hash->rest);
    }
    uint64_t lane[4];
    memcpy(lane, hash->lane, sizeof lane);
    for (; size >= 32; bytes += 32, size -= 32)
        add_block(lane, bytes);
    memcpy(hash->lane, lane, sizeof lane);
    if (size)
        memcpy(hash->rest, bytes, size);
}

struct itrace_digest itrace_hash_finish(struct itrace_hash *hash)
{
    size_t have = hash->size % 32;
    uint8_t last[32] = {0};
    memcpy(last, hash->rest, have);
    add_block(hash->lane, last);
    uint64_t lengths[4] = {hash->size, ~hash->size, hash->size, ~hash->size};
    memcpy(last, lengths, sizeof last);
    for (unsigned round = 0; round < 4; round++) {
        add_block(hash->lane, last);
        for (unsigned i = 0; i < 4; i++)
            hash->lane[i] ^= rotate(hash->lane[(i + 1) % 4], 17) ^ hash->lane[i] >> 31;
    }
    return (struct itrace_digest){{hash->lane[0] ^ hash->lane[2], hash->lane[1] ^ hash->lane[3]}};
}
