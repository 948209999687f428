/* Runs along with the reader. The blocks that have come are a set of numbers; of the block under
 * way there are bits of warps, and masks of the lanes that were active and that came to EXIT. */
#include "itrace_gaps.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "itrace.h"

/* NVIDIA, "CUDA C++ Programming Guide", shared memory of compute capability 8.x and after: 1 KiB of
 * each block is reserved for the system, and addresses begin after it. */
#define SYSTEM_SHARED_BYTES 1024

static const char *const names[ITRACE_GAP_KINDS] = {
    [ITRACE_GAP_HEADER] = "header_fields",       [ITRACE_GAP_BLOCKS] = "missing_blocks",
    [ITRACE_GAP_REPEATED] = "repeated_blocks",   [ITRACE_GAP_WARPS] = "missing_warps",
    [ITRACE_GAP_EXITS] = "warps_without_exit",   [ITRACE_GAP_BEHIND] = "instructions_behind_exit",
    [ITRACE_GAP_REGISTERS] = "registers_beyond", [ITRACE_GAP_SHARED] = "shared_memory_beyond"};

const char *itrace_gap_name(enum itrace_gap gap)
{
    return names[gap];
}

uint64_t itrace_gaps_total(const struct itrace_gaps *gaps)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < ITRACE_GAP_KINDS; i++)
        total += gaps->count[i];
    return total;
}

bool itrace_gap_found(struct itrace *t, enum itrace_gap gap, uint64_t line, const char *format, ...)
{
    char text[300];
    bool first = t->gaps.count[gap]++ == 0;
    bool refused = t->options.demand == ITRACE_GAPS_REFUSED;
    va_list args;
    bool is_reported = first || gap == ITRACE_GAP_HEADER;
    if (t->options.demand == ITRACE_GAPS_COUNTED || (!refused && !is_reported))
        return true;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (refused)
        itrace_fail(t, t->is_cached ? 0 : line, "%s%s", text,
                    t->options.remedy ? t->options.remedy : "");
    else
        itrace_warn(t, t->is_cached ? 0 : line, "%s", text);
    return !refused;
}

static unsigned *known_oddities(struct itrace *t)
{
    return t->options.said ? t->options.said : &t->said;
}

void itrace_odd(struct itrace *t, enum itrace_oddity oddity, uint64_t line, const char *format, ...)
{
    char text[300];
    va_list args;
    bool tells = t->options.demand != ITRACE_GAPS_COUNTED || oddity == ITRACE_ODD_END;
    if (!tells || *known_oddities(t) & (unsigned)oddity)
        return;
    *known_oddities(t) |= (unsigned)oddity;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    itrace_warn(t, t->is_cached ? 0 : line, "%s", text);
}

/* "thread block 0,1,0" */
static const char *block_text(const struct itrace *t, char text[64])
{
    snprintf(text, 64, "thread block %" PRIu32 ",%" PRIu32 ",%" PRIu32, t->block[0], t->block[1],
             t->block[2]);
    return text;
}

static bool take_block(struct itrace *t)
{
    struct itrace_gaps *g = &t->gaps;
    uint64_t index = itrace_block_index(t), bit = UINT64_C(1) << index % 64;
    uint64_t *seen = itrace_set_add(&g->blocks, index / 64);
    char text[64];
    bool again = *seen & bit;
    *seen |= bit;
    g->different += !again;
    g->warps = 0;
    g->in_warp = false;
    return !again
           || itrace_gap_found(t, ITRACE_GAP_REPEATED, t->input.line,
                               "%s stands in the trace twice", block_text(t, text));
}

/* Did all lanes of the warp under way come to its end? */
static bool end_warp(struct itrace *t)
{
    struct itrace_gaps *g = &t->gaps;
    char text[64];
    uint64_t left = g->active & ~g->ended;
    bool whole = !g->in_warp || (g->exits && !left);
    g->in_warp = false;
    if (whole)
        return true;
    return g->exits ? itrace_gap_found(t, ITRACE_GAP_EXITS, g->line,
                                       "%s, warp %" PRIu32 " ends, but lanes %" PRIx64
                                       " have not come to EXIT",
                                       block_text(t, text), g->warp, left)
                    : itrace_gap_found(t, ITRACE_GAP_EXITS, g->line,
                                       "%s, warp %" PRIu32 " ends without EXIT",
                                       block_text(t, text), g->warp);
}

static bool begin_warp(struct itrace *t)
{
    struct itrace_gaps *g = &t->gaps;
    bool good = end_warp(t);
    g->warps |= UINT64_C(1) << t->warp;
    g->warp = t->warp;
    g->line = t->input.line;
    g->active = g->ended = 0;
    g->exits = false;
    g->in_warp = true;
    return good;
}

