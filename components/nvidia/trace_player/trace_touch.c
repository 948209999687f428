/* Kernels without time: their traces are read to the end at once, each access touches the caches
 * (components/sampling/warmup.h), nothing is sent. Done at the end of a window while nothing is
 * under way.
 *
 * Blocks go to SMs in turn as long as there is room, as in player ticks, and a block's end makes
 * room for the next one. All that are resident run side by side, in rounds: each warp up to the
 * first instruction that needs what a load of this round brings. Barriers play no part. Copies that
 * are between kernels are repeated in the same way. */
#include <string.h>

#include "base/number.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"

#include "trace_player_state.h"

struct touch_block {
    uint32_t block, sm;
    uint8_t slot[TRACE_WARPS]; /* slot of the SM, to which local memory belongs */
};

/* Host memory, empty between kernels. */
static struct {
    struct touch_block *block; /* resident, in the order of their placing */
    uint32_t count;
    uint64_t *free_slots; /* each SM's */
    uint32_t *unit;       /* each SM's number by components/sampling/warmup.h */
} touch;

static void touch_close(void)
{
    itrace_free(touch.block);
    itrace_free(touch.free_slots);
    itrace_free(touch.unit);
    memset(&touch, 0, sizeof touch);
}

static uint32_t touch_ring(const struct trace_player *p, uint32_t sm)
{
    return engine_base.port_rings[2 * (p->io.work_first + sm)];
}

/* False: an SM is not where its work comes from. */
static bool touch_open(const struct trace_player *p)
{
    uint32_t sms = trace_player_work_count(p);
    if (touch.block)
        return true;
    touch.block = itrace_allocate((size_t)sms * p->sm.room.blocks, sizeof *touch.block);
    touch.free_slots = itrace_allocate(sms, sizeof *touch.free_slots);
    touch.unit = itrace_allocate(sms, sizeof *touch.unit);
    for (uint32_t i = 0; i < sms; i++) {
        touch.free_slots[i] = UINT64_MAX;
        touch.unit[i] = warm_unit_behind(touch_ring(p, i));
        if (touch.unit[i] != UINT32_MAX)
            continue;
        snprintf(trace_files_get()->error, sizeof trace_files_get()->error,
                 "work[%u] does not lead straight to a streaming_multiprocessor, so its caches "
                 "cannot be warmed without time; use --warmup none, perfect or memory:N",
                 i);
        return false;
    }
    return true;
}

/* ---- accesses ---- */

static void touch_line(uint32_t unit, enum warm_kind kind, const struct sm_request *r)
{
    for (unsigned half = 0; half < SM_LINE / WARM_LINE; half++) {
        struct warm_access access = {.address = r->line + half * WARM_LINE,
                                     .physical = r->line + half * WARM_LINE,
                                     .mask = r->bytes[2 * half]
                                             | (uint64_t)r->bytes[2 * half + 1] << 32,
                                     .kind = (uint8_t)kind};
        if (access.mask)
            warm_touch(unit, WARM_VECTOR, &access);
    }
}

static void touch_access(uint32_t unit, const struct trace_inst *inst, const uint32_t *record,
                         uint32_t slot)
{
    static struct sm_lines lines;
    enum warm_kind kind = inst->bypass ? WARM_COHERENT : WARM_READ;
    if (inst->kind == TRACE_STORE)
        kind = WARM_WRITE;
    else if (inst->kind == TRACE_ATOMIC)
        kind = WARM_ATOMIC;
    if (trace_record_mode(*record) == TRACE_NONE || trace_record_space(*record) == TRACE_SHARED)
        return;
    coalesce(&lines, record, inst->width, (uint64_t)warm_unit_leaf(unit) * SM_WARPS + slot);
    if (trace_record_space(*record) == TRACE_GLOBAL)
        profile_lines(&lines, kind);
    for (uint32_t i = 0; i < lines.count; i++)
        touch_line(unit, kind, &lines.request[i]);
}

/* The lines of a bulk copy, which does not look into the L1. */
static void touch_copy(uint32_t unit, const struct trace_inst *inst, const uint32_t *record)
{
    struct bulk_cursor at = {0};
    struct sm_request request;
    enum warm_kind kind = inst->kind == TRACE_BULK_STORE    ? WARM_WRITE
                          : inst->kind == TRACE_BULK_REDUCE ? WARM_ATOMIC
                                                            : WARM_COHERENT;
    while (trace_record_mask(record) && bulk_next(record, &at, &request))
        touch_line(unit, kind, &request);
}

/* ---- warps ---- */

static bool touch_is_waited_for(const uint64_t *loading, uint16_t reg)
{
    return reg != TRACE_REGISTER_NONE && (loading[reg / 64] >> (reg % 64) & 1);
}

static bool touch_waits(const uint64_t *loading, const struct trace_inst *inst)
{
    bool waits = touch_is_waited_for(loading, inst->destination);
    for (unsigned i = 0; i < TRACE_SOURCES && inst->source[i] != TRACE_REGISTER_NONE; i++)
        waits |= touch_is_waited_for(loading, inst->source[i]);
    return waits;
}

