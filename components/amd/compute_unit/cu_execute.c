/* Instructions executed on registers and the LDS, from the form that isa_prepare() gives them once.
 *
 * That form holds pointers, so it is not state: it lies beside the decode cache, in a table of the
 * process that is made anew at start-up, one for each domain, since a domain runs in one thread. An
 * entry holds as long as the decode cache has the same instruction at the same place; struct
 * cu_code says how that is known.
 *
 * Instructions on registers that follow each other without a branch are executed together when the
 * first of them issues, while its wavefront's registers are in the host's caches: nothing else sees
 * these, and nothing else writes them but loads under way, whose registers a program must not use
 * before it has waited for them. The pc stays where it is, and the others take their turns as
 * always.
 *
 * Without such runs, a run of `r9nano` takes 12 % more host instructions for matmul 64, 21 % for
 * nbody 256 and 28 % for aes128 4096; without prepared instructions as well, 24 %, 46 % and 47 %.
 * vectoradd 65536, which waits for memory, takes the same. */
#include "compute_unit.gen.h"

#include "base/likely.h"
#include "base/number.h"
#include "components/amd/isa/execute/isa_ready.h"
#include "runtime/engine/arena.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"
#include "cu_fetch.h"

struct execute_entry {
    _Alignas(64) struct isa_ready ready;
    uint64_t address;
    uint32_t words[ISA_INST_BYTES_MAX / 4];
    uint8_t target;
    bool has_run; /* the members below are known */
    uint8_t run;  /* next instructions that can be executed together with this one */
    uint16_t run_vgprs, run_agprs;
    uint32_t epoch; /* of the code when the entry was last seen to hold (cu_fetch.h) */
};
_Static_assert(sizeof(struct execute_entry) == 128, "an instruction takes two of the host's lines");

/* The turns of an instruction and of those executed with it, as far as they may be deferred. */
struct execute_deferred {
    uint32_t epoch;
    uint64_t pc;
    struct cu_deferred turns;
    uint64_t times; /* times that they were deferred, not yet in the counts of `decoded` */
};

static struct execute_domain {
    struct execute_entry *entries;     /* [DECODE_ENTRIES] */
    struct execute_deferred *deferred; /* alike */
    struct isa_workspace workspace;
} execute_domains[ENGINE_DOMAINS_MAX];

/* The first unit of those that share a decode cache makes the table. */
static void execute_init(struct compute_unit *c)
{
    struct execute_domain *domain = &execute_domains[c->io.base.domain];
    struct cu_code *code = cu_code(c);
    c->execute_domain = (uint8_t)c->io.base.domain;
    if (code->is_opened)
        return;
    code->is_opened = true;
    code->epoch = code->version = 1;
    domain->entries = arena_derive(DECODE_ENTRIES * sizeof *domain->entries);
    domain->deferred = arena_derive(DECODE_ENTRIES * sizeof *domain->deferred);
    isa_workspace_begin(&domain->workspace);
}

static OUT_OF_LINE void execute_prepare(const struct decoded *d, struct execute_entry *e)
{
    e->address = d->address;
    memcpy(e->words, d->words, sizeof e->words);
    e->target = d->inst.target;
    isa_prepare(&d->inst, UINT32_MAX, UINT32_MAX, &e->ready);
}

static inline bool execute_holds(const struct execute_entry *e, const struct decoded *d)
{
    return e->ready.inst == &d->inst && e->address == d->address
           && !memcmp(e->words, d->words, sizeof e->words) && e->target == d->inst.target;
}

/* The prepared instruction for place `number` of the decode cache. */
static inline struct execute_entry *
execute_entry(const struct compute_unit *c, const struct execute_domain *domain, uint32_t number)
{
    const struct decoded *d = &cu_decoded(c)[number];
    struct execute_entry *e = &domain->entries[number];
    if (likely(e->epoch == cu_code(c)->epoch))
        return e;
    if (!execute_holds(e, d))
        execute_prepare(d, e);
    e->has_run = false;
    e->epoch = cu_code(c)->epoch;
    return e;
}

static inline bool execute_fits(const struct isa_inst *inst, const struct isa_context *context)
{
    return inst->vgprs <= context->vgpr_count && inst->agprs <= context->agpr_count;
}

/* Finds the instructions from the pc on, in the line of the one before, that can be executed with
 * that. Memory instructions are left to their turns. The length of a run follows from the code
 * alone. */
static OUT_OF_LINE void execute_find_run(const struct compute_unit *c,
                                         const struct execute_domain *domain,
                                         struct execute_entry *e, uint64_t pc, const uint8_t *code,
                                         unsigned size)
{
    unsigned at = 0;
    uint32_t number;
    e->run = 0;
    e->run_vgprs = e->run_agprs = 0;
    while (at < size && cu_find_decoded(c, pc + at, code + at, size - at, &number) >= 0) {
        const struct decoded *d = &cu_decoded(c)[number];
        if (d->kind > CU_SCALAR)
            break;
        execute_entry(c, domain, number);
        e->run_vgprs = max(d->inst.vgprs, e->run_vgprs);
        e->run_agprs = max(d->inst.agprs, e->run_agprs);
        at += d->inst.size;
        e->run++;
    }
}

/* Executes the instructions of the run after `e`, from the pc on, and leaves the pc where it is. An
 * instruction that fails is left to its turn. */
