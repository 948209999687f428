/* Instructions executed on registers and the LDS, from the form that isa_prepare() gives them once.
 *
 * That form holds pointers, so it is not state: it stands beside the decode cache, in a table of
 * the process that is made anew at start-up, one for each domain, since a domain runs in one
 * thread. An entry holds as long as the decode cache has the same instruction at the same place. */
#include "compute_unit.gen.h"

#include "compute_unit_state.h"
#include "components/amd/isa/isa_ready.h"
#include "runtime/engine/arena.h"

struct execute_entry {
    _Alignas(64) struct isa_ready ready;
    uint64_t address;
    uint32_t words[ISA_MAX_INST_BYTES / 4];
    uint8_t target;
};

static struct execute_domain {
    struct execute_entry *entries; /* [DECODE_ENTRIES] */
    struct isa_workspace workspace;
} execute_domains[ENGINE_MAX_DOMAINS];

/* Of all units that share a decode cache the first one makes the table. The entry behind the last
 * one says that it has. */
static void execute_init(const struct compute_unit *c)
{
    struct execute_domain *domain = &execute_domains[c->io.base.domain];
    struct decoded *marker = &cu_decoded(c)[DECODE_ENTRIES];
    if (marker->valid)
        return;
    marker->valid = 1;
    domain->entries = arena_derive(DECODE_ENTRIES * sizeof *domain->entries);
    isa_workspace_begin(&domain->workspace);
}

__attribute__((noinline)) static void execute_prepare(const struct decoded *d,
                                                      struct execute_entry *e)
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

/* What isa_execute() does with the instruction that the wavefront has decoded. Treating denormals
 * as zeros ends with the instruction, as caches compute with floating point, too. */
static inline enum isa_status execute(const struct compute_unit *c, const struct cu_wave *w,
                                      struct isa_context *context, struct isa_wave *s)
{
    const struct decoded *d = &cu_decoded(c)[w->decoded];
    struct execute_domain *domain = &execute_domains[c->io.base.domain];
    struct execute_entry *e = &domain->entries[w->decoded];
    if (engine_unlikely(d->inst.vgprs > context->vgpr_count || d->inst.agprs > context->agpr_count))
        return isa_execute(context, s, &d->inst);
    if (engine_unlikely(!execute_holds(e, d)))
        execute_prepare(d, e);
    enum isa_status status = e->ready.run(context, s, &e->ready, &domain->workspace);
    isa_workspace_end(&domain->workspace);
    return status;
}
