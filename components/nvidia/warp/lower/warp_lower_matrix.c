/* Lowers mma, wmma, wgmma, ldmatrix, stmatrix and movmatrix. */
#include <stdio.h>

#include "base/number.h"
#include "components/nvidia/warp/handlers/warp_matrix.h"

#include "warp_build.h"

static uint8_t element_of(struct warp_build *b, unsigned i)
{
    static const struct {
        uint8_t type, element;
    } list[] = {{PTX_F64, WARP_E_F64},   {PTX_F32, WARP_E_F32},   {PTX_TF32, WARP_E_TF32},
                {PTX_F16, WARP_E_F16},   {PTX_BF16, WARP_E_BF16}, {PTX_E4M3, WARP_E_E4M3},
                {PTX_E5M2, WARP_E_E5M2}, {PTX_S32, WARP_E_S32},   {PTX_S8, WARP_E_S8},
                {PTX_U8, WARP_E_U8},     {PTX_S4, WARP_E_S4},     {PTX_U4, WARP_E_U4},
                {PTX_B1, WARP_E_B1}};
    for (size_t k = 0; k < ARRAY_COUNT(list); k++)
        if (list[k].type == b->instruction->types[i])
            return list[k].element;
    b->missing = true;
    return 0;
}

static struct warp_matrix shape_of(struct warp_build *b)
{
    struct warp_matrix x = {0};
    unsigned m = 0, n = 0, k = 0;
    const char *name = ptx_modifier_name(ptx_one_of(b->instruction, PTX_GROUP_SHAPE));
    if (sscanf(name, "m%un%uk%u", &m, &n, &k) != 3 || m > 32 || n > 32 || k > 256)
        b->missing = true;
    x.m = (uint8_t)m, x.n = (uint8_t)n, x.k = (uint16_t)k;
    return x;
}

/* Adds the elements of a vector as places; returns how many. */
static unsigned add_places(struct warp_build *b, const struct ptx_operand *o, bool wide,
                           bool is_output)
{
    bool vector = o->kind == PTX_OPERAND_VECTOR;
    unsigned count = vector ? o->element_count : 1;
    for (unsigned i = 0; i < count; i++) {
        const struct ptx_operand *e = vector ? &o->elements[i] : o;
        if (!is_output)
            warp_place(b, warp_input(b, e, wide ? PTX_B64 : PTX_B32));
        else
            warp_place(b, e->kind == PTX_OPERAND_SINK ? WARP_VALUE_NONE : warp_output(b, e, wide));
    }
    return count;
}

static unsigned elements_of_register(enum warp_element element)
{
    switch (element) {
    case WARP_E_F64:
    case WARP_E_F32:
    case WARP_E_TF32:
        return 1;
    case WARP_E_F16:
    case WARP_E_BF16:
        return 2;
    case WARP_E_S4:
    case WARP_E_U4:
        return 8;
    case WARP_E_B1:
        return 32;
    default:
        return 4;
    }
}

static void lower_mma(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    bool is_wmma = in->opcode == PTX_OP_WMMA_MMA, halves = in->type_count == 2;
    struct warp_matrix x = shape_of(b);
    x.d = element_of(b, 0);
    x.a = halves ? WARP_E_F16 : element_of(b, 1);
    x.b = halves ? WARP_E_F16 : element_of(b, 2);
    x.c = element_of(b, halves ? 1 : 3);
    bool quads = !is_wmma && x.m == 8 && x.n == 8 && x.k == 4 && x.a != WARP_E_F64;
    if (in->operand_count != 4 || quads)
        b->missing = true; /* Volta's quad pairs, and scaled forms */
    uint32_t list = b->code->place_count;
    bool wide = x.a == WARP_E_F64;
    unsigned n[4] = {0};
    for (unsigned i = 0; i < 4 && !b->missing; i++)
        n[i] = add_places(b, &in->operands[i], wide, i == 0);
    struct warp_op *op = warp_emit(b, WARP_RUN_MMA);
    op->kind = WARP_ALIGNED;
    op->list = list;
    op->count = (uint8_t)(n[0] + n[1] + n[2] + n[3]);
    op->written = (uint8_t)n[0];
    op->at[2] = n[1];
    op->at[3] = n[2];
    op->value = warp_matrix_pack(&x);
    op->control = warp_rounding_control(b);
    op->target = (is_wmma ? WARP_M_WMMA : 0u)
                 | (warp_has(b, PTX_MOD_SATFINITE) ? WARP_M_SATURATES : 0u)
                 | (warp_has(b, PTX_MOD_AND) ? WARP_M_AND : 0u);
    /* each lane holds a part of each matrix */
    unsigned held = is_wmma ? 0 : x.m * x.k / WARP_LANES;
    if (held && n[1] * elements_of_register((enum warp_element)x.a) != held)
        b->missing = true;
}

