/* GCN compute unit: takes work-groups with the resources they are to use, runs their wavefronts,
 * answers when they end.
 *
 * One tick: answers from the three memory ports, a new work-group, wavefronts whose instruction is
 * over, the turn of one SIMD, and one instruction fetch; then the requests of vector and scalar
 * memory leave. All waiting is by time stamp, so a unit whose wavefronts all wait sleeps until the
 * earliest of them.
 *
 * An instruction's way through the files, each of which has one job:
 *
 *   cu_work_group.c     a work-group arrives, its wavefronts start
 *   cu_fetch.c          their code comes
 *   cu_wavefront.c      the next instruction is decoded; the wavefront sleeps in the wheel until it
 *                       may issue
 *   cu_issue.c          one SIMD a cycle issues; registers change at once (cu_execute.c)
 *   cu_vector_memory.c, cu_scalar_memory.c, cu_local_memory.c
 *                       memory and LDS accesses, until a counter goes down
 *   cu_counters.c       s_waitcnt waits for that
 *   cu_work_group.c     s_endpgm; the last wavefront's end answers the work-group
 *
 * Beside that way: cu_deferred_issue.c (turns of a wavefront that is alone), cu_fault.c (faults,
 * which end a run), cu_memory_only.c (warm-up), cu_report.c (hangs). */
#include "compute_unit.gen.h"

#include "base/likely.h"
#include "base/number.h"
#include "components/sampling/warmup.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/state/platform.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"
#include "cu_fetch.h"
#include "cu_scalar_memory.h"
#include "cu_vector_memory.h"

static void compute_unit_executed(struct component *base, struct warm_code *code)
{
    struct compute_unit *c = (struct compute_unit *)(void *)base;
    if (code->seen != cu_decoded(c)) {
        execute_count(c, code->first, code->end);
        decode_collect_counts(cu_decoded(c), code);
    }
    code->seen = cu_decoded(c);
    code->work->longest = max(c->longest_wavefront, code->work->longest);
    c->longest_wavefront = 0;
}

static const struct warm_ops compute_unit_warm_ops = {.executed = compute_unit_executed};

static void init_tables(struct compute_unit *c, size_t waves, size_t queue)
{
    const struct compute_unit_params *p = compute_unit_params(c);
    c->ledgers_at = arena_allocate(WORK_GROUP_SLOTS_MAX * sizeof(struct cu_ledger));
    c->waves_at = arena_allocate(waves * sizeof(struct cu_wave));
    c->buffers_at = arena_allocate(waves * c->line_slots * CU_LINE);
    c->scalars_at = arena_allocate(waves * sizeof(struct isa_wave));
    c->groups_at = arena_allocate(WORK_GROUP_SLOTS_MAX * sizeof(struct cu_group));
    c->vmem_table_at = arena_allocate(queue * sizeof(struct cu_vmem));
    index_pool_init(&c->free_vmem, (uint32_t)queue);
    c->vmem_order_at = arena_allocate(queue * sizeof(uint16_t));
    index_pool_init(&c->free_rests, (uint32_t)queue);
    index_pool_init(&c->free_smem, CU_SMEM);
    index_pool_init(&c->free_lines, CU_LINES);
    c->smem_at = arena_allocate(CU_SMEM * sizeof(struct cu_smem));
    c->smem_data_at = arena_allocate(CU_SMEM * CU_SMEM_DATA * sizeof(uint32_t));
    c->vgprs_at = arena_allocate_front(p->simds * cu_registers_of_simd(c) * REGISTER_BYTES);
    c->lds_at = arena_allocate(p->lds + CU_LINE);
    c->lines_at = arena_allocate(CU_LINES * sizeof(struct cu_line));
    c->lds_end_slots = (uint32_t)waves * (CU_LGKM_MAX + 1);
    c->lds_ends_at = arena_allocate(c->lds_end_slots * sizeof(struct cu_lds_end));
    c->lane_offsets_at = arena_allocate(queue * ISA_LANES);
    c->vmem_rest_at = arena_allocate(queue * sizeof(struct cu_vmem_rest));
    c->stages_at = arena_allocate(queue * CU_STAGE);
    c->wide_stages_at = arena_allocate(queue * CU_WIDE_STAGE);
}

static void compute_unit_init(struct compute_unit *c)
{
    size_t simds = compute_unit_params(c)->simds;
    size_t waves = simds * compute_unit_params(c)->wavefronts;
    size_t queue = compute_unit_params(c)->vmem_queue;
    size_t ahead = compute_unit_params(c)->instruction_buffer;
    c->lines_ahead = (uint32_t)divide_up(ahead, CU_LINE);
    c->line_slots = c->lines_ahead + 1 + CU_STALE_LINES;
    c->code_at = platform_shared(&c->io.base, sizeof(struct cu_code));
    execute_init(c);
    issue_init(c);
    init_tables(c, waves, queue);
    c->lds_next = ENGINE_NEVER;
    for (size_t i = 0; i < CU_SIMDS_MAX; i++)
        c->retry_at[i] = ENGINE_NEVER;
    warm_register(&c->io.base, &compute_unit_warm_ops);
    deferred_init(c);
    warm_register_unit(&c->io.base,
                       &(struct warm_unit){.ring = {ring_number(c->io.vmem_request),
                                                    ring_number(c->io.smem_request),
                                                    ring_number(c->io.imem_request)},
                                           .lines_ahead = c->lines_ahead,
                                           .code_kept = compute_unit_params(c)->code_kept});
}

