/* Every form that a trace may have, each a small file; what must be read stands here in full,
 * written by hand from the format's description. Then lines that are wrong, and where the reader
 * must say so. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "components/traces/instruction_trace/cache/itrace_cache.h"
#include "components/traces/instruction_trace/reader/itrace.h"

struct story {
    char text[8192]; /* events */
    size_t size;
    char said[2048]; /* reports: "e7: text" or "w0: text", a line each */
    size_t said_size;
};

__attribute__((format(printf, 2, 3))) static void tell(struct story *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int got = vsnprintf(s->text + s->size, sizeof s->text - s->size, format, args);
    va_end(args);
    s->size += (size_t)got;
    cr_assert_lt(s->size, sizeof s->text);
}

static void hear(void *context, bool is_error, const char *path, uint64_t line, const char *text)
{
    struct story *s = context;
    (void)path;
    s->said_size += (size_t)snprintf(s->said + s->said_size, sizeof s->said - s->said_size,
                                     "%c%" PRIu64 ": %s\n", is_error ? 'e' : 'w', line, text);
    cr_assert_lt(s->said_size, sizeof s->said);
}

static void tell_register(struct story *s, uint16_t number)
{
    if (number < SASS_UNIFORM_REGISTER)
        tell(s, " R%u", number);
    else
        tell(s, " UR%u", number - SASS_UNIFORM_REGISTER);
}

static void tell_step(struct story *s, const struct itrace *t)
{
    const struct itrace_step *step = &t->step;
    const struct itrace_inst *inst = step->inst;
    if (inst->source_line)
        tell(s, "line %u ", inst->source_line);
    tell(s, "%x %" PRIx64 " %s", inst->pc, step->mask, inst->name);
    for (unsigned i = 0; i < inst->destination_count; i++)
        tell_register(s, inst->destinations[i]);
    tell(s, " <-");
    for (unsigned i = 0; i < inst->source_count; i++)
        tell_register(s, inst->sources[i]);
    if (inst->width)
        tell(s, " [%u", inst->width);
    for (unsigned i = 0; i < step->count && i < 5; i++)
        tell(s, " %" PRIx64, step->address[i]);
    if (step->count > 5)
        tell(s, " ... %" PRIx64, step->address[step->count - 1]);
    tell(s, inst->width ? "]" : "");
    for (unsigned i = 0; i < inst->immediate_count; i++)
        tell(s, " %" PRId64, inst->immediates[i]);
    tell(s, "\n");
}

static void tell_all(struct story *s, struct itrace *t)
{
    for (;;) {
        switch (itrace_next(t)) {
        case ITRACE_END:
            return;
        case ITRACE_ERROR:
            tell(s, "error\n");
            break;
        case ITRACE_BLOCK:
            tell(s, "block %u,%u,%u\n", t->block[0], t->block[1], t->block[2]);
            break;
        case ITRACE_WARP:
            tell(s, "warp %u: %" PRIu64 "\n", t->warp, t->warp_steps);
            break;
        case ITRACE_BLOCK_END:
            tell(s, "end\n");
            break;
        case ITRACE_STEP:
            tell_step(s, t);
            break;
        }
    }
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    cr_assert(value, "%s is not set: run this test through meson", name);
    return value;
}

static bool read_file(struct story *s, const char *path, bool use_cache)
{
    struct itrace t;
    struct itrace_options options = {.report = hear, .context = s, .use_cache = use_cache};
    memset(s, 0, sizeof *s);
    bool ok = itrace_open(&t, path, &options);
    if (ok) {
        tell(s, "%s v%u id %" PRIu64 "\n", t.header.kernel_name, t.header.tracer_version,
             t.header.kernel_id);
        tell_all(s, &t);
        itrace_report_unknown(&t);
    }
    bool cached = t.is_cached;
    itrace_close(&t);
    return cached;
}

static void fixture_path(char path[512], const char *name)
{
    snprintf(path, 512, "%s/%s", environment("FIXTURE"), name);
}

