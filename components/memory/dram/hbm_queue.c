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
             chunk_bits = (unsigned)__builtin_ctzll((uint64_t)k->interleave),
             line_bits = (unsigned)__builtin_ctzll((uint64_t)k->burst);
    uint64_t chunk = address >> chunk_bits >> slice_bits;
    return (chunk << chunk_bits | (address & (uint64_t)(k->interleave - 1))) >> line_bits;
}

/* Which column it is makes no difference: lines are told apart by their numbers. */
static inline struct hbm_place hbm_locate(const struct hbm *p, uint64_t address)
{
    const struct hbm_params *k = hbm_params(p);
    struct hbm_place at = {.line = hbm_own_line(p, address)};
    uint64_t rest = at.line;
    uint32_t group, bank;
    int64_t columns = k->row / k->burst, run = k->run > k->burst ? k->run / k->burst : 1;
    at.channel = hbm_field(&rest, k->channels);
    if (k->map == HBM_MAP_ROW_BANK_COLUMN)
        hbm_field(&rest, columns);
    else if (k->map == HBM_MAP_ROW_BANK_COLUMN_GROUP)
        hbm_field(&rest, run);
    group = hbm_field(&rest, k->groups);
    if (k->map == HBM_MAP_ROW_BANK_COLUMN_GROUP)
        hbm_field(&rest, columns / run);
    bank = hbm_field(&rest, k->banks);
    if (k->map == HBM_MAP_ROW_COLUMN_BANK)
        hbm_field(&rest, columns);
    at.row = rest;
    at.bank = group * (uint32_t)k->banks + bank;
    if (k->hash)
        at.bank ^= (uint32_t)rest & (hbm_bank_count(p) - 1);
    return at;
}

/* Does what waits at a bank want its column, or a row command first? A row that has been used often
 * gives way to an older request for another one. */
static inline void hbm_sort_bank(const struct hbm *p, struct hbm_channel *ch, enum hbm_direction d,
                                 uint32_t number)
{
    struct hbm_queue *q = &ch->queues[d];
    const struct hbm_bank *bank = &ch->banks[number];
    uint64_t bit = (uint64_t)1 << number, hits = bank->hits[d];
    bool column = hits;
    if (column && engine_unlikely(bank->streak >= (uint32_t)hbm_params(p)->hit_cap))
        column = hits >> hbm_oldest(q, bank->waiting[d]) & 1;
    q->open = (q->open & ~bit) | (column ? bit : 0);
}

/* Returns the place. */
static inline unsigned hbm_enqueue(const struct hbm *p, struct hbm_channel *ch,
                                   enum hbm_direction d, const struct hbm_place *at,
                                   uint32_t number)
{
    struct hbm_queue *q = &ch->queues[d];
    struct hbm_bank *bank = &ch->banks[at->bank];
    unsigned place = q->next++ % HBM_PLACES;
    uint64_t bit = (uint64_t)1 << place;
    q->requests[place] = (struct hbm_request){
        .row = at->row, .line = at->line, .number = number, .bank = (uint16_t)at->bank};
    q->valid |= bit;
    q->busy |= (uint64_t)1 << at->bank;
    q->count++;
    bank->waiting[d] |= bit;
    if (bank->row == at->row) {
        bank->hits[d] |= bit;
        q->hits |= bit;
        hbm_sort_bank(p, ch, d, at->bank);
    }
    return place;
}

static inline void hbm_dequeue(const struct hbm *p, struct hbm_channel *ch, enum hbm_direction d,
                               unsigned place)
{
    struct hbm_queue *q = &ch->queues[d];
    uint32_t number = q->requests[place].bank;
    struct hbm_bank *bank = &ch->banks[number];
    uint64_t bit = (uint64_t)1 << place;
    q->valid &= ~bit;
    q->hits &= ~bit;
    q->count--;
    bank->waiting[d] &= ~bit;
    bank->hits[d] &= ~bit;
    if (!bank->waiting[d])
        q->busy &= ~((uint64_t)1 << number);
    if (!q->valid)
        q->first = q->next;
    else if (place == q->first % HBM_PLACES)
        q->first += hbm_age(q, hbm_oldest(q, q->valid));
    hbm_sort_bank(p, ch, d, number);
}

/* Is there a request to the same line among those of direction `d`? */
static inline bool hbm_finds(const struct hbm_channel *ch, enum hbm_direction d,
                             const struct hbm_place *at)
{
    const struct hbm_queue *q = &ch->queues[d];
    for (uint64_t rest = ch->banks[at->bank].waiting[d]; rest; rest &= rest - 1)
        if (q->requests[__builtin_ctzll(rest)].line == at->line)
            return true;
    return false;
}
