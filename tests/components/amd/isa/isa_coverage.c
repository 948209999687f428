/* Which instructions decode, execute and are tested: the page about it, and the check that no form
 * which can be executed is without a test.
 *
 *   isa_coverage page  TEST...          writes the page to standard output
 *   isa_coverage check PAGE UNTESTED TEST...
 *       fails for a form that executes and that no TEST has compared with an independent result,
 *       unless a line of the file UNTESTED names its row (with the reason behind it); for a line
 *       of it that names none such; and if the file PAGE is not the page
 *
 * TEST are executables that call covered_mark() (covered.h). One without up-to-date marks is run. A
 * form decodes, or executes, if an encoding with plain operands does. */
#include <stdarg.h>
#include <stdlib.h>

#include "covered.h"

enum { DECODES = 1, EXECUTES = 2, TESTED = 4, TEXT_MAX = 1 << 18 };

static uint8_t states[ISA_TARGET_COUNT][COVERED_ROWS][COVERED_FORMS];

static char page[TEXT_MAX];
static size_t page_length;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    page_length +=
        (size_t)vsnprintf(page + page_length, sizeof page - page_length, format, arguments);
    va_end(arguments);
    if (page_length >= sizeof page) {
        fprintf(stderr, "isa_coverage: the page is too long\n");
        exit(1);
    }
}

/* ---- marks ---- */

static bool read_map(const char *test, struct covered_map *map)
{
    char path[4200];
    covered_path(test, path, sizeof path);
    FILE *in = fopen(path, "rb");
    bool good = in && fread(map, sizeof *map, 1, in) == 1 && map->stamp == covered_stamp(test);
    if (in)
        fclose(in);
    return good;
}

static void add_marks(const char *test)
{
    static struct covered_map map;
    char command[4200];
    snprintf(command, sizeof command, "'%s' >/dev/null 2>&1", test);
    if (!read_map(test, &map) && (system(command) != 0 || !read_map(test, &map))) {
        fprintf(stderr, "isa_coverage: '%s' fails, or marks nothing\n", test);
        exit(1);
    }
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
        for (size_t row = 0; row < isa_row_count(); row++)
            for (unsigned form = 0; form < COVERED_FORMS; form++)
                if (map.forms[target][row] >> form & 1)
                    states[target][row][form] |= TESTED;
}

/* ---- encodings ---- */

/* Operands to try, since some rows take scalar registers only, or vector ones. */
static const unsigned operand_choices[][3] = {{256 + 4, 256 + 6, 256 + 8},
                                              {256 + 4, 256 + 6, 10},
                                              {256 + 4, 6, 8},
                                              {4, 6, 8},
                                              {256 + 4, 6, 256 + 8}};

struct extra {
    uint32_t first, second; /* bits on top of the plain encoding */
};

static void encode_vector(const struct isa_row *row, unsigned opcode, enum covered_form form,
                          const unsigned source[3], uint32_t word[3])
{
    unsigned src0 = form == COVERED_SDWA ? 249 : form == COVERED_DPP ? 250 : source[0];
    unsigned base = row->format == ISA_VOP2 ? 0x100 : row->format == ISA_VOP1 ? 0x140 : 0;
    if (form == COVERED_VOP3) {
        word[0] = row->format == ISA_VOP3P ? 0xd3800000u | opcode << 16 | 1u << 14 | 2
                                           : 0xd0000000u | (base + opcode) << 16 | 2;
        word[1] = source[0] | source[1] << 9 | source[2] << 18
                  | (row->format == ISA_VOP3P ? 3u << 27 : 0);
        return;
    }
    word[0] = row->format == ISA_VOP1   ? 0x7e000000u | 2u << 17 | opcode << 9 | src0
              : row->format == ISA_VOPC ? 0x7c000000u | opcode << 17 | 6u << 9 | src0
                                        : opcode << 25 | 2u << 17 | 6u << 9 | src0;
    word[1] = form == COVERED_SDWA ? 0x06060604 : form == COVERED_DPP ? 0xff00e404 : 0;
    if (form == COVERED_SDWA && row->format == ISA_VOPC)
        word[1] = 0x06060004;
}

static int answer(enum isa_target target, enum covered_form form, const uint32_t word[3])
{
    struct isa_inst inst;
    int size = isa_decode(target, word, 12, &inst);
    bool known = size > 0 || size == ISA_ERROR_UNIMPLEMENTED;
    return known && covered_form_of(&inst) == form ? size : ISA_ERROR_INVALID;
}

