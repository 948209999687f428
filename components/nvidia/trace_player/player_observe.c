/* From what the executor of PTX observes to the records that a trace would have: the same structs,
 * by the same functions, so that a recorded run and its playing are the same to an SM. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/likely.h"
#include "base/number.h"
#include "components/nvidia/program/ptx_checks.h"
#include "components/traces/instruction_trace/nvidia/ptx_units.h"

#include "player_call.h"

/* ---- static instructions ---- */

static void observe_immediates(const struct ptx_instruction *from, struct itrace_inst *to)
{
    for (unsigned i = 0; i < from->operand_count && to->immediate_count < 2; i++)
        if (from->operands[i].kind == PTX_OPERAND_INTEGER)
            to->immediates[to->immediate_count++] = (int64_t)from->operands[i].bits;
}

/* The bytes that a lane of the instruction accesses; 0: it has no addresses. */
static uint8_t observe_width(const struct ptx_instruction *from, const struct itrace_inst *to,
                             const struct warp_step *step)
{
    if (ptx_name_is_at_mbarrier(to->name))
        return 8;
    if (to->opcode.space == ITRACE_SPACE_NONE)
        return 0;
    uint32_t bits = from->type_count ? ptx_type_bits((enum ptx_type)from->types[0]) : 32;
    uint32_t bytes = step->bytes ? step->bytes : bits / 8 * ptx_vector_width(from);
    return (uint8_t)min(bytes, 128);
}

/* The instruction as a trace has it. The return of a kernel is its end. */
static struct itrace_inst observe_describe(const struct ptx_code *code,
                                           const struct warp_step *step)
{
    const struct ptx_function *f = ptx_function_of(code->module, step->instruction);
    uint32_t number = step->instruction - f->first_instruction;
    const struct ptx_instruction *from = &f->instructions[number];
    struct warp_operands operands;
    struct itrace_inst to = {.id = step->instruction % TRACE_INSTS_MAX,
                             .pc = step->instruction * PTX_INSTRUCTION_BYTES,
                             .source_line = from->line};
    if (from->opcode == PTX_OP_RET && f->is_entry)
        snprintf(to.name, sizeof to.name, "exit");
    else
        ptx_instruction_name(from, to.name, sizeof to.name);
    to.known = ptx_opcode_find(to.name, &to.opcode);
    to.width = observe_width(from, &to, step);
    to.at_barrier = ptx_name_is_at_mbarrier(to.name);
    warp_operands(code->code, step->instruction, &operands);
    if (operands.destination != WARP_REGISTER_NONE)
        to.destinations[to.destination_count++] = operands.destination;
    for (unsigned i = 0; i < WARP_SOURCES; i++)
        if (operands.source[i] != WARP_REGISTER_NONE && to.source_count < ITRACE_SOURCES_MAX)
            to.sources[to.source_count++] = operands.source[i];
    if (ptx_name_is_barrier(to.name) || strstr(to.name, ".wait_group"))
        observe_immediates(from, &to);
    if (from->opcode == PTX_OP_WGMMA_MMA_ASYNC) /* A may be in registers */
        to.immediates[to.immediate_count++] = from->operands[1].kind == PTX_OPERAND_VECTOR;
    return to;
}

/* For a profile: with the line of the source, or else of the PTX. */
static void observe_name(const struct player_call *c, const struct itrace_inst *inst,
                         uint32_t number)
{
    const struct ptx_module *m = c->call.code->module;
    const struct ptx_function *f = ptx_function_of(m, number);
    const struct ptx_instruction *instruction = &f->instructions[number - f->first_instruction];
    char place[160];
    if (instruction->line)
        ptx_place(m, instruction, place, sizeof place);
    else
        snprintf(place, sizeof place, "PTX:%u", instruction->ptx_line);
    account_name(c->player, c->kernel, inst, place);
}

static void observe_decode(struct player_call *c, const struct warp_step *step)
{
    uint32_t id = step->instruction % TRACE_INSTS_MAX;
    if (c->decoded[id / 64] >> id % 64 & 1)
        return;
    const struct itrace_inst inst = observe_describe(c->call.code, step);
    struct trace_inst *to = &arena_at(struct trace_inst, c->kernel->insts_at)[id];
    *to = trace_writer_decode(&inst);
    trace_async_decode(&inst, to);
    c->player->io.stats.unknown += !inst.known;
    if (c->trace)
        c->insts[id] = inst;
    observe_name(c, &inst, step->instruction);
    c->decoded[id / 64] |= (uint64_t)1 << id % 64;
    if (inst.opcode.unit == SASS_CLASS_EXIT)
        c->exits[id / 64] |= (uint64_t)1 << id % 64;
}

/* ---- executed instructions ---- */

static enum trace_space observe_space(const struct warp_step *step)
{
    switch ((enum ptx_space)step->space) {
    case PTX_SPACE_SHARED:
        return TRACE_SHARED;
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
        return TRACE_LOCAL;
    default:
        return TRACE_GLOBAL;
    }
}

