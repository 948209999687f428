/* Barriers in shared memory (mbarrier): what a wait of a trace waits for.
 *
 * A trace does not say which phase of a barrier a wait is for, but it has all waits, arrivals and
 * copies of a block, and a warp waits for phases in their order. So waits, arrivals and copies are
 * counted by barrier and warp while a block is read. The number of a barrier's phases is the
 * largest number of arrivals of one warp (a warp that announces bytes arrives once a phase), and
 * each phase has the same number of copies. The n-th wait then is for the copies of n phases. At a
 * barrier without copies, by which consumers give room back, a producer's first wait passes at
 * once, so the n-th is for the arrivals of n - 1 phases. Where the counts do not fit, as with waits
 * that were tried again, a wait is for all copies that are under way.
 *
 * Traces of PTX say what a wait is for (player_mbarrier.c), so nothing is counted. */
#include <string.h>

#include "base/number.h"

#include "player_call.h"

static void phases_begin(struct player_kernel *k)
{
    player_phases(k)->count = 0;
}

static void phases_begin_warp(struct player_kernel *k)
{
    player_phases(k)->last = TRACE_PHASES;
}

/* A wait after one for the same barrier, with nothing but branches between, tries it again. */
static void phases_pass(struct player_kernel *k, const struct itrace_inst *inst, uint8_t kind)
{
    if (kind != TRACE_PHASE_WAIT && inst->opcode.unit != SASS_CLASS_BRANCH)
        player_phases(k)->last = TRACE_PHASES;
}

/* The number of the barrier at `address`, TRACE_PHASES when the block has too many. */
static uint32_t phase_find(struct player_phases *p, uint64_t address)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->barrier[i].address == address)
            return i;
    if (p->count == TRACE_PHASES)
        return TRACE_PHASES;
    p->barrier[p->count] = (struct player_barrier){.address = address};
    return p->count++;
}

/* Counts a step's instruction at its barrier: an arrival, a wait or a copy. */
static uint32_t phase_count(struct player_kernel *k, uint8_t kind, const struct itrace_step *step)
{
    struct player_phases *p = player_phases(k);
    bool copies = kind == TRACE_BULK_LOAD;
    uint64_t address = copies && step->copy.runs ? step->copy.barrier
                       : step->count             ? step->address[0]
                                                 : 0;
    uint32_t number;
    address &= WARP_RANK_OFFSET;
    if (!step->mask || !address || (number = phase_find(p, address)) == TRACE_PHASES)
        return TRACE_PHASES;
    struct player_barrier *b = &p->barrier[number];
    b->copies += copies || kind == TRACE_COPY_ARRIVE;
    b->arrivals[k->warp] += kind == TRACE_PHASE_ARRIVE || kind == TRACE_COPY_ARRIVE;
    if (kind != TRACE_PHASE_WAIT)
        return number;
    bool again = p->last == number;
    p->last = number;
    b->waits[k->warp] += !again;
    return again ? (uint32_t)PHASE_NONE : number;
}

static unsigned phase_record(uint32_t words[TRACE_RECORD], uint8_t kind, uint32_t number,
                             const struct itrace_step *step)
{
    uint32_t *to = words + 1;
    bool bulk = kind >= TRACE_BULK_LOAD && kind <= TRACE_BULK_REDUCE;
    uint32_t runs = bulk && step->mask ? step->copy.runs : 0;
    words[0] = step->inst->id | (uint32_t)TRACE_BULK;
    if ((uint32_t)step->mask == UINT32_MAX)
        words[0] |= TRACE_FULL;
    else
        *to++ = (uint32_t)step->mask;
    *to++ = number << 8 | runs;
    *to++ = step->copy.need;
    *to++ = (uint32_t)(step->copy.barrier & WARP_RANK_OFFSET);
    for (uint32_t i = 0; i < runs; i++) {
        trace_writer_wide(&to, step->copy.run[i].base);
        *to++ = (uint32_t)step->copy.run[i].stride;
        *to++ = step->copy.run[i].rows;
        *to++ = step->copy.run[i].bytes;
    }
    return (unsigned)(to - words);
}

/* A record of a step of a trace. */
static unsigned phase_read(struct player_kernel *k, uint32_t words[TRACE_RECORD], uint8_t kind,
                           const struct itrace_step *step)
{
    bool told = ptx_name_is_ptx(step->inst->name);
    return phase_record(
        words, kind, told ? mbarrier_number(kind, &step->copy) : phase_count(k, kind, step), step);
}

/* The count that the n-th wait of a warp is for; 0: not known. */
static uint32_t phase_need(const struct player_barrier *b, uint32_t warp, uint32_t n)
{
    uint32_t phases = 0, arrivals = 0;
    for (unsigned i = 0; i < TRACE_WARPS; i++) {
        phases = max(b->arrivals[i], phases);
        arrivals += b->arrivals[i];
    }
    uint32_t events = b->copies ? b->copies : arrivals, early = !b->copies;
    if (!phases || events % phases || b->waits[warp] > phases + early)
        return 0;
    return (n - early) * (events / phases);
}

static void phases_end_warp(const struct trace_player *p, const struct player_kernel *k,
                            const struct trace_block *block, uint32_t warp)
{
    const struct trace_inst *insts = arena_at(const struct trace_inst, k->insts_at);
    const struct player_phases *phases = player_phases(k);
    uint32_t *words = trace_writer_word(trace_player_stream(p), 0);
    uint32_t seen[TRACE_PHASES] = {0}, at = block->warp[warp].at;
    for (uint32_t i = 0; i < block->warp[warp].count; i++) {
        at = trace_record(words, at);
        uint8_t kind = insts[words[at] & TRACE_ID].kind;
        uint32_t *head = words + at + (words[at] & TRACE_FULL ? 1 : 2);
        uint32_t number = words[at] & TRACE_BULK ? *head >> 8 : TRACE_PHASES;
        if (number < TRACE_PHASES && kind == TRACE_PHASE_WAIT) {
            head[1] = phase_need(&phases->barrier[number], warp, ++seen[number]);
            /* a first wait that passes at once */
            if (!head[1] && !phases->barrier[number].copies)
                *head = (uint32_t)PHASE_NONE << 8;
        }
        if (number < TRACE_PHASES && kind == TRACE_PHASE_ARRIVE && phases->barrier[number].copies)
            *head = (uint32_t)PHASE_NONE << 8;
        at = trace_record_end(words, at);
    }
}

/* The block has been read: gives each wait the arrivals and copies that it is for. */
static void phases_end(const struct trace_player *p, const struct player_kernel *k,
                       const struct trace_block *block)
{
    if (player_phases(k)->count)
        for (uint32_t w = 0; w < block->warps; w++)
            phases_end_warp(p, k, block, w);
}
