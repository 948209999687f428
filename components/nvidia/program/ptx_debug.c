/* Gives the debugger the registers, memory and places of warps. Threads of a block are created at
 * the first event of one of them. */
#include "ptx_debug.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/checks/debugger/debugger.h"

#include "ptx_internal.h"

struct debug_warp {
    struct debug_thread thread;     /* first */
    const struct warp_block *block; /* NULL: it is over */
    const struct ptx_call *call;
    uint32_t warp;
    uint32_t lanes;  /* lanes of its last event */
    bool is_stopped; /* before that is executed */
};

struct debug_block {
    struct debug_block *next;
    const struct warp_block *block;
    const struct ptx_call *call;
    uint32_t warps, alive;
    struct debug_warp warp[];
};

static struct debug_block *blocks; /* that of the last event first */

static const struct debug_warp *warp_of(const struct debug_thread *t)
{
    return (const struct debug_warp *)(const void *)t;
}

/* ---- what a debugger asks ---- */

static uint64_t debug_pc(const struct debug_thread *t)
{
    const struct debug_warp *w = warp_of(t);
    uint32_t lanes, place = PTX_NONE;
    if (!w->is_stopped && w->block)
        place = warp_inspect_place(w->block, &w->call->launch, w->warp, &lanes);
    return place == PTX_NONE ? t->identity.pc
                             : warp_instruction_address(w->call->code->code, place);
}

static struct debug_place debug_place(const struct debug_thread *t, unsigned lane, uint64_t address)
{
    const struct debug_warp *w = warp_of(t);
    struct debug_place place = {.global = address, .bytes = UINT64_MAX};
    if (w->block)
        place.at =
            warp_look_memory(w->block, &w->call->launch, w->warp * WARP_LANES + lane % WARP_LANES,
                             address, &place.bytes);
    return place;
}

static void debug_registers(const struct debug_thread *t, struct debug_registers *registers,
                            const uint32_t **vectors)
{
    enum { EXEC = 126 };
    const struct debug_warp *w = warp_of(t);
    uint32_t lanes = w->lanes;
    if (!w->is_stopped && w->block)
        warp_inspect_place(w->block, &w->call->launch, w->warp, &lanes);
    registers->sgpr[EXEC] = lanes;
    registers->shared_aperture = WARP_SHARED;
    registers->private_aperture = WARP_LOCAL;
    *vectors = NULL;
}

static bool debug_named(const struct debug_thread *t, uint32_t number, struct debug_named *name)
{
    const struct debug_warp *w = warp_of(t);
    if (!w->block)
        return false;
    const struct ptx_module *module = w->call->code->module;
    uint64_t pc = debug_pc(t);
    uint32_t at = warp_instruction_at(w->call->code->code, pc);
    const struct ptx_function *f = ptx_function_of(module, at);
    if (number >= f->register_count)
        return false;
    *name = (struct debug_named){0};
    snprintf(name->name, sizeof name->name, "%s", f->registers[number].name);
    snprintf(name->type, sizeof name->type, "%s",
             ptx_type_name((enum ptx_type)f->registers[number].type));
    name->lanes = warp_inspect_register(w->block, &w->call->launch, w->warp,
                                        (uint32_t)(f - module->functions), number, name->value);
    return true;
}

static const struct debug_kind kind = {.bytes = sizeof(struct debug_warp),
                                       .end_bytes = PTX_INSTRUCTION_BYTES,
                                       .pc = debug_pc,
                                       .place = debug_place,
                                       .registers = debug_registers,
                                       .named = debug_named};

/* ---- events of the executor ---- */

static struct debug_block *block_begin(const struct ptx_call *c, const struct warp_block *block)
{
    const struct warp_launch *l = &c->launch;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    uint32_t warps = divide_up(threads, WARP_LANES);
    struct debug_block *b = grow_memory(NULL, sizeof *b + warps * sizeof b->warp[0], PTX_PROGRAM);
    *b = (struct debug_block){.block = block, .call = c, .warps = warps, .alive = warps};
    for (uint32_t i = 0; i < warps; i++) {
        struct debug_warp *w = &b->warp[i];
        *w = (struct debug_warp){.thread = {.kind = &kind,
                                            .identity = {.launch = l->number,
                                                         .gpu = c->gpu,
                                                         .number = i,
                                                         .lanes = WARP_LANES},
                                            .program = c->view.program,
                                            .pid = c->view.pid},
                                 .block = block,
                                 .call = c,
                                 .warp = i};
        warp_inspect_block(block, w->thread.identity.group);
        debugger_begin(&w->thread, l->title ? l->title : l->kernel->name);
    }
    return b;
}

