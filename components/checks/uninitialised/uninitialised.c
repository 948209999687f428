/* `--check uninitialised`: follows values that were never written through AMD's registers.
 *
 * A bit for each vector register and lane, and for each bit of a scalar register, says that its
 * value depends on something that was never written: device memory fresh from an allocation, LDS
 * and private memory of a work-group that begins, registers that a wavefront does not begin with.
 * Copying such a value is no mistake; a value that was computed from one and is stored is, and so
 * are addresses and conditions. A value of which a part is defined counts as defined, and so does
 * what moves between lanes, unless no lane that sends is defined: silence rather than a false
 * accusation. A reported value counts as defined from there on. */
#include "uninitialised.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/checks/check_code.h"
#include "components/amd/isa/isa.h"
#include "components/amd/isa/isa_uses.h"
#include "components/protocols/page_table/program_table.h"
#include "base/grow.h"
#include "base/number.h"
#include "components/checks/slot_array.h"
#include "undefined_memory.h"

enum { VECTORS = 1024, SCALARS = 128, CACHE = 1 << 12, ORIGINS = 1 << 12 };

/* Facts about an instruction, from the first time that it was seen. Its address alone does not tell
 * it: code is loaded where other code was, and processes have theirs at one address. */
struct facts {
    struct isa_inst inst;
    struct isa_use use[ISA_USES_MOST];
    uint8_t uses, effect; /* enum isa_effect */
    bool saves_exec, reads_scc;
};

/* Where something undefined was read. */
struct origin {
    uint64_t pc, address;
    struct isa_inst inst;
    enum finding_space space;
    bool used;
};

struct wave_state {
    uint64_t vector[VECTORS], computed[VECTORS]; /* lanes: undefined; and no copies of memory */
    uint32_t scalar[SCALARS];                    /* bits */
    uint16_t vector_origin[VECTORS], scalar_origin[SCALARS];
    bool scc, active; /* active: something in it is undefined that may be used */
    uint16_t scc_origin;
};

/* The private memory of a work-group. */
struct private_memory {
    uint64_t start, end;
    uint32_t bytes; /* of a wavefront */
};

static struct wave_state *waves;
static uint64_t wave_room;
static struct undefined_memory memory;
static struct undefined_memory *lds; /* by work-group */
static struct private_memory *privates;
static uint64_t lds_room, private_room;
static struct facts *cache;
static struct origin *origins;

static struct {
    const struct check_wave *wave;
    const struct observed_instruction *step;
    struct wave_state *state;
    const struct facts *facts;
} step_context;

static void open_check(void)
{
    cache = grow_checked(calloc(CACHE, sizeof *cache), "the check of uninitialised memory");
    origins = grow_checked(calloc(ORIGINS, sizeof *origins), "the check of uninitialised memory");
}

/* ---- instructions ---- */

static const struct facts *facts_of(const struct observed_instruction *s)
{
    struct facts *k = &cache[s->pc / 4 % CACHE];
    if (memcmp(&k->inst, s->inst, sizeof k->inst) == 0)
        return k;
    *k = (struct facts){.inst = *s->inst,
                        .effect = (uint8_t)isa_effect(s->inst),
                        .saves_exec = isa_saves_exec(s->inst),
                        .reads_scc = isa_reads_scc(s->inst)};
    k->uses = (uint8_t)isa_uses(s->inst, k->use);
    return k;
}

/* ---- reports ---- */

/* Dwords of a wavefront's lanes take turns in its scratch memory. */
static uint64_t private_byte(uint64_t address)
{
    const struct private_memory *p = &privates[step_context.wave->group];
    uint64_t at = (address - p->start) % (p->bytes ? p->bytes : 1);
    return at / (4 * ISA_LANES) * 4 + at % 4;
}

static uint16_t origin_of(uint64_t address, enum finding_space space)
{
    uint64_t at = space == FINDING_PRIVATE ? private_byte(address) : address;
    uint16_t slot = (uint16_t)(step_context.step->pc / 4 % (ORIGINS - 1) + 1);
    const struct origin *o = &origins[slot];
    if (!o->used || o->pc != step_context.step->pc
        || memcmp(&o->inst, step_context.step->inst, sizeof o->inst) != 0)
        origins[slot] =
            (struct origin){step_context.step->pc, at, *step_context.step->inst, space, true};
    return slot;
}