static bool end_block(struct itrace *t)
{
    char text[64];
    uint64_t warps = itrace_header_warps(&t->header),
             all = warps < 64 ? (UINT64_C(1) << warps) - 1 : UINT64_MAX;
    uint64_t missing = all & ~t->gaps.warps;
    bool good = end_warp(t);
    if (!missing)
        return good;
    return itrace_gap_found(t, ITRACE_GAP_WARPS, t->input.line,
                            "%s has %d of its %" PRIu64 " warps: warp %d is missing",
                            block_text(t, text), __builtin_popcountll(t->gaps.warps), warps,
                            __builtin_ctzll(missing))
           && good;
}

/* Generic addresses are told apart by the windows of shared and local memory. */
static bool knows_windows(struct itrace *t, const struct itrace_inst *inst)
{
    const struct itrace_header *h = &t->header;
    if (inst->opcode.space != ITRACE_SPACE_GENERIC || (h->shared_base && h->local_base))
        return true;
    return itrace_gap_found(t, ITRACE_GAP_HEADER, t->input.line,
                            "'%s' at PC %04" PRIx32
                            " has generic addresses, but the header has no '-%s base_addr = 0x...'",
                            inst->name, inst->pc, h->shared_base ? "local mem" : "shmem");
}

/* Numbers that no register has, in an instruction that comes for the first time. */
static void find_garbage(struct itrace *t, const struct itrace_inst *inst)
{
    bool has_none = false;
    for (unsigned i = 0; i < inst->destination_count; i++)
        has_none = has_none || inst->destinations[i] == SASS_REGISTER_NONE;
    for (unsigned i = 0; i < inst->source_count; i++)
        has_none = has_none || inst->sources[i] == SASS_REGISTER_NONE;
    if (has_none)
        itrace_odd(t, ITRACE_ODD_REGISTER, t->input.line,
                   "'%s' at PC %04" PRIx32 " has a register above R255: the tracer took something "
                   "else for a register; nothing waits for such ones",
                   inst->name, inst->pc);
}

/* An instruction that comes for the first time. */
static bool take_inst(struct itrace *t, const struct itrace_inst *inst)
{
    uint64_t most = t->header.registers;
    unsigned beyond = 0;
    for (unsigned i = 0; i < inst->destination_count; i++)
        if (inst->destinations[i] < 255 && inst->destinations[i] >= most)
            beyond = inst->destinations[i];
    for (unsigned i = 0; i < inst->source_count; i++)
        if (inst->sources[i] < 255 && inst->sources[i] >= most)
            beyond = inst->sources[i];
    t->gaps.inst_count = inst->id + 1;
    find_garbage(t, inst);
    if (!knows_windows(t, inst))
        return false;
    return !beyond || !most
           || itrace_gap_found(t, ITRACE_GAP_REGISTERS, t->input.line,
                               "'%s' at PC %04" PRIx32 " has register R%u, but 'nregs = %" PRIu64
                               "'",
                               inst->name, inst->pc, beyond, most);
}

/* Reaches byte `last` of shared memory, and the header says that there is none. Many tracers leave
 * it out, so that it is a warning; blocks that an SM has no room for may run then. */
static bool found_undeclared(struct itrace *t, const struct itrace_inst *inst, uint64_t last)
{
    if (t->options.demand == ITRACE_GAPS_COUNTED || t->gaps.count[ITRACE_GAP_SHARED]++)
        return true;
    itrace_warn(t, t->is_cached ? 0 : t->input.line,
                "'%s' at PC %04" PRIx32 " reaches byte %" PRIu64
                " of shared memory, but 'shmem = 0': blocks are placed as if they took none",
                inst->name, inst->pc, last);
    return true;
}

/* Shared memory of a kernel by its header; what lies beyond. */
static bool take_shared(struct itrace *t, const struct itrace_step *step)
{
    uint64_t most = t->header.shared_bytes + SYSTEM_SHARED_BYTES, base = t->header.shared_base;
    for (unsigned i = 0; i < step->count; i++) {
        uint64_t at = step->address[i], offset = base && at >= base ? at - base : at;
        if (offset + step->inst->width <= most || offset > UINT32_MAX)
            continue;
        if (!t->header.shared_bytes)
            return found_undeclared(t, step->inst, offset + step->inst->width - 1);
        return itrace_gap_found(t, ITRACE_GAP_SHARED, t->input.line,
                                "'%s' at PC %04" PRIx32 " reaches byte %" PRIu64
                                " of shared memory, but 'shmem = %" PRIu64 "'",
                                step->inst->name, step->inst->pc, offset + step->inst->width - 1,
                                t->header.shared_bytes);
    }
    return true;
}

