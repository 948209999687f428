/* Reads a loop from the load on, along branches that are not taken, to a branch back to the load or
 * before it. */
#include "spins.h"

#include <string.h>

#include "components/amd/isa/isa_uses.h"

enum { MOST = 48, ADDRESS = 8 };

static bool is_memory(const struct isa_inst *inst)
{
    bool accesses =
        inst->unit == ISA_UNIT_VMEM || inst->unit == ISA_UNIT_SMEM || inst->unit == ISA_UNIT_LDS;
    return accesses && !(inst->flags & (ISA_IS_CACHE_OP | ISA_IS_TIME));
}

/* 0: there is no instruction. */
static uint32_t decode(enum isa_target target, const struct spin_code *code, uint64_t pc,
                       struct isa_inst *inst)
{
    uint64_t at = pc - code->address;
    int size = at < code->size ? isa_decode(target, code->bytes + at, code->size - at, inst) : 0;
    return size > 0 ? (uint32_t)size : 0;
}

static bool is_jump(const struct isa_inst *inst)
{
    return strcmp(isa_mnemonic(inst), "s_branch") == 0;
}

/* The address after the loop, whose first instruction is at *start; 0: there is none. */
static uint64_t loop_end(enum isa_target target, const struct spin_code *code, uint64_t pc,
                         uint64_t *start)
{
    struct isa_inst inst;
    uint64_t at = pc + decode(target, code, pc, &inst);
    for (unsigned i = 0; i < MOST; i++) {
        uint32_t size = decode(target, code, at, &inst);
        if (!size || is_memory(&inst) || inst.flags & (ISA_IS_BARRIER | ISA_IS_ENDPGM))
            return 0;
        at += size;
        if (!(inst.flags & ISA_IS_BRANCH))
            continue;
        uint64_t to = at + (uint64_t)(4 * (int64_t)(int16_t)inst.simm);
        if (inst.unit != ISA_UNIT_BRANCH)
            return 0;
        if (to <= pc) {
            *start = to;
            return at;
        }
        if (is_jump(&inst))
            at = to;
    }
    return 0;
}

/* Registers that the load takes its address from, and whether the loop has computed them. */
struct address {
    uint16_t code[ADDRESS];
    bool computed[ADDRESS];
    unsigned count;
};

static void read_address(const struct isa_inst *load, struct address *a)
{
    struct isa_use use[ISA_USES_MAX];
    unsigned uses = isa_uses(load, use);
    *a = (struct address){.count = 0};
    for (unsigned i = 0; i < uses; i++) {
        for (unsigned d = 0; d < use[i].dwords && !use[i].written && a->count < ADDRESS; d++)
            if (use[i].place != ISA_USE_IMPLIED)
                a->code[a->count++] = (uint16_t)(use[i].code + d);
    }
}

static void write_address(const struct isa_inst *inst, struct address *a)
{
    struct isa_use use[ISA_USES_MAX];
    unsigned uses = isa_uses(inst, use);
    bool copies = isa_effect(inst) == ISA_MOVES;
    for (unsigned i = 0; i < uses; i++)
        copies &= use[i].written || !isa_use_is_vector(&use[i]);
    for (unsigned i = 0; i < uses; i++) {
        for (unsigned j = 0; j < a->count && use[i].written; j++)
            if (a->code[j] >= use[i].code && a->code[j] < use[i].code + use[i].dwords)
                a->computed[j] = !copies;
    }
}

bool spins_at(enum isa_target target, const struct spin_code *code, uint64_t pc)
{
    struct isa_inst inst;
    struct address address;
    uint64_t start = 0, end = loop_end(target, code, pc, &start);
    if (!end || !decode(target, code, pc, &inst))
        return false;
    read_address(&inst, &address);
    for (uint64_t at = start, turn = 0; turn < 2; at = at < end ? at : start) {
        uint32_t size = decode(target, code, at, &inst);
        bool other = at != pc && (is_memory(&inst) || inst.flags & ISA_IS_BARRIER);
        if (!size || other)
            return false;
        for (unsigned i = 0; at == pc && i < address.count; i++)
            if (address.computed[i])
                return false;
        write_address(&inst, &address);
        at += size;
        turn += at >= end;
    }
    return true;
}
