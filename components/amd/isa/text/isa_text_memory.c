/* Memory instructions as text. */
#include "isa_text.h"

void isa_text_smem(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    unsigned kind = t->kind;
    if (kind == KIND_SCACHE)
        return;
    bool buffer = kind == KIND_SBLOAD || kind == KIND_SBSTORE || kind == KIND_SBATOMIC
                  || kind == KIND_SBPROBE;
    isa_text_separate(t);
    if (kind == KIND_SPROBE || kind == KIND_SBPROBE)
        isa_text_put(t, inst->dst <= 64 ? "%u" : "0x%x", inst->dst);
    else if (kind != KIND_SDISCARD)
        isa_text_register(t, inst->dst,
                          inst->dwords * (t->row->operation == ISA_ATOMIC_CMPSWAP ? 2u : 1u));
    if (kind == KIND_STIME)
        return;
    if (kind == KIND_SDISCARD)
        t->operands = 0;
    else
        isa_text_separate(t);
    isa_text_register(t, inst->sdst, buffer ? 4 : 2);
    t->operands = 1;
    if (inst->memory & ISA_MEM_OFFSET_IS_SGPR) {
        isa_text_separate(t);
        isa_text_register(t, inst->soffset, 1);
        if (inst->memory & ISA_MEM_OFFEN)
            isa_text_put(t, " offset:%s0x%x", inst->simm < 0 ? "-" : "",
                         inst->simm < 0 ? -inst->simm : inst->simm);
    } else if (inst->simm < 0) {
        isa_text_put(t, ", -0x%x", -inst->simm);
    } else {
        isa_text_put(t, ", 0x%x", inst->simm);
    }
    if ((inst->memory & ISA_MEM_GLC) && kind != KIND_SPROBE && kind != KIND_SBPROBE
        && kind != KIND_SDISCARD)
        isa_text_put(t, " glc");
}

static void put_bitmask_swizzle(struct isa_text *t, unsigned and_mask, unsigned or_mask,
                                unsigned xor_mask)
{
    isa_text_put(t, "swizzle(BITMASK_PERM,\"");
    for (unsigned bit = 5; bit-- > 0;) {
        unsigned a = and_mask >> bit & 1, o = or_mask >> bit & 1, x = xor_mask >> bit & 1;
        /* Results for a 0 and for a 1: constants, passed on or inverted. */
        unsigned zero = ((0 & a) | o) ^ x, one = ((1 & a) | o) ^ x;
        isa_text_put(t, "%c", "0pi1"[zero << 1 | one]);
    }
    isa_text_put(t, "\")");
}

static void put_swizzle(struct isa_text *t)
{
    unsigned imm = (unsigned)t->inst->simm;
    unsigned and_mask = imm & 31, or_mask = imm >> 5 & 31, xor_mask = imm >> 10 & 31;
    if (!imm)
        return;
    isa_text_put(t, " offset:");
    if ((imm & 0xff00) == 0x8000) {
        isa_text_put(t, "swizzle(QUAD_PERM,%u,%u,%u,%u)", imm & 3, imm >> 2 & 3, imm >> 4 & 3,
                     imm >> 6 & 3);
        return;
    }
    if (imm & 0x8000) {
        isa_text_put(t, "%u", imm);
        return;
    }
    bool xor_power = xor_mask && !(xor_mask & (xor_mask - 1)),
         xor_ones = xor_mask && !(xor_mask & (xor_mask + 1));
    unsigned group = 32 - and_mask;
    if (xor_power && and_mask == 31 && !or_mask)
        isa_text_put(t, "swizzle(SWAP,%u)", xor_mask);
    else if (xor_ones && and_mask == 31 && !or_mask)
        isa_text_put(t, "swizzle(REVERSE,%u)", xor_mask + 1);
    else if (group > 1 && !(group & (group - 1)) && or_mask < group && !xor_mask)
        isa_text_put(t, "swizzle(BROADCAST,%u,%u)", group, or_mask);
    else
        put_bitmask_swizzle(t, and_mask, or_mask, xor_mask);
}

static void put_ds_offset(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    unsigned imm = (unsigned)inst->simm;
    switch (t->kind) {
    case KIND_SWIZZLE:
        put_swizzle(t);
        break;
    case KIND_LOAD2:
    case KIND_LOAD2ST:
    case KIND_STORE2:
    case KIND_STORE2ST:
    case KIND_XCHG2:
    case KIND_XCHG2ST:
        if (imm & 255)
            isa_text_put(t, " offset0:%u", imm & 255);
        if (imm >> 8)
            isa_text_put(t, " offset1:%u", imm >> 8);
        break;
    case KIND_NOP:
        break;
    default:
        if (imm)
            isa_text_put(t, " offset:%u", imm);
    }
}

void isa_text_ds(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    unsigned kind = t->kind;
    bool twice =
        kind == KIND_LOAD2 || kind == KIND_LOAD2ST || kind == KIND_XCHG2 || kind == KIND_XCHG2ST;
    if (inst->dst != ISA_OPERAND_NONE) {
        isa_text_separate(t);
        isa_text_register(t, inst->dst, inst->dwords * (twice ? 2u : 1u));
    }
    for (unsigned i = 0; i < 3; i++) {
        if (inst->src[i] == ISA_OPERAND_NONE)
            continue;
        isa_text_separate(t);
        isa_text_register(t, inst->src[i], i ? inst->dwords : 1);
    }
    put_ds_offset(t);
    if (inst->flags & ISA_IS_GDS)
        isa_text_put(t, " gds");
}

