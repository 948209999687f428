/* Wires. Every statement of every composite becomes wires between ports of nodes, one for each
 * pair; `via` an interconnect becomes wires to and from it. Then every leaf's `out` port is
 * followed along the wires, through the boundaries of composites, to the `in` port of a leaf: that
 * is a connection of the model, with the one latency or link that the wires on the way carry. */
#include <string.h>

#include "elaborate.h"

struct port_end *wire_end_at(struct elaboration *e, const struct wire_end *at)
{
    struct port_group *group = &at->node->ports[at->port];
    if (port_count(e, at->node, at->port) < 0 || at->element >= group->count)
        return NULL;
    if (!group->ends)
        group->ends = region_take(e->region, group->count * sizeof *group->ends);
    return &group->ends[at->element];
}

const char *wire_end_text(struct elaboration *e, const struct wire_end *at)
{
    const struct ast_item *port = at->node->object.type->ports.v.items[at->port];
    bool is_array = port->unsized || port->size;
    const char *dot = at->node->object.path[0] != '\0' ? "." : "";
    if (is_array)
        return region_printf(e->region, "%s%s%s[%u]", at->node->object.path, dot, port->name.text,
                             at->element);
    return region_printf(e->region, "%s%s%s", at->node->object.path, dot, port->name.text);
}

/* Puts a wire at one of its ends, unless another is there. */
static bool attach(struct elaboration *e, struct wire *wire, const struct wire_end *at,
                   struct span span)
{
    struct port_end *end = wire_end_at(e, at);
    if (!end)
        return false;
    struct wire **place = at->node == wire->written_in ? &end->inner : &end->outer;
    if (*place) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0402, span,
                                              "'%s' is connected twice", wire_end_text(e, at));
        diagnostic_note(e->diagnostics, d, (*place)->statement->item->span, "first connected here");
        diagnostic_help(e->diagnostics, d,
                        "several on one port need an interconnect: 'via NAME = crossbar'");
        return false;
    }
    *place = wire;
    return true;
}

/* All wires of a statement are alike but for their ends. */
static struct wire wire_without_ends(struct node *node, const struct statement *s,
                                     struct link_use *link)
{
    return (struct wire){
        .written_in = node, .statement = s, .link = link, .latency = s->item->latency};
}

static void add_wire(struct elaboration *e, struct wire like, struct wire_end left,
                     struct wire_end right)
{
    const struct ast_item *item = like.statement->item;
    if (!elaborate_count_work(e, 4, item->span))
        return;
    struct wire *wire = region_take(e->region, sizeof *wire);
    *wire = like;
    wire->left = left;
    wire->right = right;
    if (wire->shared_wire)
        vector_push(e->region, &wire->shared_wire->uses, wire);
    bool fine = attach(e, wire, &wire->left, item->left->span);
    fine &= attach(e, wire, &wire->right, item->right->span);
    if (!fine)
        wire->written_in->is_damaged = true;
    vector_push(e->region, &e->wires, wire);
}

/* The flat list of a side. False when a count is not known. */
struct ends {
    VECTOR(struct wire_end) v;
};

static bool flatten(struct elaboration *e, struct node *node, const struct port_ranges *ranges,
                    struct ends *out)
{
    for (uint32_t i = 0; i < ranges->v.count; i++) {
        const struct port_range *range = &ranges->v.items[i];
        int64_t total = port_count(e, range->node, range->port);
        if (total < 0) {
            bool silent = e->is_standalone || range->node->is_damaged || node->is_damaged
                          || range->node->ports[range->port].state == COUNT_BAD || e->must_stop;
            if (!silent) {
                const char *name = range->node->object.type->ports.v.items[range->port]->name.text;
                struct diagnostic *d =
                    diagnostic_add(e->diagnostics, E0408, range->span,
                                   "the number of elements of '%s' cannot be determined", name);
                diagnostic_note(
                    e->diagnostics, d,
                    range->node->object.type->ports.v.items[range->port]->name.span,
                    "its count follows from what it is connected to, and that is not known either");
                diagnostic_help(e->diagnostics, d,
                                "name the elements, e.g. '%s[0]', or give one side a size", name);
            }
            node->is_damaged = true;
            return false;
        }
        uint32_t count = range->all ? (uint32_t)total : range->count;
        if (!elaborate_count_work(e, count, range->span))
            return false;
        for (uint32_t k = 0; k < count; k++) {
            struct wire_end end = {range->node, range->port, range->first + k};
            if (end.element < total)
                vector_push(e->region, &out->v, end);
        }
    }
    return true;
}

/* Notes where the number of a side comes from, when it is one array. */
static void note_count(struct elaboration *e, struct diagnostic *d, const struct ends *side,
                       const char *which)
{
    if (side->v.count < 2)
        return;
    const struct wire_end *first = &side->v.items[0], *last = &side->v.items[side->v.count - 1];
    const struct ast_item *port = first->node->object.type->ports.v.items[first->port];
    if (first->node == last->node)
        diagnostic_note(e->diagnostics, d, port->name.span, "the %u on the %s: elements of '%s'",
                        side->v.count, which, port->name.text);
    else if (first->node->item && first->node->item == last->node->item)
        diagnostic_note(e->diagnostics, d, first->node->span, "the %u on the %s: one for each '%s'",
                        side->v.count, which, first->node->item->name.text);
}

