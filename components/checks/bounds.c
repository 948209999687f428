/* `--check lds` and `--check readonly`: where wavefronts store, and how far they reach into LDS. */
#include <stdio.h>

#include "components/amd/isa/isa.h"

#include "checks.h"
#include "readonly.h"

/* ---- LDS ---- */

static void overrun(const struct check_wave *wave, const struct observed_instruction *s,
                    unsigned lane, uint64_t address, uint32_t bytes)
{
    uint32_t has = check_group_of(wave)->lds_bytes;
    const struct check_place place = check_step_place(wave, s, lane);
    struct finding f;
    if (!check_found(FINDING_LDS_OVERRUN, &place, NULL, &f))
        return;
    f.place[0].bytes = bytes;
    check_address(place.identity, FINDING_LDS, address, &f);
    snprintf(f.detail, sizeof f.detail, "the work-group has %u bytes of LDS", has);
    finding_report(&f);
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

const struct check check_lds = {.step = step_lds};

/* ---- memory that is only read ---- */

static void step_readonly(const struct check_wave *wave, const struct observed_instruction *s)
{
    const struct isa_memory *m = s->memory;
    const struct isa_scalar *a = s->scalar;
    bool stores = m && (m->kind == ISA_MEMORY_STORE || m->kind == ISA_MEMORY_ATOMIC);
    if (stores)
        check_stores(check_step_place(wave, s, 0), m->address, m->mask, m->bytes);
    if (a && s->address && a->kind != ISA_SCALAR_LOAD)
        check_stores(check_step_place(wave, s, FINDING_LANE_NONE), &a->address, 1, 4u * a->valid);
}

const struct check check_readonly = {.step = step_readonly};
