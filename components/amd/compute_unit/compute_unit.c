/* GCN compute unit: takes work-groups with the resources they are to use, runs their wavefronts,
 * answers when they end.
 *
 * One tick: answers from the three memory ports, a new work-group, wavefronts whose instruction is
 * over, the turn of one SIMD, and one instruction fetch; then the requests of vector and scalar
 * memory leave. All waiting is by time stamp, so a unit whose wavefronts all wait sleeps until the
 * earliest of them. The files included below each hold one of these jobs. */
#include "compute_unit.gen.h"

#include "runtime/engine/engine.h"
#include "runtime/state/platform.h"
#include "components/sampling/warmup.h"

#include "compute_unit_state.h"
#include "fetch.h"
#include "issue.h"
#include "local_memory.h"
#include "memory_only.h"
#include "played.h"
#include "retime.h"
#include "scalar_memory.h"
#include "vector_memory.h"
#include "wavefront.h"

static void compute_unit_executed(struct component *base, struct warm_code *code)
{
    struct compute_unit *c = (struct compute_unit *)(void *)base;
    if (code->seen != cu_decoded(c))
        decode_take_counts(cu_decoded(c), code);
    code->seen = cu_decoded(c);
}

static const struct warm_ops compute_unit_warm_ops = {.executed = compute_unit_executed};

static void compute_unit_init(struct compute_unit *c)
{
    size_t simds = (size_t)compute_unit_params(c)->simds;
    size_t waves = simds * (size_t)compute_unit_params(c)->wavefronts;
    size_t queue = (size_t)compute_unit_params(c)->vmem_queue;
    size_t ahead = (size_t)compute_unit_params(c)->instruction_buffer;
    c->lines_ahead = (uint32_t)((ahead + CU_LINE - 1) / CU_LINE);
    c->line_slots = c->lines_ahead + 1 + CU_STALE_LINES;
    c->decoded = platform_shared(&c->io.base, DECODE_ENTRIES * sizeof(struct decoded));
    c->waves = arena_allocate(waves * sizeof(struct cu_wave));
    c->played = arena_allocate(waves * sizeof(struct cu_played));
    c->scalars = arena_allocate(waves * sizeof(struct isa_wave));
    c->buffers = arena_allocate(waves * c->line_slots * CU_LINE);
    c->vgprs =
        arena_allocate(simds * (size_t)compute_unit_params(c)->vgprs * 64 * sizeof(uint32_t));
    c->lds = arena_allocate((size_t)compute_unit_params(c)->lds + CU_LINE);
    c->vmem_table = arena_allocate(queue * sizeof(struct cu_vmem));
    c->lds_end_slots = (uint32_t)waves * (ISSUE_MOST_LGKM + 1);
    c->lds_ends = arena_allocate(c->lds_end_slots * sizeof(struct cu_lds_end));
    for (; c->vmem_free_count < queue; c->vmem_free_count++)
        c->vmem_free[c->vmem_free_count] = (uint16_t)(queue - 1 - c->vmem_free_count);
    for (; c->line_free_count < CU_LINES; c->line_free_count++)
        c->line_free[c->line_free_count] = (uint16_t)(CU_LINES - 1 - c->line_free_count);
    for (; c->smem_free_count < CU_SMEM; c->smem_free_count++)
        c->smem_free[c->smem_free_count] = (uint16_t)(CU_SMEM - 1 - c->smem_free_count);
    for (size_t i = 0; i < CU_MAX_SIMDS; i++)
        c->retry_at[i] = ENGINE_NEVER;
    warm_register(&c->io.base, &compute_unit_warm_ops);
    retime_init(c);
    warm_register_unit(&c->io.base, ring_number(c->io.vmem_request),
                       ring_number(c->io.smem_request), ring_number(c->io.imem_request),
                       c->lines_ahead);
}

