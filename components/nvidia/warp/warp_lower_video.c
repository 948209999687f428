/* Video instructions on two halfwords or four bytes (9.7.18); see warp_build.h. Called through
 * warp_lower(). Scalar ones, and signed averages, are not there. */
#include "warp_build.h"

static const uint16_t compares[] = {PTX_MOD_EQ, PTX_MOD_NE, PTX_MOD_LT,
                                    PTX_MOD_LE, PTX_MOD_GT, PTX_MOD_GE};

/* Which parts of a (0 on) and b (behind them) are taken, 4 bits each; without a selector those from
 * `first` on. */
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
    uint64_t mask = *selector ? 0 : (1u << parts) - 1;
    for (unsigned i = 1; *selector && selector[i]; i++)
        mask |= 1u << (selector[i] - '0') % parts;
    return mask;
}

void warp_lower_video(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    bool halves = in->opcode <= PTX_OP_VSET2;
    unsigned parts = halves ? 2 : 4, which = in->opcode - (halves ? PTX_OP_VADD2 : PTX_OP_VADD4);
    bool sets = which == WARP_VIDEO_SET;
    const uint8_t *types = in->types + (sets ? 0 : 1); /* of a and b */
    uint64_t how = which | (halves ? WARP_VIDEO_HALVES : 0);
    for (unsigned i = 0; sets && i < sizeof compares / sizeof *compares; i++)
        how |= ptx_has(in, compares[i]) ? i << WARP_VIDEO_COMPARE : 0;
    how |= ptx_type_is_signed((enum ptx_type)types[0]) ? WARP_VIDEO_SIGNED_A : 0;
    how |= ptx_type_is_signed((enum ptx_type)types[1]) ? WARP_VIDEO_SIGNED_B : 0;
    how |= !sets && ptx_type_is_signed((enum ptx_type)in->types[0]) ? WARP_VIDEO_SIGNED : 0;
    how |= ptx_has(in, PTX_MOD_SAT) ? WARP_VIDEO_SATURATES : 0;
    how |= ptx_has(in, PTX_MOD_ADD) ? WARP_VIDEO_ADDS : 0;
    how |= masked(in->operands[0].selector, parts) << WARP_VIDEO_MASK;
    how |= selected(b, in->operands[1].selector, parts, 0) << WARP_VIDEO_A;
    how |= selected(b, in->operands[2].selector, parts, parts) << WARP_VIDEO_B;
    if (which == WARP_VIDEO_AVERAGE && how & (WARP_VIDEO_SIGNED_A | WARP_VIDEO_SIGNED_B))
        b->missing = true;
    struct warp_value x = warp_input(b, &in->operands[1], PTX_U32),
                      y = warp_input(b, &in->operands[2], PTX_U32),
                      c = warp_input(b, &in->operands[3], PTX_U32);
    warp_emit3(b, WARP_RUN_VIDEO, warp_output(b, &in->operands[0], false), x, y, c)->value = how;
}
