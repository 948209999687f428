/* Counts of port arrays.
 *
 * The count of an unsized array follows from the connections that mention it, inside of its
 * composite or outside. The search is on demand and looks only at statements that mention the
 * array; an array that is being searched for is unknown when it is asked for again, so cycles end.
 * A composite whose body asks for count(port) is given the count from outside; any other gets it
 * from its inside first. */
#include <string.h>

#include "base/number.h"

#include "elaborate.h"

int64_t ranges_total(struct elaboration *e, const struct port_ranges *ranges)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < ranges->v.count; i++) {
        const struct port_range *range = &ranges->v.items[i];
        int64_t count = range->all ? port_count(e, range->node, range->port) : range->count;
        if (count < 0)
            return -1;
        total += count;
    }
    return total;
}

enum { UNMENTIONED = -2, UNDETERMINED = -1 };

/* The count of an array that one side of a statement implies: the rest of the side is known, the
 * other side is known. */
static int64_t count_from_side(struct elaboration *e, const struct port_ranges *side,
                               const struct port_ranges *other, const struct node *node,
                               uint32_t port, bool pairs)
{
    int64_t best = UNMENTIONED;
    for (uint32_t i = 0; i < side->v.count; i++) {
        const struct port_range *range = &side->v.items[i];
        if (range->node != node || range->port != port)
            continue;
        if (!range->all) {
            int64_t end = (int64_t)range->first + range->count;
            best = max(end, best);
            continue;
        }
        int64_t rest = pairs ? ranges_total(e, other) : -1;
        for (uint32_t k = 0; k < side->v.count && rest >= 0; k++) {
            const struct port_range *sibling = &side->v.items[k];
            if (k == i)
                continue;
            int64_t count =
                sibling->all ? port_count(e, sibling->node, sibling->port) : sibling->count;
            rest = count < 0 || count > rest ? -1 : rest - count;
        }
        if (rest < 0)
            return UNDETERMINED;
        best = max(rest, best);
    }
    return best;
}

static int64_t count_from(struct elaboration *e, struct node *body, struct node *node,
                          uint32_t port)
{
    int64_t best = UNMENTIONED;
    tree_expand(e, body);
    for (uint32_t i = 0; i < body->statements.count; i++) {
        struct statement *s = body->statements.items[i];
        statement_resolve(e, body, s);
        if (s->is_wrong)
            continue;
        bool pairs = !s->interconnect;
        int64_t left = count_from_side(e, &s->left, &s->right, node, port, pairs);
        int64_t right = count_from_side(e, &s->right, &s->left, node, port, pairs);
        int64_t other = count_from_side(e, &s->otherwise, &s->otherwise, node, port, false);
        if (left == UNDETERMINED || right == UNDETERMINED || other == UNDETERMINED)
            return UNDETERMINED;
        int64_t most = max(left, right);
        most = max(other, most);
        best = max(most, best);
    }
    return best;
}

static int64_t interconnect_count(struct elaboration *e, struct node *node, uint32_t port)
{
    int64_t total = 0;
    if ((int32_t)port == node->out_port) {
        struct statement *first = node->routes.items[0];
        statement_resolve(e, node->parent, first);
        if (first->is_wrong)
            return -1;
        total = ranges_total(e, &first->right);
        return total < 0 ? -1 : total + (first->otherwise.v.count > 0);
    }
    for (uint32_t i = 0; i < node->routes.count; i++) {
        struct statement *s = node->routes.items[i];
        statement_resolve(e, node->parent, s);
        int64_t count = s->is_wrong ? -1 : ranges_total(e, &s->left);
        if (count < 0)
            return -1;
        total += count;
    }
    return total;
}

/* True if the body of a type has `count(name)` in it. */
static bool expr_counts(const struct ast_expr *x, const char *name)
{
    if (!x)
        return false;
    if (x->kind == AST_CALL && strcmp(x->name.text, "count") == 0 && x->list) {
        const struct ast_expr *argument = x->list->v.items[0];
        while (argument->kind == AST_ALL || argument->kind == AST_INDEX
               || argument->kind == AST_SLICE)
            argument = argument->a;
        if (argument->kind == AST_NAME && strcmp(argument->name.text, name) == 0)
            return true;
    }
    for (uint32_t i = 0; x->kind == AST_CALL && x->list && i < x->list->v.count; i++)
        if (expr_counts(x->list->v.items[i], name))
            return true;
    return expr_counts(x->a, name) || expr_counts(x->b, name) || expr_counts(x->c, name);
}

static bool body_counts(const struct ast_items *body, const char *name)
{
    for (uint32_t i = 0; body && i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        if (expr_counts(item->value, name) || expr_counts(item->size, name)
            || expr_counts(item->low, name) || expr_counts(item->high, name)
            || expr_counts(item->each, name) || body_counts(item->body, name)
            || body_counts(item->otherwise_body, name))
            return true;
    }
    return false;
}

static int64_t unsized_count(struct elaboration *e, struct node *node, uint32_t port)
{
    if (node->model.is_interconnect && node->has_interconnect_ports)
        return interconnect_count(e, node, port);
    int64_t inside = UNMENTIONED, outside = UNMENTIONED;
    const char *name = node->object.type->ports.v.items[port]->name.text;
    if (node->object.type->model.is_composite && !body_counts(node->object.type->decl->body, name))
        inside = count_from(e, node, node, port);
    if (inside >= 0)
        return inside;
    for (struct node *around = node->parent; around && outside == UNMENTIONED;
         around = around->parent)
        if (around == node->parent || around->has_inserted)
            outside = count_from(e, around, node, port);
    if (!node->parent && e->is_standalone)
        return inside == UNMENTIONED ? 1 : UNDETERMINED;
    if (outside >= 0)
        return outside;
    return outside == UNMENTIONED && node->parent ? 0 : UNDETERMINED;
}

int64_t port_count(struct elaboration *e, struct node *node, uint32_t port)
{
    struct port_group *group = &node->ports[port];
    const struct ast_item *item = node->object.type->ports.v.items[port];
    if (group->state == COUNT_KNOWN)
        return group->count;
    if (group->state != COUNT_UNSET)
        return -1;
    group->state = COUNT_BUSY;
    int64_t count = 1;
    struct scope scope = {&node->object, NULL};
    if (item->size && !eval_count(e, item->size, &scope, 0, 1 << 20, &count)) {
        group->state = COUNT_BAD;
        return -1;
    }
    if (item->unsized)
        count = unsized_count(e, node, port);
    if (count > (1 << 20)
        || (count > 0 && !elaborate_count_work(e, (uint64_t)count, item->name.span)))
        count = -1;
    group->state = count >= 0 ? COUNT_KNOWN : COUNT_UNSET;
    group->count = count >= 0 ? (uint32_t)count : 0;
    return count;
}
