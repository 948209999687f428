/* Turns the accesses of 64 lanes into lines of 64 bytes, and moves bytes between lanes and lines.
 *
 * Pure functions on struct isa_memory. A *stage* holds the bytes that the lanes move: lane l's
 * bytes at stage + l * bytes. A lane's access is one run of `bytes` bytes. Lanes of swizzle_mask
 * have runs of 4 bytes, dword_stride apart, and fewer of them if they are in short_mask; lanes of
 * straddle_mask have runs of single bytes. Invariant: every byte of every active lane lies in
 * exactly one of the lines returned whose `lanes` has the lane (atomics: exactly one message), and
 * lines come in the order of the lowest lane that touches them. Lanes in ascending order write a
 * line, so that the highest lane wins where several store to one address. */
#ifndef HEDDLE_COMPONENTS_AMD_EXECUTE_COALESCER_H
#define HEDDLE_COMPONENTS_AMD_EXECUTE_COALESCER_H

#include "base/number.h"
#include "components/amd/isa/isa.h"

enum {
    COALESCER_LINE = 64,
    COALESCER_LINES_MAX = 320, /* 64 lanes with parts of five dwords in lines of their own */
    COALESCER_QUAD = 4,        /* lanes whose addresses are looked at together */
    COALESCER_BANKS = 4        /* banks of elements, and tag RAMs at most */
};

struct coalesced_line {
    uint64_t address;
    uint64_t lanes;
};

/* True if the active lanes, at least one, access one contiguous run, lane l at r->base + l *
 * bytes. */
static inline bool coalescer_is_linear(const struct isa_memory *m, const struct isa_reach *r)
{
    return !m->swizzle_mask && r->is_linear;
}

static inline uint64_t coalescer_lane_range(unsigned first, unsigned last)
{
    return (UINT64_MAX >> (63 - last)) & (UINT64_MAX << first);
}

/* Lines of a linear access: the lanes follow from the address. */
unsigned coalescer_linear_lines(const struct isa_memory *m, uint64_t base,
                                struct coalesced_line *out);

/* Runs of one lane: how many, and how long each. */
static inline unsigned coalescer_runs(const struct isa_memory *m, unsigned lane,
                                      unsigned *run_bytes)
{
    *run_bytes = m->bytes;
    if (!(m->swizzle_mask >> lane & 1))
        return 1;
    bool straddles = m->straddle_mask >> lane & 1;
    if (m->bytes <= 4 && !straddles)
        return 1;
    *run_bytes = straddles ? 1 : 4;
    return (m->short_mask >> lane & 1 ? m->dwords[lane] * 4u : m->bytes) / *run_bytes;
}

/* The address at which run `i` of the lane, of run_bytes bytes, begins. */
static inline uint64_t coalescer_run(const struct isa_memory *m, unsigned lane, unsigned i,
                                     unsigned run_bytes)
{
    if (i == 0)
        return m->address[lane];
    return run_bytes == 1 ? isa_memory_byte(m, lane, i)
                          : m->address[lane] + (uint64_t)i * m->dword_stride;
}

/* True if each active lane's access lies in one line. */
static inline bool coalescer_stays_in_lines(const struct isa_memory *m, const struct isa_reach *r)
{
    return r->stays_in_lines && (!m->swizzle_mask || (m->bytes <= 4 && !m->straddle_mask));
}

/* Lines of an access whose lanes stay in lines: neighbouring lanes in the same line are found
 * together. */
unsigned coalescer_simple_lines(const struct isa_memory *m, struct coalesced_line *out);

/* Lines of any load or store; returns their number, at most COALESCER_LINES_MAX. */
unsigned coalescer_lines(const struct isa_memory *m, struct coalesced_line *out);

/* Messages of an atomic: in one of them no two lanes have the same address. Returns their number,
 * at most 64. */
unsigned coalescer_atomics(const struct isa_memory *m, struct coalesced_line *out);

/* The tags of the L1: RAMs, between which lines of `line` bytes take turns, and which look up a
 * line a cycle each. */
struct coalescer_tags {
    unsigned line, rams; /* at most COALESCER_BANKS */
};