static uint64_t next_event(const struct compute_unit *c, uint64_t now)
{
    uint64_t next = min(wave_next_expiry(c, now), c->lds_next), vmem = vmem_next_send(c);
    return vmem > now ? min(vmem, next) : next;
}

/* Among the ports with messages under way, those whose message has arrived. Half of the time there
 * is none. */
static inline uint64_t arrived(const struct compute_unit *c, uint64_t pending)
{
    const uint64_t vmem = (uint64_t)1 << compute_unit_vmem_first_pending(c),
                   smem = (uint64_t)1 << compute_unit_smem_first_pending(c),
                   imem = (uint64_t)1 << compute_unit_imem_first_pending(c),
                   work = (uint64_t)1 << compute_unit_work_first_pending(c);
    uint64_t ports = pending & vmem && compute_unit_vmem_peek_reply(c) ? vmem : 0;
    ports |= pending & smem && compute_unit_smem_peek_reply(c) ? smem : 0;
    ports |= pending & imem && compute_unit_imem_peek_reply(c) ? imem : 0;
    return ports | (pending & work && compute_unit_work_peek(c) ? work : 0);
}

/* Out of line, since inlined it costs every tick registers: 1 % of the instructions of nbody. */
static OUT_OF_LINE void receive(struct compute_unit *c, uint64_t ports, uint64_t now)
{
    if (ports >> compute_unit_vmem_first_pending(c) & 1)
        vmem_receive(c, now);
    if (ports >> compute_unit_smem_first_pending(c) & 1)
        smem_receive(c, now);
    if (ports >> compute_unit_imem_first_pending(c) & 1)
        fetch_receive(c, now);
    if (ports >> compute_unit_work_first_pending(c) & 1)
        group_start(c, now);
}

/* True if one of the ports sent as much as it may in a cycle and has more: then the next cycle has
 * work. A port without credit wakes the unit when it gets some. */
static bool send(struct compute_unit *c, uint64_t now)
{
    bool has_more = false;
    if (c->vmem_send_count)
        has_more |= vmem_send(c, now);
    if (c->smem_send_count)
        has_more |= smem_send(c);
    if (c->fetch_simds)
        has_more |= fetch_send(c);
    if (c->groups_to_answer)
        group_answer(c);
    return has_more;
}

/* The turn of a SIMD that the wheel has an entry for: wavefronts wake, or a ready one may issue. */
static inline void run_turn(struct compute_unit *c, unsigned simd, uint64_t now)
{
    struct cu_simd *s = &c->simd[simd];
    if (s->deferred_count)
        deferred_end(c, simd, now);
    uint64_t due = c->wheel[now % CU_WHEEL], retry_at = c->retry_at[simd];
    c->wheel_used ^= (uint64_t)1 << now % CU_WHEEL;
    c->wheel[now % CU_WHEEL] = 0;
    c->retry_at[simd] = ENGINE_NEVER;
    for (; due; due &= due - 1) {
        struct cu_wave *w = cu_wave_in(c, simd, (unsigned)__builtin_ctzll(due));
        if (unlikely(w->ready_at > now)) {
            wave_sleep(c, w, now);
            continue;
        }
        if (!s->kinds && !(due & (due - 1))) {
            issue_alone(c, w, now);
            return;
        }
        wave_begin_ready(c, w, now);
        wave_set_ready(s, w);
        retry_at = now;
    }
    if (retry_at <= now)
        issue_simd(c, simd, now);
    else if (retry_at != ENGINE_NEVER) /* further away than the wheel reaches */
        cu_retry(c, simd, retry_at, now);
}

static bool compute_unit_tick(struct compute_unit *c)
{
    uint64_t now = compute_unit_now(c);
    unsigned simd = (unsigned)(now % compute_unit_params(c)->simds);
    uint64_t pending = component_pending(&c->io.base, 0);
    uint64_t ports = pending ? arrived(c, pending) : 0;
    if (ports)
        receive(c, ports, now);
    if (c->lds_next <= now)
        lds_finish(c, now);
    if (c->wheel_used >> now % CU_WHEEL & 1)
        run_turn(c, simd, now);
    bool has_more = send(c, now);
    if (c->retired) {
        engine_count_instructions(&c->io.base, c->retired);
        c->retired = 0;
    }
    uint64_t next = next_event(c, now);
    if (has_more || next <= now + 1)
        return true;
    if (next != ENGINE_NEVER)
        compute_unit_wake_at(c, next);
    return false;
}
