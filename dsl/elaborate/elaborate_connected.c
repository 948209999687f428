/* Parameters of what is connected to a port, as expressions ask for them: `work.vgprs`.
 *
 * The search starts at the statements around the instance that mention its port. A port of a
 * composite stands for what is connected to it on the other side of the boundary; a connection
 * `via` an interconnect leads to all of its other side. Elements of an array are not told apart.
 * The search is on demand, as that for counts is, so a value may depend on it while the tree's
 * other values are not known yet. */
#include <string.h>

#include "elaborate.h"

/* A search, and its result so far. */
struct search {
    struct elaboration *e;
    struct span span; /* span of the expression */
    struct node_list leaves;
    uint32_t depth; /* boundaries that were crossed */
    bool fine;
};

static void search_body(struct search *s, struct node *body, const struct node *node,
                        uint32_t port);

/* Adds the instances that one side of a statement in `body` leads to. */
static void add_side(struct search *s, struct node *body, const struct port_ranges *side)
{
    for (uint32_t i = 0; i < side->v.count; i++) {
        const struct port_range *range = &side->v.items[i];
        s->fine &= elaborate_count_work(s->e, 1, s->span);
        if (!s->fine)
            return;
        if (range->node == body && body->parent)
            search_body(s, body->parent, body, range->port);
        else if (range->node->object.type->model.is_composite)
            search_body(s, range->node, range->node, range->port);
        else
            vector_push(s->e->region, &s->leaves.v, range->node);
    }
}

static bool mentions(const struct port_ranges *side, const struct node *node, uint32_t port)
{
    for (uint32_t i = 0; i < side->v.count; i++)
        if (side->v.items[i].node == node && side->v.items[i].port == port)
            return true;
    return false;
}

static void search_body(struct search *s, struct node *body, const struct node *node, uint32_t port)
{
    if (s->depth == 2 * ELABORATE_DEPTH_MAX)
        return; /* composites that pass it on in a circle */
    s->depth++;
    tree_expand(s->e, body);
    for (uint32_t i = 0; i < body->statements.count; i++) {
        struct statement *statement = body->statements.items[i];
        statement_resolve(s->e, body, statement);
        s->fine &= !statement->is_wrong;
        if (mentions(&statement->left, node, port)) {
            add_side(s, body, &statement->right);
            add_side(s, body, &statement->otherwise);
        }
        if (mentions(&statement->right, node, port) || mentions(&statement->otherwise, node, port))
            add_side(s, body, &statement->left);
    }
    s->depth--;
}

static struct value unconnected(struct elaboration *e, const struct ast_expr *x)
{
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0315, x->span,
                       "nothing is connected to '%s' that could be asked for its '%s'",
                       x->a->name.text, x->name.text);
    diagnostic_help(e->diagnostics, d, "connect the port, or give the value");
    return (struct value){.ok = false};
}

static struct value lacking(struct elaboration *e, const struct ast_expr *x,
                            const struct object *object)
{
    struct diagnostic *d = diagnostic_add(
        e->diagnostics, E0315, object->span,
        "'%s' is connected to '%s', which asks for its '%s': '%s' has no such parameter",
        object->path, x->a->name.text, x->name.text, object->type->model.name);
    diagnostic_note(e->diagnostics, d, x->span, "it is asked for here");
    return (struct value){.ok = false};
}

static void say_difference(struct elaboration *e, const struct ast_expr *x,
                           const struct node *first, const struct value *here,
                           const struct node *other, const struct value *there)
{
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0315, other->object.span,
                       "what is connected to '%s' needs one '%s': it is %s of '%s' and %s of '%s'",
                       x->a->name.text, x->name.text, value_text(e, here), first->object.path,
                       value_text(e, there), other->object.path);
    diagnostic_note(e->diagnostics, d, x->span, "it is asked for here");
}

static bool same_value(const struct value *a, const struct value *b)
{
    bool same_text =
        a->string == b->string || (a->string && b->string && !strcmp(a->string, b->string));
    return a->dimension == b->dimension && a->integer == b->integer && same_text;
}

struct value connected_value(struct elaboration *e, const struct ast_expr *x, struct node *node,
                             uint32_t port)
{
    static const struct value bad = {.ok = false};
    struct search s = {.e = e, .span = x->span, .fine = true};
    if (!node->parent)
        return bad;
    search_body(&s, node->parent, node, port);
    if (!s.fine || s.leaves.v.count == 0)
        return s.fine && !node->parent->is_damaged ? unconnected(e, x) : bad;
    struct value first = bad;
    for (uint32_t i = 0; i < s.leaves.v.count; i++) {
        struct object *object = &s.leaves.v.items[i]->object;
        int32_t param = item_list_find(&object->type->params, x->name.text);
        struct value value = param < 0 ? lacking(e, x, object) : object_value(e, object, param);
        if (!value.ok)
            return bad;
        if (i > 0 && !same_value(&value, &first)) {
            say_difference(e, x, s.leaves.v.items[0], &first, s.leaves.v.items[i], &value);
            return bad;
        }
        first = value;
    }
    return first;
}