static void warp_over(struct debug_warp *w)
{
    if (!w->block)
        return;
    w->block = NULL;
    w->is_stopped = false;
    debugger_end(&w->thread);
}

static void block_end(struct debug_block **link)
{
    struct debug_block *b = *link;
    *link = b->next;
    for (uint32_t i = 0; i < b->warps; i++)
        warp_over(&b->warp[i]);
    free(b);
}

static struct debug_warp *warp_at(const struct ptx_call *c, const struct warp_step *s)
{
    struct debug_block **link = &blocks, *b;
    while (*link && (*link)->block != s->block_memory)
        link = &(*link)->next;
    b = *link;
    if (b)
        *link = b->next;
    else
        b = block_begin(c, s->block_memory);
    b->next = blocks;
    blocks = b;
    return &b->warp[s->warp];
}

static void before(void *context, const struct warp_step *s)
{
    const struct ptx_call *c = context;
    struct debug_warp *w = warp_at(c, s);
    const struct warp_launch *l = &c->launch;
    w->lanes = s->active;
    w->is_stopped = true;
    debugger_event(&w->thread, warp_instruction_address(c->code->code, s->instruction),
                   l->clock ? l->clock(context) : 0);
}

static void access(struct debug_warp *w, const struct warp_step *s)
{
    static const uint64_t windows[] = {[PTX_SPACE_SHARED] = WARP_SHARED,
                                       [PTX_SPACE_LOCAL] = WARP_LOCAL,
                                       [PTX_SPACE_PARAM] = WARP_PARAM,
                                       [PTX_SPACE_TEX] = 0};
    const struct ptx_function *f = ptx_function_of(w->call->code->module, s->instruction);
    enum ptx_opcode opcode = f->instructions[s->instruction - f->first_instruction].opcode;
    struct debug_access a = {.writes = opcode != PTX_OP_LD && opcode != PTX_OP_LDU,
                             .reads = opcode != PTX_OP_ST,
                             .count = 1,
                             .base = {windows[s->space]},
                             .span = s->bytes,
                             .mask = s->active,
                             .address = s->addresses};
    debugger_access(&w->thread, &a);
}

static void after(void *context, const struct warp_step *s)
{
    struct debug_warp *w = warp_at(context, s);
    uint32_t lanes;
    if (s->addresses && debug_breakpoints_any())
        access(w, s);
    w->is_stopped = false;
    if (warp_inspect_place(s->block_memory, &w->call->launch, s->warp, &lanes) != PTX_NONE)
        return;
    warp_over(w);
    if (--blocks->alive == 0)
        block_end(&blocks);
}

static const struct warp_debug hooks = {before, after};

void ptx_debug_begin(struct ptx_call *c)
{
    c->launch.debug = debugger_is_open() ? &hooks : NULL;
}

void ptx_debug_end(const struct ptx_call *c)
{
    for (struct debug_block **link = &blocks; *link;)
        if ((*link)->call == c)
            block_end(link);
        else
            link = &(*link)->next;
}

/* ---- code ---- */

static void write_function(FILE *out, const struct ptx_function *f)
{
    fprintf(out, "function %" PRIu64 " %s\n", f->offset, f->name);
    for (uint32_t i = 0; i < f->instruction_count; i++) {
        const struct ptx_instruction *inst = &f->instructions[i];
        bool known = inst->line && inst->file != PTX_NONE;
        fprintf(out, "line %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", inst->ptx_line,
                known ? inst->line : 0, known ? inst->file : 0);
    }
}

void ptx_debug_code(const struct ptx_code *code, const char *text, size_t size)
{
    const struct ptx_module *m = code->module;
    char *listing = NULL;
    size_t listing_size = 0;
    FILE *out = debugger_is_open() ? open_memstream(&listing, &listing_size) : NULL;
    if (!out)
        return;
    for (uint32_t i = 0; i < m->file_count; i++)
        if (m->files[i])
            fprintf(out, "file %" PRIu32 " %s\n", i, m->files[i]);
    for (uint32_t i = 0; i < m->variable_count; i++)
        if (m->variables[i].space == PTX_SPACE_GLOBAL || m->variables[i].space == PTX_SPACE_CONST)
            fprintf(out, "variable %" PRIu64 " %" PRIu64 " %s\n", m->variables[i].offset,
                    m->variables[i].bytes, m->variables[i].name);
    for (uint32_t i = 0; i < m->function_count; i++)
        if (m->functions[i].is_defined)
            write_function(out, &m->functions[i]);
    fputs("text\n", out);
    fwrite(text, 1, strnlen(text, size), out);
    fclose(out);
    debugger_code("ptx", code->address, listing, listing_size);
    free(listing);
}
