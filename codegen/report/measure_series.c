/* See measure_series.h. An interval becomes statistics of its own, which measure_run() reads as it
 * reads those of a run: so there is one set of rules. */
#define _GNU_SOURCE /* getline */
#include "codegen/report/measure_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/emit/intern.h"
#include "codegen/report/measure_group.h"
#include "codegen/report/statistics_make.h"
#include "codegen/report/statistics_read.h"
#include "codegen/views/params_value.h"

#define INTERVALS (MEASURE_SERIES_MOST + 1)

/* Where a column stands in statistics: root[section][path][name], and below that [inner]. */
struct column {
    const char *section, *path, *name, *inner; /* inner: NULL, or as in "forward" "bytes" */
};

/* A counter that was asked for by name: what it grew by, a cycle of all its elements; of an average
 * or a histogram its sum, of its count. */
struct counted {
    struct measure_named what;
    const char *name;
    uint32_t elements, domain;
    uint64_t part[INTERVALS], whole[INTERVALS];
};

struct interval {
    uint64_t from_ps, to_ps;
};

struct series {
    struct arena *arena;
    const struct model *model;
    json_t *root;
    const char *path;
    struct intern known; /* names of columns, as indices of `all` */
    VECTOR(struct column) all;
    VECTOR(uint32_t) columns; /* of the file, as indices of `all` */
    uint64_t *sums;           /* of the interval that is being read, as `all` */
    VECTOR(struct counted) counted;
    VECTOR(struct interval) intervals;
    uint64_t (*grown)[INTERVALS]; /* by interval, of columns that are asked for, as `all` */
    uint32_t *counted_of;         /* 1 + counted, as `all`; 0: not asked for */
    struct measure_groups groups;
    char *line;
    size_t room;
    FILE *in, *out;
};

/* ---- columns ---- */

static void know(struct series *s, const char *section, const char *path, const char *name,
                 const char *inner)
{
    const char *text = inner ? arena_printf(s->arena, "%s.%s.%s", path, name, inner)
                             : arena_printf(s->arena, "%s.%s", path, name);
    intern_add(&s->known, text, s->all.count);
    vector_push(s->arena, &s->all, ((struct column){section, path, name, inner}));
}

static void know_section(struct series *s, const char *section)
{
    const char *path, *name, *inner;
    json_t *place, *value, *number;
    json_object_foreach(json_object_get(s->root, section), path, place)
    {
        json_object_foreach(place, name, value)
        {
            if (json_is_integer(value))
                know(s, section, path, name, NULL);
            json_object_foreach(value, inner, number) if (json_is_integer(number))
                know(s, section, path, name, inner);
        }
    }
}

static bool complain(const struct series *s, const char *what)
{
    fprintf(stderr, "heddle stats: '%s' %s\n", s->path, what);
    return false;
}

/* The next field of a line of CSV, which it ends; NULL: there is none. */
static char *next_field(char **at)
{
    char *field = *at, *to = field, *from = field;
    if (!field)
        return NULL;
    if (*from == '"') {
        for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
            from += *from == '"';
            *to++ = *from;
        }
        from += *from == '"';
    } else {
        while (*from && *from != ',')
            *to++ = *from++;
    }
    *at = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return field;
}

static bool read_line(struct series *s)
{
    ssize_t length = getline(&s->line, &s->room, s->in);
    if (length > 0 && s->line[length - 1] == '\n')
        s->line[length - 1] = '\0';
    return length > 0;
}

static bool read_head(struct series *s)
{
    char *at = read_line(s) ? s->line : NULL, *field;
    const char *from = next_field(&at), *to = next_field(&at);
    if (!from || !to || strcmp(from, "from_ps") != 0 || strcmp(to, "to_ps") != 0)
        return complain(s, "is not what `heddle run --series` writes");
    while ((field = next_field(&at))) {
        const struct intern_entry *known = intern_find(&s->known, field);
        if (!known)
            return complain(
                s,
                arena_printf(s->arena, "is not of this run: its statistics have no '%s'", field));
        vector_push(s->arena, &s->columns, known->value);
    }
    s->sums = arena_alloc(s->arena, (s->all.count + 1) * sizeof *s->sums);
    return true;
}

