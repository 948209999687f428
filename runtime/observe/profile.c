/* Profiles of instructions. The programs of a component are a list, as a run has few. */
#include "profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/hash_table.h"
#include "base/number.h"
#include "runtime/engine/options.h"
#include "runtime/engine/output_file.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"
#include "runtime/state/platform.h"

struct program {
    uint32_t id, device;
    uint64_t entry;
    char *name, *symbol;
};

struct place {
    struct hash_table rows;
    struct program *programs;
    uint32_t program_count;
    size_t program_capacity;
};

static const struct hash_kind row_kind = HASH_KIND(struct profile_row, program, "a profile");

/* A row as it is written: of all components. */
struct line {
    const char *program, *symbol;
    uint32_t device;
    int64_t offset;
    const char *text;
    uint64_t count[PROFILE_COUNTS];
};

static struct {
    const char *path; /* NULL: no profile is written */
    struct place *places;
    uint32_t place_count;
    const char *heading; /* of the first column */
    const char *const *names;
    uint32_t name_count;
    struct line *foreign_lines; /* lines from other ranks; their texts are copies */
    uint32_t foreign_count;
    size_t foreign_capacity;
} profile = {.heading = "program"};

static void forget_foreign_lines(void)
{
    for (uint32_t i = 0; i < profile.foreign_count; i++) {
        free((void *)(uintptr_t)profile.foreign_lines[i].program);
        free((void *)(uintptr_t)profile.foreign_lines[i].symbol);
        free((void *)(uintptr_t)profile.foreign_lines[i].text);
    }
    free(profile.foreign_lines);
    profile.foreign_lines = NULL;
    profile.foreign_count = 0;
    profile.foreign_capacity = 0;
}

bool profile_is_wanted(void)
{
    return profile.path != NULL;
}

void profile_name_columns(const char *first, const char *const *column_names, uint32_t count)
{
    /* From any thread, always the same. */
    __atomic_store_n(&profile.heading, first, __ATOMIC_RELAXED);
    __atomic_store_n(&profile.names, column_names, __ATOMIC_RELAXED);
    __atomic_store_n(&profile.name_count, min(count, PROFILE_COUNTS), __ATOMIC_RELAXED);
}

static struct program *find_program(const struct place *p, uint32_t id)
{
    for (uint32_t i = 0; i < p->program_count; i++)
        if (p->programs[i].id == id)
            return &p->programs[i];
    return NULL;
}

/* Named by the component itself, or by another one for it. */
static const struct program *program_of(const struct place *p, uint32_t id)
{
    const struct program *program = find_program(p, id);
    for (uint32_t i = 0; !program && i < profile.place_count; i++)
        program = find_program(&profile.places[i], id);
    return program;
}

void profile_name_program(uint32_t leaf, uint32_t program, const char *name, const char *symbol,
                          uint32_t device, uint64_t entry)
{
    struct place *p = &profile.places[leaf];
    if (find_program(p, program))
        return;
    grow_list(p->programs, p->program_count + 1, p->program_capacity, "a profile");
    p->programs[p->program_count++] = (struct program){
        program, device, entry, grow_text(name, "a profile"), grow_text(symbol, "a profile")};
}

struct profile_row *profile_row(uint32_t leaf, uint32_t program, uint64_t address)
{
    const uint64_t key[] = {address, program};
    return hash_table_add(&profile.places[leaf].rows, &row_kind, key);
}

