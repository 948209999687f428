/* The bytes of the LDS that an instruction accesses, for the checks, which do not execute it. */
#include "components/amd/isa/isa.h"
#include "components/amd/isa/tables/isa_table.h"

static enum isa_memory_kind local_kind(unsigned kind)
{
    switch (kind) {
    case KIND_LOAD:
    case KIND_LOAD2:
    case KIND_LOAD2ST:
        return ISA_MEMORY_LOAD;
    case KIND_STORE:
    case KIND_STORE2:
    case KIND_STORE2ST:
        return ISA_MEMORY_STORE;
    case KIND_ATOMIC:
    case KIND_RTN:
    case KIND_CMPST:
    case KIND_CMPST_RTN:
    case KIND_MSKOR:
    case KIND_MSKOR_RTN:
    case KIND_WRAP:
    case KIND_XCHG2:
    case KIND_XCHG2ST:
        return ISA_MEMORY_ATOMIC;
    default:
        return ISA_MEMORY_CACHE_OP;
    }
}

bool isa_lds_access_describe(const struct isa_inst *inst, struct isa_lds_access *out)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    enum isa_memory_kind kind = local_kind(row->kind);
    if (inst->unit != ISA_UNIT_LDS || inst->flags & ISA_IS_GDS || kind == ISA_MEMORY_CACHE_OP)
        return false;
    bool by_64 =
        row->kind == KIND_LOAD2ST || row->kind == KIND_STORE2ST || row->kind == KIND_XCHG2ST;
    bool two =
        by_64 || row->kind == KIND_LOAD2 || row->kind == KIND_STORE2 || row->kind == KIND_XCHG2;
    uint32_t bytes = isa_type_bytes(row->type[0]), unit = bytes * (by_64 ? 64 : 1);
    *out = (struct isa_lds_access){.kind = (uint8_t)kind,
                                   .bytes = (uint8_t)bytes,
                                   .count = two ? 2 : 1,
                                   .atomic = row->operation,
                                   .returns = inst->dst != ISA_OPERAND_NONE};
    out->offset[0] = two ? (uint32_t)(inst->simm & 255) * unit : (uint32_t)inst->simm;
    out->offset[1] = (uint32_t)(inst->simm >> 8 & 255) * unit;
    return true;
}
