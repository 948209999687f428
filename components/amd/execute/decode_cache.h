/* Decoded instructions by address, shared by the compute units of a unit that run in one thread.
 *
 * A cache in the strict sense: an entry is valid for a fetch only when address, target and the
 * instruction's bytes agree, so code that is replaced or loaded elsewhere needs no notice, and
 * losing an entry costs the host time, but no simulated time: who shares a cache with whom must not
 * matter. Entries count how often they were issued: the hottest addresses of a kernel that does not
 * end. Included by compute_unit.c. */
#ifndef HEDDLE_COMPUTE_UNIT_DECODE_CACHE_H
#define HEDDLE_COMPUTE_UNIT_DECODE_CACHE_H

#include "components/amd/isa/isa.h"
#include "components/protocols/work/work_cycles.h"
#include "components/sampling/stratified_sampler.h"
#include "components/sampling/warmup.h"

enum { DECODE_ENTRIES = 1 << 16 };

/* What an instruction competes for at issue. */
enum cu_kind { CU_VALU, CU_SCALAR, CU_VMEM, CU_LDS, CU_BRANCH, CU_SPECIAL, CU_KINDS };

struct decoded {
    uint64_t address;
    uint64_t count;
    uint32_t words[ISA_MAX_INST_BYTES / 4];
    uint8_t valid;
    uint8_t kind;   /* enum cu_kind */
    uint8_t issued; /* enum work_cycles_kind that its turn counts for */
    uint8_t nops;   /* s_nop: turns behind the first */
    struct isa_inst inst;
};

static uint8_t decode_kind(const struct isa_inst *inst)
{
    static const uint8_t kinds[ISA_UNIT_COUNT] = {
        [ISA_UNIT_SALU] = CU_SCALAR,    [ISA_UNIT_VALU] = CU_VALU, [ISA_UNIT_SMEM] = CU_SCALAR,
        [ISA_UNIT_VMEM] = CU_VMEM,      [ISA_UNIT_LDS] = CU_LDS,   [ISA_UNIT_BRANCH] = CU_BRANCH,
        [ISA_UNIT_SPECIAL] = CU_SPECIAL};
    return inst->flags & ISA_IS_BRANCH ? CU_BRANCH : kinds[inst->unit];
}

static uint8_t decode_issued(const struct isa_inst *inst)
{
    static const uint8_t classes[ISA_TIMING_COUNT] = {
        [ISA_TIMING_FULL] = WORK_ISSUED_VALU,
        [ISA_TIMING_QUARTER] = WORK_ISSUED_VALU_QUARTER,
        [ISA_TIMING_TRANS] = WORK_ISSUED_VALU_TRANS,
        [ISA_TIMING_F64_ADD] = WORK_ISSUED_VALU_F64_ADD,
        [ISA_TIMING_F64_MUL] = WORK_ISSUED_VALU_F64_MUL,
        [ISA_TIMING_F64_TRANS] = WORK_ISSUED_VALU_F64_TRANS,
        [ISA_TIMING_SALU] = WORK_ISSUED_SALU,
        [ISA_TIMING_SMEM] = WORK_ISSUED_SMEM,
        [ISA_TIMING_VMEM] = WORK_ISSUED_VMEM,
        [ISA_TIMING_LDS] = WORK_ISSUED_LDS,
        [ISA_TIMING_BRANCH] = WORK_ISSUED_BRANCH,
        [ISA_TIMING_SPECIAL] = WORK_ISSUED_OTHER};
    return inst->flags & ISA_IS_BRANCH ? WORK_ISSUED_BRANCH : classes[inst->timing];
}

/* s_nop takes as many turns as its operand says, and one (GCN3 ISA manual, S_NOP: repeated 1 to 16
 * times). */
static uint8_t decode_nops(const struct isa_inst *inst)
{
    bool is_nop = inst->unit == ISA_UNIT_SPECIAL && !strcmp(isa_mnemonic(inst), "s_nop");
    return is_nop ? (uint8_t)(inst->simm & 15) : 0;
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

/* The entry for the instruction at `address`, whose first `size` bytes are given. Returns 0,
 * ISA_ERROR_TRUNCATED when more bytes are needed, or another error of isa_decode(). *number is the
 * entry's place. */
static inline int decode_find(struct decoded *cache, enum isa_target target, uint64_t address,
                              const uint8_t *bytes, unsigned size, uint32_t *number)
{
    uint32_t slot = (uint32_t)(address >> 2) & (DECODE_ENTRIES - 1);
    struct decoded *d = &cache[slot];
    *number = slot;
    if (__builtin_expect(d->valid && d->address == address && d->inst.target == target
                             && d->inst.size <= size && decode_same(d, bytes),
                         1))
        return 0;
    struct isa_inst inst;
    int result = isa_decode(target, bytes, size, &inst);
    if (result < 0)
        return result;
    *d = (struct decoded){.address = address,
                          .valid = 1,
                          .kind = decode_kind(&inst),
                          .issued = decode_issued(&inst),
                          .nops = decode_nops(&inst),
                          .inst = inst};
    memcpy(d->words, bytes, inst.size);
    return 0;
}

/* Adds how often the instructions in [first, end) were issued to counts[], by bucket of their
 * distance from `entry`, and forgets it. */
static inline void decode_take_counts(struct decoded *cache, const struct warm_code *code)
{
    uint64_t end =
        code->end - code->first < 4 * DECODE_ENTRIES ? code->end : code->first + 4 * DECODE_ENTRIES;
    for (uint64_t at = code->first & ~(uint64_t)3; at < end; at += 4) {
        struct decoded *d = &cache[(uint32_t)(at >> 2) & (DECODE_ENTRIES - 1)];
        if (!d->count)
            continue;
        code->counts[sampler_bucket(d->address - code->entry)] += d->count;
        d->count = 0;
    }
}

#endif