/* The decoder's answer to a row's form with more bits set, the best of all choices of operands. DPP
 * of 64 bits may take no control but row_newbcast. */
static int probe(enum isa_target target, const struct isa_row *row, enum covered_form form,
                 struct extra extra)
{
    int best = ISA_ERROR_INVALID;
    for (size_t i = 0; i < sizeof operand_choices / sizeof *operand_choices && best < 0; i++) {
        uint32_t word[3] = {0};
        encode_vector(row, (unsigned)row->opcode[target], form, operand_choices[i], word);
        word[0] |= extra.first;
        word[1] |= extra.second;
        best = answer(target, form, word);
        if (form == COVERED_DPP && best == ISA_ERROR_INVALID) {
            word[1] = (word[1] & ~0x1ff00u) | 0x150u << 8;
            best = answer(target, form, word);
        }
    }
    return best;
}

static bool is_vector(const struct isa_row *row)
{
    return row->format >= ISA_VOP2 && row->format <= ISA_VOP3P;
}

static bool is_short(const struct isa_row *row)
{
    return row->format == ISA_VOP1 || row->format == ISA_VOP2 || row->format == ISA_VOPC;
}

static void find_states(void)
{
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        for (size_t i = 0; i < isa_row_count(); i++) {
            struct isa_row row = isa_row(i);
            if (row.opcode[target] < 0)
                continue;
            if (!is_short(&row)) {
                unsigned form = is_vector(&row) ? COVERED_VOP3 : COVERED_PLAIN;
                states[target][i][form] |= row.is_implemented ? DECODES | EXECUTES : DECODES;
                continue;
            }
            for (unsigned form = 0; form < COVERED_FORMS; form++) {
                int size = probe((enum isa_target)target, &row, (enum covered_form)form,
                                 (struct extra){0, 0});
                states[target][i][form] |= size > 0                          ? DECODES | EXECUTES
                                           : size == ISA_ERROR_UNIMPLEMENTED ? DECODES
                                                                             : 0;
            }
        }
    }
}

/* ---- the page ---- */

static const char *const format_names[ISA_FORMAT_COUNT] = {
    [ISA_SOP2] = "SOP2",      [ISA_SOPK] = "SOPK",   [ISA_SOP1] = "SOP1",   [ISA_SOPC] = "SOPC",
    [ISA_SOPP] = "SOPP",      [ISA_SMEM] = "SMEM",   [ISA_VOP2] = "VOP2",   [ISA_VOP1] = "VOP1",
    [ISA_VOPC] = "VOPC",      [ISA_VOP3] = "VOP3",   [ISA_VOP3P] = "VOP3P", [ISA_DS] = "DS",
    [ISA_MUBUF] = "MUBUF",    [ISA_MTBUF] = "MTBUF", [ISA_FLAT] = "FLAT",   [ISA_GLOBAL] = "GLOBAL",
    [ISA_SCRATCH] = "SCRATCH"};
static const char *const form_names[COVERED_FORMS] = {"", " in VOP3", " SDWA", " DPP"};

static unsigned count(unsigned target, unsigned format, unsigned form, unsigned state)
{
    unsigned out = 0;
    for (size_t i = 0; i < isa_row_count(); i++)
        out += isa_row(i).format == format && (states[target][i][form] & state);
    return out;
}

static void put_counts(void)
{
    put("| encoding |");
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
        put(" %s |", isa_target_name((enum isa_target)target));
    put("\n|---|");
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
        put("---|");
    unsigned sums[ISA_TARGET_COUNT][3] = {{0}};
    for (unsigned format = 0; format < ISA_FORMAT_COUNT; format++) {
        for (unsigned form = 0; form < COVERED_FORMS; form++) {
            unsigned any = 0;
            for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
                any += count(target, format, form, DECODES);
            if (!any)
                continue;
            bool only = format == ISA_VOP3 || format == ISA_VOP3P;
            put("\n| %s%s |", format_names[format], only ? "" : form_names[form]);
            for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
                unsigned n[3] = {count(target, format, form, DECODES),
                                 count(target, format, form, EXECUTES),
                                 count(target, format, form, TESTED)};
                put(n[0] ? " %u %u %u |" : " |", n[0], n[1], n[2]);
                for (unsigned i = 0; i < 3; i++)
                    sums[target][i] += n[i];
            }
        }
    }
    put("\n| all |");
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
        put(" %u %u %u |", sums[target][0], sums[target][1], sums[target][2]);
    put("\n");
}

