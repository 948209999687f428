/* Every way to damage a small trace by one line, one field, one block or one warp. Each is refused
 * or warned of, or it changed a value to another one that is as valid: a PC, a mask, a register, an
 * opcode, a width, an address, an immediate, and what a header says that nothing in the trace
 * depends on. No reader can tell such a trace from the one that was recorded. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "base/number.h"
#include "base/splitmix64.h"
#include "components/traces/instruction_trace/reader/itrace.h"

enum { SIZE = 8192, LINES = 128, SEEDS = 12 };

static const char header[] = "-kernel name = k\n-kernel id = 1\n-grid dim = (2,1,1)\n"
                             "-block dim = (64,1,1)\n-shmem = 2048\n-nregs = 16\n"
                             "-binary version = 80\n-cuda stream id = 0\n"
                             "-shmem base_addr = 0x00007f0010000000\n"
                             "-local mem base_addr = 0x00007f000e000000\n-nvbit version = 1.5.3\n"
                             "-accelsim tracer version = 4\n#traces format = x\n\n";
static const char warp[] = "0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R2 0 5\n"
                           "0010 00000005 1 R2 LDG.E 1 R4 4 0 0x7f0020000000 0x7f0020000040 0\n"
                           "0020 0000000f 1 R2 LD.E.U8 1 R4 1 2 0x7f0020000100 -4 4 8 0\n"
                           "0030 ffffffff 0 STS 2 R4 R8 4 1 0x400 4 0\n"
                           "0040 0000ffff 0 EXIT 0 0\n"
                           "0050 ffff0000 0 EXIT 0 0\n";

struct damaged {
    char text[SIZE];
    const char *line[LINES]; /* lines of `text`, which stays as it was */
    size_t count;
};

static void whole_text(char text[SIZE])
{
    size_t used = (size_t)snprintf(text, SIZE, "%s", header);
    for (int block = 0; block < 2; block++) {
        used += (size_t)snprintf(text + used, SIZE - used, "#BEGIN_TB\n\nthread block = %d,0,0\n\n",
                                 block);
        for (int w = 0; w < 2; w++)
            used += (size_t)snprintf(text + used, SIZE - used, "warp = %d\ninsts = 6\n%s", w, warp);
        used += (size_t)snprintf(text + used, SIZE - used, "\n#END_TB\n\n");
    }
}

static void cut(struct damaged *d)
{
    whole_text(d->text);
    d->count = 0;
    for (char *at = d->text; *at; at = strchr(at, '\n') + 1)
        d->line[d->count++] = at;
    d->line[d->count] = d->text + strlen(d->text);
}

/* ---- reading ---- */

struct heard {
    unsigned errors, warnings;
    char first[200];
};

static void hear(void *context, bool is_error, const char *path, uint64_t line, const char *text)
{
    struct heard *h = context;
    (void)path;
    if (!h->errors && !h->warnings)
        snprintf(h->first, sizeof h->first, "%" PRIu64 ": %s", line, text);
    *(is_error ? &h->errors : &h->warnings) += 1;
}

static struct heard read_bytes(const void *bytes, size_t size)
{
    struct heard h = {0, 0, ""};
    struct itrace t;
    const struct itrace_options options = {
        .report = hear, .context = &h, .demand = ITRACE_GAPS_REFUSED};
    if (itrace_open_memory(&t, "damaged", bytes, size, &options))
        for (enum itrace_event e; (e = itrace_next(&t)) != ITRACE_END;)
            if (e == ITRACE_ERROR && h.errors > 100)
                break;
    itrace_report_unknown(&t);
    itrace_close(&t);
    return h;
}

static struct heard read_refusing(const char *text)
{
    return read_bytes(text, strlen(text));
}

/* ---- what cannot be told ---- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Lines that may come, go, and stand twice: nothing is said by them that anybody asks for. */
static bool says_nothing(const char *line)
{
    return *line == '\n' || begins(line, "#traces");
}

static bool may_go(const char *line)
{
    return says_nothing(line) || begins(line, "-kernel id") || begins(line, "-nvbit version");
}

/* Header lines whose value another trace may have. */
static bool is_free_header(const char *line)
{
    static const char *const free_ones[] = {"-kernel name",    "-kernel id",
                                            "-block dim",      "-shmem",
                                            "-nregs",          "-binary ",
                                            "-cuda stream id", "-local mem base_addr",
                                            "-nvbit version",  "-accelsim tracer version"};
    for (size_t i = 0; i < ARRAY_COUNT(free_ones); i++)
        if (begins(line, free_ones[i]))
            return true;
    return says_nothing(line);
}

/* Does byte `at` of an instruction's line belong to a count, which the rest of it must agree with?
 * Counts are the third word, and the one behind the opcode. */
static bool is_count(const char *line, size_t at)
{
    unsigned word = 0, opcode = 0;
    for (size_t i = 0; i < at; i++)
        if (line[i] == ' ' && line[i + 1] != ' ') {
            word++;
            if (!opcode && isupper((unsigned char)line[i + 1])
                && !(line[i + 1] == 'R' && isdigit((unsigned char)line[i + 2])))
                opcode = word;
        }
    return word == 2 || (opcode && word == opcode + 1);
}

static void expect_refused(const char *text, const char *what, const char *line)
{
    struct heard h = read_refusing(text);
    cr_expect(h.errors || h.warnings, "%s goes unseen: %.*s", what, (int)strcspn(line, "\n"), line);
}

/* ---- damage ---- */

/* The text with `times` times its piece from line `from` to `to`. */
static void repeat(const struct damaged *d, size_t from, size_t to, int times, char out[2 * SIZE])
{
    size_t before = (size_t)(d->line[from] - d->text),
           piece = (size_t)(d->line[to] - d->line[from]);
    char *at = out + before;
    memcpy(out, d->text, before);
    for (; times > 0; times--, at += piece)
        memcpy(at, d->line[from], piece);
    strcpy(at, d->line[to]);
}

