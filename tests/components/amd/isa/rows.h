/* What the tests of all rows (test_isa_rows_*.c) share: random values, and a small
 * machine.
 *
 * Their expectations are computed from the same random choices that the words were encoded from, by
 * arithmetic that shares no code with the library: exact integers of 128 bits, and loops over bits.
 */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_ROWS_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_ROWS_H

#include <criterion/criterion.h>

#include "covered.h"
#include "random.h"

enum { ROWS_VGPRS = 16, ROWS_LDS = 4096 };

struct rows_machine {
    _Alignas(64) uint32_t vgpr[ROWS_VGPRS * 64];
    uint8_t lds[ROWS_LDS];
    struct isa_context ctx;
    struct isa_wave wave;
};

/* Half of the words are at an edge: of signs, of widths, of shift counts, of float classes. */
static inline uint32_t rows_word(void)
{
    static const uint32_t edges[] = {
        0,          1,          2,          31,         32,         33,         63,
        64,         15,         16,         17,         0x7f,       0x80,       0xff,
        0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffff,   0x800000,   0xffffff,
        0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x80000001, 0xffff8000, 0x7fff8000,
        0x80008000, 0x7fff7fff, 0x00010001, 0xffff0000, 0x3f800000, 0xbf800000, 0x7f800000,
        0xff800000, 0x7fc00000, 0x7f800001, 0x807fffff, 0x00800000, 0x3c003c00, 0x7c007c00,
        0x7e01fc01, 0x83ff0400, 0x7ff00000, 0x7ff80000, 0xfff00000, 0x000fffff};
    uint64_t r = random_bits();
    return r & 1 ? edges[(r >> 8) % (sizeof edges / sizeof *edges)] : (uint32_t)(r >> 32);
}

static inline void rows_machine_init(struct rows_machine *m)
{
    memset(&m->wave, 0, sizeof m->wave);
    for (unsigned i = 0; i < ROWS_VGPRS * 64; i++)
        m->vgpr[i] = rows_word();
    for (unsigned i = 0; i < 102; i++)
        m->wave.sgpr[i] = rows_word();
    m->ctx = (struct isa_context){.vgpr = m->vgpr,
                                  .vgpr_count = ROWS_VGPRS,
                                  .lds = m->lds,
                                  .lds_size = ROWS_LDS,
                                  .shared_aperture = UINT64_C(0x1234000000000000),
                                  .private_aperture = UINT64_C(0x5678000000000000)};
    isa_wave_set_pair(&m->wave, ISA_VCC, random_below(8) ? random_bits() : 0);
    m->wave.sgpr[ISA_M0] = rows_word();
    unsigned exec = random_below(8);
    isa_wave_set_pair(&m->wave, ISA_EXEC,
                      exec < 3   ? ~UINT64_C(0)
                      : exec > 3 ? random_bits()
                                 : UINT64_C(1) << random_below(64));
    m->wave.scc = random_below(2);
    m->wave.mode = 0x300 | random_below(16) << 4;
    m->wave.pc = 0x10000 + random_below(1000) * 4;
}

static inline void rows_machine_copy(struct rows_machine *to, const struct rows_machine *from)
{
    *to = *from;
    to->ctx.vgpr = to->vgpr;
    to->ctx.lds = to->lds;
}

/* A different variant of the vector code each time, of those that the host runs. */
static inline void rows_next_variant(void)
{
    static unsigned next;
    do
        next = (next + 1) % isa_variant_count();
    while (!isa_variant_select(next));
}

static inline void rows_fail(const struct rows_machine *before, const struct rows_machine *expected,
                             const struct rows_machine *actual, const struct isa_inst *inst)
{
    char text[ISA_TEXT_MAX];
    isa_format(inst, UINT64_MAX, text, sizeof text);
    fprintf(stderr, "%s: %s (%s), exec %llx, mode %x, scc %u\n", isa_target_name(inst->target),
            text, isa_variant_name(isa_variant_current()),
            (unsigned long long)isa_wave_exec(&before->wave), before->wave.mode, before->wave.scc);
    unsigned shown = 0;
    for (unsigned i = 0; i < ROWS_VGPRS * 64 && shown < 4; i++) {
        if (expected->vgpr[i] == actual->vgpr[i])
            continue;
        fprintf(stderr, "  v%u lane %u: %08x, expected %08x; before:", i / 64, i % 64,
                actual->vgpr[i], expected->vgpr[i]);
        for (unsigned reg = 0; reg < ROWS_VGPRS; reg++)
            fprintf(stderr, " %x", before->vgpr[reg * 64 + i % 64]);
        fprintf(stderr, "\n");
        shown++;
    }
    for (unsigned i = 0; i < 128; i++)
        if (expected->wave.sgpr[i] != actual->wave.sgpr[i])
            fprintf(stderr, "  s%u: %08x, expected %08x, before %08x\n", i, actual->wave.sgpr[i],
                    expected->wave.sgpr[i], before->wave.sgpr[i]);
    for (unsigned i = 0; i < ROWS_LDS; i++)
        if (expected->lds[i] != actual->lds[i] && shown++ < 8)
            fprintf(stderr, "  lds %u: %02x, expected %02x, before %02x\n", i, actual->lds[i],
                    expected->lds[i], before->lds[i]);
    fprintf(stderr, "  scc %u, expected %u; pc %llx, expected %llx\n", actual->wave.scc,
            expected->wave.scc, (unsigned long long)actual->wave.pc,
            (unsigned long long)expected->wave.pc);
}

/* All registers, LDS, scc, MODE and the pc. */
static inline bool rows_equal(const struct rows_machine *a, const struct rows_machine *b)
{
    return !memcmp(a->vgpr, b->vgpr, sizeof a->vgpr) && !memcmp(&a->wave, &b->wave, sizeof a->wave)
           && !memcmp(a->lds, b->lds, sizeof a->lds);
}

#endif
