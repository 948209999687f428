/*
 * test_isa_oracle.c - decoder and disassembler against LLVM 19.
 *
 * Every opcode of every format, existing or not, with fields from zero to random, one bit after the
 * other turned over, and random words: what LLVM takes must be an instruction here, too, of the
 * same size and text, and an opcode of which LLVM takes no word must not be one. LLVM refuses bits
 * that the hardware ignores; nothing is asked of other words. oracle_allow.txt lists where LLVM is
 * odd. HEDDLE_FULL asks for a hundred times as many words. Skipped, loudly, where there is no
 * libLLVM.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"
#include "oracle.h"

enum { ALLOWED_MOST = 64, ROUNDS = 32, ROUNDS_FULL = 3200, SHOWN = 4, LEAST_WORDS = 100000 };

struct allowed {
    bool refused; /* we call it no instruction; otherwise the texts differ */
    char target[16], text[96];
};

static struct allowed allowed[ALLOWED_MOST];
static unsigned allowed_count;

static void read_allowed(void)
{
    char line[256], kind[16];
    FILE *in = fopen(TEST_SOURCE_DIR "/oracle_allow.txt", "r");
    cr_assert_not_null(in);
    for (allowed_count = 0; fgets(line, sizeof line, in);) {
        struct allowed *a = &allowed[allowed_count];
        if (line[0] == '#')
            continue;
        cr_assert_lt(allowed_count, ALLOWED_MOST);
        cr_assert_eq(sscanf(line, "%15s %15s \"%95[^\"]\"", kind, a->target, a->text), 3, "%s",
                     line);
        a->refused = !strcmp(kind, "refused");
        allowed_count++;
    }
    fclose(in);
}

static bool is_allowed(enum isa_target target, const char *theirs, bool refused)
{
    for (unsigned i = 0; i < allowed_count; i++) {
        const struct allowed *a = &allowed[i];
        if (a->refused == refused && fnmatch(a->text, theirs, 0) == 0
            && (a->target[0] == '*' || !strcmp(a->target, isa_target_name(target))))
            return true;
    }
    return false;
}

struct tally {
    unsigned long words, equal, allowed, different;
    unsigned taken, taken_by_llvm; /* words of this opcode */
    unsigned shown;                /* differences of this format */
};

static bool is_size(int result)
{
    return result > 0 || result == ISA_ERROR_UNIMPLEMENTED;
}

/* LLVM prints offsets of flat instructions that targets do not have. */
static bool is_same_text(const char *theirs, const char *ours)
{
    return strncmp(theirs, "flat_", 5) ? !strcmp(theirs, ours) : !strncmp(ours, "flat_", 5);
}

/* LLVM prints operands that it calls invalid, and says so in a comment. Takes the comments out;
 * true if there was one. */
static bool strip_doubts(char *text)
{
    bool any = false;
    for (char *comment; (comment = strstr(text, "/*Invalid")); any = true) {
        char *end = strstr(comment, "*/");
        if (!end)
            break;
        memmove(comment, end + 2, strlen(end + 2) + 1);
    }
    return any;
}

static void compare_words(struct oracle *oracle, enum isa_target target, const uint32_t word[3],
                          struct tally *tally)
{
    char theirs[ORACLE_TEXT] = "", ours[ISA_MAX_TEXT] = "";
    struct isa_inst inst;
    if (oracle_is_unsafe(word))
        return;
    unsigned size = oracle_decode(oracle, word, theirs);
    bool doubted = strip_doubts(theirs);
    int result = isa_decode(target, word, 12, &inst);
    bool taken = is_size(result);
    if (taken)
        isa_format(&inst, UINT64_MAX, ours, sizeof ours);
    tally->words++;
    tally->taken += taken;
    tally->taken_by_llvm += size > 0;
    if (!size || (taken && size == inst.size && is_same_text(theirs, ours)))
        tally->equal++;
    else if (((doubted && !taken) || is_allowed(target, theirs, !taken)))
        tally->allowed++;
    else if (tally->different++, tally->shown++ < SHOWN)
        cr_expect(false, "%s %08x %08x: %d '%s', LLVM says %u '%s'", isa_target_name(target),
                  word[0], word[1], taken ? inst.size : result, ours, size, theirs);
}

static void compare_format(struct oracle *oracle, enum isa_target target, size_t index,
                           unsigned rounds, struct tally *tally)
{
    const struct oracle_format *format = oracle_format(index);
    uint64_t state = 1000 * index + target;
    tally->shown = 0;
    for (unsigned opcode = 0; opcode < 1u << format->bits; opcode++) {
        tally->taken = tally->taken_by_llvm = 0;
        for (unsigned round = 0; round < rounds; round++) {
            uint32_t word[3];
            oracle_words(format, opcode, round, &state, word);
            compare_words(oracle, target, word, tally);
        }
        if (format->has_opcodes && !tally->taken_by_llvm)
            cr_expect_eq(tally->taken, 0, "%s: %s has no opcode %u", isa_target_name(target),
                         format->name, opcode);
    }
}

static void compare(enum isa_target target)
{
    struct oracle *oracle = oracle_open(target);
    struct tally tally = {0};
    if (!oracle) {
        fprintf(stderr, "SKIPPED: libLLVM 19 is not installed; decoder and disassembler were not "
                        "compared with it\n");
        cr_skip_test("no libLLVM");
        return;
    }
    read_allowed();
    const char *full = getenv("HEDDLE_FULL"); /* set and empty without --full */
    unsigned rounds = full && *full ? ROUNDS_FULL : ROUNDS;
    for (size_t i = 0; i < oracle_format_count(); i++)
        compare_format(oracle, target, i, rounds, &tally);
    fprintf(stderr, "%s: %lu words, %lu equal, %lu allowed to differ, %lu different\n",
            isa_target_name(target), tally.words, tally.equal, tally.allowed, tally.different);
    cr_expect_eq(tally.different, 0);
    cr_expect_geq(tally.words, LEAST_WORDS);
    cr_expect_lt(tally.allowed, tally.words / 50, "the list of what may differ allows too much");
}

Test(isa_oracle, gfx803_agrees_with_llvm)
{
    compare(ISA_GFX803);
}

Test(isa_oracle, gfx900_agrees_with_llvm)
{
    compare(ISA_GFX900);
}

Test(isa_oracle, gfx906_agrees_with_llvm)
{
    compare(ISA_GFX906);
}

Test(isa_oracle, gfx908_agrees_with_llvm)
{
    compare(ISA_GFX908);
}

Test(isa_oracle, gfx90a_agrees_with_llvm)
{
    compare(ISA_GFX90A);
}

Test(isa_oracle, gfx942_agrees_with_llvm)
{
    compare(ISA_GFX942);
}
