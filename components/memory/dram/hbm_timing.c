/* Effects of each command on the state of bank, group and channel: which later commands it delays,
 * and to which edge. Whether a command may go is decided in hbm.c. */
#include "hbm.gen.h"

#include "base/number.h"

#include "hbm_state.h"

static inline uint32_t hbm_edges_of(const struct hbm *p, int64_t ps)
{
    int64_t tck = hbm_params(p)->tck;
    return (uint32_t)divide_up(ps, tck);
}

static inline struct hbm_edges hbm_find_edges(const struct hbm *p)
{
    const struct hbm_params *k = hbm_params(p);
    return (struct hbm_edges){
        .burst = hbm_edges_of(p, k->tburst),
        .rcd_read = hbm_edges_of(p, k->trcd_read),
        .rcd_write = hbm_edges_of(p, k->trcd_write),
        .cas_read = hbm_edges_of(p, k->tcl),
        .cas_write = hbm_edges_of(p, k->tcwl),
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
}

/* Edges are constants where parameters are; elsewhere their divisions would take too long. */
static inline struct hbm_edges hbm_edges(const struct hbm *p)
{
#ifdef HBM_CONSTANTS
    return hbm_find_edges(p);
#else
    return p->t;
#endif
}

static inline void hbm_find_hits(const struct hbm *p, struct hbm_channel *ch, uint32_t number)
{
    struct hbm_bank *bank = &ch->banks[number];
    for (unsigned d = HBM_READ; d <= HBM_WRITE; d++) {
        struct hbm_queue *q = &ch->queues[d];
        uint64_t hits = 0; /* as it was while the row was closed */
        if (!bank->waiting[d])
            continue;
        for (uint64_t rest = bank->waiting[d]; rest; rest &= rest - 1)
            if (q->requests[__builtin_ctzll(rest)].row == bank->row)
                hits |= rest & -rest;
        bank->hits[d] = hits;
        q->hits |= hits;
        hbm_sort_bank(p, ch, (enum hbm_direction)d, bank, number);
    }
}

static inline void hbm_activate(struct hbm *p, struct hbm_channel *ch, uint32_t number,
                                struct hbm_request *r, uint64_t edge)
{
    const struct hbm_edges t = hbm_edges(p);
    struct hbm_bank *bank = &ch->banks[number];
    uint64_t *limit = &ch->activation_limits[ch->activations++ % 4];
    HBM_COMMAND(ch, "ACT", number, r->row, edge);
    r->how |= HBM_ACTIVATED;
    bank->row = r->row;
    bank->streak = 0;
    bank->act = edge + t.rc;
    bank->pre = edge + t.ras;
    bank->column[HBM_READ] = edge + t.rcd_read;
    bank->column[HBM_WRITE] = edge + t.rcd_write;
    hbm_group(p, ch, number)->act = edge + t.rrd_l;
    *limit = edge + t.faw;
    ch->act = max(edge + t.rrd_s, ch->activation_limits[ch->activations % 4]);
    hbm_find_hits(p, ch, number);
}

/* Logging is left to the caller: precharging all banks is one command. */
static inline void hbm_precharge(struct hbm *p, struct hbm_channel *ch, uint32_t number,
                                 uint64_t edge)
{
    struct hbm_bank *bank = &ch->banks[number];
    bank->row = HBM_CLOSED;
    for (unsigned d = HBM_READ; d <= HBM_WRITE; d++) {
        ch->queues[d].hits &= ~bank->hits[d];
        ch->queues[d].open &= ~((uint64_t)1 << number);
        bank->hits[d] = 0;
    }
    bank->act = max(bank->act, edge + hbm_edges(p).rp);
}

/* Refreshes the bank whose turn it is, when the refresh is due or as soon as the bank can be
 * closed. The commands of the refresh go between commands of other banks. */
static inline void hbm_refresh_bank(struct hbm *p, struct hbm_channel *ch)
{
    uint32_t number = ch->refreshed++ % hbm_bank_count(p);
    struct hbm_bank *bank = &ch->banks[number];
    if (bank->row != HBM_CLOSED) {
        uint64_t edge = max(ch->refresh, bank->pre);
        HBM_COMMAND(ch, "PREB", number, bank->row, edge);
        hbm_precharge(p, ch, number, edge);
    }
    uint64_t start = max(ch->refresh, bank->act);
    HBM_COMMAND(ch, "REFB", number, 0, start);
    bank->act = start + hbm_edges(p).rfc;
}

/* Precharges what is open at or after the edge at which the refresh is due, and refreshes. */
static inline void hbm_refresh_all(struct hbm *p, struct hbm_channel *ch)
{
    const struct hbm_edges t = hbm_edges(p);
    uint32_t banks = hbm_bank_count(p);
    uint64_t edge = ch->refresh, start = ch->refresh, open = 0;
    for (uint32_t i = 0; i < banks; i++) {
        const struct hbm_bank *bank = &ch->banks[i];
        if (bank->row != HBM_CLOSED) {
            open |= (uint64_t)1 << i;
            edge = max(edge, bank->pre);
        }
    }
    if (open)
        HBM_COMMAND(ch, "PREA", 0, 0, edge);
    for (; open; open &= open - 1)
        hbm_precharge(p, ch, (uint32_t)__builtin_ctzll(open), edge);
    for (uint32_t i = 0; i < banks; i++)
        start = max(start, ch->banks[i].act);
    HBM_COMMAND(ch, "REF", 0, 0, start);
    for (uint32_t i = 0; i < banks; i++)
        ch->banks[i].act = start + t.rfc;
}

static inline void hbm_refresh(struct hbm *p, struct hbm_channel *ch)
{
    if (hbm_params(p)->refresh == HBM_REFRESH_ALL)
        hbm_refresh_all(p, ch);
    else
        hbm_refresh_bank(p, ch);
    ch->refresh += hbm_edges(p).refi / hbm_refreshes(p);
    p->io.stats.refreshes++;
}

/* Issues the column command of a request whose row is open, opened by `how`. Returns the edge at
 * which the last of the data are through. */
static ALWAYS_INLINE uint64_t hbm_column(struct hbm *p, struct hbm_channel *ch,
                                         enum hbm_direction d, uint32_t number, uint64_t row,
                                         unsigned how, uint64_t edge)
{
    const struct hbm_edges t = hbm_edges(p);
    struct hbm_bank *bank = &ch->banks[number];
    struct hbm_group *group = hbm_group(p, ch, number);
    uint64_t end = edge + (d == HBM_READ ? t.cas_read : t.cas_write) + t.burst;
    (void)row; /* but for logs */
    HBM_COMMAND(ch, d == HBM_READ ? "RD" : "WR", number, row, edge);
    bank->streak++;
    ch->column[d] = edge + t.ccd_s;
    group->column[d] = edge + t.ccd_l;
    if (d == HBM_READ) {
        uint64_t free = end + t.rtw;
        bank->pre = max(bank->pre, edge + t.rtp);
        if (free > t.cas_write)
            ch->column[HBM_WRITE] = max(ch->column[HBM_WRITE], free - t.cas_write);
    } else {
        bank->pre = max(bank->pre, end + t.wr);
        ch->column[HBM_READ] = max(ch->column[HBM_READ], end + t.wtr_s);
        group->column[HBM_READ] = max(group->column[HBM_READ], end + t.wtr_l);
    }
    if (ch->last != d)
        p->io.stats.turnarounds++;
    ch->last = (uint8_t)d;
    p->io.stats.data_busy += t.burst;
    if (how & HBM_PRECHARGED)
        p->io.stats.row_conflicts++;
    else if (how)
        p->io.stats.row_misses++;
    else
        p->io.stats.row_hits++;
    return end;
}