static const char v3_story[] = "_Z4demoPf v3 id 2\n"
                               "block 0,0,0\n"
                               "warp 0: 6\n"
                               "0 ffffffff IMAD.MOV.U32 R1 <- R255 R255\n"
                               "10 5 LDG.E R2 <- R4 [4 7f0020000000 7f0020000040]\n"
                               "20 f LDG.E.U8 R2 <- R4 [1 7f0020000100 7f00200000fc 7f00200000f8 "
                               "7f00200000f4]\n"
                               "30 80000101 STG.E.128 <- R4 R8 [16 7f0020000200 7f0020000100 "
                               "7f0020000300]\n"
                               "40 0 LDS R3 <- R6 [4]\n"
                               "50 ffffffff EXIT <-\n"
                               "warp 1: 0\n"
                               "end\n"
                               "block 1,1,0\n"
                               "end\n";

static const struct {
    const char *file, *text, *said;
} forms[] = {
    {"v1_2.traceg",
     "_Z4demoPf v1 id 1\n"
     "block 1,0,0\n"
     "warp 1: 3\n"
     "0 ffffffff MOV R1 <- R255\n"
     "10 3 LDG.E.64.SYS R2 <- R4 [8 7f0020000100 7f0020000108]\n"
     "20 ffffffff EXIT <-\n"
     "end\n",
     ""},
    {"v3.traceg", v3_story, ""},
    {"crlf.traceg", v3_story, ""},
    {"v4.traceg",
     "_Z4demoPf v4 id 3\n"
     "block 0,1,0\n"
     "warp 0: 3\n"
     "0 ffffffff MOV R1 <-\n"
     "10 3 LDG.E R2 <- R4 [4 7f0020000100 7f0020000104]\n"
     "20 ffffffff EXIT <-\n"
     "end\n",
     ""},
    {"v4_lines.traceg",
     "_Z4demoPf v4 id 4\n"
     "block 0,1,0\n"
     "warp 0: 5\n"
     "line 17 0 ffffffff MOV R1 <- -7\n"
     "line 17 0 ffffffff MOV R1 <- -8\n"
     "line 17 10 3 LDG.E R2 <- R4 [4 7f0020000100 7f0020000104] 16\n"
     "line 18 10 3 LDG.E R2 <- R4 [4 7f0020000100 7f0020000104] 16\n"
     "line 19 20 ffffffff EXIT <- 0\n"
     "end\n",
     ""},
    {"v5_new.traceg",
     "_Z4demoPf v5 id 5\n"
     "block 0,0,0\n"
     "warp 0: 5\n"
     "20 ffffffff S2UR UR4 <- 0 0\n"
     "50 ffffffff IMAD R10 <- R10 UR4 R3 0 0\n"
     "a0 ffffffff IADD3 R0 <- R5 R255 -1 0\n"
     "130 3 LDG.E R11 <- R2 [4 7f0020000100 7f0020000104] 8 -1\n"
     "140 ffffffff EXIT <- 0 0\n"
     "end\n",
     ""},
    {"v6.traceg",
     "_Z4demoPf v6 id 6\n"
     "block 0,0,0\n"
     "warp 0: 4\n"
     "0 ffffffff LDC R1 <- 0 0\n"
     "10 3 IADD3 R2 <- R5 R255 -1 0\n"
     "10 3 IADD3 R2 <- R5 R255 -1 0\n"
     "20 ffffffff EXIT <- 0 0\n"
     "end\n",
     ""},
    {"wave64.traceg",
     "_Z4demoPf v5 id 7\n"
     "block 0,0,0\n"
     "warp 0: 3\n"
     "0 ffffffffffffffff MOV R1 <- 0\n"
     "10 ffffffffffffffff LDG.E R2 <- R4 [4 7f0020000000 7f0020000004 7f0020000008 7f002000000c "
     "7f0020000010 ... 7f00200000fc] 0\n"
     "20 8000000000000001 LDG.E R2 <- R4 [4 7f0020000000 7f00200000fc] 0\n"
     "end\n",
     ""},
    {"garbage.traceg",
     "_Z4demoPf v3 id 10\n"
     "block 0,0,0\n"
     "warp 0: 4\n"
     "0 ffffffff FROBNICATE.X R1 <-\n"
     "10 1 LD.E R1 <- R2 [4 7f0010000040]\n"
     "20 1 LD.E R1 <- R2 [4 7f000e000040]\n"
     "0 ffffffff FROBNICATE.X R1 <-\n"
     "end\n",
     "w13: unknown header line '-invented key = 5'\n"
     "w0: 'nregs = 21955' is more than the 255 that a thread can have\n"
     "w0: 'binary version = 0' is no architecture from Kepler (30) to Blackwell (121): opcodes are "
     "read "
     "as the newest's\n"
     "w0: opcode 'FROBNICATE' is in no table and counted as unknown: executed 2 times, first at PC "
     "0000\n"},
};
#define FORMS ARRAY_COUNT(forms)

