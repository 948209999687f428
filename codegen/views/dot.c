/* `heddle dot`: the platform's diagram as Graphviz source or SVG. The work is in dot_graph.c (what
 * is drawn) and dot_write.c (how). */
#include "codegen/views/dot.h"

#include <string.h>

struct word {
    const char *text;
    int value;
};

static bool find_word(const struct word *words, size_t count, const char *text, int *value)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i].text, text) == 0) {
            *value = words[i].value;
            return true;
        }
    return false;
}

bool view_level_parse(const char *word, enum view_level *level)
{
    static const struct word words[] = {
        {"platform", VIEW_LEVEL_PLATFORM},
        {"gpu", VIEW_LEVEL_GPU},
        {"full", VIEW_LEVEL_FULL},
    };
    int value;
    if (!find_word(words, sizeof words / sizeof words[0], word, &value))
        return false;
    *level = (enum view_level)value;
    return true;
}

bool view_only_parse(const char *word, enum view_only *only)
{
    static const struct word words[] = {{"memory", VIEW_ONLY_MEMORY},
                                        {"control", VIEW_ONLY_CONTROL}};
    int value;
    if (!find_word(words, sizeof words / sizeof words[0], word, &value))
        return false;
    *only = (enum view_only)value;
    return true;
}

bool view_layout_parse(const char *word, enum view_layout *layout)
{
    static const struct word words[] = {{"wide", VIEW_LAYOUT_WIDE}, {"column", VIEW_LAYOUT_COLUMN}};
    int value;
    if (!find_word(words, sizeof words / sizeof words[0], word, &value))
        return false;
    *layout = (enum view_layout)value;
    return true;
}

struct view_options view_options_default(void)
{
    return (struct view_options){.level = VIEW_LEVEL_GPU, .only = VIEW_ONLY_ALL};
}

bool view_dot(const struct model *model, const struct view_options *options, FILE *out,
              struct view_error *error)
{
    struct arena arena;
    struct dot_picture picture;
    arena_init(&arena);
    bool good = dot_picture_build(&picture, &arena, model, options, error);
    if (good)
        dot_write(&picture, options->heat, out);
    arena_release(&arena);
    return good;
}

bool view_svg(const struct model *model, const struct view_options *options, FILE *out,
              struct view_error *error)
{
    struct arena arena;
    struct dot_picture picture;
    arena_init(&arena);
    bool good = dot_picture_build(&picture, &arena, model, options, error)
                && dot_draw_svg(&picture, options->heat, out, error);
    arena_release(&arena);
    return good;
}
