/* Keeps lines as they came, one after another, and sorts them by reference. */
#include "itrace_group.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "components/traces/instruction_trace/reader/itrace_input.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"

#include "itrace_output.h"

struct raw_line {
    uint32_t place[4]; /* z, y and x of the block, and the warp */
    size_t at, size;   /* in the text */
};

struct group {
    char *text; /* lines without what is in front, each after the other */
    size_t used, capacity;
    struct raw_line *lines;
    size_t count, line_capacity;
    struct itrace_group_result *result;
};

static bool wrong(struct group *g, uint64_t line, const char *text)
{
    g->result->line = line;
    snprintf(g->result->error, sizeof g->result->error, "%s", text);
    return false;
}

static void keep_line(struct group *g, const char *text, size_t size)
{
    grow_list(g->text, g->used + size, g->capacity, ITRACE_MEMORY);
    memcpy(g->text + g->used, text, size);
    g->used += size;
}

/* [line_num] PC mask: the second or third word is a mask of 32 or 64 lanes. */
static bool has_mask(const char *text)
{
    for (unsigned word = 0; word < 3; word++) {
        size_t digits = strspn(text, "0123456789abcdefABCDEF");
        if (word && (digits == 8 || digits == 16) && text[digits] == ' ')
            return true;
        if (!digits || text[digits] != ' ')
            return false;
        text += digits + 1;
    }
    return false;
}

/* A line that says what is of a later part of the block. */
static bool is_part(const char *text)
{
    return strncmp(text, "part = ", 7) == 0;
}

/* "x y z warp" and what is after them. */
static bool take_line(struct group *g, const char *line, size_t size, uint64_t number)
{
    static const char what[] =
        "no instruction of a raw trace, which begins with the numbers of its "
        "block, x y z, of its warp, and with PC and mask";
    const char *at = line;
    uint32_t value[4];
    for (unsigned i = 0; i < 4; i++) {
        char *end;
        errno = 0;
        unsigned long long one = strtoull(at, &end, 10);
        if (end == at || *end != ' ' || errno || one > UINT32_MAX || *at == '-')
            return wrong(g, number, what);
        value[i] = (uint32_t)one;
        at = end + 1;
    }
    if (!is_part(at) && !has_mask(at))
        return wrong(g, number, what);
    grow_list(g->lines, g->count + 1, g->line_capacity, ITRACE_MEMORY);
    g->lines[g->count++] = (struct raw_line){
        {value[2], value[1], value[0], value[3]}, g->used, size - (size_t)(at - line)};
    keep_line(g, at, size - (size_t)(at - line));
    return true;
}

/* Removes the words for ids that no longer precede lines from the line that describes them. */
static void write_head(FILE *out, const char *line)
{
    static const char format[] = "#traces format = ", front[] = "threadblock_x threadblock_y "
                                                                "threadblock_z warpid_tb ";
    size_t skip = sizeof format - 1, words = sizeof front - 1;
    bool names = !strncmp(line, format, skip) && !strncmp(line + skip, front, words);
    fprintf(out, "%s%s\n", names ? format : "", names ? line + skip + words : line);
}

/* The header ends where a line begins with a digit. */
static bool read_raw(struct group *g, struct itrace_input *input, FILE *out)
{
    char *line;
    size_t size;
    int got;
    while ((got = itrace_input_line(input, &line, &size)) > 0) {
        if (size && line[0] >= '0' && line[0] <= '9') {
            if (!take_line(g, line, size, input->line))
                return false;
        } else if (g->count && size) {
            return wrong(g, input->line,
                         strncmp(line, "thread block", 12) == 0
                             ? "it is grouped by thread block already"
                             : "no instruction of a raw trace");
        } else if (!g->count) {
            if (strncmp(line, "#BEGIN_TB", 9) == 0)
                return wrong(g, input->line, "it is grouped by thread block already");
            write_head(out, line);
        }
    }
    return got == 0 || wrong(g, input->line, input->error);
}

static int by_place(const void *a, const void *b)
{
    const struct raw_line *x = a, *y = b;
    for (unsigned i = 0; i < 4; i++)
        if (x->place[i] != y->place[i])
            return x->place[i] < y->place[i] ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at; /* as they came */
}

static bool same_beginning(const struct raw_line *a, const struct raw_line *b, unsigned count)
{
    return memcmp(a->place, b->place, count * sizeof a->place[0]) == 0;
}

static void write_warp(const struct group *g, FILE *out, size_t first, size_t end)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        count += !is_part(g->text + g->lines[i].at);
    g->result->instructions += count;
    fprintf(out, "\nwarp = %" PRIu32 "\ninsts = %zu\n", g->lines[first].place[3], count);
    for (size_t i = first; i < end; i++) {
        fwrite(g->text + g->lines[i].at, 1, g->lines[i].size, out);
        putc('\n', out);
    }
}

static void write_grouped(const struct group *g, FILE *out)
{
    for (size_t first = 0, end; first < g->count; first = end) {
        const struct raw_line *l = &g->lines[first];
        bool begins = !first || !same_beginning(l, l - 1, 3);
        for (end = first; end < g->count && same_beginning(l, &g->lines[end], 4);)
            end++;
        if (begins) {
            fprintf(out, "#BEGIN_TB\n\nthread block = %" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n",
                    l->place[2], l->place[1], l->place[0]);
            g->result->blocks++;
        }
        write_warp(g, out, first, end);
        if (end == g->count || !same_beginning(l, &g->lines[end], 3))
            fputs("\n#END_TB\n\n", out);
    }
}

bool itrace_group(const char *from, const char *to, struct itrace_group_result *result)
{
    struct itrace_input input;
    struct itrace_output output = {.slot = -1};
    *result = (struct itrace_group_result){0};
    struct group g = {.result = result};
    bool ok = itrace_input_open(&input, from) || wrong(&g, 0, input.error);
    bool written = !ok || itrace_output_open(&output, to);
    ok = ok && written && read_raw(&g, &input, output.file);
    if (ok && !g.count)
        ok = wrong(&g, 0, "it has no instruction");
    if (ok) {
        qsort(g.lines, g.count, sizeof *g.lines, by_place);
        write_grouped(&g, output.file);
        written = itrace_output_commit(&output);
    }
    if (!written)
        snprintf(result->error, sizeof result->error, "'%s' cannot be written: %s", to,
                 strerror(errno));
    itrace_output_abandon(&output);
    itrace_input_close(&input);
    itrace_free(g.lines);
    itrace_free(g.text);
    return ok && written;
}