Test(itrace, every_form_is_read)
{
    static struct story s;
    char path[512];
    for (size_t i = 0; i < FORMS; i++) {
        fixture_path(path, forms[i].file);
        read_file(&s, path, false);
        cr_expect_str_eq(s.text, forms[i].text, "%s:\n%s", forms[i].file, s.text);
        cr_expect_str_eq(s.said, forms[i].said, "%s:\n%s", forms[i].file, s.said);
    }
}

/* The same files packed by the tools of xz and zstd; concatenated streams, too. */
Test(itrace, packed_files_read_the_same)
{
    static const char *const packers[] = {"xz -0 -c", "zstd -q -c"};
    static struct story s;
    char path[512], packed[512], command[1600];
    snprintf(packed, sizeof packed, "%s/packed-%d", environment("SCRATCH"), (int)getpid());
    for (size_t i = 0; i < FORMS; i++)
        for (size_t p = 0; p < ARRAY_COUNT(packers); p++) {
            fixture_path(path, forms[i].file);
            snprintf(command, sizeof command, "(head -n 9 '%s' | %s; tail -n +10 '%s' | %s) >'%s'",
                     path, packers[p], path, packers[p], packed);
            cr_assert_eq(system(command), 0, "%s: are xz and zstd there? ./dev setup", command);
            read_file(&s, packed, false);
            cr_expect_str_eq(s.text, forms[i].text, "%s, %s", forms[i].file, packers[p]);
            /* Cut short, it must be an error, never less of a trace. */
            snprintf(command, sizeof command, "truncate -s -3 '%s'", packed);
            cr_assert_eq(system(command), 0);
            read_file(&s, packed, false);
            cr_expect(strstr(s.said, "too early"), "%s, %s: %s", forms[i].file, packers[p], s.said);
        }
    unlink(packed);
}

/* What stands behind a header of two by two blocks of 64 threads, tracer 3, beginning in line 8. */
#define HEADER                                                                                     \
    "-kernel name = k\n-kernel id = 1\n-grid dim = (2,2,1)\n-block dim = (64,1,1)\n"               \
    "-binary version = 80\n-accelsim tracer version = 3\n#traces format = x\n"
#define WARP(insts) "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = " insts "\n"
#define END         "#END_TB\n"
#define STEPS(line) HEADER WARP("1") line "\n" END

