/* See docs_list.h. Two declarations are the same when they have the same name and place. */
#include "codegen/views/docs_list.h"

#include <stdbool.h>
#include <string.h>

static bool same(const char *a_name, const struct model_place *a, const char *b_name,
                 const struct model_place *b)
{
    const char *a_file = a->file ? a->file : "", *b_file = b->file ? b->file : "";
    return strcmp(a_name, b_name) == 0 && a->line == b->line && a->column == b->column
           && strcmp(a_file, b_file) == 0;
}

/* Appends each item of a model's list that is not in `v` yet. */
#define COLLECT(list, v, items_of, item_count)                                                     \
    for (uint32_t i = 0; i < (item_count); i++) {                                                  \
        bool seen = false;                                                                         \
        for (uint32_t k = 0; k < (list)->v.count && !seen; k++)                                    \
            seen = same((items_of)[i]->name, &(items_of)[i]->place, (list)->v.items[k]->name,      \
                        &(list)->v.items[k]->place);                                               \
        if (!seen)                                                                                 \
            vector_push((list)->arena, &(list)->v, (items_of)[i]);                                 \
    }

static void collect_scope(struct docs_list *list, const struct model *m)
{
    COLLECT(list, types, m->types, m->type_count)
    COLLECT(list, protocols, m->protocols, m->protocol_count)
    COLLECT(list, links, m->links, m->link_count)
    COLLECT(list, interfaces, m->interfaces, m->interface_count)
    COLLECT(list, enums, m->enums, m->enum_count)
    if (m->root)
        vector_push(list->arena, &list->platforms, m);
}

/* Protocols that only ports mention. */
static void collect_port_protocols(struct docs_list *list)
{
    for (uint32_t t = 0; t < list->types.count; t++) {
        const struct model_type *type = list->types.items[t];
        for (uint32_t p = 0; p < type->port_count; p++)
            if (type->ports[p].protocol) {
                const struct model_protocol *const one[] = {type->ports[p].protocol};
                COLLECT(list, protocols, one, 1)
            }
    }
}

void docs_list_collect(struct docs_list *list, struct arena *arena,
                       const struct model *const *scopes, size_t scope_count)
{
    *list = (struct docs_list){.arena = arena, .scopes = scopes, .scope_count = scope_count};
    for (size_t i = 0; i < scope_count; i++)
        collect_scope(list, scopes[i]);
    collect_port_protocols(list);
}

const struct model_port *docs_list_port_sample(const struct docs_list *list,
                                               const struct model_port_decl *decl)
{
    for (size_t s = 0; s < list->scope_count; s++)
        for (uint32_t i = 0; i < list->scopes[s]->instance_count; i++) {
            const struct model_instance *instance = list->scopes[s]->instances[i];
            for (uint32_t g = 0; g < instance->port_group_count; g++) {
                const struct model_port_group *group = &instance->port_groups[g];
                if (group->count > 0
                    && same(group->decl->name, &group->decl->place, decl->name, &decl->place))
                    return &group->ports[0];
            }
        }
    return NULL;
}
