/* Decodes the formats of scalar memory, LDS, flat, global, scratch and buffer instructions. */
#include "isa_decode.h"

int isa_decode_smem(struct isa_decoder *d)
{
    if (!isa_decoder_fetch(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    int error = isa_decoder_find_row(d, ISA_SMEM, isa_field(w, 18, 8));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    unsigned kind = d->kind;
    if (kind == KIND_SCACHE)
        return 0;
    out->dwords = (uint8_t)isa_type_dwords(d->row->type[0]);
    out->memory = (uint8_t)(isa_field(w, 16, 1) ? ISA_MEM_GLC : 0);
    unsigned data = isa_field(w, 6, 7);
    bool probe = kind == KIND_SPROBE || kind == KIND_SBPROBE;
    if (probe || kind == KIND_SDISCARD)
        out->dst = (uint16_t)data;
    else if (!isa_decoder_sgpr_destination(
                 d, &out->dst, data,
                 out->dwords * (d->row->operation == ISA_ATOMIC_CMPSWAP ? 2u : 1u)))
        return ISA_ERROR_INVALID;
    if (kind == KIND_STIME)
        return 0;
    bool buffer = kind == KIND_SBLOAD || kind == KIND_SBSTORE || kind == KIND_SBATOMIC
                  || kind == KIND_SBPROBE;
    if (!isa_decoder_sgpr_destination(d, &out->sdst, isa_field(w, 0, 6) * 2, buffer ? 4 : 2)
        || (buffer && out->sdst % 4))
        return ISA_ERROR_INVALID;
    bool gfx9 = isa_is_gfx9(d->target), immediate = isa_field(w, 17, 1);
    if (gfx9 && isa_field(w, 14, 1)) {
        out->soffset = (uint16_t)isa_field(hi, 25, 7);
        out->simm = immediate ? (int32_t)(isa_field(hi, 0, 21) << 11) >> 11 : 0;
        out->memory |= ISA_MEM_OFFSET_IS_SGPR;
        if (immediate)
            out->memory |= ISA_MEM_OFFEN;
        return isa_scalar_code_exists(out->soffset) ? 0 : ISA_ERROR_INVALID;
    }
    if (immediate) {
        out->simm =
            gfx9 ? (int32_t)(isa_field(hi, 0, 21) << 11) >> 11 : (int32_t)isa_field(hi, 0, 20);
    } else {
        out->memory |= ISA_MEM_OFFSET_IS_SGPR;
        out->soffset = (uint16_t)isa_field(hi, 0, 7);
        if (!isa_scalar_code_exists(out->soffset))
            return ISA_ERROR_INVALID;
        isa_decoder_note_sgprs(out, out->soffset, 1);
    }
    return 0;
}

static unsigned flag_if(bool is_set, unsigned flag)
{
    return is_set ? flag : 0;
}

static void memory_register(struct isa_decoder *d, unsigned index, unsigned code, unsigned dwords)
{
    d->out->src[index] = (uint16_t)code;
    isa_decoder_note_vgprs(d->out, code, dwords);
}

/* The registers of data: vector ones, or accumulators if the target's bit `acc` is set. */
static unsigned data_bank(const struct isa_decoder *d, uint32_t acc)
{
    return acc && isa_traits[d->target].accumulators == ISA_ACCUMULATORS_UNIFIED ? ISA_AGPR
                                                                                 : ISA_VGPR;
}

struct ds_shape {
    bool address, data0, data1, result;
    unsigned result_scale;
};

static struct ds_shape ds_shape_of(unsigned kind)
{
    switch (kind) {
    case KIND_LOAD:
        return (struct ds_shape){true, false, false, true, 1};
    case KIND_LOAD2:
    case KIND_LOAD2ST:
        return (struct ds_shape){true, false, false, true, 2};
    case KIND_STORE:
    case KIND_ATOMIC:
        return (struct ds_shape){true, true, false, false, 0};
    case KIND_STORE2:
    case KIND_STORE2ST:
    case KIND_CMPST:
    case KIND_MSKOR:
        return (struct ds_shape){true, true, true, false, 0};
    case KIND_RTN:
    case KIND_PERMUTE:
    case KIND_BPERMUTE:
    case KIND_CONDXCHG:
        return (struct ds_shape){true, true, false, true, 1};
    case KIND_CMPST_RTN:
    case KIND_MSKOR_RTN:
    case KIND_WRAP:
        return (struct ds_shape){true, true, true, true, 1};
    case KIND_XCHG2:
    case KIND_XCHG2ST:
        return (struct ds_shape){true, true, true, true, 2};
    case KIND_SRC2:
    case KIND_WRSRC2:
    case KIND_GWSV:
        return (struct ds_shape){true, false, false, false, 0};
    case KIND_SWIZZLE:
    case KIND_UNORD:
        return (struct ds_shape){true, false, false, true, 1};
    case KIND_APPEND:
    case KIND_CONSUME:
    case KIND_LOADTID:
        return (struct ds_shape){false, false, false, true, 1};
    case KIND_STORETID:
        return (struct ds_shape){false, true, false, false, 0};
    default:
        return (struct ds_shape){false, false, false, false, 0};
    }
}

int isa_decode_ds(struct isa_decoder *d)
{
    if (!isa_decoder_fetch(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    int error = isa_decoder_find_row(d, ISA_DS, isa_field(w, 17, 8));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    struct ds_shape shape = ds_shape_of(d->kind);
    unsigned dwords = isa_type_dwords(d->row->type[0]);
    out->simm = (int32_t)isa_field(w, 0, 16);
    out->dwords = (uint8_t)dwords;
    bool gws = d->kind == KIND_GWS || d->kind == KIND_GWSV;
    if (isa_field(w, 16, 1)
        && (gws || isa_traits[d->target].accumulators != ISA_ACCUMULATORS_UNIFIED))
        out->flags |= ISA_IS_GDS;
    unsigned bank = data_bank(d, isa_field(w, 25, 1));
    if (shape.address)
        memory_register(d, 0, (d->kind == KIND_GWSV ? bank : ISA_VGPR) + isa_field(hi, 0, 8), 1);
    if (shape.data0)
        memory_register(d, 1, bank + isa_field(hi, 8, 8), dwords);
    if (shape.data1)
        memory_register(d, 2, bank + isa_field(hi, 16, 8), dwords);
    if (shape.result) {
        out->dst = (uint16_t)(bank + isa_field(hi, 24, 8));
        isa_decoder_note_vgprs(out, out->dst, dwords * shape.result_scale);
    }
    return 0;
}

/* Registers of an element. gfx8 has each of several 16-bit components in one of its own. */
static unsigned data_dwords(enum isa_target target, const struct isa_table_row *row)
{
    unsigned type = row->type[0];
    bool apart = isa_type_is_d16_format(type) && !isa_is_gfx9(target);
    return apart ? isa_type_components(type) : isa_type_dwords(type);
}

static void memory_data(struct isa_decoder *d, unsigned load_code, unsigned store_code)
{
    struct isa_inst *out = d->out;
    unsigned kind = d->kind, dwords = data_dwords(d->target, d->row);
    bool load = kind == KIND_LOAD || kind == KIND_FLOAD;
    bool compares = kind == KIND_ATOMIC && d->row->operation == ISA_ATOMIC_CMPSWAP;
    out->dwords = (uint8_t)dwords;
    if (kind == KIND_LOADLDS || kind == KIND_STORELDS)
        return;
    if (!load)
        memory_register(d, 1, store_code,
                        (compares ? 2 * dwords : dwords) + (out->memory & ISA_MEM_TFE ? 1 : 0));
    if (load || (kind == KIND_ATOMIC && (out->memory & ISA_MEM_GLC))) {
        out->dst = (uint16_t)load_code;
        isa_decoder_note_vgprs(out, out->dst, dwords + (out->memory & ISA_MEM_TFE ? 1 : 0));
    }
}

int isa_decode_flat(struct isa_decoder *d)
{
    if (!isa_decoder_fetch(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    bool gfx9 = isa_is_gfx9(d->target),
         architected = isa_traits[d->target].scratch == ISA_SCRATCH_ARCHITECTED,
         unified = isa_traits[d->target].accumulators == ISA_ACCUMULATORS_UNIFIED;
    unsigned segment = gfx9 ? isa_field(w, 14, 2) : 0;
    if (segment == 3)
        return ISA_ERROR_INVALID;
    static const enum isa_format formats[3] = {ISA_FLAT, ISA_SCRATCH, ISA_GLOBAL};
    int error = isa_decoder_find_row(d, formats[segment], isa_field(w, 18, 7));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    out->memory = (uint8_t)(flag_if(isa_field(w, 16, 1), ISA_MEM_GLC)
                            | flag_if(isa_field(w, 17, 1), ISA_MEM_SLC));
    if (gfx9) {
        out->simm =
            segment ? (int32_t)(isa_field(w, 0, 13) << 19) >> 19 : (int32_t)isa_field(w, 0, 12);
        out->memory |= (uint8_t)(flag_if(isa_field(w, 13, 1) && !architected, ISA_MEM_LDS)
                                 | flag_if(isa_field(hi, 23, 1) && !unified, ISA_MEM_NV)
                                 | flag_if(isa_field(w, 25, 1) && unified, ISA_MEM_SCC));
    }
    unsigned saddr = isa_field(hi, 16, 7);
    out->soffset = ISA_OPERAND_NONE;
    if (segment && saddr != 0x7f
        && !isa_decoder_sgpr_destination(d, &out->soffset, saddr, segment == 2 ? 2 : 1))
        return ISA_ERROR_INVALID;
    bool scalar_base = out->soffset != ISA_OPERAND_NONE;
    /* The bit that was `lds` says on gfx942 that scratch has an address register. */
    if (segment == 1 && architected ? isa_field(w, 13, 1) : !(segment == 1 && scalar_base))
        memory_register(d, 0, ISA_VGPR + isa_field(hi, 0, 8), segment == 1 || scalar_base ? 1 : 2);
    unsigned bank = data_bank(d, isa_field(hi, 23, 1));
    memory_data(d, bank + isa_field(hi, 24, 8), bank + isa_field(hi, 8, 8));
    return 0;
}

int isa_decode_buffer(struct isa_decoder *d, enum isa_format format)
{
    if (!isa_decoder_fetch(d, 1))
        return ISA_ERROR_TRUNCATED;
    uint32_t w = d->word[0], hi = d->word[1];
    int error = isa_decoder_find_row(
        d, format, format == ISA_MUBUF ? isa_field(w, 18, 7) : isa_field(w, 15, 4));
    if (error)
        return error;
    struct isa_inst *out = d->out;
    bool unified = isa_traits[d->target].accumulators == ISA_ACCUMULATORS_UNIFIED;
    unsigned scc = format == ISA_MUBUF ? isa_field(w, 15, 1) : isa_field(hi, 21, 1);
    unsigned slc = format == ISA_MUBUF ? isa_field(w, 17, 1) : isa_field(hi, 22, 1);
    unsigned lds = format == ISA_MUBUF ? isa_field(w, 16, 1) : 0;
    out->memory = (uint8_t)(flag_if(isa_field(w, 12, 1), ISA_MEM_OFFEN)
                            | flag_if(isa_field(w, 13, 1), ISA_MEM_IDXEN)
                            | flag_if(isa_field(w, 14, 1), ISA_MEM_GLC) | flag_if(slc, ISA_MEM_SLC)
                            | flag_if(lds, ISA_MEM_LDS)
                            | flag_if(isa_field(hi, 23, 1) && !unified, ISA_MEM_TFE)
                            | flag_if(scc && unified, ISA_MEM_SCC));
    if (d->kind == KIND_CACHE)
        return 0;
    out->simm = (int32_t)isa_field(w, 0, 12);
    if (format == ISA_MTBUF)
        out->format_bits = (uint8_t)isa_field(w, 19, 7);
    if (out->memory & (ISA_MEM_OFFEN | ISA_MEM_IDXEN))
        memory_register(d, 0, ISA_VGPR + isa_field(hi, 0, 8),
                        (out->memory & ISA_MEM_OFFEN) && (out->memory & ISA_MEM_IDXEN) ? 2 : 1);
    if (!isa_decoder_sgpr_destination(d, &out->sdst, isa_field(hi, 16, 5) * 4, 4))
        return ISA_ERROR_INVALID;
    unsigned soffset = isa_field(hi, 24, 8);
    if (!isa_source_code_exists(d->target, soffset) || soffset >= ISA_LDS_DIRECT)
        return ISA_ERROR_INVALID;
    out->soffset = (uint16_t)soffset;
    isa_decoder_note_sgprs(out, soffset, 1);
    unsigned bank = data_bank(d, isa_field(hi, 23, 1));
    memory_data(d, bank + isa_field(hi, 8, 8), bank + isa_field(hi, 8, 8));
    if (lds)
        out->dst = ISA_OPERAND_NONE;
    return 0;
}
