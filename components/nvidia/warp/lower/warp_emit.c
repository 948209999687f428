/* Appends operations and their operands, one by one. */
#include <stdlib.h>

#include "base/grow.h"
#include "base/number.h"

#include "warp_build.h"

struct warp_op *warp_emit(struct warp_build *b, enum warp_run run)
{
    struct warp_code *c = b->code;
    grow_list(c->ops, (size_t)c->op_count + 1, c->op_capacity, WARP_CODE);
    struct warp_op *op = &c->ops[c->op_count++];
    *op = (struct warp_op){.run = warp_handler_of(run), .instruction = b->number};
    memset(op->bank, WARP_BANK_NONE, sizeof op->bank);
    if (b->instruction && b->instruction->guard != PTX_NONE) {
        op->guard = (uint16_t)(1 + b->number_of[b->instruction->guard]);
        op->flags = b->instruction->guard_negated ? WARP_NOT : 0;
    }
    return op;
}

void warp_use(struct warp_op *op, unsigned i, struct warp_value v)
{
    op->at[i] = v.at;
    op->bank[i] = v.bank;
    if (v.bank == WARP_PREDICATE && v.negated)
        op->flags |= WARP_NOT_INPUT;
}

uint32_t warp_place(struct warp_build *b, struct warp_value v)
{
    struct warp_code *c = b->code;
    grow_list(c->places, (size_t)c->place_count + 1, c->place_capacity, WARP_CODE);
    c->places[c->place_count] = (struct warp_place){.at = v.at, .bank = v.bank, .wide = v.wide};
    return c->place_count++;
}

struct warp_value warp_temporary(struct warp_build *b, enum warp_bank bank)
{
    uint32_t *next = &b->registers[bank == WARP_PREDICATE ? 2 : bank];
    return (struct warp_value){.at = (*next)++, .bank = (uint8_t)bank, .wide = bank == WARP_WIDE};
}

/* ---- constants: a row for each value ---- */

#define FIRST_BYTES ((size_t)1 << 14) /* of the rows; a multiple of their alignment */

struct constant_row {
    uint64_t bits, wide;
    uint32_t number; /* its offset / WARP_NARROW_BYTES */
    bool is_made;
};

static const struct hash_kind row_kind = HASH_KIND(struct constant_row, wide, WARP_CODE);

static uint32_t add_row(struct warp_code *c, uint64_t bits, bool wide)
{
    size_t bytes = wide ? WARP_WIDE_BYTES : WARP_NARROW_BYTES;
    if (c->constant_bytes + bytes > c->constant_capacity) {
        size_t size =
            grow_capacity(max(c->constant_bytes + bytes, FIRST_BYTES), c->constant_capacity);
        char *rows = grow_sized(aligned_alloc(64, size), size, WARP_CODE);
        if (c->constants)
            memcpy(rows, c->constants, c->constant_bytes);
        free(c->constants);
        c->constants = rows;
        c->constant_capacity = size;
    }
    uint32_t low = (uint32_t)bits;
    char *row = c->constants + c->constant_bytes;
    for (unsigned i = 0; i < WARP_LANES; i++)
        memcpy(row + i * (wide ? 8 : 4), wide ? (const void *)&bits : &low, wide ? 8 : 4);
    uint32_t number = (uint32_t)(c->constant_bytes / WARP_NARROW_BYTES);
    c->constant_bytes += bytes;
    return number;
}

struct warp_value warp_constant(struct warp_build *b, uint64_t bits, bool wide)
{
    struct warp_code *c = b->code;
    bits = wide ? bits : (uint32_t)bits;
    const uint64_t key[] = {bits, wide};
    struct constant_row *row = hash_table_add(&c->constant_rows, &row_kind, key);
    if (!row->is_made) {
        row->number = add_row(c, bits, wide);
        row->is_made = true;
    }
    return (struct warp_value){
        .at = row->number * WARP_NARROW_BYTES, .bank = WARP_CONSTANT, .wide = wide};
}

/* ---- operands ---- */

/* The address of a variable or function, in its space. */
static struct warp_value symbol(struct warp_build *b, const struct ptx_operand *o, bool wide)
{
    const struct ptx_module *m = b->code->module;
    uint64_t offset = (uint64_t)o->offset;
    const struct ptx_variable *v = o->base == PTX_BASE_VARIABLE ? &m->variables[o->index]
                                   : o->base == PTX_BASE_LOCAL  ? &b->function->variables[o->index]
                                                                : NULL;
    if (o->base == PTX_BASE_FUNCTION)
        return warp_constant(b, b->code->base + m->functions[o->index].offset + offset, wide);
    if (o->base == PTX_BASE_PARAM && b->function->is_entry)
        return warp_constant(b, b->function->params[o->index].offset + offset, wide);
    struct warp_value d = warp_temporary(b, wide ? WARP_WIDE : WARP_NARROW);
    if (o->base == PTX_BASE_PARAM && b->spilled != PTX_NONE) {
        warp_emit1(b, wide ? WARP_RUN_LOCAL_64 : WARP_RUN_LOCAL_32, d, WARP_VALUE_NONE)->value =
            b->spilled + b->function->params[o->index].offset + offset;
        return d;
    }
    if (!v) {
        b->missing = true;
        return d;
    }
    if (v->space == PTX_SPACE_SHARED && v->is_dynamic) {
        warp_emit1(b, wide ? WARP_RUN_DYNAMIC_64 : WARP_RUN_DYNAMIC_32, d, WARP_VALUE_NONE)->value =
            offset;
        return d;
    }
    if (v->space == PTX_SPACE_LOCAL) {
        warp_emit1(b, wide ? WARP_RUN_LOCAL_64 : WARP_RUN_LOCAL_32, d, WARP_VALUE_NONE)->value =
            v->offset + offset;
        return d;
    }
    if (v->space == PTX_SPACE_PARAM)
        b->missing = true;
    uint64_t base = v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST ? b->code->base : 0;
    uint64_t address = base + v->offset + offset;
    if (o->generic && v->space == PTX_SPACE_SHARED)
        address += WARP_SHARED;
    return warp_constant(b, address, wide);
}

