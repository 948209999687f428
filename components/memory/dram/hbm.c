/* Banks, rows and FR-FCFS. A channel is looked at when something may be issued, and each look
 * issues at most one column and one row command (one of both where they share a bus), of the
 * direction that is chosen:
 *
 * - column: of the requests whose row is open and whose command may go, the oldest;
 * - row: a bank without a request for its open row activates, or first precharges, for its oldest
 *   request; of the banks that may, the one with the oldest request.
 *
 * Nothing starves: a bank whose open row has been used `hit_cap` times serves its oldest request
 * next, whatever that wants, and the drain of writes ends at its mark. An open row is closed only
 * for another request or a refresh.
 *
 * After a look, and when a request comes, the channel knows the next edge at which something can go
 * and the banks that can have it, so no look is in vain. Refreshes of a channel without requests
 * are made up for when one comes: they happened when they were due, which nothing could observe, so
 * idle memory wakes no component. */
#include "hbm.gen.h"

#include "base/likely.h"
#include "base/number.h"

#include "hbm_state.h"

static void hbm_set_next(struct hbm *p, uint64_t edge)
{
    p->next = edge;
    p->next_ps = edge == ENGINE_NEVER ? DRAM_TIMING_LATER : edge * hbm_params(p)->tck;
}

static void hbm_setup_channel(struct hbm *p, uint32_t number)
{
    const struct hbm_params *k = hbm_params(p);
    struct hbm_channel *ch;
    p->channels[number] = arena_allocate(sizeof *ch + hbm_bank_count(p) * sizeof(struct hbm_bank)
                                         + k->groups * sizeof(struct hbm_group));
    ch = hbm_channel(p, number);
    ch->number = number;
    ch->next = ENGINE_NEVER;
    /* Channels take turns. */
    ch->refresh = (uint64_t)p->t.refi / hbm_refreshes(p) * (number + 1) / k->channels;
    for (uint32_t i = 0; i < hbm_bank_count(p); i++)
        ch->banks[i].row = HBM_CLOSED;
}

static uint32_t hbm_setup(struct part *self, uint32_t line, uint64_t *overhead_ps)
{
    struct hbm *p = (struct hbm *)(void *)self;
    const struct hbm_params *k = hbm_params(p);
    *overhead_ps = 0;
    if (k->burst != line)
        return 0;
    p->t = hbm_find_edges(p);
    for (uint32_t i = 0; i < k->channels; i++)
        hbm_setup_channel(p, i);
    hbm_set_next(p, ENGINE_NEVER);
    *overhead_ps = k->controller;
    /* Twice what waits: as many may have been issued and not be through. */
    return (uint32_t)(2 * k->channels * (k->read_queue + k->write_queue));
}

/* True if a queue that holds `most` has a slot for another request. */
static bool hbm_queue_has_room(const struct hbm_queue *q, int64_t most)
{
    return q->count < (uint32_t)most && q->next - q->first < HBM_SLOTS;
}

/* The refreshes that fell due before `edge` while there was nothing to do. */
static void hbm_catch_up(struct hbm *p, struct hbm_channel *ch, uint64_t edge)
{
    uint64_t count = hbm_refreshes(p), round = hbm_edges(p).refi / count * count;
    for (uint64_t i = 0; i < count && ch->refresh < edge; i++)
        hbm_refresh(p, ch);
    if (ch->refresh >= edge)
        return;
    uint64_t skipped = (edge - 1 - ch->refresh) / round;
    ch->refresh += skipped * round;
    p->io.stats.refreshes += skipped * count;
    while (ch->refresh < edge)
        hbm_refresh(p, ch);
}

static void hbm_choose_direction(const struct hbm *p, struct hbm_channel *ch)
{
    const struct hbm_params *k = hbm_params(p);
    uint32_t reads = ch->queues[HBM_READ].count, writes = ch->queues[HBM_WRITE].count;
    if (writes >= k->drain)
        ch->is_draining = true;
    else if (writes <= k->resume)
        ch->is_draining = false;
    ch->direction = writes && (ch->is_draining || !reads) ? HBM_WRITE : HBM_READ;
}

