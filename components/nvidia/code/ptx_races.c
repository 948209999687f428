/* See ptx_races.h. The order is that of PTX's memory consistency model ("PTX ISA", Memory
 * Consistency Model): fences, the orders and scopes that instructions are written with, barriers.
 * Lanes of a warp are taken for ordered among themselves. Bulk and asynchronous copies, matrix
 * loads and the arrival of transactions at barriers are not looked at. */
#include "ptx_races.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/checks/check_commands.h"
#include "components/checks/finding.h"
#include "components/checks/race_shadow.h"
#include "components/nvidia/ptx/ptx.h"
#include "components/protocols/page_table/program_table.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/hash.h"

enum { FEW = 8, LANE_BITS = 5, GPUS = 1024, NO_BARRIER = 0 };

struct block {
    uint64_t launch, number; /* the block's; launch 0: the entry is free */
    uint32_t group;          /* race_group_begin() */
    uint32_t alive[RACE_GROUP], waiting[RACE_GROUP];
    uint32_t barrier[RACE_GROUP]; /* 1 + number of the one that it waits at, or has arrived at */
    struct race_wave wave[RACE_GROUP];
    struct race_memory shared;
};

/* What reports need of a block that may be over. */
struct past {
    const struct ptx_code *code;
    const struct program_table *program;
    uint64_t launch, number;
    uint32_t grid[3], gpu, pid;
    const char *title;
};

static struct block **blocks; /* those that live, by launch and number; open addressing */
static uint32_t block_room, block_count;
static struct past *pasts; /* by group */
static uint32_t past_room;
static struct race_memory memory;
static uint32_t begun[GPUS];

static struct {
    const struct past *past;
    const struct warp_step *step;
    enum finding_space space;
} now;

static void *grown(void *old, uint64_t count, size_t size)
{
    void *larger = realloc(old, count * size);
    if (!larger)
        die("out of memory for the check of races");
    return larger;
}

bool ptx_races_begin(const struct ptx_call *call, const struct ptx_order *order)
{
    (void)call;
    if (!finding_wanted(FINDING_CHECK_RACES))
        return false;
    begun[order->gpu % GPUS]++;
    return true;
}

/* ---- reports ---- */

static void place_of(race_id id, uint32_t site, struct finding_place *place)
{
    const struct past *p = &pasts[id >> RACE_GROUP_BITS];
    const struct ptx_module *module = p->code->module;
    uint32_t number = site >> LANE_BITS, function = 0;
    while (function + 1 < module->function_count
           && number >= module->functions[function].first_instruction
                            + module->functions[function].instruction_count)
        function++;
    const struct ptx_function *f = &module->functions[function];
    const struct ptx_instruction *inst = &f->instructions[number - f->first_instruction];
    *place = (struct finding_place){.pc = warp_instruction_address(p->code->code, number),
                                    .launch = p->launch,
                                    .gpu = p->gpu,
                                    .wavefront = id % RACE_GROUP,
                                    .lane = site % (1 << LANE_BITS)};
    place->group[0] = (uint32_t)(p->number % p->grid[0]);
    place->group[1] = (uint32_t)(p->number / p->grid[0] % p->grid[1]);
    place->group[2] = (uint32_t)(p->number / p->grid[0] / p->grid[1]);
    snprintf(place->kernel, sizeof place->kernel, "%s", p->title);
    ptx_instruction_name(inst, place->text, sizeof place->text);
    ptx_place(module, inst, place->source, sizeof place->source);
    const char *slash = strrchr(place->source, '/');
    if (slash)
        memmove(place->source, slash + 1, strlen(slash));
}

static void found(const struct race_event *e, const struct race_access *earlier, enum race_use use)
{
    (void)use;
    struct finding f = {.places = 2, .space = now.space};
    if (e->use & RACE_WRITE && race_heard_before(e->wave, earlier->id, earlier->clock))
        return;
    f.kind = race_command_of(earlier->id) == e->wave->command ? FINDING_RACE : FINDING_LAUNCH_RACE;
    place_of(earlier->id, earlier->site, &f.place[0]);
    place_of(e->wave->id, e->site, &f.place[1]);
    f.address = now.space == FINDING_GLOBAL ? e->address & (((uint64_t)1 << 48) - 1) : e->address;
    if (now.space == FINDING_GLOBAL)
        program_describe(now.past->program, f.address, f.memory, sizeof f.memory);
    finding_report(&f);
}

/* ---- blocks ---- */

