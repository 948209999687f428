/* Moves undefined bits through registers by the facts that the instruction tables give
 * (undefined_facts). */
#include "undefined_registers.h"

#include "undefined_report.h"

struct undefined_context undefined_context;

void undefined_use(enum finding_kind kind, uint32_t from, unsigned lane)
{
    const struct check_place use =
        check_step_place(undefined_context.wave, undefined_context.step, lane);
    const struct check_place read = check_wave_place(undefined_context.wave, from, lane);
    undefined_report(kind, &use, from ? &read : NULL);
}

/* ---- operands ---- */

static bool is_implied_exec(const struct isa_use *u)
{
    return u->code == ISA_EXEC && u->place == ISA_USE_IMPLIED;
}

/* A pair of scalar registers that holds a bit for each lane. */
static bool is_mask(const struct isa_use *u)
{
    return u->dwords == 2 && undefined_context.step->inst->unit == ISA_UNIT_VALU
           && (u->place == ISA_USE_IMPLIED || u->place == ISA_USE_SOURCE2);
}

static uint64_t pair_of(const uint32_t *bits, unsigned code)
{
    return bits[code] | (code + 1 < UNDEFINED_SCALARS ? (uint64_t)bits[code + 1] << 32 : 0);
}

static void add_scalar(struct undefined_sum *sum, const struct isa_use *u)
{
    const struct undefined_wave *w = undefined_context.state;
    for (unsigned i = 0; i < u->dwords && u->code + i < UNDEFINED_SCALARS; i++) {
        if (!w->scalar[u->code + i])
            continue;
        sum->lanes |= is_mask(u) ? pair_of(w->scalar, u->code) : UINT64_MAX;
        sum->from = sum->from ? sum->from : w->scalar_origin[u->code + i];
    }
}

static void add_vector(struct undefined_sum *sum, const struct isa_use *u)
{
    const struct undefined_wave *w = undefined_context.state;
    for (unsigned i = 0; i < u->dwords; i++) {
        unsigned at = undefined_vector_at(u, i);
        if (!w->vector[at])
            continue;
        sum->lanes |= w->vector[at];
        sum->computed |= w->computed[at];
        sum->from = sum->from ? sum->from : w->vector_origin[at];
    }
}

void undefined_add(struct undefined_sum *sum, const struct isa_use *u)
{
    if (undefined_is_scalar(u))
        add_scalar(sum, u);
    else
        add_vector(sum, u);
}

/* The lanes that all sources together leave undefined. */
static struct undefined_sum sources(void)
{
    struct undefined_sum sum = {0};
    const struct undefined_facts *facts = undefined_context.facts;
    for (unsigned i = 0; i < facts->uses; i++) {
        const struct isa_use *u = &facts->use[i];
        if (!u->written && !is_implied_exec(u))
            undefined_add(&sum, u);
    }
    if (facts->reads_scc && undefined_context.state->scc) {
        sum.lanes = UINT64_MAX;
        sum.from = sum.from ? sum.from : undefined_context.state->scc_origin;
    }
    return sum;
}

void undefined_put(const struct isa_use *u, unsigned i, uint64_t lanes, uint64_t undefined,
                   uint64_t computed, uint32_t from)
{
    struct undefined_wave *w = undefined_context.state;
    unsigned at = undefined_vector_at(u, i);
    w->vector[at] = (w->vector[at] & ~lanes) | (undefined & lanes);
    w->computed[at] = (w->computed[at] & ~lanes) | (computed & undefined & lanes);
    if (undefined & lanes)
        w->vector_origin[at] = from;
}

/* `bits` of the first register, those of the second above. */
static void put_scalar(const struct isa_use *u, uint64_t bits, uint32_t from)
{
    struct undefined_wave *w = undefined_context.state;
    if (u->code == ISA_EXEC && bits)
        undefined_use(FINDING_UNINITIALISED_BRANCH, from, FINDING_LANE_NONE);
    if (u->code == ISA_EXEC)
        bits = 0;
    for (unsigned i = 0; i < u->dwords && u->code + i < UNDEFINED_SCALARS; i++) {
        w->scalar[u->code + i] = i < 2 ? (uint32_t)(bits >> 32 * i) : bits ? UINT32_MAX : 0;
        w->scalar_origin[u->code + i] = from;
    }
}

