/* Lowers mov, cvta, isspacep and their kind. */
#include "warp_build.h"

static enum ptx_type type_of(const struct warp_build *b, unsigned i)
{
    return (enum ptx_type)b->instruction->types[i];
}

static enum ptx_type bits_type(unsigned bits)
{
    switch (bits) {
    case 8:
        return PTX_B8;
    case 16:
        return PTX_B16;
    case 32:
        return PTX_B32;
    default:
        return PTX_B64;
    }
}

/* Packs the elements {a, b, ...} into a register of `bits`. */
static void pack(struct warp_build *b, const struct ptx_operand *vector, struct warp_value d,
                 unsigned bits)
{
    unsigned n = vector->element_count, each = bits / n;
    enum ptx_type type = bits_type(each);
    struct warp_value v[8];
    for (unsigned i = 0; i < n; i++)
        v[i] = warp_input(b, &vector->elements[i], type);
    if (each == 8) {
        struct warp_value sum = warp_temporary(b, WARP_NARROW);
        warp_emit1(b, WARP_RUN_WIDEN32_U8, sum, v[0]);
        for (unsigned i = 1; i < n; i++)
            warp_emit2(b, WARP_RUN_PACK_8, i + 1 == n ? d : sum, sum, v[i])->value = 8 * i;
    } else if (each == 16 && n == 2) {
        warp_emit2(b, WARP_RUN_PACK_16, d, v[0], v[1]);
    } else if (each == 16) {
        struct warp_value x = warp_temporary(b, WARP_NARROW), y = warp_temporary(b, WARP_NARROW);
        warp_emit2(b, WARP_RUN_PACK_16, x, v[0], v[1]);
        warp_emit2(b, WARP_RUN_PACK_16, y, v[2], v[3]);
        warp_emit2(b, WARP_RUN_PACK_32, d, x, y);
    } else if (each == 32 && n == 2) {
        warp_emit2(b, WARP_RUN_PACK_32, d, v[0], v[1]);
    } else {
        b->missing = true;
    }
}

static void unpack(struct warp_build *b, const struct ptx_operand *vector, struct warp_value a,
                   unsigned bits)
{
    unsigned n = vector->element_count, each = bits / n;
    struct warp_value whole = a;
    if (a.bank == WARP_WIDE || a.bank == WARP_NARROW) { /* an element may be the source itself */
        whole = warp_temporary(b, (enum warp_bank)a.bank);
        warp_emit1(b, a.bank == WARP_WIDE ? WARP_RUN_MOV_64 : WARP_RUN_MOV_32, whole, a);
    }
    enum warp_run run = each == 8 ? WARP_RUN_EXTRACT_32_8 : WARP_RUN_EXTRACT_32_16;
    if (bits == 64)
        run = each == 16 ? WARP_RUN_EXTRACT_64_16 : WARP_RUN_EXTRACT_64_32;
    if (bits > 64 || (bits == 64 && each == 8))
        b->missing = true;
    for (unsigned i = 0; i < n; i++)
        if (vector->elements[i].kind != PTX_OPERAND_SINK)
            warp_emit1(b, run, warp_output(b, &vector->elements[i], false), whole)->value =
                each * i;
}

/* b128: two wide registers in a row. */
static void move_128(struct warp_build *b)
{
    const struct ptx_operand *to = &b->instruction->operands[0],
                             *from = &b->instruction->operands[1];
    struct warp_value d[2], a[2];
    for (unsigned i = 0; i < 2; i++) {
        if (from->kind == PTX_OPERAND_VECTOR && from->element_count == 2) {
            a[i] = warp_input(b, &from->elements[i], PTX_B64);
        } else {
            a[i] = warp_input(b, from, PTX_B128);
            a[i].at += i;
        }
        if (to->kind == PTX_OPERAND_VECTOR && to->element_count == 2) {
            d[i] = warp_output(b, &to->elements[i], true);
        } else {
            d[i] = warp_output(b, to, true);
            d[i].at += i;
        }
    }
    struct warp_value low = warp_temporary(b, WARP_WIDE);
    warp_emit1(b, WARP_RUN_MOV_64, low, a[0]);
    warp_emit1(b, WARP_RUN_MOV_64, d[1], a[1]);
    warp_emit1(b, WARP_RUN_MOV_64, d[0], low);
}

