/* Lowers branches, calls, barriers and exchanges between lanes. */

#include "base/grow.h"
#include "base/number.h"

#include "warp_frame.h"

static void set_kind(struct warp_build *b, enum warp_kind kind)
{
    warp_emit(b, WARP_RUN_NOP)->kind = (uint8_t)kind;
}

static uint32_t add_target(struct warp_build *b, uint32_t target)
{
    struct warp_code *c = b->code;
    grow_list(c->targets, (size_t)c->target_count + 1, c->target_capacity, WARP_CODE);
    c->targets[c->target_count] = target;
    return c->target_count++;
}

static void lower_switch(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    const struct ptx_table *t = &b->function->tables[in->operands[1].index];
    struct warp_value index = warp_input(b, &in->operands[0], PTX_U32);
    uint32_t list = b->code->target_count;
    for (uint32_t i = 0; i < t->count; i++)
        add_target(b, t->targets[i]);
    struct warp_op *op = warp_emit1(b, WARP_RUN_NOP, WARP_VALUE_NONE, index);
    op->kind = WARP_SWITCH;
    op->list = list;
    op->target = t->count;
}

void warp_lower_control(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    switch (in->opcode) {
    case PTX_OP_BRA: {
        struct warp_op *op = warp_emit(b, WARP_RUN_NOP);
        op->kind = WARP_BRANCH;
        op->target = in->operands[0].index;
        return;
    }
    case PTX_OP_BRX_IDX:
        lower_switch(b);
        return;
    case PTX_OP_RET:
        warp_frame_results(b);
        set_kind(b, b->function->is_entry ? WARP_EXIT : WARP_RETURN);
        return;
    case PTX_OP_EXIT:
        set_kind(b, WARP_EXIT);
        return;
    case PTX_OP_NANOSLEEP:
        set_kind(b, WARP_YIELD);
        return;
    default: /* trap, brkpt */
        set_kind(b, WARP_TRAP);
    }
}

/* ---- calls ---- */

static bool is_param(const struct warp_build *b, const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_SYMBOL && o->base == PTX_BASE_LOCAL
           && b->function->variables[o->index].space == PTX_SPACE_PARAM;
}

static struct warp_value outgoing(uint32_t word)
{
    return (struct warp_value){.at = WARP_OUTGOING + WARP_FRAME_ROWS + word, .bank = WARP_NARROW};
}

/* An argument to the callee's words, or a result from them. */
static void pass_argument(struct warp_build *b, const struct ptx_operand *o,
                          const struct ptx_variable *v, uint32_t word, bool is_argument)
{
    uint32_t words = warp_words_of(v);
    if (is_param(b, o)) {
        const struct ptx_variable *own = &b->function->variables[o->index];
        uint32_t most = warp_words_of(own);
        for (uint32_t k = 0; k < words && k < most; k++) {
            struct warp_value mine = {.at = b->param_words_of[o->index] + k, .bank = WARP_NARROW};
            warp_emit1(b, WARP_RUN_MOV_32, is_argument ? outgoing(word + k) : mine,
                       is_argument ? mine : outgoing(word + k));
        }
        return;
    }
    enum ptx_type type = words > 1 ? PTX_B64 : PTX_B32;
    if (words > 2 || v->count > 1) {
        b->missing = true;
    } else if (is_argument) {
        struct warp_value a = warp_input(b, o, type);
        warp_emit1(b, words > 1 ? WARP_RUN_EXTRACT_64_32 : WARP_RUN_MOV_32, outgoing(word), a);
        if (words > 1)
            warp_emit1(b, WARP_RUN_EXTRACT_64_32, outgoing(word + 1), a)->value = 32;
    } else if (words > 1) {
        warp_emit2(b, WARP_RUN_PACK_32, warp_output(b, o, true), outgoing(word),
                   outgoing(word + 1));
    } else {
        warp_emit1(b, WARP_RUN_MOV_32, warp_output(b, o, false), outgoing(word));
    }
}

static const struct {
    const char *name;
    uint8_t call, arguments;
    bool returns, wide;
} system_calls[] = {{"vprintf", WARP_VPRINTF, 2, true, false},
                    {"malloc", WARP_MALLOC, 1, true, true},
                    {"free", WARP_FREE, 1, false, false},
                    {"__assertfail", WARP_ASSERTFAIL, 4, false, false}};

