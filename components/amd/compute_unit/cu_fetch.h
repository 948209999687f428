/* Instruction buffers, and the code of all units of a thread; see cu_fetch.c. */
#ifndef HEDDLE_COMPONENTS_AMD_COMPUTE_UNIT_CU_FETCH_H
#define HEDDLE_COMPONENTS_AMD_COMPUTE_UNIT_CU_FETCH_H

#include "compute_unit_state.h"

enum { CU_CODE_LINES = DECODE_ENTRIES / (CU_LINE / 4) };

enum cu_line_state { LINE_EMPTY, LINE_COMING, LINE_VALID, LINE_STALE };

/* The code that came last, by lines. */
struct cu_code_line {
    uint64_t address; /* 0: none */
    uint8_t bytes[CU_LINE];
};

/* State of a decode cache, which several units may share.
 *
 * Two counters say whether what was once found out about code still holds. `version` counts the
 * lines that are replaced in `lines`, by other bytes from the same address or by another address.
 * `epoch` counts these and the entries that the decode cache replaces, so an equal epoch implies an
 * equal version.
 *
 *   | what was found out                                   | where            | holds while equal |
 *   | a line of a buffer has the bytes of the last fetch   | line_version,    | version           |
 *   |                                                      | code_version     |                   |
 *   | an entry of the decode cache has the same bytes      | decoded.version  | version           |
 *   | an entry is prepared, and the run after it is known  | execute_entry    | epoch             |
 *   | turns of a run that can be deferred                  | execute_deferred | epoch             |
 *   | instructions executed ahead are in the decode cache  | ahead_epoch      | epoch             |
 *
 * A run is known for the bytes of the last fetch. A wavefront with an older line looks for its own
 * (cu_code_is_current()). */
struct cu_code {
    struct decoded decoded[DECODE_ENTRIES];
    struct cu_code_line lines[CU_CODE_LINES];
    bool is_opened;          /* the first of these units has opened it */
    uint32_t version, epoch; /* from 1 on; 0 stands for none */
};

/* Counts on, and goes from 2^32 - 1 to 1. */
static inline void cu_count_on(uint32_t *counter)
{
    *counter += 1 + (*counter == UINT32_MAX);
}

static inline uint8_t *cu_line_bytes(const struct compute_unit *c, const struct cu_wave *w,
                                     unsigned slot)
{
    size_t line = (size_t)cu_wave_number(c, w) * c->line_slots + slot;
    return arena_at(uint8_t, c->buffers_at) + line * CU_LINE;
}

static inline struct cu_code *cu_code(const struct compute_unit *c)
{
    return arena_at(struct cu_code, c->code_at);
}

static inline struct decoded *cu_decoded(const struct compute_unit *c)
{
    return cu_code(c)->decoded;
}

/* True if the line of the wavefront's pc has the bytes of the last fetch. */
static inline bool cu_code_is_current(const struct compute_unit *c, const struct cu_wave *w)
{
    return w->code_version == cu_code(c)->version;
}

/* decode_find() for this unit. */
static inline int cu_find_decoded(const struct compute_unit *c, uint64_t address,
                                  const uint8_t *bytes, unsigned size, uint32_t *number)
{
    *number = decode_slot(address);
    struct decoded *d = &cu_decoded(c)[*number];
    if (likely(decode_holds(d, cu_target(c), address, bytes, size)))
        return 0;
    int result = decode_fill(d, cu_target(c), address, bytes, size);
    if (result >= 0)
        cu_count_on(&cu_code(c)->epoch);
    return result;
}

/* True if a wavefront gets its code in blocks, after the lines that its buffer asks for have
 * come. */
static inline bool cu_has_blocks(const struct compute_unit *c)
{
    return compute_unit_params(c)->fetch_latency > 1;
}

/* Distance from the pc that the buffer may reach when it asks for a block. */
static inline uint64_t cu_block_room(const struct compute_unit *c)
{
    return compute_unit_params(c)->instruction_buffer - CU_BLOCK;
}

static uint64_t fetch_missing(struct compute_unit *c, struct cu_wave *w, unsigned from);
static inline bool fetch_is_complete(const struct compute_unit *c, const struct cu_wave *w);
static void fetch_forget(struct compute_unit *c, unsigned simd, unsigned slot);
static bool fetch_send(struct compute_unit *c);
static void fetch_receive(struct compute_unit *c, uint64_t now);

#endif
