/*
 * test_isa_oracle.c - decoder and disassembler against llvm-mc 19.
 *
 * Random words of each format are decoded here and by `llvm-mc --disassemble`, in a child process
 * since it crashes on some inputs. Where it accepts the words the texts must be equal. Where it
 * does not (it insists that unused fields are zero, hardware ignores them), our text goes to its
 * assembler instead, and what that makes of it must decode to the same text again. LLVM_MC names
 * another program. Skipped, loudly, where there is none.
 */
#include <unistd.h>

#include "machine.h"

enum { WORDS = 6000, LINE = 512 };

struct sample {
    uint32_t word[3];
    struct isa_inst inst;
    char text[ISA_MAX_TEXT];
};

static struct sample samples[WORDS];
static uint64_t state;

static uint32_t random32(void)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static const char *llvm_mc(void)
{
    const char *name = getenv("LLVM_MC");
    return name ? name : "llvm-mc-19";
}

static bool oracle_exists(void)
{
    char command[LINE];
    snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", llvm_mc());
    return system(command) == 0;
}

/* ---- random words of one format -------------------------------------------------------------- */

struct shape {
    const char *name;
    uint32_t mask, fixed;
}; /* random bits of the first word, fixed bits */

static const struct shape shapes[] = {
    {"sop2", 0x3fffffff, 0x80000000},  {"sopk", 0x0fffffff, 0xb0000000},
    {"sop1", 0x007fffff, 0xbe800000},  {"sopc", 0x007fffff, 0xbf000000},
    {"sopp", 0x007fffff, 0xbf800000},  {"smem", 0x03fffffe, 0xc0000000},
    {"vop2", 0x7fffffff, 0},           {"vop1", 0x01ffffff, 0x7e000000},
    {"vopc", 0x01ffffff, 0x7c000000},  {"vop3", 0x03ffffff, 0xd0000000},
    {"sdwa", 0x7ffffe00, 0xf9},        {"dpp", 0x7ffffe00, 0xfa},
    {"ds", 0x01ffffff, 0xd8000000},    {"flat", 0x01ffc000, 0xdc000000},
    {"mubuf", 0x01ffffff, 0xe0000000}, {"mtbuf", 0x03ffffff, 0xe8000000}};

/* Legal selectors only: LLVM crashes on reserved ones. */
static uint32_t random_sdwa(void)
{
    uint32_t r = random32();
    return (r & 0x383820ff) | (r >> 8 & 255) % 7 << 8 | (r >> 16 & 255) % 3 << 11
           | random32() % 7 << 16 | random32() % 7 << 24;
}

static uint32_t random_dpp(void)
{
    static const uint16_t controls[] = {0x101, 0x10f, 0x111, 0x11f, 0x121, 0x12f, 0x130,
                                        0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143};
    uint32_t control = random32() & 1 ? random32() & 255 : controls[random32() % 14];
    return (random32() & 0xff0800ff) | control << 8;
}

/* Fills samples with words that decode here; some formats have few valid ones, so the tries are
 * bounded. */
static unsigned collect(enum isa_target target, const struct shape *shape)
{
    unsigned found = 0;
    for (unsigned tries = 0; tries < 40 * WORDS && found < WORDS; tries++) {
        struct sample *s = &samples[found];
        s->word[0] = (random32() & shape->mask) | shape->fixed;
        s->word[1] = random32();
        s->word[2] = random32();
        if (!strcmp(shape->name, "sdwa"))
            s->word[1] = random_sdwa();
        if (!strcmp(shape->name, "dpp"))
            s->word[1] = random_dpp();
        if (!strcmp(shape->name, "smem"))
            s->word[1] &= 0xfffff;
        int size = isa_decode(target, s->word, 12, &s->inst);
        if (size < 0 && size != ISA_ERROR_UNIMPLEMENTED)
            continue;
        isa_format(&s->inst, UINT64_MAX, s->text, sizeof s->text);
        found++;
    }
    return found;
}

/* ---- the child ------------------------------------------------------------------------------- */

