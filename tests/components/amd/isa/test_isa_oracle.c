/* Decoder and disassembler against LLVM 19.
 *
 * Every opcode of every format, existing or not, with fields from zero to random, one bit after the
 * other turned over, and random words; then, for opcodes that exist, words that differ in one field
 * (sweep.h). What LLVM takes must be an instruction here, too, of the same size and text, and an
 * opcode of which LLVM takes no word must not be one. LLVM refuses bits that the hardware ignores;
 * nothing is asked of other words. oracle_allow.txt lists where LLVM is odd. HEDDLE_FULL asks for a
 * hundred times as many random words and for all values of all fields. Skipped, loudly, where there
 * is no libLLVM. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"
#include "oracle.h"
#include "sweep.h"

enum {
    ALLOWED_MAX = 64,
    ROUNDS = 32,
    ROUNDS_FULL = 3200,
    SHOWN = 4,
    WORDS_MIN = 100000,
    OPCODES_MIN = 1500
};

struct allowed {
    bool refused; /* we call it no instruction; otherwise the texts differ */
    char target[16], text[96];
};

static struct allowed allowed[ALLOWED_MAX];
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
        cr_assert_lt(allowed_count, ALLOWED_MAX);
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

struct comparison {
    struct oracle *oracle;
    enum isa_target target;
    bool full;
    unsigned long words, equal, doubted, allowed, different;
    unsigned long swept, swept_opcodes; /* words that differ in one field; where they begin */
    unsigned taken, taken_by_llvm;      /* words of this opcode */
    unsigned shown;                     /* differences of this format */
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

/* Returns the size that LLVM gives the instruction. */
static unsigned compare_words(void *context, const uint32_t word[3])
{
    struct comparison *c = context;
    char theirs[ORACLE_TEXT] = "", ours[ISA_TEXT_MAX] = "";
    struct isa_inst inst;
    if (oracle_is_unsafe(word))
        return 0;
    unsigned size = oracle_decode(c->oracle, word, theirs);
    bool doubted = strip_doubts(theirs);
    int result = isa_decode(c->target, word, 12, &inst);
    bool taken = is_size(result);
    if (taken)
        isa_format(&inst, UINT64_MAX, ours, sizeof ours);
    c->words++;
    c->taken += taken;
    c->taken_by_llvm += size > 0;
    if (!size || (taken && size == inst.size && is_same_text(theirs, ours)))
        c->equal++;
    else if (doubted && !taken)
        c->doubted++;
    else if (is_allowed(c->target, theirs, !taken))
        c->allowed++;
    else if (c->different++, c->shown++ < SHOWN)
        cr_expect(false, "%s %08x %08x: %d '%s', LLVM says %u '%s'", isa_target_name(c->target),
                  word[0], word[1], taken ? inst.size : result, ours, size, theirs);
    return size;
}

static void compare_opcode(struct comparison *c, size_t index, unsigned opcode, uint64_t *state)
{
    const struct oracle_format *format = oracle_format(index);
    struct sweep sweep = {c->full, compare_words, c};
    c->taken = c->taken_by_llvm = 0;
    for (unsigned round = 0; round < (c->full ? ROUNDS_FULL : ROUNDS); round++) {
        uint32_t word[3];
        oracle_words(format, opcode, round, state, word);
        compare_words(c, word);
    }
    if (format->has_opcodes && !c->taken_by_llvm)
        cr_expect_eq(c->taken, 0, "%s: %s has no opcode %u", isa_target_name(c->target),
                     format->name, opcode);
    if (!c->taken_by_llvm)
        return;
    unsigned long before = c->words;
    c->swept_opcodes += sweep_opcode(&sweep, format, opcode);
    c->swept += c->words - before;
}

static void compare(enum isa_target target)
{
    const char *full = getenv("HEDDLE_FULL"); /* set and empty without --full */
    struct comparison c = {.oracle = oracle_open(target), .target = target, .full = full && *full};
    if (!c.oracle) {
        fprintf(stderr, "SKIPPED: libLLVM 19 is not installed; decoder and disassembler were not "
                        "compared with it\n");
        cr_skip_test("no libLLVM");
        return;
    }
    read_allowed();
    for (size_t i = 0; i < oracle_format_count(); i++) {
        uint64_t state = 1000 * i + target;
        c.shown = 0;
        for (unsigned opcode = 0; opcode < 1u << oracle_format(i)->bits; opcode++)
            compare_opcode(&c, i, opcode, &state);
    }
    fprintf(stderr,
            "%s: %lu words (%lu of them field by field, of %lu opcodes), %lu equal, %lu that LLVM "
            "doubts, %lu allowed to differ, %lu different\n",
            isa_target_name(target), c.words, c.swept, c.swept_opcodes, c.equal, c.doubted,
            c.allowed, c.different);
    cr_expect_eq(c.different, 0);
    cr_expect_geq(c.words, WORDS_MIN);
    cr_expect_geq(c.swept_opcodes, OPCODES_MIN);
    cr_expect_lt(c.allowed, c.words / 100, "the list of what may differ allows too much");
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