/* Targets as a list, or nothing for all that have the row. */
static void put_targets(const bool is_in[ISA_TARGET_COUNT], const struct isa_row *row)
{
    bool all = true, first = true;
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
        all &= is_in[target] || row->opcode[target] < 0;
    for (unsigned target = 0; target < ISA_TARGET_COUNT && !all; target++) {
        if (!is_in[target])
            continue;
        put("%s%s", first ? " (" : ", ", isa_target_name((enum isa_target)target));
        first = false;
    }
    put(all ? "" : ")");
}

/* Names of rows as wrapped lines. */
static size_t line_start;

static void put_name(const struct isa_row *row, const bool is_in[ISA_TARGET_COUNT], bool *first)
{
    size_t before = page_length;
    put("%s`%s`", *first ? "" : ", ", row->mnemonic);
    put_targets(is_in, row);
    if (page_length - line_start > 98 && !*first) {
        page[before + 1] = '\n'; /* in the place of the space */
        line_start = before + 2;
    }
    *first = false;
}

/* Rows that decode in some form of a target and execute in none. */
static void put_missing(void)
{
    for (unsigned format = 0; format < ISA_FORMAT_COUNT; format++) {
        bool first = true;
        for (size_t i = 0; i < isa_row_count(); i++) {
            struct isa_row row = isa_row(i);
            bool is_in[ISA_TARGET_COUNT] = {false}, any = false;
            if (row.format != format || row.is_implemented)
                continue;
            for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
                any |= is_in[target] = row.opcode[target] >= 0;
            if (any && first)
                put("\n- %s: ", format_names[format]);
            line_start = any && first ? page_length - strlen(format_names[format]) - 4 : line_start;
            if (any)
                put_name(&row, is_in, &first);
        }
    }
    put("\n");
}

struct modifier {
    const char *name;
    enum covered_form form;
    bool packed; /* of VOP3P, or of all others */
    struct extra bits;
};

static const struct modifier modifiers[] = {
    {"`clamp`", COVERED_VOP3, false, {1u << 15, 0}},
    {"`clamp` in SDWA", COVERED_SDWA, false, {0, 1u << 13}},
    {"`clamp` of packed and dot instructions", COVERED_VOP3, true, {1u << 15, 0}},
    {"`op_sel` of packed and dot instructions", COVERED_VOP3, true, {1u << 11, 0}},
    {"`neg_lo` of packed and dot instructions", COVERED_VOP3, true, {0, 1u << 29}},
    {"`neg_hi` of packed and dot instructions", COVERED_VOP3, true, {1u << 8, 0}},
    {"`op_sel`", COVERED_VOP3, false, {1u << 11, 0}},
    {"`neg`", COVERED_VOP3, false, {0, 1u << 29}},
    {"`omod`", COVERED_VOP3, false, {0, 1u << 27}},
};

static void put_refused(void)
{
    for (size_t k = 0; k < sizeof modifiers / sizeof *modifiers; k++) {
        const struct modifier *modifier = &modifiers[k];
        bool first = true;
        for (size_t i = 0; i < isa_row_count(); i++) {
            struct isa_row row = isa_row(i);
            bool is_in[ISA_TARGET_COUNT] = {false}, any = false;
            if (!is_vector(&row) || (row.format == ISA_VOP3P) != modifier->packed)
                continue;
            for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
                any |= is_in[target] =
                    (states[target][i][modifier->form] & EXECUTES)
                    && probe((enum isa_target)target, &row, modifier->form, modifier->bits)
                           == ISA_ERROR_UNIMPLEMENTED;
            if (any && first)
                put("\n- %s: ", modifier->name);
            line_start = any && first ? page_length - strlen(modifier->name) - 4 : line_start;
            if (any)
                put_name(&row, is_in, &first);
        }
    }
}

