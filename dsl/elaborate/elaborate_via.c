/* The `via` of a connection: a link, shared wires, or an interconnect. An interconnect is an
 * instance that this statement makes, or that an earlier statement made. */
#include <string.h>

#include "dsl/suggest.h"

#include "elaborate.h"

static struct link_use *make_link_use(struct elaboration *e, struct node *node, const char *name,
                                      struct model_link_type *model)
{
    struct link_use *use = region_take(e->region, sizeof *use);
    use->name = name;
    use->model = model;
    vector_push(e->region, &node->links, use);
    return use;
}

/* `via NAME = LINK { ... }`: a link of its own name, with some values changed. */
static struct link_use *named_link(struct elaboration *e, struct node *node,
                                   const struct ast_item *item, const struct scope *scope,
                                   const struct link_info *link)
{
    if (!link->model)
        return make_link_use(e, node, item->via.text, NULL);
    struct model_link_type *copy = region_take(e->region, sizeof *copy);
    *copy = *link->model;
    copy->name = item->via.text;
    copy->place = program_place(e->program, item->via.span);
    bool made = !item->body || link_make(e, copy, item->body, scope, item->via.span, true);
    return make_link_use(e, node, item->via.text, made ? copy : NULL);
}

static struct link_use *link_named(struct elaboration *e, struct node *node, const char *name)
{
    for (uint32_t i = 0; i < node->links.count; i++)
        if (strcmp(node->links.items[i]->name, name) == 0)
            return node->links.items[i];
    struct link_info *link = program_link(e->program, name);
    return link ? make_link_use(e, node, name, link->model) : NULL;
}

static const char *first_input(const struct type_info *type)
{
    for (uint32_t i = 0; i < type->ports.v.count; i++)
        if (type->ports.v.items[i]->is_in)
            return type->ports.v.items[i]->name.text;
    return "PORT";
}

static void unknown_via(struct elaboration *e, struct node *node, struct ast_name name)
{
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0203, name.span,
                                          "no link or interconnect is called '%s'", name.text);
    struct suggestion suggestion = suggestion_for(name.text);
    for (uint32_t i = 0; i < e->program->links.count; i++)
        suggestion_try(&suggestion, e->program->links.items[i]->decl->name.text);
    for (uint32_t i = 0; i < node->groups.count; i++)
        if (node->groups.items[i].count == 1
            && node->groups.items[i].nodes[0]->model.is_interconnect)
            suggestion_try(&suggestion, node->groups.items[i].name.text);
    struct type_info *type = program_type(e->program, name.text);
    struct child_group *group = tree_group(node, name.text);
    if (group && group->is_array && group->count > 0)
        diagnostic_help(
            e->diagnostics, d,
            "'%s' is an array of instances: connect their ports, as in '-> %s[0].%s[*];'",
            name.text, name.text, first_input(group->nodes[0]->object.type));
    else if (group && group->wires)
        diagnostic_help(e->diagnostics, d,
                        "'%s' is a wire: write 'via', and name the ports of an interconnect one "
                        "by one",
                        name.text);
    else if (type && !type->model.is_part && !type->model.is_platform)
        diagnostic_help(e->diagnostics, d, "an interconnect needs a name: 'via NAME = %s'",
                        name.text);
    else if (!program_suggest_import(e->program, d, AST_LINK, name.text))
        diagnostic_suggest(e->diagnostics, d, suggestion.best);
}

struct link_use *via_link(struct elaboration *e, struct node *node, struct ast_name name)
{
    struct link_use *use = link_named(e, node, name.text);
    const struct child_group *group = tree_group(node, name.text);
    if (!use && (!group || !group->is_wrong))
        unknown_via(e, node, name);
    return use;
}

/* One in-port array and one out-port array, both of `any` or of one protocol. */
static bool find_interconnect_ports(struct elaboration *e, struct node *node,
                                    struct ast_name type_name)
{
    const struct type_info *type = node->object.type;
    int ins = 0, outs = 0;
    for (uint32_t i = 0; i < type->ports.v.count; i++) {
        const struct ast_item *port = type->ports.v.items[i];
        if (!port->unsized)
            continue;
        if (port->is_in) {
            ins++;
            node->in_port = (int32_t)i;
        } else {
            outs++;
            node->out_port = (int32_t)i;
        }
    }
    node->has_interconnect_ports = ins == 1 && outs == 1 && !type->model.is_composite;
    if (node->has_interconnect_ports)
        return true;
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0406, type_name.span,
                                          "'%s' cannot be an interconnect", type->model.name);
    diagnostic_note(e->diagnostics, d, type->decl->name.span,
                    "it needs exactly one port array 'in NAME[]' and one 'out NAME[]'");
    return false;
}

void via_make(struct elaboration *e, struct node *node, const struct ast_item *item,
              const struct scope *scope, struct statement *statement)
{
    if (!item->target.text) {
        struct child_group *group = tree_group(node, item->via.text);
        if (group && !group->wires
            && (group->is_wrong || (group->count == 1 && group->nodes[0]->model.is_interconnect))) {
            statement->is_wrong = group->is_wrong;
            statement->interconnect = group->is_wrong ? NULL : group->nodes[0];
            return;
        }
        statement->may_have_later_via = true;
        return;
    }
    struct link_info *link = program_link(e->program, item->target.text);
    if (link && !program_type(e->program, item->target.text)) {
        statement->link = named_link(e, node, item, scope, link);
        statement->is_wrong = !statement->link->model;
        return;
    }
    struct type_info *type = tree_component(e, item->target, true);
    struct child_group group = {.name = item->via, .is_wrong = true};
    if (type && !tree_is_recursive(e, node, type, item->target.span)) {
        struct node_plan plan = {.type = type,
                                 .item = item,
                                 .name = item->via,
                                 .on = item->on,
                                 .settings = item->body,
                                 .scope = *scope,
                                 .count = 1};
        struct node *child = tree_make_node(e, node, &plan);
        if (child && find_interconnect_ports(e, child, item->target)) {
            child->model.is_interconnect = true;
            group.nodes = region_take(e->region, sizeof(struct node *));
            group.nodes[0] = child;
            group.count = 1;
            group.is_wrong = false;
            statement->interconnect = child;
            statement->is_first_of_interconnect = true;
        }
    }
    statement->is_wrong = !statement->interconnect;
    if (!tree_add_group(e, node, group))
        statement->is_wrong = true;
}

void via_find(struct elaboration *e, struct node *node, struct statement *s)
{
    const struct ast_item *item = s->item;
    struct child_group *group = tree_group(node, item->via.text);
    if (group && (group->wires || group->is_wrong)) {
        s->wires = group->wires;
        s->is_wrong |= !s->wires || !s->wires->link;
    } else {
        s->link = via_link(e, node, item->via);
        s->is_wrong |= !s->link || !s->link->model;
    }
    if (s->link && item->which) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0407, item->which->span,
                                              "'%s' is not an array of wires", item->via.text);
        diagnostic_help(e->diagnostics, d,
                        "each connection has a link of its own; to share some declare them: "
                        "'NAME[n] : %s;'",
                        item->via.text);
        s->is_wrong = true;
    }
    node->is_damaged |= s->is_wrong;
}
