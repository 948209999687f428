/* State of the part hbm, the address map, and what each command does to the state.
 *
 * Time is counted in edges of the memory's clock; every distance that the timing rules demand is
 * kept as the earliest edge of a later command, at the bank, group or channel that the rule is
 * about, so that a command may go when three numbers allow it. A channel takes one row command
 * (ACT, PRE) and one column command (RD, WR) an edge, as JESD235 has it.
 *
 * Requests wait in two queues of a channel, reads and writes, of at most 64 places each. Places are
 * given in the order of arrival around a ring, so that age is the distance from the oldest, and
 * sets of requests are masks of 64 bits: those that wait at a bank, and among them those whose row
 * is open. */
#ifndef HEDDLE_COMPONENTS_HBM_STATE_H
#define HEDDLE_COMPONENTS_HBM_STATE_H

#include "components/memory/dram/dram_timing.h"
#include "hbm.gen.h"

#define HBM_PLACES 64u
#define HBM_CLOSED UINT64_MAX /* no row */
#define HBM_NEVER  UINT64_MAX

/* The test that checks sequences of commands is told of each one here. */
#ifdef HBM_LOG
void hbm_log_command(uint32_t channel, const char *command, uint32_t bank, uint64_t row,
                     uint64_t edge);
#define HBM_COMMAND(ch, command, bank, row, edge)                                                  \
    hbm_log_command((ch)->number, command, bank, row, edge)
#else
#define HBM_COMMAND(ch, command, bank, row, edge) ((void)0)
#endif

enum hbm_direction { HBM_READ, HBM_WRITE };

/* How a request got its row. */
enum { HBM_ACTIVATED = 1, HBM_PRECHARGED = 2 };

struct hbm_request {
    uint64_t row;
    uint32_t column;
    uint32_t number;
    uint32_t bank;
    uint32_t how;
};

struct hbm_queue {
    uint64_t valid;
    uint64_t busy;  /* banks at which a request waits */
    uint32_t first; /* of the oldest request; the place is this % 64 */
    uint32_t next;
    uint32_t count;
    uint32_t requests; /* arena offset: struct hbm_request [64] */
};

struct hbm_bank {
    uint64_t row;
    uint64_t waiting[2], hits[2]; /* by direction: places of its queue */
    uint64_t act, pre, column[2]; /* earliest edges */
    uint32_t streak;              /* column commands since the activation */
    uint32_t reserved;
};

struct hbm_group {
    uint64_t act, column[2];
};

struct hbm_channel {
    uint64_t next; /* edge to look at; HBM_NEVER without requests */
    uint64_t refresh;
    uint64_t act, column[2];
    uint64_t window[4]; /* the next activation but three may come then */
    struct hbm_queue queues[2];
    uint32_t banks, groups; /* arena offsets */
    uint32_t number;
    uint32_t activations;
    uint8_t direction, last; /* now chosen; of the last column command */
    bool forced;             /* drains because there are many writes */
    uint8_t reserved[5];
};

/* Parameters in edges. */
struct hbm_edges {
    uint32_t burst, rcd[2], cas[2], rp, ras, rc, rtp, wr, ccd_s, ccd_l, wtr_s, wtr_l, rtw, rrd_s,
        rrd_l, faw, rfc, refi;
};

struct hbm {
    struct hbm_io io;
    struct hbm_edges t;
    uint32_t channels; /* arena offset */
    uint32_t line_bits;
    uint64_t next; /* earliest of the channels */
};

struct hbm_place {
    uint32_t channel, bank, column;
    uint64_t row;
};

static inline uint64_t hbm_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t hbm_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline struct hbm_channel *hbm_channel(const struct hbm *p, uint32_t number)
{
    return arena_at(struct hbm_channel, p->channels) + number;
}

static inline struct hbm_bank *hbm_bank(const struct hbm_channel *ch, uint32_t bank)
{
    return arena_at(struct hbm_bank, ch->banks) + bank;
}

/* Banks are numbered group by group. */
static inline struct hbm_group *hbm_group(const struct hbm *p, const struct hbm_channel *ch,
                                          uint32_t bank)
{
    return arena_at(struct hbm_group, ch->groups) + bank / (uint32_t)hbm_params(p)->banks;
}

static inline struct hbm_request *hbm_request(const struct hbm_queue *q, unsigned place)
{
    return arena_at(struct hbm_request, q->requests) + place;
}

/* How much younger than the oldest the request at a place is. */
static inline unsigned hbm_age(const struct hbm_queue *q, unsigned place)
{
    return (place - q->first) % HBM_PLACES;
}

