/* Units: two instances share one when everything that the compiler sees as a constant is equal,
 * that is their parameters, what fills their slots (with its parameters, recursively), and the
 * protocol bound to `any` ports. The key of a unit spells this out as text. */
#include <inttypes.h>
#include <string.h>

#include "emit.h"
#include "layout_builder.h"
#include "names.h"

static void key_params(struct emit *key, const struct model_param *params, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        emit(key, ",%" PRId64, params[i].value.integer);
}

static void key_places(struct emit *key, const struct model_type *type,
                       const struct model_part_place *places)
{
    for (uint32_t i = 0; i < type->part_count; i++) {
        emit(key, "|%u", places[i].count);
        for (uint32_t p = 0; p < places[i].count; p++) {
            const struct model_part *part = places[i].parts[p];
            emit(key, "%s%s", p ? ";" : ":", part->type->name);
            if (places[i].is_shared)
                continue;
            key_params(key, part->params, part->param_count);
            emit(key, "(");
            key_places(key, part->type, part->places);
            emit(key, ")");
        }
    }
}

static const char *unit_key(struct region *region, const struct model_instance *instance)
{
    struct emit key;
    emit_init(&key, region);
    emit(&key, "%s", instance->type->name);
    key_params(&key, instance->params, instance->param_count);
    key_places(&key, instance->type, instance->places);
    for (uint32_t g = 0; g < instance->port_group_count; g++) {
        const struct model_port_group *group = &instance->port_groups[g];
        if (!group->decl->is_any || group->count == 0 || !group->ports[0].protocol)
            continue;
        emit(&key, "/%s", group->ports[0].protocol->name);
        for (uint32_t a = 0; a < group->ports[0].protocol->argument_count; a++)
            emit(&key, ",%" PRId64, group->ports[0].protocol->arguments[a]);
    }
    return key.text;
}

static bool same_params(const struct model_part *a, const struct model_part *b)
{
    for (uint32_t i = 0; i < a->param_count; i++)
        if (a->params[i].value.integer != b->params[i].value.integer)
            return false;
    return true;
}

static struct layout_slot *find_slot(struct layout *layout, struct layout_unit *unit,
                                     const struct model_type *owner,
                                     const struct model_part_decl *decl)
{
    for (uint32_t i = 0; i < unit->slots.count; i++)
        if (unit->slots.items[i].owner == owner && unit->slots.items[i].decl == decl)
            return &unit->slots.items[i];
    struct layout_slot slot = {.owner = owner, .decl = decl};
    vector_push(layout->region, &unit->slots, slot);
    return &unit->slots.items[unit->slots.count - 1];
}

static void add_filler(struct layout *layout, struct layout_slot *slot,
                       const struct model_type *type)
{
    for (uint32_t i = 0; i < slot->fillers.count; i++)
        if (slot->fillers.items[i] == type)
            return;
    vector_push(layout->region, &slot->fillers, type);
}

static bool has_part_type(const struct layout_unit *unit, const struct model_type *type)
{
    for (uint32_t i = 0; i < unit->parts.count; i++)
        if (unit->parts.items[i].type == type)
            return true;
    return false;
}

static void add_part(struct layout *layout, struct layout_unit *unit, const struct model_part *part)
{
    for (uint32_t i = 0; i < unit->parts.count; i++)
        if (unit->parts.items[i].type == part->type) {
            if (!same_params(unit->parts.items[i].first, part))
                unit->parts.items[i].uniform = false;
            return;
        }
    struct layout_part_type entry = {.type = part->type, .first = part, .uniform = true};
    vector_push(layout->region, &unit->parts, entry);
}

/* The parts and slots of a specialised unit, as found in one instance; inner parts first. */
static void collect_parts(struct layout *layout, struct layout_unit *unit,
                          const struct model_type *type, const struct model_part_place *places)
{
    for (uint32_t i = 0; i < type->part_count; i++) {
        for (uint32_t p = 0; p < places[i].count && !places[i].is_shared; p++) {
            collect_parts(layout, unit, places[i].parts[p]->type, places[i].parts[p]->places);
            add_part(layout, unit, places[i].parts[p]);
        }
        if (!type->parts[i].interface)
            continue;
        struct layout_slot *slot = find_slot(layout, unit, type, &type->parts[i]);
        for (uint32_t p = 0; p < places[i].count; p++)
            add_filler(layout, slot, places[i].parts[p]->type);
        if (places[i].count == 0)
            slot->may_be_empty = true;
    }
}

/* Everything that could fill the slots of `type`, recursively; a part may have a slot for its own
 * kind. */