static void unequal(struct elaboration *e, struct node *node, const struct statement *s,
                    const struct ends *ends_left, const struct ends *ends_right)
{
    uint32_t left = ends_left->v.count, right = ends_right->v.count;
    struct span span = {s->item->left->span.begin, s->item->right->span.end};
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0405, span, "%u port%s on the left, %u on the right", left,
                       left == 1 ? "" : "s", right);
    note_count(e, d, ends_left, "left");
    note_count(e, d, ends_right, "right");
    if (left > 0 && right > 0)
        diagnostic_help(e->diagnostics, d,
                        "'->' pairs one to one; to connect all to all write 'via NAME = crossbar'");
    node->is_damaged = true;
}

/* Over shared wires, declared by themselves. */
static void connect_over(struct elaboration *e, struct node *node, const struct statement *s,
                         const struct ends *left, const struct ends *right)
{
    uint32_t step;
    struct shared_wire *wire = wires_choose(e, s, left->v.count, &step);
    if (!wire) {
        node->is_damaged = true;
        return;
    }
    struct link_use *use = region_take(e->region, sizeof *use);
    *use = (struct link_use){s->item->via.text, s->wires->link};
    struct wire like = wire_without_ends(node, s, use);
    for (uint32_t i = 0; i < left->v.count; i++, wire += step) {
        like.shared_wire = wire;
        add_wire(e, like, left->v.items[i], right->v.items[i]);
    }
}

static void connect_pairs(struct elaboration *e, struct node *node, const struct statement *s,
                          const struct ends *left, const struct ends *right)
{
    if (s->item->by || s->item->otherwise || s->over) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0406, s->item->span,
                                              "'by space', 'else' and 'over' need an interconnect");
        diagnostic_help(e->diagnostics, d, "write 'via NAME = crossbar by space ...'");
        node->is_damaged = true;
        return;
    }
    if (left->v.count != right->v.count) {
        unequal(e, node, s, left, right);
        return;
    }
    if (s->wires) {
        connect_over(e, node, s, left, right);
        return;
    }
    for (uint32_t i = 0; i < left->v.count; i++)
        add_wire(e, wire_without_ends(node, s, s->link), left->v.items[i], right->v.items[i]);
}

static bool same_ends(const struct ends *a, const struct ends *b)
{
    if (a->v.count != b->v.count)
        return false;
    for (uint32_t i = 0; i < a->v.count; i++)
        if (a->v.items[i].node != b->v.items[i].node || a->v.items[i].port != b->v.items[i].port
            || a->v.items[i].element != b->v.items[i].element)
            return false;
    return true;
}

/* Position of this statement's first source among the interconnect's inputs. */
static int64_t sources_before(struct elaboration *e, const struct statement *s)
{
    int64_t base = 0;
    for (uint32_t i = 0; s->interconnect->routes.items[i] != s; i++) {
        int64_t count = ranges_total(e, &s->interconnect->routes.items[i]->left);
        if (count < 0)
            return -1;
        base += count;
    }
    return base;
}

static void connect_through(struct elaboration *e, struct node *node, const struct statement *s,
                            const struct ends *left, const struct ends *right)
{
    struct node *x = s->interconnect;
    struct statement *first = x->routes.items[0];
    int64_t base = first->is_wrong ? -1 : sources_before(e, s);
    if (base < 0 || port_count(e, x, (uint32_t)x->in_port) < 0
        || port_count(e, x, (uint32_t)x->out_port) < 0) {
        node->is_damaged = true;
        return;
    }
    struct wire like = wire_without_ends(node, s, s->over);
    for (uint32_t i = 0; i < left->v.count; i++) {
        struct wire_end in = {x, (uint32_t)x->in_port, (uint32_t)base + i};
        add_wire(e, like, left->v.items[i], in);
    }
    if (s != first) {
        struct ends targets = {0};
        flatten(e, node, &first->right, &targets);
        if (same_ends(right, &targets))
            return;
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0406, s->item->right->span,
                                              "'%s' has other targets already", s->item->via.text);
        diagnostic_note(e->diagnostics, d, first->item->span,
                        "it is made here; later connections add sources only");
        node->is_damaged = true;
        return;
    }
    for (uint32_t i = 0; i < right->v.count; i++) {
        struct wire_end out = {x, (uint32_t)x->out_port, i};
        add_wire(e, like, out, right->v.items[i]);
    }
    struct ends otherwise = {0};
    if (!flatten(e, node, &s->otherwise, &otherwise))
        return;
    if (s->item->otherwise && otherwise.v.count != 1) {
        diagnostic_add(e->diagnostics, E0405, s->item->otherwise->span,
                       "'else' leads to one port, these are %u", otherwise.v.count);
        node->is_damaged = true;
        return;
    }
    if (otherwise.v.count == 1) {
        struct wire_end out = {x, (uint32_t)x->out_port, right->v.count};
        add_wire(e, like, out, otherwise.v.items[0]);
    }
}

static void connect_node(struct elaboration *e, struct node *node)
{
    for (uint32_t i = 0; i < node->statements.count; i++)
        statement_resolve(e, node, node->statements.items[i]);
    for (uint32_t i = 0; i < node->statements.count && !e->must_stop; i++) {
        struct statement *s = node->statements.items[i];
        struct ends left = {0}, right = {0};
        if (s->is_wrong || !flatten(e, node, &s->left, &left)
            || !flatten(e, node, &s->right, &right))
            continue;
        if (s->interconnect)
            connect_through(e, node, s, &left, &right);
        else
            connect_pairs(e, node, s, &left, &right);
    }
}

void connect_all(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->nodes.count && !e->must_stop; i++)
        if (e->nodes.items[i]->object.type->model.is_composite)
            connect_node(e, e->nodes.items[i]);
}
