/* The picture of a platform: its graph and, where that is an overview, the inside of whatever has
 * compute units, once for all elements of an array. See dot_graph.h. */
#include <string.h>

#include "dot_graph.h"

/* Another picture of the inside of `node` and its siblings of the same name. */
static bool add_inset(struct dot_picture *picture, struct region *region,
                      const struct dot_node *node, const struct view_options *options,
                      struct view_error *error)
{
    const struct model_instance *root = picture->main.scope->instances[0];
    const struct model_instance **scope = region_take(region, root->child_count * sizeof *scope);
    uint32_t count = 0;
    for (uint32_t i = 0; i < root->child_count; i++)
        if (root->children[i]->type == node->type
            && strcmp(root->children[i]->name, node->instances[0]->name) == 0)
            scope[count++] = root->children[i];
    return dot_graph_build(&picture->insets[picture->inset_count++], region, picture->main.model,
                           scope, count, options, error);
}

bool dot_picture_build(struct dot_picture *picture, struct region *region,
                       const struct model *model, const struct view_options *options,
                       struct view_error *error)
{
    *picture = (struct dot_picture){0};
    if (!dot_graph_build(&picture->main, region, model, &model->root, 1, options, error))
        return false;
    if (!picture->main.is_overview || options->level != VIEW_LEVEL_GPU)
        return true;
    const struct dot_node *scope = picture->main.scope;
    picture->insets = region_take(region, scope->child_count * sizeof *picture->insets);
    for (uint32_t i = 0; i < scope->child_count; i++) {
        const struct dot_node *node = scope->children[i];
        if (node->type->is_composite && node->holds_compute && node->element <= 0
            && !add_inset(picture, region, node, options, error))
            return false;
    }
    return true;
}
