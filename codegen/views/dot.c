/* `heddle dot`: the platform's diagram as Graphviz source or SVG. The work is in dot_graph.c (what
 * is drawn) and dot_write.c (how). */
#include "dot.h"

struct view_options view_options_default(void)
{
    return (struct view_options){.level = VIEW_LEVEL_GPU, .only = VIEW_ONLY_ALL};
}

bool view_dot(const struct model *model, const struct view_options *options, FILE *out,
              struct view_error *error)
{
    struct region region;
    struct dot_picture picture;
    region_init(&region, "a description");
    bool ok = dot_picture_build(&picture, &region, model, options, error);
    if (ok)
        dot_write(&picture, (struct dot_look){.legend = true, .heat = options->heat}, out);
    region_release(&region);
    return ok;
}

bool view_svg(const struct model *model, const struct view_options *options, FILE *out,
              struct view_error *error)
{
    struct region region;
    struct dot_picture picture;
    region_init(&region, "a description");
    bool ok = dot_picture_build(&picture, &region, model, options, error)
              && dot_draw_svg(&picture, (struct dot_look){.legend = true, .heat = options->heat},
                              out, error);
    region_release(&region);
    return ok;
}
