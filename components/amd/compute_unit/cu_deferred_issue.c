/* Deferred turns. A wavefront's next instructions that only change registers are executed before
 * their turns (cu_execute.c), so that a turn only accounts for its instruction. While the wavefront
 * is the only one of its SIMD that wants a turn, no result depends on when its turns are accounted
 * for. The unit defers these turns and puts the wavefront into the wheel for the next turn after
 * them. The first of four events flushes them: that next turn, a turn of another wavefront of the
 * SIMD, the answer of a work-group, which carries the account, or a reader of the statistics
 * (engine_try_defer()).
 *
 * The distance between two turns is the time of the first instruction, which follows from the code
 * alone. A turn is not deferred if it also depends on the buffer of code or on registers that a
 * write to the LDS holds, or if the next line of code may have to be fetched.
 *
 * Without deferred turns, simulation on `r9nano` takes 24 % more host instructions for nbody 256
 * and for aes128 4096, 8 % for matmul 64 and 1 % for vectoradd 16384. */
#include "compute_unit.gen.h"

#include "base/likely.h"
#include "runtime/engine/deferral.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"
#include "cu_fetch.h"

/* Cycles until an executed instruction lets the next one of its wavefront issue. */
static inline uint64_t deferred_cycles(const struct compute_unit *c, const struct decoded *d)
{
    return d->kind == CU_VALU ? c->valu_cycles[d->inst.timing]
                              : compute_unit_params(c)->scalar_latency;
}

/* Accounts for one deferred turn, that of cycle `turn`. */
static inline void deferred_account_turn(struct compute_unit *c, struct cu_simd *s,
                                         struct cu_wave *w, struct isa_wave *scalars, uint64_t turn)
{
    if (unlikely(cu_decoded(c)[w->decoded].address != scalars->pc))
        wave_decode(c, w); /* the entry was replaced */
    struct decoded *d = &cu_decoded(c)[w->decoded];
    uint64_t cycles = deferred_cycles(c, d);
    wave_begin_ready(c, w, turn);
    w->ahead--;
    scalars->pc += d->inst.size;
    if (d->kind == CU_VALU)
        issue_count_vector(c, w, d->issued, turn, cycles);
    else
        issue_count_scalar(c, w, turn, cycles);
    s->turn[d->kind] = (uint8_t)(w->slot + 1);
    d->count++;
    w->instructions++;
    w->ready_at = turn + cycles;
}

/* Accounts for all turns of the described run, the first of them at `first`. */
static inline void deferred_account_run(struct compute_unit *c, struct cu_simd *s,
                                        struct cu_wave *w, struct isa_wave *scalars, uint64_t first)
{
    const struct cu_deferred *run = &c->deferred[w->simd].run;
    uint64_t *account = wave_account(w);
    execute_count_deferral(c, w);
    account[w->time_kind] += first - w->accounted_until;
    for (unsigned i = 0; i < run->shares; i++)
        account[run->share[i]] += run->share_cycles[i];
    w->time_kind = run->last_kind == CU_VALU ? WORK_WAITING_VALU : WORK_WAITING_SCALAR;
    w->accounted_until = w->ready_at = first + run->cycles;
    w->ahead -= run->count;
    w->instructions += run->count;
    scalars->pc += run->bytes;
    if (run->valu) {
        s->valu_free = first + run->valu_end;
        s->turn[CU_VALU] = (uint8_t)(w->slot + 1);
    }
    if (run->count > run->valu)
        s->turn[CU_SCALAR] = (uint8_t)(w->slot + 1);
    c->io.stats.valu += run->valu;
    c->io.stats.salu += (uint8_t)(run->count - run->valu);
}

/* Accounts for the deferred turns of `simd` before `cycle`. */
static inline void deferred_flush(struct compute_unit *c, unsigned simd, uint64_t cycle)
{
    struct cu_simd *s = &c->simd[simd];
    struct cu_deferred *run = &c->deferred[simd].run;
    struct cu_wave *w = cu_wave_in(c, simd, s->deferred_slot);
    unsigned turns = 0;
    struct isa_wave *scalars = cu_scalars(c, w);
    uint64_t turn = cu_turn(c, simd, w->ready_at);
    if (likely(run->count && turn + run->last_turn < cycle)) {
        turns = run->count;
        s->deferred_count = 0;
        deferred_account_run(c, s, w, scalars, turn);
        wave_decode_next(c, w);
    }
    for (; s->deferred_count && turn < cycle; s->deferred_count--, turns++) {
        run->count = 0;
        deferred_account_turn(c, s, w, scalars, turn);
        wave_decode_next(c, w);
        turn = cu_turn(c, simd, w->ready_at);
    }
    c->deferred_simds ^= (uint32_t)!s->deferred_count << simd;
    c->io.stats.instructions += turns;
    c->retired += turns;
}

