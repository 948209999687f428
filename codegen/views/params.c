/* `heddle params`: every setting of a platform with its value, where the value comes from, and what
 * it means.
 *
 * Elements of an array with the same value from the same place are one row, with [*] for the index.
 * A row is a run of instances (or parts) of one collapsed path; runs differ only when elements were
 * set apart. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "codegen/views/escape.h"
#include "codegen/views/json_text.h"
#include "codegen/views/params_slots.h"
#include "codegen/views/params_value.h"
#include "codegen/views/view.h"
#include "dsl/arena.h"
#include "dsl/origin.h"

struct row {
    const char *path;      /* of the first member */
    const char *collapsed; /* with [*] for each index */
    uint32_t members;
    uint32_t group; /* members of the whole collapsed path */
    const struct model_param *param;
};

struct table {
    struct arena *arena;
    VECTOR(struct row) rows;
    const struct model *model;
    struct params_slots slots;
};

static bool same_source(const struct model_param *a, const struct model_param *b)
{
    return a->decl == b->decl && a->source == b->source && a->place.line == b->place.line
           && a->place.column == b->place.column && params_value_equal(&a->value, &b->value);
}

/* Rows of one owner's type stand between `first` and the end while the path stays the same, so the
 * search is short. */
static void add_param(struct table *t, const char *path, const char *collapsed,
                      const struct model_param *p)
{
    for (uint32_t i = 0; i < t->rows.count; i++) {
        struct row *row = &t->rows.items[i];
        if (strcmp(row->collapsed, collapsed) == 0 && same_source(row->param, p)) {
            row->members++;
            return;
        }
    }
    struct row row = {.path = path, .collapsed = collapsed, .members = 1, .param = p};
    vector_push(t->arena, &t->rows, row);
}

/* How many members the row's parameter has in all: fewer in the row means that it holds for some
 * elements only. */
static void count_groups(struct table *t)
{
    for (uint32_t i = 0; i < t->rows.count; i++)
        for (uint32_t k = 0; k < t->rows.count; k++)
            if (t->rows.items[i].param->decl == t->rows.items[k].param->decl
                && strcmp(t->rows.items[i].collapsed, t->rows.items[k].collapsed) == 0)
                t->rows.items[i].group += t->rows.items[k].members;
}

static void collect(struct table *t, const struct model *m)
{
    for (uint32_t i = 0; i < m->instance_count; i++) {
        const struct model_instance *instance = m->instances[i];
        const char *collapsed = params_collapse(t->arena, instance->path);
        for (uint32_t p = 0; p < instance->param_count; p++)
            add_param(t, instance->path, collapsed, &instance->params[p]);
    }
    for (uint32_t i = 0; i < m->part_count; i++) {
        const char *collapsed = params_collapse(t->arena, m->parts[i]->path);
        for (uint32_t p = 0; p < m->parts[i]->param_count; p++)
            add_param(t, m->parts[i]->path, collapsed, &m->parts[i]->params[p]);
    }
    count_groups(t);
    params_slots_collect(&t->slots, t->arena, m, params_collapse);
}

/* "gpu.l2[*].size"; a row that is not all of its group names its first element and how many more.
 */
static const char *row_path(struct arena *arena, const struct row *row)
{
    bool all = row->members == row->group;
    const char *owner = all ? row->collapsed : row->path;
    const char *dot = *owner ? "." : "";
    if (all || row->members == 1)
        return arena_printf(arena, "%s%s%s", owner, dot, row->param->decl->name);
    return arena_printf(arena, "%s%s%s (and %" PRIu32 " more)", owner, dot, row->param->decl->name,
                        row->members - 1);
}

/* The location of a setting; a default's stands with the type's documentation. */
static const char *row_place(struct arena *arena, const struct row *row)
{
    const struct model_place *place = &row->param->place;
    const char *source = params_source_name(row->param->source);
    if (row->param->source != MODEL_FROM_BODY || !place->file)
        return source;
    const char *slash = strrchr(place->file, '/');
    const char *file = *place->file == '/' && slash ? slash + 1 : place->file;
    return arena_printf(arena, "%s %s:%" PRIu32, source, file, place->line);
}

/* What a value rests on, and what says so. */
struct basis {
    const char *name;   /* "measured", "derived", "override" */
    const char *source; /* one line; "" where there is none */
};

/* On one line. */
static const char *unfold(struct arena *arena, const char *text)
{
    char *line = arena_strdup(arena, text);
    for (char *at = line; *at; at++)
        if (*at == '\n')
            *at = ' ';
    return line;
}

/* What a comment says of a number (dsl/origin.h). What follows from other parameters is derived
 * from them, unless a comment says more. */
static struct basis row_basis(struct arena *arena, const struct row *row)
{
    const struct model_param *p = row->param;
    if (p->source == MODEL_FROM_LET)
        return (struct basis){"derived", "from the parameters beside it"};
    if (p->source == MODEL_FROM_OVERRIDE)
        return (struct basis){"override", "--set"};
    struct origin origin = origin_in(p->doc);
    if (origin.kind == ORIGIN_UNSTATED && p->is_computed)
        return (struct basis){"derived", "from other parameters"};
    return (struct basis){origin_name(origin.kind), unfold(arena, origin.source)};
}

/* Columns of a terminal, which count characters, not bytes. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void pad(FILE *out, const char *text, int width)
{
    fprintf(out, "%s%*s  ", text, width - width_of(text) > 0 ? width - width_of(text) : 0, "");
}

/* The first line of a comment: a table has one line a row. */
static void write_first_line(FILE *out, const char *doc)
{
    fprintf(out, "%.*s\n", (int)strcspn(doc, "\n"), doc);
}

