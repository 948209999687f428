/* The account of the time of warps: components/protocols/thread_block/warp_cycles.h has the kinds.
 * A warp has the kind of its present cycles and their beginning; both change when its next
 * instruction issues or something looks at the warp. */
#include "sm_state.h"

/* ---- by instruction: --profile instructions ---- */

/* A cycle belongs to the instruction that waits: to the warp's next instruction, or to the last one
 * once the warp has ended. After a barrier, a fence, or a wait for copies, the cycle belongs to the
 * barrier, the fence or the wait. */
#ifdef HEDDLE_PROFILE

#include "runtime/observe/profile.h"

enum {
    PROFILE_EXECUTIONS,
    PROFILE_LANES, /* that were active, of all executions */
    PROFILE_LINES, /* requests to the L1 */
    PROFILE_BYTES, /* that lanes asked for */
    PROFILE_MEMORY_CYCLES,
    PROFILE_SLOT_CYCLES,
    PROFILE_ALL = PROFILE_SLOT_CYCLES + WARP_CYCLES_KINDS
};
_Static_assert(PROFILE_ALL <= PROFILE_COUNTS, "a row has room");

static struct profile_row *profile_at(const struct streaming_multiprocessor *c, uint32_t slot,
                                      uint16_t id)
{
    static const char *const names[PROFILE_ALL] = {"executions",  "lanes",         "lines",
                                                   "bytes",       "memory_cycles",
#define X(identifier, group, name) group "." name,
                                                   WARP_CYCLES(X)
#undef X
    };
    const struct trace_block *b =
        trace_block(streaming_multiprocessor_stream(c), c->block[c->warp[slot].block].number);
    profile_name_columns("kernel", names, PROFILE_ALL);
    return profile_row(c->io.base.leaf, b->profile, arena_at(uint32_t, b->pcs_at)[id]);
}

static void profile_spent(const struct streaming_multiprocessor *c, const struct sm_warp *w,
                          uint64_t cycles)
{
    bool is_behind =
        w->cycles_kind >= WARP_WAITING_BARRIER && w->cycles_kind <= WARP_WAITING_PRODUCTS;
    is_behind |= w->cycles_kind == WARP_WAITING_BLOCKS || w->cycles_kind == WARP_WAITING_END;
    uint32_t slot = (uint32_t)(w - c->warp);
    profile_at(c, slot, is_behind ? w->last_id : w->id)
        ->count[PROFILE_SLOT_CYCLES + w->cycles_kind] += cycles;
}

static void profile_issued(const struct streaming_multiprocessor *c, uint32_t slot, unsigned kind)
{
    const struct sm_warp *w = &c->warp[slot];
    const uint32_t *record = sm_words(c) + w->record;
    uint64_t lanes = (uint64_t)__builtin_popcount(trace_record_mask(record));
    struct profile_row *row = profile_at(c, slot, w->id);
    row->count[PROFILE_EXECUTIONS]++;
    row->count[PROFILE_LANES] += lanes;
    row->count[PROFILE_BYTES] += trace_record_mode(*record) ? lanes * sm_inst(w)->width : 0;
    row->count[PROFILE_SLOT_CYCLES + kind]++;
}

static void profile_memory(const struct streaming_multiprocessor *c, uint32_t slot, uint16_t id,
                           uint32_t lines, uint32_t cycles)
{
    struct profile_row *row = profile_at(c, slot, id);
    row->count[PROFILE_LINES] += lines;
    row->count[PROFILE_MEMORY_CYCLES] += cycles;
}

#else

#define profile_spent(c, w, cycles)                ((void)0)
#define profile_issued(c, slot, kind)              ((void)0)
#define profile_memory(c, slot, id, lines, cycles) ((void)0)

#endif