static inline void execute_ahead(const struct compute_unit *c, struct cu_wave *w,
                                 struct isa_context *context, struct isa_wave *s,
                                 struct execute_domain *domain, struct execute_entry *e)
{
    uint64_t pc = s->pc, at = pc - w->line_address;
    unsigned size = at < CU_LINE ? CU_LINE - (unsigned)at : 0;
    if (unlikely(!e->has_run || !cu_code_is_current(c, w))) {
        execute_find_run(c, domain, e, pc, cu_line_bytes(c, w, w->line_slot) + at, size);
        e->has_run = cu_code_is_current(c, w);
        e->epoch = cu_code(c)->epoch;
    }
    w->ahead_epoch = e->epoch;
    if (unlikely(e->run_vgprs > context->vgpr_count || e->run_agprs > context->agpr_count))
        return;
    for (unsigned i = 0; i < e->run; i++) {
        const struct isa_ready *ready = &domain->entries[decode_slot(s->pc)].ready;
        uint64_t idle = domain->workspace.idle_lanes, executed = s->pc;
        if (ready->run(context, s, ready, &domain->workspace) != ISA_OK)
            break;
        profile_executed(c, w, executed, domain->workspace.idle_lanes - idle);
        w->ahead++;
    }
    s->pc = pc;
}

/* Executes the instruction that the wavefront has decoded, as isa_execute() does. Treating
 * denormals as zeros ends with the instruction, as caches compute with floating point, too. */
static inline enum isa_status execute(const struct compute_unit *c, struct cu_wave *w,
                                      struct isa_context *context, struct isa_wave *s)
{
    const struct decoded *d = &cu_decoded(c)[w->decoded];
    struct execute_domain *domain = &execute_domains[c->execute_domain];
    uint64_t executed = s->pc;
    if (unlikely(!execute_fits(&d->inst, context)))
        return isa_execute(context, s, &d->inst);
    struct execute_entry *e = execute_entry(c, domain, w->decoded);
    enum isa_status status = e->ready.run(context, s, &e->ready, &domain->workspace);
    profile_executed(c, w, executed, domain->workspace.idle_lanes);
    if (status == ISA_OK && d->kind <= CU_SCALAR && !unlikely(execution_observer)
        && likely(!w->is_memory_only))
        execute_ahead(c, w, context, s, domain, e);
    isa_workspace_end(&domain->workspace);
    if (domain->workspace.idle_lanes) {
        cu_ledger_at(c, w->ledger)->account.valu_idle_lanes += domain->workspace.idle_lanes;
        domain->workspace.idle_lanes = 0;
    }
    return status;
}

/* Executes the decoded instruction and its run before their turns. False: they cannot be executed
 * early, and nothing has happened. */
static bool execute_early(const struct compute_unit *c, struct cu_wave *w)
{
    struct isa_wave *s = cu_scalars(c, w);
    struct isa_context context = cu_context(c, w);
    const struct isa_inst *inst = &cu_decoded(c)[w->decoded].inst;
    uint64_t pc = s->pc;
    if (inst->unit == ISA_UNIT_SMEM || w->is_memory_only || execution_observer
        || !execute_fits(inst, &context))
        return false;
    enum isa_status status = execute(c, w, &context, s);
    s->pc = pc;
    if (status != ISA_OK)
        return false;
    if (!w->ahead)
        w->ahead_epoch = cu_code(c)->epoch;
    w->ahead++;
    return true;
}

/* Adds the deferred turns to the counts of the instructions. */
static void execute_count_deferred(const struct compute_unit *c, struct execute_deferred *deferred)
{
    uint64_t pc = deferred->pc;
    if (!deferred->times)
        return;
    for (unsigned i = 0; i < deferred->turns.count; i++) {
        struct decoded *d = &cu_decoded(c)[decode_slot(pc)];
        if (d->address != pc) /* the entry has been replaced, and its count is gone */
            break;
        d->count += deferred->times;
        pc += d->inst.size;
    }
    deferred->times = 0;
}

static inline struct execute_deferred *execute_deferred_at(const struct compute_unit *c,
                                                           uint32_t number)
{
    return &execute_domains[c->execute_domain].deferred[number];
}

/* The turns of the decoded instruction and of its run, as far as they are known. */
static struct cu_deferred *execute_deferred(const struct compute_unit *c, const struct cu_wave *w)
{
    struct execute_deferred *deferred = execute_deferred_at(c, w->decoded);
    if (unlikely(deferred->epoch != cu_code(c)->epoch)) {
        execute_count_deferred(c, deferred);
        deferred->pc = cu_decoded(c)[w->decoded].address;
        deferred->turns.ahead = deferred->turns.count = 0;
        deferred->epoch = cu_code(c)->epoch;
    }
    return &deferred->turns;
}

/* The turns of the decoded instruction and of its run have been deferred once more. */
static inline void execute_count_deferral(const struct compute_unit *c, const struct cu_wave *w)
{
    execute_deferred_at(c, w->decoded)->times++;
}

/* Adds up the counts of instructions first .. end - 1 in `decoded`, where readers of statistics
 * look for them. The counts of a unit of another rank are only there. */
static void execute_count(const struct compute_unit *c, uint64_t first, uint64_t end)
{
    if (!execute_domains[c->execute_domain].deferred)
        return;
    for (uint64_t at = first & ~(uint64_t)3, i = 0; at < end && i < DECODE_ENTRIES; at += 4, i++)
        execute_count_deferred(c, execute_deferred_at(c, decode_slot(at)));
}
