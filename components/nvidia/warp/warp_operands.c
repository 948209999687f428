/* The registers of an instruction of PTX, for timing: the registers of its operations, without
 * predicates and without the temporaries between operations. See warp.h. */
#include "base/number.h"

#include "warp_code.h"

/* The first operation of the instruction or after it. */
static uint32_t first_op(const struct warp_code *c, uint32_t instruction)
{
    uint32_t low = 0, high = c->op_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->ops[middle].instruction < instruction)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The register of a place, as `registers` of the function counts them; WARP_REGISTER_NONE: none. */
static uint16_t register_of(const struct warp_function *f, uint8_t bank, uint32_t at)
{
    uint32_t narrow = f->narrow - f->fixed, row = at / WARP_NARROW_BYTES;
    if (bank == WARP_WIDE)
        return (uint16_t)(narrow + 2 * (at / WARP_WIDE_BYTES));
    if (bank != WARP_NARROW || row < f->fixed || row >= f->narrow)
        return WARP_REGISTER_NONE;
    return (uint16_t)(row - f->fixed);
}

struct seen {
    uint16_t written[2 * WARP_OPERANDS];
    unsigned count;
};

static bool was_written(const struct seen *s, uint16_t number)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->written[i] == number)
            return true;
    return false;
}

static void add_source(struct warp_operands *to, const struct seen *s, uint16_t number)
{
    if (number == WARP_REGISTER_NONE || was_written(s, number))
        return;
    for (unsigned i = 0; i < WARP_SOURCES; i++) {
        if (to->source[i] == number)
            return;
        if (to->source[i] == WARP_REGISTER_NONE) {
            to->source[i] = number;
            return;
        }
    }
}

static void add_destination(struct warp_operands *to, struct seen *s, uint16_t number)
{
    if (number == WARP_REGISTER_NONE)
        return;
    to->destination = number;
    if (s->count < ARRAY_COUNT(s->written))
        s->written[s->count++] = number;
}

static void add_op(struct warp_operands *to, struct seen *s, const struct warp_code *c,
                   const struct warp_function *f, const struct warp_op *op)
{
    bool listed = op->kind <= WARP_MEMORY || op->kind == WARP_ALIGNED;
    const struct warp_place *place = c->places + op->list;
    unsigned count = listed ? op->count : 0;
    for (unsigned i = 1; i < WARP_OPERANDS; i++)
        add_source(to, s, register_of(f, op->bank[i], op->at[i]));
    if (op->effect & WARP_KEEPS)
        add_source(to, s, register_of(f, op->bank[0], op->at[0]));
    if (count > op->written)
        add_source(to, s, register_of(f, place[op->written].bank, place[op->written].at));
    add_destination(to, s, register_of(f, op->bank[0], op->at[0]));
    for (unsigned i = 0; i < count && i < op->written; i++) {
        uint16_t number = register_of(f, place[i].bank, place[i].at);
        if (number != WARP_REGISTER_NONE) {
            add_destination(to, s, number);
            return;
        }
    }
}

void warp_operands(const struct warp_code *c, uint32_t instruction, struct warp_operands *to)
{
    const struct ptx_function *function = ptx_function_of(c->module, instruction);
    struct seen seen = {.count = 0};
    to->destination = WARP_REGISTER_NONE;
    for (unsigned i = 0; i < WARP_SOURCES; i++)
        to->source[i] = WARP_REGISTER_NONE;
    if (!function)
        return;
    const struct warp_function *f = c->functions + (function - c->module->functions);
    for (uint32_t i = first_op(c, instruction);
         i < c->op_count && c->ops[i].instruction == instruction; i++)
        add_op(to, &seen, c, f, &c->ops[i]);
}
