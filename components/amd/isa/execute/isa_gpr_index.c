/* Vector registers relative to M0: the operands of a vector instruction while MODE enables indexing
 * (s_set_gpr_idx_on).
 *
 * M0[7:0] is added to the register numbers of those operands that M0[15:12] names: source 0, 1, 2
 * and destination. Only vector registers move. Beyond the wavefront's registers a source is v0, and
 * an instruction whose destination lies there does nothing; so a compiler may compute with an index
 * before it knows that it is in range (Vega ISA manual, "VGPR Indexing" and "Out-of-Range
 * behavior"). */
#include "components/amd/isa/tables/isa_table.h"

#include "isa_valu.h"

enum { INDEX_DESTINATION = 3 };

static bool moves(const struct isa_wave *wave, unsigned operand)
{
    return wave->sgpr[ISA_M0] >> (12 + operand) & 1;
}

static bool is_vgpr(unsigned code)
{
    return code >= ISA_VGPR && code != ISA_OPERAND_NONE;
}

unsigned isa_gpr_index_source(const struct isa_context *ctx, unsigned code, uint32_t index,
                              unsigned dwords)
{
    uint64_t reg = (uint64_t)(code - ISA_VGPR) + index;
    return reg + dwords <= ctx->vgpr_count ? ISA_VGPR + (unsigned)reg : ISA_VGPR;
}

bool isa_gpr_index_destination(const struct isa_context *ctx, unsigned code, uint32_t index,
                               unsigned dwords, unsigned *out)
{
    uint64_t reg = (uint64_t)(code - ISA_VGPR) + index;
    *out = ISA_VGPR + (unsigned)reg;
    return reg + dwords <= ctx->vgpr_count;
}

bool isa_move_registers(const struct isa_context *ctx, const struct isa_wave *wave,
                        const struct isa_inst *inst, struct isa_inst *out)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    uint32_t index = wave->sgpr[ISA_M0] & 255;
    unsigned to = inst->dst;
    *out = *inst;
    for (unsigned i = 0; i < 3; i++)
        if (moves(wave, i) && is_vgpr(inst->src[i]))
            out->src[i] = (uint16_t)isa_gpr_index_source(ctx, inst->src[i], index,
                                                         isa_type_dwords(row->type[i + 1]));
    if (!moves(wave, INDEX_DESTINATION) || !is_vgpr(inst->dst))
        return true;
    bool inside =
        isa_gpr_index_destination(ctx, inst->dst, index, isa_type_dwords(row->type[0]), &to);
    out->dst = (uint16_t)to;
    if (row->kind == KIND_MAC)
        out->src[2] = out->dst;
    return inside;
}
