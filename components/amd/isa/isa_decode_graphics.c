/*
 * isa_decode_graphics.c - interpolation, images and export: decoded so that they can be named.
 * Called by isa_decode.c and isa_decode_vector.c.
 */
#include "isa_decode.h"

int isa_decode_interpolation(struct isa_decoder *d)
{
    uint32_t w = d->word[0];
    int error = isa_decoder_find_row(d, ISA_VINTRP, isa_field(w, 16, 2));
    if (error)
        return error;
    isa_decoder_vgpr_destination(d, isa_field(w, 18, 8), TYPE_F32);
    d->out->src[0] = (uint16_t)(isa_field(w, 0, 8) + (d->kind == KIND_INTERPMOV ? 0 : ISA_VGPR));
    isa_decoder_note_vgprs(d->out, d->out->src[0], 1);
    d->out->simm = (int32_t)(isa_field(w, 10, 6) | isa_field(w, 8, 2) << 6);
    return 0;
}

/* Attribute, channel and half stand where other instructions have their first source. */
int isa_decode_interpolation_vop3(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    uint32_t w = d->word[0], hi = d->word[1];
    isa_decoder_vgpr_destination(d, isa_field(w, 0, 8), TYPE_F32);
    out->simm = (int32_t)isa_field(hi, 0, 9);
    out->abs = (uint8_t)isa_field(w, 8, 3);
    out->neg = (uint8_t)isa_field(hi, 29, 3);
    out->omod = (uint8_t)isa_field(hi, 27, 2);
    out->clamp = (uint8_t)isa_field(w, 15, 1);
    if (isa_field(hi, 9, 9) == ISA_LITERAL && d->kind != KIND_INTERPMOV)
        return ISA_ERROR_INVALID;
    if (isa_field(hi, 18, 9) == ISA_LITERAL && d->kind == KIND_INTERP16C)
        return ISA_ERROR_INVALID;
    if (d->kind == KIND_INTERPMOV)
        out->src[0] = (uint16_t)isa_field(hi, 9, 9);
    else if (!isa_decoder_source(d, 0, isa_field(hi, 9, 9), TYPE_F32))
        return ISA_ERROR_INVALID;
    if (d->kind == KIND_INTERP16C && !isa_decoder_source(d, 2, isa_field(hi, 18, 9), TYPE_F32))
        return ISA_ERROR_INVALID;
    return 0;
}

/* Registers of data, with the one that tells of faults. LLVM does not know all sizes of atomics: it
 * takes the least that it has instead, and five for four. */
static unsigned image_dwords(const struct isa_decoder *d)
{
    const struct isa_inst *inst = d->out;
    unsigned values = (unsigned)__builtin_popcount(inst->format_bits);
    bool fault = inst->memory & ISA_MEM_TFE;
    bool packed = (inst->opsel & ISA_IMAGE_D16) && isa_is_gfx9(d->target);
    if (d->kind == KIND_GATHER)
        return packed && fault ? 4 : (packed ? 2 : 4) + fault;
    values = values ? values : 1;
    if (d->kind != KIND_IMGATOMIC)
        return (packed ? (values + 1) / 2 : values) + fault;
    values += fault;
    if (inst->op == ISA_OP_image_atomic_cmpswap)
        return values == 4 ? 4 : 2;
    return values == 2 ? 2 : values == 4 ? 5 : 1;
}

/* The least number of dwords in any encoding of the instruction. A tuple that runs past the last
 * register counts as having so many. */
static unsigned least_dwords(const struct isa_decoder *d)
{
    return d->kind == KIND_GATHER ? 4 : d->out->op == ISA_OP_image_atomic_cmpswap ? 2 : 1;
}

int isa_decode_image(struct isa_decoder *d)
{
    if (!isa_decoder_fetch(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    int error = isa_decoder_find_row(d, ISA_MIMG, isa_field(w, 18, 7));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    bool unified = isa_traits[d->target].accumulators == ISA_ACCUMULATORS_UNIFIED;
    out->format_bits = (uint8_t)isa_field(w, 8, 4);
    out->opsel = (uint8_t)((isa_field(w, 12, 1) ? ISA_IMAGE_UNORM : 0)
                           | (isa_field(w, 14, 1) ? ISA_IMAGE_DA : 0)
                           | (isa_field(w, 15, 1) ? ISA_IMAGE_R128 : 0)
                           | (isa_field(w, 17, 1) ? ISA_IMAGE_LWE : 0)
                           | (isa_field(hi, 31, 1) ? ISA_IMAGE_D16 : 0));
    out->memory =
        (uint8_t)((isa_field(w, 13, 1) ? ISA_MEM_GLC : 0) | (isa_field(w, 25, 1) ? ISA_MEM_SLC : 0)
                  | (isa_field(w, 16, 1) && !unified ? ISA_MEM_TFE : 0)
                  | (isa_field(w, 7, 1) && unified ? ISA_MEM_SCC : 0));
    out->dwords = (uint8_t)image_dwords(d);
    unsigned bank = unified && isa_field(w, 16, 1) ? ISA_AGPR : ISA_VGPR;
    unsigned first = isa_field(hi, 8, 8), least = least_dwords(d);
    out->dst = (uint16_t)(bank + first);
    if (first + out->dwords > 256)
        out->dwords = (uint8_t)least;
    isa_decoder_note_vgprs(out, out->dst, out->dwords > least ? out->dwords : least);
    out->src[0] = (uint16_t)(ISA_VGPR + isa_field(hi, 0, 8));
    isa_decoder_note_vgprs(out, out->src[0], d->row->operation);
    if (!isa_decoder_sgpr_destination(d, &out->sdst, isa_field(hi, 16, 5) * 4, 8))
        return ISA_ERROR_INVALID;
    if ((d->kind == KIND_SAMPLE || d->kind == KIND_GATHER)
        && !isa_decoder_sgpr_destination(d, &out->soffset, isa_field(hi, 21, 5) * 4, 4))
        return ISA_ERROR_INVALID;
    return 0;
}

int isa_decode_export(struct isa_decoder *d)
{
    if (!isa_decoder_fetch(d, 1))
        return ISA_ERROR_TRUNCATED;
    int error = isa_decoder_find_row(d, ISA_EXP, 0);
    if (error)
        return error;
    struct isa_inst *out = d->out;
    uint32_t w = d->word[0], hi = d->word[1];
    out->format_bits = (uint8_t)isa_field(w, 0, 4);
    out->simm = (int32_t)isa_field(w, 4, 6);
    out->opsel = (uint8_t)isa_field(w, 10, 3);
    uint16_t *sources[4] = {&out->src[0], &out->src[1], &out->src[2], &out->soffset};
    for (unsigned i = 0; i < 4; i++) {
        *sources[i] = (uint16_t)(ISA_VGPR + isa_field(hi, 8 * i, 8));
        isa_decoder_note_vgprs(out, *sources[i], 1);
    }
    return 0;
}