static void report_use(enum finding_kind kind, uint16_t from, unsigned lane)
{
    const struct origin *o = &origins[from];
    uint64_t first = from ? o->pc : 0;
    if (finding_seen(kind, step_context.step->pc, first))
        return;
    struct finding f = {.kind = kind, .places = from ? 2 : 1};
    check_place(step_context.wave, step_context.step->pc, step_context.step->inst, lane,
                &f.place[0]);
    if (from) {
        check_place(step_context.wave, o->pc, &o->inst, lane, &f.place[1]);
        check_address(step_context.wave, o->space, o->address, &f);
        snprintf(f.detail, sizeof f.detail, "the second place is where it was read");
    } else {
        snprintf(f.detail, sizeof f.detail, "it comes from a register that nothing has written");
    }
    finding_report(&f);
}

/* ---- operands ---- */

static bool is_scalar(const struct isa_use *u)
{
    return u->code < SCALARS;
}

static unsigned vector_at(const struct isa_use *u, unsigned i)
{
    return (isa_register(step_context.step->context, u->code) + i) % VECTORS;
}

static bool is_implied_exec(const struct isa_use *u)
{
    return u->code == ISA_EXEC && u->place == ISA_USE_IMPLIED;
}

/* A pair of scalar registers that holds a bit for each lane. */
static bool is_mask(const struct isa_use *u)
{
    return u->dwords == 2 && step_context.step->inst->unit == ISA_UNIT_VALU
           && (u->place == ISA_USE_IMPLIED || u->place == ISA_USE_SOURCE2);
}

struct sum {
    uint64_t lanes;    /* lanes that are undefined */
    uint64_t computed; /* undefined lanes that are no copies of memory */
    uint16_t from;
};

static uint64_t pair_of(const uint32_t *bits, unsigned code)
{
    return bits[code] | (code + 1 < SCALARS ? (uint64_t)bits[code + 1] << 32 : 0);
}

static void add_scalar(struct sum *sum, const struct isa_use *u)
{
    const struct wave_state *w = step_context.state;
    for (unsigned i = 0; i < u->dwords && u->code + i < SCALARS; i++) {
        if (!w->scalar[u->code + i])
            continue;
        sum->lanes |= is_mask(u) ? pair_of(w->scalar, u->code) : UINT64_MAX;
        sum->from = sum->from ? sum->from : w->scalar_origin[u->code + i];
    }
}

static void add_vector(struct sum *sum, const struct isa_use *u)
{
    const struct wave_state *w = step_context.state;
    for (unsigned i = 0; i < u->dwords; i++) {
        unsigned at = vector_at(u, i);
        if (!w->vector[at])
            continue;
        sum->lanes |= w->vector[at];
        sum->computed |= w->computed[at];
        sum->from = sum->from ? sum->from : w->vector_origin[at];
    }
}

static void add_use(struct sum *sum, const struct isa_use *u)
{
    if (is_scalar(u))
        add_scalar(sum, u);
    else
        add_vector(sum, u);
}

/* What all sources together leave undefined. */
static struct sum sources(void)
{
    struct sum sum = {0};
    const struct facts *k = step_context.facts;
    for (unsigned i = 0; i < k->uses; i++) {
        const struct isa_use *u = &k->use[i];
        if (!u->written && !is_implied_exec(u))
            add_use(&sum, u);
    }
    if (k->reads_scc && step_context.state->scc) {
        sum.lanes = UINT64_MAX;
        sum.from = sum.from ? sum.from : step_context.state->scc_origin;
    }
    return sum;
}

static void put_vector(const struct isa_use *u, unsigned i, uint64_t lanes, uint64_t undefined,
                       uint64_t computed, uint16_t from)
{
    struct wave_state *w = step_context.state;
    unsigned at = vector_at(u, i);
    w->vector[at] = (w->vector[at] & ~lanes) | (undefined & lanes);
    w->computed[at] = (w->computed[at] & ~lanes) | (computed & undefined & lanes);
    if (undefined & lanes)
        w->vector_origin[at] = from;
}

