/* Asynchronous work: copies to shared memory that run beside their warp, products of four warps,
 * and what waits for both.
 *
 * Each copy or product joins the open group of its warp; a commit closes the group, and a wait
 * holds the warp until all but the latest groups are over (PTX ISA, cp.async.wait_group and
 * wgmma.wait_group). Bulk copies to shared memory belong to a barrier instead, where any warp of
 * the block may wait: for as many copies or arrivals as the trace player has counted
 * (trace_phase.c), or for those under way.
 *
 * The copier takes one bulk copy after another and sends a request a cycle, a line of 128 bytes;
 * each line takes shared memory for one cycle, when it is read or when it has come. */
#include "base/number.h"

#include "sm_state.h"

/* ---- groups ---- */

static inline void async_start(struct streaming_multiprocessor *c, uint32_t slot)
{
    struct sm_async *a = &c->async[slot];
    *a = (struct sm_async){0};
    for (unsigned k = 0; k < SM_GROUP_KINDS; k++)
        for (unsigned i = 0; i < SM_GROUPS; i++)
            a->groups[k].phase[i] = TRACE_PHASES + 1;
}

static uint16_t group_join(struct streaming_multiprocessor *c, uint32_t slot,
                           enum sm_group_kind kind)
{
    struct sm_groups *g = &c->async[slot].groups[kind];
    uint32_t place = g->open % SM_GROUPS;
    g->under_way[place]++;
    return (uint16_t)(SM_GROUP | (uint32_t)kind * SM_GROUPS | place);
}

static bool group_is_open(const struct streaming_multiprocessor *c, uint32_t slot,
                          enum sm_group_kind kind)
{
    const struct sm_groups *g = &c->async[slot].groups[kind];
    return g->under_way[g->open % SM_GROUPS] != 0;
}

/* True if more than the `most` latest groups are under way. */
static bool groups_pending(struct sm_groups *g, uint32_t most)
{
    while (g->oldest != g->open && !g->under_way[g->oldest % SM_GROUPS])
        g->oldest++;
    return (uint8_t)(g->open - g->oldest) > most;
}

/* A warp that has no place for another group keeps the open one. */
static void group_close(struct streaming_multiprocessor *c, uint32_t slot, enum sm_group_kind kind)
{
    struct sm_groups *g = &c->async[slot].groups[kind];
    if (!groups_pending(g, SM_GROUPS - 2))
        g->open++;
}

static void groups_wait(struct streaming_multiprocessor *c, uint32_t slot, enum sm_group_kind kind,
                        uint16_t most)
{
    struct sm_warp *w = &c->warp[slot];
    if (!groups_pending(&c->async[slot].groups[kind], most))
        return;
    w->waits = kind == SM_COPIES ? SM_WAITS_COPIES : SM_WAITS_PRODUCTS;
    w->limit = most;
}

/* ---- barriers of copies ---- */

static bool phase_pending(const struct sm_block *b, uint32_t phase, uint32_t need)
{
    if (phase > TRACE_PHASES)
        return false;
    if (phase == TRACE_PHASES)
        return b->phases;
    return need ? b->phase_counts[phase] < need : b->phase[phase] + b->phase[TRACE_PHASES];
}

static void phase_begin(struct sm_block *b, uint32_t phase)
{
    b->phase[phase]++;
    b->phases++;
}

static void phase_wake(struct streaming_multiprocessor *c, uint32_t slot)
{
    c->phase_waits--;
    warp_wake(c, slot);
}

/* A copy to the barrier has come, or a warp has arrived at it. */
static void phase_done(struct streaming_multiprocessor *c, struct sm_block *b, uint32_t phase)
{
    if (phase < TRACE_PHASES)
        b->phase_counts[phase]++;
    for (uint64_t rest = b->warps; rest; rest &= rest - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(rest);
        const struct sm_warp *w = &c->warp[slot];
        if (w->waits == SM_WAITS_PHASE && !phase_pending(b, w->limit, w->need))
            phase_wake(c, slot);
    }
}

static void phase_over(struct streaming_multiprocessor *c, struct sm_block *b, uint32_t phase)
{
    b->phase[phase]--;
    b->phases--;
    phase_done(c, b, phase);
}

