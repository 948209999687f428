/* The location of an address in a memory, and the queues of a channel: requests enter, are looked
 * for by line, and leave; an open row that `hit_cap` requests have used gives way to an older one.
 * Called by hbm.c. */
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
    unsigned slice_bits = (unsigned)__builtin_ctzll(k->interleaved),
             chunk_bits = (unsigned)__builtin_ctzll(k->interleave),
             line_bits = (unsigned)__builtin_ctzll(k->burst);
    uint64_t chunk = address >> chunk_bits >> slice_bits;
    return (chunk << chunk_bits | (address & (uint64_t)(k->interleave - 1))) >> line_bits;
}

/* The column makes no difference: lines differ by their numbers. */
static inline struct hbm_target hbm_locate(const struct hbm *p, uint64_t address)
{
    const struct hbm_params *k = hbm_params(p);
    struct hbm_target target = {.line = hbm_own_line(p, address)};
    uint64_t rest = target.line;
    uint32_t group, bank;
    int64_t columns = k->row / k->burst, run = k->run > k->burst ? k->run / k->burst : 1;
    target.channel = hbm_field(&rest, k->channels);
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
    target.row = rest;
    target.bank = group * k->banks + bank;
    if (k->hash)
        target.bank ^= (uint32_t)rest & (hbm_bank_count(p) - 1);
    return target;
}

/* Enters the bank among those that want a column command, or else a row command first. A row that
 * has been used often gives way to an older request for another one. */
static ALWAYS_INLINE void hbm_sort_bank(const struct hbm *p, struct hbm_channel *ch,
                                        enum hbm_direction d, struct hbm_bank *bank,
                                        uint32_t number)
{
    struct hbm_queue *q = &ch->queues[d];
    uint64_t bit = (uint64_t)1 << number, hits = bank->hits[d];
    if (hits && unlikely(bank->streak >= hbm_params(p)->hit_cap))
        hits = hits >> hbm_oldest(q, bank->waiting[d]) & 1;
    q->open = hits ? q->open | bit : q->open & ~bit;
}

/* Returns the slot. */
static ALWAYS_INLINE unsigned hbm_enqueue(const struct hbm *p, struct hbm_channel *ch,
                                          enum hbm_direction d, const struct hbm_target *target,
                                          uint32_t number)
{
    struct hbm_queue *q = &ch->queues[d];
    struct hbm_bank *bank = &ch->banks[target->bank];
    unsigned slot = q->next++ % HBM_SLOTS;
    uint64_t bit = (uint64_t)1 << slot;
    q->requests[slot] = (struct hbm_request){
        .row = target->row, .line = target->line, .number = number, .bank = (uint16_t)target->bank};
    q->valid |= bit;
    q->busy |= (uint64_t)1 << target->bank;
    q->count++;
    bank->waiting[d] |= bit;
    if (bank->row == target->row) {
        bank->hits[d] |= bit;
        q->hits |= bit;
        hbm_sort_bank(p, ch, d, bank, target->bank);
    }
    return slot;
}

/* The request in a slot, which waits at bank `number`. */
static ALWAYS_INLINE void hbm_dequeue(struct hbm *p, struct hbm_channel *ch, enum hbm_direction d,
                                      unsigned slot, uint32_t number)
{
    struct hbm_queue *q = &ch->queues[d];
    struct hbm_bank *bank = &ch->banks[number];
    uint64_t others = ~((uint64_t)1 << slot), waiting = bank->waiting[d] & others,
             valid = q->valid & others;
    q->valid = valid;
    q->hits &= others;
    q->count--;
    bank->waiting[d] = waiting;
    bank->hits[d] &= others;
    if (!waiting)
        q->busy &= ~((uint64_t)1 << number);
    if (!valid)
        q->first = q->next;
    else if (slot == q->first % HBM_SLOTS)
        q->first += hbm_age(q, hbm_oldest(q, valid));
    hbm_sort_bank(p, ch, d, bank, number);
    if (unlikely(p->full & hbm_queue_bit(ch, d))) {
        p->full &= ~hbm_queue_bit(ch, d);
        p->rooms++;
    }
}

/* True if a request of direction `d` is to the same line. */
static ALWAYS_INLINE bool hbm_finds(const struct hbm_channel *ch, enum hbm_direction d,
                                    const struct hbm_target *target)
{
    const struct hbm_queue *q = &ch->queues[d];
    for (uint64_t rest = ch->banks[target->bank].waiting[d]; rest; rest &= rest - 1)
        if (q->requests[__builtin_ctzll(rest)].line == target->line)
            return true;
    return false;
}
