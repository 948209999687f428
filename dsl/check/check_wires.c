/* Checks wires that connections share: two ends, with one instance at one of them. */
#include "check.h"

static bool meets(const struct wire *wire, const struct node *node)
{
    return (wire_side(wire, &wire->left) == node) != (wire_side(wire, &wire->right) == node);
}

/* The first use that has not `node` at exactly one of its ends; NULL: none. */
static const struct wire *stranger_to(const struct shared_wire *wire, const struct node *node)
{
    for (uint32_t i = 0; i < wire->uses.count; i++)
        if (!meets(wire->uses.items[i], node))
            return wire->uses.items[i];
    return NULL;
}

static const char *side_name(const struct node *node, const struct wire *wire)
{
    return node == wire->written_in ? "the outside" : node->object.path;
}

static void report(struct elaboration *e, const struct shared_wire *wire,
                   const struct wire *stranger)
{
    const struct wire *first = wire->uses.items[0];
    struct node *left = wire_side(first, &first->left), *right = wire_side(first, &first->right);
    struct span span = stranger->statement->item->span;
    if (left == right) {
        diagnostic_add(e->diagnostics, E0414, span,
                       "'%s' begins and ends at '%s', so it has no direction there", wire->path,
                       side_name(left, first));
        return;
    }
    struct diagnostic *d = diagnostic_add(
        e->diagnostics, E0414, span, "'%s' has more than two ends: this joins '%s' and '%s'",
        wire->path, side_name(wire_side(stranger, &stranger->left), stranger),
        side_name(wire_side(stranger, &stranger->right), stranger));
    diagnostic_note(e->diagnostics, d, first->statement->item->span,
                    "the first connection over it joins '%s' and '%s'", side_name(left, first),
                    side_name(right, first));
    diagnostic_help(e->diagnostics, d,
                    "all connections of a wire have one instance in common, at one end of it; "
                    "declare more wires: '%s[n]'",
                    wire->group->item->name.text);
}

static void find_end(struct elaboration *e, struct shared_wire *wire)
{
    const struct wire *first = wire->uses.items[0];
    struct node *sides[] = {wire_side(first, &first->right), wire_side(first, &first->left)};
    const struct wire *strangers[2];
    for (int i = 0; i < 2; i++) {
        strangers[i] = stranger_to(wire, sides[i]);
        if (!strangers[i]) {
            wire->end = sides[i];
            return;
        }
    }
    /* the later of the two is where it goes wrong for whatever end is meant */
    uint32_t at = 0;
    for (uint32_t i = 0; i < wire->uses.count; i++)
        if (wire->uses.items[i] == strangers[0] || wire->uses.items[i] == strangers[1])
            at = i;
    report(e, wire, wire->uses.items[at]);
}

static void report_unused(struct elaboration *e, const struct wire_group *group, uint32_t unused,
                          const struct shared_wire *wire)
{
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, W0705, group->item->name.span, "nothing goes over '%s'",
                       unused == group->count ? group->item->name.text : wire->path);
    diagnostic_help(e->diagnostics, d,
                    "name it in a connection: 'a.x -> b.y via %s%s', or remove it",
                    group->item->name.text, group->is_array ? "[*]" : "");
}

static void run_wires(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->wire_groups.count; i++) {
        struct wire_group *group = e->wire_groups.items[i];
        const struct shared_wire *one = NULL;
        uint32_t unused = 0, errors = e->diagnostics->error_count;
        if (group->node->damaged)
            continue;
        for (uint32_t k = 0; k < group->count; k++) {
            struct shared_wire *wire = &group->wires[k];
            if (wire->uses.count > 0 && e->diagnostics->error_count == errors)
                find_end(e, wire);
            one = wire->uses.count == 0 && !one ? wire : one;
            unused += wire->uses.count == 0;
        }
        if (one)
            report_unused(e, group, unused, one);
    }
}

const struct check check_wires = {
    .name = "wire", .code = E0414, .run = run_wires, .in_standalone = true};
