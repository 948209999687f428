/* See params_slots.h. A slot takes the parts in scope that implement its interface, or the one part
 * that it names; an optional one also `none`. Called by params.c. */
#include "codegen/views/params_slots.h"

#include <inttypes.h>
#include <string.h>

#include "codegen/views/json_text.h"
#include "codegen/views/params_value.h"

static void add(struct params_slots *slots, struct arena *arena, const char *path,
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
    vector_push(arena, &slots->rows, row);
}

/* The slots of one instance or part. */
static void add_places(struct params_slots *slots, struct arena *arena, const char *owner,
                       const struct model_type *type, const struct model_part_place *places)
{
    for (uint32_t i = 0; places && i < type->part_count; i++) {
        const struct model_part_decl *decl = &type->parts[i];
        bool is_filled = places[i].count > 0 && places[i].parts && places[i].parts[0];
        const char *part = is_filled ? places[i].parts[0]->type->name : "none";
        if (decl->is_slot)
            add(slots, arena, arena_printf(arena, "%s%s%s", owner, *owner ? "." : "", decl->name),
                decl, part);
    }
}

void params_slots_collect(struct params_slots *slots, struct arena *arena, const struct model *m,
                          const char *(*collapse)(struct arena *arena, const char *path))
{
    for (uint32_t i = 0; i < m->instance_count; i++)
        add_places(slots, arena, collapse(arena, m->instances[i]->path), m->instances[i]->type,
                   m->instances[i]->places);
    for (uint32_t i = 0; i < m->part_count; i++)
        add_places(slots, arena, collapse(arena, m->parts[i]->path), m->parts[i]->type,
                   m->parts[i]->places);
    for (uint32_t i = 0; i < slots->rows.count; i++)
        for (uint32_t k = 0; k < slots->rows.count; k++)
            if (strcmp(slots->rows.items[i].path, slots->rows.items[k].path) == 0)
                slots->rows.items[i].group += slots->rows.items[k].members;
}

static bool takes(const struct model_part_decl *decl, const struct model_type *type)
{
    return type->is_part
           && (decl->part_type ? decl->part_type == type : type->interface == decl->interface);
}

static const char *type_text(const struct model_param_decl *param)
{
    if (param->choice && param->choice->name)
        return param->choice->name;
    return params_dimension_name(param->dimension);
}

static const char *choices_text(struct arena *arena, const struct model_param_decl *param)
{
    if (!param->choice || param->choice->name)
        return type_text(param);
    const char *text = "enum {";
    for (uint32_t i = 0; i < param->choice->count; i++)
        text = arena_printf(arena, "%s%s %s", text, i > 0 ? "," : "", param->choice->names[i]);
    return arena_printf(arena, "%s }", text);
}

/* "bits : int = 2 in 1 .. 8" */
static const char *param_text(struct arena *arena, const struct model_param_decl *param)
{
    return arena_printf(arena, "%s : %s%s%s%s%s", param->name, choices_text(arena, param),
                        param->has_default ? " = " : "", param->default_text,
                        *param->range_text ? " in " : "", param->range_text);
}

const char *params_slot_takes(struct arena *arena, const struct model *m,
                              const struct model_part_decl *decl)
{
    const char *text = decl->optional ? "none" : "";
    for (uint32_t i = 0; i < m->type_count; i++) {
        const struct model_type *type = m->types[i];
        if (!takes(decl, type))
            continue;
        text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", type->name);
        const char *before = " { ";
        for (uint32_t p = 0; p < type->param_count; p++) {
            if (type->params[p].is_let)
                continue;
            text = arena_printf(arena, "%s%s%s", text, before, param_text(arena, &type->params[p]));
            before = "; ";
        }
        if (*before == ';')
            text = arena_printf(arena, "%s }", text);
    }
    return text;
}

json_t *params_slot_takes_json(const struct model *m, const struct model_part_decl *decl)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < m->type_count; i++) {
        const struct model_type *type = m->types[i];
        if (!takes(decl, type))
            continue;
        json_t *params = json_array();
        for (uint32_t p = 0; p < type->param_count; p++)
            if (!type->params[p].is_let)
                json_array_append_new(
                    params, json_pack("{s:s, s:s, s:o, s:o, s:o}", "parameter",
                                      type->params[p].name, "unit", type_text(&type->params[p]),
                                      "default", json_text(type->params[p].default_text), "range",
                                      json_text(type->params[p].range_text), "doc",
                                      json_text(type->params[p].doc)));
        json_array_append_new(all, json_pack("{s:s, s:o, s:o}", "part", type->name, "doc",
                                             json_text(type->doc), "parameters", params));
    }
    return all;
}

/* A part and its parameters, one a line. */
static void write_part(const struct model_type *type, struct arena *arena, FILE *out)
{
    fprintf(out, "    %s  %.*s\n", type->name, (int)strcspn(type->doc, "\n"), type->doc);
    for (uint32_t p = 0; p < type->param_count; p++)
        if (!type->params[p].is_let)
            fprintf(out, "        %s  %.*s\n", param_text(arena, &type->params[p]),
                    (int)strcspn(type->params[p].doc, "\n"), type->params[p].doc);
}

void params_slots_write(const struct params_slots *slots, const struct model *m, FILE *out)
{
    struct arena arena;
    arena_init(&arena);
    if (slots->rows.count > 0)
        fprintf(out, "\nslots, which --set PATH=PART fills\n");
    for (uint32_t i = 0; i < slots->rows.count; i++) {
        const struct params_slot *row = &slots->rows.items[i];
        bool is_described = false; /* a slot of that declaration stands above */
        fprintf(out, "%s = %s", row->path, row->part);
        if (row->members < row->group)
            fprintf(out, " (%" PRIu32 " of %" PRIu32 ")", row->members, row->group);
        fprintf(out, "  %.*s\n", (int)strcspn(row->decl->doc, "\n"), row->decl->doc);
        for (uint32_t k = 0; k < i; k++)
            is_described |= slots->rows.items[k].decl == row->decl;
        if (is_described)
            continue;
        if (row->decl->optional)
            fputs("    none\n", out);
        for (uint32_t t = 0; t < m->type_count; t++)
            if (takes(row->decl, m->types[t]))
                write_part(m->types[t], &arena, out);
    }
    arena_release(&arena);
}
