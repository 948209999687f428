/* Address maps: spaces (which instances hold which bytes of an interleaved range), their places in
 * the physical address space (`map`), and partitions. */
#include <string.h>

#include "dsl/quantity.h"

#include "elaborate.h"

/* Bytes or a plain number (an address may be written 0x1000). */
static bool eval_bytes(struct elaboration *e, const struct ast_expr *x, const struct scope *scope,
                       bool plain, int64_t *result)
{
    struct value value = eval(e, x, scope, NULL);
    if (!value.ok)
        return false;
    if (value.dimension == MODEL_DIM_BYTES || (plain && value.dimension == MODEL_DIM_NONE)) {
        *result = value.integer;
        return true;
    }
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0301, x->span, "expected bytes, this is %s (%s)",
                       quantity_dimension_name(value.dimension), value_text(e, &value));
    if (value.dimension == MODEL_DIM_NONE && x->kind == AST_NUMBER)
        diagnostic_help(e->diagnostics, d, "a unit is missing: write '%lldB'",
                        (long long)value.integer);
    return false;
}

static bool space_targets(struct elaboration *e, struct node *node, const struct space_entry *entry,
                          struct model_space *space)
{
    struct node_list nodes = {0};
    for (uint32_t i = 0; i < entry->item->left->v.count; i++)
        if (!path_nodes(e, node, entry->item->left->v.items[i], &entry->scope, &nodes))
            return false;
    if (nodes.v.count == 0) {
        diagnostic_add(e->diagnostics, E0503, entry->item->left->span,
                       "a space needs at least one target");
        return false;
    }
    space->targets = region_take(e->region, nodes.v.count * sizeof(struct model_instance *));
    space->target_count = nodes.v.count;
    for (uint32_t i = 0; i < nodes.v.count; i++)
        space->targets[i] = &nodes.v.items[i]->model;
    return true;
}

static bool is_power(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static bool set_hashed(struct elaboration *e, const struct space_entry *entry,
                       struct model_space *space)
{
    const struct ast_item *item = entry->item;
    if (!item->hashed)
        return true;
    struct value value =
        eval_as(e, item->hashed, &entry->scope, (struct type_spec){MODEL_DIM_BOOL, NULL}, NULL);
    space->hashed = value.integer != 0;
    if (value.ok && space->hashed && !is_power(space->target_count)) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0303, item->span,
                                              "%u targets are hashed, which is not a power of two",
                                              space->target_count);
        diagnostic_help(e->diagnostics, d, "leave out 'hashed', or have a power of two of them");
        return false;
    }
    return value.ok;
}

static struct model_space *make_space(struct elaboration *e, struct node *node,
                                      const struct space_entry *entry)
{
    const struct ast_item *item = entry->item;
    struct model_space *space = region_take(e->region, sizeof *space);
    int64_t each, interleave;
    if (!space_targets(e, node, entry, space)
        || !eval_bytes(e, item->each, &entry->scope, false, &each))
        return NULL;
    interleave = each;
    if (item->interleave && !eval_bytes(e, item->interleave, &entry->scope, false, &interleave))
        return NULL;
    if (each < 1 || each > INT64_MAX / space->target_count) {
        diagnostic_add(e->diagnostics, E0302, item->each->span,
                       "the size of each target is not in 1B .. 8EiB");
        return NULL;
    }
    if (interleave < 1 || each % interleave != 0) {
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0502, item->interleave->span,
                           "%s is not a whole number of pieces of %s",
                           quantity_format(e->region, each, MODEL_DIM_BYTES),
                           quantity_format(e->region, interleave, MODEL_DIM_BYTES));
        diagnostic_help(e->diagnostics, d, "some addresses would belong to no target");
        return NULL;
    }
    if (item->interleave && !is_power(interleave)) {
        diagnostic_add(e->diagnostics, E0303, item->interleave->span,
                       "the interleave is %s, which is not a power of two",
                       quantity_format(e->region, interleave, MODEL_DIM_BYTES));
        return NULL;
    }
    if (!set_hashed(e, entry, space))
        return NULL;
    space->id = e->spaces.count;
    const char *dot = node->object.path[0] != '\0' ? "." : "";
    space->path = region_printf(e->region, "%s%s%s", node->object.path, dot, item->name.text);
    space->place = program_place(e->program, item->name.span);
    space->each_bytes = (uint64_t)each;
    space->interleave_bytes = (uint64_t)interleave;
    vector_push(e->region, &e->spaces, space);
    return space;
}