/* Lanes at address 0 of global memory, where no card has any. */
static void find_zero(struct itrace *t, const struct itrace_step *step)
{
    if (*known_oddities(t) & ITRACE_ODD_ADDRESS)
        return;
    for (unsigned i = 0; i < step->count; i++)
        if (step->address[i] == 0)
            itrace_odd(t, ITRACE_ODD_ADDRESS, t->input.line,
                       "'%s' at PC %04" PRIx32 " accesses address 0 of global memory: the tracer "
                       "did not see the address; such accesses are played as they stand",
                       step->inst->name, step->inst->pc);
}

/* Instructions that lanes execute after their EXIT. After the end of all of the warp's lanes
 * tracers write some more; they are played as they are. */
static bool found_late(struct itrace *t, uint64_t late, bool over)
{
    char text[64];
    const struct itrace_inst *inst = t->step.inst;
    if (!over || t->options.demand == ITRACE_GAPS_COUNTED)
        return itrace_gap_found(t, ITRACE_GAP_BEHIND, t->input.line,
                                "%s, warp %" PRIu32 ": '%s' at PC %04" PRIx32
                                " is executed by lanes %" PRIx64 " behind their EXIT",
                                block_text(t, text), t->warp, inst->name, inst->pc, late);
    t->gaps.count[ITRACE_GAP_BEHIND]++;
    itrace_odd(t, ITRACE_ODD_BEHIND, t->input.line,
               "%s, warp %" PRIu32 ": '%s' at PC %04" PRIx32
               " stands behind the EXIT of all lanes; such instructions are played as they stand",
               block_text(t, text), t->warp, inst->name, inst->pc);
    return true;
}

/* True if all lanes that the warp has by its block have come to EXIT. */
static bool all_have_ended(const struct itrace *t)
{
    const uint32_t *block = t->header.block;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2] - 32 * (uint64_t)t->warp;
    uint64_t all = threads < 32 ? (UINT64_C(1) << threads) - 1 : UINT32_MAX;
    return !(all & ~t->gaps.ended);
}

static bool take_step(struct itrace *t)
{
    struct itrace_gaps *g = &t->gaps;
    const struct itrace_step *step = &t->step;
    const struct itrace_inst *inst = step->inst;
    uint64_t late = step->mask & g->ended;
    bool good = inst->id < g->inst_count || take_inst(t, inst), over = late && all_have_ended(t);
    bool ends = inst->opcode.unit == SASS_CLASS_EXIT;
    g->exits = g->exits || ends;
    g->active |= step->mask;
    g->line = t->input.line;
    if (ends)
        g->ended |= step->mask;
    if (inst->opcode.space == ITRACE_SPACE_SHARED)
        good = take_shared(t, step) && good;
    if (inst->opcode.space == ITRACE_SPACE_GLOBAL)
        find_zero(t, step);
    if (late)
        good = found_late(t, late, over) && good;
    return good;
}

/* The place of the first block that is missing. */
static uint64_t first_missing(const struct itrace *t)
{
    uint64_t index = 0;
    while (itrace_set_get(&t->gaps.blocks, index / 64) >> index % 64 & 1)
        index++;
    return index;
}

static bool take_end(struct itrace *t)
{
    struct itrace_gaps *g = &t->gaps;
    const uint32_t *grid = t->header.grid;
    uint64_t all = (uint64_t)grid[0] * grid[1] * grid[2], missing = all - g->different;
    bool good = true;
    if (g->is_over)
        return true;
    g->is_over = true;
    if (missing) {
        uint64_t at = first_missing(t);
        good = itrace_gap_found(
            t, ITRACE_GAP_BLOCKS, t->input.line,
            "%" PRIu64 " of the grid's %" PRIu64 " thread blocks are missing, the first is %" PRIu64
            ",%" PRIu64 ",%" PRIu64,
            missing, all, at % grid[0], at / grid[0] % grid[1], at / grid[0] / grid[1]);
        g->count[ITRACE_GAP_BLOCKS] = missing;
    }
    if (!t->options.demand || t->options.demand == ITRACE_GAPS_REFUSED)
        return good;
    for (unsigned i = ITRACE_GAP_REPEATED; i < ITRACE_GAP_KINDS; i++)
        if (g->count[i] > 1)
            itrace_warn(t, 0, "%s: %" PRIu64 " in all", names[i], g->count[i]);
    return good;
}

bool itrace_gaps_take(struct itrace *t, int event)
{
    switch ((enum itrace_event)event) {
    case ITRACE_BLOCK:
        return take_block(t);
    case ITRACE_WARP:
        return begin_warp(t);
    case ITRACE_STEP:
        return take_step(t);
    case ITRACE_BLOCK_END:
        return end_block(t);
    case ITRACE_END:
        return take_end(t);
    case ITRACE_ERROR:
        break;
    }
    return true;
}
