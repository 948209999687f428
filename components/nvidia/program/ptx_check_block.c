/* Finds and keeps the blocks under way in a table with open addressing, and follows the barriers of
 * their warps. */
#include "ptx_check_block.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

#include "ptx_internal.h"

struct live_block {
    uint64_t launch, number;
    struct ptx_check_block *block;
};

static struct hash_table live_blocks;
static const struct hash_kind live_kind = HASH_KIND(struct live_block, number, PTX_PROGRAM);

/* ---- reports ---- */

static uint64_t pc_of(const struct check_identity *identity, uint32_t number)
{
    const struct ptx_code *code = identity->code;
    return warp_instruction_address(code->code, number);
}

static void describe_instruction(const struct check_identity *identity, uint32_t number,
                                 struct finding_place *place)
{
    const struct ptx_code *code = identity->code;
    const struct ptx_function *f = ptx_function_of(code->module, number);
    const struct ptx_instruction *inst = &f->instructions[number - f->first_instruction];
    ptx_instruction_name(inst, place->text, sizeof place->text);
    ptx_place(code->module, inst, place->source, sizeof place->source);
    const char *slash = strrchr(place->source, '/');
    if (slash)
        memmove(place->source, slash + 1, strlen(slash));
}

static const char *constant_at(const struct check_identity *identity, uint64_t address)
{
    const struct ptx_code *code = identity->code;
    const struct ptx_module *m = code->module;
    for (uint32_t i = 0; i < m->variable_count; i++)
        if (m->variables[i].space == PTX_SPACE_CONST
            && address - code->address - m->variables[i].offset < m->variables[i].bytes)
            return m->variables[i].name;
    return NULL;
}

static const struct check_executor warps = {
    .pc = pc_of, .describe = describe_instruction, .constant = constant_at};

struct check_identity ptx_identity(const struct ptx_call *c, uint64_t block)
{
    const struct warp_launch *l = &c->launch;
    struct check_identity identity = {.executor = &warps,
                                      .program = c->view.program,
                                      .code = c->code,
                                      .kernel = l->title ? l->title : l->kernel->name,
                                      .launch = l->number,
                                      .gpu = c->gpu,
                                      .pid = c->view.pid};
    warp_block_place(l, block, identity.group);
    return identity;
}

/* An instruction of a warp, without a lane. */
static struct check_place place_of(const struct ptx_check_block *b, uint32_t warp,
                                   uint32_t instruction)
{
    return (struct check_place){&b->identity, warp, instruction, FINDING_LANE_NONE};
}

static void report_pair(enum finding_kind kind, struct check_place first, struct check_place second)
{
    struct finding f;
    if (finding_is_wanted(FINDING_CHECK_BARRIERS) && check_found(kind, &first, &second, &f))
        finding_report(&f);
}

/* ---- blocks ---- */

static struct ptx_check_block *block_begin(const struct ptx_call *c, uint64_t number,
                                           uint32_t command)
{
    const struct warp_launch *l = &c->launch;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    struct ptx_check_block *b = grow_memory(NULL, sizeof *b, PTX_PROGRAM);
    *b = (struct ptx_check_block){.identity = ptx_identity(c, number),
                                  .call = c,
                                  .number = number,
                                  .cluster_blocks = (uint32_t)warp_cluster_blocks(l)};
    b->group = race_group(command, &b->identity);
    for (uint32_t w = 0; w < RACE_GROUP && w * WARP_LANES < threads; w++) {
        uint32_t left = threads - w * WARP_LANES;
        b->alive[w] = left >= WARP_LANES ? UINT32_MAX : (1u << left) - 1;
        race_wave_begin(&b->wave[w], b->group, w);
    }
    if (l->kernel->shared_bytes + l->dynamic_shared)
        race_clear_flat(&b->shared, l->kernel->shared_bytes + l->dynamic_shared);
    return b;
}

struct ptx_check_block *ptx_check_block(const struct ptx_call *c, uint64_t number, uint32_t command)
{
    const uint64_t key[] = {c->launch.number, number};
    struct live_block *live = hash_table_add(&live_blocks, &live_kind, key);
    if (!live->block)
        live->block = block_begin(c, number, command);
    return live->block;
}

static void block_end(struct ptx_check_block *b)
{
    for (uint32_t w = 0; w < RACE_GROUP; w++)
        race_wave_end(&b->wave[w]);
    race_release_memory(&b->shared);
    const uint64_t key[] = {b->identity.launch, b->number};
    hash_table_remove(&live_blocks, &live_kind, hash_table_find(&live_blocks, &live_kind, key));
    free(b);
}

