/* From the accesses of 64 lanes to lines of 64 bytes, and the bytes between lanes and lines.
 *
 * Pure functions on struct isa_memory. A *stage* holds what the lanes move: lane l's bytes at stage + l * bytes. A lane's
 * access is one run of `bytes` bytes, or, for lanes of swizzle_mask, runs of 4 bytes that stand dword_stride apart.
 * Invariant: every byte of every active lane lies in exactly one of the lines returned whose `lanes` has the lane (atomics:
 * exactly one message), and lines come in the order of the lowest lane that touches them. Lanes in ascending order write
 * a line, so that the highest lane wins where several store to one address. */
#ifndef HEDDLE_COMPUTE_UNIT_COALESCER_H
#define HEDDLE_COMPUTE_UNIT_COALESCER_H

#include "components/amd/isa/isa.h"

enum {
    COALESCER_LINE = 64,
    COALESCER_MAX_LINES = 256 /* 64 lanes of four dwords in lines of their own */
};

struct coalesced_line {
    uint64_t address;
    uint64_t lanes;
};

/* Do the active lanes access one contiguous run, lane l at *base + l * bytes? */
static inline bool coalescer_is_linear(const struct isa_memory *m, uint64_t *base)
{
    uint64_t wrong = 0;
    if (!m->mask || m->swizzle_mask)
        return false;
    unsigned first = (unsigned)__builtin_ctzll(m->mask);
    uint64_t start = m->address[first] - (uint64_t)first * m->bytes;
    if (m->mask == UINT64_MAX) {
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            wrong |= m->address[lane] ^ (start + (uint64_t)lane * m->bytes);
    } else {
        for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            wrong |= m->address[lane] ^ (start + (uint64_t)lane * m->bytes);
        }
    }
    *base = start;
    return !wrong;
}

static inline uint64_t coalescer_lane_range(unsigned first, unsigned last)
{
    return (UINT64_MAX >> (63 - last)) & (UINT64_MAX << first);
}

/* Lines of a linear access: the lanes follow from the address. */
static inline unsigned coalescer_linear_lines(const struct isa_memory *m, uint64_t base,
                                              struct coalesced_line *out)
{
    unsigned count = 0;
    unsigned last = 63 - (unsigned)__builtin_clzll(m->mask);
    unsigned first = (unsigned)__builtin_ctzll(m->mask);
    uint64_t end = base + (uint64_t)(last + 1) * m->bytes;
    uint64_t line = (base + (uint64_t)first * m->bytes) & ~(uint64_t)(COALESCER_LINE - 1);
    for (; line < end; line += COALESCER_LINE) {
        uint64_t low = line > base ? (line - base) / m->bytes : 0;
        uint64_t high = (line + COALESCER_LINE - 1 - base) / m->bytes;
        uint64_t lanes = m->mask & coalescer_lane_range((unsigned)low, high > 63 ? 63 : (unsigned)high);
        if (lanes)
            out[count++] = (struct coalesced_line){line, lanes};
    }
    return count;
}

/* Finds lines by address: a look at the last few, then open addressing over the lines of one instruction. */
enum { COALESCER_FEW = 8, COALESCER_SLOTS = 512 };

struct coalescer_index {
    bool used;
    uint16_t slot[COALESCER_SLOTS]; /* 1 + position in the list of lines; written when `used` */
};

static inline unsigned coalescer_slot(const struct coalescer_index *index, const struct coalesced_line *out,
                                      uint64_t line)
{
    unsigned h = (unsigned)((line >> 6) ^ (line >> 15)) & (COALESCER_SLOTS - 1);
    while (index->slot[h] && out[index->slot[h] - 1].address != line)
        h = (h + 1) & (COALESCER_SLOTS - 1);
    return h;
}

static inline unsigned coalescer_add(struct coalescer_index *index, struct coalesced_line *out,
                                     unsigned count, uint64_t line, uint64_t lanes)
{
    unsigned h = 0;
    if (count <= COALESCER_FEW) {
        for (unsigned i = count; i-- > 0;) {
            if (out[i].address == line) {
                out[i].lanes |= lanes;
                return count;
            }
        }
    } else {
        if (!index->used) {
            memset(index->slot, 0, sizeof index->slot);
            index->used = true;
            for (unsigned i = 0; i < count; i++)
                index->slot[coalescer_slot(index, out, out[i].address)] = (uint16_t)(i + 1);
        }
        h = coalescer_slot(index, out, line);
        if (index->slot[h]) {
            out[index->slot[h] - 1].lanes |= lanes;
            return count;
        }
        index->slot[h] = (uint16_t)(count + 1);
    }
    out[count] = (struct coalesced_line){line, lanes};
    return count + 1;
}

