/* Shared wires. `NAME[n] : LINK { ... }` in a body declares full-duplex links, connections go over
 * them by `via NAME[...]`. With `shared = false` each connection has wires of its own after all, so
 * that a description can be tried both ways; the rules are the same. Called when the tree is built,
 * when connections are made, and for the model. */
#include <string.h>

#include "elaborate.h"

/* The settings that a link has, too; *shared: the one that only wires have, or NULL. */
static struct ast_items *link_settings(struct elaboration *e, const struct ast_items *body,
                                       const struct ast_item **shared)
{
    struct ast_items *kept = region_take(e->region, sizeof *kept);
    *shared = NULL;
    for (uint32_t i = 0; body && i < body->v.count; i++) {
        struct ast_item *item = body->v.items[i];
        if (strcmp(item->name.text, "shared") != 0) {
            vector_push(e->region, &kept->v, item);
            continue;
        }
        if (*shared)
            diagnostic_add(e->diagnostics, E0206, item->name.span, "'shared' is set twice");
        *shared = item;
    }
    if (body)
        kept->span = body->span;
    return kept;
}

static bool is_shared(struct elaboration *e, const struct ast_item *item, const char *name,
                      const struct scope *scope)
{
    struct type_spec spec = {MODEL_DIM_BOOL, NULL};
    struct value value = {.ok = true, .integer = true};
    if (item)
        value = eval_as(e, item->value, scope, spec, NULL);
    struct override *override = override_find_link(e, name, "shared");
    if (override && override->value) {
        struct scope none = {NULL, NULL};
        value = eval_as(e, override->value, &none, spec, NULL);
    }
    return !value.ok || value.integer;
}

static struct model_link_type *make_link(struct elaboration *e, const struct ast_item *item,
                                         const struct link_info *link,
                                         const struct ast_items *settings,
                                         const struct scope *scope)
{
    if (!link->model)
        return NULL;
    struct model_link_type *copy = region_take(e->region, sizeof *copy);
    *copy = *link->model;
    copy->name = item->name.text;
    copy->place = program_place(e->program, item->name.span);
    return link_make(e, copy, settings, scope, item->name.span, false) ? copy : NULL;
}

static void make_elements(struct elaboration *e, const struct node *node, struct wire_group *wires,
                          bool is_array)
{
    const char *dot = node->object.path[0] != '\0' ? "." : "";
    const char *name = wires->item->name.text;
    wires->wires = region_take(e->region, wires->count * sizeof *wires->wires);
    for (uint32_t i = 0; i < wires->count; i++) {
        wires->wires[i].group = wires;
        wires->wires[i].path =
            is_array ? region_printf(e->region, "%s%s%s[%u]", node->object.path, dot, name, i)
                     : region_printf(e->region, "%s%s%s", node->object.path, dot, name);
    }
}

#define WIRES_MAX 10000

bool wires_declare(struct elaboration *e, struct node *node, const struct ast_item *item,
                   const struct scope *scope, struct child_group *group)
{
    const struct link_info *link = program_link(e->program, item->target.text);
    if (!link || program_type(e->program, item->target.text))
        return false;
    int64_t count = 1;
    if (item->size && !eval_count(e, item->size, scope, 0, WIRES_MAX, &count)) {
        node->is_damaged = group->is_wrong = true;
        return true;
    }
    if (item->on.text)
        diagnostic_add(e->diagnostics, E0414, item->on.span, "a wire runs on no clock");
    const struct ast_item *shared;
    const struct ast_items *settings = link_settings(e, item->body, &shared);
    struct wire_group *wires = region_take(e->region, sizeof *wires);
    wires->item = item;
    wires->node = node;
    wires->count = (uint32_t)count;
    wires->is_array = item->size != NULL;
    wires->link = make_link(e, item, link, settings, scope);
    wires->is_shared = is_shared(e, shared, item->name.text, scope);
    if (!wires->is_shared && wires->link)
        wires->link->name = link->model->name; /* as if connected `via LINK` */
    make_elements(e, node, wires, wires->is_array);
    vector_push(e->region, &e->wire_groups, wires);
    group->wires = wires;
    return true;
}

static bool choose(struct elaboration *e, const struct statement *s, int64_t *first, int64_t *count)
{
    const struct ast_expr *which = s->item->which;
    const char *name = s->item->via.text;
    *first = 0;
    *count = 1;
    if (which && s->wires->is_array)
        return path_choose(e, which, &s->scope, s->wires->count, name, first, count);
    if (!which && !s->wires->is_array)
        return true;
    if (which) {
        diagnostic_add(e->diagnostics, E0407, which->span, "'%s' is one wire, not an array", name);
        return false;
    }
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0407, s->item->via.span, "'%s' is an array", name);
    diagnostic_help(e->diagnostics, d,
                    "write 'via %s[*]' for one wire a connection, or 'via %s[0]' for one of them",
                    name, name);
    return false;
}

struct shared_wire *wires_choose(struct elaboration *e, const struct statement *s, uint32_t pairs,
                                 uint32_t *step)
{
    const char *name = s->item->via.text;
    int64_t first, count;
    if (!choose(e, s, &first, &count))
        return NULL;
    if (count != 1 && count != pairs) {
        struct span span = s->item->which ? s->item->which->span : s->item->via.span;
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0405, span, "%u connection%s over %lld wires", pairs,
                           pairs == 1 ? "" : "s", (long long)count);
        diagnostic_note(e->diagnostics, d, s->wires->item->name.span, "'%s' is declared here",
                        name);
        diagnostic_help(e->diagnostics, d,
                        "each connection takes one wire, in order; or one wire takes them all, "
                        "e.g. 'via %s[0]'",
                        name);
        return NULL;
    }
    *step = count != 1;
    return &s->wires->wires[first];
}

struct node *wire_side(const struct wire *wire, const struct wire_end *end)
{
    struct node *node = end->node;
    while (node != wire->written_in && node->parent && node->parent != wire->written_in)
        node = node->parent;
    return node;
}

void wires_make(struct elaboration *e, struct model *model)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < e->wire_groups.count; i++)
        most += e->wire_groups.items[i]->count;
    struct model_wire *wires = region_take(e->region, most * sizeof *wires);
    for (uint32_t i = 0; i < e->wire_groups.count; i++) {
        const struct wire_group *group = e->wire_groups.items[i];
        for (uint32_t k = 0; group->is_shared && k < group->count; k++) {
            struct shared_wire *wire = &group->wires[k];
            if (wire->uses.count == 0)
                continue;
            wires[model->wire_count++] =
                (struct model_wire){.path = wire->path,
                                    .doc = group->item->doc,
                                    .place = program_place(e->program, group->item->name.span),
                                    .link = group->link,
                                    .end = &wire->end->model,
                                    .written_in = &group->node->model};
            wire->model = model->wire_count;
        }
    }
    model->wires = wires;
}
