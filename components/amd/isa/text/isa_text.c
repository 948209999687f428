/* Struct isa_inst to assembler text, in llvm-mc's spelling (the oracle of
 * tests/components/amd/isa/test_isa_oracle.c).
 *
 * One printer a format, appending to a bounded buffer: the scalar ones here, the others in
 * isa_text_vector.c and isa_text_memory.c. They share isa_text_operand.c, where operands print by
 * the type that the table gives them. */
#include "isa_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- scalar formats ---- */

static void put_hwreg(struct isa_text *t)
{
    static const char *const names[] = {NULL,
                                        "MODE",
                                        "STATUS",
                                        "TRAPSTS",
                                        "HW_ID",
                                        "GPR_ALLOC",
                                        "LDS_ALLOC",
                                        "IB_STS",
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        "SH_MEM_BASES",
                                        "TBA_LO",
                                        "TBA_HI",
                                        "TMA_LO",
                                        "TMA_HI",
                                        "XCC_ID",
                                        "SQ_PERF_SNAPSHOT_DATA",
                                        "SQ_PERF_SNAPSHOT_DATA1",
                                        "SQ_PERF_SNAPSHOT_PC_LO",
                                        "SQ_PERF_SNAPSHOT_PC_HI"};
    unsigned imm = (uint16_t)t->inst->simm, id = imm & 63, offset = imm >> 6 & 31,
             width = (imm >> 11) + 1;
    unsigned known = isa_traits[t->inst->target].hwregs;
    isa_text_separate(t);
    if (id < known && names[id])
        isa_text_put(t, "hwreg(HW_REG_%s", names[id]);
    else
        isa_text_put(t, "hwreg(%u", id);
    if (offset || width != 32)
        isa_text_put(t, ", %u, %u", offset, width);
    isa_text_put(t, ")");
}

static void put_waitcnt(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    bool all = inst->wait_vm == ISA_WAIT_NONE && inst->wait_exp == ISA_WAIT_NONE
               && inst->wait_lgkm == ISA_WAIT_NONE;
    const char *space = " ";
    if (all || inst->wait_vm != ISA_WAIT_NONE)
        isa_text_put(t, "%svmcnt(%u)", space,
                     inst->wait_vm == ISA_WAIT_NONE ? isa_traits[inst->target].vmcnt_most
                                                    : inst->wait_vm);
    if (all || inst->wait_exp != ISA_WAIT_NONE)
        isa_text_put(t, "%sexpcnt(%u)", space,
                     inst->wait_exp == ISA_WAIT_NONE ? 7 : inst->wait_exp);
    if (all || inst->wait_lgkm != ISA_WAIT_NONE)
        isa_text_put(t, "%slgkmcnt(%u)", space,
                     inst->wait_lgkm == ISA_WAIT_NONE ? 15 : inst->wait_lgkm);
}

static const char *message_name(const struct isa_inst *inst, unsigned id)
{
    static const char *const names[16] = {[1] = "INTERRUPT",       [2] = "GS",
                                          [3] = "GS_DONE",         [4] = "SAVEWAVE",
                                          [5] = "STALL_WAVE_GEN",  [6] = "HALT_WAVES",
                                          [7] = "ORDERED_PS_DONE", [8] = "EARLY_PRIM_DEALLOC",
                                          [9] = "GS_ALLOC_REQ",    [10] = "GET_DOORBELL",
                                          [15] = "SYSMSG"};
    return !isa_is_gfx9(inst->target) && id >= 5 && id != 15 ? NULL : names[id];
}

static void put_message(struct isa_text *t)
{
    static const char *const gs[4] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
    static const char *const sys[5] = {NULL, "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD",
                                       "SYSMSG_OP_HOST_TRAP_ACK", "SYSMSG_OP_TTRACE_PC"};
    unsigned imm = (uint16_t)t->inst->simm, id = imm & 15, op = imm >> 4 & 7, stream = imm >> 8 & 3;
    const char *name = message_name(t->inst, id);
    isa_text_put(t, " ");
    if ((id == 2 || id == 3) && op < 4 && (op || id == 3) && (op || !stream))
        isa_text_put(t, stream || op ? "sendmsg(MSG_%s, %s, %u)" : "sendmsg(MSG_%s, %s)", name,
                     gs[op], stream);
    else if (id == 15 && op >= 1 && op <= 4 && !stream
             && (op != 3 || !isa_is_gfx9(t->inst->target)))
        isa_text_put(t, "sendmsg(MSG_SYSMSG, %s)", sys[op]);
    else if (name && id != 2 && id != 3 && id != 15 && !op && !stream)
        isa_text_put(t, "sendmsg(MSG_%s)", name);
    else if (imm == (id | op << 4 | stream << 8))
        isa_text_put(t, "sendmsg(%u, %u, %u)", id, op, stream);
    else
        isa_text_put(t, "%u", imm);
}