/* Word k of an argument, which is a .param variable or a register, as 64 bits. */
static struct warp_value system_argument(struct warp_build *b, const struct ptx_operand *o,
                                         bool narrow)
{
    struct warp_value d = warp_temporary(b, WARP_WIDE);
    if (!is_param(b, o))
        return warp_input(b, o, PTX_B64);
    struct warp_value low = {.at = b->param_words_of[o->index], .bank = WARP_NARROW},
                      high = {.at = low.at + 1, .bank = WARP_NARROW};
    if (narrow || warp_words_of(&b->function->variables[o->index]) < 2)
        warp_emit1(b, WARP_RUN_WIDEN64_U32, d, low);
    else
        warp_emit2(b, WARP_RUN_PACK_32, d, low, high);
    return d;
}

static void lower_system_call(struct warp_build *b, const char *name)
{
    const struct ptx_instruction *in = b->instruction;
    for (size_t i = 0; i < ARRAY_COUNT(system_calls); i++) {
        if (strcmp(system_calls[i].name, name))
            continue;
        unsigned n = system_calls[i].arguments;
        struct warp_value v[5], d;
        if (in->operands[2].element_count < n) {
            b->missing = true;
            return;
        }
        for (unsigned k = 0; k < n; k++)
            v[k + 1] = system_argument(b, &in->operands[2].elements[k],
                                       system_calls[i].call == WARP_ASSERTFAIL && k == 2);
        d = warp_temporary(b, system_calls[i].wide ? WARP_WIDE : WARP_NARROW);
        struct warp_op *op = warp_emit(b, WARP_RUN_NOP);
        op->kind = WARP_SYSTEM;
        op->target = system_calls[i].call;
        if (system_calls[i].returns)
            warp_use(op, 0, d);
        for (unsigned k = 1; k <= n; k++)
            warp_use(op, k, v[k]);
        if (!system_calls[i].returns || !in->operands[0].element_count)
            return;
        const struct ptx_operand *o = &in->operands[0].elements[0];
        struct warp_value low = {.bank = WARP_NARROW};
        if (!is_param(b, o)) {
            warp_emit1(b, d.bank == WARP_WIDE ? WARP_RUN_MOV_64 : WARP_RUN_MOV_32,
                       warp_output(b, o, d.bank == WARP_WIDE), d);
            return;
        }
        low.at = b->param_words_of[o->index];
        warp_emit1(b, d.bank == WARP_WIDE ? WARP_RUN_EXTRACT_64_32 : WARP_RUN_MOV_32, low, d);
        low.at++;
        if (d.bank == WARP_WIDE)
            warp_emit1(b, WARP_RUN_EXTRACT_64_32, low, d)->value = 32;
        return;
    }
    b->missing = true;
}

/* Passes the list of operand `list`, as the signature's parameters or results. */
static void pass_list(struct warp_build *b, const struct warp_signature *s, bool is_argument)
{
    const struct ptx_operand *list = &b->instruction->operands[is_argument ? 2 : 0];
    uint32_t count = is_argument ? s->param_count : s->result_count;
    for (uint32_t i = 0; i < list->element_count; i++) {
        if (i >= count) {
            b->missing = true;
            return;
        }
        const struct ptx_operand *o = &list->elements[i];
        if (o->kind != PTX_OPERAND_SINK)
            pass_argument(b, o, is_argument ? &s->params[i] : &s->results[i],
                          is_argument ? warp_param_word(s, i) : warp_result_word(s, i),
                          is_argument);
    }
}

void warp_lower_call(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    const struct ptx_module *m = b->code->module;
    const struct ptx_operand *target = &in->operands[1], *table = &in->operands[3];
    struct warp_signature s = {0};
    struct warp_value address = WARP_VALUE_NONE;
    if (target->kind == PTX_OPERAND_SYMBOL) {
        const struct ptx_function *callee = &m->functions[target->index];
        if (!callee->is_defined) {
            lower_system_call(b, callee->name);
            return;
        }
        s = warp_signature_of(callee);
    } else {
        address = warp_input(b, target, PTX_B64);
        if (table->kind != PTX_OPERAND_TABLE) {
            b->missing = true;
            return;
        }
        const struct ptx_table *t = &b->function->tables[table->index];
        s = t->kind == PTX_CALL_PROTOTYPE ? warp_signature_of_table(t)
            : t->count                    ? warp_signature_of(&m->functions[t->targets[0]])
                                          : s;
    }
    uint32_t rows = WARP_FRAME_ROWS + s.param_words + s.result_words;
    if (rows > b->code->outgoing)
        b->code->outgoing = rows;
    pass_list(b, &s, true);
    struct warp_op *op = warp_emit1(b, WARP_RUN_NOP, WARP_VALUE_NONE, address);
    op->kind = WARP_CALL;
    op->target = target->kind == PTX_OPERAND_SYMBOL ? target->index : 0;
    op->list = b->function_number;
    pass_list(b, &s, false);
}

