/* Paths: from "sa[*].work[0..3]" to instances and ports, and both sides of a connection. Called
 * when connecting, and by expressions that count or ask for a child's parameter. */
#include <string.h>

#include "dsl/suggest.h"

#include "elaborate.h"

struct segment {
    struct ast_name name;
    const struct ast_expr *subscript; /* the INDEX, SLICE or ALL node; NULL: none */
    struct span span;
};

struct segments {
    struct segment items[AST_DEPTH_MAX + 1];
    uint32_t count;
};

static bool collect(struct elaboration *e, const struct ast_expr *path, struct segments *out)
{
    const struct ast_expr *subscript = NULL;
    const struct ast_expr *at = path;
    if (at->kind == AST_INDEX || at->kind == AST_SLICE || at->kind == AST_ALL) {
        subscript = at;
        at = at->a;
    }
    if (at->kind == AST_MEMBER && !collect(e, at->a, out))
        return false;
    if (at->kind != AST_MEMBER && at->kind != AST_NAME) {
        diagnostic_add(e->diagnostics, E0001, path->span, "expected a path such as 'a.b[*].c'");
        return false;
    }
    if (out->count > AST_DEPTH_MAX)
        return false;
    struct segment *segment = &out->items[out->count++];
    *segment = (struct segment){at->name, subscript, at->name.span};
    if (subscript && subscript->half_open && subscript->kind == AST_ALL) {
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0407, subscript->span, "'[]' declares an array");
        diagnostic_help(e->diagnostics, d, "all elements are '[*]'");
        return false;
    }
    return true;
}

static const char *where_text(struct elaboration *e, const struct node *node)
{
    return region_printf(e->region, "'%s'", node->object.type->model.name);
}

static const char *port_names(struct elaboration *e, const struct type_info *type)
{
    const char *names = type->ports.v.items[0]->name.text;
    for (uint32_t i = 1; i < type->ports.v.count; i++)
        names = region_printf(e->region, "%s, %s", names, type->ports.v.items[i]->name.text);
    return names;
}

static void unknown_member(struct elaboration *e, struct node *node, const struct segment *segment,
                           bool is_own)
{
    if (node->is_incomplete) /* the member may be among those left out */
        return;
    const struct type_info *type = node->object.type;
    struct diagnostic *d = diagnostic_add(
        e->diagnostics, E0205, segment->span, "%s has no %s called '%s'", where_text(e, node),
        is_own ? "instance or port" : "port or instance", segment->name.text);
    struct suggestion suggestion = suggestion_for(segment->name.text);
    for (uint32_t i = 0; i < type->ports.v.count; i++)
        suggestion_try(&suggestion, type->ports.v.items[i]->name.text);
    for (uint32_t i = 0; i < node->groups.count; i++)
        suggestion_try(&suggestion, node->groups.items[i].name.text);
    diagnostic_suggest(e->diagnostics, d, suggestion.best);
    if (!is_own && !suggestion.best && type->ports.v.count > 0)
        diagnostic_help(e->diagnostics, d, "its ports are %s", port_names(e, type));
    if (!is_own)
        diagnostic_note(e->diagnostics, d, type->decl->name.span, "'%s' is declared here",
                        type->model.name);
}

bool path_choose(struct elaboration *e, const struct ast_expr *subscript, const struct scope *scope,
                 int64_t size, const char *name, int64_t *first, int64_t *count)
{
    int64_t most = size >= 0 ? size - 1 : (int64_t)ELABORATE_WORK_MAX;
    if (subscript->kind == AST_INDEX || subscript->kind == AST_SLICE) {
        struct type_spec plain = {MODEL_DIM_NONE, NULL};
        struct value low = eval_as(e, subscript->b, scope, plain, NULL);
        struct value high =
            subscript->kind == AST_SLICE ? eval_as(e, subscript->c, scope, plain, NULL) : low;
        if (!low.ok || !high.ok)
            return false;
        if (subscript->half_open)
            high.integer--;
        int64_t wrong = low.integer < 0 || low.integer > most ? low.integer : high.integer;
        if (low.integer < 0 || low.integer > most || high.integer > most
            || high.integer < low.integer - 1) {
            struct diagnostic *d =
                diagnostic_add(e->diagnostics, E0308, subscript->b->span,
                               "'%s[%lld]' does not exist", name, (long long)wrong);
            if (size > 0)
                diagnostic_help(e->diagnostics, d, "'%s' has the elements 0 to %lld", name,
                                (long long)(size - 1));
            return false;
        }
        *first = low.integer;
        *count = high.integer - low.integer + 1;
        return true;
    }
    *first = 0;
    *count = size;
    return true;
}

