/* Lowers a module to operations, function by function.
 *
 * A frame has WARP_FRAME_ROWS rows for the caller's state, a row for each word of the parameters,
 * one for each word of the results, then registers. A caller writes arguments into the rows after
 * its own frame, where the callee's begins, and finds results there. */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/number.h"

#include "warp_build.h"
#include "warp_frame.h"

/* ---- labels and blocks ---- */

/* Marks that a block begins at the operation of an instruction. */
static uint32_t target_of(const struct warp_build *b, uint32_t instruction)
{
    return b->op_of[instruction];
}

static void resolve_targets(struct warp_build *b)
{
    struct warp_code *c = b->code;
    bool *begins = grow_zeroed((c->op_count - b->first_op + 1) * sizeof *begins, WARP_CODE);
    for (uint32_t i = b->first_op; i < c->op_count; i++) {
        struct warp_op *op = &c->ops[i];
        if (op->kind == WARP_BRANCH) {
            op->target = target_of(b, op->target);
            begins[op->target - b->first_op] = true;
        }
        if (op->kind != WARP_SWITCH)
            continue;
        for (uint32_t k = 0; k < op->target; k++) {
            uint32_t *target = &c->targets[op->list + k];
            *target = target_of(b, *target);
            begins[*target - b->first_op] = true;
        }
    }
    for (uint32_t i = b->first_op; i < c->op_count; i++)
        if (c->ops[i].kind > WARP_MEMORY || begins[i + 1 - b->first_op])
            c->ops[i].flags |= WARP_ENDS;
    free(begins);
}

/* Marks the operation that counts as its instruction: the one that does more than change registers,
 * or else the last. */
static void mark_counted(struct warp_build *b, uint32_t first)
{
    struct warp_code *c = b->code;
    for (uint32_t i = first; i < c->op_count; i++) {
        if (c->ops[i].kind != WARP_PLAIN || i + 1 == c->op_count) {
            c->ops[i].flags |= WARP_COUNTED;
            return;
        }
    }
}

static void lower_all(struct warp_build *b, struct warp_function *f)
{
    const struct ptx_function *function = b->function;
    f->missing = PTX_NONE;
    b->first_place = b->code->place_count;
    memcpy(b->first_temporary, b->registers, sizeof b->registers);
    warp_frame_begin(b, f);
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        b->instruction = &function->instructions[i];
        b->number = function->first_instruction + i;
        b->op_of[i] = b->code->op_count;
        b->missing = false;
        warp_lower(b);
        if (b->missing) {
            b->code->op_count = b->op_of[i];
            warp_emit(b, WARP_RUN_NOP)->kind = WARP_MISSING;
            f->missing = f->missing == PTX_NONE ? b->number : f->missing;
        }
        if (b->code->op_count == b->op_of[i])
            warp_emit(b, WARP_RUN_NOP);
        mark_counted(b, b->op_of[i]);
    }
    b->instruction = NULL;
    b->op_of[function->instruction_count] = b->code->op_count;
    warp_emit(b, WARP_RUN_NOP)->kind = WARP_RETURN; /* falls off its end */
}

/* ---- registers of the PTX ---- */

static void number_registers(struct warp_build *b)
{
    const struct ptx_function *f = b->function;
    b->number_of = grow_zeroed(f->register_count * sizeof *b->number_of, WARP_CODE);
    for (uint32_t i = 0; i < f->register_count; i++) {
        enum ptx_type type = (enum ptx_type)f->registers[i].type;
        enum warp_bank bank = warp_bank_of(type);
        uint32_t *next = &b->registers[bank == WARP_PREDICATE ? 2 : bank];
        b->number_of[i] = *next;
        *next += ptx_type_bits(type) > 64 ? 2 : 1;
    }
}

static void make_function(struct warp_code *c, uint32_t number)
{
    const struct ptx_function *function = &c->module->functions[number];
    struct warp_function *f = &c->functions[number];
    struct warp_build b = {.code = c,
                           .function = function,
                           .function_number = number,
                           .first_op = c->op_count,
                           .number = function->first_instruction,
                           .spilled = PTX_NONE,
                           .local = round_up(function->local_bytes, 16)};
    f->entry = c->op_count;
    f->missing = PTX_NONE;
    if (!function->is_defined)
        return;
    b.op_of = grow_zeroed((function->instruction_count + 1u) * sizeof *b.op_of, WARP_CODE);
    number_registers(&b);
    lower_all(&b, f);
    resolve_targets(&b);
    f->local = b.local;
    warp_registers_assign(&b, f);
    free(b.op_of);
    free(b.number_of);
    free(b.param_words_of);
}

/* ---- calls ---- */

/* The deepest frames below a function; a cycle, or a call of an address, makes it recursive. */
static void measure(struct warp_code *c, uint32_t number, uint8_t *state)
{
    struct warp_function *f = &c->functions[number];
    const struct ptx_function *p = &c->module->functions[number];
    uint32_t narrow = 0, wide = 0, local = 0, registers = 0;
    state[number] = 1;
    for (uint32_t i = 0; i < p->instruction_count; i++) {
        const struct ptx_instruction *in = &p->instructions[i];
        if (in->opcode != PTX_OP_CALL)
            continue;
        const struct ptx_operand *target = &in->operands[1];
        if (target->kind != PTX_OPERAND_SYMBOL) {
            f->is_recursive = true;
            continue;
        }
        uint32_t callee = target->index;
        struct warp_function *g = &c->functions[callee];
        if (state[callee] == 1) {
            f->is_recursive = true;
            continue;
        }
        if (!state[callee])
            measure(c, callee, state);
        f->is_recursive |= g->is_recursive;
        if (f->missing == PTX_NONE)
            f->missing = g->missing;
        narrow = max(g->deep_narrow, narrow);
        wide = max(g->deep_wide, wide);
        local = max(g->deep_local, local);
        registers = max(g->deep_registers, registers);
    }
    f->deep_narrow = f->narrow + narrow;
    f->deep_wide = f->wide + wide;
    f->deep_local = f->local + local;
    f->deep_registers = f->registers + registers;
    state[number] = 2;
}

