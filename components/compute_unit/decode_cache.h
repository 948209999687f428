/* Decoded instructions by address, shared by all compute units of a unit.
 *
 * A cache in the strict sense: an entry is valid for a fetch only when address, target and the instruction's bytes agree,
 * so code that is replaced or loaded elsewhere needs no notice, and losing an entry costs time only. It lies outside the
 * arena because it can always be made again. Entries count how often they were issued: the hottest addresses of a kernel
 * that does not end. Included by compute_unit.c. */
#ifndef HEDDLE_COMPUTE_UNIT_DECODE_CACHE_H
#define HEDDLE_COMPUTE_UNIT_DECODE_CACHE_H

#include "components/isa/isa.h"

enum { DECODE_ENTRIES = 1 << 16 };

/* What an instruction competes for at issue. */
enum cu_kind { CU_VALU, CU_SCALAR, CU_VMEM, CU_LDS, CU_BRANCH, CU_SPECIAL, CU_KINDS };

struct decoded {
    uint64_t address;
    uint64_t count;
    uint32_t words[ISA_MAX_INST_BYTES / 4];
    uint8_t valid;
    uint8_t kind; /* enum cu_kind */
    struct isa_inst inst;
};

static struct decoded decode_cache[DECODE_ENTRIES];

static uint8_t decode_kind(const struct isa_inst *inst)
{
    static const uint8_t kinds[ISA_UNIT_COUNT] = {
        [ISA_UNIT_SALU] = CU_SCALAR, [ISA_UNIT_VALU] = CU_VALU,     [ISA_UNIT_SMEM] = CU_SCALAR,
        [ISA_UNIT_VMEM] = CU_VMEM,   [ISA_UNIT_LDS] = CU_LDS,       [ISA_UNIT_BRANCH] = CU_BRANCH,
        [ISA_UNIT_SPECIAL] = CU_SPECIAL};
    return inst->flags & ISA_IS_BRANCH ? CU_BRANCH : kinds[inst->unit];
}

static inline bool decode_same(const struct decoded *d, const uint8_t *bytes)
{
    uint32_t first, second;
    memcpy(&first, bytes, 4);
    if (d->words[0] != first || d->inst.size == 4)
        return d->words[0] == first;
    memcpy(&second, bytes + 4, 4);
    return d->words[1] == second && (d->inst.size == 8 || !memcmp(&d->words[2], bytes + 8, 4));
}

/* The entry for the instruction at `address`, whose first `size` bytes are given. Returns 0, ISA_ERROR_TRUNCATED when more
 * bytes are needed, or another error of isa_decode(). *number is the entry's place. */
static inline int decode_find(enum isa_target target, uint64_t address, const uint8_t *bytes,
                              unsigned size, uint32_t *number)
{
    uint32_t slot = (uint32_t)(address >> 2) & (DECODE_ENTRIES - 1);
    struct decoded *d = &decode_cache[slot];
    *number = slot;
    if (__builtin_expect(d->valid && d->address == address && d->inst.target == target
                             && d->inst.size <= size && decode_same(d, bytes),
                         1))
        return 0;
    struct isa_inst inst;
    int result = isa_decode(target, bytes, size, &inst);
    if (result < 0)
        return result;
    *d = (struct decoded){.address = address, .valid = 1, .kind = decode_kind(&inst), .inst = inst};
    memcpy(d->words, bytes, inst.size);
    return 0;
}

#endif
