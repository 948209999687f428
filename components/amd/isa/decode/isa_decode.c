/* Machine words to struct isa_inst.
 *
 * One function a format (the scalar ones here, the others in isa_decode_vector.c and
 * isa_decode_memory.c), each of which fills operands and modifiers of a row found by
 * isa_table_find. They share isa_decode_operand.c. Flags that follow from kinds and operands are
 * added at the end, in one place. Reserved source codes make an instruction invalid, as in llvm-mc;
 * unused fields are ignored, as on hardware. */
#include "isa_decode.h"

/* ---- scalar formats ---- */

static int scalar_operands(struct isa_decoder *d, unsigned dst, unsigned src0, unsigned src1)
{
    const uint8_t *type = d->row->type;
    bool relative = type[1] == TYPE_REL || type[1] == TYPE_REL64;
    if (type[0] != TYPE_NONE
        && !isa_decoder_sgpr_destination(d, &d->out->dst, dst, isa_type_dwords(type[0])))
        return ISA_ERROR_INVALID;
    if (type[1] != TYPE_NONE
        && (!isa_decoder_source(d, 0, src0, type[1]) || src0 == ISA_LDS_DIRECT || src0 >= ISA_VGPR
            || (relative && src0 > 127)))
        return ISA_ERROR_INVALID;
    if (type[2] == TYPE_IDXIMM)
        d->out->simm = (int32_t)src1;
    else if (type[2] != TYPE_NONE
             && (!isa_decoder_source(d, 1, src1, type[2]) || src1 == ISA_LDS_DIRECT
                 || src1 >= ISA_VGPR))
        return ISA_ERROR_INVALID;
    return isa_decoder_literal_if_named(d);
}

static void decode_waitcnt(struct isa_decoder *d)
{
    uint32_t imm = d->word[0];
    bool gfx9 = isa_is_gfx9(d->target);
    unsigned vm = isa_field(imm, 0, 4) | (gfx9 ? isa_field(imm, 14, 2) << 4 : 0),
             exp = isa_field(imm, 4, 3), lgkm = isa_field(imm, 8, 4);
    d->out->wait_vm = (uint8_t)(vm == isa_traits[d->target].vmcnt_most ? ISA_WAIT_NONE : vm);
    d->out->wait_exp = (uint8_t)(exp == 7 ? ISA_WAIT_NONE : exp);
    d->out->wait_lgkm = (uint8_t)(lgkm == 15 ? ISA_WAIT_NONE : lgkm);
}

static int decode_sopp(struct isa_decoder *d)
{
    int error = isa_decoder_find_row(d, ISA_SOPP, isa_field(d->word[0], 16, 7));
    if (error)
        return error;
    d->out->simm = (int16_t)isa_field(d->word[0], 0, 16);
    if (d->out->op == ISA_OP_s_waitcnt)
        decode_waitcnt(d);
    return 0;
}

static int decode_sopk(struct isa_decoder *d)
{
    int error = isa_decoder_find_row(d, ISA_SOPK, isa_field(d->word[0], 23, 5));
    if (error)
        return error;
    d->out->simm = (int16_t)isa_field(d->word[0], 0, 16);
    unsigned type = d->row->type[0];
    if (type != TYPE_NONE
        && !isa_decoder_sgpr_destination(d, &d->out->dst, isa_field(d->word[0], 16, 7),
                                         isa_type_dwords(type)))
        return ISA_ERROR_INVALID;
    return d->row->kind == KIND_SRL ? isa_decoder_literal(d) : 0;
}

static int decode_scalar(struct isa_decoder *d)
{
    uint32_t w = d->word[0];
    int error;
    switch (isa_field(w, 23, 9)) {
    case 0x17d:
        error = isa_decoder_find_row(d, ISA_SOP1, isa_field(w, 8, 8));
        return error ? error : scalar_operands(d, isa_field(w, 16, 7), isa_field(w, 0, 8), 0);
    case 0x17e:
        error = isa_decoder_find_row(d, ISA_SOPC, isa_field(w, 16, 7));
        return error ? error : scalar_operands(d, 0, isa_field(w, 0, 8), isa_field(w, 8, 8));
    case 0x17f:
        return decode_sopp(d);
    default:
        if (isa_field(w, 28, 4) == 0xb)
            return decode_sopk(d);
        error = isa_decoder_find_row(d, ISA_SOP2, isa_field(w, 23, 7));
        return error ? error
                     : scalar_operands(d, isa_field(w, 16, 7), isa_field(w, 0, 8),
                                       isa_field(w, 8, 8));
    }
}

/* ---- flags ---- */

