/* A wavefront between two instructions: how it decodes and sleeps in the wheel, and which account
 * its time goes to. */
#include "compute_unit.gen.h"

#include "base/likely.h"
#include "base/number.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"
#include "cu_fetch.h"

static inline uint64_t *wave_account(const struct cu_wave *w)
{
    return arena_at(uint64_t, w->account_at);
}

/* Charges cycles of the wavefront to `kind`, on behalf of the instruction in its turn. */
static inline void wave_charge(struct compute_unit *c, const struct cu_wave *w,
                               enum work_cycles_kind kind, uint64_t cycles)
{
    wave_account(w)[kind] += cycles;
    profile_spent(c, w, kind, cycles);
}

/* Charges the time up to now to the reason of the wavefront's wait. */
static inline void wave_charge_wait(struct compute_unit *c, const struct cu_wave *w, uint64_t now)
{
    wave_account(w)[w->time_kind] += now - w->accounted_until;
    profile_waited(c, w, w->time_kind, now - w->accounted_until);
}

/* Charges the time up to now to the reason of the wavefront's wait. From now on, or from the turn
 * after the instruction it has just issued, it waits for `cause`. */
static inline void wave_begin_wait(struct compute_unit *c, struct cu_wave *w, uint64_t now,
                                   enum work_cycles_kind cause)
{
    if (now > w->accounted_until) {
        wave_charge_wait(c, w, now);
        w->accounted_until = now;
    }
    w->time_kind = (uint8_t)cause;
    profile_waits(c, w, cause);
}

/* A wavefront that was ready issues an instruction: this turn of the SIMD is its. */
static inline void wave_charge_turn(struct compute_unit *c, struct cu_wave *w, unsigned issued,
                                    uint64_t now)
{
    uint64_t simds = compute_unit_params(c)->simds;
    wave_charge_wait(c, w, now);
    wave_account(w)[issued] += simds;
    profile_issued(c, w, issued, simds);
    w->accounted_until = now + simds;
}

/* The instruction issued now keeps its wavefront for `cycles`; what is more than the turn counts
 * for `executing`. */
static inline void wave_charge_executing(struct compute_unit *c, struct cu_wave *w,
                                         enum work_cycles_kind executing, uint64_t now,
                                         uint64_t cycles)
{
    if (cycles > compute_unit_params(c)->simds) {
        uint64_t end = cu_turn(c, w->simd, now + cycles);
        wave_charge(c, w, executing, end - w->accounted_until);
        w->accounted_until = end;
    }
}

/* Puts the wavefront into the wheel until ready_at, rounded up to a turn of its SIMD; the wheel
 * holds the last turn it can reach when that is further away. */
static void wave_sleep(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    unsigned simd = w->simd;
    uint64_t at = cu_turn(c, simd, w->ready_at > now ? w->ready_at : now + 1);
    w->state = WAVE_EXECUTING;
    c->wheel[cu_mark_turn(c, simd, at, now)] |= (uint64_t)1 << w->slot;
}

/* From now on the wavefront waits for its turn. */
static inline void wave_begin_ready(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    static const uint8_t waiting[CU_KINDS] = {
        [CU_MATRIX] = WORK_WAITING_VALU,   [CU_VALU] = WORK_WAITING_VALU,
        [CU_SCALAR] = WORK_WAITING_SCALAR, [CU_VMEM] = WORK_WAITING_VMEM,
        [CU_LDS] = WORK_WAITING_LDS,       [CU_BRANCH] = WORK_WAITING_BRANCH,
        [CU_SPECIAL] = WORK_WAITING_OTHER};
    wave_begin_wait(c, w, now, waiting[w->kind]);
    if (w->kind == CU_LDS)
        w->conflict_cycles = lds_conflicts_until(c, now);
}

/* Enters the wavefront among the ready ones of its SIMD. Whether the SIMD tries its next turn is up
 * to the caller. */
static inline void wave_set_ready(struct cu_simd *s, struct cu_wave *w)
{
    w->state = WAVE_READY;
    s->ready[w->kind] |= (uint64_t)1 << w->slot;
    s->kinds |= (uint8_t)(1u << w->kind);
}

/* The slot of a line that is in the buffer or on its way, or -1. */
static int wave_find_line(const struct compute_unit *c, const struct cu_wave *w, uint64_t line)
{
    for (unsigned i = 0; i < c->line_slots; i++)
        if (w->line[i] == line
            && (w->line_state[i] == LINE_VALID || w->line_state[i] == LINE_COMING))
            return (int)i;
    return -1;
}

static void wave_want_lines(struct compute_unit *c, const struct cu_wave *w)
{
    c->simd[w->simd].fetch_wanted |= (uint64_t)1 << w->slot;
    c->fetch_simds |= 1u << w->simd;
}

static void wave_wait_for_code(struct compute_unit *c, struct cu_wave *w)
{
    uint64_t now = compute_unit_now(c);
    wave_begin_wait(c, w, now, WORK_WAITING_FETCH);
    w->state = WAVE_FETCH;
}