struct run {
    char input[64], output[64], errors[64];
};

static void run_prepare(struct run *run)
{
    snprintf(run->input, sizeof run->input, "/tmp/isa_oracle_%d.in", (int)getpid());
    snprintf(run->output, sizeof run->output, "/tmp/isa_oracle_%d.out", (int)getpid());
    snprintf(run->errors, sizeof run->errors, "/tmp/isa_oracle_%d.err", (int)getpid());
}

static void run_remove(const struct run *run)
{
    remove(run->input);
    remove(run->output);
    remove(run->errors);
}

static void run_child(const struct run *run, enum isa_target target, const char *options)
{
    char command[LINE];
    snprintf(command, sizeof command, "%s -triple=amdgcn -mcpu=%s %s %s >%s 2>%s", llvm_mc(),
             isa_target_name(target), options, run->input, run->output, run->errors);
    cr_assert_neq(system(command), -1, "cannot run %s", command);
}

/* Marks the input lines (from 0) that the child complained about. */
static void read_refused(const struct run *run, const char *complaint, bool *refused,
                         unsigned count)
{
    char line[LINE];
    FILE *in = fopen(run->errors, "r");
    memset(refused, 0, count * sizeof *refused);
    while (in && fgets(line, sizeof line, in)) {
        const char *colon = strchr(line, ':');
        unsigned number = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
        if (number >= 1 && number <= count && strstr(line, complaint))
            refused[number - 1] = true;
    }
    if (in)
        fclose(in);
}

/* One instruction's line without indentation, doubled spaces and comment; false at the end.
 * encoding gets the comment. */
static bool read_line(FILE *in, char text[LINE], char encoding[LINE])
{
    char line[LINE];
    while (fgets(line, sizeof line, in)) {
        char *comment = strstr(line, " ; ");
        encoding[0] = 0;
        if (comment) {
            snprintf(encoding, LINE, "%s", comment);
            *comment = 0;
        }
        size_t length = 0;
        for (const char *c = line; *c; c++) {
            bool space = *c == ' ' || *c == '\t' || *c == '\n';
            if (!space)
                text[length++] = *c;
            else if (length && text[length - 1] != ' ')
                text[length++] = ' ';
        }
        while (length && text[length - 1] == ' ')
            length--;
        text[length] = 0;
        if (length && text[0] != '.')
            return true;
    }
    return false;
}

/* ---- known differences ----------------------------------------------------------------------- */

/*
 * Texts of LLVM that are not compared: operands that it prints though it calls them invalid, and
 * its reading of float source modifiers as sign extension where an instruction mixes float and
 * integer sources, which the manual does not have.
 */
static bool is_known_difference(const char *ours, const char *theirs)
{
    return strstr(theirs, "/*Invalid") || (strstr(theirs, "sext(") && !strstr(ours, "sext("))
           || !strncmp(ours, "v_dot", 5);
}

/* ---- the test -------------------------------------------------------------------------------- */

struct tally {
    unsigned equal, reassembled, refused, different;
};

static void compare_texts(const struct run *run, unsigned count, const bool *refused,
                          struct tally *tally)
{
    char text[LINE], encoding[LINE];
    FILE *in = fopen(run->output, "r");
    cr_assert_not_null(in);
    for (unsigned i = 0; i < count; i++) {
        if (refused[i])
            continue;
        if (!read_line(in, text, encoding)) {
            cr_expect(false, "llvm-mc stopped before %08x %08x (%s)", samples[i].word[0],
                      samples[i].word[1], samples[i].text);
            break;
        }
        if (!strcmp(text, samples[i].text)) {
            tally->equal++;
        } else if (!is_known_difference(samples[i].text, text)) {
            tally->different++;
            if (tally->different < 10)
                cr_expect(false, "%08x %08x: '%s', llvm-mc says '%s'", samples[i].word[0],
                          samples[i].word[1], samples[i].text, text);
        }
    }
    fclose(in);
}

