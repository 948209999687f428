/* Warps and blocks: their beginning, barriers, and when all is over. */
#include "base/likely.h"
#include "runtime/observe/timeline.h"

#include "sm_state.h"

/* Wakes the warps at barrier `number` when as many have come as it is for. */
static void barrier_try(struct streaming_multiprocessor *c, struct sm_block *b, uint32_t number)
{
    uint32_t wanted = b->wanted[number] ? b->wanted[number] : b->running;
    if (b->arrived[number] < wanted)
        return;
    b->barriers &= ~(1u << number);
    b->arrived[number] = 0;
    for (uint64_t rest = b->warps; rest; rest &= rest - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(rest);
        if (c->warp[slot].waits == SM_WAITS_BARRIER && c->warp[slot].barrier == number)
            warp_wake(c, slot);
    }
}

static inline void barrier_pass(struct streaming_multiprocessor *c, struct sm_block *b)
{
    for (uint32_t rest = b->barriers; rest; rest &= rest - 1)
        barrier_try(c, b, (uint32_t)__builtin_ctz(rest));
}

static void block_over(struct streaming_multiprocessor *c, uint32_t number)
{
    c->block[number].is_over = true;
    c->blocks_over |= sm_bit(number);
}

/* True if the store has all of the warp's instructions. */
static inline bool warp_is_whole(const struct sm_block *b, const struct sm_warp *w)
{
    return !b->is_partial || (b->ended >> w->number & 1);
}

/* Asks for more instructions when all that the block has are over. */
static void block_may_ask(struct streaming_multiprocessor *c, uint32_t number)
{
    struct sm_block *b = &c->block[number];
    for (uint64_t rest = b->warps; rest; rest &= rest - 1) {
        const struct sm_warp *w = &c->warp[__builtin_ctzll(rest)];
        if (w->instructions_left || w->in_flight)
            return;
    }
    if (!b->has_asked)
        c->blocks_ask |= sm_bit(number);
    b->has_asked = true;
}

/* After everything that ends something of the warp. */
static inline void warp_may_end(struct streaming_multiprocessor *c, uint32_t slot)
{
    struct sm_warp *w = &c->warp[slot];
    if (likely(w->instructions_left || w->in_flight))
        return;
    struct sm_block *b = &c->block[w->block];
    uint32_t sub = slot % sm_sub_cores(c);
    if (unlikely(!warp_is_whole(b, w))) {
        block_may_ask(c, w->block);
        return;
    }
    streaming_multiprocessor_scheduler_ops(c)->leave(streaming_multiprocessor_scheduler(c), sub,
                                                     slot);
    if (unlikely(w->has_account))
        account_change(c, slot);
    w->is_used = false;
    c->free_warps |= sm_bit(slot);
    b->warps &= ~sm_bit(slot);
    if (!b->warps)
        block_over(c, w->block);
    else if (unlikely(b->is_partial))
        block_may_ask(c, w->block);
}

/* An issued instruction is over. */
static inline void warp_retire(struct streaming_multiprocessor *c, uint32_t slot,
                               uint16_t destination, bool memory)
{
    struct sm_warp *w = &c->warp[slot];
    bool look = false;
    w->in_flight--;
    if (sm_is_async(destination)) {
        async_over(c, slot, destination);
        memory = false; /* fences do not wait for it */
    } else if (destination != TRACE_REGISTER_NONE) {
        uint64_t keep = ~sm_bit(destination % 64);
        w->pending[destination / 64] &= keep;
        w->memory[destination / 64] &= keep;
        look = true;
    }
    if (memory && !--w->accesses && w->waits == SM_WAITS_MEMORY) {
        w->waits = SM_WAITS_NOT;
        look = true;
    }
    if (look && w->instructions_left && !(c->sub[slot % sm_sub_cores(c)].ready_warps >> slot & 1))
        warp_check(c, slot);
    warp_may_end(c, slot);
}

static bool events_end(struct streaming_multiprocessor *c, uint64_t now)
{
    uint32_t slot = (uint32_t)(now % SM_WHEEL);
    uint16_t number = c->wheel[slot];
    if (number == SM_NONE)
        return false;
    c->wheel[slot] = SM_NONE;
    c->event_bits[slot / 64] &= ~sm_bit(slot % 64);
    c->event_words &= ~((uint32_t)!c->event_bits[slot / 64] << slot / 64);
    while (number != SM_NONE) {
        struct sm_event *e = sm_event(c, number);
        uint16_t next = e->next;
        warp_retire(c, e->warp, e->destination, e->memory);
        e->next = c->free_event;
        c->free_event = number;
        number = next;
    }
    return true;
}