/* The earliest edge of a row command at a bank. */
static inline uint64_t hbm_row_ready(const struct hbm *p, struct hbm_channel *ch, uint32_t number)
{
    const struct hbm_bank *bank = &ch->banks[number];
    if (bank->row != HBM_CLOSED)
        return bank->pre;
    return max(max(bank->act, hbm_group(p, ch, number)->act), ch->act);
}

/* The earliest edge of a column command, the channel aside. */
static inline uint64_t hbm_column_ready(const struct hbm *p, struct hbm_channel *ch,
                                        enum hbm_direction d, uint32_t number)
{
    return max(ch->banks[number].column[d], hbm_group(p, ch, number)->column[d]);
}

/* The earliest edge of column commands, and the banks that may have one then. Nearly always it is
 * the channel that they wait for. */
static inline uint64_t hbm_plan_columns(const struct hbm *p, struct hbm_channel *ch, uint64_t from)
{
    enum hbm_direction d = (enum hbm_direction)ch->direction;
    uint64_t open = ch->queues[d].open, now = 0, later = 0, next = ENGINE_NEVER,
             limit = max(ch->column[d], from);
    for (uint64_t rest = open; rest; rest &= rest - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(rest);
        now |= (uint64_t)(hbm_column_ready(p, ch, d, number) <= limit) << number;
    }
    ch->columns = now;
    if (likely(now || !open))
        return now ? limit : next;
    for (uint64_t rest = open; rest; rest &= rest - 1) {
        uint64_t ready = hbm_column_ready(p, ch, d, (uint32_t)__builtin_ctzll(rest));
        later = ready < next ? 0 : later;
        later |= ready <= next ? rest & -rest : 0;
        next = min(next, ready);
    }
    ch->columns = later;
    return next;
}

/* hbm_plan() where something waits. */
static void hbm_plan_some(const struct hbm *p, struct hbm_channel *ch, uint64_t from)
{
    const struct hbm_queue *q = &ch->queues[ch->direction];
    uint64_t next = hbm_plan_columns(p, ch, from), rows = 0;
    for (uint64_t rest = q->busy & ~q->open; rest; rest &= rest - 1) {
        uint64_t ready = max(hbm_row_ready(p, ch, (uint32_t)__builtin_ctzll(rest)), from);
        if (ready > next)
            continue;
        if (ready < next)
            ch->columns = rows = 0;
        next = ready;
        rows |= rest & -rest;
    }
    ch->rows = rows;
    ch->next = min(next, ch->refresh);
}

/* The earliest edge, `from` at the least, at which something may be issued, and at which banks. */
static inline void hbm_plan(const struct hbm *p, struct hbm_channel *ch, uint64_t from)
{
    if (ch->queues[ch->direction].busy) {
        hbm_plan_some(p, ch, from);
        return;
    }
    ch->columns = ch->rows = 0;
    ch->next = ENGINE_NEVER;
}

/* Updates the plan when one more bank has a request. */
static ALWAYS_INLINE void hbm_plan_bank(const struct hbm *p, struct hbm_channel *ch,
                                        enum hbm_direction d, uint32_t number, uint64_t from)
{
    uint64_t bit = (uint64_t)1 << number;
    bool is_column = ch->queues[d].open & bit;
    uint64_t ready = max(from, is_column ? max(hbm_column_ready(p, ch, d, number), ch->column[d])
                                         : hbm_row_ready(p, ch, number));
    if (ready > ch->next)
        return;
    if (ready < ch->next)
        ch->columns = ch->rows = 0;
    *(is_column ? &ch->columns : &ch->rows) |= bit;
    ch->next = min(ready, ch->refresh);
}

/* A request comes to a queue. It changes the next command of its own bank, and only if it is alone
 * there or the first for the open row. */