/* ---- barriers ---- */

void warp_lower_barrier(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    if (in->opcode == PTX_OP_BARRIER_CLUSTER) {
        struct warp_op *op = warp_emit(b, WARP_RUN_NOP);
        op->kind = WARP_CLUSTER;
        op->written = warp_has(b, PTX_MOD_WAIT) ? WARP_BARRIER_WAITS : WARP_BARRIER_ARRIVES;
        return;
    }
    bool reduces = warp_has(b, PTX_MOD_RED);
    unsigned at = reduces ? 1 : 0;
    struct warp_value number = warp_input(b, &in->operands[at], PTX_U32), threads = WARP_VALUE_NONE,
                      input = WARP_VALUE_NONE;
    unsigned last = in->operand_count - 1u;
    if (in->operand_count > at + 1u + reduces && in->operands[at + 1].kind != PTX_OPERAND_NONE)
        threads = warp_input(b, &in->operands[at + 1], PTX_U32);
    if (reduces)
        input = warp_input_predicate(b, &in->operands[last]);
    struct warp_op *op = warp_emit3(b, WARP_RUN_NOP, WARP_VALUE_NONE, number, threads, input);
    op->kind = WARP_BARRIER;
    op->written = warp_has(b, PTX_MOD_ARRIVE) ? WARP_BARRIER_ARRIVES
                  : reduces                   ? WARP_BARRIER_REDUCES
                                              : WARP_BARRIER_WAITS;
    if (reduces)
        warp_emit1(b,
                   warp_has(b, PTX_MOD_POPC)  ? WARP_RUN_BARRIER_POPC
                   : warp_has(b, PTX_MOD_AND) ? WARP_RUN_BARRIER_AND
                                              : WARP_RUN_BARRIER_OR,
                   warp_output(b, &in->operands[0], false), number);
}

/* ---- lanes ---- */

/* Makes an operation wait for the lanes of its mask; without .sync all that are there. */
static void synchronize(struct warp_build *b, struct warp_op *op, struct warp_value lanes)
{
    if (warp_has(b, PTX_MOD_SYNC)) {
        warp_use(op, 4, lanes);
        op->kind = WARP_SYNC;
    } else {
        op->kind = WARP_TOGETHER;
    }
}

static void lower_shuffle(struct warp_build *b)
{
    static const struct warp_choice runs[] = {{PTX_MOD_UP, WARP_RUN_SHFL_UP},
                                              {PTX_MOD_DOWN, WARP_RUN_SHFL_DOWN},
                                              {PTX_MOD_BFLY, WARP_RUN_SHFL_BFLY},
                                              {PTX_MODIFIER_NONE, WARP_RUN_SHFL_IDX}};
    const struct ptx_instruction *in = b->instruction;
    struct warp_value first, second, lanes = WARP_VALUE_NONE;
    struct warp_value a = warp_input(b, &in->operands[1], PTX_B32),
                      x = warp_input(b, &in->operands[2], PTX_U32),
                      c = warp_input(b, &in->operands[3], PTX_U32);
    if (in->operand_count > 4)
        lanes = warp_input(b, &in->operands[4], PTX_U32);
    warp_outputs(b, &in->operands[0], false, &first, &second);
    struct warp_op *op = warp_emit3(b, (enum warp_run)warp_choose(b, runs), first, a, x, c);
    op->effect = WARP_THIRD;
    op->target = second.bank == WARP_PREDICATE ? 1 + second.at : 0;
    synchronize(b, op, lanes);
}

