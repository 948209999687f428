/* Lowers barriers in shared memory (9.7.13.15). */
#include "warp_build.h"

static void lower_arrive(struct warp_build *b, struct warp_address a, unsigned at, bool returns)
{
    const struct ptx_instruction *in = b->instruction;
    struct warp_value d = WARP_VALUE_NONE, operand = WARP_VALUE_NONE;
    if (returns && in->operands[0].kind != PTX_OPERAND_SINK)
        d = warp_output(b, &in->operands[0], true);
    if (in->operand_count > at + 1)
        operand = warp_input(b, &in->operands[at + 1], PTX_U32);
    struct warp_op *op = warp_emit(b, WARP_RUN_MBARRIER_ARRIVE);
    warp_use_address(op, a);
    warp_use(op, 0, d);
    warp_use(op, 2, operand);
    op->target = (warp_has(b, PTX_MOD_EXPECT_TX) ? 1u : 0)
                 | (in->opcode == PTX_OP_MBARRIER_ARRIVE_DROP ? 2u : 0);
    if (in->opcode == PTX_OP_CP_ASYNC_MBARRIER_ARRIVE && !warp_has(b, PTX_MOD_NOINC))
        op->target = 4;
}

static void lower_wait(struct warp_build *b, struct warp_address a)
{
    const struct ptx_instruction *in = b->instruction;
    bool parity = warp_has(b, PTX_MOD_PARITY);
    struct warp_value state = warp_input(b, &in->operands[2], parity ? PTX_U32 : PTX_U64);
    struct warp_op *op = warp_emit(b, WARP_RUN_MBARRIER_WAIT);
    warp_use_address(op, a);
    warp_use(op, 0, warp_output(b, &in->operands[0], false));
    warp_use(op, 2, state);
    op->target = parity;
}

void warp_lower_mbarrier(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    if (in->opcode == PTX_OP_MBARRIER_PENDING_COUNT) {
        struct warp_value x = warp_input(b, &in->operands[1], PTX_B64);
        warp_emit1(b, WARP_RUN_MBARRIER_COUNT, warp_output(b, &in->operands[0], false), x);
        return;
    }
    unsigned at = 0; /* which operand is the address */
    while (at + 1u < in->operand_count && in->operands[at].kind != PTX_OPERAND_ADDRESS)
        at++;
    struct warp_address a = warp_address_of(b, &in->operands[at], ptx_space_of(in));
    switch (in->opcode) {
    case PTX_OP_MBARRIER_INIT:
    case PTX_OP_MBARRIER_EXPECT_TX:
    case PTX_OP_MBARRIER_COMPLETE_TX: {
        struct warp_value v = warp_input(b, &in->operands[1], PTX_U32);
        struct warp_op *op = warp_emit(
            b, in->opcode == PTX_OP_MBARRIER_INIT ? WARP_RUN_MBARRIER_INIT : WARP_RUN_MBARRIER_TX);
        warp_use_address(op, a);
        warp_use(op, 2, v);
        op->target = in->opcode == PTX_OP_MBARRIER_COMPLETE_TX;
        return;
    }
    case PTX_OP_MBARRIER_ARRIVE:
    case PTX_OP_MBARRIER_ARRIVE_DROP:
        lower_arrive(b, a, at, at == 1);
        return;
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT:
        lower_wait(b, a);
        return;
    case PTX_OP_CP_ASYNC_MBARRIER_ARRIVE: /* what precedes it is complete */
        lower_arrive(b, a, 0, false);
        return;
    default: /* mbarrier.inval */
        warp_use_address(warp_emit(b, WARP_RUN_TOUCH), a);
    }
}