static struct block **slot_of(uint64_t launch, uint64_t number)
{
    uint64_t key = hash_multiply(hash_multiply(launch) ^ number);
    uint32_t slot = (uint32_t)(key >> 32) & (block_room - 1);
    while (blocks[slot] && (blocks[slot]->launch != launch || blocks[slot]->number != number))
        slot = (slot + 1) & (block_room - 1);
    return &blocks[slot];
}

static void table_rebuild(uint32_t room)
{
    struct block **old = blocks;
    uint32_t before = block_room;
    block_room = room;
    blocks = grown(NULL, room, sizeof(struct block *));
    memset(blocks, 0, room * sizeof(struct block *));
    for (uint32_t i = 0; i < before; i++) {
        if (old[i])
            *slot_of(old[i]->launch, old[i]->number) = old[i];
    }
    free(old);
}

static struct block *block_begin(const struct ptx_call *c, uint64_t number)
{
    const struct warp_launch *l = &c->launch;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    struct block *b = grown(NULL, 1, sizeof *b);
    *b = (struct block){.launch = l->number, .number = number};
    b->group = race_group_begin(check_command_of(c->gpu, begun[c->gpu % GPUS] - 1));
    if (b->group >= past_room) {
        past_room = 2 * (b->group + 64);
        pasts = grown(pasts, past_room, sizeof *pasts);
    }
    pasts[b->group] = (struct past){.code = c->code,
                                    .program = c->view.program,
                                    .launch = l->number,
                                    .number = number,
                                    .grid = {l->grid[0], l->grid[1], l->grid[2]},
                                    .gpu = c->gpu,
                                    .pid = c->view.pid,
                                    .title = l->title ? l->title : l->kernel->name};
    for (uint32_t w = 0; w < RACE_GROUP && w * WARP_LANES < threads; w++) {
        uint32_t left = threads - w * WARP_LANES;
        b->alive[w] = left >= WARP_LANES ? UINT32_MAX : (1u << left) - 1;
        race_wave_begin(&b->wave[w], b->group, w);
    }
    if (l->kernel->shared_bytes + l->dynamic_shared)
        race_clear_flat(&b->shared, l->kernel->shared_bytes + l->dynamic_shared);
    return b;
}

static struct block *block_of(const struct ptx_call *c, uint64_t number)
{
    if (4 * (block_count + 1) > 3 * block_room)
        table_rebuild(block_room ? 2 * block_room : 1024);
    struct block **at = slot_of(c->launch.number, number);
    if (!*at) {
        *at = block_begin(c, number);
        block_count++;
    }
    return *at;
}

static void block_end(struct block *b)
{
    for (uint32_t w = 0; w < RACE_GROUP; w++)
        race_wave_end(&b->wave[w]);
    race_release_memory(&b->shared);
    *slot_of(b->launch, b->number) = NULL;
    block_count--;
    free(b);
    table_rebuild(block_room); /* what stands behind the gap is found again */
}

static void lanes_exit(struct block *b, uint32_t warp, uint32_t lanes)
{
    uint32_t alive = 0;
    b->alive[warp] &= ~lanes;
    for (uint32_t w = 0; w < RACE_GROUP; w++)
        alive |= b->alive[w];
    if (!alive)
        block_end(b);
}

/* ---- barriers ---- */

/* A warp that waited goes on: all that had come to its barrier are together. */
static void barrier_over(struct block *b, uint32_t warp)
{
    struct race_wave *come[RACE_GROUP];
    uint32_t count = 0, barrier = b->barrier[warp];
    for (uint32_t w = 0; w < RACE_GROUP; w++) {
        if (b->barrier[w] != barrier)
            continue;
        come[count++] = &b->wave[w];
        b->barrier[w] = NO_BARRIER;
        b->waiting[w] = 0;
    }
    race_join(come, count);
}

static void barrier_arrive(struct block *b, uint32_t warp, const struct ptx_instruction *inst,
                           uint32_t lanes)
{
    const struct ptx_operand *number = inst->operand_count ? &inst->operands[0] : NULL;
    uint32_t at = number && number->kind == PTX_OPERAND_INTEGER ? (uint32_t)number->bits : 0;
    b->waiting[warp] |= lanes;
    if ((b->waiting[warp] & b->alive[warp]) == b->alive[warp])
        b->barrier[warp] = at + 1;
}

/* ---- accesses ---- */

static bool is_near(const struct ptx_instruction *inst)
{
    return ptx_has(inst, PTX_MOD_CTA);
}

