/* The lines that an access touches, and the lane to which each of their bytes belongs. The common
 * shapes of an access have functions of their own; coalescer_lines(), coalescer_from_line() and
 * coalescer_to_line() take any. */
#include "coalescer.h"

#include <string.h>

#include "base/number.h"

/* Whole accesses of `bytes` in `distance`; nearly always bytes are a power of two, and nothing is
 * divided. */
static inline unsigned coalescer_accesses(uint64_t distance, unsigned bytes)
{
    return bytes & (bytes - 1) ? (uint32_t)distance / bytes
                               : (unsigned)(distance >> __builtin_ctz(bytes));
}

unsigned coalescer_linear_lines(const struct isa_memory *m, uint64_t base,
                                struct coalesced_line *out)
{
    unsigned count = 0;
    unsigned last = 63 - (unsigned)__builtin_clzll(m->mask);
    unsigned first = (unsigned)__builtin_ctzll(m->mask);
    uint64_t end = base + (uint64_t)(last + 1) * m->bytes;
    uint64_t line = round_down(base + (uint64_t)first * m->bytes, COALESCER_LINE);
    for (; line < end; line += COALESCER_LINE) {
        unsigned low = line > base ? coalescer_accesses(line - base, m->bytes) : 0;
        unsigned high = coalescer_accesses(line + COALESCER_LINE - 1 - base, m->bytes);
        uint64_t lanes = m->mask & coalescer_lane_range(low, min(high, 63));
        if (lanes)
            out[count++] = (struct coalesced_line){line, lanes};
    }
    return count;
}

/* Finds lines by address: a look at the last few, then open addressing over the lines of one
 * instruction. */
enum { COALESCER_FEW = 8, COALESCER_SLOTS = 512 };

struct coalescer_index {
    bool is_used;
    uint16_t slot[COALESCER_SLOTS]; /* 1 + position in the list of lines; written when `used` */
};

static unsigned coalescer_slot(const struct coalescer_index *index,
                               const struct coalesced_line *out, uint64_t line)
{
    unsigned h = (unsigned)((line >> 6) ^ (line >> 15)) & (COALESCER_SLOTS - 1);
    while (index->slot[h] && out[index->slot[h] - 1].address != line)
        h = (h + 1) & (COALESCER_SLOTS - 1);
    return h;
}

static unsigned coalescer_add(struct coalescer_index *index, struct coalesced_line *out,
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
        if (!index->is_used) {
            memset(index->slot, 0, sizeof index->slot);
            index->is_used = true;
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

unsigned coalescer_simple_lines(const struct isa_memory *m, struct coalesced_line *out)
{
    struct coalescer_index index;
    unsigned count = 0, lane = m->mask ? (unsigned)__builtin_ctzll(m->mask) : ISA_LANES;
    index.is_used = false;
    if (m->mask == UINT64_MAX) {
        for (uint64_t breaks = isa_memory_breaks(m->address); breaks;) {
            unsigned first = (unsigned)__builtin_ctzll(breaks);
            breaks &= breaks - 1;
            unsigned last = (breaks ? (unsigned)__builtin_ctzll(breaks) : ISA_LANES) - 1;
            count = coalescer_add(&index, out, count, round_down(m->address[first], COALESCER_LINE),
                                  coalescer_lane_range(first, last));
        }
        return count;
    }
    while (lane < ISA_LANES) {
        uint64_t line = round_down(m->address[lane], COALESCER_LINE);
        unsigned first = lane++;
        while (lane < ISA_LANES
               && (!(m->mask >> lane & 1) || m->address[lane] - line < COALESCER_LINE))
            lane++;
        count = coalescer_add(&index, out, count, line,
                              m->mask & coalescer_lane_range(first, lane - 1));
    }
    return count;
}

unsigned coalescer_lines(const struct isa_memory *m, struct coalesced_line *out)
{
    struct coalescer_index index;
    const uint64_t in_line = COALESCER_LINE - 1;
    unsigned count = 0;
    index.is_used = false;
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest), bytes;
        unsigned runs = coalescer_runs(m, lane, &bytes);
        uint64_t bit = (uint64_t)1 << lane;
        for (unsigned i = 0; i < runs; i++) {
            uint64_t first = coalescer_run(m, lane, i, bytes);
            uint64_t line = first & ~in_line;
            count = coalescer_add(&index, out, count, line, bit);
            if (((first + bytes - 1) & ~in_line) != line)
                count = coalescer_add(&index, out, count, line + COALESCER_LINE, bit);
        }
    }
    return count;
}

unsigned coalescer_atomics(const struct isa_memory *m, struct coalesced_line *out)
{
    unsigned count = 0;
    uint64_t taken[ISA_LANES]; /* bit i: bytes from i on in the line are used by this message */
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest), i = 0;
        uint64_t line = round_down(m->address[lane], COALESCER_LINE);
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