/* The address operand: a register or symbol, and an offset in at[3]. */
static void use_address(struct warp_build *b, struct warp_op *op, struct warp_value base,
                        const struct ptx_operand *o)
{
    enum ptx_space space = ptx_space_of(b->instruction);
    warp_use(op, 1, base);
    op->kind = WARP_ALIGNED;
    op->combine = (uint8_t)space;
    op->at[3] = (uint32_t)o->offset;
}

static struct warp_value base_of(struct warp_build *b, const struct ptx_operand *o)
{
    struct ptx_operand x = *o;
    x.kind = o->base == PTX_BASE_REGISTER ? PTX_OPERAND_REGISTER : PTX_OPERAND_SYMBOL;
    if (o->base == PTX_BASE_NONE)
        return warp_constant(b, 0, true);
    if (x.kind == PTX_OPERAND_SYMBOL)
        x.offset = 0;
    x.generic = x.kind == PTX_OPERAND_SYMBOL && ptx_space_of(b->instruction) == PTX_SPACE_GENERIC;
    return warp_input(b, &x, PTX_U64);
}

static void lower_wmma_access(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    bool loads = in->opcode == PTX_OP_WMMA_LOAD;
    struct warp_matrix x = shape_of(b);
    unsigned role = warp_has(b, PTX_MOD_A) ? 0 : warp_has(b, PTX_MOD_B) ? 1 : 2;
    x.a = x.b = x.c = x.d = element_of(b, 0);
    const struct ptx_operand *address = &in->operands[loads ? 1 : 0],
                             *fragment = &in->operands[loads ? 0 : 1];
    struct warp_value base = base_of(b, address), stride = WARP_VALUE_NONE;
    if (in->operand_count > 2)
        stride = warp_input(b, &in->operands[2], PTX_U32);
    uint32_t list = b->code->place_count;
    unsigned count = add_places(b, fragment, x.c == WARP_E_F64, loads);
    struct warp_op *op = warp_emit(b, loads ? WARP_RUN_WMMA_LOAD : WARP_RUN_WMMA_STORE);
    use_address(b, op, base, address);
    warp_use(op, 2, stride);
    op->list = list;
    op->count = (uint8_t)count;
    op->written = loads ? (uint8_t)count : 0;
    op->value = warp_matrix_pack(&x);
    op->target = (warp_has(b, PTX_MOD_COL) ? WARP_M_COLUMN : 0u) | role << 8;
}

static void lower_rows(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    bool loads = in->opcode == PTX_OP_LDMATRIX;
    const struct ptx_operand *address = &in->operands[loads ? 1 : 0],
                             *fragment = &in->operands[loads ? 0 : 1];
    unsigned times = warp_has(b, PTX_MOD_X4) ? 4 : warp_has(b, PTX_MOD_X2) ? 2 : 1;
    if (!warp_has(b, PTX_MOD_M8N8))
        b->missing = true; /* bytes, and formats that are unpacked */
    struct warp_value base = base_of(b, address);
    uint32_t list = b->code->place_count;
    unsigned count = add_places(b, fragment, false, loads);
    struct warp_op *op = warp_emit(b, loads ? WARP_RUN_LDMATRIX : WARP_RUN_STMATRIX);
    use_address(b, op, base, address);
    op->value = (uint64_t)address->offset;
    op->list = list;
    op->count = (uint8_t)count;
    op->written = loads ? (uint8_t)count : 0;
    op->target = warp_has(b, PTX_MOD_TRANS) ? WARP_M_TRANSPOSED : 0u;
    if (count != times)
        b->missing = true;
}

/* An immediate operand, `otherwise` where there is none. */
static int64_t immediate_of(struct warp_build *b, unsigned i, int64_t otherwise)
{
    const struct ptx_instruction *in = b->instruction;
    if (i >= in->operand_count || in->operands[i].kind == PTX_OPERAND_NONE)
        return otherwise;
    if (in->operands[i].kind != PTX_OPERAND_INTEGER)
        b->missing = true;
    return (int64_t)in->operands[i].bits;
}

