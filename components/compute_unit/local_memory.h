/* LDS timing: 32 banks of 4 bytes, 128 bytes a cycle; lanes are served in groups of as many as 128 bytes hold, and a group
 * takes as many cycles as its fullest bank has different dwords (GCN3 ISA manual, section 10.1). Offsets of an instruction
 * are the same for all lanes and only rotate the banks, so the lanes' addresses decide. Included by compute_unit.c. */
#ifndef HEDDLE_COMPUTE_UNIT_LOCAL_MEMORY_H
#define HEDDLE_COMPUTE_UNIT_LOCAL_MEMORY_H

#include "wavefront.h"

enum { LDS_BANKS = 32 };

/* Cycles of the lanes [first, first + lanes): the largest number of different dwords in one bank. */
static unsigned lds_group_cycles(const uint32_t *address, uint64_t active, unsigned first, unsigned lanes,
                                 unsigned dwords)
{
    uint32_t seen[LDS_BANKS][LDS_BANKS];
    uint8_t count[LDS_BANKS] = {0};
    unsigned most = 1;
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
    for (unsigned lane = 0; lane < ISA_LANES; lane++)
        wrong |= address[lane] ^ (address[0] + lane * step);
    return !wrong;
}

/* Cycles that the LDS is busy with lanes of `dwords` dwords each at `address`; *conflicts of them for bank conflicts. */
static unsigned lds_cycles(const uint32_t *address, uint64_t active, unsigned dwords, unsigned *conflicts)
{
    unsigned width = dwords <= 1 ? 1 : dwords == 2 ? 2 : 4;
    unsigned lanes = LDS_BANKS / width, groups = 0, cycles = 0;
    *conflicts = 0;
    if (active == UINT64_MAX && lds_is_linear(address, 4 * width))
        return ISA_LANES / lanes;
    for (unsigned first = 0; first < ISA_LANES; first += lanes) {
        if (!(active & coalescer_lane_range(first, first + lanes - 1)))
            continue;
        cycles += lds_group_cycles(address, active, first, lanes, dwords ? dwords : 1);
        groups++;
    }
    *conflicts = cycles - groups;
    return cycles ? cycles : 1;
}

/* Queues the end of an LDS operation, which lowers lgkmcnt of its wavefront. */
static void lds_push(struct compute_unit *c, unsigned wave, uint64_t cycle)
{
    struct cu_lds_end *ends = arena_at(struct cu_lds_end, c->lds_ends);
    if (c->lds_end_count == c->lds_end_slots)
        bug("compute unit: more LDS operations than wavefronts can have");
    ends[(c->lds_end_head + c->lds_end_count++) % c->lds_end_slots] =
        (struct cu_lds_end){cycle, (uint16_t)wave};
}

static void lds_start(struct compute_unit *c, unsigned wave, const struct isa_inst *inst,
                      const uint32_t *address, uint64_t active, uint64_t now)
{
    unsigned conflicts = 0, cycles = 1;
    if (address)
        cycles = lds_cycles(address, active, inst->dwords, &conflicts);
    c->io.stats.lds_bank_conflicts += conflicts;
    c->lds_free = now + cycles;
    if (inst->flags & ISA_RAISES_LGKM) {
        cu_wave_at(c, wave)->lgkm++;
        lds_push(c, wave, now + (uint64_t)compute_unit_params(c)->lds_latency + cycles - 1);
    }
}

static uint64_t lds_next_end(const struct compute_unit *c)
{
    return c->lds_end_count ? arena_at(struct cu_lds_end, c->lds_ends)[c->lds_end_head].cycle
                            : ENGINE_NEVER;
}

static bool lds_finish(struct compute_unit *c, uint64_t now)
{
    bool any = false;
    while (lds_next_end(c) <= now) {
        struct cu_wave *w =
            cu_wave_at(c, arena_at(struct cu_lds_end, c->lds_ends)[c->lds_end_head].wave);
        c->lds_end_head = (c->lds_end_head + 1) % c->lds_end_slots;
        c->lds_end_count--;
        w->lgkm--;
        wave_counted(c, w, now);
        any = true;
    }
    return any;
}

#endif
