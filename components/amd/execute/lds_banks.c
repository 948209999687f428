/* Bank conflicts of the LDS; the rules are in lds_banks.h. */
#include "lds_banks.h"

/* Does each bank see at most one dword from the lanes [first, first + lanes)? The common case,
 * found in one pass. */
static bool lds_group_is_free(const uint32_t *address, uint64_t active, unsigned first,
                              unsigned lanes, unsigned dwords)
{
    uint32_t seen[LDS_BANKS], used = 0, last = UINT32_MAX;
    for (unsigned lane = first; lane < first + lanes; lane++) {
        uint32_t dword = address[lane] / 4;
        if (!(active >> lane & 1) || dword == last)
            continue;
        last = dword;
        for (unsigned d = 0; d < dwords; d++, dword++) {
            uint32_t bank = dword % LDS_BANKS, bit = (uint32_t)1 << bank;
            if ((used & bit) && seen[bank] != dword)
                return false;
            used |= bit;
            seen[bank] = dword;
        }
    }
    return true;
}

/* Do the lanes [first, first + lanes), all active, stay among as many neighbouring dwords as there
 * are banks? Then each bank sees one at most. The compiler makes vectors of the loop. */
static bool lds_group_is_narrow(const uint32_t *address, unsigned first, unsigned lanes,
                                unsigned dwords)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (unsigned lane = first; lane < first + lanes; lane++) {
        low = address[lane] < low ? address[lane] : low;
        high = address[lane] > high ? address[lane] : high;
    }
    return high / 4 - low / 4 + dwords <= LDS_BANKS;
}

/* Bits of `lanes` lanes from `first` on; 8 to 32 lanes. */
static uint64_t lds_lanes(unsigned first, unsigned lanes)
{
    return (((uint64_t)1 << lanes) - 1) << first;
}

/* Cycles of the lanes [first, first + lanes): the largest number of different dwords in one bank.
 */
static unsigned lds_group_cycles(const uint32_t *address, uint64_t active, unsigned first,
                                 unsigned lanes, unsigned dwords)
{
    uint32_t seen[LDS_BANKS][LDS_BANKS];
    uint8_t count[LDS_BANKS] = {0};
    unsigned most = 1;
    if (!(~active & lds_lanes(first, lanes)) && lds_group_is_narrow(address, first, lanes, dwords))
        return 1;
    if (lds_group_is_free(address, active, first, lanes, dwords))
        return 1;
    for (unsigned lane = first; lane < first + lanes; lane++) {
        if (!(active >> lane & 1))
            continue;
        for (unsigned d = 0; d < dwords; d++) {
            uint32_t dword = address[lane] / 4 + d, bank = dword % LDS_BANKS;
            unsigned i = 0;
            while (i < count[bank] && seen[bank][i] != dword)
                i++;
            if (i < count[bank])
                continue;
            seen[bank][i] = dword;
            count[bank]++;
            most = count[bank] > most ? count[bank] : most;
        }
    }
    return most;
}

static bool lds_is_linear(const uint32_t *address, unsigned step)
{
    uint32_t wrong = 0;
    for (unsigned lane = 0; lane < LDS_LANES; lane++)
        wrong |= address[lane] ^ (address[0] + lane * step);
    return !wrong;
}

unsigned lds_cycles(const uint32_t *address, uint64_t active, unsigned dwords, unsigned *conflicts)
{
    unsigned width = dwords <= 1 ? 1 : dwords == 2 ? 2 : 4;
    unsigned lanes = LDS_BANKS / width, groups = 0, cycles = 0;
    *conflicts = 0;
    if (active == UINT64_MAX && lds_is_linear(address, 4 * width))
        return LDS_LANES / lanes;
    for (unsigned first = 0; first < LDS_LANES; first += lanes) {
        if (!(active & lds_lanes(first, lanes)))
            continue;
        cycles += lds_group_cycles(address, active, first, lanes, dwords ? dwords : 1);
        groups++;
    }
    *conflicts = cycles - groups;
    return cycles ? cycles : 1;
}
