/* What each command of the memory does to the state of bank, group and channel: which later
 * commands it delays, and to which edge. Whether a command may go is decided in hbm.c. */
#include "hbm.gen.h"

#include "hbm_state.h"

static inline void hbm_find_hits(struct hbm_channel *ch, struct hbm_bank *bank)
{
    for (unsigned d = HBM_READ; d <= HBM_WRITE; d++) {
        bank->hits[d] = 0;
        for (uint64_t rest = bank->waiting[d]; rest; rest &= rest - 1) {
            unsigned place = (unsigned)__builtin_ctzll(rest);
            if (hbm_request(&ch->queues[d], place)->row == bank->row)
                bank->hits[d] |= (uint64_t)1 << place;
        }
    }
}

static inline void hbm_activate(struct hbm *p, struct hbm_channel *ch, uint32_t number,
                                struct hbm_request *r, uint64_t edge)
{
    const struct hbm_edges *t = &p->t;
    struct hbm_bank *bank = hbm_bank(ch, number);
    uint64_t *window = &ch->window[ch->activations++ % 4];
    HBM_COMMAND(ch, "ACT", number, r->row, edge);
    r->how |= HBM_ACTIVATED;
    bank->row = r->row;
    bank->streak = 0;
    bank->act = edge + t->rc;
    bank->pre = edge + t->ras;
    bank->column[HBM_READ] = edge + t->rcd[HBM_READ];
    bank->column[HBM_WRITE] = edge + t->rcd[HBM_WRITE];
    hbm_group(p, ch, number)->act = edge + t->rrd_l;
    *window = edge + t->faw;
    ch->act = hbm_max(edge + t->rrd_s, ch->window[ch->activations % 4]);
    hbm_find_hits(ch, bank);
}

/* Logging is left to the caller: precharging all banks is one command. */
static inline void hbm_precharge(struct hbm *p, struct hbm_channel *ch, uint32_t number,
                                 uint64_t edge)
{
    struct hbm_bank *bank = hbm_bank(ch, number);
    bank->row = HBM_CLOSED;
    bank->hits[HBM_READ] = bank->hits[HBM_WRITE] = 0;
    bank->act = hbm_max(bank->act, edge + p->t.rp);
}

/* Precharges what is open at or after the edge at which the refresh is due, and refreshes. */
static inline void hbm_refresh(struct hbm *p, struct hbm_channel *ch)
{
    uint32_t banks = (uint32_t)(hbm_params(p)->groups * hbm_params(p)->banks);
    uint64_t edge = ch->refresh, start = ch->refresh, open = 0;
    for (uint32_t i = 0; i < banks; i++) {
        const struct hbm_bank *bank = hbm_bank(ch, i);
        if (bank->row != HBM_CLOSED) {
            open |= (uint64_t)1 << i;
            edge = hbm_max(edge, bank->pre);
        }
    }
    if (open)
        HBM_COMMAND(ch, "PREA", 0, 0, edge);
    for (; open; open &= open - 1)
        hbm_precharge(p, ch, (uint32_t)__builtin_ctzll(open), edge);
    for (uint32_t i = 0; i < banks; i++)
        start = hbm_max(start, hbm_bank(ch, i)->act);
    HBM_COMMAND(ch, "REF", 0, 0, start);
    for (uint32_t i = 0; i < banks; i++)
        hbm_bank(ch, i)->act = start + p->t.rfc;
    ch->refresh += p->t.refi;
    p->io.stats.refreshes++;
}

/* Returns the edge at which the last of the data are through. */
static inline uint64_t hbm_column(struct hbm *p, struct hbm_channel *ch, enum hbm_direction d,
                                  const struct hbm_request *r, uint64_t edge)
{
    const struct hbm_edges *t = &p->t;
    struct hbm_bank *bank = hbm_bank(ch, r->bank);
    struct hbm_group *group = hbm_group(p, ch, r->bank);
    uint64_t end = edge + t->cas[d] + t->burst;
    HBM_COMMAND(ch, d == HBM_READ ? "RD" : "WR", r->bank, r->row, edge);
    bank->streak++;
    ch->column[d] = edge + t->ccd_s;
    group->column[d] = edge + t->ccd_l;
    if (d == HBM_READ) {
        uint64_t free = end + t->rtw;
        bank->pre = hbm_max(bank->pre, edge + t->rtp);
        if (free > t->cas[HBM_WRITE])
            ch->column[HBM_WRITE] = hbm_max(ch->column[HBM_WRITE], free - t->cas[HBM_WRITE]);
    } else {
        bank->pre = hbm_max(bank->pre, end + t->wr);
        ch->column[HBM_READ] = hbm_max(ch->column[HBM_READ], end + t->wtr_s);
        group->column[HBM_READ] = hbm_max(group->column[HBM_READ], end + t->wtr_l);
    }
    if (ch->last != d)
        p->io.stats.turnarounds++;
    ch->last = (uint8_t)d;
    p->io.stats.data_busy += t->burst;
    if (r->how & HBM_PRECHARGED)
        p->io.stats.row_conflicts++;
    else if (r->how)
        p->io.stats.row_misses++;
    else
        p->io.stats.row_hits++;
    return end;
}