static void collect_possible_parts(struct layout *layout, struct layout_unit *unit,
                                   const struct model_type *type)
{
    const struct model *model = layout->model;
    for (uint32_t i = 0; i < unit->visited.count; i++)
        if (unit->visited.items[i] == type)
            return;
    vector_push(layout->region, &unit->visited, type);
    for (uint32_t i = 0; i < type->part_count; i++) {
        const struct model_part_decl *decl = &type->parts[i];
        if (decl->interface) {
            struct layout_slot *slot = find_slot(layout, unit, type, decl);
            slot->may_be_empty = true;
        }
        for (uint32_t t = 0; t < model->type_count; t++) {
            const struct model_type *part = model->types[t];
            if (!part->is_part)
                continue;
            if (decl->part_type ? part != decl->part_type : part->interface != decl->interface)
                continue;
            if (decl->interface)
                add_filler(layout, find_slot(layout, unit, type, decl), part);
            if (has_part_type(unit, part))
                continue;
            collect_possible_parts(layout, unit, part);
            if (has_part_type(unit, part))
                continue;
            struct layout_part_type entry = {.type = part};
            vector_push(layout->region, &unit->parts, entry);
        }
    }
}

static struct layout_unit *new_unit(struct layout *layout, const struct model_instance *first,
                                    bool generic, uint32_t number)
{
    struct layout_unit *unit = region_take(layout->region, sizeof *unit);
    unit->type = first->type;
    unit->first = first;
    unit->generic = generic;
    unit->symbol = generic ? region_printf(layout->region, "%s__generic", first->type->name)
                           : region_printf(layout->region, "%s__%u", first->type->name, number);
    if (generic)
        collect_possible_parts(layout, unit, first->type);
    else
        collect_parts(layout, unit, first->type, first->places);
    vector_push(layout->region, &layout->units, unit);
    return unit;
}

/* The unit to compile for specialised unit `number`: a unit of its own, or its type's generic
 * unit. */
static uint32_t compiled_unit(struct layout *layout, const struct model_instance *first)
{
    uint32_t of_type = 0;
    for (uint32_t i = 0; i < layout->units.count; i++)
        if (layout->units.items[i]->type == first->type) {
            if (layout->generic)
                return i;
            of_type++;
        }
    new_unit(layout, first, layout->generic, of_type + 1);
    return layout->units.count - 1;
}

struct layout_assignment layout_assign_units(struct layout *layout)
{
    const struct model *model = layout->model;
    struct layout_assignment result = {0};
    struct intern keys;
    intern_init(&keys, layout->region);
    result.unit_of_leaf = region_take(layout->region, (model->leaf_count + 1) * sizeof(uint32_t));
    result.compiled = region_take(layout->region, (model->leaf_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < model->leaf_count; i++) {
        const char *key = unit_key(layout->region, model->leaves[i]);
        const struct intern_entry *known = intern_find(&keys, key);
        if (!known) {
            result.compiled[result.count] = compiled_unit(layout, model->leaves[i]);
            intern_add(&keys, key, result.count);
            result.unit_of_leaf[i] = result.count++;
        } else {
            result.unit_of_leaf[i] = known->value;
        }
    }
    return result;
}

static void add_folder(const char **folders, uint32_t *count, const char *folder)
{
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(folders[i], folder) == 0)
            return;
    folders[(*count)++] = folder;
}

static void add_type_folders(struct region *region, const char **folders, uint32_t *count,
                             const struct model_type *type)
{
    for (uint32_t i = 0; i < type->behaviour_count; i++)
        add_folder(folders, count, name_folder(region, type->behaviour[i]));
    add_folder(folders, count, type->folder);
    if (type->interface)
        add_folder(folders, count, type->interface->folder);
    for (uint32_t i = 0; i < type->part_count; i++)
        if (type->parts[i].interface)
            add_folder(folders, count, type->parts[i].interface->folder);
}

uint32_t layout_unit_folders(const struct layout *layout, const struct layout_unit *unit,
                             const char ***folders)
{
    /* A type contributes at most its C files' folders, its own, its interface's, and one for each
     * slot. */
    uint32_t most = 2 + unit->type->behaviour_count + unit->type->part_count;
    for (uint32_t i = 0; i < unit->parts.count; i++)
        most +=
            2 + unit->parts.items[i].type->behaviour_count + unit->parts.items[i].type->part_count;
    *folders = region_take(layout->region, (most + 1) * sizeof **folders);
    uint32_t count = 0;
    add_type_folders(layout->region, *folders, &count, unit->type);
    for (uint32_t i = 0; i < unit->parts.count; i++)
        add_type_folders(layout->region, *folders, &count, unit->parts.items[i].type);
    return count;
}