static void put_gpr_index(struct isa_text *t, unsigned imm)
{
    static const char *const names[4] = {"SRC0", "SRC1", "SRC2", "DST"};
    const char *comma = "";
    isa_text_separate(t);
    if (imm > 15) {
        isa_text_put(t, "0x%x", imm);
        return;
    }
    isa_text_put(t, "gpr_idx(");
    for (unsigned i = 0; i < 4; i++) {
        if (imm >> i & 1) {
            isa_text_put(t, "%s%s", comma, names[i]);
            comma = ",";
        }
    }
    isa_text_put(t, ")");
}

static void put_scalar(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    const uint8_t *type = t->row->type;
    if (type[0] != TYPE_NONE)
        isa_text_operand(t, inst->dst, type[0]);
    /* If LLVM wants a pair of registers, constants print as those of one. */
    bool jumps = t->row->kind == KIND_BR && type[0] == TYPE_NONE && type[2] == TYPE_NONE;
    if (type[1] != TYPE_NONE)
        isa_text_operand(t, inst->src[0],
                         jumps && isa_text_is_constant(inst->src[0]) ? TYPE_U32 : type[1]);
    if (type[2] == TYPE_IDXIMM)
        put_gpr_index(t, (unsigned)inst->simm);
    else if (type[2] != TYPE_NONE)
        isa_text_operand(t, inst->src[1], type[2]);
}

static void put_sopk(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    const uint8_t *type = t->row->type;
    bool set = t->row->kind == KIND_SRC || t->row->kind == KIND_SRL;
    if (set)
        put_hwreg(t);
    if (type[0] != TYPE_NONE)
        isa_text_operand(t, inst->dst, type[0]);
    if (t->row->kind == KIND_SRL)
        isa_text_operand(t, ISA_LITERAL, TYPE_U32);
    if (set)
        return;
    if (type[1] == TYPE_HWREG) {
        put_hwreg(t);
        return;
    }
    isa_text_separate(t);
    if (inst->op == ISA_OP_s_cbranch_i_fork || inst->op == ISA_OP_s_call_b64)
        isa_text_put(t, "%u", (uint16_t)inst->simm);
    else
        isa_text_put(t, "0x%x", (uint16_t)inst->simm);
}

static void put_sopp(struct isa_text *t, uint64_t pc)
{
    const struct isa_inst *inst = t->inst;
    unsigned imm = (uint16_t)inst->simm;
    switch (t->row->type[1]) {
    case TYPE_UIMM:
        isa_text_put(t, imm <= 64 ? " %u" : " 0x%x", imm);
        break;
    case TYPE_REL16:
        isa_text_put(t, " %u", imm);
        if (pc != UINT64_MAX)
            isa_text_put(t, " // 0x%" PRIx64, pc + 4 + (uint64_t)((int64_t)inst->simm * 4));
        break;
    case TYPE_WAIT:
        put_waitcnt(t);
        break;
    case TYPE_MSG:
        put_message(t);
        break;
    case TYPE_IDXIMM:
        put_gpr_index(t, imm);
        break;
    default:
        if (inst->op == ISA_OP_s_endpgm && imm)
            isa_text_put(t, " %u", imm);
        break;
    }
    if (inst->op == ISA_OP_s_set_gpr_idx_mode && t->row->type[1] == TYPE_NONE)
        put_gpr_index(t, imm);
}

/* ---- all formats ---- */

size_t isa_format_register(enum isa_target target, unsigned code, unsigned dwords, char *buf,
                           size_t n)
{
    const struct isa_inst inst = {.target = (uint8_t)target};
    struct isa_text t = {.buf = buf, .size = n, .inst = &inst};
    if (n)
        buf[0] = 0;
    isa_text_register(&t, code, dwords);
    return t.length;
}

size_t isa_format(const struct isa_inst *inst, uint64_t pc, char *buf, size_t n)
{
    struct isa_text t = {.buf = buf, .size = n, .inst = inst};
    if (n)
        buf[0] = 0;
    if (!inst->size || inst->op >= ISA_OP_COUNT) {
        isa_text_put(&t, "<invalid>");
        return t.length;
    }
    t.row = &isa_table[inst->op];
    t.kind = isa_kind_shape(t.row->kind);
    isa_text_put(&t, "%s", t.row->mnemonic);
    switch (t.row->format) {
    case ISA_SOP1:
    case ISA_SOP2:
    case ISA_SOPC:
        put_scalar(&t);
        break;
    case ISA_SOPK:
        put_sopk(&t);
        break;
    case ISA_SOPP:
        put_sopp(&t, pc);
        break;
    case ISA_SMEM:
        isa_text_smem(&t);
        break;
    case ISA_DS:
        isa_text_ds(&t);
        break;
    case ISA_FLAT:
    case ISA_GLOBAL:
    case ISA_SCRATCH:
        isa_text_flat(&t);
        break;
    case ISA_MUBUF:
    case ISA_MTBUF:
        isa_text_buffer(&t);
        break;
    default:
        isa_text_vector(&t);
        break;
    }
    return t.length;
}