static unsigned data_registers(const struct isa_text *t)
{
    return t->inst->dwords
           * (t->kind == KIND_ATOMIC && t->row->operation == ISA_ATOMIC_CMPSWAP ? 2u : 1u);
}

static void put_cache_policy(struct isa_text *t)
{
    bool scopes = isa_traits[t->inst->target].has_scope_bits;
    unsigned memory = t->inst->memory;
    if (memory & ISA_MEM_GLC)
        isa_text_put(t, scopes ? " sc0" : " glc");
    if (memory & ISA_MEM_SLC)
        isa_text_put(t, scopes ? " nt" : " slc");
    if (memory & ISA_MEM_SCC)
        isa_text_put(t, scopes ? " sc1" : " scc");
}

void isa_text_flat(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    bool scalar = inst->soffset != ISA_OPERAND_NONE, scratch = inst->format == ISA_SCRATCH;
    if (inst->dst != ISA_OPERAND_NONE && !(inst->memory & ISA_MEM_LDS)) {
        isa_text_separate(t);
        isa_text_register(t, inst->dst, inst->dwords);
    }
    isa_text_separate(t);
    if (inst->src[0] == ISA_OPERAND_NONE)
        isa_text_put(t, "off");
    else
        isa_text_register(t, inst->src[0], scratch || scalar ? 1 : 2);
    if (inst->src[1] != ISA_OPERAND_NONE) {
        isa_text_separate(t);
        isa_text_register(t, inst->src[1], data_registers(t));
    }
    if (inst->format != ISA_FLAT) {
        isa_text_separate(t);
        if (scalar)
            isa_text_register(t, inst->soffset, scratch ? 1 : 2);
        else
            isa_text_put(t, "off");
    }
    if (inst->simm)
        isa_text_put(t, " offset:%d", inst->simm);
    put_cache_policy(t);
    isa_text_put(t, "%s%s", inst->memory & ISA_MEM_LDS ? " lds" : "",
                 inst->memory & ISA_MEM_TFE ? " tfe" : "");
}

static void put_buffer_format(struct isa_text *t)
{
    static const char *const data[16] = {"INVALID",     "8",          "16",          "8_8",
                                         "32",          "16_16",      "10_11_11",    "11_11_10",
                                         "10_10_10_2",  "2_10_10_10", "8_8_8_8",     "32_32",
                                         "16_16_16_16", "32_32_32",   "32_32_32_32", "RESERVED_15"};
    static const char *const number[8] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                          "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
    unsigned dfmt = t->inst->format_bits & 15, nfmt = t->inst->format_bits >> 4;
    if (dfmt == 1 && nfmt == 0)
        return;
    isa_text_put(t, " format:[");
    if (dfmt != 1)
        isa_text_put(t, "BUF_DATA_FORMAT_%s%s", data[dfmt], nfmt ? "," : "");
    if (nfmt)
        isa_text_put(t, "BUF_NUM_FORMAT_%s", number[nfmt]);
    isa_text_put(t, "]");
}

void isa_text_buffer(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    if (t->kind == KIND_CACHE) {
        if (isa_traits[inst->target].has_scope_bits
            && (inst->op == ISA_OP_buffer_wbl2 || inst->op == ISA_OP_buffer_inv))
            isa_text_put(t, "%s%s", inst->memory & ISA_MEM_GLC ? " sc0" : "",
                         inst->memory & ISA_MEM_SCC ? " sc1" : "");
        return;
    }
    unsigned registers = data_registers(t);
    if (!(inst->memory & ISA_MEM_LDS) && t->kind != KIND_STORELDS) {
        isa_text_separate(t);
        isa_text_register(t,
                          inst->dst != ISA_OPERAND_NONE && inst->src[1] == ISA_OPERAND_NONE
                              ? inst->dst
                              : inst->src[1],
                          registers + (inst->memory & ISA_MEM_TFE ? 1 : 0));
    }
    if (t->kind != KIND_STORELDS)
        isa_text_separate(t);
    if (t->kind == KIND_STORELDS)
        t->operands = 0;
    else if (inst->src[0] == ISA_OPERAND_NONE)
        isa_text_put(t, "off");
    else if (inst->src[0] != ISA_OPERAND_NONE)
        isa_text_register(t, inst->src[0],
                          (inst->memory & ISA_MEM_OFFEN) && (inst->memory & ISA_MEM_IDXEN) ? 2 : 1);
    isa_text_separate(t);
    isa_text_register(t, inst->sdst, 4);
    isa_text_operand(t, inst->soffset, TYPE_U32);
    if (inst->format == ISA_MTBUF)
        put_buffer_format(t);
    isa_text_put(t, "%s%s", inst->memory & ISA_MEM_IDXEN ? " idxen" : "",
                 inst->memory & ISA_MEM_OFFEN ? " offen" : "");
    if (inst->simm)
        isa_text_put(t, " offset:%d", inst->simm);
    if (t->kind == KIND_STORELDS)
        isa_text_put(t, " lds");
    put_cache_policy(t);
    isa_text_put(t, "%s%s", (inst->memory & ISA_MEM_LDS) && t->kind != KIND_STORELDS ? " lds" : "",
                 inst->memory & ISA_MEM_TFE ? " tfe" : "");
}