/* `bits` of the first register, those of the second above. */
static void put_scalar(const struct isa_use *u, uint64_t bits, uint16_t from)
{
    struct wave_state *w = step_context.state;
    if (u->code == ISA_EXEC && bits)
        report_use(FINDING_UNINITIALISED_BRANCH, from, FINDING_NO_LANE);
    if (u->code == ISA_EXEC)
        bits = 0;
    for (unsigned i = 0; i < u->dwords && u->code + i < SCALARS; i++) {
        w->scalar[u->code + i] = i < 2 ? (uint32_t)(bits >> 32 * i) : bits ? UINT32_MAX : 0;
        w->scalar_origin[u->code + i] = from;
    }
}

/* ---- scalar instructions ---- */

static uint64_t value_of(const struct isa_use *u)
{
    return pair_of(step_context.step->scalars->sgpr, u->code);
}

/* Undefined bits of AND and OR: undefined bits of an operand, unless a defined bit of the other
 * operand decides the result. */
static uint64_t decided(const struct isa_use *const source[2], unsigned count,
                        enum isa_effect effect)
{
    uint64_t undefined[2] = {0, 0}, value[2] = {0, 0}, all;
    bool by_ones = effect == ISA_ORS || effect == ISA_ORS_NOT;
    bool negates = effect == ISA_ANDS_NOT || effect == ISA_ORS_NOT;
    for (unsigned i = 0; i < count; i++) {
        undefined[i] = pair_of(step_context.state->scalar, source[i]->code);
        value[i] = by_ones != (negates && i == 1) ? ~value_of(source[i]) : value_of(source[i]);
    }
    all = undefined[0] | undefined[1];
    if (count < 2)
        return all;
    return all & (undefined[0] | value[0]) & (undefined[1] | value[1]);
}

static uint64_t scalar_result(const struct sum *sum, bool wide)
{
    const struct isa_use *source[2] = {NULL, NULL};
    const struct facts *k = step_context.facts;
    unsigned count = 0;
    for (unsigned i = 0; i < k->uses; i++) {
        const struct isa_use *u = &k->use[i];
        bool counts = !u->written && is_scalar(u)
                      && (u->place != ISA_USE_IMPLIED || (k->saves_exec && u->code == ISA_EXEC));
        if (counts && count < 2)
            source[count++] = u;
    }
    uint64_t bits = sum->lanes ? UINT64_MAX : 0;
    if (k->effect >= ISA_ANDS && k->effect <= ISA_ORS_NOT)
        bits = decided(source, count, (enum isa_effect)k->effect);
    else if (k->effect == ISA_XORS || k->effect == ISA_MOVES)
        bits = (count > 0 ? pair_of(step_context.state->scalar, source[0]->code) : 0)
               | (count > 1 ? pair_of(step_context.state->scalar, source[1]->code) : 0);
    else if (k->effect == ISA_INDEXES)
        bits = 0;
    return wide ? bits : (uint32_t)bits;
}

static void step_scalar_unit(void)
{
    const struct facts *k = step_context.facts;
    struct sum sum = sources();
    struct wave_state *w = step_context.state;
    bool branches = step_context.step->inst->unit == ISA_UNIT_BRANCH
                    || step_context.step->inst->flags & ISA_IS_BRANCH;
    if (branches && sum.lanes) {
        report_use(FINDING_UNINITIALISED_BRANCH, sum.from, FINDING_NO_LANE);
        w->scc = false;
        w->scalar[ISA_VCC] = w->scalar[ISA_VCC + 1] = 0;
    }
    for (unsigned i = 0; branches && i < k->uses; i++) /* the address to come back to */
        if (k->use[i].written && is_scalar(&k->use[i]))
            put_scalar(&k->use[i], 0, 0);
    if (branches)
        return;
    uint64_t bits[2] = {scalar_result(&sum, false), scalar_result(&sum, true)}, all = 0;
    for (unsigned i = 0; i < k->uses; i++) {
        const struct isa_use *u = &k->use[i];
        if (!u->written || !is_scalar(u))
            continue;
        bool saved = k->saves_exec && u->code != ISA_EXEC; /* the old EXEC, which is defined */
        put_scalar(u, saved ? 0 : bits[u->dwords > 1], sum.from);
        all |= saved ? 0 : bits[u->dwords > 1];
    }
    if (step_context.step->inst->flags & ISA_WRITES_SCC) {
        bool has_result = all != 0 || k->uses == 0;
        for (unsigned i = 0; i < k->uses; i++)
            has_result |= k->use[i].written;
        w->scc = has_result ? all != 0 : sum.lanes != 0;
        w->scc_origin = sum.from;
    }
}

