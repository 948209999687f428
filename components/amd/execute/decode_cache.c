/* Computes once for each instruction which unit it needs and which counters its turn adds to. */
#include "decode_cache.h"

#include <string.h>

#include "components/sampling/stratified_sampler.h"

static uint8_t decode_kind(const struct isa_inst *inst)
{
    static const uint8_t kinds[ISA_UNIT_COUNT] = {
        [ISA_UNIT_SALU] = CU_SCALAR,    [ISA_UNIT_VALU] = CU_VALU, [ISA_UNIT_SMEM] = CU_SCALAR,
        [ISA_UNIT_VMEM] = CU_VMEM,      [ISA_UNIT_LDS] = CU_LDS,   [ISA_UNIT_BRANCH] = CU_BRANCH,
        [ISA_UNIT_SPECIAL] = CU_SPECIAL};
    if (inst->timing == ISA_TIMING_MATRIX)
        return CU_MATRIX;
    return inst->flags & ISA_IS_BRANCH ? CU_BRANCH : kinds[inst->unit];
}

static uint8_t decode_issued(const struct isa_inst *inst)
{
    static const uint8_t classes[ISA_TIMING_COUNT] = {
        [ISA_TIMING_FULL] = WORK_ISSUED_VALU,
        [ISA_TIMING_CONVERT] = WORK_ISSUED_VALU,
        [ISA_TIMING_MULTIPLY] = WORK_ISSUED_VALU_QUARTER,
        [ISA_TIMING_QUARTER] = WORK_ISSUED_VALU_QUARTER,
        [ISA_TIMING_TRANS] = WORK_ISSUED_VALU_TRANS,
        [ISA_TIMING_F64_ADD] = WORK_ISSUED_VALU_F64_ADD,
        [ISA_TIMING_F64_MUL] = WORK_ISSUED_VALU_F64_MUL,
        [ISA_TIMING_F64_TRANS] = WORK_ISSUED_VALU_F64_TRANS,
        [ISA_TIMING_MATRIX] = WORK_ISSUED_VALU,
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

int decode_fill(struct decoded *d, enum isa_target target, uint64_t address, const uint8_t *bytes,
                unsigned size)
{
    struct isa_inst inst;
    int result = isa_decode(target, bytes, size, &inst);
    if (result < 0)
        return result;
    *d = (struct decoded){.address = address,
                          .is_valid = true,
                          .kind = decode_kind(&inst),
                          .issued = decode_issued(&inst),
                          .nops = decode_nops(&inst),
                          .inst = inst};
    memcpy(d->words, bytes, inst.size);
    return 0;
}

void decode_collect_counts(struct decoded *cache, const struct warm_code *code)
{
    uint64_t end =
        code->end - code->first < 4 * DECODE_ENTRIES ? code->end : code->first + 4 * DECODE_ENTRIES;
    for (uint64_t at = code->first & ~(uint64_t)3; at < end; at += 4) {
        struct decoded *d = &cache[(uint32_t)(at >> 2) & (DECODE_ENTRIES - 1)];
        if (!d->count)
            continue;
        code->work->vector[sampler_bucket(d->address - code->entry)] += d->count;
        d->count = 0;
    }
}