static ALWAYS_INLINE void hbm_enter(struct hbm *p, struct hbm_channel *ch, enum hbm_direction d,
                                    const struct hbm_target *target, uint32_t number, uint64_t edge)
{
    uint64_t own = (uint64_t)1 << hbm_enqueue(p, ch, d, target, number);
    const struct hbm_bank *bank = &ch->banks[target->bank];
    unsigned before = ch->direction;
    bool alone = bank->waiting[d] == own;
    hbm_choose_direction(p, ch);
    if (ch->next == ENGINE_NEVER || (d == before && d == ch->direction && alone))
        hbm_plan_bank(p, ch, d, target->bank, edge);
    else if (ch->direction != before || (d == before && bank->hits[d] == own))
        hbm_plan_some(p, ch, edge);
}

/* Notes which queue of a channel has no room for a request. */
static bool hbm_is_full(struct hbm *p, const struct hbm_channel *ch, unsigned access)
{
    const struct hbm_params *k = hbm_params(p);
    uint32_t full = 0;
    if (access & DRAM_TIMING_READ && !hbm_queue_has_room(&ch->queues[HBM_READ], k->read_queue))
        full |= hbm_queue_bit(ch, HBM_READ);
    if (access & DRAM_TIMING_WRITE && !hbm_queue_has_room(&ch->queues[HBM_WRITE], k->write_queue))
        full |= hbm_queue_bit(ch, HBM_WRITE);
    p->full |= full;
    return full;
}

static uint64_t hbm_take(struct part *self, uint32_t number, uint64_t address, unsigned access,
                         uint64_t now_ps)
{
    struct hbm *p = (struct hbm *)(void *)self;
    struct hbm_target target = hbm_locate(p, address);
    struct hbm_channel *ch = hbm_channel(p, target.channel);
    uint64_t tck = hbm_params(p)->tck, edge = divide_up(now_ps, tck);
    uint32_t waiting = ch->queues[HBM_READ].count + ch->queues[HBM_WRITE].count;
    if (hbm_is_full(p, ch, access))
        return DRAM_TIMING_FULL;
    stat_histogram_add(&p->io.stats.queue_occupancy, waiting);
    if (hbm_finds(ch, HBM_WRITE, &target)) {
        p->io.stats.joined += access & DRAM_TIMING_WRITE ? 1 : 0;
        p->io.stats.forwarded += access & DRAM_TIMING_READ ? 1 : 0;
        return now_ps;
    }
    if (!waiting)
        hbm_catch_up(p, ch, edge);
    if (access & DRAM_TIMING_READ)
        hbm_enter(p, ch, HBM_READ, &target, number, edge);
    if (access & DRAM_TIMING_WRITE)
        hbm_enter(p, ch, HBM_WRITE, &target, number, edge);
    if (ch->next < p->next)
        hbm_set_next(p, ch->next);
    return access & DRAM_TIMING_READ ? DRAM_TIMING_LATER : now_ps;
}

/* The oldest request at `banks` of those whose row is open (`hits`), or of all; each of the banks
 * has one. Mostly it is the oldest of all banks. */
static ALWAYS_INLINE unsigned hbm_oldest_at(const struct hbm_channel *ch, enum hbm_direction d,
                                            uint64_t banks, bool hits)
{
    const struct hbm_queue *q = &ch->queues[d];
    unsigned slot = hbm_oldest(q, hits ? q->hits : q->valid);
    if (likely(banks >> q->requests[slot].bank & 1))
        return slot;
    uint64_t places = 0;
    for (; banks; banks &= banks - 1) {
        const struct hbm_bank *bank = &ch->banks[__builtin_ctzll(banks)];
        places |= hits ? bank->hits[d] : bank->waiting[d];
    }
    return hbm_oldest(q, places);
}