/* The kind of cycles from now on, by the warp's next instruction. */
static uint8_t account_doing(const struct streaming_multiprocessor *c, uint32_t slot)
{
    static const uint8_t waits[] = {
        [SM_WAITS_BARRIER] = WARP_WAITING_BARRIER, [SM_WAITS_MEMORY] = WARP_WAITING_FENCE,
        [SM_WAITS_COPIES] = WARP_WAITING_COPIES,   [SM_WAITS_PRODUCTS] = WARP_WAITING_PRODUCTS,
        [SM_WAITS_GATHER] = WARP_WAITING_BARRIER,  [SM_WAITS_PHASE] = WARP_WAITING_COPIES};
    const struct sm_warp *w = &c->warp[slot];
    const struct sm_sub_core *sub = &c->sub[slot % sm_sub_cores(c)];
    if (w->waits)
        return waits[w->waits];
    if (!w->instructions_left)
        return warp_is_whole(&c->block[w->block], w) ? WARP_WAITING_END : WARP_WAITING_BLOCKS;
    if (!w->buffered)
        return WARP_WAITING_FETCH;
    const struct trace_inst *inst = sm_inst(w);
    if (sub->ready_warps >> slot & 1) {
        if (inst->unit < TRACE_MEMORY)
            return WARP_WAITING_UNIT;
        return sm_is_shared(c, w) ? WARP_WAITING_SHARED_BUSY : WARP_WAITING_MEMORY_BUSY;
    }
    if (!(sub->memory >> slot & 1))
        return WARP_EXECUTING_RESULT;
    uint64_t global[TRACE_REGISTERS / 64];
    for (unsigned i = 0; i < TRACE_REGISTERS / 64; i++)
        global[i] = w->memory[i] & ~c->shared[slot].pending[i];
    return sm_any_pending(global, inst) ? WARP_WAITING_MEMORY : WARP_WAITING_SHARED;
}

static inline void account_until(struct streaming_multiprocessor *c, struct sm_warp *w,
                                 uint64_t cycle)
{
    struct warp_account *a = sm_account(c, w->block);
    if (cycle <= w->since) /* it issues in this cycle */
        return;
    a->slot_cycles[w->cycles_kind] += cycle - w->since;
    profile_spent(c, w, cycle - w->since);
    w->since = cycle;
}

static void account_change(struct streaming_multiprocessor *c, uint32_t slot)
{
    account_until(c, &c->warp[slot], c->now);
    c->warp[slot].cycles_kind = account_doing(c, slot);
}

/* Before the warp's next instruction is another one. */
static void account_issue(struct streaming_multiprocessor *c, uint32_t slot)
{
    struct sm_warp *w = &c->warp[slot];
    const struct trace_inst *inst = sm_inst(w);
    uint64_t *pending = c->shared[slot].pending;
    bool is_shared = inst->unit == TRACE_MEMORY && sm_is_shared(c, w);
    account_until(c, w, c->now);
    sm_account(c, w->block)->slot_cycles[is_shared ? WARP_ISSUED_SHARED : inst->unit]++;
    profile_issued(c, slot, is_shared ? WARP_ISSUED_SHARED : inst->unit);
    w->since = c->now + 1;
    w->last_id = w->id;
    if (inst->destination < TRACE_REGISTERS) {
        uint64_t bit = sm_bit(inst->destination % 64);
        pending[inst->destination / 64] &= ~bit;
        pending[inst->destination / 64] |= is_shared ? bit : 0;
    }
}

/* An access to global or local memory begins with its requests, or has its last answer. */
static void account_memory(struct streaming_multiprocessor *c, const struct sm_access *a,
                           uint32_t lines)
{
    struct warp_account *to = sm_account(c, c->warp[a->warp].block);
    to->memory_lines += lines;
    if (trace_record_space(sm_words(c)[a->record]) == TRACE_LOCAL)
        to->local_lines += lines;
    profile_memory(c, a->warp, (uint16_t)(sm_words(c)[a->record] & TRACE_ID), lines, 0);
}

static void account_answer(struct streaming_multiprocessor *c, const struct sm_pending *p)
{
    struct warp_account *to = sm_account(c, c->warp[p->warp].block);
    to->memory_issued++;
    to->memory_cycles += (uint32_t)((uint32_t)c->now - p->issued);
    profile_memory(c, p->warp, p->id, 0, (uint32_t)c->now - p->issued);
}

static void account_shared(struct streaming_multiprocessor *c, uint32_t slot, unsigned cycles,
                           unsigned conflicts)
{
    struct warp_account *to = sm_account(c, c->warp[slot].block);
    to->shared_busy += cycles;
    to->shared_conflict += conflicts;
}

static void account_begin(struct streaming_multiprocessor *c, uint32_t number)
{
    *sm_account(c, number) = (struct warp_account){0};
    c->block[number].start = c->now;
}

/* The block is over: the rest of its warps' time comes after their ends. */
static const struct warp_account *account_end(struct streaming_multiprocessor *c, uint32_t number)
{
    struct warp_account *a = sm_account(c, number);
    const struct sm_block *b = &c->block[number];
    uint64_t charged = 0;
    for (unsigned i = 0; i < WARP_ENDED; i++)
        charged += a->slot_cycles[i];
    a->held = b->count * (c->now - b->start);
    a->slot_cycles[WARP_ENDED] = a->held - charged;
    for (unsigned unit = 0; unit < TRACE_MEMORY; unit++)
        a->unit_busy[unit] = a->slot_cycles[unit] * c->times[unit].interval;
    return a;
}