uint8_t warp_kind_of_special(uint32_t which)
{
    switch (which) {
    case PTX_SPECIAL_CLOCK:
    case PTX_SPECIAL_CLOCK_HI:
    case PTX_SPECIAL_CLOCK64:
    case PTX_SPECIAL_GLOBALTIMER:
    case PTX_SPECIAL_GLOBALTIMER_LO:
    case PTX_SPECIAL_GLOBALTIMER_HI:
        return WARP_TIMED;
    default:
        return WARP_PLAIN;
    }
}

static struct warp_value special(struct warp_build *b, const struct ptx_operand *o, bool wide)
{
    struct warp_value d = warp_temporary(b, wide ? WARP_WIDE : WARP_NARROW);
    struct warp_op *op =
        warp_emit1(b, wide ? WARP_RUN_SPECIAL_64 : WARP_RUN_SPECIAL_32, d, WARP_VALUE_NONE);
    op->value = o->index;
    op->kind = warp_kind_of_special(o->index);
    return d;
}

struct warp_value warp_input(struct warp_build *b, const struct ptx_operand *o, enum ptx_type type)
{
    bool wide = ptx_type_bits(type) > 32;
    switch ((enum ptx_operand_kind)o->kind) {
    case PTX_OPERAND_REGISTER: {
        unsigned bits = ptx_type_bits((enum ptx_type)b->function->registers[o->index].type);
        return (struct warp_value){.at = b->number_of[o->index],
                                   .bank = bits > 32 ? WARP_WIDE : WARP_NARROW,
                                   .wide = bits > 32};
    }
    case PTX_OPERAND_INTEGER:
    case PTX_OPERAND_F32:
    case PTX_OPERAND_F64:
        return warp_constant(b, ptx_constant(o, type), wide);
    case PTX_OPERAND_SPECIAL:
        return special(b, o, wide);
    case PTX_OPERAND_SYMBOL:
        return symbol(b, o, wide);
    default:
        b->missing = true;
        return warp_constant(b, 0, wide);
    }
}

struct warp_value warp_output(struct warp_build *b, const struct ptx_operand *o, bool wide)
{
    if (o->kind == PTX_OPERAND_SINK)
        return warp_temporary(b, wide ? WARP_WIDE : WARP_NARROW);
    if (o->kind != PTX_OPERAND_REGISTER) {
        b->missing = true;
        return warp_temporary(b, wide ? WARP_WIDE : WARP_NARROW);
    }
    enum ptx_type type = (enum ptx_type)b->function->registers[o->index].type;
    unsigned bits = ptx_type_bits(type);
    return (struct warp_value){.at = b->number_of[o->index],
                               .bank = type == PTX_PRED ? WARP_PREDICATE
                                       : bits > 32      ? WARP_WIDE
                                                        : WARP_NARROW,
                               .wide = bits > 32};
}

struct warp_value warp_input_predicate(struct warp_build *b, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_INTEGER) /* a constant: lanes in at[], no predicate */
        return (struct warp_value){.at = o->bits ? UINT32_MAX : 0, .bank = WARP_BANK_NONE};
    if (o->kind != PTX_OPERAND_REGISTER) {
        b->missing = true;
        return WARP_VALUE_NONE;
    }
    return (struct warp_value){
        .at = b->number_of[o->index], .bank = WARP_PREDICATE, .negated = o->negated};
}

void warp_outputs(struct warp_build *b, const struct ptx_operand *o, bool wide,
                  struct warp_value *first, struct warp_value *second)
{
    *second = WARP_VALUE_NONE;
    if (o->kind != PTX_OPERAND_PAIR) {
        *first = warp_output(b, o, wide);
        return;
    }
    *first = o->elements[0].kind == PTX_OPERAND_SINK ? WARP_VALUE_NONE
                                                     : warp_output(b, &o->elements[0], wide);
    if (o->elements[1].kind != PTX_OPERAND_SINK)
        *second = warp_output(b, &o->elements[1], false);
}

struct warp_op *warp_emit1(struct warp_build *b, enum warp_run run, struct warp_value d,
                           struct warp_value a)
{
    return warp_emit3(b, run, d, a, WARP_VALUE_NONE, WARP_VALUE_NONE);
}

struct warp_op *warp_emit2(struct warp_build *b, enum warp_run run, struct warp_value d,
                           struct warp_value a, struct warp_value c)
{
    return warp_emit3(b, run, d, a, c, WARP_VALUE_NONE);
}

struct warp_op *warp_emit3(struct warp_build *b, enum warp_run run, struct warp_value d,
                           struct warp_value a, struct warp_value c, struct warp_value e)
{
    struct warp_op *op = warp_emit(b, run);
    warp_use(op, 0, d);
    warp_use(op, 1, a);
    warp_use(op, 2, c);
    warp_use(op, 3, e);
    return op;
}
