/* `heddle params --json`: every setting of a platform with its value, where the value comes from,
 * and what it means. Python makes a table of it (python/heddle/pages/params.py).
 *
 * Elements of an array with the same value from the same place are one row, with [*] for the index.
 * A row is a run of instances (or parts) of one collapsed path; runs differ only when elements were
 * set apart. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/region.h"
#include "dsl/origin.h"

#include "json_from_text.h"
#include "json_types.h"
#include "params_slots.h"
#include "params_value.h"
#include "view.h"

struct row {
    const char *path;      /* the first member's path */
    const char *collapsed; /* with [*] for each index */
    uint32_t members;
    uint32_t group; /* members of the whole collapsed path */
    const struct model_param *param;
};

struct table {
    struct region *region;
    VECTOR(struct row) rows;
    const struct model *model;
    struct params_slots slots;
};

/* Elements of an array may have declarations of their own: a clock's. */
static bool same_decl(const struct model_param_decl *a, const struct model_param_decl *b)
{
    return a->place.line == b->place.line && a->place.column == b->place.column
           && strcmp(a->name, b->name) == 0;
}

static bool same_source(const struct model_param *a, const struct model_param *b)
{
    return same_decl(a->decl, b->decl) && a->source == b->source && a->place.line == b->place.line
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
    vector_push(t->region, &t->rows, row);
}

/* Counts all members of the row's parameter. Fewer in the row means that it holds for some elements
 * only. */
static void count_groups(struct table *t)
{
    for (uint32_t i = 0; i < t->rows.count; i++)
        for (uint32_t k = 0; k < t->rows.count; k++)
            if (same_decl(t->rows.items[i].param->decl, t->rows.items[k].param->decl)
                && strcmp(t->rows.items[i].collapsed, t->rows.items[k].collapsed) == 0)
                t->rows.items[i].group += t->rows.items[k].members;
}

/* A link that connections go over by that name gets its two rows, once. */
static void add_link(struct table *t, const struct model *m, const struct model_link_type *link)
{
    bool used = false;
    for (uint32_t i = 0; i < t->rows.count; i++)
        if (strcmp(t->rows.items[i].path, link->name) == 0)
            return;
    for (uint32_t i = 0; !used && i < m->connection_count; i++)
        used = m->connections[i]->link && strcmp(m->connections[i]->link->name, link->name) == 0;
    for (int i = 0; used && i < 2; i++)
        add_param(t, link->name, link->name, &link->settings[i]);
}

static void collect_plain(struct table *t, const struct model *m)
{
    for (uint32_t i = 0; i < m->domain_count; i++)
        if (m->domains[i].path)
            add_param(t, m->domains[i].path, params_collapse(t->region, m->domains[i].path),
                      &m->domains[i].setting);
    for (uint32_t i = 0; i < m->link_count; i++)
        add_link(t, m, m->links[i]);
    for (uint32_t i = 0; i < m->wire_count; i++)
        add_link(t, m, m->wires[i].link);
}

static void collect(struct table *t, const struct model *m)
{
    collect_plain(t, m);
    for (uint32_t i = 0; i < m->instance_count; i++) {
        const struct model_instance *instance = m->instances[i];
        const char *collapsed = params_collapse(t->region, instance->path);
        for (uint32_t p = 0; p < instance->param_count; p++)
            add_param(t, instance->path, collapsed, &instance->params[p]);
    }
    for (uint32_t i = 0; i < m->part_count; i++) {
        const char *collapsed = params_collapse(t->region, m->parts[i]->path);
        for (uint32_t p = 0; p < m->parts[i]->param_count; p++)
            add_param(t, m->parts[i]->path, collapsed, &m->parts[i]->params[p]);
    }
    count_groups(t);
    params_slots_collect(&t->slots, t->region, m, params_collapse);
}

/* "gpu.l2[*].size"; a row that is not all of its group names its first element and how many more.
 */