static void report_missing_subscript(struct elaboration *e, const struct segment *segment)
{
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0407, segment->span, "'%s' is an array",
                                          segment->name.text);
    diagnostic_help(e->diagnostics, d, "write '%s[*]' for all its elements, or '%s[0]' for one",
                    segment->name.text, segment->name.text);
}

/* `[*]`: all elements of an array, or the instance itself if it is no array. */
static bool is_all(const struct ast_expr *subscript)
{
    return subscript->kind == AST_ALL;
}

static void report_needless_subscript(struct elaboration *e, const struct segment *segment)
{
    diagnostic_add(e->diagnostics, E0407, segment->subscript->span, "'%s' is not an array",
                   segment->name.text);
}

static void report_wire(struct elaboration *e, const struct child_group *group,
                        const struct segment *segment)
{
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0205, segment->span,
                                          "'%s' is a wire, which has no ports", segment->name.text);
    diagnostic_note(e->diagnostics, d, group->name.span, "declared here");
    diagnostic_help(e->diagnostics, d, "connections go over it: 'a.x -> b.y via %s'",
                    segment->name.text);
}

/* The children of `node` that one segment names. */
static bool step_segment(struct elaboration *e, struct child_group *group,
                         const struct segment *segment, const struct scope *scope,
                         struct node_list *out)
{
    if (group->is_wrong)
        return false;
    if (group->wires) {
        report_wire(e, group, segment);
        return false;
    }
    if (!segment->subscript) {
        if (group->is_array) {
            report_missing_subscript(e, segment);
            return false;
        }
        vector_push(e->region, &out->v, group->nodes[0]);
        return true;
    }
    if (!group->is_array) {
        if (!is_all(segment->subscript)) {
            report_needless_subscript(e, segment);
            return false;
        }
        vector_push(e->region, &out->v, group->nodes[0]);
        return true;
    }
    int64_t first, count;
    if (!path_choose(e, segment->subscript, scope, group->count, segment->name.text, &first,
                     &count))
        return false;
    if (!elaborate_count_work(e, (uint64_t)count, segment->span))
        return false;
    for (int64_t i = 0; i < count; i++)
        vector_push(e->region, &out->v, group->nodes[first + i]);
    return true;
}

/* Follows the first `count` segments, which must all name instances. */
static bool follow(struct elaboration *e, struct node *from, const struct segments *segments,
                   uint32_t count, const struct scope *scope, struct node_list *out)
{
    vector_push(e->region, &out->v, from);
    for (uint32_t s = 0; s < count; s++) {
        struct node_list next = {0};
        for (uint32_t i = 0; i < out->v.count; i++) {
            struct node *node = out->v.items[i];
            tree_expand(e, node);
            struct child_group *group = tree_group(node, segments->items[s].name.text);
            if (!group) {
                if (node == from || !node->is_damaged)
                    unknown_member(e, node, &segments->items[s], node == from);
                return false;
            }
            if (!step_segment(e, group, &segments->items[s], scope, &next))
                return false;
        }
        *out = next;
    }
    return true;
}

bool path_nodes(struct elaboration *e, struct node *from, const struct ast_expr *path,
                const struct scope *scope, struct node_list *out)
{
    struct segments segments = {.count = 0};
    if (!collect(e, path, &segments))
        return false;
    const struct segment *last = &segments.items[segments.count - 1];
    struct node_list above = {0};
    if (!follow(e, from, &segments, segments.count - 1, scope, &above))
        return false;
    for (uint32_t i = 0; i < above.v.count; i++) {
        struct child_group *group = tree_group(above.v.items[i], last->name.text);
        if (!group) {
            unknown_member(e, above.v.items[i], last, above.v.items[i] == from);
            return false;
        }
        if (!step_segment(e, group, last, scope, out))
            return false;
    }
    return true;
}

bool path_spaces(struct elaboration *e, struct node *from, const struct ast_expr *path,
                 const struct scope *scope, struct node_list *nodes, struct ast_name *name)
{
    struct segments segments = {.count = 0};
    if (!collect(e, path, &segments))
        return false;
    const struct segment *last = &segments.items[segments.count - 1];
    if (!follow(e, from, &segments, segments.count - 1, scope, nodes))
        return false;
    *name = last->name;
    if (last->subscript) {
        report_needless_subscript(e, last);
        return false;
    }
    for (uint32_t i = 0; i < nodes->v.count; i++) {
        struct node *node = nodes->v.items[i];
        bool names_space = false;
        struct suggestion suggestion = suggestion_for(last->name.text);
        for (uint32_t k = 0; k < node->spaces.count; k++) {
            names_space |= strcmp(node->spaces.items[k].item->name.text, last->name.text) == 0;
            suggestion_try(&suggestion, node->spaces.items[k].item->name.text);
        }
        if (names_space)
            continue;
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0205, last->span, "%s has no space called '%s'",
                           where_text(e, node), last->name.text);
        diagnostic_suggest(e->diagnostics, d, suggestion.best);
        return false;
    }
    return true;
}