/* Makes the line of the pc the wavefront's current one. False: the line is not there yet. */
static bool wave_enter_line(struct compute_unit *c, struct cu_wave *w, uint64_t line)
{
    if (line == w->line_address && w->code_version)
        return true;
    int slot = wave_find_line(c, w, line);
    w->complete_version = line == w->line_address ? w->complete_version : 0;
    w->line_address = line;
    w->code_version = 0;
    if (slot < 0 || (!fetch_is_complete(c, w) && fetch_missing(c, w, 1) != UINT64_MAX))
        wave_want_lines(c, w);
    if (slot < 0 || w->line_state[slot] != LINE_VALID)
        return false;
    w->line_slot = (uint8_t)slot;
    w->code_version = w->line_version[slot];
    return true;
}

/* Looks up an instruction that begins in the last `size` bytes of the current line and ends in the
 * next one. ISA_ERROR_TRUNCATED: that line is not there yet. */
static int wave_find_across(struct compute_unit *c, struct cu_wave *w, uint64_t pc,
                            const uint8_t *bytes, unsigned size)
{
    uint8_t joined[ISA_INST_BYTES_MAX];
    int slot = wave_find_line(c, w, w->line_address + CU_LINE);
    if (slot < 0 || w->line_state[slot] != LINE_VALID) {
        wave_want_lines(c, w);
        return ISA_ERROR_TRUNCATED;
    }
    memcpy(joined, bytes, size);
    memcpy(joined + size, cu_line_bytes(c, w, (unsigned)slot), sizeof joined - size);
    return cu_find_decoded(c, pc, joined, sizeof joined, &w->decoded);
}

/* The bytes at the pc are no instruction, or none that is implemented. */
static void wave_fault_decode(struct compute_unit *c, struct cu_wave *w, uint64_t pc,
                              const uint8_t *bytes, unsigned size)
{
    char cause[128];
    uint32_t word;
    struct isa_inst inst;
    memcpy(&word, bytes, sizeof word);
    bool is_known = isa_decode(cu_target(c), bytes, size, &inst) == ISA_ERROR_UNIMPLEMENTED;
    work_fault_decode(cu_target(c), word, is_known, cause, sizeof cause);
    cu_fault(c, w, is_known ? &inst : NULL, pc, UINT32_MAX, cause);
}

/* wave_decode() where the instruction has not been decoded, or is not in the line that the pc was
 * in. */
static OUT_OF_LINE bool wave_decode_anew(struct compute_unit *c, struct cu_wave *w)
{
    uint64_t pc = cu_scalars(c, w)->pc, line = round_down(pc, CU_LINE);
    unsigned offset = (unsigned)(pc - line), size = CU_LINE - offset;
    if (!wave_enter_line(c, w, line)) {
        wave_wait_for_code(c, w);
        return false;
    }
    const uint8_t *bytes = cu_line_bytes(c, w, w->line_slot) + offset;
    int result = cu_find_decoded(c, pc, bytes, size, &w->decoded);
    bool is_across = result == ISA_ERROR_TRUNCATED;
    if (is_across)
        result = wave_find_across(c, w, pc, bytes, size);
    if (result == ISA_ERROR_TRUNCATED) {
        wave_wait_for_code(c, w);
        return false;
    }
    if (result < 0) {
        wave_fault_decode(c, w, pc, bytes, size);
        return false;
    }
    struct decoded *d = &cu_decoded(c)[w->decoded];
    if (!is_across && cu_code_is_current(c, w))
        d->version = w->code_version;
    w->kind = d->kind;
    return true;
}

/* Looks up the instruction at the pc. False: its bytes are not there (WAVE_FETCH), or are no
 * instruction (WAVE_FAULTED). Out of line, since it is called from many places. */
static OUT_OF_LINE bool wave_decode(struct compute_unit *c, struct cu_wave *w)
{
    uint64_t pc = cu_scalars(c, w)->pc, line = round_down(pc, CU_LINE);
    const struct decoded *d = &cu_decoded(c)[decode_slot(pc)];
    if (line != w->line_address || !cu_code_is_current(c, w) || d->version != w->code_version
        || d->address != pc)
        return wave_decode_anew(c, w);
    w->decoded = decode_slot(pc);
    w->kind = d->kind;
    return true;
}

/* Looks up the instruction after the current one. If it was executed together with the current one,
 * it was looked up then. */
static inline bool wave_decode_next(struct compute_unit *c, struct cu_wave *w)
{
    if (!w->ahead || w->ahead_epoch != cu_code(c)->epoch)
        return wave_decode(c, w);
    w->decoded = decode_slot(cu_scalars(c, w)->pc);
    w->kind = cu_decoded(c)[w->decoded].kind;
    return true;
}

/* The instruction at the pc is decoded, and may issue from ready_at on. */
static inline void wave_schedule(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    if (likely(!w->is_memory_only) || wave_skip(c, w))
        wave_sleep(c, w, now);
}

/* The cycle until which the decoded instruction waits for the wavefront's last write to the LDS,
 * since it overwrites a register of the write, or reads the LDS; or 0. Writes are done in order. */