/* Cycles in which the addresses of an access that is not linear are worked out, `lanes` of them at
 * once: a group of so many takes one when it stays in one line or is a run itself. Any other takes,
 * for each four lanes, as many as these touch lines of one tag RAM, or as they have different
 * elements in one of four banks. Measured: vector L1 of MI210, with one RAM, at strides of 1 to 32
 * floats (RRZE gpu-benches, gpu-strides), to 3 %. */
unsigned coalescer_address_cycles(const struct isa_memory *m, unsigned lanes,
                                  struct coalescer_tags tags);

/* The part of a run [address, address + bytes) that lies in the line: where in both, and how much.
 */
struct coalescer_overlap {
    unsigned in_line, in_run, bytes;
};

static inline struct coalescer_overlap coalescer_overlap(uint64_t line, uint64_t address,
                                                         unsigned bytes)
{
    struct coalescer_overlap o = {0, 0, 0};
    uint64_t end = address + bytes, line_end = line + COALESCER_LINE;
    uint64_t first = max(address, line);
    uint64_t last = min(end, line_end);
    if (first < last)
        o = (struct coalescer_overlap){(unsigned)(first - line), (unsigned)(first - address),
                                       (unsigned)(last - first)};
    return o;
}

static inline uint64_t coalescer_byte_mask(unsigned first, unsigned bytes)
{
    return bytes == 64 ? UINT64_MAX : (((uint64_t)1 << bytes) - 1) << first;
}

/* coalescer_from_line() for dwords in lines, with the places of the lanes' dwords in their lines;
 * and for linear accesses, where bytes for lanes that are not active may be written to the stage,
 * too: whole pieces at once. */
static inline void coalescer_dwords_from_line(const uint8_t *offset, uint64_t lanes,
                                              const uint8_t *data, uint8_t *stage)
{
    enum { FEW = 4 }; /* lanes for which vectors do not pay */
    if (__builtin_popcountll(lanes) > FEW) {
        isa_memory_pick(offset, lanes, data, stage);
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        memcpy(stage + lane * 4, data + offset[lane], 4);
    }
}

static inline void coalescer_linear_from_line(unsigned bytes, uint64_t base, uint64_t line,
                                              const uint8_t *data, uint8_t *stage)
{
    uint64_t end = base + (uint64_t)ISA_LANES * bytes;
    uint64_t first = max(line, base), last = min(line + COALESCER_LINE, end);
    if (first == line && last == line + COALESCER_LINE)
        memcpy(stage + (first - base), data, COALESCER_LINE);
    else
        memcpy(stage + (first - base), data + (first - line), last - first);
}

/* coalescer_to_line() for linear accesses with all lanes active. */
static inline uint64_t coalescer_linear_to_line(unsigned bytes, uint64_t base, uint64_t line,
                                                const uint8_t *stage, uint8_t *data)
{
    uint64_t end = base + (uint64_t)ISA_LANES * bytes;
    uint64_t first = max(line, base), last = min(line + COALESCER_LINE, end);
    memcpy(data + (first - line), stage + (first - base), last - first);
    return coalescer_byte_mask((unsigned)(first - line), (unsigned)(last - first));
}

/* Copies in either direction for accesses whose lanes stay in lines. `offset` is where the lanes'
 * `bytes` are in their lines. */
void coalescer_inside_from_line(const uint8_t offset[ISA_LANES], unsigned bytes, uint64_t lanes,
                                const uint8_t *data, uint8_t *stage);
uint64_t coalescer_inside_to_line(const uint8_t offset[ISA_LANES], unsigned bytes, uint64_t lanes,
                                  const uint8_t *stage, uint8_t *data);

/* Copies the bytes that the lanes of `line` read from the line to their stage. */
void coalescer_from_line(const struct isa_memory *m, struct coalesced_line line,
                         const uint8_t *data, uint8_t *stage);

/* Copies the bytes that the lanes of `line` write from their stage to the line; returns the mask of
 * bytes written. */
uint64_t coalescer_to_line(const struct isa_memory *m, struct coalesced_line line,
                           const uint8_t *stage, uint8_t *data);

#endif