/* Issues the row command of the oldest request at a bank that may have one. */
static void hbm_issue_row(struct hbm *p, struct hbm_channel *ch, uint64_t edge)
{
    enum hbm_direction d = (enum hbm_direction)ch->direction;
    struct hbm_request *r = &ch->queues[d].requests[hbm_oldest_at(ch, d, ch->rows, false)];
    if (ch->banks[r->bank].row == HBM_CLOSED) {
        hbm_activate(p, ch, r->bank, r, edge);
        return;
    }
    HBM_COMMAND(ch, "PRE", r->bank, ch->banks[r->bank].row, edge);
    r->how |= HBM_PRECHARGED;
    hbm_precharge(p, ch, r->bank, edge);
}

/* Issues the oldest column command that may go, of the direction that is chosen; the number of the
 * request when that was a read. */
static ALWAYS_INLINE uint32_t hbm_issue_column(struct hbm *p, struct hbm_channel *ch,
                                               enum hbm_direction d, uint64_t edge, uint64_t *done)
{
    unsigned slot = hbm_oldest_at(ch, d, ch->columns, true);
    const struct hbm_request *r = &ch->queues[d].requests[slot];
    uint32_t bank = r->bank;
    *done = hbm_column(p, ch, d, bank, r->row, r->how, edge);
    hbm_dequeue(p, ch, d, slot, bank);
    if (ch->banks[bank].hits[!d]) /* the row may have been used often enough now */
        hbm_sort_bank(p, ch, !d, &ch->banks[bank], bank);
    hbm_choose_direction(p, ch);
    return d == HBM_READ ? r->number : DRAM_TIMING_NONE;
}

/* Issues what was planned, at least one command, and plans anew. */
static uint32_t hbm_issue_planned(struct hbm *p, struct hbm_channel *ch, uint64_t *done)
{
    uint32_t number = DRAM_TIMING_NONE;
    uint64_t edge = ch->next;
    bool together = hbm_params(p)->commands == HBM_COMMANDS_TOGETHER;
    if (edge >= ch->refresh) {
        hbm_refresh(p, ch);
        hbm_plan(p, ch, hbm_params(p)->refresh == HBM_REFRESH_ALL ? ch->banks[0].act : edge);
        return number;
    }
    if (ch->rows && !(together && ch->columns))
        hbm_issue_row(p, ch, edge);
    if (ch->columns)
        number = ch->direction == HBM_READ ? hbm_issue_column(p, ch, HBM_READ, edge, done)
                                           : hbm_issue_column(p, ch, HBM_WRITE, edge, done);
    hbm_plan(p, ch, edge + 1);
    return number;
}

/* A caller that gets a request calls again, and this goes on where it stopped. */
static uint32_t hbm_advance(struct part *self, uint64_t until_ps, uint64_t *done_ps)
{
    struct hbm *p = (struct hbm *)(void *)self;
    uint64_t tck = hbm_params(p)->tck, until = until_ps / tck, next = ENGINE_NEVER;
    if (p->next > until)
        return DRAM_TIMING_NONE;
    for (uint32_t i = 0; i < hbm_params(p)->channels; i++) {
        struct hbm_channel *ch = hbm_channel(p, i);
        while (ch->next <= until) {
            uint64_t done;
            uint32_t number = hbm_issue_planned(p, ch, &done);
            if (number != DRAM_TIMING_NONE) {
                *done_ps = done * tck;
                return number;
            }
        }
        next = min(next, ch->next);
    }
    hbm_set_next(p, next);
    return DRAM_TIMING_NONE;
}

static uint64_t hbm_rooms(const struct part *self)
{
    return ((const struct hbm *)(const void *)self)->rooms;
}

static uint64_t hbm_next_ps(const struct part *self)
{
    return ((const struct hbm *)(const void *)self)->next_ps;
}

static const struct dram_timing_ops hbm_ops = {
    .setup = hbm_setup,
    .take = hbm_take,
    .advance = hbm_advance,
    .rooms = hbm_rooms,
    .next_ps = hbm_next_ps,
};
