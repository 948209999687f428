/* `--check lds` and `--check readonly`: where wavefronts store, and how far they reach into LDS. */
#include "bounds.h"

#include <stdio.h>

#include "check_code.h"
#include "components/amd/isa/isa.h"
#include "components/memory/page_table/program_table.h"

static void report_access(enum finding_kind kind, const struct check_wave *wave,
                          const struct observed_instruction *s, unsigned lane,
                          enum finding_space space, uint64_t address, uint32_t bytes,
                          const char *detail)
{
    struct finding f = {.kind = kind, .places = 1};
    check_place(wave, s->pc, s->inst, lane, &f.place[0]);
    f.place[0].bytes = bytes;
    check_address(wave, space, address, &f);
    snprintf(f.detail, sizeof f.detail, "%s", detail);
    finding_report(&f);
}

/* ---- LDS ---- */

static void overrun(const struct check_wave *wave, const struct observed_instruction *s,
                    unsigned lane, uint64_t address, uint32_t bytes)
{
    uint32_t has = check_group_of(wave)->lds_bytes;
    if (finding_seen(FINDING_LDS_OVERRUN, s->pc, 0))
        return;
    char detail[FINDING_TEXT];
    snprintf(detail, sizeof detail, "the work-group has %u bytes of LDS", has);
    report_access(FINDING_LDS_OVERRUN, wave, s, lane, FINDING_LDS, address, bytes, detail);
}

static void step_lds(const struct check_wave *wave, const struct observed_instruction *s)
{
    struct isa_lds_access local;
    const struct isa_memory *m = s->memory;
    uint64_t has = check_group_of(wave)->lds_bytes;
    for (uint64_t rest = m ? m->lds_mask : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if (m->address[lane] + m->bytes > has)
            overrun(wave, s, lane, m->address[lane], m->bytes);
    }
    if (!s->inst || s->inst->unit != ISA_UNIT_LDS || !isa_lds_access_describe(s->inst, &local))
        return;
    const uint32_t *held =
        s->context->vgpr + (size_t)isa_register(s->context, s->inst->src[0]) * ISA_LANES;
    for (unsigned i = 0; i < local.count; i++) {
        for (uint64_t rest = s->mask; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            uint64_t address = held[lane] + local.offset[i];
            if (address + local.bytes > has)
                overrun(wave, s, lane, address, local.bytes);
        }
    }
}

const struct check check_lds = {.check = FINDING_CHECK_LDS, .step = step_lds};

/* ---- memory that is only read ---- */

static const char *why_constant(const struct check_wave *wave, uint64_t address)
{
    uint64_t name = check_name(wave, address);
    const struct program_allocation *a = program_find(wave->what.program, name);
    if (a && a->use == PROGRAM_ARGUMENTS)
        return "a kernel's arguments";
    return check_is_constant(name);
}

static void check_store(const struct check_wave *wave, const struct observed_instruction *s,
                        unsigned lane, uint64_t address, uint32_t bytes)
{
    const char *why = why_constant(wave, address);
    if (!why || finding_seen(FINDING_READONLY_STORE, s->pc, 0))
        return;
    char detail[FINDING_TEXT];
    snprintf(detail, sizeof detail, "what lies there: %s", why);
    report_access(FINDING_READONLY_STORE, wave, s, lane, FINDING_GLOBAL, address, bytes, detail);
}

static void step_readonly(const struct check_wave *wave, const struct observed_instruction *s)
{
    const struct isa_memory *m = s->memory;
    const struct isa_scalar *a = s->scalar;
    bool stores = m && (m->kind == ISA_MEMORY_STORE || m->kind == ISA_MEMORY_ATOMIC);
    uint64_t page = UINT64_MAX;
    for (uint64_t rest = stores ? m->mask : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if (m->address[lane] / 16 == page)
            continue;
        page = m->address[lane] / 16;
        check_store(wave, s, lane, m->address[lane], m->bytes);
    }
    if (a && s->address && a->kind != ISA_SCALAR_LOAD)
        check_store(wave, s, FINDING_NO_LANE, a->address, 4u * a->valid);
}

const struct check check_readonly = {.check = FINDING_CHECK_READONLY, .step = step_readonly};
