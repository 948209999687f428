/* Matrix instructions: which operands and rules isa_matrix.h's functions get. Called by
 * isa_execute.c.
 *
 * exec is ignored: all lanes take part. Modifiers that a row's generation does not have are
 * ignored, too: cbsz and abid of products of one block and of f64, blgp of gfx942's products of one
 * block other than f32. Of gfx942's f64, blgp negates A, B and C; of SMFMAC, cbsz and abid choose a
 * part of the index register (LLVM's AMDGPU operand syntax; AMD matrix instruction calculator). */
#include "components/amd/isa/tables/isa_table.h"

#include "isa_matrix.h"
#include "isa_valu.h"

static uint8_t matrix_type(unsigned type)
{
    static const uint8_t types[] = {
        [TYPE_F64] = MATRIX_F64,   [TYPE_F32] = MATRIX_F32, [TYPE_XF32] = MATRIX_XF32,
        [TYPE_F16] = MATRIX_F16,   [TYPE_FP8] = MATRIX_FP8, [TYPE_BF8] = MATRIX_BF8,
        [TYPE_BF16] = MATRIX_BF16, [TYPE_I8] = MATRIX_I8};
    return types[type];
}

static uint32_t *place_operand(const struct isa_context *ctx, unsigned code)
{
    return ctx->vgpr + (size_t)isa_register(ctx, code) * 64;
}

/* A and C are those of the row's form. */
static void set_modifiers(const struct isa_inst *inst, const struct isa_matrix_form *form,
                          struct isa_matrix_operands *o)
{
    bool newest = form->rules == ISA_MATRIX_CDNA3;
    o->cbsz = inst->broadcast & 7;
    o->abid = inst->broadcast >> 4;
    if (form->a == MATRIX_F64)
        o->negative = newest ? inst->neg : 0;
    else if (!form->sparse && (!newest || form->blocks > 1 || form->a == MATRIX_F32))
        o->blgp = inst->neg;
}

unsigned isa_matrix_passes(const struct isa_inst *inst)
{
    const struct isa_mai_row *row = isa_mai_row(inst->op);
    unsigned a = isa_table[inst->op].type[1], by_size = row->m / 2u;
    if (a == TYPE_F64)
        return row->m == 16 ? 8 : 4;
    bool newest = isa_traits[inst->target].matrix == ISA_MATRIX_CDNA3;
    return newest && row->blocks == 1 && a != TYPE_F32 ? by_size / 2 : by_size;
}

unsigned isa_matrix_alu_passes(const struct isa_inst *inst)
{
    unsigned a = isa_table[inst->op].type[1];
    bool newest = isa_traits[inst->target].matrix == ISA_MATRIX_CDNA3;
    if (a == TYPE_F64 || (newest && a == TYPE_F32))
        return isa_matrix_passes(inst);
    return isa_mai_row(inst->op)->sparse ? 2 : 1;
}

void isa_mfma_execute(isa_matrix_function *multiply, const struct isa_context *ctx,
                      const struct isa_wave *wave, const struct isa_inst *inst)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    const struct isa_mai_row *mai = isa_mai_row(inst->op);
    struct isa_matrix_form form = {.m = mai->m,
                                   .k = mai->k,
                                   .blocks = mai->blocks,
                                   .a = matrix_type(row->type[1]),
                                   .b = matrix_type(row->type[2]),
                                   .rules = isa_traits[inst->target].matrix,
                                   .sparse = mai->sparse};
    struct isa_matrix_operands operands = {.a = place_operand(ctx, inst->src[0]),
                                           .b = place_operand(ctx, inst->src[1]),
                                           .d = place_operand(ctx, inst->dst)};
    if (form.sparse) {
        operands.index = place_operand(ctx, inst->src[2]);
        operands.c = operands.d;
    } else if (inst->src[2] >= ISA_VGPR) {
        operands.c = place_operand(ctx, inst->src[2]);
    } else {
        operands.value = isa_scalar_constant(ctx, wave, inst, inst->src[2], row->type[0]);
    }
    set_modifiers(inst, &form, &operands);
    multiply(&form, &operands);
}