static const char *row_path(struct region *region, const struct row *row)
{
    bool all = row->members == row->group;
    const char *owner = all ? row->collapsed : row->path;
    const char *dot = *owner ? "." : "";
    if (all || row->members == 1)
        return region_printf(region, "%s%s%s", owner, dot, row->param->decl->name);
    return region_printf(region, "%s%s%s (and %" PRIu32 " more)", owner, dot,
                         row->param->decl->name, row->members - 1);
}

/* The basis of a value, and the comment that names it. */
struct basis {
    const char *name;   /* "measured", "derived", "override" */
    const char *source; /* one line; "" where there is none */
};

/* On one line. */
static const char *unfold(struct region *region, const char *text)
{
    char *line = region_strdup(region, text);
    for (char *at = line; *at; at++)
        if (*at == '\n')
            *at = ' ';
    return line;
}

/* The origin of a number in a comment (dsl/origin.h). A value that follows from others is derived
 * from them, unless a comment says more. */
static struct basis row_basis(struct region *region, const struct row *row)
{
    const struct model_param *p = row->param;
    if (p->source == MODEL_FROM_LET)
        return (struct basis){"derived", "from the parameters beside it"};
    if (p->source == MODEL_FROM_OVERRIDE)
        return (struct basis){"override", "--set"};
    struct origin origin = origin_in(p->doc);
    if (origin.kind == ORIGIN_UNSTATED && p->is_computed)
        return (struct basis){"derived", "from other parameters"};
    return (struct basis){origin_name(origin.kind), unfold(region, origin.source)};
}

static json_t *place_json(struct region *region, const struct model_place *place)
{
    return json_from_text(region_printf(region, "%s:%u:%u", place->file ? place->file : "",
                                        place->line, place->column));
}

static bool write_json(const struct table *t, FILE *out)
{
    char buffer[PARAMS_VALUE_MAX];
    json_t *all = json_array();
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct row *row = &t->rows.items[i];
        const struct model_param *p = row->param;
        struct basis basis = row_basis(t->region, row);
        json_t *one = json_pack(
            "{s:s, s:I, s:o, s:I, s:s, s:s, s:s, s:o, s:o, s:o}", "parameter",
            row_path(t->region, row), "members", (json_int_t)row->members, "value",
            json_from_text(params_value_text(&p->value, buffer)), "number",
            (json_int_t)p->value.integer, "unit", params_dimension_name(p->value.dimension),
            "source", params_source_name(p->source), "basis", basis.name, "said_by",
            json_from_text(basis.source), "range", json_from_text(p->decl->range_text), "doc",
            json_from_text(p->decl->doc));
        if (p->decl->choice)
            json_object_set_new(one, "choices", json_choices(p->decl->choice));
        if (p->place.file)
            json_object_set_new(one, "place", place_json(t->region, &p->place));
        json_array_append_new(all, one);
    }
    for (uint32_t i = 0; i < t->slots.rows.count; i++) {
        const struct params_slot *slot = &t->slots.rows.items[i];
        json_array_append_new(
            all, json_pack("{s:s, s:I, s:s, s:s, s:s, s:b, s:o, s:o, s:o}", "parameter", slot->path,
                           "members", (json_int_t)slot->members, "value", slot->part, "unit",
                           "part", "source", "slot", "optional", slot->decl->is_optional, "takes",
                           params_slot_takes(t->model, slot->decl), "doc",
                           json_from_text(slot->decl->doc), "place",
                           place_json(t->region, &slot->decl->place)));
    }
    bool ok = json_dumpf(all, out, JSON_INDENT(1)) == 0 && putc('\n', out) != EOF;
    json_decref(all);
    return ok;
}

bool view_params(const struct model *model, FILE *out, struct view_error *error)
{
    struct region region;
    region_init(&region, "a description");
    struct table table = {.region = &region, .model = model};
    collect(&table, model);
    bool ok = write_json(&table, out);
    if (!ok)
        snprintf(error->text, sizeof error->text, "cannot write the parameters of platform '%s'",
                 model->name);
    region_release(&region);
    return ok;
}
