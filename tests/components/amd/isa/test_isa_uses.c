/* What an instruction is not said to use has no influence on what it does: registers by
 * isa_uses(), which it leaves as they are, and SCC by isa_reads_scc(). Each instruction is executed
 * twice, with other values there. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "components/amd/isa/isa_uses.h"

#include "random.h"
#include "stream.h"

enum { INSTRUCTIONS = 6000, REGISTERS = 128 + STREAM_VGPRS + STREAM_AGPRS };

/* Any word of a known format, as test_isa_streams.c makes them. */
static void random_words(uint32_t word[3])
{
    static const uint32_t formats[] = {0x00000000, 0x7e000000, 0x7c000000, 0x80000000, 0xb0000000,
                                       0xbe800000, 0xbf000000, 0xc0000000, 0xd0000000, 0xd3800000,
                                       0xd8000000, 0xdc000000, 0xdc008000, 0xe0000000, 0xe8000000};
    uint32_t format = formats[random_below(sizeof formats / sizeof *formats)];
    word[0] = format | ((uint32_t)random_bits() & (format ? 0x01ffffff : 0x7fffffff));
    word[0] &= random_below(4) ? 0xffdfdfdf : 0xffffffff;
    word[1] = (uint32_t)random_bits() & (random_below(3) ? 0x1f1f1f1f : 0xffffffff);
    word[2] = (uint32_t)random_bits();
}

/* Registers relative to M0, and those of the branch stack, are not named by the instruction. */
static bool is_relative(const char *name)
{
    return strstr(name, "movrel") || strstr(name, "gpr_idx") || strstr(name, "_fork")
           || strstr(name, "_join");
}

static bool fits(const struct isa_inst *inst)
{
    return !(inst->flags & ISA_IS_ENDPGM) && inst->vgprs <= STREAM_VGPRS
           && inst->agprs <= STREAM_AGPRS && !is_relative(isa_mnemonic(inst));
}

/* Number of a register among REGISTERS. */
static unsigned number_of(unsigned code)
{
    return code < 128        ? code
           : code < ISA_AGPR ? 128 + code - ISA_VGPR
                             : 128 + STREAM_VGPRS + code - ISA_AGPR;
}

/* Registers that are not said to be used; the special ones but for VCC and EXEC count as used. */
static void find_unused(const struct isa_inst *inst, bool unused[REGISTERS])
{
    struct isa_use uses[ISA_USES_MAX];
    unsigned count = isa_uses(inst, uses);
    cr_assert_leq(count, ISA_USES_MAX);
    for (unsigned i = 0; i < REGISTERS; i++)
        unused[i] = i < 102 || i == ISA_VCC || i == ISA_VCC + 1 || i == ISA_EXEC
                    || i == ISA_EXEC + 1 || i >= 128;
    for (unsigned i = 0; i < count; i++)
        for (unsigned d = 0; d < uses[i].dwords && number_of(uses[i].code) + d < REGISTERS; d++)
            unused[number_of(uses[i].code) + d] = false;
}

static void disturb(struct stream *s, const bool unused[REGISTERS], uint32_t with)
{
    for (unsigned i = 0; i < REGISTERS; i++) {
        if (!unused[i])
            continue;
        if (i < 128)
            s->wave.sgpr[i] ^= with;
        for (unsigned lane = 0; i >= 128 && lane < 64; lane++)
            s->vgpr[(i - 128) * 64 + lane] ^= with;
    }
}

static bool is_tested(const struct stream *s)
{
    return s->steps == 1 && !s->refused;
}

/* A random instruction that can be executed; false: none was found this time. */
static bool choose(enum isa_target target, uint32_t word[3], struct isa_inst *inst)
{
    random_words(word);
    return isa_decode(target, word, 3 * sizeof *word, inst) > 0 && fits(inst);
}

static unsigned as_many(void)
{
    const char *full = getenv("HEDDLE_FULL");
    return full && *full ? INSTRUCTIONS * 50 : INSTRUCTIONS;
}

static void compare(const struct stream *plain, const struct stream *other,
                    const struct isa_inst *inst)
{
    char text[ISA_TEXT_MAX];
    const char *difference = stream_difference(plain, other);
    isa_format(inst, UINT64_MAX, text, sizeof text);
    cr_assert_null(difference, "%s: '%s' differs in %s",
                   isa_target_name((enum isa_target)inst->target), text, difference);
}

Test(isa_uses, name_all_registers_that_matter)
{
    static struct stream plain, other;
    static bool unused[REGISTERS];
    for (unsigned i = 0, tested = 0; tested < as_many(); i++) {
        enum isa_target target = (enum isa_target)(i % ISA_TARGET_COUNT);
        struct isa_inst inst;
        uint32_t word[3];
        if (!choose(target, word, &inst))
            continue;
        find_unused(&inst, unused);
        stream_init(&plain, i);
        other = plain;
        disturb(&other, unused, 0x5a5a5a5a);
        stream_run(&plain, target, (const uint8_t *)word, sizeof word, 1);
        stream_run(&other, target, (const uint8_t *)word, sizeof word, 1);
        disturb(&other, unused, 0x5a5a5a5a);
        compare(&plain, &other, &inst);
        tested += is_tested(&plain);
    }
}

Test(isa_uses, say_whether_scc_matters)
{
    static struct stream plain, other;
    for (unsigned i = 0, tested = 0; tested < as_many(); i++) {
        enum isa_target target = (enum isa_target)(i % ISA_TARGET_COUNT);
        struct isa_inst inst;
        uint32_t word[3];
        if (!choose(target, word, &inst) || isa_reads_scc(&inst))
            continue;
        stream_init(&plain, i);
        other = plain;
        other.wave.scc ^= 1;
        stream_run(&plain, target, (const uint8_t *)word, sizeof word, 1);
        stream_run(&other, target, (const uint8_t *)word, sizeof word, 1);
        if (!(inst.flags & ISA_WRITES_SCC))
            other.wave.scc ^= 1;
        compare(&plain, &other, &inst);
        tested += is_tested(&plain);
    }
}