static void touch_warp(struct trace_player *p, struct player_kernel *k, struct trace_block *b,
                       uint32_t warp, struct touch_block *t)
{
    const uint32_t *words = trace_words(trace_player_stream(p));
    const struct trace_inst *insts = arena_at(const struct trace_inst, k->insts_at);
    uint64_t loading[TRACE_REGISTERS / 64] = {0};
    while (b->warp[warp].count) {
        uint32_t at = trace_record(words, b->warp[warp].at);
        const struct trace_inst *inst = &insts[words[at] & TRACE_ID];
        if (touch_waits(loading, inst))
            break;
        k->warp_instructions++;
        k->thread_instructions += (uint64_t)__builtin_popcount(trace_record_mask(words + at));
        if (inst->unit == TRACE_COPIER && k->touches)
            touch_copy(touch.unit[t->sm], inst, words + at);
        if (inst->unit == TRACE_MEMORY) {
            if (k->touches)
                touch_access(touch.unit[t->sm], inst, words + at, t->slot[warp]);
            if (inst->destination != TRACE_REGISTER_NONE)
                loading[inst->destination / 64] |= (uint64_t)1 << (inst->destination % 64);
        }
        b->warp[warp].at = trace_record_end(words, at);
        b->warp[warp].count--;
    }
}

/* ---- blocks ---- */

static void touch_begin_block(struct trace_player *p, struct player_kernel *k, uint32_t sm)
{
    struct touch_block *t = &touch.block[touch.count++];
    const struct trace_block *b = player_block(p, k->next_block);
    *t = (struct touch_block){.block = k->next_block, .sm = sm};
    for (uint32_t w = 0; w < b->warps; w++) {
        t->slot[w] = (uint8_t)__builtin_ctzll(touch.free_slots[sm]);
        touch.free_slots[sm] &= touch.free_slots[sm] - 1;
    }
    sm_room_acquire(player_room(p, sm), &k->block);
    if (k->touches)
        warm_carve(touch_ring(p, sm), k->carve);
    read_block_placed(p, k);
    p->next_sm = sm + 1 < trace_player_work_count(p) ? sm + 1 : 0;
}

/* Places blocks until one fits nowhere, or there is none, or no memory for it. */
static void touch_place(struct trace_player *p, struct player_kernel *k)
{
    uint32_t sms = trace_player_work_count(p);
    for (;;) {
        if (read_wants(k))
            read_block(p, k);
        if (k->next_block == TRACE_INDEX_NONE)
            return;
        uint32_t tried = 0, sm = p->next_sm;
        while (tried < sms && !sm_room_fits(player_room(p, sm), &k->block)) {
            sm = sm + 1 < sms ? sm + 1 : 0;
            tried++;
        }
        if (tried == sms)
            return;
        touch_begin_block(p, k, sm);
    }
}

static void touch_end_block(struct trace_player *p, struct player_kernel *k,
                            const struct touch_block *t)
{
    struct trace_block *b = player_block(p, t->block);
    for (uint32_t w = 0; w < b->warps; w++)
        touch.free_slots[t->sm] |= (uint64_t)1 << t->slot[w];
    sm_room_release(player_room(p, t->sm), &k->block);
    trace_writer_release(&p->writer, trace_player_stream(p), b);
    k->blocks++;
    p->io.stats.blocks_done++;
}

static void touch_round(struct trace_player *p, struct player_kernel *k)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < touch.count; i++) {
        struct trace_block *b = player_block(p, touch.block[i].block);
        uint32_t left = 0;
        for (uint32_t w = 0; w < b->warps; w++) {
            touch_warp(p, k, b, w, &touch.block[i]);
            left |= b->warp[w].count;
        }
        if (left)
            touch.block[kept++] = touch.block[i];
        else
            touch_end_block(p, k, &touch.block[i]);
    }
    touch.count = kept;
}

/* Puts the sectors of the copies among the commands from `first` to `end` into the L2. */
static void touch_copies(const struct trace_player *p, uint32_t first, uint32_t end)
{
    if (!player_fills(p))
        return;
    for (uint32_t i = first; i < end; i++) {
        const struct itrace_command *command = &trace_files_get()->list.commands[i];
        uint64_t at = command->address, stop = at + command->bytes;
        while (command->kind == ITRACE_COMMAND_WRITE && at < stop) {
            uint64_t piece = round_down(at, WARM_LINE);
            uint64_t rest = min(stop - piece, WARM_LINE);
            struct warm_access access = {.address = piece, .physical = piece, .kind = WARM_FILL};
            access.mask = rest < WARM_LINE ? ((uint64_t)1 << rest) - 1 : UINT64_MAX;
            access.mask &= UINT64_MAX << (at - piece);
            warm_pass(ring_number(p->io.l2_request), &access);
            at = piece + WARM_LINE;
        }
    }
}

/* The whole kernel; it fits on an SM. False: trace_files.error has the reason. */
static bool touch_kernel(struct trace_player *p, struct player_kernel *k)
{
    if (!touch_open(p))
        return false;
    profile_begin();
    address_list_launch(k->launch);
    warm_clear_counts();
    if (k->touches)
        warm_begin_all(false);
    do {
        touch_place(p, k);
        if (!touch.count && !k->is_read && !*trace_files_get()->error)
            player_too_small(p, k);
        touch_round(p, k);
    } while (!*trace_files_get()->error && (touch.count || !k->is_read));
    if (k->touches)
        warm_begin_all(false); /* the L1s forget at the end of a kernel */
    engine_count_instructions(&p->io.base, k->warp_instructions);
    return !*trace_files_get()->error;
}