/* ---- vector instructions ---- */

static void read_lane(const struct sum *sum)
{
    uint64_t exec = isa_wave_exec(step_context.step->scalars);
    bool first = step_context.facts->effect == ISA_READS_FIRST_LANE;
    uint64_t undefined = first && exec ? sum->lanes >> __builtin_ctzll(exec) & 1
                         : first       ? 0
                                       : sum->lanes == UINT64_MAX;
    for (unsigned i = 0; i < step_context.facts->uses; i++)
        if (step_context.facts->use[i].written && is_scalar(&step_context.facts->use[i]))
            put_scalar(&step_context.facts->use[i], undefined ? UINT64_MAX : 0, sum->from);
}

/* Each lane takes the operand that its bit of the mask chooses; the other one does not matter. */
static struct sum selected(void)
{
    struct sum sum = {0};
    uint64_t chosen = 0;
    for (unsigned i = 0; i < step_context.facts->uses; i++) {
        const struct isa_use *u = &step_context.facts->use[i];
        if (!u->written && is_mask(u) && !is_implied_exec(u))
            chosen = value_of(u);
    }
    for (unsigned i = 0; i < step_context.facts->uses; i++) {
        const struct isa_use *u = &step_context.facts->use[i];
        struct sum one = {0};
        if (u->written || is_implied_exec(u))
            continue;
        add_use(&one, u);
        uint64_t lanes = is_mask(u) ? UINT64_MAX : u->place == ISA_USE_SOURCE0 ? ~chosen : chosen;
        one.lanes &= lanes;
        sum.lanes |= one.lanes;
        sum.computed |= one.computed & lanes;
        sum.from = sum.from || !one.lanes ? sum.from : one.from;
    }
    return sum;
}

/* The dword that goes to the d-th one of the destination. */
static struct sum moved(unsigned d)
{
    bool pairs = step_context.facts->effect == ISA_MOVES_PAIRS;
    unsigned place = pairs ? ISA_USE_SOURCE0 + d : ISA_USE_SOURCE0;
    struct sum sum = {0};
    for (unsigned i = 0; i < step_context.facts->uses; i++) {
        struct isa_use u = step_context.facts->use[i];
        unsigned at = pairs ? step_context.step->inst->opsel >> d & 1 : d;
        if (u.written || u.place != place || at >= u.dwords)
            continue;
        u.code = (uint16_t)(u.code + at);
        u.dwords = 1;
        add_use(&sum, &u);
    }
    return sum;
}

static void move_dwords(void)
{
    uint64_t exec = isa_wave_exec(step_context.step->scalars);
    struct sum sum[2] = {moved(0), moved(1)}; /* before one is overwritten */
    for (unsigned i = 0; i < step_context.facts->uses; i++) {
        const struct isa_use *u = &step_context.facts->use[i];
        for (unsigned d = 0; u->written && d < u->dwords && d < 2; d++)
            put_vector(u, d, exec, sum[d].lanes, sum[d].computed, sum[d].from);
    }
}

static void step_vector_unit(void)
{
    const struct facts *k = step_context.facts;
    uint64_t exec = isa_wave_exec(step_context.step->scalars);
    if (k->effect == ISA_MOVES || k->effect == ISA_MOVES_PAIRS) {
        move_dwords();
        return;
    }
    struct sum sum = k->effect == ISA_SELECTS ? selected() : sources();
    if (k->effect == ISA_READS_LANE || k->effect == ISA_READS_FIRST_LANE) {
        read_lane(&sum);
        return;
    }
    bool one = k->effect == ISA_WRITES_LANE || k->effect == ISA_MULTIPLIES_MATRICES
               || k->effect == ISA_INDEXES;
    bool moves = k->effect == ISA_SELECTS;
    bool crosses = k->effect == ISA_CROSSES_LANES;
    uint64_t undefined = one ? 0 : crosses ? ((sum.lanes & exec) == exec ? exec : 0) : sum.lanes;
    for (unsigned i = 0; i < k->uses; i++) {
        const struct isa_use *u = &k->use[i];
        if (!u->written)
            continue;
        if (is_scalar(u))
            put_scalar(u, undefined & exec, sum.from);
        for (unsigned d = 0; !is_scalar(u) && d < u->dwords; d++)
            put_vector(u, d, one ? UINT64_MAX : exec, undefined, moves ? sum.computed : UINT64_MAX,
                       sum.from);
    }
}