/* Runs of one lane: how many, and how long each. */
static inline unsigned coalescer_runs(const struct isa_memory *m, unsigned lane, unsigned *run_bytes)
{
    bool swizzled = (m->swizzle_mask >> lane & 1) && m->bytes > 4;
    *run_bytes = swizzled ? 4 : m->bytes;
    return swizzled ? m->bytes / 4 : 1;
}

/* Does each active lane's access lie in one line? */
static inline bool coalescer_stays_in_lines(const struct isa_memory *m)
{
    uint64_t room = COALESCER_LINE - m->bytes, crossing = 0;
    if (m->swizzle_mask && m->bytes > 4)
        return false;
    if (m->mask == UINT64_MAX) {
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            crossing |= room - (m->address[lane] & (COALESCER_LINE - 1));
    } else {
        for (uint64_t rest = m->mask; rest; rest &= rest - 1)
            crossing |= room - (m->address[__builtin_ctzll(rest)] & (COALESCER_LINE - 1));
    }
    return !(crossing >> 63);
}

/* Lines of an access whose lanes stay in lines: neighbouring lanes in the same line are found together. */
static inline unsigned coalescer_simple_lines(const struct isa_memory *m, struct coalesced_line *out)
{
    struct coalescer_index index;
    unsigned count = 0, lane = m->mask ? (unsigned)__builtin_ctzll(m->mask) : ISA_LANES;
    index.used = false;
    while (lane < ISA_LANES) {
        uint64_t line = m->address[lane] & ~(uint64_t)(COALESCER_LINE - 1);
        unsigned first = lane++;
        while (lane < ISA_LANES && (!(m->mask >> lane & 1) || m->address[lane] - line < COALESCER_LINE))
            lane++;
        count = coalescer_add(&index, out, count, line, m->mask & coalescer_lane_range(first, lane - 1));
    }
    return count;
}

/* Lines of any load or store; returns their number, at most COALESCER_MAX_LINES. */
static inline unsigned coalescer_lines(const struct isa_memory *m, struct coalesced_line *out)
{
    struct coalescer_index index;
    const uint64_t in_line = COALESCER_LINE - 1;
    unsigned count = 0;
    index.used = false;
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest), bytes;
        unsigned runs = coalescer_runs(m, lane, &bytes);
        uint64_t bit = (uint64_t)1 << lane;
        for (unsigned i = 0; i < runs; i++) {
            uint64_t first = m->address[lane] + (uint64_t)i * m->dword_stride;
            uint64_t line = first & ~in_line;
            count = coalescer_add(&index, out, count, line, bit);
            if (((first + bytes - 1) & ~in_line) != line)
                count = coalescer_add(&index, out, count, line + COALESCER_LINE, bit);
        }
    }
    return count;
}

/* Messages of an atomic: in one of them no two lanes have the same address. Returns their number, at most 64. */
static inline unsigned coalescer_atomics(const struct isa_memory *m, struct coalesced_line *out)
{
    unsigned count = 0;
    uint64_t taken[ISA_LANES]; /* bit i: bytes from i on in the line are used by this message */
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest), i = 0;
        uint64_t line = m->address[lane] & ~(uint64_t)(COALESCER_LINE - 1);
        uint64_t bit = (uint64_t)1 << (m->address[lane] - line);
        while (i < count && (out[i].address != line || (taken[i] & bit)))
            i++;
        if (i == count) {
            out[count] = (struct coalesced_line){line, 0};
            taken[count++] = 0;
        }
        out[i].lanes |= (uint64_t)1 << lane;
        taken[i] |= bit;
    }
    return count;
}

/* The part of a run [address, address + bytes) that lies in the line: where in both, and how much. */
struct coalescer_overlap {
    unsigned in_line, in_run, bytes;
};

