/* Banks, rows and FR-FCFS. A channel is looked at when something may be issued, and each look
 * issues at most one column and one row command (one of both where they share a bus), of the
 * direction that is chosen:
 *
 * - column: of the requests whose row is open and whose command may go, the oldest;
 * - row: a bank without a request for its open row activates, or first precharges, for its oldest
 *   request; of the banks that may, the one with the oldest request.
 *
 * A request that finds nothing in its way has its command at once (hbm_passes()).
 *
 * Nothing starves: a bank whose open row has been used `hit_cap` times serves its oldest request
 * next, whatever that wants, and the drain of writes ends at its mark. An open row is closed only
 * for another request or a refresh.
 *
 * After a look, and when a request comes, the channel knows the next edge at which something can go
 * and the banks that can have it, so no look is in vain.
 * Refreshes of a channel without requests are made up for when one comes: they happened when they
 * were due, and nobody could see it, so idle memory wakes nobody. */
#include "hbm.gen.h"

#include "hbm_state.h"

static void hbm_init(struct hbm *p)
{
    (void)p;
}

static void hbm_set_next(struct hbm *p, uint64_t edge)
{
    p->next = edge;
    p->next_ps = edge == HBM_NEVER ? DRAM_TIMING_LATER : edge * (uint64_t)hbm_params(p)->tck;
}

static uint32_t hbm_edges_of(const struct hbm *p, int64_t ps)
{
    int64_t tck = hbm_params(p)->tck;
    return (uint32_t)((ps + tck - 1) / tck);
}

static void hbm_setup_channel(struct hbm *p, uint32_t number)
{
    const struct hbm_params *k = hbm_params(p);
    struct hbm_channel *ch = hbm_channel(p, number);
    ch->number = number;
    ch->next = HBM_NEVER;
    /* Channels take turns. */
    ch->refresh = (uint64_t)p->t.refi * (number + 1) / (uint64_t)k->channels;
    ch->banks = arena_allocate((size_t)(k->groups * k->banks) * sizeof(struct hbm_bank));
    ch->groups = arena_allocate((size_t)k->groups * sizeof(struct hbm_group));
    for (unsigned d = HBM_READ; d <= HBM_WRITE; d++)
        ch->queues[d].requests = arena_allocate(HBM_PLACES * sizeof(struct hbm_request));
    for (uint32_t i = 0; i < (uint32_t)(k->groups * k->banks); i++)
        hbm_bank(ch, i)->row = HBM_CLOSED;
}

static uint32_t hbm_setup(struct part *self, uint32_t line, uint64_t *overhead_ps)
{
    struct hbm *p = (struct hbm *)(void *)self;
    const struct hbm_params *k = hbm_params(p);
    *overhead_ps = 0;
    if ((uint64_t)k->burst != line)
        return 0;
    p->line_bits = (uint32_t)__builtin_ctz(line);
    p->t = (struct hbm_edges){
        .burst = hbm_edges_of(p, k->tburst),
        .rcd = {hbm_edges_of(p, k->trcd_read), hbm_edges_of(p, k->trcd_write)},
        .cas = {hbm_edges_of(p, k->tcl), hbm_edges_of(p, k->tcwl)},
        .rp = hbm_edges_of(p, k->trp),
        .ras = hbm_edges_of(p, k->tras),
        .rc = hbm_edges_of(p, k->trc),
        .rtp = hbm_edges_of(p, k->trtp),
        .wr = hbm_edges_of(p, k->twr),
        .ccd_s = hbm_edges_of(p, k->tccd_s),
        .ccd_l = hbm_edges_of(p, k->tccd_l),
        .wtr_s = hbm_edges_of(p, k->twtr_s),
        .wtr_l = hbm_edges_of(p, k->twtr_l),
        .rtw = hbm_edges_of(p, k->trtw),
        .rrd_s = hbm_edges_of(p, k->trrd_s),
        .rrd_l = hbm_edges_of(p, k->trrd_l),
        .faw = hbm_edges_of(p, k->tfaw),
        .rfc = hbm_edges_of(p, k->trfc),
        .refi = hbm_edges_of(p, k->trefi),
    };
    p->channels = arena_allocate((size_t)k->channels * sizeof(struct hbm_channel));
    for (uint32_t i = 0; i < (uint32_t)k->channels; i++)
        hbm_setup_channel(p, i);
    hbm_set_next(p, HBM_NEVER);
    *overhead_ps = (uint64_t)k->controller;
    /* Twice what waits: as many may have been issued and not be through. */
    return (uint32_t)(2 * k->channels * (k->read_queue + k->write_queue));
}