/* ---- intervals ---- */

static json_t *make_statistics(const struct series *s, uint64_t from_ps, uint64_t to_ps)
{
    json_t *root = statistics_make(s->model, to_ps - from_ps);
    for (uint32_t i = 0; i < s->all.count; i++) {
        const struct column *c = &s->all.items[i];
        json_t *place = statistics_below(statistics_below(root, c->section), c->path);
        place = c->inner ? statistics_below(place, c->name) : place;
        json_object_set_new(place, c->inner ? c->inner : c->name,
                            json_integer((json_int_t)s->sums[i]));
    }
    return root;
}

static void print_group(const struct series *s, const struct measure_group *g, uint64_t from_ps,
                        uint64_t to_ps)
{
    for (unsigned k = 0; k < MODEL_MEASURE_COUNT; k++) {
        if (g->whole[k] <= 0)
            continue;
        fprintf(s->out, "%llu,%llu,", (unsigned long long)from_ps, (unsigned long long)to_ps);
        measure_print_named(&g->what, s->out);
        fprintf(s->out, "%s,%.17g,%.17g,%.6g\n", model_measure_names[k], g->part[k], g->whole[k],
                g->most[k]);
    }
}

static uint64_t cycles_of(const struct series *s, uint32_t domain, const struct interval *i)
{
    return statistics_cycles(s->model, domain, i->to_ps - i->from_ps);
}

/* A component may count a span of cycles when that ends: what does not fit into the interval was
 * before it. */
static void spread_back(const struct series *s, const struct counted *c, uint64_t *grown)
{
    for (uint32_t i = s->intervals.count; i-- > 1;) {
        uint64_t most = cycles_of(s, c->domain, &s->intervals.items[i]);
        if (grown[i] <= most)
            continue;
        grown[i - 1] += grown[i] - most;
        grown[i] = most;
    }
}

static bool counts_cycles(const char *name)
{
    size_t length = strlen(name);
    return length >= 6 && strcmp(name + length - 6, "cycles") == 0;
}

static void add_counted(struct series *s)
{
    for (uint32_t i = 0; i < s->all.count; i++) {
        if (!s->counted_of[i])
            continue;
        struct counted *c = &s->counted.items[s->counted_of[i] - 1];
        const char *inner = s->all.items[i].inner;
        if (!inner && counts_cycles(c->name))
            spread_back(s, c, s->grown[i]);
        for (uint32_t k = 0; k < s->intervals.count; k++)
            *(inner && strcmp(inner, "count") == 0 ? &c->whole[k] : &c->part[k]) += s->grown[i][k];
    }
}

static void print_counted(struct series *s)
{
    add_counted(s);
    for (uint32_t n = 0; n < s->counted.count; n++) {
        const struct counted *c = &s->counted.items[n];
        for (uint32_t i = 0; i < s->intervals.count; i++) {
            const struct interval *at = &s->intervals.items[i];
            uint64_t cycles = cycles_of(s, c->domain, at) * c->elements;
            fprintf(s->out, "%llu,%llu,", (unsigned long long)at->from_ps,
                    (unsigned long long)at->to_ps);
            measure_print_named(&c->what, s->out);
            fprintf(s->out, "%s,%llu,%llu,0\n", c->name, (unsigned long long)c->part[i],
                    (unsigned long long)(c->elements ? cycles : c->whole[i]));
        }
    }
}

static void print_interval(struct series *s, uint64_t from_ps, uint64_t to_ps)
{
    struct arena arena;
    struct measured m;
    json_t *root = make_statistics(s, from_ps, to_ps);
    arena_init(&arena);
    measure_run(&m, &arena, s->model, root);
    measure_groups_set(&s->groups, &m);
    for (uint32_t i = 0; i < s->groups.list.count; i++)
        print_group(s, &s->groups.list.items[i], from_ps, to_ps);
    arena_release(&arena);
    json_decref(root);
    for (uint32_t i = 0; i < s->all.count; i++)
        if (s->counted_of[i])
            s->grown[i][s->intervals.count] = s->sums[i];
    vector_push(s->arena, &s->intervals, ((struct interval){from_ps, to_ps}));
    memset(s->sums, 0, s->all.count * sizeof *s->sums);
}