static void lower_vote(struct warp_build *b)
{
    static const struct warp_choice runs[] = {{PTX_MOD_ALL, WARP_RUN_VOTE_ALL},
                                              {PTX_MOD_ANY, WARP_RUN_VOTE_ANY},
                                              {PTX_MOD_UNI, WARP_RUN_VOTE_UNI},
                                              {PTX_MODIFIER_NONE, WARP_RUN_VOTE_BALLOT}};
    const struct ptx_instruction *in = b->instruction;
    struct warp_value p = warp_input_predicate(b, &in->operands[1]), lanes = WARP_VALUE_NONE;
    if (in->operand_count > 2)
        lanes = warp_input(b, &in->operands[2], PTX_U32);
    struct warp_op *op = warp_emit1(b, (enum warp_run)warp_choose(b, runs),
                                    warp_output(b, &in->operands[0], false), p);
    synchronize(b, op, lanes);
}

static void lower_match(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = (enum ptx_type)in->types[0];
    struct warp_value first, second, a = warp_input(b, &in->operands[1], type),
                                     lanes = warp_input(b, &in->operands[2], PTX_U32);
    warp_outputs(b, &in->operands[0], false, &first, &second);
    if (first.bank == WARP_BANK_NONE)
        first = warp_temporary(b, WARP_NARROW);
    unsigned at = (warp_has(b, PTX_MOD_ALL) ? 2u : 0) + (ptx_type_bits(type) == 64);
    struct warp_op *op = warp_emit1(b, warp_run_at(WARP_RUN_MATCH_ANY_32, at), first, a);
    op->effect = WARP_THIRD;
    op->target = second.bank == WARP_PREDICATE ? 1 + second.at : 0;
    synchronize(b, op, lanes);
}

static enum warp_run redux_run(const struct warp_build *b, enum ptx_type type)
{
    unsigned is_unsigned = !ptx_type_is_signed(type);
    if (type == PTX_F32)
        return WARP_RUN_REDUX_F32;
    switch (ptx_one_of(b->instruction, PTX_GROUP_OPERATION)) {
    case PTX_MOD_ADD:
        return WARP_RUN_REDUX_ADD;
    case PTX_MOD_MIN:
        return warp_run_at(WARP_RUN_REDUX_MIN_S32, is_unsigned);
    case PTX_MOD_MAX:
        return warp_run_at(WARP_RUN_REDUX_MAX_S32, is_unsigned);
    case PTX_MOD_AND:
        return WARP_RUN_REDUX_AND;
    case PTX_MOD_OR:
        return WARP_RUN_REDUX_OR;
    default:
        return WARP_RUN_REDUX_XOR;
    }
}

static void lower_redux(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = (enum ptx_type)in->types[0];
    enum warp_run run = redux_run(b, type);
    struct warp_value a = warp_input(b, &in->operands[1], type),
                      lanes = warp_input(b, &in->operands[2], PTX_U32);
    struct warp_op *op = warp_emit1(b, run, warp_output(b, &in->operands[0], false), a);
    if (type == PTX_F32)
        op->value = (warp_has(b, PTX_MOD_MAX) ? 1u : 0) | (warp_has(b, PTX_MOD_ABS) ? 2u : 0)
                    | (warp_has(b, PTX_MOD_PROPAGATE_NAN) ? 4u : 0);
    synchronize(b, op, lanes);
}

void warp_lower_lanes(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    switch (in->opcode) {
    case PTX_OP_SHFL:
        lower_shuffle(b);
        return;
    case PTX_OP_VOTE:
        lower_vote(b);
        return;
    case PTX_OP_MATCH:
        lower_match(b);
        return;
    case PTX_OP_REDUX:
        lower_redux(b);
        return;
    case PTX_OP_ACTIVEMASK:
        warp_emit1(b, WARP_RUN_ACTIVEMASK, warp_output(b, &in->operands[0], false),
                   WARP_VALUE_NONE);
        return;
    case PTX_OP_ELECT: {
        struct warp_value first, second, lanes = warp_input(b, &in->operands[1], PTX_U32);
        warp_outputs(b, &in->operands[0], false, &first, &second);
        struct warp_op *op = warp_emit1(b, WARP_RUN_ELECT, first, WARP_VALUE_NONE);
        op->effect = WARP_THIRD;
        op->target = second.bank == WARP_PREDICATE ? 1 + second.at : 0;
        synchronize(b, op, lanes);
        return;
    }
    default: { /* bar.warp.sync */
        struct warp_value lanes = warp_input(b, &in->operands[0], PTX_U32);
        synchronize(b, warp_emit(b, WARP_RUN_NOP), lanes);
    }
    }
}

/* Fences, prefetches, hints: memory is in order, and caches are the timing's. */
void warp_lower_nothing(struct warp_build *b)
{
    warp_emit(b, WARP_RUN_NOP);
}
