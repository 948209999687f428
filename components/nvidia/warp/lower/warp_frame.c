/* Lays parameters out in frames.
 *
 * Words are those of the parameter block that the ABI lays out. A parameter that is a register of
 * the function (.reg, as PTX before 2.0 had them) has words of its own after the block. */
#include "warp_frame.h"

#include "base/grow.h"
#include "base/number.h"

uint32_t warp_words_of(const struct ptx_variable *v)
{
    uint32_t bytes =
        v->space == PTX_SPACE_REG ? ptx_type_bits((enum ptx_type)v->type) / 8 : (uint32_t)v->bytes;
    return bytes < 4 ? 1 : divide_up(bytes, 4);
}

/* First word of variable i of a list, and with i the count the words of all. */
static uint32_t word_of(const struct ptx_variable *v, uint32_t count, uint32_t i)
{
    uint32_t block = 0, own = 0;
    for (uint32_t k = 0; k < count; k++)
        if (v[k].space != PTX_SPACE_REG && divide_up(v[k].offset + v[k].bytes, 4) > block)
            block = (uint32_t)divide_up(v[k].offset + v[k].bytes, 4);
    if (i < count && v[i].space != PTX_SPACE_REG)
        return (uint32_t)v[i].offset / 4;
    for (uint32_t k = 0; k < i; k++)
        own += v[k].space == PTX_SPACE_REG ? warp_words_of(&v[k]) : 0;
    return block + own;
}

struct warp_signature warp_signature_of(const struct ptx_function *f)
{
    return (struct warp_signature){f->params,
                                   f->results,
                                   f->param_count,
                                   f->result_count,
                                   word_of(f->params, f->param_count, f->param_count),
                                   word_of(f->results, f->result_count, f->result_count)};
}

struct warp_signature warp_signature_of_table(const struct ptx_table *t)
{
    return (struct warp_signature){t->params,
                                   t->results,
                                   t->param_count,
                                   t->result_count,
                                   word_of(t->params, t->param_count, t->param_count),
                                   word_of(t->results, t->result_count, t->result_count)};
}

uint32_t warp_param_word(const struct warp_signature *s, uint32_t i)
{
    return word_of(s->params, s->param_count, i);
}

uint32_t warp_result_word(const struct warp_signature *s, uint32_t i)
{
    return s->param_words + word_of(s->results, s->result_count, i);
}

/* Copies between a register of the PTX and words. */
static void copy_register(struct warp_build *b, uint32_t index, uint32_t word, bool to_register)
{
    bool is_wide = ptx_type_bits((enum ptx_type)b->function->registers[index].type) > 32;
    struct warp_value low = {.at = WARP_FIXED + WARP_FRAME_ROWS + word, .bank = WARP_NARROW},
                      high = {.at = low.at + 1, .bank = WARP_NARROW},
                      r = {.at = b->number_of[index], .bank = is_wide ? WARP_WIDE : WARP_NARROW};
    if (to_register && is_wide) {
        warp_emit2(b, WARP_RUN_PACK_32, r, low, high);
    } else if (to_register) {
        warp_emit1(b, WARP_RUN_MOV_32, r, low);
    } else if (is_wide) {
        warp_emit1(b, WARP_RUN_EXTRACT_64_32, low, r);
        warp_emit1(b, WARP_RUN_EXTRACT_64_32, high, r)->value = 32;
    } else {
        warp_emit1(b, WARP_RUN_MOV_32, low, r);
    }
}

/* True if the address of a parameter is taken, or one is reached through a register. */
static bool takes_address(const struct ptx_operand *o)
{
    bool nested = o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_INDEXED;
    if (nested)
        for (uint32_t i = 0; i < o->element_count; i++)
            if (takes_address(&o->elements[i]))
                return true;
    return o->kind == PTX_OPERAND_SYMBOL && o->base == PTX_BASE_PARAM;
}

static void spill(struct warp_build *b, uint32_t words)
{
    bool found = false;
    for (uint32_t i = 0; i < b->function->instruction_count && !found; i++) {
        const struct ptx_instruction *in = &b->function->instructions[i];
        if (in->opcode == PTX_OP_CALL)
            continue;
        for (uint32_t k = 0; k < in->operand_count; k++)
            found = found || takes_address(&in->operands[k]);
    }
    if (!found)
        return;
    b->spilled = b->local;
    b->local += round_up(4 * words, 16);
    struct warp_value rows = {.at = WARP_FIXED + WARP_FRAME_ROWS, .bank = WARP_NARROW};
    struct warp_op *op = warp_emit1(b, WARP_RUN_SPILL_PARAM, WARP_VALUE_NONE, rows);
    op->target = words;
    op->value = b->spilled;
}

void warp_frame_begin(struct warp_build *b, struct warp_function *f)
{
    const struct ptx_function *p = b->function;
    b->param_words_of =
        grow_zeroed((p->variable_count + 1u) * sizeof *b->param_words_of, WARP_CODE);
    for (uint32_t i = 0; i < p->variable_count; i++) {
        const struct ptx_variable *v = &p->variables[i];
        if (v->space != PTX_SPACE_PARAM)
            continue;
        b->param_words_of[i] = b->registers[WARP_NARROW];
        b->registers[WARP_NARROW] += warp_words_of(v);
    }
    if (p->is_entry)
        return;
    struct warp_signature s = warp_signature_of(p);
    f->fixed = WARP_FRAME_ROWS + s.param_words + s.result_words;
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].space == PTX_SPACE_REG)
            copy_register(b, (uint32_t)p->params[i].offset, warp_param_word(&s, i), true);
    spill(b, s.param_words);
}

void warp_frame_results(struct warp_build *b)
{
    struct warp_signature s = warp_signature_of(b->function);
    for (uint32_t i = 0; i < b->function->result_count; i++)
        if (b->function->results[i].space == PTX_SPACE_REG)
            copy_register(b, (uint32_t)b->function->results[i].offset, warp_result_word(&s, i),
                          false);
}

bool warp_frame_words(struct warp_build *b, const struct ptx_operand *a, uint32_t *first,
                      uint32_t *words)
{
    const struct ptx_function *p = b->function;
    struct warp_signature s = warp_signature_of(p);
    if (a->base == PTX_BASE_LOCAL && p->variables[a->index].space == PTX_SPACE_PARAM) {
        *first = b->param_words_of[a->index];
        *words = warp_words_of(&p->variables[a->index]);
        return true;
    }
    if (p->is_entry)
        return false;
    if (a->base == PTX_BASE_PARAM) {
        *first = WARP_FIXED + WARP_FRAME_ROWS + warp_param_word(&s, a->index);
        *words = warp_words_of(&p->params[a->index]);
        return true;
    }
    if (a->base == PTX_BASE_RESULT) {
        *first = WARP_FIXED + WARP_FRAME_ROWS + warp_result_word(&s, a->index);
        *words = warp_words_of(&p->results[a->index]);
        return true;
    }
    return false;
}
