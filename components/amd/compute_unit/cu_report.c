/* Reports of a compute unit: its wavefronts when the simulation does not continue, and where
 * programs spend their instructions. Called between cycles. */
#include "compute_unit.gen.h"

#include "runtime/observe/hang.h"
#include "runtime/state/platform.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"
#include "cu_fetch.h"

/* Event that a wavefront waits for, in words; NULL: nothing that concerns others. */
static const char *wave_reason(const struct compute_unit *c, const struct cu_wave *w, char *text,
                               size_t size)
{
    const struct cu_group *g = cu_group_at(c, w->group);
    switch ((enum cu_wave_state)w->state) {
    case WAVE_WAITCNT:
        if (w->limit_vm != ISA_WAIT_NONE && w->vm > w->limit_vm)
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

static void report_wave(const struct compute_unit *c, const struct cu_wave *w,
                        struct hang_report *report)
{
    const struct cu_group *g = cu_group_at(c, w->group);
    char reason[96], text[ISA_TEXT_MAX] = "";
    uint64_t pc = cu_scalars(c, w)->pc;
    const struct decoded *d = &cu_decoded(c)[(uint32_t)(pc >> 2) & (DECODE_ENTRIES - 1)];
    if (d->is_valid && d->address == pc
        && isa_format(&d->inst, UINT64_MAX, text, sizeof text) >= sizeof text)
        text[sizeof text - 1] = 0;
    hang_note(report, "kernel '%s', work-group (%u,%u,%u), wavefront %u %s at pc 0x%" PRIx64 " %s",
              program_kernel_name(compute_unit_program(c), g->kernel), g->id[0], g->id[1], g->id[2],
              w->number, wave_reason(c, w, reason, sizeof reason), pc, text);
}

/* Issues of the instruction in entry `i`, by the compute units of all threads. */
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
        const struct compute_unit *unit = (const void *)platform_component(leaf);
        while (k < caches && first[k]->code_at != unit->code_at)
            k++;
        if (k < caches || caches == ENGINE_DOMAINS_MAX)
            continue;
        execute_count(unit, 0, UINT64_MAX);
        first[caches++] = unit;
    }
    return caches;
}

/* True if this is the first unit of its type, in the order of instances, that has wavefronts. */
static bool is_first_busy(const struct compute_unit *c)
{
    const struct platform_instance *instances = engine_base.platform->instances;
    for (uint32_t leaf = 0; leaf < c->io.base.leaf; leaf++) {
        const struct compute_unit *unit = (const void *)platform_component(leaf);
        if (instances[leaf].type == instances[c->io.base.leaf].type && unit->resident_waves)
            return false;
    }
    return true;
}

/* The most executed addresses of all compute units. */
static void report_hottest(const struct compute_unit *c, struct hang_report *report)
{
    enum { SHOWN = 4 };
    const struct compute_unit *first[ENGINE_DOMAINS_MAX];
    const struct decoded *top[SHOWN];
    uint64_t counts[SHOWN];
    unsigned found = 0;
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
        char text[ISA_TEXT_MAX] = "";
        if (isa_format(&top[i]->inst, UINT64_MAX, text, sizeof text) >= sizeof text)
            text[sizeof text - 1] = 0;
        hang_note(report, "hottest address %u: 0x%" PRIx64 " %s, executed %" PRIu64 " times", i + 1,
                  top[i]->address, text, counts[i]);
    }
}

static unsigned compute_unit_outstanding(const struct compute_unit *c, struct hang_report *report)
{
    enum { SHOWN = 3 };
    unsigned slots = compute_unit_params(c)->wavefronts;
    unsigned waves = compute_unit_params(c)->simds * slots, shown = 0;
    if (!report || !c->resident_waves)
        return c->resident_waves;
    if (is_first_busy(c)) /* once a report */
        report_hottest(c, report);
    for (unsigned i = 0; i < waves; i++) {
        const struct cu_wave *w = cu_wave_in(c, i / slots, i % slots);
        if (w->state != WAVE_FREE && shown++ < SHOWN)
            report_wave(c, w, report);
    }
    if (shown > SHOWN)
        hang_note(report, "and %u more wavefronts", shown - SHOWN);
    return c->resident_waves;
}