void ptx_check_exit(struct ptx_check_block *b, const struct warp_step *s)
{
    uint32_t alive = 0, warp = s->warp, lanes = s->active;
    const struct ptx_at_barrier *at = &b->barrier[warp];
    if (at->passed_lanes & lanes && at->waiting_lanes & ~lanes) {
        struct check_place passed = place_of(b, warp, at->passed_instruction);
        passed.lane = (uint32_t)__builtin_ctz(at->passed_lanes & lanes);
        report_pair(FINDING_DIVERGENT_BARRIER, place_of(b, warp, at->instruction), passed);
    }
    b->alive[warp] &= ~lanes;
    for (uint32_t w = 0; w < RACE_GROUP; w++)
        alive |= b->alive[w];
    if (alive)
        return;
    ptx_races_end(b, s);
    block_end(b);
}

/* ---- barriers ---- */

static uint32_t number_of(const struct ptx_instruction *inst)
{
    const struct ptx_operand *number = inst->operand_count ? &inst->operands[0] : NULL;
    return number && number->kind == PTX_OPERAND_INTEGER ? number->bits % PTX_BARRIERS : 0;
}

static bool is_whole(const struct ptx_instruction *inst)
{
    bool counts = inst->operand_count > 1 && inst->operands[1].kind != PTX_OPERAND_NONE;
    return !ptx_has(inst, PTX_MOD_ARRIVE) && !counts && number_of(inst) == 0;
}

/* True if all lanes that the warp still has have come. */
static bool has_come(const struct ptx_check_block *b, uint32_t warp)
{
    return b->barrier[warp].waiting_lanes && !(b->alive[warp] & ~b->barrier[warp].waiting_lanes);
}

void ptx_check_arrive(struct ptx_check_block *b, const struct warp_step *s,
                      const struct ptx_instruction *inst)
{
    struct ptx_at_barrier *at = &b->barrier[s->warp];
    if (at->waiting_lanes && at->is_whole && at->instruction != s->instruction && is_whole(inst))
        report_pair(FINDING_DIVERGENT_BARRIER, place_of(b, s->warp, at->instruction),
                    place_of(b, s->warp, s->instruction));
    if (!at->waiting_lanes)
        *at = (struct ptx_at_barrier){
            .number = number_of(inst), .instruction = s->instruction, .is_whole = is_whole(inst)};
    at->waiting_lanes |= s->active;
    if (ptx_has(inst, PTX_MOD_ARRIVE) && has_come(b, s->warp)) {
        b->arrived[at->number] |= 1u << s->warp;
        at->waiting_lanes = 0; /* the warp continues */
    }
}

/* A warp that waited continues: all that had come to its barrier are together. */
static void barrier_over(struct ptx_check_block *b, uint32_t warp)
{
    struct race_wave *come[RACE_GROUP];
    const struct ptx_at_barrier own = b->barrier[warp];
    uint32_t count = 0;
    for (uint32_t w = 0; w < RACE_GROUP; w++) {
        struct ptx_at_barrier *at = &b->barrier[w];
        bool waited = has_come(b, w) && at->number == own.number;
        if (!waited && !(b->arrived[own.number] >> w & 1))
            continue;
        if (waited && own.is_whole && at->is_whole && at->instruction != own.instruction)
            report_pair(FINDING_DIFFERENT_BARRIERS, place_of(b, warp, own.instruction),
                        place_of(b, w, at->instruction));
        come[count++] = &b->wave[w];
        if (waited)
            at->waiting_lanes = 0;
    }
    b->arrived[own.number] = 0;
    race_join(come, count);
}

/* Lanes that have not come pass the barrier's place. It counts when they end so: the text after a
 * barrier may also be executed before it. */
void ptx_check_pass_barrier(struct ptx_check_block *b, const struct warp_step *s, bool accesses)
{
    struct ptx_at_barrier *at = &b->barrier[s->warp];
    if (has_come(b, s->warp)) {
        barrier_over(b, s->warp);
    } else if (at->waiting_lanes && at->is_whole && accesses && s->instruction > at->instruction
               && !at->passed_lanes) {
        at->passed_lanes = s->active & ~at->waiting_lanes;
        at->passed_instruction = s->instruction;
    }
}