/* The addresses of active lanes; a stride where they have one. Those in shared memory of other
 * blocks of a cluster are taken as the block's own. */
static void observe_addresses(const struct warp_step *step, struct itrace_step *to)
{
    uint64_t keep = step->space == PTX_SPACE_SHARED ? WARP_RANK_OFFSET : UINT64_MAX;
    for (uint32_t rest = step->active; rest; rest &= rest - 1)
        to->address[to->count++] = step->addresses[__builtin_ctz(rest)] & keep;
    to->mode = ITRACE_MODE_STRIDE;
    to->stride = to->count > 1 ? (int64_t)(to->address[1] - to->address[0]) : (int64_t)step->bytes;
    for (unsigned i = 2; i < to->count; i++)
        if ((int64_t)(to->address[i] - to->address[i - 1]) != to->stride)
            to->mode = ITRACE_MODE_LIST;
}

static void warp_reserve(struct player_warp *w, size_t words)
{
    grow_list(w->words, w->word_count + words, w->capacity, "the instructions of a block");
}

static uint32_t lanes_of(const struct player_call *c, uint32_t warp)
{
    const uint32_t *size = c->call.launch.block;
    uint32_t lanes = size[0] * size[1] * size[2] - 32 * warp;
    return lanes < 32 ? (1u << lanes) - 1 : UINT32_MAX;
}

/* When the last lanes have come to the barrier or ended, it is over for the warp. */
static void lanes_end_barrier(struct player_call *c, uint32_t warp)
{
    struct player_lanes *l = &c->lanes[warp];
    if (l->arrived && !(lanes_of(c, warp) & ~(l->arrived | l->exited)))
        l->arrived = 0;
}

/* An SM counts warps at barriers and no lanes, so the first lanes of a warp that come to one count
 * for all of them. */
static bool lanes_arrive(struct player_call *c, const struct warp_step *step)
{
    struct player_lanes *l = &c->lanes[step->warp];
    bool first = !l->arrived;
    l->arrived |= step->active;
    lanes_end_barrier(c, step->warp);
    return first;
}

static void watch_access(struct player_watch *w, const struct trace_inst *inst,
                         const struct warp_step *step, uint32_t warps)
{
    if (!step->active || step->space != PTX_SPACE_GLOBAL)
        return;
    if (inst->kind == TRACE_STORE) {
        w->stores++;
        return;
    }
    uint64_t address = step->addresses[__builtin_ctz(step->active)];
    uint64_t key =
        hash_multiply(address ^ hash_multiply((uint64_t)step->instruction << 32 | step->warp));
    uint32_t place = (uint32_t)(key >> 32) % WATCH_PLACES;
    w->loads++;
    w->fresh += w->key[place] != key || w->now - w->piece[place] > 2 * warps;
    w->key[place] = key;
    w->piece[place] = w->now;
}

static bool watch_waits(struct player_watch *w)
{
    bool waits = w->loads && !w->fresh && !w->stores;
    w->loads = w->fresh = w->stores = 0;
    w->now++;
    return waits;
}

static void observe_step(void *context, const struct warp_step *step)
{
    struct player_call *c = context;
    struct player_warp *w = &c->warp[step->warp];
    if (unlikely(c->is_checked))
        ptx_checks_step(&c->call, step);
    observe_decode(c, step);
    const uint32_t id = step->instruction % TRACE_INSTS_MAX;
    const struct trace_inst *inst = &arena_at(struct trace_inst, c->kernel->insts_at)[id];
    struct itrace_step s; /* without its addresses, which only accesses have */
    s.mask = step->active;
    s.mode = ITRACE_MODE_NONE;
    s.count = 0;
    if (c->exits[id / 64] >> id % 64 & 1)
        c->lanes[step->warp].exited |= step->active;
    if (inst->kind == TRACE_BARRIER && !lanes_arrive(c, step))
        return;
    if (trace_has_phase(inst->kind)) {
        warp_reserve(w, TRACE_RECORD);
        unsigned size = mbarrier_record(c, w->words + w->word_count, inst->kind, step);
        w->word_count += size;
        w->count += size != 0;
        return;
    }
    enum trace_space space = TRACE_NOWHERE;
    if (inst->unit == TRACE_MEMORY) {
        space = observe_space(step);
        if (step->addresses) {
            observe_addresses(step, &s);
            watch_access(&c->watch, inst, step, c->kernel->block.threads / 32);
        }
    } else if (c->kernel->way == SAMPLING_MEMORY_ONLY && inst->kind == TRACE_COMPUTE) {
        return;
    }
    warp_reserve(w, TRACE_RECORD);
    w->word_count += trace_writer_record(w->words + w->word_count, id, &s, space);
    w->count++;
    lanes_end_barrier(c, step->warp);
}