static const struct {
    const char *text, *said;
} mistakes[] = {
    {"", "e0: this is no trace of Accel-Sim: it begins without '-kernel name = ...'\n"},
    {"hello\n", "e0: this is no trace of Accel-Sim: it begins without '-kernel name = ...'\n"},
    {"-kernel name = k\n",
     "e0: the header has no '-grid dim = (x,y,z)'\ne0: the header has no '-block dim = (x,y,z)'\n"
     "w0: the header has no '-accelsim tracer version': read as the newest\n"
     "w0: 'binary version = 0' is no architecture from Kepler (30) to Blackwell (121): opcodes are "
     "read "
     "as the newest's\n"},
    {"-grid dim = (2,2)\n", "e1: 'grid dim' wants three positive numbers: (x,y,z), not '(2,2)'\n"},
    {"-grid dim = (2,0,1)\n",
     "e1: 'grid dim' wants three positive numbers: (x,y,z), not '(2,0,1)'\n"},
    {"-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-binary version = 80\n"
     "-accelsim tracer version = 5\n-launch behind = 2\n-launch delay = 281474976710657\n",
     "e0: a launch 281474976710657 cycles later: at most 2^48\n"},
    {"-launch behind = x\n", "e1: 'launch behind' wants a whole number, not 'x'\n"},
    {"-kernel id = -1\n", "e1: 'kernel id' wants a whole number, not '-1'\n"},
    {"-kernel id = 1\n-kernel id = 1\n", "e2: 'kernel id' stands in the header twice\n"},
    {"-shmem base_addr = 7g\n", "e1: 'shmem base_addr' wants an address (0x...), not '7g'\n"},
    {HEADER "#END_TB\n", "e8: #END_TB without a #BEGIN_TB\n"},
    {HEADER "#BEGIN_TB\n#END_TB\n", "e9: #END_TB before a 'thread block = x,y,z'\n"},
    {HEADER "#BEGIN_TB\n#BEGIN_TB\nthread block = 0,0,0\n#END_TB\n",
     "e9: #BEGIN_TB before the #END_TB of the block before\n"},
    {HEADER "#BEGIN_TB\nthread block = 2,0,0\n#END_TB\n",
     "e9: thread block 2,0,0 lies outside of the grid\n"
     "e10: #END_TB before a 'thread block = x,y,z'\n"},
    {HEADER "#BEGIN_TB\nthread block = 0,0\n#END_TB\n",
     "e9: 'thread block =' wants x,y,z, not '0,0'\n"
     "e10: #END_TB before a 'thread block = x,y,z'\n"},
    {HEADER WARP("0"), "w11: the last #END_TB is missing\n"},
    {HEADER WARP("1"), "e11: the file ends inside of a thread block\n"},
    {HEADER WARP("1") END, "e12: warp 0 ends 1 instructions before what its 'insts = ' says\n"},
    {HEADER WARP("0") "0000 ffffffff 0 EXIT 0 0\n" END,
     "e12: warp 0 has more instructions than its 'insts = 0'\n"},
    {HEADER WARP("0") "warp = 0\ninsts = 0\n" END, "e12: warp 0 stands in this block twice\n"
                                                   "e13: 'insts =' stands behind 'warp =' only\n"},
    {HEADER WARP("0") "warp = 2\n" END, "e12: warp 2: a block of this kernel has 2\n"},
    {HEADER WARP("0") "warp = 1\n" END, "e13: warp 1 has no 'insts = '\n"},
    {HEADER WARP("x") END, "e11: 'insts =' wants a number, not 'x'\n"
                           "e12: warp 0 has no 'insts = '\n"},
    {HEADER "hello\n", "e8: an instruction, or what should be one, outside of a warp: 'hello'\n"},
    {STEPS("0000 fffffff 0 EXIT 0 0"), "e12: neither an instruction nor anything else of a "
                                       "trace: '0000 fffffff 0 EXIT 0 0'\n"},
    {STEPS("0000 ffffffff 2 R1 R2 MOV 0 0"), "e12: 2 destination registers: there are at most 1\n"},
    {STEPS("0000 ffffffff 1 MOV 0 0"),
     "e12: a register (R0 to R255, UR0 ...) expected, not 'MOV'\n"},
    {STEPS("0000 ffffffff 0 1mov 0 0"), "e12: an opcode expected, not '1mov'\n"},
    {STEPS("0000 ffffffff 0"), "e12: an opcode expected, but the line ends\n"},
    {STEPS("0000 ffffffff 0 MOV 6 R1 R1 R1 R1 R1 R1 0"),
     "e12: 6 source registers: there are at most 5\n"},
    {STEPS("0000 ffffffff 0 MOV 0"),
     "e12: the width of the access in bytes expected, but the line ends\n"},
    {STEPS("0000 ffffffff 0 LDG 0 3 0"), "e12: an access 3 bytes wide: there are 1, 2, 4, 8, 16, "
                                         "... 128\n"},
    {STEPS("0000 ffffffff 0 LDG 0 4 3"), "e12: how addresses are written (0 all, 1 stride, 2 "
                                         "differences) expected, not '3'\n"},
    {STEPS("0000 00000003 0 LDG 0 4 0 0x10"),
     "e12: address 2 of 2 (one for each active lane) expected, but the line ends\n"},
    {STEPS("0000 00000005 0 LDG 0 4 1 0x10 4"),
     "e12: a stride, but the active lanes are not contiguous (mask 5)\n"},
    {STEPS("0000 00000003 0 LDG 0 4 1 0x10"), "e12: the stride expected, but the line ends\n"},
    {STEPS("0000 00000007 0 LDG 0 4 2 0x10 4"),
     "e12: difference 2 of 2 (active lanes but one) expected, but the line ends\n"},
    {STEPS("0000 00000007 0 LDG 0 4 2 1g 4 4"),
     "e12: the base address (0x...) expected, not '1g'\n"},
    {STEPS("0000 ffffffff 0 MOV 0 0 7"), "e12: more than 0 immediates behind the instruction\n"},
    {STEPS("0000 ffffffff 0 MOV 0 0 NoVal"), "e12: the end of the line expected, not 'NoVal'\n"},
    {STEPS("0000 ffffffff 0 MOV 0 0 x"),
     "e12: an immediate or the end of the line expected, not 'x'\n"},
    /* The first good line settles the form of all. */
    {HEADER WARP("2") "0000 ffffffff 0 MOV 0 0\n0010 ffffffffffffffff 0 MOV 0 0\n" END,
     "e13: the mask (8 hexadecimal digits) expected, not 'ffffffffffffffff'\n"},
    {HEADER "0 0 0 0 0000 ffffffff 0 MOV 0 0\n",
     "e8: a raw trace: group it first, by `heddle trace group`\n"},
    {HEADER WARP("1") "0 0 0 1 0000 ffffffff 0 MOV 0 0\n" END,
     "e12: the instruction belongs to another block or warp than the one it stands in\n"},
};
#define MISTAKES ARRAY_COUNT(mistakes)