/* Accounts for the deferred turns of all SIMDs before `cycle`. */
static void deferred_flush_all(struct compute_unit *c, uint64_t cycle)
{
    for (uint32_t rest = c->deferred_simds; rest; rest &= rest - 1)
        deferred_flush(c, (unsigned)__builtin_ctz(rest), cycle);
}

/* Accounts for the deferred turns of `simd` before `now`. The others are taken in their cycles. */
static OUT_OF_LINE void deferred_end(struct compute_unit *c, unsigned simd, uint64_t now)
{
    struct cu_simd *s = &c->simd[simd];
    uint64_t bit = (uint64_t)1 << s->deferred_slot;
    struct cu_wave *w = cu_wave_in(c, simd, s->deferred_slot);
    deferred_flush(c, simd, now);
    if (!s->deferred_count)
        return;
    s->deferred_count = 0;
    c->deferred_simds ^= 1u << simd;
    c->wheel[c->deferred[simd].until % CU_WHEEL] &= ~bit;
    c->wheel[cu_mark_turn(c, simd, cu_turn(c, simd, w->ready_at), now)] |= bit;
}

/* True if the instruction at `pc` is known and in the line of the one before it, so that the
 * wavefront does not have to look for code. */
static inline bool deferred_is_near(const struct compute_unit *c, const struct cu_wave *w,
                                    uint64_t pc)
{
    const struct decoded *d = &cu_decoded(c)[decode_slot(pc)];
    return d->address == pc && d->version == w->code_version && cu_code_is_current(c, w)
           && pc + d->inst.size <= w->line_address + CU_LINE;
}

static bool deferred_share(struct cu_deferred *run, unsigned kind, uint64_t cycles)
{
    unsigned i = 0;
    while (i < run->shares && run->share[i] != kind)
        i++;
    if (i == CU_DEFERRED_SHARES)
        return false;
    if (i == run->shares)
        run->shares++;
    run->share[i] = (uint8_t)kind;
    run->share_cycles[i] += (uint8_t)cycles;
    return true;
}

/* Describes the turns of the instructions that have been executed, from `pc` on, unless their turns
 * will differ the next time. */
static OUT_OF_LINE void deferred_describe(const struct compute_unit *c, const struct cu_wave *w,
                                          uint64_t pc, struct cu_deferred *run)
{
    const uint64_t simds = compute_unit_params(c)->simds;
    struct cu_deferred result = {.ahead = w->ahead};
    uint64_t at = 0;
    for (; result.count < w->ahead; result.count++) {
        const struct decoded *d = &cu_decoded(c)[decode_slot(pc + result.bytes)];
        bool is_valu = d->kind == CU_VALU, is_last = result.count + 1u == w->ahead;
        uint64_t cycles = deferred_cycles(c, d);
        unsigned rest = is_valu ? WORK_EXECUTING_VALU : WORK_EXECUTING_SALU;
        if (is_last && !deferred_is_near(c, w, pc + result.bytes + d->inst.size)) {
            if (pc + result.bytes + d->inst.size < w->line_address + CU_LINE)
                return; /* the instruction there may be known the next time */
            break;
        }
        if (d->kind == CU_MATRIX || at + cycles >= CU_WHEEL
            || !deferred_share(&result, is_valu ? d->issued : WORK_ISSUED_SALU, simds)
            || (cycles > simds && !deferred_share(&result, rest, cycles - simds)))
            return;
        result.last_kind = d->kind;
        result.last_turn = (uint8_t)at;
        at += cycles;
        result.valu += is_valu;
        result.valu_end = is_valu ? (uint8_t)at : result.valu_end;
        result.bytes += d->inst.size;
    }
    result.cycles = (uint8_t)at;
    *run = result;
}