/* Memory instructions with a bit that changes where data goes: how many of each format execute. */
static void put_refused_memory(void)
{
    static const struct {
        const char *name;
        enum isa_format format;
        uint32_t prefix, shift, first, second;
    } forms[] = {{"`gds`", ISA_DS, 0xd8000000, 17, 1u << 16, 0},
                 {"`lds`", ISA_MUBUF, 0xe0000000, 18, 1u << 16, 0},
                 {"`tfe`", ISA_MUBUF, 0xe0000000, 18, 0, 1u << 23},
                 {"`lds`", ISA_GLOBAL, 0xdc008000, 18, 1u << 13, 0x7f0000},
                 {"`lds`", ISA_SCRATCH, 0xdc004000, 18, 1u << 13, 0x7f0000},
                 {"`lds`", ISA_FLAT, 0xdc000000, 18, 1u << 13, 0}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        unsigned refused = 0, of = 0;
        for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
            for (size_t i = 0; i < isa_row_count(); i++) {
                struct isa_row row = isa_row(i);
                struct isa_inst inst;
                if (row.format != forms[k].format || row.opcode[target] < 0 || !row.is_implemented)
                    continue;
                const uint32_t word[3] = {forms[k].prefix
                                              | (unsigned)row.opcode[target] << forms[k].shift
                                              | forms[k].first,
                                          forms[k].second};
                int size = isa_decode((enum isa_target)target, word, 12, &inst);
                refused += size == ISA_ERROR_UNIMPLEMENTED;
                of += size > 0 || size == ISA_ERROR_UNIMPLEMENTED;
            }
        }
        if (refused)
            put("\n- %s: %u of %u %s instructions of all targets", forms[k].name, refused, of,
                format_names[forms[k].format]);
    }
    put("\n");
}

static void put_untested(unsigned *untested)
{
    bool first = true;
    *untested = 0;
    for (size_t i = 0; i < isa_row_count(); i++) {
        struct isa_row row = isa_row(i);
        bool is_in[ISA_TARGET_COUNT] = {false}, any = false;
        for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
            for (unsigned form = 0; form < COVERED_FORMS; form++)
                if ((states[target][i][form] & (EXECUTES | TESTED)) == EXECUTES)
                    any = is_in[target] = true;
        *untested += any;
        line_start = any && first ? page_length : line_start;
        if (any)
            put_name(&row, is_in, &first);
    }
    put("%s\n", first ? "None." : "");
}

/* What is not counted by rows. */
static const char compiled_kernels[] =
    "\n## Compiled kernels\n\n"
    "Instructions as compilers choose and order them, against results of the host:\n\n"
    "- `tests/components/amd/isa/corpus`: kernels of unusual source in C++, by clang 15 and "
    "clang 19,\n  from -O0 to -O3, for each target (`test_corpus.py`).\n"
    "- `tests/opencl`: OpenCL kernels over the built-in functions of OpenCL C, by clang 19, for "
    "gfx803,\n  gfx906, gfx90a and gfx942, in both modes. PoCL executes the same source. Integers, "
    "and floats\n  where OpenCL calls them exact, agree bit for bit; other floats within OpenCL's "
    "limits\n  (`test_opencl.py`).\n"
    "- `tests/components/amd/isa/division.cl`: quotients, square roots and fused multiply-adds of "
    "fp16,\n"
    "  fp32 and fp64, by clang 15, for gfx803 and gfx906, with denormals, in each rounding mode,\n"
    "  against MPFR (`test_isa_division.c`). Multiply-adds are correctly rounded in all modes;\n"
    "  quotients and roots to nearest, but for rare ties of fp16 quotients. Rounded up, down or "
    "to\n"
    "  zero, quotients and roots are within a unit in the last place: 1 to 4 % of random and edge\n"
    "  quotients are a unit off, of roots 2 % where they are computed in steps and a third where "
    "one\n"
    "  instruction does it. That is the sequence of the compiler, which is made for rounding to\n"
    "  nearest: each of its instructions, with the sources that it really had, gives the exact "
    "result\n"
    "  rounded once, bit for bit, in all four modes. Reciprocals and roots are within the "
    "manuals'\n"
    "  units there; two machines may differ in them.\n";

/* From the output of the commands; `isa-coverage` does not run them. */
static const char full_runs[] =
    "\n## Full runs\n\n"
    "What `--full` and `./dev fuzz` compare beyond the tests of every day:\n\n"
    "| against | compared | different | command |\n"
    "|---|---|---|---|\n"
    "| LLVM 19's disassembler | 15.2 million random encodings a target, 5.6 to 6.7 million that "
    "differ from a valid one in one field; less than 1 % of them in the list of what may differ "
    "| none | `./dev test unit -k oracle --full` |\n"
    "| the host, compiled kernels | 80 builds of clang 15 and 96 of clang 19 | none | `./dev test "
    "system -k corpus --full` |\n"
    "| PoCL, OpenCL kernels | 4 targets, 3 sets of options, both modes | none | `./dev test system "
    "-k opencl --full` |\n"
    "| themselves, HIP programs | 1,084 runs: 6 targets and 3 machines | none | `./dev test "
    "system -k test_targets --full` |\n"
    "| nothing: any bytes as code | 750 thousand inputs, grown by coverage in 1,500 seconds, on "
    "six targets | no crash | `./dev fuzz` |\n"
    "\n## Assumed\n\n"
    "No document says what `neg` and `abs` do to the two halves that a source of\n"
    "`v_dot2c_f32_f16` has, or how `v_cvt_sr_bf8_f32` rounds. [amd.md](../design/amd.md) says what "
    "is\n"
    "assumed; tests hold these rows to the assumption, not to hardware.\n";