static bool add_ports(struct elaboration *e, struct node *node, uint32_t port,
                      const struct segment *segment, const struct scope *scope,
                      struct port_ranges *out)
{
    const struct ast_item *item = node->object.type->ports.v.items[port];
    bool is_array = item->unsized || item->size;
    struct port_range range = {.node = node, .port = port, .count = 1, .span = segment->span};
    if (!segment->subscript && is_array) {
        report_missing_subscript(e, segment);
        return false;
    }
    if (segment->subscript && !is_array && !is_all(segment->subscript)) {
        report_needless_subscript(e, segment);
        return false;
    }
    if (segment->subscript && is_all(segment->subscript)) {
        range.all = true;
    } else if (segment->subscript) {
        int64_t size = item->unsized ? -1 : port_count(e, node, port);
        int64_t first, count;
        if (!item->unsized && size < 0)
            return false; /* its size is bad, which is already said */
        if (!path_choose(e, segment->subscript, scope, size, segment->name.text, &first, &count))
            return false;
        range.first = (uint32_t)first;
        range.count = (uint32_t)count;
    }
    vector_push(e->region, &out->v, range);
    return true;
}

static bool path_ports(struct elaboration *e, struct node *from, const struct ast_expr *path,
                       const struct scope *scope, struct port_ranges *out)
{
    struct segments segments = {.count = 0};
    if (!collect(e, path, &segments))
        return false;
    const struct segment *last = &segments.items[segments.count - 1];
    struct node_list nodes = {0};
    if (!follow(e, from, &segments, segments.count - 1, scope, &nodes))
        return false;
    if (!elaborate_count_work(e, nodes.v.count, last->span))
        return false;
    for (uint32_t i = 0; i < nodes.v.count; i++) {
        struct node *node = nodes.v.items[i];
        int32_t port = item_list_find(&node->object.type->ports, last->name.text);
        if (port < 0 && tree_group(node, last->name.text)
            && tree_group(node, last->name.text)->wires) {
            report_wire(e, tree_group(node, last->name.text), last);
            return false;
        }
        if (port < 0 && tree_group(node, last->name.text)
            && !tree_group(node, last->name.text)->is_wrong) {
            struct diagnostic *d = diagnostic_add(
                e->diagnostics, E0205, last->span,
                "'%s' is an instance; a connection needs one of its ports", last->name.text);
            struct child_group *group = tree_group(node, last->name.text);
            if (group->count > 0 && group->nodes[0]->object.type->ports.v.count > 0)
                diagnostic_help(e->diagnostics, d, "for example '%s.%s'",
                                source_slice(e->program->sources, path->span),
                                group->nodes[0]->object.type->ports.v.items[0]->name.text);
            return false;
        }
        if (port < 0) {
            if (!tree_group(node, last->name.text))
                unknown_member(e, node, last, node == from);
            return false;
        }
        if (!add_ports(e, node, (uint32_t)port, last, scope, out))
            return false;
    }
    return true;
}

/* True if all of one side may be there: requesters left, servers right. */
static bool right_way(const struct node *in, const struct port_ranges *ranges, bool is_left)
{
    for (uint32_t i = 0; i < ranges->v.count; i++) {
        const struct port_range *range = &ranges->v.items[i];
        bool port_is_in = range->node->object.type->ports.v.items[range->port]->is_in;
        if (port_is_in != (is_left == (range->node == in)))
            return false;
    }
    return true;
}

static void check_direction(struct elaboration *e, struct node *node, struct statement *s)
{
    bool left = right_way(node, &s->left, true), right = right_way(node, &s->right, false);
    if (left && right)
        return;
    const struct port_range *range = !left ? &s->left.v.items[0] : &s->right.v.items[0];
    const struct ast_item *port = range->node->object.type->ports.v.items[range->port];
    const struct ast_exprs *side = !left ? s->item->left : s->item->right;
    struct diagnostic *d;
    if (range->node == node)
        d = diagnostic_add(e->diagnostics, E0404, side->span,
                           "'%s' is an '%s' port of '%s': inside, it stands %s '->'",
                           port->name.text, port->is_in ? "in" : "out",
                           node->object.type->model.name, port->is_in ? "left of" : "right of");
    else
        d = diagnostic_add(e->diagnostics, E0404, side->span,
                           "'%s' is an '%s' port: it stands %s '->'", port->name.text,
                           port->is_in ? "in" : "out", port->is_in ? "right of" : "left of");
    diagnostic_note(e->diagnostics, d, port->name.span, "declared here");
    bool swap = right_way(node, &s->left, false) && right_way(node, &s->right, true);
    if (swap)
        diagnostic_help(e->diagnostics, d, "swap the sides: '%s -> %s'",
                        source_slice(e->program->sources, s->item->right->span),
                        source_slice(e->program->sources, s->item->left->span));
    else
        diagnostic_help(e->diagnostics, d, "requests go from an 'out' port to an 'in' port");
    s->is_wrong = true;
}