/* Adds a row to the sums. */
static bool read_row(struct series *s, uint64_t *from_ps, uint64_t *to_ps)
{
    char *at = s->line;
    for (uint32_t i = 0; i < s->columns.count + 2; i++) {
        const char *field = next_field(&at);
        char *end = NULL;
        errno = 0;
        uint64_t value = field ? strtoull(field, &end, 10) : 0;
        if (!field || end == field || *end || errno)
            return complain(s, "has a row that is no row of numbers");
        if (i < 2)
            *(i ? to_ps : from_ps) = value;
        else
            s->sums[s->columns.items[i - 2]] += value;
    }
    return at || *from_ps >= *to_ps ? complain(s, "has a row that does not fit its head") : true;
}

/* How many rows are put together. */
static uint64_t rows_together(struct series *s)
{
    uint64_t rows = 0;
    long start = ftell(s->in);
    while (read_line(s))
        rows++;
    fseek(s->in, start, SEEK_SET);
    return (rows + MEASURE_SERIES_MOST - 1) / MEASURE_SERIES_MOST;
}

static bool read_rows(struct series *s)
{
    uint64_t together = rows_together(s), held = 0, first_ps = 0, from_ps = 0, to_ps = 0;
    while (read_line(s)) {
        if (!read_row(s, &from_ps, &to_ps))
            return false;
        first_ps = held++ ? first_ps : from_ps;
        if (held < together)
            continue;
        print_interval(s, first_ps, to_ps);
        held = 0;
    }
    if (held)
        print_interval(s, first_ps, to_ps);
    return true;
}

/* ---- counters ---- */

/* Columns of the counters that are asked for, put together by place. */
static void find_counted(struct series *s, const char *name)
{
    struct intern index, places;
    intern_init(&index, s->arena);
    intern_init(&places, s->arena);
    for (uint32_t i = 0; i < s->model->instance_count + s->model->part_count; i++)
        intern_add(&places, measure_name(s->model, i).path, i);
    for (uint32_t i = 0; i < s->all.count; i++) {
        const struct column *c = &s->all.items[i];
        const struct intern_entry *place = intern_find(&places, c->path);
        if (strcmp(c->name, name) != 0 || strcmp(c->section, "components") != 0 || !place
            || (c->inner && strcmp(c->inner, "count") != 0 && strcmp(c->inner, "sum") != 0))
            continue;
        struct measure_named what = measure_name(s->model, place->value);
        what.path = params_collapse(s->arena, what.path);
        const struct intern_entry *known = intern_find(&index, what.path);
        if (!known) {
            intern_add(&index, what.path, s->counted.count);
            vector_push(s->arena, &s->counted,
                        ((struct counted){.what = what,
                                          .name = name,
                                          .domain = place->value < s->model->instance_count
                                                        ? s->model->instances[place->value]->domain
                                                        : 0}));
        }
        uint32_t number = known ? known->value : s->counted.count - 1;
        s->counted.items[number].elements += c->inner == NULL;
        s->counted_of[i] = number + 1;
    }
}

bool measure_series_print(struct arena *arena, const struct model *model, json_t *root,
                          const struct measure_series_asked *asked, FILE *in, FILE *out)
{
    struct series s = {
        .arena = arena, .model = model, .root = root, .path = asked->path, .in = in, .out = out};
    intern_init(&s.known, arena);
    know_section(&s, "components");
    know_section(&s, "connections");
    know_section(&s, "links");
    bool good = read_head(&s);
    if (good) {
        measure_groups_open(&s.groups, arena, model);
        s.counted_of = arena_alloc(arena, (s.all.count + 1) * sizeof *s.counted_of);
        for (size_t i = 0; i < asked->counter_count; i++)
            find_counted(&s, asked->counters[i]);
        fputs("from_ps,to_ps,path,type,kind,measure,part,whole,most\n", out);
        s.grown =
            arena_alloc(arena, (asked->counter_count ? s.all.count + 1 : 1) * sizeof *s.grown);
        good = read_rows(&s);
        if (good)
            print_counted(&s);
    }
    free(s.line);
    return good;
}
