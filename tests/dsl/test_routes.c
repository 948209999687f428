/* Routes by the map, against what coordinates say: along the row first in a mesh, the shorter way
 * around in a ring. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/compile.h"
#include "fixtures.h"

enum { LOCAL, EAST, WEST, SOUTH, NORTH };
enum { CLOCKWISE = 1, BACK };

static const struct model *compile(const char *platform, const char *const *sets, size_t set_count)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/../system/fabrics.heddle", fixture_root());
    struct compile_options options = {
        .library_root = fixture_library(), .overrides = sets, .override_count = set_count};
    struct compilation *c = compile_open(&options);
    const struct model *model = compile_platform(c, path, platform);
    if (model == NULL)
        compile_print_diagnostics(c, stderr, false);
    cr_assert_not_null(model);
    return model;
}

/* The output of stop `at` for the memory of stop `to`. */
static int output(const struct model *model, const char *network, unsigned at, unsigned to)
{
    char stop[64], space[64];
    snprintf(stop, sizeof stop, "%s.stop[%u]", network, at);
    snprintf(space, sizeof space, "home[%u].local", to);
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

Test(routes, a_mesh_goes_along_the_row_first)
{
    static const unsigned sizes[][2] = {{3, 3}, {4, 2}, {2, 5}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
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
