/* Any bytes run as a program end, and leave the same in each variant of the vector code: random
 * words, valid instructions in a row, and those with bits turned over. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "stream.h"

enum { PROGRAMS = 700, WORDS = 60, STEPS = 120 };

static uint64_t state;

static uint64_t next_random(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * UINT64_C(0x2545f4914f6cdd1d) >> 8;
}

/* Registers of the allocation, mostly, and known formats. */
static uint32_t random_word(void)
{
    static const uint32_t formats[] = {0x7e000000, 0x7c000000, 0x80000000, 0xb0000000, 0xbe800000,
                                       0xbf000000, 0xbf800000, 0xc0000000, 0xd0000000, 0xd3800000,
                                       0xd8000000, 0xdc000000, 0xdc008000, 0xe0000000, 0xe8000000};
    uint32_t word = (uint32_t)next_random();
    if (next_random() % 8)
        word = formats[next_random() % (sizeof formats / sizeof *formats)] | (word & 0x01ffffff);
    return next_random() % 4 ? word & 0xffdfdfdf : word;
}

/* Instructions that decode, one after another; then, perhaps, a few bits the other way. */
static void make_program(enum isa_target target, uint32_t *code)
{
    unsigned kind = (unsigned)(next_random() % 4), at = 0;
    while (at < WORDS) {
        struct isa_inst inst;
        uint32_t word[3] = {random_word(), (uint32_t)next_random() & 0x1f1f1f1f,
                            (uint32_t)next_random()};
        if (next_random() % 3 == 0)
            word[1] = (uint32_t)next_random();
        int size = isa_decode(target, word, sizeof word, &inst);
        bool fits = size > 0 && at + (unsigned)size / 4 <= WORDS
                    && !(inst.flags & (ISA_IS_ENDPGM | ISA_IS_BRANCH)) && inst.vgprs <= STREAM_VGPRS
                    && inst.agprs <= STREAM_AGPRS;
        if (kind != 0 && !fits)
            continue;
        unsigned words = kind == 0 ? 1 : (unsigned)size / 4;
        memcpy(code + at, word, words * 4u);
        at += words;
    }
    for (unsigned i = 0; kind == 3 && i < 4; i++)
        code[next_random() % WORDS] ^= 1u << next_random() % 32;
    for (unsigned i = 0; kind == 2 && i < 3; i++) /* a jump, back or forth */
        code[next_random() % WORDS] =
            0xbf820000 | (uint32_t)(next_random() % 6) << 16 | (uint16_t)(next_random() % 40 - 20);
}

Test(isa_streams, end_alike_in_all_variants)
{
    static struct stream first, other;
    static uint32_t code[WORDS];
    const char *full = getenv("HEDDLE_FULL");
    unsigned programs = full && *full ? PROGRAMS * 40 : PROGRAMS, executed = 0, ends[4] = {0};
    for (unsigned i = 0; i < programs; i++) {
        enum isa_target target = (enum isa_target)(i % ISA_TARGET_COUNT);
        bool is_first = true;
        state = i * UINT64_C(0x9e3779b97f4a7c15) + 1;
        make_program(target, code);
        for (unsigned variant = 0; variant < isa_variant_count(); variant++) {
            struct stream *s = is_first ? &first : &other;
            if (!isa_variant_select(variant))
                continue;
            stream_init(s, i);
            stream_run(s, target, (const uint8_t *)code, sizeof code, STEPS);
            const char *difference = is_first ? NULL : stream_difference(&first, &other);
            cr_assert_null(difference, "program %u on %s: %s differs in %s", i,
                           isa_target_name(target), isa_variant_name(variant), difference);
            is_first = false;
        }
        executed += first.steps;
        ends[first.end]++;
    }
    cr_assert_gt(executed, programs * 10, "only %u instructions were executed", executed);
    cr_expect_gt(ends[STREAM_ILLEGAL], 0);
    cr_expect_gt(ends[STREAM_LEFT] + ends[STREAM_STEPS], 0);
}