/* Flags from the four operands after scale-d: signs of A and B; then which of A, if it is in shared
 * memory, and B are by columns. A value that the form does not have is missing. */
static uint32_t wgmma_flags(struct warp_build *b, bool is_held)
{
    int64_t a = immediate_of(b, 4, 1), c = immediate_of(b, 5, 1);
    int64_t across_a = is_held ? 0 : immediate_of(b, 6, 0);
    int64_t across_b = immediate_of(b, is_held ? 6 : 7, 0);
    if ((a != 1 && a != -1) || (c != 1 && c != -1) || across_a >> 1 || across_b >> 1)
        b->missing = true;
    return (is_held ? WARP_M_HELD : 0u) | (across_a ? WARP_M_TRANSPOSED_A : 0u)
           | (a < 0 ? WARP_M_NEGATED_A : 0u) | (across_b ? WARP_M_TRANSPOSED_B : 0u)
           | (c < 0 ? WARP_M_NEGATED_B : 0u);
}

/* A warp multiplies 16 of the 64 rows when its turn comes; no bytes change in between, since all
 * four come to the wait before one continues. D is read and written. */
static void lower_wgmma(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    struct warp_matrix x = {.m = 16, .n = 8};
    unsigned n = 0, k = 0;
    const char *shape = ptx_modifier_name(ptx_one_of(in, PTX_GROUP_SHAPE));
    bool is_held = in->operands[1].kind == PTX_OPERAND_VECTOR;
    struct warp_value a = WARP_VALUE_NONE;
    if (warp_has(b, PTX_MOD_SP) || in->type_count < 3 || sscanf(shape, "m64n%uk%u", &n, &k) != 2) {
        b->missing = true;
        return;
    }
    x.k = (uint16_t)k;
    x.c = x.d = element_of(b, 0);
    x.a = element_of(b, 1);
    x.b = element_of(b, 2);
    bool is_half = x.d == WARP_E_F16;
    uint32_t list = b->code->place_count;
    unsigned d = add_places(b, &in->operands[0], false, true), held = 0;
    if (is_held)
        held = add_places(b, &in->operands[1], false, false);
    else
        a = warp_input(b, &in->operands[1], PTX_U64);
    struct warp_value right = warp_input(b, &in->operands[2], PTX_U64),
                      adds = warp_input_predicate(b, &in->operands[3]);
    struct warp_op *op = warp_emit3(b, WARP_RUN_WGMMA, WARP_VALUE_NONE, a, right, adds);
    op->kind = WARP_ALIGNED;
    op->list = list;
    op->count = (uint8_t)(d + held);
    op->written = (uint8_t)d;
    op->effect |= WARP_LIST_KEEPS;
    op->value = warp_matrix_pack(&x);
    op->target = wgmma_flags(b, is_held) | (warp_has(b, PTX_MOD_SATFINITE) ? WARP_M_SATURATES : 0u);
    if (d != n / (is_half ? 4 : 2) || (is_held && held != 4) || x.a == WARP_E_B1
        || (op->target & (WARP_M_TRANSPOSED_A | WARP_M_TRANSPOSED_B) && k != 16))
        b->missing = true;
}

void warp_lower_matrix(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    switch (in->opcode) {
    case PTX_OP_MMA:
    case PTX_OP_WMMA_MMA:
        lower_mma(b);
        return;
    case PTX_OP_WMMA_LOAD:
    case PTX_OP_WMMA_STORE:
        lower_wmma_access(b);
        return;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        lower_rows(b);
        return;
    case PTX_OP_WGMMA_MMA_ASYNC:
        lower_wgmma(b);
        return;
    case PTX_OP_WGMMA_FENCE: /* products are done at once */
    case PTX_OP_WGMMA_COMMIT_GROUP:
        warp_emit(b, WARP_RUN_NOP);
        return;
    case PTX_OP_WGMMA_WAIT_GROUP: {
        struct warp_op *op = warp_emit(b, WARP_RUN_NOP);
        op->kind = WARP_BARRIER;
        op->written = WARP_BARRIER_WARPGROUP;
        return;
    }
    default: { /* movmatrix */
        struct warp_value a = warp_input(b, &in->operands[1], PTX_B32);
        warp_emit1(b, WARP_RUN_MOVMATRIX, warp_output(b, &in->operands[0], false), a)->kind =
            WARP_ALIGNED;
    }
    }
}
