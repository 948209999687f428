/* Decoded instructions by address: for the compute units of one type that run in one thread, and
 * for the functional executor.
 *
 * A cache in the strict sense: an entry is valid for a fetch only when address, target and the
 * instruction's bytes agree, so code that is replaced or loaded elsewhere needs no notice, and
 * losing an entry costs the host time, but no simulated time: which units share a cache must not
 * matter. Entries count how often they were issued, for the hottest addresses of a kernel that does
 * not end. */
#ifndef HEDDLE_COMPONENTS_AMD_EXECUTE_DECODE_CACHE_H
#define HEDDLE_COMPONENTS_AMD_EXECUTE_DECODE_CACHE_H

#include <string.h>

#include "base/likely.h"
#include "components/amd/isa/isa.h"
#include "components/protocols/work/work_cycles.h"
#include "components/sampling/warmup.h"

enum { DECODE_ENTRIES = 1 << 16 };

/* Units that instructions compete for at issue. */
enum cu_kind { CU_MATRIX, CU_VALU, CU_SCALAR, CU_VMEM, CU_LDS, CU_BRANCH, CU_SPECIAL, CU_KINDS };

struct decoded {
    _Alignas(64) uint64_t address;
    uint64_t count;
    uint32_t words[ISA_INST_BYTES_MAX / 4];
    bool is_valid;
    uint8_t kind;     /* enum cu_kind */
    uint8_t issued;   /* enum work_cycles_kind that its turn counts for */
    uint8_t nops;     /* s_nop: turns after the first */
    uint32_t version; /* for the owner: version of the code when it was last seen to hold */
    struct isa_inst inst;
};

static inline bool decode_has_bytes(const struct decoded *d, const uint8_t *bytes)
{
    uint32_t first, second;
    memcpy(&first, bytes, 4);
    if (d->words[0] != first || d->inst.size == 4)
        return d->words[0] == first;
    memcpy(&second, bytes + 4, 4);
    return d->words[1] == second && (d->inst.size == 8 || !memcmp(&d->words[2], bytes + 8, 4));
}

/* Decodes the instruction at `address` into the entry; otherwise as decode_find(). */
int decode_fill(struct decoded *d, enum isa_target target, uint64_t address, const uint8_t *bytes,
                unsigned size);

/* True if the entry holds the instruction at `address`, whose first `size` bytes are given. */
static inline bool decode_holds(const struct decoded *d, enum isa_target target, uint64_t address,
                                const uint8_t *bytes, unsigned size)
{
    return d->is_valid && d->address == address && d->inst.target == target && d->inst.size <= size
           && decode_has_bytes(d, bytes);
}

static inline uint32_t decode_slot(uint64_t address)
{
    return (uint32_t)(address >> 2) & (DECODE_ENTRIES - 1);
}

/* The entry for the instruction at `address`, whose first `size` bytes are given. Returns 0,
 * ISA_ERROR_TRUNCATED when more bytes are needed, or another error of isa_decode(). *number is the
 * entry's place. */
static inline int decode_find(struct decoded *cache, enum isa_target target, uint64_t address,
                              const uint8_t *bytes, unsigned size, uint32_t *number)
{
    uint32_t slot = decode_slot(address);
    struct decoded *d = &cache[slot];
    *number = slot;
    if (likely(decode_holds(d, target, address, bytes, size)))
        return 0;
    return decode_fill(d, target, address, bytes, size);
}

/* Adds how often the instructions in [first, end) were issued to counts[], by bucket of their
 * distance from `entry`, and forgets it. */
void decode_collect_counts(struct decoded *cache, const struct warm_code *code);

#endif