static uint64_t next_event(const struct compute_unit *c, uint64_t now)
{
    uint64_t next = wave_next_expiry(c, now);
    uint64_t lds = lds_next_end(c), vmem = vmem_next_send(c);
    for (unsigned s = 0; s < (unsigned)compute_unit_params(c)->simds; s++)
        next = c->retry_at[s] < next ? c->retry_at[s] : next;
    next = lds < next ? lds : next;
    return vmem > now && vmem < next ? vmem : next;
}

/* Out of line, since inlined it costs every tick registers: 1 % of the instructions of nbody. */
__attribute__((noinline)) static void receive(struct compute_unit *c, uint64_t pending,
                                              uint64_t now)
{
    if (pending >> compute_unit_vmem_first_pending(c) & 1)
        vmem_receive(c, now);
    if (pending >> compute_unit_smem_first_pending(c) & 1)
        smem_receive(c, now);
    if (pending >> compute_unit_imem_first_pending(c) & 1)
        fetch_receive(c, now);
    if (pending >> compute_unit_work_first_pending(c) & 1)
        group_start(c, now);
}

/* True when one of the ports sent as much as it may in a cycle and has more: then the next cycle
 * has work. Ports that were refused wake the unit when they get credit. */
static bool send(struct compute_unit *c, uint64_t now)
{
    bool more = false;
    if (c->vmem_send_count)
        more |= vmem_send(c, now);
    if (c->smem_send_count)
        more |= smem_send(c);
    more |= fetch_send(c);
    if (c->finished)
        group_answer(c);
    return more;
}

static bool compute_unit_tick(struct compute_unit *c)
{
    uint64_t now = compute_unit_now(c);
    unsigned simd = (unsigned)(now % (uint64_t)compute_unit_params(c)->simds);
    uint64_t pending = component_pending(&c->io.base, 0);
    if (pending)
        receive(c, pending, now);
    lds_finish(c, now);
    wave_expire(c, now);
    if (c->retry_at[simd] <= now)
        issue_simd(c, simd, now);
    bool more = send(c, now);
    if (c->retired) {
        engine_count_instructions(&c->io.base, c->retired);
        c->retired = 0;
    }
    uint64_t next = next_event(c, now);
    if (more || next <= now + 1)
        return true;
    if (next != ENGINE_NEVER)
        compute_unit_wake_at(c, next);
    return false;
}

/* What a wavefront waits for, in words; NULL: nothing that concerns others. */
static const char *wave_reason(const struct compute_unit *c, const struct cu_wave *w, char *text,
                               size_t size)
{
    const struct cu_group *g = &c->group[w->group];
    switch ((enum cu_wave_state)w->state) {
    case WAVE_WAITCNT:
        if (w->limit_vm != ISA_NO_WAIT && w->vm > w->limit_vm)
            snprintf(text, size, "waits for vmcnt(%u), has %u", w->limit_vm, w->vm);
        else
            snprintf(text, size, "waits for lgkmcnt(%u), has %u", w->limit_lgkm, w->lgkm);
        return text;
    case WAVE_BARRIER:
        snprintf(text, size, "waits at s_barrier with %u of %u", g->at_barrier,
                 g->waves - g->ended);
        return text;
    case WAVE_ENDING:
        snprintf(text, size, "has ended, but %u memory operations are outstanding",
                 w->vm + w->lgkm);
        return text;
    case WAVE_FETCH:
        return "waits for instructions";
    case WAVE_FAULTED:
        return "has failed";
    case WAVE_READY:
        return "is ready to issue";
    default:
        return "executes";
    }
}

static void note_wave(const struct compute_unit *c, const struct cu_wave *w, unsigned wave,
                      struct hang_report *report)
{
    const struct cu_group *g = &c->group[w->group];
    char reason[96], text[ISA_MAX_TEXT] = "";
    uint64_t pc = cu_scalars(c, wave)->pc;
    const struct decoded *d = &cu_decoded(c)[(uint32_t)(pc >> 2) & (DECODE_ENTRIES - 1)];
    if (d->valid && d->address == pc
        && isa_format(&d->inst, UINT64_MAX, text, sizeof text) >= sizeof text)
        text[sizeof text - 1] = 0;
    hang_note(report, "kernel '%s', work-group (%u,%u,%u), wavefront %u %s at pc 0x%" PRIx64 " %s",
              program_kernel_name(compute_unit_program(c), g->kernel), g->id[0], g->id[1], g->id[2],
              w->number, wave_reason(c, w, reason, sizeof reason), pc, text);
}