static enum race_use use_of(const struct ptx_instruction *inst)
{
    bool strong = ptx_has(inst, PTX_MOD_VOLATILE) || ptx_has(inst, PTX_MOD_RELAXED)
                  || ptx_has(inst, PTX_MOD_ACQUIRE) || ptx_has(inst, PTX_MOD_RELEASE)
                  || ptx_has(inst, PTX_MOD_MMIO);
    switch (inst->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        return strong ? RACE_ATOMIC_READ : RACE_READ;
    case PTX_OP_ST:
        return strong ? RACE_ATOMIC_WRITE : RACE_WRITE;
    default:
        return ptx_has(inst, PTX_MOD_CAS) ? RACE_COMPARE : RACE_ATOMIC_WRITE;
    }
}

/* Orders by what the atomics at few places say. */
static void synchronise(struct race_wave *w, const struct ptx_instruction *inst,
                        const struct warp_step *s, uint64_t base)
{
    uint64_t place[FEW];
    unsigned count = 0;
    bool reads = inst->opcode != PTX_OP_ST && inst->opcode != PTX_OP_RED;
    bool writes = inst->opcode != PTX_OP_LD && inst->opcode != PTX_OP_LDU;
    for (uint32_t rest = s->active; rest; rest &= rest - 1) {
        uint64_t at = base + s->addresses[__builtin_ctz(rest)];
        unsigned i = 0;
        while (i < count && place[i] != at)
            i++;
        if (i == count && count == FEW)
            return;
        place[i] = at;
        count += i == count;
    }
    bool acquires = ptx_has(inst, PTX_MOD_ACQUIRE) || ptx_has(inst, PTX_MOD_ACQ_REL);
    bool releases = ptx_has(inst, PTX_MOD_RELEASE) || ptx_has(inst, PTX_MOD_ACQ_REL);
    if (releases && !is_near(inst))
        race_fence(w);
    for (unsigned i = 0; i < count; i++) {
        if (reads)
            race_hear(w, place[i]);
        if (writes)
            race_release(w, place[i], reads || inst->opcode == PTX_OP_RED);
    }
    if (acquires)
        race_acquire(w, is_near(inst));
}

static void access_memory(struct block *b, const struct ptx_instruction *inst,
                          const struct warp_step *s)
{
    bool shared = s->space == PTX_SPACE_SHARED;
    uint64_t base = shared ? 0 : (uint64_t)now.past->pid << 48, last = UINT64_MAX;
    struct race_event e = {.wave = &b->wave[s->warp], .bytes = s->bytes, .use = use_of(inst),
                           .found = found};
    if (!shared && s->space != PTX_SPACE_GLOBAL)
        return;
    now.space = shared ? FINDING_LDS : FINDING_GLOBAL;
    for (uint32_t rest = s->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (s->addresses[lane] == last) /* a broadcast */
            continue;
        last = s->addresses[lane];
        e.address = base + last;
        e.site = s->instruction << LANE_BITS | lane;
        race_touch(shared ? &b->shared : &memory, &e);
    }
    if (e.use & RACE_ATOMIC_READ)
        synchronise(&b->wave[s->warp], inst, s,
                    shared ? (uint64_t)1 << 63 | (uint64_t)b->group << 20 : base);
}

static void fence(struct race_wave *w, const struct ptx_instruction *inst)
{
    bool near = is_near(inst);
    if (!near)
        race_fence(w);
    race_acquire(w, near);
}

void ptx_races_step(void *call, const struct warp_step *s)
{
    const struct ptx_call *c = call;
    struct block *b = block_of(c, s->block);
    const struct ptx_module *module = c->code->module;
    const struct ptx_function *f = module->functions;
    while (s->instruction >= f->first_instruction + f->instruction_count)
        f++;
    const struct ptx_instruction *inst = &f->instructions[s->instruction - f->first_instruction];
    now.past = &pasts[b->group];
    now.step = s;
    if (b->barrier[s->warp] && b->waiting[s->warp])
        barrier_over(b, s->warp);
    switch (inst->opcode) {
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        barrier_arrive(b, s->warp, inst, s->active);
        if (ptx_has(inst, PTX_MOD_ARRIVE))
            b->waiting[s->warp] = 0; /* it goes on */
        break;
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
        fence(&b->wave[s->warp], inst);
        break;
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        if (s->addresses && s->active)
            access_memory(b, inst, s);
        break;
    case PTX_OP_EXIT:
        lanes_exit(b, s->warp, s->active);
        break;
    case PTX_OP_RET:
        if (f->is_entry)
            lanes_exit(b, s->warp, s->active);
        break;
    default:
        break;
    }
}
