/* See profile_print.h. The file is our own, so its quoting is that of profile.c: texts in quotes,
 * quotes in them doubled. Counts called GROUP.KIND are slot-cycles. */
#include "codegen/command/profile_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST 64
#define CAUSES       3 /* named beside an instruction */

struct instruction {
    const char *kernel, *symbol, *text;
    int64_t offset;
    uint64_t count[COLUMNS_MOST];
    uint64_t cycles;
};

struct profile {
    struct arena *arena;
    const struct profile_source *source;
    const char *names[COLUMNS_MOST]; /* of counts */
    uint32_t columns;
    VECTOR(struct instruction) instructions;
};

/* The next field of a line, without its quotes; *at is then behind its comma. */
static const char *next_field(struct arena *arena, char **at)
{
    char *from = *at, *text = arena_alloc(arena, strlen(from) + 1), *to = text;
    bool quoted = *from == '"';
    from += quoted;
    while (*from && (quoted || (*from != ',' && *from != '\n'))) {
        if (quoted && *from == '"' && *++from != '"')
            break;
        *to++ = *from++;
    }
    *to = '\0';
    *at = from + (*from == ',');
    return text;
}

static bool is_cycles(const char *name)
{
    return strchr(name, '.') != NULL;
}

static void read_names(struct profile *p, char *line)
{
    for (int i = 0; i < 4; i++) /* kernel, symbol, offset, instruction */
        next_field(p->arena, &line);
    while (*line && *line != '\n' && p->columns < COLUMNS_MOST)
        p->names[p->columns++] = next_field(p->arena, &line);
}

static void read_instruction(struct profile *p, char *line)
{
    struct instruction i = {.kernel = next_field(p->arena, &line)};
    i.symbol = next_field(p->arena, &line);
    i.offset = strtoll(next_field(p->arena, &line), NULL, 10);
    i.text = next_field(p->arena, &line);
    for (uint32_t k = 0; k < p->columns; k++) {
        i.count[k] = strtoull(next_field(p->arena, &line), NULL, 10);
        i.cycles += is_cycles(p->names[k]) ? i.count[k] : 0;
    }
    vector_push(p->arena, &p->instructions, i);
}

static uint64_t count_of(const struct profile *p, const struct instruction *i, const char *name)
{
    for (uint32_t k = 0; k < p->columns; k++)
        if (strcmp(p->names[k], name) == 0)
            return i->count[k];
    return 0;
}

static double per_cent(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole * 100 : 0;
}

/* What most of the instruction's cycles went to. */
static void print_causes(const struct profile *p, const struct instruction *i, FILE *out)
{
    bool told[COLUMNS_MOST] = {false};
    for (unsigned n = 0; n < CAUSES; n++) {
        uint32_t most = p->columns;
        for (uint32_t k = 0; k < p->columns; k++)
            if (is_cycles(p->names[k]) && !told[k] && i->count[k]
                && (most == p->columns || i->count[k] > i->count[most]))
                most = k;
        if (most == p->columns || per_cent(i->count[most], i->cycles) < 5)
            return;
        told[most] = true;
        fprintf(out, "%s%s %.0f %%", n ? ", " : "  ; ", p->names[most],
                per_cent(i->count[most], i->cycles));
    }
}

/* "38+3 %": of the requests to the caches of a level, those that hit, and those that another one
 * had asked below for. */
static void print_hits(const struct profile *p, const struct instruction *i, const char *level,
                       char *to, size_t size)
{
    char name[24];
    uint64_t count[3], all = 0;
    static const char *const kinds[] = {"hits", "merged", "misses"};
    for (size_t k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "%s_%s", level, kinds[k]);
        all += count[k] = count_of(p, i, name);
    }
    *to = '\0';
    if (all)
        snprintf(to, size, "%.0f+%.0f %%", per_cent(count[0], all), per_cent(count[1], all));
}

static void print_instruction(const struct profile *p, const struct instruction *i, uint64_t whole,
                              FILE *out)
{
    uint64_t executions = count_of(p, i, "executions"), lines = count_of(p, i, "lines");
    char memory[40] = "", hits[2][24];
    if (lines && executions)
        snprintf(memory, sizeof memory, "%.1f / %.0f", (double)lines / (double)executions,
                 (double)count_of(p, i, "memory_cycles") / (double)executions);
    print_hits(p, i, "l1", hits[0], sizeof hits[0]);
    print_hits(p, i, "l2", hits[1], sizeof hits[1]);
    fprintf(out, "  %6s0x%04" PRIx64 " %10" PRIu64 " %12" PRIu64 " %5.1f %% %12s %7s %7s  %-44s",
            i->offset < 0 ? "-" : "+", (uint64_t)(i->offset < 0 ? -i->offset : i->offset),
            executions, i->cycles, per_cent(i->cycles, whole), memory, hits[0], hits[1], i->text);
    print_causes(p, i, out);
    const char *place = p->source ? p->source->line_of(p->source, i->symbol, i->offset) : "";
    fprintf(out, "%s%s\n", *place ? "  ; " : "", place);
}

static uint32_t print_kernel(const struct profile *p, uint32_t first, FILE *out)
{
    uint64_t whole = 0, executions = 0;
    uint32_t end = first;
    const char *kernel = p->instructions.items[first].kernel;
    for (; end < p->instructions.count && !strcmp(p->instructions.items[end].kernel, kernel);
         end++) {
        whole += p->instructions.items[end].cycles;
        executions += count_of(p, &p->instructions.items[end], "executions");
    }
    fprintf(out,
            "%s\n  %" PRIu64 " instructions executed, %" PRIu64 " slot-cycles of wavefronts\n\n",
            kernel, executions, whole);
    fprintf(out, "  %12s %10s %12s %7s %12s %7s %7s  instruction  ; most of its cycles\n", "offset",
            "executions", "slot-cycles", "of all", "lines / cy", "L1", "L2");
    for (uint32_t i = first; i < end; i++)
        print_instruction(p, &p->instructions.items[i], whole, out);
    fputc('\n', out);
    return end;
}

bool profile_print(struct arena *arena, const char *path, const struct profile_source *source,
                   FILE *out)
{
    struct profile p = {.arena = arena, .source = source};
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    if (!file) {
        fprintf(stderr, "heddle: cannot read the profile '%s': %s\n", path, strerror(errno));
        return false;
    }
    if (getline(&line, &size, file) > 0)
        read_names(&p, line);
    while (getline(&line, &size, file) > 0)
        read_instruction(&p, line);
    free(line);
    fclose(file);
    if (!p.instructions.count)
        fprintf(out, "no kernel ran with timing, so there is no profile of instructions\n");
    for (uint32_t i = 0; i < p.instructions.count;)
        i = print_kernel(&p, i, out);
    return true;
}