void statement_resolve(struct elaboration *e, struct node *node, struct statement *s)
{
    if (s->is_resolved)
        return;
    s->is_resolved = true;
    const struct ast_item *item = s->item;
    bool fine = true;
    for (uint32_t i = 0; i < item->left->v.count; i++)
        fine &= path_ports(e, node, item->left->v.items[i], &s->scope, &s->left);
    for (uint32_t i = 0; i < item->right->v.count; i++)
        fine &= path_ports(e, node, item->right->v.items[i], &s->scope, &s->right);
    if (item->otherwise)
        fine &= path_ports(e, node, item->otherwise, &s->scope, &s->otherwise);
    s->is_wrong |= !fine;
    if (fine && s->left.v.count > 0 && s->right.v.count > 0)
        check_direction(e, node, s);
    if (s->is_wrong)
        node->is_damaged = true;
}

struct value path_count(struct elaboration *e, const struct ast_expr *x, const struct scope *scope)
{
    static const struct value bad = {.ok = false};
    struct value result = {.ok = true, .dimension = MODEL_DIM_NONE};
    struct object *object = scope->object;
    struct node *node = object->node;
    if (&node->object != object) {
        int32_t part =
            x->kind == AST_NAME ? item_list_find(&object->type->parts, x->name.text) : -1;
        if (part >= 0 && object->slots[part].done) {
            result.integer = object->slots[part].count;
            return result;
        }
        diagnostic_add(e->diagnostics, E0202, x->span, "a part has no ports or instances to count");
        return bad;
    }
    if (x->kind == AST_NAME) {
        struct child_group *group = tree_group(node, x->name.text);
        int32_t port = item_list_find(&object->type->ports, x->name.text);
        if (group) {
            result.integer = group->wires ? group->wires->count : group->count;
            return group->is_wrong ? bad : result;
        }
        if (port >= 0) {
            result.integer = port_count(e, node, (uint32_t)port);
            if (result.integer >= 0)
                return result;
            if (!e->is_standalone && (!node->parent || !node->parent->is_damaged)
                && node->ports[port].state != COUNT_BAD && !node->is_damaged) {
                struct diagnostic *d =
                    diagnostic_add(e->diagnostics, E0408, x->span,
                                   "the count of '%s' cannot be determined here", x->name.text);
                diagnostic_help(e->diagnostics, d,
                                "it follows from the connections, and one of them depends on it");
            }
            return bad;
        }
        struct segment segment = {x->name, NULL, x->span};
        unknown_member(e, node, &segment, true);
        return bad;
    }
    struct port_ranges ranges = {0};
    if (!path_ports(e, node, x, scope, &ranges))
        return bad;
    result.integer = ranges_total(e, &ranges);
    return result.integer >= 0 ? result : bad;
}

struct value path_value(struct elaboration *e, const struct ast_expr *x, const struct scope *scope)
{
    static const struct value bad = {.ok = false};
    struct node_list nodes = {0};
    struct object *object = scope->object;
    if (&object->node->object != object) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0202, x->span,
                                              "a part has no ports or instances to ask");
        diagnostic_help(e->diagnostics, d,
                        "pass the value on where the part is made: '{ %s = ...; }'", x->name.text);
        return bad;
    }
    int32_t port =
        x->a->kind == AST_NAME ? item_list_find(&object->type->ports, x->a->name.text) : -1;
    if (port >= 0)
        return connected_value(e, x, object->node, (uint32_t)port);
    if (!path_nodes(e, object->node, x->a, scope, &nodes))
        return bad;
    if (nodes.v.count != 1) {
        diagnostic_add(e->diagnostics, E0407, x->a->span,
                       "one instance is needed to ask for its '%s'", x->name.text);
        return bad;
    }
    struct object *child = &nodes.v.items[0]->object;
    int32_t param = item_list_find(&child->type->params, x->name.text);
    if (param >= 0)
        return object_value(e, child, (uint32_t)param);
    struct suggestion suggestion = suggestion_for(x->name.text);
    for (uint32_t i = 0; i < child->type->params.v.count; i++)
        suggestion_try(&suggestion, child->type->params.v.items[i]->name.text);
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0204, x->name.span, "'%s' has no parameter '%s'",
                       child->type->model.name, x->name.text);
    diagnostic_suggest(e->diagnostics, d, suggestion.best);
    return bad;
}
