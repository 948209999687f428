/* Byte masks of memory lines, and what is done to the bytes they name. Used by everything that
 * speaks `mem`.
 *
 * A mask has one bit for each byte of a line of at most 128 bytes; bits beyond the line are zero.
 * It has the layout of the `mask` field of a message (words of 64 bits, byte i of the line is bit i
 * % 64 of word i / 64). `line` is nearly always a constant here, so the second word costs nothing
 * for lines of 64 bytes. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_MEM_MEM_MASK_H
#define HEDDLE_COMPONENTS_PROTOCOLS_MEM_MEM_MASK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "components/amd/isa/isa.h"

#define MEM_LINE_MAX 128

struct mem_mask {
    uint64_t word[2];
};

static inline uint64_t mem_mask_low_bits(unsigned count)
{
    return count >= 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

static inline struct mem_mask mem_mask_full(unsigned line)
{
    struct mem_mask m = {{mem_mask_low_bits(line), line > 64 ? mem_mask_low_bits(line - 64) : 0}};
    return m;
}

/* Bytes first .. first + count - 1. */
static inline struct mem_mask mem_mask_range(unsigned first, unsigned count, unsigned line)
{
    struct mem_mask m = {{0, 0}};
    if (line <= 64 || first + count <= 64) {
        m.word[0] = mem_mask_low_bits(count) << first;
    } else if (first >= 64) {
        m.word[1] = mem_mask_low_bits(count) << (first - 64);
    } else {
        m.word[0] = UINT64_MAX << first;
        m.word[1] = mem_mask_low_bits(first + count - 64);
    }
    return m;
}

static inline struct mem_mask mem_mask_load(const uint64_t *words, unsigned line)
{
    struct mem_mask m = {{words[0], line > 64 ? words[1] : 0}};
    return m;
}

static inline void mem_mask_store(uint64_t *words, struct mem_mask m, unsigned line)
{
    words[0] = m.word[0];
    if (line > 64)
        words[1] = m.word[1];
}

/* The mask of bytes that lie `by` bytes further up, in a line that holds them. */
static inline struct mem_mask mem_mask_up(struct mem_mask m, unsigned by)
{
    if (by >= 64)
        return (struct mem_mask){{0, m.word[0] << (by - 64)}};
    if (by == 0)
        return m;
    return (struct mem_mask){{m.word[0] << by, m.word[1] << by | m.word[0] >> (64 - by)}};
}

static inline bool mem_mask_is_full(struct mem_mask m, unsigned line)
{
    struct mem_mask full = mem_mask_full(line);
    return m.word[0] == full.word[0] && m.word[1] == full.word[1];
}

/* True if `mask` holds every byte of `part`. */
static inline bool mem_mask_covers(struct mem_mask mask, struct mem_mask part)
{
    return !((part.word[0] & ~mask.word[0]) | (part.word[1] & ~mask.word[1]));
}

static inline struct mem_mask mem_mask_or(struct mem_mask a, struct mem_mask b)
{
    struct mem_mask m = {{a.word[0] | b.word[0], a.word[1] | b.word[1]}};
    return m;
}

static inline struct mem_mask mem_mask_not(struct mem_mask a, unsigned line)
{
    struct mem_mask full = mem_mask_full(line);
    struct mem_mask m = {{full.word[0] & ~a.word[0], full.word[1] & ~a.word[1]}};
    return m;
}

static inline unsigned mem_mask_count(struct mem_mask m)
{
    return (unsigned)(__builtin_popcountll(m.word[0]) + __builtin_popcountll(m.word[1]));
}

/* Eight mask bits as eight bytes of 0x00 or 0xff. */
static inline uint64_t mem_mask_spread(uint64_t bits)
{
    uint64_t each =
        (bits * 0x0101010101010101u) & 0x8040201008040201u; /* byte i keeps bit i only */
    uint64_t top = ((each + 0x7f7f7f7f7f7f7f7fu) | each) & 0x8080808080808080u;
    return (top >> 7) * 0xff;
}

/* Copies the bytes of the line that `mask` names. */
static inline void mem_copy_masked(void *to, const void *from, struct mem_mask mask, unsigned line)
{
    if (mem_mask_is_full(mask, line)) {
        memcpy(to, from, line);
        return;
    }
    for (unsigned i = 0; i < line / 8; i++) {
        uint64_t bits = mask.word[i / 8] >> (i % 8 * 8) & 0xff;
        if (!bits)
            continue;
        uint64_t keep = mem_mask_spread(bits), old, new;
        memcpy(&old, (const char *)to + i * 8, 8);
        memcpy(&new, (const char *)from + i * 8, 8);
        old = (old & ~keep) | (new &keep);
        memcpy((char *)to + i * 8, &old, 8);
    }
}

/* The read-modify-write `op` on all elements of `size` bytes that `mask` names; old values to their
 * places in `old` unless it is NULL. */
static inline void mem_apply_atomic(unsigned op, unsigned size, struct mem_mask mask, void *data,
                                    const void *operand, const void *compare, void *old)
{
    for (unsigned w = 0; w < 2; w++) {
        uint64_t bits = mask.word[w];
        while (bits) {
            unsigned bit = (unsigned)__builtin_ctzll(bits), at = w * 64 + bit;
            isa_atomic_apply((enum isa_atomic)op, size, (char *)data + at,
                             (const char *)operand + at, (const char *)compare + at,
                             old ? (char *)old + at : NULL);
            bits &= ~(mem_mask_low_bits(size) << bit);
        }
    }
}

#endif