static bool hbm_queue_has_room(const struct hbm_queue *q, int64_t most)
{
    return q->count < (uint32_t)most && q->next - q->first < HBM_PLACES;
}

/* The refreshes that fell due before `edge` while there was nothing to do. */
static void hbm_catch_up(struct hbm *p, struct hbm_channel *ch, uint64_t edge)
{
    if (ch->refresh >= edge)
        return;
    hbm_refresh(p, ch);
    if (ch->refresh >= edge)
        return;
    uint64_t skipped = (edge - 1 - ch->refresh) / p->t.refi;
    ch->refresh += skipped * p->t.refi;
    p->io.stats.refreshes += skipped;
    hbm_refresh(p, ch);
}

static void hbm_choose_direction(const struct hbm *p, struct hbm_channel *ch)
{
    const struct hbm_params *k = hbm_params(p);
    uint32_t reads = ch->queues[HBM_READ].count, writes = ch->queues[HBM_WRITE].count;
    if (writes >= (uint32_t)k->drain)
        ch->forced = true;
    else if (writes <= (uint32_t)k->resume)
        ch->forced = false;
    ch->direction = writes && (ch->forced || !reads) ? HBM_WRITE : HBM_READ;
}

/* Does what waits at a bank want its column, or a row command first? A row that has been used often
 * gives way to an older request for another one. */
static inline bool hbm_wants_column(const struct hbm *p, const struct hbm_channel *ch,
                                    const struct hbm_bank *bank)
{
    unsigned d = ch->direction;
    uint64_t hits = bank->hits[d];
    if (engine_likely(!hits || bank->streak < (uint32_t)hbm_params(p)->hit_cap))
        return hits;
    return hits >> hbm_oldest(&ch->queues[d], bank->waiting[d]) & 1;
}

/* The earliest edge of that command. */
static inline uint64_t hbm_ready(const struct hbm *p, const struct hbm_channel *ch, uint32_t number,
                                 bool column)
{
    unsigned d = ch->direction;
    const struct hbm_bank *bank = hbm_bank(ch, number);
    const struct hbm_group *group = hbm_group(p, ch, number);
    if (column)
        return hbm_max(hbm_max(bank->column[d], group->column[d]), ch->column[d]);
    return bank->row == HBM_CLOSED ? hbm_max(hbm_max(bank->act, group->act), ch->act) : bank->pre;
}

/* hbm_plan() where several banks want something. */
static __attribute__((noinline)) void hbm_plan_banks(const struct hbm *p, struct hbm_channel *ch,
                                                     uint64_t from)
{
    uint64_t next = HBM_NEVER, columns = 0, rows = 0;
    for (uint64_t rest = ch->queues[ch->direction].busy; rest; rest &= rest - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(rest);
        bool column = hbm_wants_column(p, ch, hbm_bank(ch, number));
        uint64_t ready = hbm_max(hbm_ready(p, ch, number, column), from), bit = rest & -rest;
        if (ready > next)
            continue;
        if (ready < next)
            columns = rows = 0;
        next = ready;
        columns |= column ? bit : 0;
        rows |= column ? 0 : bit;
    }
    ch->columns = columns;
    ch->rows = rows;
    ch->next = hbm_min(next, ch->refresh);
}

/* The earliest edge, `from` at the least, at which something may be issued, and at which banks. */
static inline void hbm_plan(const struct hbm *p, struct hbm_channel *ch, uint64_t from)
{
    uint64_t busy = ch->queues[ch->direction].busy;
    if (busy & (busy - 1)) {
        hbm_plan_banks(p, ch, from);
        return;
    }
    ch->columns = ch->rows = 0;
    ch->next = HBM_NEVER;
    if (!busy)
        return;
    uint32_t number = (uint32_t)__builtin_ctzll(busy);
    bool column = hbm_wants_column(p, ch, hbm_bank(ch, number));
    *(column ? &ch->columns : &ch->rows) = busy;
    ch->next = hbm_min(hbm_max(hbm_ready(p, ch, number, column), from), ch->refresh);
}

/* The same when a request of direction `d` has come to place `place` of its queue. It changes what
 * its own bank wants, and that only if it is alone there or the first for the open row. */