static inline struct coalescer_overlap coalescer_overlap(uint64_t line, uint64_t address, unsigned bytes)
{
    struct coalescer_overlap o = {0, 0, 0};
    uint64_t end = address + bytes, line_end = line + COALESCER_LINE;
    uint64_t first = address > line ? address : line;
    uint64_t last = end < line_end ? end : line_end;
    if (first < last)
        o = (struct coalescer_overlap){(unsigned)(first - line), (unsigned)(first - address),
                                       (unsigned)(last - first)};
    return o;
}

static inline uint64_t coalescer_byte_mask(unsigned first, unsigned bytes)
{
    return bytes == 64 ? UINT64_MAX : (((uint64_t)1 << bytes) - 1) << first;
}

/* coalescer_from_line() for dwords in lines, with the places of the lanes' dwords in their lines; and for linear accesses,
 * where bytes for lanes that are not active may be written to the stage, too: whole pieces at once. */
static inline void coalescer_dwords_from_line(const uint8_t *offset, uint64_t lanes, const uint8_t *data,
                                              uint8_t *stage)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        memcpy(stage + lane * 4, data + offset[lane], 4);
    }
}

static inline void coalescer_linear_from_line(const struct isa_memory *m, uint64_t base, uint64_t line,
                                              const uint8_t *data, uint8_t *stage)
{
    uint64_t end = base + (uint64_t)ISA_LANES * m->bytes;
    uint64_t first = line > base ? line : base, last = line + COALESCER_LINE;
    last = last < end ? last : end;
    if (first == line && last == line + COALESCER_LINE)
        memcpy(stage + (first - base), data, COALESCER_LINE);
    else
        memcpy(stage + (first - base), data + (first - line), last - first);
}

/* coalescer_to_line() for linear accesses with all lanes active. */
static inline uint64_t coalescer_linear_to_line(const struct isa_memory *m, uint64_t base, uint64_t line,
                                                const uint8_t *stage, uint8_t *data)
{
    uint64_t end = base + (uint64_t)ISA_LANES * m->bytes;
    uint64_t first = line > base ? line : base, last = line + COALESCER_LINE;
    last = last < end ? last : end;
    memcpy(data + (first - line), stage + (first - base), last - first);
    return coalescer_byte_mask((unsigned)(first - line), (unsigned)(last - first));
}

/* Copies what the lanes of `line` read from the line's bytes to their stage. */
static inline void coalescer_from_line(const struct isa_memory *m, struct coalesced_line line,
                                       const uint8_t *data, uint8_t *stage)
{
    for (uint64_t rest = line.lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest), bytes;
        unsigned runs = coalescer_runs(m, lane, &bytes);
        uint8_t *to = stage + lane * m->bytes;
        uint64_t offset = m->address[lane] - line.address;
        if (bytes == 4 && runs == 1 && offset <= COALESCER_LINE - 4) {
            memcpy(to, data + offset, 4);
            continue;
        }
        for (unsigned i = 0; i < runs; i++) {
            struct coalescer_overlap o = coalescer_overlap(
                line.address, m->address[lane] + (uint64_t)i * m->dword_stride, bytes);
            memcpy(to + i * bytes + o.in_run, data + o.in_line, o.bytes);
        }
    }
}

/* Copies what the lanes of `line` write from their stage to the line's bytes; returns the mask of bytes written. */
static inline uint64_t coalescer_to_line(const struct isa_memory *m, struct coalesced_line line,
                                         const uint8_t *stage, uint8_t *data)
{
    uint64_t mask = 0;
    for (uint64_t rest = line.lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest), bytes;
        unsigned runs = coalescer_runs(m, lane, &bytes);
        const uint8_t *from = stage + lane * m->bytes;
        uint64_t offset = m->address[lane] - line.address;
        if (bytes == 4 && runs == 1 && offset <= COALESCER_LINE - 4) {
            memcpy(data + offset, from, 4);
            mask |= (uint64_t)15 << offset;
            continue;
        }
        for (unsigned i = 0; i < runs; i++) {
            struct coalescer_overlap o = coalescer_overlap(
                line.address, m->address[lane] + (uint64_t)i * m->dword_stride, bytes);
            if (!o.bytes)
                continue;
            memcpy(data + o.in_line, from + i * bytes + o.in_run, o.bytes);
            mask |= coalescer_byte_mask(o.in_line, o.bytes);
        }
    }
    return mask;
}

#endif