/* ---- memory ---- */

/* True: an address is undefined, as is said now. */
static void check_addresses(uint64_t lanes)
{
    struct wave_state *w = step_context.state;
    for (unsigned i = 0; i < step_context.facts->uses; i++) {
        const struct isa_use *u = &step_context.facts->use[i];
        bool address =
            u->place == ISA_USE_SOURCE0 || u->place == ISA_USE_SCALAR || u->place == ISA_USE_OFFSET;
        struct sum sum = {0};
        if (u->written || !address)
            continue;
        add_use(&sum, u);
        if (!(sum.lanes & lanes))
            continue;
        report_use(FINDING_UNINITIALISED_ADDRESS, sum.from,
                   is_scalar(u) ? FINDING_NO_LANE : (unsigned)__builtin_ctzll(sum.lanes & lanes));
        for (unsigned d = 0; d < u->dwords; d++)
            if (is_scalar(u))
                w->scalar[(u->code + d) % SCALARS] = 0;
            else
                w->vector[vector_at(u, d)] = 0;
    }
}

struct access {
    struct undefined_memory *memory;
    enum finding_space space;
    const struct isa_memory *layout; /* NULL: bytes follow each other */
    const uint64_t *address;
    uint64_t lanes;
    uint32_t bytes;
};

static uint64_t byte_at(const struct access *a, unsigned lane, unsigned i)
{
    return a->layout ? isa_memory_byte(a->layout, lane, i) : a->address[lane] + i;
}

/* Lanes whose dword (or the part of it that is accessed) was never written. */
static uint64_t undefined_lanes(const struct access *a, unsigned dword, uint64_t *address)
{
    uint64_t lanes = 0, defined = UINT64_MAX; /* a page in which all is */
    uint32_t bytes = min(a->bytes - 4 * dword, 4);
    for (uint64_t rest = a->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t at = byte_at(a, lane, 4 * dword);
        uint64_t page = at >> UNDEFINED_PAGE_BITS;
        if (page == defined && (at + bytes - 1) >> UNDEFINED_PAGE_BITS == page)
            continue;
        defined = undefined_is_page_defined(a->memory, at) ? page : UINT64_MAX;
        if (!undefined_is(a->memory, at, bytes))
            continue;
        *address = lanes ? *address : at;
        lanes |= (uint64_t)1 << lane;
    }
    return lanes;
}

static void load_undefined(const struct access *a, const struct isa_use *to, unsigned first)
{
    uint64_t exec = isa_wave_exec(step_context.step->scalars), address = 0;
    for (unsigned d = 0; d < divide_up(a->bytes, 4); d++) {
        uint64_t undefined = undefined_lanes(a, d, &address);
        uint16_t from = undefined ? origin_of(address, a->space) : 0;
        put_vector(to, first + d, exec, undefined, 0, from);
    }
}

static void store_undefined(const struct access *a, const struct isa_use *data)
{
    struct wave_state *w = step_context.state;
    for (unsigned d = 0; d < divide_up(a->bytes, 4); d++) {
        unsigned at = data ? vector_at(data, d) : 0;
        uint64_t undefined = data ? w->vector[at] & a->lanes : 0;
        uint64_t wrong = data && a->space == FINDING_GLOBAL ? undefined & w->computed[at] : 0;
        if (wrong) {
            report_use(FINDING_UNINITIALISED_STORE, w->vector_origin[at],
                       (unsigned)__builtin_ctzll(wrong));
            w->vector[at] = undefined = 0;
        }
        for (uint64_t rest = a->lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            uint64_t address = byte_at(a, lane, 4 * d);
            bool is = undefined >> lane & 1;
            uint32_t bytes = min(a->bytes - 4 * d, 4);
            if (is || !undefined_is_page_defined(a->memory, address))
                undefined_set(a->memory, address, bytes, is);
        }
    }
}

/* Memory that is updated is read. */
static void update_memory(const struct access *a)
{
    uint64_t address = 0;
    for (unsigned d = 0; d < divide_up(a->bytes, 4); d++) {
        uint64_t undefined = undefined_lanes(a, d, &address);
        if (undefined)
            report_use(FINDING_UNINITIALISED_STORE, origin_of(address, a->space),
                       (unsigned)__builtin_ctzll(undefined));
    }
    store_undefined(a, NULL);
}

