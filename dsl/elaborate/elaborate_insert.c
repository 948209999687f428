/* `insert NAME : TYPE { settings } at PATH.PORT;` in the braces of an instance: a component in
 * the connections of a composite of a library.
 *
 * The new instances are beside the instance with the port, one for each element, and take the
 * port's place in all connections there. A connection of one cycle leads from an `out` port to the
 * new `in` port, or from the new `out` port to an `in` port. So latencies, links and interconnects
 * stay with the connections that are written. Paths reach the instances by their name, as others.
 */
#include <string.h>

#include "dsl/suggest.h"

#include "elaborate.h"

/* Instances at one port of some elements of one array of children. */
struct insertion {
    const struct ast_item *item;
    struct scope scope; /* scope of its settings */
    struct node_list at;
    uint32_t port; /* the port of these */
    bool before;   /* the port is an `in` port */
    struct type_info *type;
    uint32_t in, out; /* ports of the type */
    uint32_t *first;  /* for each of `at`: index of the first new instance; last, their count */
    struct child_group made; /* the new instances */
};

static struct diagnostic *refuse(struct elaboration *e, struct span span, const char *why)
{
    return diagnostic_add(e->diagnostics, E0415, span, "%s", why);
}

void insert_refuse(struct elaboration *e, const struct object *object, const struct ast_item *item)
{
    refuse(e, item->via.span,
           region_printf(e->region,
                         "'%s' is a part: it has no ports at which something could stand",
                         object->name));
}

/* The only port of the type, of this direction and protocol, that is no array. */
static bool only_port(const struct type_info *type, bool is_in, const char *protocol,
                      uint32_t *port)
{
    uint32_t matches = 0;
    for (uint32_t i = 0; i < type->ports.v.count; i++) {
        const struct ast_item *item = type->ports.v.items[i];
        if (item->is_in != is_in || item->unsized || item->size
            || strcmp(item->target.text, protocol) != 0)
            continue;
        *port = i;
        matches++;
    }
    return matches == 1;
}

static bool find_port(struct elaboration *e, struct insertion *i)
{
    const struct type_info *type = i->at.v.items[0]->object.type;
    const char *name = i->item->via.text;
    int32_t port = item_list_find(&type->ports, name);
    if (port < 0) {
        struct suggestion suggestion = suggestion_for(name);
        for (uint32_t k = 0; k < type->ports.v.count; k++)
            suggestion_try(&suggestion, type->ports.v.items[k]->name.text);
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0205, i->item->via.span, "'%s' has no port called '%s'",
                           type->model.name, name);
        diagnostic_suggest(e->diagnostics, d, suggestion.best);
        return false;
    }
    i->port = (uint32_t)port;
    i->before = type->ports.v.items[port]->is_in;
    const char *protocol = type->ports.v.items[port]->target.text;
    if (only_port(i->type, true, protocol, &i->in) && only_port(i->type, false, protocol, &i->out))
        return true;
    struct diagnostic *d =
        refuse(e, i->item->target.span,
               region_printf(e->region, "'%s' cannot stand at '%s', which has the protocol '%s'",
                             i->type->model.name, name, protocol));
    diagnostic_note(e->diagnostics, d, i->type->decl->name.span,
                    "it needs exactly one 'in' and one 'out' port of this protocol, no arrays");
    return false;
}

static bool count_elements(struct elaboration *e, struct insertion *i)
{
    i->first = region_take(e->region, (i->at.v.count + 1) * sizeof *i->first);
    for (uint32_t k = 0; k < i->at.v.count; k++) {
        int64_t count = port_count(e, i->at.v.items[k], i->port);
        if (count < 0) {
            refuse(e, i->item->via.span,
                   region_printf(e->region, "the number of elements of '%s' cannot be told here",
                                 i->item->via.text));
            return false;
        }
        i->first[k + 1] = i->first[k] + (uint32_t)count;
    }
    return true;
}

/* A range of a new instance's port. */
static struct port_range new_end(const struct insertion *i, uint32_t number, bool is_in)
{
    return (struct port_range){.node = i->made.nodes[number],
                               .port = is_in ? i->in : i->out,
                               .count = 1,
                               .span = i->item->name.span};
}

/* The index in `at` of the instance that a range means; UINT32_MAX: none. */
static uint32_t index_at(const struct insertion *i, const struct port_range *range)
{
    for (uint32_t k = 0; k < i->at.v.count && range->port == i->port; k++)
        if (i->at.v.items[k] == range->node)
            return k;
    return UINT32_MAX;
}