Test(sass_damage, the_trace_is_whole)
{
    struct damaged d;
    cut(&d);
    struct heard h = read_refusing(d.text);
    cr_assert(!h.errors && !h.warnings, "%s", h.first);
}

Test(sass_damage, line_that_is_gone_or_stands_twice_is_refused)
{
    static char out[2 * SIZE];
    struct damaged d;
    cut(&d);
    for (size_t i = 0; i < d.count; i++) {
        repeat(&d, i, i + 1, 0, out);
        if (!may_go(d.line[i]))
            expect_refused(out, "missing line", d.line[i]);
        repeat(&d, i, i + 1, 2, out);
        if (!says_nothing(d.line[i]))
            expect_refused(out, "line that stands twice", d.line[i]);
    }
}

Test(sass_damage, block_or_warp_that_is_gone_or_stands_twice_is_refused)
{
    static const char *const begin[] = {"#BEGIN_TB", "warp ="};
    static const char *const end[] = {"#BEGIN_TB", "\n"};
    static char out[2 * SIZE];
    struct damaged d;
    cut(&d);
    for (size_t i = 0; i < d.count; i++)
        for (size_t k = 0; k < 2; k++) {
            size_t to = i + 1;
            if (!begins(d.line[i], begin[k]))
                continue;
            while (to < d.count && !begins(d.line[to], end[k]) && !begins(d.line[to], begin[k]))
                to++;
            for (int times = 0; times <= 2; times += 2) {
                repeat(&d, i, to, times, out);
                expect_refused(out, begin[k], d.line[i]);
            }
        }
}

Test(sass_damage, altered_byte_is_refused_or_makes_another_valid_value)
{
    static char out[SIZE];
    static const char others[] = "0123456789abcdefxRS.,=- \t#Z";
    struct damaged d;
    uint64_t seed = 20261122;
    cut(&d);
    for (size_t i = 0; i < d.count; i++) {
        const char *line = d.line[i];
        bool is_inst = isxdigit((unsigned char)line[0]) && isxdigit((unsigned char)line[3]);
        for (size_t at = 0; line[at] != '\n'; at++)
            for (int n = 0; n < SEEDS; n++) {
                char other = others[(splitmix64(&seed) >> 33) % (sizeof others - 1)];
                bool is_blank = isspace((unsigned char)line[at]);
                bool is_free = is_inst ? !is_count(line, at) : is_free_header(line);
                if (is_free || other == line[at] || (is_blank && isspace((unsigned char)other))
                    || (is_blank && other == '0')) /* "= 01" is "=  1" */
                    continue;
                memcpy(out, d.text, SIZE);
                out[line - d.text + (ptrdiff_t)at] = other;
                char what[80];
                snprintf(what, sizeof what, "'%c' instead of '%c' at %zu", other, line[at], at);
                expect_refused(out, what, line);
            }
    }
}

/* ---- containers ---- */

static size_t put(uint8_t *to, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(number >> 8 * i);
    return bytes;
}

/* The same trace as a .tracez: a part is a warp. *index: where the index lies. */
static size_t container(uint8_t *to, size_t room, size_t *index)
{
    uint64_t place[4];
    size_t at = sizeof header;
    memcpy(to, header, sizeof header); /* and its zero byte */
    at += put(to + at, 0, 4);
    at += put(to + at, 2048, 4);
    for (int w = 0; w < 4; w++) {
        place[w] = at;
        at += put(to + at, 6, 4);
        at += put(to + at, 1, 4);
        size_t size = ZSTD_compress(to + at + 4, room - at - 4, warp, sizeof warp - 2, 3);
        cr_assert(!ZSTD_isError(size));
        put(to + at, size, 4);
        at += 4 + size;
    }
    *index = at;
    at += put(to + at, 2, 4);
    for (int block = 0; block < 2; block++) {
        for (int i = 0; i < 10; i++)
            at += put(to + at, i == 0 ? (uint64_t)block : 0, 4);
        at += put(to + at, 2, 4);
        for (int w = 0; w < 2; w++) {
            at += put(to + at, 6, 4);
            at += put(to + at, 1, 4);
            at += put(to + at, place[2 * block + w], 8);
            at += put(to + at, 6, 4);
        }
    }
    return at + put(to + at, *index, 8);
}

Test(sass_damage, container_is_whole_and_each_cut_of_it_is_refused)
{
    static uint8_t bytes[SIZE];
    size_t index, size = container(bytes, SIZE, &index);
    struct heard h = read_bytes(bytes, size);
    cr_assert(!h.errors && !h.warnings, "%s", h.first);
    for (size_t cut_at = 0; cut_at < size; cut_at++) {
        h = read_bytes(bytes, cut_at);
        cr_expect(h.errors, "cut to %zu of %zu bytes", cut_at, size);
    }
}

/* Numbers of clusters may change. The rest of the index, and the counts in front of data, may not.
 */
Test(sass_damage, altered_byte_of_an_index_is_refused)
{
    static uint8_t bytes[SIZE];
    size_t index, size = container(bytes, SIZE, &index);
    for (size_t at = index; at < size; at++) {
        size_t in_block = at < index + 4 ? 0 : (at - index - 4) % 84;
        if (in_block >= 12 && in_block < 40 && at < size - 8)
            continue;
        bytes[at] ^= 0x41;
        struct heard h = read_bytes(bytes, size);
        cr_expect(h.errors, "byte %zu of the index", at - index);
        bytes[at] ^= 0x41;
    }
}