static void read_text(struct story *s, const char *text, size_t size)
{
    struct itrace t;
    struct itrace_options options = {.report = hear, .context = s};
    memset(s, 0, sizeof *s);
    if (itrace_open_memory(&t, "memory", text, size, &options))
        tell_all(s, &t);
    itrace_close(&t);
}

Test(itrace, every_mistake_is_named_with_its_line)
{
    static struct story s;
    for (size_t i = 0; i < MISTAKES; i++) {
        read_text(&s, mistakes[i].text, strlen(mistakes[i].text));
        cr_expect_str_eq(s.said, mistakes[i].said, "%s\nsaid: %s", mistakes[i].text, s.said);
    }
}

Test(itrace, the_reader_goes_on_behind_a_mistake)
{
    static struct story s;
    static const char text[] = HEADER WARP("3") "0000 ffffffff 0 MOV 0 0\nrubbish\n"
                                                "0010 ffffffff 0 EXIT 0 0\n" END;
    read_text(&s, text, sizeof text - 1);
    cr_expect_str_eq(s.text, "block 0,0,0\nwarp 0: 3\n0 ffffffff MOV <-\nerror\n10 ffffffff EXIT "
                             "<-\nend\n");
    cr_expect(strstr(s.said, "e13: "));
}

Test(itrace, zero_bytes_and_endless_lines_are_errors)
{
    static struct story s;
    static const char zero[] = STEPS("0000 ffffffff 0 MOV 0 0\0 1 2");
    static char endless[ITRACE_LINE_MAX * 3];
    read_text(&s, zero, sizeof zero - 1);
    cr_expect_str_eq(s.said, "e12: a zero byte in the line\n"
                             "e13: warp 0 ends 1 instructions before what its 'insts = ' says\n");
    memset(endless, 'x', sizeof endless);
    memcpy(endless, HEADER, strlen(HEADER));
    read_text(&s, endless, sizeof endless);
    cr_expect_str_eq(s.said, "e8: a line is longer than 1 MiB: this is no trace\n");
}