/* The oldest of `places`, which is not empty. */
static inline unsigned hbm_oldest(const struct hbm_queue *q, uint64_t places)
{
    unsigned turn = q->first % HBM_PLACES;
    uint64_t by_age = places >> turn | places << (-turn % HBM_PLACES);
    return ((unsigned)__builtin_ctzll(by_age) + turn) % HBM_PLACES;
}

/* The lowest bits of `*rest` that number `count` things, which are then gone from it. */
static inline uint32_t hbm_field(uint64_t *rest, int64_t count)
{
    uint32_t value = (uint32_t)(*rest & (uint64_t)(count - 1));
    *rest >>= __builtin_ctzll((uint64_t)count);
    return value;
}

static inline struct hbm_place hbm_locate(const struct hbm *p, uint64_t address)
{
    const struct hbm_params *k = hbm_params(p);
    unsigned slice_bits = (unsigned)__builtin_ctzll((uint64_t)k->interleaved),
             chunk_bits = (unsigned)__builtin_ctzll((uint64_t)k->interleave);
    uint64_t chunk = address >> chunk_bits >> slice_bits,
             rest =
                 (chunk << chunk_bits | (address & (uint64_t)(k->interleave - 1))) >> p->line_bits;
    struct hbm_place at;
    uint32_t group, bank;
    int64_t columns = k->row >> p->line_bits, run = k->run >> p->line_bits;
    unsigned run_bits = run > 1 ? (unsigned)__builtin_ctzll((uint64_t)run) : 0;
    at.channel = hbm_field(&rest, k->channels);
    if (k->map == HBM_MAP_ROW_BANK_COLUMN)
        at.column = hbm_field(&rest, columns);
    else if (k->map == HBM_MAP_ROW_BANK_COLUMN_GROUP)
        at.column = hbm_field(&rest, (int64_t)1 << run_bits);
    group = hbm_field(&rest, k->groups);
    if (k->map == HBM_MAP_ROW_BANK_COLUMN_GROUP)
        at.column |= hbm_field(&rest, columns >> run_bits) << run_bits;
    bank = hbm_field(&rest, k->banks);
    if (k->map == HBM_MAP_ROW_COLUMN_BANK)
        at.column = hbm_field(&rest, columns);
    at.row = rest;
    at.bank = group * (uint32_t)k->banks + bank;
    if (k->hash)
        at.bank ^= (uint32_t)rest & (uint32_t)(k->groups * k->banks - 1);
    return at;
}

/* ---- queues ---- */

static inline void hbm_enqueue(struct hbm_channel *ch, enum hbm_direction d,
                               const struct hbm_place *at, uint32_t number)
{
    struct hbm_queue *q = &ch->queues[d];
    struct hbm_bank *bank = hbm_bank(ch, at->bank);
    unsigned place = q->next++ % HBM_PLACES;
    uint64_t bit = (uint64_t)1 << place;
    *hbm_request(q, place) = (struct hbm_request){
        .row = at->row, .column = at->column, .number = number, .bank = at->bank};
    q->valid |= bit;
    q->busy |= (uint64_t)1 << at->bank;
    q->count++;
    bank->waiting[d] |= bit;
    if (bank->row == at->row)
        bank->hits[d] |= bit;
}

static inline void hbm_dequeue(struct hbm_channel *ch, enum hbm_direction d, unsigned place,
                               uint32_t bank_number)
{
    struct hbm_queue *q = &ch->queues[d];
    struct hbm_bank *bank = hbm_bank(ch, bank_number);
    uint64_t bit = (uint64_t)1 << place;
    q->valid &= ~bit;
    q->count--;
    bank->waiting[d] &= ~bit;
    bank->hits[d] &= ~bit;
    if (!bank->waiting[d])
        q->busy &= ~((uint64_t)1 << bank_number);
    q->first = q->valid ? q->first + hbm_age(q, hbm_oldest(q, q->valid)) : q->next;
}

/* Is there a request to the same line among those of direction `d`? */
static inline bool hbm_finds(const struct hbm_channel *ch, enum hbm_direction d,
                             const struct hbm_place *at)
{
    const struct hbm_queue *q = &ch->queues[d];
    for (uint64_t rest = hbm_bank(ch, at->bank)->waiting[d]; rest; rest &= rest - 1) {
        const struct hbm_request *r = hbm_request(q, (unsigned)__builtin_ctzll(rest));
        if (r->row == at->row && r->column == at->column)
            return true;
    }
    return false;
}

/* ---- commands ---- */

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

#endif
