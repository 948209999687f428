/* The scoreboard: which registers of a warp are pending, so whether its next instruction can issue;
 * and fetching instructions. */
#include "base/likely.h"
#include "base/number.h"

#include "sm_state.h"

static inline bool sm_is_pending(const uint64_t *set, uint16_t reg)
{
    return reg != TRACE_REGISTER_NONE && (set[reg / 64] >> (reg % 64) & 1);
}

static inline bool sm_any_pending(const uint64_t *set, const struct trace_inst *inst)
{
    if (!(set[0] | set[1] | set[2] | set[3] | set[4]))
        return false;
    bool found = sm_is_pending(set, inst->destination);
    for (unsigned i = 0; i < TRACE_SOURCES && inst->source[i] != TRACE_REGISTER_NONE; i++)
        found |= sm_is_pending(set, inst->source[i]);
    return found;
}

static inline void warp_find(struct streaming_multiprocessor *c, uint32_t slot)
{
    struct sm_warp *w = &c->warp[slot];
    struct sm_sub_core *sub = &c->sub[slot % sm_sub_cores(c)];
    sub->memory &= ~sm_bit(slot);
    if (!w->buffered || w->waits)
        return;
    const struct trace_inst *inst = sm_inst(w);
    if (sm_any_pending(w->pending, inst)) {
        if (sm_any_pending(w->memory, inst))
            sub->memory |= sm_bit(slot);
        return;
    }
    sub->ready[inst->unit] |= sm_bit(slot);
    sub->ready_units |= 1u << inst->unit;
    sub->ready_warps |= sm_bit(slot);
}

/* Looks whether the next instruction of a warp that is not ready can issue. */
static inline void warp_check(struct streaming_multiprocessor *c, uint32_t slot)
{
    warp_find(c, slot);
    if (unlikely(c->warp[slot].has_account))
        account_change(c, slot);
}

static inline void warp_decode(const struct streaming_multiprocessor *c, struct sm_warp *w)
{
    const uint32_t *words = sm_words(c);
    w->record = trace_record(words, w->record);
    w->id = (uint16_t)(words[w->record] & TRACE_ID);
}

/* Up to `fetch` warps whose buffer is empty get their next instructions, in turn. */
static bool warps_fetch(struct streaming_multiprocessor *c)
{
    const struct streaming_multiprocessor_params *params = streaming_multiprocessor_params(c);
    for (uint32_t i = 0; c->fetch && i < params->fetch; i++) {
        uint64_t behind = c->fetch & ~(sm_bit(c->next_fetch) - 1);
        uint32_t slot = (uint32_t)__builtin_ctzll(behind ? behind : c->fetch);
        struct sm_warp *w = &c->warp[slot];
        uint32_t buffer = params->buffer;
        c->fetch &= ~sm_bit(slot);
        c->next_fetch = (slot + 1) % SM_WARPS;
        w->buffered = (uint8_t)min(w->instructions_left, buffer);
        warp_check(c, slot);
    }
    return true;
}

/* Ends the wait of a warp, if it waits. */
static inline void warp_wake(struct streaming_multiprocessor *c, uint32_t slot)
{
    c->warp[slot].waits = SM_WAITS_NOT;
    if (c->warp[slot].instructions_left
        && !(c->sub[slot % sm_sub_cores(c)].ready_warps >> slot & 1))
        warp_check(c, slot);
}