static void lower_mov(struct warp_build *b)
{
    const struct ptx_operand *to = &b->instruction->operands[0],
                             *from = &b->instruction->operands[1];
    enum ptx_type type = type_of(b, 0);
    bool wide = ptx_type_bits(type) > 32;
    if (type == PTX_B128) {
        move_128(b);
    } else if (from->kind == PTX_OPERAND_VECTOR) {
        pack(b, from, warp_output(b, to, wide), ptx_type_bits(type));
    } else if (to->kind == PTX_OPERAND_VECTOR) {
        unpack(b, to, warp_input(b, from, type), ptx_type_bits(type));
    } else if (type == PTX_PRED && from->kind == PTX_OPERAND_SPECIAL) {
        struct warp_value a = warp_input(b, from, PTX_U32), none = warp_constant(b, 0, false);
        warp_emit2(b, WARP_RUN_SETP_NE_U32, warp_output(b, to, false), a, none);
    } else if (type == PTX_PRED) {
        warp_lower_arithmetic(b);
    } else if (from->kind == PTX_OPERAND_SPECIAL) {
        warp_emit(b, wide ? WARP_RUN_SPECIAL_64 : WARP_RUN_SPECIAL_32);
        struct warp_op *op = &b->code->ops[b->code->op_count - 1];
        op->value = from->index;
        op->kind = warp_kind_of_special(from->index);
        warp_use(op, 0, warp_output(b, to, wide));
    } else {
        struct warp_value a = warp_input(b, from, type);
        warp_emit1(b, wide ? WARP_RUN_MOV_64 : WARP_RUN_MOV_32, warp_output(b, to, wide), a);
    }
}

/* To and from generic addresses: the window's begin is added or taken away. */
static void lower_cvta(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = type_of(b, 0);
    bool wide = ptx_type_bits(type) > 32;
    enum ptx_space space = ptx_space_of(in);
    uint64_t window = warp_window_begin(space);
    /* parameters of device functions whose address is taken lie in local memory */
    if (space == PTX_SPACE_PARAM && !b->function->is_entry)
        window = WARP_LOCAL;
    struct warp_value a = warp_input(b, &in->operands[1], type),
                      d = warp_output(b, &in->operands[0], wide);
    if (!window) {
        warp_emit1(b, wide ? WARP_RUN_MOV_64 : WARP_RUN_MOV_32, d, a);
        return;
    }
    struct warp_value base = warp_constant(b, window, wide);
    bool back = ptx_has(in, PTX_MOD_TO);
    enum warp_run run = back ? WARP_RUN_SUB_32 : WARP_RUN_ADD_32;
    if (wide)
        run = back ? WARP_RUN_SUB_64 : WARP_RUN_ADD_64;
    warp_emit2(b, run, d, a, base);
}

static void lower_isspacep(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    struct warp_value a = warp_input(b, &in->operands[1], PTX_U64);
    if (a.bank == WARP_NARROW) {
        struct warp_value whole = warp_temporary(b, WARP_WIDE);
        warp_emit1(b, WARP_RUN_WIDEN64_U32, whole, a);
        a = whole;
    }
    struct warp_op *op =
        warp_emit1(b, WARP_RUN_IS_SPACE, warp_output(b, &in->operands[0], false), a);
    op->target = ptx_space_of(in);
    op->value = ptx_has(in, PTX_MOD_SHARED_CLUSTER);
}

void warp_lower_move(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    bool wide = in->type_count && ptx_type_bits(type_of(b, 0)) > 32;
    switch (in->opcode) {
    case PTX_OP_MOV:
        lower_mov(b);
        return;
    case PTX_OP_CVTA:
        lower_cvta(b);
        return;
    case PTX_OP_ISSPACEP:
        lower_isspacep(b);
        return;
    case PTX_OP_MAPA: {
        struct warp_value a = warp_input(b, &in->operands[1], type_of(b, 0)),
                          rank = warp_input(b, &in->operands[2], PTX_U32);
        warp_emit2(b, wide ? WARP_RUN_MAPA_64 : WARP_RUN_MAPA_32,
                   warp_output(b, &in->operands[0], wide), a, rank);
        return;
    }
    default: { /* getctarank */
        struct warp_value a = warp_input(b, &in->operands[1], type_of(b, 0));
        warp_emit1(b, wide ? WARP_RUN_RANK_64 : WARP_RUN_RANK_32,
                   warp_output(b, &in->operands[0], false), a);
    }
    }
}
