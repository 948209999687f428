/* Which rank runs which partition. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/redirect.h>
#include <stdio.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/platform_table.h"
#include "runtime/link/place.h"
#include "tests/runtime/probe.h"

#define PARTITIONS 7

struct place_case {
    char paths[PARTITIONS + 1][16]; /* of partitions 1, 2, ...; an 'x' more is an instance more */
    uint32_t ranks;
    char rank_of[PARTITIONS + 1]; /* a digit for each of them, partition 0 included; "": refused */
};

ParameterizedTestParameters(place, partitions_are_dealt_out_in_runs)
{
    static struct place_case cases[] = {
        /* two devices with two partitions inside stay whole */
        {{"d[0]", "d[0].a", "d[0].b", "d[1]", "d[1].a", "d[1].b"}, 2, "0000111"},
        /* ... wherever these stand in the list */
        {{"d[0]", "d[1]", "d[0].a", "d[1].a"}, 2, "00101"},
        /* ... unless there are more ranks than devices */
        {{"d[0]", "d[0].a", "d[0].b", "d[1]", "d[1].a", "d[1].b"}, 3, "0001122"},
        {{"d[0]", "d[1]", "d[2]", "d[3]"}, 3, "00112"},
        {{"d[0]", "d[1]", "d[2]", "d[3]"}, 4, "00123"},
        /* a large one weighs more than three small ones */
        {{"d[0]xxxx", "d[1]", "d[2]", "d[3]"}, 2, "00111"},
        /* the last rank gets something, too */
        {{"d[0]", "d[1]", "d[2]xxxxxxxx"}, 3, "0012"},
        {{"d[0]", "d[0].a"}, 3, ""},
    };
    return cr_make_param_array(struct place_case, cases, sizeof cases / sizeof cases[0]);
}

/* Probes of their own; "x" behind a name adds one to its partition. */
static const struct platform_table *build(char (*paths)[16])
{
    static char names[PARTITIONS + 1][64];
    build_start("places");
    uint32_t core = build_domain("core", 1000000000);
    probe_instance(core, "host", PROBE_SINK, 0, 0, true);
    for (uint32_t i = 0; paths[i][0]; i++) {
        size_t length = strcspn(paths[i], "x");
        snprintf(names[i], sizeof names[i], "%.*s", (int)length, paths[i]);
        for (size_t k = length; k <= strlen(paths[i]); k++)
            build_partition(probe_instance(core, names[i], PROBE_SINK, 0, 0, true), i + 1);
    }
    return build_finish();
}

ParameterizedTest(struct place_case *k, place, partitions_are_dealt_out_in_runs)
{
    uint8_t rank_of[PARTITIONS + 1] = {0};
    const struct platform_table *table = build(k->paths);
    arena_open();
    cr_redirect_stderr();
    bool placed = place_partitions(table, k->ranks, rank_of);
    cr_assert_eq(placed, k->rank_of[0] != '\0');
    for (uint32_t i = 0; placed && k->rank_of[i]; i++)
        cr_assert_eq(rank_of[i], k->rank_of[i] - '0', "partition %u is at rank %u, not %c", i,
                     rank_of[i], k->rank_of[i]);
}