static const struct isa_use *use_at(enum isa_use_place place, bool written)
{
    for (unsigned i = 0; i < step_context.facts->uses; i++) {
        const struct isa_use *u = &step_context.facts->use[i];
        if (u->place == place && u->written == written && isa_use_is_vector(u))
            return u;
    }
    return NULL;
}

static void access_memory(enum isa_memory_kind kind, const struct access *a, unsigned which,
                          bool overwrites)
{
    const struct isa_use *to = use_at(ISA_USE_DESTINATION, true);
    const struct isa_use *data = use_at(ISA_USE_SOURCE1 + which, false);
    if (!a->lanes)
        return;
    if (kind == ISA_MEMORY_LOAD && to)
        load_undefined(a, to, which * divide_up(a->bytes, 4));
    else if (kind == ISA_MEMORY_STORE)
        store_undefined(a, data);
    else if (kind == ISA_MEMORY_ATOMIC && overwrites)
        store_undefined(a, data);
    else if (kind == ISA_MEMORY_ATOMIC)
        update_memory(a);
    for (unsigned d = 0; kind == ISA_MEMORY_ATOMIC && to && d < to->dwords; d++)
        put_vector(to, d, a->lanes, 0, 0, 0);
}

/* Lanes do not mix private and other memory but by flat pointers. */
static bool is_private(const struct isa_memory *m)
{
    const struct private_memory *p = &privates[step_context.wave->group];
    uint64_t at = m->mask ? m->address[__builtin_ctzll(m->mask)] : 0;
    return at >= p->start && at < p->end;
}

static void step_vector_memory(void)
{
    const struct isa_memory *m = step_context.step->memory;
    uint64_t exec = isa_wave_exec(step_context.step->scalars);
    const struct isa_use *to = use_at(ISA_USE_DESTINATION, true);
    if (m->kind == ISA_MEMORY_CACHE_OP)
        return;
    check_addresses(exec);
    for (unsigned d = 0; m->kind == ISA_MEMORY_LOAD && to && d < to->dwords; d++)
        put_vector(to, d, exec, 0, 0, 0); /* also of lanes that are out of a buffer */
    if (m->unusual)
        return;
    struct access a = {&memory, FINDING_GLOBAL, m, m->address, m->mask, m->bytes};
    if (m->swizzle_mask || is_private(m))
        a.space = FINDING_PRIVATE;
    access_memory(m->kind, &a, 0, m->atomic == ISA_ATOMIC_SWAP);
    a = (struct access){
        &lds[step_context.wave->group], FINDING_LDS, NULL, m->address, m->lds_mask, m->bytes};
    if (a.lanes && m->kind != ISA_MEMORY_LOAD)
        access_memory(m->kind, &a, 0, m->atomic == ISA_ATOMIC_SWAP);
}

static void step_lds(void)
{
    const struct observed_instruction *s = step_context.step;
    struct isa_lds_access local;
    uint64_t address[ISA_LANES];
    if (!isa_lds_access_describe(s->inst, &local)) {
        step_vector_unit();
        return;
    }
    check_addresses(s->mask);
    const uint32_t *held =
        s->context->vgpr + (size_t)isa_register(s->context, s->inst->src[0]) * ISA_LANES;
    for (unsigned i = 0; i < local.count; i++) {
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            address[lane] = held[lane] + local.offset[i];
        const struct access a = {
            &lds[step_context.wave->group], FINDING_LDS, NULL, address, s->mask, local.bytes};
        access_memory(local.kind, &a, i, local.atomic == ISA_ATOMIC_SWAP);
    }
}

static void step_scalar_memory(void)
{
    const struct isa_scalar *a = step_context.step->scalar;
    struct wave_state *w = step_context.state;
    check_addresses(UINT64_MAX);
    for (unsigned i = 0; i < step_context.facts->uses; i++) {
        const struct isa_use *u = &step_context.facts->use[i];
        for (unsigned d = 0; u->written && is_scalar(u) && d < u->dwords; d++) {
            uint64_t at = a->address + 4 * d;
            bool undefined =
                a->kind == ISA_SCALAR_LOAD && d < a->valid && undefined_is(&memory, at, 4);
            w->scalar[(u->code + d) % SCALARS] = undefined ? UINT32_MAX : 0;
            if (undefined)
                w->scalar_origin[(u->code + d) % SCALARS] = origin_of(at, FINDING_GLOBAL);
        }
    }
    if (step_context.step->address && a->kind != ISA_SCALAR_LOAD)
        undefined_set(&memory, a->address, 4u * a->valid, false);
}

