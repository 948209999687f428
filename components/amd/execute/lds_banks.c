/* Bank conflicts of the LDS; the rules are in lds_banks.h. */
#include "lds_banks.h"

#include "base/number.h"
#include "components/amd/isa/execute/isa_lds_conflicts.h"
#include "components/amd/isa/isa.h"

/* Bits of `lanes` lanes from `first` on; 8 to 32 lanes. */
static uint64_t lds_lanes(unsigned first, unsigned lanes)
{
    return (((uint64_t)1 << lanes) - 1) << first;
}

static unsigned lds_cycles_by_lane(const uint32_t *address, uint64_t active, unsigned dwords)
{
    uint32_t seen[LDS_BANKS][LDS_BANKS]; /* the first of all banks, the second, ... */
    uint8_t count[LDS_BANKS] = {0};
    unsigned most = 1;
    for (uint64_t rest = active; rest; rest &= rest - 1) {
        uint32_t dword = address[__builtin_ctzll(rest)] / 4;
        for (unsigned d = 0; d < dwords; d++, dword++) {
            unsigned bank = dword % LDS_BANKS, i = 0;
            while (i < count[bank] && seen[i][bank] != dword)
                i++;
            if (i < count[bank])
                continue;
            seen[i][bank] = dword;
            count[bank]++;
            most = max(i + 1, most);
        }
    }
    return most;
}

/* Cycles of the lanes `active` of a group, which begins at `first`: the largest number of different
 * dwords in one bank. */
static unsigned lds_group_cycles(const uint32_t *address, uint64_t active, unsigned first,
                                 unsigned dwords)
{
    unsigned cycles =
        dwords == 1 ? isa_lds_conflicts(address + first, (uint32_t)(active >> first)) : 0;
    return cycles ? cycles : lds_cycles_by_lane(address, active, dwords);
}

/* The first two lanes mostly decide. */
static bool lds_is_linear(const uint32_t *address, unsigned step)
{
    uint32_t wrong = 0;
    if (address[1] - address[0] != step)
        return false;
    for (unsigned lane = 0; lane < LDS_LANES; lane++)
        wrong |= address[lane] ^ (address[0] + lane * step);
    return !wrong;
}

/* A group of lanes, all active, that stays among as many neighbouring dwords as there are banks
 * asks each for one at most. */
static bool lds_is_narrow(uint32_t span, unsigned dwords)
{
    return span + dwords <= LDS_BANKS;
}

unsigned lds_cycles(const uint32_t *address, uint64_t active, unsigned dwords, unsigned *conflicts)
{
    unsigned width = dwords <= 1 ? 1 : dwords == 2 ? 2 : 4;
    unsigned lanes = LDS_BANKS / width, groups = 0, cycles = 0;
    uint32_t spans[LDS_LANES / (LDS_BANKS / 4)];
    *conflicts = 0;
    dwords = dwords ? dwords : 1;
    if (active == UINT64_MAX && lds_is_linear(address, 4 * width))
        return LDS_LANES / lanes;
    isa_lds_spans(address, lanes, spans);
    for (unsigned group = 0; group < LDS_LANES / lanes; group++) {
        uint64_t lanes_of_group = lds_lanes(group * lanes, lanes);
        if (!(active & lanes_of_group))
            continue;
        groups++;
        cycles += !(~active & lanes_of_group) && lds_is_narrow(spans[group], dwords)
                      ? 1
                      : lds_group_cycles(address, active & lanes_of_group, group * lanes, dwords);
    }
    *conflicts = cycles - groups;
    return cycles ? cycles : 1;
}