/* The last column says what a number means, or what says so. */
static void write_table(const struct table *t, bool sources, FILE *out)
{
    char buffer[PARAMS_VALUE_MAX];
    int widths[3] = {9, 5, 6};
    const int basis_width = 9;
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct row *row = &t->rows.items[i];
        const char *cells[] = {row_path(t->arena, row),
                               params_value_text(&row->param->value, buffer),
                               row_place(t->arena, row)};
        for (unsigned c = 0; c < 3; c++)
            widths[c] = width_of(cells[c]) > widths[c] ? width_of(cells[c]) : widths[c];
    }
    pad(out, "parameter", widths[0]);
    pad(out, "value", widths[1]);
    pad(out, "source", widths[2]);
    pad(out, "basis", basis_width);
    fputs(sources ? "said by\n" : "meaning\n", out);
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct row *row = &t->rows.items[i];
        pad(out, row_path(t->arena, row), widths[0]);
        pad(out, params_value_text(&row->param->value, buffer), widths[1]);
        pad(out, row_place(t->arena, row), widths[2]);
        struct basis basis = row_basis(t->arena, row);
        pad(out, basis.name, basis_width);
        write_first_line(out, sources ? basis.source : row->param->decl->doc);
    }
    params_slots_write(&t->slots, t->model, out);
}

static void write_csv(const struct table *t, FILE *out)
{
    char buffer[PARAMS_VALUE_MAX];
    fputs("parameter,members,value,number,unit,source,basis,said_by,file,line,doc\n", out);
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct row *row = &t->rows.items[i];
        const struct model_param *p = row->param;
        escape_csv(out, row_path(t->arena, row), ",");
        fprintf(out, "%" PRIu32 ",", row->members);
        escape_csv(out, params_value_text(&p->value, buffer), ",");
        fprintf(out, "%" PRId64 ",", p->value.integer);
        escape_csv(out, params_dimension_name(p->value.dimension), ",");
        escape_csv(out, params_source_name(p->source), ",");
        struct basis basis = row_basis(t->arena, row);
        escape_csv(out, basis.name, ",");
        escape_csv(out, basis.source, ",");
        escape_csv(out, p->place.file ? p->place.file : "", ",");
        fprintf(out, "%" PRIu32 ",", p->place.line);
        escape_csv(out, p->decl->doc, "\n");
    }
    for (uint32_t i = 0; i < t->slots.rows.count; i++) {
        const struct params_slot *slot = &t->slots.rows.items[i];
        escape_csv(out, slot->path, ",");
        fprintf(out, "%" PRIu32 ",", slot->members);
        escape_csv(out, slot->part, ",0,\"part\",\"slot\",\"\",\"\",0,");
        escape_csv(out, params_slot_takes(t->arena, t->model, slot->decl), "\n");
    }
}

static bool write_json(const struct table *t, FILE *out)
{
    char buffer[PARAMS_VALUE_MAX];
    json_t *all = json_array();
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct row *row = &t->rows.items[i];
        const struct model_param *p = row->param;
        struct basis basis = row_basis(t->arena, row);
        json_t *one = json_pack("{s:s, s:I, s:o, s:I, s:s, s:s, s:s, s:o, s:o}", "parameter",
                                row_path(t->arena, row), "members", (json_int_t)row->members,
                                "value", json_text(params_value_text(&p->value, buffer)), "number",
                                (json_int_t)p->value.integer, "unit",
                                params_dimension_name(p->value.dimension), "source",
                                params_source_name(p->source), "basis", basis.name, "said_by",
                                json_text(basis.source), "doc", json_text(p->decl->doc));
        if (p->place.file)
            json_object_set_new(one, "place",
                                json_text(arena_printf(t->arena, "%s:%u:%u", p->place.file,
                                                       p->place.line, p->place.column)));
        json_array_append_new(all, one);
    }
    for (uint32_t i = 0; i < t->slots.rows.count; i++) {
        const struct params_slot *slot = &t->slots.rows.items[i];
        json_array_append_new(
            all, json_pack("{s:s, s:I, s:s, s:s, s:s, s:b, s:o, s:o}", "parameter", slot->path,
                           "members", (json_int_t)slot->members, "value", slot->part, "unit",
                           "part", "source", "slot", "optional", slot->decl->optional, "takes",
                           params_slot_takes_json(t->model, slot->decl), "doc",
                           json_text(slot->decl->doc)));
    }
    bool good = json_dumpf(all, out, JSON_INDENT(1)) == 0 && putc('\n', out) != EOF;
    json_decref(all);
    return good;
}

bool view_params(const struct model *model, enum view_params_format format, FILE *out,
                 struct view_error *error)
{
    struct arena arena;
    arena_init(&arena);
    struct table table = {.arena = &arena, .model = model};
    collect(&table, model);
    bool good = true;
    if (format == VIEW_PARAMS_JSON)
        good = write_json(&table, out);
    else if (format == VIEW_PARAMS_CSV)
        write_csv(&table, out);
    else
        write_table(&table, format == VIEW_PARAMS_SOURCES, out);
    if (!good)
        snprintf(error->text, sizeof error->text, "cannot write the parameters of platform '%s'",
                 model->name);
    arena_release(&arena);
    return good && !ferror(out);
}
