/* Room for the registers of wavefronts in a compute unit's memory, the lowest that is free first,
 * whichever SIMD they belong to: a program that needs few registers then touches few pages.
 *
 * A bank is as large as the registers of a SIMD, so that there is room for the largest wavefront.
 * Room is given in granules, of which a bank has at most 64. All functions are pure. */
#ifndef HEDDLE_EXECUTE_REGISTER_BANKS_H
#define HEDDLE_EXECUTE_REGISTER_BANKS_H

#include <stdbool.h>
#include <stdint.h>

enum { REGISTER_BANKS_MOST = 16 };

struct register_banks {
    uint64_t free[REGISTER_BANKS_MOST]; /* a bit for each granule */
    uint32_t count;
    uint32_t granule; /* registers */
};

struct register_place {
    uint32_t bank;
    uint32_t first; /* register of the bank */
};

/* All free. Up to REGISTER_BANKS_MOST banks of at least one register. */
struct register_banks register_banks_make(uint32_t count, uint32_t registers);

/* Room for so many registers that follow each other in a bank, at most as many as one has; false if
 * no bank has it: there may be enough, in pieces. */
bool register_banks_take(struct register_banks *b, uint32_t registers,
                         struct register_place *place);

/* Gives back what register_banks_take() gave, for the same number. */
void register_banks_give(struct register_banks *b, struct register_place place, uint32_t registers);

#endif
