/* The slots of a platform. A slot takes the parts in scope that implement its interface, or the one
 * part that it names; an optional slot also takes `none`. Called by params.c. */
#include "params_slots.h"

#include <string.h>

#include "json_from_text.h"
#include "json_types.h"
#include "params_value.h"

static void add_slot(struct params_slots *slots, struct region *region, const char *path,
                     const struct model_part_decl *decl, const char *part)
{
    for (uint32_t i = 0; i < slots->rows.count; i++) {
        struct params_slot *row = &slots->rows.items[i];
        if (strcmp(row->path, path) == 0 && strcmp(row->part, part) == 0) {
            row->members++;
            return;
        }
    }
    struct params_slot row = {.path = path, .part = part, .members = 1, .decl = decl};
    vector_push(region, &slots->rows, row);
}

/* The slots of one instance or part. */
static void add_places(struct params_slots *slots, struct region *region, const char *owner,
                       const struct model_type *type, const struct model_part_place *places)
{
    for (uint32_t i = 0; places && i < type->part_count; i++) {
        const struct model_part_decl *decl = &type->parts[i];
        bool is_filled = places[i].count > 0 && places[i].parts && places[i].parts[0];
        const char *part = is_filled ? places[i].parts[0]->type->name : "none";
        if (decl->is_slot)
            add_slot(slots, region,
                     region_printf(region, "%s%s%s", owner, *owner ? "." : "", decl->name), decl,
                     part);
    }
}

void params_slots_collect(struct params_slots *slots, struct region *region, const struct model *m,
                          const char *(*collapse)(struct region *region, const char *path))
{
    for (uint32_t i = 0; i < m->instance_count; i++)
        add_places(slots, region, collapse(region, m->instances[i]->path), m->instances[i]->type,
                   m->instances[i]->places);
    for (uint32_t i = 0; i < m->part_count; i++)
        add_places(slots, region, collapse(region, m->parts[i]->path), m->parts[i]->type,
                   m->parts[i]->places);
}

static bool decl_takes_type(const struct model_part_decl *decl, const struct model_type *type)
{
    return type->is_part
           && (decl->part_type ? decl->part_type == type : type->interface == decl->interface);
}

static json_t *param_json(const struct model_param_decl *p)
{
    const char *name = p->choice ? p->choice->name : NULL;
    json_t *one = json_pack("{s:s, s:s, s:o, s:o, s:o}", "parameter", p->name, "unit",
                            name ? name : params_dimension_name(p->dimension), "default",
                            json_from_text(p->default_text), "range", json_from_text(p->range_text),
                            "doc", json_from_text(p->doc));
    if (p->choice)
        json_object_set_new(one, "choices", json_choices(p->choice));
    return one;
}

json_t *params_slot_takes(const struct model *m, const struct model_part_decl *decl)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->type_count; i++) {
        const struct model_type *type = m->types[i];
        if (!decl_takes_type(decl, type))
            continue;
        json_t *params = json_array();
        for (uint32_t p = 0; p < type->param_count; p++)
            if (!type->params[p].is_let)
                json_array_append_new(params, param_json(&type->params[p]));
        json_array_append_new(all, json_pack("{s:s, s:o, s:o}", "part", type->name, "doc",
                                             json_from_text(type->doc), "parameters", params));
    }
    return all;
}