static void hbm_plan_for(const struct hbm *p, struct hbm_channel *ch, enum hbm_direction d,
                         unsigned place, uint32_t number, uint64_t edge)
{
    unsigned before = ch->direction;
    const struct hbm_bank *bank = hbm_bank(ch, number);
    uint64_t own = (uint64_t)1 << place, bit = (uint64_t)1 << number;
    bool alone = bank->waiting[d] == own, first_hit = bank->hits[d] == own;
    hbm_choose_direction(p, ch);
    if (ch->direction != before || (d == before && first_hit && !alone)) {
        hbm_plan(p, ch, edge);
    } else if (d == before && alone) {
        bool column = hbm_wants_column(p, ch, bank);
        uint64_t ready = hbm_max(hbm_ready(p, ch, number, column), edge);
        if (ready > ch->next)
            return;
        if (ready < ch->next)
            ch->columns = ch->rows = 0;
        *(column ? &ch->columns : &ch->rows) |= bit;
        ch->next = hbm_min(ready, ch->refresh);
    }
}

static bool hbm_has_room(const struct hbm *p, const struct hbm_channel *ch, unsigned access)
{
    const struct hbm_params *k = hbm_params(p);
    const struct hbm_queue *queues = ch->queues;
    return (!(access & DRAM_TIMING_READ) || hbm_queue_has_room(&queues[HBM_READ], k->read_queue))
           && (!(access & DRAM_TIMING_WRITE)
               || hbm_queue_has_room(&queues[HBM_WRITE], k->write_queue));
}

static inline void hbm_enter(struct hbm *p, struct hbm_channel *ch, enum hbm_direction d,
                             const struct hbm_place *at, uint32_t number, uint64_t edge)
{
    unsigned place = hbm_enqueue(ch, d, at, number);
    if (ch->next != HBM_NEVER) {
        hbm_plan_for(p, ch, d, place, at->bank, edge);
        return;
    }
    hbm_choose_direction(p, ch);
    hbm_plan(p, ch, edge);
}

/* A request for an open row that comes to an idle channel at the edge at which its command may go,
 * and behind which no other comes at this edge, need not wait in a queue. Reads of other channels
 * that are issued at this edge are through before it or behind it, by the order of channels; so it
 * must be alone. */
static inline bool hbm_passes(const struct hbm *p, const struct hbm_channel *ch,
                              enum hbm_direction d, const struct hbm_place *at, uint64_t edge)
{
    const struct hbm_bank *bank = hbm_bank(ch, at->bank);
    uint64_t ready =
        hbm_max(hbm_max(bank->column[d], hbm_group(p, ch, at->bank)->column[d]), ch->column[d]);
    return bank->row == at->row && ready <= edge && edge < ch->refresh
           && (d == HBM_WRITE || p->next > edge);
}

static uint64_t hbm_take(struct part *self, uint32_t number, uint64_t address, unsigned access,
                         uint64_t now_ps, bool last)
{
    struct hbm *p = (struct hbm *)(void *)self;
    const struct hbm_params *k = hbm_params(p);
    struct hbm_place at = hbm_locate(p, address);
    struct hbm_channel *ch = hbm_channel(p, at.channel);
    if (!hbm_has_room(p, ch, access))
        return DRAM_TIMING_FULL;
    uint64_t tck = (uint64_t)k->tck, edge = (now_ps + tck - 1) / tck;
    uint32_t waiting = ch->queues[HBM_READ].count + ch->queues[HBM_WRITE].count;
    bool known = hbm_finds(ch, HBM_WRITE, &at);
    stat_histogram_add(&p->io.stats.queue_occupancy, waiting);
    if (access & DRAM_TIMING_WRITE && known)
        p->io.stats.joined++;
    if (access & DRAM_TIMING_READ && known)
        p->io.stats.forwarded++;
    if (known)
        return now_ps;
    if (!waiting) {
        enum hbm_direction d = access & DRAM_TIMING_WRITE ? HBM_WRITE : HBM_READ;
        hbm_catch_up(p, ch, edge);
        if (last && edge * tck == now_ps && access != (DRAM_TIMING_READ | DRAM_TIMING_WRITE)
            && hbm_passes(p, ch, d, &at, edge)) {
            const struct hbm_request r = {.row = at.row, .bank = at.bank};
            uint64_t end = hbm_column(p, ch, d, &r, edge);
            return d == HBM_READ ? end * tck : now_ps;
        }
    }
    if (access & DRAM_TIMING_READ)
        hbm_enter(p, ch, HBM_READ, &at, number, edge);
    if (access & DRAM_TIMING_WRITE)
        hbm_enter(p, ch, HBM_WRITE, &at, number, edge);
    if (ch->next < p->next)
        hbm_set_next(p, ch->next);
    return access & DRAM_TIMING_READ ? DRAM_TIMING_LATER : now_ps;
}