/* ---- the check ---- */

static void step_undefined(const struct check_wave *wave, const struct observed_instruction *s)
{
    if (!s->inst)
        return;
    step_context.wave = wave;
    step_context.step = s;
    step_context.state = &waves[wave->slot];
    step_context.facts = facts_of(s);
    switch (s->inst->unit) {
    case ISA_UNIT_VMEM:
        if (s->memory)
            step_vector_memory();
        break;
    case ISA_UNIT_SMEM:
        if (s->scalar)
            step_scalar_memory();
        break;
    case ISA_UNIT_LDS:
        step_lds();
        break;
    case ISA_UNIT_VALU:
        step_vector_unit();
        break;
    case ISA_UNIT_SALU:
    case ISA_UNIT_BRANCH:
        step_scalar_unit();
        break;
    default:
        break;
    }
}

static void begin_group(const struct check_wave *wave, const struct work_placement *p)
{
    uint64_t scratch = p->scratch + (uint64_t)p->scratch_wavefront * p->scratch_bytes_per_wavefront;
    uint64_t bytes = (uint64_t)p->wavefronts * p->scratch_bytes_per_wavefront;
    privates[wave->group] = (struct private_memory){scratch, p->scratch ? scratch + bytes : 0,
                                                    p->scratch_bytes_per_wavefront};
    if (p->scratch)
        undefined_set(&memory, scratch, bytes, true);
    if (p->lds_bytes)
        undefined_set(&lds[wave->group], 0, p->lds_bytes, true);
}

/* Registers that a wavefront begins with: work-item numbers, and what the descriptor asks for
 * (COMPUTE_PGM_RSRC2: user registers, work-group numbers, private offset). */
static void begin_registers(struct wave_state *w, const struct work_placement *p)
{
    enum { FLAT = ISA_FLAT_SCRATCH, ITEMS = 3 };
    unsigned given =
        (p->rsrc2 >> 1 & 31) + (unsigned)__builtin_popcount(p->rsrc2 >> 7 & 15) + (p->rsrc2 & 1);
    memset(w, 0, sizeof *w);
    memset(w->vector + ITEMS, 0xff, sizeof w->vector - ITEMS * sizeof w->vector[0]);
    for (unsigned i = given; i < FLAT; i++)
        w->scalar[i] = UINT32_MAX;
    w->scalar[ISA_VCC] = w->scalar[ISA_VCC + 1] = UINT32_MAX;
}

static void begin_undefined(const struct check_wave *wave)
{
    waves = slot_array_grow(waves, &wave_room, wave->slot, sizeof *waves);
    lds = slot_array_grow(lds, &lds_room, wave->group, sizeof *lds);
    privates = slot_array_grow(privates, &private_room, wave->group, sizeof *privates);
    if (wave->what.number == 0)
        begin_group(wave, wave->what.placement);
    begin_registers(&waves[wave->slot], wave->what.placement);
}

const struct check check_uninitialised = {.check = FINDING_CHECK_UNINITIALISED,
                                          .open = open_check,
                                          .begin = begin_undefined,
                                          .step = step_undefined};

void check_memory_new(uint64_t address, uint64_t size)
{
    if (finding_wanted(FINDING_CHECK_UNINITIALISED))
        undefined_set(&memory, address, size, true);
}

void check_memory_written(uint64_t address, uint64_t size)
{
    if (finding_wanted(FINDING_CHECK_UNINITIALISED))
        undefined_set(&memory, address, size, false);
}

void check_memory_copied(uint64_t to, uint64_t from, uint64_t size)
{
    if (finding_wanted(FINDING_CHECK_UNINITIALISED))
        undefined_copy(&memory, to, from, size);
}

bool check_memory_is_undefined(uint64_t address, uint32_t bytes)
{
    return !undefined_is_page_defined(&memory, address) && undefined_is(&memory, address, bytes);
}