static struct model_space *space_in(struct node *node, const char *name)
{
    for (uint32_t i = 0; i < node->spaces.count; i++)
        if (strcmp(node->spaces.items[i].item->name.text, name) == 0)
            return node->spaces.items[i].model;
    return NULL;
}

/* `by space S`: the interconnect has one output for each target of S, and one more with `else`. */
static void bind_route(struct elaboration *e, struct node *node, struct statement *s)
{
    struct node_list nodes = {0};
    struct ast_name name;
    struct node *x = s->interconnect;
    if (!path_spaces(e, node, s->item->by, &s->scope, &nodes, &name))
        return;
    if (nodes.v.count != 1) {
        diagnostic_add(e->diagnostics, E0407, s->item->by->span,
                       "one space is needed, these are %u", nodes.v.count);
        return;
    }
    struct model_space *space = space_in(nodes.v.items[0], name.text);
    int64_t outputs = ranges_total(e, &s->right);
    if (!space || s->bad || outputs < 0)
        return;
    if (outputs != space->target_count) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0503, s->item->right->span,
                                              "%lld outputs, but the space '%s' has %u targets",
                                              (long long)outputs, name.text, space->target_count);
        for (uint32_t i = 0; i < nodes.v.items[0]->spaces.count; i++)
            if (nodes.v.items[0]->spaces.items[i].model == space)
                diagnostic_note(e->diagnostics, d, nodes.v.items[0]->spaces.items[i].item->span,
                                "declared here");
        return;
    }
    if (x->space && x->space != space) {
        diagnostic_add(e->diagnostics, E0503, s->item->by->span,
                       "'%s' routes by another space already", s->item->via.text);
        return;
    }
    x->space = space;
}

void spaces_make(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        for (uint32_t k = 0; k < node->spaces.count; k++)
            node->spaces.items[k].model = make_space(e, node, &node->spaces.items[k]);
    }
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        for (uint32_t k = 0; k < node->statements.count; k++)
            if (node->statements.items[k]->item->by && node->statements.items[k]->interconnect)
                bind_route(e, node, node->statements.items[k]);
    }
}

struct mapped {
    struct model_space *space;
    struct span span;
};

struct mapping {
    VECTOR(struct mapped) v;
    uint64_t cursor;
};

static uint64_t space_bytes(const struct model_space *space)
{
    return space->each_bytes * space->target_count;
}

/* Physical addresses end here: no machine has more, and sums cannot overflow. */
#define ADDRESS_MAX (UINT64_C(1) << 56)

static void place_space(struct elaboration *e, struct mapping *mapping, struct model_space *space,
                        struct span span)
{
    if (space->mapped) {
        diagnostic_add(e->diagnostics, E0501, span, "'%s' is mapped twice", space->path);
        return;
    }
    if (space_bytes(space) > ADDRESS_MAX || mapping->cursor > ADDRESS_MAX - space_bytes(space)) {
        diagnostic_add(e->diagnostics, E0302, span, "'%s' ends beyond 64PiB", space->path);
        return;
    }
    if (space->interleave_bytes < space->each_bytes
        && mapping->cursor % space->interleave_bytes != 0) {
        diagnostic_add(e->diagnostics, E0502, span,
                       "'%s' would begin inside a piece of its interleave", space->path);
        return;
    }
    space->mapped = true;
    space->base = mapping->cursor;
    mapping->cursor += space_bytes(space);
    struct mapped one = {space, span};
    for (uint32_t i = 0; i < mapping->v.count; i++) {
        const struct mapped *other = &mapping->v.items[i];
        if (space->base >= other->space->base + space_bytes(other->space)
            || other->space->base >= space->base + space_bytes(space))
            continue;
        struct diagnostic *d = diagnostic_add(
            e->diagnostics, E0501, span, "'%s' (0x%llx to 0x%llx) overlaps '%s' (0x%llx to 0x%llx)",
            space->path, (unsigned long long)space->base,
            (unsigned long long)(space->base + space_bytes(space) - 1), other->space->path,
            (unsigned long long)other->space->base,
            (unsigned long long)(other->space->base + space_bytes(other->space) - 1));
        diagnostic_note(e->diagnostics, d, other->span, "'%s' is mapped here", other->space->path);
        diagnostic_help(e->diagnostics, d, "'%s' ends at %s; without 'at' the next one follows it",
                        other->space->path,
                        quantity_format(e->region,
                                        (int64_t)(other->space->base + space_bytes(other->space)),
                                        MODEL_DIM_BYTES));
        break;
    }
    vector_push(e->region, &mapping->v, one);
}