/* Issues the row command of the oldest request at a bank that may have one. */
static void hbm_issue_row(struct hbm *p, struct hbm_channel *ch, uint64_t edge)
{
    const struct hbm_queue *q = &ch->queues[ch->direction];
    uint64_t places = 0;
    for (uint64_t rest = ch->rows; rest; rest &= rest - 1)
        places |= hbm_bank(ch, (uint32_t)__builtin_ctzll(rest))->waiting[ch->direction];
    struct hbm_request *r = hbm_request(q, hbm_oldest(q, places));
    if (hbm_bank(ch, r->bank)->row == HBM_CLOSED) {
        hbm_activate(p, ch, r->bank, r, edge);
        return;
    }
    HBM_COMMAND(ch, "PRE", r->bank, hbm_bank(ch, r->bank)->row, edge);
    r->how |= HBM_PRECHARGED;
    hbm_precharge(p, ch, r->bank, edge);
}

/* Issues the oldest column command that may go; the number of the request when that was a read. */
static uint32_t hbm_issue_column(struct hbm *p, struct hbm_channel *ch, uint64_t edge,
                                 uint64_t *done)
{
    enum hbm_direction d = (enum hbm_direction)ch->direction;
    uint64_t places = 0, rest = ch->columns;
    do
        places |= hbm_bank(ch, (uint32_t)__builtin_ctzll(rest))->hits[d];
    while (rest &= rest - 1);
    unsigned place = places & (places - 1) ? hbm_oldest(&ch->queues[d], places)
                                           : (unsigned)__builtin_ctzll(places);
    const struct hbm_request *r = hbm_request(&ch->queues[d], place);
    *done = hbm_column(p, ch, d, r, edge);
    hbm_dequeue(ch, d, place, r->bank);
    hbm_choose_direction(p, ch);
    return d == HBM_READ ? r->number : DRAM_TIMING_NONE;
}

/* Issues what was planned, at least one command, and plans anew. */
static uint32_t hbm_look(struct hbm *p, struct hbm_channel *ch, uint64_t *done)
{
    uint32_t number = DRAM_TIMING_NONE;
    uint64_t edge = ch->next;
    bool together = hbm_params(p)->commands == HBM_COMMANDS_TOGETHER;
    if (edge >= ch->refresh) {
        hbm_refresh(p, ch);
        hbm_plan(p, ch, hbm_bank(ch, 0)->act);
        return number;
    }
    if (ch->rows && !(together && ch->columns))
        hbm_issue_row(p, ch, edge);
    if (ch->columns)
        number = hbm_issue_column(p, ch, edge, done);
    hbm_plan(p, ch, edge + 1);
    return number;
}

static uint32_t hbm_advance(struct part *self, uint64_t until_ps, uint64_t *done_ps)
{
    struct hbm *p = (struct hbm *)(void *)self;
    uint64_t tck = (uint64_t)hbm_params(p)->tck, until = until_ps / tck, done = 0;
    uint32_t number = DRAM_TIMING_NONE;
    if (p->next > until)
        return number;
    uint64_t next = HBM_NEVER;
    for (uint32_t i = 0; i < (uint32_t)hbm_params(p)->channels; i++) {
        struct hbm_channel *ch = hbm_channel(p, i);
        while (ch->next <= until && number == DRAM_TIMING_NONE)
            number = hbm_look(p, ch, &done);
        next = hbm_min(next, ch->next);
    }
    hbm_set_next(p, next);
    *done_ps = done * tck;
    return number;
}

static uint64_t hbm_next_ps(const struct part *self)
{
    return ((const struct hbm *)(const void *)self)->next_ps;
}

/* Of the reads, the time of the first one if its command is next. */
static uint64_t hbm_due_ps(const struct part *self)
{
    const struct hbm *p = (const struct hbm *)(const void *)self;
    uint64_t next = HBM_NEVER;
    for (uint32_t i = 0; i < (uint32_t)hbm_params(p)->channels; i++) {
        const struct hbm_channel *ch = hbm_channel(p, i);
        if (ch->queues[HBM_READ].count)
            next = hbm_min(next, ch->next);
    }
    return next == HBM_NEVER
               ? DRAM_TIMING_LATER
               : (next + p->t.cas[HBM_READ] + p->t.burst) * (uint64_t)hbm_params(p)->tck;
}

static uint64_t hbm_clock_ps(const struct part *self)
{
    return (uint64_t)hbm_params((const struct hbm *)(const void *)self)->tck;
}

static const struct dram_timing_ops hbm_ops = {
    .setup = hbm_setup,
    .take = hbm_take,
    .advance = hbm_advance,
    .next_ps = hbm_next_ps,
    .due_ps = hbm_due_ps,
    .clock_ps = hbm_clock_ps,
};