/* A line of any length across the buffer's ends. */
Test(itrace, long_files_are_cut_into_lines_right)
{
    struct itrace_input in;
    static char text[1 << 20];
    size_t size = 0, lines = 0, n = 0;
    while (size < sizeof text - 600) {
        size_t length = lines * 7919 % 509;
        memset(text + size, 'a' + (int)(lines % 26), length);
        text[size + length] = '\n';
        size += length + 1;
        lines++;
    }
    cr_assert(itrace_input_open_memory(&in, text, size));
    char *line;
    size_t got;
    while (itrace_input_line(&in, &line, &got) == 1) {
        cr_assert_eq(got, n * 7919 % 509, "line %zu has %zu bytes", n, got);
        cr_assert(got == 0 || (line[0] == 'a' + (int)(n % 26) && line[got - 1] == line[0]));
        n++;
    }
    cr_expect_eq(n, lines);
    itrace_input_close(&in);
}

/* A cache gives the same events and complaints, is taken only for the very same text, and damage
 * of any of its bytes is found. */
Test(itrace, a_cache_gives_the_same)
{
    static struct story first, again;
    char path[512], copy[512], cache[600], command[1600];
    snprintf(copy, sizeof copy, "%s/cached-%d.traceg", environment("SCRATCH"), (int)getpid());
    snprintf(cache, sizeof cache, "%s" ITRACE_CACHE_SUFFIX, copy);
    for (size_t i = 0; i < FORMS; i++) {
        fixture_path(path, forms[i].file);
        unlink(cache);
        snprintf(command, sizeof command, "cp '%s' '%s'", path, copy);
        cr_assert_eq(system(command), 0);
        cr_expect_not(read_file(&first, copy, true));
        cr_expect_eq(access(cache, F_OK), 0, "%s", path);
        cr_expect(read_file(&again, copy, true), "%s", path);
        cr_expect_str_eq(again.text, forms[i].text, "%s:\n%s", path, again.text);
        cr_expect(strstr(first.said, again.said), "%s: %s", path, again.said);
    }
    unlink(cache);
    unlink(copy);
}

static long file_size(FILE *file)
{
    fseek(file, 0, SEEK_END);
    return ftell(file);
}

Test(itrace, a_damaged_or_foreign_cache_is_made_anew)
{
    static struct story s;
    char path[512], copy[512], cache[600], command[1600];
    snprintf(copy, sizeof copy, "%s/damaged-%d.traceg", environment("SCRATCH"), (int)getpid());
    snprintf(cache, sizeof cache, "%s" ITRACE_CACHE_SUFFIX, copy);
    fixture_path(path, "v3.traceg");
    snprintf(command, sizeof command, "cp '%s' '%s'", path, copy);
    cr_assert_eq(system(command), 0);
    read_file(&s, copy, true);
    FILE *file = fopen(cache, "r+b");
    cr_assert(file);
    long size = file_size(file);
    fclose(file);
    for (long at = 0; at < size; at++) {
        file = fopen(cache, "r+b");
        fseek(file, at, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 0x10, file);
        fclose(file);
        bool unused = at >= 12 && at < 16;
        cr_expect_eq(read_file(&s, copy, true), unused, "byte %ld", at);
        cr_expect_str_eq(s.text, v3_story, "byte %ld", at);
        cr_expect(unused || read_file(&s, copy, true), "byte %ld: not made anew", at);
    }
    /* The same size, but another text. */
    snprintf(command, sizeof command, "sed -i s/0x7f0020000100/0x7f0020000900/ '%s'", copy);
    cr_assert_eq(system(command), 0);
    cr_expect_not(read_file(&s, copy, true));
    cr_expect(strstr(s.text, "7f0020000900"));
    unlink(cache);
    unlink(copy);
}
