/* Lowers video instructions (9.7.18), on two halfwords, four bytes, or one part of each operand. */
#include "base/number.h"

#include "warp_build.h"

static const uint16_t compares[] = {PTX_MOD_EQ, PTX_MOD_NE, PTX_MOD_LT,
                                    PTX_MOD_LE, PTX_MOD_GT, PTX_MOD_GE};

static unsigned comparison(const struct ptx_instruction *in)
{
    unsigned operation = 0;
    for (unsigned i = 0; i < ARRAY_COUNT(compares); i++)
        operation = ptx_has(in, compares[i]) ? i : operation;
    return operation;
}

static bool is_signed(uint8_t type)
{
    return ptx_type_is_signed((enum ptx_type)type);
}

/* The parts of a (0 on) and b (after them) that are taken, 4 bits each; without a selector those
 * from `first` on. */
static uint64_t selected(struct warp_build *b, const char *selector, unsigned parts, unsigned first)
{
    uint64_t places = 0;
    size_t length = strlen(selector);
    if (length && length != parts + 1)
        b->missing = true;
    for (unsigned k = 0; k < parts; k++) {
        unsigned place = length == parts + 1 ? (unsigned)(selector[parts - k] - '0') : first + k;
        places |= (uint64_t)(place % (2 * parts)) << 4 * k;
    }
    return places;
}

/* The parts of the destination that are written. */
static uint64_t masked(const char *selector, unsigned parts)
{
    uint64_t mask = 0;
    if (!*selector)
        return (1u << parts) - 1;
    for (unsigned i = 1; selector[i]; i++)
        mask |= 1u << (selector[i] - '0') % parts;
    return mask;
}

void warp_lower_simd_video(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    bool halves = in->opcode <= PTX_OP_VSET2;
    unsigned parts = halves ? 2 : 4, which = in->opcode - (halves ? PTX_OP_VADD2 : PTX_OP_VADD4);
    bool sets = which == WARP_VIDEO_SET;
    const uint8_t *types = in->types + (sets ? 0 : 1); /* a's and b's */
    uint64_t operation = which | (halves ? WARP_VIDEO_HALVES : 0);
    operation |= comparison(in) << WARP_VIDEO_COMPARE;
    operation |= is_signed(types[0]) ? WARP_VIDEO_SIGNED_A : 0;
    operation |= is_signed(types[1]) ? WARP_VIDEO_SIGNED_B : 0;
    operation |= !sets && is_signed(in->types[0]) ? WARP_VIDEO_SIGNED : 0;
    operation |= ptx_has(in, PTX_MOD_SAT) ? WARP_VIDEO_SATURATES : 0;
    operation |= ptx_has(in, PTX_MOD_ADD) ? WARP_VIDEO_ADDS : 0;
    operation |= masked(in->operands[0].selector, parts) << WARP_VIDEO_MASK;
    operation |= selected(b, in->operands[1].selector, parts, 0) << WARP_VIDEO_A;
    operation |= selected(b, in->operands[2].selector, parts, parts) << WARP_VIDEO_B;
    struct warp_value x = warp_input(b, &in->operands[1], PTX_U32),
                      y = warp_input(b, &in->operands[2], PTX_U32),
                      c = warp_input(b, &in->operands[3], PTX_U32);
    warp_emit3(b, WARP_RUN_VIDEO, warp_output(b, &in->operands[0], false), x, y, c)->value =
        operation;
}

/* ---- one part of each operand ---- */

static uint8_t place_operand(struct warp_build *b, const struct ptx_operand *o)
{
    const char *s = o->selector;
    unsigned number = s[0] ? (unsigned)(s[1] - '0') : 0;
    if (s[0] == '\0')
        return WARP_PLACE_ALL;
    if (s[2] != '\0' || number >= (s[0] == 'b' ? 4 : 2))
        b->missing = true;
    return (uint8_t)((s[0] == 'b' ? 0 : WARP_PLACE_HALVES) + number);
}

void warp_lower_scalar_video(struct warp_build *b)
{
    static const struct warp_choice seconds[] = {{PTX_MOD_ADD, WARP_SECOND_ADD},
                                                 {PTX_MOD_MIN, WARP_SECOND_MIN},
                                                 {PTX_MOD_MAX, WARP_SECOND_MAX},
                                                 {PTX_MODIFIER_NONE, WARP_SECOND_NONE}};
    static const struct warp_choice shifts[] = {
        {PTX_MOD_SHR7, 7}, {PTX_MOD_SHR15, 15}, {PTX_MODIFIER_NONE, 0}};
    const struct ptx_instruction *in = b->instruction;
    const struct ptx_operand *o = in->operands;
    bool sets = in->opcode == PTX_OP_VSET, multiplies = in->opcode == PTX_OP_VMAD;
    const uint8_t *types = in->types + (sets ? 0 : 1); /* a's and b's */
    struct warp_scalar operation = {.which = (uint8_t)(in->opcode - PTX_OP_VADD),
                                    .second = (uint8_t)warp_choose(b, seconds),
                                    .a = place_operand(b, &o[1]),
                                    .b = place_operand(b, &o[2]),
                                    .d = place_operand(b, &o[0]),
                                    .compare = (uint8_t)comparison(in),
                                    .shift = (uint8_t)warp_choose(b, shifts),
                                    .signed_a = is_signed(types[0]),
                                    .signed_b = is_signed(types[1]),
                                    .signed_d = !sets && is_signed(in->types[0]),
                                    .saturates = ptx_has(in, PTX_MOD_SAT),
                                    .wraps = ptx_has(in, PTX_MOD_WRAP),
                                    .plus_one = ptx_has(in, PTX_MOD_PO),
                                    .minus_product = o[1].negated != o[2].negated,
                                    .minus_c = multiplies && o[3].negated};
    if (multiplies)
        operation.signed_d = operation.signed_a || operation.signed_b || operation.minus_product
                             || operation.minus_c;
    bool negates = o[1].negated || o[2].negated, has_c = in->operand_count > 3;
    if (multiplies ? (negates + operation.minus_c + operation.plus_one > 1 || o[3].selector[0])
                   : negates || (has_c && (o[3].negated || o[3].selector[0])))
        b->missing = true;
    struct warp_value x = warp_input(b, &o[1], PTX_U32), y = warp_input(b, &o[2], PTX_U32),
                      c = has_c ? warp_input(b, &o[3], PTX_U32) : warp_constant(b, 0, false);
    memcpy(&warp_emit3(b, WARP_RUN_VIDEO_SCALAR, warp_output(b, &o[0], false), x, y, c)->value,
           &operation, sizeof operation);
}