/* The barrier waits for the copies of the open group, too. */
static void phase_join(struct streaming_multiprocessor *c, uint32_t slot, uint32_t phase)
{
    struct sm_block *b = &c->block[c->warp[slot].block];
    struct sm_groups *g = &c->async[slot].groups[SM_COPIES];
    uint8_t *joined = &g->phase[g->open % SM_GROUPS];
    if (group_is_open(c, slot, SM_COPIES) && *joined > TRACE_PHASES) {
        *joined = (uint8_t)phase;
        phase_begin(b, phase);
    } else {
        phase_done(c, b, phase);
    }
    group_close(c, slot, SM_COPIES);
}

static void phase_wait(struct streaming_multiprocessor *c, uint32_t slot, uint32_t phase,
                       uint32_t need)
{
    struct sm_warp *w = &c->warp[slot];
    if (!phase_pending(&c->block[w->block], phase, need))
        return;
    w->waits = SM_WAITS_PHASE;
    w->limit = (uint16_t)phase;
    w->need = need;
    c->phase_waits++;
}

/* Nothing moves and nothing is under way: a wrong count must hold up no warp for ever. Returns
 * whether one was held up. */
static bool phases_release(struct streaming_multiprocessor *c)
{
    bool released = false;
    for (uint32_t i = 0; i < SM_WARPS; i++)
        if (c->warp[i].is_used && c->warp[i].in_flight)
            return false;
    for (uint32_t i = 0; i < SM_WARPS; i++)
        if (c->warp[i].is_used && c->warp[i].waits == SM_WAITS_PHASE) {
            phase_wake(c, i);
            released = true;
        }
    return released;
}

/* ---- four warps ---- */

/* A warpgroup continues when all of its warps have come that still run. */
static inline void gather_pass(struct streaming_multiprocessor *c, struct sm_block *b,
                               uint32_t four)
{
    if (!b->gathered[four] || b->gathered[four] != b->warpgroup[four])
        return;
    b->gathered[four] = 0;
    for (uint64_t rest = b->warps; rest; rest &= rest - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(rest);
        if (c->warp[slot].waits == SM_WAITS_GATHER && c->warp[slot].number / 4 == four)
            warp_wake(c, slot);
    }
}

static void gather_join(struct streaming_multiprocessor *c, uint32_t slot)
{
    struct sm_warp *w = &c->warp[slot];
    c->block[w->block].gathered[w->number / 4] |= (uint8_t)(1u << w->number % 4);
    w->waits = SM_WAITS_GATHER;
}

/* ---- instructions ---- */

/* The number that the end of an instruction is for: a register, a group or a barrier. */
static inline uint16_t async_destination(struct streaming_multiprocessor *c, uint32_t slot,
                                         const struct trace_inst *inst, const uint32_t *record)
{
    uint32_t phase;
    switch (inst->kind) {
    case TRACE_COPY:
    case TRACE_BULK_STORE:
    case TRACE_BULK_REDUCE:
        return group_join(c, slot, SM_COPIES);
    case TRACE_MATRIX:
    case TRACE_MATRIX_COMMIT:
        return group_join(c, slot, SM_PRODUCTS);
    case TRACE_BULK_LOAD:
        phase = bulk_phase(record);
        phase_begin(&c->block[c->warp[slot].block], phase);
        return (uint16_t)(SM_PHASE | phase);
    case TRACE_BULK_PREFETCH:
        return SM_DESTINATION_NONE;
    default:
        return inst->destination;
    }
}

/* The effect of an asynchronous instruction at its issue. An instruction without active lanes has
 * none. */
static inline void async_issued(struct streaming_multiprocessor *c, uint32_t slot,
                                const struct trace_inst *inst, const uint32_t *record)
{
    if (!trace_record_mask(record))
        return;
    switch (inst->kind) {
    case TRACE_COPY_COMMIT:
        group_close(c, slot, SM_COPIES);
        break;
    case TRACE_COPY_ARRIVE:
        phase_join(c, slot, bulk_phase(record));
        break;
    case TRACE_COPY_WAIT_ALL:
        if (group_is_open(c, slot, SM_COPIES))
            group_close(c, slot, SM_COPIES);
        groups_wait(c, slot, SM_COPIES, 0);
        break;
    case TRACE_COPY_WAIT:
        groups_wait(c, slot, SM_COPIES, inst->count);
        break;
    case TRACE_MATRIX_COMMIT:
    case TRACE_MATRIX_CLOSE:
        group_close(c, slot, SM_PRODUCTS);
        break;
    case TRACE_MATRIX_GATHER: /* where a trace does not say what closes a group, this does */
        if (!inst->count && group_is_open(c, slot, SM_PRODUCTS))
            group_close(c, slot, SM_PRODUCTS);
        gather_join(c, slot);
        break;
    case TRACE_MATRIX_WAIT:
        if (group_is_open(c, slot, SM_PRODUCTS))
            group_close(c, slot, SM_PRODUCTS);
        groups_wait(c, slot, SM_PRODUCTS, inst->count);
        break;
    case TRACE_PHASE_ARRIVE:
        phase_done(c, &c->block[c->warp[slot].block], bulk_phase(record));
        break;
    case TRACE_PHASE_WAIT:
        phase_wait(c, slot, bulk_phase(record), bulk_need(record));
        break;
    default:
        break;
    }
}