static uint64_t wave_write_ends(const struct compute_unit *c, const struct cu_wave *w)
{
    const struct isa_inst *inst = &cu_decoded(c)[w->decoded].inst;
    if (w->kind == CU_LDS)
        return inst->flags & ISA_IS_STORE ? 0 : w->lds_write_end;
    unsigned first = w->held_registers[1], last = first + w->held_dwords - 1u;
    bool overwrites = inst->dst == w->held_registers[0] || inst->dst == w->held_registers[2]
                      || (inst->dst >= first && inst->dst <= last);
    return w->kind <= CU_VALU && overwrites ? w->held_until : 0;
}

/* The decoded instruction issues later if it waits for a write to the LDS. */
static inline void wave_await_write(const struct compute_unit *c, struct cu_wave *w)
{
    bool may_wait = w->lds_write_end > w->ready_at || w->held_until > w->ready_at;
    uint64_t until = may_wait ? wave_write_ends(c, w) : 0;
    if (until > w->ready_at) {
        w->ready_at = until;
        w->time_kind = WORK_WAITING_LDS;
    }
}

/* A vector instruction issues later if it writes the scalar registers that the wavefront's last
 * such instruction wrote. */
static inline void wave_await_sgpr(const struct compute_unit *c, struct cu_wave *w)
{
    if (w->sgpr_until > w->ready_at && w->kind == CU_VALU
        && cu_decoded(c)[w->decoded].inst.sdst == w->sgpr) {
        w->ready_at = w->sgpr_until;
        w->time_kind = WORK_WAITING_VALU;
    }
}

/* The block that was coming is there. The next one follows if there is room for it behind `pc`. */
static inline void wave_receive_block(const struct compute_unit *c, struct cu_wave *w, uint64_t pc)
{
    w->code_end += CU_BLOCK;
    w->block_due = w->code_end - pc <= cu_block_room(c)
                       ? w->block_due + compute_unit_params(c)->fetch_latency
                       : UINT64_MAX;
}

/* Code comes into the buffer in blocks, one after the other, for as long as there is room; behind a
 * branch that is taken the first is there when the target may issue. The instruction that is
 * decoded now issues when all of it is there. */
static void wave_await_blocks(const struct compute_unit *c, struct cu_wave *w, uint64_t pc,
                              uint64_t now)
{
    uint64_t latency = compute_unit_params(c)->fetch_latency;
    while (w->block_due <= now)
        wave_receive_block(c, w, w->code_pc);
    if (pc != w->code_next) {
        w->code_end = pc + CU_BLOCK;
        w->block_due = w->ready_at + latency;
    } else if (w->block_due == UINT64_MAX && w->code_end - pc <= cu_block_room(c)) {
        w->block_due = now + latency;
    }
    w->code_pc = pc;
    w->code_next = pc + cu_decoded(c)[w->decoded].inst.size;
    while (w->code_end < w->code_next) {
        if (w->block_due > w->ready_at) {
            w->ready_at = w->block_due;
            w->time_kind = WORK_WAITING_FETCH;
        }
        wave_receive_block(c, w, pc);
    }
}

/* After an instruction: the next one may issue from `at` on. */
static inline void wave_continue(struct compute_unit *c, struct cu_wave *w, uint64_t now,
                                 uint64_t at)
{
    w->ready_at = at;
    if (!wave_decode_next(c, w))
        return;
    if (cu_has_blocks(c))
        wave_await_blocks(c, w, cu_scalars(c, w)->pc, now);
    if (compute_unit_params(c)->lds_write_delay)
        wave_await_write(c, w);
    if (compute_unit_params(c)->sgpr_order > 1)
        wave_await_sgpr(c, w);
    wave_schedule(c, w, now);
}

/* A line has come that the wavefront was waiting for: its code is there up to the end of that. */
static void wave_begin_line(const struct compute_unit *c, struct cu_wave *w, uint64_t pc,
                            uint64_t now)
{
    w->code_pc = pc;
    w->code_next = pc + cu_decoded(c)[w->decoded].inst.size;
    w->code_end = round_up(w->code_next, CU_LINE);
    w->block_due = now + compute_unit_params(c)->fetch_latency;
}

/* Bytes arrived for a wavefront in WAVE_FETCH. */
static void wave_receive_code(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    if (w->state != WAVE_FETCH || !wave_decode(c, w))
        return;
    if (cu_has_blocks(c))
        wave_begin_line(c, w, cu_scalars(c, w)->pc, now);
    wave_schedule(c, w, now);
}

/* First occupied cycle of the wheel after `now`. */
static inline uint64_t wave_next_expiry(const struct compute_unit *c, uint64_t now)
{
    unsigned first = (unsigned)(now + 1) % CU_WHEEL;
    uint64_t used = c->wheel_used >> first | c->wheel_used << (CU_WHEEL - first) % CU_WHEEL;
    return used ? now + 1 + (unsigned)__builtin_ctzll(used) : ENGINE_NEVER;
}
