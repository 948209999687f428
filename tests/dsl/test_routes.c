/* Routes by the map, against what coordinates say: along the row first in a mesh, the shorter way
 * around in a ring. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "dsl/compile.h"

#include "fixtures.h"

enum { LOCAL, EAST, WEST, SOUTH, NORTH };
enum { CLOCKWISE = 1, BACK };

static const struct model *compile_file(const char *file, const char *platform,
                                        const char *const *sets, size_t set_count)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/../%s", fixture_root(), file);
    struct compile_options options = {
        .library_root = fixture_library(), .overrides = sets, .override_count = set_count};
    struct compilation *c = compile_open(&options);
    const struct model *model = compile_platform(c, path, platform);
    if (!model)
        compile_print_diagnostics(c, stderr, false);
    cr_assert_not_null(model);
    return model;
}

static const struct model *compile(const char *platform, const char *const *sets, size_t set_count)
{
    return compile_file("system/platforms/fabrics.heddle", platform, sets, set_count);
}

/* The output of an interconnect for a space. */
static int output_of(const struct model *model, const char *stop, const char *space)
{
    for (uint32_t i = 0; i < model->instance_count; i++) {
        const struct model_instance *instance = model->instances[i];
        if (strcmp(instance->path, stop) != 0)
            continue;
        cr_assert_not_null(instance->route.outputs, "%s has no routes", stop);
        for (uint32_t s = 0; s < model->space_count; s++)
            if (strcmp(model->spaces[s]->path, space) == 0)
                return instance->route.outputs[s];
    }
    cr_assert(false, "no %s or %s", stop, space);
    abort();
}

/* The output of stop `at` for the memory of stop `to`. */
static int output(const struct model *model, const char *network, unsigned at, unsigned to)
{
    char stop[64], space[64];
    snprintf(stop, sizeof stop, "%s.stop[%u]", network, at);
    snprintf(space, sizeof space, "home[%u].local", to);
    return output_of(model, stop, space);
}

Test(routes, a_mesh_goes_along_the_row_first)
{
    static const unsigned sizes[][2] = {{3, 3}, {4, 2}, {2, 5}};
    for (size_t k = 0; k < ARRAY_COUNT(sizes); k++) {
        unsigned columns = sizes[k][0], stops = columns * sizes[k][1];
        char set[2][32];
        snprintf(set[0], sizeof set[0], "columns=%u", columns);
        snprintf(set[1], sizeof set[1], "rows=%u", sizes[k][1]);
        const struct model *model = compile("on_mesh", (const char *[]){set[0], set[1]}, 2);
        for (unsigned at = 0; at < stops; at++)
            for (unsigned to = 0; to < stops; to++) {
                unsigned x = at % columns, y = at / columns;
                unsigned to_x = to % columns, to_y = to / columns;
                int expected = to_x > x   ? EAST
                               : to_x < x ? WEST
                               : to_y > y ? SOUTH
                               : to_y < y ? NORTH
                                          : LOCAL;
                cr_assert_eq(output(model, "mesh", at, to), expected, "%u columns: %u to %u",
                             columns, at, to);
            }
    }
}

Test(routes, a_ring_is_taken_the_shorter_way_and_half_of_it_clockwise)
{
    for (unsigned stops = 3; stops <= 8; stops++) {
        char set[16];
        snprintf(set, sizeof set, "n=%u", stops);
        const struct model *model = compile("on_ring", (const char *[]){set}, 1);
        for (unsigned at = 0; at < stops; at++)
            for (unsigned to = 0; to < stops; to++) {
                unsigned ahead = (to + stops - at) % stops;
                int expected = ahead == 0 ? LOCAL : 2 * ahead <= stops ? CLOCKWISE : BACK;
                cr_assert_eq(output(model, "ring", at, to), expected, "%u stops: %u to %u", stops,
                             at, to);
            }
    }
}

Test(routes, a_fat_tree_goes_up_by_the_spine_of_its_destination)
{
    enum { NODES = 3, GPUS = 4 };
    const struct model *model = compile_file("../platforms/pod64.heddle", "pod64",
                                             (const char *[]){"nodes=3", "gpus=4"}, 2);
    for (unsigned leaf = 0; leaf < NODES; leaf++)
        for (unsigned node = 0; node < NODES; node++)
            for (unsigned gpu = 0; gpu < GPUS; gpu++) {
                char stop[32], space[64];
                snprintf(stop, sizeof stop, "leaf[%u]", leaf);
                snprintf(space, sizeof space, "node[%u].gpu[%u].local", node, gpu);
                cr_expect_eq(output_of(model, stop, space), (int)(node == leaf ? gpu : GPUS + gpu),
                             "%s to %s", stop, space);
                snprintf(stop, sizeof stop, "spine[%u]", gpu);
                cr_expect_eq(output_of(model, stop, space), (int)node, "%s to %s", stop, space);
            }
}

Test(routes, a_torus_takes_the_lowest_dimension_first_and_the_shorter_way)
{
    enum { SIDE = 4, NODES = SIDE * SIDE * SIDE, UP = 1, DOWN = 2 };
    const struct model *model = compile("on_torus", NULL, 0);
    for (unsigned at = 0; at < NODES; at += 5)
        for (unsigned to = 0; to < NODES; to++) {
            char stop[32], space[32];
            unsigned scale = 1, dimension = 0;
            for (; dimension < 3 && at / scale % SIDE == to / scale % SIDE; dimension++)
                scale *= SIDE;
            snprintf(space, sizeof space, "home[%u].local", to);
            snprintf(stop, sizeof stop, "torus.hub[%u]", at);
            cr_expect_eq(output_of(model, stop, space), (int)dimension, "%s to %s", stop, space);
            if (dimension == 3)
                continue;
            unsigned ahead = (to / scale % SIDE + SIDE - at / scale % SIDE) % SIDE;
            snprintf(stop, sizeof stop, "torus.%c[%u]", "xyz"[dimension], at);
            cr_expect_eq(output_of(model, stop, space), 2 * ahead <= SIDE ? UP : DOWN, "%s to %s",
                         stop, space);
        }
}
