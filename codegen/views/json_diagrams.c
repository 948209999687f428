/* Diagrams of a platform as JSON. Each composite has a picture in which everything inside is
 * closed; all elements of an array share one, in which nodes are links to `v-PATH:TYPE`
 * (composites) and `d-PATH:TYPE`. */
#include "json_diagrams.h"

#include <stdlib.h>

#include "base/grow.h"

#include "dot.h"
#include "json_from_text.h"
#include "params_value.h"

struct tree {
    const struct model *model;
    struct view_error *error;
    bool ok;
};

json_t *json_kinds(void)
{
    json_t *all = json_object();
    for (int i = 0; i < DOT_KIND_COUNT; i++) {
        const struct dot_kind_style *style = dot_kind_style((enum dot_kind)i);
        json_object_set_new(all, style->word, json_pack("[s, s]", style->strong, style->ink));
    }
    return all;
}

/* A file in memory, which string() ends. */
struct text {
    FILE *out;
    char *bytes;
    size_t size;
};

static FILE *begin_diagram(struct text *text)
{
    text->out = grow_checked(open_memstream(&text->bytes, &text->size), "the text of a diagram");
    return text->out;
}

static json_t *string(struct text *text)
{
    fclose(text->out);
    json_t *made = json_from_bytes(text->bytes, text->size);
    free(text->bytes);
    return made;
}

json_t *json_svg(const struct model *model, struct view_error *error)
{
    const struct view_options options = view_options_default();
    struct text text;
    bool ok = view_svg(model, &options, begin_diagram(&text), error);
    json_t *svg = string(&text);
    if (ok)
        return svg;
    json_decref(svg);
    return NULL;
}

/* The inside of a composite, with links. */
static json_t *picture_json(struct tree *tree, const struct dot_node *node)
{
    const struct view_options options = {.level = VIEW_LEVEL_PLATFORM, .controls = true};
    const struct dot_look look = {.links = true, .legend = true};
    struct dot_picture picture = {.inset_count = 0};
    struct region region;
    struct text text;
    region_init(&region, "a description");
    begin_diagram(&text);
    tree->ok = tree->ok
               && dot_graph_build(&picture.main, &region, tree->model, node->instances,
                                  node->instance_count, &options, tree->error)
               && dot_draw_svg(&picture, look, text.out, tree->error);
    region_release(&region);
    return string(&text);
}

static json_t *params_json(const struct dot_node *node)
{
    char buffer[2 * PARAMS_VALUE_MAX + 8];
    json_t *all = json_object();
    for (uint32_t i = 0; i < node->type->param_count; i++)
        json_object_set_new(
            all, node->type->params[i].name,
            json_from_text(params_group_text(node->instances, node->instance_count, i, buffer)));
    return all;
}

static json_t *ports_json(const struct dot_node *node)
{
    json_t *all = json_object();
    for (uint32_t i = 0; i < node->type->port_count; i++)
        json_object_set_new(all, node->type->ports[i].name, json_integer(node->port_counts[i]));
    return all;
}

/* Parts in the slots and sub-parts of the first member. */
static json_t *parts_json(const struct dot_node *node)
{
    char buffer[PARAMS_VALUE_MAX];
    json_t *all = json_array();
    for (uint32_t i = 0; i < node->type->part_count; i++) {
        const struct model_part_place *place = &node->instances[0]->places[i];
        const struct model_part *part = place->count ? place->parts[0] : NULL;
        json_t *params = json_object();
        for (uint32_t k = 0; part && k < part->param_count; k++)
            json_object_set_new(params, part->params[k].decl->name,
                                json_from_text(params_value_text(&part->params[k].value, buffer)));
        json_array_append_new(all,
                              json_pack("{s:s, s:I, s:s?, s:o}", "name", node->type->parts[i].name,
                                        "count", (json_int_t)place->count, "type",
                                        part ? part->type->name : NULL, "params", params));
    }
    return all;
}

static json_t *node_json(struct tree *tree, const struct dot_node *node)
{
    json_t *one = json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "name", node->label, "path",
                            node->path, "type", node->type->name, "instances",
                            (json_int_t)node->instance_count, "each",
                            (json_int_t)node->per_parent_max, "params", params_json(node), "ports",
                            ports_json(node), "parts", parts_json(node));
    if (node->kind != DOT_KIND_COMPOSITE)
        return one;
    json_object_set_new(one, "svg", picture_json(tree, node));
    json_t *inside = json_array();
    for (uint32_t i = 0; tree->ok && i < node->child_count; i++)
        json_array_append_new(inside, node_json(tree, node->children[i]));
    json_object_set_new(one, "inside", inside);
    return one;
}

json_t *json_tree(const struct model *model, struct view_error *error)
{
    const struct view_options options = {.level = VIEW_LEVEL_FULL};
    struct tree tree = {model, error, true};
    struct dot_graph graph;
    struct region region;
    json_t *root = NULL;
    region_init(&region, "a description");
    if (dot_graph_build(&graph, &region, model, &model->root, 1, &options, error))
        root = node_json(&tree, graph.scope);
    region_release(&region);
    if (tree.ok)
        return root;
    json_decref(root);
    return NULL;
}