static void apply_map(struct elaboration *e, struct mapping *mapping, struct node *node,
                      const struct later *later)
{
    int64_t at = 0;
    if (later->item->at) {
        if (!eval_bytes(e, later->item->at, &later->scope, true, &at))
            return;
        if (at < 0) {
            diagnostic_add(e->diagnostics, E0302, later->item->at->span,
                           "an address is not below zero");
            return;
        }
        mapping->cursor = (uint64_t)at;
    }
    for (uint32_t i = 0; i < later->item->left->v.count; i++) {
        struct node_list nodes = {0};
        struct ast_name name;
        const struct ast_expr *path = later->item->left->v.items[i];
        if (!path_spaces(e, node, path, &later->scope, &nodes, &name))
            return;
        for (uint32_t k = 0; k < nodes.v.count; k++) {
            struct model_space *space = space_in(nodes.v.items[k], name.text);
            if (space && mapping->v.count < 4096)
                place_space(e, mapping, space, path->span);
        }
    }
}

static void find_holes(struct elaboration *e, const struct mapping *mapping)
{
    for (uint32_t i = 0; i < mapping->v.count; i++) {
        const struct mapped *mapped = &mapping->v.items[i];
        const struct mapped *below = NULL;
        for (uint32_t k = 0; k < mapping->v.count; k++) {
            const struct mapped *other = &mapping->v.items[k];
            if (other->space->base < mapped->space->base
                && (!below || other->space->base > below->space->base))
                below = other;
        }
        if (!below || below->space->base + space_bytes(below->space) >= mapped->space->base)
            continue;
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, W0505, mapped->span,
                           "nothing is mapped between '%s' and '%s' (0x%llx to 0x%llx)",
                           below->space->path, mapped->space->path,
                           (unsigned long long)(below->space->base + space_bytes(below->space)),
                           (unsigned long long)(mapped->space->base - 1));
        diagnostic_note(e->diagnostics, d, below->span, "'%s' is mapped here", below->space->path);
    }
}

void maps_apply(struct elaboration *e)
{
    struct mapping mapping = {.cursor = 0};
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        for (uint32_t k = 0; k < node->later.count; k++)
            if (node->later.items[k].item->kind == AST_MAP)
                apply_map(e, &mapping, node, &node->later.items[k]);
    }
    find_holes(e, &mapping);
}

static void apply_partition(struct elaboration *e, struct node *node, const struct later *later)
{
    const struct ast_exprs *paths = later->item->left;
    struct node_list *lists = region_take(e->region, paths->v.count * sizeof *lists);
    for (uint32_t i = 0; i < paths->v.count; i++) {
        if (!path_nodes(e, node, paths->v.items[i], &later->scope, &lists[i]))
            return;
        if (lists[i].v.count == lists[0].v.count)
            continue;
        diagnostic_add(
            e->diagnostics, E0504, paths->v.items[i]->span,
            "%u instances cannot be paired with %u: partitions are made element by element",
            lists[i].v.count, lists[0].v.count);
        return;
    }
    for (uint32_t k = 0; k < lists[0].v.count; k++) {
        struct model_partition partition = {.name = lists[0].v.items[k]->object.path,
                                            .place = program_place(e->program, later->item->span)};
        for (uint32_t i = 0; i < paths->v.count; i++) {
            struct node *member = lists[i].v.items[k];
            if (member->has_partition) {
                diagnostic_add(e->diagnostics, E0504, paths->v.items[i]->span,
                               "'%s' is in another partition already", member->object.path);
                return;
            }
            member->has_partition = true;
            member->partition = e->partitions.count;
        }
        vector_push(e->region, &e->partitions, partition);
    }
}

void partitions_apply(struct elaboration *e)
{
    vector_push(e->region, &e->partitions, ((struct model_partition){.name = "main"}));
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        for (uint32_t k = 0; k < node->later.count; k++)
            if (node->later.items[k].item->kind == AST_PARTITION)
                apply_partition(e, node, &node->later.items[k]);
    }
    /* what is in no partition of its own is in its parent's; parents are before children */
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        struct node *node = e->nodes.items[i];
        if (!node->has_partition && node->parent)
            node->partition = node->parent->partition;
    }
}