/* ---- scalar instructions ---- */

static uint64_t value_of(const struct isa_use *u)
{
    return pair_of(undefined_context.step->scalars->sgpr, u->code);
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
        undefined[i] = pair_of(undefined_context.state->scalar, source[i]->code);
        value[i] = by_ones != (negates && i == 1) ? ~value_of(source[i]) : value_of(source[i]);
    }
    all = undefined[0] | undefined[1];
    if (count < 2)
        return all;
    return all & (undefined[0] | value[0]) & (undefined[1] | value[1]);
}

static uint64_t scalar_result(const struct undefined_sum *sum, bool wide)
{
    const struct isa_use *source[2] = {NULL, NULL};
    const struct undefined_facts *facts = undefined_context.facts;
    unsigned count = 0;
    for (unsigned i = 0; i < facts->uses; i++) {
        const struct isa_use *u = &facts->use[i];
        bool counts =
            !u->written && undefined_is_scalar(u)
            && (u->place != ISA_USE_IMPLIED || (facts->saves_exec && u->code == ISA_EXEC));
        if (counts && count < 2)
            source[count++] = u;
    }
    uint64_t bits = sum->lanes ? UINT64_MAX : 0;
    if (facts->effect >= ISA_ANDS && facts->effect <= ISA_ORS_NOT)
        bits = decided(source, count, (enum isa_effect)facts->effect);
    else if (facts->effect == ISA_XORS || facts->effect == ISA_MOVES)
        bits = (count > 0 ? pair_of(undefined_context.state->scalar, source[0]->code) : 0)
               | (count > 1 ? pair_of(undefined_context.state->scalar, source[1]->code) : 0);
    else if (facts->effect == ISA_INDEXES)
        bits = 0;
    return wide ? bits : (uint32_t)bits;
}

void undefined_scalar_unit(void)
{
    const struct undefined_facts *facts = undefined_context.facts;
    struct undefined_sum sum = sources();
    struct undefined_wave *w = undefined_context.state;
    bool branches = undefined_context.step->inst->unit == ISA_UNIT_BRANCH
                    || undefined_context.step->inst->flags & ISA_IS_BRANCH;
    if (branches && sum.lanes) {
        undefined_use(FINDING_UNINITIALISED_BRANCH, sum.from, FINDING_LANE_NONE);
        w->scc = false;
        w->scalar[ISA_VCC] = w->scalar[ISA_VCC + 1] = 0;
    }
    for (unsigned i = 0; branches && i < facts->uses; i++) /* the address to come back to */
        if (facts->use[i].written && undefined_is_scalar(&facts->use[i]))
            put_scalar(&facts->use[i], 0, 0);
    if (branches)
        return;
    uint64_t bits[2] = {scalar_result(&sum, false), scalar_result(&sum, true)}, all = 0;
    for (unsigned i = 0; i < facts->uses; i++) {
        const struct isa_use *u = &facts->use[i];
        if (!u->written || !undefined_is_scalar(u))
            continue;
        bool saved = facts->saves_exec && u->code != ISA_EXEC; /* the old EXEC, which is defined */
        put_scalar(u, saved ? 0 : bits[u->dwords > 1], sum.from);
        all |= saved ? 0 : bits[u->dwords > 1];
    }
    if (undefined_context.step->inst->flags & ISA_WRITES_SCC) {
        bool has_result = all != 0 || facts->uses == 0;
        for (unsigned i = 0; i < facts->uses; i++)
            has_result |= facts->use[i].written;
        w->scc = has_result ? all != 0 : sum.lanes != 0;
        w->scc_origin = sum.from;
    }
}

/* ---- vector instructions ---- */

static void read_lane(const struct undefined_sum *sum)
{
    uint64_t exec = isa_wave_exec(undefined_context.step->scalars);
    bool first = undefined_context.facts->effect == ISA_READS_FIRST_LANE;
    uint64_t undefined = first && exec ? sum->lanes >> __builtin_ctzll(exec) & 1
                         : first       ? 0
                                       : sum->lanes == UINT64_MAX;
    for (unsigned i = 0; i < undefined_context.facts->uses; i++)
        if (undefined_context.facts->use[i].written
            && undefined_is_scalar(&undefined_context.facts->use[i]))
            put_scalar(&undefined_context.facts->use[i], undefined ? UINT64_MAX : 0, sum->from);
}