/* Puts the new instances in the place of the port in one side of a statement. */
static void move_to_place(struct elaboration *e, const struct insertion *i,
                          struct port_ranges *side)
{
    struct port_ranges old = *side;
    *side = (struct port_ranges){.v = {0}};
    for (uint32_t r = 0; r < old.v.count; r++) {
        const struct port_range *range = &old.v.items[r];
        uint32_t k = index_at(i, range);
        if (k == UINT32_MAX) {
            vector_push(e->region, &side->v, *range);
            continue;
        }
        uint32_t begin = i->first[k] + (range->all ? 0 : range->first), end = i->first[k + 1];
        for (uint32_t n = begin; n < end && (range->all || n < begin + range->count); n++)
            vector_push(e->region, &side->v, new_end(i, n, i->before));
    }
}

/* Connects the port with the new instances. */
static void connect_port(struct elaboration *e, struct node *node, const struct insertion *i,
                         const struct ast_item *connection)
{
    for (uint32_t k = 0; k < i->at.v.count; k++) {
        for (uint32_t n = i->first[k]; n < i->first[k + 1]; n++) {
            struct statement *s = region_take(e->region, sizeof *s);
            struct port_range port = {.node = i->at.v.items[k],
                                      .port = i->port,
                                      .first = n - i->first[k],
                                      .count = 1,
                                      .span = i->item->via.span};
            *s = (struct statement){.item = connection, .scope = i->scope, .resolved = true};
            vector_push(e->region, i->before ? &s->right.v : &s->left.v, port);
            vector_push(e->region, i->before ? &s->left.v : &s->right.v, new_end(i, n, !i->before));
            vector_push(e->region, &node->statements, s);
        }
    }
}

/* `at -> name;` as it would be written, for messages. */
static const struct ast_item *connection_for(struct elaboration *e, const struct ast_item *insert)
{
    struct ast_item *item = region_take(e->region, sizeof *item);
    struct ast_exprs *side = region_take(e->region, sizeof *side);
    side->span = insert->span;
    *item = (struct ast_item){
        .kind = AST_CONNECT, .span = insert->span, .doc = "", .left = side, .right = side};
    return item;
}

static bool make_instances(struct elaboration *e, struct node *node, struct insertion *i)
{
    const struct ast_item *item = i->item;
    uint32_t count = i->first[i->at.v.count];
    bool several = count != 1 || i->at.v.items[0]->object.in_array;
    i->made = (struct child_group){.name = item->name, .is_array = several};
    i->made.nodes = region_take(e->region, count * sizeof(struct node *));
    for (uint32_t n = 0; n < count; n++) {
        struct node_plan plan = {.type = i->type,
                                 .item = item,
                                 .name = item->name,
                                 .settings = item->body,
                                 .scope = i->scope,
                                 .in_array = several,
                                 .element = n,
                                 .count = count};
        struct node *made = tree_make_node(e, node, &plan);
        if (!made)
            return false;
        i->made.nodes[i->made.count++] = made;
    }
    return tree_add_group(e, node, i->made);
}

static bool insert(struct elaboration *e, struct node *node, struct insertion *i)
{
    uint32_t written = node->statements.count;
    i->type = tree_component(e, i->item->target, false);
    if (!i->type || !find_port(e, i) || !count_elements(e, i)
        || tree_is_recursive(e, node, i->type, i->item->target.span))
        return false;
    for (uint32_t s = 0; s < written; s++)
        statement_resolve(e, node, node->statements.items[s]);
    if (!make_instances(e, node, i))
        return false;
    for (uint32_t s = 0; s < written; s++) {
        struct statement *statement = node->statements.items[s];
        move_to_place(e, i, i->before ? &statement->right : &statement->left);
        if (i->before)
            move_to_place(e, i, &statement->otherwise);
    }
    connect_port(e, node, i, connection_for(e, i->item));
    return true;
}

void inserts_make(struct elaboration *e, struct node *node)
{
    for (struct object *above = &node->object; above; above = above->owner)
        for (uint32_t k = 0; above->reached && k < above->settings->v.count; k++) {
            const struct ast_item *item = above->settings->v.items[k];
            struct insertion i = {.item = item, .scope = above->setting_scope};
            if (item->kind != AST_INSERT || !item->path)
                continue;
            for (uint32_t c = 0; c < node->children.count; c++)
                if (setting_leads_to(e, above, item->path, &node->children.items[c]->object))
                    vector_push(e->region, &i.at.v, node->children.items[c]);
            if (i.at.v.count == 0)
                continue;
            above->reached[k] = true;
            if (!insert(e, node, &i))
                node->damaged = true;
        }
}