/* An instruction is over whose end no register waits for. */
static void async_over(struct streaming_multiprocessor *c, uint32_t slot, uint16_t destination)
{
    struct sm_warp *w = &c->warp[slot];
    struct sm_block *b = &c->block[w->block];
    if (destination & SM_PHASE)
        phase_over(c, b, destination & ~(uint32_t)SM_PHASE);
    if (!(destination & SM_GROUP))
        return;
    uint32_t place = destination % SM_GROUPS;
    enum sm_group_kind kind = (enum sm_group_kind)(destination / SM_GROUPS % SM_GROUP_KINDS);
    struct sm_groups *g = &c->async[slot].groups[kind];
    if (--g->under_way[place])
        return;
    if (g->phase[place] <= TRACE_PHASES) {
        uint32_t phase = g->phase[place];
        g->phase[place] = TRACE_PHASES + 1;
        phase_over(c, b, phase);
    }
    if (w->waits == (kind == SM_COPIES ? SM_WAITS_COPIES : SM_WAITS_PRODUCTS)
        && !groups_pending(g, w->limit))
        warp_wake(c, slot);
}

/* ---- the copier ---- */

static inline void copier_push(struct streaming_multiprocessor *c, const struct sm_access *a)
{
    struct sm_copier *copier = &c->copier;
    copier->queue[(copier->head + copier->count++) % SM_BULK_QUEUE] = *a;
}

static void copier_pass(struct sm_copier *copier)
{
    copier->head = (copier->head + 1) % SM_BULK_QUEUE;
    copier->count--;
    copier->is_active = false;
}

/* Begins with the first copy of the queue. False: it cannot yet. */
static bool copier_begin(struct streaming_multiprocessor *c, uint64_t now, uint64_t *at)
{
    struct sm_copier *copier = &c->copier;
    const struct sm_access *a = &copier->queue[copier->head];
    const uint32_t *record = sm_words(c) + a->record;
    if (a->ready_cycle > now) {
        *at = min(a->ready_cycle, *at);
        return false;
    }
    uint32_t lines = trace_record_mask(record) ? bulk_lines(record) : 0;
    if (!lines) {
        sm_event_add(c, now + 1, a->warp, a->destination, true);
        copier_pass(copier);
        return false;
    }
    if (!memory_tag(c, a, lines, &copier->tag))
        return false;
    c->io.stats.loads += a->kind == TRACE_BULK_LOAD || a->kind == TRACE_BULK_PREFETCH;
    c->io.stats.stores += a->kind == TRACE_BULK_STORE;
    c->io.stats.atomics += a->kind == TRACE_BULK_REDUCE;
    copier->is_active = true;
    copier->cursor = (struct bulk_cursor){0};
    bulk_next(record, &copier->cursor, &copier->request);
    return true;
}

/* One cycle of the copier; *at: when it has work again without an answer. */
static bool copier_step(struct streaming_multiprocessor *c, uint64_t now, uint64_t *at)
{
    struct sm_copier *copier = &c->copier;
    const struct sm_access *a = &copier->queue[copier->head];
    if (!copier->is_active && !copier_begin(c, now, at))
        return false;
    if (!streaming_multiprocessor_mem_can_send(c))
        return false;
    if (a->kind == TRACE_BULK_STORE || a->kind == TRACE_BULK_REDUCE)
        memory_occupy_shared(c, now, 1);
    memory_request(c, a, copier->tag, &copier->request);
    if (!bulk_next(sm_words(c) + a->record, &copier->cursor, &copier->request))
        copier_pass(copier);
    return true;
}