/* Each lane takes the operand that its bit of the mask chooses; the other one does not matter. */
static struct undefined_sum selected(void)
{
    struct undefined_sum sum = {0};
    uint64_t chosen = 0;
    for (unsigned i = 0; i < undefined_context.facts->uses; i++) {
        const struct isa_use *u = &undefined_context.facts->use[i];
        if (!u->written && is_mask(u) && !is_implied_exec(u))
            chosen = value_of(u);
    }
    for (unsigned i = 0; i < undefined_context.facts->uses; i++) {
        const struct isa_use *u = &undefined_context.facts->use[i];
        struct undefined_sum one = {0};
        if (u->written || is_implied_exec(u))
            continue;
        undefined_add(&one, u);
        uint64_t lanes = is_mask(u) ? UINT64_MAX : u->place == ISA_USE_SOURCE0 ? ~chosen : chosen;
        one.lanes &= lanes;
        sum.lanes |= one.lanes;
        sum.computed |= one.computed & lanes;
        sum.from = sum.from || !one.lanes ? sum.from : one.from;
    }
    return sum;
}

/* The dword that goes to the d-th one of the destination. */
static struct undefined_sum moved(unsigned d)
{
    bool pairs = undefined_context.facts->effect == ISA_MOVES_PAIRS;
    unsigned place = pairs ? ISA_USE_SOURCE0 + d : ISA_USE_SOURCE0;
    struct undefined_sum sum = {0};
    for (unsigned i = 0; i < undefined_context.facts->uses; i++) {
        struct isa_use u = undefined_context.facts->use[i];
        unsigned at = pairs ? undefined_context.step->inst->opsel >> d & 1 : d;
        if (u.written || u.place != place || at >= u.dwords)
            continue;
        u.code = (uint16_t)(u.code + at);
        u.dwords = 1;
        undefined_add(&sum, &u);
    }
    return sum;
}

static void move_dwords(void)
{
    uint64_t exec = isa_wave_exec(undefined_context.step->scalars);
    struct undefined_sum sum[2] = {moved(0), moved(1)}; /* before one is overwritten */
    for (unsigned i = 0; i < undefined_context.facts->uses; i++) {
        const struct isa_use *u = &undefined_context.facts->use[i];
        for (unsigned d = 0; u->written && d < u->dwords && d < 2; d++)
            undefined_put(u, d, exec, sum[d].lanes, sum[d].computed, sum[d].from);
    }
}

void undefined_vector_unit(void)
{
    const struct undefined_facts *facts = undefined_context.facts;
    uint64_t exec = isa_wave_exec(undefined_context.step->scalars);
    if (facts->effect == ISA_MOVES || facts->effect == ISA_MOVES_PAIRS) {
        move_dwords();
        return;
    }
    struct undefined_sum sum = facts->effect == ISA_SELECTS ? selected() : sources();
    if (facts->effect == ISA_READS_LANE || facts->effect == ISA_READS_FIRST_LANE) {
        read_lane(&sum);
        return;
    }
    bool one = facts->effect == ISA_WRITES_LANE || facts->effect == ISA_MULTIPLIES_MATRICES
               || facts->effect == ISA_INDEXES;
    bool moves = facts->effect == ISA_SELECTS;
    bool crosses = facts->effect == ISA_CROSSES_LANES;
    uint64_t undefined = sum.lanes;
    if (one)
        undefined = 0;
    else if (crosses) /* a lane may read any other, so all must be undefined */
        undefined = (sum.lanes & exec) == exec ? exec : 0;
    for (unsigned i = 0; i < facts->uses; i++) {
        const struct isa_use *u = &facts->use[i];
        if (!u->written)
            continue;
        if (undefined_is_scalar(u))
            put_scalar(u, undefined & exec, sum.from);
        for (unsigned d = 0; !undefined_is_scalar(u) && d < u->dwords; d++)
            undefined_put(u, d, one ? UINT64_MAX : exec, undefined,
                          moves ? sum.computed : UINT64_MAX, sum.from);
    }
}
