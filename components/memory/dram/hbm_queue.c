/* Where an address lies in a memory, and the queues of a channel: requests enter, are looked for by
 * line, and leave. Called by hbm.c. */
#include "hbm.gen.h"

#include "hbm_state.h"

/* The lowest bits of `*rest` that number `count` things, which are then gone from it. */
static inline uint32_t hbm_field(uint64_t *rest, int64_t count)
{
    uint32_t value = (uint32_t)(*rest & (uint64_t)(count - 1));
    *rest >>= __builtin_ctzll((uint64_t)count);
    return value;
}

/* The number of the line among those of this memory; its lowest bits number the channel. */
static inline uint64_t hbm_own_line(const struct hbm *p, uint64_t address)
{
    const struct hbm_params *k = hbm_params(p);
    unsigned slice_bits = (unsigned)__builtin_ctzll((uint64_t)k->interleaved),
             chunk_bits = (unsigned)__builtin_ctzll((uint64_t)k->interleave);
    uint64_t chunk = address >> chunk_bits >> slice_bits;
    return (chunk << chunk_bits | (address & (uint64_t)(k->interleave - 1))) >> p->line_bits;
}

static inline struct hbm_place hbm_locate(const struct hbm *p, uint64_t address)
{
    const struct hbm_params *k = hbm_params(p);
    uint64_t rest = hbm_own_line(p, address);
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

/* Returns the place. */
static inline unsigned hbm_enqueue(struct hbm_channel *ch, enum hbm_direction d,
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
    return place;
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
    if (!q->valid)
        q->first = q->next;
    else if (place == q->first % HBM_PLACES)
        q->first += hbm_age(q, hbm_oldest(q, q->valid));
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