static uint32_t special_flags(unsigned op)
{
    switch (op) {
    case ISA_OP_s_waitcnt:
        return ISA_IS_WAITCNT;
    case ISA_OP_s_barrier:
        return ISA_IS_BARRIER;
    case ISA_OP_s_endpgm:
    case ISA_OP_s_endpgm_saved:
    case ISA_OP_s_endpgm_ordered_ps_done:
        return ISA_IS_ENDPGM;
    case ISA_OP_s_sleep:
        return ISA_IS_SLEEP;
    case ISA_OP_s_setprio:
        return ISA_IS_SETPRIO;
    case ISA_OP_s_sendmsg:
    case ISA_OP_s_sendmsghalt:
        return ISA_IS_SENDMSG | ISA_RAISES_LGKM;
    case ISA_OP_s_trap:
        return ISA_IS_TRAP;
    default:
        return 0;
    }
}

static uint32_t memory_flags(const struct isa_inst *inst, const struct isa_table_row *row)
{
    uint32_t flags = 0;
    if (row->kind == KIND_GWS || row->kind == KIND_GWSV)
        return ISA_IS_SYNC | ISA_RAISES_LGKM;
    switch (isa_kind_shape(row->kind)) {
    case KIND_LOAD:
    case KIND_SLOAD:
    case KIND_SBLOAD:
    case KIND_SSCRLOAD:
    case KIND_LOAD2:
    case KIND_LOAD2ST:
    case KIND_FLOAD:
    case KIND_LOADTID:
    case KIND_LOADLDS:
        flags = ISA_IS_LOAD;
        break;
    case KIND_STORE:
    case KIND_SSTORE:
    case KIND_SBSTORE:
    case KIND_SSCRSTORE:
    case KIND_STORE2:
    case KIND_STORE2ST:
    case KIND_FSTORE:
    case KIND_STORELDS:
    case KIND_STORETID:
        flags = ISA_IS_STORE;
        break;
    case KIND_STIME:
        flags = ISA_IS_LOAD | ISA_IS_TIME;
        break;
    case KIND_CACHE: /* a write-back is waited for */
        return row->operation == ISA_OPERATION_WB ? ISA_IS_CACHE_OP | ISA_RAISES_VM
                                                  : ISA_IS_CACHE_OP;
    case KIND_SCACHE:
    case KIND_SPROBE:
    case KIND_SBPROBE:
    case KIND_SDISCARD:
        return ISA_IS_CACHE_OP;
    case KIND_SWIZZLE:
        flags = ISA_IS_SWIZZLE;
        break;
    case KIND_PERMUTE:
    case KIND_BPERMUTE:
    case KIND_NOP:
        break;
    default:
        flags = ISA_IS_ATOMIC;
        break;
    }
    if ((flags & ISA_IS_ATOMIC) && inst->dst != ISA_OPERAND_NONE)
        flags |= ISA_RETURNS;
    if (inst->format == ISA_SMEM || inst->format == ISA_DS)
        return flags | ISA_RAISES_LGKM;
    flags |= ISA_RAISES_VM;
    return inst->format == ISA_FLAT ? flags | ISA_IS_FLAT | ISA_RAISES_LGKM : flags;
}

static uint32_t alu_flags(const struct isa_inst *inst, const struct isa_table_row *row)
{
    uint32_t flags = 0;
    switch (row->kind) {
    case KIND_SC:
    case KIND_SCD:
        flags = ISA_WRITES_SCC;
        break;
    case KIND_SX:
        flags = ISA_WRITES_SCC | ISA_WRITES_EXEC;
        break;
    case KIND_CMPX:
        flags = ISA_WRITES_EXEC;
        break;
    case KIND_VI:
        flags = ISA_READS_VCC;
        break;
    case KIND_BR:
        flags = ISA_IS_BRANCH;
        break;
    default:
        break;
    }
    unsigned scalar = row->format <= ISA_SOPP ? inst->dst : inst->sdst;
    if (scalar == ISA_VCC || scalar == ISA_VCC + 1)
        flags |= ISA_WRITES_VCC;
    if (scalar == ISA_EXEC || scalar == ISA_EXEC + 1)
        flags |= ISA_WRITES_EXEC;
    for (unsigned i = 0; i < 3; i++)
        if (inst->src[i] == ISA_VCC || inst->src[i] == ISA_VCC + 1 || inst->src[i] == ISA_VCCZ)
            flags |= ISA_READS_VCC;
    if (inst->op == ISA_OP_s_cbranch_vccz || inst->op == ISA_OP_s_cbranch_vccnz)
        flags |= ISA_READS_VCC;
    return flags;
}

/* False for instructions that decode but cannot be executed in this form: those that need the
 * global data share, and transfers to LDS of more than a dword. */