static void warp_start(struct streaming_multiprocessor *c, struct sm_block *b, uint32_t number,
                       const struct trace_block *from, uint32_t i)
{
    uint32_t slot = (uint32_t)__builtin_ctzll(c->free_warps);
    struct sm_warp *w = &c->warp[slot];
    c->free_warps &= ~sm_bit(slot);
    *w = (struct sm_warp){.record = from->warp[i].at,
                          .instructions_left = from->warp[i].count,
                          .insts_at = from->insts_at,
                          .block = (uint8_t)number,
                          .number = (uint8_t)i,
                          .cycles_kind = WARP_WAITING_FETCH,
                          .is_used = true,
                          .has_account = b->has_account,
                          .since = c->now};
    if (w->instructions_left)
        warp_decode(c, w);
    async_start(c, slot);
    b->warps |= sm_bit(slot);
    b->warpgroup[i / 4] |= (uint8_t)(1u << i % 4);
    b->running++;
    b->count++;
    c->fetch |= w->instructions_left ? sm_bit(slot) : 0;
    c->io.stats.warps_run++;
    streaming_multiprocessor_scheduler_ops(c)->arrive(streaming_multiprocessor_scheduler(c),
                                                      slot % sm_sub_cores(c), slot);
}

/* The span in traces; its id is the slot. */
static const char block_span[] = "thread block";

/* Warps without instructions do not run. There is room: the player has checked it. */
static void block_start(struct streaming_multiprocessor *c, uint32_t block, uint16_t tag,
                        uint64_t now)
{
    const struct trace_block *from = trace_block(streaming_multiprocessor_stream(c), block);
    uint32_t number = 0;
    while (c->block[number].is_used)
        number++;
    struct sm_block *b = &c->block[number];
    *b = (struct sm_block){.number = block,
                           .tag = tag,
                           .is_used = true,
                           .is_partial = from->more,
                           .ended = from->ended,
                           .has_account = from->asks};
    if (b->has_account)
        account_begin(c, number);
    if (!c->resident++)
        c->active_since = now;
    c->io.stats.blocks++;
    timeline_begin(&c->io.base, number, block_span);
    for (uint32_t i = 0; i < from->warps; i++)
        if (from->warp[i].count || (from->more && !(from->ended >> i & 1)))
            warp_start(c, b, number, from, i);
    if (!b->warps)
        block_over(c, number);
}

/* The warp has issued its last instruction. */
static inline void warp_leave_block(struct sm_block *b, const struct sm_warp *w)
{
    b->running--;
    b->warpgroup[w->number / 4] &= (uint8_t) ~(1u << w->number % 4);
}

/* The block has its next instructions. */
static void block_go_on(struct streaming_multiprocessor *c, uint32_t block)
{
    const struct trace_block *from = trace_block(streaming_multiprocessor_stream(c), block);
    uint32_t number = 0;
    while (!c->block[number].is_used || c->block[number].number != block)
        number++;
    struct sm_block *b = &c->block[number];
    b->is_partial = from->more;
    b->ended = from->ended;
    b->has_asked = false;
    for (uint64_t rest = b->warps; rest; rest &= rest - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(rest);
        struct sm_warp *w = &c->warp[slot];
        w->record = from->warp[w->number].at;
        w->instructions_left = from->warp[w->number].count;
        if (w->instructions_left) {
            warp_decode(c, w);
            c->fetch |= sm_bit(slot);
            if (w->has_account)
                account_change(c, slot);
        } else if (warp_is_whole(b, w)) {
            warp_leave_block(b, w);
        }
    }
    barrier_pass(c, b);
    for (uint64_t rest = b->warps; rest; rest &= rest - 1)
        warp_may_end(c, (uint32_t)__builtin_ctzll(rest));
}

/* Reports the ends of blocks, and that they need more instructions. */
static bool blocks_report(struct streaming_multiprocessor *c, uint64_t now)
{
    bool progress = false;
    while (c->blocks_ask && streaming_multiprocessor_work_can_reply(c)) {
        const struct sm_block *b = &c->block[__builtin_ctzll(c->blocks_ask)];
        c->blocks_ask &= c->blocks_ask - 1;
        streaming_multiprocessor_work_reply_more(c, b->tag, b->number);
        progress = true;
    }
    while (c->blocks_over && streaming_multiprocessor_work_can_reply(c)) {
        struct sm_block *b = &c->block[__builtin_ctzll(c->blocks_over)];
        c->blocks_over &= c->blocks_over - 1;
        uint32_t number = (uint32_t)(b - c->block);
        void *payload = streaming_multiprocessor_work_reply_finished(
            c, b->tag, b->number, b->warp_instructions, b->thread_instructions);
        if (b->has_account)
            memcpy(thread_block_finished_account(payload), account_end(c, number),
                   sizeof(struct warp_account));
        timeline_end(&c->io.base, number, block_span);
        b->is_used = false;
        if (!--c->resident)
            c->io.stats.active_cycles += now - c->active_since;
        progress = true;
    }
    return progress;
}
