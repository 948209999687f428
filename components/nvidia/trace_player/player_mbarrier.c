/* Barriers in shared memory (mbarrier) of blocks that are executed: the arrivals and copies that a
 * wait is for.
 *
 * The executor runs a block in an order in which each wait comes after the copies and arrivals that
 * ended its phase, and copies take no time. So copies and arrivals are counted by barrier. A wait
 * that has passed is for the counts at the end of the barrier's last phase: in time, the wait ends
 * when so many copies have come and so many warps have arrived. A wait that has not passed, and is
 * tried again, is for none. The SM takes arrivals, copies and waits in the order of each warp, so
 * no wait is for a later arrival or copy.
 *
 * Barriers are told apart by their address, as far as there are TRACE_PHASES words. Barriers of
 * other blocks of a cluster are not counted here: their arrivals are seen when a wait passes. */
#include "player_call.h"

static uint32_t mbarrier_number(uint8_t kind, const struct itrace_bulk *at)
{
    if (kind == TRACE_PHASE_WAIT && !at->need)
        return PHASE_NONE;
    return at->barrier ? (uint32_t)((at->barrier & WARP_RANK_OFFSET) / 8 % TRACE_PHASES)
                       : TRACE_PHASES;
}

/* The generic address of the barrier; 0: there is none in the block. */
static uint64_t mbarrier_address(const struct player_call *c, uint8_t kind,
                                 const struct warp_step *step)
{
    uint64_t at = step->barrier;
    if (kind < TRACE_BULK_LOAD || kind > TRACE_BULK_REDUCE)
        at = step->active && step->addresses ? step->addresses[__builtin_ctz(step->active)]
                                             : WARP_BARRIER_NONE;
    if (at == WARP_BARRIER_NONE)
        return 0;
    uint64_t rank = at >> WARP_RANK_SHIFT, own = step->block % warp_cluster_blocks(&c->call.launch);
    return rank && rank != own + 1 ? 0 : WARP_SHARED + (at & WARP_RANK_OFFSET);
}

/* The barrier as it is after the step. */
static void mbarrier_count(const struct player_call *c, struct player_mbarrier *b, uint64_t address,
                           bool waits, const struct warp_step *step)
{
    uint64_t state = 0;
    warp_read(&c->call.launch, step->block_memory, step->warp * WARP_LANES, address, &state,
              sizeof state);
    b->done += !waits;
    if (state >> 63 != b->phase) {
        b->phase = state >> 63;
        b->over = b->done;
    }
}

static unsigned mbarrier_record(struct player_call *c, uint32_t words[TRACE_RECORD], uint8_t kind,
                                const struct warp_step *step)
{
    bool bulk = kind >= TRACE_BULK_LOAD && kind <= TRACE_BULK_REDUCE;
    bool waits = kind == TRACE_PHASE_WAIT;
    struct itrace_inst inst = {.id = step->instruction};
    struct itrace_step s = {.inst = &inst, .mask = bulk ? 1 : step->active};
    if (bulk && step->active && !step->bulk)
        return 0; /* the first step of the copy counts for all of it */
    if (bulk && !step->active)
        s.mask = 0;
    s.copy.barrier = mbarrier_address(c, kind, step);
    if (bulk && s.mask && step->space == PTX_SPACE_GLOBAL) {
        s.copy.runs = 1;
        s.copy.run[0] = (struct itrace_bulk_run){step->addresses[0], 0, 1, step->bulk};
    }
    if (s.copy.barrier) {
        struct itrace_bulk any = {.barrier = s.copy.barrier, .need = 1};
        struct player_mbarrier *b = &c->mbarriers.number[mbarrier_number(kind, &any)];
        mbarrier_count(c, b, s.copy.barrier, waits, step);
        s.copy.need = waits && step->passed & step->active ? b->over : 0;
    }
    return phase_record(words, kind, mbarrier_number(kind, &s.copy), &s);
}

static void mbarrier_decode(const uint32_t *record, struct itrace_bulk *to)
{
    const uint32_t *head = bulk_head(record), *run = head + TRACE_BULK_HEAD;
    *to = (struct itrace_bulk){.runs = bulk_runs(record)};
    if (!(*record & TRACE_BULK))
        return;
    bool is_none = *head >> 8 == TRACE_PHASES;
    to->need = head[1];
    to->barrier = is_none ? 0 : WARP_SHARED + head[2];
    for (uint32_t i = 0; i < to->runs; i++, run += TRACE_RUN)
        to->run[i] = (struct itrace_bulk_run){trace_wide(run), (int32_t)run[2], run[3], run[4]};
}