static int by_place(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = strcmp(x->program, y->program);
    if (!order)
        order = (x->device > y->device) - (x->device < y->device);
    return order ? order : x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* All rows, sorted; those of the same instruction added up. */
static struct line *gather(uint32_t *count)
{
    uint32_t total = profile.foreign_count, line_count = 0;
    for (uint32_t i = 0; i < profile.place_count; i++)
        total += (uint32_t)profile.places[i].rows.count;
    struct line *lines = grow_zeroed((total + 1) * sizeof *lines, "a profile");
    total = profile.foreign_count;
    if (total)
        memcpy(lines, profile.foreign_lines, total * sizeof *lines);
    for (uint32_t i = 0; i < profile.place_count; i++) {
        const struct profile_row *row;
        for (size_t at = 0; (row = hash_table_next(&profile.places[i].rows, &row_kind, &at));) {
            const struct program *program = program_of(&profile.places[i], (uint32_t)row->program);
            struct line *line = &lines[total++];
            *line = (struct line){"", "", 0, (int64_t)row->address, row->text, {0}};
            if (program) {
                line->program = program->name;
                line->symbol = program->symbol;
                line->device = program->device;
                line->offset -= (int64_t)program->entry;
            }
            memcpy(line->count, row->count, sizeof row->count);
        }
    }
    qsort(lines, total, sizeof *lines, by_place);
    for (uint32_t i = 0; i < total; i++) {
        if (!line_count || by_place(&lines[line_count - 1], &lines[i]) != 0) {
            lines[line_count++] = lines[i];
            continue;
        }
        if (!lines[line_count - 1].text[0])
            lines[line_count - 1].text = lines[i].text;
        for (uint32_t k = 0; k < PROFILE_COUNTS; k++)
            lines[line_count - 1].count[k] += lines[i].count[k];
    }
    *count = line_count;
    return lines;
}

/* ---- several ranks ---- */

static void encode(uint32_t to, uint64_t end_ps)
{
    uint32_t count;
    (void)end_ps;
    struct line *lines = gather(&count);
    rank_put_text(to, profile.heading);
    rank_put(to, &profile.name_count, sizeof profile.name_count);
    for (uint32_t i = 0; i < profile.name_count; i++)
        rank_put_text(to, profile.names[i]);
    for (uint32_t i = 0; i < count; i++) {
        rank_put_text(to, lines[i].program);
        rank_put_text(to, lines[i].symbol);
        rank_put_text(to, lines[i].text);
        rank_put(to, &lines[i].device, sizeof lines[i].device);
        rank_put(to, &lines[i].offset, sizeof lines[i].offset);
        rank_put(to, lines[i].count, sizeof lines[i].count);
    }
    free(lines);
}

static char *read_text(struct rank_reader *from)
{
    return grow_text(rank_read_text(from), "a profile");
}

/* Names of the columns, from another rank if nothing was counted here. */
static void read_columns(struct rank_reader *from)
{
    static char first[64], texts[PROFILE_COUNTS][64];
    static const char *copies[PROFILE_COUNTS];
    uint32_t count;
    snprintf(first, sizeof first, "%s", rank_read_text(from));
    memcpy(&count, rank_read(from, sizeof count), sizeof count);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "%s", rank_read_text(from));
        copies[i] = texts[i];
    }
    if (count && !profile.name_count)
        profile_name_columns(first, copies, count);
}

static void merge(struct rank_reader *from)
{
    read_columns(from);
    while (from->left) {
        grow_list(profile.foreign_lines, profile.foreign_count + 1, profile.foreign_capacity,
                  "a profile");
        struct line *l = &profile.foreign_lines[profile.foreign_count++];
        l->program = read_text(from);
        l->symbol = read_text(from);
        l->text = read_text(from);
        memcpy(&l->device, rank_read(from, sizeof l->device), sizeof l->device);
        memcpy(&l->offset, rank_read(from, sizeof l->offset), sizeof l->offset);
        memcpy(l->count, rank_read(from, sizeof l->count), sizeof l->count);
    }
}

/* ---- the file ---- */

static void write_text(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void write_lines(FILE *out)
{
    uint32_t count;
    struct line *lines = gather(&count);
    fprintf(out, "%s,device,symbol,offset,instruction", profile.heading);
    for (uint32_t i = 0; i < profile.name_count; i++)
        fprintf(out, ",%s", profile.names[i]);
    putc('\n', out);
    for (uint32_t i = 0; i < count; i++) {
        write_text(out, lines[i].program);
        fprintf(out, ",%" PRIu32 ",", lines[i].device);
        write_text(out, lines[i].symbol);
        fprintf(out, ",%" PRId64 ",", lines[i].offset);
        write_text(out, lines[i].text);
        for (uint32_t k = 0; k < profile.name_count; k++)
            fprintf(out, ",%" PRIu64, lines[i].count[k]);
        putc('\n', out);
    }
    free(lines);
}

bool profile_write(void)
{
    struct output_file file;
    if (!profile.path)
        return true;
    bool open = output_file_open(&file, profile.path);
    FILE *out = open ? fdopen(dup(file.fd), "w") : NULL;
    if (out) {
        write_lines(out);
        bool is_complete = !ferror(out);
        if (fclose(out) == 0 && is_complete && output_file_publish(&file))
            return true;
    } else if (open) {
        output_file_discard(&file);
    }
    fprintf(stderr, "heddle: cannot write the profile to '%s': %s\n", profile.path,
            strerror(errno));
    return false;
}

void profile_open(const struct platform_table *table)
{
    static const struct rank_channel channel = {
        .times = RANK_CHANNEL_END, .encode = encode, .merge = merge};
    for (uint32_t i = 0; i < profile.place_count; i++) {
        for (uint32_t k = 0; k < profile.places[i].program_count; k++) {
            free(profile.places[i].programs[k].name);
            free(profile.places[i].programs[k].symbol);
        }
        free(profile.places[i].programs);
        hash_table_release(&profile.places[i].rows);
    }
    free(profile.places);
    forget_foreign_lines();
    profile.path = option_file("profile instructions");
    if (profile.path)
        rank_channel_register(&channel);
    profile.place_count = profile.path ? table->instance_count : 0;
    profile.places = profile.path
                         ? grow_zeroed(profile.place_count * sizeof *profile.places, "a profile")
                         : NULL;
}