/* True if the active lanes [first, first + lanes) stay in one line or belong to one run. */
static bool coalescer_group_is_one(const struct isa_memory *m, unsigned first, unsigned lanes,
                                   unsigned tag_line)
{
    uint64_t mask = m->mask >> first & (lanes == 64 ? UINT64_MAX : ((uint64_t)1 << lanes) - 1);
    if (!mask)
        return true;
    uint64_t line = m->address[first + (unsigned)__builtin_ctzll(mask)] / tag_line;
    uint64_t base = m->address[first];
    bool one = true, run = true;
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(mask);
        uint64_t at = m->address[first + lane];
        one &= at / tag_line == line && (at + m->bytes - 1) / tag_line == line;
        run &= (m->mask >> first & 1) && at == base + (uint64_t)lane * m->bytes;
    }
    return one || run;
}

/* Different numbers in each bank of so many. */
struct coalescer_banks {
    unsigned count[COALESCER_BANKS];
    uint64_t seen[COALESCER_BANKS][COALESCER_QUAD];
};

/* Returns the count of numbers, `number` among them, that lie in its bank. */
static unsigned coalescer_bank_add(struct coalescer_banks *b, uint64_t number, unsigned banks)
{
    unsigned bank = number % banks, i = 0;
    while (i < b->count[bank] && b->seen[bank][i] != number)
        i++;
    if (i == b->count[bank])
        b->seen[bank][b->count[bank]++] = number;
    return b->count[bank];
}

/* Cycles for the addresses of the four lanes from `first` on. */
static unsigned coalescer_quad_cycles(const struct isa_memory *m, unsigned first,
                                      struct coalescer_tags tags)
{
    unsigned element = m->bytes <= 4 ? 4 : m->bytes <= 8 ? 8 : 16, most = 0;
    struct coalescer_banks lines = {.count = {0}}, elements = {.count = {0}};
    for (unsigned lane = first; lane < first + COALESCER_QUAD; lane++) {
        if (!(m->mask >> lane & 1))
            continue;
        uint64_t at = m->address[lane];
        most = max(coalescer_bank_add(&lines, at / tags.line, tags.rams), most);
        most = max(coalescer_bank_add(&elements, at / element, COALESCER_QUAD), most);
    }
    return most;
}

unsigned coalescer_address_cycles(const struct isa_memory *m, unsigned lanes,
                                  struct coalescer_tags tags)
{
    unsigned cycles = 0;
    if (m->swizzle_mask) /* each dword of the lanes is a run */
        return divide_up(m->bytes, 4) * divide_up(ISA_LANES, lanes);
    for (unsigned first = 0; first < ISA_LANES; first += lanes) {
        if (coalescer_group_is_one(m, first, lanes, tags.line)) {
            cycles++;
            continue;
        }
        for (unsigned quad = first; quad < first + lanes; quad += COALESCER_QUAD)
            cycles += coalescer_quad_cycles(m, quad, tags);
    }
    return cycles;
}

void coalescer_from_line(const struct isa_memory *m, struct coalesced_line line,
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
            struct coalescer_overlap o =
                coalescer_overlap(line.address, coalescer_run(m, lane, i, bytes), bytes);
            memcpy(to + i * bytes + o.in_run, data + o.in_line, o.bytes);
        }
    }
}

uint64_t coalescer_to_line(const struct isa_memory *m, struct coalesced_line line,
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
            struct coalescer_overlap o =
                coalescer_overlap(line.address, coalescer_run(m, lane, i, bytes), bytes);
            if (!o.bytes)
                continue;
            memcpy(data + o.in_line, from + i * bytes + o.in_run, o.bytes);
            mask |= coalescer_byte_mask(o.in_line, o.bytes);
        }
    }
    return mask;
}

/* Moves the bytes of a lane by copies of a known size. */
static inline void coalescer_copy(uint8_t *to, const uint8_t *from, unsigned bytes)
{
    switch (bytes) {
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    default:
        memcpy(to, from, bytes);
    }
}

void coalescer_inside_from_line(const uint8_t offset[ISA_LANES], unsigned bytes, uint64_t lanes,
                                const uint8_t *data, uint8_t *stage)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        coalescer_copy(stage + lane * bytes, data + offset[lane], bytes);
    }
}

uint64_t coalescer_inside_to_line(const uint8_t offset[ISA_LANES], unsigned bytes, uint64_t lanes,
                                  const uint8_t *stage, uint8_t *data)
{
    uint64_t mask = 0, run = coalescer_byte_mask(0, bytes);
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        coalescer_copy(data + offset[lane], stage + lane * bytes, bytes);
        mask |= run << offset[lane];
    }
    return mask;
}