static void disassemble(const struct run *run, enum isa_target target, unsigned count,
                        bool *refused, struct tally *tally)
{
    FILE *out = fopen(run->input, "w");
    cr_assert_not_null(out);
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *bytes = (const uint8_t *)samples[i].word;
        fputc('[', out);
        for (unsigned byte = 0; byte < samples[i].inst.size; byte++)
            fprintf(out, "0x%02x ", bytes[byte]);
        fputs("]\n", out);
    }
    fclose(out);
    run_child(run, target, "--disassemble");
    read_refused(run, "invalid instruction encoding", refused, count);
    compare_texts(run, count, refused, tally);
}

static void check_reassembled(enum isa_target target, const char *text, const char *encoding,
                              struct tally *tally)
{
    uint8_t bytes[12] = {0};
    unsigned n = 0;
    const char *c = strchr(encoding, '[');
    while (c && n < 12 && (*c == '[' || *c == ',')) {
        char *end;
        bytes[n++] = (uint8_t)strtoul(c + 1, &end, 16);
        c = end;
    }
    struct isa_inst inst;
    char again[ISA_MAX_TEXT];
    isa_decode(target, bytes, n, &inst);
    isa_format(&inst, UINT64_MAX, again, sizeof again);
    /* Several masks mean one swizzle, and the assembler takes another one than we read. */
    if (!strcmp(text, again) || !strncmp(text, "ds_swizzle", 10)) {
        tally->reassembled++;
        return;
    }
    tally->different++;
    if (tally->different < 10)
        cr_expect(false, "'%s' assembles to %s, which decodes to '%s'", text, encoding, again);
}

/* The refused samples through the assembler. */
static void reassemble(const struct run *run, enum isa_target target, unsigned count,
                       const bool *refused, struct tally *tally)
{
    static bool unassembled[WORDS];
    static unsigned index[WORDS];
    unsigned sent = 0;
    char text[LINE], encoding[LINE];
    FILE *out = fopen(run->input, "w");
    cr_assert_not_null(out);
    for (unsigned i = 0; i < count; i++) {
        if (!refused[i])
            continue;
        index[sent++] = i;
        fprintf(out, "%s\n", samples[i].text);
    }
    fclose(out);
    run_child(run, target, "-show-encoding");
    read_refused(run, "error:", unassembled, sent);
    FILE *in = fopen(run->output, "r");
    cr_assert_not_null(in);
    for (unsigned i = 0; i < sent; i++) {
        if (unassembled[i])
            tally->refused++;
        else if (read_line(in, text, encoding))
            check_reassembled(target, samples[index[i]].text, encoding, tally);
    }
    fclose(in);
}

static void compare_with_oracle(enum isa_target target)
{
    static bool refused[WORDS];
    struct run run;
    if (!oracle_exists()) {
        fprintf(
            stderr,
            "SKIPPED: %s is not installed; decoder and disassembler were not compared with it\n",
            llvm_mc());
        cr_skip_test("no %s", llvm_mc());
        return;
    }
    run_prepare(&run);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct tally tally = {0};
        state = 1000 + i;
        unsigned count = collect(target, &shapes[i]);
        disassemble(&run, target, count, refused, &tally);
        reassemble(&run, target, count, refused, &tally);
        fprintf(stderr,
                "%s %-5s: %5u decoded, %5u texts equal, %5u equal after assembly, %4u not "
                "assembled, %u different\n",
                isa_target_name(target), shapes[i].name, count, tally.equal, tally.reassembled,
                tally.refused, tally.different);
        cr_expect_eq(tally.different, 0, "%s", shapes[i].name);
        cr_expect_gt(tally.equal + tally.reassembled, count / 3, "%s: too little was compared",
                     shapes[i].name);
    }
    run_remove(&run);
}

Test(isa_oracle, gfx803_agrees_with_llvm_mc)
{
    compare_with_oracle(ISA_GFX803);
}

Test(isa_oracle, gfx906_agrees_with_llvm_mc)
{
    compare_with_oracle(ISA_GFX906);
}
