/* Words, rows and operands: the elements that the decoders of all formats share. */
#include "isa_decode.h"

bool isa_decoder_fetch(struct isa_decoder *d, unsigned index)
{
    if (d->readable < 4 * (index + 1))
        return false;
    memcpy(&d->word[index], d->bytes + 4 * index, 4);
    d->out->size = (uint8_t)(4 * (index + 1));
    return true;
}

int isa_decoder_find_row(struct isa_decoder *d, enum isa_format format, unsigned opcode)
{
    int row = isa_table_find(d->target, format, opcode);
    if (row < 0)
        return ISA_ERROR_INVALID;
    d->row = &isa_table[row];
    d->kind = isa_kind_shape(d->row->kind);
    d->out->op = (uint16_t)row;
    d->out->format = d->row->format;
    return 0;
}

bool isa_scalar_code_exists(unsigned code)
{
    return code <= 124 || code == 126 || code == 127;
}

bool isa_source_code_exists(enum isa_target target, unsigned code)
{
    if (code < 128)
        return isa_scalar_code_exists(code);
    if (code <= 208 || (code >= 240 && code <= 248) || (code >= 251 && code <= 253) || code >= 255
        || code == ISA_LDS_DIRECT)
        return true;
    return isa_is_gfx9(target) && code >= 235 && code <= 239;
}

void isa_decoder_note_vgprs(struct isa_inst *out, unsigned code, unsigned dwords)
{
    if (code < ISA_VGPR || code == ISA_OPERAND_NONE)
        return;
    unsigned end = (code & 255) + dwords;
    uint16_t *most = code < ISA_AGPR ? &out->vgprs : &out->agprs;
    if (end > *most)
        *most = (uint16_t)end;
}

void isa_decoder_note_sgprs(struct isa_inst *out, unsigned code, unsigned dwords)
{
    if (code <= 101 && code + dwords > out->sgprs)
        out->sgprs = (uint8_t)(code + dwords);
}

/*
 * Scalar tuples start at an even register, of four and more at a multiple of four: low bits of the
 * code are ignored for SGPRs and trap registers, as in llvm-mc; the special pairs have none to
 * ignore. False when the tuple does not exist.
 */
static bool align_tuple(enum isa_target target, unsigned *code, unsigned dwords)
{
    unsigned low = dwords >= 4 ? 3 : dwords - 1, ttmp = isa_traits[target].first_ttmp;
    if (dwords < 2 || *code >= 128)
        return true;
    if (*code <= 101) {
        *code &= ~low;
        return *code + dwords <= 104;
    }
    if (*code >= ttmp && *code <= 123) {
        *code &= ~low;
        return *code + dwords <= 124;
    }
    return dwords == 2 && !(*code & 1) && *code != ISA_M0;
}

bool isa_decoder_source(struct isa_decoder *d, unsigned index, unsigned code, unsigned type)
{
    if (type == TYPE_A32)
        code = code >= ISA_VGPR ? ISA_AGPR + (code & 255) : ISA_OPERAND_NONE;
    if (code == ISA_LDS_DIRECT && isa_type_dwords(type) > 1)
        return false;
    if (code == ISA_OPERAND_NONE || !isa_source_code_exists(d->target, code)
        || !align_tuple(d->target, &code, isa_type_dwords(type)))
        return false;
    d->out->src[index] = (uint16_t)code;
    isa_decoder_note_vgprs(d->out, code, isa_type_dwords(type));
    isa_decoder_note_sgprs(d->out, code, isa_type_dwords(type));
    return true;
}

void isa_decoder_vgpr_destination(struct isa_decoder *d, unsigned vgpr, unsigned type)
{
    d->out->dst = (uint16_t)((type == TYPE_A32 ? ISA_AGPR : ISA_VGPR) + vgpr);
    isa_decoder_note_vgprs(d->out, d->out->dst, isa_type_dwords(type));
}

bool isa_decoder_sgpr_destination(struct isa_decoder *d, uint16_t *slot, unsigned code,
                                  unsigned dwords)
{
    if (!isa_scalar_code_exists(code) || !align_tuple(d->target, &code, dwords))
        return false;
    *slot = (uint16_t)code;
    isa_decoder_note_sgprs(d->out, code, dwords);
    return true;
}

int isa_decoder_literal(struct isa_decoder *d)
{
    if (!isa_decoder_fetch(d, d->out->size / 4))
        return ISA_ERROR_TRUNCATED;
    d->out->literal = d->word[d->out->size / 4 - 1];
    d->out->flags |= ISA_HAS_LITERAL;
    return 0;
}

int isa_decoder_literal_if_named(struct isa_decoder *d)
{
    for (unsigned i = 0; i < 3; i++)
        if (d->out->src[i] == ISA_LITERAL)
            return isa_decoder_literal(d);
    return 0;
}