/* True if another wavefront of the SIMD wants a turn after `first` and before `cycles` are over. */
static inline bool deferred_meets(const struct compute_unit *c, uint64_t first, uint64_t cycles)
{
    const unsigned simds = compute_unit_params(c)->simds;
    uint64_t turns = 0, shift = first % CU_WHEEL;
    uint64_t used = c->wheel_used >> shift | c->wheel_used << (CU_WHEEL - shift) % CU_WHEEL;
    for (unsigned i = simds; i < CU_WHEEL; i += simds)
        turns |= (uint64_t)1 << i;
    return used & turns & (((uint64_t)1 << cycles) - 1);
}

/* Counts the turns from `first` on that can be deferred, one by one; `*after` is the next turn. */
static OUT_OF_LINE unsigned deferred_count_turns(const struct compute_unit *c,
                                                 const struct cu_wave *w, uint64_t pc,
                                                 uint64_t first, uint64_t now, uint64_t *after)
{
    uint64_t bit = (uint64_t)1 << w->slot, turn = first;
    unsigned count = 0;
    while (count < w->ahead) {
        const struct decoded *d = &cu_decoded(c)[decode_slot(pc)];
        uint64_t next = cu_turn(c, w->simd, turn + deferred_cycles(c, d));
        if (d->kind == CU_MATRIX || next - now >= CU_WHEEL || (c->wheel[turn % CU_WHEEL] & ~bit))
            break;
        pc += d->inst.size;
        if (count + 1u == w->ahead && !deferred_is_near(c, w, pc))
            break;
        turn = next;
        count++;
    }
    *after = turn;
    return count;
}

/* The wavefront has issued alone in the turn `now`, and is in the wheel for its next one. Its
 * instructions up to the next that does more than change registers are executed, and their turns
 * are deferred, but for a turn before code of another line. */
static OUT_OF_LINE void deferred_begin(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    unsigned simd = w->simd;
    struct cu_simd *s = &c->simd[simd];
    uint64_t bit = (uint64_t)1 << w->slot, first = cu_turn(c, simd, w->ready_at), after;
    uint64_t pc = cu_scalars(c, w)->pc;
    if (s->valu_free > first || (!w->ahead && !execute_early(c, w))
        || unlikely(w->ahead_epoch != cu_code(c)->epoch))
        return;
    struct cu_deferred *run = execute_deferred(c, w);
    if (unlikely(!run->ahead) && c->has_whole_turns)
        deferred_describe(c, w, pc, run);
    unsigned count = run->count;
    if (!count && run->ahead == w->ahead)
        return;
    if (likely(run->ahead == w->ahead && c->wheel[first % CU_WHEEL] == bit
               && first + run->cycles - now < CU_WHEEL && !deferred_meets(c, first, run->cycles))) {
        after = first + run->cycles;
        c->deferred[simd].run = *run;
    } else {
        c->deferred[simd].run.count = 0;
        count = deferred_count_turns(c, w, pc, first, now, &after);
        if (!count)
            return;
    }
    c->wheel[first % CU_WHEEL] ^= bit;
    c->wheel_used ^= (uint64_t)!c->wheel[first % CU_WHEEL] << first % CU_WHEEL;
    c->wheel[cu_mark_turn(c, simd, after, now)] |= bit;
    s->deferred_count = (uint8_t)count;
    s->deferred_slot = w->slot;
    c->deferred[simd].until = after;
    c->deferred_simds |= 1u << simd;
}

static void deferred_flush_counters(struct component *base, uint64_t cycle)
{
    struct compute_unit *c = (struct compute_unit *)(void *)base;
    deferred_flush_all(c, c->failed_at && cycle > c->failed_at ? c->failed_at + 1 : cycle);
    engine_count_instructions(base, c->retired);
    c->retired = 0;
}

static void deferred_init(struct compute_unit *c)
{
    const struct compute_unit_params *p = compute_unit_params(c);
    c->may_defer = !cu_has_blocks(c) && !p->lds_write_delay && p->sgpr_order <= 1
                   && engine_try_defer(&c->io.base, deferred_flush_counters);
    c->has_whole_turns = p->scalar_latency % p->simds == 0;
    for (unsigned i = 0; i < ISA_TIMING_COUNT; i++)
        c->has_whole_turns &= c->valu_cycles[i] % p->simds == 0;
#ifdef HEDDLE_PROFILE
    c->may_defer = false;
#endif
}
