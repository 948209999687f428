/* One wavefront with registers and LDS, for tests of the instruction library. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_MACHINE_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_MACHINE_H

#include <criterion/criterion.h>

#include "encode.h"

enum { MACHINE_VGPRS = 256, MACHINE_LDS = 4096 };

struct machine {
    _Alignas(64) uint32_t vgpr[MACHINE_VGPRS * 64];
    uint8_t lds[MACHINE_LDS];
    struct isa_context ctx;
    struct isa_wave wave;
};

static inline void machine_init(struct machine *m)
{
    memset(m, 0, sizeof *m);
    m->ctx = (struct isa_context){
        .vgpr = m->vgpr, .vgpr_count = MACHINE_VGPRS, .lds = m->lds, .lds_size = MACHINE_LDS};
    m->wave.mode = ISA_MODE_DEFAULT;
    isa_wave_set_pair(&m->wave, ISA_EXEC, ~UINT64_C(0));
}

static inline void machine_set(struct machine *m, unsigned reg, uint32_t value)
{
    for (unsigned lane = 0; lane < 64; lane++)
        m->vgpr[reg * 64 + lane] = value;
}

static inline void machine_set64(struct machine *m, unsigned reg, uint64_t value)
{
    machine_set(m, reg, (uint32_t)value);
    machine_set(m, reg + 1, (uint32_t)(value >> 32));
}

static inline uint64_t machine_get64(const struct machine *m, unsigned reg, unsigned lane)
{
    return (uint64_t)m->vgpr[reg * 64 + lane] | (uint64_t)m->vgpr[(reg + 1) * 64 + lane] << 32;
}

/* Decodes and executes; the status, with the pc checked when it is ISA_OK for an instruction that
 * does not branch. */
static inline enum isa_status machine_run_on(struct machine *m, enum isa_target target,
                                             const uint32_t *word)
{
    struct isa_inst inst;
    int size = isa_decode(target, word, 12, &inst);
    cr_assert_gt(size, 0, "%08x %08x does not decode: %d", word[0], word[1], size);
    uint64_t pc = m->wave.pc;
    enum isa_status status = isa_execute(&m->ctx, &m->wave, &inst);
    if (status == ISA_OK && !(inst.flags & ISA_IS_BRANCH))
        cr_assert_eq(m->wave.pc, pc + (uint64_t)size);
    return status;
}

static inline enum isa_status machine_run(struct machine *m, const uint32_t *word)
{
    return machine_run_on(m, ISA_GFX803, word);
}

#endif
