/* See lz4_block.h. Invariant: `at` and `done` never pass the ends of their buffers; a match begins
 * inside of what was written. */
#include "lz4_block.h"

#include <string.h>

enum {
    LENGTH_EXTENDED = 15, /* a length of four bits that goes on in further bytes */
    BYTE_EXTENDED = 255,
    MATCH_MIN = 4
};

struct reader {
    const uint8_t *at, *end;
};

/* The rest of a length: bytes are added up to the first one that is not 255. */
static bool read_length(struct reader *from, size_t *length)
{
    uint8_t byte = BYTE_EXTENDED;
    if (*length < LENGTH_EXTENDED)
        return true;
    while (byte == BYTE_EXTENDED) {
        if (from->at == from->end)
            return false;
        byte = *from->at++;
        *length += byte;
    }
    return true;
}

/* The bytes may overlap what they are copied from: "abab..." is a match at distance 2. */
static void copy_match(uint8_t *to, size_t distance, size_t length)
{
    const uint8_t *from = to - distance;
    for (size_t i = 0; i < length; i++)
        to[i] = from[i];
}

bool lz4_block_unpack(const uint8_t *from, size_t from_size, uint8_t *to, size_t to_size)
{
    struct reader reader = {from, from + from_size};
    size_t done = 0;
    while (reader.at < reader.end) {
        const uint8_t token = *reader.at++;
        size_t literals = token >> 4, match = token & LENGTH_EXTENDED;
        if (!read_length(&reader, &literals) || literals > (size_t)(reader.end - reader.at)
            || literals > to_size - done)
            return false;
        memcpy(to + done, reader.at, literals);
        reader.at += literals;
        done += literals;
        if (reader.at == reader.end)
            break; /* the last sequence has no match */
        if (reader.end - reader.at < 2)
            return false;
        size_t distance = reader.at[0] | (size_t)reader.at[1] << 8;
        reader.at += 2;
        if (!read_length(&reader, &match))
            return false;
        match += MATCH_MIN;
        if (distance == 0 || distance > done || match > to_size - done)
            return false;
        copy_match(to + done, distance, match);
        done += match;
    }
    return done == to_size;
}