static unsigned write_page(void)
{
    unsigned untested;
    put("# Instructions: decoded, executed, tested\n\n"
        "This page is generated, by\n\n"
        "    ninja -C build isa-coverage\n\n"
        "and a test fails if it is out of date. Each cell counts the instructions of a target in "
        "one\nencoding: how many decode, how many of them execute, and how many of those are "
        "tested. *Tested*\nmeans that a test executes the instruction in that encoding on that "
        "target, with random and edge\noperands, and compares all registers and bytes with a "
        "result that shares no code with the\nsimulator. A form that executes and is not tested "
        "fails the build.\n\n");
    put_counts();
    put("\n## Not executed\n\nThese decode and print; a kernel that runs one is told which and "
        "where.\n");
    put_missing();
    put("\n## Forms that are refused\n\nThe instructions execute, but not with these modifiers.\n");
    put_refused();
    put_refused_memory();
    put("\n## Executed and not tested\n\n");
    put_untested(&untested);
    put("%s%s", compiled_kernels, full_runs);
    return untested;
}

/* ---- the check ---- */

static char *read_file(const char *path)
{
    static char text[2][TEXT_MAX];
    static unsigned next;
    char *to = text[next++ % 2];
    FILE *in = fopen(path, "rb");
    size_t size = in ? fread(to, 1, TEXT_MAX - 1, in) : 0;
    if (in)
        fclose(in);
    to[size] = '\0';
    return to;
}

/* Is there a line that starts with the name? */
static bool names(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (!strncmp(line, name, length) && (line[length] == ' ' || line[length] == '\n'))
            return true;
        if (!strchr(line, '\n'))
            break;
    }
    return false;
}

static unsigned check_rows(const char *excused)
{
    unsigned errors = 0;
    for (size_t i = 0; i < isa_row_count(); i++) {
        struct isa_row row = isa_row(i);
        unsigned untested = 0;
        bool is_excused = names(excused, row.mnemonic);
        for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
            for (unsigned form = 0; form < COVERED_FORMS; form++) {
                if ((states[target][i][form] & (EXECUTES | TESTED)) != EXECUTES)
                    continue;
                untested++;
                if (!is_excused && errors++ < 40)
                    fprintf(stderr, "%s: %s%s has no test\n",
                            isa_target_name((enum isa_target)target), row.mnemonic,
                            is_short(&row) ? form_names[form] : "");
            }
        }
        bool twice = false; /* another row of the name may be the one that is meant */
        for (size_t k = 0; k < isa_row_count(); k++)
            twice |= k != i && !strcmp(isa_row(k).mnemonic, row.mnemonic);
        if (is_excused && !untested && !twice) {
            fprintf(stderr, "%s is tested: take it off the list of rows without a test\n",
                    row.mnemonic);
            errors++;
        }
    }
    return errors;
}

int main(int argc, char **argv)
{
    bool check = argc > 3 && !strcmp(argv[1], "check");
    if (!check && (argc < 2 || strcmp(argv[1], "page") != 0)) {
        fprintf(stderr, "isa_coverage page TEST... | check PAGE UNTESTED TEST...\n");
        return 2;
    }
    find_states();
    for (int i = check ? 4 : 2; i < argc; i++)
        add_marks(argv[i]);
    unsigned untested = write_page();
    if (!check) {
        fputs(page, stdout);
        return 0;
    }
    unsigned errors = check_rows(read_file(argv[3]));
    if (strcmp(read_file(argv[2]), page) != 0) {
        fprintf(stderr, "%s is out of date: ninja -C build isa-coverage\n", argv[2]);
        errors++;
    }
    fprintf(stderr, "%u rows without a test, %u errors\n", untested, errors);
    return errors != 0;
}
