/* Free granules are the bits of a word, so a run of them is found by shifting. */
#include "register_banks.h"

struct register_banks register_banks_make(uint32_t count, uint32_t registers)
{
    struct register_banks b = {.count = count, .granule = (registers + 63) / 64};
    uint32_t granules = registers / b.granule;
    for (uint32_t i = 0; i < count; i++)
        b.free[i] = UINT64_MAX >> (64 - granules);
    return b;
}

/* 1 up to 64; 0 for no register. */
static uint32_t granules_of(const struct register_banks *b, uint32_t registers)
{
    return (registers + b->granule - 1) / b->granule;
}

/* Bits with which a run of `count` bits of `free` begins. */
static uint64_t runs(uint64_t free, uint32_t count)
{
    uint32_t step;
    for (uint32_t known = 1; known < count; known += step) {
        step = known < count - known ? known : count - known;
        free &= free >> step;
    }
    return free;
}

static uint64_t run_bits(uint32_t first, uint32_t count)
{
    return count ? UINT64_MAX >> (64 - count) << first : 0;
}

bool register_banks_take(struct register_banks *b, uint32_t registers, struct register_place *place)
{
    uint32_t count = granules_of(b, registers), bank = 0;
    uint64_t found = 0;
    while (bank < b->count && !(found = runs(b->free[bank], count)))
        bank++;
    if (!found)
        return false;
    uint32_t first = (uint32_t)__builtin_ctzll(found);
    b->free[bank] &= ~run_bits(first, count);
    *place = (struct register_place){bank, first * b->granule};
    return true;
}

void register_banks_give(struct register_banks *b, struct register_place place, uint32_t registers)
{
    b->free[place.bank] |= run_bits(place.first / b->granule, granules_of(b, registers));
}
