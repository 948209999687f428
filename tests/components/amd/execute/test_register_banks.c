/* Room for registers against a table of who has which: random loads, with one bank and many, and
 * with registers that do not divide into granules. */
#include "components/amd/execute/register_banks.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { HOLDERS = 64, STEPS = 20000, ROOM = 512 };

/* By register of each bank, 1 + the holder, or 0. */
static uint8_t owner[REGISTER_BANKS_MOST][ROOM];

static struct {
    uint32_t registers; /* 0: holds nothing */
    struct register_place place;
} holder[HOLDERS];

static bool is_free(uint32_t bank, uint32_t first, uint32_t registers)
{
    for (uint32_t r = first; r < first + registers; r++)
        if (owner[bank][r])
            return false;
    return true;
}

static void own(uint32_t number, uint8_t value)
{
    struct register_place p = holder[number].place;
    for (uint32_t r = p.first; r < p.first + holder[number].registers; r++)
        owner[p.bank][r] = value;
}

/* The lowest place, counted in granules as those that are given are. */
static bool lowest(uint32_t banks, uint32_t room, uint32_t granule, uint32_t registers,
                   struct register_place *place)
{
    uint32_t whole = (registers + granule - 1) / granule * granule;
    for (uint32_t bank = 0; bank < banks; bank++)
        for (uint32_t first = 0; first + whole <= room; first += granule)
            if (is_free(bank, first, whole)) {
                *place = (struct register_place){bank, first};
                return true;
            }
    return false;
}

static const struct {
    uint32_t banks, registers, granule;
} shapes[] = {{1, 1, 1},   {1, 64, 1},  {4, 256, 4}, {2, 512, 8},
              {4, 100, 2}, {16, 20, 1}, {3, 130, 3}, {1, 511, 8}};

static void play(size_t shape)
{
    uint32_t banks = shapes[shape].banks, granule = shapes[shape].granule;
    uint32_t room = shapes[shape].registers / granule * granule, gave = 0, refused = 0;
    struct register_banks b = register_banks_make(banks, shapes[shape].registers);
    memset(owner, 0, sizeof owner);
    memset(holder, 0, sizeof holder);
    cr_assert_eq(b.granule, granule, "shape %zu", shape);
    for (int step = 0; step < STEPS; step++) {
        uint32_t number = (uint32_t)rand() % HOLDERS, most = rand() % 4 ? room / 3 + 1 : room;
        struct register_place expected = {0};
        if (holder[number].registers) {
            register_banks_give(&b, holder[number].place, holder[number].registers);
            own(number, 0);
            holder[number].registers = 0;
            continue;
        }
        /* The model knows whole granules, so holders have them. */
        uint32_t registers = (1 + (uint32_t)rand() % most + granule - 1) / granule * granule;
        registers = registers > room ? room : registers;
        uint32_t asked = registers - (uint32_t)rand() % granule;
        bool fits = lowest(banks, room, granule, registers, &expected);
        struct register_place place = {99, 99};
        cr_assert_eq(register_banks_take(&b, asked, &place), fits, "shape %zu, step %d", shape,
                     step);
        refused += !fits;
        if (!fits)
            continue;
        gave++;
        cr_assert_eq(place.bank, expected.bank, "shape %zu, step %d", shape, step);
        cr_assert_eq(place.first, expected.first, "shape %zu, step %d", shape, step);
        holder[number].registers = registers;
        holder[number].place = place;
        own(number, (uint8_t)(number + 1));
    }
    cr_expect_gt(gave, STEPS / 100, "shape %zu", shape);
    cr_expect_gt(refused, 0, "shape %zu", shape);
}

Test(register_banks, gives_the_lowest_room_and_nobodys_twice)
{
    srand(5);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        play(i);
}

Test(register_banks, nothing_is_asked_for_and_given_back)
{
    struct register_banks b = register_banks_make(2, 256), before = b;
    struct register_place place;
    cr_assert(register_banks_take(&b, 0, &place));
    cr_expect_arr_eq(b.free, before.free, sizeof b.free);
    register_banks_give(&b, place, 0);
    cr_expect_arr_eq(b.free, before.free, sizeof b.free);
}