/* How often the instruction in entry `i` was issued, by the compute units of all threads. */
static uint64_t times_issued(const struct compute_unit *const *first, unsigned caches, uint32_t i,
                             const struct decoded **entry)
{
    uint64_t sum = 0;
    *entry = NULL;
    for (unsigned k = 0; k < caches; k++) {
        const struct decoded *d = &cu_decoded(first[k])[i];
        if (d->count && !*entry)
            *entry = d;
        if (d->count && d->address == (*entry)->address)
            sum += d->count;
    }
    return sum;
}

/* One compute unit for each of the caches of decoded instructions. */
static unsigned find_caches(const struct compute_unit *c, const struct compute_unit **first)
{
    unsigned caches = 0;
    uint32_t type = engine_base.platform->instances[c->io.base.leaf].type;
    for (uint32_t leaf = 0; leaf < engine_base.platform->instance_count; leaf++) {
        unsigned k = 0;
        if (engine_base.platform->instances[leaf].type != type)
            continue;
        const struct compute_unit *other = (const void *)platform_component(leaf);
        while (k < caches && first[k]->decoded != other->decoded)
            k++;
        if (k == caches && caches < ENGINE_MAX_DOMAINS)
            first[caches++] = other;
    }
    return caches;
}

/* The most executed addresses of all compute units; once a report, by the first unit asked. */
static void note_hottest(const struct compute_unit *c, struct hang_report *report)
{
    enum { SHOWN = 4 };
    static uint64_t last_report = UINT64_MAX;
    const struct compute_unit *first[ENGINE_MAX_DOMAINS];
    const struct decoded *top[SHOWN];
    uint64_t counts[SHOWN];
    unsigned found = 0;
    if (last_report == engine.time_ps)
        return;
    last_report = engine.time_ps;
    unsigned caches = find_caches(c, first);
    for (uint32_t i = 0; i < DECODE_ENTRIES; i++) {
        const struct decoded *entry;
        uint64_t count = times_issued(first, caches, i, &entry);
        unsigned place = found;
        while (place && counts[place - 1] < count)
            place--;
        if (!count || place == SHOWN)
            continue;
        found += found < SHOWN;
        for (unsigned k = found - 1; k > place; k--) {
            top[k] = top[k - 1];
            counts[k] = counts[k - 1];
        }
        top[place] = entry;
        counts[place] = count;
    }
    for (unsigned i = 0; i < found; i++) {
        char text[ISA_MAX_TEXT] = "";
        if (isa_format(&top[i]->inst, UINT64_MAX, text, sizeof text) >= sizeof text)
            text[sizeof text - 1] = 0;
        hang_note(report, "hottest address %u: 0x%" PRIx64 " %s, executed %" PRIu64 " times", i + 1,
                  top[i]->address, text, counts[i]);
    }
}

static unsigned compute_unit_outstanding(const struct compute_unit *c, struct hang_report *report)
{
    enum { SHOWN = 3 };
    unsigned waves = (unsigned)(compute_unit_params(c)->simds * compute_unit_params(c)->wavefronts);
    unsigned shown = 0;
    if (!report || !c->resident)
        return c->resident;
    note_hottest(c, report);
    for (unsigned i = 0; i < waves; i++) {
        const struct cu_wave *w = cu_wave_at(c, i);
        if (w->state != WAVE_FREE && shown++ < SHOWN)
            note_wave(c, w, i, report);
    }
    if (shown > SHOWN)
        hang_note(report, "and %u more wavefronts", shown - SHOWN);
    return c->resident;
}