/* The most threads of a block, by .reqntid or .maxntid, whose later dimensions may be left out. */
static uint32_t thread_limit(const struct ptx_function *kernel)
{
    const uint32_t *size = kernel->reqntid[0] ? kernel->reqntid : kernel->maxntid;
    if (!size[0])
        return WARP_BLOCK_THREADS;
    uint32_t product = size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1);
    return min(product, WARP_BLOCK_THREADS);
}

static void make_kernels(struct warp_code *c)
{
    const struct ptx_module *m = c->module;
    uint8_t *state = grow_zeroed(m->function_count, WARP_CODE);
    c->kernels = grow_zeroed(m->function_count * sizeof *c->kernels, WARP_CODE);
    for (uint32_t i = 0; i < m->function_count; i++) {
        const struct ptx_function *p = &m->functions[i];
        if (!state[i])
            measure(c, i, state);
        if (!p->is_entry || !p->is_defined)
            continue;
        const struct warp_function *f = &c->functions[i];
        c->kernels[c->kernel_count++] =
            (struct warp_kernel){.name = p->name,
                                 .function = i,
                                 .registers = max(f->deep_registers, 16),
                                 .shared_bytes = p->shared_bytes,
                                 .local_bytes = f->deep_local,
                                 .parameter_bytes = p->param_bytes,
                                 .threads_max = thread_limit(p),
                                 .is_recursive = f->is_recursive};
    }
    free(state);
}

/* ---- the interface ---- */

struct warp_code *warp_prepare(const struct ptx_module *module, uint64_t base)
{
    struct warp_code *c = grow_zeroed(1 * sizeof *c, WARP_CODE);
    c->module = module;
    c->base = base;
    c->functions = grow_zeroed(module->function_count * sizeof *c->functions, WARP_CODE);
    for (uint32_t i = 0; i < module->function_count; i++)
        make_function(c, i);
    make_kernels(c);
    return c;
}

void warp_release(struct warp_code *c)
{
    if (!c)
        return;
    free(c->ops);
    free(c->places);
    free(c->targets);
    for (uint32_t i = 0; i < c->module->function_count; i++)
        free(c->functions[i].named);
    free(c->functions);
    free(c->kernels);
    free(c->constants);
    hash_table_release(&c->constant_rows);
    free(c);
}

const struct warp_kernel *warp_kernel_at(const struct warp_code *code, uint64_t address)
{
    for (uint32_t i = 0; i < code->kernel_count; i++)
        if (code->base + code->module->functions[code->kernels[i].function].offset == address)
            return &code->kernels[i];
    return NULL;
}

const struct warp_kernel *warp_kernel_named(const struct warp_code *code, const char *name)
{
    for (uint32_t i = 0; i < code->kernel_count; i++)
        if (!strcmp(code->kernels[i].name, name))
            return &code->kernels[i];
    return NULL;
}

bool warp_code_missing(const struct warp_code *code, uint32_t function, char *text, size_t size)
{
    const struct ptx_module *m = code->module;
    uint32_t number = PTX_NONE;
    for (uint32_t i = 0; i < m->function_count && number == PTX_NONE; i++) {
        if (function != PTX_NONE && function != i)
            continue;
        number = code->functions[i].missing;
    }
    if (number == PTX_NONE)
        return false;
    const struct ptx_function *f = ptx_function_of(m, number);
    const struct ptx_instruction *i = &f->instructions[number - f->first_instruction];
    char place[128], name[96];
    bool is_call = i->opcode == PTX_OP_CALL && i->operands[1].kind == PTX_OPERAND_SYMBOL
                   && i->operands[1].base == PTX_BASE_FUNCTION;
    if (is_call)
        snprintf(text, size, "%s: nothing defines '%s', which is called",
                 ptx_place(m, i, place, sizeof place), m->functions[i->operands[1].index].name);
    else
        snprintf(text, size, "%s: %s is not executed", ptx_place(m, i, place, sizeof place),
                 ptx_instruction_name(i, name, sizeof name));
    return true;
}

uint64_t warp_instruction_address(const struct warp_code *code, uint32_t instruction)
{
    const struct ptx_function *f = ptx_function_of(code->module, instruction);
    return code->base + f->offset
           + (uint64_t)(instruction - f->first_instruction) * PTX_INSTRUCTION_BYTES;
}

uint32_t warp_instruction_at(const struct warp_code *code, uint64_t address)
{
    const struct ptx_module *m = code->module;
    uint64_t offset = address - code->base;
    if (offset >= m->image_bytes || offset % PTX_INSTRUCTION_BYTES)
        return PTX_NONE;
    for (uint32_t i = 0; i < m->function_count; i++) {
        const struct ptx_function *f = &m->functions[i];
        uint64_t index = (offset - f->offset) / PTX_INSTRUCTION_BYTES;
        if (f->is_defined && offset >= f->offset && index < f->instruction_count)
            return f->first_instruction + (uint32_t)index;
    }
    return PTX_NONE;
}