static bool executable(const struct isa_inst *inst, const struct isa_table_row *row)
{
    if (!isa_row_executable(row) || (inst->flags & (ISA_IS_GDS | ISA_IS_SYNC)) == ISA_IS_GDS)
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (inst->src[i] == ISA_LDS_DIRECT)
            return false;
    bool vector = inst->unit == ISA_UNIT_VMEM;
    return !vector || !(inst->memory & ISA_MEM_LDS) || isa_type_bytes(row->type[0]) <= 4;
}

static void finish_decoding(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_table_row *row = d->row;
    static const uint8_t units[ISA_FORMAT_COUNT] = {
        [ISA_SOP2] = ISA_UNIT_SALU,    [ISA_SMEM] = ISA_UNIT_SMEM, [ISA_VOP2] = ISA_UNIT_VALU,
        [ISA_VOP1] = ISA_UNIT_VALU,    [ISA_VOPC] = ISA_UNIT_VALU, [ISA_VOP3] = ISA_UNIT_VALU,
        [ISA_VOP3P] = ISA_UNIT_VALU,   [ISA_DS] = ISA_UNIT_LDS,    [ISA_MUBUF] = ISA_UNIT_VMEM,
        [ISA_MTBUF] = ISA_UNIT_VMEM,   [ISA_FLAT] = ISA_UNIT_VMEM, [ISA_GLOBAL] = ISA_UNIT_VMEM,
        [ISA_SCRATCH] = ISA_UNIT_VMEM,
    };
    out->timing = row->timing;
    out->unit = row->timing == ISA_TIMING_BRANCH    ? ISA_UNIT_BRANCH
                : row->timing == ISA_TIMING_SPECIAL ? ISA_UNIT_SPECIAL
                                                    : units[row->format];
    bool memory =
        out->unit == ISA_UNIT_SMEM || out->unit == ISA_UNIT_VMEM || out->unit == ISA_UNIT_LDS;
    out->flags |= memory ? memory_flags(out, row) : alu_flags(out, row) | special_flags(out->op);
    if (row->kind == KIND_CACHE)
        out->cache_op = row->operation == ISA_OPERATION_WB ? ISA_CACHE_RELEASE
                        : out->op == ISA_OP_buffer_inv || out->op == ISA_OP_buffer_invl2
                            ? ISA_CACHE_ACQUIRE
                            : ISA_CACHE_INVALIDATE_VECTOR;
    if (row->kind == KIND_SCACHE)
        out->cache_op = row->operation == ISA_OPERATION_WB ? ISA_CACHE_WRITEBACK_SCALAR
                                                           : ISA_CACHE_INVALIDATE_SCALAR;
    if (!executable(out, row))
        out->flags |= ISA_UNIMPLEMENTED_SEMANTICS;
}

/* A tuple that runs past v255 or a255 names no registers. */
static int check_ranges(const struct isa_inst *out)
{
    return out->vgprs > 256 || out->agprs > 256 ? ISA_ERROR_INVALID : 0;
}

static int dispatch(struct isa_decoder *d)
{
    uint32_t w = d->word[0];
    if (!(w >> 31))
        return isa_decode_vop2(d);
    if (w >> 30 == 2)
        return decode_scalar(d);
    switch (w >> 26) {
    case 0x30:
        return isa_decode_smem(d);
    case 0x34:
        return isa_decode_vop3(d);
    case 0x36:
        return isa_decode_ds(d);
    case 0x37:
        return isa_decode_flat(d);
    case 0x38:
        return isa_decode_buffer(d, ISA_MUBUF);
    case 0x3a:
        return isa_decode_buffer(d, ISA_MTBUF);
    default:
        return ISA_ERROR_INVALID;
    }
}

int isa_decode(enum isa_target target, const void *bytes, size_t n, struct isa_inst *out)
{
    struct isa_decoder d = {.target = target, .bytes = bytes, .readable = n, .out = out};
    memset(out, 0, sizeof *out);
    out->target = (uint8_t)target;
    out->dst = out->sdst = out->src[0] = out->src[1] = out->src[2] = out->soffset =
        ISA_OPERAND_NONE;
    out->wait_vm = out->wait_lgkm = out->wait_exp = ISA_WAIT_NONE;
    out->sel_dst = out->sel_src[0] = out->sel_src[1] = 6;
    int error = isa_decoder_fetch(&d, 0) ? dispatch(&d) : ISA_ERROR_TRUNCATED;
    if (!error)
        error = check_ranges(out);
    if (error) {
        memset(out, 0, sizeof *out);
        return error;
    }
    finish_decoding(&d);
    return out->flags & ISA_UNIMPLEMENTED_SEMANTICS ? ISA_ERROR_UNIMPLEMENTED : out->size;
}
