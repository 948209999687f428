/* Cycles of LDS accesses in known patterns. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

#include "base/number.h"
#include "components/amd/execute/lds_banks.h"
#include "components/amd/isa/isa.h"

struct lds_case {
    char name[48];
    unsigned stride, repeat; /* lane l at (l / repeat) * stride bytes */
    unsigned dwords;
    uint64_t active;
    unsigned cycles, conflicts;
};

static struct lds_case cases[] = {
    {"dwords in a row", 4, 1, 1, UINT64_MAX, 2, 0},
    {"dwords in a row, half the lanes", 4, 1, 1, 0xffffffff, 1, 0},
    {"dwords in a row, one lane", 4, 1, 1, 1ull << 40, 1, 0},
    {"no lane", 4, 1, 1, 0, 1, 0},
    {"every second dword", 8, 1, 1, UINT64_MAX, 4, 2},
    {"every 33rd dword", 132, 1, 1, UINT64_MAX, 2, 0},
    {"every 32nd dword", 128, 1, 1, UINT64_MAX, 64, 62},
    {"every 16th dword", 64, 1, 1, UINT64_MAX, 32, 30},
    {"all lanes at one dword", 0, 1, 1, UINT64_MAX, 2, 0},
    {"16 lanes at a dword, rows of a tile", 64, 16, 1, UINT64_MAX, 2, 0},
    {"pairs in one bank", 128, 32, 1, UINT64_MAX, 2, 0},
    {"bytes in a row", 1, 1, 1, UINT64_MAX, 2, 0},
    {"dwordx2 in a row", 8, 1, 2, UINT64_MAX, 4, 0},
    {"dwordx4 in a row", 16, 1, 4, UINT64_MAX, 8, 0},
    {"dwordx2, every second", 16, 1, 2, UINT64_MAX, 8, 4},
};

ParameterizedTestParameters(lds_banks, patterns)
{
    return cr_make_param_array(struct lds_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct lds_case *c, lds_banks, patterns)
{
    uint32_t address[64];
    unsigned conflicts;
    for (unsigned lane = 0; lane < 64; lane++)
        address[lane] = 256 + lane / c->repeat * c->stride;
    unsigned cycles = lds_cycles(address, c->active, c->dwords, &conflicts);
    cr_assert_eq(cycles, c->cycles, "%s: %u cycles instead of %u", c->name, cycles, c->cycles);
    cr_assert_eq(conflicts, c->conflicts, "%s: %u conflicts instead of %u", c->name, conflicts,
                 c->conflicts);
}

Test(lds_banks, alternating_addresses_in_one_bank_are_two_cycles_a_group)
{
    uint32_t address[64];
    unsigned conflicts;
    for (unsigned lane = 0; lane < 64; lane++)
        address[lane] = lane % 2 * 128;
    cr_assert_eq(lds_cycles(address, UINT64_MAX, 1, &conflicts), 4);
    cr_assert_eq(conflicts, 2);
}

/* The most different dwords of a bank, group by group. */
static unsigned cycles_by_hand(const uint32_t *address, uint64_t active, unsigned dwords)
{
    unsigned lanes = dwords > 2 ? 8 : 32 / dwords, cycles = 0;
    for (unsigned first = 0; first < 64; first += lanes) {
        unsigned most = 0;
        for (unsigned bank = 0; bank < 32; bank++) {
            uint32_t seen[128];
            unsigned count = 0;
            for (unsigned i = 0; i < lanes * dwords; i++) {
                uint32_t dword = address[first + i / dwords] / 4 + i % dwords;
                unsigned k = 0;
                while (k < count && seen[k] != dword)
                    k++;
                if (active >> (first + i / dwords) & 1 && dword % 32 == bank && k == count)
                    seen[count++] = dword;
            }
            most = max(count, most);
        }
        cycles += most;
    }
    return cycles ? cycles : 1;
}

Test(lds_banks, any_lanes_are_counted_as_by_hand)
{
    srand(3);
    for (unsigned round = 0; round < 2000; round++) {
        uint32_t address[64];
        unsigned conflicts, dwords = 1u << round % 3, spread = 1u << rand() % 8;
        uint64_t active = rand() % 2 ? UINT64_MAX : (uint64_t)rand() << 32 ^ (uint64_t)rand();
        for (unsigned lane = 0; lane < 64; lane++)
            address[lane] = 512 + (uint32_t)rand() % spread * 4 + lane / 8 * (round % 7) * 16;
        cr_assert_eq(lds_cycles(address, active, dwords, &conflicts),
                     cycles_by_hand(address, active, dwords), "round %u", round);
    }
}

/* With each level of vectors that this host has. */
Test(lds_banks, all_variants_count_alike)
{
    srand(4);
    for (unsigned round = 0; round < 2000; round++) {
        uint32_t address[64];
        unsigned conflicts, spread = 1u << rand() % 12;
        uint64_t active = rand() % 2 ? UINT64_MAX : (uint64_t)rand() << 33 ^ (uint64_t)rand();
        for (unsigned lane = 0; lane < 64; lane++)
            address[lane] = (uint32_t)rand() % spread * (round % 3 ? 4 : 128);
        unsigned cycles = cycles_by_hand(address, active, 1);
        for (unsigned variant = 0; variant < isa_variant_count(); variant++)
            if (isa_variant_select(variant))
                cr_assert_eq(lds_cycles(address, active, 1, &conflicts), cycles, "round %u, %s",
                             round, isa_variant_name(variant));
    }
}
