/* LDS instructions: how long they keep the LDS busy, and when lgkmcnt goes down. Offsets of an
 * instruction are the same for all lanes and only rotate the banks, so the lanes' addresses decide.
 * */
#include "compute_unit.gen.h"

#include "base/number.h"
#include "components/amd/execute/lds_banks.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"

/* Cycles up to now that the LDS has spent on bank conflicts: they are the last ones of each access.
 */
static inline uint64_t lds_conflicts_until(const struct compute_unit *c, uint64_t now)
{
    uint64_t conflicts = c->io.stats.lds_bank_conflicts;
    if (c->lds_free <= now)
        return conflicts;
    for (unsigned s = 0; s < compute_unit_params(c)->simds; s++) {
        uint64_t rest = c->simd[s].lds_done > now ? c->simd[s].lds_done - now : 0;
        conflicts -= min(rest, c->simd[s].lds_conflicts);
    }
    return conflicts;
}

static inline struct cu_lds_end *lds_end_at(const struct compute_unit *c, uint32_t place)
{
    return arena_at(struct cu_lds_end, c->lds_ends_at) + place;
}

/* Queues the end of an LDS operation, which lowers lgkmcnt of its wavefront. Those of different
 * ports may end in another order than they were issued. */
static void lds_push(struct compute_unit *c, const struct cu_wave *w, uint64_t cycle)
{
    uint32_t slots = c->lds_end_slots;
    if (c->lds_end_count == slots)
        bug("compute unit: more LDS operations than wavefronts can have");
    uint32_t place = c->lds_end_head + c->lds_end_count++;
    if (compute_unit_params(c)->lds_ports)
        for (; place != c->lds_end_head && lds_end_at(c, (place - 1) % slots)->cycle > cycle;
             place--)
            *lds_end_at(c, place % slots) = *lds_end_at(c, (place - 1) % slots);
    *lds_end_at(c, place % slots) = (struct cu_lds_end){cycle, (uint16_t)cu_wave_number(c, w)};
    c->lds_next = lds_end_at(c, c->lds_end_head)->cycle;
}

/* Returns the cycle in which an instruction that keeps the banks for so many cycles is over. The
 * LDS works on one instruction at a time, or each of its ports does. A port passes 16 lanes a
 * cycle: addresses and the data to be written, or the data read. */
static uint64_t lds_occupy(struct compute_unit *c, unsigned simd, const struct isa_inst *inst,
                           uint64_t banks, uint64_t now)
{
    enum { LANES = 16, TIMES = ISA_LANES / LANES };
    uint64_t ports = compute_unit_params(c)->lds_ports;
    if (!ports)
        return max(c->lds_free, now) + banks;
    uint64_t *port = &c->lds_port[simd * ports / compute_unit_params(c)->simds];
    bool writes = (inst->flags & (ISA_IS_STORE | ISA_IS_ATOMIC)) != 0;
    uint64_t start = max(*port, now), words = inst->dwords ? inst->dwords : 1;
    c->lds_banks = max(c->lds_banks, start) + banks;
    *port = start + TIMES * (writes ? words + 1 : words);
    if (*port < c->lds_banks)
        *port = c->lds_banks;
    return *port;
}

/* A write, which would be over in the cycle `done` if it were a read, gets there later, and until
 * then needs its registers. Returns when it is over. */
static uint64_t lds_hold(const struct compute_unit *c, struct cu_wave *w,
                         const struct isa_inst *inst, uint64_t now, uint64_t done)
{
    uint64_t delay = compute_unit_params(c)->lds_write_delay;
    w->held_until = now + compute_unit_params(c)->lds_write_hold;
    w->lds_write_end = delay ? done + delay : 0;
    memcpy(w->held_registers, inst->src, sizeof w->held_registers);
    w->held_dwords = inst->dwords;
    return done + delay;
}

static void lds_start(struct compute_unit *c, struct cu_wave *w, const struct isa_inst *inst,
                      const uint32_t *address, uint64_t active, uint64_t now)
{
    unsigned conflicts = 0, cycles = inst->flags & ISA_IS_SWIZZLE ? LDS_LANES / LDS_BANKS : 1;
    if (address)
        cycles = lds_cycles(address, active, inst->dwords, &conflicts);
    if (compute_unit_params(c)->lds_write_cycles != 1
        && (inst->flags & (ISA_IS_STORE | ISA_IS_ATOMIC))) {
        cycles *= compute_unit_params(c)->lds_write_cycles;
        conflicts *= compute_unit_params(c)->lds_write_cycles;
    }
    struct work_account *account = &cu_ledger_at(c, w->ledger)->account;
    account->lds_busy += cycles;
    account->lds_conflict += conflicts;
    c->io.stats.lds_bank_conflicts += conflicts;
    uint64_t done = lds_occupy(c, w->simd, inst, cycles, now);
    c->lds_free = max(c->lds_free, done);
    c->simd[w->simd].lds_done = done;
    c->simd[w->simd].lds_conflicts = conflicts;
    if (compute_unit_params(c)->lds_write_delay && (inst->flags & ISA_IS_STORE))
        done = lds_hold(c, w, inst, now, done);
    if (inst->flags & ISA_RAISES_LGKM) {
        w->lgkm++;
        w->lds++;
        lds_push(c, w, done + compute_unit_params(c)->lds_latency - 1);
    }
}

static void lds_finish(struct compute_unit *c, uint64_t now)
{
    while (c->lds_next <= now) {
        struct cu_wave *w = cu_wave_at(c, lds_end_at(c, c->lds_end_head)->wave);
        c->lds_end_count--;
        if (++c->lds_end_head == c->lds_end_slots || !c->lds_end_count)
            c->lds_end_head = 0; /* once empty it begins again, so that few places are used */
        c->lds_next = c->lds_end_count ? lds_end_at(c, c->lds_end_head)->cycle : ENGINE_NEVER;
        w->lgkm--;
        w->lds--;
        wave_check_counters(c, w, now);
    }
}
